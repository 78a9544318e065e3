"""Pages of results: one file that asks nothing of any server.

What a dataset or a model is called, and every text of a dataset, is anybody's: it is escaped in the
markup, stands in the data block as JSON that cannot close it, and reaches the page as text nodes.
The page's policy allows its own script and style, by their hashes. Scores are drawn as SVG in the
markup, and so take on the colours of the page.

A folder has ``results.json`` over all seeds, and ``seed-N``, or ``fold-N`` of a cross-validation:
the model as safetensors, its tokenizer, its card (``README.md``) and what a run of the task leaves
behind. Losses are in ``losses.json`` instead, as they are no results that others are compared with.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.escapes import (
    fenced,
    in_line,
    markdown_code,
    markdown_table,
    markdown_text,
    templates_of,
    under_policy,
)
from coherencegym.eval.data.dataset import BASELINE_WORDS
from coherencegym.eval.report import figures, grid
from coherencegym.eval.report.blocks import (
    Figure,
    ItemList,
    ReportSection,
    cut,
    labels,
    short_model,
)
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.written import results_json, write_json, write_results
from coherencegym.eval.statistics.scores import CHANCE_NAME, Score, is_correlation, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.files.folders import written_beside

if TYPE_CHECKING:
    from coherencegym.eval.tasks.training.encoder import Trained
    from coherencegym.eval.tasks.training.training import Training

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
    names = {CHANCE_NAME: CHANCE_NAME} | BASELINE_WORDS
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


#: The file of losses.
_LOSSES = "losses.json"


def write_training(results: Results, folder: Path, *, overwrite: bool = False) -> None:
    """Write the models of a training, their cards and results, whole or not at all."""
    training: Training = results.asked
    name = _LOSSES if training.in_nats else MARKER
    with written_beside(folder, overwrite) as work:
        for one in results.details:
            place = work / one.folder
            place.mkdir()
            one.model.save_pretrained(place)
            # A tokenizer saves how it cut and padded what it read last.
            one.tokenizer("")
            one.tokenizer.save_pretrained(place)
            if training.in_nats:
                write_json(results_json(one.results), place / name)
            else:
                write_results(one.results, place)
                write_results_files(one.results, place)
            card = "\n".join(model_card(results, one)) + "\n"
            (place / "README.md").write_text(card, encoding="utf-8")
        write_json(results_json(results), work / name)


def model_card(results: Results, trained: Trained) -> Iterator[str]:
    """The lines of the card of a model, one of those with these results."""
    training: Training = results.asked
    own, text = trained.results, training.card
    # JSON is YAML: names from elsewhere cannot break out of the metadata.
    yield from ("---", "library_name: transformers", f"pipeline_tag: {text['pipeline']}")
    if results.model["hub"]:
        yield f"base_model: {json.dumps(results.model['name'])}"
    if results.repo:
        yield f"datasets: {json.dumps([results.repo])}"
    yield from ("tags: [coherencegym, discourse, coherence]", "---", "")
    yield from (f"# {text['title']}", "", text["about"], "", fenced(text["use"], "bash"))
    yield from ("", "## Scores", "", *_table(own))
    if (models := len(results.details)) > 1:
        said = f"Mean and standard deviation of {models} {training.over} (this is one of them):"
        yield from ("", said, "", *_table(results))
    yield from ("", *(f"- {markdown_text(str(note))}" for note in own.notes))
    facts = {**results.model, **results.settings, **trained.about}
    rows = [(name, str(v)) for name, v in facts.items() if isinstance(v, str | int | float | tuple)]
    yield from ("", "## Training", "", *markdown_table(("", ""), rows), "")
    yield (
        "The model has learned to recognise the answers of this data, which may have other signs "
        "elsewhere. The licences of the encoder and of the data apply to the model; this card "
        "states none."
    )
    yield from ("", markdown_code(own.signature))


def _table(results: Results) -> list[str]:
    tables = (one.body for one in results.sections if isinstance(one.body, grid.Grid))
    return grid.markdown(next(tables))
