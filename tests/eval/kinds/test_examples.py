"""Rows of examples: they come back as they went in, and a bad one is named."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.kinds.documents import EXAMPLES, LabelledExample, Slot
from coherencegym.eval.kinds.table_kind import SuiteError, to_row, with_names, with_numbers

TEXT = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() != "")
PAIR = LabelledExample(
    item_id="e",
    slots=(Slot(("It rained.",)), Slot(("We", "stayed."))),
    text=("It rained.", "We stayed."),
    places=(0, 1),
    label="Cause",
    discourse_id="d",
    corpus="c",
    also=("Asynchronous",),
    extra={"genre": "news"},
)


@given(st.lists(st.lists(TEXT, min_size=1, max_size=3), min_size=1, max_size=5), TEXT, st.data())
def test_an_example_comes_back(slots: list[list[str]], label: str, data: Any) -> None:
    text = tuple(data.draw(st.lists(TEXT, max_size=4)))
    places = tuple(data.draw(st.sampled_from([-1, *range(len(text))])) for _ in slots)
    made = tuple(Slot(tuple(segments)) for segments in slots)
    example = LabelledExample("e", made, text, places, label, "d", "c", (), {"genre": "news"})
    assert EXAMPLES.from_row(to_row(example)) == example
    assert list(example.segments) == [segment for segments in slots for segment in segments]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"slots": []}, "e: no slot; expected at least 1"),
        ({"slots": [{"segments": []}], "places": [0]}, "e: slot 0 is empty, or a segment of it"),
        (
            {"slots": [{"segments": ["a"]}, {"segments": ["b", " "]}]},
            "e: slot 1 is empty, or a segment of it",
        ),
        ({"text": ["One.", ""]}, "e: unit 1 of the text is empty"),
        ({"places": [0]}, "e: 1 places of 2 slots; expected as many"),
        ({"places": [0, 2]}, "e: place 2; expected -1, or 0 to 1"),
        ({"also": ["Cause"]}, "e: labels ('Cause', 'Cause'); expected distinct ones, none of them"),
        ({"label": ""}, "e: labels ('', 'Asynchronous'); expected distinct ones, none of them"),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(SuiteError) as error:
        EXAMPLES.from_row(to_row(PAIR) | changed)
    assert str(error.value).startswith(message)


def test_a_table_has_the_classes_by_number_and_gives_them_back_by_name() -> None:
    import pyarrow as pa

    rows = [to_row(PAIR), to_row(PAIR) | {"item_id": "f", "label": "List", "also": []}]
    features = EXAMPLES.features({"genre": "string"}, rows)
    numbered = [dict(with_numbers(row, features)) for row in rows]
    assert features["label"].names == ["Asynchronous", "Cause", "List"]
    assert [(row["label"], row["also"]) for row in numbered] == [(1, [0]), (2, [])]
    assert pa.Table.from_pylist(numbered, schema=features.arrow_schema).to_pylist() == numbered
    assert [with_names(row, features.to_dict()) for row in numbered] == rows


@pytest.mark.parametrize("number", [-1, 2, "Cause"])
def test_a_class_that_is_not_there_is_named(number: Any) -> None:
    features = {"label": {"names": ["Cause"], "_type": "ClassLabel"}}
    with pytest.raises(SuiteError, match=r"e: label: class .*; expected 0 to 0"):
        with_names(to_row(PAIR) | {"label": number}, features)
