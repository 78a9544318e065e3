"""The folder that a run leaves behind: the files that those of every task have.

``results.json`` has the signature, model, dataset, settings, notes and scores, and what else a task
has; ``outcomes.parquet`` what every unit came to under every metric.

They may come from anybody, so that every value is held to its type.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import Note
from coherencegym.eval.data.source import SuiteWords
from coherencegym.eval.outcomes.files import OUTCOMES_FILE, outcomes_digest
from coherencegym.eval.outcomes.metrics import SavedMetric, known_metrics
from coherencegym.eval.outcomes.reading import read_outcome_tables
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.registry import TASKS, task_named
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.files.strict_json import Many, Some, kind, read_json

#: The file that every folder of results has.
MARKER = "results.json"
#: The folder of an overview, which lies beside those of its runs.
OVERVIEW = "overview"
#: The format of that file: what reads it later refuses another.
RESULTS_FORMAT = 1


def run_name(data: str, model: str, *how: str, revision: str | None = None) -> str:
    """The name of a run's folder, ``DATA--MODEL@REVISION`` and then the task and ways of reading.

    A folder has its own name; what the user did not ask for is in no name.
    """
    at = f"@{revision.replace('/', '__')}" if revision else ""
    asked = (each for each in how if each not in _UNASKED)
    return "--".join((_last_name(data), _last_name(model) + at, *asked))


def told_apart(texts: Collection[str]) -> dict[str, str]:
    """The names of datasets or models in the names of their runs' folders, by what they are called.

    Of folders that have one name, the folders above tell them apart: ``a__x`` and ``b__x``.
    """
    paths = {
        text: Path(text).resolve().parts if Path(text).is_dir() else (_last_name(text),)
        for text in texts
    }
    return {text: _name_among(parts, set(paths.values())) for text, parts in paths.items()}


def _name_among(parts: tuple[str, ...], every: Collection[tuple[str, ...]]) -> str:
    # An absolute path begins with /, and is not equal to another one before.
    lengths = range(1, len(parts))
    enough = (n for n in lengths if sum(other[-n:] == parts[-n:] for other in every) == 1)
    return "__".join(parts[-next(enough, len(parts)) :])


#: The task without a name, and the ways to score and to mask that are taken without a word.
_UNASKED = ("", "auto", "within_word_l2r")


def _last_name(text: str) -> str:
    return Path(text).resolve().name if Path(text).is_dir() else text.replace("/", "__")


def run_folders(folders: Iterable[Path], levels: int = 2) -> list[Path]:
    """Folders of results, each once; in the place of a folder of such folders those, by name.

    ``levels`` are those below a folder: the runs of a training have a folder of their own there.
    An overview is passed over beside others, so that ``results/*`` names the runs.
    """
    listed: list[Path] = []
    for folder in folders:
        inside: list[Path] = []
        for level in range(0 if (folder / MARKER).is_file() else levels):
            # Hidden ones are of runs that are writing, or were killed.
            paths = folder.glob("[!.]*/" * (level + 1) + MARKER)
            # Detectors of several seeds have folders of their own beside the results of all.
            inside += [p.parent for p in paths if not (p.parent.parent / MARKER).is_file()]
        listed += sorted(inside) or [folder]
    runs = [one for one in listed if one.name != OVERVIEW or (one / MARKER).is_file()] or listed
    return list({folder.resolve(): folder for folder in reversed(runs)}.values())[::-1]


def runs_beside(above: Path, own: Iterable[Path]) -> list[Results]:
    """The runs of ``score`` in a folder but for some, by name; others read the same rows otherwise.

    What cannot be read is passed over.
    """
    known = {folder.resolve() for folder in own}
    folders = (one for one in run_folders([above], levels=1) if one.resolve() not in known)
    return [run for run in read_readable(folders)[0] if run.task == "score"]


def read_readable(folders: Iterable[Path]) -> tuple[list[Results], dict[Path, Exception]]:
    """The scores of folders of results, and what is wrong with those that cannot be read."""
    runs, refused = [], dict[Path, Exception]()
    for folder in folders:
        try:
            runs.append(read_results(folder))
        except (EvaluationError, OSError) as error:
            refused[folder] = error
    return runs, refused


