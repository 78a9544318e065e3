"""The command line of the evaluator: its subcommands, and errors in one line."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
import time
from collections.abc import Sequence
from typing import NoReturn, Protocol, cast

from coherencegym.errors import EvaluationError, ProcessError, one_line
from coherencegym.eval.tasks.registry import TASKS

#: Subcommands and their purposes; ``train_detector_command`` is the module of ``train-detector``,
#: and has ``add_arguments`` and ``run``.
COMMANDS = {
    "score": "score a model on a dataset of minimal pairs (the default)",
    "cache": "where surprisals are kept from run to run, and how much",
    "compare": "compare the results of models, item by item",
    "show": "show the surprisal of every token of one item",
    "push": "push results to a dataset repository on the Hub",
    "detect": "find the sentence of a document that does not belong there",
    "train-detector": "fine-tune an encoder to find that sentence, for comparison",
    "model-index": "print the scores for a model's own card",
    "plot": "draw the scores of several runs in one figure",
}
_DEFAULT = "score"

#: Exit codes: what the user asked for cannot be done; the user stopped it.
USER_ERROR, INTERRUPTED = 2, 130
#: Seconds that other processes give the first one to say what is wrong.
PATIENCE = 20
#: Objects between two rounds of the garbage collector, and rounds between deeper ones.
_COLLECT = (200_000, 20, 20)


class Command(Protocol):
    """The module of a subcommand; importing it must be quick."""

    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; returns the exit code."""


class OneLine(argparse.ArgumentParser):
    """A parser whose errors are one line; argparse prints the usage as well, which is long here."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit."""
        self.exit(USER_ERROR, f"eval: {one_line(message)} (--help lists the options)\n")


def _commands() -> dict[str, str]:
    """All subcommands, those of the tasks of the registry included."""
    return {**COMMANDS, **{name: summary for name, (summary, _) in TASKS.items()}}


def _command(name: str) -> Command:
    if name in TASKS:
        from coherencegym.eval.commands.task_command import TaskCommand
        from coherencegym.eval.tasks.registry import task_named

        return TaskCommand(task_named(name))
    path = f"coherencegym.eval.commands.{name.replace('-', '_')}_command"
    return cast(Command, importlib.import_module(path))


def _parser(name: str, module: Command) -> argparse.ArgumentParser:
    is_default = name == _DEFAULT
    summary = _commands()[name]
    others = "\n".join(f"  {key:<14} {help_text}" for key, help_text in _commands().items())
    parser = OneLine(
        prog="python -m eval" if is_default else f"python -m eval {name}",
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"examples:\n{module.EXAMPLES}\nsubcommands (--help after each):\n{others}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; ``python -m eval`` without one is ``python -m eval score``.

    Returns:
        The exit code: 0, 2 for what the user can mend (one line on standard error says what), or
        130 after Ctrl-C.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    named = bool(words) and words[0] in _commands()
    name = words.pop(0) if named else _DEFAULT
    if words and not named and not words[0].startswith("-"):
        print(
            one_line(f"eval: no subcommand {words[0]!r}; expected one of {', '.join(_commands())}"),
            file=sys.stderr,
        )
        return USER_ERROR
    module = _command(name)
    arguments = _parser(name, module).parse_args(words)
    from coherencegym.eval.kinds.items import SuiteError

    pace = gc.get_threshold()
    # Items, tokens and judgements are values by the million that hold no cycles: at its own pace
    # the collector looks through all of them again and again, a fifth of the time without a model.
    gc.set_threshold(*_COLLECT)
    try:
        return module.run(arguments)
    except (EvaluationError, SuiteError, OSError) as error:
        # Of several processes that make one mistake, the first says so. The launcher stops all when
        # one ends, so that the others wait for it; if it does not stop them, the mistake is theirs.
        if os.environ.get("RANK", "0") != "0" and not isinstance(error, ProcessError):
            time.sleep(PATIENCE)
        print(f"eval: {one_line(error)}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print("eval: stopped; nothing was written", file=sys.stderr)
        return INTERRUPTED
    finally:
        gc.set_threshold(*pace)
