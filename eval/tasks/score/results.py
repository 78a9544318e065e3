"""The numbers that a run of ``score`` has beside estimates of outcomes, and its items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.source import published
from coherencegym.eval.kinds.formula import WHOLE, read_of
from coherencegym.eval.tasks.results import Results, rows_in_folder
from coherencegym.eval.tasks.score.closeness import LEVEL
from coherencegym.eval.tasks.score.outcomes import differences
from coherencegym.eval.tasks.score.scored_table import ScoredItemTable
from coherencegym.eval.tasks.score.scoring import ScoredItem
from coherencegym.eval.tasks.score.summary import (
    over_baselines,
    summarise,
)
from coherencegym.eval.tasks.score.values import region_value
from coherencegym.eval.text.encode import SPECIAL
from coherencegym.files.parquet import RowWriter, row_schema


def summary_of(found: Results) -> dict[str, list[Any]]:
    """The rows of a run's tables, computed from its outcomes.

    - ``scores``: accuracies by table, formula, group and column.
    - ``differences``: tables against their controls.
    - ``over_baselines``: tables against their baselines, by item.
    - ``published``: scores that papers have of the same configs.
    """
    outcomes, tables = found.outcomes, [one.table for one in found.details]
    known = {(table.config, table.split) for table in tables}
    controls = [
        (table, [name for name in table.controls if (name, table.split) in known])
        for table in tables
    ]
    return {
        "scores": [score for table in tables for score in summarise(outcomes, table)],
        "differences": [
            one
            for table, names in controls
            for one in differences(outcomes, table.config, table.split, names)
        ],
        "over_baselines": [one for table in tables for one in over_baselines(outcomes, table)],
        "published": list(published(found.manifest, [table.config for table in tables])),
    }


def more_keys(found: Results) -> dict[str, Any]:
    """The keys of ``results.json`` that only ``score`` has."""
    summary = found.summary
    return {
        "over_baselines": summary["over_baselines"],
        "published": list(map(asdict, summary["published"])),
    }


def table_facts(table: ItemTable, detail: ScoredItemTable) -> Mapping[str, Any]:
    """The facts of a table that results record."""
    counts = ("too_long", "truncated", "spanning_tokens", "families")
    return {"items": detail.n_items, **{name: getattr(detail, name) for name in counts}}


def choices_came_to(details: Sequence[ScoredItemTable]) -> dict[str, Any]:
    """The user's choices of reading as they came to for the model."""
    first, error = details[0].last, max(one.error for one in details)
    rendering = next((one.last.separator for one in details if one.last.separator), None)
    return {
        "start_of_text": asdict(first.start),
        "separator_rendering": asdict(rendering) if rendering else None,
        "rules": asdict(first.rules),
        "added_tokens": asdict(first.added) if first.added else None,
        "tie_bits": first.rules.tie_bits,
        # Bits for a spread of 1.
        "numeric_error": {"bits": error, "level": LEVEL} if error else None,
    }


#: Their names in the folder of results; that of tokens is there where it was asked for.
REGIONS_FILE, TOKENS_FILE = "regions.parquet", "tokens.parquet"
_CONDITION = ("config string", "split string", "item_id string", "condition_name string")
_REGIONS = (*_CONDITION, "region_number int32", "n_tokens int32", "sum_bits double")
_TOKENS = (*_CONDITION, "position int32", "token_id int32", "start int32", "end int32")


#: Writes the rows of scored items of a table.
ItemsWriter = Callable[[ItemTable, Sequence[ScoredItem]], None]


@contextmanager
def item_files(folder: Path, tokens: bool) -> Iterator[ItemsWriter]:
    """The files of a run, in a folder that is there; ``tokens``: also that of all tokens."""
    kinds = [(REGIONS_FILE, regions_schema(), _regions)]
    if tokens:
        schema = row_schema(*_TOKENS, "text string", "region_number int32", "bits double")
        kinds.append((TOKENS_FILE, schema, _tokens))
    with ExitStack() as opened:
        writers = [
            (opened.enter_context(RowWriter(folder / name, schema)), rows)
            for name, schema, rows in kinds
        ]

        def write(table: ItemTable, items: Sequence[ScoredItem]) -> None:
            for writer, rows in writers:
                writer.add(rows(table, items))

        yield write


def regions_schema() -> Any:
    """The Arrow schema of ``regions.parquet``."""
    return row_schema(*_REGIONS, "mean_bits double")


def region_rows(found: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``regions.parquet``: every region that a prediction reads, in the order of the item.

    ``n_tokens`` counts tokens that have a surprisal; ``mean_bits`` is null without any, and so is
    ``sum_bits`` unless the region has no text.
    """
    if (written := rows_in_folder(found, REGIONS_FILE)) is not None:
        yield from written
    for one in found.details:
        yield from _regions(one.table, [scored for scored, _ in one.shown])


def token_rows(found: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``tokens.parquet``: every token as the model saw it.

    ``start`` and ``end`` are characters of the condition's content; ``region_number`` is null for
    start-of-text and separator tokens and 0 outside every region; ``bits`` is null where no
    prediction reads the token and where it has no surprisal.
    """
    if (written := rows_in_folder(found, TOKENS_FILE, "the results of score --tokens")) is not None:
        yield from written
    for one in found.details:
        yield from _tokens(one.table, [scored for scored, _ in one.shown])


def _place(table: ItemTable, one: ScoredItem) -> dict[str, str]:
    return {"config": table.config, "split": table.split, "item_id": one.item.item_id}


def _regions(table: ItemTable, items: Iterable[ScoredItem]) -> Iterator[dict[str, Any]]:
    for one in items:
        formulas = [prediction.formula for prediction in one.item.predictions]
        read = {reference for formula in formulas for reference in read_of(formula)}
        for condition in one.item.conditions:
            name = condition.condition_name
            for region in condition.regions if name in one.conditions else ():
                number = region.region_number
                if read & {(number, name), (WHOLE, name)}:
                    own = one.conditions[name]
                    bits = own.region_bits(number)
                    yield {
                        **_place(table, one),
                        "condition_name": name,
                        "region_number": number,
                        "n_tokens": len(bits),
                        "sum_bits": float(bits.sum())
                        if len(bits)
                        else region_value(own, number, "sum"),
                        "mean_bits": float(bits.mean()) if len(bits) else None,
                    }


def _tokens(table: ItemTable, items: Iterable[ScoredItem]) -> Iterator[dict[str, Any]]:
    for one in items:
        for name, condition in one.conditions.items():
            content = one.item.condition(name).content
            encoding = condition.encoding
            for position, token_id in enumerate(encoding.ids):
                start, end = encoding.offsets[position]
                region = encoding.regions[position]
                bits = float(condition.bits[position])
                yield {
                    **_place(table, one),
                    "condition_name": name,
                    "position": position,
                    "token_id": token_id,
                    "start": start,
                    "end": end,
                    "text": content[start:end],
                    "region_number": None if region == SPECIAL else region,
                    "bits": None if bits != bits else bits,
                }
