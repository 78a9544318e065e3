"""Texts of anybody's are read in every format and none is obeyed: a renderer of Markdown judges."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from coherencegym.escapes import (
    fenced,
    in_line,
    latex_text,
    markdown_code,
    markdown_text,
    templates_of,
)
from coherencegym.eval.report.formats import csv_text
from coherencegym.eval.report.grid import GridRow, made, markdown

#: What a published card obeyed: raw HTML, a cell's end, the card's own mark, a terminal's signs.
NASTY = "<b>x</b> | <!-- end of scores --> &lt; `*_~#[a](b)\\ \x1b[31m\u202e\n|---|"
TEXTS = st.text() | st.text(alphabet="a *_`[]|<>#~$&;!-\\\n\x1b\u202e", max_size=12)


class Shown(HTMLParser):
    """The tags of a page, and the text of each element that has one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data


def rendered(text: str) -> Shown:
    """Markdown as GitHub has it, raw HTML and all."""
    return Shown(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))


def shown(text: str) -> str:
    """A text as a reader should see it, in one line."""
    return in_line(text).strip()


@example([NASTY, NASTY])
@given(st.lists(TEXTS, min_size=2, max_size=3))
def test_a_table_of_markdown_has_its_texts_in_headers_and_cells(texts: list[str]) -> None:
    first, *names = texts
    table = made(first, names, [GridRow(tuple(reversed(texts)), links={0: "a b/<c>.json"})])
    found = rendered("\n".join(markdown(table)))
    assert sorted(set(found.tags)) == ["a", "table", "tbody", "td", "th", "thead", "tr"]
    cells = [
        text.strip()
        for tag, text in zip(found.tags, found.texts, strict=True)
        if tag in ("th", "a") or (tag == "td" and text.strip())
    ]
    whole = [shown(text) for text in (*texts, *reversed(texts))]
    place = len(texts)  # of the cell with a link, which is there even if it is empty
    assert cells == [text for n, text in enumerate(whole) if text or n <= place]


@pytest.mark.parametrize("text", [NASTY, "- a", "+ a", "12. a", "# a", "> a", "$x$", "a\r\nb"])
def test_a_text_of_markdown_is_a_paragraph(text: str) -> None:
    found = rendered(markdown_text(text))
    assert found.tags == ["p"]
    assert found.texts[0].strip() == shown(text)
    assert rendered(markdown_code(text)).texts[-1].strip() == shown(text)
    assert rendered(fenced(text)).tags == ["pre", "code"]


def test_other_formats_show_what_would_be_obeyed() -> None:
    assert latex_text(r"a_b & \c{$\x1b" + "\x1b\n%") == (
        r"a\_b \& \textbackslash{}c\{\$\textbackslash{}x1b\textbackslash{}u001b \%"
    )
    row = next(csv.DictReader(io.StringIO(csv_text([{"name": "a\x1b\u202e\n\tb,", "n": 1}]))))
    assert row == {"name": "a\\u001b\\u202e\n\tb,", "n": "1"}
    page = templates_of("eval.views", autoescape=True).from_string("<p>{{ text }}</p>")
    assert page.render(text="<a>\x1b\u202e\n") == "<p>&lt;a&gt;\\u001b\\u202e\n</p>"
