"""Rows of documents: they come back as they went in, and a bad one is named."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.kinds.documents import DOCUMENTS, Document
from coherencegym.eval.kinds.items import SuiteError
from coherencegym.eval.kinds.table_kind import to_row

TEXT = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() != "")


@given(st.lists(TEXT, min_size=2, max_size=8), st.data())
def test_a_document_comes_back(sentences: list[str], data: Any) -> None:
    position = data.draw(st.sampled_from([-1, *range(1, len(sentences))]))
    document = Document("d", tuple(sentences), position, "d", "c", {"similarity": 0.25})
    assert DOCUMENTS.from_row(to_row(document)) == document
    assert document.intruded == (position > 0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sentences": ["One."]}, "d: 1 sentences; expected at least 2"),
        ({"sentences": ["One.", " "]}, "d: sentence 1 is empty"),
        ({"sentences": "One. Two."}, 'd: sentences: "One. Two."; expected an array'),
        ({"intruder_position": 0}, "d: intruder_position is 0; expected -1, -2, or 1 to 2"),
        ({"intruder_position": -3}, "d: intruder_position is -3; expected -1, -2, or 1 to 2"),
        ({"intruder_position": "1"}, 'd: intruder_position: "1"; expected a whole number'),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, Any], message: str) -> None:
    row = to_row(Document("d", ("One.", "Two.", "Three."), 1, "d", "c"))
    with pytest.raises(SuiteError) as error:
        DOCUMENTS.from_row(row | changed)
    assert str(error.value) == message


def test_a_missing_column_is_named() -> None:
    with pytest.raises(SuiteError, match="d: no 'corpus'; expected an object with it"):
        DOCUMENTS.from_row(
            {"item_id": "d", "sentences": ["a", "b"], "intruder_position": -1, "discourse_id": "d"}
        )


def test_the_features_hold_the_row() -> None:
    import pyarrow as pa

    row = to_row(Document("d", ("One.", "Two."), -1, "d", "c", {"similarity": 0.5}))
    schema = DOCUMENTS.features({"similarity": "float64"}).arrow_schema
    assert pa.Table.from_pylist([row], schema=schema).to_pylist() == [row]
