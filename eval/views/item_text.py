"""The surprisal of every token of one item, line by line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.escapes import visible
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.kinds.formula import WHOLE, read_of
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.outcomes.schema import FLAGS, TOO_CLOSE, OutcomeRow
from coherencegym.eval.plan.options import Rules
from coherencegym.eval.surprisal import Answer, ScoredCondition
from coherencegym.eval.tasks.score.items_page import read_values, state
from coherencegym.eval.tasks.score.outcomes import with_margins
from coherencegym.eval.tasks.score.predictions import UNDEFINED, prediction_outcomes
from coherencegym.eval.text.encode import SPECIAL

_WORD_MARKS = "▁Ġ"
_SIGNS = str.maketrans({"\n": "↵", "\t": "⇥", "\r": "␍"})

#: A token: its text, its surprisal (bits; None of a first one, which has nothing before it), and
#: the number of its region: 0 outside every region, None of a start-of-text or separator token.
ShownToken = tuple[str, float | None, int | None]


def check_conditions(item: Item, chosen: Sequence[str]) -> None:
    """Refuse the name of a condition that an item does not have."""
    names = [condition.condition_name for condition in item.conditions]
    if unknown := [name for name in chosen if name not in names]:
        raise EvaluationError(
            f"{item.item_id}: no condition {unknown[0]!r}; expected one of {', '.join(names)}"
            f"{did_you_mean(unknown[0], names)}"
        )


def item_lines(
    scored: Answer[Item],
    table: ItemTable,
    tokenizer: Any,
    chosen: Sequence[str] = (),
    *,
    rules: Rules,
    error: float = 0.0,
) -> Iterator[tuple[str, str]]:
    """The lines on an item, each with its style.

    ``chosen`` are conditions; none: all that predictions read. Predictions that read others are
    counted. ``error`` is that of the run (:func:`eval.tasks.score.numeric_error.measure_error`).
    """
    item = scored.item
    if scored.too_long:
        raise EvaluationError(
            f"{item.item_id}: too long for the model's context; expected a model with a longer one"
            ", or --truncate"
        )
    judged = with_margins(prediction_outcomes(scored, table, rules, error))
    read = set(chosen) or {*item.reads}
    names = [c.condition_name for c in item.conditions if c.condition_name in read]
    if missing := [name for name in names if name not in scored.conditions]:
        raise EvaluationError(
            f"{item.item_id}: condition {missing[0]!r} cannot be rendered: this tokenizer has no "
            "separator for [SEP]; expected --separator with a text, or none"
        )
    yield f"{item.item_id}  ({table.config}, {table.split})", "bold"
    if scored.truncated:
        yield f"cut to fit: {scored.truncated:,} tokens on the left", ""
    for name in names:
        yield "", ""
        yield name, "bold"
        own = tokens_of(scored.conditions[name], item.condition(name).content, tokenizer)
        yield from ((line, "") for line in _listing(own))
        yield from ((line, "dim") for line in _regions(own))
    yield "", ""
    yield "predictions", "bold"
    shown = [
        (row, margin)
        for row, margin in judged
        if {name for _, name in read_of(row.unit.formula)} <= {*names}
    ]
    for row, margin in shown:
        yield from ((line, "") for line in _prediction(row, margin, scored, rules))
    if hidden := len(judged) - len(shown):
        yield f"  {hidden:,} more read conditions that are not shown", "dim"


def tokens_of(scored: ScoredCondition, content: str, tokenizer: Any) -> list[ShownToken]:
    """The tokens of a condition, control characters in their texts made visible.

    Of a start or separator token, and of a part of a character, the text is the tokenizer's name.
    """
    encoding = scored.encoding
    names = map(str, tokenizer.convert_ids_to_tokens(list(encoding.ids)))
    tokens: list[ShownToken] = []
    before = (0, 0)
    for name, region, place, bits in zip(
        names, encoding.regions, encoding.offsets, scored.bits, strict=True
    ):
        start, end = place
        text = content[start:end]
        # SentencePiece's mark of a word, where it is a token of its own, has the place of what
        # follows; of a character that is several tokens the first shows it.
        is_mark = bool(text.strip()) and not name.strip(_WORD_MARKS)
        named = region == SPECIAL or start == end or place == before or is_mark
        said = visible((name if named else text).translate(_SIGNS))
        value = None if math.isnan(bits) else float(bits)
        tokens.append((said, value, None if region == SPECIAL else region))
        before = before if is_mark else place
    return tokens


def _listing(tokens: Sequence[ShownToken]) -> Iterator[str]:
    from rich.cells import cell_len

    shown = [text.replace(" ", "␣") for text, _, _ in tokens]
    widest = max(map(cell_len, [*shown, "token"]))
    yield f"  {'token'.ljust(widest)}    bits  region"
    for (_, bits, region), text in zip(tokens, shown, strict=True):
        space = " " * (widest - cell_len(text))
        yield f"  {text}{space}  {'–' if bits is None else f'{bits:.2f}':>6}  {region or '–':>6}"


def _regions(tokens: Sequence[ShownToken]) -> Iterator[str]:
    for number in dict.fromkeys(region for _, _, region in tokens if region):
        own = [bits for _, bits, region in tokens if region == number]
        bits = [each for each in own if each is not None]
        mean = f", mean {sum(bits) / len(bits):.3f}" if bits else ""
        counted = f"{len(own):,} token{'s' * (len(own) != 1)}"
        yield f"  region {number}: {counted}, {sum(bits):.3f} bits{mean}"


def outcome_text(row: OutcomeRow) -> str:
    """What became of a prediction, with ``too close to call``, or why it is undefined."""
    if row.value is None:
        return f"undefined: {UNDEFINED[row.reason]}"
    return state(row) + ", too close to call" * bool(row.flags & FLAGS[TOO_CLOSE])


def _prediction(
    row: OutcomeRow, margin: float | None, scored: Answer[Item], rules: Rules
) -> Iterator[str]:
    bits = "" if margin is None else f", margin {margin:+.3f} bits"
    yield f"  {outcome_text(row)}{bits}: {row.unit.formula} ({row.unit.aggregation})"
    values = []
    for region, name, value in read_values(row, scored, rules):
        where = "whole text" if region == WHOLE else f"region {region}"
        values.append(f"{where} of {name} " + ("–" if value is None else f"{value:.3f}"))
    yield "    " + ", ".join(values)
    if groups := [name for column, name in row.unit.groups if not column]:
        yield "    " + "; ".join(groups)


def find_item(tables: Sequence[ItemTable], wanted: str) -> tuple[ItemTable, Item]:
    """The item of that id, or the only one whose id begins or ends with it."""
    there: dict[str, list[tuple[ItemTable, Item]]] = {}
    for table in tables:
        for item in table.items:
            there.setdefault(item.item_id, []).append((table, item))
    found = [
        name for name in there if wanted and (name.startswith(wanted) or name.endswith(wanted))
    ]
    if wanted in there:
        found = [wanted]
    if not found:
        near = get_close_matches(wanted, there, n=3, cutoff=0.0)
        raise EvaluationError(
            f"--item {wanted!r}: no such item among {len(there):,}; "
            + (f"the nearest are {first_names(near)}" if near else "the tables are empty")
        )
    if len(found) > 1:
        raise EvaluationError(
            f"--item {wanted!r}: {len(found):,} items begin or end so: {first_names(found)}; "
            "expected the whole id, or more of it"
        )
    places = there[found[0]]
    if len(places) > 1:
        option = "config" if len({table.config for table, _ in places}) > 1 else "split"
        names = list(dict.fromkeys(getattr(table, option) for table, _ in places))
        raise EvaluationError(
            f"--item {found[0]}: is in the {option}s {first_names(names)}; choose one with "
            f"--{option}"
        )
    return places[0]
