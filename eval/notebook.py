"""What a notebook shows of results, and what ``print`` prints: the tables of the terminal."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval.results import Results


def as_html(results: Results) -> str:
    """The tables, notes and signature as a fragment of HTML: no script, no request, all escaped."""
    from eval.html_tables import block_grids, score_grid

    text: str = _template().render(
        results=results, grids=[score_grid(results.scores), *block_grids(results)]
    )
    return text


def as_text(results: Results) -> str:
    """What ``python -m eval`` prints."""
    from rich.console import Console

    from eval.table import print_table

    file = io.StringIO()
    print_table(results, Console(file=file, highlight=False))
    return file.getvalue()


@lru_cache(maxsize=1)
def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("eval", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("notebook.html.jinja")
