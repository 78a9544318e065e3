"""Surprisals kept from one run to the next, so that nothing is asked of a model twice.

One SQLite database for each model, number format and way of running; a row for each token
sequence (:mod:`eval.forward.cache_row`). Neither texts nor token ids are in it, only their hashes
and numbers. Every row carries a checksum: what does not add up is deleted and computed again, never
trusted.

A batch is one transaction in SQLite's write-ahead log: a process that is killed at any moment loses
at most the batch that it was writing. What a commit has handed to the operating system outlives the
process, so ``synchronous=NORMAL`` is enough; only when the machine itself goes down may it lose
more, and then whole transactions. Several processes of one machine may write at once; of several
machines, each needs a folder of its own, since the log is not made for network folders.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.forward.cache_row import Known
    from coherencegym.eval.text.sequence import TokenSequence

#: Number of the format, and of how surprisals are computed: another number is another file. A
#: change of this program that changes a surprisal by more than the promised accuracy raises it.
CACHE_FORMAT = 4
#: Names the folder in place of the user's folder for caches.
VARIABLE = "COHERENCEGYM_CACHE"
#: End of the names of databases.
SUFFIX = ".surprisals.sqlite"
#: Keys in one query; SQLite allows more, and is not faster with more.
_CHUNK = 500
#: Seconds to wait for another process that is writing.
_PATIENCE = 60.0
#: SQLite's own codes for damage, and those of queries that only fail where the tables are not ours.
_DAMAGE = (
    *(sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_TOOBIG),
    *(sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_FORMAT),
    sqlite3.SQLITE_NOTADB,
)
#: Errors that a database may give. Python cannot decode a message that quotes a damaged name.
FAILURES = (sqlite3.Error, OSError, UnicodeDecodeError)

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS surprisals (
        key BLOB NOT NULL UNIQUE, value BLOB NOT NULL, checksum BLOB NOT NULL
    )""",
)
_WRITE = """INSERT INTO surprisals (key, value, checksum) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, checksum = excluded.checksum"""

_Answer = TypeVar("_Answer")


class _ForeignError(sqlite3.DatabaseError):
    """A database in our place that describes something else."""


def cache_folder(chosen: Path | None = None) -> Path:
    """The folder of surprisals: as chosen, as the environment says, or the user's own folder."""
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
    return json.dumps({"format": CACHE_FORMAT, **description}, sort_keys=True)


