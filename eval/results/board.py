"""A leaderboard of runs: models by columns, and what stands in one column can be compared.

A column is a task on the same rows (by their digests) of one version of a suite, by the same
settings, summed up over the same configs. Runs that differ in any of that have columns of their
own, which say in what. A release of this program or of torch is no such difference: it stands in
the signature, and rules of scoring that a release changed are a setting.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, takewhile
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import first_names
from coherencegym.eval.data.source import SuiteWords
from coherencegym.eval.results.comparison import INCIDENTAL
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.overview import all_named, means_of_shared, standing
from coherencegym.eval.results.runs import Run, read_run
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.tasks.headline import Headline, headline_of_one
from coherencegym.files.strict_json import Some, read_json

#: Name, revision asked for, which it was, and how it was loaded where that changes a number.
BoardModel = tuple[str, str, str, str]

#: Settings that are of the model or the machine, or are told by the tables that were scored.
_NOT_OF_COLUMN = INCIDENTAL - {"detector", "calibrate_on", "threshold", "intervals"}
#: Aspects that follow from the tables.
_OF_TABLES = ("splits", "items", "rows", "score over")
#: The order of tasks; others come after, by name.
_TASKS = ("score", "detect", "probe", "spans")


@dataclass(frozen=True)
class ModelFacts:
    """Facts of a model that results have: all but its name and commit may be missing."""

    parameters: int | None = None
    context: int | None = None
    dtype: str = ""
    device: str = ""
    quantization: Any = None
    adapter: Any = None
    arguments: dict[str, Any] | None = None


@dataclass(frozen=True)
class TableFacts:
    """A table of which rows were scored; ``items``: how many."""

    config: str
    split: str
    sha256: str
    items: int = 0
    headline: str = ""


@dataclass(frozen=True, kw_only=True)
class SuiteFacts(SuiteWords):
    """Facts that a suite says of itself, as results have them from its manifest."""

    tables: Some[TableFacts]


@dataclass(frozen=True)
class _Results:
    """The schema of ``results.json``, as far as a board reads what a run does not have."""

    model: ModelFacts
    dataset: SuiteFacts
    task: str = "score"


@dataclass(frozen=True)
class Entry:
    """A run, and the facts that a board shows beside its scores."""

    run: Run
    task: str
    model: ModelFacts
    suite: SuiteFacts

    @property
    def key(self) -> BoardModel:
        """The row that it stands in."""
        more = (self.model.quantization, self.model.adapter, self.model.arguments)
        how = [self.model.dtype, *(json.dumps(one, sort_keys=True) for one in more if one)]
        return self.run.model, self.run.at_revision, self.run.commit, ", ".join(filter(None, how))

    @cached_property
    def number(self) -> Headline | None:
        """The run's one number: the headline, or its only score."""
        scores = [score for score in self.run.scores if score.level == "all"]
        if self.run.headline is not None or len(scores) != 1:
            return self.run.headline
        (one,) = scores
        return headline_of_one(one)


def read_entry(folder: Path) -> Entry:
    """The entry of a folder of results.

    Raises:
        EvaluationError: there are none, or they are not what a run writes.
        OSError: the file cannot be read.
    """
    run = read_run(folder)
    facts = read_json(folder / MARKER, _Results)
    return Entry(run, facts.task, facts.model, facts.dataset)


@dataclass(frozen=True)
class BoardColumn:
    """Runs that can be compared.

    Attributes:
        task, suite, version, measure: names; ``version`` is empty where there is none.
        entries: the runs of each model, of which the first is shown.
        differs: words on each thing in which it differs from other columns of the suite.
        digest: a hash of all that a column is one by.
    """

    task: str
    suite: str
    version: str
    measure: str
    entries: Mapping[BoardModel, tuple[Entry, ...]]
    differs: tuple[str, ...]
    digest: str

    @property
    def name(self) -> str:
        """Suite and version, and the task and the measure where they are not the usual ones."""
        named = " ".join(filter(None, (self.suite, self.version)))
        beside = [self.task] * (self.task != "score") + [self.measure] * (self.measure != CD)
        return f"{named}, {', '.join(beside)}" if beside else named

    @property
    def shown(self) -> dict[BoardModel, Entry]:
        """The run of each model that is shown."""
        return {model: entries[0] for model, entries in self.entries.items()}

    def number(self, model: BoardModel) -> Headline | None:
        """The number of a model; None where it has no run, or the run has none."""
        return self.entries[model][0].number if model in self.entries else None

    @property
    def controlled(self) -> bool:
        """Tell whether there are controls, from which the score is to be told apart."""
        return any(one.run.differences for one in self.shown.values())

    def reference(self, name: str) -> tuple[float, ...]:
        """The values of a floor, of people or of chance: one, if all runs have the same."""
        heads = (one.number for one in self.shown.values())
        values = (getattr(head, name) for head in heads if head is not None)
        return tuple(sorted({value for value in values if value is not None}))


