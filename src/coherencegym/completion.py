"""Completion in a shell: the script of shtab, with the names that stand for suites and corpora.

The names are written into the script, so that a shell asks no Python for them.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join, quote
from typing import Any

from coherencegym.command_line import Names, Parser

SHELLS = ("bash", "zsh", "tcsh")
#: Words in the metavar of an argument that is a folder.
_FOLDERS = ("FOLDER", "DIR", "RESULTS", "DATASET")


def completion(parser: Parser, shell: str) -> str:
    """The script that completes the subcommands, options and values of a parser in a shell."""
    import shtab

    for action in _actions(parser):
        if known := _completed(action):
            action.complete = known  # type: ignore[attr-defined]
    text: str = shtab.complete(parser, shell=shell)
    return text


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _actions(child)
        elif action.nargs != 0:
            yield action


def _completed(action: argparse.Action) -> Any:
    # None: shtab is to find a way.
    import shtab

    names = getattr(action, "names", None)
    if isinstance(names, Names):
        return _functions(names)
    if action.choices is not None:
        return None
    if any(word in str(action.metavar) for word in _FOLDERS):
        return shtab.DIRECTORY
    return shtab.FILE if action.type is Path else None


def _functions(names: Names) -> dict[str, Any]:
    known, by_word = list(names.known()), names.by_word()
    digest = hashlib.sha256(repr((known, by_word, names.files)).encode()).hexdigest()[:8]
    name = f"_coherencegym_{digest}"
    in_bash, in_zsh = (
        f"{name}() {{\n{_chosen(known, by_word, words)}" for words in ("COMP_WORDS", "words")
    )
    in_bash += '  compgen -W "${names[*]}" -- "$1"\n'
    in_zsh += "  compadd -a names\n"
    if names.files == "*/":
        in_bash += '  compgen -d -- "$1"\n'
        in_zsh += "  _files -/\n"
    elif names.files:
        in_bash += f'  compgen -f -X {quote("!" + names.files)} -- "$1"\n'
        in_zsh += f"  _files -g {quote(names.files)}\n"
    return {
        "bash": name,
        "zsh": name,
        "tcsh": f"({' '.join(known)})",
        "preamble": {"bash": in_bash + "}\n", "zsh": in_zsh + "}\n"},
    }


def _chosen(known: Sequence[str], by_word: Mapping[str, Sequence[str]], words: str) -> str:
    # ``words``: the shell's array of the command line.
    everything = f"names=({join(known)})\n"
    if not by_word:
        return f"  local -a names\n  {everything}"
    cases = "".join(f"      {quote(each)}) names+=({join(by_word[each])}) ;;\n" for each in by_word)
    return (
        "  local word\n  local -a names\n  names=()\n"
        f'  for word in "${{{words}[@]}}"; do\n    case "$word" in\n{cases}    esac\n  done\n'
        f"  if [ ${{#names[@]}} -eq 0 ]; then {everything}  fi\n"
    )
