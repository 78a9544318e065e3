"""The sheet: all of the pairs, nothing that unblinds, no markup of a text's own."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.browser import Browser, headless

from coherencegym.builders.judgement.questions import (
    Asked,
    Question,
    draw,
    json_lines,
    page,
)
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.items import ITEMS

Built = Callable[[str], Path]


class Page(HTMLParser):
    """The texts of a page, and the attributes of its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


PAIR = "pair"
WORSE = Question("Which <one>?", {"a": "A", "b": "B", "cannot tell": "not & never"})


def pair(identifier: str, text_a: str, text_b: str) -> Asked:
    return Asked(identifier, WORSE, (("A", (text_a,)), ("B", (text_b,))), ("a",))


PAIRS = [
    pair("0a1b2c3d01234567", "Ann <b>ran</b> & fell.", 'Ann "fell" </script>{{ x }}.'),
    pair("0a1b2c3e01234567", "Hello.", "Hi."),
]


def test_texts_stand_in_the_page_as_they_are() -> None:
    shown = Page(page(PAIR, PAIRS))
    assert {text for _, (text,) in PAIRS[0].texts} <= set(shown.texts)
    assert {"Which <one>?", "not & never"} <= set(shown.texts)
    # The page's own bold letters, and no more.
    assert sum(tag == "script" for tag, _ in shown.elements) == 1


def test_the_page_asks_every_question_of_every_pair_and_needs_nothing_else() -> None:
    shown = Page(page(PAIR, PAIRS))
    asked = {a["name"] for tag, a in shown.elements if tag == "input" and a["type"] == "radio"}
    assert asked == {f"{pair.id} answer" for pair in PAIRS}
    for tag, attributes in shown.elements:
        assert tag not in ("link", "img", "iframe")
        assert not {"src", "href", "action"} & set(attributes)
        assert "checked" not in attributes


def refuse_unless_closed(html: str) -> None:
    """A page under a policy by which what is in it runs, and nothing is fetched."""
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', html)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", html, re.DOTALL)
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.search(r"<[^>]*\s(on\w+|style)=", html)


def test_nothing_runs_in_the_page_but_its_own_script() -> None:
    refuse_unless_closed(page(PAIR, PAIRS))


def test_lines_hold_the_exact_texts_and_empty_answers() -> None:
    lines = [json.loads(line) for line in json_lines(PAIR, PAIRS).splitlines()]
    assert lines[1] == {
        "pair": PAIRS[1].id,
        "number": 2,
        "text_a": "Hello.",
        "text_b": "Hi.",
        "question": WORSE.text,
        "answers": WORSE.answers,
        "answer": "",
        "annotator": "",
        "comment": "",
    }
    assert lines[0]["text_b"] == 'Ann "fell" </script>{{ x }}.'


@pytest.mark.parametrize("suite", ["winograd", "story_cloze", "connectives", "intruder_sentences"])
def test_nothing_names_a_condition_config_or_item(sample_build: Built, suite: str) -> None:
    source = find_dataset(str(sample_build(suite)))
    read = list(table_rows(source, kind=ITEMS))
    drawn = draw(suite, read, 40, 0).asked
    texts = "".join(line for one in drawn for _, lines in one.texts for line in lines)
    texts += page(PAIR, [])
    telling = {
        name
        for table in read
        for item in table.each()
        for name in (
            suite,
            table.config,
            item.item_id,
            item.discourse_id,
            *(c.condition_name for c in item.conditions),
        )
        # A connective is a word of the texts, and of these pages.
        if name not in texts and len(name) > 4
    }
    assert telling
    for shown in (page(PAIR, drawn), json_lines(PAIR, drawn)):
        assert not [name for name in telling if name in shown]


def test_a_sheet_is_known_by_its_pairs() -> None:
    def key(pairs: list[Asked]) -> str | None:
        return next(a["data-sheet"] for tag, a in Page(page(PAIR, pairs)).elements if tag == "form")

    assert key(PAIRS) == key(PAIRS)
    assert key(PAIRS) != key(PAIRS[:1])


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's script with")
def test_the_script_of_the_page_can_be_read(tmp_path: Path) -> None:
    script = page(PAIR, PAIRS).partition("<script>")[2].partition("</script>")[0]
    (tmp_path / "sheet.js").write_text(script)
    subprocess.run(["node", "--check", "sheet.js"], cwd=tmp_path, check=True)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    (tmp_path / "sheet.html").write_text(page(PAIR, PAIRS), encoding="utf-8")
    with headless(tmp_path / "profile") as opened:
        opened.get((tmp_path / "sheet.html").as_uri())
        yield opened


def test_answers_are_kept_and_saved(browser: Browser) -> None:
    browser.click(f'input[name="{PAIRS[0].id} answer"][value="b"]')
    state = "return document.getElementById('state').textContent"
    assert browser.run(state) == "1 of 2 answered"
    before = browser.run("return answers()")
    assert [line["answer"] for line in before] == ["b", ""]
    # Chromium hands what is kept from the page's process to that of the next page, in its own time.
    for _ in range(50):
        browser.get(browser.run("return location.href"))  # which waits until it is there
        if browser.run("return answers()") == before:
            break
        time.sleep(0.1)
    assert browser.run("return answers()") == before
    assert browser.log("browser") == []


def press(browser: Browser, *keys: str) -> None:
    for key in keys:
        browser.run(
            "document.body.dispatchEvent(new KeyboardEvent('keydown',"
            "{key: arguments[0], bubbles: true, cancelable: true}))",
            key,
        )


def test_digits_answer_the_marked_question_and_mark_the_next(browser: Browser) -> None:
    given = "return answers().map(line => line.answer)"
    press(browser, "1", "3")
    assert browser.run(given) == ["a", "cannot tell"]
    press(browser, "0", "2")
    assert browser.run(given) == ["b", "cannot tell"]
    assert browser.run("return document.getElementById('progress').value") == 2


def test_the_page_fits_a_phone_and_follows_the_theme() -> None:
    html = page(PAIR, PAIRS)
    assert "@media (max-width: 34rem)" in html
    assert "prefers-color-scheme: dark" in html
