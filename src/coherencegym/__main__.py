"""The command ``coherencegym``: one name for all that the toolkit does.

Each subcommand is the code that ``python -m builders``, ``python -m eval`` or
``python -m loaders`` runs; this module knows only their names.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from coherencegym.command_line import Parser, did_you_mean, finish
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import commands
from coherencegym.eval.tasks.registry import TASKS, all_tasks

NAME = "coherencegym"


class Subcommand(NamedTuple):
    """A subcommand: the heading that help shows it under, its purpose, and its module.

    The module has ``main(argv, prog) -> int`` and ``make_parser(prog)``; in that of the evaluator
    ``argv`` begins with the name of the subcommand.
    """

    group: str
    summary: str
    module: str


_EVALUATOR = "coherencegym.eval.commands.cli"


def _evaluator(group: str, *names: str) -> dict[str, Subcommand]:
    known = commands()
    return {name: Subcommand(group, known[name], _EVALUATOR) for name in names}


_MAKE, _ASK, _READ, _SHARE = "make suites", "ask a model", "understand scores", "share"
SUBCOMMANDS: Mapping[str, Subcommand] = {
    "build": Subcommand(_MAKE, "build a suite from a corpus", "coherencegym.builders.command.cli"),
    "rebuild": Subcommand(
        _MAKE,
        "make the rows of a release without texts from your own corpus",
        "coherencegym.builders.command.rebuild",
    ),
    "corpora": Subcommand(_MAKE, "list, show and fetch corpora", "coherencegym.loaders.cli"),
    "new": Subcommand(
        _MAKE,
        "begin a suite, a corpus or an operator of your own",
        "coherencegym.builders.command.new",
    ),
    "judge": Subcommand(
        _MAKE, "draw pairs for people to judge", "coherencegym.builders.judgement.questions"
    ),
    "check": Subcommand(_ASK, "see on one screen what a model notices", "coherencegym.battery"),
    **_evaluator(_ASK, *TASKS, "run", "surprisal", "train"),
    **_evaluator(_READ, "overview", "compare", "plot", "show"),
    "reproduce": Subcommand(_READ, "compute a table of a paper again", "coherencegym.reproduction"),
    **_evaluator(_SHARE, "push"),
    "export": Subcommand(
        _SHARE, "write a suite for other tools", "coherencegym.builders.export.__main__"
    ),
    **_evaluator(_SHARE, "export-results"),
}


def subcommands() -> dict[str, Subcommand]:
    """All subcommands, the tasks of other packages included."""
    others = (name for name in all_tasks() if name not in SUBCOMMANDS)
    return {**SUBCOMMANDS, **_evaluator(_ASK, *others)}


_EXAMPLES = """\
  coherencegym check demo
  coherencegym build story_cloze --corpus sample
  coherencegym score --model demo --dataset suites/story_cloze
  coherencegym score --model gpt2 --dataset coherencegym/sentence_order
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand.

    Returns:
        The exit code: what the subcommand returns; 2 where there is none of that name.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    return finish(NAME, lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    known = SUBCOMMANDS if words and words[0] in SUBCOMMANDS else subcommands()
    if words and words[0] in known:
        module = known[words[0]].module
        run: Callable[..., int] = importlib.import_module(module).main
        return run(words if module == _EVALUATOR else words[1:], f"{NAME} {words[0]}")
    if words and not words[0].startswith("-"):
        message = f"no subcommand {words[0]!r}; expected one of {', '.join(known)}"
        raise EvaluationError(message + did_you_mean(words[0], known))
    parser = _parser()
    options = parser.parse_args(words)
    if options.version:
        from coherencegym import __version__

        print(f"{NAME} {__version__}")
    else:
        parser.print_help()
    return 0


def _parser() -> Parser:
    lines = []
    known = subcommands()
    for group in dict.fromkeys(each.group for each in known.values()):
        lines.append(f"{group}:")
        lines += [f"  {n:<15}{s.summary}" for n, s in known.items() if s.group == group]
    parser = Parser(
        NAME,
        "Test suites that show whether a language model notices incoherence.\n\n"
        + "\n".join(lines),
        _EXAMPLES,
        takes="SUBCOMMAND",
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    return parser


if __name__ == "__main__":
    sys.exit(main())
