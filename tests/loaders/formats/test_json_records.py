"""Objects of a JSON array or of JSON lines, read in pieces."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats import json_records as module
from coherencegym.loaders.formats.json_records import LONGEST_RECORD, json_records

#: What the reason says where nothing says where the next record begins.
REST = ", and what follows it"


def lists(alphabet: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Lists of objects with texts of these characters."""
    values = st.one_of(st.text(alphabet, max_size=20), st.integers(), st.just([1, {}]))
    record = st.dictionaries(st.text(max_size=3).filter(lambda key: "," not in key), values)
    return st.lists(record, min_size=1, max_size=12)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json") / "file.jsonl"


def objects(path: Path, content: str | bytes) -> list[dict[str, Any]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    file = CorpusFile(path, "test")
    return [record.values for record in json_records(file, ReadOptions())]


def skipping(path: Path, content: str | bytes) -> tuple[list[dict[str, Any]], dict[str, int]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    options = ReadOptions(skip_bad_rows=True)
    records = [record.values for record in json_records(CorpusFile(path, "test"), options)]
    return records, dict(options.skipped)


def error(path: Path, content: str | bytes) -> str:
    with pytest.raises(CorpusError) as caught:
        objects(path, content)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path.parent) + "/", "")


@pytest.mark.parametrize("piece", [1, 40])
@given(written=lists('a"\\}{,]\n é😀'), indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_an_array_is_read_whatever_the_pieces(
    piece: int, path: Path, written: list[dict[str, Any]], indent: int | None, ascii_only: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE", piece)
        array = json.dumps(written, indent=indent, ensure_ascii=ascii_only)
        assert objects(path, "\ufeff " + array + "\n") == written


@given(
    written=lists('a"\\}{,]\n é😀'), ascii_only=st.booleans(), start=st.sampled_from(["", "\ufeff"])
)
def test_lines_are_read_whatever_their_ends(
    path: Path, written: list[dict[str, Any]], ascii_only: bool, start: str
) -> None:
    lines = [json.dumps(record, ensure_ascii=ascii_only) for record in written]
    for end in ("\n", "\r\n", "\n\n"):
        assert objects(path, start + end.join(lines)) == written
        assert objects(path, f"{start}\n{end.join(lines)}{end}") == written


@pytest.mark.parametrize("piece", [1, 40])
@given(written=lists('a"\\}{,]\n é😀'), cut=st.floats(0, 1))
def test_an_array_that_is_cut_off_keeps_what_is_whole(
    piece: int, path: Path, written: list[dict[str, Any]], cut: float
) -> None:
    array = json.dumps(written)
    start = array[: 1 + int(cut * (len(array) - 2))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE", piece)
        kept, skipped = skipping(path, start)
        assert kept == written[: len(kept)]
        assert len(kept) >= len(written) - 1 or len(start) < len(array) - 1
        assert sum(skipped.values()) == 1
        assert "is it cut off?" in error(path, start)


def test_lines_and_numbers(path: Path) -> None:
    path.write_text('\n[{"a": 1},\n\n{"a": 2}, {"a":\n3},\n{"a": 4}]')
    records = list(json_records(CorpusFile(path, "test"), ReadOptions()))
    assert [(record.number, record.line) for record in records] == [(1, 2), (2, 4), (3, 4), (4, 6)]
    assert records[2].place == f"{path}:4: record 3"
    path.write_text('\n{"a": 1}\n\n{"a": 2}\n')
    records = list(json_records(CorpusFile(path, "test"), ReadOptions()))
    assert [(record.number, record.place) for record in records] == [
        (1, f"{path}:2"),
        (2, f"{path}:4"),
    ]


BAD_RECORDS = {
    '{"a": }': ("no JSON (expecting value), expected an object", "malformed JSON"),
    '{"a": "x}': ("no JSON (", "malformed JSON"),
    '{"a": "\\x"}': ("no JSON (invalid \\escape), expected an object", "malformed JSON"),
    "[1, 2]": ("an array, expected an object with named fields", "no JSON object"),
    "true": ("true, expected an object with named fields", "no JSON object"),
    "3": ("3, expected an object with named fields", "no JSON object"),
    '{"a": ' + "9" * 5000 + "}": ("no JSON (a number too long), expected", "malformed JSON"),
    '{"a": ' + "[" * 200_000 + "}": ("no JSON (nested too deep), expected", "malformed JSON"),
    '{"a": 1, "b": {}, "a": 1}': (
        "the name 'a' stands twice in an object, expected it once",
        "malformed JSON",
    ),
    '{"b": [{"a": 1, "a": 1}]}': ("the name 'a' stands twice in an object", "malformed JSON"),
    '{"b": NaN}': ("NaN, expected a value that JSON has", "malformed JSON"),
    '{"b": [-Infinity]}': ("-Infinity, expected a value that JSON has", "malformed JSON"),
    '{"a": "' + "x" * LONGEST_RECORD + '"}': (
        "a record of more than 400,000 characters, expected fewer",
        "overlong record",
    ),
}


@pytest.mark.parametrize("bad", BAD_RECORDS, ids=lambda bad: bad[:20])
def test_a_bad_record_is_one_line_or_counted(path: Path, bad: str) -> None:
    problem, reason = BAD_RECORDS[bad]
    before, after = '{"a": 1}', '{"a": 2}'
    in_array = f"[{before},\n{bad}, {before},\n{after}]"
    assert error(path, in_array).startswith("file.jsonl:2: record 2: " + problem)
    kept, skipped = skipping(path, in_array)
    if reason == "no JSON object":
        assert kept == [{"a": 1}, {"a": 1}, {"a": 2}]
        assert skipped == {reason: 1}
    else:
        assert kept == [{"a": 1}]
        assert skipped == {reason + REST: 1}
    in_lines = f"{before}\n{bad}\n{after}\n"
    assert error(path, in_lines).startswith("file.jsonl:2: " + problem)
    assert skipping(path, in_lines) == ([{"a": 1}, {"a": 2}], {reason: 1})


def test_between_and_after_the_records_of_an_array(path: Path) -> None:
    two = [{"a": 1}, {"a": 2}]
    no_comma = '[{"a": 1} {"a": 2}]'
    said = "file.jsonl:1: record 1: '{' after it, expected a comma or a closing bracket"
    assert error(path, no_comma) == said
    assert skipping(path, no_comma) == (two[:1], {"malformed JSON" + REST: 1})
    assert "record 3: no JSON (expecting value)" in error(path, '[{"a": 1}, {"a": 2},]')
    assert skipping(path, '[{"a": 1}, {"a": 2},]') == (two, {"malformed JSON" + REST: 1})
    after = '[{"a": 1}, {"a": 2}]\n{"a": 3}'
    assert error(path, after) == "file.jsonl:2: '{' after the array, expected the end"
    assert skipping(path, after) == (two, {"text after the array": 1})
    unclosed = '[{"a": 1}, {"a": 2}\n'
    assert error(path, unclosed).startswith("file.jsonl:1: record 2: the file ends after it")
    assert skipping(path, unclosed) == (two, {"array cut off" + REST: 1})


def test_files_that_are_neither_array_nor_lines(path: Path) -> None:
    assert error(path, "label,sentence1\n").startswith("file.jsonl:1: the file begins with 'l',")
    assert error(path, "") == "file.jsonl:1: the file is empty, expected text in UTF-8"
    assert error(path, " \n") == "file.jsonl:1: nothing but white space, expected JSON"
    assert error(path, "\n[ ]") == "file.jsonl:2: the array is empty, expected objects"
    assert error(path, "[" * 100_000).startswith("file.jsonl:1: record 1: no JSON (nested too deep")


def test_a_first_line_that_is_none_is_skipped_like_any_other(path: Path) -> None:
    kept, skipped = skipping(path, 'label,sentence1\n{"a": 1}\n')
    assert kept == [{"a": 1}]
    assert skipped == {"malformed JSON": 1}


@pytest.mark.parametrize("opening", ["[", ""])
def test_a_line_of_a_gigabyte_does_not_fill_the_memory(path: Path, opening: str) -> None:
    """Ten megabytes stand for it: far more than what the reader may hold, far less to write."""
    with path.open("w") as stream:
        stream.write(opening + '{"a": "' + "x" * 10_000_000 + '"}')
        stream.write(', {"a": 2}]' if opening else '\n{"a": 2}')
    options = ReadOptions(skip_bad_rows=True)
    tracemalloc.start()
    found = [record.values for record in json_records(CorpusFile(path, "test"), options)]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == ([] if opening else [{"a": 2}])
    assert options.skipped == {"overlong record" + (REST if opening else ""): 1}
    assert most < 5_000_000


@pytest.mark.parametrize("opening", ["[", ""])
def test_what_is_too_long_is_refused_before_its_end_is_read(path: Path, opening: str) -> None:
    """A file with a hole has the size of a gigabyte and takes no room."""
    start = (opening + '{"a": "' + "x" * LONGEST_RECORD).encode()
    with path.open("wb") as stream:
        stream.write(start + b"x" * 200_000)
        stream.truncate(1 << 30)
    with pytest.raises(CorpusError, match=f"a record of more than {LONGEST_RECORD:,} characters"):
        list(json_records(CorpusFile(path, "test"), ReadOptions()))


def test_many_records_do_not_fill_the_memory(path: Path) -> None:
    record = '{"a": "' + "x" * 1000 + '"}'
    path.write_text("[" + ", ".join([record] * 10_000) + "]")
    tracemalloc.start()
    count = sum(1 for _ in json_records(CorpusFile(path, "test"), ReadOptions()))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 10_000
    assert most < 5_000_000
