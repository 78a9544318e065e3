"""``report.html``: verdict, scores and items of a run in one file that asks nothing of any server.

What a dataset or a model is called, and every text of a dataset, is anybody's: it is escaped in the
markup, stands in the data block as JSON that cannot close it, and reaches the page as text nodes.
The page's policy allows its own script and style, by their hashes. Scores are drawn as SVG in the
markup, and so take on the colours of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from coherencegym.escapes import in_line
from coherencegym.eval.data.baselines import BASELINE_WORDS
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.table_kind import of_modest_length
from coherencegym.eval.report.blocks import Verdict
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.report.formats import TableDocument, copied_texts
from coherencegym.eval.report.grid import Grid, share_with_interval
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, chance_names, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction
from coherencegym.eval.tasks.score.report import score_grid, score_sections
from coherencegym.eval.tasks.score.results import score_summary, shown_tables
from coherencegym.eval.tasks.score.scoring import Scored, ScoredItem
from coherencegym.eval.views.html_items import collect
from coherencegym.eval.views.html_marks import Segment, marked
from coherencegym.eval.views.html_selection import PageSelection
from coherencegym.eval.views.item_view import read_values, reads, state
from coherencegym.eval.views.plots_heatmap import heat_maps
from coherencegym.eval.views.verdict import INCOHERENT, verdict
from coherencegym.files.templates import content_policy, templates_of

#: Characters of each text of the example, where there is such an item.
_MODEST = 450


def write_html(page: str, folder: Path, name: str = "report.html") -> None:
    """Write a page into a folder, or one in it."""
    (folder / name).parent.mkdir(exist_ok=True)
    # A name may hold half a character (a lone surrogate), which no file can.
    (folder / name).write_bytes(page.encode("utf-8", "replace"))


def render_report(found: Results) -> str:
    """The page of a run of ``score``, with its items."""
    items = collect(found)
    scores, shown = score_summary(found).scores, shown_rows(score_summary(found).scores)
    whole, *below = [s.body for s in score_sections(found) if isinstance(s.body, Grid)]
    return page_of(
        "report.html.jinja",
        source("copy.js") + source("listing.js") + source("report.js"),
        results=found,
        title=title_of(found),
        verdict=verdict_of(found, "pairs" if in_pairs(found) else "comparisons"),
        example=example_of(found),
        scores=whole,
        strips=shown,
        all_scores=score_grid(scores) if len(shown) < len(scores) else None,
        all_strips=scores,
        macros=score_summary(found).macros,
        maps=heat_maps([found]),
        blocks=below,
        copied=copied_results(found, [whole, *below]),
        selections=items.selections,
        data=items.data,
    )


def copied_results(results: Results, grids: Sequence[Grid]) -> list[tuple[str, str]]:
    """The tables of a run as its page copies them, and the work that its suite is after."""
    titled = [replace(one, title=one.title or title_of(results)) for one in grids]
    names = [one.name for one in fields(Score) if one.name != "counts"]
    records = [{name: getattr(row, name) for name in names} for row in results.rows]
    document = TableDocument(titled, [results.signature], records)
    return copied_texts(document, [results.dataset.get("citation", "")])


def verdict_of(results: Results, of: str = "pairs") -> Verdict | None:
    """The verdict on the run's one number, where it has one."""
    found = results.headline
    if found is None:
        return None
    over = ""
    if found.n_cells > 1:
        is_few = found.n_cells == len(found.over) <= 3
        what = "configs" if found.n_cells == len(found.over) else "groups"
        over = " and ".join(found.over) if is_few else f"{found.n_cells} {what}"
    known = getattr(getattr(results, "summary", None), "differences", ())
    differences = [one for one in known if one.config in found.over]
    # Of one's own pairs, and of a suite's file, nobody has said that a version is incoherent.
    worse = INCOHERENT if results.dataset.get("conditions") else "worse"
    return verdict(short_model(str(results.model["name"])), found, of, over, differences, worse)


