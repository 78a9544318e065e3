"""Logs of other evaluators by their paths: a format is a module, and a line in both functions.

A log has samples with scores of their own, and no predictions by surprisal: each of its metrics
whose scores are shares from 0 to 1 becomes one here, over samples. Several scores of a sample
(epochs) come to their mean first.

A folder of a model has ``samples_TASK_TIME.jsonl`` for each task, a line for each document and
filter, and ``results_TIME.json`` beside them. Checked against release 0.4.13.

Of an archive ``header.json`` and ``summaries.json`` are read, which have the scores of all samples
and their metadata up to a kilobyte; conversations are not. Checked against release 0.3.285, whose
archives are compressed by Zstandard.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, BinaryIO

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.metrics.estimates import Accuracy
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.outcomes.schema import MODEL, UnitRow
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.files.strict_json import held, kind

#: Bytes of a log, or of a file in it, that are read; a larger one is refused.
MOST_BYTES = 1_000_000_000
_NO_SCORE = "no score in the log"
#: Fields that an error names.
_MOST_NAMED = 20


@dataclass(frozen=True)
class LoggedSample:
    """The scores of one sample.

    Attributes:
        item: its id in the task.
        content: the input and the target, from which a digest of the task's rows is made.
        scores: a number for each metric; None where there is none.
        fields: columns of the dataset, or metadata, by which samples may be clustered.
    """

    item: str
    content: Any
    scores: Mapping[str, float | None]
    fields: Mapping[str, Any]


def saved_log(
    path: Path,
    tool: str,
    model: str,
    tasks: Mapping[str, Sequence[LoggedSample]],
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    cluster_by: str | None,
) -> tuple[Results, list[str]]:
    """A log as results, and the names of metrics that are left out: they are no shares.

    Args:
        path: a file or folder.
        tool: the evaluator, as results name a task.
        model: its name.
        tasks: the samples of one task or more, by name; several of one item are its epochs.
        settings: JSON values that have to be alike for two logs to be compared.
        versions: those of packages, by their names.
        cluster_by: the field whose values are clusters; None: each sample is one by itself.
    """
    writer = OutcomeWriter()
    left_out: dict[str, None] = {}
    metrics: dict[str, Metric] = {}
    tables = []
    for task, samples in tasks.items():
        by_item: dict[str, list[LoggedSample]] = {}
        for sample in samples:
            by_item.setdefault(sample.item, []).append(sample)
        rows = sorted({json.dumps([one.item, one.content]) for one in samples})
        digest = hashlib.sha256("\n".join(rows).encode("utf-8", "replace")).hexdigest()
        tables.append(TableFacts(task, "", digest, len(by_item)))
        clusters = [
            _cluster(own[0], cluster_by, f"{path}: {task}") or item for item, own in by_item.items()
        ]
        units = writer.units(
            UnitRow(config=task, split="", item=item, cluster=cluster)
            for item, cluster in zip(by_item, clusters, strict=True)
        )
        for name in dict.fromkeys(name for one in samples for name in one.scores):
            known = [
                [score for sample in own if (score := sample.scores.get(name)) is not None]
                for own in by_item.values()
            ]
            if any(known) and all(0 <= score <= 1 for own in known for score in own):
                values = [fmean(own) if own else None for own in known]
                metrics[name] = Accuracy(name)
                writer.add(units, name, MODEL, values, reason=_NO_SCORE)
            else:
                left_out[name] = None
    if not metrics:
        raise EvaluationError(
            f"{path}: no metric with a score from 0 to 1 for each sample; found "
            f"{first_names(list(left_out)) or 'none'}"
        )
    suite = first_names(list(tasks))
    data = {"name": suite, "suite": suite, "rows_sha256": tables[0].sha256}
    results = Results(
        folder=path,
        signature=f"{tool}:{path.name}|model:{model}",
        model={"name": model},
        dataset={**data, "tables": [asdict(table) for table in tables]},
        settings={**settings, "versions": dict(versions)},
        notes=(),
        task=tool,
        outcomes=writer.tables(),
        metrics=metrics,
    )
    return results, list(left_out)


def _cluster(sample: LoggedSample, field: str | None, where: str) -> str:
    if field is None:
        return ""
    value = sample.fields.get(field)
    if not isinstance(value, str | int) or value == "":
        names = [name for name, own in sample.fields.items() if isinstance(own, str | int)]
        known = first_names(names, _MOST_NAMED)
        raise EvaluationError(
            f"{where}: sample {kind(sample.item)} has no name or number in {field!r}; expected "
            f"--cluster-by with one of {known or 'the fields of its samples, of which it has none'}"
        )
    return str(value)


def opened(path: Path) -> BinaryIO:
    """A file of a log, to be read."""
    if path.stat().st_size > MOST_BYTES:
        raise EvaluationError(f"{path}: over {MOST_BYTES:,} bytes; expected a smaller file")
    return path.open("rb")


def read_logged(content: bytes, schema: Any, where: str) -> Any:
    """JSON of a log, held to a schema; Python's ``NaN`` is let through, as evaluators write it."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise EvaluationError(
            f"{where}: not JSON in UTF-8; expected a log of an evaluator"
        ) from None
    try:
        return held(value, schema)
    except EvaluationError as error:
        raise EvaluationError(f"{where}: {error}") from None


def finite(value: Any) -> float | None:
    """A finite number, or None; one that is too large for a float is the largest."""
    if not isinstance(value, int | float) or value != value or abs(value) == math.inf:
        return None
    return float(max(-sys.float_info.max, min(value, sys.float_info.max)))


