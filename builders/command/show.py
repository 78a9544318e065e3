"""The lines of a command: what is being done, and what was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coherencegym.loaders.corpora.own import OWN
from coherencegym.loaders.read import NO_FILES
from coherencegym.terminal import shown_console

if TYPE_CHECKING:
    from coherencegym.eval.report.grid import Grid

#: Reasons that are named; the card has them all.
_REASONS = 3


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """A function that shows what is being done, on standard error where that is a terminal."""
    from coherencegym.eval.report.grid import plain_text

    console = shown_console(stderr=True)
    if not console.is_terminal:
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
) -> None:
    """Print the configs with their counts, what was left out, and where the build is.

    All this is in the card as well: where several suites are built, ``brief`` is a line a suite.

    Args:
        manifest: the build's.
        missing, empty: corpora that were not read and configs without items, with the reasons.
        done: what was written, in lines.
    """
    from coherencegym.cards.render import read_in_part, skips
    from coherencegym.eval.report.grid import console_for, in_width, plain_text
    from coherencegym.loaders.corpus import NEVER_RUN

    console = console_for()
    left_out, nothing = (
        _left_out(skips(manifest)),
        [f"no config {n}: {w}" for n, w in empty.items()],
    )
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
        console.print(in_width(build_grid(manifest), width=console.width))
        # Which corpora are not in it the card says: here nobody has asked for them.
        part = [line.replace("`", "") for line in read_in_part(manifest, absent=False)]
        unproven = {
            f"corpus {corpus['name']}: its reader was {NEVER_RUN}; look at some of the rows"
            for corpus in (config["corpus"] for config in manifest["configs"].values())
            if corpus["proven"] == NEVER_RUN
        }
        lines = [*left_out, *sorted(unproven), *part, *nothing, *missing_lines(missing)]
        lines += done
    for line in lines:
        console.print(plain_text(line), soft_wrap=True)


def human_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Human performance on each config and split that people judged, with its interval."""
    from coherencegym.eval.data.dataset import HUMAN_PERFORMANCE
    from coherencegym.eval.report.grid import score_with_interval
    from coherencegym.eval.statistics.scores import CD

    found = [
        (f"{name}, {split}", score)
        for name, config in manifest["configs"].items()
        for split, quality in config["quality"].items()
        for score in quality.get("human", {}).get("scores", ())
        if not score["group"]
    ]
    lines = []
    for where, own in found:
        score = score_with_interval(own["score"], own["ci_low"], own["ci_high"], CD)
        lines.append(f"{HUMAN_PERFORMANCE} on {where}: {score} (n = {own['n']:,})")
        if 10 * own["no_majority"] >= own["n"]:
            lines.append(
                f"{own['no_majority']:,} of these {own['n']:,} have no majority, which counts as "
                "wrong; an odd number of people avoids that"
            )
    return lines


def build_grid(manifest: dict[str, Any]) -> Grid:
    """The configs and splits of a build, with their counts, and what a score is held against.

    Those are the baselines of items, and of labelled examples what a bag of
    words reaches, and who always says the most frequent class. Groups of predictions that a
    config's own score is not over have lines of their own.
    """
    from coherencegym.cards.metadata import ordered_configs
    from coherencegym.cards.render import (
        baseline_score,
        groups_beside,
        label_baselines,
        said_of_control,
    )
    from coherencegym.eval.data.dataset import LEXICAL_OVERLAP, MEASURED_BASELINES
    from coherencegym.eval.report.grid import GridRow, of_cells, share_cell, share_with_interval

    headings, cells = [], []
    for name, config in ordered_configs(manifest):
        label = f"{name} (default)" if config["default"] else name
        for split, counts in config["splits"].items():
            quality = config["quality"][split]
            baselines = label_baselines(quality)
            for group in ("", *groups_beside(config, quality)):
                of_group = baseline_score(quality, LEXICAL_OVERLAP, group) or {}
                rows = of_group["n"] if group else counts["rows"]
                discourses = of_group["n_discourses"] if group else counts["discourses"]
                own = {"items": f"{rows:,}", "discourses": f"{discourses:,}"}
                for one in MEASURED_BASELINES:
                    found = baseline_score(quality, one, group) or {}
                    is_trained = one != LEXICAL_OVERLAP
                    low, high = (
                        found.get(end) if is_trained else None for end in ("ci_low", "ci_high")
                    )
                    what = f"{one.replace('_', ' ')}, %{' [95 % interval]' * is_trained}"
                    shown = share_with_interval(found.get("score"), low, high)
                    own[what] = "" if baselines else shown
                for what in ("bag of words", "most frequent"):
                    own[f"{what}, %"] = share_cell(baselines.get(what)) if baselines else ""
                control = {} if group else quality.get("control") or {}
                own["effective items"] = f"{control['effective_items']:,.0f}" if control else ""
                own["control"] = said_of_control(control)
                headings.append(GridRow((group or f"{label}, {split}",), level=int(bool(group))))
                cells.append(own)
    return of_cells("config, split", headings, cells)


def _left_out(found: Sequence[Mapping[str, Any]]) -> list[str]:
    lost = [each for each in found if each["config"].startswith("corpus ")]
    lines = [
        f"{each['config']}, {'repaired' if each['repaired'] else 'not used'}: "
        f"{commonest(each['reasons'])}"
        for each in lost
    ]
    passed: Counter[str] = Counter()
    for each in found:
        if each not in lost:
            passed.update(dict(each["reasons"]))
    if passed:
        why = "; ".join(reason for reason, _ in passed.most_common(_REASONS))
        lines.append(f"some texts give no item (most often: {why}); the card counts the reasons")
    return lines


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
    '7 too short; 2 no pronoun'
    """
    parts = [f"{count} {reason}" for reason, count in reasons[:_REASONS]]
    if others := reasons[_REASONS:]:
        parts.append(f"{sum(count for _, count in others)} for other reasons (see the card)")
    return "; ".join(parts)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they are."""
    for line in lines:
        print(line)
