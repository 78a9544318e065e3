"""Marks in texts: moved units by their numbers, and the words in which two texts differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.kinds.items import Item, ItemEdit
from coherencegym.eval.tasks.score.page.items import (
    difference_marks,
    packed,
    segments,
    unit_marks,
    unscored_pieces,
    with_units,
)

UNITS = ("One.", "Two.", "Three.", "Four.", "Five.")
ORDER = [0, 3, 2, 1, 4]


def shuffled(make_item: Callable[..., Item], glue: str = " ") -> Item:
    moved = [UNITS[place] for place in ORDER]
    item = make_item(
        {"original": [glue.join(UNITS)], "shuffled": [glue.join(moved)]},
        "(1;%shuffled%) > (1;%original%)",
        permutation=ORDER,
    )
    edits = tuple(
        ItemEdit(
            "shuffled", "Shuffle", unit, 0, UNITS[unit], UNITS[source], item.discourse_id, source
        )
        for unit, source in enumerate(ORDER)
        if unit != source
    )
    return replace(item, edits=edits)


def shown(item: Item, name: str) -> list[tuple[str, str, str]]:
    parts = segments(item.condition(name).content, unit_marks(item, name))
    return [(one.label, one.kind, one.text) for one in parts if one.text.strip()]


def test_units_have_the_same_number_in_both_texts(make_item: Callable[..., Item]) -> None:
    item = shuffled(make_item)
    assert shown(item, "original") == [
        ("1", "unit", "One."),
        ("2", "moved", "Two."),
        ("3", "unit", "Three."),
        ("4", "moved", "Four."),
        ("5", "unit", "Five."),
    ]
    assert shown(item, "shuffled") == [
        ("1", "unit", "One."),
        ("4", "moved", "Four."),
        ("3", "unit", "Three."),
        ("2", "moved", "Two."),
        ("5", "unit", "Five."),
    ]


def test_changes_of_speaker_are_no_units(make_item: Callable[..., Item]) -> None:
    found = shown(shuffled(make_item, " [SEP] "), "shuffled")
    assert [(label, text) for label, kind, text in found if kind] == [
        ("1", "One. [SEP]"),
        ("4", "Four."),
        ("3", "Three. [SEP]"),
        ("2", "Two."),
        ("5", "Five."),
    ]


def test_unmoved_units_beside_each_other_have_one_mark(make_item: Callable[..., Item]) -> None:
    item = shuffled(make_item)
    edits = tuple(replace(edit, source_unit=edit.unit) for edit in item.edits if edit.unit == 3)
    item = replace(item, edits=tuple(replace(edit, after="Two.") for edit in edits))
    assert shown(item, "shuffled")[0] == ("1–3", "unit", "One. Four. Three.")


def test_nothing_is_marked_where_texts_are_not_what_edits_say(
    make_item: Callable[..., Item],
) -> None:
    item = shuffled(make_item)
    edits = tuple(replace(edit, after="Other.") for edit in item.edits)
    assert unit_marks(replace(item, edits=edits), "shuffled") == []
    elsewhere = tuple(replace(edit, source_discourse="d9") for edit in item.edits)
    assert unit_marks(replace(item, edits=elsewhere), "original") == []


def test_pieces_say_which_unit_they_are_in(make_item: Callable[..., Item]) -> None:
    item = shuffled(make_item)
    condition = item.condition("shuffled")
    (whole,) = unscored_pieces(condition)
    pieces = [
        replace(whole, text=text) for text in ("One.", " ", "Four.", " Three. Two.", " Five.")
    ]
    found = packed("shuffled", with_units(pieces, marks := unit_marks(item, "shuffled")), marks)
    assert found["u"] == [["1", 0, 1], ["4", 1, 1], ["3", 0, 1], ["5", 0, 1]]
    assert "u" not in packed("shuffled", pieces)


def test_differences_are_whole_words() -> None:
    left = "He came late, although she had left early. It was the very end."
    right = "He came late, as she had left early. It was a very sad end."
    cut = [
        [text[mark.start : mark.end] for mark in marks]
        for text, marks in zip((left, right), difference_marks(left, right), strict=True)
    ]
    assert cut == [["although", "the"], ["as", "a", "sad"]]
    assert difference_marks(left, left) == ([], [])


@given(st.text("ab .", max_size=20), st.text("ab .", max_size=20))
def test_segments_are_the_text(left: str, right: str) -> None:
    for text, marks in zip((left, right), difference_marks(left, right), strict=True):
        assert "".join(part.text for part in segments(text, marks)) == text
