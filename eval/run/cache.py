"""The cache of a run: opened for its model, and said how much of the run it knew."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from coherencegym.errors import one_line
from coherencegym.eval.forward.cache import Cache, cache_folder
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.run.options import OutputOptions


def open_cache(
    options: OutputOptions, model: LoadedModel, settings: Mapping[str, Any]
) -> Cache | None:
    """The cache of a model, or None where nobody wants one or nothing says which weights it has.

    The latter is said on standard error. ``settings`` are what else surprisals depend on.
    """
    if options.no_cache:
        return None
    if model.commit == "unknown":
        if os.environ.get("RANK", "0") == "0":
            print(
                f"coherencegym: {one_line(model.name)}: its commit is not known, so its "
                "surprisals are not kept",
                file=sys.stderr,
            )
        return None
    from coherencegym.eval.data.signature import versions

    # ``cuda`` for ``cuda:0`` and for ``cuda:0+cuda:1``: a run may go on where it finds room.
    devices = sorted({device.partition(":")[0] for device in model.device.split("+")})
    found = versions(model.about())
    # Not the model's name: a folder that was moved, or an alias on the Hub, has the same weights.
    description = {
        "identity": json.loads(model.identity()),
        "remote_code": model.remote_code,
        "device": "+".join(devices),
        "settings": dict(settings),
        "versions": {name: number for name, number in found.items() if name != "coherencegym"},
    }
    return Cache(cache_folder(options.cache), description, model.name)


def in_bytes(count: int) -> str:
    """A size for people: ``12.3 MB``."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def print_cache(cache: Cache, known: int, texts: int, is_masked: bool) -> None:
    """Say how many of the texts of a run earlier ones had cached, and where."""
    size = sum(path.stat().st_size for path in cache.files() if path.is_file())
    what = "copies of texts with masks" if is_masked else "texts"
    where = f"{cache.path.parent}, {in_bytes(size)}"
    print(f"{known:,} of {texts:,} {what} were cached by earlier runs ({where})")
    if cache.corrupt:
        print(f"{cache.corrupt:,} damaged entries of the cache were computed again")
    for note in cache.notes:
        print(note)
