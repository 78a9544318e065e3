"""The heat map of a connective suite: what was replaced, by what, and how often a model noticed.

After Table 4 of Beyer, Loáiciga and Schlangen (2021): rows are a connective in a sense, columns
what is put in its place, cells the CD score. A score belongs in it if its group says so:
``as_causal → since``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coherencegym.eval.results.runs import Run
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.views.plot_rows import Series, merge

_GROUP = re.compile(r"(?P<row>\S.*?) → (?P<column>\S.*)")


@dataclass(frozen=True)
class HeatMap:
    """The scores of one config and split by row and column, the same rows for every model.

    ``cells`` has for each model, by its name, the scores that it has.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[str, Mapping[tuple[str, str], Score]]


def heat_maps(runs: Sequence[Run]) -> list[HeatMap]:
    """The heat maps of runs, one for each config and split that has such groups; often none."""
    series = merge(runs).series
    found: dict[tuple[str, str], dict[str, dict[tuple[str, str], Score]]] = {}
    for one in series:
        for table, cell, score in _cells(one):
            found.setdefault(table, {}).setdefault(one.label, {})[cell] = score
    splits = {split for _, split in found}
    maps = []
    for (config, split), cells in found.items():
        places = [place for own in cells.values() for place in own]
        maps.append(
            HeatMap(
                f"{config} ({split})" if len(splits) > 1 else config,
                tuple(sorted({row for row, _ in places})),
                tuple(sorted({column for _, column in places})),
                cells,
            )
        )
    return maps


def _cells(series: Series) -> list[tuple[tuple[str, str], tuple[str, str], Score]]:
    """Table, cell and score of every group that has an arrow."""
    return [
        ((score.config, score.split), (match["row"], match["column"]), score)
        for score in series.scores.values()
        if score.level in ("group", "detail") and (match := _GROUP.fullmatch(score.group))
    ]
