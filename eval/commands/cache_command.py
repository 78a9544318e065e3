"""``python -m eval cache``: where surprisals are kept, how much, and away with them."""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.forward.cache import (
    CACHE_FORMAT,
    FAILURES,
    SUFFIX,
    VARIABLE,
    Cache,
    cache_folder,
)

if TYPE_CHECKING:
    from coherencegym.eval.forward.execute import Execution
    from coherencegym.eval.models.load import LoadedModel

EXAMPLES = """\
  python -m eval cache
  python -m eval cache --clear --model gpt2 --dry-run
  python -m eval cache --clear --older-than 30
"""


#: The names of the files that a cache makes: databases, damaged ones, and what belongs to them.
_OURS = re.compile(
    rf"([0-9a-f]{{32}}{re.escape(SUFFIX)}(?:\.corrupt-[0-9]+)?)(?:-wal|-shm|-journal|\.lock)?"
)


def add_cache_options(parser: argparse.ArgumentParser) -> None:
    """Declare ``--cache`` and ``--no-cache``."""
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help=f"where surprisals are kept; default ${VARIABLE} or the user's folder for caches",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="neither look surprisals up nor keep them"
    )


def open_cache(
    arguments: argparse.Namespace, model: LoadedModel, settings: Mapping[str, Any]
) -> Cache | None:
    """The cache of a model, or None where nobody wants one or nothing says which weights it has.

    The latter is said on standard error.

    Args:
        arguments: with what :func:`add_cache_options` declares.
        model: the model.
        settings: what else surprisals depend on beyond the token ids.
    """
    if arguments.no_cache:
        return None
    if model.commit == "unknown":
        if os.environ.get("RANK", "0") == "0":
            print(
                f"eval: {one_line(model.name)}: its commit is not known, so its surprisals are not "
                "kept",
                file=sys.stderr,
            )
        return None
    from coherencegym.eval.data.signature import versions

    found = versions(model.about())
    # Not the model's name: a folder that was moved, or an alias on the Hub, has the same weights.
    description = {
        "identity": json.loads(model.identity()),
        "remote_code": model.remote_code,
        "device": _device_types(model.device),
        "settings": dict(settings),
        "versions": {name: number for name, number in found.items() if name != "coherencegym"},
    }
    return Cache(cache_folder(arguments.cache), description, model.name)


def _device_types(devices: str) -> str:
    """``cuda`` for ``cuda:0`` and for ``cuda:0+cuda:1``: a run may go on where it finds room."""
    return "+".join(sorted({device.partition(":")[0] for device in devices.split("+")}))


def cache_line(cache: Cache, executions: Sequence[Execution]) -> str:
    """What came out of a cache and where it is, for the end of a run."""
    known = sum(execution.stored for execution in executions)
    texts = sum(len(execution.plan.sequences) for execution in executions)
    kept = [path for path in cache.files() if path.is_file()]
    size = _bytes(sum(path.stat().st_size for path in kept))
    where = f"{cache.path.parent}, {size}"
    lines = [f"{known:,} of {texts:,} texts were known from earlier runs ({where})"]
    if cache.corrupt:
        lines.append(f"{cache.corrupt:,} damaged entries of the cache were computed again")
    return "\n".join([*lines, *cache.notes])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``cache``."""
    add = parser.add_argument
    add("--cache", type=Path, metavar="DIR", help="the folder; default as for score")
    add("--clear", action="store_true", help="delete what is listed")
    add("--model", metavar="NAME", help="only this model's")
    add("--older-than", type=_age, metavar="DAYS", help="only what was not used for so long")
    add("--dry-run", action="store_true", help="with --clear: only say what would be deleted")


def _age(text: str) -> timedelta:
    if not text.isdecimal() or int(text) > 36_500:
        raise argparse.ArgumentTypeError(f"{text} is no number of days from 0 to 36500")
    return timedelta(days=int(text))


@dataclass(frozen=True, slots=True)
class Entry:
    """One database of the folder.

    Attributes:
        path: the database.
        files: it and what belongs to it.
        model: what the model was called when it was last used.
        description: what it is of; None if it cannot be read.
        rows: texts.
        size: bytes of all files.
        used: when a run last opened it.
    """

    path: Path
    files: tuple[Path, ...]
    model: str
    description: Mapping[str, Any] | None
    rows: int
    size: int
    used: datetime


def entries(folder: Path) -> Iterator[Entry]:
    """The databases of a folder; files that are not the cache's are left alone."""
    groups: dict[str, list[tuple[Path, os.stat_result]]] = {}
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        ours = _OURS.fullmatch(path.name)
        if ours and path.is_file() and not path.is_symlink():
            groups.setdefault(ours[1], []).append((path, path.stat()))
    for name, found in groups.items():
        description, model, rows, used = _read(folder / name)
        yield Entry(
            folder / name,
            tuple(path for path, _ in found),
            model,
            description,
            rows,
            sum(about.st_size for _, about in found),
            used or datetime.fromtimestamp(max(about.st_mtime for _, about in found), UTC),
        )


