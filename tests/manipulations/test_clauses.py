"""Finite clauses, told by their words: what has a subject and a verb, and what leaves them out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.manipulations.connectives import (
    begins_with_participle,
    has_clause,
)


@pytest.mark.parametrize(
    "text",
    [
        "it rained all day.",
        "they often go there",
        "we've seen it",
        "he did not know it, I left",
        "some thought him mad,",
        "the house was sold",
        "the west side of town borders the river",
        "realism holds that art is free",
        "luminescence is common in anemones,",
        "in one case it was seen by five people only",
        "only two of them can swim",
        "the head of the school, Ann Lee, has a better view",
        "prices weren't paid",
        "some considered him insane",
        "pro-Beijing voters were heard",
    ],
)
def test_clauses(text: str) -> None:
    assert has_clause(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ", as I said, late",
        "not perfect, was of use.",
        "remarkably tolerant of strangers walking on their beaches,",
        "being a total fraud.",
        "useful, such samples are rare",
        "still in prison, and went on",
        "in the United States, he wrote",
        "under the limited licence",
        "at school, he had met her",
        "only for some abilities, such as reading",
        "a native of York, he was poor",
        "a follower of Leeds United",
        "a minister,",
        "simultaneously demanding that all leave",
        "not directly measured, except by one",
        "once known as the Old Bridge",
        "set in the north",
        "there",
        "two of the members of the club",
    ],
)
def test_what_is_no_clause(text: str) -> None:
    assert not has_clause(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set out in section four", True),
        ("also taking a walk", True),
        ("being late", True),
        ("everything burned", False),
        ("the king", False),
        ("Beijing was asleep", False),
        ("it rained", False),
        ("", False),
    ],
)
def test_participles(text: str, expected: bool) -> None:
    assert begins_with_participle(text) is expected


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    if has_clause(text):
        assert not begins_with_participle(text)
