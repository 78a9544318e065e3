"""A folder of results, read back: what ``coherencegym score`` wrote, now or on another machine.

It may come from anybody, so every value is held to its type, and the outcomes to the scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from coherencegym.errors import EvaluationError
from coherencegym.eval.metrics.estimates import SavedMetric, known_metrics
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.outcomes.files import OUTCOMES_FILE, read_outcome_tables
from coherencegym.eval.outcomes.tables import Cells, OutcomeSeries, OutcomeTables, count_distinct
from coherencegym.eval.results.folder import MARKER, RESULTS_FORMAT
from coherencegym.eval.results.runs import results_head
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.tasks.score.selections import inside
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
    """


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
        outcomes, metrics: those of every unit.
        over: the configs that the headline score is over; none of results without one.
    """

    folder: Path
    signature: str
    model: SavedModel
    dataset: SavedDataset
    settings: Mapping[str, Any]
    tables: tuple[SavedTable, ...]
    task: str
    outcomes: OutcomeTables = field(repr=False)
    metrics: Mapping[str, Metric] = field(repr=False)
    over: tuple[str, ...] = ()

    def table(self, config: str, split: str) -> SavedTable | None:
        """The table of that name, or None."""
        same = (t for t in self.tables if (t.config, t.split) == (config, split))
        return next(same, None)

    def compares(self, one: OutcomeSeries) -> bool:
        """Tell whether models are compared by some outcomes.

        Baselines of items decided when the dataset was built: they are the same beside any model.
        """
        metric = self.metrics[one.metric]
        return metric.is_compared and (one.system.role == "model" or not metric.is_of_items)

    @property
    def n_compared(self) -> int:
        """Units by which models are compared."""
        return self.count_units(self.outcomes.series())

    def count_units(self, series: Iterable[OutcomeSeries]) -> int:
        """The number of units in some outcomes by which models are compared."""
        import numpy as np

        units = [self.outcomes.units_of(one.places) for one in series if self.compares(one)]
        return count_distinct(np.concatenate(units)) if units else 0


def seed_folders(folder: Path) -> list[Path]:
    """The folders of the seeds, or folds, of a training, of which these are the results over all.

    None of other results.
    """
    if (folder / OUTCOMES_FILE).is_file():
        return []
    return sorted(each for name in ("seed-*", "fold-*") for each in folder.glob(name))


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
    file = folder / OUTCOMES_FILE
    if seeds := seed_folders(folder):
        over = seeds[0].name.partition("-")[0]
        raise EvaluationError(
            f"{folder}: results of several {over}s; expected the folder of one, such as {seeds[0]}"
        )
    if not file.is_file():
        raise EvaluationError(f"{folder}: no {file.name}; expected the whole folder of results")
    results = strict_json.read_json(path, _Results)
    outcomes = read_outcome_tables(folder)
    metrics = known_metrics(results.metrics, str(path))
    _check_tables(results, outcomes, path, file)
    _check_outcomes(results, outcomes, metrics, path, file)
    return Saved(
        folder=folder,
        signature=results.signature,
        model=results.model,
        dataset=results.dataset,
        settings=results.settings.model_dump(),
        tables=tuple(SavedTable(**asdict(table)) for table in results.dataset.tables),
        task=head.task,
        outcomes=outcomes,
        metrics=metrics,
        over=results.headline.over if results.headline else (),
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
    metric: str = CD
    system: str = ""
    score: SignedShare | None = None


@dataclass(frozen=True)
class _Headline:
    over: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Results:
    signature: str
    model: SavedModel
    dataset: _Dataset
    settings: _Settings
    scores: Some[_Score]
    metrics: Many[SavedMetric] = ()
    headline: _Headline | None = None


def _check_tables(results: _Results, outcomes: OutcomeTables, path: Path, file: Path) -> None:
    seen: set[tuple[str, str]] = set()
    for number, about in enumerate(results.dataset.tables):
        where = f"{path}: dataset.tables[{number}]"
        key = about.config, about.split
        if key in seen:
            raise EvaluationError(f"{where}: there twice; expected each config and split once")
        seen.add(key)
    for config, split in {(one.config, one.split): None for one in outcomes.series()}:
        if (config, split) not in seen:
            raise EvaluationError(f"{file}: {kind(config)}: not in {path.name}; {_AGAIN}")


def _check_outcomes(
    results: _Results,
    outcomes: OutcomeTables,
    metrics: Mapping[str, Metric],
    path: Path,
    file: Path,
) -> None:
    tables = {(one.config, one.split): one for one in results.dataset.tables}
    scores = {
        (one.config, one.split, one.metric, one.system): one
        for one in results.scores
        if one.level == "all"
    }
    for one in outcomes.series():
        where = f"{file}: {kind(one.config)}"
        if (metric := metrics.get(one.metric)) is None:
            raise EvaluationError(f"{where}, {kind(one.metric)}: no such metric; {_AGAIN}")
        if fault := metric.fault(outcomes.cells(one.places)):
            raise EvaluationError(f"{where}, {kind(metric.said)}: {fault}")
        table = tables[one.config, one.split]
        score = scores.pop((one.config, one.split, metric.said, one.system.label), None)
        if metric.is_of_items and metric.is_compared and one.system.role == "model":
            number = count_distinct(outcomes.items(one.places))
            if score is None or number != table.items:
                what = "no score" if score is None else f"{table.items:,} items"
                raise EvaluationError(
                    f"{path}: {kind(one.config)}: {what}, but {number:,} items in {file.name}; "
                    f"{_AGAIN}"
                )
        if score is not None:
            cells = outcomes.cells(inside(outcomes, one.places, table.headline))
            _check_score(score, metric, cells, path, file)
    for score in scores.values():
        if score.score is not None:
            raise EvaluationError(
                f"{path}: {kind(score.config)}, {kind(score.metric)}: nothing of it in "
                f"{file.name}; {_AGAIN}"
            )


def _check_score(score: _Score, metric: Metric, cells: Cells, path: Path, file: Path) -> None:
    value = metric.value(cells)
    # A ratio counts the parts of its units, of which the outcomes do not know the number.
    number = len(metric.counted(cells)) if metric.is_of_items else score.n
    # What is not defined is far from everything that is.
    values = (math.inf if v is None else v for v in (value, score.score))
    if number != score.n or not math.isclose(*values, abs_tol=1e-6):
        raise EvaluationError(
            f"{path}: {kind(score.config)}, {kind(metric.said)}: {kind(score.score)} of "
            f"{score.n:,}, but in {file.name} it is {kind(value)} of {number:,}; {_AGAIN}"
        )


_AGAIN = "the files are not of one run: score the model again"
