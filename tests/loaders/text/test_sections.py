"""Headings and paragraphs of Markdown, of marked-up text, and of rows with sections."""

from __future__ import annotations

from typing import Any

import pytest

from coherencegym.loaders.corpus import ReadOptions
from coherencegym.loaders.discourse import SourceSpan
from coherencegym.loaders.formats.lines import RecordError
from coherencegym.loaders.text.articles import Origin, Shape, first_column
from coherencegym.loaders.text.sections import (
    SECTION_COLUMNS,
    marked_blocks,
    section_blocks,
    section_row_discourse,
)

MARKDOWN = """---
author: nobody
---
# Rain

It *rained* in [Kiel](http://x). We
stayed.

## Causes

- an item

> a quotation

```
code
```

| a | b |
|---|---|
| 1 | 2 |

Clouds. <b>Wind</b>.

Deeper
------

![an image](x.png)

End.
"""


def blocks(text: str) -> list[tuple[str, int]]:
    return [(str(block), level) for block, level in marked_blocks(text)]


def test_markdown_has_headings_and_prose() -> None:
    assert blocks(MARKDOWN) == [
        ("Rain", 1),
        ("It rained in Kiel. We stayed.", 0),
        ("Causes", 2),
        ("Clouds. Wind.", 0),
        ("Deeper", 2),
        ("End.", 0),
    ]


def test_headings_of_a_wiki_are_known() -> None:
    text = "Opening.\n\n== History ==\nOld. 1 == 1 holds.\n\n=== War ===\nNew."
    assert blocks(text) == [
        *(("Opening.", 0), ("History", 2), ("Old. 1 == 1 holds.", 0)),
        *(("War", 3), ("New.", 0)),
    ]


def test_rows_have_sections_in_many_forms() -> None:
    value: list[dict[str, Any]] = [
        {"title": "", "text": "One. Two.\n\nThree."},
        {
            "heading": "A",
            "level": None,
            "paragraphs": [["Four.", "Five."], "Six."],
            "has_parts": [{"name": "B", "text": "Seven."}],
        },
        {"title": "C", "level": 5, "sentences": None},
    ]
    assert list(section_blocks(value)) == [
        *(("One. Two.", 0), ("Three.", 0), ("A", 2), (["Four.", "Five."], 0), ("Six.", 0)),
        *(("B", 3), ("Seven.", 0), ("C", 5)),
    ]
    by_column = {name: [row.get(name) for row in value] for name in ("title", "text")}
    assert [block for block, _ in section_blocks(by_column)] == ["One. Two.", "Three.", "C"]


def read(row: dict[str, Any]) -> Any:
    column = first_column(row, SECTION_COLUMNS)
    origin = Origin("gum", "train-000007", SourceSpan("data", 7, 7), "train")
    return section_row_discourse(row, column, origin, ReadOptions(), Shape())


def test_a_row_becomes_a_discourse() -> None:
    sections = [{"text": "One. Two."}, {"title": "A", "text": "Three."}]
    found = read({"name": "Rain", "sections": sections})
    assert found.texts == ("One.", "Two.", "A", "Three.")
    assert found.id == "train-000007"
    assert found.meta == {
        "split": "train",
        "sections": "2:2",
        "paragraphs": "0 2 3",
        "title": "Rain",
    }
    assert read({"sections": [{"title": "A"}]}) is None
    assert read({"text": "## A\n\nB c."}).meta["sections"] == "0:2"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"body": "x"}, "no column 'sections' or 'text' or 'article' or 'content'; the columns ar"),
        ({"text": 3}, "text has '3', expected text or a list of sections"),
        (
            {"sections": [{"text": [3]}]},
            "sections has '3', expected paragraphs as text or as sentences",
        ),
        ({"text": "a \ud800 b"}, "half of a surrogate"),
    ],
)
def test_a_bad_row_is_named(row: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        read(row)
