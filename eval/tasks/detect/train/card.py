"""The card of a trained detector: what it is, how to use it, what it reaches, how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherencegym.escapes import markdown_code, markdown_table
from coherencegym.eval.statistics.estimate import Estimate
from coherencegym.eval.tasks.detect.scores import DetectionScore
from coherencegym.eval.tasks.detect.train.results import SeedScore
from coherencegym.eval.tasks.detect.train.train import Trained
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.training.card import (
    card_front,
    card_training,
    encoder_cell,
)

_COLUMNS = {
    "document accuracy": "document_accuracy",
    "exact accuracy": "exact_accuracy",
    "F1": "f1",
    "AUC": "auc",
    "place": "place",
}


def detector_card(results: Results, trained: Trained, summary: Sequence[SeedScore] = ()) -> str:
    """The card of one seed's model, with the figures of its own and of all seeds.

    Args:
        results: those of this seed.
        trained: its model.
        summary: over all seeds.
    """
    lines = [*_front(results), *_use(results), *_figures(results, summary)]
    return "\n".join([*lines, *_training(results, trained)]) + "\n"


def _front(results: Results) -> Iterator[str]:
    name = str(results.model["name"])
    tags = ("coherencegym", "discourse", "coherence")
    hub, repo = results.model["hub"], results.dataset["repo"]
    yield from card_front(name, hub, repo, "text-classification", tags)
    code = markdown_code(name)
    yield from ("# A detector of intruder sentences", "")
    yield (
        f"{code}, fine-tuned to decide whether a sentence of a document comes from another "
        "document (INSteD, Shen et al. 2021, TACL 9). Its input is a pair of texts, the sentence "
        "and the whole document; label 1 is `intruder`. The first sentence of a document is never "
        "an intruder."
    )


def _use(results: Results) -> Iterator[str]:
    yield from (
        "",
        "```python",
        "from transformers import AutoModelForSequenceClassification, AutoTokenizer",
        "",
        'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
        'model = AutoModelForSequenceClassification.from_pretrained("FOLDER")',
        "pair = tokenizer(sentence, document, truncation=True, "
        f'max_length={results.settings["max_length"]}, return_tensors="pt")',
        "coherent, intruder = model(**pair).logits[0]",
        "score = intruder - coherent  # log-odds; an intruder if above the threshold",
        "```",
        "",
    )
    rows = (
        (own.config, own.decision, f"{own.threshold:.4f}")
        for one in results.details
        for own in one.thresholds
    )
    yield from markdown_table(("config", "decision", "threshold"), rows)


def _figures(results: Results, summary: Sequence[SeedScore]) -> Iterator[str]:
    yield from ("", "## Figures", "")
    rows = [
        (
            *_named(score),
            f"{score.documents:,}",
            *(_cell(getattr(score, field)) for field in _COLUMNS.values()),
        )
        for one in results.details
        for score in one.scores
    ]
    yield from markdown_table(("documents", "system", "n", *_COLUMNS), rows)
    yield from (
        "",
        "The intervals are 95 % intervals over documents. Document accuracy is the share of "
        "documents that are correctly classified as with or without an intruder. Exact accuracy is "
        "the share of documents in which every sentence is classified correctly. F1 and AUC are "
        "over all sentences except the first. Place is the share of the documents with an intruder "
        "in which the intruder has the highest score.",
    )
    seeds = max((s.seeds for score in summary for s in score.metrics.values()), default=1)
    if seeds > 1:
        yield from ("", f"Mean and standard deviation of {seeds} seeds (this is one of them):", "")
        means = [(*_named(mean), *map(mean.cell, _COLUMNS.values())) for mean in summary]
        yield from markdown_table(("documents", "system", *_COLUMNS), means)


def _training(results: Results, trained: Trained) -> Iterator[str]:
    settings = results.settings
    about = {
        "encoder": encoder_cell(results.model, settings),
        "data": f"{results.dataset['name']}, {settings['train_on']}",
        "training pairs": f"{settings['training_pairs']:,}",
        "pairs cut to fit": f"{settings['truncated_pairs']:,} of {settings['pairs']:,}",
        "seed": trained.seed,
        "learning rate": settings["learning_rate"],
        "batch size": settings["batch_size"],
        "epochs": f"{trained.epochs:g} of at most {settings['epochs']} ({trained.steps:,} steps)",
        "best F1 on validation": f"{trained.best_f1:.3f}",
        "weight of intruders in the loss": f"{trained.intruder_weight:.3g}",
        "maximum number of tokens of a pair": settings["max_length"],
    }
    learned = (
        "The model has learned to recognise the intruders of this data, which may have other signs "
        "than incoherence: Shen et al. (2021) report a substantial drop on other domains."
    )
    yield from card_training(about, learned, results.signature)


def _named(score: DetectionScore | SeedScore) -> tuple[str, str]:
    return f"{score.config} ({score.split}) {score.group}".rstrip(), score.system


def _cell(metric: Estimate | None) -> str:
    if metric is None or metric.value is None:
        return ""
    return f"{metric.value:.3f} [{metric.low:.3f}, {metric.high:.3f}]"
