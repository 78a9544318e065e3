"""Versions and what changed between two sets of rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.builders.release.changes import Change, RowChanges, Version, compare_rows

NUMBERS = st.integers(0, 999)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_versions_round_trip(major: int, minor: int, patch: int) -> None:
    version = Version(major, minor, patch)
    assert Version.parse(str(version)) == Version.parse(f"v{version}") == version


@pytest.mark.parametrize("text", ["1", "1.2", "1.2.3.4", "01.2.3", "1.2.3-rc1", "", "latest"])
def test_other_spellings_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected three numbers"):
        Version.parse(text)


@pytest.mark.parametrize(
    ("change", "raised"),
    [
        (Change.NONE, "1.2.3"),
        (Change.CARD, "1.2.4"),
        (Change.ADDED, "1.3.0"),
        (Change.ROWS, "2.0.0"),
    ],
)
def test_what_changed_decides_the_version(change: Change, raised: str) -> None:
    assert str(Version.parse("1.2.3").raised(change)) == raised


@pytest.mark.parametrize(
    ("old", "new", "changes", "change"),
    [
        ({"a": "1"}, {"a": "1"}, RowChanges(), Change.NONE),
        ({"a": "1"}, {"a": "1", "b": "2"}, RowChanges(added=1), Change.ADDED),
        ({"a": "1"}, {"a": "2"}, RowChanges(changed=1), Change.ROWS),
        ({"a": "1"}, {}, RowChanges(removed=1), Change.ROWS),
        ({"a": "1"}, {"b": "1"}, RowChanges(added=1, removed=1), Change.ROWS),
    ],
)
def test_compare_rows(
    old: dict[str, str], new: dict[str, str], changes: RowChanges, change: Change
) -> None:
    assert compare_rows(old, new) == changes
    assert changes.change is change
    assert str(changes)
