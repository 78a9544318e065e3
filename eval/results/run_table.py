"""A table of runs, models by columns: what the overview and the curves are of.

A column is a task on the same rows (by their digests) of one version of a suite, by the same
settings, summed up over the same configs: what stands in one can be compared. Runs that differ in
any of that have columns of their own, which say in what. A release of this program or of torch is
no such difference: it stands in the signature, and rules of scoring that a release changed are a
setting. How a model was loaded and read is of the model.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from coherencegym.eval.data.dataset import BASELINE_WORDS
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.kinds.table_kind import rows_digest
from coherencegym.eval.results.comparison import model_labels, option_of, scoring_rules
from coherencegym.eval.statistics.scores import CD, CD_METRICS, CHANCE_NAME, chance_names
from coherencegym.eval.tasks.headline import BELOW, NO_BETTER, Headline, known_baselines
from coherencegym.eval.tasks.results import Results

#: Words of a checkpoint's name before its number, and the unit that each counts: ``step1000``,
#: ``checkpoint-500`` (of transformers), ``chck_10M`` (words, of BabyLM), ``epoch3``.
_UNITS = {
    **dict.fromkeys(("step", "steps", "globalstep"), "step"),
    **dict.fromkeys(("checkpoint", "ckpt", "iter", "iteration"), "step"),
    **dict.fromkeys(("chck", "words"), "word"),
    **dict.fromkeys(("token", "tokens"), "token"),
    **dict.fromkeys(("epoch", "epochs"), "epoch"),
}
_WORDS = "|".join(sorted(_UNITS, key=len, reverse=True))
# A number without such a word is the size of a model (``opt-125m``) or its version.
_COUNT = re.compile(
    rf"(?<![a-z])(?P<word>{_WORDS})(?P<between>[-_= ]?)"
    r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,6})?)(?P<times>[kmb]?)(?![a-z0-9])",
    re.IGNORECASE,
)
#: A revision that is nothing but a count; a folder's letter would be the size of a model (``7b``).
_ALONE = re.compile(r"(?P<number>[0-9]{1,15})(?P<times>[kmb]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}


@dataclass(frozen=True)
class Step:
    """A place in a training.

    Attributes:
        training: the name that all its checkpoints have but for what they count.
        unit: the thing that is counted: ``step``, ``word``, ``token`` or ``epoch``; empty where the
            name does not say.
        count: the number of them.
    """

    training: str
    unit: str
    count: float


def step_of(run: Results) -> Step | None:
    """The checkpoint that a run is of, by its revision or else the name of its model.

    Where a name counts several things (``step1000-tokens4B``), it is the first. None where it
    counts nothing.
    """
    path = Path(run.model_name)
    revision = run.at_revision.removeprefix("@")
    name = revision or path.name
    rest = _COUNT.sub(lambda each: f"{each['word']}{each['between']}*", name)
    counts: dict[str, float] = {}
    for found in _COUNT.finditer(name):
        counts.setdefault(_UNITS[found["word"].lower()], _number(found))
    if not counts and (alone := _ALONE.fullmatch(name)) and (revision or not alone["times"]):
        counts, rest = {"": _number(alone)}, "*"
    if not counts:
        return None
    unit = next(iter(counts))
    training = f"{run.model_name}@{rest}" if revision else str(path.with_name(rest))
    return Step(training + run.by_scorer, unit, counts[unit])


def _number(found: re.Match[str]) -> float:
    return float(found["number"]) * _TIMES[found["times"].lower()]


def short_count(count: float) -> str:
    """A number of steps as names of checkpoints have it: ``500``, ``1.5k``, ``10M``."""
    for size, letter in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if abs(count) >= size:
            return f"{count / size:g}{letter}"
    return f"{count:g}"


#: Name, revision asked for and way of reading, which it was, and how it was loaded where that
#: changes a number.
RunModel = tuple[str, str, str, str]

#: Settings by which scores may be compared, and yet stand in columns of their own.
_OF_COLUMN = ("detector", "calibrate_on", "threshold", "intervals")
#: Settings by which a masked model is read, and named.
_OF_MASKED = ("scorer", "masking")
#: Aspects that follow from the tables.
_OF_TABLES = ("configs", "splits", "items", "rows", "score over")


@dataclass(frozen=True)
class RunColumn:
    """Runs that can be compared.

    Attributes:
        task, suite, version, metric: names; ``version`` is empty where there is none.
        runs: those of each model, of which the last is shown.
        digest: a hash of all that a column is one by.
        differs: words on each thing in which it differs from other columns of the suite.
    """

    task: str
    suite: str
    version: str
    metric: str
    runs: Mapping[RunModel, tuple[Results, ...]]
    digest: str
    differs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Suite and version, and the task and the metric where they are not the usual ones."""
        named = " ".join(filter(None, (self.suite, self.version)))
        beside = [self.task] * (self.task != "score")
        beside += [self.metric] * (self.metric not in CD_METRICS)
        return f"{named}, {', '.join(beside)}" if beside else named

    @property
    def whole_name(self) -> str:
        """The name, and what tells it from the other columns of the suite."""
        return " · ".join(filter(None, (self.name, "; ".join(self.differs))))

    @cached_property
    def shown(self) -> dict[RunModel, Results]:
        """The run of each model that is shown."""
        return {model: runs[-1] for model, runs in self.runs.items()}

    def number(self, model: RunModel) -> Headline | None:
        """The number of a model; None where it has no run, or the run has none."""
        return self.shown[model].number if model in self.shown else None

    @cached_property
    def numbers(self) -> list[Headline]:
        """The numbers that are shown."""
        return [run.number for run in self.shown.values() if run.number is not None]

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of items of the models: the fewest and the most, one if they are equal.

        A model without any is left out if another has some.
        """
        every = [number.n for number in self.numbers]
        found = list(filter(None, every)) or every
        return tuple(sorted({min(found), max(found)})) if found else ()

    @property
    def is_controlled(self) -> bool:
        """Tell whether what the number is over has controls, from which it is to be told apart."""
        return any(
            run.number is None or difference.config in run.number.over
            for run in self.shown.values()
            for difference in run.differences
        )

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of its texts (ISO 639-1), where the dataset says so."""
        tables = (table for run in self.shown.values() for table in run.tables)
        return tuple(sorted({table.language for table in tables} - {""}))

    def reference(self, name: str) -> tuple[float, ...]:
        """The values of a baseline, of people or of chance: one, if all runs have the same."""
        values = (getattr(number, name) for number in self.numbers)
        return tuple(sorted({value for value in values if value is not None}))


