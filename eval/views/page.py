"""Pages of results: one file that asks nothing of any server.

What a dataset or a model is called, and every text of a dataset, is anybody's: it is escaped in the
markup, stands in the data block as JSON that cannot close it, and reaches the page as text nodes.
The page's policy allows its own script and style, by their hashes.

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
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ItemList, ReportSection, short_model
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.written import results_json, write_json, write_results
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
    write_html(page_of(results), work / PAGE_OF_RUN)


def write_html(page: str, path: Path) -> None:
    """Write a page; half a character (a lone surrogate) is a question mark."""
    path.write_bytes(page.encode("utf-8", "replace"))


def page_of(results: Results) -> str:
    """The page of a run."""
    sections = results.sections
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

    ``variables`` are those of the template: results, verdict, items, drawn, lines.
    """
    about: dict[str, Any] = {"results": None, "verdict": None, "items": None}
    about |= {"drawn": {}, "lines": []} | variables
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