class Cache:
    """The surprisals of one model, run in one way.

    A file that is no database, is damaged or describes something else is moved aside and begun
    anew. Where the folder cannot be written, or the disk is full, the run goes on without:
    ``notes`` says so.

    Args:
        folder: that of the databases; made where it is missing.
        description: all that surprisals depend on but the token ids, as JSON can hold it.
        name: the model's in a listing. The same model may have other names elsewhere, so it is no
            part of the description.

    Attributes:
        path: the database.
        notes: mishaps, a line each.
        corrupt: rows that did not add up and were left out.
    """

    def __init__(self, folder: Path, description: Mapping[str, Any], name: str = "") -> None:
        self.path = folder / file_name(description)
        self.notes: list[str] = []
        self.corrupt = 0
        self._description = _canonical(description)
        self._name = name
        self._file: tuple[int, int] | None = None
        self._database: sqlite3.Connection | None = None
        self._start()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        if self._database is not None:
            database, self._database = self._database, None
            with suppress(sqlite3.Error):
                database.close()

    def files(self) -> list[Path]:
        """The database, and what SQLite keeps beside it while it is open."""
        return [self.path.with_name(self.path.name + ending) for ending in ("", "-wal", "-shm")]

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        """The reads of each sequence (bits, float64); None unless all of them are known."""
        from coherencegym.eval.forward.cache_row import row_key

        keys = [row_key(sequence) for sequence in sequences]
        wanted = list(dict.fromkeys(keys))
        known = self._attempt(lambda database: self._read(database, wanted)) or {}
        return [
            known[key].select(sequence) if key in known else None
            for key, sequence in zip(keys, sequences, strict=True)
        ]

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        """Keep what was read of sequences (bits), all of it or none.

        What is known of the same token ids at other positions stays. A text of which a number is
        not finite is left out.
        """
        import numpy as np

        from coherencegym.eval.forward.cache_row import merged_bits, row_key

        kept = [
            (row_key(sequence), sequence, np.asarray(bits, np.float64))
            for sequence, bits in results
            if np.isfinite(bits).all()
        ]
        keys = list(dict.fromkeys(key for key, *_ in kept))

        def write(database: sqlite3.Connection) -> None:
            # Locked before it is read, or what another process adds in between would be lost.
            with _transaction(database):
                known = self._read(database, keys)
                for key, sequence, bits in kept:
                    known[key] = merged_bits(known.get(key), sequence, bits)
                database.executemany(_WRITE, [known[key].row(key) for key in keys])

        if kept:
            self._attempt(write)

    def _read(self, database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Known]:
        """The known rows by key; those that do not add up are deleted."""
        from coherencegym.eval.forward.cache_row import unpack

        found: dict[bytes, Known] = {}
        bad: list[tuple[bytes]] = []
        for start in range(0, len(keys), _CHUNK):
            part = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, value, checksum FROM surprisals WHERE key IN ({marks})"
            for row in database.execute(query, part):
                if (known := unpack(*row)) is not None:
                    found[row[0]] = known
                else:
                    bad.append((row[0],))
        if bad:
            self.corrupt += len(bad)
            with _transaction(database):
                database.executemany("DELETE FROM surprisals WHERE key = ?", bad)
        return found

    def _attempt(self, work: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        """Do something with the database; where it is damaged, once more with a new one.

        A cache that fails costs time and nothing else.
        """
        for _ in range(2):
            if self._database is None:
                return None
            try:
                return work(self._database)
            except FAILURES as error:
                self.close()
                self._start(error)
        return None

    def _start(self, failure: Exception | None = None) -> None:
        """Open the database; one that is damaged is moved aside, and a new one begun."""
        from filelock import FileLock

        try:
            if failure is not None and not _is_damage(failure):
                raise failure
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # One at a time, or one would begin a database and another take its log away, which it
            # believes to be the damaged one's.
            with FileLock(self.path.with_name(self.path.name + ".lock"), timeout=_PATIENCE):
                if failure is None or _file(self.path) != self._file:
                    # New, or moved aside by another process already.
                    try:
                        self._database = self._connect()
                        return
                    except FAILURES as error:
                        if not _is_damage(error):
                            raise
                        failure = error
                self._set_aside(failure)
                self._database = self._connect()
        except (*FAILURES, NotImplementedError) as error:
            self.notes.append(f"nothing more is cached in {self.path.parent}: {error}")

    def _connect(self) -> sqlite3.Connection:
        """Open the database, however many others open or close it at this moment."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._open()
            except sqlite3.OperationalError as error:
                # One that begins a write-ahead log while another ends it gets this at once: SQLite
                # does not wait where both could wait for each other.
                if _primary(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(random.uniform(0.005, 0.05))

    def _open(self) -> sqlite3.Connection:
        self._file = _file(self.path)
        database = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            # Damaged text that is no UTF-8 is a mismatch, and not an error that comes back.
            database.text_factory = bytes
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            with _transaction(database):
                for statement in _SCHEMA:
                    database.execute(statement)
                database.execute(
                    "INSERT OR IGNORE INTO about VALUES ('description', ?)", (self._description,)
                )
                found = database.execute("SELECT value FROM about WHERE name = 'description'")
                if found.fetchone() != (self._description.encode(),):
                    raise _ForeignError
                database.execute("SELECT key, value, checksum FROM surprisals LIMIT 0")
                database.execute("INSERT OR REPLACE INTO about VALUES ('used', datetime('now'))")
                database.execute("INSERT OR REPLACE INTO about VALUES ('model', ?)", (self._name,))
            self._file = _file(self.path)
        except BaseException:
            database.close()
            raise
        return database

    def _set_aside(self, failure: Exception) -> None:
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.corrupt-{number}")).exists():
            number += 1
        # First the database: a log without it is of no harm, and the other way round it may be.
        self.path.rename(aside)
        for path in self.files()[1:]:
            path.unlink(missing_ok=True)
        why = "is of something else" if isinstance(failure, _ForeignError) else "was damaged"
        self.notes.append(f"the cache {self.path.name} {why}: moved to {aside.name}")


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; within another, a part of it."""
    if database.in_transaction:
        yield
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            database.rollback()
        raise


def _file(path: Path) -> tuple[int, int] | None:
    """The file that has a name, since another process may put another one in its place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_damage(error: Exception) -> bool:
    return isinstance(error, UnicodeDecodeError | _ForeignError) or _primary(error) in _DAMAGE


def _primary(error: Exception) -> int:
    """SQLite's code, without the details in its higher bytes."""
    return int(getattr(error, "sqlite_errorcode", -1)) & 0xFF
