"""The figures of Storks and Chai 2021 (Results of EMNLP), tables 2 and 3, in per cent.

They come from the released program, so that they stand beside scores in its mode alone, and only on
the paper's own items. The models are not to be had, so that no figure can be computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coherencegym.papers.published import PublishedTable, read_papers

#: The name of the mode, as ``--compat`` takes it, and of the paper.
MODE = "storks-2021"


def published_tables() -> dict[str, PublishedTable]:
    """The paper's tables by the config of each."""
    return {
        config: table
        for table in read_papers()[MODE].tables.values()
        for row in table.rows.values()
        for config in row.configs
    }


def published_config(config: str) -> str | None:
    """The paper's data that a config holds, by its name; None if it holds none of them."""
    return next((name for name in published_tables() if name in config), None)


def published_for(config: str) -> Iterator[dict[str, Any]]:
    """The published figures on a config's items: a row for each model, a key for each metric."""
    if (name := published_config(config)) is None:
        return
    table = published_tables()[name]
    for number, model in enumerate(table.systems):
        figures = {metric: values[number] for metric, values in table.values.items()}
        yield {"config": name, "model": model, **figures}
