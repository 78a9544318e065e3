"""The folder that a run leaves behind: the files that those of every task have.

``results.json`` has the signature, model, dataset, settings, notes and scores, and what else a task
has; ``outcomes.parquet`` what every unit came to under every metric.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coherencegym.eval.metrics.estimates import described_metrics
from coherencegym.eval.outcomes.files import outcomes_digest, write_tables
from coherencegym.eval.report.formats import json_text
from coherencegym.eval.tasks.results import Results

#: The file that every folder of results has.
MARKER = "results.json"
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


def write_results(results: Results, folder: Path) -> None:
    """Write ``results.json`` and the outcomes into a folder that is there."""
    digest = {}
    if len(results.outcomes.units):
        write_tables(results.outcomes, folder)
        digest["outcomes_sha256"] = outcomes_digest(folder)
    write_json({**results_json(results), **digest}, folder / MARKER)


def results_json(results: Results) -> dict[str, Any]:
    """The content of ``results.json``, but for the digest of the outcomes."""
    return {
        "format": RESULTS_FORMAT,
        # Those of the first task have always been without its name.
        **({"task": results.task} if results.task != "score" else {}),
        "signature": results.signature,
        "model": dict(results.model),
        "dataset": dict(results.dataset),
        "settings": dict(results.settings),
        "notes": [asdict(note) for note in results.notes],
        "headline": asdict(results.headline) if results.headline else None,
        "metrics": described_metrics(list(results.metrics.values())),
        "scores": [asdict(score) for score in results.rows],
        "differences": [asdict(difference) for difference in results.differences],
        **results.more,
    }


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write JSON, with an end of line."""
    path.write_text(json_text(content), encoding="utf-8")