@dataclass(frozen=True)
class Board:
    """Columns by task and suite, and models by their mean over the columns that all have."""

    columns: tuple[BoardColumn, ...]

    @cached_property
    def models(self) -> dict[BoardModel, str]:
        """The models, the best first, and their names: no two alike."""
        scores: dict[BoardModel, dict[str, float]] = defaultdict(dict)
        for column in self.columns:
            for model in column.entries:
                number = column.number(model)
                if number is not None and number.score is not None:
                    scores[model][column.digest] = number.score
        means = means_of_shared(scores)
        found = {model for column in self.columns for model in column.entries}
        return all_named(
            sorted(found, key=lambda key: (-means.get(key, -1.0), key)),
            lambda key: (Path(key[0]).name or key[0]) + key[1],
            lambda key: key[0] + key[1],
            lambda key: f"{key[0]}{key[1]} ({key[3]})",
            lambda key: f"{key[0]}{key[1]}@{key[2].rpartition(':')[2][:12]} ({key[3]})",
            lambda key: f"{key[0]}{key[1]}@{key[2]} ({key[3]})",
        )

    @property
    def suites(self) -> list[str]:
        """The suites, each once."""
        return list(dict.fromkeys(column.suite for column in self.columns))

    def of_suite(self, suite: str) -> list[BoardColumn]:
        """The columns of a suite."""
        return [column for column in self.columns if column.suite == suite]

    def of_model(self, model: BoardModel) -> list[BoardColumn]:
        """The columns in which a model has a run."""
        return [column for column in self.columns if model in column.entries]

    def standing(self, model: BoardModel) -> str:
        """A sentence on what the scores of a model show."""
        own = self.of_model(model)
        plain = [column for column in own if not column.controlled]
        heads = [head for column in plain if (head := column.number(model)) is not None]
        return standing(self.models[model], heads, len(own) - len(plain), "columns")

    def pairs(self) -> list[tuple[BoardModel, BoardModel]]:
        """Pairs of models with a column in common, the better first; neighbours come first."""
        places = list(combinations(range(len(self.models)), 2))
        models = list(self.models)
        ordered = sorted(places, key=lambda pair: (pair[1] - pair[0], pair))
        return [
            (models[better], models[worse])
            for better, worse in ordered
            if self.shared(models[better], models[worse])
        ]

    def shared(self, model: BoardModel, other: BoardModel) -> list[BoardColumn]:
        """The columns that two models have in common."""
        return [c for c in self.columns if model in c.entries and other in c.entries]


def board_of(entries: Iterable[Entry]) -> Board:
    """The board of entries, whatever their order; a run that is there twice stands there once."""
    found: dict[tuple[Any, ...], dict[str, Entry]] = defaultdict(dict)
    for entry in entries:
        found[_is_one_by(entry)].setdefault(entry.run.signature, entry)
    columns = []
    for key, runs in found.items():
        by_model: dict[BoardModel, list[Entry]] = defaultdict(list)
        for _, entry in sorted(runs.items()):
            by_model[entry.key].append(entry)
        first = next(iter(runs.values()))
        columns.append(
            BoardColumn(
                first.task,
                _suite(first),
                first.run.version,
                _measure(first),
                {model: tuple(own) for model, own in sorted(by_model.items())},
                (),
                hashlib.sha256(repr(key).encode("utf-8", "replace")).hexdigest()[:12],
            )
        )
    return Board(tuple(_with_differences(sorted(columns, key=_place))))


