"""Runs as figures take them: scores, and which model and rows they are of.

:func:`run_of` takes one from results in memory, :func:`read_run` from the ``results.json`` that an
earlier run left, where everything is checked: the file may be somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import Note, detail
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import TaskResults
from coherencegym.eval.tasks.score.controls import Difference
from coherencegym.files.strict_json import Many, Some, kind, read_json


@dataclass(frozen=True)
class Run:
    """The scores of one model on one dataset.

    Attributes:
        model, commit: the name that the user gave, and which it was.
        suite, version: the dataset's; empty where it has none.
        rows: the digest of each table's rows, by config and split.
        scores, differences, headline, notes: see :class:`eval.tasks.task.Findings`.
        folder: the place of the results; empty for those in memory.
        signature: one line from which they can be reproduced.
        settings: the user's choices, and what came of them.
        data, repo, data_commit: the dataset as the user named it, and its Hub id and commit; empty
            for one that is not on the Hub.
    """

    model: str
    commit: str
    suite: str
    version: str
    rows: Mapping[tuple[str, str], str]
    scores: Sequence[Score]
    differences: Sequence[Difference] = ()
    folder: str = ""
    signature: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    repo: str = ""
    data_commit: str = ""
    headline: Headline | None = None
    notes: Sequence[Note] = ()

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

    @property
    def reported(self) -> list[Score | Headline]:
        """The headline, where there is more than one score to choose from, and those scores."""
        scores = [score for score in self.scores if score.level == "all"]
        return [*([self.headline] if self.headline and len(scores) > 1 else []), *scores]


def run_of(results: TaskResults) -> Run:
    """The run that results in memory are of."""
    found = _run(results.model, results.dataset, results.rows, results.signature, results.settings)
    differences = getattr(results, "differences", ())
    return replace(
        found, differences=differences, headline=results.headline, notes=tuple(results.notes)
    )


def run_folders(folders: Iterable[Path]) -> list[Path]:
    """Folders of results, each once; in the place of a folder of such folders those, by name."""
    found: list[Path] = []
    for folder in folders:
        # Hidden ones are of runs that are writing, or were killed.
        inside = sorted(path.parent for path in folder.glob(f"[!.]*/{MARKER}"))
        # Detectors of several seeds have folders of their own beside the results of all.
        found += inside if inside and not (folder / MARKER).is_file() else [folder]
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
    one = read_json(path, _Results)
    found = _run(asdict(one.model), asdict(one.dataset), one.scores, one.signature, one.settings)
    return replace(
        found,
        differences=one.differences,
        headline=one.headline,
        folder=str(folder),
        # Those of earlier releases are lines that do not say of which kind they are.
        notes=tuple(detail(note) if isinstance(note, str) else note for note in one.notes),
    )


def runs_beside(above: Path, own: Iterable[Path]) -> list[Run]:
    """The runs of ``score`` in a folder but for some, by name; others read the same rows otherwise.

    What cannot be read is passed over.
    """
    known = {folder.resolve() for folder in own}
    found = []
    for folder in run_folders([above]):
        with suppress(EvaluationError, OSError):
            if folder.resolve() not in known and results_head(folder / MARKER).task == "score":
                found.append(read_run(folder))
    return found


def _run(
    model: Mapping[str, Any],
    dataset: Mapping[str, Any],
    scores: Sequence[Score],
    signature: str | None,
    settings: Mapping[str, Any],
) -> Run:
    suite, version, data, repo, commit = (
        str(dataset.get(name) or "") for name in ("suite", "version", "name", "repo", "commit")
    )
    return Run(
        model=str(model["name"]),
        commit=str(model.get("commit") or ""),
        suite=suite,
        version=version,
        rows={(t["config"], t["split"]): t["sha256"] for t in dataset.get("tables", ())},
        scores=scores,
        signature=signature or "",
        settings=settings,
        data=data,
        repo=repo,
        data_commit=commit,
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


@dataclass(frozen=True)
class _Table:
    config: str
    split: str
    sha256: str


@dataclass(frozen=True)
class _Dataset:
    suite: str
    tables: Many[_Table]
    name: str | None = None
    version: str | None = None
    repo: str | None = None
    commit: str | None = None


@dataclass(frozen=True)
class _Model:
    name: str
    commit: str | None = None


@dataclass(frozen=True)
class _Results:
    """The schema of ``results.json``, as far as a run is read; what has a default came later."""

    model: _Model
    dataset: _Dataset
    scores: Some[Score]
    differences: Many[Difference] = ()
    headline: Headline | None = None
    notes: Many[Note | str] = ()
    signature: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
