"""Scores that a paper has published for a suite, as its manifest quotes them, for reference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
    score: float
    source: str

    def belongs_to(self, config: str) -> bool:
        """Whether it is about the config of this full name (``<corpus>_<config>``)."""
        return not self.config or config == self.config or config.endswith(f"_{self.config}")


def published(manifest: Mapping[str, Any]) -> tuple[Published, ...]:
    """The published scores that a manifest quotes; none where it has no such key.

    Raises:
        ValueError: an entry is not what :class:`Published` says.
    """
    rows = []
    for entry in manifest.get("published", ()):
        try:
            texts = [entry[name] for name in ("config", "row", "model", "source")]
            score = entry["score"]
        except (KeyError, TypeError):
            raise ValueError(f"a published score {entry!r:.200}") from None
        number = isinstance(score, int | float) and not isinstance(score, bool)
        if not all(isinstance(text, str) for text in texts) or not number:
            raise ValueError(f"a published score {entry!r:.200}")
        if not (math.isfinite(score) and 0 <= score <= 1):
            raise ValueError(f"a published score of {score!r}")
        config, row, model, source = texts
        rows.append(Published(config, row, model, float(score), source))
    return tuple(rows)


def about(rows: Sequence[Published], configs: Sequence[str]) -> tuple[Published, ...]:
    """Those of the rows that are about one of these configs, by their full names."""
    return tuple(row for row in rows if any(row.belongs_to(config) for config in configs))
