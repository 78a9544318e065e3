"""A leaderboard in a real browser, opened as files: sorted, filtered, clicked, by keyboard."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.browser import Browser, wait

from coherencegym.eval.data.notes import caution
from coherencegym.eval.data.source import SuiteUse, SuiteWords
from coherencegym.eval.results.run_table import sorted_table
from coherencegym.eval.results.runs import ModelFacts, Run, TableFacts
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.views.leaderboard.site import write_leaderboard
from coherencegym.eval.views.overview import overview, write_overview

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e"
#: Scores of each model by suite; None: no run.
SCORES: dict[str, dict[str, float | None]] = {
    "org/alpha": {"cloze": 0.9, "order": 0.55, "spans": 0.4},
    "org/beta-10b": {"cloze": 0.6, "order": 0.8, "spans": None},
    "org/beta-9b": {"cloze": 0.4, "order": 0.7, "spans": 0.7},
    HOSTILE: {"cloze": 0.5, "order": None, "spans": None},
}


def a_run(model: str, suite: str, score: float) -> Run:
    """A run whose interval is 0.1 wide on either side, beside baselines of 0.6 and 0.5."""
    about: dict[str, Any] = {"ci_low": score - 0.1, "ci_high": min(1, score + 0.1)}
    about |= {"score": score, "n": 40, "partial_input_score": 0.6, "lexical_overlap_score": 0.5}
    head = Headline(over=("c", "d"), n_cells=2, **about)
    rows = [Score(config=c, split="test", group="", level="all", **about) for c in ("c", "d")]
    return Run(
        model=model,
        commit=f"sha256:{model}",
        suite=suite,
        version="1.0.0",
        tables=tuple(TableFacts(config, "test", "ab", 20) for config in "cd"),
        scores=rows,
        signature=f"model:{model}|data:{suite}",
        data=f"data/{suite}",
        headline=head,
        notes=[caution(f"a caution {HOSTILE}")],
        task="spans" if suite == "spans" else "score",
        facts=ModelFacts(parameters=10**7, dtype="float32"),
        words=SuiteWords(
            title=f"The suite {suite}",
            hypothesis=HOSTILE,
            citation=f"@misc{{{suite}, note = {{{HOSTILE}}}}}",
            conditions={"a": "b"},
            limitations=("a `limit`",),
            uses=(SuiteUse("c", "what c asks", "what it cannot tell"),),
        ),
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A leaderboard of four models, two columns of one suite, and a task of its own."""
    folder = tmp_path_factory.mktemp("leaderboard")
    runs = [
        a_run(model, suite, score)
        for model, scores in SCORES.items()
        for suite, score in scores.items()
        if score is not None
    ]
    first = runs[0]
    others = tuple(replace(table, items=n) for table, n in zip(first.tables, (4, 3), strict=True))
    runs.append(replace(first, signature="another run", tables=others))
    write_leaderboard(sorted_table(runs), folder, "A leaderboard", ["made of nothing"], 0)
    return folder


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Browser]:
    """The first page, opened anew; after the test nothing was complained of and nothing fetched."""
    browser.resize(1400)
    browser.get((site / "index.html").as_uri())
    yield browser
    assert browser.log("browser") == []
    root = site.as_uri()
    others = [url for url in browser.requested() if not url.startswith(("data:", root))]
    assert others == []


MODELS = """return [...document.querySelectorAll('.models tr')].filter((row) => !row.hidden)
  .map((row) => row.dataset.name)"""
COLUMNS = """return [...document.querySelector('table.leaderboard').tHead.rows[0].cells].slice(1)
  .filter((cell) => !cell.hidden).map((cell) => cell.querySelector('a').innerText)"""
COUNT = "return document.getElementById('count').value"
SORTED = """return [...document.querySelectorAll('[aria-sort]:not([aria-sort=none])')]
  .map((head) => [head.dataset.column, head.getAttribute('aria-sort')])"""
FOCUSED = (
    "return document.activeElement.closest('th')?.dataset.column ?? document.activeElement.tagName"
)


def order(page: Browser) -> list[str]:
    found: list[str] = page.run(MODELS)
    return [name[:10] for name in found]


def test_models_stand_best_first_and_what_differs_in_its_own_column(page: Browser) -> None:
    assert page.run(COUNT) == "4 of 4 models, 4 of 4 columns"
    assert page.run(COLUMNS) == ["cloze", "cloze", "order", "spans"]
    said = page.run("return [...document.querySelectorAll('.differs')].map((n) => n.innerText)")
    assert sorted(said) == ["items 40", "items 7"]
    assert page.run("return document.images.length") == 0


