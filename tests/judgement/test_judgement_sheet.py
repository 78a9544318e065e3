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
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.browser import Browser, headless
from support.toy import SURE, WHY

from coherencegym.builders.judgement.draw import DrawnPair, draw
from coherencegym.builders.judgement.questions import PAIR, QUESTIONS, fields, questions_of
from coherencegym.builders.judgement.sheet import json_lines, page, turns
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset

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


PAIRS = [
    DrawnPair("0a1b2c3d-0123456789ab", "Ann <b>ran</b> & fell.", 'Ann "fell" </script>{{ x }}.'),
    DrawnPair("0a1b2c3e-0123456789ab", "Hello. [SEP] Hi. [SEP] Bye.", "Hello. Hi."),
]

#: The first is asked two further questions, the second none.
ASKED = [replace(PAIRS[0], questions=(WHY, SURE)), PAIRS[1]]


def test_texts_stand_in_the_page_as_they_are() -> None:
    shown = Page(page(PAIR, PAIRS))
    assert PAIRS[0].text_a in shown.texts
    assert PAIRS[0].text_b in shown.texts
    # The page's own bold letters, and no more.
    assert sum(tag == "script" for tag, _ in shown.elements) == 1


def test_a_change_of_speaker_is_a_new_line_in_both_texts_of_a_pair() -> None:
    assert turns(PAIRS[1]) == [
        ("A", [("Speaker 1:", "Hello."), ("Speaker 2:", "Hi."), ("Speaker 1:", "Bye.")]),
        ("B", [("Speaker 1:", "Hello. Hi.")]),
    ]
    assert turns(PAIRS[0])[0] == ("A", [("", PAIRS[0].text_a)])
    assert "[SEP]" not in page(PAIR, PAIRS)
    assert "Speaker" not in page(PAIR, PAIRS[:1])


def test_the_page_asks_every_question_of_every_pair_and_needs_nothing_else() -> None:
    shown = Page(page(PAIR, PAIRS))
    asked = {a["name"] for tag, a in shown.elements if tag == "input" and a["type"] == "radio"}
    assert asked == {f"{pair.id} {field}" for pair in PAIRS for field in QUESTIONS}
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


@pytest.mark.parametrize("pairs", [PAIRS, ASKED])
def test_nothing_runs_in_the_page_but_its_own_script(pairs: list[DrawnPair]) -> None:
    refuse_unless_closed(page(PAIR, pairs))


def test_lines_hold_the_exact_texts_and_empty_answers() -> None:
    lines = [json.loads(line) for line in json_lines(PAIR, PAIRS).splitlines()]
    assert [(line["pair"], line["text_a"], line["text_b"]) for line in lines] == [
        (pair.id, pair.text_a, pair.text_b) for pair in PAIRS
    ]
    assert [line["number"] for line in lines] == [1, 2]
    assert {line[field] for line in lines for field in QUESTIONS} == {""}
    yes_no = {"yes": "yes", "no": "no"}
    worse = {"a": "A", "b": "B", "cannot tell": "cannot tell"}
    assert [line["answers"] for line in lines] == [
        {"a_grammatical": yes_no, "b_grammatical": yes_no, "less_coherent": worse}
    ] * 2
    (asked, *_) = map(json.loads, json_lines(PAIR, ASKED).splitlines())
    for question in ASKED[0].questions:
        assert asked["answers"][question.name] == dict(question.answers)


def test_a_sheet_without_further_questions_is_pinned() -> None:
    made = [
        hashlib.sha256(text.encode()).hexdigest()
        for text in (page(PAIR, PAIRS), json_lines(PAIR, PAIRS))
    ]
    assert made == PINNED


PINNED = [
    "d1c4afb6004f22cb5d1a5ab3d5679b2677b5f4892c5f2091769da27b65a53301",
    "df90af10013438be7f42befe11a977c645b977ceb28a9781ea4f302444f31e5a",
]


def test_further_questions_stand_after_the_others_of_the_pairs_that_have_them() -> None:
    shown = Page(page(PAIR, ASKED))
    inputs = [a for tag, a in shown.elements if tag == "input"]
    names = list(dict.fromkeys(a["name"] for a in inputs if a["type"] != "text"))
    further = [f"{ASKED[0].id} why", f"{ASKED[0].id} sure"]
    own = [f"{pair.id} {field}" for pair in ASKED for field in QUESTIONS]
    assert names == [*own[:3], *further, *own[3:]]
    assert [(a["type"], a["value"]) for a in inputs if a["name"] in further] == [
        ("checkbox", "odd"),
        ("checkbox", "none"),
        ("radio", "quite"),
        ("radio", "hardly"),
    ]
    assert not any("checked" in a for a in inputs)
    assert shown.texts.count("Why <so>?") == 2  # in the instructions, and of the pair
    assert {"it is odd", "nothing", "not & never"} <= set(shown.texts)
    lines = [json.loads(line) for line in json_lines(PAIR, ASKED).splitlines()]
    assert [list(line) for line in lines] == [list(fields([WHY, SURE])), list(fields())]
    assert (lines[0]["why"], lines[0]["sure"]) == ([], "")


