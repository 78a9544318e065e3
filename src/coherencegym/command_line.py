"""The parser of every command, and its end in one line.

argparse prints its whole usage before the line that matters, and all options of a command at once.
:class:`Parser` prints the line alone with the name that was meant, and shows options marked
:func:`rare` under ``--help-all``.
:func:`finish` runs a command to its exit code.
"""

from __future__ import annotations

import argparse
import gc
import io
import math
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, field, fields
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, NoReturn, TypeVar

from coherencegym.errors import EvaluationError, one_line
from coherencegym.terminal import watched

#: The exit code for what the user can mend.
USER_ERROR = 2
#: The exit code of a signal is its number above this.
SIGNALLED = 128
#: Objects between two rounds of the garbage collector, and rounds between deeper ones.
_COLLECT = (200_000, 20, 20)

#: The beginning of what argparse says of options that are missing.
_REQUIRED = re.compile("the following arguments are required|one of the arguments .* is required")

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


def option(
    default: Any,
    said: str,
    *,
    choices: Collection[str] = (),
    parse: Callable[[str], Any] | None = None,
    metavar: str = "",
    flags: Sequence[str] = (),
    name: str = "",
    group: str = "",
    many: bool | None = False,
    rare: bool = False,
    required: bool = False,
) -> Any:
    """A field of a dataclass of options: an option of the shell and of Python.

    Args:
        default: its value where nobody gives one; ``False`` makes a switch.
        said: its text in help.
        choices: its values; empty: any of its type.
        parse: makes its value of a word of the shell; None: the type of the default does.
        metavar: the word that stands for the value in help.
        flags: its names in the shell; empty: one of its name.
        name: its name where users give it; empty: that of the field.
        group: the heading of help that it stands under; empty: that of its command's own.
        many: it takes several values, also when it is given several times; None: in the commands
            that take several models and datasets.
        rare: true where only ``--help-all`` shows it.
        required: nothing can be done without it.
    """
    about: dict[str, Any] = {"help": said, "choices": choices, "parse": parse, "name": name}
    about |= {"flags": tuple(flags), "metavar": metavar, "group": group, "many": many, "rare": rare}
    return field(default=default, metadata={**about, "required": required})


def named(text: str) -> str:
    """A name that is not empty, for argparse: an empty one would be the folder that one is in."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name; expected a Hub id or a folder")
    return text


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    return _at_least(1, text)


def not_negative(text: str) -> int:
    """A whole number of at least 0, for argparse."""
    return _at_least(0, text)


def finite(text: str) -> float:
    """A number that is neither infinite nor none, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r}; expected a number")
    return number


def above_zero(text: str) -> float:
    """A finite number greater than 0, for argparse."""
    if (number := finite(text)) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a number greater than 0")
    return number


