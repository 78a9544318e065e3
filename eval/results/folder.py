"""The folder that a run leaves behind: the files that those of every task have.

``results.json`` has the signature, model, dataset, settings, notes and scores, and what else a task
has; ``outcomes.parquet`` what every unit came to (:mod:`eval.results.files`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coherencegym.eval.results.files import OUTCOMES_FILE, outcomes_schema
from coherencegym.eval.tasks.task import TaskResults
from coherencegym.files.folders import written_beside

#: The file that every folder of results has.
MARKER = "results.json"
#: The format of that file: what reads it later refuses another.
RESULTS_FORMAT = 1


@contextmanager
def results_folder(
    results: TaskResults, folder: Path, *, overwrite: bool = False
) -> Iterator[Path]:
    """A folder of results, for more files: written whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite, MARKER) as work:
        write_common(results, work)
        yield work


def write_common(results: TaskResults, folder: Path) -> None:
    """Write the files of every task into a folder that is there."""
    write_json(results_json(results), folder / MARKER)
    rows = (asdict(outcome) for outcome in results.outcomes)
    write_rows(rows, outcomes_schema(), folder / OUTCOMES_FILE)


def results_json(results: TaskResults) -> dict[str, Any]:
    """The content of ``results.json``."""
    return {
        "format": RESULTS_FORMAT,
        # Those of the first task have always been without its name.
        **({"task": results.task} if results.task != "score" else {}),
        "signature": results.signature,
        "model": dict(results.model),
        "dataset": dict(results.dataset),
        "settings": dict(results.settings),
        "notes": list(results.notes),
        "scores": [asdict(score) for score in results.rows],
        **results.more(),
    }


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write JSON, with an end of line."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_rows(rows: Iterable[Mapping[str, Any]], schema: Any, path: Path) -> None:
    """Write a table of parquet."""
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(list(rows), schema=schema), path)
