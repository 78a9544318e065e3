"""Numbers on a command line."""

from __future__ import annotations

import argparse
import re


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    return _at_least(1, text)


def not_negative(text: str) -> int:
    """A whole number of at least 0, for argparse."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    if not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text) or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number of at least {least}")
    return int(text)
