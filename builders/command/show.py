"""The lines of a command: what is being done, what was, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import USER_ERROR
from coherencegym.errors import EvaluationError, one_line
from coherencegym.loaders.corpora.own import OWN
from coherencegym.loaders.corpus import REPAIRED
from coherencegym.loaders.read import NO_FILES
from coherencegym.terminal import shown_console

if TYPE_CHECKING:
    from coherencegym.eval.report.grid import Grid

#: The command, as errors begin.
COMMAND = "coherencegym build"
#: Columns of baselines for which a terminal may have no room, the first of them first.
_BESIDE = ("lexical overlap, %", "partial input, % [95 % interval]")
#: Reasons that are named; ``quality.json`` has them all.
_REASONS = 3


@contextmanager
def spinner(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A function that shows what is being done, on standard error where that is a terminal."""
    from coherencegym.eval.report.grid import plain_text

    console = shown_console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda message: None
        return
    with console.status("starting") as status:
        yield lambda message: status.update(plain_text(message))


def print_build(
    manifest: dict[str, Any],
    missing: Mapping[str, str],
    empty: Mapping[str, str],
    done: Sequence[str],
    *,
    brief: bool = False,
    written: bool = True,
) -> None:
    """Print the configs with their counts, what was left out, and where the build is.

    All this is in the card as well: where several suites are built, ``brief`` is a line a suite.

    Args:
        manifest: the build's.
        missing, empty: corpora that were not read and configs without items, with the reasons.
        done: what was written, in lines.
        written: there is a card, and quality.json.
    """
    from coherencegym.cards.render import read_in_part
    from coherencegym.eval.report.grid import console_for, fitted, in_width, plain_text
    from coherencegym.loaders.corpus import NEVER_RUN

    console = console_for()
    left_out = _left_out(manifest, written)
    nothing = [f"no config {n}: {w}" for n, w in empty.items()]
    if brief:
        splits = [counts for c in manifest["configs"].values() for counts in c["splits"].values()]
        configs, rows = len(manifest["configs"]), sum(counts["rows"] for counts in splits)
        counted = f"{configs} config{'s' * (configs != 1)}, {rows:,} rows"
        first, *others = done
        console.print(plain_text(f"{manifest['suite']} {manifest['version']}: {counted}; {first}"))
        # Of people's own texts nothing is left out in silence.
        lines = [one for one in left_out if one.startswith(f"corpus {OWN},")]
        lines = [f"  {line}" for line in (*lines, *nothing, *others)]
    else:
        console.print(plain_text(f"{manifest['title']} {manifest['version']}", "bold"))
        shown, hidden = fitted(build_grid(manifest), console.width)
        console.print(in_width(shown, console.width))
        part = [line.replace("`", "") for line in read_in_part(manifest)]
        unproven = {
            f"corpus {corpus['name']}: its reader was {NEVER_RUN}; look at some of the rows"
            for corpus in (config["corpus"] for config in manifest["configs"].values())
            if corpus["proven"] == NEVER_RUN
        }
        seen = "; the card has all" * written
        lines = [f"not shown: {', '.join(hidden)}{seen}"] * bool(hidden)
        lines += [*left_out, *sorted(unproven), *part, *nothing, *missing_lines(missing)]
        lines += done
    for line in lines:
        console.print(plain_text(line), soft_wrap=line in done)


def build_grid(manifest: dict[str, Any]) -> Grid:
    """The configs of a build, with their rows, and what a score is held against, as in its card."""
    from coherencegym.cards.render import figures, measured_split, ordered_configs
    from coherencegym.eval.report.grid import GridRow, of_cells

    headings, cells = [], []
    for name, config in ordered_configs(manifest):
        split = measured_split(config)
        label = f"{name} (default)" if config["default"] else name
        headings.append(GridRow((f"{label}, {split}",)))
        counts = config["splits"][split]
        own = {"items": f"{counts['rows']:,}", "discourses": f"{counts['discourses']:,}"}
        own |= figures(config["quality"][split])
        if "control" in own:
            # What leaks is in the card.
            own["control"] = config["quality"][split]["control"]["word"]
        cells.append(own)
    empty = dict.fromkeys((name for own in cells for name in own), "")
    whole = [empty | own for own in cells]
    # Of several kinds of rows the columns are too many: the last of them go first.
    optional = ("discourses", *_BESIDE, *list(empty)[:1:-1])
    return of_cells("config, split", headings, whole, optional=optional)