_HARNESS = "lm-eval"
_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl", re.ASCII)
#: The settings of a task that make its prompts: two logs have to have them alike.
_ASKED = (
    *("description", "doc_to_text", "doc_to_target", "doc_to_choice"),
    *("target_delimiter", "fewshot_delimiter", "num_fewshot", "output_type"),
)


def harness_logs(path: Path) -> list[Path]:
    """The logs at a path, each a file of samples or a folder of one model's; empty: none."""
    if path.is_file():
        return [path] if _SAMPLES.fullmatch(path.name) else []
    if not path.is_dir():
        return []
    folders = [path, *sorted(each for each in path.iterdir() if each.is_dir())]
    return [
        each for each in folders if any(_SAMPLES.fullmatch(file.name) for file in each.iterdir())
    ]


def read_harness_log(path: Path, cluster_by: str | None) -> tuple[Results, list[str]]:
    """The log of a file of samples, or of all tasks of a model's folder."""
    files = [path] if path.is_file() else sorted(path.glob("samples_*.jsonl"))
    found = {file: match for file in files if (match := _SAMPLES.fullmatch(file.name))}
    times = sorted({match["time"] for match in found.values()})
    if len(times) > 1:
        raise EvaluationError(
            f"{path}: samples of {len(times)} runs; expected a file of one, such as "
            f"{list(found)[-1].name}"
        )
    folder = next(iter(found)).parent
    about = _About()
    if (beside := folder / f"results_{times[0]}.json").is_file():
        with opened(beside) as file:
            about = read_logged(file.read(), _About, str(beside))
    names = {match["task"]: file for file, match in found.items()}
    settings = {
        f"{name} {key}": about.configs[name][key]
        for name in names
        for key in _ASKED
        if isinstance(about.configs.get(name, {}).get(key), str | int)
    }
    return saved_log(
        path,
        _HARNESS,
        about.model_name or folder.name,
        {name: _samples(file) for name, file in names.items()},
        settings,
        {_HARNESS: about.lm_eval_version} if about.lm_eval_version else {},
        cluster_by,
    )


@dataclass(frozen=True)
class _About:
    model_name: str = ""
    lm_eval_version: str = ""
    configs: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Line:
    doc_id: int
    doc: dict[str, Any]
    metrics: list[str]
    filter: str = "none"
    arguments: Any = None
    target: Any = None


def _samples(path: Path) -> list[LoggedSample]:
    found: dict[int, LoggedSample] = {}
    with opened(path) as lines:
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            where = f"{path}:{number}"
            line = read_logged(text, _Line, where)
            whole = json.loads(text)
            way = "" if line.filter == "none" else f",{line.filter}"
            scores = {f"{name}{way}": finite(whole.get(name)) for name in line.metrics}
            known = found[line.doc_id].scores if line.doc_id in found else {}
            if repeated := scores.keys() & known.keys():
                raise EvaluationError(f"{where}: document {line.doc_id} has {min(repeated)} twice")
            found[line.doc_id] = LoggedSample(
                str(line.doc_id), [line.arguments, line.target], {**known, **scores}, line.doc
            )
    if not found:
        raise EvaluationError(f"{path}: no samples; expected a line for each document")
    return list(found.values())


_INSPECT = "inspect"
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


def read_inspect_log(path: Path, cluster_by: str | None) -> tuple[Results, list[str]]:
    """The log of a task that was run to its end."""
    if path.suffix == ".eval":
        found = _archived(path)
    else:
        with opened(path) as file:
            found = read_logged(file.read(), _Log, str(path))
    if found.status != "success":
        raise EvaluationError(f"{path}: status {found.status!r}; expected a log of a whole run")
    about = found.eval
    asked = {"solver": about.solver, "task_args": about.task_args_passed}
    settings = {key: json.dumps(value, sort_keys=True) for key, value in asked.items() if value}
    tasks = {about.task: list(map(_logged, found.samples))}
    return saved_log(path, _INSPECT, about.model, tasks, settings, about.packages, cluster_by)


@dataclass(frozen=True)
class _Eval:
    task: str
    model: str
    solver: str | None = None
    task_args_passed: dict[str, Any] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)


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


@dataclass(frozen=True)
class _Log:
    status: str
    eval: _Eval
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


def _archived(path: Path) -> _Log:
    try:
        with zipfile.ZipFile(path) as archive:
            header: _Log = _member(archive, path, "header.json", _Log)
            samples = _member(archive, path, "summaries.json", list[_Sample])
            return replace(header, samples=samples)
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


def logs_at(path: Path) -> list[Path]:
    """The logs of other evaluators at a path, each of one model; empty: it is something else."""
    if path.is_dir() and (logs := sorted(path.glob("*.eval"))):
        return logs
    return [path] if is_inspect_log(path) else harness_logs(path)


def read_log(path: Path, cluster_by: str | None = None) -> tuple[Results, list[str]]:
    """A log as results, and the names of its metrics that are left out.

    Args:
        path: one of :func:`logs_at`.
        cluster_by: the column of a document, or field of a sample's metadata, that names clusters.
    """
    read = read_inspect_log if is_inspect_log(path) else read_harness_log
    try:
        results, left_out = read(path, cluster_by)
        json.dumps([results.model, results.settings], ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise EvaluationError(
            f"{path}: half a character in a name or a setting; expected both halves"
        ) from None
    return results, left_out
