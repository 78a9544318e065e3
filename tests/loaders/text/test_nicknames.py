"""Nicknames in messages of a chat."""

from __future__ import annotations

import pytest

from coherencegym.loaders.text.sentences import PARTICIPANT, Nicknames

#: Some are words of the language, or of the channel.
NAMES = ("ann", "bob2", "ubuntu", "me", "xabbu|", "f_newton")
LOG = (
    "ann: hello",
    "ann, are you there?",
    "thanks ann",
    "ubuntu is nice",
    "tell me, ubuntu or not",
)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("ann: try bob2's page", ["ann", "bob2"]),
        ("Ann, f_newton: see above", ["ann", "f_newton"]),
        ("xabbu|> no", ["xabbu|"]),
        ("bob2 - cursor blinks", ["bob2"]),
        ("ubuntu, which server?", ["ubuntu"]),
        ("i run ubuntu, it told me, so: thanks (ann)", ["ann"]),
        ("hello Ann", []),
        ("ann is what they call bobby", ["ann"]),
        ("error: no such file", []),
        ("http://ann: or re-ann", []),
        ("", []),
    ],
)
def test_mentions(message: str, expected: list[str]) -> None:
    found = list(Nicknames(NAMES, LOG).mentions(message, 3))
    assert [mention.chain for mention in found] == expected
    for mention in found:
        ((unit, start, end),) = mention.span
        assert unit == 3
        assert message[start:end].casefold() == mention.chain
        assert mention.features.entity == PARTICIPANT


def test_what_somebody_does_begins_with_their_name() -> None:
    found = Nicknames(NAMES, LOG).mentions("me waves at bob2", 0, speaker="me")
    assert [(mention.chain, mention.span) for mention in found] == [
        ("me", ((0, 0, 2),)),
        ("bob2", ((0, 12, 16),)),
    ]
