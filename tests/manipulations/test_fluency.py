"""Sentences that are no whole, fluent English."""

from __future__ import annotations

import pytest

from coherencegym.manipulations.reference.english import fault_of_sentence


@pytest.mark.parametrize(
    "text",
    [
        "It's – it has been sold.",
        "I'm, I've been there.",
        "They're they were here.",
        "I wanted to - I wanted more.",
        "We were able to -- we are now able to.",
        "The man was -- Bo was ordered out.",
        "In the first -- it has five -- in the first there is one.",
        "So this is – I just love it.",
        "He uses two words, and t- to me that is odd.",
        "It was uh applied twice.",
        "Um, it left.",
        "It was, like, red.",
        "This is sorta red.",
        "He fell in love with a, French cook.",
    ],
)
def test_speech_that_starts_anew_is_disfluent(text: str) -> None:
    assert fault_of_sentence(text) == "disfluent sentence"


@pytest.mark.parametrize(
    "text",
    [
        "The house is old -- it was built in 1900.",
        "The pre- and post-war years were bad.",
        "My friend and I – we were young – left.",
        "She gave it to him – a gift.",
        "He's the man, and she's the woman.",
        'He said, "I came," and left.',
        'I came," he said.',
        "He was given an A, and vitamin A, too.",
        '"I came. I saw.',
        '(the "early" ones) and "late" ones.',
        'The 5" pipe broke.',
        'He read "Emma": a book.',
        'He—"so he said"—left.',
    ],
)
def test_what_is_fluent(text: str) -> None:
    assert fault_of_sentence(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        'I said," Yes.',
        'He told me," Go home.',
        'He calls it "old, "no matter what.',
        'A son (who" was here").',
        'He said " yes.',
        '"One "two.',
    ],
)
def test_quotation_marks_that_stand_the_wrong_way(text: str) -> None:
    assert fault_of_sentence(text) == "quotation mark that stands the wrong way"
