"""Docstrings and help texts begin with a verb or a noun, so that they read without their name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Folders that hold to the rule.
ROOMS = ("manipulations", "loaders", "builders", "cards", "eval", "src/coherencegym")
#: Words that leave what follows hanging in the air where they stand first.
_WORDS = (
    "of whether where as in how why what which who when if for with from to on at by not nor and "
    "or only such than behind before after because is are was were within said"
)
DANGLING = frozenset(_WORDS.split())
_SECTION = re.compile(r" *(Attributes|Args|Returns|Yields|Raises):")
_ENTRY = re.compile(r"    (?P<names>\*{0,2}\w+(?:, \w+)*): (?P<text>.+)")
_COMMENT = re.compile(r"\s*#: (?P<text>.+)")


def first_word(text: str) -> str:
    return (re.match(r"[\w'-]*", text) or [""])[0].lower()


def entries(docstring: str) -> Iterator[str]:
    """What is said of each attribute and argument."""
    section = ""
    for line in docstring.splitlines():
        if match := _SECTION.fullmatch(line):
            section = match[1]
        elif section in ("Attributes", "Args") and (match := _ENTRY.fullmatch(line)):
            yield match["text"]


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Docstrings, their entries, ``#:`` comments and help texts, with the lines they stand on."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            docstring = ast.get_docstring(node) or ""
            line = node.body[0].lineno if node.body else 1
            yield line, docstring
            yield from ((line, entry) for entry in entries(docstring))
        elif isinstance(node, ast.keyword) and node.arg == "help":
            yield from (
                (part.lineno, str(part.value))
                for part in ast.walk(node.value)
                if isinstance(part, ast.Constant)
            )
    before = ""
    for number, text in enumerate(source.splitlines(), start=1):
        if (match := _COMMENT.fullmatch(text)) and not _COMMENT.fullmatch(before):
            yield number, match["text"]
        before = text


def dangling(source: str) -> list[tuple[int, str]]:
    return sorted(
        {
            (line, text.partition("\n")[0])
            for line, text in texts(source)
            if first_word(text) in DANGLING
        }
    )


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_begins_in_the_air(room: str) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert files
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in files
        for line, text in dangling(path.read_text("utf-8"))
    ]
    assert not found, "begin with a verb or a noun:\n" + "\n".join(found)


def test_every_place_is_looked_at() -> None:
    source = '''"""Of a module."""
#: What a constant is,
#: of two lines.
A = 1
class C:
    """A class.

    Attributes:
        x: whether it is so.
        y: the rest.
    """
    def f(self, z: int) -> None:
        """Where it goes.

        Args:
            z, w: of the thing.
        """
        parser.add_argument("--x", help="for those who want it")
        parser.add_argument("--y", help=f"{z} of them")
'''
    assert [text for _, text in dangling(source)] == [
        "Of a module.",
        "What a constant is,",
        "whether it is so.",
        "Where it goes.",
        "of the thing.",
        "for those who want it",
    ]
