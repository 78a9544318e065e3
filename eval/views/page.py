"""Pages of results: one file that asks nothing of any server.

What a dataset or a model is called, and every text of a dataset, is anybody's: it is escaped in the
markup, stands in the data block as JSON that cannot close it, and reaches the page as text nodes.
The page's policy allows its own script and style, by their hashes. Scores are drawn as SVG in the
markup, and so take on the colours of the page.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from coherencegym.escapes import in_line, templates_of, under_policy
from coherencegym.eval.report import figures
from coherencegym.eval.report.blocks import (
    Figure,
    ItemList,
    ReportSection,
    cut,
    labels,
    short_model,
)
from coherencegym.eval.statistics.scores import (
    CHANCE_NAME,
    Score,
    baseline_words,
    is_correlation,
    shown_rows,
)
from coherencegym.eval.tasks.results import Results

#: The page of a run.
PAGE_OF_RUN = "report.html"


def write_results_files(results: Results, work: Path) -> None:
    """Write what a folder of results has beside what those of every task have."""
    results.asked.files(results, work)
    write_pages(results, work)


def write_pages(results: Results, work: Path) -> None:
    """Write the page of a folder of results."""
    words = "Scores with 95 % intervals beside their baselines; the tables have the numbers."
    address = svg_address(scores_svg(results.rows).encode("utf-8", "replace"))
    picture = ReportSection("Figure", Figure(words, address))
    write_html(page_of(results, [picture, *results.sections]), work / PAGE_OF_RUN)


def scores_svg(scores: Sequence[Score]) -> str:
    """The scores with their intervals and baselines, without the half second of a plot library."""
    # Groups are in the table, under names that need its place.
    shown = [one for one in shown_rows(scores) if one.score is not None and one.level == "all"]
    names = {CHANCE_NAME: CHANCE_NAME}
    for one in shown:
        names |= baseline_words(one.metric)
    least = -1.0 if any(is_correlation(score.metric) for score in shown) else 0.0

    def place(value: float) -> float:
        return round(370 + 370 * (value - least) / (1 - least), 1)

    rows: list[dict[str, Any]] = []
    for score, name in zip(shown, labels(shown), strict=True):
        known = {field: getattr(score, field) for field in names}
        ends = score.ci_low, score.ci_high
        rows.append(
            {
                "name": cut(name),
                "bold": score.level == "all",
                "x": place(score.score or 0.0),
                "ends": [place(end) for end in ends if end is not None],
                "marks": {field: place(own) for field, own in known.items() if own is not None},
            }
        )
    used = {field for row in rows for field in row["marks"]}
    made: str = (
        templates()
        .get_template("scores.svg.jinja")
        .render(
            rows=rows,
            ticks=[(place(x), f"{100 * x:g}") for x in (least, (1 + least) / 2, 1.0)],
            legend={field: words for field, words in names.items() if field in used},
            colours={CHANCE_NAME: figures.CHANCE_LINE}
            | {field: look["color"] for field, look in figures.BASELINE_LOOKS.items()},
        )
    )
    return made


def write_html(page: str, path: Path) -> None:
    """Write a page; half a character (a lone surrogate) is a question mark."""
    path.write_bytes(page.encode("utf-8", "replace"))


def page_of(results: Results, sections: Sequence[ReportSection] = ()) -> str:
    """The page of a run, of its own sections unless others are given."""
    sections = sections or results.sections
    items = [part.body.collect() for part in sections if isinstance(part.body, ItemList)]
    return render_page(
        title_of(results),
        sections,
        results=results,
        verdict=results.verdict,
        items=items[0] if items else None,
    )


def render_page(title: str, sections: Sequence[ReportSection], **variables: Any) -> str:
    """A page of sections under a policy by which nothing runs but what is in it.

    ``variables`` are those of the template: results, verdict, items, lines.
    """
    about = {"results": None, "verdict": None, "items": None, "lines": [], **variables}
    template = templates().get_template("page.html.jinja")
    return under_policy(template.render(title=title, sections=sections, **about))


def svg_address(svg: bytes) -> str:
    """A picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def title_of(results: Results) -> str:
    """The title of a run's page: model, its revision where one was asked for, and dataset."""
    model, dataset = short_model(results.model_name), short_model(results.data)
    return f"{model}{results.variant} on {dataset}"


@lru_cache(maxsize=1)
def templates() -> Any:
    """The templates of pages: all that they are given is escaped."""
    found = templates_of("eval.views", autoescape=True, keep_trailing_newline=False)
    found.filters["in_line"] = in_line
    found.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "allow_nan": False,
        "separators": (",", ":"),
    }
    return found
