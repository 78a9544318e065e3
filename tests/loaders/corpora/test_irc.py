"""Ubuntu's chat logs: threads out of replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.corpora.dialogues import _components
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import Reading, read
from coherencegym.loaders.registry import corpus

LOG = """\
[01:00] <ann> what opens rar files?
=== cy [~cy@example.org]  has joined #ubuntu
[01:01] <bo> ann:  file-roller
[01:01] <dee> is hoary out?
=== bo waves
[01:02] <ann> thanks
[01:02]  * dee shrugs
=== dee is now known as dee_
[01:03] <eve>
[01:03] <[eve]> dee, no
"""


def write(folder: Path, links: str, log: str = LOG, name: str = "2004-11-15_03") -> Path:
    (folder / f"{name}.annotation.txt").write_text(links, encoding="utf-8")
    (folder / f"{name}.raw.txt").write_text(log, encoding="utf-8")
    return folder


def test_threads(tmp_path: Path) -> None:
    folder = write(tmp_path, "0 2 - \n1 1 - \n2 4 - \n3 6 - \n0 5 - \n6 9 - \n7 7 - \n8 9 -\n")
    reading = read(corpus("irc"), data_dir=folder)
    first, second = reading
    assert [(unit.speaker, unit.text) for unit in first.units] == [
        ("ann", "what opens rar files?"),
        ("bo", "ann: file-roller"),
        ("bo", "bo waves"),
        ("ann", "thanks"),
    ]
    assert [(unit.speaker, unit.text) for unit in second.units] == [
        ("dee", "is hoary out?"),
        ("dee", "dee shrugs"),
        ("[eve]", "dee, no"),
    ]
    assert (first.id, second.id) == ("2004-11-15_03/1", "2004-11-15_03/4")
    meta = {"split": "validation", "domain": "chat", "log": "2004-11-15_03"}
    assert first.meta == meta | {"replies": "0-1 1-2 0-3"}
    assert second.meta == meta | {"replies": "0-1 1-2"}
    assert first.units[1].source is not None
    assert (first.units[1].source.file, first.units[1].source.start) == ("2004-11-15_03.raw.txt", 3)
    assert reading.skipped == {}
    assert [file["name"].split(".")[1] for file in reading.files] == ["annotation", "raw"]


def test_a_speaker_has_no_control_characters(tmp_path: Path) -> None:
    log = (
        "[01:00] <\x07ann> who is there?\n[01:01] <\x07> nobody\n[01:02] <bo> me\n[01:03] <cy> me\n"
    )
    (thread,) = read(corpus("irc"), data_dir=write(tmp_path, "0 2 -\n1 1 -\n0 3 -\n", log))
    assert [unit.speaker for unit in thread.units] == ["ann", "bo", "cy"]


def test_short_threads_are_counted_and_what_the_server_says_is_none(tmp_path: Path) -> None:
    reading = read(corpus("irc"), data_dir=write(tmp_path, "0 2 -\n1 1 -\n3 3 -\n1 7 -\n"))
    assert list(reading) == []
    assert reading.skipped == {"a thread of fewer than three messages": 2}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("=== a|b [~a@b]  has left #ubuntu []", None),
        ("=== a is now known as b", None),
        ("=== mode/#ubuntu [+o a]  by b", None),
        ("=== ..[topic/#ubuntu:a] : hello", None),
        ("=== a", None),
        ("[01:00] <a> ", None),
        ("something else", None),
        ("=== a has to go", "a has to go"),
        ("=== a is away: lunch", "a is away: lunch"),
        ("[01:00] <a`> <b> hi", "<b> hi"),
    ],
)
def test_lines(tmp_path: Path, line: str, message: str | None) -> None:
    log = f"{line}\n[01:00] <x> one\n[01:00] <x> two\n[01:00] <x> three\n"
    folder = write(tmp_path, "0 1 -\n1 2 -\n2 3 -\n", log)
    (thread,) = read(corpus("irc"), data_dir=folder)
    assert thread.texts[:-3] == (() if message is None else (message,))


def test_splits_by_folder_and_by_name(tmp_path: Path) -> None:
    for folder, name in (("data/test", "x"), ("data/dev", "y"), ("train", "z")):
        (tmp_path / "1" / folder).mkdir(parents=True)
        write(tmp_path / "1" / folder, "0 2 -\n2 4 -\n", name=name)
    (tmp_path / "2").mkdir()
    for name in ("2005-07-06_14", "2004-11-15_03", "2005-02-08.train-a", "other"):
        write(tmp_path / "2", "0 2 -\n2 4 -\n", name=name)
    for folder in ("1", "2"):
        found = read(corpus("irc"), data_dir=tmp_path / folder)
        assert sorted(d.meta["split"] for d in found) == ["test", "train", "validation"]


def test_a_log_that_is_missing(tmp_path: Path) -> None:
    (write(tmp_path, "0 1 -\n") / "2004-11-15_03.raw.txt").unlink()
    with pytest.raises(CorpusError, match=r"annotation\.txt:1: its log is missing, expected .*raw"):
        list(read(corpus("irc"), data_dir=tmp_path))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20))
def test_components_are_what_can_be_reached(links: list[tuple[int, int]]) -> None:
    components = _components(links)
    numbers = {number for link in links for number in link}
    assert sorted(number for component in components for number in component) == sorted(numbers)
    assert components == sorted(map(sorted, components))
    of = {number: place for place, component in enumerate(components) for number in component}
    assert all(of[one] == of[other] for one, other in links)
    # No two could be one: links never lead out of what is reached from the first of each.
    for component in components:
        reached = {component[0]}
        while more := {n for link in links if reached & {*link} for n in link} - reached:
            reached |= more
        assert reached == {*component}


def test_real_threads(
    real_corpus: Callable[[str], tuple[Reading, list[Discourse]]],
) -> None:
    reading, threads = real_corpus("irc")
    assert len(threads) == 40
    assert reading.skipped == {"a thread of fewer than three messages": 32}
    assert Counter(thread.meta["log"] for thread in threads) == {
        "2004-11-15_03": 13,
        "2005-06-27_12": 13,
        "2005-08-08_01": 14,
    }
    assert sum(len(thread.units) for thread in threads) == 601
    assert sum(len(thread.meta["replies"].split()) for thread in threads) == 588
    first = next(thread for thread in threads if thread.id == "2004-11-15_03/1003")
    assert [unit.speaker for unit in first.units[:3]] == ["yohannes", "Hikaru79", "Hikaru79"]
    for thread in threads:
        lines = [unit.source.start for unit in thread.units if unit.source]
        assert lines == sorted(set(lines))
        assert not any(text.startswith(("===", "[")) for text in thread.texts)
