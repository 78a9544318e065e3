"""Several runs in one figure: those of one model, and scores of the same thing, put together.

Two scores share a row where suite, config, split, the rows themselves (their digest) and the
predictions are the same. Scores of another version of a config never do: they get rows of their
own, named by the version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coherencegym.eval.report.figures import short_model
from coherencegym.eval.statistics.scores import Score, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import Difference

#: Config as named in the figure, split, level, group, formula, aggregation, metric, system.
ScoreKey = tuple[str, str, str, str, str, str, str, str]
#: Config as named in the figure, control, split, formula, aggregation.
DifferenceKey = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Series:
    """Scores of one model, drawn in one colour, by the row that they stand in."""

    label: str
    scores: Mapping[ScoreKey, Score]
    differences: Mapping[DifferenceKey, Difference]


@dataclass(frozen=True)
class PlotRows:
    """The models of a figure, and its rows table by table: of the first model that has one."""

    series: Sequence[Series]
    scores: Mapping[ScoreKey, Score]
    differences: Mapping[DifferenceKey, Difference]


def merged(runs: Sequence[Results]) -> PlotRows:
    """Bring runs together."""
    renamed = [_renamed(run, names) for run, names in zip(runs, _table_names(runs), strict=True)]
    scores: dict[ScoreKey, Score] = {}
    differences: dict[DifferenceKey, Difference] = {}
    for run in renamed:
        for score in shown_rows(run.rows):
            scores.setdefault(_score_key(score), score)
        for difference in run.differences:
            differences.setdefault(_difference_key(difference), difference)
    tables = list(dict.fromkeys(key[:2] for key in scores))
    ordered = sorted(scores, key=lambda key: tables.index(key[:2]))
    return PlotRows(_series(renamed), {key: scores[key] for key in ordered}, differences)


def suites_of(runs: Sequence[Results]) -> str:
    """The suites of a figure, with their versions, for its title."""
    names = list(dict.fromkeys(f"{run.suite} {run.version}".strip() for run in runs))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _score_key(score: Score) -> ScoreKey:
    prediction = score.formula, score.aggregation, score.metric, score.system
    return (score.config, score.split, score.level, score.group, *prediction)


def _difference_key(row: Difference) -> DifferenceKey:
    return (row.config, row.control, row.split, row.formula, row.aggregation)


def _table_names(runs: Sequence[Results]) -> list[dict[str, str]]:
    # With suite and version where names alone are not enough.
    several = len({run.suite for run in runs}) > 1
    plain = [
        {
            config: f"{run.suite} {config}" if several and run.suite else config
            for config in dict.fromkeys(score.config for score in run.rows)
        }
        for run in runs
    ]
    digests: dict[tuple[str, str], dict[str, set[str]]] = {}
    for run, names in zip(runs, plain, strict=True):
        for (config, split), digest in run.digests.items():
            if config in names:
                versions = digests.setdefault((names[config], split), {})
                versions.setdefault(digest, set()).add(run.version)
    return [
        {config: name + _version(run, config, name, digests) for config, name in names.items()}
        for run, names in zip(runs, plain, strict=True)
    ]


def _version(
    run: Results, config: str, name: str, digests: Mapping[tuple[str, str], Mapping[str, set[str]]]
) -> str:
    for (own, split), digest in run.digests.items():
        others = digests.get((name, split), {})
        if own == config and len(others) > 1:
            versions = Counter(version for found in others.values() for version in found)
            unique = run.version and versions[run.version] == 1
            return f" [v{run.version}]" if unique else f" [rows {digest[:7]}]"
    return ""


def _renamed(run: Results, names: Mapping[str, str]) -> Results:
    return replace(
        run,
        rows=[replace(score, config=names[score.config]) for score in run.rows],
        # A control is of the same dataset, so its own name is enough.
        differences=[
            replace(row, config=names.get(row.config, row.config)) for row in run.differences
        ],
    )


def _series(runs: Sequence[Results]) -> list[Series]:
    # One for each model, or one for each run of it where runs have the same rows.
    members: list[list[tuple[int, Results]]] = []
    for number, run in enumerate(runs):
        for own in members:
            first = own[0][1]
            which = (first.model_name, first.commit, first.variant)
            same_model = which == (run.model_name, run.commit, run.variant)
            taken = {_score_key(score) for _, other in own for score in other.rows}
            if same_model and not any(_score_key(score) in taken for score in run.rows):
                own.append((number, run))
                break
        else:
            members.append([(number, run)])
    labels = _labels([own[0][1] for own in members])
    return [
        Series(
            label,
            {_score_key(score): score for _, run in own for score in run.rows},
            {_difference_key(row): row for _, run in own for row in run.differences},
        )
        for label, own in zip(labels, members, strict=True)
    ]


def _labels(runs: Sequence[Results]) -> list[str]:
    # With the folder of the results where two are the same.
    names = [short_model(run.model_name) + run.variant for run in runs]
    folders = [run.folder.name if run.folder else run.commit[:14] for run in runs]
    if len(set(zip(names, folders, strict=True))) < len(runs):
        folders = [str(run.place) for run in runs]
    repeated = Counter(names)
    return [
        f"{name} ({folder})" if repeated[name] > 1 and folder else name
        for name, folder in zip(names, folders, strict=True)
    ]
