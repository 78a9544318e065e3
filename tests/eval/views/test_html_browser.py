"""The page of results in a real browser, opened as a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.browser import Browser, wait
from support.results import made_item, made_results

from coherencegym.eval.kinds.items import Item
from coherencegym.eval.views.page import page_of, write_html

HOSTILE = "<script>alert(1)</script></script>\u2028<img\u00a0src=x\u00a0onerror=alert(2)>"
RIGHT_TO_LEFT = "שלום\u202eabc 👩\u200d👩\u200d👧 e\u0301"
FORMULA = "(2;%bad%) > (2;%good%)"
#: More than are put on the page at once.
N = 70


def word_bits(word: str) -> float:
    found = re.search(r"\d+", word)
    return float(found.group()) if found else 2.0


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, make_item: Callable[..., Item]) -> str:
    """A page with two configs: 70 items whose margins go down, and one that is hostile."""
    items = [
        make_item(
            {"good": ["The dog", f"was{number} sad."], "bad": ["The dog", "were30 sad."]},
            FORMULA,
            item_id=f"d{number}/x",
            groups=["even" if number % 2 == 0 else "odd"],
        )
        for number in range(N)
    ]
    hostile = make_item(
        {"good": [HOSTILE, RIGHT_TO_LEFT], "bad": ["x", "y99"]},
        FORMULA,
        item_id=f"h/{HOSTILE}",
        groups=[HOSTILE],
        column=RIGHT_TO_LEFT,
    )
    long = make_item({"good": ["a", "b"], "bad": ["a", "c"]}, FORMULA, item_id="long/x")
    folder = tmp_path_factory.mktemp("report")
    tables = {
        "plain": [made_item(item, word_bits) for item in items],
        HOSTILE: [made_item(hostile, word_bits), made_item(long, word_bits, too_long=True)],
    }
    write_html(page_of(made_results(tables, notes=[HOSTILE])), folder / "report.html")
    return (folder / "report.html").as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Browser]:
    """The page, opened anew; after the test nothing was complained of and nothing asked for."""
    browser.get(address)
    yield browser
    assert browser.log("browser") == []
    others = [url for url in browser.requested() if not url.startswith("data:")]
    assert others == [address]


def rows(page: Browser) -> list[str]:
    """The ids of the items that are on the page."""
    found: list[str] = page.run(
        "return [...document.querySelectorAll('.id')].map(n => n.innerText)"
    )
    return found


def count(page: Browser) -> str:
    text: str = page.run("return document.getElementById('count').value")
    return text


def test_items_are_sorted_by_margin(page: Browser) -> None:
    assert rows(page)[:3] == ["d69/x", "d68/x", "d67/x"]
    page.choose("order", "highest margin first")
    assert rows(page)[0].startswith("h/<script>")
    assert rows(page)[1:3] == ["d0/x", "d1/x"]
    page.choose("order", "closest to zero first")
    assert rows(page)[0] == "d30/x"
    page.choose("order", "as in the dataset")
    assert rows(page)[:2] == ["d0/x", "d1/x"]
    margins = page.run("return [...document.querySelectorAll('.margin')].map(n => n.innerText)")
    assert margins[:2] == ["+15.000 bits", "+14.500 bits"]


def test_filters_leave_what_they_say(page: Browser) -> None:
    assert count(page).startswith("72 of 72 predictions")
    page.choose("table", "plain")
    assert count(page).startswith("70 of 72")
    page.choose("group", "odd")
    assert count(page).startswith("35 of 72")
    assert all(int(name[1:-2]) % 2 for name in rows(page))
    page.choose("state", "met")
    assert sorted(rows(page)) == sorted(f"d{n}/x" for n in range(1, 30, 2))
    page.type("input[name=text]", "WAS7")
    wait(page, "document.querySelectorAll('.id').length === 1")
    assert rows(page) == ["d7/x"]
    page.click("button[type=reset]")
    wait(page, "document.getElementById('count').value.startsWith('72 of 72')")
    page.choose("state", "tie")
    assert rows(page) == ["d30/x"]
    page.choose("state", "undefined")
    assert rows(page) == ["long/x"]
    text = page.run("return document.querySelector('#list li').innerText")
    assert "too long for the model's context" in text
    assert "no margin" in text


def test_more_items_come_when_they_are_asked_for(page: Browser) -> None:
    seen = len(rows(page))
    assert 0 < seen <= 60
    page.type("#more", "\n")  # as the keyboard presses a button
    wait(page, f"document.querySelectorAll('.id').length === {2 * seen}")
    page.click("#more")
    wait(page, "document.querySelectorAll('.id').length === 72")
    assert page.run("return document.getElementById('more').hidden")


def test_a_row_of_scores_leads_to_its_items(page: Browser) -> None:
    page.click("button.find[data-group='odd']")
    wait(page, "document.getElementById('count').value.startsWith('35 of 72')")
    assert page.run("return document.activeElement.name") == "order"


def test_what_is_hostile_is_shown_as_text(page: Browser) -> None:
    page.type("input[name=text]", "alert(1)")
    wait(page, "document.querySelectorAll('.id').length === 1")
    found = page.run(
        """const one = document.querySelector('#list li');
        return {
          id: one.querySelector('.id').textContent,
          text: one.querySelector('dd').textContent,
          about: one.querySelector('.about').textContent,
          note: document.querySelector('#notes li').textContent,
          marked: [...one.querySelectorAll('.control')].map((n) => n.dataset.code),
          direction: getComputedStyle(one.querySelectorAll('dd')[0]).unicodeBidi,
          scripts: document.scripts.length,
          images: document.images.length,
        }"""
    )
    assert found["id"] == f"h/{HOSTILE}"
    assert found["text"] == f"{HOSTILE} {RIGHT_TO_LEFT}"
    assert HOSTILE in found["about"]
    assert found["note"] == HOSTILE
    assert found["marked"] == ["U+2028", "U+202E"]
    assert found["direction"] == "isolate"
    assert (found["scripts"], found["images"]) == (2, 0)


def test_tokens_show_their_bits(page: Browser) -> None:
    page.choose("order", "as in the dataset")
    tokens: list[Any] = page.run(
        """return [...document.querySelectorAll('#list li:nth-child(21) div:first-child .t')].map(
          (n) => [n.textContent, n.style.getPropertyValue('--shade'),
                  getComputedStyle(n).backgroundColor !== 'rgba(0, 0, 0, 0)'])"""
    )
    assert tokens == [[" was20", "0.800", True], [" sad.", "0.100", True]]
    regions = page.run(
        "return [...document.querySelectorAll('#list li:first-child div:first-child dd .region')]"
        ".map((n) => [n.dataset.region, n.className, n.textContent])"
    )
    assert regions == [["1", "region", "The dog"], ["2", "region read", " was0 sad."]]
    assert page.run("return document.querySelector('.t').title") == "0.00 bits, region 2"


def test_the_example_leads_to_its_item(page: Browser) -> None:
    page.click("figcaption button.find")
    wait(page, "document.querySelectorAll('.id').length === 1")
    assert rows(page) == ["d0/x"]
    assert count(page) == "1 of 72 predictions, those of d0/x"
    page.choose("order", "closest to zero first")
    assert count(page).startswith("70 of 72")


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_wider_than_the_page(page: Browser, width: int) -> None:
    page.resize(width)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
