"""Sample logs of lm-evaluation-harness: what ``lm_eval --log_samples --output_path`` writes.

A folder of a model has ``samples_TASK_TIME.jsonl`` for each task, a line for each document and
filter, and ``results_TIME.json`` beside them. Checked against release 0.4.13.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.logs.sample_log import (
    LoggedSample,
    LoggedTask,
    SampleLog,
    finite,
    opened,
    read_logged,
)

_TOOL = "lm-eval"
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
    return [each for each in folders if any(map(_matches, each.glob("samples_*.jsonl")))]


def read_harness_log(path: Path) -> SampleLog:
    """The log of a file of samples, or of all tasks of a model's folder."""
    files = [path] if path.is_file() else sorted(filter(_matches, path.glob("samples_*.jsonl")))
    found = {file: match for file in files if (match := _matches(file))}
    times = sorted({match["time"] for match in found.values()})
    if len(times) > 1:
        raise EvaluationError(
            f"{path}: samples of {len(times)} runs; expected a file of one, such as "
            f"{files[-1].name}"
        )
    about = _about(files[0].with_name(f"results_{times[0]}.json"))
    names = {match["task"]: file for file, match in found.items()}
    settings = {
        f"{name} {key}": about.configs[name][key]
        for name in names
        for key in _ASKED
        if isinstance(about.configs.get(name, {}).get(key), str | int)
    }
    return SampleLog(
        path=path,
        tool=_TOOL,
        model=about.model_name or files[0].parent.name,
        settings=settings,
        versions={_TOOL: about.lm_eval_version} if about.lm_eval_version else {},
        tasks=[LoggedTask(name, _samples(file)) for name, file in names.items()],
    )


def _matches(path: Path) -> re.Match[str] | None:
    return _SAMPLES.fullmatch(path.name)


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


def _about(path: Path) -> _About:
    if not path.is_file():
        return _About()
    with opened(path) as file:
        found: _About = read_logged(file.read(), _About, str(path))
    return found


def _samples(path: Path) -> list[LoggedSample]:
    found: dict[int, LoggedSample] = {}
    for where, text in _lines(path):
        line = read_logged(text, _Line, where)
        whole = json.loads(text)
        way = "" if line.filter == "none" else f",{line.filter}"
        scores = {f"{name}{way}": finite(whole.get(name)) for name in line.metrics}
        known: Mapping[str, Any] = found[line.doc_id].scores if line.doc_id in found else {}
        if repeated := scores.keys() & known.keys():
            raise EvaluationError(f"{where}: document {line.doc_id} has {min(repeated)} twice")
        found[line.doc_id] = LoggedSample(
            str(line.doc_id), [line.arguments, line.target], {**known, **scores}, line.doc
        )
    if not found:
        raise EvaluationError(f"{path}: no samples; expected a line for each document")
    return list(found.values())


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    with opened(path) as lines:
        for number, text in enumerate(lines, 1):
            if text.strip():
                yield f"{path}:{number}", text
