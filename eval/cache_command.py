"""``python -m eval cache``: where surprisals are kept, how much, and away with them."""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.cache import FORMAT, SUFFIX, VARIABLE, Cache, cache_folder

if TYPE_CHECKING:
    from eval.execute import Execution
    from eval.model import LoadedModel

EXAMPLES = """\
  python -m eval cache
  python -m eval cache --clear --model gpt2 --dry-run
  python -m eval cache --clear --older-than 30
"""


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
    """The cache of a model, or None where nobody wants one or its weights have no name.

    Args:
        arguments: with what :func:`add_cache_options` declares.
        model: the model.
        settings: what else surprisals depend on beyond the token ids.
    """
    if arguments.no_cache or model.commit == "unknown":
        return None
    from eval.signature import versions

    found = versions(model.about())
    description = {
        "model": model.name,
        "identity": json.loads(model.identity()),
        "device": model.device.partition(":")[0],
        "settings": dict(settings),
        "versions": {name: number for name, number in found.items() if name != "coherencegym"},
    }
    return Cache(cache_folder(arguments.cache), description)


def cache_line(cache: Cache, executions: Sequence[Execution]) -> str:
    """What came out of a cache and where it is, for the end of a run."""
    known = sum(execution.stored for execution in executions)
    runs = sum(len(execution.plan.runs) for execution in executions)
    lines = [f"{known:,} of {runs:,} texts were known from earlier runs ({cache.path.parent})"]
    if cache.corrupt:
        lines.append(f"{cache.corrupt:,} damaged entries of the cache were computed again")
    return "\n".join([*lines, *cache.notes])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``cache``."""
    add = parser.add_argument
    add("--cache", type=Path, metavar="DIR", help="the folder; default as for score")
    add("--clear", action="store_true", help="delete what is listed")
    add("--model", metavar="NAME", help="only this model's")
    add("--older-than", type=int, metavar="DAYS", help="only what was not used for so long")
    add("--dry-run", action="store_true", help="say what would be deleted")


@dataclass(frozen=True, slots=True)
class Entry:
    """One database: what it is of (None if it cannot be read), rows, bytes, and its last use."""

    path: Path
    description: Mapping[str, Any] | None
    rows: int
    size: int
    used: datetime

    @property
    def files(self) -> list[Path]:
        """The database with the files that SQLite keeps beside it."""
        names = ("", "-wal", "-shm")
        beside = (self.path.with_name(self.path.name + name) for name in names)
        return [path for path in beside if path.is_file()]


def entries(folder: Path) -> Iterator[Entry]:
    """The databases of a folder; files that are not the cache's are left alone."""
    for path in sorted(folder.glob(f"*{SUFFIX}*")):
        if path.name.endswith(("-wal", "-shm")) or path.is_symlink():
            continue
        description: Mapping[str, Any] | None = None
        rows, used = 0, datetime.fromtimestamp(path.stat().st_mtime, UTC)
        try:
            database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
            try:
                about = dict(database.execute("SELECT name, value FROM about"))
                description = json.loads(about["description"])
                used = datetime.fromisoformat(about["used"]).replace(tzinfo=UTC)
                (rows,) = database.execute("SELECT count(*) FROM surprisals").fetchone()
            finally:
                database.close()
        except (sqlite3.Error, ValueError, TypeError, KeyError):
            description = None
        if not isinstance(description, dict) or description.get("format") != FORMAT:
            description = None
        beside = [path.with_name(path.name + ending) for ending in ("-wal", "-shm")]
        files = [path, *(each for each in beside if each.is_file())]
        yield Entry(
            path,
            description,
            rows,
            sum(file.stat().st_size for file in files),
            used,
        )


def run(arguments: argparse.Namespace) -> int:
    """List, or delete, what is kept."""
    folder = cache_folder(arguments.cache)
    found = [entry for entry in entries(folder) if _is_wanted(entry, arguments)]
    total = sum(entry.size for entry in found)
    for entry in found:
        print(_line(entry))
    print(f"{folder}: {len(found):,} {'model' if len(found) == 1 else 'models'}, {_bytes(total)}")
    if not arguments.clear:
        return 0
    if arguments.dry_run:
        print(f"would free {_bytes(total)}")
        return 0
    for entry in found:
        for path in entry.files:
            path.unlink(missing_ok=True)
    print(f"freed {_bytes(total)}")
    return 0


def _is_wanted(entry: Entry, arguments: argparse.Namespace) -> bool:
    if arguments.model and (entry.description or {}).get("model") != arguments.model:
        return False
    if arguments.older_than is None:
        return True
    return datetime.now(UTC) - entry.used > timedelta(days=arguments.older_than)


def _line(entry: Entry) -> str:
    about = entry.description
    used = f"{entry.used:%Y-%m-%d}"
    if about is None:
        return f"{entry.path.name}  cannot be read  {_bytes(entry.size)}  {used}"
    identity = about.get("identity") or {}
    commit = str(identity.get("commit", "")).rpartition(":")[2][:12]
    parts = [
        f"{about.get('model')}@{commit}",
        str(identity.get("dtype", "")),
        str(about.get("device", "")),
        f"{entry.rows:,} texts",
        _bytes(entry.size),
        used,
    ]
    return "  ".join(parts)


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
