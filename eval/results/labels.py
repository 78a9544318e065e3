"""The names of models and folders of results, for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coherencegym.eval.tasks.results import Results


def model_labels(results: Sequence[Results]) -> list[str]:
    """The names of the models of several folders of results: no two alike.

    The model's name where that tells them apart, or else with its precision, or else the folder.
    """
    names = [Path(one.model_name).name or one.model_name for one in results]
    whole = [one.model_name for one in results]
    typed = [f"{name} ({one.dtype})" for name, one in zip(names, results, strict=True)]
    folders = [one.place.resolve().name for one in results]
    paths = [str(one.place) for one in results]
    for labels_ in (names, whole, typed, folders, paths):
        if len(set(labels_)) == len(labels_):
            return labels_
    return [f"{number}: {path}" for number, path in enumerate(paths, 1)]


def local_names_line(names: Sequence[str]) -> str:
    """A warning that folders of this machine are named in what is published."""
    return (
        f"names of folders of this machine are in it: {', '.join(names)}; to publish other names, "
        "score again with Hub ids or relative paths in --model and --dataset"
    )
