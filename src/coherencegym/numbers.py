"""Numbers on a command line."""

from __future__ import annotations

import argparse
import math
import re


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    return _at_least(1, text)


def not_negative(text: str) -> int:
    """A whole number of at least 0, for argparse."""
    return _at_least(0, text)


def finite(text: str) -> float:
    """A number that is neither infinite nor none, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r}; expected a number")
    return number


def above_zero(text: str) -> float:
    """A finite number greater than 0, for argparse."""
    if (number := finite(text)) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a number greater than 0")
    return number


def share(text: str) -> float:
    """A number greater than 0 and less than 1, for argparse."""
    if not 0 < (number := finite(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a number between 0 and 1")
    return number


def _at_least(least: int, text: str) -> int:
    if not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text) or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number of at least {least}")
    return int(text)
