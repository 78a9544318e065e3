"""Plain text into sentences: abbreviations, initials, numbers, quotations; and real paragraphs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.corpus import CorpusError, ReadOptions
from coherencegym.loaders.formats.lines import RecordError, tidy
from coherencegym.loaders.text.detokenize import detokenize
from coherencegym.loaders.text.sentences import (
    ends_sentence,
    is_sentence_end,
    sentence_spans,
    split_sentences,
)

#: A bar stands where a sentence ends.
CASES = [
    "One. | Two! | Three?",
    "Dr. Who met Mr. J. R. Smith and Mrs. Jones. | He ran.",
    "She lives in the U.S. with Gen. Lee. | It is far.",
    "He left the U.S. | The trip was long.",
    "He works for the U.S. Senate and the U.K. Treasury.",
    "Some birds, e.g. Swifts and Terns, travel far. | Others, i.e. Robins, stay.",
    "It cost 4.30 at 10.5 per cent. | 5 men came.",
    "He was No. 1 in 1990. | In 1991 he was No. 2.",
    "Acme Inc. made cars. | Acme Ltd. | It made none.",
    "They met at 5 p.m. on Monday. | They left at 6 p.m. | The bar was closed.",
    "It stands in St. Louis, cf. Fig. 3 and pp. 4-9.",
    "She was born c. 1850 and died ca. 1900.",
    "World War I. | The war ended in 1918.",
    "The tune by D. A. Bohlen was new.",
    "He has a Ph.D. in law. | She has a Ph.D. | They met there.",
    'He said "No." | Then he left.',
    'He said, "No". | Then he left.',
    "She called it “odd.” | Nobody agreed.",
    '"Stop!" she said. | "Why?" asked Mr. Bell. | "Go!" John shouted.',
    'He came. | "I am here," he said.',
    "He came. | (Nobody saw him.) | He left.",
    "The town (pop. 500. It has shrunk) lies on a hill. | It is old.",
    "Was it he? | Nobody knew... | Then the bell rang.",
    "It was... nothing at all.",
    "Yahoo! was a company. | Jeopardy! is a game.",
    "1. The first item comes here.",
    "He paid $3.5m. | That was much.",
    "See example.com. | The site is new.",
    "Es war z.B. kalt.",
    "He fought a duel. [8] | It was fatal.[9][10] | He died.",
    "  spaced   out.  |  Twice. ",
    # Texts whose sentences begin in lower case.
    "we had a red ball. | then it rolled away! | did he get wet? | (he did.) | they laughed.",
    "We had a ball. | She kept it. | then it rolled. | He ran. | he got wet. | They left.",
    "my dog, e.g. rex, barks at dr. bell... always. | it barks at the u.s. army, too.",
    '"is it far?" she asked. | "no." | they went on.',
    # Two words that a rule does not know, in a text that begins its sentences with capitals.
    "It weighs approx. five kilos. | It is tall. | The var. alba is white. | It grows. | It ends.",
]


@pytest.mark.parametrize("case", CASES)
def test_where_sentences_end(case: str) -> None:
    expected = [tidy(part) for part in case.split("|")]
    assert list(split_sentences(case.replace("|", ""))) == expected


def test_texts_whose_sentences_begin_in_lower_case_are_counted() -> None:
    options = ReadOptions()
    for case in CASES[-5:]:
        list(split_sentences(case.replace("|", ""), options=options))
    assert list(options.skipped.values()) == [4]


def test_an_empty_line_ends_a_sentence_and_a_line_break_does_not() -> None:
    assert list(split_sentences("A title\n\nIt rained\nall day. It\r\nstopped.")) == [
        "A title",
        "It rained all day.",
        "It stopped.",
    ]
    assert list(split_sentences(" \n\n ")) == []


def test_other_scripts_have_other_full_stops() -> None:
    assert list(split_sentences("यह घर है। वह बाग है।", "hi")) == ["यह घर है।", "वह बाग है।"]
    assert list(split_sentences("这是房子。那是花园。", "zh")) == ["这是房子。", "那是花园。"]


def test_paragraphs_are_split_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from coherencegym.loaders.text import sentences

    read: list[str] = []

    def one(paragraph: str, *_: object) -> Iterator[str]:
        read.append(paragraph)
        yield paragraph

    monkeypatch.setattr(sentences, "_by_rule", one)
    assert next(split_sentences("One.\n\nTwo.\n\nThree.")) == "One."
    assert read == ["One."]


def test_a_trained_pipeline_has_the_last_word(tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer", config={"punct_chars": [";"]})
    pipeline.to_disk(tmp_path / "own")
    found = list(split_sentences("One. Two; three. Four.", pipeline=str(tmp_path / "own")))
    assert found == ["One. Two;", "three. Four."]


def test_what_cannot_be_split() -> None:
    with pytest.raises(CorpusError, match="spaCy has no rules for the language 'qq'"):
        list(split_sentences("One.", "qq"))
    with pytest.raises(RecordError, match="2,000,000 characters, expected at most 1,000,000"):
        list(split_sentences("a " * 1_000_000))


def test_what_follows_decides_after_an_abbreviation() -> None:
    assert is_sentence_end("He left the U.S.", "It was cold.")
    assert not is_sentence_end("He left the U.S.", "Navy in May.")
    assert not is_sentence_end("He left", "it there.")
    assert is_sentence_end("He left.", "")


@given(st.text(alphabet="aB1.!?\"' ()\n,;", max_size=60))
def test_sentences_hold_all_of_the_text_but_white_space(text: str) -> None:
    found = list(split_sentences(text))
    assert all(sentence == tidy(sentence) != "" for sentence in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def ends(sentences: list[str]) -> set[int]:
    """The places where sentences end but the last, counted in characters without white space."""
    places, place = set(), 0
    for sentence in sentences:
        place += len("".join(sentence.split()))
        places.add(place)
    return places - {place}


def paragraphs(path: Path) -> Iterator[list[str]]:
    """The paragraphs of a file of DiscoEval's Sentence Position task, in their order."""
    for line in path.read_text(encoding="utf-8").splitlines():
        position, first, *others = line.split("\t")
        others.insert(int(position), first)
        yield [text for other in others if (text := tidy(detokenize(other)))]


