"""Surprisals kept from one run to the next, so that nothing is asked of a model twice.

One SQLite database for each model, number format and way of running; a row for each token
sequence. Neither texts nor token ids are in it, only their hashes and numbers. Every row carries a
checksum: what does not add up is deleted and computed again, never trusted.

A batch is one transaction in SQLite's write-ahead log: a process that is killed at any moment loses
at most the batch that it was writing. (``synchronous=NORMAL`` loses more only when the machine
itself goes down, and then whole transactions.)
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

#: Of the databases; another format is another file.
FORMAT = 1
#: Names the folder in place of the user's folder for caches.
VARIABLE = "COHERENCEGYM_CACHE"
#: What the files end in.
SUFFIX = ".surprisals.sqlite"
#: Keys in one query; SQLite allows more, and is not faster with more.
_CHUNK = 500
#: Seconds to wait for another process that is writing.
_PATIENCE = 60.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS surprisals (
    key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum BLOB NOT NULL
) WITHOUT ROWID;
"""

Request = tuple[tuple[int, ...], tuple[int, ...]]


def cache_folder(chosen: Path | None = None) -> Path:
    """Where surprisals are kept: as chosen, as the environment says, or the user's own folder."""
    if chosen is not None:
        return chosen
    if named := os.environ.get(VARIABLE):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("coherencegym", appauthor=False)) / "surprisals"


def file_name(description: Mapping[str, Any]) -> str:
    """The name of the database for a model and a way of running it."""
    return hashlib.sha256(_canonical(description).encode()).hexdigest()[:32] + SUFFIX


def _canonical(description: Mapping[str, Any]) -> str:
    return json.dumps({"format": FORMAT, **description}, sort_keys=True, ensure_ascii=False)


class Cache:
    """The surprisals of one model, run in one way.

    A file that is no database is moved aside. Where the folder cannot be written, or the disk is
    full, the run goes on without: ``notes`` says so.

    Attributes:
        path: the database.
        notes: what went wrong with it, a line each.
        corrupt: rows that did not add up and were left out.
    """

    def __init__(self, folder: Path, description: Mapping[str, Any]) -> None:
        self.path = folder / file_name(description)
        self.notes: list[str] = []
        self.corrupt = 0
        self._description = _canonical(description)
        self._database: sqlite3.Connection | None = None
        with self._forgiving():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self._database = self._open()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and not _is_damage(error):
                    raise
                self._set_aside()
                self._database = self._open()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        if self._database is not None:
            database, self._database = self._database, None
            with self._forgiving():
                database.close()

    def get_many(self, requests: Sequence[Request]) -> list[np.ndarray | None]:
        """Surprisals (bits, float64) of (token ids, positions); None unless all are known."""
        found: list[np.ndarray | None] = [None] * len(requests)
        with self._forgiving():
            stored = self._read([_key(ids) for ids, _ in requests])
            for place, (ids, positions) in enumerate(requests):
                values = stored.get(_key(ids))
                if values is not None:
                    found[place] = _select(values, positions)
        return found

    def put(self, results: Sequence[tuple[tuple[int, ...], tuple[int, ...], np.ndarray]]) -> None:
        """Keep surprisals (bits) of (token ids, positions), all of them or none.

        What is known of the same token ids at other positions stays.
        """
        import numpy as np

        with self._forgiving():
            if self._database is None:
                return
            known = self._read([_key(ids) for ids, *_ in results])
            rows = []
            for ids, positions, bits in results:
                if not np.isfinite(bits).all():
                    continue
                key = _key(ids)
                merged = dict(zip(*known[key], strict=True)) if key in known else {}
                merged.update(zip(positions, bits.tolist(), strict=True))
                value = _pack(merged)
                rows.append((key, value, _checksum(key, value)))
            with self._database:
                self._database.executemany(
                    "INSERT OR REPLACE INTO surprisals VALUES (?, ?, ?)", rows
                )

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, tuple[list[int], list[float]]]:
        """Positions and bits by key; rows that do not add up are deleted."""
        if self._database is None:
            return {}
        found: dict[bytes, tuple[list[int], list[float]]] = {}
        bad: list[tuple[bytes]] = []
        wanted = list(dict.fromkeys(keys))
        for start in range(0, len(wanted), _CHUNK):
            part = wanted[start : start + _CHUNK]
            query = (
                "SELECT key, value, checksum FROM surprisals WHERE key IN "
                f"({','.join('?' * len(part))})"
            )
            for key, value, checksum in self._database.execute(query, part):
                if isinstance(value, bytes) and checksum == _checksum(key, value):
                    found[key] = _unpack(value)
                else:
                    bad.append((key,))
        if bad:
            self.corrupt += len(bad)
            with self._database:
                self._database.executemany("DELETE FROM surprisals WHERE key = ?", bad)
        return found

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=_PATIENCE)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(_SCHEMA)
            with database:
                database.execute(
                    "INSERT OR IGNORE INTO about VALUES ('description', ?)", (self._description,)
                )
            (found,) = database.execute("SELECT value FROM about WHERE name = 'description'")
            if found[0] != self._description:
                raise sqlite3.DatabaseError("it is another model's")
            with database:
                database.execute("INSERT OR REPLACE INTO about VALUES ('used', datetime('now'))")
        except BaseException:
            database.close()
            raise
        return database

    def _set_aside(self) -> None:
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.corrupt-{number}")).exists():
            number += 1
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        if self.path.exists():
            self.path.rename(aside)
            self.notes.append(f"the cache {self.path.name} was damaged: moved to {aside.name}")

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """A cache that fails costs time and nothing else."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            database, self._database = self._database, None
            if database is not None:
                database.close()
            self.notes.append(f"nothing more is cached in {self.path.parent}: {error}")
            if isinstance(error, sqlite3.DatabaseError) and _is_damage(error):
                self._try_set_aside()

    def _try_set_aside(self) -> None:
        try:
            self._set_aside()
        except OSError as error:
            self.notes.append(f"it could not be moved: {error}")


def _is_damage(error: sqlite3.Error) -> bool:
    text = str(error)
    return any(sign in text for sign in ("malformed", "not a database", "another model's"))


def _key(ids: Sequence[int]) -> bytes:
    return hashlib.sha256(struct.pack(f"<{len(ids)}q", *ids)).digest()


def _checksum(key: object, value: bytes) -> bytes:
    if not isinstance(key, bytes):
        return b""
    return hashlib.blake2b(key + value, digest_size=16).digest()


def _pack(values: Mapping[int, float]) -> bytes:
    """The number of positions, the positions, and their bits."""
    ordered = sorted(values.items())
    count = len(ordered)
    positions, bits = zip(*ordered, strict=True) if ordered else ((), ())
    return struct.pack(f"<I{count}I{count}d", count, *positions, *bits)


def _unpack(value: bytes) -> tuple[list[int], list[float]]:
    (count,) = struct.unpack_from("<I", value)
    numbers = struct.unpack_from(f"<{count}I{count}d", value, 4)
    return list(numbers[:count]), list(numbers[count:])


def _select(stored: tuple[list[int], list[float]], positions: tuple[int, ...]) -> np.ndarray | None:
    import numpy as np

    known, bits = stored
    if tuple(known) == positions:
        return np.array(bits)
    by_position = dict(zip(known, bits, strict=True))
    if not all(position in by_position for position in positions):
        return None
    return np.array([by_position[position] for position in positions])
