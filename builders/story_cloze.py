"""Story cloze: the wrong ending of a story is more surprising than the right one.

Beyer, Loáiciga and Schlangen 2021, section 4.2, on the Story Cloze Test (Mostafazadeh et al. 2016).

    coherencegym build story_cloze --corpus storycloze --data-dir PATH
"""

from __future__ import annotations

from coherencegym.builders.suite import BEYER_2021, Config, Contrast, MinimalPairs, Suite
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.ending_swap import EndingSwap


def story_and_ending(discourse: Discourse) -> list[list[int]]:
    """Two regions: the story so far, and its ending."""
    last = len(discourse.units) - 1
    return [list(range(last)), [last]]


def ending_alone(discourse: Discourse) -> tuple[str, ...]:
    """Give what the artefact classifier sees."""
    return (discourse.units[-1].text,)


SUITE = Suite(
    name="story_cloze",
    title="Story cloze",
    version="1.0.0",
    hypothesis=(
        "A model that notices incoherence finds an ending that does not follow from a story more "
        "surprising than the ending that does."
    ),
    description=(
        "Minimal pairs of a four-sentence story with its right ending and with a wrong one that "
        "shares its protagonist and topic."
    ),
    conditions={
        "original_ending": "the story with the ending that annotators found right",
        "distractor_ending": "the same story with the wrong ending",
    },
    limitations=(
        "The two endings are different sentences with different words: their mean surprisal "
        "differs for reasons that have nothing to do with the story (length, rare words). The "
        "artefact score says how far the endings alone give the answer away; Sharma et al. (2018) "
        "found that it is far in the 2016 release.",
        "Knowledge of the world decides most items; local coherence alone does not.",
        "Both endings are as crowd workers wrote them, and nobody corrected them: some of the "
        "right ones have slips of spelling, which make them more surprising whatever the story is. "
        "They are neither mended nor counted here.",
    ),
    headline=("",),
    citation=BEYER_2021,
    configs=(
        Config(
            name="",
            corpora=("storycloze",),
            drafter=MinimalPairs(
                names=("original_ending", "distractor_ending"),
                manipulation=EndingSwap(),
                regions=story_and_ending,
                contrasts=(Contrast("distractor_ending", "original_ending", 2),),
                view=ending_alone,
            ),
            summary="the ending is scored after the four sentences of the story",
            regions=("the four sentences of the story", "the ending"),
            artefact="a bag of words of the ending",
        ),
    ),
    tags=("story-cloze", "narration"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
