"""``report.html``: tables, plots and items of a run in one file that asks nothing of any server.

What a dataset or a model is called, and every text of a dataset, is anybody's: it is escaped in the
markup, stands in the data block as JSON that cannot close it, and reaches the page as text nodes.
The page's policy allows its own script and style, by their hashes, and images inside the file.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.summary import shown_rows
from coherencegym.eval.views.blocks import blocks
from coherencegym.eval.views.html_items import collect
from coherencegym.eval.views.html_selection import Selection, Stretch
from coherencegym.eval.views.table import score_grid

#: The name of the file in a folder of results.
FILE = "report.html"
_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def write_report(results: Results, folder: Path) -> None:
    """Write ``report.html`` with the plots that the folder has already."""
    # A name may hold half a character (a lone surrogate), which no file can.
    text = render_report(results, plot_files(folder)).encode("utf-8", "replace")
    (folder / FILE).write_bytes(text)


def plot_files(folder: Path) -> list[Path]:
    """The plots of a folder: as SVG where there is one, or else as PNG; scores first."""
    plots = {path.stem: path for suffix in (".png", ".svg") for path in folder.glob(f"*{suffix}")}
    return [plots[name] for name in sorted(plots, key=lambda name: (name != "scores", name))]


def render_report(results: Results, plots: Sequence[Path] = ()) -> str:
    """The page.

    Args:
        results: of a run.
        plots: image files (SVG or PNG) to embed.
    """
    from markupsafe import Markup

    templates, source = environment()
    script, style = source("report.js"), source("report.css")
    items = collect(results)
    scores = results.scores
    page: str = templates.get_template("report.html.jinja").render(
        results=results,
        title=title_of(results.model, results.dataset),
        policy=policy(script, style),
        script=Markup(script),
        style=Markup(style),
        scores=score_grid(shown_rows(scores)),
        all_scores=score_grid(scores) if len(shown_rows(scores)) < len(scores) else None,
        blocks=list(blocks(results)),
        plots=[(path.stem, _data_url(path)) for path in plots],
        selections=items.selections,
        data=items.data,
    )
    return page


def policy(script: str, style: str) -> str:
    """A Content-Security-Policy under which nothing runs, and nothing is fetched, but what is here.

    Args:
        script, style: the text of the page's own elements.
    """
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    return (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def left_out(selection: Selection) -> str:
    """Which predictions of a table the page does not have."""
    parts = [_stretch(stretch) for stretch in selection.left_out]
    if selection.left_out_unmeasured:
        parts.append(f"{selection.left_out_unmeasured:,} without a margin")
    return ", ".join(parts)


def _stretch(stretch: Stretch) -> str:
    return f"{stretch.n:,} with margins from {stretch.low:+.3f} to {stretch.high:+.3f} bits"


def environment() -> tuple[Any, Callable[[str], str]]:
    """The templates of pages, and what gives the text of a script or style.

    It is as a browser reads it, which the hash is of: line ends are LF.
    """
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("coherencegym.eval.views", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "allow_nan": False,
        "separators": (",", ":"),
    }
    templates.filters["left_out"] = left_out

    def source(name: str) -> str:
        text: str = templates.loader.get_source(templates, name)[0]  # type: ignore[union-attr]
        return text.replace("\r\n", "\n")

    return templates, source


def plots_of(folder: Path) -> list[tuple[str, str]]:
    """The plots of a folder: their names, and what a page embeds of them."""
    return [(path.stem, _data_url(path)) for path in plot_files(folder)]


def title_of(about_model: Mapping[str, Any], dataset: Mapping[str, Any]) -> str:
    """What a page is about."""
    model, data = (str(about["name"]) for about in (about_model, dataset))
    return f"{_last_part(model)} on {_last_part(data)}"


def _last_part(name: str) -> str:
    """Of a folder its own name; a Hub id is short enough."""
    return Path(name).resolve().name if Path(name).is_dir() else name


def _data_url(path: Path) -> str:
    content = base64.b64encode(path.read_bytes()).decode()
    return f"data:{_TYPES[path.suffix]};base64,{content}"
