"""The folder of a training: ``results.json`` over all seeds, and of each its model and results.

``seed-N``, or ``fold-N`` of a cross-validation, has the model as safetensors, its tokenizer, its
card (``README.md``) and what a run of the task leaves behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.eval.results.folder import MARKER, results_json, write_json, write_results
from coherencegym.eval.tasks.results import Results
from coherencegym.files.folders import written_beside


@dataclass(frozen=True)
class SeedFolder:
    """The files that one seed, or fold, leaves.

    Attributes:
        name: that of its folder.
        model, tokenizer: those that were trained.
        card: the model's, in Markdown.
        results: those of the seed.
        write: writes into a folder what the task has beside ``results.json``.
    """

    name: str
    model: Any
    tokenizer: Any
    card: str
    results: Results
    write: Callable[[Path], None]


def write_seeds(
    results: Results, seeds: Iterable[SeedFolder], folder: Path, *, overwrite: bool = False
) -> None:
    """Write the results over all seeds, and a folder of each, whole or not at all.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite) as work:
        for one in seeds:
            place = work / one.name
            place.mkdir()
            one.model.save_pretrained(place)
            one.tokenizer.save_pretrained(place)
            write_results(one.results, place)
            one.write(place)
            (place / "README.md").write_text(one.card, encoding="utf-8")
        write_json(results_json(results), work / MARKER)
