"""Rows of rated texts."""

from __future__ import annotations

from typing import Any

import pytest

from coherencegym.eval.kinds.documents import RATINGS
from coherencegym.eval.kinds.table_kind import SuiteError, to_row


def row(**changes: Any) -> dict[str, Any]:
    return {
        "item_id": "a", "text": "Ann ran.", "rating": 3.5, "ratings": [3.0, 4.0], "prompt": "A run",
        "discourse_id": "d", "corpus": "c", "overlap": 0.25, "consensus": "3", **changes,
    }  # fmt: skip


def test_a_row_and_back() -> None:
    rated = RATINGS.from_row(row())
    assert to_row(rated) == row()
    assert rated.extra == {"consensus": "3"}
    assert tuple(RATINGS.texts(rated)) == ("Ann ran.",)


@pytest.mark.parametrize(
    ("changes", "cluster"),
    [({}, "A run"), ({"prompt": ""}, "d"), ({"family": "f"}, "f")],
)
def test_texts_of_a_prompt_belong_together(changes: dict[str, str], cluster: str) -> None:
    assert RATINGS.from_row(row(**changes)).cluster == cluster


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": " "}, "a: an empty text"),
        ({"rating": float("nan"), "ratings": []}, "a: a rating that is no number"),
        ({"rating": 3.0}, "a: rating 3; expected 3.5, the mean of ratings"),
        ({"rating": "good"}, "a: rating"),
        ({"ratings": None}, "a: ratings"),
        ({"prompt": 3}, "a: prompt"),
    ],
)
def test_a_row_that_a_task_cannot_rely_on(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SuiteError, match=said):
        RATINGS.from_row(row(**changes))


def test_a_missing_column_is_named() -> None:
    broken = row()
    del broken["rating"]
    with pytest.raises(SuiteError, match="rating"):
        RATINGS.from_row(broken)
    # Nobody counted repeated words: that is allowed.
    assert RATINGS.from_row(row(overlap=None)).overlap is None
