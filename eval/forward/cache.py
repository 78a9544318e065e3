"""Surprisals kept from one run to the next, so that nothing is asked of a model twice.

A store is a SQLite database, which says what its rows depend on: one for each model, number format
and way of running. Every row carries a checksum: what does not add up is deleted and computed
again, never trusted. Neither texts nor token ids are in it.

What is put at a time is one transaction in SQLite's write-ahead log: a process that is killed at
any moment loses at most what it was writing. What a commit has handed to the operating system
outlives the process, so ``synchronous=NORMAL`` is enough; only when the machine itself goes down
may it lose more, and then whole transactions. Several processes of one machine may write at once;
of several machines, each needs a folder of its own, since the log is not made for network folders.

A row of surprisals belongs to a token sequence, under the hash of its tokens: pairs of a place and
its bits, positions of tokens in ascending order, then of beginnings of words, which count down from
-1. Of a masked row one place is read, and in place of positions there are the ids of the tokens
that were asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.text.sequence import TokenSequence


#: Keys in one query, and rows of vectors in memory at once; SQLite is not faster with more.
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
_FAILURES = (sqlite3.Error, OSError, UnicodeDecodeError)

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS rows (
        key BLOB NOT NULL UNIQUE, value BLOB NOT NULL, checksum BLOB NOT NULL
    )""",
)
_WRITE = """INSERT INTO rows (key, value, checksum) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, checksum = excluded.checksum"""
_IS_THERE = "SELECT 1 FROM rows WHERE key = ?"

_Row = TypeVar("_Row")
_Answer = TypeVar("_Answer")


class _ForeignError(sqlite3.DatabaseError):
    """A database in our place that describes something else."""


