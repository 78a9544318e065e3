"""``coherencegym check``: what a model notices, on one screen.

No dataset is named. Rows of corpora that may be passed on are in the package
(:data:`BATTERY`, made by ``python -m benchmarks.battery``); of the other phenomena there is a line
that says which corpus they need, and a score where its files are at hand. Only controlled scores
are shown: what words, lengths and spelling tell is no part of them.
"""

from __future__ import annotations

import json
import tempfile
import textwrap
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, add_options, finish
from coherencegym.errors import EvaluationError

if TYPE_CHECKING:
    from coherencegym.eval.models.load import LoadedModel

#: The folder of the rows, and of the list of phenomena.
BATTERY = Path(__file__).parent / "eval" / "battery"
#: Fewer effective items than this tell nothing of a model.
FEWEST_ITEMS = 100
#: What is said of a model and a phenomenon.
ABOVE, AT, BELOW = "above chance", "at chance", "below chance"
TOO_FEW = "too few items"
#: Characters of a bar, which is from 0 to 100 %.
_BAR = 15
_WIDTH = 80
_EXAMPLES = """\
  coherencegym check gpt2
  coherencegym check gpt2 gpt2-medium
  coherencegym check gpt2 --data-dir ~/corpora
"""


@dataclass(frozen=True)
class Phenomenon:
    """Something that a reader notices, and the suite that asks for it.

    ``corpora`` are those that the suite is built from, each with the config that counts: all of
    them for ``rows``, the file in :data:`BATTERY`; the first that is at hand where none may be
    passed on and ``rows`` is empty.
    """

    name: str
    suite: str
    corpora: Mapping[str, str]
    rows: str = ""


@dataclass(frozen=True)
class CheckedPhenomenon:
    """The controlled score of a model on a phenomenon: from 0 to 1, with its 95 % interval.

    ``effective_items`` is the number of equally weighted items that it is worth, and ``too_long``
    the items that do not fit into the model's context. Without a score, ``needs`` says what would
    give one.
    """

    model: str
    phenomenon: str
    score: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    effective_items: float = 0.0
    too_long: int = 0
    needs: str = ""

    @property
    def word(self) -> str:
        """What the interval says; empty without a score."""
        if self.score is None or self.ci_low is None or self.ci_high is None:
            return ""
        if self.effective_items < FEWEST_ITEMS:
            return TOO_FEW
        return ABOVE if self.ci_low > 0.5 else BELOW if self.ci_high < 0.5 else AT


class Check(list[CheckedPhenomenon]):
    """A row for each phenomenon and model; it prints as a screen of 80 columns."""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return [asdict(row) | {"word": row.word} for row in self]

    def _lines(self) -> Iterator[str]:
        models = list(dict.fromkeys(row.model for row in self))
        missing = {row.phenomenon: row.needs for row in self if row.needs}
        for model in models:
            yield f"{model:<20.20} controlled score [95 %]  0     50    100  worth"
            own = [row for row in self if row.model == model]
            for row in own:
                if row.word:
                    yield (
                        f"  {row.phenomenon:<18} {_number(row):>18}  {_bar(row)} "
                        f"{row.effective_items:>6,.0f}  {row.word}"
                        + f", {row.too_long:,} too long"
                        * bool(row.too_long)
                    )
            indent: Any = {"initial_indent": "  ", "subsequent_indent": "  "}
            yield from textwrap.wrap(f"{model} {_says(own)}", _WIDTH, **indent)
        if missing:
            said = "; ".join(f"{name}: {needs}" for name, needs in missing.items())
            yield from textwrap.wrap(f"without a score ({said})", _WIDTH)


def _number(row: CheckedPhenomenon) -> str:
    score, low, high = (100 * (value or 0.0) for value in (row.score, row.ci_low, row.ci_high))
    return f"{score:.1f} [{low:.1f}, {high:.1f}]"


