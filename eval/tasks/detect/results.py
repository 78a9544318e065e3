"""Everything that a run of ``python -m eval detect`` reports, and the folder that it leaves.

``results.json`` has the signature, model, datasets, settings, thresholds and scores;
``documents.parquet`` the scores of every sentence of every document that was read, also of those
that the thresholds were chosen on, and what was decided. It has no text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coherencegym.eval.kinds.documents import COHERENT
from coherencegym.eval.tasks.detect.decisions import Decision, highest
from coherencegym.eval.tasks.detect.detection_scores import DetectionScore
from coherencegym.eval.tasks.detect.document_tables import DocumentTable
from coherencegym.eval.tasks.detect.edited_scores import ProbeScore
from coherencegym.files.folders import written_beside

#: The file that every folder of results has.
MARKER = "results.json"
#: Of that file: what reads it later refuses another.
FORMAT = 1
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

    def as_json(self) -> dict[str, Any]:
        """What ``results.json`` has."""
        return {
            "format": FORMAT,
            "task": self.task,
            "signature": self.signature,
            "model": dict(self.model),
            "datasets": [dict(dataset) for dataset in self.datasets],
            "settings": dict(self.settings),
            "thresholds": [asdict(threshold) for threshold in self.thresholds],
            "scores": [asdict(score) for score in self.scores],
            "probes": [asdict(probe) for probe in self.probes],
            "notes": list(self.notes),
        }


def write(results: DetectionResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write a folder of results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite, MARKER) as work:
        write_files(results, work)


def write_files(results: DetectionResults, folder: Path) -> None:
    """Write the files of results into a folder that is there."""
    import pyarrow
    from pyarrow import parquet

    text = json.dumps(results.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    (folder / MARKER).write_text(text + "\n", encoding="utf-8")
    table = pyarrow.Table.from_pylist(list(document_rows(results)), schema=_schema())
    parquet.write_table(table, folder / "documents.parquet")


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


def _schema() -> Any:
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
