"""``coherencegym corpora fetch``."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.file_server import Fault, FileServer, serving

from coherencegym.loaders import fetch
from coherencegym.loaders.cli import main
from coherencegym.loaders.fetch import UNFINISHED, source_names
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import CORPORA

COMMIT = "a" * 40
BIG = random.Random(1).randbytes(300_000)
BASE = f"someone/corpora/{COMMIT}"


@pytest.fixture
def server(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FileServer]:
    """A mirror, and sources on it: ``open``, ``toy`` (with terms), ``gum`` (the sample of GUM)."""
    sample = (repository / "loaders/corpora/samples/gum/sample_documents.conllu").read_bytes()
    corpora = {
        "open": {"open.bin": BIG, "open.txt": b"open\n"},
        "toy": {"toy.txt": b"toy\n"},
        "gum": {"dep/GUM_sample_documents.conllu": sample, "LICENSE.txt": b"terms\n"},
    }
    folder = tmp_path / "sources"
    folder.mkdir()
    with serving() as site:
        for name, files in corpora.items():
            fields = {
                "title": f"The corpus {name}",
                "repository": "someone/corpora",
                "commit": COMMIT,
                "licence": "MIT" if name == "open" else "none stated",
                "licence_note": "says its card",
                "terms": "" if name == "open" else "do not pass it on",
                "selection": "all of it",
                "use": "less {folder}/open.txt" if name == "open" else "",
                "without_digest": 2 if name == "toy" else 0,
                "files": {
                    path: [len(text), hashlib.sha256(text).hexdigest()]
                    for path, text in files.items()
                },
            }
            (folder / f"{name}.json").write_text(json.dumps(fields))
            site.files |= {f"{BASE}/{path}": text for path, text in files.items()}
        monkeypatch.setattr(fetch, "SOURCES", folder)
        monkeypatch.setattr(fetch, "PAUSES", (0.0,) * 4)
        monkeypatch.setenv("COHERENCEGYM_MIRROR", site.url)
        monkeypatch.setenv("COHERENCEGYM_DATA", str(tmp_path / "data"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield site


def test_after_fetching_loaders_find_and_read_the_corpus(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "gum"]) == 0
    said = "`coherencegym corpora fetch gum`, or get https"
    assert said in capsys.readouterr().out
    assert main(["fetch", "gum", "--accept"]) == 0
    captured = capsys.readouterr()
    place = tmp_path / "data/gum"
    assert captured.err == ""
    assert "  licence:  none stated: says its card\n  terms:    do not pass it on\n" in captured.out
    assert captured.out.splitlines()[-2].startswith("gum: 2 files, ")
    assert captured.out.endswith(
        f" in {place}: 2 fetched ({len_text(server)})\n  to see it: coherencegym corpora show gum\n"
    )
    assert main([]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert ["gum", str(place)] in [row[:2] for row in rows]
    assert len(list(read(CORPORA["gum"]))) == 44


def len_text(server: FileServer) -> str:
    count = sum(len(text) for path, text in server.files.items() if "open" not in path) - 4
    return f"{count / 1e3:.1f} kB"


def test_what_is_not_found_says_how_to_fetch_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from coherencegym.loaders.corpus import CorpusNotFoundError
    from coherencegym.loaders.read import find

    with pytest.raises(
        CorpusNotFoundError, match="to get the files: `coherencegym corpora fetch gum"
    ):
        find(CORPORA["gum"])
    with pytest.raises(CorpusNotFoundError) as caught:
        find(CORPORA["storycloze"])
    assert "fetch" not in str(caught.value)


def test_without_a_name_it_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["name", "files", "bytes", "licence", "terms"]
    assert [line[0] for line in lines[1:]] == list(source_names())
    assert ["winograd", "1", "113238", "CC-BY-4.0", "none"] in lines
    assert ["insted", "25", "2327096", "none stated", "--accept"] in lines


def test_the_list_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["fetch"]) == 0
    out = capsys.readouterr().out
    assert "┃" in out
    assert "113.2 kB" in out


def test_terms_come_before_anything_is_asked_for(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", "open", "toy"]) == 2
    captured = capsys.readouterr()
    assert "do not pass it on" in captured.out
    assert "left out: 2 larger files" in captured.out
    assert captured.err == (
        "coherencegym corpora: toy: nothing was fetched: read the terms above, and pass --accept "
        "if you accept them\n"
    )
    assert server.log == []
    assert not (tmp_path / "data").exists()


def test_a_second_run_does_nothing_and_says_so(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "elsewhere"
    arguments = ["fetch", "open", "--data-dir", str(place), "--mirror", server.url + "/"]
    assert main(arguments) == 0
    server.log.clear()
    capsys.readouterr()
    assert main(arguments) == 0
    assert capsys.readouterr().out.endswith(
        f"open: 2 files, 300.0 kB in {place}/open: 0 fetched (0 bytes)\n"
        f"  to use it: less {place}/open/open.txt\n"
    )
    assert server.log == []


def test_half_a_corpus_is_not_read(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files[f"{BASE}/dep/GUM_second_document.conllu"] = b"second"
    path = fetch.SOURCES / "gum.json"
    fields = json.loads(path.read_text())
    fields["files"]["dep/GUM_second_document.conllu"] = [6, hashlib.sha256(b"second").hexdigest()]
    path.write_text(json.dumps(fields))
    server.faults[f"{BASE}/dep/GUM_second_document.conllu"] = [Fault(status=503)] * 5
    arguments = ["fetch", "gum", "--accept"]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        f"coherencegym corpora: {server.url}/{BASE}/dep/GUM_second_document.conllu: not fetch"
    )
    assert error.count("\n") == 1
    place = tmp_path / "data/gum"
    assert (place / "dep/GUM_sample_documents.conllu").is_file()
    assert main(["show", "gum"]) == 0
    assert f"{place}  <- fetching was cut off" in capsys.readouterr().out
    with pytest.raises(Exception, match=f"{place} has a part of the files only"):
        next(iter(read(CORPORA["gum"])))
    (place / UNFINISHED).unlink()  # what the message says can be done
    assert len(list(read(CORPORA["gum"]))) == 44
    server.faults.clear()
    assert main(arguments) == 0
    assert not (place / UNFINISHED).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fetch", "personachat"], "personachat: cannot be fetched, no public copy of it is pinn"),
        (["fetch", "sample"], "they are part of this package"),
        (["fetch", "winogrd"], "did you mean 'winograd'?"),
        (["fetch", "winograd", "--mirror", "example.org"], "'example.org' is no mirror"),
    ],
)
def test_what_cannot_be_fetched_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("coherencegym corpora: ")
    assert error.count("\n") == 1


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fetch", "--help"])
    assert "coherencegym corpora fetch gum --accept" in capsys.readouterr().out


def test_a_bar_on_a_terminal_and_silence_in_a_pipe(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.run(
        command(server, tmp_path), cwd=tmp_path, env=environment(), capture_output=True, check=True
    )
    assert done.stderr == b""
    (tmp_path / "data/open/open.bin").unlink()
    forced = environment() | {"TTY_COMPATIBLE": "1", "FORCE_COLOR": "1", "TERM": "xterm"}
    done = subprocess.run(
        command(server, tmp_path), cwd=tmp_path, env=forced, capture_output=True, check=True
    )
    assert "300.0/300.0 kB" in done.stderr.decode()
    assert b"\x1b" not in done.stdout


def command(server: FileServer, tmp_path: Path) -> list[str]:
    """Fetches ``open`` in a process of its own, from the sources of the test."""
    code = (
        "import sys; from pathlib import Path; from coherencegym.loaders import cli\n"
        "from coherencegym.loaders import fetch\n"
        f"fetch.SOURCES = Path({str(fetch.SOURCES)!r})\n"
        f"sys.exit(cli.main(['fetch', 'open', '--mirror', {server.url!r}]))"
    )
    return [sys.executable, "-c", code]


def environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[3] / "src")
    return {**os.environ, "PYTHONPATH": root}


@pytest.mark.parametrize(
    ("kill", "code", "came"), [(signal.SIGINT, 130, 123_456), (signal.SIGKILL, -9, 100)]
)
def test_killed_in_the_middle_then_completed(
    kill: signal.Signals, code: int, came: int, server: FileServer, tmp_path: Path
) -> None:
    server.faults[f"{BASE}/open.bin"] = [Fault(hang=came)]
    running = subprocess.Popen(
        command(server, tmp_path),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    folder = tmp_path / "data/open"
    part = folder / "open.bin.part"
    assert server.hanging.wait(30)
    for _ in range(1000):
        if part.exists() and (folder / "open.txt").exists():
            break
        time.sleep(0.01)
    running.send_signal(kill)
    _, error = running.communicate(timeout=20)
    assert running.returncode == code
    if kill == signal.SIGINT:
        assert error == "coherencegym corpora: stopped; the same command goes on from here\n"
    assert not (folder / "open.bin").exists()
    server.log.clear()
    assert main(["fetch", "open"]) == 0
    assert [asked.path for asked in server.log] == [f"{BASE}/open.bin"]
    assert (folder / "open.bin").read_bytes() == BIG
    assert not part.exists()


def test_the_real_winograd_comes_from_a_mirror_of_it(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERENCEGYM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    declared = fetch.download_source("winograd")
    real = (shared / "corpora/winograd/WSCollection.xml").read_bytes()
    with serving() as site:
        site.files[f"{declared.repository}/{declared.commit}/raw/WSCollection.xml"] = real
        assert main(["fetch", "winograd", "--mirror", site.url]) == 0
    assert len(list(read(CORPORA["winograd"]))) == 273
