"""``report.html``: tables, plots and items of a run in one file that asks nothing of any server.

What a dataset or a model is called, and every text of a dataset, is anybody's: it is escaped in the
markup, stands in the data block as JSON that cannot close it, and reaches the page as text nodes.
The page's policy allows its own script and style, by their hashes, and images inside the file.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.summary import shown_rows
from coherencegym.eval.views.figures import short_model
from coherencegym.eval.views.html_items import collect
from coherencegym.eval.views.html_selection import PageSelection
from coherencegym.eval.views.table import score_blocks, score_grid

_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def write_report(results: Results, folder: Path) -> None:
    """Write ``report.html`` with the plots that the folder has already."""
    write_html(render_report(results, folder), folder)


def write_html(page: str, folder: Path) -> None:
    """Write a page as ``report.html``."""
    # A name may hold half a character (a lone surrogate), which no file can.
    (folder / "report.html").write_bytes(page.encode("utf-8", "replace"))


def render_report(results: Results, folder: Path | None = None) -> str:
    """The page of a run, with the plots of a folder."""
    items = collect(results)
    scores = results.scores
    return page_of(
        "report.html.jinja",
        results,
        folder,
        source("report.js"),
        scores=score_grid(shown_rows(scores)),
        all_scores=score_grid(scores) if len(shown_rows(scores)) < len(scores) else None,
        blocks=list(score_blocks(results)),
        selections=items.selections,
        data=items.data,
    )


def page_of(template: str, results: Any, folder: Path | None, script: str, **more: Any) -> str:
    """A page under a policy by which nothing runs, and nothing is fetched, but what is in it.

    The plots of the folder are embedded; ``more`` are other variables of the template.
    """
    from markupsafe import Markup

    style = source("report.css")
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    policy = (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    plots = plot_files(folder) if folder else []
    page: str = (
        templates()
        .get_template(template)
        .render(
            results=results,
            title=" on ".join(
                short_model(str(x["name"])) for x in (results.model, results.dataset)
            ),
            policy=policy,
            script=Markup(script),
            style=Markup(style),
            plots=[(path.stem, _data_url(path)) for path in plots],
            **more,
        )
    )
    return page


def plot_files(folder: Path) -> list[Path]:
    """The plots of a folder: as SVG where there is one, or else as PNG; scores first."""
    plots = {path.stem: path for suffix in (".png", ".svg") for path in folder.glob(f"*{suffix}")}
    return [plots[name] for name in sorted(plots, key=lambda name: (name != "scores", name))]


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
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.PackageLoader("coherencegym.eval.views", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "allow_nan": False,
        "separators": (",", ":"),
    }
    found.filters["left_out"] = left_out
    return found


def source(name: str) -> str:
    """A script or style as a browser reads it, which the hash is of: line ends are LF."""
    text: str = templates().loader.get_source(templates(), name)[0]
    return text.replace("\r\n", "\n")


def _data_url(path: Path) -> str:
    content = base64.b64encode(path.read_bytes()).decode()
    return f"data:{_TYPES[path.suffix]};base64,{content}"
