"""The parser of every command: short help first, errors of one line, and the name that was meant.

argparse prints its whole usage before the line that matters, and all options of a command at once.
:class:`Parser` prints the line alone, and shows options marked :func:`rare` under ``--help-all``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn, TypeVar

from coherencegym.errors import one_line

#: The exit code for what the user can mend.
USER_ERROR = 2

_Action = TypeVar("_Action", bound=argparse.Action)


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Say which known name is nearly this one: ``; did you mean 'winograd'?``, or nothing."""
    names = {str(each).lower(): str(each) for each in known}
    close = get_close_matches(str(name).lower(), names, n=1)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def rare(action: _Action) -> _Action:
    """Mark an option as one that most runs do without: only ``--help-all`` shows it."""
    action.rare = True  # type: ignore[attr-defined]
    return action


@dataclass(frozen=True)
class Names:
    """Names that may stand for an argument, for completion; asked for when a script is made.

    Attributes:
        known: gives all of them.
        by_word: gives those that another word of the command line narrows them to, by that word.
        files: a pattern of files that may stand there as well; ``*/`` folders; empty: none.
    """

    known: Callable[[], Iterable[str]]
    by_word: Callable[[], Mapping[str, Sequence[str]]] = dict
    files: str = ""


def completed(action: _Action, names: Names) -> _Action:
    """Mark an argument as one that a shell completes with these names."""
    action.names = names  # type: ignore[attr-defined]
    return action


class Parser(argparse.ArgumentParser):
    """A parser with short help, ``--help-all`` and errors of one line.

    Args:
        prog: the command as it was called.
        description: its purpose.
        examples: lines of examples, shown last.
        takes: the arguments that the usage names; the options are only counted there.
    """

    def __init__(
        self,
        prog: str | None = None,
        description: str | None = None,
        examples: str = "",
        takes: str = "",
        **settings: Any,
    ) -> None:
        settings.setdefault("formatter_class", _Formatter)
        super().__init__(
            prog=prog,
            description=description,
            epilog=f"examples:\n{examples}" if examples else settings.pop("epilog", None),
            usage=settings.pop("usage", " ".join(filter(None, ("%(prog)s", takes, "[options]")))),
            add_help=False,
            allow_abbrev=False,
            **settings,
        )
        # Not shown: whoever reads of it has asked for it.
        self.add_argument("-h", "--help", action=_Help, help=argparse.SUPPRESS)
        self.add_argument("--help-all", action=_Help, help=argparse.SUPPRESS)

    def group(self, title: str) -> Any:
        """The group of options with this heading, which is made when it is first asked for."""
        for known in self._action_groups:
            if known.title == title:
                return known
        return self.add_argument_group(title)

    def error(self, message: str) -> NoReturn:
        """Print what is wrong in one line, and exit with 2."""
        self.exit(USER_ERROR, f"{self.prog}: {one_line(message)} (--help lists the options)\n")

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse; an option that is unknown is refused with the one that was meant."""
        parsed, left = self.parse_known_args(args, namespace)
        if left:
            option = left[0].partition("=")[0]
            what = "option" if option.startswith("-") else "argument"
            self.error(f"no {what} {option}{did_you_mean(option, _options(self))}")
        return parsed

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = ", ".join(map(str, action.choices))
            raise argparse.ArgumentError(
                action, f"{value!r}; expected one of {known}{did_you_mean(value, action.choices)}"
            )

    def format_everything(self) -> str:
        """Format the help with all options."""
        return super().format_help()

    def format_help(self) -> str:
        """Format the help without the options that are rare."""
        with _hidden(self) as number:
            text = super().format_help()
        if not number:
            return text
        before, mark, after = text.partition("\nexamples:\n")
        return f"{before.rstrip()}\n\n--help-all shows {number} more options.\n{mark}{after}"


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """A formatter that leaves room for an option and its value beside what they mean."""

    def __init__(self, prog: str, **settings: Any) -> None:
        super().__init__(prog, **{"max_help_position": 28, **settings})


class _Help(argparse.Action):
    """``--help`` and ``--help-all``."""

    def __init__(
        self, option_strings: Sequence[str], dest: str, help: str | None = None, **_: Any
    ) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        assert isinstance(parser, Parser)
        whole = "--help-all" in self.option_strings
        print(parser.format_everything() if whole else parser.format_help(), end="")
        parser.exit()


@contextmanager
def _hidden(parser: argparse.ArgumentParser) -> Iterator[int]:
    """Take the help of rare options away for a moment; gives how many there are."""
    actions = [
        action
        for action in parser._actions
        if getattr(action, "rare", False) and action.help != argparse.SUPPRESS
    ]
    helps = [action.help for action in actions]
    for action in actions:
        action.help = argparse.SUPPRESS
    try:
        yield len(actions)
    finally:
        for action, text in zip(actions, helps, strict=True):
            action.help = text


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """All options of a parser and its subcommands that help knows of."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [name for each in action.choices.values() for name in _options(each)]
        elif action.help != argparse.SUPPRESS:
            found += action.option_strings
    return found
