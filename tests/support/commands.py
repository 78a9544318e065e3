"""Build commands run in this process, what they may say of a mistake, and the linter's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from coherencegym.builders.command.cli import run_suite
from coherencegym.builders.registry import load_suite
from coherencegym.eval.commands.cli import main


def build_command(suite: str, *argv: object) -> int:
    """Run ``python -m builders.<suite>`` with these arguments; its exit code."""
    with pytest.raises(SystemExit) as stopped:
        run_suite(load_suite(suite), [str(argument) for argument in argv])
    code = stopped.value.code
    assert isinstance(code, int)
    return code


def one_line(text: str) -> str:
    """The text, which has to be one line, and no traceback."""
    assert text.count("\n") == 1, text
    assert "Traceback" not in text
    return text


#: The line on a table that was read: ``sample (test): 234 items in 1.2 s``.
_READ = re.compile(r"^.+: [\d,]+ [a-z]+(?: in [\d,]+\.\d s)?\n", re.MULTILINE)


def without_progress(text: str) -> str:
    """What was said on standard error, but for the lines on tables that were read."""
    return _READ.sub("", text)


def lint_examples(repository: Path, folder: Path, examples: Iterable[str], ignored: str) -> None:
    """Hold the code of a document to the rules of the project but for some; skips without ruff."""
    for number, code in enumerate(examples):
        (folder / f"example{number}.py").write_text(code)
    for arguments in (["check", "--ignore", ignored], ["format", "--check"]):
        run = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "--config", "pyproject.toml", str(folder)],
            cwd=repository,
            capture_output=True,
            text=True,
            check=False,
        )
        if "No module named ruff" in run.stderr:
            pytest.skip("ruff is not installed")
        assert run.returncode == 0, run.stdout + run.stderr


def compared(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, Any]]:
    """The rows that ``compare`` prints, as numbers."""
    assert main(["compare", *map(str, words), "--format", "json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows
