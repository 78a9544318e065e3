"""The documents: every link goes somewhere, every command line is one, and the first ones run."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from benchmarks.demo_model.picture import PANELS
from coherencegym.__main__ import SUBCOMMANDS, main
from coherencegym.builders.registry import load_suite
from coherencegym.eval.commands import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """What links can name in a page: its headings, as GitHub and the site write them."""
    found = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def command_lines(text: str) -> Iterator[list[str]]:
    """The words of every ``coherencegym SUBCOMMAND ...`` of a page, in its blocks and its lines."""
    blocks = re.findall(r"^```(?:bash|sh)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    for line in [*lines, *re.findall(r"`(coherencegym [^`\n]+)`", FENCE.sub("", text))]:
        words = [word.removeprefix(".venv/bin/") for word in shlex.split(line, comments=True)]
        if "coherencegym" in words and words[0] != "pip" and "..." not in words:
            yield words[words.index("coherencegym") + 1 :]


DOCUMENTED = sorted({(p.name, shlex.join(w)) for p in PAGES for w in command_lines(p.read_text())})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_go_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link}: no such file"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    rooms = "eval|loaders|manipulations|builders|cards|benchmarks|tests|docs"
    for path in re.findall(rf"`((?:{rooms})/[\w./-]+)`", text):
        made = "recipes" in path  # of the examples
        assert made or (ROOT / path).exists(), f"{page.name}: {path}"


def test_a_page_opens_with_a_title_and_what_the_reader_gets() -> None:
    for page in sorted((ROOT / "docs").glob("*.md")):
        title, blank, opening = page.read_text(encoding="utf-8").splitlines()[:3]
        assert title.startswith("# "), page
        assert not blank, page
        assert re.match(r"[\w*]", opening), f"{page}: {opening}"


def test_every_page_is_in_the_site() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"- (?:\w+: )?([\w-]+\.md)$", site, re.MULTILINE))
    assert named == {page.name for page in (ROOT / "docs").glob("*.md")}


def test_the_first_page_is_short_and_names_no_place_of_a_machine() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("\n") <= 110
    for picture in ("ladder.svg", "retrieval.svg"):
        assert "/work/" not in (ROOT / "docs" / picture).read_text(encoding="utf-8")
    for page in PAGES:
        assert not re.search(r"/(work|home|root|tmp)/", page.read_text(encoding="utf-8")), page
        assert not re.search(r"python -m (builders|loaders|eval) ", page.read_text()), page


def test_a_change_is_one_short_line() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) >= 120 or line.startswith(" ")] == []


def drawn() -> list[dict[str, Any]]:
    """The numbers of the picture of the first page: a panel, a size and a number of tokens each."""
    picture = (ROOT / "docs/ladder.svg").read_text(encoding="utf-8")
    (numbers,) = re.findall(r"<dc:description>(.*?)</dc:description>", picture)
    rows: list[dict[str, Any]] = json.loads(unescape(numbers))
    return rows


def test_the_picture_of_the_first_page_is_of_the_suites_as_they_are() -> None:
    # Of another version a picture is drawn anew.
    for panel, suite in {(row["panel"], row["suite"]) for row in drawn()}:
        name, _, version = suite.partition(" ")
        assert (name, version) == (PANELS[panel][0], load_suite(name).version)
    assert {row["panel"] for row in drawn()} == {*PANELS}


def test_the_first_page_says_what_its_picture_shows() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (said,) = (line for line in readme.splitlines() if line.startswith("The picture shows"))
    last = max(row["tokens"] for row in drawn())
    above = {row["panel"] for row in drawn() if row["tokens"] == last and row["ci_low"] > 0.5}
    (named,) = re.findall(r"above chance on ([^.]*)\.", said)
    assert set(re.findall(r"\*(.*?)\*", named)) == above


@pytest.mark.parametrize(("page", "line"), DOCUMENTED, ids=lambda value: str(value))
def test_a_documented_command_line_is_one(page: str, line: str) -> None:
    name, *words = shlex.split(line)
    assert name in SUBCOMMANDS, f"{page}: {line}"
    if words:  # else only its name is said
        own = SUBCOMMANDS[name]
        make = importlib.import_module(own.module).make_parser
        own_name = [name] if own.module == cli.__name__ else []
        make(f"coherencegym {name}", *own_name).parse_args(words)


#: What people read first, as it stands there: on the samples with the demo model.
TOUR = [
    "check demo",
    "build",
    "corpora",
    "build story_cloze --corpus sample",
    "score --model demo --dataset suites/story_cloze",
    "show --item story-0140/distractor_ending --model demo --dataset suites/story_cloze",
    "judge suites/story_cloze -n 100",
    "new suite my_suite",
    "build my_suite.py --corpus sample",
]


def test_the_first_commands_run_and_print_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # As the reader begins: other tests' bits, of other batches, differ in the seventh digit.
    monkeypatch.setenv("COHERENCEGYM_CACHE", str(tmp_path / "cache"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = dict(
        re.findall(r"```bash\ncoherencegym ([^\n]+)\n```\n\n```text\n(.*?)```", readme, re.DOTALL)
    )
    assert set(said) <= set(TOUR)
    assert len(said) == 2
    known = {line for _, line in DOCUMENTED}
    for line in TOUR:
        assert line in known, f"{line}: in no document"
        assert main(shlex.split(line)) == 0, line
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        # The layout may change with the width; a number that nobody printed may not stand there.
        printed = set(re.findall(r"[\w./%-]+", shown.out + shown.err))
        for word in re.findall(r"[\w./%-]*\d[\w./%-]*", said.get(line, "")):
            assert word in printed, f"README.md: {line}: {word}"
    assert (tmp_path / "results/story_cloze--demo/report.html").is_file()
