"""The folders that ``detect`` and ``train-detector`` leave behind.

``results.json``, ``outcomes.parquet``, ``scores.png``, ``scores.svg`` and ``report.html`` are as
those of every task (:mod:`eval.views.report`); ``documents.parquet`` has the scores of sentences.
Of trained detectors each has such a folder of its own, ``seed-N``, with its model as safetensors,
its tokenizer and its card (``README.md``), and ``results.json`` above them has means over seeds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.eval.results import outcomes_file
from coherencegym.eval.results.runs import FORMAT, MARKER, run_of
from coherencegym.eval.tasks.detect.results import (
    DetectionResults,
    document_rows,
    document_schema,
)
from coherencegym.files.folders import written_beside

if TYPE_CHECKING:
    from coherencegym.eval.tasks.detect.train.report import TrainingResults


def write(results: DetectionResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write a folder of results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite, MARKER) as work:
        write_files(results, work)


def write_files(results: DetectionResults, folder: Path) -> None:
    """Write the files of results into a folder that is there."""
    import pyarrow
    from pyarrow import parquet

    from coherencegym.eval.views.detect.page import write_page
    from coherencegym.eval.views.plots import plot_runs

    _write_json(results.as_json(), folder)
    outcomes_file.write(results.outcomes, folder)
    table = pyarrow.Table.from_pylist(list(document_rows(results)), schema=document_schema())
    parquet.write_table(table, folder / "documents.parquet")
    plot_runs([run_of(results)], folder)
    write_page(results, folder)


def write_training(results: TrainingResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write models, cards and results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    from coherencegym.eval.tasks.detect.train.card import render_card
    from coherencegym.eval.tasks.detect.train.report import as_json

    with written_beside(folder, overwrite, MARKER) as work:
        for own, trained in zip(results.seeds, results.trained, strict=True):
            place = work / f"seed-{trained.seed}"
            place.mkdir()
            trained.model.save_pretrained(place)
            trained.tokenizer.save_pretrained(place)
            write_files(own, place)
            card = render_card(own, trained, results.summary)
            (place / "README.md").write_text(card, encoding="utf-8")
        _write_json(as_json(results), work)


def _write_json(content: dict[str, Any], folder: Path) -> None:
    content = {"format": FORMAT, **content}
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    (folder / MARKER).write_text(text + "\n", encoding="utf-8")