@dataclass(frozen=True)
class RunTable:
    """Columns in the order of their first runs."""

    columns: tuple[RunColumn, ...]

    @cached_property
    def models(self) -> dict[RunModel, str]:
        """The models, the best first, and their names: no two alike.

        They are ordered by the mean of their numbers over the columns that all of them have one
        in; where there is no such column, and among equals, by their first runs. The checkpoints
        of a training stand together, in the order of their steps.
        """
        means, at = self._means, self.steps
        found = dict.fromkeys(model for column in self.columns for model in column.runs)
        best = sorted(found, key=lambda key: -means.get(key, -1.0))
        places: dict[object, int] = {}
        for key in best:
            places.setdefault(at[key].training if key in at else key, len(places))
        ordered = sorted(
            best,
            key=lambda key: (
                (places[at[key].training], at[key].count) if key in at else (places[key], 0.0)
            ),
        )
        first = {
            model: own[0] for column in self.columns[::-1] for model, own in column.runs.items()
        }
        return dict(zip(ordered, model_labels([first[key] for key in ordered]), strict=True))

    @cached_property
    def _means(self) -> Mapping[RunModel, float]:
        # Over the columns that all these models have.
        scores: dict[RunModel, dict[str, float]] = defaultdict(dict)
        for column, model, run in self.runs:
            if run.number is not None and run.number.score is not None:
                scores[model][column.digest] = run.number.score
        shared = set.intersection(*map(set, scores.values())) if scores else set()
        return {
            model: fmean(own[each] for each in sorted(shared)) if shared else 0.0
            for model, own in scores.items()
        }

    @property
    def is_ranked(self) -> bool:
        """Tell whether :attr:`models` are ordered by their scores."""
        return len(self.spoken_for) > 1 and any(self._means.values()) and not self.steps

    @property
    def every_run(self) -> list[Results]:
        """All runs, those that are not shown too."""
        return [run for column in self.columns for own in column.runs.values() for run in own]

    @cached_property
    def runs(self) -> list[tuple[RunColumn, RunModel, Results]]:
        """The runs that are shown, and where each stands."""
        return [(column, *pair) for column in self.columns for pair in column.shown.items()]

    @property
    def records(self) -> list[dict[str, Any]]:
        """A row for each run that is shown: column and model, its number and what is beside it.

        Scores are shares from 0 to 1, or correlations.
        """
        about = ("task", "suite", "version", "metric")
        numbers = ("n", "effective_items", "score", "ci_low", "ci_high", "ci_method", "plain_score")
        beside = (*BASELINE_WORDS, "human_score", "chance")
        return [
            {
                **{name: getattr(column, name) for name in about},
                "differs": "; ".join(column.differs),
                "model": self.models[model],
                **{name: getattr(run.number, name, None) for name in (*numbers, *beside)},
                "signature": run.signature,
            }
            for column, model, run in self.runs
        ]

    @cached_property
    def steps(self) -> Mapping[RunModel, Step]:
        """The place of each model that is a checkpoint, one of several of a training."""
        known = {model: step for _, model, run in self.runs if (step := step_of(run)) is not None}
        names = Counter((step.training, step.unit) for step in known.values())
        return {key: step for key, step in known.items() if names[step.training, step.unit] > 1}

    @cached_property
    def spoken_for(self) -> list[RunModel]:
        """The models that sentences are about: of the checkpoints of a training, the last."""
        last: dict[tuple[str, str], RunModel] = {}
        for key, step in sorted(self.steps.items(), key=lambda pair: pair[1].count):
            last[step.training, step.unit] = key
        return [key for key in self.models if key not in self.steps or key in last.values()]

    @property
    def numbers(self) -> list[Headline]:
        """The numbers of all runs that have one."""
        return [number for column in self.columns for number in column.numbers]

    @property
    def chance_name(self) -> str:
        """The name of what reads nothing; ``chance`` where columns differ in it."""
        names = {number.chance_name for number in self.numbers}
        return names.pop() if len(names) == 1 else CHANCE_NAME

    @property
    def sentences(self) -> list[str]:
        """A sentence for each model, the last of a training: what its scores show; and its words.

        Columns with controls are left out: their manipulation moves surprisals by itself.
        """
        plain = [column for column in self.columns if not column.is_controlled]
        suites = {column.suite for column in self.columns}
        what = "suites" if len(suites) == len(self.columns) else "scores"
        known = known_baselines([number for column in plain for number in column.numbers])
        meant = ['"Above" means the whole 95\N{NO-BREAK SPACE}% interval']
        meant += [f"known baselines are {', '.join(known.values())}"] * bool(known)
        meant += [f"{what} with controls (†) are not counted"] * (len(plain) < len(self.columns))
        lines = [self._standing(model, plain, what) for model in self.spoken_for]
        return [*lines, "; ".join(meant) + "."]

    def _standing(self, model: RunModel, columns: Sequence[RunColumn], what: str) -> str:
        numbers = (column.number(model) for column in columns)
        scored = [one for one in numbers if one is not None and one.score is not None]
        baselines = [one for one in scored if one.best_baseline is not None]
        above = sum(one.is_above_chance for one in scored)
        said = f"{self.models[model]} is above {chance_names(scored, article=True)} on {above} of "
        said += f"{len(scored)} {what}"
        beyond = f"{sum(one.is_above for one in baselines)} of {len(baselines)}"
        return said + f", and above its known baselines, too, on {beyond}" * bool(baselines) + "."

    def cautions(self) -> Iterator[str]:
        """The cautions on the runs, each once, with the columns and models that it is of."""
        found: dict[str, list[str]] = {}
        for column, model, run in self.runs:
            where = column.whole_name
            if model not in self.steps and len(self.models) > 1:
                where += f" ({self.models[model]})"
            for text in run.cautions:
                # Where a curve rises above its baselines is said by step.
                if not (model in self.steps and text.startswith((NO_BETTER, BELOW))):
                    found.setdefault(text, []).append(where)
        for text, places in found.items():
            yield f"{text}: {first_names(list(dict.fromkeys(places)))}"


