"""Reading a corpus: laziness, limits, provenance, duplicate ids."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coherencegym.loaders.corpora.stories import STORYCLOZE
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.read import Reading, ReadingCache, read


def read_words(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """One discourse a line; its id is the line, and a line ``bad`` is bad."""
    for number, line in enumerate(file.path.read_text().splitlines(), 1):
        if line == "bad":
            options.bad(f"{file.path}:{number}: bad, expected a word", "bad word")
            continue
        unit = Unit(line, source=SourceSpan(file.path.name, number, number))
        yield Discourse(line, corpus.name, (unit,), meta={"split": file.split})


@pytest.fixture
def words(tmp_path: Path) -> Corpus:
    (tmp_path / "train.txt").write_text("a\nb\nc\n")
    (tmp_path / "train2.txt").write_text("d\n")
    (tmp_path / "test.txt").write_text("e\nf\n")
    return replace(
        STORYCLOZE,
        name="words",
        reader=read_words,
        folder=tmp_path,
        patterns=(FilePattern("train*.txt", "train"), FilePattern("test.txt", "test")),
    )


def ids(reading: Reading) -> str:
    return "".join(discourse.id for discourse in reading)


def test_files_and_discourses_come_in_order_and_twice(words: Corpus) -> None:
    reading = read(words)
    assert ids(reading) == "abcdef"
    assert ids(reading) == "abcdef"


def test_a_cached_corpus_is_read_once_while_its_files_are_the_same(
    words: Corpus, tmp_path: Path
) -> None:
    opened = []

    def reader(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
        opened.append(file.path.name)
        return read_words(corpus, file, options)

    words = replace(words, reader=reader)
    (tmp_path / "test.txt").write_text("e\nbad\nf\n")
    cache = ReadingCache()
    for _ in range(2):
        reading = read(words, skip_bad_rows=True, cache=cache)
        assert ids(reading) == "abcdef"
        assert reading.skipped == {"bad word": 1}
    assert opened == ["train.txt", "train2.txt", "test.txt"]
    assert ids(read(words, splits=["train"], cache=cache)) == "abcd"
    assert ids(read(words, limit=1, cache=cache)) == "ae"
    with pytest.raises(CorpusError, match="expected a word"):
        ids(read(words, cache=cache))
    (tmp_path / "test.txt").write_text("g\n")
    assert ids(read(words, skip_bad_rows=True, cache=cache)) == "abcdg"
    number = len(opened)
    small = ReadingCache(most=3)
    for _ in range(2):
        assert ids(read(words, cache=small)) == "abcdg"
    assert len(opened) == number + 6


def test_splits_choose(words: Corpus) -> None:
    assert ids(read(words, splits=["test"])) == "ef"


def test_the_limit_holds_for_each_split(words: Corpus) -> None:
    assert ids(read(words, limit=1)) == "ae"
    assert ids(read(words, limit=4)) == "abcdef"
    assert ids(read(words, limit=0)) == ""


def test_the_limit_holds_for_each_use(words: Corpus) -> None:
    """Files of one kind do not keep those of another from being read."""
    first, last = (lambda d: d.id in "abc"), (lambda d: d.id in "de")
    assert ids(read(words, limit=1, uses=[first])) == "a"
    assert ids(read(words, limit=1, uses=[first, last])) == "ade"
    assert ids(read(words, limit=2, uses=[first, last])) == "abde"
    assert ids(read(words, uses=[first])) == "abcdef"


def test_reading_is_lazy(words: Corpus, tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("bad\n")
    assert ids(read(words, splits=["train"])) == "abcd"
    first = next(iter(read(words)))
    assert first.id == "a"
    (tmp_path / "train2.txt").write_text("bad\n")
    assert ids(read(words, splits=["train"], limit=3)) == "abc"


def test_provenance(words: Corpus, tmp_path: Path) -> None:
    content = (tmp_path / "test.txt").read_bytes()
    assert read(words, splits=["test"], limit=1).files == (
        {"name": "test.txt", "sha256": hashlib.sha256(content).hexdigest()},
    )


def test_parts_are_hashed_instead_of_the_folder(words: Corpus, tmp_path: Path) -> None:
    parts = (tmp_path / "train.txt", tmp_path / "test.txt")
    known = replace(words, files=(CorpusFile(tmp_path, "test", parts),))
    assert [file["name"] for file in read(known).files] == ["train.txt", "test.txt"]


def test_duplicate_ids_name_both_places(words: Corpus, tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("e\nb\ng\n")
    with pytest.raises(CorpusError) as caught:
        list(read(words))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'test.txt'}:2: id 'b'")
    assert f"{tmp_path / 'train.txt'}:2" in message
    reading = read(words, skip_bad_rows=True)
    assert ids(reading) == "abcdeg"
    assert reading.skipped == {"duplicate id": 1}


def test_bad_rows_are_counted_anew_each_time(words: Corpus, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("a\nbad\nbad\n")
    with pytest.raises(CorpusError, match=r"train\.txt:2: bad, expected a word"):
        list(read(words))
    reading = read(words, skip_bad_rows=True)
    assert ids(reading) == "adef"
    assert ids(reading) == "adef"
    assert reading.skipped == {"bad word": 2}


def test_a_file_that_cannot_be_opened_is_a_corpus_error(words: Corpus, tmp_path: Path) -> None:
    reading = read(words)
    (tmp_path / "train.txt").unlink()
    with pytest.raises(CorpusError, match=r"train\.txt: cannot be read"):
        list(reading)
    with pytest.raises(CorpusError, match=r"train\.txt: cannot be read"):
        _ = reading.files


def test_a_corpus_is_imported_when_it_is_asked_for() -> None:
    code = (
        "import sys; from coherencegym.loaders.registry import CORPORA; list(CORPORA); "
        "CORPORA['gum']; print(*(name for name in ('gum', 'irc', 'pdtb') "
        "if f'coherencegym.loaders.corpora.{name}' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "gum\n"
