"""Checks of the fields of JSON records that several corpora share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from coherencegym.loaders.formats.json_records import json_kind
from coherencegym.loaders.formats.lines import text_problem

#: The problem with what was expected, and the short reason under which it is counted.
Problem = tuple[str, str]


def missing_field(values: Mapping[str, Any], names: Iterable[str]) -> Problem | None:
    """Name the first of these fields that a record has not."""
    missing = next((name for name in names if name not in values), None)
    return None if missing is None else (f"no field {missing}, expected one", f"no {missing}")


def text_field_problem(name: str, value: Any, may_be_empty: bool = False) -> Problem | None:
    """Say why the value of a field is no text that can be used; none where it is one."""
    if not isinstance(value, str):
        return f"{name} is {json_kind(value)}, expected a text", "value that is no text"
    if not value.strip() and not may_be_empty:
        return f"{name} is empty, expected a text", "empty text"
    problem = text_problem(value)
    return None if problem is None else (f"{name}: {problem[0]}", problem[1])


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number of up to nine digits."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9