def table_of(results: Iterable[Results]) -> RunTable:
    """The table of results in memory, or of runs that were read.

    A run that is there twice stands there once.
    """
    found: dict[tuple[Any, ...], dict[RunModel, dict[str, Results]]] = {}
    for run in results:
        of_model = found.setdefault(_is_one_by(run), {}).setdefault(_model(run), {})
        of_model.pop(run.signature, None)
        of_model[run.signature] = run
    columns = []
    for key, own in found.items():
        first = next(iter(next(iter(own.values())).values()))
        columns.append(
            RunColumn(
                *(first.task, first.named_suite, first.version, _measure(first)),
                runs={model: tuple(each.values()) for model, each in own.items()},
                digest=hashlib.sha256(repr(key).encode("utf-8", "replace")).hexdigest()[:12],
            )
        )
    return RunTable(tuple(_with_differences(columns)))


def _model(run: Results) -> RunModel:
    return run.model_name, run.variant, run.commit, run.loaded_as


def _measure(run: Results) -> str:
    return run.number.metric if run.number is not None else CD


def _is_one_by(run: Results) -> tuple[Any, ...]:
    # All that runs of one column have in common, beside what is of the model.
    tables = sorted((t.config, t.split, t.sha256, t.items, t.headline) for t in run.tables)
    summed = (run.number.metric, run.number.over) if run.number is not None else ()
    named = run.task, run.named_suite, run.version
    return *named, tuple(tables), summed, tuple(sorted(column_rules(run).items()))


