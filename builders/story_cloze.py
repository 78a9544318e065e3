"""Story cloze: the wrong ending of a story is more surprising than the right one.

Beyer, Loáiciga and Schlangen 2021, section 4.2, on the Story Cloze Test (Mostafazadeh et al. 2016).
``crossed`` takes two similar stories and exchanges their right endings: no ending is a wrong one
that a crowd worker made up, which can be told from the right one without the story (Sharma et al.
2018; Schwartz et al. 2017).

    coherencegym build story_cloze --corpus storycloze --data-dir PATH
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherencegym.builders.crossing.generator import CROSSED_BREAKDOWNS, Crossed, crossed_columns
from coherencegym.builders.crossing.partners import MostSimilar, Partner, of_like_length
from coherencegym.builders.crossing.similarity import narrative_tense, persons_in
from coherencegym.builders.suite import BEYER_2021, Config, Contrast, MinimalPairs, Suite, Use
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.ending_swap import EndingSwap
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.genders import gender_of_name
from coherencegym.manipulations.reference.own_names import OwnNames
from coherencegym.words import word_list

_WORD, _CLOSED = re.compile(r"[^\W\d_]+"), word_list("closed_classes")


def story_and_ending(discourse: Discourse) -> list[list[int]]:
    """Two regions: the story so far, and its ending."""
    last = len(discourse.units) - 1
    return [list(range(last)), [last]]


def ending_alone(discourse: Discourse) -> tuple[str, ...]:
    """Give what the partial-input classifier sees."""
    return (discourse.units[-1].text,)


def stories(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give a story and its right ending; none whose ending names somebody, or of no clear tense.

    Crossed are stories of one tense whose endings are of one tense: a clash alone would tell.
    """
    if not any(OwnNames()(discourse, context)):
        return
    *story, ending = discourse.texts
    if _has_name(ending, story):
        context.skipped["the ending has a name"] += 1
        return
    told, ends = narrative_tense(" ".join(story)), narrative_tense(ending)
    if told == "present":
        ends = ends or told  # "they eat" looks like no tense, but does not clash
    if not told or not ends:
        context.skipped["a story or an ending of no clear tense"] += 1
        return
    alike = (*persons_in(ending), told, ends)
    yield Partner(discourse, (" ".join(story), ending), alike=alike)


def _has_name(ending: str, story: list[str]) -> bool:
    first, *others = _WORD.findall(ending)
    names = {word for word in others if word[0].isupper()} - {"I"}
    told = first in _WORD.findall(" ".join(story)) and first.lower() not in _CLOSED
    return bool(names or gender_of_name(first)) or (first[0].isupper() and told)


SUITE = Suite(
    name="story_cloze",
    title="Story cloze",
    version="2.0.1",
    hypothesis=(
        "A model that notices incoherence finds an ending that does not follow from a story more "
        "surprising than the ending that does."
    ),
    description=(
        "Minimal pairs of a four-sentence story with its right ending and with a wrong one about "
        "the same protagonist and topic."
    ),
    conditions={
        "original_ending": "the story with its right ending",
        "distractor_ending": "the same story with the wrong ending",
        "story_1_ending_1": "crossed: a story with its right ending",
        "story_2_ending_2": "crossed: a similar story with its right ending",
        "story_1_ending_2": "crossed: the first story with the ending of the second",
        "story_2_ending_1": "crossed: the second story with the ending of the first",
    },
    uses=(
        Use("", "is the right ending expected", "typical endings from fitting ones"),
        Use(
            "crossed",
            "which ending belongs to which story",
            "plot from lexical cues: an ending that names a thing of its story in other words",
        ),
    ),
    limitations=(
        "The two endings are different sentences with different words: their mean surprisal "
        "differs for reasons that have nothing to do with the story (length, rare words). The "
        "partial-input baseline shows how much the endings alone give away.",
        "World knowledge decides most items; local coherence alone does not.",
        "Errors in an ending are neither corrected nor counted. Stories are left out, and counted, "
        "if an ending is about a person whose name is not in the story.",
        "`crossed`: pairs of stories are chosen so that lexical overlap (of content words, of all "
        "words, and of words weighted by rarity) picks the right endings in half of the items. "
        "Other word-based comparisons may do slightly better.",
        "A language model reviewed 40 sample pairs of `crossed` twice, blind. It judged all to be "
        "good English and found the incoherent side in all (`docs/quality.md` of the toolkit).",
    ),
    headline=("",),
    citation=BEYER_2021,
    configs=(
        Config(
            name="",
            corpora=("storycloze",),
            generator=MinimalPairs(
                names=("original_ending", "distractor_ending"),
                manipulation=OwnNames() | EndingSwap(),
                regions=story_and_ending,
                contrasts=(Contrast("distractor_ending", "original_ending", 2),),
                view=ending_alone,
            ),
            summary="the ending is scored after the four sentences of the story",
            regions=("the four sentences of the story", "the ending"),
            partial_input="a bag of words of the ending",
        ),
        Config(
            name="crossed",
            corpora=("storycloze",),
            generator=Crossed(
                partners=stories,
                operators="right ending, without names",
                couple=MostSimilar(of_like_length, balanced=True),
                across=True,
                names=("story", "ending"),
            ),
            summary=(
                "two similar stories, each with its own ending and with the other's; the endings "
                "of all four combinations are scored"
            ),
            regions=("the four sentences of a story", "an ending"),
            columns=crossed_columns(),
            breakdowns=CROSSED_BREAKDOWNS,
            partial_input="bags of words of the story and of the ending",
        ),
    ),
    tags=("story-cloze", "narration"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
