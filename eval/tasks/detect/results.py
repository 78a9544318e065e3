"""Everything that a run of ``python -m eval detect`` reports, and the folder that it leaves.

``results.json`` has what that of every task has (signature, model, dataset, settings, scores), and
the thresholds, what they were chosen on, and what probes change; ``outcomes.parquet`` what every
document, and for the AUC every sentence, came to; ``documents.parquet`` the scores of every
sentence of every document that was read, also of those that the thresholds were chosen on. It has
no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coherencegym.eval.kinds.documents import COHERENT
from coherencegym.eval.statistics.outcomes import Outcome
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.detect.decisions import Decision, highest
from coherencegym.eval.tasks.detect.detection_scores import DetectionScore
from coherencegym.eval.tasks.detect.document_tables import DocumentTable
from coherencegym.eval.tasks.detect.edited_scores import ProbeScore
from coherencegym.eval.tasks.detect.rows import outcomes_of, probe_scores_of, scores_of

TASK = "detect"


@dataclass(frozen=True)
class Threshold:
    """A threshold, and the documents that it was chosen on; none where the user chose it."""

    config: str
    decision: Decision
    threshold: float
    dataset: str = ""
    chosen_on: str = ""
    split: str = ""
    documents: int = 0


@dataclass(frozen=True)
class ScoredTable:
    """A table, and the scores of its sentences; see :func:`eval.tasks.detect.detect.detect`."""

    table: DocumentTable
    scores: Sequence[Sequence[float]]

    @property
    def too_long(self) -> int:
        """How many documents are longer than the model's context."""
        return sum(own[-1] != own[-1] for own in self.scores)


@dataclass(frozen=True)
class DetectionResults:
    """Everything that a run reports.

    ``tables`` are all that were read; ``scores`` are of those that were tested.
    """

    signature: str
    model: Mapping[str, Any]
    datasets: Sequence[Mapping[str, Any]]
    settings: Mapping[str, Any]
    thresholds: Sequence[Threshold]
    scores: Sequence[DetectionScore]
    notes: Sequence[str]
    tables: Sequence[ScoredTable]
    probes: Sequence[ProbeScore] = ()
    task: str = TASK

    @property
    def dataset(self) -> dict[str, Any]:
        """The dataset that was tested on, with those of its tables."""
        first = self.datasets[0]
        return {**first, "tables": [table for table in first["tables"] if table["tested"]]}

    @property
    def rows(self) -> list[Score]:
        """The scores in the form that every task has."""
        too_long = {one.table.config: one.too_long for one in self.tested}
        return [*scores_of(self.scores, too_long), *probe_scores_of(self.probes)]

    @property
    def outcomes(self) -> Iterator[Outcome]:
        """The outcomes of the tables that were tested on."""
        for one in self.tested:
            own = {t.decision: t.threshold for t in self.thresholds if t.config == one.table.config}
            yield from outcomes_of(one.table, one.scores, own)

    @property
    def tested(self) -> list[ScoredTable]:
        """The tables that were tested on."""
        names = {
            (str(self.datasets[0]["name"]), table["config"], table["split"])
            for table in self.dataset["tables"]
        }
        return [
            one
            for one in self.tables
            if (one.table.source.name, one.table.config, one.table.split) in names
        ]

    def as_json(self) -> dict[str, Any]:
        """What ``results.json`` has."""
        calibration = [
            {**dataset, "tables": [table for table in dataset["tables"] if not table["tested"]]}
            for dataset in self.datasets
        ]
        return {
            "task": self.task,
            "signature": self.signature,
            "model": dict(self.model),
            "dataset": self.dataset,
            "calibration": [dataset for dataset in calibration if dataset["tables"]],
            "settings": dict(self.settings),
            "thresholds": [asdict(threshold) for threshold in self.thresholds],
            "scores": [asdict(score) for score in self.rows],
            "probes": [asdict(probe) for probe in self.probes],
            "notes": list(self.notes),
        }


def document_rows(results: DetectionResults) -> Iterator[dict[str, Any]]:
    """Rows of ``documents.parquet``: every document, with a score (bits per token) by sentence.

    ``scores`` has null for the opening sentence, and is null for a document that is too long;
    ``highest`` is the place of the highest score. What is an intruder follows from these and the
    thresholds.
    """
    for scored in results.tables:
        table = scored.table
        for document, own in zip(table.documents, scored.scores, strict=True):
            too_long = own[-1] != own[-1]
            yield {
                "dataset": table.source.name,
                "config": table.config,
                "split": table.split,
                "item_id": document.item_id,
                "intruder_position": document.intruder_position,
                "scores": None if too_long else [None, *own[1:]],
                "highest": COHERENT if too_long else highest(own),
                "too_long": too_long,
            }


def document_schema() -> Any:
    """The Arrow schema of ``documents.parquet``."""
    import pyarrow as pa

    return pa.schema(
        [
            ("dataset", pa.string()),
            ("config", pa.string()),
            ("split", pa.string()),
            ("item_id", pa.string()),
            ("intruder_position", pa.int32()),
            ("scores", pa.list_(pa.float64())),
            ("highest", pa.int32()),
            ("too_long", pa.bool_()),
        ]
    )