def _left_out(manifest: dict[str, Any], written: bool) -> list[str]:
    # What was not used of a corpus, or repaired in it, is said once for all configs made of it.
    lines: dict[str, None] = {}
    passed: Counter[str] = Counter()
    for config in manifest["configs"].values():
        unread = Counter(config["bad_rows"])
        if withheld := config["withheld_discourses"]:
            unread["withheld: may not be published, by its licence"] = withheld
        repaired = {
            w.removeprefix(REPAIRED): n for w, n in unread.items() if w.startswith(REPAIRED)
        }
        unused = {why: n for why, n in unread.items() if not why.startswith(REPAIRED)}
        for what, counts in (("not used", unused), ("repaired", repaired)):
            if counts:
                reasons = commonest(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
                lines[f"corpus {config['corpus']['name']}, {what}: {reasons}"] = None
        for counts in config["skipped"].values():
            passed.update(counts)
    if passed:
        why = "; ".join(reason for reason, _ in passed.most_common(_REASONS))
        counted = "; quality.json counts the reasons" * written
        lines[f"some texts give no item (most often: {why}){counted}"] = None
    return [*lines]


def missing_lines(missing: Mapping[str, str]) -> Iterator[str]:
    """Say which corpora were not there to be read, by name with the reason, and how to get one."""
    nowhere = [name for name, why in missing.items() if NO_FILES in why]
    for name, why in missing.items():
        if name not in nowhere:
            yield f"not built from {name}: {why}"
    if nowhere:
        how = "`coherencegym corpora show NAME` says how to get one"
        yield f"not built from {', '.join(nowhere)}: no files here; {how}"


def commonest(reasons: Sequence[tuple[str, int]]) -> str:
    """The commonest reasons with their counts, and how many there are for others.

    >>> commonest([("too short", 7), ("no pronoun", 2)])
    'too short (7); no pronoun (2)'
    """
    parts = [f"{reason} ({count})" for reason, count in reasons[:_REASONS]]
    if others := reasons[_REASONS:]:
        parts.append(f"other reasons ({sum(count for _, count in others)})")
    return "; ".join(parts)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they are."""
    for line in lines:
        print(line)


def explain(error: Exception) -> tuple[int, str] | None:
    """Exit code and message of an error; none where it is a mistake of this program.

    2 where the user can mend it, 1 where the Hub failed or could not be reached.
    """
    from coherencegym.hub import hub_problem
    from coherencegym.loaders.corpus import BadRowError, CorpusError

    # Who raised it, or saw it pass, may know what was done before.
    notes = getattr(error, "__notes__", ())
    # Ours first: one that came of an answer of the Hub says more than the answer. What the client
    # raises is an OSError, too.
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("coherencegym"):
        return USER_ERROR, one_line(
            f"{error.name} is not installed; expected pip install {error.name}"
        )
    if not isinstance(error, (CorpusError, EvaluationError)):
        again = "; ".join([*notes, "run the same command again to finish"])
        if (problem := hub_problem(error, again)) is not None:
            return problem
        if not isinstance(error, OSError):
            return None
    skip = isinstance(error, BadRowError) and "--skip-bad-rows" not in str(error)
    said = "; ".join([one_line(error), *notes])
    return USER_ERROR, said + "; --skip-bad-rows leaves it out and goes on" * skip


@contextmanager
def explaining() -> Iterator[None]:
    """Raise what the user can mend as an ``EvaluationError`` of one line."""
    try:
        yield
    except Exception as error:
        if (explained := explain(error)) is None:
            raise  # a mistake of ours, shown whole
        raise EvaluationError(explained[1]) from None
