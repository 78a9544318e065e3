"""Answers read back: every kind of mistake is one line, and nothing else is ever raised."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toy import SURE, WHY

from coherencegym.builders.judgement.asked import Asked
from coherencegym.builders.judgement.match import Matcher
from coherencegym.builders.judgement.pairs import texts_digest
from coherencegym.builders.judgement.questions import FREE_FIELDS, Question, fields
from coherencegym.builders.judgement.read import read_answers
from coherencegym.loaders.corpus import CorpusError

ID = f"0123abcd-{texts_digest('One.', 'Two.')}"
OTHER = "0123abce-0123456789ab"


def write(folder: Path, *lines: Any, name: str = "answers.jsonl") -> Path:
    path = folder / name
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def test_answers_of_one_file_are_one_annotators(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"pair": ID, "a_grammatical": "yes", "b_grammatical": "No ", "less_coherent": "A"},
        "",
        {"pair": OTHER, "less_coherent": "Cannot  tell", "a_grammatical": None, "comment": "hm"},
    )
    read = read_answers([path])
    assert [(a.id, a.place, a.values) for a in read.answers] == [
        (ID, f"{path}:1", {"a_grammatical": "yes", "b_grammatical": "no", "less_coherent": "a"}),
        (OTHER, f"{path}:3", {"less_coherent": "cannot tell"}),
    ]
    assert len({answer.annotator for answer in read.answers}) == 1
    assert len(read.digests) == 1


def test_two_files_are_two_annotators_unless_they_name_them(tmp_path: Path) -> None:
    one = write(tmp_path, {"pair": ID, "less_coherent": "a"}, name="one")
    two = write(tmp_path, {"pair": ID, "less_coherent": "b"}, name="two")
    assert len({a.annotator for a in read_answers([one, two]).answers}) == 2
    both = write(
        tmp_path,
        {"pair": ID, "less_coherent": "a", "annotator": "Ann"},
        {"pair": ID, "less_coherent": "b", "annotator": "Bob"},
    )
    assert [a.annotator for a in read_answers([both]).answers] == ["Ann", "Bob"]
    again = write(tmp_path, {"pair": ID, "annotator": " Ann"}, name="again")
    with pytest.raises(CorpusError, match=f"again:1: pair {ID} was answered at .*jsonl:1, "):
        read_answers([both, again])


GOOD = {"pair": OTHER, "a_grammatical": "yes", "b_grammatical": "yes", "less_coherent": "a"}

MALFORMED = [
    ('{"pair": ', "no JSON", "malformed JSON"),
    ("[1]", "an array", "no JSON object"),
    ({"less_coherent": "a"}, "no field 'pair'", "no identifier"),
    ({"pair": 7}, "pair is no text", "a field that is no text"),
    ({"pair": "17"}, "'17' is no pair", "no pair"),
    ({"pair": ID + "0"}, "is no pair", "no pair"),
    (
        {"pair": ID, "less_coherent": "c"},
        'less_coherent is \'c\', expected "a", "b"',
        "no such answer",
    ),
    ({"pair": ID, "less_coherent": "yes"}, 'expected "a", "b", "cannot tell"', "no such answer"),
    ({"pair": ID, "a_grammatical": True}, "a_grammatical is no text", "a field that is no text"),
    ({"pair": ID, "b_grammatical": "maybe"}, 'expected "yes", "no"', "no such answer"),
    ({"pair": ID, "less_coherant": "a"}, "a field 'less_coherant'", "unknown field"),
    (
        {"pair": ID, "text_a": "Two.", "text_b": "One."},
        "not those that were drawn",
        "changed texts",
    ),
    ({"pair": ID, "text_a": "One.", "text_b": "Two"}, "not those that were drawn", "changed texts"),
    ({"pair": ID, "comment": "a\0b"}, "comment: a NUL byte", "NUL byte"),
    (f'{{"pair": "{ID}", "pair": "{ID}"}}', "stands twice", "malformed JSON"),
    (f'{{"pair": "{ID}", "comment": "\udcff"}}', "0xff is not UTF-8", "not UTF-8"),
    (GOOD, "was answered at", "a pair answered twice"),
]


@pytest.mark.parametrize(("line", "said", "reason"), MALFORMED)
def test_a_bad_line_is_named_or_counted(tmp_path: Path, line: Any, said: str, reason: str) -> None:
    path = write(tmp_path, GOOD, line)
    with pytest.raises(CorpusError) as raised:
        read_answers([path])
    message = str(raised.value)
    assert message.startswith(f"{path}:2")
    assert said in message
    assert "expected" in message
    assert "\n" not in message
    read = read_answers([path], skip_bad_rows=True)
    assert [answer.id for answer in read.answers] == [OTHER]
    assert read.options.skipped == {reason: 1}


def test_answers_to_further_questions_are_a_text_or_a_list(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"pair": ID, "why": ["odd"], "sure": "Quite"},
        {"pair": OTHER, "why": " None", "sure": None, "less_coherent": "a"},
        {"pair": "0123abcf-0123456789ab", "why": [], "sure": ""},
    )
    read = read_answers([path], questions=[WHY, SURE])
    assert [(answer.values, answer.further) for answer in read.answers] == [
        ({}, {"why": ("odd",), "sure": ("quite",)}),
        ({"less_coherent": "a"}, {"why": ("none",)}),
        ({}, {}),
    ]
    assert [answer.is_open for answer in read.answers] == [False, False, True]
    with pytest.raises(CorpusError, match=r"jsonl:1: a field 'why', expected only .*less_coherent"):
        read_answers([path])


@pytest.mark.parametrize(
    ("further", "said", "reason"),
    [
        ({"why": ["even"]}, 'why is \'even\', expected "odd", "none", or', "no such answer"),
        ({"why": "odd, none"}, "why is 'odd, none', expected", "no such answer"),
        ({"why": ["odd", "Odd "]}, "why has an answer twice", "an answer twice"),
        ({"why": ["none", "odd"]}, 'why has "none" beside', "nothing and something"),
        ({"why": [["odd"]]}, "why is no text", "a field that is no text"),
        ({"why": {"odd": True}}, "why is no text", "a field that is no text"),
        ({"sure": ["quite"]}, "sure is no text", "a field that is no text"),
        ({"sure": "no"}, 'sure is \'no\', expected "quite", "hardly"', "no such answer"),
    ],
)
def test_a_bad_answer_to_a_further_question_is_named_or_counted(
    tmp_path: Path, further: dict[str, Any], said: str, reason: str
) -> None:
    path = write(tmp_path, GOOD, {"pair": ID, **further})
    with pytest.raises(CorpusError) as raised:
        read_answers([path], questions=[WHY, SURE])
    message = str(raised.value)
    assert message.startswith(f"{path}:2: {said}")
    assert "expected" in message
    read = read_answers([path], skip_bad_rows=True, questions=[WHY, SURE])
    assert [answer.id for answer in read.answers] == [OTHER]
    assert read.options.skipped == {reason: 1}


def test_the_texts_that_were_drawn_may_stay(tmp_path: Path) -> None:
    line = {"pair": ID, "number": 1, "text_a": "One.", "text_b": "Two.", "less_coherent": "b"}
    assert read_answers([write(tmp_path, line)]).answers[0].values == {"less_coherent": "b"}


def test_a_file_twice_an_empty_one_and_none_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    copy = write(tmp_path, GOOD, name="copy.jsonl")
    with pytest.raises(CorpusError, match=r"copy\.jsonl: the same content as .*answers\.jsonl"):
        read_answers([path, copy])
    with pytest.raises(CorpusError, match="the file is empty"):
        read_answers([write(tmp_path)])
    with pytest.raises(FileNotFoundError):
        read_answers([tmp_path / "nowhere.jsonl"])
    with pytest.raises(IsADirectoryError):
        read_answers([tmp_path])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
VALUES = JSON | st.sampled_from(
    [ID, OTHER, "yes", "no", "a", "b", "cannot tell", "", "One.", ["odd"]]
)
ROW_FIELDS = ("span", "document", "example", "text", "text_a", "question", "answers", "answer")
NAMES = st.sampled_from([*fields([WHY]), "other"]) | st.sampled_from([*ROW_FIELDS, *FREE_FIELDS])
LINES = st.dictionaries(NAMES, VALUES, max_size=8).map(
    lambda line: json.dumps(line).encode()
) | st.binary(max_size=30)


@given(st.lists(LINES, max_size=4), st.booleans())
def test_whatever_stands_in_a_file_is_answers_or_one_line(lines: list[bytes], skip: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.jsonl")
        path.write_bytes(b"\n".join(lines))
        said = ""
        try:
            read = read_answers([path], skip, [WHY])
        except CorpusError as error:
            said = str(error)
        if said:
            assert "\n" not in said
            assert said.startswith(str(path))
        else:
            assert skip or not read.options.skipped
            assert all(answer.place.startswith(f"{path}:") for answer in read.answers)


ASKED = Asked(OTHER, "c", Question("answer", "Which?", (("yes", "y"), ("B", "b"))), (), ("B",), "B")
ROW_LINES = st.fixed_dictionaries(
    {"document": st.sampled_from([OTHER, ID])},
    optional={
        "answer": st.sampled_from(["yes", " Yes", "b", "B", "", "maybe"]) | st.text(max_size=5),
        "annotator": st.sampled_from(["Ann", "Bob", ""]),
    },
)


@given(st.lists(ROW_LINES, max_size=4), st.booleans())
def test_whatever_is_said_of_a_row_is_one_of_its_answers_or_one_line(
    lines: list[dict[str, str]], skip: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), *lines)
        try:
            read = read_answers([path], skip)
            matcher = Matcher("toy", read)
            votes = matcher.votes("document", ASKED)
            matcher.check()
            said = ""
        except CorpusError as error:
            said = str(error)
        if said:
            assert "\n" not in said
            assert said.startswith(str(path))
            return
        assert set(votes.values()) <= {"yes", "B"}
        (first, *left_out) = matcher.lines()
        assert re.match(rf"judgements: {len(votes)} answers", first)
        assert skip or not left_out
