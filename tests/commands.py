"""Build commands run in this process, and what they may say of a user's mistake."""

from __future__ import annotations

import pytest

from coherencegym.builders.command.cli import run_suite
from coherencegym.builders.registry import load_suite


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
