"""Where sentences end in plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.text.sentences import ends_sentence, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Who met Mr. J. Smith. He ran.", ["Dr. Who met Mr. J. Smith.", "He ran."]),
        ('His "Dibs!" was slow. "Stop!" she said.', ['His "Dibs!" was slow.', '"Stop!" she said.']),
        ('He said "No." Then he left', ['He said "No."', "Then he left"]),
        ("It cost 4.30 at 10. 5 men came.", ["It cost 4.30 at 10.", "5 men came."]),
        ("Ann (b. 1980) ran it from ca. 1999.", ["Ann (b. 1980) ran it from ca. 1999."]),
        (" a ", ["a"]),
        ("", []),
    ],
)
def test_where_sentences_end(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


def test_what_ends_a_sentence() -> None:
    assert ends_sentence("")
    assert ends_sentence('He said "No." ')
    assert not ends_sentence("Then Dr.")
    assert not ends_sentence("because")


@given(st.text(alphabet='aB1.!" \n', max_size=30))
def test_sentences_are_all_of_the_text_but_space(text: str) -> None:
    spans = sentence_spans(text)
    rest = list(text)
    for start, end in spans:
        assert text[start:end].strip() == text[start:end] != ""
        rest[start:end] = " " * (end - start)
    assert not "".join(rest).strip()
    assert spans == sorted(spans)