def _bar(row: CheckedPhenomenon) -> str:
    low, score, high = (
        round((value or 0.0) * (_BAR - 1)) for value in (row.ci_low, row.score, row.ci_high)
    )
    line = ["━" if low <= place <= high else "·" for place in range(_BAR)]
    line[_BAR // 2] = "┃" if low <= _BAR // 2 <= high else "│"
    line[score] = "●"
    return "".join(line)


def _says(rows: Sequence[CheckedPhenomenon]) -> str:
    noticed = [row.phenomenon for row in rows if row.word == ABOVE]
    told = [row for row in rows if row.word not in ("", TOO_FEW)]
    if not told:
        return "is not told from chance by so few items."
    if not noticed:
        return "shows on none of them that it notices incoherence."
    beyond = "beyond words, lengths and spelling"
    return f"notices incoherence of {len(noticed)} in {len(told)} kinds, {beyond}."


def phenomena() -> list[Phenomenon]:
    """The phenomena of the battery, in the order of the screen."""
    declared = tomllib.loads((BATTERY / "battery.toml").read_text(encoding="utf-8"))
    return [Phenomenon(**entry) for entry in declared["phenomenon"]]


def check(
    model: Any,
    *,
    data_dir: str | Path | None = None,
    tokenizer: Any = None,
    limit: int | None = None,
    say: Callable[[str], None] = lambda message: None,
    **options: Any,
) -> Check:
    """Say of each phenomenon whether models notice it, by controlled scores.

    Args:
        model, tokenizer: see :func:`coherencegym.score`.
        data_dir: a folder of corpus files, for phenomena of which no rows may be passed on.
        limit: no more items of each phenomenon than this, from the start.
        say: is told what is being done.
        options: those that load a model, as for :func:`coherencegym.score`.

    Returns:
        A row for each model and phenomenon. It is a list, and prints as one screen.

    Raises:
        EvaluationError: a model or folder is not there, or an option is wrong.
    """
    from coherencegym.eval.models.load import load
    from coherencegym.eval.run.call import described_model
    from coherencegym.eval.run.options import ModelOptions

    if data_dir is not None and not Path(data_dir).is_dir():
        raise EvaluationError(f"{data_dir}: no such folder; expected one with corpus files")
    models = list(model) if isinstance(model, list) else [model]
    if not models:
        raise EvaluationError("check: no model; expected at least one")
    found = Check()
    with tempfile.TemporaryDirectory() as folder:
        asked = [(each, *_rows(each, data_dir, Path(folder))) for each in phenomena()]
        for one in models:
            if isinstance(one, str | Path):
                say(f"{one}: loading")
                loaded = load(one, **options)
            else:
                given = ModelOptions(model=one if tokenizer is None else (one, tokenizer))
                loaded = described_model(given, "check", lambda _: True, "auto").model
            for each, rows, needs in asked:
                if not rows:
                    found.append(CheckedPhenomenon(loaded.name, each.name, needs=needs))
                    continue
                say(f"{loaded.name}: {each.name}, {len(rows[:limit]):,} items")
                found.append(_scored(loaded, each.name, rows[:limit]))
    return found


def built(each: Phenomenon, corpus: str, data_dir: str | Path, folder: Path) -> list[Path]:
    """The files of a phenomenon's rows from a corpus, built once for all configs of the suite."""
    from coherencegym.library import build
    from coherencegym.loaders.registry import SAMPLE_NAME

    output = folder / each.suite / corpus
    if not output.exists():
        where = {} if corpus == SAMPLE_NAME else {"data_dir": data_dir}
        build(each.suite, corpus=corpus, output=output, **where)
    config = "_".join(filter(None, (corpus, each.corpora[corpus])))
    return sorted(output.glob(f"data/{config}/*.parquet"))


def _rows(each: Phenomenon, data_dir: str | Path | None, folder: Path) -> tuple[list[Any], str]:
    # The rows of a phenomenon; where there are none, what would give some.
    from coherencegym.files.parquet import parquet_rows
    from coherencegym.loaders.corpus import CorpusNotFoundError
    from coherencegym.loaders.read import find
    from coherencegym.loaders.registry import corpus as corpus_named

    if each.rows:
        return parquet_rows(BATTERY / each.rows), ""
    needs = f"--data-dir with {' or '.join(each.corpora)}"
    for corpus in each.corpora if data_dir is not None else ():
        assert data_dir is not None
        try:
            find(corpus_named(corpus), Path(data_dir), None)
        except CorpusNotFoundError:
            continue
        try:
            files = built(each, corpus, data_dir, folder)
        except EvaluationError as error:
            needs = str(error)
            continue
        for path in files:
            if not (given_away := _given_away(path)):
                return parquet_rows(path), ""
            needs = given_away
    return [], needs


def _given_away(path: Path) -> str:
    # What tells the answers of a table without reading, as its build found; empty: nothing.
    from coherencegym.cards.render import said_of_control
    from coherencegym.eval.statistics.control import LEAKS, UNCONTROLLED

    manifest = json.loads((path.parents[2] / "manifest.json").read_text(encoding="utf-8"))
    quality = manifest["configs"][path.parent.name]["quality"][path.name.partition("-")[0]]
    control = quality["control"] or {}
    return said_of_control(control) if control.get("word") in (LEAKS, UNCONTROLLED) else ""


def _scored(model: LoadedModel, name: str, rows: list[Any]) -> CheckedPhenomenon:
    from coherencegym.eval.outcomes.schema import TOO_LONG
    from coherencegym.library import score

    results: Any = score(model, rows)
    row = results.rows[0]
    too_long = row.counts.get(TOO_LONG, 0)
    if row.controlled_score is None:
        needs = f"more than {len(rows) - too_long:,} items"
        needs += f", as {too_long:,} are too long for the model" * bool(too_long)
        return CheckedPhenomenon(model.name, name, too_long=too_long, needs=needs)
    return CheckedPhenomenon(
        *(model.name, name, row.controlled_score, row.controlled_ci_low, row.controlled_ci_high),
        effective_items=row.effective_items,
        too_long=too_long,
    )


def make_parser(prog: str = "coherencegym check") -> Parser:
    """The parser of ``coherencegym check``."""
    from coherencegym.command_line import positive
    from coherencegym.eval.run.options import ModelOptions

    parser = Parser(
        prog,
        "See on one screen whether a model notices incoherence, beyond what words, lengths and\n"
        "spelling tell.",
        _EXAMPLES,
        takes="MODEL ...",
    )
    add = parser.add_argument
    add("model", nargs="+", metavar="MODEL", help="Hub ids, or folders")
    add("--data-dir", type=Path, metavar="DIR", help="folder of corpus files, for more phenomena")
    add("--limit", type=positive, metavar="N", help="read at most N items of each phenomenon")
    add("--json", action="store_true", help="print the rows as JSON")
    add_options(parser, ModelOptions, only=("device", "dtype"))
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym check") -> int:
    """Check models; returns the exit code."""
    arguments = vars(make_parser(prog).parse_args(argv))
    from coherencegym.terminal import data_output

    def run() -> int:
        from coherencegym.builders.command.show import spinner
        from coherencegym.eval.models.machine import quiet_libraries

        quiet_libraries()
        as_json, models = arguments.pop("json"), arguments.pop("model")
        with data_output(True) as out:
            with spinner() as say:
                found = check(models, say=say, **arguments)
            out.write(json.dumps(found.rows(), indent=1) if as_json else str(found))
            out.write("\n")
        return 0

    return finish(prog, run)
