"""The units behind each score of a run, one by one, for formats that have a line an instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from coherencegym.eval.data.benchmark import headline_id, task_id
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.outcomes.schema import FLAGS, MODEL, OutcomeRow
from coherencegym.eval.outcomes.tables import OutcomeSeries
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.runs import Run, read_run
from coherencegym.eval.results.saved import Saved, moved_dataset, read_saved
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.score.outcomes import MARGIN
from coherencegym.eval.tasks.score.selections import inside
from coherencegym.eval.views.compare.texts import ItemPlace, Texts, texts_of
from coherencegym.files.strict_json import read_json


@dataclass(frozen=True)
class Instance:
    """A unit in a score: an item with its predictions, or a document, an example, ...

    Attributes:
        name: the item's id, with the part of it that the unit is.
        value: a share from 0 to 1; the mean of several predictions.
        outcomes: those of its predictions, or its only one.
        margins: the margin (bits) of each; None where there is none.
        texts: its versions or sentences by name; empty where they are not on this machine.
        is_open: everybody may read the texts.
    """

    name: str
    value: float
    outcomes: Sequence[OutcomeRow]
    margins: Sequence[float | None]
    texts: Mapping[str, str] = field(repr=False)
    is_open: bool

    @property
    def decisions(self) -> list[str]:
        """The outcomes in words, for people: ``sum: holds, margin +1.250000 bits``."""
        return [_said(*pair) for pair in zip(self.outcomes, self.margins, strict=True)]


def evaluation_name(run: Run, score: Score | Headline) -> str:
    """The name of a score in formats of others: the id of its task."""
    if isinstance(score, Headline):
        return headline_id(run.task)
    return task_id(score.config, score.what)


def _said(outcome: OutcomeRow, margin: float | None) -> str:
    words = ("holds", "fails") if outcome.unit.formula else ("right", "wrong")
    known: dict[float | None, str] = {1: words[0], 0: words[1], None: outcome.reason}
    what = known.get(outcome.value, f"{outcome.value}")
    flags = [name for name, bit in FLAGS.items() if outcome.flags & bit]
    bits = [] if margin is None else [f"margin {margin:+.6f} bits"]
    way = f"{outcome.unit.aggregation}: " if outcome.unit.aggregation else ""
    return way + ", ".join([what, *bits, *flags])


@dataclass(frozen=True)
class RunInstances:
    """A run with what each of its scores is over.

    Attributes:
        rows: the rows of scores as ``results.json`` has them, with all that the task says of each.
    """

    run: Run
    saved: Saved
    rows: Sequence[Mapping[str, Any]]
    texts: Texts
    open_texts: Texts

    def of(self, score: Score) -> list[Instance]:
        """The instances of a score; none where no unit is right or wrong by itself."""
        for one in self.saved.outcomes.series():
            metric = self.saved.metrics[one.metric]
            names = one.config, one.split, metric.said, one.system.label
            is_it = names == (score.config, score.split, score.metric, score.system)
            if is_it and one.system.role == "model" and isinstance(metric, Accuracy):
                return list(self._instances(one, metric.is_of_items))
        return []

    def _instances(self, one: OutcomeSeries, by_item: bool) -> Iterator[Instance]:
        tables, table = self.saved.outcomes, self.saved.table(one.config, one.split)
        places = inside(tables, one.places, table.headline if table else "")
        margins = tables.by_unit(MARGIN.name, MODEL)[tables.units_of(places)]
        found: dict[str, list[tuple[OutcomeRow, float | None]]] = {}
        for outcome, margin in zip(tables.rows(places), margins.tolist(), strict=True):
            unit = outcome.unit
            name = unit.item if by_item else unit.item + unit.unit
            found.setdefault(name, []).append((outcome, None if margin != margin else margin))
        for name, own in found.items():
            outcomes, bits = zip(*own, strict=True)
            values = [outcome.value for outcome in outcomes if outcome.value is not None]
            place = one.config, one.split, outcomes[0].unit.item
            row = self.texts.found.get(place)
            is_open = place in self.open_texts.found
            if values:
                yield Instance(name, fmean(values), outcomes, bits, _texts(row), is_open)


def read_instances(folder: Path, dataset: Path | None = None) -> RunInstances:
    """The instances of a folder of results; texts are read where the dataset is.

    Args:
        folder: the results.
        dataset: the folder where the dataset is now; None: where it was.

    Raises:
        EvaluationError: the folder is no whole folder of results.
        OSError: a file cannot be read.
    """
    run, saved = read_run(folder), read_saved(folder)
    there = moved_dataset(saved, dataset)
    places = _places(saved)
    rows = read_json(folder / MARKER, _Rows).scores
    texts, open_texts = texts_of(there, places), texts_of(there, places, publishable=True)
    return RunInstances(run, saved, rows, texts, open_texts)


@dataclass(frozen=True)
class _Rows:
    scores: tuple[dict[str, Any], ...]


def _places(saved: Saved) -> set[ItemPlace]:
    return {(unit.config, unit.split, unit.item) for unit in saved.outcomes.unit_rows()}


def _texts(row: Item | Document | None) -> dict[str, str]:
    if isinstance(row, Item):
        return {condition.condition_name: condition.content for condition in row.conditions}
    if isinstance(row, Document):
        return {f"sentence {n}": text for n, text in enumerate(row.sentences, 1)}
    return {}
