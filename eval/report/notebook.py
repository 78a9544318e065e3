"""Tables as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coherencegym.eval.report.grid import Grid
from coherencegym.files.templates import templates_of


def notebook_cell(grids: Sequence[Grid], results: Any = None) -> str:
    """Tables, and notes and signature of results, as HTML: no script, no request, all escaped."""
    about = {} if results is None else {"results": results}
    templates = templates_of("eval.report", autoescape=True, keep_trailing_newline=False)
    text: str = templates.get_template("notebook.html.jinja").render(grids=grids, **about)
    return text
