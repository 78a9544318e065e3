"""Runs of several models on several suites, side by side: one number each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from coherencegym.eval.data.notes import first_names
from coherencegym.eval.results.runs import Run, run_of
from coherencegym.eval.results.steps import AS_NAMED, Axis, step_of
from coherencegym.eval.statistics.scores import CHANCE_NAME, chance_names
from coherencegym.eval.tasks.headline import NO_BETTER, Headline
from coherencegym.eval.tasks.results import TaskResults

#: Name and version of a suite, and its dataset as the user named it.
SuiteKey = tuple[str, str, str]
#: The name of a model as the user gave it, ``@`` and the revision asked for with how tokens were
#: masked, if they were, and which model it was.
ModelKey = tuple[str, str, str]
_Key = TypeVar("_Key")
_Other = TypeVar("_Other")


@dataclass(frozen=True)
class Overview:
    """Runs, by suite and model; of several runs of a model on a suite, the last.

    ``axis`` is what the checkpoints of a training are counted by.
    """

    runs: tuple[Run, ...]
    axis: Axis = AS_NAMED

    @cached_property
    def by_pair(self) -> Mapping[tuple[SuiteKey, ModelKey], Run]:
        """The run of each suite and model that there is one of."""
        return {(_suite(run), _model(run)): run for run in self.runs}

    @property
    def suites(self) -> dict[SuiteKey, str]:
        """The suites in the order of their first runs, and their names: no two alike."""
        return all_named(
            map(_suite, self.runs),
            lambda key: " ".join(filter(None, key[:2])),
            lambda key: f"{' '.join(filter(None, key[:2]))} ({key[2]})",
        )

    @property
    def models(self) -> dict[ModelKey, str]:
        """The models, the best first, and their names: no two alike.

        They are ordered by the mean of their headlines over the suites that all of them have one
        of; where there is no such suite, and among equals, by their first runs. The checkpoints of
        a training stand together, in the order of their steps.
        """
        means, at = self._means, self.steps
        best = sorted(dict.fromkeys(map(_model, self.runs)), key=lambda key: -means.get(key, -1.0))
        places: dict[object, int] = {}
        for key in best:
            places.setdefault(at[key][0] if key in at else key, len(places))
        return all_named(
            sorted(
                best,
                key=lambda key: (
                    (places[at[key][0]], at[key][1]) if key in at else (places[key], 0.0)
                ),
            ),
            lambda key: (Path(key[0]).name or key[0]) + key[1],
            lambda key: key[0] + key[1],
            lambda key: f"{key[0]}{key[1]}@{key[2].rpartition(':')[2][:12]}",
        )

    @cached_property
    def steps(self) -> Mapping[ModelKey, tuple[str, float]]:
        """The training and the count of each model that is a checkpoint, one of several."""
        known = {
            _model(run): step for run in self.runs if (step := step_of(run, self.axis)) is not None
        }
        names = Counter((step.training, step.unit) for step in known.values())
        return {
            key: (f"{step.training} {step.unit}", step.count)
            for key, step in known.items()
            if names[step.training, step.unit] > 1
        }

    @cached_property
    def spoken_for(self) -> list[ModelKey]:
        """The models that sentences are about: of the checkpoints of a training, the last."""
        last: dict[str, ModelKey] = {}
        for key, (training, count) in self.steps.items():
            if training not in last or count > self.steps[last[training]][1]:
                last[training] = key
        return [key for key in self.models if key not in self.steps or key in last.values()]

    @cached_property
    def _means(self) -> Mapping[ModelKey, float]:
        """The mean headline of each model that has any, over the suites that all these have."""
        scores: dict[ModelKey, dict[SuiteKey, float]] = {}
        for (suite, model), run in self.by_pair.items():
            if run.headline is not None and run.headline.score is not None:
                scores.setdefault(model, {})[suite] = run.headline.score
        return means_of_shared(scores)

    def headline(self, suite: SuiteKey, model: ModelKey) -> Headline | None:
        """The headline of a pair; None where it was not run, or the suite has none."""
        run = self.by_pair.get((suite, model))
        return run.headline if run is not None else None

    @property
    def headlines(self) -> list[Headline]:
        """The headlines of all runs that have one."""
        return [run.headline for run in self.runs if run.headline is not None]

    @property
    def chance_name(self) -> str:
        """The name of what reads nothing; ``chance`` where suites differ in it."""
        names = {head.chance_name for head in self.headlines}
        return names.pop() if len(names) == 1 else CHANCE_NAME

    def controlled(self, suite: SuiteKey) -> bool:
        """Tell whether a suite has controls, from which its score is to be told apart."""
        runs = (self.by_pair.get((suite, model)) for model in self.models)
        return any(run.differences for run in runs if run is not None)

    def reference(self, suite: SuiteKey, name: str) -> float | None:
        """A number that a suite has, whatever the model: a floor, human score, chance."""
        own = (self.headline(suite, model) for model in self.models)
        values = (getattr(each, name) for each in own if each is not None)
        return next((value for value in values if value is not None), None)

    def cautions(self) -> Iterator[str]:
        """The cautions on the runs, each once, with the suites and models that it is of."""
        found: dict[str, list[str]] = {}
        for (suite, model), run in self.by_pair.items():
            where = self.suites[suite]
            if model not in self.steps and len(self.models) > 1:
                where += f" ({self.models[model]})"
            for text in run.cautions:
                # Where a curve rises above its floors is said by step.
                if not (model in self.steps and text.startswith(NO_BETTER)):
                    found.setdefault(text, []).append(where)
        for text, places in found.items():
            yield f"{text}: {first_names(list(dict.fromkeys(places)))}"

    def sentences(self) -> Iterator[str]:
        """A sentence for each model, the last of a training: what its scores show.

        Suites with controls are left out: their manipulation moves surprisals by itself.
        """
        for key in self.spoken_for:
            name = self.models[key]
            suites = [suite for suite in self.suites if self.headline(suite, key)]
            plain = [suite for suite in suites if not self.controlled(suite)]
            own = [each for suite in plain if (each := self.headline(suite, key))]
            yield standing(name, own, len(suites) - len(plain))


def means_of_shared(scores: Mapping[_Key, Mapping[_Other, float]]) -> dict[_Key, float]:
    """The mean score of each model, over what all of them have one of; 0 where that is nothing."""
    shared = set.intersection(*map(set, scores.values())) if scores else set()
    return {
        model: fmean(own[each] for each in sorted(shared, key=str)) if shared else 0.0
        for model, own in scores.items()
    }


def standing(
    name: str, headlines: Iterable[Headline], controlled: int, what: str = "suites"
) -> str:
    """A sentence: on how many suites a model is above chance, and above its floors, too.

    ``controlled``: the number of suites with controls, which are not among the headlines; ``what``
    says what there is a headline of.
    """
    scored = [each for each in headlines if each.score is not None]
    floors = [each for each in scored if each.floor is not None]
    above = sum(above_chance(each) for each in scored)
    # A floor below chance is no more than that.
    beyond = sum(above_chance(each) and above_floor(each) for each in floors)
    chance = chance_names(scored, article=True)
    return (
        f"{name} is above {chance} on {above} of {len(scored)} {what}, and above its floors "
        f"(artefact and overlap score) on {beyond} of the {len(floors)} that have any, "
        "each with its whole 95\N{NO-BREAK SPACE}% interval."
        + (f" {what.capitalize()} with controls (†) are not counted." if controlled else "")
    )


def above_chance(headline: Headline) -> bool:
    """Tell whether the whole interval is above chance."""
    return _above(headline.ci_low, headline.chance)


def above_floor(headline: Headline) -> bool:
    """Tell whether the whole interval is above the artefact and the overlap score."""
    return _above(headline.ci_low, headline.floor)


def _above(low: float | None, floor: float | None) -> bool:
    return low is not None and floor is not None and low > floor


def overview_of(results: Iterable[TaskResults | Run], axis: Axis = AS_NAMED) -> Overview:
    """The overview of results in memory, or of runs that were read."""
    return Overview(tuple(one if isinstance(one, Run) else run_of(one) for one in results), axis)


def _suite(run: Run) -> SuiteKey:
    name = run.suite or run.data
    if run.headline is not None and run.headline.measure == "accuracy":
        # Of a suite there are probes beside scores, and probes of other configs have other rows.
        name = f"{name} (accuracy, {first_names(run.headline.over, 2)})"
    return name, run.version, run.data


def _model(run: Run) -> ModelKey:
    return run.model, run.variant, run.commit


def all_named(keys: Iterable[_Key], *ways: Callable[[_Key], str]) -> dict[_Key, str]:
    """A name for each key: the first way to name them that tells all apart, or else the last."""
    found = list(dict.fromkeys(keys))
    for way in ways:
        names = [way(key) for key in found]
        if len(set(names)) == len(names):
            break
    return dict(zip(found, names, strict=True))
