"""What is prose and what is not."""

from __future__ import annotations

import pytest

from coherencegym.loaders.text.prose import sentences_drop, text_drop

GOOD = ("The kettle sang.", "Ann took 2 cups from the shelf.", 'She said: "Tea is good."')


@pytest.mark.parametrize(
    "sentences",
    [
        GOOD,
        ("He paid $3.5 million for the house in 1990.", "Was it much?", "It was (he thought)."),
        ("यह एक घर है।", "वह एक बाग है।", "हम यहाँ रहते हैं।"),
        ("これは家です。", "あれは庭です。", "ここは村です。"),
        (" ".join(["word"] * 100) + ".",),
    ],
)
def test_prose(sentences: tuple[str, ...]) -> None:
    assert sentences_drop(sentences) is None


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("It is == here now.", "leftover markup"),
        ("It is {{cite}} here.", "leftover markup"),
        ("It is [[here|there]] now.", "leftover markup"),
        ("Born | 1950 | in Rome.", "leftover markup"),
        ("It is <b>here</b> now.", "leftover markup"),
        ("It is &nbsp; here now.", "leftover markup"),
        ("In 12 34 56 78 90 12 34 56 78 90 12 34 56 78 90 12 34 56 78.", "too few letters"),
        ("It rained.", "a sentence of fewer than 3 words"),
        (" ".join(["word"] * 101) + ".", "a sentence of more than 100 words"),
        ("The list is as follows:", "a sentence without its end"),
        ("A heading without a stop", "a sentence without its end"),
    ],
)
def test_no_prose(sentence: str, reason: str) -> None:
    assert sentences_drop((*GOOD[:1], sentence)) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("They are:\n* one thing\n* another thing", "list"),
        ("They are:\n- one thing\n\n- another thing", "list"),
        ("They are:\n1. one thing\n2. another thing", "list"),
        ("Year\tGoals\n1990\t3", "table"),
        ("It is [[here]].", "leftover markup"),
        ("He said:\n- No.\nThen he left.", None),
        ("\tIt rained.\n\tIt stopped.", None),
        ("It rained in 1990.\nIt stopped in 1991.", None),
    ],
)
def test_lists_and_tables(text: str, reason: str | None) -> None:
    assert text_drop(text) == reason
