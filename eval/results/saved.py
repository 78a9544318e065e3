"""A folder of results, read back: what ``coherencegym score`` wrote, now or on another machine.

It may come from anybody, so every value is held to its type, and the judgements to the scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from coherencegym.errors import EvaluationError
from coherencegym.eval.metrics.estimates import SavedMetric, known_metrics
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.outcomes.files import OUTCOMES_FILE, read_outcome_tables
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.results.folder import (
    MARKER,
    PREDICTIONS_FILE,
    RESULTS_FORMAT,
    Key,
    SavedJudgement,
    read_judgements,
)
from coherencegym.eval.results.runs import results_head
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.tasks.score.columns import item_values, judgement_columns
from coherencegym.files import strict_json
from coherencegym.files.strict_json import Many, SignedShare, Some, kind


@dataclass(frozen=True, slots=True)
class SavedModel:
    """The model: ``commit`` is the Hub's, or a digest of the files of a folder."""

    name: str
    commit: str
    dtype: str
    device: str


@dataclass(frozen=True, slots=True)
class SavedDataset:
    """The dataset; ``commit`` is None for a folder, ``version`` where it has none."""

    name: str
    suite: str
    version: str | None
    commit: str | None
    rows_sha256: str


@dataclass(frozen=True)
class _Table:
    config: str
    split: str
    sha256: str
    items: int
    headline: str
    breakdowns: tuple[str, ...]
    families: bool
    headline_value: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class SavedTable(_Table):
    """One config and split.

    Attributes:
        config, split: names.
        sha256: digest over the hashes of all its rows, scored or not.
        items: the number that were scored: the first of the table.
        headline: the group of predictions that the table's own score is over; empty: all.
        breakdowns: columns by whose values scores are reported.
        families: items of different discourses share text, and intervals are over families.
        headline_value: ``column=value`` of the items that count in the suite's one number; empty:
            all of them.
        judgements: one for each prediction of each item, in their order; of ``score``.
    """

    judgements: tuple[SavedJudgement, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Saved:
    """A folder of results.

    Attributes:
        folder: the name that the user gave.
        signature: the line from which the scores can be reproduced.
        model, dataset: facts of ``results.json``.
        settings: the user's choices, and what came of them; JSON.
        tables: one or more.
        task: the task that these are the results of.
        outcomes, metrics: those of all other tasks than ``score``.
    """

    folder: Path
    signature: str
    model: SavedModel
    dataset: SavedDataset
    settings: Mapping[str, Any]
    tables: tuple[SavedTable, ...]
    task: str = "score"
    outcomes: OutcomeTables | None = field(default=None, repr=False)
    metrics: Mapping[str, Metric] = field(default_factory=dict, repr=False)

    def table(self, config: str, split: str) -> SavedTable | None:
        """The table of that name, or None."""
        same = (t for t in self.tables if (t.config, t.split) == (config, split))
        return next(same, None)


def read_saved(folder: Path) -> Saved:
    """Read a folder of results.

    Raises:
        EvaluationError: it is no folder of results, is of an older or newer release, or is damaged.
        OSError: a file cannot be read.
    """
    path = folder / MARKER
    if not folder.is_dir():
        raise EvaluationError(
            f"{folder}: no such folder; expected one that coherencegym score has written"
        )
    if not path.is_file():
        raise EvaluationError(f"{folder}: no {MARKER}; expected a folder of results")
    head = results_head(path)
    if head.format is None:
        raise EvaluationError(f"{path}: written by an older release; score the model again")
    if type(head.format) is not int or head.format != RESULTS_FORMAT:
        raise EvaluationError(
            f"{path}: format {kind(head.format)}; expected {RESULTS_FORMAT} (a newer release may "
            "read it)"
        )
    file = folder / (PREDICTIONS_FILE if head.task == "score" else OUTCOMES_FILE)
    if (folder / "seed-0").is_dir() and not file.is_file():
        raise EvaluationError(
            f"{folder}: results of several seeds; expected the folder of one, such as "
            f"{folder / 'seed-0'}"
        )
    if not file.is_file():
        raise EvaluationError(f"{folder}: no {file.name}; expected the whole folder of results")
    results = strict_json.read_json(path, _Results)
    outcomes = None if head.task == "score" else read_outcome_tables(folder)
    metrics = known_metrics(results.metrics, str(path))
    if outcomes is not None:
        _check_outcomes(results, outcomes, metrics, path, file)
    return Saved(
        folder=folder,
        signature=results.signature,
        model=results.model,
        dataset=results.dataset,
        settings=results.settings.model_dump(),
        tables=tuple(_tables(results, path, file, head.task)),
        task=head.task,
        outcomes=outcomes,
        metrics=metrics,
    )


class _Settings(BaseModel, extra="allow"):
    versions: dict[str, str]


@dataclass(frozen=True)
class _Dataset(SavedDataset):
    tables: Some[_Table]


@dataclass(frozen=True)
class _Score:
    config: str
    split: str
    level: str
    n: int
    met: float = 0.0
    measure: str = CD
    judge: str = ""
    score: SignedShare | None = None


@dataclass(frozen=True)
class _Results:
    """The schema of ``results.json``, as far as it is read."""

    signature: str
    model: SavedModel
    dataset: _Dataset
    settings: _Settings
    scores: Some[_Score]
    metrics: Many[SavedMetric] = ()


def _tables(results: _Results, path: Path, file: Path, task: str) -> Iterator[SavedTable]:
    """The tables, with judgements or outcomes that are held to the scores."""
    is_score = task == "score"
    found: dict[Key, list[SavedJudgement]] = read_judgements(file) if is_score else {}
    seen: set[Key] = set()
    for number, about in enumerate(results.dataset.tables):
        where = f"{path}: dataset.tables[{number}]"
        key = about.config, about.split
        if key in seen:
            raise EvaluationError(f"{where}: there twice; expected each config and split once")
        seen.add(key)
        table = SavedTable(**asdict(about), judgements=tuple(found.get(key, ())))
        scores = [s for s in results.scores if (s.config, s.split, s.level) == (*key, "all")]
        if is_score:
            _check_agreement(table, (scores[-1].n, scores[-1].met) if scores else None, where, file)
        yield table
    if others := set(found) - seen:
        raise EvaluationError(f"{file}: {kind(min(others)[0])}: not in {path.name}; {_AGAIN}")


def _check_outcomes(
    results: _Results,
    outcomes: OutcomeTables,
    metrics: Mapping[str, Metric],
    path: Path,
    file: Path,
) -> None:
    """Hold the outcomes to the metrics, and to what ``results.json`` says of them."""
    tables = {(about.config, about.split) for about in results.dataset.tables}
    scores = {
        (one.config, one.split, one.measure, one.judge): one.score
        for one in results.scores
        if one.level == "all"
    }
    for one in outcomes.series():
        where = f"{file}: {kind(one.config)}"
        if (one.config, one.split) not in tables:
            raise EvaluationError(f"{where}: not in {path.name}; {_AGAIN}")
        if (metric := metrics.get(one.metric)) is None:
            raise EvaluationError(f"{where}, {kind(one.metric)}: no such metric; {_AGAIN}")
        cells = outcomes.cells(one.places)
        if fault := metric.fault(cells):
            raise EvaluationError(f"{where}, {kind(metric.said)}: {fault}")
        key = one.config, one.split, metric.said, one.system.label
        if key not in scores:
            continue
        score, value = scores.pop(key), metric.value(cells)
        # What is not defined is far from everything that is.
        if not math.isclose(*(math.inf if v is None else v for v in (value, score)), abs_tol=1e-6):
            raise EvaluationError(
                f"{path}: {kind(one.config)}, {kind(metric.said)}: {kind(score)}, but in "
                f"{file.name} it is {kind(value)}; {_AGAIN}"
            )
    for (config, _, measure, _), score in scores.items():
        if score is None:
            continue
        raise EvaluationError(
            f"{path}: {kind(config)}, {kind(measure)}: nothing of it in {file.name}; {_AGAIN}"
        )


_AGAIN = "the files are not of one run: score the model again"


def _check_agreement(
    table: SavedTable, score: tuple[int, float] | None, where: str, file: Path
) -> None:
    """Hold the judgements to what ``results.json`` says of them."""
    items = {judgement.item.item_id for judgement in table.judgements}
    if len(items) != table.items:
        raise EvaluationError(
            f"{where}: {table.items} items, but {len(items)} in {file.name}; {_AGAIN}"
        )
    labels = table.judgements[0].item.columns if table.judgements else table.breakdowns
    if len(labels) != len(table.breakdowns) or not all(
        map(str.startswith, labels, table.breakdowns)
    ):
        raise EvaluationError(
            f"{file}: {kind(table.config)}: columns other than its breakdowns; {_AGAIN}"
        )
    columns = judgement_columns(table.judgements)
    shares = item_values(columns, columns.inside(table.headline)).share
    if score is None:
        raise EvaluationError(f"{where}: no score of the table; {_AGAIN}")
    if len(shares) != score[0] or not math.isclose(math.fsum(shares), score[1], abs_tol=1e-6):
        raise EvaluationError(
            f"{where}: the score is over {score[0]} items of which "
            f"{score[1]:g} hold, but in {file.name} it is {math.fsum(shares):g} of {len(shares)}; "
            f"{_AGAIN}"
        )