def _read(path: Path) -> tuple[Mapping[str, Any] | None, str, int, datetime | None]:
    """Description, model, rows and last use of a database; nothing where it cannot be read."""
    try:
        # Not read-only: the log that a killed run has left would be begun again, and stay.
        database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
        try:
            about = dict(database.execute("SELECT name, value FROM about"))
            (rows,) = database.execute("SELECT count(*) FROM surprisals").fetchone()
        finally:
            database.close()
        description = json.loads(about["description"])
        if description["format"] == CACHE_FORMAT and isinstance(description["identity"], dict):
            used = datetime.fromisoformat(about["used"]).replace(tzinfo=UTC)
            return description, str(about["model"]), rows, used
    except (*FAILURES, ValueError, TypeError, KeyError):
        pass
    return None, "", 0, None


def run(arguments: argparse.Namespace) -> int:
    """List, or delete, what is kept."""
    if arguments.dry_run and not arguments.clear:
        raise EvaluationError("--dry-run says what --clear would delete; add --clear")
    folder = cache_folder(arguments.cache)
    found = [entry for entry in entries(folder) if _is_wanted(entry, arguments)]
    total = sum(entry.size for entry in found)
    for entry in found:
        print(_line(entry))
    print(f"{folder}: {len(found):,} {'cache' if len(found) == 1 else 'caches'}, {_bytes(total)}")
    if not arguments.clear:
        return 0
    if arguments.dry_run:
        print(f"would free {_bytes(total)}")
        return 0
    freed = 0
    for entry in found:
        if _is_open(entry.path):
            print(f"{entry.path.name}: a run is using it, so it stays")
            continue
        for path in entry.files:
            path.unlink(missing_ok=True)
        freed += entry.size
    print(f"freed {_bytes(freed)}")
    return 0


def _is_open(path: Path) -> bool:
    """Whether another process has a database open: only who is alone may end its log."""
    try:
        database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=0)
        try:
            database.execute("PRAGMA journal_mode = DELETE").fetchone()
        finally:
            database.close()
    except FAILURES as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
    return False


def _is_wanted(entry: Entry, arguments: argparse.Namespace) -> bool:
    if arguments.model and entry.model != arguments.model:
        return False
    if arguments.older_than is None:
        return True
    return bool(datetime.now(UTC) - entry.used > arguments.older_than)


def _line(entry: Entry) -> str:
    about = entry.description
    used = f"used {entry.used:%Y-%m-%d}"
    if about is None:
        return f"{entry.path.name}  cannot be read  {_bytes(entry.size)}  {used}"
    identity = dict(about["identity"])
    prefix, colon, digits = str(identity.pop("commit", "")).rpartition(":")
    dtype = identity.pop("dtype", "")
    arguments, settings = identity.pop("arguments", None), about.get("settings")
    parts = [
        f"{entry.model}@{prefix}{colon}{digits[:12]}",
        f"{dtype} on {about.get('device')}",
        *_listed(identity),
        *_listed(arguments),
        *_listed(settings),
        f"{entry.rows:,} {'text' if entry.rows == 1 else 'texts'}",
        _bytes(entry.size),
        used,
    ]
    return "  ".join(parts)


def _listed(values: object) -> list[str]:
    if not isinstance(values, dict):
        return []
    return [f"{name}={value}" for name, value in values.items() if value not in (None, {}, [])]


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
