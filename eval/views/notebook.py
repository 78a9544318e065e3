"""What a notebook shows of results, and what ``print`` prints: the tables of the terminal."""

from __future__ import annotations

import io
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from coherencegym.eval.results.results import Results


@dataclass(frozen=True, repr=False)
class ShownResults(Results):
    """Results that a notebook shows as tables, and that print as the terminal has them."""

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def shown(results: Results) -> ShownResults:
    """The same results, which show themselves."""
    return ShownResults(**{field.name: getattr(results, field.name) for field in fields(results)})


def as_html(results: Results) -> str:
    """The tables, notes and signature as a fragment of HTML: no script, no request, all escaped."""
    from coherencegym.eval.tasks.score.summary import shown_rows
    from coherencegym.eval.views.blocks import blocks
    from coherencegym.eval.views.table import score_grid

    text: str = _template().render(
        results=results, grids=[score_grid(shown_rows(results.scores)), *blocks(results)]
    )
    return text


def as_text(results: Results) -> str:
    """What ``python -m eval`` prints."""
    from rich.console import Console

    from coherencegym.eval.views.table import print_table

    file = io.StringIO()
    print_table(results, Console(file=file, highlight=False))
    return file.getvalue()


@lru_cache(maxsize=1)
def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("coherencegym.eval.views", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("notebook.html.jinja")
