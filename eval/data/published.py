"""Scores that a paper has published for a suite, as its manifest quotes them, for reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from coherencegym.files.strict_json import Share


@dataclass(frozen=True, slots=True)
class Published:
    """A CD score as it was published.

    Attributes:
        config: the config that it belongs to, without the corpus in its name; may be empty.
        row: of the paper's table, where a config has several (``as_causal → since``); else empty.
        model: as the paper calls it.
        score: between 0 and 1.
        source: the paper and the table in it.
    """

    config: str
    row: str
    model: str
    score: Share
    source: str

    def belongs_to(self, config: str) -> bool:
        """Whether it is about the config of this full name (``<corpus>_<config>``)."""
        return not self.config or config == self.config or config.endswith(f"_{self.config}")


def published(manifest: Mapping[str, Any]) -> tuple[Published, ...]:
    """The published scores that a manifest quotes; none where it has no such key."""
    names = [field.name for field in fields(Published)]
    return tuple(
        Published(**{name: entry[name] for name in names})
        for entry in manifest.get("published", ())
    )


def about(rows: Sequence[Published], configs: Sequence[str]) -> tuple[Published, ...]:
    """Those of the rows that are about one of these configs, by their full names."""
    return tuple(row for row in rows if any(row.belongs_to(config) for config in configs))