def digest_name(description: Mapping[str, Any]) -> str:
    """A name (32 hexadecimal digits) for what rows depend on."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:32]


def checksum(*parts: bytes) -> bytes:
    """Sixteen bytes of blake2b that a row is held to."""
    return hashlib.blake2b(b"".join(parts), digest_size=16).digest()


class RowStore(Generic[_Row]):
    """Rows that depend on one thing, such as a model that is run in one way.

    A file that is no database, is damaged or describes something else is moved aside and begun
    anew. Where the folder cannot be written, or the disk is full, the run goes on without:
    ``notes`` says so.

    Args:
        path: the database; its folder is made where it is missing.
        description: all that rows depend on but their keys, as JSON can hold it.
        unpack: gives the row of some bytes; None where they are none.

    Attributes:
        path: the database.
        notes: mishaps, a line each.
        corrupt: rows that did not add up and were left out.
    """

    def __init__(
        self,
        path: Path,
        description: Mapping[str, Any],
        unpack: Callable[[bytes], _Row | None],
    ) -> None:
        self.path = path
        self.notes: list[str] = []
        self.corrupt = 0
        self._description = json.dumps(description, sort_keys=True)
        self._unpack = unpack
        self._file: tuple[int, int] | None = None
        # Layers of vectors are read in a thread of their own.
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._start()

    def close(self) -> None:
        """Let go of the database."""
        if self._database is not None:
            database, self._database = self._database, None
            with suppress(sqlite3.Error):
                database.close()

    def files(self) -> list[Path]:
        """The database, and what SQLite keeps beside it while it is open."""
        return [self.path.with_name(self.path.name + ending) for ending in ("", "-wal", "-shm")]

    @property
    def is_lost(self) -> bool:
        """True where nothing is kept any more; the last of the notes says why."""
        return self._database is None

    def remember(self, name: str, value: Mapping[str, Any]) -> None:
        """Keep facts of what the rows depend on, as JSON holds them, under a name."""
        text = json.dumps(value)
        row = name, f"{checksum(text.encode()).hex()} {text}"
        self._attempt(lambda base: base.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", row))

    def recall(self, name: str) -> dict[str, Any] | None:
        """The facts that were kept under a name; None where there are none that add up."""
        query = "SELECT value FROM about WHERE name = ?"
        found = self._attempt(lambda base: base.execute(query, (name,)).fetchone())
        value = found[0] if found and isinstance(found[0], bytes) else b""
        expected, _, text = value.partition(b" ")
        if not text or checksum(text).hex().encode() != expected:
            return None
        known: dict[str, Any] = json.loads(text)
        return known

    def find(self, keys: Sequence[bytes]) -> dict[bytes, _Row]:
        """The rows that are known, by key."""
        return self._attempt(lambda database: self._read(database, keys)) or {}

    def update(
        self, keys: Sequence[bytes], change: Callable[[dict[bytes, _Row]], Mapping[bytes, bytes]]
    ) -> None:
        """Change rows, all of them or none.

        Args:
            keys: those that the change has to know.
            change: gives the new bytes by key, from the rows that are known.
        """

        def write(database: sqlite3.Connection) -> None:
            # Locked before it is read, or what another process adds in between would be lost.
            with _transaction(database):
                made = change(self._read(database, keys))
                rows = [(key, value, checksum(key, value)) for key, value in made.items()]
                database.executemany(_WRITE, rows)
                # An index whose order is damaged takes rows that it then does not find.
                if not all(database.execute(_IS_THERE, (key,)).fetchone() for key in made):
                    damage = sqlite3.DatabaseError("a row that was written is not found")
                    damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                    raise damage

        self._attempt(write)

    def _read(self, database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, _Row]:
        found: dict[bytes, _Row] = {}
        bad: list[tuple[bytes]] = []
        for start in range(0, len(keys), _CHUNK):
            part = keys[start : start + _CHUNK]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, value, checksum FROM rows WHERE key IN ({marks})"
            for key, value, expected in database.execute(query, part):
                is_whole = isinstance(value, bytes) and checksum(key, value) == expected
                if is_whole and (row := self._unpack(value)) is not None:
                    found[key] = row
                else:
                    bad.append((key,))
        if bad:
            self.corrupt += len(bad)
            with _transaction(database):
                database.executemany("DELETE FROM rows WHERE key = ?", bad)
        return found

    def _attempt(self, work: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        # Once more with a new database where this one is damaged: a cache that fails costs time and
        # nothing else.
        with self._lock:
            for _ in range(2):
                if self._database is None:
                    return None
                try:
                    return work(self._database)
                except _FAILURES as error:
                    self.close()
                    self._start(error)
        return None

    def _start(self, failure: Exception | None = None) -> None:
        # A damaged database is moved aside, and a new one begun.
        from filelock import FileLock

        try:
            if failure is not None and not _is_damage(failure, self.path):
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
                    except _FAILURES as error:
                        if not _is_damage(error, self.path):
                            raise
                        failure = error
                self._set_aside(failure)
                self._database = self._connect()
        except (*_FAILURES, NotImplementedError) as error:
            self.notes.append(f"nothing more is cached in {self.path.parent}: {error}")

    def _connect(self) -> sqlite3.Connection:
        # However many others open or close it at this moment.
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
        database = sqlite3.connect(
            self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
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
                database.execute("SELECT key, value, checksum FROM rows LIMIT 0")
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
    # All or nothing; within another, a part of it.
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
    # Another process may put another file in its place.
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_damage(error: Exception, path: Path) -> bool:
    if _primary(error) == sqlite3.SQLITE_READONLY:
        # Also where the header has a version of the format that there is not (bytes 18 and 19).
        with suppress(OSError), path.open("rb") as file:
            return not {*file.read(20)[18:]} <= {1, 2}
        return False
    return isinstance(error, UnicodeDecodeError | _ForeignError) or _primary(error) in _DAMAGE


def _primary(error: Exception) -> int:
    # Without the details in the higher bytes of SQLite's code.
    return int(getattr(error, "sqlite_errorcode", -1)) & 0xFF


#: Number of the format, and of how surprisals are computed: another number is another file. A
#: change of this program that changes a surprisal by more than the promised accuracy raises it.
CACHE_FORMAT = 7
#: Names the folder in place of the user's folder for caches.
VARIABLE = "COHERENCEGYM_CACHE"
#: End of the names of databases.
SUFFIX = ".surprisals.sqlite"
_PAIRS = [("place", "<i4"), ("bits", "<f8")]


def cache_folder(chosen: Path | None = None) -> Path:
    """The folder of databases: as chosen, as the environment says, or the user's own folder."""
    if chosen is not None:
        return chosen
    if named := os.environ.get(VARIABLE):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("coherencegym", appauthor=False)) / "surprisals"


