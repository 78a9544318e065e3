"""The sheet: all of the pairs, nothing that unblinds, no markup of a text's own."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from builders.judgement.draw import DrawnPair, draw
from builders.judgement.questions import QUESTIONS
from builders.judgement.sheet import json_lines, page, turns
from eval.dataset import tables
from eval.source import find

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


def test_texts_stand_in_the_page_as_they_are() -> None:
    shown = Page(page(PAIRS))
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
    assert "[SEP]" not in page(PAIRS)
    assert "Speaker" not in page(PAIRS[:1])


def test_the_page_asks_every_question_of_every_pair_and_needs_nothing_else() -> None:
    shown = Page(page(PAIRS))
    asked = {a["name"] for tag, a in shown.elements if tag == "input" and a["type"] == "radio"}
    assert asked == {f"{pair.id} {field}" for pair in PAIRS for field in QUESTIONS}
    for tag, attributes in shown.elements:
        assert tag not in ("link", "img", "iframe")
        assert not {"src", "href", "action"} & set(attributes)
        assert "checked" not in attributes


def test_lines_hold_the_exact_texts_and_empty_answers() -> None:
    lines = [json.loads(line) for line in json_lines(PAIRS).splitlines()]
    assert [(line["pair"], line["text_a"], line["text_b"]) for line in lines] == [
        (pair.id, pair.text_a, pair.text_b) for pair in PAIRS
    ]
    assert [line["number"] for line in lines] == [1, 2]
    assert {line[field] for line in lines for field in QUESTIONS} == {""}


@pytest.mark.parametrize("suite", ["winograd", "story_cloze", "connectives"])
def test_nothing_names_a_condition_config_or_item(sample_build: Built, suite: str) -> None:
    read = list(tables(find(str(sample_build(suite)))))
    drawn = draw(suite, read, 40, 0).pairs
    texts = "".join(pair.text_a + pair.text_b for pair in drawn)
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
    for shown in (page(drawn), json_lines(drawn)):
        assert not [name for name in telling if name in shown]


def test_a_sheet_is_known_by_its_pairs() -> None:
    def key(pairs: list[DrawnPair]) -> str | None:
        return next(a["data-sheet"] for tag, a in Page(page(pairs)).elements if tag == "form")

    assert key(PAIRS) == key(PAIRS)
    assert key(PAIRS) != key(PAIRS[:1])


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's script with")
def test_the_script_of_the_page_can_be_read(tmp_path: Path) -> None:
    script = page(PAIRS).partition("<script>")[2].partition("</script>")[0]
    (tmp_path / "sheet.js").write_text(script)
    subprocess.run(["node", "--check", "sheet.js"], cwd=tmp_path, check=True)
