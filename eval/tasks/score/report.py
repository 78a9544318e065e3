"""The report of scores: their table, and below it controls, baselines, published scores, notes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from coherencegym.eval.data.dataset import (
    BASELINE_WORDS,
    HUMAN_PERFORMANCE,
    PLAIN_BASELINES,
    SCORE_MEANINGS,
    ItemTable,
    filter_notes,
)
from coherencegym.eval.data.notes import Note, caution, detail, first_names
from coherencegym.eval.data.source import Published
from coherencegym.eval.data.syntaxgym import SPLIT as SUITE_SPLIT
from coherencegym.eval.outcomes.schema import FIRST_LEFT_OUT, MODEL, TIE, TOO_CLOSE, TOO_LONG
from coherencegym.eval.outcomes.tables import OutcomeTables, count_distinct
from coherencegym.eval.plan.options import MODES, Rules
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import Introduction, ItemList, ReportSection, counted, labels
from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.statistics.computed_baselines import ComputedBaselines
from coherencegym.eval.statistics.control import CONTROLLED as CONTROLLED_WORD
from coherencegym.eval.statistics.scores import CONTROLLED_CD, FEW_ITEMS, Score, shown_rows
from coherencegym.eval.tasks.headline import CONTROL_NOTE
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.items_page import collect, example_of
from coherencegym.eval.tasks.score.numeric_error import LEVEL
from coherencegym.eval.tasks.score.outcomes import MARGIN, OF_MODEL, Difference, by_kind, inside
from coherencegym.eval.tasks.score.predictions import UNDEFINED
from coherencegym.eval.tasks.score.published import published_block, published_title
from coherencegym.eval.tasks.score.scored_table import ScoredItemTable
from coherencegym.eval.tasks.score.summary import CountedTable

#: The columns of scores with their intervals, plain and controlled.
SCORE, CONTROLLED_SCORE = "CD, % [95 % interval]", f"{CONTROLLED_CD}, % [95 % interval]"


def score_sections(found: Results) -> Iterator[ReportSection]:
    """The scores, and what stands below them where it has something to say."""
    # Groups of one's own pairs were asked for (--group-by), a suite's were not.
    asked = found.dataset["version"] is None
    rows = shown_rows(found.rows, with_small=asked)
    # What the one number is over comes first.
    rows.sort(key=lambda row: bool(found.headline) and row.config not in found.headline_configs)
    yield ReportSection("What was asked", Introduction(example_of(found)))
    yield ReportSection("Scores", score_grid(rows, asked), _on_groups(rows))
    if found.differences:
        body = difference_block(found.differences)
        yield ReportSection("Differences from controls", body, is_detail=True)
    if over := found.more["over_baselines"]:
        body = over_block(over)
        yield ReportSection("Differences from baselines", body, is_detail=True)
    if quoted := found.more["published"]:
        title = published_title(str(found.settings.get("compat") or ""))
        published = published_block([Published(**row) for row in quoted], title)
        yield ReportSection("Published scores", published, is_detail=True)
    if len(rows) < len(found.rows):
        every = score_table([one for row in found.rows for one in row.both])
        yield ReportSection("Scores of all groups", every, _on_groups(found.rows), is_detail=True)
    yield ReportSection("Items", ItemList(partial(collect, found)))


def _on_groups(rows: Sequence[Score]) -> str:
    return (
        "An indented row is a group: A > B, C has the predictions that the text with A is more "
        "surprising than the text with B, where C is the case; the card of the dataset has the "
        "words." * any(" > " in row.group for row in rows)
    )


def score_grid(rows: Sequence[Score], with_groups: bool = False) -> grid.Grid:
    """One row for each config, and indented below it one for each of its groups.

    Columns that have nothing to say (no ties, no baselines) are left out. On a terminal groups are
    details, those of a column only unless ``with_groups``.
    """
    headings = [
        grid.GridRow(
            (name + (" †" if FIRST_LEFT_OUT in row.counts else ""),),
            int(row.level != "all"),
            None if row.level == "formula" else (row.config, row.split, row.group),
            row.level == "all",
            row.level not in ("all", "column" if with_groups else "all"),
        )
        for row, name in zip(rows, labels(rows), strict=True)
    ]
    cells = list(map(_cells, rows))
    return grid.of_cells("config", headings, cells, ("", "–"), (SCORE,), _OPTIONAL)


_MARGIN, _HUMAN = "margin, bits [95 % interval]", f"{HUMAN_PERFORMANCE}, % (pairs)"
_TIED = "tied predictions"
#: The columns of baselines, by their fields.
_BASELINES = {name: f"{words}, %" for name, words in BASELINE_WORDS.items()}
#: Columns for which there may be no room, the first of them first.
_OPTIONAL = (
    *(_MARGIN, TOO_CLOSE, _TIED),
    *(_BASELINES["lexical_overlap_score"], _BASELINES["partial_input_score"]),
    *("effective items", "undefined", "too long", _HUMAN, _BASELINES["surface_score"]),
)


def _cells(row: Score) -> dict[str, str]:
    limits = row.controlled_ci_low, row.controlled_ci_high
    margins = row.margin_mean, row.margin_mean_low, row.margin_mean_high

    def beside(*fields: str) -> dict[str, str]:
        return {_BASELINES[name]: grid.share_cell(getattr(row, name)) for name in fields}

    controlled = {
        CONTROLLED_SCORE: grid.share_with_interval(row.controlled_score, *limits),
        "effective items": grid.number_cell(row.effective_items, ",.0f"),
        **beside("surface_score"),
    }
    return {
        "items": counted(row.n),
        # Parts have none.
        **(controlled if row.level == "all" else dict.fromkeys(controlled, "")),
        SCORE: grid.share_with_interval(row.score, row.ci_low, row.ci_high),
        **beside(*PLAIN_BASELINES),
        _HUMAN: grid.share_of_people(row.human_score, row.human_n),
        _MARGIN: grid.with_interval(*margins, "+.3f"),
        _TIED: str(row.counts.get(TIE, "")),
        TOO_CLOSE: str(row.counts.get(TOO_CLOSE, "")),
        "undefined": str(sum(row.counts.get(reason, 0) for reason in UNDEFINED) or ""),
        "too long": str(row.counts.get(TOO_LONG, "")),
    }


def difference_block(differences: Sequence[Difference]) -> grid.Grid:
    """A row for each config, control and formula."""
    rows = [
        grid.GridRow(
            (
                name,
                f"{row.n:,}, {row.n_control:,}",
                ", ".join(
                    grid.number_cell(m, "+.3f") for m in (row.margin_mean, row.control_margin_mean)
                ),
                grid.with_interval(row.difference, row.ci_low, row.ci_high, "+.3f"),
            )
        )
        for row, name in zip(differences, difference_labels(differences), strict=True)
    ]
    names = ("items", "margins", "difference [95 % interval]")
    return grid.made(
        "config − control", names, rows, "mean margin minus the control's mean margin, bits"
    )


def over_block(rows: Sequence[Mapping[str, Any]]) -> grid.Grid:
    """A row for each config and baseline."""
    splits = len({row["split"] for row in rows}) > 1
    lines = []
    for row in rows:
        split = f" ({row['split']})" if splits else ""
        value, low, high = (
            None if share is None else 100 * share
            for share in (row["difference"], row["ci_low"], row["ci_high"])
        )
        name = f"{row['config']}{split} − {row['baseline'].replace('_', ' ')}"
        cells = name, f"{row['n']:,}", grid.with_interval(value, low, high, "+.1f")
        lines.append(grid.GridRow(cells))
    names = ("items", "difference, points [95 % interval]")
    return grid.made(
        "config − baseline", names, lines, "model's score minus the baseline's on the same items"
    )


def difference_labels(rows: Sequence[Difference]) -> list[str]:
    """The names of the rows: config and control, with the prediction where there are several."""
    splits = len({row.split for row in rows}) > 1
    pairs = [(row.config, row.split, row.control) for row in rows]
    names = []
    for row, pair in zip(rows, pairs, strict=True):
        split = f" ({row.split})" if splits else ""
        prediction = f", {row.formula} {row.aggregation}" if pairs.count(pair) > 1 else ""
        names.append(f"{row.config} − {row.control}{split}{prediction}")
    return names


def notes_of(found: Results) -> Iterator[Note]:
    """The notes of a run."""
    details: Sequence[ScoredItemTable] = found.details
    tables = [one.table for one in details]
    masked = scorer_notes(found.settings, tables)
    yield from masked
    if not masked:
        yield from compat_notes(details[0].rendering.rules, str(found.model["dtype"]), tables)
    if ties := tie_line(found.outcomes, tables):
        yield caution(ties)
    for one in details:
        yield from filter_notes(one.table.config, one.chosen_with, found.model)
    for table in tables:
        yield from length_notes(found.outcomes, table)
    yield from score_notes(found.rows, details)


def tie_line(outcomes: OutcomeTables, tables: Iterable[CountedTable]) -> str:
    """A line on the tables in which a tenth of the items or more are ties; empty: there are none.

    An item counts if any of its predictions is a tie.
    """
    ties = items = 0
    names = []
    for table in tables:
        places = outcomes.places_of(table.config, table.split, *OF_MODEL)
        places = inside(outcomes, places, table.headline)
        places = places[outcomes.has_value(places)]
        own = count_distinct(outcomes.items(places[outcomes.flags(places, TIE)]))
        if own and 10 * own >= (number := count_distinct(outcomes.items(places))):
            ties, items = ties + own, items + number
            names.append(table.config)
    if not names:
        return ""
    where = first_names(list(dict.fromkeys(names)))
    little = ": the accuracy says little about the model" if 2 * ties >= items else ""
    return f"{where}: {ties:,} of {items:,} items have a tie, which counts as wrong{little}"


#: The share of items in which one side is the longer one from which on length alone may decide.
NEARLY_ALL = 0.9


def length_notes(outcomes: OutcomeTables, table: ItemTable) -> Iterator[Note]:
    """Cautions on predictions of which nearly always the same side is the longer one.

    None where the suite itself says that lengths differ.
    """
    tokens = outcomes.by_unit(MARGIN.name, MODEL, "target")
    places = outcomes.places_of(table.config, table.split, *OF_MODEL)
    for kind, own in by_kind(outcomes, places).items() if not table.length_confound else ():
        lengths = [more for more in tokens[outcomes.units_of(own)].tolist() if more == more]
        for what, number in (
            ("more", sum(more > 0 for more in lengths)),
            ("fewer", sum(more < 0 for more in lengths)),
        ):
            if len(lengths) >= FEW_ITEMS and number >= NEARLY_ALL * len(lengths):
                yield caution(
                    f"{table.config}, {' '.join(kind)}: the side that is predicted to be more "
                    f"surprising has {what} tokens in {number:,} of {len(lengths):,} items (mean "
                    f"difference {fmean(lengths):+.1f}): its length alone may explain the score"
                )


def compat_notes(rules: Rules, dtype: str, tables: Sequence[ItemTable]) -> list[Note]:
    """A line that scores may be held against published ones, or not; none where nobody would."""
    if rules.name:
        said = f"--compat {rules.name}: scored as the published numbers were"
        if dtype == "float32":
            return [detail(f"{said}, and comparable")]
        return [caution(f"{said}, but in {dtype}, not in float32")]
    if any(table.split == SUITE_SPLIT for table in tables):
        modes = " or ".join(f"--compat {name}" for name in MODES)
        return [
            caution(f"not comparable with published numbers; with {modes}, scores are comparable")
        ]
    return []


_MASKED = {
    "within_word_l2r": "with the token and the rest of its word masked",
    "original": "with only the token masked",
}


def scorer_notes(settings: Mapping[str, Any], tables: Sequence[ItemTable]) -> list[Note]:
    """Lines on surprisals that are not read from left to right; none where they are."""
    if settings.get("masking") is None:
        return []
    published = "not comparable with published numbers, which come from left-to-right models"
    return [
        *([caution(published)] if any(table.split == SUITE_SPLIT for table in tables) else []),
        detail(
            f"{settings['scorer']}: bits are pseudo-surprisals: each is conditioned on the whole "
            f"text, including the text after the token, {_MASKED[settings['masking']]} (--masking "
            f"{settings['masking']})"
        ),
    ]


def score_notes(scores: Sequence[Score], scored: Sequence[ScoredItemTable]) -> Iterator[Note]:
    """Lines that a reader of the table must know."""
    tables = [one.table for one in scored]
    of_all = [score for score in scores if score.level == "all"]
    yield from _what_counts(of_all, tables)
    sharing = {(one.table.config, one.table.split) for one in scored if one.families}
    if families := [s for s in of_all if (s.config, s.split) in sharing and s.clusters < s.n]:
        listed = ", ".join(f"{s.config} {s.clusters:,} of {s.n:,} items" for s in families)
        # Nobody has told people that the texts of a list, or of somebody's dataset, are repeated.
        say = detail if all(table.verified for table in tables) else caution
        yield say(f"intervals are clustered by families of items that share text: {listed}")
    if any(FIRST_LEFT_OUT in score.counts for score in scores):
        yield caution(
            "† no start-of-text token: the first token of a text has no surprisal and is left "
            "out; conditions may leave out different tokens"
        )
    counts = Counter[str]()
    for score in of_all:
        counts.update(score.counts)
    for reason, meaning in UNDEFINED.items():
        if reason in counts:
            yield caution(f"undefined: {counts[reason]:,}, {meaning}")
    if too_long := sum(one.too_long for one in scored):
        context = scored[0].rendering.context
        yield caution(f"too long: {too_long:,} for the model's context of {context:,} tokens")
    if cut := sum(one.truncated for one in scored):
        yield caution(f"cut to fit: {cut:,}, on the left, where all conditions are identical")
    yield from _run_notes(scored)
    if spanning := sum(one.spanning_tokens for one in scored):
        yield caution(
            f"{spanning:,} tokens cross the edge of a compared region; each counts in the region "
            "where it begins"
        )
    there = {(table.config, table.split) for table in tables}
    for table in tables:
        missing = [name for name in table.controls if (name, table.split) not in there]
        if missing:
            yield caution(
                f"{table.config}: its score says little without its controls "
                f"{', '.join(missing)}, which were not scored"
            )
    for name, meaning in SCORE_MEANINGS.items():
        if any(getattr(score, name) is not None for score in scores):
            yield detail(meaning)
    if judged := [f"{score.config} {score.human_n:,}" for score in of_all if score.human_n]:
        yield detail(
            f"{HUMAN_PERFORMANCE}: the share of judged pairs in which most annotators call the "
            f"incoherent text less coherent ({', '.join(judged)} pairs); the interval is in "
            "results.json"
        )


def _what_counts(of_all: Sequence[Score], tables: Sequence[ItemTable]) -> Iterator[Note]:
    over: dict[str, list[str]] = {}
    for table in tables:
        if table.headline:
            over.setdefault(table.headline, []).append(table.config)
    for headline, configs in over.items():
        names = first_names(list(dict.fromkeys(configs)))
        yield detail(
            f"{names}: the config's row and rows such as name=value count only the predictions of "
            f"the group {headline!r}"
        )
    yield from _control_note(tables)
    empty = {(score.config, score.split) for score in of_all if not score.n}
    left_out = [t.config for t in tables if t.in_headline and (t.config, t.split) in empty]
    if left_out:
        named = first_names(list(dict.fromkeys(left_out)))
        yield caution(f"not in the headline score, as no item could be scored: {named}")


def _control_note(tables: Sequence[ItemTable]) -> Iterator[Note]:
    # Of each config that of the split that tells most of it.
    best: dict[str, Mapping[str, Any]] = {}
    known = [(table, control) for table in tables if (control := _control_of(table))]
    for table, control in sorted(known, key=lambda one: -float(one[1].get("effective_items", 0))):
        if table.in_headline:
            best.setdefault(table.config, control)
    named: dict[str, list[str]] = {}
    for config, control in best.items():
        named.setdefault(str(control["word"]), []).append(config)
    if named:
        said = "; ".join(f"{word} ({first_names(names)})" for word, names in named.items())
        say = detail if {*named} == {CONTROLLED_WORD} else caution
        yield say(f"{CONTROL_NOTE}: {said}")


def _control_of(table: ItemTable) -> Mapping[str, Any]:
    # That of rows that no build wrote is found with their weights.
    computed = table.baselines if isinstance(table.baselines, ComputedBaselines) else None
    if table.control or computed is None or computed.control is None:
        return table.control
    found = computed.control
    return {"word": found.word, "effective_items": found.balance.effective}


def _run_notes(scored: Sequence[ScoredItemTable]) -> Iterator[Note]:
    # Things that were not done together, as it would have changed numbers.
    if reasons := sorted({reason for one in scored for reason in one.apart}):
        yield detail(
            "the run was slower than usual, and its scores are not affected: a trial showed that "
            "this model had better not read texts together, so each text was read in full or alone "
            f"(docs/speed.md#shared-work; the trial: {'; '.join(reasons)})"
        )
    if halved := sum(one.halved for one in scored):
        yield detail(f"memory ran out {halved:,} times: smaller batches were run")
    if error := scored[0].error:
        yield caution(
            "too close: rounding in the number format may have decided these predictions, which "
            f"count in the score; their margins are within the error of {1 - LEVEL:.0%} of the "
            "items in a sample, compared with the same weights in float32: "
            f"{error * math.sqrt(2 / 10):.2g} bits for two means of ten tokens, and accordingly "
            "for other formulas"
        )
