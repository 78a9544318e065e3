"""Fetching: checked, tried again, and never half."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.file_server import Fault, FileServer, serving

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.fetch import (
    UNFINISHED,
    DownloadSource,
    RemoteFile,
    check_base,
    fetch_source,
)

COMMIT = "a" * 40
BIG = random.Random(1).randbytes(200_000)
CONTENT = {"big.bin": BIG, "folder/small.txt": b"small\n", "folder/with space": b"x" * 5000}


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy that this machine may have."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as site:
        site.files = {f"someone/toy/{COMMIT}/{path}": text for path, text in CONTENT.items()}
        yield site


def source_of(content: dict[str, bytes]) -> DownloadSource:
    files = tuple(
        RemoteFile(path, len(text), hashlib.sha256(text).hexdigest())
        for path, text in sorted(content.items())
    )
    return DownloadSource(
        name="toy",
        title="A toy",
        repository="someone/toy",
        commit=COMMIT,
        licence="MIT",
        licence_note="MIT",
        terms="",
        selection="all",
        use="",
        without_digest=0,
        files=files,
    )


TOY = source_of(CONTENT)
ONE = source_of({"big.bin": BIG})
PATH = f"someone/toy/{COMMIT}/big.bin"


@pytest.fixture
def go(server: FileServer, tmp_path: Path) -> Callable[..., tuple[RemoteFile, ...]]:
    """Fetches a download source from the server; ``slept`` collects the pauses."""

    def run(
        source: DownloadSource = ONE, slept: list[float] | None = None, **more: object
    ) -> tuple[RemoteFile, ...]:
        sleep = (slept if slept is not None else []).append
        settings = {"base": server.url, "sleep": sleep, "timeout": 20.0} | more
        return fetch_source(source, tmp_path / "toy", **settings)  # type: ignore[arg-type]

    return run


def content(folder: Path) -> dict[str, bytes]:
    """All files that are not hidden, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def statuses(server: FileServer) -> list[int]:
    return [asked.status for asked in server.log]


def counting(came: list[int]) -> Callable[[int], object]:
    """Progress that collects the total, then each count."""

    @contextmanager
    def progress(total: int) -> Iterator[Callable[[int], object]]:
        came.append(total)
        yield came.append

    return progress


