"""Kinds of tables: what each says holds of its rows, and nobody else branches on its name."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coherencegym.eval.commands.cli import commands
from coherencegym.eval.kinds import TABLE_KINDS, kind_named
from coherencegym.eval.kinds.documents import (
    Document,
    DocumentSection,
    GoldSpan,
    LabelledExample,
    RatedText,
    Slot,
    SpanText,
    StructuredDocument,
)
from coherencegym.eval.kinds.items import Condition, Item, Prediction, Region
from coherencegym.eval.kinds.table_kind import (
    ROW_ID,
    SuiteError,
    TableKind,
    to_row,
    with_names,
    with_numbers,
)

#: Kind -> a valid row that was read.
VALUES: dict[str, Any] = {
    "items": Item(
        "d/x",
        1,
        tuple(Condition(name, f"It is {name}.", (Region(1, f"It is {name}."),)) for name in "ab"),
        (Prediction("(1;%b%) > (1;%a%)", "mean"),),
        "d",
        "c",
        (),
        {"family": "f"},
    ),
    "documents": Document("d/x", ("One.", "Two."), 1, "d", "c", {"family": "f"}),
    "spans": SpanText(
        item_id="s/x",
        units=("It rained.", "We stayed."),
        speakers=("A", "B"),
        hypothesis="It was wet.",
        alternatives=(),
        label=1,
        evidence=((0, 0),),
        gold=(GoldSpan(0, 0, 1), GoldSpan(0, 1, 1), GoldSpan(1, 1, 0)),
        discourse_id="d",
        corpus="c",
        extra={"family": "f"},
    ),
    "ratings": RatedText(
        "r/x", "It rained. We stayed.", 3.5, (3.0, 4.0), "", "d", "c", 0.0, {"family": "f"}
    ),
    "structures": StructuredDocument(
        "t/x",
        "Rain",
        (DocumentSection("", 1, (("It rained.", "We stayed."), ("It stopped.",))),),
        "d",
        "c",
        {"family": "f"},
    ),
    "examples": LabelledExample(
        "e/x", (Slot(("One.",)),), ("One.",), (0,), "first", "d", "c", (), {"family": "f"}
    ),
}


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_a_row_comes_back_and_fits_the_features(name: str) -> None:
    import pyarrow as pa

    kind, value = TABLE_KINDS[name], VALUES[name]
    row = to_row(value)
    assert list(row) == [*kind.columns, "family"]
    features = kind.features({"family": "string"}, [row])
    numbered = with_numbers(row, features)
    (read,) = pa.Table.from_pylist([numbered], schema=features.arrow_schema).to_pylist()
    assert read == numbered
    read = dict(with_names(read, features.to_dict()))
    assert read == row
    assert kind.from_row(read) == value
    assert kind.example([row]) == row


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_a_family_counts_as_one(name: str) -> None:
    from dataclasses import replace

    value = VALUES[name]
    assert value.cluster == "f"
    assert replace(value, extra={"family": None}).cluster == "d"


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_separators_are_seen(name: str) -> None:
    kind = TABLE_KINDS[name]
    row = to_row(VALUES[name])
    assert not kind.separated([kind.from_row(row)])
    if name == "documents":
        row["sentences"][0] += " [SEP]"
    elif name == "spans":
        row["units"][0] += " [SEP]"
    elif name == "ratings":
        row["text"] += " [SEP]"
    elif name == "structures":
        row["sections"][0]["paragraphs"][1][0] += " [SEP]"
    elif name == "choices":
        row["question"] += " [SEP]"
    elif name == "examples":
        row["slots"][0]["segments"][0] += " [SEP]"
    else:
        for condition in row["conditions"]:
            condition["content"] += " [SEP]"
            condition["regions"][0]["content"] += " [SEP]"
    assert kind.separated([kind.from_row(row)])


@pytest.mark.parametrize("kind", TABLE_KINDS.values(), ids=list(TABLE_KINDS))
def test_a_command_and_a_task_read_it(kind: TableKind[Any]) -> None:
    assert importlib.util.find_spec(f"coherencegym.eval.tasks.{kind.task}") is not None
    program, _, subcommand = kind.command.partition(" ")
    assert program == "coherencegym"
    assert subcommand.split()[0] in commands()


@pytest.mark.parametrize("kind", TABLE_KINDS.values(), ids=list(TABLE_KINDS))
def test_a_kind_is_known_by_a_column_of_its_own(kind: TableKind[Any]) -> None:
    others = [other for other in TABLE_KINDS.values() if other is not kind]
    assert all(kind.mark not in other.columns for other in others)


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(SuiteError, match="table kind 'verses'; expected one of items, documents"):
        kind_named("verses")


def test_a_kind_without_what_every_row_has_is_refused() -> None:
    import dataclasses

    with pytest.raises(ValueError, match="no column 'discourse_id'; every kind has it"):
        dataclasses.replace(
            TABLE_KINDS["items"],
            schema=dataclasses.make_dataclass(
                "Row", [(name, str, dataclasses.field(metadata=ROW_ID)) for name in ("item_id",)]
            ),
        )


def compared(path: Path) -> Iterator[str]:
    """The comparisons of a module that are about the name of a kind of table."""
    text = path.read_text(encoding="utf-8")
    if not any(f'"{name}"' in text for name in ("kind", *TABLE_KINDS)):
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Compare):
            continue
        for side in (node.left, *node.comparators):
            several = side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
            named = any(
                isinstance(one, ast.Constant) and one.value in TABLE_KINDS for one in several
            )
            asked = isinstance(side, ast.Subscript) and ast.unparse(side.slice) == "'kind'"
            # What a Hugging Face dataset holds is a genre, of which one is called `documents`.
            if (named or asked) and "genre" not in ast.unparse(node):
                yield f"{path}:{node.lineno}: {ast.unparse(node)}"


def test_nobody_asks_for_the_name_of_a_kind(repository: Path) -> None:
    rooms = ("builders", "cards", "eval", "loaders", "manipulations")
    modules = [path for room in rooms for path in (repository / room).rglob("*.py")]
    assert len(modules) > 200
    found = [each for path in sorted(modules) for each in compared(path)]
    # The one place: which configs of a manifest are of a kind.
    assert [each.rpartition(": ")[2] for each in found] == ["about['kind'] == self.name"]
