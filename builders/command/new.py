"""``coherencegym new``: the skeleton of a suite, a corpus or an operator, and its test.

What is written runs as it stands; it is changed from there, file by file, with the test beside it.
"""

from __future__ import annotations

import importlib.resources
import keyword
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from string import Template

from coherencegym.builders.registry import all_suites
from coherencegym.command_line import Parser, finish

WHAT = ("suite", "corpus", "operator")
_EXAMPLES = """\
  coherencegym new suite my_suite          my_suite.py and test_my_suite.py, which build and pass
  coherencegym build my_suite.py --corpus sample
  coherencegym new operator drop_last --output my_package
"""


def make_parser(prog: str = "coherencegym new") -> Parser:
    """The parser of ``coherencegym new``."""
    parser = Parser(
        prog,
        "Write the skeleton of a suite, a corpus or an operator, and its test.",
        _EXAMPLES,
        takes="suite|corpus|operator NAME",
    )
    parser.add_argument("what", choices=WHAT, help="kind of thing to begin")
    parser.add_argument("name", metavar="NAME", help="its name: small letters, digits, _")
    parser.add_argument(
        "--output", metavar="DIR", type=Path, default=Path(), help="default: this folder"
    )
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym new") -> int:
    """Write the files; the exit code is 2 where the user can mend it."""
    parser = make_parser(prog)
    arguments = parser.parse_args(argv)
    name: str = arguments.name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        parser.error(f"{name!r} is no name; expected small letters, digits and _, such as my_suite")
    if name in (*sys.stdlib_module_names, *all_suites(), "coherencegym"):
        parser.error(f"{name!r} is the name of something else; expected another, such as my_{name}")
    files = skeleton(arguments.what, name)
    folder: Path = arguments.output
    for path in filter(os.path.lexists, (folder / file for file in files)):
        parser.error(f"{path} is there already; expected another name, or --output DIR")
    return finish(prog, lambda: _write(files, folder, arguments.what))


def _write(files: Mapping[str, str], folder: Path, what: str) -> int:
    for file, text in files.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
        print(f"wrote {folder / file}")
    code, test = (quote(str(folder / file)) for file in files)
    if what == "suite":
        print(f"build it: coherencegym build {code} --corpus sample")
    print(f"test it: python -m pytest {test}")
    return 0


def skeleton(what: str, name: str) -> dict[str, str]:
    """The files of a skeleton: name -> text.

    Args:
        what: one of :data:`WHAT`.
        name: a Python identifier in small letters.
    """
    words = name.split("_")
    values = {
        "name": name,
        "file": f"{name}.py",
        "title": " ".join(words).capitalize(),
        "class_name": "".join(word.capitalize() for word in words),
    }
    templates = importlib.resources.files("coherencegym.builders.command") / "templates"

    def filled(template: str) -> str:
        text = (templates / f"{template}.py.txt").read_text(encoding="utf-8")
        return Template(text).substitute(values)

    return {f"{name}.py": filled(what), f"test_{name}.py": filled(f"test_{what}")}
