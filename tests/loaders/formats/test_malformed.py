"""What is wrong with a file, layout by layout: what is said, where, and what is skipped.

Each damage (:mod:`support.damages` has the table) is one line: an error with file, line and exit
code 2, or, under ``--skip-bad-rows``, a count of its reason, with the other discourse of the file
still read. XML that is not well-formed cannot be read on, and neither can a table without its
columns: that stays an error.
"""

from __future__ import annotations

import io
import os
import socket
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import IO, Any

import pytest
from support.damages import DAMAGES, PUT_RIGHT
from support.native_files import LAYOUTS

from coherencegym.builders.command.cli import run_suite
from coherencegym.builders.registry import load_suite
from coherencegym.errors import one_line
from coherencegym.loaders.cli import main
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.read import Reading, read
from coherencegym.loaders.registry import CORPORA

#: Layouts whose main file is a raw text beside others.
RAW = ("gum relations", "pdtb", "tedmdb")
#: Layouts whose main file is read line by line, or element by element.
PARSED = [layout for layout in LAYOUTS if layout not in RAW]
CASES = [(layout, name) for layout, damages in DAMAGES.items() for name in damages]
#: Corpora whose files say their encoding themselves.
XML = ("arrau", "parcor")
KNOWN = [(layout, name) for layout, damages in PUT_RIGHT.items() for name in damages]


def told(reading: Reading, folder: Path) -> tuple[list[str], str]:
    """The ids of what a reading yields, and the message that ends it, without the folder."""
    ids = []
    try:
        for discourse in reading:
            ids.append(discourse.id)
    except CorpusError as error:
        return ids, str(error).removeprefix(f"{folder}/")
    return ids, ""


