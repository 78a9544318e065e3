"""The lines of a command: what is being done, and what was."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coherencegym.builders.making.sources import Sources
from coherencegym.builders.suite import Suite

#: Configs of which is said what was left out, and reasons that are named; the card has them all.
_LINES, _REASONS = 12, 3

#: Columns of numbers.
_COUNTS = ("items", "discourses")


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """A function that shows what is being done, on standard error where that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda message: None
        return
    with console.status("starting") as status:
        yield lambda message: status.update(message)


def print_build(
    suite: Suite, manifest: dict[str, Any], sources: Sources, destination: Path | None
) -> None:
    """Print the configs with their counts, what was left out, and where the build is."""
    from rich.console import Console
    from rich.table import Table

    from coherencegym.cards.metadata import ordered_configs
    from coherencegym.cards.render import artefact_score, skips

    # In a pipe there is no width to fit: a table that is cut there would lose figures.
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(title=f"{suite.title} {manifest['version']}", title_justify="left", box=None)
    for column in ("config", "split", "items", "discourses", "artefact score", "95 % interval"):
        justify: Any = "right" if column in _COUNTS else "left"
        table.add_column(column, justify=justify, no_wrap=True)
    for name, config in ordered_configs(manifest):
        label = f"{name} (default)" if config["default"] else name
        for split, counts in config["splits"].items():
            shown = [str(counts["rows"]), str(counts["discourses"])]
            if (score := artefact_score(config["quality"][split])) is not None:
                value, low, high = (100 * score[key] for key in ("score", "ci_low", "ci_high"))
                shown += [f"{value:.1f}", f"{low:.1f} to {high:.1f}"]
            table.add_row(label, split, *shown)
    console.print(table)
    left_out = skips(manifest)
    lines = [
        f"left out of {skip['config']} ({skip['split']}): {commonest(skip['reasons'])}"
        for skip in left_out[:_LINES]
    ]
    if more := left_out[_LINES:]:
        lines.append(f"left out of {len(more)} more configs: see the card")
    lines += [f"no config {name}: {reason}" for name, reason in sources.empty.items()]
    lines += [f"not built from {name}: {reason}" for name, reason in sources.missing.items()]
    lines.append(f"written to {destination}" if destination else "dry run: nothing was written")
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)


def commonest(reasons: Sequence[tuple[str, int]]) -> str:
    """The commonest reasons with their counts, and how many there are for others.

    >>> commonest([("too short", 7), ("no pronoun", 2)])
    '7 too short; 2 no pronoun'
    """
    parts = [f"{count} {reason}" for reason, count in reasons[:_REASONS]]
    if others := reasons[_REASONS:]:
        parts.append(f"{sum(count for _, count in others)} for other reasons (see the card)")
    return "; ".join(parts)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they are."""
    for line in lines:
        print(line)
