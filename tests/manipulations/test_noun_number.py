"""The number of a noun phrase from its words."""

from __future__ import annotations

import pytest

from coherencegym.manipulations.reference.mention_rules import number_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("the team", "singular"),
        ("the teams of the city", "plural"),
        ("the leader of the teams", "singular"),
        ("a black and white dog", "singular"),
        ("these fish", "plural"),
        ("the fish", ""),
        ("the firemen", "plural"),
        ("the specimen", "singular"),
        ("salespeople", "plural"),
        ("the boys' school", "singular"),
        ("the man's dogs", "plural"),
        ("the boss", "singular"),
        ("physics", "singular"),
        ("the man who sold dogs", "singular"),
        ("the cat and the dog", "plural"),
        ("Ann and Bo", "plural"),
        ("salt and pepper", ""),
        ("great-grandchildren", "plural"),
        ("both dogs", "plural"),
        ("1990", ""),
        ("...", ""),
    ],
)
def test_the_words_tell(text: str, number: str) -> None:
    assert number_of(text) == number


def test_a_name_in_s_may_be_either() -> None:
    assert number_of("James", name=True) == number_of("the Smiths", name=True) == ""
    assert number_of("Acme", name=True) == "singular"