@pytest.mark.parametrize("suite", ["winograd", "story_cloze", "connectives", "intruder_sentences"])
def test_nothing_names_a_condition_config_or_item(sample_build: Built, suite: str) -> None:
    source = find_dataset(str(sample_build(suite)))
    read = list(tables(source))
    drawn = draw(suite, read, 40, 0, questions=questions_of(source.manifest)).drawn
    texts = "".join(pair.text_a + pair.text_b for pair in drawn) + page(PAIR, [])
    telling = {
        name
        for table in read
        for item in table.items
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
    def key(pairs: list[DrawnPair]) -> str | None:
        return next(a["data-sheet"] for tag, a in Page(page(PAIR, pairs)).elements if tag == "form")

    assert key(PAIRS) == key(PAIRS)
    assert key(PAIRS) != key(PAIRS[:1])


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's script with")
def test_the_script_of_the_page_can_be_read(tmp_path: Path) -> None:
    for pairs in (PAIRS, ASKED):
        script = page(PAIR, pairs).partition("<script>")[2].partition("</script>")[0]
        (tmp_path / "sheet.js").write_text(script)
        subprocess.run(["node", "--check", "sheet.js"], cwd=tmp_path, check=True)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    (tmp_path / "sheet.html").write_text(page(PAIR, ASKED), encoding="utf-8")
    with headless(tmp_path / "profile") as opened:
        opened.get((tmp_path / "sheet.html").as_uri())
        yield opened


def test_several_answers_are_ticked_kept_and_saved(browser: Browser) -> None:
    def tick(field: str, value: str) -> None:
        browser.click(f'input[name="{ASKED[0].id} {field}"][value="{value}"]')

    for field, value in (("a_grammatical", "yes"), ("b_grammatical", "no"), ("less_coherent", "b")):
        tick(field, value)
    tick("why", "odd")
    state = "return document.getElementById('state').textContent"
    assert browser.run(state) == "0 of 2 answered"
    tick("sure", "quite")
    assert browser.run(state) == "1 of 2 answered"
    first, second = browser.run("return answers()")
    assert (first["why"], first["sure"], first["less_coherent"]) == (["odd"], "quite", "b")
    assert not {"why", "sure"} & set(second)
    tick("why", "none")  # takes back what it contradicts
    assert browser.run("return answers()")[0]["why"] == ["none"]
    tick("why", "odd")
    assert browser.run("return answers()")[0]["why"] == ["odd"]
    before = browser.run("return answers()")
    # Chromium hands what is kept from the page's process to that of the next page, in its own time.
    for _ in range(50):
        browser.get(browser.run("return location.href"))  # which waits until it is there
        if browser.run("return answers()") == before:
            break
        time.sleep(0.1)
    assert browser.run("return answers()") == before
    tick("why", "odd")
    assert browser.run("return answers()")[0]["why"] == []
    assert browser.log("browser") == []


def press(browser: Browser, *keys: str) -> None:
    for key in keys:
        browser.run(
            "document.body.dispatchEvent(new KeyboardEvent('keydown',"
            "{key: arguments[0], bubbles: true, cancelable: true}))",
            key,
        )


def test_digits_answer_the_marked_question_and_mark_the_next(browser: Browser) -> None:
    marked = "return document.querySelector('.asked').textContent"
    assert "Is A" in browser.run(marked)
    press(browser, "1", "2", "3")
    first = browser.run("return answers()")[0]
    assert [first[field] for field in QUESTIONS] == ["yes", "no", "cannot tell"]
    press(browser, "0")
    assert "less coherent" in browser.run(marked)
    press(browser, "1", "Enter")
    assert browser.run("return answers()")[0]["less_coherent"] == "a"
    assert browser.run("return document.getElementById('progress').value") == 0


def test_the_page_fits_a_phone_and_follows_the_theme() -> None:
    html = page(PAIR, PAIRS)
    assert "@media (max-width: 34rem)" in html
    assert "prefers-color-scheme: dark" in html
