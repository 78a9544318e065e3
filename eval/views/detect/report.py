"""The folders that ``detect`` and ``train-detector`` leave behind.

``results.json``, ``outcomes.parquet``, ``scores.png``, ``scores.svg`` and ``report.html`` are as
those of every task (:mod:`eval.views.report`); ``documents.parquet`` has the scores of sentences.
Of trained detectors each has such a folder of its own, ``seed-N``, with its model as safetensors,
its tokenizer and its card (``README.md``), and ``results.json`` above them has means over seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.eval.results.folder import (
    MARKER,
    results_folder,
    results_json,
    write_common,
    write_json,
    write_rows,
)
from coherencegym.eval.results.runs import run_of
from coherencegym.eval.tasks.detect.results import (
    DetectionResults,
    document_rows,
    document_schema,
)
from coherencegym.files.folders import written_beside

if TYPE_CHECKING:
    from coherencegym.eval.tasks.detect.train.results import TrainingResults


def write(results: DetectionResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write a folder of results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    with results_folder(results, folder, overwrite=overwrite) as work:
        _write_more(results, work)


def _write_more(results: DetectionResults, folder: Path) -> None:
    """Write the files beside those of every task into a folder that is there."""
    from coherencegym.eval.views.detect.page import write_page
    from coherencegym.eval.views.plots import plot_runs

    write_rows(document_rows(results), document_schema(), folder / "documents.parquet")
    plot_runs([run_of(results)], folder)
    write_page(results, folder)


def write_training(results: TrainingResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write models, cards and results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    from coherencegym.eval.tasks.detect.train.card import detector_card

    with written_beside(folder, overwrite, MARKER) as work:
        for own, trained in zip(results.seeds, results.trained, strict=True):
            place = work / f"seed-{trained.seed}"
            place.mkdir()
            trained.model.save_pretrained(place)
            trained.tokenizer.save_pretrained(place)
            write_common(own, place)
            _write_more(own, place)
            card = detector_card(own, trained, results.summary)
            (place / "README.md").write_text(card, encoding="utf-8")
        write_json(results_json(results), work / MARKER)
