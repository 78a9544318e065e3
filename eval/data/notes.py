"""Lines that a reader of scores must know, or may."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from coherencegym.errors import ConfigError
from coherencegym.files.strict_json import kind

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Note:
    """A line below a table of scores.

    Attributes:
        kind: ``caution``, where a reader would draw a wrong conclusion without it, which is always
            shown; or ``detail``.
        text: the line.
    """

    kind: Literal["caution", "detail"]
    text: str

    def __str__(self) -> str:
        return self.text


def caution(text: str) -> Note:
    """A note that is always shown."""
    return Note("caution", text)


def detail(text: str) -> Note:
    """A note that is shown to those who ask."""
    return Note("detail", text)


def cautions_first(notes: Iterable[Note]) -> list[Note]:
    """The notes in their order, cautions before details."""
    return sorted(notes, key=lambda note: note.kind != "caution")


def of_each(
    configs: Iterable[_T], ask: Callable[[_T], _R], *, named: bool = False
) -> tuple[list[_R], list[Note]]:
    """Ask of each config, and note those of which it cannot be asked.

    Args:
        configs: the configs, or values that stand for one each.
        ask: gives what came of it, or raises :class:`ConfigError`.
        named: the user named the configs, and means all of them.
    """
    found, refused = [], list[ConfigError]()
    for config in configs:
        try:
            found.append(ask(config))
        except ConfigError as error:
            if named:
                raise
            refused.append(error)
    if refused and not found:
        raise refused[0]
    return found, [caution(f"left out: {error}") for error in refused]


def partial_notes(
    manifest: Mapping[str, Any], rows: Iterable[tuple[str, int]], limit: int | None
) -> Iterator[Note]:
    """Cautions that only a part was scored: of a table, or of the corpora of a build.

    Args:
        manifest: the dataset's.
        rows: configs, one for each table, and the numbers of its rows that were read.
        limit: the largest number that was to be read.
    """
    tables = list(rows)
    if limit is not None and any(n >= limit for _, n in tables):
        yield caution(f"--limit {limit}: at most the first {limit:,} rows of each table were read")
    about = manifest.get("configs", {})
    built: dict[int, list[str]] = {}
    for config in dict.fromkeys(config for config, _ in tables):
        if most := about.get(config, {}).get("limit"):
            built.setdefault(most, []).append(config)
    for most, configs in built.items():
        yield caution(
            f"built from the first {most:,} discourses of each split (--limit {most}): "
            + first_names(configs)
        )


def shown_setting(value: Any) -> str:
    """A setting of a run, short enough for a line: of a list the first values."""
    if isinstance(value, list | tuple) and value:
        return f"[{first_names([kind(one) for one in value])}]"
    return "not set" if value in (None, [], ()) else kind(value)


def table_name(config: str, split: str) -> str:
    """A table's name for people: ``gum_crossed (test)``; of one without splits the config's."""
    return f"{config} ({split})" if split else config


def first_names(names: Sequence[str], most: int = 3) -> str:
    """The first of some names, and the number of the others: ``a, b, c and 4 more``."""
    others = len(names) - most
    return ", ".join(names[:most]) + (f" and {others:,} more" if others > 0 else "")
