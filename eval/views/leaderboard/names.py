"""The files of a leaderboard: names that are safe everywhere, made of names of any kind."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

#: The first page, and the file that every leaderboard has.
INDEX, LEADERBOARD_MARKER = "index.html", "leaderboard.json"
#: Folders of the pages of models, of suites, and of two models.
MODELS, SUITES, PAIRS = FOLDERS = ("models", "suites", "pairs")
#: Characters of a name that are in its file's.
_MOST = 48


def file_of(folder: str, name: str, key: Sequence[object]) -> str:
    """The path of a page: part of a name to know it by, and a digest of all of its key.

    Small letters without accents, digits, and dashes: also where ``A`` and ``a`` are one file, and
    where ``CON`` is none.
    """
    known = re.sub(r"[^a-z0-9]+", "-", name.lower(), flags=re.ASCII).strip("-")[-_MOST:].strip("-")
    digest = hashlib.sha256(repr(tuple(key)).encode("utf-8", "replace")).hexdigest()[:10]
    return f"{folder}/{'-'.join(filter(None, (known, digest)))}.html"


def model_file(name: str, model: Sequence[str]) -> str:
    """The page of a model."""
    return file_of(MODELS, name, model)


def suite_file(suite: str) -> str:
    """The page of a suite."""
    return file_of(SUITES, suite, (suite,))


def pair_file(model: Sequence[str], other: Sequence[str]) -> str:
    """The page of two models, whose names would make it too long."""
    return file_of(PAIRS, "", (*model, *other))