def column_rules(run: Results) -> dict[str, str]:
    """The settings that change what a column is of, as JSON."""
    # The bits of a tie are given by precision, and how a masked model is read is of the model.
    rules = {name: value for name, value in scoring_rules(run).items() if name != "rule tie_bits"}
    if run.by_scorer:
        rules = {name: value for name, value in rules.items() if name not in _OF_MASKED}
    more = {name: value for name in _OF_COLUMN if (value := run.settings.get(name))}
    return {name: json.dumps(value, sort_keys=True) for name, value in (rules | more).items()}


def _with_differences(columns: Sequence[RunColumn]) -> Iterator[RunColumn]:
    beside: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for column in columns:
        beside[column.task, column.name].append(_aspects(column))
    for column in columns:
        own, others = _aspects(column), beside[column.task, column.name]
        names = dict.fromkeys(name for one in others for name in one)
        differing = [n for n in names if len({one.get(n, "") for one in others}) > 1]
        of_tables = [name for name in differing if name in _OF_TABLES]
        if of_tables:
            # A name of the dataset or of configs says more than a digest or a number of items.
            short = (
                n for n in ("dataset", "configs") if len({o[n] for o in others}) == len(others)
            )
            of_tables = [name for name in (next(short, None),) if name] or of_tables
        rules = [name for name in differing if name not in (*_OF_TABLES, "dataset")]
        differing = [*of_tables, *rules]
        words = [f"{name} {own.get(name) or 'no'}" for name in differing]
        alike = sum(all(one.get(n, "") == own.get(n, "") for n in differing) for one in others)
        yield replace(column, differs=(*words, *[column.digest] * (alike > 1)))


def _aspects(column: RunColumn) -> dict[str, str]:
    run = next(iter(column.shown.values()))
    tables = sorted(run.tables, key=lambda table: (table.config, table.split))
    digest = rows_digest(table.sha256 for table in tables)
    configs = list(dict.fromkeys(table.config for table in tables))
    return {
        "dataset": Path(run.data).name,
        "configs": first_names(configs),
        "splits": first_names(list(dict.fromkeys(table.split for table in tables))),
        "items": f"{sum(table.items for table in tables):,}",
        # As the signature has it, so that a reader finds the run.
        "rows": (run.rows_sha256 or digest)[:12],
        "score over": first_names(run.number.over) if run.number is not None else "",
        "metric": column.metric,
        **{option_of(name): value for name, value in column_rules(run).items()},
    }


@dataclass(frozen=True)
class LearningCurve:
    """The headlines of two or more checkpoints of one training in one column, by their counts.

    All of them have a score; ``suite`` is a name for readers.
    ``controlled`` suites have controls, from which their scores are to be told apart.
    """

    training: str
    suite: str
    unit: str
    counts: Sequence[float]
    heads: Sequence[Headline]
    controlled: bool = False


def learning_curves(table: RunTable) -> list[LearningCurve]:
    """The curves of a table; of several runs of a checkpoint in a column, the last."""
    curves = []
    for column in table.columns:
        points: dict[tuple[str, str], dict[float, Headline]] = defaultdict(dict)
        for model, run in column.shown.items():
            step, head = table.steps.get(model), run.number
            if step is not None and head is not None and head.score is not None:
                points[step.training, step.unit][step.count] = head
        for (training, unit), own in points.items():
            counts = sorted(own)
            heads = [own[count] for count in counts]
            about = training, column.whole_name, unit
            if len(own) > 1:
                curves.append(LearningCurve(*about, counts, heads, column.is_controlled))
    return curves
