"""Rows of spans: they come back as they went in, and a bad one is named."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.kinds.documents import SPANS, GoldSpan, SpanText
from coherencegym.eval.kinds.table_kind import SuiteError, to_row

TEXT = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() != "")


def spans_of(size: int, answer: Any) -> tuple[GoldSpan, ...]:
    """All spans of so many units, with the answers that a function gives."""
    return tuple(
        GoldSpan(start, end, answer(start, end))
        for start in range(size)
        for end in range(start, size)
    )


def one_text(units: tuple[str, ...], first: int, last: int) -> SpanText:
    return SpanText(
        item_id="s",
        units=units,
        speakers=(),
        hypothesis="It is so.",
        alternatives=(),
        label=1,
        evidence=((first, last),),
        gold=spans_of(len(units), lambda a, b: int(a <= first and last <= b)),
        discourse_id="d",
        corpus="c",
    )


@given(st.lists(TEXT, min_size=1, max_size=5), st.data())
def test_a_text_comes_back(units: list[str], data: Any) -> None:
    first = data.draw(st.integers(0, len(units) - 1))
    value = one_text(tuple(units), first, data.draw(st.integers(first, len(units) - 1)))
    row = to_row(value)
    assert list(row) == list(SPANS.columns)
    assert SPANS.from_row(row) == value
    assert value.size == len(units)
    assert not value.is_choice


CHOICE = SpanText(
    item_id="c",
    units=(),
    speakers=(),
    hypothesis="",
    alternatives=(("a", "b"), ("a", "c")),
    label=1,
    evidence=((0, 1),),
    gold=(GoldSpan(0, 0, -1), GoldSpan(0, 1, 1), GoldSpan(1, 1, -1)),
    discourse_id="d",
    corpus="c",
)


def test_a_choice_comes_back() -> None:
    import pyarrow as pa

    schema = SPANS.features().arrow_schema
    (row,) = pa.Table.from_pylist([to_row(CHOICE)], schema=schema).to_pylist()
    assert SPANS.from_row(row) == CHOICE
    assert CHOICE.size == 2
    assert CHOICE.is_choice


EITHER = "expected either units, or two alternatives or more, none of them empty"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"units": [], "gold": []}, EITHER),
        ({"alternatives": [["a"], ["b"]]}, EITHER),
        ({"units": ["One.", " "]}, "a unit is empty; expected text"),
        ({"speakers": ["A"]}, "1 speakers of 2 units; expected one each, or none"),
        ({"label": 2}, "label 2; expected 0 to 1"),
        ({"evidence": [[0, 2]]}, "evidence [0, 2]; expected units from 0 to 1"),
        ({"gold": [{"start": 0, "end": 2, "answer": 1}]}, "span [0, 2]; expected units from 0"),
        (
            {"gold": [{"start": 0, "end": 1, "answer": -1}]},
            "answer -1 for the span [0, 1]; expected one of the question's",
        ),
        (
            {"gold": [{"start": 0, "end": 1, "answer": 1}] * 2},
            "span [0, 1] stands twice; expected each once",
        ),
        (
            {"gold": [{"start": 0, "end": 1, "answer": 0}]},
            "the span of all units has another answer than the whole; expected the label",
        ),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, Any], message: str) -> None:
    row = to_row(one_text(("One.", "Two."), 0, 1))
    with pytest.raises(SuiteError) as error:
        SPANS.from_row(row | changed)
    assert str(error.value).startswith(f"s: {message}")


def test_alternatives_are_equally_long() -> None:
    row = to_row(CHOICE) | {"alternatives": [["a", "b"], ["a"]]}
    with pytest.raises(SuiteError, match="c: alternatives of 1 and of 2 units; expected equally"):
        SPANS.from_row(row)


def test_alternatives_differ() -> None:
    row = to_row(CHOICE) | {"alternatives": [["a", "b"], ["a", "b"]]}
    with pytest.raises(SuiteError, match="c: all alternatives have the same text; expected a diff"):
        SPANS.from_row(row)
