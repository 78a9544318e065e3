"""Facts about a model that bear on which texts it may have been trained on.

No file of a model says what it has read. Its card may name datasets and a base model, the Hub knows
since when the repository is there and when this commit was made, and a user may know when the
training data end. Whatever cannot be found out is left empty, and no run fails for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import first_names
from coherencegym.eval.models.source import ModelSource

#: The date from which on the Hub records when repositories were created; older ones have it, too.
_FIRST_RECORDED = "2022-03-02"
#: Longest wait for the Hub (seconds): the run goes on without the dates.
_TIMEOUT = 5.0
_CARD = "README.md"
_NAME = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?", re.ASCII)


@dataclass(frozen=True)
class Provenance:
    """Facts that bear on a model's training data; empty where they are not known.

    Attributes:
        cutoff: the date at which the training data end, as the user states it (``2023``,
            ``2023-09``, ``2023-09-30``).
        created: the day on which the Hub repository was created.
        changed: the day of the commit that was loaded; the weights are no younger.
        datasets, base_models: the names in the card's metadata.
    """

    cutoff: str = ""
    created: str = ""
    changed: str = ""
    datasets: tuple[str, ...] = ()
    base_models: tuple[str, ...] = ()

    @property
    def latest_year(self) -> int | None:
        """The year of the newest text that the model can have read; None: not known."""
        latest = self.cutoff or self.changed
        return int(latest[:4]) if latest else None

    def record(self) -> dict[str, Any]:
        """The facts that are known, as results record them."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if value
        }

    def facts(self) -> list[str]:
        """The facts that are known, in a few words each."""
        found = []
        if self.cutoff:
            found.append(f"its training data end in {self.cutoff} (as stated by the user)")
        if self.created:
            older = " or before" if self.created == _FIRST_RECORDED else ""
            found.append(f"its repository was created on {self.created}{older}")
        if self.changed:
            found.append(f"its files are of {self.changed} at the latest")
        if self.datasets:
            found.append(f"its card names the training data {first_names(self.datasets)}")
        if self.base_models:
            found.append(f"its card names the base model {first_names(self.base_models)}")
        return found


NOTHING_KNOWN = Provenance()


def find_provenance(sources: Sequence[ModelSource], cutoff: str | None = None) -> Provenance:
    """Ask the card and the Hub about a model's files, and those of an adapter on top of it.

    Args:
        sources: the model, or the adapter's model and the adapter.
        cutoff: the end of the training data, as the user states it.
    """
    asked = [_ask_hub(source) if source.commit is not None else None for source in sources]
    cards = [
        _card(source) if info is None else info.card_data or {}
        for source, info in zip(sources, asked, strict=True)
    ]
    created = [_day(info and info.created_at) for info in asked]
    changed = [_day(info and info.last_modified) for info in asked]
    return Provenance(
        cutoff or "",
        max(created) if all(created) else "",
        max(changed) if all(changed) else "",
        _names(cards, "datasets"),
        _names(cards, "base_model"),
    )


def _ask_hub(source: ModelSource) -> Any:
    from huggingface_hub import HfApi

    try:
        return HfApi().model_info(source.path, revision=source.commit, timeout=_TIMEOUT)
    except Exception:
        # Besides the Hub's errors, whatever the client's transport raises.
        return None


def _card(source: ModelSource) -> Mapping[str, Any]:
    # In a folder, or in the cache of a machine that cannot reach the Hub.
    from huggingface_hub import metadata_load, try_to_load_from_cache

    path: Any = Path(source.path, _CARD)
    if source.commit is not None:
        path = try_to_load_from_cache(source.path, _CARD, revision=source.commit)
    try:
        return metadata_load(path) or {}
    except Exception:
        # No card, or one that is no YAML: then it says nothing.
        return {}


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""


def _names(cards: Iterable[Mapping[str, Any]], key: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for card in cards:
        value = card.get(key)
        for name in value if isinstance(value, list) else [value]:
            # Strangers write cards: what is no name is left out.
            if isinstance(name, str) and _NAME.fullmatch(name):
                found[name] = None
    return tuple(found)
