"""Models that were trained: their folders, and the card of each.

A folder has ``results.json`` over all seeds, and ``seed-N``, or ``fold-N`` of a cross-validation:
the model as safetensors, its tokenizer, its card (``README.md``) and what a run of the task leaves
behind. Losses are in ``losses.json`` instead, as they are no results that others are compared with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coherencegym.escapes import markdown_code, markdown_table
from coherencegym.eval.report import grid
from coherencegym.eval.results.folder import MARKER, results_json, write_json, write_results
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.training.fine_tuning import Trained
from coherencegym.eval.tasks.training.results import TrainingResults
from coherencegym.eval.tasks.training.training import CardText, Training
from coherencegym.eval.views.page import write_results_files
from coherencegym.files.folders import written_beside

#: The file of losses.
_LOSSES = "losses.json"


def write_training(
    training: Training, results: TrainingResults, folder: Path, *, overwrite: bool = False
) -> None:
    """Write models, cards and results, whole or not at all."""
    with written_beside(folder, overwrite) as work:
        for one, own in zip(results.trained, results.seeds, strict=True):
            place = work / one.folder
            place.mkdir()
            one.model.save_pretrained(place)
            # A tokenizer saves how it cut and padded what it read last.
            one.tokenizer("")
            one.tokenizer.save_pretrained(place)
            if results.task_words.in_nats:
                write_json(results_json(own), place / _LOSSES)
            else:
                write_results(own, place)
                write_results_files(own, place)
            card = "\n".join(model_card(results, one, own, training.card(own))) + "\n"
            (place / "README.md").write_text(card, encoding="utf-8")
        write_json(
            results_json(results), work / (_LOSSES if results.task_words.in_nats else MARKER)
        )


def model_card(
    results: TrainingResults, trained: Trained, own: Results, text: CardText
) -> Iterator[str]:
    """The lines of the card of a model, one of those with these results, that has its own."""
    # JSON is YAML: names from elsewhere cannot break out of the metadata.
    yield from ("---", "library_name: transformers", f"pipeline_tag: {text.pipeline}")
    if results.model["hub"]:
        yield f"base_model: {json.dumps(results.model['name'])}"
    if results.repo:
        yield f"datasets: {json.dumps([results.repo])}"
    yield from (f"tags: [{', '.join(text.tags)}]", "---", "")
    yield from (f"# {text.title}", "", text.about, "", *text.use)
    title, said = "Figures", "The intervals are 95 % intervals."
    if results.task_words.in_nats:
        title, said = "Losses", "The losses are in nats."
    yield from ("", f"## {title}", "", *_table(own), "", f"{said} {text.figures}")
    if (models := len(results.trained)) > 1:
        said = f"Mean and standard deviation of {models} {results.over} (this is one of them):"
        yield from ("", said, "", *_table(results))
    facts = _facts(results, trained)
    rows = [(name, str(value)) for name, value in facts.items() if value != ""]
    yield from ("", "## Training", "", *markdown_table(("", ""), rows), "")
    yield (
        f"{text.learned} The licences of the encoder and of the data apply to the model; this card "
        "states none."
    )
    yield from ("", markdown_code(own.signature))


def _table(results: Results) -> list[str]:
    tables = (one.body for one in results.sections if isinstance(one.body, grid.Grid))
    return grid.markdown(next(tables))


def _facts(results: TrainingResults, trained: Trained) -> dict[str, Any]:
    settings, words = results.settings, results.task_words
    model, cut = results.model, settings["truncated_rows"]
    rows = settings["training_rows"] + settings["validation_rows"]
    frozen = ", frozen: only the head was trained" if settings["freeze"] else ""
    fold = f"{trained.fold} of {len(results.trained)}: the weights are chosen on it"
    most = f"of at most {settings['epochs']} ({trained.steps:,} steps)"
    return {
        "encoder": f"{model['name']} at {model['commit']}{frozen}",
        "data": f"{results.dataset['name']}, {settings['train_on']}",
        f"training {words.texts}": f"{settings['training_texts']:,}",
        f"training {words.rows}": f"{settings['training_rows']:,}",
        "cut to fit": "" if cut is None else f"{cut:,} of {rows:,}",
        "seed": trained.seed,
        "fold": "" if trained.fold is None else fold,
        "learning rate": settings["learning_rate"],
        "batch size": settings["batch_size"],
        "epochs": f"{trained.epochs:g} {most}",
        f"{words.best} on validation": f"{trained.best:.3f}",
        "weights of the classes in the loss": ", ".join(f"{w:.3g}" for w in trained.weights),
        "maximum number of tokens of an input": settings["max_length"],
    }
