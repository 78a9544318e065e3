"""A table of runs by language: languages by suites and models, where runs have several languages.

A column of :mod:`eval.results.run_table` is of one set of configs, which may be those of one
language alone. Columns of a suite become one where no two of them have a language in common and
all follow the same settings: what stands in one row can then be compared as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from coherencegym.eval.results.run_table import RunColumn, RunModel, RunTable, column_rules
from coherencegym.eval.tasks.headline import Headline


@dataclass(frozen=True)
class LanguageColumn:
    """The scores of a suite by model and language.

    Attributes:
        name: that of the suite, and what tells the column from others.
        numbers: the headline over the configs of each language (ISO 639-1).
        columns: those that it is made of.
    """

    name: str
    numbers: Mapping[RunModel, Mapping[str, Headline]]
    columns: tuple[RunColumn, ...]


@dataclass(frozen=True)
class LanguageTable:
    """Suites by language: two languages or more (ISO 639-1), or nothing at all."""

    languages: tuple[str, ...]
    columns: tuple[LanguageColumn, ...]


def language_table(table: RunTable) -> LanguageTable:
    """The table by language of runs; an empty one where all are of one language."""
    named: dict[str, list[RunColumn]] = {}
    for column in table.columns:
        if _languages([column]):
            named.setdefault(column.name, []).append(column)
    languages = tuple(sorted(set(_languages(chain.from_iterable(named.values())))))
    if len(languages) < 2:
        return LanguageTable((), ())
    found = []
    for name, own in named.items():
        if len(own) == 1 or _are_one(own):
            found.append(_joined(name, own))
        else:
            found += [_joined(column.whole_name, [column]) for column in own]
    return LanguageTable(languages, tuple(found))


def _languages(columns: Iterator[RunColumn] | Sequence[RunColumn]) -> list[str]:
    # Those of each column, once for each column that has them.
    return [
        language
        for column in columns
        for language in {code for run in column.shown.values() for code in run.by_language}
    ]


def _are_one(columns: Sequence[RunColumn]) -> bool:
    languages = _languages(columns)
    rules = [column_rules(run) for column in columns for run in column.shown.values()]
    return len(set(languages)) == len(languages) and all(own == rules[0] for own in rules)


def _joined(name: str, columns: Sequence[RunColumn]) -> LanguageColumn:
    numbers: dict[RunModel, dict[str, Headline]] = {}
    for column in columns:
        for model, run in column.shown.items():
            numbers.setdefault(model, {}).update(run.by_language)
    return LanguageColumn(name, numbers, tuple(columns))
