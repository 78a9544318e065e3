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

from coherencegym.builders.discourse.inferred_connectives import by_language
from coherencegym.builders.discourse.matched_orders import OwnSplits
from coherencegym.builders.discourse.relations import RELATIONS
from coherencegym.builders.discourse.windows import (
    WINDOW_SETTINGS,
    WINDOW_SETTINGS_HELP,
    window_configs,
)
from coherencegym.builders.pipeline.kinds import Division
from coherencegym.builders.suite import Suite
from coherencegym.loaders.corpora.discoeval import DISCOEVAL_ROWS
from coherencegym.loaders.corpus import cited


def _configured(windows: int) -> dict[str, Any]:
    own = window_configs(windows)
    twins = (by_language(one) for one in own if "documents" in (one.genre, *one.corpora))
    return {"configs": (*own, *RELATIONS, *twins)}


SUITE = Suite(
    name="discourse_tasks",
    title="Discourse tasks",
    version="2.2.0",
    hypothesis=(
        "If a model's layer encodes how the segments of a text relate, a simple classifier "
        "predicts the relation better from their vectors than from the words alone."
    ),
    description=(
        "Text segments with a label that depends on the discourse: the position of a sentence, "
        "which of two sentences came first, whether one of six is foreign, the section of a "
        "sentence, how two spans relate. A classifier of their vectors is trained on `train`, "
        "chosen on `validation` and scored on `test`; `test2`, where present, has other genres. "
        "Rare classes (fewer than 10 rows in `train`) are left out and counted."
    ),
    conditions={
        "coherent": "six consecutive sentences",
        "replaced": "the same sentences, one of them replaced by a sentence of another document",
    },
    limitations=(
        "An accuracy means nothing by itself. Compare it with the most frequent class, the bag of "
        "words and the ceiling, and with the same model randomly initialised. A classifier that "
        "finds a label in a layer does not show that the model uses it.",
        "Splits divide whole documents, but a genre, an author or a phrase may occur in several. "
        "`recurring` in `quality.json` is the share of rows that have a segment with `train`.",
        "Arguments of explicit relations do not contain their connective, but the surrounding text "
        "(`text`) does: contextual vectors have seen it.",
        "In rhetorical trees, `same-unit` is a matter of syntax and `organization` one of layout "
        "(column `aspect`). The rows of a document form one cluster in every interval.",
        "A sentence of another document can fit by chance.",
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
