"""Runs as YAML: the name of a task and the arguments of its function in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from coherencegym.errors import EvaluationError, first_line
from coherencegym.escapes import visible
from coherencegym.eval.run.call import Call
from coherencegym.eval.run.options import DataOptions, ModelOptions
from coherencegym.files.strict_json import kind
from coherencegym.files.tables import read_text

#: The name of the file in a folder of results.
RUN_FILE_NAME = "run.yaml"
#: Options that say nothing of one run in its folder, or are told by its model and its dataset.
_UNRECORDED = frozenset(
    {
        *("model", "model_revision", "all_revisions", "dataset"),
        *("output", "overwrite", "quiet"),
    }
)


def read_run_file(path: Path) -> dict[str, Any]:
    """Read a file of runs: options by their names, ``task`` among them."""
    try:
        content = yaml.safe_load(read_text(path))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise EvaluationError(f"{path}:{line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise EvaluationError(f"{path}: not YAML: {first_line(error)}") from None
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise EvaluationError(
            f"{path}: {kind(content)}; expected model, dataset, task, output, ..."
        )
    return content


def run_file_text(
    call: Call, model: ModelOptions, data: DataOptions, folder: Path, signature: str
) -> str:
    """The file of one run, with its signature: a model and a dataset, and the options given.

    It is empty where a value in memory was asked, or asked about.
    """
    if not isinstance(model.model, str) or not isinstance(data.dataset, str | Path):
        return ""
    recorded = {
        name: _plain(value)
        for name, value in call.given.items()
        if name not in _UNRECORDED and value is not None
    }
    if model.revision:
        recorded["model_revision"] = model.revision
    about = {"task": call.task.command.name, "model": model.model, "dataset": str(data.dataset)}
    content = {**about, **recorded, "output": str(folder)}
    made = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)
    return f"# {visible(signature)}\n{made}"


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return value if isinstance(value, str | int | float) else str(value)
