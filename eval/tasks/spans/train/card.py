"""The card of a model that was fine-tuned on texts: what it is, how to use it, what it reaches."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from coherencegym.escapes import fenced, markdown_code, markdown_table, markdown_text
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.data import CHOICE, COHERENCE
from coherencegym.eval.tasks.spans.results import (
    ACCURACY,
    METRIC_NAMES,
    STRICT_IF_RIGHT,
)
from coherencegym.eval.tasks.spans.train.data import SpanTraining
from coherencegym.eval.tasks.spans.train.results import SpanTrainingResults
from coherencegym.eval.tasks.spans.train.train import TrainedOnTexts
from coherencegym.eval.tasks.training.card import (
    card_front,
    card_training,
    encoder_cell,
)

#: The metrics that a card has.
CARD_METRICS = (ACCURACY, *METRIC_NAMES.values(), STRICT_IF_RIGHT)


def span_model_card(
    results: SpanTrainingResults, own: Results, trained: TrainedOnTexts, data: SpanTraining
) -> str:
    """The card of one seed's model, with the figures of its own and of all seeds.

    Args:
        results: those over all seeds.
        own: those of this one.
        trained: its model.
        data: the texts that it was trained and tested on.
    """
    lines = [*_front(results, data), *_use(results, data), *_figures(own.rows)]
    return "\n".join([*lines, *_over_seeds(results), *_training(results, own, trained)]) + "\n"


def _front(results: SpanTrainingResults, data: SpanTraining) -> Iterator[str]:
    name, choice = str(results.model["name"]), data.question == CHOICE
    pipeline = "multiple-choice" if choice else "text-classification"
    tags = ("coherencegym", "discourse", "coherence")
    yield from card_front(name, results.model["hub"], results.dataset["repo"], pipeline, tags)
    if choice:
        says, reads = "which of several texts is better", "each of the texts"
    elif data.question == COHERENCE:
        says, reads = f"whether a text is {markdown_text(data.positive)}", "the text"
    else:
        says = f"whether a text makes a hypothesis {markdown_text(data.positive)}"
        reads = "a pair of texts, the text and the hypothesis"
    labels = "" if choice else f"; label 1 is {markdown_code(data.positive)}"
    code = markdown_code(name)
    yield from ("# A model of texts and their parts", "")
    yield (
        f"{code}, fine-tuned to decide {says} (Storks and Chai 2021, Results of EMNLP). Its "
        f"input is {reads}, with units joined by a space{labels}. Strict coherence, below, is the "
        "share of texts for which the model is right about the whole and about every part."
    )


def _use(results: SpanTrainingResults, data: SpanTraining) -> Iterator[str]:
    configs = shlex.join(table.table.config for table in data.tested)
    command = f"coherencegym spans --model FOLDER --dataset DATASET --config {configs} --truncate"
    yield from ("", fenced(command, "bash"), "", "```python")
    kind = (
        f"AutoModelFor{'MultipleChoice' if data.question == CHOICE else 'SequenceClassification'}"
    )
    cut = f'truncation="only_first", max_length={results.settings["max_length"]}'
    yield from (
        f"from transformers import {kind}, AutoTokenizer",
        "",
        'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
        f'model = {kind}.from_pretrained("FOLDER")',
    )
    if data.question == CHOICE:
        yield f'batch = tokenizer(alternatives, padding=True, {cut}, return_tensors="pt")'
        yield "chances = model(**{k: v[None] for k, v in batch.items()}).logits[0].softmax(-1)"
    else:
        read = "text" if data.question == COHERENCE else "text, hypothesis"
        yield f'inputs = tokenizer({read}, {cut}, return_tensors="pt")'
        yield "chance = model(**inputs).logits[0].softmax(-1)[1]"
    yield "```"


def _figures(scores: Sequence[Score]) -> Iterator[str]:
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    for score in scores:
        if not score.group and score.metric in CARD_METRICS:
            who = score.system or "this model"
            about = f"{score.config} ({score.split})", who, f"{score.n:,}"
            cells.setdefault(about, {})[score.metric] = _cell(score)
    yield from ("", "## Figures, %", "")
    rows = [
        (*about, *(own.get(metric, "") for metric in CARD_METRICS)) for about, own in cells.items()
    ]
    yield from markdown_table(("texts", "system", "n", *CARD_METRICS), rows)
    yield from (
        "",
        "The intervals are 95 % intervals. Accuracy is the share of texts with a right answer for "
        "the whole text. Strict is the share with a right answer for the whole text and for every "
        "span. Lenient is the mean share of spans with a right answer. The baselines are constant "
        "answers, and a bag of words if there is one. A score that is not above all baselines says "
        "nothing about coherence.",
    )


def _over_seeds(results: SpanTrainingResults) -> Iterator[str]:
    if len(results.trained) < 2:
        return
    seeds = len(results.trained)
    yield from (
        "",
        f"Mean and standard deviation of {seeds} {results.over} (this is one of them):",
        "",
    )
    rows = [
        (
            f"{one.config} ({one.split})",
            one.system or "the models",
            *map(one.cell, CARD_METRICS),
        )
        for one in results.summary
        if not one.group
    ]
    yield from markdown_table(("texts", "system", *CARD_METRICS), rows)


def _training(results: SpanTrainingResults, own: Results, trained: TrainedOnTexts) -> Iterator[str]:
    settings, tuned = results.settings, trained.tuned
    rows = settings["training_rows"] + settings["validation_rows"]
    number = len(results.trained)
    fold = (
        "" if trained.fold is None else f"{trained.fold} of {number}: the weights are chosen on it"
    )
    most = f"of at most {settings['epochs']} ({tuned.steps:,} steps)"
    about = {
        "encoder": encoder_cell(results.model, settings),
        "data": f"{results.dataset['name']}, {settings['train_on']}",
        "training texts": f"{settings['training_texts']:,}",
        "trained on": "every span with an answer" if settings["parts"] else "whole texts",
        "cut to fit": f"{settings['truncated_rows']:,} of {rows:,}",
        "seed": tuned.seed,
        "fold": fold,
        "learning rate": settings["learning_rate"],
        "batch size": settings["batch_size"],
        "epochs": f"{tuned.epochs:g} {most}",
        "best accuracy on validation": f"{tuned.best:.3f}",
        "weights of the classes in the loss": ", ".join(f"{w:.3g}" for w in tuned.weights),
        "maximum number of tokens of an input": settings["max_length"],
    }
    learned = (
        "The model has learned to recognise the answers of this data, which may have other signs "
        "elsewhere."
    )
    known = {name: value for name, value in about.items() if value != ""}
    yield from card_training(known, learned, own.signature)


def _cell(score: Score) -> str:
    if score.score is None:
        return ""
    if score.system or score.ci_low is None or score.ci_high is None:
        return f"{100 * score.score:.1f}"
    low, high = 100 * score.ci_low, 100 * score.ci_high
    return f"{100 * score.score:.1f} [{low:.1f}, {high:.1f}]"
