"""Curves over positions: groups of predictions that are alike but for the number at their end."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from coherencegym.eval.data.baselines import BASELINE_TITLES
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.results.learning import LearningCurve
from coherencegym.eval.statistics.scores import GROUP_LEVELS
from coherencegym.eval.tasks.headline import Headline, headline_of_one
from coherencegym.eval.tasks.results import Results

#: Fewest positions that make a curve.
_FEWEST = 3
#: A group such as ``against original, sentence 3``: its curve, what is counted, and the number.
_NUMBERED = re.compile(r"(.+), (\D*[^\W\d]) ?(\d+)")


def position_curves(runs: Sequence[Results]) -> list[LearningCurve]:
    """The scores of groups by the numbers at their ends, in the place of steps of a training.

    A panel has a table of one suite, a line the groups of one name by one model. Baselines are left
    out: each position has its own.
    """
    found: dict[Any, dict[float, Headline]] = defaultdict(dict)
    several = len({run.suite for run in runs}) > 1
    for run in runs:
        suite = (run.suite,) * several
        for score in run.rows:
            group = _NUMBERED.fullmatch(score.group)
            if group and score.level in GROUP_LEVELS and score.score is not None:
                line = ": ".join(
                    filter(None, (short_model(run.model_name) + run.variant, group[1]))
                )
                panel = " ".join((*suite, f"{score.config}, {score.split}"))
                head = headline_of_one(score)
                none: Any = dict.fromkeys((*BASELINE_TITLES, "human_score"))
                found[line, panel, group[2]][int(group[3])] = replace(head, **none)
    return [
        LearningCurve(line, panel, counted, sorted(own), [own[number] for number in sorted(own)])
        for (line, panel, counted), own in found.items()
        if len(own) >= _FEWEST
    ]
