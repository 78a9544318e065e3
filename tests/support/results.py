"""Results of a run that never was: a token is a word with the space before it, bits are given.

Or evaluated predictions are, and the outcomes, scores and folders of results are those of tables
with them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from zlib import crc32

import numpy as np

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.notes import caution
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import Condition, Item, Outcome
from coherencegym.eval.outcomes.schema import (
    FIRST_LEFT_OUT,
    FLAGS,
    MODEL,
    TIE,
    TOO_CLOSE,
    OutcomeRow,
    UnitRow,
    outcome_schemas,
)
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.plan.options import DEFAULT, Rules
from coherencegym.eval.plan.requests import Rendering
from coherencegym.eval.results.written import write_results
from coherencegym.eval.statistics.scores import Score, text_of
from coherencegym.eval.surprisal import Answer, ScoredCondition, Surprisals
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.tasks.score.options import ScoreOptions
from coherencegym.eval.tasks.score.outcomes import (
    ACCURACY,
    CONTROLLED,
    MARGIN,
    Difference,
    add_item_baselines,
    add_predictions,
    with_margins,
)
from coherencegym.eval.tasks.score.predictions import prediction_outcomes
from coherencegym.eval.tasks.score.scored_table import ScoredItemTable, item_files
from coherencegym.eval.tasks.score.summary import summarise
from coherencegym.eval.tasks.score.task import TASK, more_keys, score_differences, score_rows
from coherencegym.eval.text.encode import Encoding
from coherencegym.eval.text.special import Start
from coherencegym.eval.views.page import write_results_files
from coherencegym.files.folders import written_beside

#: The surprisal (bits) of a token of a text.
Bits = Callable[[str], float]


def made_condition(condition: Condition, read: set[Any], bits: Bits) -> ScoredCondition:
    """A condition whose first id is a start-of-text token; no bits where nothing is read."""
    spans = [match.span() for match in re.finditer(r"\s*\S+", condition.content)]
    ends = [end for _, end in condition.region_offsets]
    regions = [
        next(r.region_number for r, e in zip(condition.regions, ends, strict=True) if end <= e)
        for _, end in spans
    ]
    values = [
        bits(condition.content[start:end].strip()) if {region, WHOLE} & read else math.nan
        for (start, end), region in zip(spans, regions, strict=True)
    ]
    encoding = Encoding(
        (
            0,
            *(
                crc32(condition.content[start:end].encode("utf-8", "replace"))
                for start, end in spans
            ),
        ),
        (-1, *regions),
        (0, *(start for start, _ in spans)),
        (0, *(end for _, end in spans)),
        ((),) * (1 + len(spans)),
        True,
    )
    return ScoredCondition(encoding, np.array([math.nan, *values]))


def made_item(item: Item, bits: Bits, too_long: bool = False) -> Answer[Item]:
    """An item scored so; without conditions where it is too long."""
    read = item.reads
    conditions = {
        condition.condition_name: made_condition(
            condition, read.get(condition.condition_name, set()), bits
        )
        for condition in item.conditions
    }
    return Answer(item, {} if too_long else conditions, too_long)


@dataclass(frozen=True)
class JudgedPrediction:
    """A prediction of an item and what became of it; None where there is a reason against it."""

    item: Item
    formula: str
    aggregation: str
    groups: tuple[str, ...]
    outcome: Outcome | None
    reason: str = ""
    first_left_out: bool = False
    too_close: bool = False
    longer: int | None = None


def judged_predictions(
    scored: Answer[Item], rules: Rules = DEFAULT, error: float = 0.0
) -> list[JudgedPrediction]:
    """What became of the predictions of an item, from their outcomes."""
    rows = list(prediction_outcomes(scored, NO_TABLE, rules, error))
    targets = {row.unit: row.target for row in rows if row.metric == MARGIN.name}
    return [
        JudgedPrediction(
            scored.item,
            row.unit.formula,
            row.unit.aggregation,
            tuple(name for _, name in row.unit.groups),
            None
            if row.value is None
            else Outcome(row.value == 1, bool(row.flags & FLAGS[TIE]), margin),
            row.reason,
            bool(row.flags & FLAGS[FIRST_LEFT_OUT]),
            bool(row.flags & FLAGS[TOO_CLOSE]),
            None if (target := targets.get(row.unit)) is None else int(target),
        )
        for row, margin in with_margins(rows)
    ]


def outcome_rows(table: ItemTable, judged: Sequence[JudgedPrediction]) -> list[OutcomeRow]:
    """The same as outcomes, of a table."""
    rows, seen = [], Counter[tuple[str, str, str]]()
    for one in judged:
        kind = one.item.item_id, one.formula, one.aggregation
        seen[kind] += 1
        columns = ((column, text_of(one.item.extra[column])) for column in table.breakdowns)
        unit = UnitRow(
            config=table.config,
            split=table.split,
            item=one.item.item_id,
            unit=f"#{seen[kind]}" if seen[kind] > 1 else "",
            cluster=one.item.cluster,
            formula=one.formula,
            aggregation=one.aggregation,
            groups=(*(("", group) for group in one.groups), *columns),
        )
        flags = FLAGS[TOO_CLOSE] * one.too_close + FLAGS[FIRST_LEFT_OUT] * one.first_left_out
        met = margin = None
        if one.outcome is not None:
            met, margin = float(one.outcome.met), one.outcome.margin
            flags += FLAGS[TIE] * one.outcome.tie
        about: dict[str, Any] = {"unit": unit, "system": MODEL}
        rows.append(
            OutcomeRow(metric=ACCURACY.name, value=met, reason=one.reason, flags=flags, **about)
        )
        if margin is not None:
            rows.append(OutcomeRow(metric=MARGIN.name, value=margin, target=one.longer, **about))
    return rows


#: A table of nothing.
NO_TABLE = ItemTable("c", "test", (), "0", True, False)

#: A table and the judged predictions of its items.
Evaluated = tuple[ItemTable, Sequence[JudgedPrediction]]


def add_judged(writer: OutcomeWriter, table: ItemTable, judged: Sequence[JudgedPrediction]) -> None:
    """Add the outcomes of the predictions of some items."""
    rows = outcome_rows(table, judged)
    add_item_baselines(writer, table, table.items, add_predictions(writer, rows), rows)


def evaluated_table(
    evaluated: Sequence[JudgedPrediction], config: str = "c", split: str = "s", **about: Any
) -> Evaluated:
    """The evaluated predictions with the table of their items; ``about`` are other fields of it."""
    items = tuple({one.item.item_id: one.item for one in evaluated}.values())
    own: dict[str, Any] = {"rows_sha256": "0", "verified": True, "separator": False, **about}
    return ItemTable(config, split, items, **own), evaluated


def made_outcomes(*tables: Evaluated) -> OutcomeTables:
    """What became of the predictions of some tables."""
    writer = OutcomeWriter()
    for table, evaluated in tables:
        add_judged(writer, table, evaluated)
    return writer.tables()


def made_scores(evaluated: Sequence[JudgedPrediction], **about: Any) -> list[Score]:
    """The scores of one table; the arguments are those of :func:`evaluated_table`."""
    table = evaluated_table(evaluated, **about)
    return summarise(made_outcomes(table), table[0])


def made_saved(folder: Path, *tables: Evaluated, **about: Any) -> Results:
    """A folder of results of some tables, as if read; ``about`` are other fields of it."""
    own: dict[str, Any] = {
        "signature": f"model:{folder.name}",
        "model": model_facts(folder.name),
        "dataset": dataset_facts("suite", *(saved_table(table) for table, _ in tables)),
        "settings": {"versions": {}},
        "notes": (),
        "task": "score",
        "outcomes": made_outcomes(*tables),
        "metrics": {metric.name: metric for metric in (ACCURACY, CONTROLLED, MARGIN)},
    }
    return Results(folder=folder, **{**own, **about})


def write_results_folder(results: Results, folder: Path) -> None:
    """Write a folder of results, as the command does."""
    with written_beside(folder, False) as work:
        write_results(results, work)
        if results.task == "score":
            with item_files(work, results.options.tokens) as write:
                for one in results.details:
                    write(one.table, [scored for scored, _ in one.shown])
        write_results_files(results, work)


def saved_table(table: ItemTable) -> TableFacts:
    """A table as a folder of results has it."""
    return TableFacts(
        table.config,
        table.split,
        table.rows_sha256,
        len(table.items),
        table.headline,
        table.breakdowns,
    )


def model_facts(name: str, dtype: str = "float32", **more: Any) -> dict[str, Any]:
    """A model as results have it."""
    return {"name": name, "commit": f"sha256:{name}", "dtype": dtype, "device": "cpu", **more}


def dataset_facts(suite: str, *tables: TableFacts, **more: Any) -> dict[str, Any]:
    """A dataset as results have it."""
    own = {"name": "data", "suite": suite, "version": "1.0.0", "commit": None}
    return {**own, "rows_sha256": "rows", "tables": [asdict(one) for one in tables], **more}


def made_run(
    model: str, suite: str = "toy", tables: Sequence[TableFacts] = (), /, **about: Any
) -> Results:
    """Results without outcomes; ``about`` are fields of them, or facts of the dataset."""
    known = {field.name for field in fields(Results)}
    facts = {name: about.pop(name) for name in [*about] if name not in known}
    own: dict[str, Any] = {
        "signature": "",
        "model": model_facts(model),
        "dataset": {**dataset_facts(suite, *tables, rows_sha256=""), **facts},
        "settings": {},
        "notes": (),
    }
    return Results(**{**own, **about})


def made_results(
    tables: Mapping[str, Sequence[Answer[Item]]],
    *,
    breakdowns: Sequence[str] = (),
    notes: Sequence[str] = (),
    model: str = "made-up",
    dataset: str = "owner/made_up",
) -> Results:
    """Results of the tables (config -> items) of one split."""
    evaluated = [
        evaluated_table(
            [prediction for one in items for prediction in judged_predictions(one)],
            config,
            "test",
            breakdowns=tuple(breakdowns),
        )
        for config, items in tables.items()
    ]
    writer = OutcomeWriter()
    details = [ScoredItemTable(table, writer) for table, _ in evaluated]
    for detail, items in zip(details, tables.values(), strict=True):
        detail.add(Surprisals(tuple(items), _RENDERING, _EXECUTION))
    found = Results(
        signature="model:made-up|data:made_up",
        model={
            "name": model,
            "commit": "0123456789abcdef",
            "parameters": 1000,
            "context": 64,
            "device": "cpu",
            "dtype": "float32",
        },
        dataset={"name": dataset, "suite": "made_up", "version": "1.0.0", "commit": None},
        settings={"compat": None},
        notes=list(map(caution, notes)),
        asked=TASK,
        inputs=[table for table, _ in evaluated],
        details=details,
        options=ScoreOptions(),
        outcomes=writer.tables(),
        metrics={metric.name: metric for metric in (ACCURACY, CONTROLLED, MARGIN)},
    )
    rows, differences = score_rows(found), score_differences(found)
    return replace(found, rows=rows, differences=differences, more=more_keys(found))


_RENDERING = Rendering(DEFAULT, Start(0, "<s>", ""))
#: A run of nothing.
_EXECUTION = cast(
    Any,
    SimpleNamespace(
        plan=SimpleNamespace(sequences=()),
        cached=0,
        sharing=None,
        beside=None,
        halved=0,
    ),
)


def made_difference(*values: object) -> Difference:
    """A difference from a control, its fields in their order."""
    names = (field.name for field in fields(Difference))
    return Difference(**dict(zip(names, values, strict=True)))  # type: ignore[arg-type]


#: The rows of a file of parquet.
Rows = list[dict[str, Any]]


def damage(folder: Path, name: str, change: Callable[[Rows], Any], **types: Any) -> Path:
    """Change the rows of a file of outcomes; ``types``: those of columns that are others then."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / f"{name}.parquet"
    rows = parquet.read_table(path).to_pylist()
    change(rows)
    # All may be null: whether they are is what is tested.
    fields = [pa.field(one.name, types.get(one.name, one.type)) for one in outcome_schemas()[name]
              if one.name in rows[0]]  # fmt: skip
    fields += [
        pa.field(key, kind)
        for key, kind in types.items()
        if key not in outcome_schemas()[name].names
    ]
    parquet.write_table(pa.Table.from_pylist(rows, schema=pa.schema(fields)), path)
    return path


def put(number: int, **columns: Any) -> Callable[[Rows], None]:
    """Set columns of a row, for :func:`damage`."""
    return lambda rows: rows[number].update(columns)


def without(column: str) -> Callable[[Rows], Any]:
    """Leave out a column, for :func:`damage`."""
    return lambda rows: [row.pop(column) for row in rows]
