"""The scores that a card shows: read from folders of results, and held to the rows of the build."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from coherencegym.builders.pipeline.build import write_documents
from coherencegym.builders.release.manifest import Manifest
from coherencegym.builders.release.remote import read_hashes
from coherencegym.builders.release.rows import hashes_path
from coherencegym.cards.scores import PLOT, SCORES, ModelScore, ScoredRows
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.table_kind import rows_digest
from coherencegym.eval.results.read import read_results, run_folders
from coherencegym.eval.tasks.results import Results


def read_scores(folders: Sequence[Path], suite: str, *, alone: bool = True) -> list[Results]:
    """The runs on a suite among folders of results, or of several runs; none where none is given.

    ``alone``: none may be on another suite alone.

    Raises:
        EvaluationError: a folder cannot be read, none of the runs is on the suite, or one of them
            is of a part, or has no headline.
    """
    runs = [read_results(folder) for folder in run_folders(folders)]
    own = [run for run in runs if run.suite == suite]
    if runs and not own and alone:
        others = ", ".join(sorted({run.suite or run.data for run in runs}))
        raise EvaluationError(f"--scores {folders[0]}: results on {others}; expected on {suite}")
    for run in own:
        if limit := run.settings.get("max_items"):
            raise EvaluationError(
                f"--scores {run.folder}: results of --limit {limit}; expected those of all rows"
            )
        if run.headline is None or run.headline.score is None:
            raise EvaluationError(
                f"--scores {run.folder}: no headline score; expected results on configs of the "
                "suite's headline"
            )
    return own


def add_scores(manifest: Manifest, runs: Sequence[Results], folder: Path) -> Manifest:
    """Put scores into a build: the manifest with them, written with its card, and the plot.

    Args:
        manifest, folder: the build.
        runs: those that :func:`read_scores` gave.

    Raises:
        EvaluationError: a run read other rows than the build has.
    """
    from coherencegym.eval.views.plots import scores_png

    tables = {table for run in runs for table in _tables(run, manifest, folder)}
    shown = manifest | {
        SCORES: {
            "models": [asdict(_model(run)) for run in runs],
            "tables": [asdict(table) for table in sorted(tables)],
        }
    }
    whole = [replace(run, rows=_whole(run), differences=()) for run in runs]
    (folder / PLOT).parent.mkdir(exist_ok=True)
    (folder / PLOT).write_bytes(scores_png(whole))
    write_documents(shown, folder)
    return shown


def _whole(run: Results) -> list[Any]:
    # Groups would make the plot longer than the card.
    return [score for score in run.rows if score.level == "all"]


def _tables(run: Results, manifest: Manifest, folder: Path) -> Iterable[ScoredRows]:
    for (config, split), digest in run.digests.items():
        built = manifest["configs"].get(config, {}).get("splits", {}).get(split)
        path = folder / hashes_path(config, split)
        if built is None or rows_digest(read_hashes(path).values()) != digest:
            what = "is not in this build" if built is None else "has other rows in this build"
            raise EvaluationError(
                f"--scores {run.folder}: {config} ({split}) {what}; expected results on "
                f"{manifest['suite']} {manifest['version']} as it is built here: score it again"
            )
        yield ScoredRows(config, split, built["content_hash"])


def _model(run: Results) -> ModelScore:
    head = run.headline
    assert head is not None
    assert head.score is not None
    # Of a folder its own name: the rest is of this machine.
    name = Path(run.model_name).name if Path(run.model_name).is_absolute() else run.model_name
    return ModelScore(
        name,
        run.commit,
        head.metric,
        head.score,
        head.ci_low,
        head.ci_high,
        head.partial_input_score,
        head.human_score,
        head.chance,
        head.words,
        head.n,
        head.lexical_overlap_score,
        head.surface_score,
    )
