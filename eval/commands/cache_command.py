"""``coherencegym cache``: where surprisals and vectors are kept, how much, and away with them."""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from coherencegym.command_line import Parser
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.running import in_bytes
from coherencegym.eval.forward.cache import CACHE_FORMAT, FAILURES, SUFFIX, cache_folder
from coherencegym.eval.forward.vector_store import (
    StoreListing,
    delete_store,
    list_stores,
    states_folder,
)

EXAMPLES = """\
  coherencegym cache
  coherencegym cache --clear --model gpt2 --dry-run
  coherencegym cache --clear --older-than 30
"""

#: Names of the files that a cache makes: databases, damaged ones, and their companions.
_OURS = re.compile(
    rf"([0-9a-f]{{32}}{re.escape(SUFFIX)}(?:\.corrupt-[0-9]+)?)(?:-wal|-shm|-journal|\.lock)?"
)


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``cache``."""
    add = parser.add_argument
    add("--cache", type=Path, metavar="DIR", help="the folder; default as for score")
    add("--clear", action="store_true", help="delete what is listed")
    add("--model", metavar="NAME", help="caches of this model alone")
    add("--older-than", type=_age, metavar="DAYS", help="caches that were not used for so long")
    add("--dry-run", action="store_true", help="say what --clear would delete")


def _age(text: str) -> timedelta:
    if not text.isdecimal() or int(text) > 36_500:
        raise argparse.ArgumentTypeError(f"{text} is no number of days from 0 to 36500")
    return timedelta(days=int(text))


def run(arguments: argparse.Namespace) -> int:
    """List, or delete, what is kept."""
    if arguments.dry_run and not arguments.clear:
        raise EvaluationError("--dry-run says what --clear would delete; add --clear")
    folder = cache_folder(arguments.cache)
    last = datetime.now(UTC) - (arguments.older_than or timedelta())
    stores = map(_Store, list_stores(states_folder(arguments.cache)))
    kept: list[_Database | _Store] = [*_databases(folder), *stores]
    found = [
        one
        for one in kept
        if arguments.model in (None, "", one.model)
        and (arguments.older_than is None or one.used < last)
    ]
    for one in found:
        print(one)
    total = in_bytes(sum(one.size for one in found))
    print(f"{folder}: {len(found):,} {'cache' if len(found) == 1 else 'caches'}, {total}")
    if arguments.dry_run:
        print(f"would free {total}")
    elif arguments.clear:
        print(f"freed {in_bytes(sum(one.cleared() for one in found))}")
    return 0


@dataclass(frozen=True, slots=True)
class _Database:
    """One database of the folder.

    Attributes:
        path: the database.
        files: it and its companions.
        size: bytes of all files.
        used: the last time a run opened it, or else wrote one of its files.
        model: its name when it was last used.
        description: all that its surprisals depend on; None if it cannot be read.
        texts: number of texts.
    """

    path: Path
    files: tuple[Path, ...]
    size: int
    used: datetime
    model: str = ""
    description: Mapping[str, Any] | None = None
    texts: int = 0

    def __str__(self) -> str:
        about, size = self.description, in_bytes(self.size)
        used = f"used {self.used:%Y-%m-%d}"
        if about is None:
            return f"{self.path.name}  cannot be read  {size}  {used}"
        identity = dict(about["identity"])
        prefix, colon, digits = str(identity.pop("commit", "")).rpartition(":")
        dtype = identity.pop("dtype", "")
        arguments = identity.pop("arguments", None)
        listed = (
            f"{name}={value}"
            for values in (identity, arguments, about.get("settings"))
            if isinstance(values, dict)
            for name, value in values.items()
            if value not in (None, {}, [])
        )
        return "  ".join(
            [
                f"{self.model}@{prefix}{colon}{digits[:12]}",
                f"{dtype} on {about.get('device')}",
                *listed,
                _texts(self.texts),
                size,
                used,
            ]
        )

    def cleared(self) -> int:
        """Delete it, unless a run is using it; the bytes that this has freed."""
        if _is_open(self.path):
            print(f"{self.path.name}: a run is using it, so it stays")
            return 0
        for path in self.files:
            path.unlink(missing_ok=True)
        return self.size


@dataclass(frozen=True, slots=True)
class _Store:
    """Vectors of texts by layer, of one model."""

    listing: StoreListing

    @property
    def size(self) -> int:
        return self.listing.size

    @property
    def used(self) -> datetime:
        return datetime.fromtimestamp(self.listing.used, UTC)

    @property
    def model(self) -> str:
        return str(self.listing.about.get("model", ""))

    def __str__(self) -> str:
        about, size = self.listing.about, in_bytes(self.size)
        used = f"used {self.used:%Y-%m-%d}"
        if not about:
            return f"{self.listing.folder.name}  cannot be read  {size}  {used}"
        layers = ", ".join(map(str, about["layers"]))
        return "  ".join(
            [
                self.model,
                f"{about.get('model_dtype')} on {about.get('device')}",
                f"vectors of layers {layers} in {about.get('dtype')}",
                _texts(self.listing.texts),
                size,
                used,
            ]
        )

    def cleared(self) -> int:
        """Delete it, unless a run is using it; the bytes that this has freed."""
        if not delete_store(self.listing.folder):
            print(f"{self.listing.folder.name}: a run is using it, so it stays")
            return 0
        return self.size


def _texts(count: int) -> str:
    return f"{count:,} {'text' if count == 1 else 'texts'}"


def _databases(folder: Path) -> Iterator[_Database]:
    """The databases of a folder; files that are not the cache's are left alone."""
    groups: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        ours = _OURS.fullmatch(path.name)
        if ours and path.is_file() and not path.is_symlink():
            groups.setdefault(ours[1], []).append(path)
    for name, files in groups.items():
        # Before it is read, which may end its log.
        stats = [path.stat() for path in files]
        about: dict[str, Any] = {
            "used": datetime.fromtimestamp(max(one.st_mtime for one in stats), UTC),
            "size": sum(one.st_size for one in stats),
            **_read(folder / name),
        }
        yield _Database(folder / name, tuple(files), **about)


def _connected(path: Path, **options: Any) -> AbstractContextManager[sqlite3.Connection]:
    # Not read-only: the log that a killed run has left would be begun again, and stay.
    return closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, **options))


def _read(path: Path) -> dict[str, Any]:
    """Read what a database says of itself; nothing where it cannot be read."""
    try:
        with _connected(path) as database:
            about = dict(database.execute("SELECT name, value FROM about"))
            (texts,) = database.execute("SELECT count(*) FROM surprisals").fetchone()
        description = json.loads(about["description"])
        if description["format"] == CACHE_FORMAT and isinstance(description["identity"], dict):
            return {
                "used": datetime.fromisoformat(about["used"]).replace(tzinfo=UTC),
                "model": str(about["model"]),
                "description": description,
                "texts": texts,
            }
    except (*FAILURES, ValueError, TypeError, KeyError):
        pass
    return {}


def _is_open(path: Path) -> bool:
    """Ask for what only a process may do that has the database for itself: end its log."""
    try:
        with _connected(path, timeout=0) as database:
            database.execute("PRAGMA journal_mode = DELETE").fetchone()
    except FAILURES as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
    return False
