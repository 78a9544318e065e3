"""The command line of the builders: it parses, and calls what does the work."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.builders.suite import Suite
from coherencegym.numbers import positive

EXAMPLES = """examples:
  {command}                                  every corpus that is found, and the sample
  {command} --corpus sample --limit 20       a first look
  {command} --corpus {corpus} --data-dir ~/corpora/{corpus}
  {command} --push-to-hub --repo-id me/{suite} --private
  {command} --judgements FILE... --overwrite what people said of its items
  {command} --push-to-hub --dry-run          what a push would change
  {command} --export-syntaxgym DIR           also as suites for other programs

pairs for people to judge: python -m builders sample --help
"""


def add_build_options(parser: argparse.ArgumentParser) -> None:
    """The options that every build has."""
    read = parser.add_argument_group("what is read")
    read.add_argument(
        "--corpus",
        metavar="NAME",
        nargs="+",
        action="extend",
        default=[],
        help="build from these corpora only (`python -m loaders` lists them)",
    )
    read.add_argument("--data-dir", metavar="DIR", type=Path, help="folder of corpus files")
    read.add_argument(
        "--split",
        metavar="NAME",
        nargs="+",
        action="extend",
        default=[],
        help="splits to build, or 'all' (default: all that are there, but for those that a corpus "
        "reads only by name, such as winogrande's train)",
    )
    read.add_argument(
        "--limit", metavar="N", type=positive, help="read at most N discourses a split"
    )
    read.add_argument(
        "--skip-bad-rows", action="store_true", help="count rows that cannot be read, and go on"
    )
    hub = parser.add_argument_group("a Hugging Face dataset as the corpus")
    hub.add_argument("--hub-dataset", metavar="ID", help="a Hub dataset, or a folder of one")
    hub.add_argument("--hub-config", metavar="NAME")
    hub.add_argument("--hub-split", metavar="NAME", help="default: every split")
    hub.add_argument("--hub-revision", metavar="TAG")
    hub.add_argument(
        "--hub-column",
        metavar="NAME",
        help="sentences, turns, or plain text (default, of documents: sentences, text or article)",
    )
    hub.add_argument(
        "--hub-genre",
        choices=("narration", "dialogue", "documents"),
        default="narration",
        help="documents: articles, of which short documents are made",
    )
    add_document_options(parser)
    make = parser.add_argument_group("how it is made")
    make.add_argument("--seed", metavar="N", type=int, default=0, help="default: 0")
    make.add_argument("--num-proc", metavar="N", type=positive, default=1, help="processes")
    make.add_argument("--output", metavar="DIR", type=Path, help="default: suites/<suite>")
    make.add_argument("--overwrite", action="store_true", help="replace an earlier build or export")
    make.add_argument(
        "--judgements",
        metavar="FILE",
        nargs="+",
        action="extend",
        type=Path,
        default=[],
        help="answers of annotators to pairs that `python -m builders sample` drew",
    )
    add_export_options(parser)
    push = parser.add_argument_group("publishing")
    push.add_argument("--push-to-hub", action="store_true", help="publish as one commit, one tag")
    push.add_argument("--repo-id", metavar="ID", help="default: coherencegym/<suite>")
    push.add_argument(
        "--private",
        action="store_true",
        help="make the repository private, if it is made; refuse one that is public",
    )
    push.add_argument("--create-pr", action="store_true", help="open a pull request instead")
    push.add_argument("--message", metavar="TEXT", default="", help="commit message")
    push.add_argument(
        "--version", metavar="V", default="", help="version to publish, such as 1.1.0"
    )
    push.add_argument(
        "--prune",
        action="store_true",
        help="remove configs and splits that this build does not make",
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing; say what would be")


def add_document_options(parser: argparse.ArgumentParser) -> None:
    """The options of the corpus ``documents`` and of a Hugging Face dataset of articles."""
    group = parser.add_argument_group("articles as short documents, and plain text as sentences")
    group.add_argument(
        "--excerpt",
        choices=("auto", "opening", "first"),
        default="auto",
        help="the opening section, or the first sentences (default: as each article looks)",
    )
    group.add_argument(
        "--sentences",
        metavar="N",
        nargs=2,
        type=positive,
        default=(3, 8),
        help="fewest and most sentences of a document (default: 3 8)",
    )
    group.add_argument(
        "--spacy-pipeline", metavar="NAME", help="split plain text with this instead of rules"
    )
    group.add_argument(
        "--licence",
        metavar="ID",
        default="",
        help="SPDX identifier of the texts' licence, in place of what their card says",
    )


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """The options of whatever writes items for other tools."""
    export = parser.add_argument_group("for other tools")
    export.add_argument(
        "--export-syntaxgym", metavar="DIR", type=Path, help="write suites in SyntaxGym's JSON too"
    )
    export.add_argument(
        "--export-pairs",
        metavar="DIR",
        type=Path,
        help="write pairs of texts too (JSON lines), and tasks for lm-evaluation-harness",
    )


def suite_parser(suite: Suite) -> argparse.ArgumentParser:
    """The parser of ``python -m builders.<suite>``."""
    command = f"python -m builders.{suite.name}"
    parser = argparse.ArgumentParser(
        prog=command,
        description=f"{suite.title}. {suite.hypothesis}",
        epilog=EXAMPLES.format(
            command=command, suite=suite.name, corpus=suite.configs[-1].corpora[0]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_build_options(parser)
    add_settings(parser, suite)
    return parser


def add_settings(parser: argparse.ArgumentParser, suite: Suite) -> None:
    """The options that only this suite has."""
    for name, default in suite.settings.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(option, action="store_true", help="add it")
            continue
        # What type a setting has its default says; its range the suite checks.
        kind: Any = {str: str, float: float, int: positive}[type(default)]
        shown = "none" if default in ("", 0.0) else default
        what = f"{suite.settings_help[name]}; " if name in suite.settings_help else ""
        parser.add_argument(
            option,
            metavar=name[0].upper(),
            type=kind,
            default=default,
            help=f"{what}default: {shown}",
        )
    for name, what in suite.settings_gone.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", action=_Gone, const=what, help=argparse.SUPPRESS
        )


class _Gone(argparse.Action):
    """An option of an earlier version: refused, with what is said of it in ``const``."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        parser.exit(2, f"{parser.prog}: error: {self.option_strings[0]} is gone: {self.const}\n")


