"""Where files are looked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from coherencegym.loaders.corpus import (
    Corpus,
    CorpusError,
    CorpusFile,
    CorpusNotFoundError,
    FilePattern,
    ReadOptions,
)
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import find, places


def nothing(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    yield from ()


def toy(*patterns: FilePattern, one_file_per_split: bool = False) -> Corpus:
    return Corpus(
        name="toy",
        title="Toy",
        homepage="",
        citation="",
        licence="MIT",
        obtain="ask the author",
        patterns=patterns or (FilePattern("*test*.csv", "test"), FilePattern("*val*.csv", "dev")),
        reader=nothing,
        one_file_per_split=one_file_per_split,
    )


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    return path


def test_the_places_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COHERENCEGYM_DATA", str(tmp_path / "variable"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    sought = places(toy(), tmp_path)
    assert sought[:3] == (tmp_path / "toy", tmp_path, tmp_path / "variable" / "toy")
    assert sought[3].parts[-2:] == ("coherencegym", "toy")
    assert len(sought) == 4


def test_the_first_place_with_a_file_is_the_only_one_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERENCEGYM_DATA", str(tmp_path / "variable"))
    last = touch(tmp_path / "variable" / "toy" / "a_test.csv")
    assert [file.path for file in find(toy()).files] == [last]
    here = touch(tmp_path / "dir" / "test.csv")
    assert [file.path for file in find(toy(), tmp_path / "dir").files] == [here]
    inner = touch(tmp_path / "dir" / "toy" / "b_test.csv")
    assert [file.path for file in find(toy(), tmp_path / "dir").files] == [inner]


def test_names_match_whatever_their_case_and_come_sorted_by_pattern_then_name(
    tmp_path: Path,
) -> None:
    for name in ("b_VAL.csv", "z_Test.CSV", "a_test.csv", "test.txt", "._a_test.csv", ".test.csv"):
        touch(tmp_path / name)
    found = find(toy(), tmp_path)
    assert [(f.path.name, f.split) for f in found.files] == [
        ("a_test.csv", "test"),
        ("z_Test.CSV", "test"),
        ("b_VAL.csv", "dev"),
    ]


def test_a_file_has_the_split_of_the_first_pattern_that_fits(tmp_path: Path) -> None:
    touch(tmp_path / "val_test.csv")
    assert [file.split for file in find(toy(), tmp_path).files] == ["test"]


def test_a_glob_may_name_a_folder(tmp_path: Path) -> None:
    touch(tmp_path / "gold" / "x.txt")
    touch(tmp_path / "raw" / "x.txt")
    touch(tmp_path / "x.txt")
    found = find(toy(FilePattern("GOLD/*.txt", "test")), tmp_path)
    assert [file.path for file in found.files] == [tmp_path / "gold" / "x.txt"]


def test_pipes_are_not_files(tmp_path: Path) -> None:
    (tmp_path / "gold").mkdir()
    for path in (tmp_path / "test.csv", tmp_path / "gold" / "test.csv"):
        os.mkfifo(path)
    for glob in ("test.csv", "gold/test.csv"):
        with pytest.raises(CorpusNotFoundError):
            find(toy(FilePattern(glob, "test")), tmp_path)


def test_a_glob_without_folder_does_not_reach_into_one(tmp_path: Path) -> None:
    touch(tmp_path / "test.csv" / "other.txt")
    with pytest.raises(CorpusNotFoundError):
        find(toy(), tmp_path)


def test_one_version_of_a_split_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    for name in ("test_b.csv", "test_a.csv", "val_b.csv"):
        touch(tmp_path / name)
    patterns = (
        FilePattern("test_b.csv", "test"),
        FilePattern("test_a.csv", "test"),
        FilePattern("val_a.csv", "dev"),
        FilePattern("val_b.csv", "dev"),
    )
    found = find(toy(*patterns, one_file_per_split=True), tmp_path)
    assert [file.path.name for file in found.files] == ["test_b.csv", "val_b.csv"]


def test_a_split_that_is_not_read_by_default_is_read_when_named_or_alone(tmp_path: Path) -> None:
    corpus = toy(FilePattern("a.csv", "test"), FilePattern("b.csv", "odd", by_default=False))
    touch(tmp_path / "b.csv")
    assert [file.split for file in find(corpus, tmp_path).files] == ["odd"]
    touch(tmp_path / "a.csv")
    assert [file.split for file in find(corpus, tmp_path).files] == ["test"]
    assert [file.split for file in find(corpus, tmp_path, ["odd"]).files] == ["odd"]


def test_nothing_found_says_what_was_expected_where_and_how_to_get_it(tmp_path: Path) -> None:
    corpus = toy(FilePattern("*test*.csv", "test", "toy test.csv"), FilePattern("v*.csv", "dev"))
    with pytest.raises(CorpusNotFoundError) as caught:
        find(corpus, tmp_path)
    message = str(caught.value)
    assert "'toy test.csv' or 'v*.csv'" in message
    for place in places(corpus, tmp_path):
        assert str(place) in message
    assert "ask the author" in message
    assert "\n" not in message


def test_a_split_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    touch(tmp_path / "val.csv")
    with pytest.raises(CorpusNotFoundError, match=r"split dev only, expected '\*test\*.csv'"):
        find(toy(), tmp_path, ["test"])


def test_an_unknown_split_and_a_missing_data_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no split 'tset'; its splits are test, dev"):
        find(toy(), tmp_path, ["tset"])
    with pytest.raises(CorpusError, match="no such folder"):
        find(toy(), tmp_path / "nowhere")
