"""Discourse tasks: what do the vectors of a text's pieces say of its discourse?

Chen, Chu and Gimpel 2019 (DiscoEval). A row has pieces of a text and a label, such as how two of
them relate; a classifier that gets nothing but a vector of each piece has to find the label. The
paper's items are from corpora that may not be published; here they are made from corpora that may
be, with the figures beside which any accuracy is to be read. The paper's own items are read, too,
where somebody has them (``--corpus discoeval``).

    coherencegym build discourse_tasks --corpus gum --data-dir PATH
"""

from __future__ import annotations

from typing import Any

from coherencegym.builders.discourse.relations import RELATIONS
from coherencegym.builders.discourse.splits import OwnSplits
from coherencegym.builders.discourse.windows import (
    WINDOW_SETTINGS,
    WINDOW_SETTINGS_HELP,
    window_configs,
)
from coherencegym.builders.pipeline.fitting import Division
from coherencegym.builders.suite import Suite
from coherencegym.loaders.corpora.citations import cited
from coherencegym.loaders.corpora.discoeval.rows import DISCOEVAL_ROWS


def _configured(windows: int) -> dict[str, Any]:
    return {"configs": (*window_configs(windows), *RELATIONS)}


SUITE = Suite(
    name="discourse_tasks",
    title="Discourse tasks",
    version="2.0.0",
    hypothesis=(
        "A layer of a model that knows how the pieces of a text relate lets a simple classifier "
        "read that off their vectors, better than off the words alone."
    ),
    description=(
        "Pieces of texts with a label that hangs on the discourse: where a sentence stood, which "
        "of two came first, whether one of six is from another text, which section a sentence is "
        "of, how two stretches relate. Each piece becomes one vector, and a classifier is trained "
        "on the vectors of `train`, chosen on `validation` and scored on `test`; `test2`, where "
        "there is one, has genres that are not in the others. Classes with fewer than 10 rows in "
        "`train`, or with none in `validation` or `test`, are left out and counted, but for "
        "DiscoEval's own rows."
    ),
    conditions={
        "coherent": "six sentences in a row",
        "replaced": "the same with one of another document",
    },
    limitations=(
        "An accuracy means nothing by itself: it is to be read beside the most frequent class, "
        "the bag of words and the ceiling under Quality, and beside the same model with random "
        "weights. What a bag of words finds is in the words, not in what a model makes of them.",
        "That a classifier finds a label in a layer does not say that the model uses it.",
        "Splits are of whole documents, but a genre, an author or a turn of phrase may be in "
        "several; how many rows share a segment of five words with `train` is said under Quality.",
        "Arguments of explicit relations do not hold their connective, but the text around them "
        "(`text`) does: vectors that are read in context have seen it.",
        "Of rhetorical trees `same-unit` is a matter of syntax and `organization` one of layout: "
        "the column `aspect` tells them from relations of meaning, and scores are broken down by "
        "it. Nodes of one tree hold one another, so rows of a document are one cluster in every "
        "interval; a vector of a large child is a mean over up to hundreds of units (`size`).",
        "A sentence of another document can fit by chance, and in chat the name of whom a line "
        "is for may give the order away.",
        "Relations within a sentence and between sentences are different tasks (`same_sentence`).",
        "A pair with two senses is one row that says both (`also`); in DiscoEval's own rows it "
        "is two rows of one family.",
    ),
    citation=cited("chen-etal-2019-evaluation"),
    readings={DISCOEVAL_ROWS.name: DISCOEVAL_ROWS},
    divide=OwnSplits(Division(0.2, 0.1)),
    configure=_configured,
    settings=WINDOW_SETTINGS,
    settings_help=WINDOW_SETTINGS_HELP,
    tags=("discourse-relations", "probing", "rhetorical-structure-theory"),
    task_categories=("text-classification",),
    **_configured(**WINDOW_SETTINGS),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