def file_name(description: Mapping[str, Any]) -> str:
    """The name of the database for a model and a way of running it."""
    return digest_name({"format": CACHE_FORMAT, **description}) + SUFFIX


class Cache(RowStore["np.ndarray"]):
    """The surprisals of one model, run in one way.

    Args:
        folder: that of the databases; made where it is missing.
        description: all that surprisals depend on but the token ids, as JSON can hold it. The
            model's name is no part of it: the same model may have other names elsewhere.
    """

    def __init__(self, folder: Path, description: Mapping[str, Any]) -> None:
        about = {"format": CACHE_FORMAT, **description}
        super().__init__(folder / file_name(description), about, _unpack)

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        """The reads of each sequence (bits, float64); None unless all of them are known."""
        keys = list(map(row_key, sequences))
        known = self.find(list(dict.fromkeys(keys)))
        return [
            _reads(known[key], sequence) if key in known else None
            for key, sequence in zip(keys, sequences, strict=True)
        ]

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        """Keep what was read of sequences (bits), all of it or none.

        What is known of the same token ids at other positions stays. A text of which a number is
        not finite is left out.
        """
        import numpy as np

        kept: dict[bytes, dict[int, float]] = {}
        for sequence, bits in results:
            if np.isfinite(bits).all():
                pairs = zip(_places(sequence).tolist(), bits.tolist(), strict=True)
                kept.setdefault(row_key(sequence), {}).update(pairs)

        def merged(known: dict[bytes, np.ndarray]) -> dict[bytes, bytes]:
            return {
                key: _packed({**dict(known[key].tolist() if key in known else ()), **own})
                for key, own in kept.items()
            }

        if kept:
            self.update(list(kept), merged)


def row_key(sequence: TokenSequence) -> bytes:
    """The name of a sequence's row: the sha256 of its token ids (int64), or a masked row's own."""
    import numpy as np

    key = sequence.key
    return (
        key if isinstance(key, bytes) else hashlib.sha256(np.array(key, "<i8").tobytes()).digest()
    )


def _places(sequence: TokenSequence) -> np.ndarray:
    import numpy as np

    return np.array([*sequence.asked, *(-1 - place for place in sequence.word_starts)], "<i4")


def _reads(row: np.ndarray, sequence: TokenSequence) -> np.ndarray | None:
    import numpy as np

    wanted = _places(sequence)
    if np.array_equal(row["place"], wanted):
        bits: np.ndarray = row["bits"].copy()
        return bits
    known = dict(row.tolist())
    if not all(place in known for place in wanted.tolist()):
        return None
    return np.array([known[place] for place in wanted.tolist()])


def _packed(known: Mapping[int, float]) -> bytes:
    import numpy as np

    ordered = sorted(known.items(), key=lambda pair: (pair[0] < 0, abs(pair[0])))
    return np.array(ordered, _PAIRS).tobytes()


def _unpack(value: bytes) -> np.ndarray | None:
    import numpy as np

    if len(value) % np.dtype(_PAIRS).itemsize:
        return None
    row = np.frombuffer(value, _PAIRS)
    # Nothing that is not finite is ever written.
    return row if np.isfinite(row["bits"]).all() else None
