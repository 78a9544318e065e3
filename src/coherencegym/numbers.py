"""Numbers on a command line."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def not_negative(text: str) -> int:
    """A whole number of at least 0, for argparse."""
    if (number := int(text)) < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return number
