"""The items of a comparison as the page's script reads them: paired, chosen, packed."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.kinds.formula import FormulaError, RegionRef
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.outcomes.schema import FLAGS, MODEL, OutcomeRow, name_of_group
from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.paired_scores import compared_outcomes
from coherencegym.eval.results.saved import Saved
from coherencegym.eval.tasks.score.outcomes import MARGIN
from coherencegym.eval.views.compare.texts import ItemPlace, Texts, texts_of
from coherencegym.eval.views.compare.values import RegionBits, region_bits, sentence_scores
from coherencegym.eval.views.html_items import MOST_CHARACTERS
from coherencegym.eval.views.html_marks import marked
from coherencegym.eval.views.html_selection import LIMITS
from coherencegym.eval.views.item_view import read_in, state_of

#: Names of what may have become of a pair: see :class:`ItemPair`.
OUTCOMES = ("both", "model", "baseline", "neither", "undefined")
#: Pairs of a table and outcome at most: the first that makes a page of a bearable size.
_LIMITS = (10_000, 1_000, *LIMITS)
#: Times as many pairs that only one of the models has right.
_DIFFERING = 5
#: Characters that a pair takes without its text, about.
_OVERHEAD = 250
#: The metric of documents that is shown first: the strictest.
_FIRST = "exact accuracy"


@dataclass(frozen=True, slots=True)
class ItemPair:
    """A prediction, or a unit under a metric, as the baseline and the model met it.

    Attributes:
        config, split, item_id: its place.
        kind: formula and aggregation, or metric and system.
        groups: the names that it is found by.
        outcome: ``model`` or ``baseline`` where only that one has it right, ``both``, ``neither``,
            or ``undefined`` where one of them has no outcome.
        states: words such as ``met``, for the baseline and for the model.
        margins: bits by which it holds with either; None where there is none.
        reasons: codes of why there is none; empty where there is.
        compared: region and condition of each value that the prediction compares.
        aggregation: the way in which these are read; of a unit, the system.
    """

    config: str
    split: str
    item_id: str
    kind: str
    groups: tuple[str, ...]
    outcome: str
    states: tuple[str, str]
    margins: tuple[float | None, float | None]
    reasons: tuple[str, str]
    compared: tuple[tuple[RegionRef, str], ...] = ()
    aggregation: str = ""

    @property
    def difference(self) -> float:
        """The model's margin minus the baseline's, bits; 0 without both."""
        left, right = self.margins
        return 0.0 if left is None or right is None else right - left


@dataclass(frozen=True, slots=True)
class ComparedItems:
    """The items of a page.

    Attributes:
        data: the values of the page's JSON.
        counts: the pairs by outcome, for each comparison; of units, those of the first kind.
        left_out: pairs that are not on the page.
        limit: pairs of each table and outcome at most that are; of those that differ, more.
        without_texts: reasons why texts are missing, a few words each.
        credits: the corpora of the texts, with their licences, on a page for others.
    """

    data: dict[str, Any]
    counts: tuple[Mapping[str, int], ...]
    left_out: int
    limit: int
    without_texts: tuple[str, ...]
    credits: tuple[str, ...] = ()


def collect_pairs(
    comparisons: Sequence[ModelComparison],
    names: Sequence[tuple[str, str]],
    folder: Path | None,
    most_characters: int = MOST_CHARACTERS,
    headings: Sequence[str] = (),
    read_texts: Callable[[Saved, Set[ItemPlace]], Texts] = texts_of,
) -> ComparedItems:
    """The pairs that a page in a folder shows: as many as have so many characters.

    Args:
        comparisons, names: (model, baseline) of each.
        folder: the page's, from which those of runs are reached; None: it leads to none.
        most_characters: the length of its items, about.
        headings: names of the comparisons, where models do not tell them apart.
        read_texts: gives the texts of some of a run's items.

    Raises:
        EvaluationError: a file of a run is damaged.
    """
    found = [_leading(item_pairs(comparison)) for comparison in comparisons]
    pairs = [own.pairs for own in found]
    # Without a text of any first: texts are read of the pairs that may be shown.
    fitting = [
        limit
        for limit in _LIMITS
        if _OVERHEAD * sum(len(_chosen(own, limit)) for own in pairs) <= most_characters
    ]
    limits = fitting or _LIMITS[-1:]
    pairs = [_chosen(own, limits[0]) for own in pairs]
    texts = [
        read_texts(comparison.baseline, set(map(_place, own)))
        for comparison, own in zip(comparisons, pairs, strict=True)
    ]
    for limit in limits:
        kept = [_chosen(own, limit) for own in pairs]
        size = sum(_characters(own, text) for own, text in zip(kept, texts, strict=True))
        if size <= most_characters:
            break
    packer = _Packer(names, headings)
    for comparison, own, text in zip(comparisons, kept, texts, strict=True):
        packer.add(comparison, own, text, folder)
    return ComparedItems(
        packer.data,
        tuple(own.counts for own in found),
        sum(own.total for own in found) - sum(map(len, kept)),
        limit,
        tuple(dict.fromkeys(text.missing for text in texts if text.missing)),
        tuple(dict.fromkeys(credit for text in texts for credit in text.credits)),
    )


def item_pairs(comparison: ModelComparison) -> Iterator[ItemPair]:
    """The predictions that both have; of a task without predictions, the units."""
    found: list[ItemPair] = []
    ours, theirs = comparison.baseline.outcomes, comparison.model.outcomes
    margins = [own.by_unit(MARGIN.name, MODEL) for own in (ours, theirs)]
    for one, there in compared_outcomes(comparison.baseline, comparison.model):
        metric = comparison.baseline.metrics[one.metric]
        if not isinstance(metric, Accuracy):
            continue
        pairs = zip(ours.rows(one.places), theirs.rows(there), strict=True)
        if not metric.is_of_items:
            found += [_of_unit(metric, pair) for pair in pairs]
            continue
        units = zip(ours.units_of(one.places), theirs.units_of(there), strict=True)
        for pair, both in zip(pairs, units, strict=True):
            bits = [float(own[unit]) for own, unit in zip(margins, both, strict=True)]
            yield _of_prediction(pair, [None if b != b else b for b in bits])
    yield from sorted(found, key=lambda pair: not pair.kind.startswith(_FIRST))


def _of_prediction(
    pair: tuple[OutcomeRow, OutcomeRow], margins: Sequence[float | None]
) -> ItemPair:
    own = pair[0].unit
    right = [None if one.value is None else one.value == 1 for one in pair]
    said = [_state(one) for one in pair]
    return ItemPair(
        own.config,
        own.split,
        own.item,
        f"{own.formula} {own.aggregation}",
        tuple(map(name_of_group, own.groups)),
        _outcome(right[0], right[1]),
        (said[0], said[1]),
        (margins[0], margins[1]),
        (pair[0].reason, pair[1].reason),
        _compared(own.formula),
        own.aggregation,
    )


def _state(one: OutcomeRow) -> str:
    met = None if one.value is None else one.value == 1
    close = ", too close to call" if one.flags & FLAGS["too close"] else ""
    return state_of(met, bool(one.flags & FLAGS["tie"])) + close


def _compared(formula: str) -> tuple[tuple[RegionRef, str], ...]:
    # None where the file has no formula there.
    try:
        return tuple(read_in(formula))
    except FormulaError:
        return ()


def _of_unit(metric: Metric, pair: tuple[OutcomeRow, OutcomeRow]) -> ItemPair:
    unit, system = pair[0].unit, pair[0].system.label
    values = [one.value for one in pair]
    right = [None if value is None else value >= 1 for value in values]
    if None not in values and right == [False, False] and values[0] != values[1]:
        # Shares between wrong and right: the higher one is the better one.
        right = [value == max(v for v in values if v is not None) for value in values]
    said = [_said(value) for value in values]
    return ItemPair(
        unit.config,
        unit.split,
        unit.item + unit.unit,
        ", ".join(filter(None, (metric.said, system))),
        tuple(map(name_of_group, unit.groups)),
        _outcome(right[0], right[1]),
        (said[0], said[1]),
        (None, None),
        (pair[0].reason, pair[1].reason),
        aggregation=system,
    )


def _said(value: float | None) -> str:
    if value is None:
        return "undefined"
    return {0.0: "wrong", 1.0: "right"}.get(value, f"{value:.2f}")


def _outcome(baseline: bool | None, model: bool | None) -> str:
    if baseline is None or model is None:
        return "undefined"
    if baseline == model:
        return "both" if model else "neither"
    return "model" if model else "baseline"


@dataclass(frozen=True, slots=True)
class _Leading:
    # Those that a page may show; of all of them the number, and those by outcome (of units, those
    # of the first kind).
    pairs: list[ItemPair]
    total: int
    counts: Mapping[str, int]


def _leading(pairs: Iterable[ItemPair]) -> _Leading:
    # Of many, few are held.
    kept: list[ItemPair] = []
    counts: Counter[str] = Counter()
    first, total, most = None, 0, 1
    for pair in pairs:
        if not total and not pair.compared:
            first = pair.kind
        counts[pair.outcome] += first in (None, pair.kind)
        total += 1
        kept.append(pair)
        if len(kept) > 2 * most:
            kept = _chosen(kept, _LIMITS[0])
            most = max(len(kept), _LIMITS[0])
    return _Leading(_chosen(kept, _LIMITS[0]), total, +counts)


def _chosen(pairs: Sequence[ItemPair], limit: int) -> list[ItemPair]:
    members: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        kind = "" if pair.compared else pair.kind
        members[pair.config, pair.split, pair.outcome, kind].append(place)
    kept: set[int] = set()
    for (*_, outcome, _), places in members.items():
        places.sort(key=lambda place: -abs(pairs[place].difference))
        kept.update(places[: limit * (_DIFFERING if outcome in ("model", "baseline") else 1)])
    return [pairs[place] for place in sorted(kept)]


def _place(pair: ItemPair) -> ItemPlace:
    return pair.config, pair.split, pair.item_id


def _characters(pairs: Sequence[ItemPair], texts: Texts) -> int:
    # About: that of its texts, each once, and of its numbers.
    lengths = {_text_key(pair): len(str(_texts(pair, texts))) for pair in pairs}
    return sum(lengths.values()) + _OVERHEAD * len(pairs)


def _text_key(pair: ItemPair) -> tuple[Any, ...]:
    return pair.config, pair.split, pair.item_id, *_conditions(pair)


def _conditions(pair: ItemPair) -> list[str]:
    return list(dict.fromkeys(name for _, name in pair.compared))


def _texts(pair: ItemPair, texts: Texts) -> list[str]:
    found = texts.found.get(_place(pair))
    if isinstance(found, Item):
        return [c.content for c in found.conditions if c.condition_name in _conditions(pair)]
    return list(found.sentences) if isinstance(found, Document) else []


class _Packer:
    """Puts pairs into ``data``; texts stand in it once, names as numbers.

    Of a prediction ``o`` is the outcome, ``p`` the comparison, and with the baseline and with the
    model ``s`` are the states, ``w`` the reasons, ``m`` the margins, ``v`` the values (condition,
    region, bits, bits); of a document ``e`` are the scores and ``c`` the sentences that are called.
    """

    def __init__(self, names: Sequence[tuple[str, str]], headings: Sequence[str] = ()) -> None:
        lists = ("pages", "tables", "kinds", "groups", "items", "predictions")
        self.data: dict[str, Any] = {name: [] for name in lists}
        self.data["runs"] = [[baseline, model] for model, baseline in names]
        self.data["headings"] = list(headings)
        self._numbers: dict[tuple[str, Any], int] = {}

    def add(
        self,
        comparison: ModelComparison,
        pairs: Sequence[ItemPair],
        texts: Texts,
        folder: Path | None,
    ) -> None:
        runs = comparison.baseline, comparison.model
        part = len(self.data["pages"])
        self.data["pages"].append([_page(run, folder) for run in runs])
        shown = set(map(_place, pairs))
        regions = [region_bits(run, shown) for run in runs]
        documents = [sentence_scores(run) for run in runs]
        rows = {(t.config, t.split): t.sha256 for t in comparison.baseline.tables}
        for pair in pairs:
            item = self._item(pair, texts, rows[pair.config, pair.split])
            place = _place(pair)
            packed = {
                "p": part,
                "i": item,
                "k": self._number("kinds", pair.kind),
                "g": [self._number("groups", name) for name in pair.groups],
                "o": pair.outcome,
                "s": pair.states,
                "w": pair.reasons,
                "m": [_rounded(margin) for margin in pair.margins],
            }
            if comparison.baseline.task == "score":
                packed["v"] = list(_values(pair, regions))
            elif all(place in own for own in documents):
                scored = [own[place] for own in documents]
                packed["e"] = [[_rounded(score) for score in one.scores] for one in scored]
                packed["c"] = [one.predicted.get(pair.aggregation, ()) for one in scored]
                self.data["items"][item]["l"] = scored[0].intruder
            self.data["predictions"].append(packed)

    def _item(self, pair: ItemPair, texts: Texts, rows: str) -> int:
        found = texts.found.get(_place(pair))
        packed: dict[str, Any] = {
            "id": pair.item_id,
            "t": self._number("tables", [pair.config, pair.split]),
        }
        if isinstance(found, Item):
            there = [condition.condition_name for condition in found.conditions]
            names = [name for name in there if name in _conditions(pair)]
            packed["c"] = [
                [name, [[one.text, one.kind, one.label] for one in segments]]
                for name, segments in zip(names, marked(found, names), strict=True)
            ]
        elif isinstance(found, Document):
            packed["d"] = found.sentences
        # The same rows may have texts in one dataset, and may not show them in another.
        key = rows, (found is not None, *_text_key(pair))
        number = self._numbers.setdefault(key, len(self.data["items"]))
        if number == len(self.data["items"]):
            self.data["items"].append(packed)
        return number

    def _number(self, kind: str, name: Any) -> int:
        number = self._numbers.setdefault((kind, str(name)), len(self.data[kind]))
        if number == len(self.data[kind]):
            self.data[kind].append(name)
        return number


def _values(pair: ItemPair, regions: Sequence[RegionBits]) -> Iterator[list[Any]]:
    which = {"sum": 0, "mean": 1}.get(pair.aggregation)
    for region, name in pair.compared:
        found = [
            own.get((*_place(pair), name, region)) if isinstance(region, int) else None
            for own in regions
        ]
        bits = [None if which is None or one is None else _rounded(one[which]) for one in found]
        yield [name, region, *bits]


def _page(results: Saved, folder: Path | None) -> str:
    # As a folder reaches it; empty where there is none.
    if folder is None:
        return ""
    page = results.folder / "report.html"
    with suppress(ValueError, OSError):  # on another drive; not to be read
        if page.is_file():
            return quote(Path(os.path.relpath(page.resolve(), folder.resolve())).as_posix())
    return ""


def _rounded(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else round(value, 4)
