"""Scores by what was replaced and by what, after Table 4 of Beyer et al. (2021).

A score belongs in a heat map if its group says so: ``as_causal → since``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coherencegym.eval.statistics.scores import Score

_GROUP = re.compile(r"(?P<row>\S.*?) → (?P<column>\S.*)")


@dataclass(frozen=True)
class HeatMap:
    """The scores of one config and split by row and column, the same rows for every model.

    ``cells`` has for each model, by its name, the scores that it has; ``suites`` names them with
    their versions.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[str, Mapping[tuple[str, str], Score]]
    suites: str = ""


def heat_maps_of(scores: Mapping[str, Iterable[Score]], suites: str = "") -> list[HeatMap]:
    """The heat maps of models, one for each config and split with such groups; often none."""
    maps: dict[tuple[str, str], dict[str, dict[tuple[str, str], Score]]] = {}
    for model, own in scores.items():
        for score in own:
            match = _GROUP.fullmatch(score.group)
            if match and score.level in ("group", "detail"):
                cells = maps.setdefault((score.config, score.split), {}).setdefault(model, {})
                cells[match["row"], match["column"]] = score
    splits = {split for _, split in maps}
    return [
        HeatMap(
            f"{config} ({split})" if len(splits) > 1 else config,
            tuple(sorted({row for own in cells.values() for row, _ in own})),
            tuple(sorted({column for own in cells.values() for _, column in own})),
            cells,
            suites,
        )
        for (config, split), cells in maps.items()
    ]
