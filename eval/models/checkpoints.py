"""The checkpoints of a model: branches and tags of a Hub model, or folders in a folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.models.source import find_model, models_in
from coherencegym.hub import some_names

#: A model and the revision of it; a folder has none.
Checkpoint = tuple[str, str | None]


def checkpoints(name: str, patterns: Sequence[str]) -> list[Checkpoint]:
    """The branches and tags of a Hub model that match a pattern, or the models in a folder.

    They come in the order of the numbers in their names (``step8`` before ``step16``).

    Args:
        name: a Hub id, or a folder whose subfolders are models (``checkpoint-500``).
        patterns: those of shells (``step*``, ``step[0-9]000``); a match of one is enough.
    """
    folder = Path(name)
    is_folder = bool(name) and folder.is_dir()
    known = sorted(set(models_in(folder) if is_folder else _references(name)), key=_natural_order)
    found = [one for one in known if any(fnmatchcase(one, pattern) for pattern in patterns)]
    if not found:
        what = "folder with a model in it" if is_folder else "branch or tag"
        raise EvaluationError(
            f"--all-revisions {' '.join(map(repr, patterns))}: no {what} of {name!r} matches; "
            + some_names(known)
        )
    return [(str(folder / one), None) if is_folder else (name, one) for one in found]


def at_revisions(name: str, revisions: Sequence[str]) -> list[Checkpoint]:
    """A Hub model at each of several revisions, or the models in these subfolders of a folder."""
    folder = Path(name)
    if not folder.is_dir():
        return [(name, one) for one in revisions]
    known = sorted(models_in(folder), key=_natural_order)
    for one in revisions:
        if one not in known:
            raise EvaluationError(
                f"--model-revision {one}: no folder with a model in it has this name in {name!r}; "
                + some_names(known)
            )
    return [(str(folder / one), None) for one in revisions]


def _references(name: str) -> list[str]:
    from huggingface_hub import HfApi

    # Says what is wrong with the name, or that there is no such model.
    if find_model(name).commit is None:
        return []
    try:
        found = HfApi().list_repo_refs(name)
    except Exception as error:
        # Besides the Hub's errors, whatever the client's transport raises.
        raise EvaluationError(
            f"--all-revisions: the Hub does not say which revisions {name!r} has "
            f"({type(error).__name__}: {first_line(error)[:200]}); expected --model-revision with "
            "their names"
        ) from None
    return [reference.name for reference in (*found.branches, *found.tags)]


def _natural_order(name: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(0, int(part), part) if part[0].isdecimal() else (1, 0, part) for part in parts]
