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
    opened,
    read_logged,
)

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
    """The log of a task that was run to its end."""
    where = str(path)
    if path.suffix == ".eval":
        found, samples = _archived(path)
    else:
        with opened(path) as file:
            found = read_logged(file.read(), _Whole, where)
        samples = found.samples
    if found.status != "success":
        raise EvaluationError(f"{where}: status {found.status!r}; expected a log of a whole run")
    about = found.eval
    asked = {"solver": about.solver, "task_args": about.task_args_passed}
    return SampleLog(
        path=path,
        tool=_TOOL,
        model=about.model,
        settings={key: json.dumps(value, sort_keys=True) for key, value in asked.items() if value},
        versions=about.packages,
        tasks=[LoggedTask(about.task, list(map(_logged, samples)))],
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


@dataclass(frozen=True, kw_only=True)
class _Whole(_Header):
    samples: list[_Sample] = field(default_factory=list)


def _logged(sample: _Sample) -> LoggedSample:
    own = (sample.scores or {}).items()
    return LoggedSample(
        item=str(sample.id),
        content=[_thinned(sample.input), _thinned(sample.target)],
        scores=dict(pair for name, score in own for pair in _scores(name, score)),
        fields=sample.metadata,
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


def _archived(path: Path) -> tuple[_Header, list[_Sample]]:
    try:
        with zipfile.ZipFile(path) as archive:
            header = _member(archive, path, "header.json", _Header)
            return header, _member(archive, path, "summaries.json", list[_Sample])
    except zipfile.BadZipFile:
        raise EvaluationError(f"{path}: no whole zip archive; expected a log of Inspect") from None


def _member(archive: zipfile.ZipFile, path: Path, name: str, schema: Any) -> Any:
    where = f"{path}: {name}"
    try:
        about = archive.getinfo(name)
    except KeyError:
        raise EvaluationError(f"{path}: no {name}; expected a log of a whole run") from None
    if about.file_size > MOST_BYTES:
        raise EvaluationError(f"{where}: over {MOST_BYTES:,} bytes; expected a smaller log")
    try:
        is_new = about.compress_type == _ZSTANDARD
        content = _decompressed(path, about) if is_new else archive.read(about)
    except (OSError, EOFError, NotImplementedError, RuntimeError, struct.error, zlib.error):
        content = b""
    if len(content) != about.file_size or zlib.crc32(content) != about.CRC:
        raise EvaluationError(f"{where} is damaged; expected the whole log")
    return read_logged(content, schema, where)


def _decompressed(path: Path, about: zipfile.ZipInfo) -> bytes:
    import pyarrow as pa

    # The header of a member: 30 bytes, of which the last four are two lengths, its name, and more.
    with path.open("rb") as file:
        file.seek(about.header_offset)
        file.seek(sum(struct.unpack("<26xHH", file.read(30))), 1)
        packed = file.read(about.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        content: bytes = stream.read(about.file_size + 1)
    return content
