"""Sets of words, written in a string (one line) or in a file, and the letter case of a word."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


def word_set(words: str) -> frozenset[str]:
    """The words of a string with spaces between them."""
    return frozenset(words.split())


@cache
def word_lists(name: str) -> tuple[tuple[str, ...], ...]:
    """The words of each line of ``lists/<name>.txt``; ``#`` begins a comment."""
    file = files(__package__).joinpath("lists", f"{name}.txt")
    lines = (line.partition("#")[0].split() for line in file.read_text("utf-8").splitlines())
    return tuple(tuple(words) for words in lines if words)


@cache
def word_list(name: str) -> frozenset[str]:
    """The words of ``lists/<name>.txt``."""
    return frozenset(word for line in word_lists(name) for word in line)


def in_case_of(word: str, replacement: str) -> str:
    """The replacement in the case of a word: ``However`` → ``Since``, ``HOWEVER`` → ``SINCE``."""
    if word.isupper() and len(word) > 1:
        return replacement.upper()
    return replacement.capitalize() if word[0].isupper() else replacement