def in_pairs(found: Results) -> bool:
    """Say that every item has two conditions."""
    shown = (item for table, _ in shown_tables(found) for item in table.items)
    return all(len(item.conditions) == 2 for item in shown)


@dataclass(frozen=True, slots=True)
class Example:
    """An item to show what a suite asks: its conditions with their texts, cut where they differ.

    ``values`` are the bits of what the prediction reads; ``held`` says what became of it.
    """

    config: str
    split: str
    item_id: str
    conditions: tuple[tuple[str, tuple[Segment, ...], float | None], ...]
    margin: float | None
    held: str


def example_of(found: Results) -> Example | None:
    """The first item of modest length of the first table whose prediction has two conditions."""
    for (table, scored), own in zip(shown_tables(found), found.details, strict=True):
        readable = [
            (prediction, names)
            for prediction in own.predictions
            if prediction.outcome is not None
            and len(names := list(dict.fromkeys(name for _, name in reads(prediction)))) == 2
        ]
        if readable:
            prediction, names = of_modest_length(
                readable,
                lambda one: max(len(one[0].item.condition(n).content) for n in one[1]),
                _MODEST,
            )
            item = next(one for one in scored.items if one.item.item_id == prediction.item.item_id)
            return _example(table, prediction, item, names, scored)
    return None


def _example(
    table: ItemTable,
    prediction: EvaluatedPrediction,
    own: ScoredItem,
    names: list[str],
    scored: Scored,
) -> Example:
    item = prediction.item
    names.sort(key=[condition.condition_name for condition in item.conditions].index)
    values = {name: value for _, name, value in read_values(prediction, own, scored.rules)}
    return Example(
        table.config,
        table.split,
        item.item_id,
        tuple(
            (name, text, values[name])
            for name, text in zip(names, marked(item, names), strict=True)
        ),
        prediction.outcome.margin if prediction.outcome else None,
        state(prediction),
    )


def title_of(results: Results) -> str:
    """The title of a run's page: model, its revision where one was asked for, and dataset."""
    model, dataset = (short_model(str(x["name"])) for x in (results.model, results.dataset))
    return f"{model}{results.variant} on {dataset}"


def page_of(template: str, script: str = "", **variables: Any) -> str:
    """A page under a policy by which nothing runs, and nothing is fetched, but what is in it."""
    from markupsafe import Markup

    style = source("report.css")
    policy = content_policy([script], [style])
    about = {"policy": policy, "script": Markup(script), "style": Markup(style)}
    page: str = templates().get_template(template).render(**about, **variables)
    return page


def breakable(name: str) -> Any:
    """A name, escaped, that may be broken where its parts meet."""
    from markupsafe import Markup, escape

    return Markup(str(escape(in_line(name))).replace("_", "_<wbr>").replace("=", "=<wbr>"))


def left_out(selection: PageSelection) -> str:
    """The predictions of a table that the page does not have."""
    parts = [
        f"{one.n:,} with margins from {one.low:+.3f} to {one.high:+.3f} bits"
        for one in selection.left_out
    ]
    if selection.left_out_unmeasured:
        parts.append(f"{selection.left_out_unmeasured:,} without a margin")
    return ", ".join(parts)


@lru_cache(maxsize=1)
def templates() -> Any:
    """The templates of pages: all that they are given is escaped."""
    found = templates_of("eval.views", autoescape=True, keep_trailing_newline=False)
    found.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "allow_nan": False,
        "separators": (",", ":"),
    }
    found.filters |= {"breakable": breakable, "left_out": left_out}
    found.globals |= {
        "baselines": BASELINE_WORDS,
        "chance_names": chance_names,
        "few": FEW_ITEMS,
        "share_with_interval": share_with_interval,
    }
    return found


def source(name: str) -> str:
    """A script or style as a browser reads it, which the hash is of: line ends are LF."""
    text: str = templates().loader.get_source(templates(), name)[0]
    return text.replace("\r\n", "\n")