@pytest.mark.parametrize(("name", "precision", "recall"), [("wiki/test", 0.995, 0.94)])
def test_real_paragraphs_are_split_where_they_were_joined(
    shared: Path, name: str, precision: float, recall: float
) -> None:
    """Every tenth of the 4,000; their own ends are a machine's, which broke after ``c.``."""
    right = found = real = 0
    for number, sentences in enumerate(paragraphs(shared / f"corpora/discoeval/SP/{name}.txt")):
        if number % 10:
            continue
        gold, got = ends(sentences), ends(list(split_sentences(" ".join(sentences))))
        right, found, real = right + len(gold & got), found + len(got), real + len(gold)
    assert real > 1500
    assert right / found > precision
    assert right / real > recall


def spanned(text: str) -> list[str]:
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
def test_where_sentences_of_short_texts_end(text: str, parts: list[str]) -> None:
    assert spanned(text) == parts


def test_what_ends_a_sentence() -> None:
    assert ends_sentence("")
    assert ends_sentence('He said "No." ')
    assert not ends_sentence("Then Dr.")
    assert not ends_sentence("because")


@given(st.text(alphabet='aB1.!" \n', max_size=30))
def test_spans_are_all_of_the_text_but_space(text: str) -> None:
    spans = sentence_spans(text)
    rest = list(text)
    for start, end in spans:
        assert text[start:end].strip() == text[start:end] != ""
        rest[start:end] = " " * (end - start)
    assert not "".join(rest).strip()
    assert spans == sorted(spans)
