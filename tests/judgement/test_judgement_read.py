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

from coherencegym.builders.judgement.answers import Matcher
from coherencegym.builders.judgement.questions import FREE_FIELDS, Asked, Question
from coherencegym.loaders.corpus import CorpusError

ID, OTHER = "0123abcd89ef0123", "0123abce89ef0123"


def write(folder: Path, *lines: Any, name: str = "answers.jsonl") -> Path:
    path = folder / name
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def test_answers_of_one_file_are_one_annotators(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"pair": ID, "answer": "A "},
        "",
        {"pair": OTHER, "answer": "Cannot  tell", "text_a": "changed", "comment": "hm"},
        {"pair": "0" * 16, "answer": None},
    )
    read = Matcher([path])
    assert [(a.id, a.place, a.answer) for a in read.answers] == [
        (ID, f"{path}:1", "A"),
        (OTHER, f"{path}:3", "Cannot tell"),
        ("0" * 16, f"{path}:4", ""),
    ]
    assert len({answer.annotator for answer in read.answers}) == 1
    assert len(read.digests) == 1


def test_two_files_are_two_annotators_unless_they_name_them(tmp_path: Path) -> None:
    one = write(tmp_path, {"pair": ID, "answer": "a"}, name="one")
    two = write(tmp_path, {"pair": ID, "answer": "b"}, name="two")
    assert len({a.annotator for a in Matcher([one, two]).answers}) == 2
    both = write(
        tmp_path,
        {"pair": ID, "answer": "a", "annotator": "Ann"},
        {"pair": ID, "answer": "b", "annotator": "Bob"},
    )
    assert [a.annotator for a in Matcher([both]).answers] == ["Ann", "Bob"]
    again = write(tmp_path, {"pair": ID, "annotator": " Ann"}, name="again")
    with pytest.raises(CorpusError, match=f"again:1: pair {ID} was answered at .*jsonl:1, "):
        Matcher([both, again])


GOOD = {"pair": OTHER, "answer": "a"}

MALFORMED = [
    ('{"pair": ', "no JSON", "malformed JSON"),
    ("[1]", "an array", "no JSON object"),
    ({"answer": "a"}, "no field 'pair'", "no identifier"),
    ({"pair": 7}, "pair is no text", "a field that is no text"),
    ({"pair": "17"}, "'17' is no pair", "no pair"),
    ({"pair": ID + "0"}, "is no pair", "no pair"),
    ({"pair": ID, "answer": True}, "answer is no text", "a field that is no text"),
    ({"pair": ID, "less_coherent": "a"}, "a field 'less_coherent'", "unknown field"),
    ({"pair": ID, "comment": "a\0b"}, "comment: a NUL byte", "NUL byte"),
    (f'{{"pair": "{ID}", "pair": "{ID}"}}', "stands twice", "malformed JSON"),
    (f'{{"pair": "{ID}", "comment": "\udcff"}}', "0xff is not UTF-8", "not UTF-8"),
    (GOOD, "was answered at", "a pair answered twice"),
]


@pytest.mark.parametrize(("line", "said", "reason"), MALFORMED)
def test_a_bad_line_is_named_or_counted(tmp_path: Path, line: Any, said: str, reason: str) -> None:
    path = write(tmp_path, GOOD, line)
    with pytest.raises(CorpusError) as raised:
        Matcher([path])
    message = str(raised.value)
    assert message.startswith(f"{path}:2")
    assert said in message
    assert "expected" in message
    assert "\n" not in message
    read = Matcher([path], skip_bad_rows=True)
    assert [answer.id for answer in read.answers] == [OTHER]
    assert read.options.skipped == {reason: 1}


def test_a_file_twice_an_empty_one_and_none_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    copy = write(tmp_path, GOOD, name="copy.jsonl")
    with pytest.raises(CorpusError, match=r"copy\.jsonl: the same content as .*answers\.jsonl"):
        Matcher([path, copy])
    with pytest.raises(CorpusError, match="the file is empty"):
        Matcher([write(tmp_path)])
    with pytest.raises(FileNotFoundError):
        Matcher([tmp_path / "nowhere.jsonl"])
    with pytest.raises(IsADirectoryError):
        Matcher([tmp_path])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
VALUES = JSON | st.sampled_from([ID, OTHER, "yes", "a", "cannot tell", "", "One."])
UNITS = ("pair", "span", "document", "example")
NAMES = st.sampled_from(
    [*UNITS, "text", "text_a", "question", "answers", "answer", *FREE_FIELDS, "other"]
)
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
            read = Matcher([path], skip)
        except CorpusError as error:
            said = str(error)
        if said:
            assert "\n" not in said
            assert said.startswith(str(path))
        else:
            assert skip or not read.options.skipped
            assert all(answer.place.startswith(f"{path}:") for answer in read.answers)


ASKED = Asked(OTHER, Question("Which?", {"yes": "y", "B": "b"}), (), ("B",))
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
            matcher = Matcher([path], skip)
            votes = matcher.votes(ASKED)
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