def test_the_table_is_copied_as_it_is_printed(page: Browser) -> None:
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    found = {}
    for number, name in enumerate(("LaTeX", "CSV", "BibTeX"), 1):
        page.click(f".copies button:nth-of-type({number})")
        wait(page, f"document.querySelector('.copies output').value === '{name} copied'")
        found[name] = page.run("return window.copied")
    assert r"script\textgreater{}\textless{}img src=x" in found["LaTeX"]
    rows = list(csv.DictReader(io.StringIO(found["CSV"])))
    assert {row["model"] for row in rows} == {Path(name).name for name in SCORES}
    assert {row["score"] for row in rows if row["model"] == "alpha"} == {"0.9", "0.55", "0.4"}
    assert found["BibTeX"].split("\n\n")[0] == f"@misc{{cloze, note = {{{HOSTILE}}}}}"
    assert found["BibTeX"].count("@misc") == 3
    assert page.run("return document.images.length") == 0


def column(page: Browser, suite: str, number: int = 0) -> str:
    """The number of a column of a suite."""
    found: list[str] = page.run(
        "return [...document.querySelectorAll(`th[data-suite=${arguments[0]}]`)]"
        ".map((head) => head.dataset.column)",
        suite,
    )
    return found[number]


def test_a_head_sorts_the_best_first_then_the_other_way_and_empty_cells_last(page: Browser) -> None:
    at = column(page, "order")
    head = f"th[data-column='{at}'] button.sort"
    page.click(head)
    assert order(page)[:3] == ["beta-10b", "beta-9b", "alpha"]
    assert page.run(SORTED) == [[at, "descending"]]
    assert page.run("return location.hash") == f"#order={at}"
    page.click(head)
    assert order(page)[:3] == ["alpha", "beta-9b", "beta-10b"]
    assert order(page)[3].startswith("script>")
    assert page.run(SORTED) == [[at, "ascending"]]
    page.click("th[data-column=name] button.sort")
    assert order(page)[:3] == ["alpha", "beta-9b", "beta-10b"]  # 9 before 10
    page.click("button[type=reset]")
    wait(page, "location.hash === ''")
    assert page.run(SORTED) == []


def test_keys_do_what_the_mouse_does(page: Browser) -> None:
    at = column(page, "order")
    page.type(f"th[data-column='{at}'] button.sort", "\ue007")  # Enter
    assert page.run(SORTED) == [[at, "descending"]]
    assert page.run(FOCUSED) == at
    page.type(f"th[data-column='{at}'] button.sort", " ")
    assert page.run(SORTED) == [[at, "ascending"]]
    # The first stop of the keyboard leads past the filters.
    page.run("location.reload()")
    page.type("body", "\ue004")  # Tab
    assert page.run("return document.activeElement.className") == "skip"
    page.type("a.skip", "\ue007")
    assert page.run("return document.activeElement.id") == "scores"


def test_filters_leave_what_they_say(page: Browser) -> None:
    page.type("input[name=text]", "beta cloze")
    wait(page, "document.getElementById('count').value === '2 of 4 models, 1 of 4 columns'")
    assert page.run(COLUMNS) == ["cloze"]
    page.click("button[type=reset]")
    wait(page, "document.getElementById('count').value.startsWith('4 of 4')")
    page.choose("suite", "order")
    assert sorted(order(page)) == ["alpha", "beta-10b", "beta-9b"]
    page.choose("suite", "all")
    page.choose("task", "spans")
    assert page.run(COLUMNS) == ["spans"]
    assert len(order(page)) == 2
    page.choose("task", "all")
    page.click("input[name=above]")
    # Above chance and the baseline of 60 % with the whole interval: 0.9 and 0.8.
    assert sorted(order(page)) == ["alpha", "beta-10b"]
    assert sorted(page.run(COLUMNS)) == ["cloze", "cloze", "order"]
    assert (
        page.run("return document.querySelectorAll('.models tr:not([hidden]) td.above').length")
        == 3
    )
    page.type("input[name=text]", "nobody")
    wait(page, "!document.getElementById('nothing').hidden")
    assert page.run(COUNT) == "0 of 4 models, 0 of 4 columns"


def test_the_address_holds_filters_and_order(page: Browser, site: Path) -> None:
    at = column(page, "order")
    page.get("about:blank")
    page.get((site / "index.html").as_uri() + f"#q=beta&suite=order&order={at}&turned=1")
    assert order(page) == ["beta-9b", "beta-10b"]
    assert page.run("return document.querySelector('select[name=suite]').value") == "order"
    page.run("location.hash = '#above=1'")
    wait(page, "document.getElementById('count').value.startsWith('2 of 4')")


