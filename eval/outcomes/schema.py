"""The three tables that every task fills: units, the systems that decided on them, and outcomes.

A unit is what an outcome is of: an item, a document, a sentence of one. A system is whatever made a
prediction: the model, one of its layers, a baseline, people. An outcome is the value that a system
has on a unit under a metric. The tables are the same in memory and in a folder of results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

#: Whose predictions they are.
Role = Literal["model", "baseline", "people"]
ROLES: tuple[Role, ...] = get_args(Role)

#: A group of units: a column of the dataset and its value; the column is empty where a task names
#: the group.
Group = tuple[str, str]


def name_of_group(group: Group) -> str:
    """The name of a group: ``column=value``, or its own."""
    column, value = group
    return f"{column}={value}" if column else value


@cache
def text_of_groups(groups: tuple[Group, ...]) -> str:
    """The groups of a unit as its row has them: pairs as JSON, as many units have the same."""
    return json.dumps(groups, ensure_ascii=False)


def groups_of_text(text: str) -> tuple[Group, ...]:
    """The groups that a row has.

    Raises:
        ValueError: the text is no JSON of pairs of texts.
    """
    pairs = json.loads(text)
    if not isinstance(pairs, list):
        raise ValueError(text)
    for pair in pairs:
        if not (isinstance(pair, list) and list(map(type, pair)) == [str, str]):
            raise ValueError(text)
    return tuple((column, value) for column, value in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRow:
    """A unit: an outcome is of one.

    Attributes:
        config, split: the table that it is from.
        item: the row, by its id.
        unit: the part of the row, such as ``#2``; empty: all of it.
        cluster: the units that are drawn as one: a family, or else the discourse.
        formula, aggregation: those of a prediction, the latter over the tokens of a region; empty
            where there is none.
        groups: those that it is in.
    """

    config: str
    split: str
    item: str
    unit: str = ""
    cluster: str
    formula: str = ""
    aggregation: str = ""
    groups: tuple[Group, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The fields that tell it from all other units."""
        return self.config, self.split, self.item, self.unit, self.formula, self.aggregation


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A system: it makes predictions.

    Attributes:
        role: a model, a baseline, or people.
        label: tells systems of one role apart; empty: the model as it was asked.
        layer: the number of the layer of the model that decided, where one did.
    """

    role: Role = "model"
    label: str = ""
    layer: int | None = None


#: The model as it was asked.
MODEL = System()


def baseline(label: str) -> System:
    """The system of a baseline."""
    return System(role="baseline", label=label)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """The value that a system has on a unit under a metric.

    Attributes:
        value: none where there is a ``reason`` against one.
        weight: the value is a part of it, for ratios.
        target: the number that the value is held against: 1 for a unit that is to be found and 0
            for others, or a rating.
        given: the number that is held constant, for partial correlations.
        flags: a sum of :data:`FLAGS`.
    """

    unit: UnitRow
    metric: str
    system: System
    value: float | None
    reason: str = ""
    weight: float | None = None
    target: float | None = None
    given: float | None = None
    flags: int = 0


#: Facts of an outcome, and the bit that says each.
TIE, TOO_CLOSE, FIRST_LEFT_OUT = "tie", "too close", "first token left out"
FLAGS = {TIE: 1, TOO_CLOSE: 2, FIRST_LEFT_OUT: 4}
#: The reason why a unit that does not fit into the model's context has no value.
TOO_LONG = "too_long"


@cache
def outcome_schemas() -> dict[str, Any]:
    """The Arrow schemas by the name of each table, which is also that of its file."""
    import pyarrow as pa

    text, name = pa.string(), pa.dictionary(pa.int32(), pa.string())
    few = pa.dictionary(pa.int16(), pa.string())

    def schema(**columns: Any) -> Any:
        nullable = {*_NULLABLE}
        return pa.schema([pa.field(key, kind, key in nullable) for key, kind in columns.items()])

    number = pa.float64()
    return {
        "units": schema(
            id=pa.int32(),
            config=few,
            split=few,
            item=text,
            unit=name,
            cluster=name,
            formula=few,
            aggregation=few,
            groups=name,
        ),
        "systems": schema(
            id=pa.int16(),
            role=text,
            label=text,
            layer=pa.int32(),
        ),
        "outcomes": schema(
            unit_id=pa.int32(),
            metric=few,
            system_id=pa.int16(),
            value=number,
            reason=pa.dictionary(pa.int8(), pa.string()),
            flags=pa.uint8(),
            weight=number,
            target=number,
            given=number,
        ),
    }


#: Columns of outcomes that are there where a metric needs them.
OPTIONAL = ("weight", "target", "given")
_NULLABLE = ("layer", "value", *OPTIONAL)