def share(text: str) -> float:
    """A number greater than 0 and less than 1, for argparse."""
    if not 0 < (number := finite(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a number between 0 and 1")
    return number


def _at_least(least: int, text: str) -> int:
    if not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text) or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number of at least {least}")
    return int(text)


def options_in(options: type[Any]) -> dict[str, Field[Any]]:
    """The fields of a dataclass that :func:`option` made, by the names that users give them."""
    own = (each for each in fields(options) if "help" in each.metadata)
    return {each.metadata["name"] or each.name: each for each in own}


def flag_of(name: str) -> str:
    """The name of an option in the shell."""
    return "--" + name.replace("_", "-")


def add_options(
    parser: Parser,
    options: type[Any],
    group: str = "",
    *,
    only: Container[str] | None = None,
    several: bool = False,
) -> None:
    """Declare the options of a dataclass; what is not typed will not be there when it is parsed.

    Args:
        parser: the parser.
        options: the dataclass.
        group: the heading of those that have none of their own.
        only: the names of those that are declared; None: all.
        several: the command takes several models and datasets.
    """
    for name, own in options_in(options).items():
        if only is None or name in only:
            add_option(parser, name, own, group, several, default=argparse.SUPPRESS)


def add_option(
    parser: Parser,
    name: str,
    own: Field[Any],
    group: str = "",
    several: bool = False,
    **more: Any,
) -> argparse.Action:
    """Declare the option of a field; ``more`` are settings of argparse."""
    about, default = own.metadata, own.default
    assert default is not MISSING
    said = about["help"]
    settings: dict[str, Any] = {"dest": name, "required": about["required"], **more}
    if default is False or default is True:
        settings["action"] = "store_false" if default else "store_true"
    else:
        settings["metavar"] = about["metavar"] or None
        if about["choices"]:
            settings["choices"] = [one for one in about["choices"] if one]
        else:
            usual = str if default is None or isinstance(default, tuple) else type(default)
            settings["type"] = about["parse"] or usual
            settings["metavar"] = about["metavar"] or name.upper()
        if several if about["many"] is None else about["many"]:
            settings |= {"nargs": "+", "action": "extend"}
        if isinstance(default, str | int | float) and default != "" and "default" not in said:
            said += f"; default {default}"
    flags = about["flags"] or (flag_of(name),)
    action = parser.group(about["group"] or group).add_argument(*flags, help=said, **settings)
    if about["rare"]:
        rare(action)
    assert isinstance(action, argparse.Action)
    return action


def finish(
    prog: str,
    command: Callable[[], int],
    explain: Callable[[Exception], tuple[int, str] | None] | None = None,
    left: str = "nothing half-written is left",
) -> int:
    """Run a command to its exit code; where it fails, one line on standard error says why.

    Args:
        prog: the beginning of the line.
        command: the work; returns the exit code.
        explain: exit code and text of an error; None for a mistake of ours, which is raised.
            Without it an ``EvaluationError`` or ``OSError`` is the user's, and all else ours.
        left: a few words on what stays when the user stops it.

    Returns:
        The exit code: 130 after Ctrl-C, 143 after a polite kill, 129 where the terminal is gone,
        and 141 where nobody reads on.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")  # where a terminal has no UTF-8
    try:
        with watched(), _stopped_by_signals(), _collecting_seldom():
            code = command()
            sys.stdout.flush()
            return code
    except KeyboardInterrupt as stop:
        print(f"{prog}: stopped; {left}", file=sys.stderr)
        return SIGNALLED + int(stop.args[0] if stop.args else signal.SIGINT)
    except BrokenPipeError:  # `| head` has seen enough; what is not flushed yet is nobody's
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SIGNALLED + signal.SIGPIPE
    except Exception as error:
        if (explained := (explain or _explain)(error)) is None:
            raise  # nothing that the user or the Hub did: a mistake of ours, shown whole
        code, text = explained
        print(f"{prog}: {text}", file=sys.stderr)
        return code


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    # Discourses, items and tokens are values by the million that hold no cycles: at its own pace
    # the collector looks through all of them again and again, a third of the time of a large build
    # and a fifth of a score's without its model.
    pace = gc.get_threshold()
    gc.set_threshold(*_COLLECT)
    try:
        yield
    finally:
        gc.set_threshold(*pace)


def _explain(error: Exception) -> tuple[int, str] | None:
    return (USER_ERROR, one_line(error)) if isinstance(error, EvaluationError | OSError) else None


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    # A launcher of several processes stops them itself, and only the main thread may be asked.
    alone = "RANK" not in os.environ
    if not alone or threading.current_thread() is not threading.main_thread():
        yield
        return
    stopping = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in stopping}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as of a command in the background, or under nohup
            signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: Any) -> NoReturn:
    # A half-written parquet file complains when its writer is thrown away; it is deleted anyway.
    sys.unraisablehook = lambda _: None
    for stream in (1, 2):
        try:
            os.write(stream, b"")
        except OSError:  # its terminal is gone, which no bar or line of ours shall stumble over
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    raise KeyboardInterrupt(number)


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
        self._words: Sequence[str] = ()
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
        if _REQUIRED.match(message) and (option := self._unknown_option()):
            # What is missing may be there, under a name that is nearly its own.
            message = f"no option {option}{did_you_mean(option, _options(self))}"
        self.exit(USER_ERROR, f"{self.prog}: {one_line(message)} (--help lists the options)\n")

    def _unknown_option(self) -> str:
        words = takewhile(lambda word: word != "--", self._words)
        options = (word.partition("=")[0] for word in words if word.startswith("--"))
        return next((one for one in options if one not in self._option_string_actions), "")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse what is known, and give what is not; the parser of a subcommand is called so."""
        self._words = sys.argv[1:] if args is None else args
        return super().parse_known_args(args, namespace)

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
        hidden = {
            action: action.help
            for action in self._actions
            if getattr(action, "rare", False) and action.help != argparse.SUPPRESS
        }
        for action in hidden:
            action.help = argparse.SUPPRESS
        text = super().format_help()
        for action, said in hidden.items():
            action.help = said
        if not hidden:
            return text
        before, mark, after = text.partition("\nexamples:\n")
        return f"{before.rstrip()}\n\n--help-all shows {len(hidden)} more options.\n{mark}{after}"


class _Formatter(argparse.RawDescriptionHelpFormatter):
    # Room for an option and its value beside what they mean.
    def __init__(self, prog: str, **settings: Any) -> None:
        super().__init__(prog, **{"max_help_position": 29, **settings})

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        shown = super()._format_args(action, default_metavar)
        return re.sub(r"^(\S+) \[\1 \.\.\.\]$", r"\1 ...", shown)


class _Help(argparse.Action):
    def __init__(
        self, option_strings: Sequence[str], dest: str, help: str | None = None, **_: Any
    ) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        assert isinstance(parser, Parser)
        whole = "--help-all" in self.option_strings
        print(parser.format_everything() if whole else parser.format_help(), end="")
        parser.exit()


def _options(parser: argparse.ArgumentParser) -> list[str]:
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [name for each in action.choices.values() for name in _options(each)]
        elif action.help != argparse.SUPPRESS:
            found += action.option_strings
    return found
