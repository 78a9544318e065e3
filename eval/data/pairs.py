"""Pairs of texts as items: two texts, of which a model should find the second more surprising.

They are tuples, a data frame, or a file with the columns that published minimal pairs and
preferences have. A context, where there is one, is read before both texts and is not scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import did_you_mean, option
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import ItemTable, unverified_table
from coherencegym.eval.data.notes import detail
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.items import METRICS, Condition, Item, Prediction, Region
from coherencegym.files.strict_json import SomeNames
from coherencegym.files.tables import read_frame, records

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

#: Columns of the better and the worse text, by which a table is known to be one of pairs.
GOOD_AND_BAD = (
    ("sentence_good", "sentence_bad"),
    ("good", "bad"),
    ("chosen", "rejected"),
    ("coherent", "incoherent"),
    ("original", "manipulated"),
)
#: Columns of the text before both.
CONTEXT_NAMES = ("context", "prompt", "prefix")
#: Columns of names of pairs or texts.
ID_NAMES = ("pair_id", "item_id", "id")
#: The conditions of an item.
_GOOD, _BAD = "good", "bad"
#: The heading of help.
_PAIRS = "pairs of texts in a file"
_COLUMN: Any = {"metavar": "COLUMN", "group": _PAIRS, "rare": True}


@dataclass(frozen=True)
class PairChoices:
    """The choices that a table of pairs leaves open.

    Attributes:
        good, bad, context: the columns; None: those of :data:`GOOD_AND_BAD` and
            :data:`CONTEXT_NAMES` that are there.
        cluster_by: the column of the cluster of each pair, such as its document or its template;
            None: every pair is a cluster of its own.
        group_by: columns by whose values there are scores, too.
        aggregation: ``sum``, ``mean``, ... of the bits of a text's tokens.
    """

    good: str | None = option(
        None, "the better text; default sentence_good, good, chosen ...", **_COLUMN
    )
    bad: str | None = option(
        None, "the worse text; default sentence_bad, bad, rejected ...", **_COLUMN
    )
    context: str | None = option(
        None, "a text before both; default context or prompt, where there is one", **_COLUMN
    )
    cluster_by: str | None = option(
        None, "column whose value names a pair's cluster; default each pair is a cluster", **_COLUMN
    )
    group_by: SomeNames = option(
        (),
        "columns whose values form groups, each with its own score",
        metavar="COLUMN",
        group=_PAIRS,
        many=True,
        rare=True,
    )
    aggregation: str = option(
        "sum",
        "how the bits of a text's tokens are combined",
        choices=METRICS,
        group=_PAIRS,
        rare=True,
    )


#: The columns by their usual names, and each pair for itself.
AS_FOUND = PairChoices()


def are_pairs(given: Any) -> bool:
    """Tell by its first whether a value is what :func:`table_of_pairs` takes."""
    if hasattr(given, "to_dict"):
        return True
    first = given[0] if isinstance(given, Sequence) and given else None
    if isinstance(first, Mapping):
        return any({*pair} <= {*first} for pair in GOOD_AND_BAD)
    return isinstance(first, tuple | list)


def table_of_pairs(
    pairs: str | Path | Iterable[Sequence[str] | Mapping[str, Any]] | pandas.DataFrame,
    choices: PairChoices = AS_FOUND,
    limit: int | None = None,
) -> tuple[Source, ItemTable]:
    """The table of some pairs.

    Args:
        pairs: a file (CSV, TSV, JSON lines or parquet); ``(good, bad)`` or ``(context, good,
            bad)``; a data frame, or mappings.
        choices: columns, clusters, groups and aggregation.
        limit: no more pairs than this, from the start.
    """
    name = where = "pairs"
    if isinstance(pairs, str | Path):
        name, where = Path(pairs).stem, str(pairs)
        good, bad = GOOD_AND_BAD[0]
        columns = f"columns such as {choices.good or good} and {choices.bad or bad}"
        pairs = read_frame(Path(pairs), columns)
    groups = list(choices.group_by)
    rows = _rows(pairs, where)
    if not rows:
        raise EvaluationError(f"{where}: no pair; expected at least one")
    named = _columns(list(rows[0]), where, choices, groups)
    made = [
        _item(number, row, where, named, choices, groups)
        for number, row in enumerate(rows[:limit], start=1)
    ]
    known: dict[str, int] = {}
    for number, item in enumerate(made, start=1):
        if (first := known.setdefault(item.item_id, number)) != number:
            raise EvaluationError(
                f"{where}: row {number}: {item.item_id!r} is the id of row {first}; expected an id "
                "for each pair"
            )
    table = replace(unverified_table(name, "", made), breakdowns=tuple(groups))
    note = detail(
        f"pairs: {named[1]} is to be less surprising than {named[2]} ({choices.aggregation})"
    )
    return Source(name, Path(), manifest={"suite": name}, notes=(note,)), table


def _rows(pairs: Any, where: str) -> list[Mapping[str, Any]]:
    if hasattr(pairs, "to_dict"):
        return list[Mapping[str, Any]](records(pairs))
    rows = []
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, Mapping):
            rows.append(pair)
            continue
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) not in (2, 3):
            raise EvaluationError(
                f"{where}: pair {number}: {pair!r:.60}; expected (good, bad) or "
                "(context, good, bad)"
            )
        names = (_GOOD, _BAD) if len(pair) == 2 else (CONTEXT_NAMES[0], _GOOD, _BAD)
        rows.append(dict(zip(names, pair, strict=True)))
    return rows


def _columns(
    there: Sequence[str],
    where: str,
    choices: PairChoices,
    groups: Sequence[str],
) -> tuple[str | None, str, str]:
    """The columns of the context, of the better and of the worse text."""
    good, bad, context = choices.good, choices.bad, choices.context
    for column in (good, bad, context, choices.cluster_by, *groups):
        if column is not None and column not in there:
            listed = ", ".join(map(str, there))
            hint = did_you_mean(column, there)
            raise EvaluationError(f"{where}: no column {column!r}; there are {listed}{hint}")
    if good is None or bad is None:
        known = [pair for pair in GOOD_AND_BAD if {*pair} <= {*there}]
        if good is not bad or not known:
            known_pairs = ", ".join("/".join(pair) for pair in GOOD_AND_BAD)
            raise EvaluationError(
                f"{where}: columns {', '.join(map(str, there))}; expected {known_pairs}, or the "
                "columns of the better and the worse text with --good and --bad, in Python good= "
                "and bad="
            )
        good, bad = known[0]
    if context is None:
        context = next((name for name in CONTEXT_NAMES if name in there), None)
    return context, good, bad


def _item(
    number: int,
    row: Mapping[str, Any],
    where: str,
    columns: tuple[str | None, str, str],
    choices: PairChoices,
    groups: Sequence[str],
) -> Item:
    context, *sides = columns
    before = _text(row, context, f"{where}: row {number}", empty=True) if context else None
    texts = [_text(row, side, f"{where}: row {number}") for side in sides]
    identifier = next((str(row[name]) for name in ID_NAMES if name in row), f"{number:06}")
    conditions = tuple(
        condition_after(name, before, text) for name, text in zip((_GOOD, _BAD), texts, strict=True)
    )
    region = len(conditions[0].regions)
    formula = f"({region};%{_BAD}%) > ({region};%{_GOOD}%)"
    return Item(
        item_id=identifier,
        item_number=number,
        conditions=conditions,
        predictions=(Prediction(formula, choices.aggregation),),
        discourse_id=str(row[choices.cluster_by]) if choices.cluster_by else identifier,
        corpus="pairs",
        extra={name: str(row[name]) for name in groups},
    )


def _text(row: Mapping[str, Any], column: str, where: str, empty: bool = False) -> str:
    text = row.get(column)
    if empty and text is None:
        return ""
    if not isinstance(text, str) or not (empty or text.strip()):
        raise EvaluationError(f"{where}: {column}: {text!r:.60}; expected a text")
    return text


def condition_after(name: str, context: str | None, text: str) -> Condition:
    """A text as the last region of a condition, after its context where there is one.

    One space is put between them, unless white space is there.
    """
    if context is None:
        return Condition(name, text, (Region(1, text.strip()),))
    is_apart = not context or context[-1].isspace() or text[0].isspace()
    content = f"{context}{'' if is_apart else ' '}{text}"
    return Condition(name, content, (Region(1, context.strip()), Region(2, text.strip())))
