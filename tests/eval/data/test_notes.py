"""Notes on scores: which are always shown, and what is said of scores on a part."""

from __future__ import annotations

from typing import Any

import pytest

from coherencegym.errors import ConfigError
from coherencegym.eval.data.notes import (
    caution,
    cautions_first,
    detail,
    first_names,
    of_each,
    partial_notes,
)


def test_cautions_come_first_in_their_order() -> None:
    notes = [detail("a"), caution("b"), detail("c"), caution("d")]
    assert list(map(str, cautions_first(notes))) == ["b", "d", "a", "c"]


def test_many_names_are_counted() -> None:
    assert first_names(["a", "b", "c"]) == "a, b, c"
    assert first_names(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


@pytest.mark.parametrize(
    ("limit", "built", "said"),
    [
        (None, None, []),
        # A table that has fewer rows was read whole.
        (41, None, []),
        (8, None, ["--limit 8: at most the first 8 rows of each table were read"]),
        (
            None,
            5,
            ["built from the first 5 discourses of each split (--limit 5): a, b, c and 1 more"],
        ),
    ],
)
def test_a_part_is_said_to_be_one(limit: int | None, built: int | None, said: list[str]) -> None:
    manifest: dict[str, Any] = {"configs": {name: {"limit": built} for name in "abcd"}}
    rows = [(name, 8 if limit == 8 else 40) for name in "abcda"]
    notes = list(partial_notes(manifest, rows, limit))
    assert list(map(str, notes)) == said
    assert all(note.kind == "caution" for note in notes)
    assert not list(partial_notes({}, rows, None))


def asked(name: str) -> str:
    if name.startswith("no"):
        raise ConfigError(f"config {name!r}: no row; expected some")
    return name.upper()


def test_what_cannot_be_asked_of_one_config_is_asked_of_the_others() -> None:
    assert of_each("ab", asked) == (["A", "B"], [])
    said = [caution("left out: config 'no': no row; expected some")]
    assert of_each(["a", "no", "b"], asked) == (["A", "B"], said)


@pytest.mark.parametrize(("names", "named"), [(["no", "no more"], False), (["a", "no"], True)])
def test_what_was_named_or_all_that_is_there_has_to_be_asked(names: list[str], named: bool) -> None:
    with pytest.raises(ConfigError, match="config 'no': no row"):
        of_each(names, asked, named=named)
