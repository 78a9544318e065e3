"""Scores by language where runs have several: a table for every page, numbers, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from coherencegym.eval.data.baselines import BASELINE_WORDS
from coherencegym.eval.report import grid
from coherencegym.eval.results.languages import LanguageColumn, language_table
from coherencegym.eval.results.run_table import RunModel, RunTable
from coherencegym.eval.results.runs import Run
from coherencegym.eval.statistics.scores import CD, Score
from coherencegym.eval.tasks.headline import Headline

#: The name of the figure, with its first ending.
LANGUAGES_PLOT = "languages.png"


def language_grids(shown: RunTable) -> list[grid.Grid]:
    """A table with a row for each language and a column for each suite and model; none of one."""
    table = language_table(shown)
    places = _places(shown, table.columns)
    if not places:
        return []
    by_suite, by_model = len(table.columns) > 1, len({model for _, model in places}) > 1
    names = [
        " · ".join([column.name] * (by_suite or not by_model) + [shown.models[model]] * by_model)
        for column, model in places
    ]
    rows = [
        grid.GridRow((code, *(_cell(column.numbers[model].get(code)) for column, model in places)))
        for code in table.languages
    ]
    metrics = {head.metric for c, model in places for head in c.numbers[model].values()}
    of = f"{table.columns[0].name}, " if by_model and not by_suite else ""
    scores = "CD scores" if metrics == {CD} else "scores"
    title = f"{of}{scores} by language in per cent [95 % interval] (items)"
    return [grid.made("language", names, rows, title)]


def _places(
    shown: RunTable, columns: Sequence[LanguageColumn]
) -> list[tuple[LanguageColumn, RunModel]]:
    return [(one, model) for one in columns for model in shown.models if model in one.numbers]


def _cell(head: Headline | None) -> str:
    if head is None:
        return "–"
    share = grid.share_with_interval(head.score, head.ci_low, head.ci_high)
    return f"{share} ({head.n:,}){' *' if head.is_above else '  '}"


def records_by_language(shown: RunTable) -> list[dict[str, Any]]:
    """The records of a table; of several languages each with its own, and with a ``language``.

    It is empty in the records of runs over all of their languages.
    """
    if not language_table(shown).columns:
        return shown.records
    whole = [{"language": "", **record} for record in shown.records]
    return whole + [
        {"language": code, **shown.record(column, model, head)}
        for column, model, run in shown.runs
        for code, head in sorted(run.by_language.items())
    ]


def language_runs(shown: RunTable) -> list[Run]:
    """Runs whose scores are those of languages, in the place of configs; none of one language."""
    table = language_table(shown)
    found = []
    for column, model in _places(shown, table.columns):
        first = next(one.shown[model] for one in column.columns if model in one.shown)
        own = column.numbers[model]
        scores = [_score(code, own[code]) for code in table.languages if code in own]
        about: Any = {"tables": (), "differences": (), "headline": None, "version": ""}
        found.append(replace(first, suite=column.name, scores=scores, **about))
    return found


def _score(code: str, head: Headline) -> Score:
    names = ("n", "metric", "score", "ci_low", "ci_high", "human_score", "chance", "chance_name")
    about = {name: getattr(head, name) for name in (*names, *BASELINE_WORDS)}
    return Score(config=code, split="", group="", level="all", **about)
