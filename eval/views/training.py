"""The folders of a training: a model each, with its card.

A folder has ``results.json`` over all seeds, and ``seed-N``, or ``fold-N`` of a cross-validation:
the model as safetensors, its tokenizer, its card (``README.md``) and what a run of the task leaves
behind. Losses are in ``losses.json`` instead, as they are no results that others are compared with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.escapes import fenced, markdown_code, markdown_table, markdown_text
from coherencegym.eval.report import grid
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.written import results_json, write_json, write_results
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.views.page import write_results_files
from coherencegym.files.folders import written_beside

if TYPE_CHECKING:
    from coherencegym.eval.tasks.training.encoder import Trained
    from coherencegym.eval.tasks.training.training import Training

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
