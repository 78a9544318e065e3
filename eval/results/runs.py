"""Runs as their readers take them: scores, and which task, model and rows they are of.

:func:`run_of` takes one from results in memory, :func:`read_run` from the ``results.json`` that an
earlier run left, where everything is checked: the file may be somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.benchmark import headline_id, main_split, task_id
from coherencegym.eval.data.notes import Note, detail
from coherencegym.eval.data.source import SuiteUse, SuiteWords
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score
from coherencegym.eval.tasks.headline import Headline, headline_of_one
from coherencegym.eval.tasks.results import TaskResults
from coherencegym.eval.tasks.score.controls import Difference
from coherencegym.files.strict_json import Many, Some, kind, read_json

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """Facts of a model that results have: all of them may be missing."""

    parameters: int | None = None
    context: int | None = None
    dtype: str = ""
    device: str = ""
    quantization: Any = None
    adapter: Any = None
    arguments: dict[str, Any] | None = None


@dataclass(frozen=True)
class TableFacts:
    """A table of which rows were scored; ``items``: how many, ``language``: of the texts."""

    config: str
    split: str
    sha256: str
    items: int = 0
    headline: str = ""
    language: str = ""


@dataclass(frozen=True)
class Run:
    """The scores of one model on one dataset.

    Attributes:
        model, commit: the name that the user gave, and which it was.
        suite, version: the dataset's; empty where it has none.
        tables: those that were scored.
        scores, differences, headline, notes: see :class:`eval.tasks.task.Findings`.
        folder: the place of the results; empty for those in memory.
        signature: one line from which they can be reproduced.
        settings: the user's choices, and what came of them.
        data, repo, data_commit: the dataset as the user named it, and its Hub id and commit; empty
            for one that is not on the Hub.
        rows_sha256: the digest of all rows that were read (hex), as the signature begins it; empty
            where it is not known.
        task: the name of the task.
        facts, words: those of the model, and those of the suite on itself.
    """

    model: str
    commit: str
    suite: str
    version: str
    tables: Sequence[TableFacts]
    scores: Sequence[Score]
    differences: Sequence[Difference] = ()
    folder: str = ""
    signature: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    repo: str = ""
    data_commit: str = ""
    rows_sha256: str = ""
    headline: Headline | None = None
    notes: Sequence[Note] = ()
    task: str = "score"
    facts: ModelFacts = field(default_factory=ModelFacts)
    words: SuiteWords = field(default_factory=SuiteWords)

    @property
    def rows(self) -> dict[tuple[str, str], str]:
        """The digest of each table's rows, by config and split."""
        return {(table.config, table.split): table.sha256 for table in self.tables}

    @property
    def named_suite(self) -> str:
        """The name of the suite; of a dataset that is none, its own."""
        return self.suite or self.data

    @cached_property
    def number(self) -> Headline | None:
        """The run's one number: the headline, or its only score."""
        scores = [score for score in self.scores if score.level == "all"]
        if self.headline is not None or len(scores) != 1:
            return self.headline
        return headline_of_one(scores[0])

    @property
    def at_revision(self) -> str:
        """``@`` and the tag or commit of the model that was asked for; empty where none was."""
        revision = self.settings.get("model_revision")
        return f"@{revision}" if revision else ""

    @property
    def by_scorer(self) -> str:
        """The way in which surprisals were read, in brackets; empty where from left to right."""
        scorer, masking = (self.settings.get(name) for name in ("scorer", "masking"))
        if not masking:
            return ""
        return f" ({scorer}, {masking})" if masking == "original" else f" ({scorer})"

    @property
    def variant(self) -> str:
        """The revision and the way of reading, as they follow the name of the model."""
        return self.at_revision + self.by_scorer

    @property
    def cautions(self) -> list[str]:
        """The cautions on the run's one number, without the marks of its table of scores.

        A caution that begins with ``!`` is on rows of that table, which may be others than those
        behind the headline: whether the headline is over few items, its own number says.
        """
        found = [note.text for note in self.notes if note.kind == "caution"]
        few = self.headline is not None and self.headline.n < FEW_ITEMS
        own = [f"fewer than {FEW_ITEMS} items: read the interval, not the score"] * few
        return [*(text.removeprefix("† ") for text in found if not text.startswith("!")), *own]

    @cached_property
    def benchmark(self) -> dict[str, Score | Headline]:
        """The scores on tasks of the dataset's ``eval.yaml``, by their ids.

        These are the headline, where it is over several configs, and the score of each of its
        configs on the split of its task, by the metric of the headline.
        """
        if (head := self.number) is None:
            return {}
        found: dict[str, Score | Headline] = {}
        if len(head.over) > 1:
            found[headline_id(self.task)] = head
        splits: dict[str, list[str]] = {}
        for table in self.tables:
            splits.setdefault(table.config, []).append(table.split)
        asked = {config: main_split(splits[config]) for config in head.over if config in splits}
        for score in self.scores:
            counts = score.level == "all" and score.metric == head.metric
            if counts and asked.get(score.config) == score.split:
                found.setdefault(task_id(score.config), score)
        return found

    @property
    def reported(self) -> list[Score | Headline]:
        """The headline, where there is more than one score to choose from, and those scores."""
        scores = [score for score in self.scores if score.level == "all"]
        return [*([self.headline] if self.headline and len(scores) > 1 else []), *scores]


