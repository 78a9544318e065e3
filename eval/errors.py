"""The one error that a user of the evaluator can cause; the command line prints it as one line."""

from __future__ import annotations


class EvaluationError(ValueError):
    """What was asked for cannot be done; the message says why and what was expected instead."""


class ProcessError(EvaluationError):
    """One of several processes cannot go on; the others may not know why."""
