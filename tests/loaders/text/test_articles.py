"""The opening section of an article, or its beginning without the dateline."""

from __future__ import annotations

import contextlib
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.corpus import ReadOptions
from coherencegym.loaders.text.articles import (
    DroppedError,
    Shape,
    document,
    excerpt,
    heading,
    without_dateline,
)
from coherencegym.loaders.text.detokenize import detokenize
from coherencegym.loaders.text.prose import badly_split
from coherencegym.loaders.text.sentences import sentence_spans

OPENING = "Skarra is an island. It is small.\n\nNobody lives there."
ARTICLE = f"{OPENING}\n\nHistory \n\nMonks came. They left."


@pytest.mark.parametrize(
    "rest",
    [
        "\n\nHistory\n\nMonks came.",
        "\n\nHistory \nMiddle Ages\n\nMonks came.",
        "\n== History ==\nMonks came.",
        "\n\n== History ==\n\nMonks came.",
        "\n## History\nMonks came.",
        "\r\n\r\nHistory\r\n\r\nMonks came.",
        " \n \nSee also\n\nOrkney\nShetland",
    ],
)
def test_the_opening_section_ends_at_the_first_heading(rest: str) -> None:
    assert excerpt(OPENING + rest) == ("", OPENING, True)


@pytest.mark.parametrize("title", ["Skarra", "= Skarra =", "# Skarra"])
def test_a_heading_at_the_beginning_is_the_title(title: str) -> None:
    assert excerpt(f"{title}\n\n{ARTICLE}") == ("Skarra", OPENING, True)
    assert excerpt(f"{title}\n\n{OPENING}") == ("Skarra", OPENING, False)


def test_without_headings_the_first_sentences_are_taken() -> None:
    assert excerpt(OPENING) == ("", OPENING, False)


def test_headings_of_a_story_are_left_out() -> None:
    story = "ATLANTA (CNN) -- A dog ran. It barked.\n\nMore dogs\n\nThey ran too."
    assert excerpt(story)[1:] == ("A dog ran. It barked.\n\nThey ran too.", False)


def test_the_highlights_of_a_story_are_cut_off() -> None:
    story = "A dog ran.\n\nIt barked.\n\n@highlight\n\nDog runs.\n\n@highlight\n\nIt barks."
    assert excerpt(story)[1:] == ("A dog ran.\n\nIt barked.", False)


@pytest.mark.parametrize(
    "dateline",
    [
        "(CNN) -- ",
        "(CNN)",
        "(CNN) ",
        "(CNN Student News) -- ",
        "ATLANTA, Georgia (CNN) -- ",
        "NEW YORK (CNNMoney) -- ",
        "St. John's, Newfoundland (AP) — ",
        "LONDON, England (Reuters) -- ",
        "Washington (CNN)",
        "PARIS -- ",
        "PARIS, France – ",
        "(The Hollywood Reporter) -- ",
    ],
)
def test_datelines(dateline: str) -> None:
    assert without_dateline(f"{dateline}The dog ran. It barked.") == "The dog ran. It barked."


@pytest.mark.parametrize(
    "text",
    [
        "The dog (a poodle) ran. It barked.",
        "Skarra (Gaelic: Sgarra) -- an island -- is small.",
        "A dog -- a big one -- ran.",
        "The CNN reporter ran.",
        "NATO said so.",
        "",
    ],
)
def test_what_is_no_dateline(text: str) -> None:
    assert without_dateline(text) == text


def test_what_is_a_heading() -> None:
    assert heading("Early life") == "Early life"
    assert heading("History\nMiddle Ages") == "Middle Ages"
    assert heading("=== Early life ===") == "Early life"
    assert heading("It rained.") is None
    assert heading("They are:") is None
    assert heading('He said "no."') is None
    assert heading("one two three four five six seven eight nine ten eleven twelve 13") is None
    assert heading("") is None


@given(st.text(alphabet="Ab.=#\n -()@", max_size=60))
def test_an_excerpt_is_of_the_article(text: str) -> None:
    title, taken, _ = excerpt(text)
    blocks = [block for block in taken.split("\n\n") if block]
    for block in (*blocks, title):
        assert " ".join(block.split()) in " ".join(text.split())


@pytest.mark.parametrize(
    "run", ["(", "!", "“", "([", "(\n", "\n", "\n \n", "= ", "=\t", "# ", "A.", "' "]
)
def test_a_long_run_of_signs_takes_no_long_time(run: str) -> None:
    """What is done grows with the length of a text, and not with its square."""
    document("Ann ran to the inn. " * 5, Shape(), ReadOptions())
    text = run * (200_000 // len(run))
    start = process_time()
    for article in (f"The town was old. {text} It is.", f"= {text}", f"A {text}b."):
        with contextlib.suppress(DroppedError):
            document(article, Shape(), ReadOptions())
    sentence_spans(text)
    detokenize(text)
    badly_split(f"{text}b")
    # Of the processor, of which linear work takes half a second, whatever else is running.
    assert process_time() - start < 20
