"""A suite of one's own, with the operator of ``own_operator.py``, which lies beside it.

coherencegym build own_suite.py --corpus sample
coherencegym score --model demo --dataset suites/own_suite
"""

from own_operator import TimeFlip

from coherencegym.builders.suite import Config, Contrast, MinimalPairs, Suite
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Pipeline


def whole_text(discourse: Discourse) -> list[list[int]]:
    """One region: all units. Regions together are the whole text."""
    return [list(range(len(discourse.units)))]


def first_sentence(discourse: Discourse) -> tuple[str, ...]:
    """What the partial-input baseline reads, to find out whether the answer shows without more."""
    return (discourse.units[0].text,)


SUITE = Suite(
    name="own_suite",
    title="Before and after",
    version="1.0.0",
    hypothesis=(
        "A model that notices incoherence finds a story more surprising when what happened first "
        "is said to have happened last."
    ),
    description="Stories, and the same stories with before and after exchanged.",
    conditions={
        "coherent": "the story as it is",
        "incoherent": "the same story; one before is an after, or the reverse",
    },
    limitations=("Some stories make sense both ways.",),
    citation="@misc{own_suite}",
    headline=("time",),
    configs=(
        Config(
            name="time",
            corpora=("storycloze", "rocstories"),
            genre="narration",
            generator=MinimalPairs(
                versions={"coherent": Pipeline(), "incoherent": TimeFlip()},
                regions=whole_text,
                contrasts=(Contrast("incoherent", "coherent", region=1, metric="mean"),),
                view=first_sentence,
            ),
            summary="before and after are exchanged once, and the whole text is scored",
            regions=("the whole text",),
            partial_input="a bag of words of the first sentence",
        ),
    ),
)
