"""Completion in a shell: the script of shtab, with the names that stand for suites and corpora.

The names are written into the script, so that a shell asks no Python for them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from coherencegym.command_line import Parser

SHELLS = ("bash", "zsh", "tcsh")
#: Words in the metavar of an argument that is a folder.
_FOLDERS = ("FOLDER", "DIR", "RESULTS", "DATASET")


def completion(parser: Parser, shell: str) -> str:
    """The script that completes the subcommands, options and values of a parser in a shell."""
    import shtab

    for action in _actions(parser):
        if names := getattr(action, "names", None):
            action.choices = tuple(names())
        elif action.choices is None and any(word in str(action.metavar) for word in _FOLDERS):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.choices is None and action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    text: str = shtab.complete(parser, shell=shell)
    return text


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _actions(child)
        elif action.nargs != 0:
            yield action
