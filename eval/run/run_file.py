"""Runs as YAML: the words of a command line that a file stands for, and the file of a run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from coherencegym.command_line import Parser, did_you_mean, flag_of, options_in
from coherencegym.errors import EvaluationError, first_line
from coherencegym.escapes import visible
from coherencegym.eval.run.call import Call, options_of_command
from coherencegym.eval.run.options import DataOptions, ModelOptions
from coherencegym.files.frames import read_text
from coherencegym.files.strict_json import SomeNames, held, kind

#: The name of the file in a folder of results.
RUN_FILE_NAME = "run.yaml"
#: Options that have a key of their own.
_KEYS = {"--model": "models", "--dataset": "datasets", "--output": "output"}
#: Options that say nothing of one run in its folder, or are told by its model and its dataset.
_UNRECORDED = frozenset(
    {
        *("model", "model_revision", "all_revisions", "dataset"),
        *("output", "overwrite", "quiet"),
    }
)


@dataclass(frozen=True)
class RunFile:
    """Models on datasets, by a task.

    Attributes:
        models, datasets: names or folders.
        task: the subcommand.
        options: those of the subcommand, without ``--``: texts, and ``true`` for a switch.
        output: the folder; empty: that of the subcommand.
    """

    models: SomeNames = ()
    datasets: SomeNames = ()
    task: str = "score"
    options: dict[str, SomeNames] = field(default_factory=dict)
    output: str = ""

    def words(self, parser: Parser) -> list[str]:
        """The words of the command line, for the parser of the task."""
        actions = dict(_flags(parser))
        known = {flag.removeprefix("--"): flag for flag in actions if flag not in _KEYS}
        found = {}
        for name, values in self.options.items():
            if name not in known:
                raise EvaluationError(f"options: no option {name!r}{did_you_mean(name, known)}")
            found[known[name]] = values
        own = (self.models, self.datasets, [self.output] * bool(self.output))
        given = {**dict(zip(_KEYS, own, strict=True)), **found}
        return [
            word
            for flag, values in given.items()
            for word in _words(_KEYS.get(flag, flag.removeprefix("--")), actions[flag], values)
        ]


def read_run_file(path: Path) -> RunFile:
    """Read a file of runs; every value is the text that stands there, as in a shell."""
    try:
        content = yaml.load(read_text(path), yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise EvaluationError(f"{path}:{line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise EvaluationError(f"{path}: not YAML: {first_line(error)}") from None
    known = [one.name for one in fields(RunFile)]
    listed = f"expected some of {', '.join(known)}"
    if not isinstance(content, dict):
        raise EvaluationError(f"{path}: {kind(content)}; {listed}")
    for name in content:
        if name not in known:
            raise EvaluationError(f"{path}: no key {name!r}; {listed}{did_you_mean(name, known)}")
    try:
        return held({name: value for name, value in content.items() if value}, RunFile)
    except EvaluationError as error:
        raise EvaluationError(f"{path}: {error}") from None


def _flags(parser: Parser) -> list[tuple[str, argparse.Action]]:
    return [
        (flag, action)
        for action in parser._actions
        for flag in action.option_strings
        if flag.startswith("--") and action.dest != argparse.SUPPRESS
    ]


def _words(name: str, action: argparse.Action, values: Sequence[str]) -> list[str]:
    flag = action.option_strings[-1]
    if action.nargs == 0:
        if [one.lower() for one in values] not in (["true"], ["false"]):
            raise EvaluationError(f"{name}: {', '.join(values)}; expected true or false")
        return [flag] * (values[0].lower() == "true")
    if action.nargs is None and len(values) > 1:
        raise EvaluationError(f"{name}: {len(values):,} values; expected one")
    return [f"{flag}={value}" for value in values]


def run_file_text(
    call: Call, model: ModelOptions, data: DataOptions, folder: Path, signature: str
) -> str:
    """The file of one run, with its signature: a model and a dataset, and the options given.

    It is empty where a value in memory was asked, or asked about.
    """
    if not isinstance(model.model, str) or not isinstance(data.dataset, str | Path):
        return ""
    recorded = {
        flag.removeprefix("--"): value
        for kind, names in options_of_command(call.task.command)
        for name, own in options_in(kind).items()
        if name in names and name in call.given and name not in _UNRECORDED
        for flag in (own.metadata["flags"] or (flag_of(name),))[:1]
        if (value := _typed(call.given[name], own.default)) is not None
    }
    if model.revision:
        recorded["model-revision"] = model.revision
    content = {
        "models": [model.model],
        "datasets": [str(data.dataset)],
        "task": call.task.command.name,
        **({"options": recorded} if recorded else {}),
        "output": str(folder),
    }
    made = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)
    return f"# {visible(signature)}\n{made}"


def _typed(value: Any, default: Any) -> Any:
    # As it would be typed; None where it would not be.
    if isinstance(default, bool):
        return True if value != default else None
    if isinstance(value, list | tuple):
        return [*map(str, value)] or None
    return value if value is None or isinstance(value, int | float) else str(value)