def configured(suite: Suite, arguments: argparse.Namespace) -> Suite:
    """The suite with the settings of the command line."""
    if suite.configure is None:
        return suite
    return suite.configure(**{name: getattr(arguments, name) for name in suite.settings})


def run_suite(suite: Suite, argv: Sequence[str] | None = None) -> None:
    """``python -m builders.<suite>``: parse, build, publish, exit."""
    from coherencegym.builders.command.run import run

    parser = suite_parser(suite)
    arguments = parser.parse_args(argv)
    try:
        suite = configured(suite, arguments)
    except ValueError as error:  # a setting that is out of its range
        parser.error(str(error))
    sys.exit(run([suite], arguments))


def main(argv: Sequence[str] | None = None) -> None:
    """``python -m builders`` and ``coherencegym-build``: list the suites, build, or ``sample``."""
    argv = sys.argv[1:] if argv is None else argv
    if list(argv[:1]) == ["sample"]:
        from coherencegym.builders.judgement.command import main as sample

        sys.exit(sample(argv[1:]))
    parser = argparse.ArgumentParser(
        prog="python -m builders",
        description="Build test suites from discourse corpora. Without a suite: list them.",
        epilog=EXAMPLES.format(
            command="python -m builders SUITE", suite="sentence_order", corpus="personachat"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suite", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--all", action="store_true", help="build every suite")
    add_build_options(parser)
    arguments = parser.parse_args(argv)
    names = list(SUITES) if arguments.all else list(dict.fromkeys(arguments.suite))
    for name in names:
        if name not in SUITES:
            parser.error(f"no suite {name!r}; expected one of {', '.join(SUITES)}")
    if arguments.judgements and len(names) != 1:
        parser.error("--judgements: answers are about one suite; name it, and no other")
    if not names:
        width = max(map(len, SUITES))
        for name, summary in SUITES.items():
            print(f"{name:<{width}}  {summary}")
        print("\nbuild one with `python -m builders SUITE`, all with `python -m builders --all`")
        print("draw pairs for people to judge with `python -m builders sample`")
        return
    from coherencegym.builders.command.run import run

    sys.exit(run([load_suite(name) for name in names], arguments))
