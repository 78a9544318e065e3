"""The command line of the builders: it parses, and calls what does the work."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.builders.suite import Suite
from coherencegym.numbers import positive

if TYPE_CHECKING:
    from coherencegym.builders.command.run import BuildRequest

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


def _parser(prog: str, description: str, **names: str) -> argparse.ArgumentParser:
    """A parser that leaves what is not given out of its result; ``names`` are of the examples."""
    return argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog=EXAMPLES.format(**names),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )


def _add_build_options(parser: argparse.ArgumentParser) -> None:
    """The options that every build has."""
    several: Any = {"nargs": "+", "action": "extend"}
    add = parser.add_argument_group("what is read").add_argument
    add(
        "--corpus",
        **several,
        metavar="NAME",
        dest="corpora",
        help="build from these corpora only (`python -m loaders` lists them)",
    )
    add("--data-dir", metavar="DIR", type=Path, help="folder of corpus files")
    add(
        "--split",
        **several,
        metavar="NAME",
        dest="splits",
        help="splits to build, or 'all' (default: all that are there, but for those that a corpus "
        "reads only by name, such as winogrande's train)",
    )
    add("--limit", metavar="N", type=positive, help="read at most N discourses a split")
    _add_switch(add, "--skip-bad-rows", "count rows that cannot be read, and go on")
    _add_other_sources(parser)
    add = parser.add_argument_group("how it is made").add_argument
    add("--seed", metavar="N", type=int, help="default: 0")
    add("--num-proc", metavar="N", type=positive, help="processes")
    add("--output", metavar="DIR", type=Path, help="default: suites/<suite>")
    _add_switch(add, "--overwrite", "replace an earlier build or export")
    what = "answers of annotators to pairs that `python -m builders sample` drew"
    add("--judgements", **several, metavar="FILE", type=Path, help=what)
    add_export_options(parser)
    add = parser.add_argument_group("publishing").add_argument
    _add_switch(add, "--push-to-hub", "publish as one commit, one tag")
    add("--repo-id", metavar="ID", help="default: coherencegym/<suite>")
    what = "make the repository private, if it is made; refuse one that is public"
    _add_switch(add, "--private", what)
    _add_switch(add, "--create-pr", "open a pull request instead")
    add("--message", metavar="TEXT", help="commit message")
    add("--version", metavar="V", help="version to publish, such as 1.1.0")
    _add_switch(add, "--prune", "remove configs and splits that this build does not make")
    _add_switch(parser.add_argument, "--dry-run", "write nothing; say what would be")


def _add_switch(add: Callable[..., Any], name: str, what: str) -> None:
    add(name, action="store_true", help=what)


def _add_other_sources(parser: argparse.ArgumentParser) -> None:
    """The options of Hugging Face datasets, and of the corpus ``documents``."""
    add = parser.add_argument_group("a Hugging Face dataset as the corpus").add_argument
    add("--hub-dataset", metavar="ID", help="a Hub dataset, or a folder of one")
    add("--hub-config", metavar="NAME")
    add("--hub-split", metavar="NAME", help="default: every split")
    add("--hub-revision", metavar="TAG")
    add(
        "--hub-column",
        metavar="NAME",
        help="sentences, turns, or plain text (default, of documents: sentences, text or article)",
    )
    add(
        "--hub-genre",
        choices=("narration", "dialogue", "documents"),
        help="documents: articles, of which short documents are made",
    )
    title = "articles as short documents, and plain text as sentences"
    add = parser.add_argument_group(title).add_argument
    add(
        "--excerpt",
        choices=("auto", "opening", "first"),
        help="the opening section, or the first sentences (default: as each article looks)",
    )
    what = "fewest and most sentences of a document (default: 3 8)"
    add("--sentences", metavar="N", nargs=2, type=positive, help=what)
    add("--spacy-pipeline", metavar="NAME", help="split plain text with this instead of rules")
    what = "SPDX identifier of the texts' licence, in place of what their card says"
    add("--licence", metavar="ID", help=what)


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """The options of whatever writes items for other tools."""
    add = parser.add_argument_group("for other tools").add_argument
    what = "write suites in SyntaxGym's JSON too"
    add("--export-syntaxgym", metavar="DIR", type=Path, help=what)
    what = "write pairs of texts too (JSON lines), and tasks for lm-evaluation-harness"
    add("--export-pairs", metavar="DIR", type=Path, help=what)


def suite_parser(suite: Suite) -> argparse.ArgumentParser:
    """The parser of ``python -m builders.<suite>``, with the options that only this suite has."""
    command, corpus = f"python -m builders.{suite.name}", suite.configs[-1].corpora[0]
    description = f"{suite.title}. {suite.hypothesis}"
    parser = _parser(command, description, command=command, suite=suite.name, corpus=corpus)
    _add_build_options(parser)
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
            option, metavar=name[0].upper(), type=kind, help=f"{what}default: {shown}"
        )
    for name, what in suite.settings_gone.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", action=_Gone, const=what, help=argparse.SUPPRESS
        )
    return parser


class _Gone(argparse.Action):
    """An option of an earlier version: refused, with what is said of it in ``const``."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        parser.exit(2, f"{parser.prog}: error: {self.option_strings[0]} is gone: {self.const}\n")


def build_request(arguments: argparse.Namespace) -> BuildRequest:
    """The request that a command line makes."""
    from coherencegym.builders.command.run import BuildRequest

    given = vars(arguments)
    names = [field.name for field in fields(BuildRequest)]
    return BuildRequest(**{name: given[name] for name in names if name in given})


def run_suite(suite: Suite, argv: Sequence[str] | None = None) -> None:
    """``python -m builders.<suite>``: parse, build, publish, exit."""
    parser = suite_parser(suite)
    given = parser.parse_args(argv)
    try:
        suite = suite.configured(**{n: v for n, v in vars(given).items() if n in suite.settings})
    except ValueError as error:  # a setting that is out of its range
        parser.error(str(error))
    from coherencegym.builders.command.run import run

    sys.exit(run([suite], build_request(given)))


def main(argv: Sequence[str] | None = None) -> None:
    """``python -m builders`` and ``coherencegym-build``: list the suites, build, or ``sample``."""
    argv = sys.argv[1:] if argv is None else argv
    if list(argv[:1]) == ["sample"]:
        from coherencegym.builders.judgement.command import main as sample

        sys.exit(sample(argv[1:]))
    parser = _parser(
        "python -m builders",
        "Build test suites from discourse corpora. Without a suite: list them.",
        command="python -m builders SUITE",
        suite="sentence_order",
        corpus="personachat",
    )
    shown = ", ".join(SUITES)
    parser.add_argument("suite", nargs="*", metavar="SUITE", default=[], help=shown)
    parser.add_argument("--all", action="store_true", default=False, help="build every suite")
    _add_build_options(parser)
    given = parser.parse_args(argv)
    names = list(SUITES) if given.all else list(dict.fromkeys(given.suite))
    for name in names:
        if name not in SUITES:
            parser.error(f"no suite {name!r}; expected one of {shown}")
    if "judgements" in given and len(names) != 1:
        parser.error("--judgements: answers are about one suite; name it, and no other")
    if not names:
        width = max(map(len, SUITES))
        for name, summary in SUITES.items():
            print(f"{name:<{width}}  {summary}")
        print("\nbuild one with `python -m builders SUITE`, all with `python -m builders --all`")
        print("draw pairs for people to judge with `python -m builders sample`")
        return
    from coherencegym.builders.command.run import run

    sys.exit(run([load_suite(name) for name in names], build_request(given)))