def check(
    folder: Path,
    corpus: str,
    said: str,
    skipped: str,
    kept: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Read what is in the folder strictly, on the command line, and without its bad rows."""
    reading = read(CORPORA[corpus], data_dir=folder)
    before, message = told(reading, folder)
    assert message.startswith(said)
    assert len(message.splitlines()) == 1
    if not before and corpus in CORPORA:  # `show` reads the first discourse, and here it is bad
        assert main(["show", corpus, "--data-dir", str(folder)]) == 2
        out, err = capsys.readouterr()
        assert (out, err) == ("", f"coherencegym corpora: {one_line(f'{folder}/{message}')}\n")
    reading = read(CORPORA[corpus], data_dir=folder, skip_bad_rows=True)
    ids, message = told(reading, folder)
    if skipped:
        assert (ids, message) == (kept, "")
        assert reading.skipped == Counter(skipped.split(" + "))
    else:
        assert message.startswith(said)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def undamaged(folder: Path, layout: str) -> list[str]:
    """Write the files of a layout; the ids of the two discourses in them."""
    LAYOUTS[layout].write(folder)
    ids, message = told(read(CORPORA[LAYOUTS[layout].corpus], data_dir=folder), folder)
    assert (len(ids), message) == (2, "")
    return ids


@pytest.mark.parametrize(("layout", "name"), CASES)
def test_damage(folder: Path, layout: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    damage, ids = DAMAGES[layout][name], undamaged(folder, layout)
    file = damage.file or LAYOUTS[layout].main
    text = (folder / file).read_text(encoding="utf-8")
    assert damage.old in text
    damaged = text.replace(damage.old, damage.new, 1).encode("utf-8", "surrogateescape")
    (folder / file).write_bytes(damaged)
    kept = [ids[number] for number in damage.kept]
    corpus = LAYOUTS[layout].corpus
    check(folder, corpus, f"{file}:{damage.said}", damage.skipped, kept, capsys)


@pytest.mark.parametrize(("layout", "name"), KNOWN)
def test_what_releases_have_wrong_is_put_right(folder: Path, layout: str, name: str) -> None:
    """Without a flag, and counted: what is read is what the undamaged file gives."""
    fault, corpus = PUT_RIGHT[layout][name], CORPORA[LAYOUTS[layout].corpus]
    undamaged(folder, layout)
    before = list(read(corpus, data_dir=folder))
    text = (folder / fault.file).read_text(encoding="utf-8")
    assert fault.old in text
    (folder / fault.file).write_text(text.replace(fault.old, fault.new, 1), encoding="utf-8")
    reading = read(corpus, data_dir=folder)
    assert list(reading) == before
    assert reading.skipped == {fault.skipped: 1}


@pytest.mark.parametrize("layout", PARSED)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "1: the file is empty, expected "),
        ("\ufeff".encode(), ""),
        ("\ufeff \n".encode(), ""),
        (bytes(range(1, 256)), "1: "),
        ("a".encode("utf-16"), "1: "),
    ],
    ids=["empty", "mark", "blank", "binary", "UTF-16"],
)
def test_a_file_of_another_kind(
    folder: Path,
    layout: str,
    content: bytes,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    undamaged(folder, layout)
    file, corpus = LAYOUTS[layout].main, LAYOUTS[layout].corpus
    (folder / file).write_bytes(content)
    before, message = told(read(CORPORA[corpus], data_dir=folder), folder)
    assert before == []
    assert message.startswith(f"{file}:{said}")
    assert ", expected " in message or "; expected " in message
    assert "UTF-16" in message or content[:2] != b"\xff\xfe" or corpus in XML
    assert len(message.splitlines()) == 1
    assert main(["show", corpus, "--data-dir", str(folder)]) == 2
    assert capsys.readouterr().err == f"coherencegym corpora: {one_line(f'{folder}/{message}')}\n"
    reading = read(CORPORA[corpus], data_dir=folder, skip_bad_rows=True)
    ids, message = told(reading, folder)
    assert message.startswith(file) or reading.skipped.total() > 0
    assert len(ids) == ("_words" in file or file.endswith("/a.txt"))  # the other document


@pytest.mark.parametrize("layout", PARSED)
def test_a_folder_where_a_file_is_expected(
    folder: Path, layout: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder is no file of the corpus; with nothing else there, none is found."""
    file, corpus = LAYOUTS[layout].main, LAYOUTS[layout].corpus
    (folder / file).mkdir(parents=True)
    assert main(["show", corpus, "--data-dir", str(folder)]) == 0
    assert "\nfound: null\n" in capsys.readouterr().out
    with pytest.raises(CorpusError, match=f"^{corpus}: no files found; expected "):
        read(CORPORA[corpus], data_dir=folder)


@pytest.mark.parametrize("level", ["coref", "sentence"])
def test_a_folder_where_a_level_is_expected(folder: Path, level: str) -> None:
    undamaged(folder, "arrau")
    (folder / f"Markables/a_{level}_level.xml").unlink()
    (folder / f"Markables/a_{level}_level.xml").mkdir()
    _, message = told(read(CORPORA["arrau"], data_dir=folder), folder)
    assert message.startswith(f"Basedata/a_words.xml:1: there is no a_{level}_level.xml for it")


def forbid(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may read the file; for root, who may read anything, opening it is made to fail."""
    path.chmod(0)
    if os.geteuid() == 0:
        opened = Path.open

        def open_other(self: Path, *arguments: Any) -> IO[Any]:
            if self == path:
                raise PermissionError(13, "Permission denied", str(path))
            stream: IO[Any] = opened(self, *arguments)
            return stream

        monkeypatch.setattr(Path, "open", open_other)


@pytest.mark.parametrize(
    ("layout", "file"),
    [(layout, LAYOUTS[layout].main) for layout in LAYOUTS]
    + [("parcor", f"Markables/a_{level}_level.xml") for level in ("coref", "sentence")],
)
def test_a_file_that_may_not_be_read(
    folder: Path,
    layout: str,
    file: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    undamaged(folder, layout)
    forbid(folder / file, monkeypatch)
    said = f"{file}: cannot be read (Permission denied)"
    check(folder, LAYOUTS[layout].corpus, said, "", [], capsys)


@pytest.mark.parametrize(
    ("closed", "data_dir"), [("", "Basedata"), ("Markables", ""), ("Markables", "Basedata")]
)
def test_a_folder_that_may_not_be_searched(
    folder: Path,
    closed: str,
    data_dir: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    undamaged(folder, "arrau")
    inquired = Path.stat

    def stat_other(self: Path, **arguments: bool) -> os.stat_result:
        if (folder / closed) in self.parents:
            raise PermissionError(13, "Permission denied", str(self))
        return inquired(self, **arguments)

    monkeypatch.setattr(Path, "stat", stat_other)
    assert main(["show", "arrau", "--data-dir", str(folder / data_dir)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(f"coherencegym corpora: {folder}")


#: What is said of a line of a gigabyte, in which the word ``kettle`` never ends.
ENDLESS = {
    "storycloze": "2: a line of more than 1,000,000 characters, expected one row a line",
    "storycloze tabs": "2: a line of more than 1,000,000 characters, expected one row a line",
    "rocstories": "2: a line of more than 1,000,000 characters, expected one row a line",
    "personachat": "2: a field of more than 100,000 characters, expected fewer",
    "winograd xml": "4: <txt1> of line 4 holds more than 100,000 characters, expected less",
    "winograd array": "2: record 1: a record of more than 400,000 characters, expected fewer",
    "winogrande": "1: a record of more than 400,000 characters, expected fewer",
    "gum": "5: a field of more than 100,000 characters, expected fewer",
    "ontonotes": "3: a field of more than 100,000 characters, expected fewer",
    "disco": "2: a line of more than 1,000,000 characters, expected one row a line",
    "decor": "2: a line of more than 1,000,000 characters, expected one row a line",
    "cohesentia": "1: member 1: a record of more than 400,000 characters, expected fewer",
    "disrpt texts": "5: a field of more than 100,000 characters, expected fewer",
    "discoeval": "1: a field of more than 100,000 characters, expected fewer",
    "discoeval coherence": "1: a field of more than 100,000 characters, expected fewer",
    "insted": "1: a record of more than 400,000 characters, expected fewer",
    "insted probes": "1: a record of more than 400,000 characters, expected fewer",
    "irc": "1: a field of more than 100,000 characters, expected fewer",
    "dialoguenli": "2: record 1: a record of more than 400,000 characters, expected fewer",
    "dialoguenli lines": "1: a record of more than 400,000 characters, expected fewer",
    "verifiable conversations": "2: record 1: a record of more than 400,000 characters, expected",
    "verifiable choices": "2: record 1: a record of more than 400,000 characters, expected fewer",
    "documents": "1: a record of more than 400,000 characters, expected fewer",
    "documents texts": "1: a line of more than 100,000 characters, expected fewer",
    "arrau": "5: <word> of line 5 holds more than 100,000 characters, expected less",
    "parcor": "5: <word> of line 5 holds more than 100,000 characters, expected less",
}
#: Layouts of which whole documents are looked for first: the line is passed, and not held.
PASSED = ("gum", "disrpt texts", "ontonotes", "irc")


class CountingFile(io.FileIO):
    """A file that counts the bytes that are read of all such files."""

    count = 0

    def readinto(self, buffer: Any) -> int:
        number = super().readinto(buffer) or 0
        CountingFile.count += number
        return number


@pytest.mark.parametrize("layout", PARSED)
def test_a_line_of_a_gigabyte_is_refused_without_being_read(
    folder: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most of it is a hole in the file, so that it takes no room."""
    undamaged(folder, layout)
    file = folder / LAYOUTS[layout].main
    start, _, _ = file.read_bytes().partition(b"kettle")
    with file.open("wb") as stream:
        stream.write(start + b"kettle" * 200_000)
        stream.truncate(1 << (26 if layout in PASSED else 30))
    monkeypatch.setattr(CountingFile, "count", 0)
    monkeypatch.setattr(Path, "open", lambda path, mode: io.BufferedReader(CountingFile(path)))
    tracemalloc.start()
    reading = read(CORPORA[LAYOUTS[layout].corpus], data_dir=folder)
    _, message = told(reading, folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message.startswith(f"{LAYOUTS[layout].main}:{ENDLESS[layout]}")
    assert peak < 10_000_000
    assert layout in PASSED or 0 < CountingFile.count < 3_000_000


#: Layouts of which nothing can be read after such a line.
ENDED = ("winograd xml", "cohesentia")


@pytest.mark.parametrize("layout", [name for name in PARSED if name not in ENDED])
def test_an_endless_line_is_skipped_and_counted(folder: Path, layout: str) -> None:
    ids = undamaged(folder, layout)
    file = folder / LAYOUTS[layout].main
    file.write_bytes(file.read_bytes().replace(b"kettle", b"kettle" * 2_000_000, 1))
    tracemalloc.start()
    reading = read(CORPORA[LAYOUTS[layout].corpus], data_dir=folder, skip_bad_rows=True)
    kept, message = told(reading, folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (kept, message) == ([] if ": record 1: " in ENDLESS[layout] else ids[1:], "")
    assert reading.skipped.total() == 1
    assert peak < 10_000_000


@pytest.mark.parametrize("layout", RAW)
@pytest.mark.parametrize("size", [None, 0, 1 << 30])
def test_a_raw_text_that_is_missing_empty_or_endless(
    folder: Path, layout: str, size: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a raw text, which is read at once, so much is held as the longest may have."""
    ids = undamaged(folder, layout)
    file = LAYOUTS[layout].main
    (folder / file).unlink()
    if size is not None:
        with (folder / file).open("wb") as stream:
            stream.truncate(size)
    tracemalloc.start()
    _, message = told(read(CORPORA[LAYOUTS[layout].corpus], data_dir=folder), folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000
    assert "raw" in message
    skipped = "malformed document"
    if layout == "gum relations":  # the document is good without them
        skipped, kept = "relations without their raw text", ids
    else:
        kept = ids[1:]
    check(folder, LAYOUTS[layout].corpus, message, skipped, kept, capsys)


@pytest.mark.parametrize("layout", ["gum", "arrau", "parcor"])
def test_a_chain_with_one_mention_is_no_error(folder: Path, layout: str) -> None:
    """GUM, ARRAU and ParCorFull annotate such mentions; OntoNotes does not (see the table)."""
    undamaged(folder, layout)
    if layout == "gum":
        file = folder / LAYOUTS[layout].main
        text = file.read_text().replace("(1-object-giv", "(7-object-new")
    else:
        file = folder / "Markables/a_coref_level.xml"
        text = file.read_text().replace('set_1"/>', 'set_7"/>', 1)
    file.write_text(text)
    first, _ = read(CORPORA[LAYOUTS[layout].corpus], data_dir=folder)
    chains = [mention.chain for mention in first.mentions]
    assert len(set(chains)) == len(chains) == 2


@pytest.mark.parametrize(
    ("layout", "file"),
    [("winograd xml", "WSCollection.xml")]
    + [("parcor", name) for name in LAYOUTS["parcor"].files if "a_" in name],
)
def test_a_dtd_is_never_fetched(folder: Path, layout: str, file: str) -> None:
    """Neither one that a server would give, nor one that lies in place and would spoil the file."""
    ids = undamaged(folder, layout)
    text = (folder / file).read_text()
    root = "collection" if "WSC" in file else "words" if "words" in file else "markables"
    _, _, rest = text.partition(f"<{root}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x.dtd"
        (folder / file).with_name("x.dtd").write_text("<!ENTITY broken")
        for dtd in (f"SYSTEM '{address}'", f"PUBLIC 'x' '{address}'", "SYSTEM 'x.dtd'"):
            (folder / file).write_text(f"<?xml version='1.0'?><!DOCTYPE {root} {dtd}><{root}{rest}")
            reading = read(CORPORA[LAYOUTS[layout].corpus], data_dir=folder)
            assert told(reading, folder) == (ids, "")
        with pytest.raises(TimeoutError):
            server.accept()


def build(suite: str, *arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        run_suite(load_suite(suite), [str(argument) for argument in arguments])
    code = stopped.value.code
    assert isinstance(code, int)
    return code


@pytest.mark.parametrize(
    ("suite", "layout", "name"),
    [
        ("story_cloze", "storycloze", "duplicate id"),
        ("story_cloze", "storycloze", "not UTF-8"),
        ("sentence_order", "personachat", "one utterance"),
        ("winograd", "winograd xml", "unknown answer"),
        ("winograd", "winograd array", "array never closed"),
        ("speaker_commitment", "dialoguenli", "duplicate id"),
    ],
)
def test_a_build_says_the_same_and_leaves_nothing_behind(
    folder: Path, suite: str, layout: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    undamaged(folder, layout)
    damage = DAMAGES[layout][name]
    file = folder / LAYOUTS[layout].main
    text = file.read_text(encoding="utf-8").replace(damage.old, damage.new, 1)
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    output = folder.parent / "out"
    arguments = ("--corpus", LAYOUTS[layout].corpus, "--data-dir", folder, "--output", output)
    assert build(suite, *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"coherencegym build {suite}: {file}:{damage.said}")
    assert error.count("\n") == 1
    assert not output.exists()
    assert build(suite, *arguments, "--skip-bad-rows") == 0
    assert damage.skipped in (output / "manifest.json").read_text()
