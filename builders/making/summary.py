"""The lines that a build prints when it is done."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.making.sources import Sources
from coherencegym.builders.suite import Suite


def print_build(
    suite: Suite, manifest: dict[str, Any], sources: Sources, destination: Path | None
) -> None:
    """Print the configs with their counts, what was left out, and where the build is."""
    from rich.console import Console
    from rich.table import Table

    from coherencegym.cards.metadata import ordered_configs
    from coherencegym.cards.render import aggregate, skips

    # In a pipe there is no width to fit: a table that is cut there would lose figures.
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(title=f"{suite.title} {manifest['version']}", title_justify="left", box=None)
    for column in ("config", "split"):
        table.add_column(column, no_wrap=True)
    for column in ("items", "discourses"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("artefact score", "95 % interval"):
        table.add_column(column, no_wrap=True)
    for name, config in ordered_configs(manifest):
        for split, counts in config["splits"].items():
            score = aggregate(config["quality"][split])
            shown = (
                ("", "")
                if score is None
                else (
                    f"{100 * score['score']:.1f}",
                    f"{100 * score['ci_low']:.1f} to {100 * score['ci_high']:.1f}",
                )
            )
            label = f"{name} (default)" if config["default"] else name
            table.add_row(label, split, str(counts["rows"]), str(counts["discourses"]), *shown)
    console.print(table)
    left_out = skips(manifest)
    for skip in left_out[:LINES]:
        console.print(
            f"left out of {skip['config']} ({skip['split']}): {commonest(skip['reasons'])}",
            highlight=False,
            soft_wrap=True,
        )
    if more := left_out[LINES:]:
        console.print(f"left out of {len(more)} more configs: see the card", highlight=False)
    for name, reason in sources.empty.items():
        console.print(f"no config {name}: {reason}", highlight=False, soft_wrap=True)
    for name, reason in sources.missing.items():
        console.print(f"not built from {name}: {reason}", highlight=False, soft_wrap=True)
    if destination is None:
        console.print("dry run: nothing was written")
    else:
        console.print(f"written to {destination}", highlight=False, soft_wrap=True)


#: Configs of which is said what was left out.
LINES = 12
#: Reasons that are named; the card has them all.
REASONS = 3


def commonest(reasons: Sequence[tuple[str, int]]) -> str:
    """The commonest reasons with their counts, and how many there are for others.

    >>> commonest([("too short", 7), ("no pronoun", 2)])
    '7 too short; 2 no pronoun'
    """
    parts = [f"{count} {reason}" for reason, count in reasons[:REASONS]]
    if others := reasons[REASONS:]:
        parts.append(f"{sum(count for _, count in others)} for other reasons (see the card)")
    return "; ".join(parts)


def print_lines(lines: list[str]) -> None:
    """Print lines as they are."""
    for line in lines:
        print(line)
