"""Two models of a leaderboard on a page: paired tests in every column of both, and the items.

The tests are those of ``coherencegym compare``, corrected (Holm) for all of a page together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.comparison import (
    ModelComparison,
    compare,
    corrected_together,
)
from coherencegym.eval.results.run_table import RunColumn, RunModel, RunTable
from coherencegym.eval.results.runs import Run
from coherencegym.eval.results.saved import Saved, read_saved
from coherencegym.eval.views.compare.page import SitePlace, render_comparisons
from coherencegym.eval.views.compare.texts import ItemPlace, Texts, texts_of

#: Pages of two models that are made if nothing else is asked for: each with each of 14.
MOST_PAIRS = 91
#: Characters of the items of such a page, about.
_MOST_CHARACTERS = 1_300_000


@dataclass(frozen=True)
class Pair:
    """Two models, the better one first, and their comparisons in columns that both are in."""

    model: RunModel
    other: RunModel
    columns: tuple[RunColumn, ...]
    comparisons: tuple[ModelComparison, ...]


#: Results that are kept in memory: those of a few models on many suites.
_KEPT = 64


class PairReadings:
    """Files that comparisons read: predictions of runs, and the texts of their items.

    ``without``: runs without predictions (older releases, several seeds), and why.
    """

    def __init__(self) -> None:
        self.without: dict[str, str] = {}
        self._saved = lru_cache(_KEPT)(self._read)

    def saved(self, run: Run) -> Saved | None:
        """The results of a run; None where they have no predictions."""
        return self._saved(run.folder)

    def _read(self, folder: str) -> Saved | None:
        try:
            return read_saved(Path(folder))
        except EvaluationError as error:
            self.without[folder] = str(error)
            return None

    def texts(self, results: Saved, places: Set[ItemPlace]) -> Texts:
        """The texts of some items that everybody may read; see :func:`texts_of`."""
        return texts_of(results, places, publishable=True)


def compared_pairs(table: RunTable, readings: PairReadings, most: int) -> Iterator[Pair]:
    """The pairs of a table that have a comparison, no more than so many, neighbours first."""
    made = 0
    for model, other in table.pairs():
        if made == most:
            return
        columns, comparisons = [], []
        for column in table.shared(model, other):
            found = _compared(column, model, other, readings)
            if found is not None:
                columns.append(column)
                comparisons.append(found)
        if comparisons:
            made += 1
            together = corrected_together(comparisons)
            yield Pair(model, other, tuple(columns), tuple(together))


def _compared(
    column: RunColumn, model: RunModel, other: RunModel, readings: PairReadings
) -> ModelComparison | None:
    found, baseline = (readings.saved(column.shown[one]) for one in (model, other))
    if found is None or baseline is None:
        return None
    try:
        # What stands in one column has the same rows and rules: what is left, such as another
        # commit of the dataset with the same rows, is told.
        done = compare(baseline, found, anyway=True)
    except EvaluationError:
        return None
    return replace(done, obstacles=(), remarks=(*done.obstacles, *done.remarks))


def render_pair(
    table: RunTable, pair: Pair, readings: PairReadings, trail: Sequence[tuple[str, str]]
) -> str:
    """The page of a pair."""
    model, other = table.models[pair.model], table.models[pair.other]
    place = SitePlace(
        f"{model} against {other}",
        [column.whole_name for column in pair.columns],
        trail,
        _MOST_CHARACTERS,
        readings.texts,
    )
    names = [(model, other)] * len(pair.comparisons)
    return render_comparisons(pair.comparisons, names, None, place)