def seed_folders(folder: Path) -> list[Path]:
    """The folders of the seeds, or folds, of a training, of which these are the results over all.

    None of other results.
    """
    if (folder / OUTCOMES_FILE).is_file():
        return []
    return sorted(each for name in ("seed-*", "fold-*") for each in folder.glob(name))


def read_results(folder: Path, *, outcomes: bool = False) -> Results:
    """Read a folder of results: its scores, and where asked for the outcomes of every unit."""
    path = folder / MARKER
    if not path.is_file():
        what = "no such folder" if not folder.exists() else f"no {MARKER} in it"
        raise EvaluationError(f"{folder}: {what}; expected a folder that coherencegym score wrote")
    written = read_json(path, _Format).format
    if type(written) is not int or written != RESULTS_FORMAT:
        raise EvaluationError(
            f"{path}: format {kind(written)}; expected {RESULTS_FORMAT} (a newer release may read "
            "it, or score the model again)"
        )
    if outcomes:
        _check_whole(folder)
    read = read_json(path, _Results)
    # As it is written: what no reader knows stays, too.
    raw, known = json.loads(path.read_text(encoding="utf-8-sig")), {"format", *vars(read)}
    results = Results(
        signature=read.signature,
        model=raw["model"],
        dataset=raw["dataset"],
        settings=raw["settings"],
        notes=read.notes,
        task=read.task,
        rows=read.scores,
        headline=read.headline,
        metrics=known_metrics(read.metrics, str(path)),
        differences=read.differences,
        more={name: value for name, value in raw.items() if name not in known},
        folder=folder,
    )
    return _with_outcomes(results, read.outcomes_sha256) if outcomes else results


def _check_whole(folder: Path) -> None:
    if seeds := seed_folders(folder):
        over = seeds[0].name.partition("-")[0]
        raise EvaluationError(
            f"{folder}: results of several {over}s; expected the folder of one, such as {seeds[0]}"
        )
    if not (folder / OUTCOMES_FILE).is_file():
        raise EvaluationError(f"{folder}: no {OUTCOMES_FILE}; expected the whole folder of results")


def _with_outcomes(results: Results, digest: str) -> Results:
    assert results.folder is not None
    path, file = results.folder / MARKER, results.folder / OUTCOMES_FILE
    outcomes = read_outcome_tables(results.folder)
    seen: set[tuple[str, str]] = set()
    for number, table in enumerate(results.tables):
        if (place := (table.config, table.split)) in seen:
            raise EvaluationError(
                f"{path}: dataset.tables[{number}]: there twice; expected it once"
            )
        seen.add(place)
    for (config, split, name, _), places in outcomes.series.items():
        where = f"{file}: {kind(config)}"
        if (config, split) not in seen:
            raise EvaluationError(f"{where}: not in {path.name}; {_AGAIN}")
        if (metric := results.metrics.get(name)) is None:
            raise EvaluationError(f"{where}, {kind(name)}: no such metric; {_AGAIN}")
        if fault := metric.fault(outcomes.cells(places)):
            raise EvaluationError(f"{where}, {kind(metric.said)}: {fault}")
    if outcomes_digest(results.folder) != digest:
        raise EvaluationError(f"{file}: not the outcomes that {path.name} is of; {_AGAIN}")
    if results.task not in TASKS:
        return replace(results, outcomes=outcomes)
    return replace(results, outcomes=outcomes, asked=task_named(results.task))


_AGAIN = "the files are not of one run: score the model again"


@dataclass(frozen=True)
class _Format:
    format: Any


@dataclass(frozen=True, kw_only=True)
class _Model:
    name: str
    commit: str | None = None
    dtype: str = ""
    device: str = ""
    parameters: int | None = None
    arguments: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class _Dataset(SuiteWords):
    name: str
    suite: str
    tables: Some[TableFacts]
    version: str | None = None
    repo: str | None = None
    commit: str | None = None
    rows_sha256: str


class _Settings(BaseModel, extra="allow"):
    versions: dict[str, str] = {}
    model_revision: str | None = None


@dataclass(frozen=True)
class _Results:
    signature: str
    model: _Model
    dataset: _Dataset
    settings: _Settings
    scores: Some[Score]
    task: str = "score"
    differences: Many[Difference] = ()
    headline: Headline | None = None
    notes: Many[Note] = ()
    metrics: Many[SavedMetric] = ()
    outcomes_sha256: str = ""