def _place(column: BoardColumn) -> tuple[Any, ...]:
    of_task = _TASKS.index(column.task) if column.task in _TASKS else len(_TASKS)
    return of_task, column.task, column.suite, column.version, column.measure, column.digest


def _suite(entry: Entry) -> str:
    return entry.run.suite or entry.run.data


def _measure(entry: Entry) -> str:
    return entry.number.measure if entry.number is not None else CD


def _is_one_by(entry: Entry) -> tuple[Any, ...]:
    """All that runs of one column have in common, beside what is of the model."""
    tables = sorted((t.config, t.split, t.sha256, t.items, t.headline) for t in entry.suite.tables)
    head = entry.number
    summed = (head.measure, head.over) if head is not None else ()
    named = entry.task, _suite(entry), entry.run.version
    return *named, tuple(tables), summed, tuple(sorted(_rules(entry).items()))


def _rules(entry: Entry) -> dict[str, str]:
    """The settings that change what a score is of, as JSON; those that were not chosen are not in.

    What a choice came to for a model (its start token, the numeric error) is an object, and left
    out; the rules of scoring are one, too, but for the bits of a tie, which precision gives.
    """
    settings = {
        name: value
        for name, value in entry.run.settings.items()
        if value and name not in _NOT_OF_COLUMN and not isinstance(value, Mapping)
    }
    rules = entry.run.settings.get("rules")
    if isinstance(rules, Mapping):
        settings |= {f"rule {name}": value for name, value in rules.items() if value}
        settings.pop("rule tie_bits", None)
    return {name: json.dumps(value, sort_keys=True) for name, value in settings.items()}


def _with_differences(columns: Sequence[BoardColumn]) -> Iterator[BoardColumn]:
    """The columns, each with the words that tell it from the others of its task, suite, version."""
    beside: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for column in columns:
        beside[column.task, column.name].append(_aspects(column))
    for column in columns:
        own, others = _aspects(column), beside[column.task, column.name]
        names = dict.fromkeys(name for one in others for name in one)
        differing = [n for n in names if len({one.get(n, "") for one in others}) > 1]
        if len({one["configs"] for one in others}) == len(others):
            # Other tables have other rows in any case; digests are for those that look alike.
            differing = [name for name in differing if name not in _OF_TABLES]
        corpora = [one["corpus"] for one in others]
        if "configs" in differing and all(corpora) and len(set(corpora)) == len(others):
            own = own | {"configs": own["corpus"]}
        differing = [name for name in differing if name != "corpus"]
        words = [f"{name} {own.get(name) or 'no'}" for name in differing]
        alike = sum(all(one.get(n, "") == own.get(n, "") for n in differing) for one in others)
        yield replace(column, differs=(*words, *[column.digest] * (alike > 1)))


def _beginning(configs: Sequence[str]) -> str:
    """The beginning of the names of configs, which is the corpus: ``gum_…``; of one, its name."""
    parts = zip(*(config.split("_") for config in configs), strict=False)
    whole = "_".join(own[0] for own in takewhile(lambda own: len(set(own)) == 1, parts))
    return whole + "_…" * (len(configs) > 1) if whole else ""


def _aspects(column: BoardColumn) -> dict[str, str]:
    """Names of what a column may differ in, and what it has."""
    entry = next(iter(column.shown.values()))
    tables = sorted(entry.suite.tables, key=lambda table: (table.config, table.split))
    digest = hashlib.sha256("\n".join(table.sha256 for table in tables).encode()).hexdigest()
    configs, splits = (
        list(dict.fromkeys(values))
        for values in zip(*((t.config, t.split) for t in tables), strict=True)
    )
    over = first_names(entry.number.over) if entry.number is not None else ""
    return {
        "configs": first_names(configs),
        "corpus": _beginning(configs),
        "splits": first_names(splits),
        "items": f"{sum(table.items for table in tables):,}",
        "rows": digest[:12],
        "score over": over,
        **{_option(name): value for name, value in _rules(entry).items()},
    }


def _option(setting: str) -> str:
    return setting if setting.startswith("rule ") else f"--{setting.replace('_', '-')}"