def run_of(results: TaskResults) -> Run:
    """The run that results in memory are of."""
    data = results.dataset
    found = _Results(
        model=_picked(_Model, results.model),
        dataset=_picked(
            _Dataset,
            {
                **data,
                "tables": [_picked(TableFacts, one) for one in data.get("tables", ())],
                "uses": [_picked(SuiteUse, one) for one in data.get("uses", ())],
            },
        ),
        task=results.task,
        scores=tuple(results.rows),
        differences=getattr(results, "differences", ()),
        headline=results.headline,
        notes=tuple(results.notes),
        signature=results.signature,
        settings=dict(results.settings),
    )
    return _run(found)


def _picked(kind: type[_T], values: Mapping[str, Any]) -> _T:
    known = (one.name for one in fields(kind))  # type: ignore[arg-type]
    return kind(**{name: values[name] for name in known if name in values})


def run_folders(folders: Iterable[Path], levels: int = 2) -> list[Path]:
    """Folders of results, each once; in the place of a folder of such folders those, by name.

    ``levels`` are those below a folder: the runs of a training have a folder of their own there.
    """
    found: list[Path] = []
    for folder in folders:
        inside: list[Path] = []
        for level in range(0 if (folder / MARKER).is_file() else levels):
            # Hidden ones are of runs that are writing, or were killed.
            paths = folder.glob("[!.]*/" * (level + 1) + MARKER)
            # Detectors of several seeds have folders of their own beside the results of all.
            inside += [p.parent for p in paths if not (p.parent.parent / MARKER).is_file()]
        found += sorted(inside) or [folder]
    return list({folder.resolve(): folder for folder in reversed(found)}.values())[::-1]


def read_run(folder: Path) -> Run:
    """The run whose results lie in a folder.

    Raises:
        EvaluationError: there are none, or they are not what a run writes.
        OSError: the file cannot be read.
    """
    path = folder / MARKER
    if not path.is_file():
        what = "no such folder" if not folder.exists() else f"no {MARKER} in it"
        raise EvaluationError(f"{folder}: {what}; expected a folder that coherencegym score wrote")
    results_head(path)
    return replace(_run(read_json(path, _Results)), folder=str(folder))


def runs_beside(above: Path, own: Iterable[Path]) -> list[Run]:
    """The runs of ``score`` in a folder but for some, by name; others read the same rows otherwise.

    What cannot be read is passed over.
    """
    known = {folder.resolve() for folder in own}
    found = []
    for folder in run_folders([above], levels=1):
        with suppress(EvaluationError, OSError):
            if folder.resolve() not in known:
                found.append(read_run(folder))
    return [run for run in found if run.task == "score"]


def _run(found: _Results) -> Run:
    model, data = found.model, found.dataset
    return Run(
        model=model.name,
        commit=model.commit or "",
        suite=data.suite,
        version=data.version or "",
        tables=data.tables,
        scores=found.scores,
        differences=found.differences,
        signature=found.signature or "",
        settings=found.settings,
        data=data.name or "",
        repo=data.repo or "",
        data_commit=data.commit or "",
        rows_sha256=data.rows_sha256 or "",
        headline=found.headline,
        # Those of earlier releases are lines that do not say of which kind they are.
        notes=tuple(detail(note) if isinstance(note, str) else note for note in found.notes),
        task=found.task,
        facts=model,
        words=data,
    )


@dataclass(frozen=True)
class _Head:
    """The keys of ``results.json`` that say how to read it."""

    format: Any = None
    task: str = "score"
    datasets: Any = None


def results_head(path: Path) -> _Head:
    """The head of ``results.json``.

    Raises:
        EvaluationError: it has none, or is from before the folders of detection were those of
            every task.
    """
    found = read_json(path, _Head)
    if found.datasets is not None:
        raise EvaluationError(
            f"{path}: written by an older release; run coherencegym {kind(found.task)[1:-1]} again"
        )
    return found


@dataclass(frozen=True, kw_only=True)
class _Dataset(SuiteWords):
    suite: str
    tables: Many[TableFacts]
    name: str | None = None
    version: str | None = None
    repo: str | None = None
    commit: str | None = None
    rows_sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Model(ModelFacts):
    name: str
    commit: str | None = None


@dataclass(frozen=True)
class _Results:
    # As far as a run is read; what has a default came later.
    model: _Model
    dataset: _Dataset
    scores: Some[Score]
    task: str = "score"
    differences: Many[Difference] = ()
    headline: Headline | None = None
    notes: Many[Note | str] = ()
    signature: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
