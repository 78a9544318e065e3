"""Coherence ratings: texts, and how coherent people found them.

CoheSentia (Maimon and Tsarfaty 2023): stories by a language model, rated from 1 to 5. There are no
pairs and no rule that makes a text worse: a model's scores of whole texts are correlated with the
ratings (``coherencegym correlate``), beside what is easier than coherence.

    coherencegym build coherence_ratings --corpus cohesentia --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.builders.suite import Column, Config, Contrast, Suite
from coherencegym.eval.kinds.documents import RATINGS, RatedText
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.statistics.overlap import overlap
from coherencegym.loaders.corpora.judged import COHESENTIA, HOLISTIC, INCREMENTAL, ratings
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context


@dataclass(frozen=True)
class Rate:
    """A story with the ratings that it got in one way."""

    way: str
    contrasts: tuple[Contrast, ...] = ()

    @property
    def recipe(self) -> str:
        """The way of rating; nothing is changed in a text."""
        return f"unchanged, with {self.way} ratings"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[RatedText]:
        """Yield it, as whoever rated it read it."""
        found = ratings(discourse, self.way)
        if not found:
            context.skipped["no rating"] += 1
            return
        text = discourse.meta["text"] if self.way == HOLISTIC else discourse.text
        yield RatedText(
            item_id=discourse.id,
            text=text,
            rating=sum(found) / len(found),
            ratings=tuple(found),
            prompt=discourse.meta["title"],
            discourse_id=discourse.id,
            corpus=discourse.corpus,
            overlap=round(overlap(Condition("text", text, (Region(1, text),)), WHOLE), 6),
            extra={"consensus": discourse.meta[self.way], "sentences": len(discourse.units)},
        )


_COLUMNS = {
    "consensus": Column(
        "string", "the consensus of the ratings in the corpus; empty if the corpus has none"
    ),
    "sentences": Column("int32", "how many sentences the story has"),
}


def ratings_config(way: str, summary: str) -> Config:
    """One of the suite's configs, for a way of rating."""
    return Config(
        name=way,
        corpora=(COHESENTIA.name,),
        kind=RATINGS,
        generator=Rate(way),
        summary=summary,
        regions=(),
        columns=_COLUMNS,
    )


SUITE = Suite(
    name="coherence_ratings",
    title="Coherence ratings",
    version="1.0.0",
    hypothesis=(
        "A model that notices incoherence finds a text more surprising the less coherent people "
        "rate it."
    ),
    description=(
        "Texts with human ratings of their coherence, from 1 (least) to 5: graded incoherence."
    ),
    conditions={},
    limitations=(
        "Surprisal depends on everything that makes a text likely: rare words, names, errors, "
        "length. A correlation with ratings shows that surprisal and ratings vary together, not "
        "that the model notices incoherence. `coherencegym correlate` reports the baselines of "
        "length, repeated words and a bag of words, and the partial correlation that controls for "
        "length.",
        "Stories differ in topic and style. Only the correlation within prompts compares like with "
        "like, where a prompt has several stories.",
        "Raters do not agree well on coherence: the correlation of one rater with the others "
        "bounds what a model can be expected to reach.",
    ),
    citation=COHESENTIA.citation,
    configs=(
        ratings_config(HOLISTIC, "rated as a whole"),
        ratings_config(INCREMENTAL, "rated sentence by sentence"),
    ),
    tags=("ratings", "human-judgements", "generated-text"),
    task_categories=("text-classification",),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
