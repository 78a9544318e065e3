"""Folders of results of real runs on toy datasets, and copies of them that say something else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coherencegym.eval.commands.cli import main

#: A manifest's words on texts that everybody may read.
OPEN: dict[str, Any] = {
    "republishable": True,
    "licences": {"CC0-1.0": 8},
    "corpus": {"name": "toys", "title": "Toys", "licence": "CC0-1.0", "homepage": "https://toys"},
}


def score(data: Path, model: str, output: Path, *more: str) -> Path:
    """The folder of results of a model on a dataset."""
    words = ["--model", model, "--dataset", str(data), "--output", str(output), "--device", "cpu"]
    assert main(["score", *words, "--no-cache", *more]) == 0
    return output


def renamed_suite(data: Path, name: str) -> Path:
    """A dataset whose manifest says that it is of another suite."""
    path = data / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"suite": name}))
    return data


def changed_copy(results: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of results whose ``results.json`` is changed, and so its signature."""
    shutil.copytree(results, folder)
    path = folder / "results.json"
    content = json.loads(path.read_text())
    change(content)
    content["signature"] += f"|copy:{folder.name}"
    path.write_text(json.dumps(content))
    return folder