def test_the_signature_of_a_number_is_one_click_away(page: Browser) -> None:
    cell = ".models tr[data-name=alpha] td.above button.number"
    page.click(cell)
    shown = "document.querySelector(':popover-open')"
    text = page.run(f"return {shown}.innerText")
    assert "signature, from which the number can be reproduced" in text.lower()
    assert "model:org/alpha|data:cloze" in text or "another run" in text
    assert "a caution </script>" in text
    assert "partial input\n60.0 %" in text
    assert page.run(f"return {shown}.querySelectorAll('img').length") == 0
    page.type("body", "\ue00c")  # Escape
    assert page.run(f"return {shown}") is None
    page.type(cell, "\ue007")
    page.click(":popover-open button.close")
    assert page.run(f"return {shown}") is None


def test_pages_lead_to_each_other(page: Browser) -> None:
    page.click(".models tr[data-name=alpha] th a")
    assert page.run("return document.querySelector('h1').innerText") == "alpha"
    assert page.run("return document.querySelectorAll('td.plot circle').length") >= 4
    page.click("td button.number")
    page.click(":popover-open a[href*='suites/']")
    assert page.run("return document.querySelector('h1').innerText").startswith("The suite")
    text = page.run("return document.querySelector('main').innerText")
    assert "what c asks" in text
    assert "what it cannot tell" in text
    assert "a limit" in text
    assert page.run("return document.querySelector('.hypothesis').innerText") == HOSTILE
    page.click(".trail a")
    assert page.run("return document.querySelector('h1').innerText") == "A leaderboard"


@pytest.mark.parametrize("models", [["org/alpha"], list(SCORES)])
def test_an_overview_is_the_first_page_alone(
    page: Browser, tmp_path: Path, models: list[str]
) -> None:
    """It leads to the reports of its runs, and to no page of a model or a suite."""
    runs = [
        replace(a_run(model, suite, score), folder=str(tmp_path / f"{suite}--{number}"))
        for number, model in enumerate(models)
        for suite, score in SCORES[model].items()
        if score is not None
    ]
    write_overview(overview(runs), tmp_path)
    for width in (400, 1400):
        page.resize(width)
        page.get((tmp_path / "index.html").as_uri())
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")
        links = page.run("return [...document.links].map((one) => one.getAttribute('href'))")
        assert sorted(set(links) - {"#scores"}) == sorted(
            f"{Path(run.folder).name}/report.html" for run in runs
        )
        assert page.run("return document.getElementById('filters').hidden") == (len(models) == 1)
        # Of one model, and on a telephone, each number stands beside its suite and what it is over.
        is_shown = page.run("return document.querySelector('td .label').offsetWidth > 0")
        assert is_shown == (len(models) == 1 or width == 400)
    text = page.run("return document.querySelector('td .label').innerText")
    assert "40 items · chance 50.0 % · partial input 60.0 % · lexical overlap 50.0 %" in text
    page.click("td button.number")
    assert page.run("return document.querySelectorAll(':popover-open a').length") == 0
    assert page.run("return document.images.length") == 0
    page.get("about:blank")
    page.requested()


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_wider_than_the_page(page: Browser, site: Path, width: int) -> None:
    page.resize(width)
    for path in sorted(site.rglob("*.html")):
        page.get(path.as_uri())
        fits = page.run("return document.documentElement.scrollWidth <= innerWidth")
        assert fits, path.relative_to(site)


def test_a_telephone_shows_every_number_with_its_suite(page: Browser) -> None:
    page.resize(400)
    boxes = page.run(
        """return [...document.querySelectorAll('.models tr:first-child td:not(.silent)')].map(
          (cell) => [cell.querySelector('.label').innerText, cell.querySelector('button').innerText,
                     cell.getBoundingClientRect().right <= innerWidth])"""
    )
    assert boxes
    assert all(label and number and fits for label, number, fits in boxes)


_CONTRAST = """
  const seen = (text) => {
    const c = text.match(/[\\d.]+/g).slice(0, 3)
      .map((v) => v / 255).map((v) => (v <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  };
  const own = seen(getComputedStyle(document.querySelector(arguments[0])).color);
  const paper = seen(getComputedStyle(document.body).backgroundColor);
  return (Math.max(own, paper) + 0.05) / (Math.min(own, paper) + 0.05);"""


def test_both_lights_have_a_contrast_that_can_be_read(page: Browser, site: Path) -> None:
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        page.get((site / "index.html").as_uri())
        for selector in (
            "h1",
            ".leaderboard button.number",
            ".leaderboard small",
            ".above button.number",
        ):
            assert page.run(_CONTRAST, selector) >= 4.5, (scheme, selector)
    page.prefer("light")
