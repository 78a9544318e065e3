"""The scores of samples that another evaluator logged, as results of one model on its tasks.

A log has samples with scores of their own, and no predictions by surprisal: each of its metrics
whose scores are shares from 0 to 1 becomes one here, over samples. Several scores of a sample
(epochs) come to their mean first.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, BinaryIO

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.outcomes.schema import MODEL, UnitRow
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.files.strict_json import held, kind

#: Bytes of a log, or of a file in it, that are read; a larger one is refused.
MOST_BYTES = 1_000_000_000
_NO_SCORE = "no score in the log"
#: Fields that an error names.
_MOST_NAMED = 20


@dataclass(frozen=True)
class LoggedSample:
    """The scores of one sample.

    Attributes:
        item: its id in the task.
        content: the input and the target, from which a digest of the task's rows is made.
        scores: a number for each metric; None where there is none.
        fields: columns of the dataset, or metadata, by which samples may be clustered.
    """

    item: str
    content: Any
    scores: Mapping[str, float | None]
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class LoggedTask:
    """The samples of one task."""

    name: str
    samples: Sequence[LoggedSample]

    @cached_property
    def by_item(self) -> dict[str, list[LoggedSample]]:
        """The samples by item: several are epochs of one."""
        found: dict[str, list[LoggedSample]] = {}
        for sample in self.samples:
            found.setdefault(sample.item, []).append(sample)
        return found

    @property
    def sha256(self) -> str:
        """A digest of what was asked, whatever the order."""
        rows = sorted({json.dumps([one.item, one.content]) for one in self.samples})
        return hashlib.sha256("\n".join(rows).encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class SampleLog:
    """The samples of one model that another evaluator logged.

    Attributes:
        path: a file or folder.
        tool: the evaluator, as results name a task.
        model: its name.
        settings: JSON values that have to be alike for two logs to be compared.
        versions: those of packages, by their names.
        tasks: one or more.
    """

    path: Path
    tool: str
    model: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    tasks: Sequence[LoggedTask]


def saved_log(log: SampleLog, cluster_by: str | None = None) -> tuple[Results, list[str]]:
    """A log as results, and the names of metrics that are left out: they are no shares.

    Args:
        cluster_by: the field whose values are clusters; None: each sample is one by itself.
    """
    writer = OutcomeWriter()
    left_out: dict[str, None] = {}
    metrics: dict[str, Accuracy] = {}
    for task in log.tasks:
        clusters = [
            _cluster(own[0], cluster_by, f"{log.path}: {task.name}") or item
            for item, own in task.by_item.items()
        ]
        units = writer.units(
            UnitRow(config=task.name, split="", item=item, discourse=cluster, cluster=cluster)
            for item, cluster in zip(task.by_item, clusters, strict=True)
        )
        for name in dict.fromkeys(name for one in task.samples for name in one.scores):
            known = [
                [score for sample in own if (score := sample.scores.get(name)) is not None]
                for own in task.by_item.values()
            ]
            if any(known) and all(0 <= score <= 1 for own in known for score in own):
                values = [fmean(own) if own else None for own in known]
                metrics[name] = Accuracy(name)
                writer.add(units, name, MODEL, values, reason=_NO_SCORE)
            else:
                left_out[name] = None
    if not metrics:
        raise EvaluationError(
            f"{log.path}: no metric with a score from 0 to 1 for each sample; found "
            f"{first_names(list(left_out)) or 'none'}"
        )
    return _saved(log, writer.tables(), metrics), list(left_out)


def _saved(log: SampleLog, outcomes: OutcomeTables, metrics: Mapping[str, Accuracy]) -> Results:
    name = first_names([task.name for task in log.tasks])
    digests = [task.sha256 for task in log.tasks]
    return Results(
        folder=log.path,
        signature=f"{log.tool}:{log.path.name}|model:{log.model}",
        model={"name": log.model},
        dataset={
            "name": name,
            "suite": name,
            "rows_sha256": digests[0],
            "tables": [
                asdict(TableFacts(task.name, "", digest, len(task.by_item)))
                for task, digest in zip(log.tasks, digests, strict=True)
            ],
        },
        settings={**log.settings, "versions": dict(log.versions)},
        notes=(),
        task=log.tool,
        outcomes=outcomes,
        metrics=metrics,
    )


def _cluster(sample: LoggedSample, field: str | None, where: str) -> str:
    if field is None:
        return ""
    value = sample.fields.get(field)
    if not isinstance(value, str | int) or value == "":
        names = [name for name, own in sample.fields.items() if isinstance(own, str | int)]
        known = first_names(names, _MOST_NAMED)
        raise EvaluationError(
            f"{where}: sample {kind(sample.item)} has no name or number in {field!r}; expected "
            f"--cluster-by with one of {known or 'the fields of its samples, of which it has none'}"
        )
    return str(value)


def opened(path: Path) -> BinaryIO:
    """A file of a log, to be read."""
    if path.stat().st_size > MOST_BYTES:
        raise EvaluationError(f"{path}: over {MOST_BYTES:,} bytes; expected a smaller file")
    return path.open("rb")


def read_logged(content: bytes, schema: Any, where: str) -> Any:
    """JSON of a log, held to a schema; Python's ``NaN`` is let through, as evaluators write it."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise EvaluationError(
            f"{where}: not JSON in UTF-8; expected a log of an evaluator"
        ) from None
    try:
        return held(value, schema)
    except EvaluationError as error:
        raise EvaluationError(f"{where}: {error}") from None


def finite(value: Any) -> float | None:
    """A finite number, or None; one that is too large for a float is the largest."""
    if not isinstance(value, int | float) or value != value or abs(value) == math.inf:
        return None
    return float(max(-sys.float_info.max, min(value, sys.float_info.max)))
