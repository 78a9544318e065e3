"""Logs of Inspect: ``.eval``, a zip archive of JSON, or ``.json``; read without Inspect.

Of an archive ``header.json`` and ``summaries.json`` are read, which have the scores of all samples
and their metadata up to a kilobyte; conversations are not. Checked against release 0.3.285, whose
archives are compressed by Zstandard.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.logs.sample_log import (
    MOST_BYTES,
    LoggedSample,
    LoggedTask,
    SampleLog,
    finite,
)
from coherencegym.files.strict_json import held

_TOOL = "inspect"
#: Words by which Inspect scores (``inspect_ai.scorer.value_to_float``).
_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: The method of Zstandard in a zip archive, which Python knows from 3.14 on.
_ZSTANDARD = 93
#: Characters of a text that a summary has.
_THINNED = 5_120


def is_inspect_log(path: Path) -> bool:
    """Tell whether a file is a log of Inspect, by its name or its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return path.suffix == ".eval" or (path.suffix == ".json" and b'"eval"' in file.read(400))


def read_inspect_log(path: Path) -> SampleLog:
    """The log of a task that was run to its end.

    Raises:
        EvaluationError: it is none, or of a run without an end.
        OSError: the file cannot be read.
    """
    if path.suffix == ".eval":
        header, samples = _archived(path)
    else:
        if path.stat().st_size > MOST_BYTES:
            raise EvaluationError(f"{path}: {_LARGE}")
        header = _parsed(path.read_bytes(), str(path))
        samples = header.get("samples") or [] if isinstance(header, dict) else []
    found = _held(header, _Header, str(path))
    if found.status != "success":
        raise EvaluationError(f"{path}: status {found.status!r}; expected a log of a whole run")
    about = found.eval
    asked = {"solver": about.solver, "task_args": about.task_args_passed}
    return SampleLog(
        path=path,
        tool=_TOOL,
        model=about.model,
        settings={key: json.dumps(value, sort_keys=True) for key, value in asked.items() if value},
        versions=about.packages,
        tasks=[LoggedTask(about.task, list(_samples(samples, str(path))))],
    )


@dataclass(frozen=True)
class _Eval:
    task: str
    model: str
    solver: str | None = None
    task_args_passed: dict[str, Any] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Header:
    status: str
    eval: _Eval


@dataclass(frozen=True)
class _Score:
    value: Any = None


@dataclass(frozen=True)
class _Sample:
    id: int | str
    input: Any = None
    target: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, _Score] | None = None


def _samples(samples: Any, where: str) -> Iterator[LoggedSample]:
    for one in _held(samples, list[_Sample], where):
        yield LoggedSample(
            item=str(one.id),
            content=[_thinned(one.input), _thinned(one.target)],
            scores=dict(
                pair for name, own in (one.scores or {}).items() for pair in _scores(name, own)
            ),
            fields=one.metadata,
        )


def _thinned(value: Any) -> Any:
    # So far as a summary has it, and messages without their ids, so that both forms of a log and
    # every run have one digest.
    if isinstance(value, list):
        return [_thinned(one.get("content") if isinstance(one, dict) else one) for one in value]
    return value[:_THINNED] if isinstance(value, str) else None


def _scores(name: str, score: _Score) -> Iterator[tuple[str, float | None]]:
    if isinstance(score.value, Mapping):
        yield from ((f"{name}.{key}", _number(own)) for key, own in score.value.items())
    elif not isinstance(score.value, Sequence) or isinstance(score.value, str):
        yield name, _number(score.value)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        word = _WORDS.get(value, _WORDS.get(value.lower()) if len(value) > 1 else None)
        try:
            return finite(float(value)) if word is None else word
        except ValueError:
            return None
    return finite(value)


def _archived(path: Path) -> tuple[Any, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            header, samples = (_member(archive, path, f"{n}.json") for n in ("header", "summaries"))
    except zipfile.BadZipFile:
        raise EvaluationError(f"{path}: no zip archive; expected a log of Inspect") from None
    return header, samples


def _member(archive: zipfile.ZipFile, path: Path, name: str) -> Any:
    try:
        about = archive.getinfo(name)
    except KeyError:
        raise EvaluationError(f"{path}: no {name}; expected a log of a whole run") from None
    if about.file_size > MOST_BYTES:
        raise EvaluationError(f"{path}: {name}: {_LARGE}")
    if about.compress_type == _ZSTANDARD:
        content = _decompressed(path, about)
    else:
        with archive.open(about) as file:
            content = file.read(MOST_BYTES + 1)
    if len(content) != about.file_size or zlib.crc32(content) != about.CRC:
        raise EvaluationError(f"{path}: {name} is damaged; expected the whole log")
    return _parsed(content, f"{path}: {name}")


def _decompressed(path: Path, about: zipfile.ZipInfo) -> bytes:
    import pyarrow as pa

    # The header of a member: 30 bytes, of which the last four are two lengths, its name, and more.
    with path.open("rb") as file:
        file.seek(about.header_offset)
        header = file.read(30)
        if len(header) < 30:
            raise EvaluationError(f"{path}: {about.filename} is damaged; expected the whole log")
        file.seek(sum(struct.unpack("<HH", header[26:])), 1)
        packed = file.read(about.compress_size)
    try:
        with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
            content: bytes = stream.read(about.file_size + 1)
    except OSError:
        raise EvaluationError(
            f"{path}: {about.filename} is damaged; expected the whole log"
        ) from None
    return content


def _parsed(content: bytes, where: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise EvaluationError(f"{where}: not JSON; expected what Inspect writes") from None


def _held(value: Any, schema: Any, where: str) -> Any:
    try:
        return held(value, schema)
    except EvaluationError as error:
        raise EvaluationError(f"{where}: {error}") from None


_LARGE = f"over {MOST_BYTES:,} bytes; expected a smaller log"
