"""The command line of the builders: it parses, and calls what does the work."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from textwrap import fill
from typing import Any

from coherencegym.builders.command.show import COMMAND, explain
from coherencegym.builders.pipeline.options import READ, WRITTEN, BuildOptions
from coherencegym.builders.registry import all_suites, describe_suite, load_suite, suite_named
from coherencegym.builders.suite import Suite
from coherencegym.command_line import (
    Parser,
    add_option,
    finish,
    options_in,
    positive,
    rare,
)
from coherencegym.errors import EvaluationError
from coherencegym.loaders.corpora.own import FORMATS
from coherencegym.loaders.languages.registry import language

EXAMPLES = """\
  {command} --corpus sample --limit 20
  {command} --corpus {corpus} --data-dir ~/corpora/{corpus}
"""
_MANY = """\
  coherencegym build --texts mine/                  # lists the suites that your own texts can give
  coherencegym build my_suite.py --corpus sample    # your own suite (see `coherencegym new suite`)
"""
#: Settings of a suite that ``--help`` shows; ``--help-all`` shows all.
_SHOWN_SETTINGS = 2


def make_parser(prog: str = COMMAND, suite: Suite | None = None, *, named: bool = True) -> Parser:
    """The parser of builds, with the options that only this suite has.

    Args:
        prog: the command as it was called.
        suite: the only one that is built; None: whichever the command line names.
        named: the command line names suites.
    """
    command = prog if suite and not named else f"{prog} {suite.name if suite else 'SUITE'}"
    corpus = suite.configs[-1].corpora[0] if suite else "personachat"
    name = suite.name if suite else "sentence_order"
    about = "Build test suites from discourse corpora. Without a suite: list them."
    parser = Parser(
        prog,
        fill(f"{suite.title}. {suite.hypothesis}", 88) if suite else about,
        EXAMPLES.format(command=command, suite=name, corpus=corpus) + (_MANY if not suite else ""),
        takes="SUITE ..." if named else "",
        argument_default=argparse.SUPPRESS,
    )
    if named:
        what = "suites, or Python files that declare SUITE; default: list all suites"
        what = argparse.SUPPRESS if suite else what  # the usage names it
        parser.add_argument("suite", nargs="*", metavar="SUITE", default=[], help=what)
        what = argparse.SUPPRESS if suite else "build every suite"
        parser.group(READ).add_argument("--all", action="store_true", default=False, help=what)
    if suite:
        _add_settings(parser, suite)
    group = READ
    for name, own in options_in(BuildOptions).items():
        group = WRITTEN if name == "output" else group
        more: dict[str, Any] = {"nargs": 2} if name == "sentences" else {}
        add_option(parser, name, own, group, default=argparse.SUPPRESS, **more)
    return parser


def suite_parser(suite: Suite) -> Parser:
    """The parser of ``python -m builders.<suite>``."""
    return make_parser(f"{COMMAND} {suite.name}", suite, named=False)


def _add_settings(parser: Parser, suite: Suite) -> None:
    add = parser.group(f"settings of {suite.name}").add_argument
    for number, (name, default) in enumerate(suite.settings.items()):
        option = f"--{name.replace('_', '-')}"
        about = suite.settings_help.get(name, "")
        if isinstance(default, bool):
            add(option, action="store_true", help=about)
            continue
        # What type a setting has its default says; its range the suite checks.
        kind: Any = {str: str, float: float, int: positive}[type(default)]
        shown = "none" if default in ("", 0.0) else default
        what = f"{about}; default: {shown}" if about else f"default: {shown}"
        action = add(option, metavar=name[0].upper(), type=kind, help=what)
        if number >= _SHOWN_SETTINGS:
            rare(action)


def build_options(arguments: argparse.Namespace) -> BuildOptions:
    """The options that a command line gives."""
    given = vars(arguments)
    names = options_in(BuildOptions)
    return BuildOptions(**{name: given[name] for name in names if name in given})


def run_suite(suite: Suite, argv: Sequence[str] | None = None) -> None:
    """``python -m builders.<suite>``: parse, build, publish, exit."""
    sys.exit(_build_one(suite_parser(suite), suite, argv))


def _build_one(parser: Parser, suite: Suite, argv: Sequence[str] | None) -> int:
    given = parser.parse_args(argv)
    settings = {name: value for name, value in vars(given).items() if name in suite.settings}
    try:
        suite = suite.configured(**settings)
    except EvaluationError as error:
        parser.error(str(error))
    return _run([suite], given)


def _run(chosen: Sequence[Suite], given: argparse.Namespace) -> int:
    from coherencegym.builders.command.run import run

    return run(chosen, build_options(given), every=getattr(given, "all", False))


def main(argv: Sequence[str] | None = None, prog: str = COMMAND) -> int:
    """Build the suites that are named, or list all; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    return finish(prog, lambda: _main(words, prog), explain)


