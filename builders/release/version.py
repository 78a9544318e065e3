"""Versions of a release: what changed decides by how much the version is raised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class VersionError(ValueError):
    """A version that is not written as versions are."""


class Change(IntEnum):
    """The kinds of change that a release means for its readers, the least first."""

    NONE = 0
    CARD = 1
    ADDED = 2
    ROWS = 3

    @property
    def level(self) -> str:
        """The part of the version that it raises."""
        return ("none", "patch", "minor", "major")[self]


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A semantic version of three numbers."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """The version written ``1.2.3`` or ``v1.2.3``.

        Raises:
            VersionError: it is written otherwise.
        """
        match = re.fullmatch(r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", text)
        if match is None:
            raise VersionError(f"version {text!r}; expected three numbers such as 1.2.0")
        return cls(*map(int, match.groups()))

    def raised(self, change: Change) -> Version:
        """The least version that a change of this kind needs."""
        match change:
            case Change.ROWS:
                return Version(self.major + 1, 0, 0)
            case Change.ADDED:
                return Version(self.major, self.minor + 1, 0)
            case Change.CARD:
                return Version(self.major, self.minor, self.patch + 1)
            case _:
                return self

    def __str__(self) -> str:
        """The version as it is written, without a ``v``."""
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The numbers of rows of a split that were added, changed and removed, by id."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def change(self) -> Change:
        """The change that they mean for the version."""
        if self.changed or self.removed:
            return Change.ROWS
        return Change.ADDED if self.added else Change.NONE

    def __str__(self) -> str:
        """The counts in words, ``no row changed`` where all are 0."""
        counts = {"added": self.added, "changed": self.changed, "removed": self.removed}
        parts = [f"{count} {name}" for name, count in counts.items() if count]
        return ", ".join(parts) if parts else "no row changed"


def compare_rows(old: Mapping[str, str], new: Mapping[str, str]) -> RowChanges:
    """The changes between two splits, each a mapping from item id to row hash."""
    return RowChanges(
        added=len(new.keys() - old.keys()),
        changed=sum(old[item] != new[item] for item in old.keys() & new.keys()),
        removed=len(old.keys() - new.keys()),
    )
