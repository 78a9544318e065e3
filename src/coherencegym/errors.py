"""Errors that a user can mend, and how any room prints them."""

from __future__ import annotations

from coherencegym.escapes import visible

#: Characters that a message has at most, so that with the name of the command before it none has
#: over 500: a file, or a library that reads it, may say far more.
LONGEST = 460
_CUT = " ... "


class EvaluationError(ValueError):
    """A request that cannot be met; the message says why and what was expected instead."""


class ConfigError(EvaluationError):
    """A request that cannot be met of one config of a dataset; of others it may be."""


class ProcessError(EvaluationError):
    """One of several processes cannot go on; the others may not know why."""


def first_line(error: BaseException) -> str:
    """The first line of an error that says something; else the name of its type.

    Libraries put advice into the lines below; what ends in a colon goes on in the next one.
    """
    lines = filter(None, (line.strip() for line in str(error).splitlines()))
    first = next(lines, type(error).__name__)
    return f"{first} {next(lines, '')}".strip() if first.endswith(":") else first


def one_line(error: object) -> str:
    """An error as it is printed: one line, of at most :data:`LONGEST` characters.

    White space becomes single spaces. What a terminal would obey or hide (control and bidirectional
    characters, halves of characters) is escaped. Of a long message the middle is left out: it
    begins with the place and ends with what was expected.
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        error = f"{error.filename}: {error.strerror}"  # without the number of the error
    text = visible(" ".join(str(error).split()))
    if len(text) <= LONGEST:
        return text
    kept = LONGEST - len(_CUT)
    end = kept // 3
    return text[: kept - end] + _CUT + text[-end:]


def shown_value(value: object) -> str:
    """A value of a wrong type, for an error."""
    shown = repr(value)
    return f"{shown if len(shown) < 60 else shown[:57] + '...'} is of type {type(value).__name__}"
