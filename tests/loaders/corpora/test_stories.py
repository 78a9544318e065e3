"""The Story Cloze Test and ROCStories: their tables, and everything that can be wrong with one."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from support.small_corpora import OfFile, error, read_one

from coherencegym.loaders.corpora.stories import ROCSTORIES, STORYCLOZE
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.discourse import SourceSpan, span_text
from coherencegym.loaders.read import find, read

HEADER = (
    "InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,"
    "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding"
)
STORY = ["id1", "Ann, my aunt, ran.", 'She said "Go!"', "It rained.", "We sat.", "Yes.", "No.", "2"]


def table(*rows: list[str], delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    text = io.StringIO()
    # A quoting of the csv module; its type has a name only for type checkers.
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, quotechar='"')  # type: ignore[arg-type]
    writer.writerows([HEADER.split(","), *rows])
    return text.getvalue()


def test_a_story_ends_with_the_right_ending(of_file: OfFile) -> None:
    story = read_one(of_file(STORYCLOZE, table(STORY)))
    assert story.id == "id1"
    assert story.corpus == "storycloze"
    assert story.texts == (*STORY[1:5], "No.")
    (alternative,) = story.alternatives
    assert alternative.options == ("Yes.", "No.")
    assert alternative.right == 1
    assert span_text(story, alternative.span) == "No."
    assert alternative.span == ((4, 0, 3),)
    assert story.meta == {"split": "test"}
    assert story.units[0].source == SourceSpan("file.txt", 2, 2)


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r"])
def test_commas_or_tabs_quoted_or_not(
    of_file: OfFile, delimiter: str, quoting: int, mark: str, line_end: str
) -> None:
    text = mark + table(STORY, delimiter=delimiter, quoting=quoting).replace("\r\n", line_end)
    assert read_one(of_file(STORYCLOZE, text)).texts == (*STORY[1:5], "No.")


def test_a_tab_table_without_quoting_keeps_its_quotation_marks(of_file: OfFile) -> None:
    row = ["1", '"Run!" he said.', '"Why?"', 'She cried "No."', "D.", "E.", "F.", "1"]
    text = HEADER.replace(",", "\t") + "\n" + "\t".join(row) + "\n"
    assert read_one(of_file(STORYCLOZE, text)).texts == (*row[1:5], "E.")


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ('"He said ""Run!"" and ran."', 'He said "Run!" and ran.'),
        ('"""Run!"" he said."', '"Run!" he said.'),
        # Where it may be the text's own marks, nothing is taken away.
        ('"Run!" he said. "Now!"', '"Run!" he said. "Now!"'),
        ('"Run! Now!"', '"Run! Now!"'),
        ('He said ""Run!"" twice.', 'He said ""Run!"" twice.'),
        ('"Run! ""Now!""', '"Run! ""Now!""'),
        ('"He said ""Run!"" and "Now!"."', '"He said ""Run!"" and "Now!"."'),
    ],
)
def test_in_a_tab_table_without_quoting_a_field_is_unquoted_where_it_is_beyond_doubt(
    of_file: OfFile, field: str, text: str
) -> None:
    lines = ("\t".join(row) for row in (HEADER.split(","), ["1", field, *STORY[2:7], "1"]))
    assert read_one(of_file(STORYCLOZE, "\n".join(lines) + "\n")).texts[0] == text


def test_columns_in_any_order_and_case_others_ignored_white_space_tidied(of_file: OfFile) -> None:
    names = ["extra", *reversed(HEADER.upper().split(","))]
    row = ["x", " 1 ", *reversed([f" {value}  {value}" for value in "abcdef"]), "id1 "]
    blank = "," * 8
    story = read_one(of_file(STORYCLOZE, "\n".join([",".join(names), ",".join(row), "", blank])))
    assert story.id == "id1"
    assert story.texts == ("a a", "b b", "c c", "d d", "e e")


def test_a_row_with_two_faults_is_counted_once(of_file: OfFile) -> None:
    reading = read(of_file(STORYCLOZE, table([" ", " ", *STORY[2:7], "3"])), skip_bad_rows=True)
    assert list(reading) == []
    assert reading.skipped.total() == 1