def _main(words: Sequence[str], prog: str) -> int:
    named = _named(words, prog)
    if len(named) == 1:
        return _build_one(make_parser(prog, named[0]), named[0], words)
    parser = make_parser(prog)
    given = parser.parse_args(words)
    if "judgements" in given and (given.all or len(named) != 1):
        parser.error("--judgements: answers are about one suite; name it, and no other")
    if not given.all:
        return _run(named, given) if named else _print_suites(given)
    if given.suite:
        parser.error(f"argument --all: not allowed with {given.suite[0]}")
    suites, left_out = _buildable(given)
    if left_out:
        print(left_out, file=sys.stderr)
    return _run(suites, given)


def _named(words: Sequence[str], prog: str) -> list[Suite]:
    # Options that only one suite has are not known before that suite is: what cannot be placed yet
    # is left to the parser of the suite.
    helps = ("-h", "--help", "--help-all")
    given, left = make_parser(prog).parse_known_args([word for word in words if word not in helps])
    if given.all:
        return []
    # Behind an option that is not known yet, its value looks like the name of a suite.
    names = [
        name for name in given.suite if not left or name in all_suites() or name.endswith(".py")
    ]
    return [suite_named(name) for name in dict.fromkeys(names)]


def _buildable(given: argparse.Namespace) -> tuple[list[Suite], str]:
    # The suites that can be built; of the user's own texts, if they are given, and then a line on
    # those that know other languages than that of the texts.
    suites = [load_suite(name) for name in all_suites()]
    if "texts" not in given:
        return suites, ""
    from coherencegym.builders.pipeline.sources import own_configs, own_languages

    options = build_options(given)
    able = [suite for suite in suites if own_configs(suite, options)]
    others = [
        f"{suite.name} ({', '.join(known)})"
        for suite in suites
        if suite not in able and (known := own_languages(suite, options))
    ]
    name = language(options.shape.language).name
    return able, f"no rules for {name}: {', '.join(others)}" if others else ""


def _print_suites(given: argparse.Namespace) -> int:
    if "texts" not in given:
        _print_names(all_suites())
        print("\nbuild one with `coherencegym build SUITE`, all with `coherencegym build --all`,")
        print(
            "one of your own with `coherencegym build FILE.py` (`coherencegym new suite` begins it)"
        )
        return 0
    from coherencegym.builders.pipeline.sources import texts_of

    options = build_options(given)
    own_texts = texts_of(options)
    assert own_texts is not None
    print(f"{own_texts.said}\n")
    suites, left_out = _buildable(given)
    _print_names([suite.name for suite in suites])
    more = (f" --{name} {getattr(given, name)}" for name in ("format", "language") if name in given)
    own = f"--texts {given.texts}{''.join(more)}"
    print(f"\nbuild one with `coherencegym build SUITE {own}`, all of these with `--all`")
    if left_out:
        print(left_out)
    if not options.format:
        print(f"annotated texts give other suites: --format {', '.join(FORMATS)}")
    return 0


def _print_names(names: Collection[str]) -> None:
    width = max(map(len, names))
    for name in names:
        print(f"{name:<{width}}  {describe_suite(name)}")