def test_all_files_come_under_their_paths(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    assert go(TOY) == TOY.files
    assert content(tmp_path / "toy") == CONTENT
    assert not (tmp_path / "toy" / UNFINISHED).exists()
    assert sorted(asked.path for asked in server.log) == sorted(server.files)


def test_a_second_run_asks_for_nothing(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    go(TOY)
    server.log.clear()
    assert go(TOY) == ()
    assert server.log == []
    (tmp_path / "toy/big.bin").unlink()
    assert [file.path for file in go(TOY)] == ["big.bin"]
    assert [asked.path for asked in server.log] == [PATH]


@pytest.mark.parametrize("unannounced", [False, True])
def test_a_cut_connection_is_tried_again(
    unannounced: bool, go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    server.faults[PATH] = [Fault(cut=70_001, unannounced=unannounced), Fault(cut=30_000)]
    slept: list[float] = []
    came: list[int] = []
    go(slept=slept, progress=counting(came))
    assert content(tmp_path / "toy") == {"big.bin": BIG}
    assert slept == [1.0, 2.0]
    assert sum(came[1:]) == came[0] == len(BIG)


def test_a_second_run_goes_on_with_the_files_that_did_not_come(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    server.faults[PATH] = [Fault(cut=1000)] * 5
    slept: list[float] = []
    with pytest.raises(CorpusError, match=r"the connection broke .*run the same command again"):
        go(TOY, slept=slept)
    assert slept == [1.0, 2.0, 4.0, 8.0]
    assert content(tmp_path / "toy").keys() <= CONTENT.keys() - {"big.bin"}
    assert (tmp_path / "toy" / UNFINISHED).exists()
    go(TOY)
    assert content(tmp_path / "toy") == CONTENT
    assert not (tmp_path / "toy" / UNFINISHED).exists()


def test_what_a_killed_run_left_is_written_over(
    go: Callable[..., tuple[RemoteFile, ...]], tmp_path: Path
) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/big.bin.part").write_bytes(b"?" * len(BIG))
    go()
    assert content(tmp_path / "toy") == {"big.bin": BIG}


def test_an_empty_file_comes_too(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    server.files[PATH] = b""
    go(source_of({"big.bin": b""}))
    assert content(tmp_path / "toy") == {"big.bin": b""}


def test_a_wrong_digest_names_both_and_leaves_nothing(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    wrong = b"?" * len(BIG)
    server.files[PATH] = wrong
    with pytest.raises(CorpusError) as caught:
        go()
    message = str(caught.value)
    assert message.startswith(f"{server.url}/{PATH}: other bytes than expected")
    assert hashlib.sha256(wrong).hexdigest() in message
    assert hashlib.sha256(BIG).hexdigest() in message
    assert "run the command again" in message
    assert "\n" not in message
    assert content(tmp_path / "toy") == {}
    server.files[PATH] = BIG
    go()
    assert content(tmp_path / "toy") == {"big.bin": BIG}


def test_more_bytes_than_expected_are_not_written(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    server.files[PATH] = BIG + b"?" * 10_000_000
    came: list[int] = []
    with pytest.raises(CorpusError, match="more bytes than expected: over 200000"):
        go(progress=counting(came))
    assert max(itertools.accumulate(came[1:])) <= len(BIG)
    assert content(tmp_path / "toy") == {}


def test_fewer_bytes_than_expected_are_not_taken_for_the_file(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    server.files[PATH] = BIG[:-1]
    with pytest.raises(
        CorpusError, match="not fetched: the answer ended after 199999 of 200000 bytes"
    ):
        go()
    assert "big.bin" not in content(tmp_path / "toy")


@pytest.mark.parametrize(
    ("status", "message"), [(404, "answered 404, expected 200; is the repo"), (403, "answered 403")]
)
def test_a_refusal_is_one_line_and_not_tried_again(
    status: int,
    message: str,
    go: Callable[..., tuple[RemoteFile, ...]],
    server: FileServer,
    tmp_path: Path,
) -> None:
    server.faults[PATH] = [Fault(status=status)] * 9
    slept: list[float] = []
    with pytest.raises(CorpusError, match=message) as caught:
        go(slept=slept)
    assert str(caught.value).startswith(f"{server.url}/{PATH}: ")
    assert "--mirror" in str(caught.value)
    assert len(server.log) == 1
    assert slept == []
    assert content(tmp_path / "toy") == {}


def test_an_error_of_the_server_is_tried_again(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    server.faults[PATH] = [Fault(cut=1000), Fault(status=500), Fault(status=503)]
    slept: list[float] = []
    go(slept=slept)
    assert slept == [1.0, 2.0, 4.0]
    assert statuses(server) == [200, 500, 503, 200]
    assert content(tmp_path / "toy") == {"big.bin": BIG}


def test_a_silent_server_is_asked_again(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    server.faults[PATH] = [Fault(hang=1000)]
    go(timeout=0.3)
    assert statuses(server) == [200, 200]
    assert content(tmp_path / "toy") == {"big.bin": BIG}


def test_no_server_at_all_is_one_line(go: Callable[..., tuple[RemoteFile, ...]]) -> None:
    with pytest.raises(CorpusError, match=r"not fetched: the connection broke \(ConnectError\)"):
        go(base="http://127.0.0.1:9")


def test_the_first_failure_stops_the_others(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    many = {f"{number:03}": b"x" for number in range(200)}
    server.files = {f"someone/toy/{COMMIT}/{path}": text for path, text in many.items()}
    server.faults[f"someone/toy/{COMMIT}/003"] = [Fault(status=404)]
    with pytest.raises(CorpusError, match="/003: the server answered 404"):
        go(source_of(many))
    assert len(server.log) < 20
    assert "003" not in content(tmp_path / "toy")


@pytest.mark.parametrize("text", [b"mine", b"?" * len(BIG)])
def test_other_content_is_not_replaced(
    text: bytes, go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "big.bin").write_bytes(text)
    mine = hashlib.sha256(text).hexdigest()
    with pytest.raises(CorpusError, match=f"sha256 {mine}, expected {TOY.files[0].sha256}; move"):
        go(TOY)
    assert server.log == []
    assert content(folder) == {"big.bin": text}
    assert not (folder / UNFINISHED).exists()
    (folder / "big.bin").unlink()
    go(TOY)
    assert content(folder) == CONTENT


def test_a_folder_in_place_of_a_file_is_an_error(
    go: Callable[..., tuple[RemoteFile, ...]], tmp_path: Path
) -> None:
    (tmp_path / "toy/big.bin").mkdir(parents=True)
    with pytest.raises(CorpusError, match="no regular file"):
        go()


def test_a_file_in_place_of_a_folder_is_an_error(
    go: Callable[..., tuple[RemoteFile, ...]], tmp_path: Path
) -> None:
    (tmp_path / "toy").write_text("")
    with pytest.raises(CorpusError, match=r"toy: cannot be written \(File exists\)"):
        go()


def test_two_runs_at_once_are_refused(
    go: Callable[..., tuple[RemoteFile, ...]], tmp_path: Path
) -> None:
    from filelock import FileLock

    (tmp_path / "toy").mkdir()
    with (
        FileLock(tmp_path / "toy/.fetch.lock"),
        pytest.raises(CorpusError, match="another run is fetching into this folder"),
    ):
        go()


def test_no_redirect_is_followed(
    go: Callable[..., tuple[RemoteFile, ...]], server: FileServer, tmp_path: Path
) -> None:
    server.files["elsewhere"] = BIG
    server.faults[PATH] = [Fault(status=302, headers={"Location": "/elsewhere"})]
    with pytest.raises(CorpusError, match="the server answered 302, expected 200"):
        go()
    assert len(server.log) == 1
    assert content(tmp_path / "toy") == {}


def test_nothing_secret_is_sent(
    go: Callable[..., tuple[RemoteFile, ...]],
    server: FileServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password netrc-secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HF_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.setenv(name, "environment-secret")
    go(TOY)
    assert len(server.log) == 3
    for asked in server.log:
        assert {name.lower() for name in asked.headers} <= {
            *("host", "accept", "accept-encoding", "connection", "user-agent")
        }
        assert "secret" not in repr(asked)


def test_the_proxy_of_the_environment_is_asked(
    go: Callable[..., tuple[RemoteFile, ...]],
    server: FileServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    go(base="http://source.invalid")
    assert [asked.url for asked in server.log] == [f"http://source.invalid/{PATH}"]
    assert content(tmp_path / "toy") == {"big.bin": BIG}


def test_a_wrong_proxy_is_one_line_without_its_password(
    go: Callable[..., tuple[RemoteFile, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://me:secret@proxy.example")
    with pytest.raises(CorpusError, match="expected the URL of an HTTP proxy") as caught:
        go()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["", "example.org", "ftp://a/b", "http://", "https://a/?b", "a b"])
def test_what_is_no_mirror(url: str) -> None:
    with pytest.raises(CorpusError, match="is no mirror"):
        check_base(url)


def test_a_mirror_holds_no_password() -> None:
    with pytest.raises(CorpusError, match="expected one without") as caught:
        check_base("https://me:secret@example.org")
    assert "secret" not in str(caught.value)
    assert check_base("https://example.org/mirror/") == "https://example.org/mirror"