def test_windows_1252_is_named(of_file: OfFile) -> None:
    content = table(["a", *STORY[1:]], ["b", "It’s…", *STORY[2:]]).encode("cp1252")
    corpus = of_file(STORYCLOZE, content)
    message = error(corpus)
    assert message.startswith("file.txt:3: byte 0x92 is not UTF-8, expected UTF-8")
    assert "Windows-1252 it is '’'" in message
    assert [story.id for story in read(corpus, skip_bad_rows=True)] == ["a"]


def test_an_unclosed_quotation_mark(of_file: OfFile) -> None:
    text = table(["a", *STORY[1:]]) + 'b,"never closed,x\r\n' + "y,z\r\n" * 3
    assert error(of_file(STORYCLOZE, text)).startswith("file.txt:3: unexpected end of data")
    reading = read(of_file(STORYCLOZE, text), skip_bad_rows=True)
    assert [story.id for story in reading] == ["a"]
    assert reading.skipped == {"malformed quoting": 1}


def test_files_without_rows_or_columns(of_file: OfFile) -> None:
    assert error(of_file(STORYCLOZE, HEADER)).startswith("file.txt:2: no row after the header")
    no_header = error(of_file(STORYCLOZE, ",".join(["x"] * 8)))
    assert no_header.startswith("file.txt:1: no column InputStoryid and 7 more; expected")
    assert len(no_header) < 300
    twice = error(of_file(STORYCLOZE, table(STORY).replace("InputSentence3", "InputSentence2")))
    assert "no column InputSentence3" in twice


def test_the_winter_2018_test_set_has_no_answers(of_file: OfFile) -> None:
    text = HEADER.rpartition(",")[0] + "\n" + ",".join("abcdefg") + "\n"
    message = error(of_file(STORYCLOZE, text))
    assert "no column AnswerRightEnding" in message
    assert "winter 2018 test set is given out without answers" in message


def test_a_text_with_a_separator_is_read(of_file: OfFile) -> None:
    assert "[SEP]" in read_one(of_file(STORYCLOZE, table(["i", "a [SEP] b", *STORY[2:]]))).text


REAL_NAMES = {
    "cloze_test_test__spring2016 - cloze_test_ALL_test.csv": "test",
    "cloze_testtest_spring2016.csv": "test",
    "cloze_test_val__spring2016 - cloze_test_ALL_val.csv": "validation",
    "cloze_test_val__spring2016 - cloze_test_ALL_val.tsv": "validation",
    "cloze_test_val__winter2018-cloze_test_ALL_val - 1 - 1.csv": "validation_2018",
    "cloze_test_test__winter2018-cloze_test_ALL_test - 1.csv": "test_2018",
    "ROCStories_winter2017 - ROCStories_winter2017.csv": "train",
    "ROCStories__spring2016 - ROCStories_spring2016.csv": "train",
    "ROCStories__spring2016 - ROC-Stories-naacl-camera-ready.csv": "train",
}


@pytest.mark.parametrize("name", REAL_NAMES)
def test_the_names_of_the_real_files(tmp_path: Path, name: str) -> None:
    corpus = ROCSTORIES if name.startswith("ROC") else STORYCLOZE
    other = STORYCLOZE if name.startswith("ROC") else ROCSTORIES
    (tmp_path / name).write_text("x")
    with pytest.raises(CorpusError):
        find(other, tmp_path)
    assert [file.split for file in find(corpus, tmp_path).files] == [REAL_NAMES[name]]


def test_a_rocstories_file(of_file: OfFile) -> None:
    text = (
        "storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5\n"
        'r1,"A, B",One.,Two.,Three.,Four.,Five.\n'
    )
    story = read_one(of_file(ROCSTORIES, text))
    assert story.texts == ("One.", "Two.", "Three.", "Four.", "Five.")
    assert story.meta == {"split": "test", "title": "A, B"}
    assert story.alternatives == ()
    bad = text.replace("Three.", "")
    assert error(of_file(ROCSTORIES, bad)) == "file.txt:2: sentence3 is empty, expected a sentence"
