"""Train an encoder of sentences on the structure of documents, by one combination of criteria."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.tasks.criteria.beginnings import Beginning
from coherencegym.eval.tasks.criteria.options import terms_of
from coherencegym.eval.tasks.criteria.sentences import PlacedSentence, StructureData
from coherencegym.eval.tasks.criteria.words import Targets
from coherencegym.eval.tasks.training.fine_tuning import (
    WEIGHT_DECAY,
    Settings,
    require_accelerate,
    training_arguments,
)

#: The learning rate of decoders, which are new, as that of the paper's code for all there is.
DECODER_RATE = 1e-3


@dataclass(frozen=True)
class TermLoss:
    """The loss of one prediction, in nats.

    Attributes:
        term: the prediction.
        sentences: those of the measured split that it is of.
        before, after: that at the beginning, and with the weights that were kept.
        by_frequencies: that of the best prediction that is the same for every sentence: what no
            encoder is needed for.
        learned: that with the weights that were kept, on the sentences that were learned from.
    """

    term: str
    sentences: int
    before: float
    after: float
    by_frequencies: float
    learned: float


@dataclass(frozen=True)
class TrainedEncoder:
    """An encoder that was trained.

    Attributes:
        model, tokenizer: those to be saved; the weights are those of the best evaluation.
        seed: draws new weights, the order of the sentences and the dropout.
        losses: those of each prediction.
        best: the least loss on the validation sentences.
        epochs, steps: numbers of those that were run.
    """

    model: Any
    tokenizer: Any
    seed: int
    losses: tuple[TermLoss, ...]
    best: float
    epochs: float
    steps: int


def train_encoder(
    data: StructureData,
    start: Beginning,
    targets: Targets,
    criteria: Sequence[str],
    settings: Settings,
    seed: int = 0,
    *,
    progress: bool = False,
) -> TrainedEncoder:
    """Train an encoder from one seed, and measure its losses.

    Args:
        data: sentences to learn from, to choose the weights on (those of the least loss), and to
            measure on.
        start: the beginning.
        targets: the ids that are predicted.
        criteria: names; their losses are added up.
        settings: those of the training.
        seed: draws new weights, the order of the sentences and the dropout.
        progress: bars may be shown.

    Raises:
        EvaluationError: a prediction has no sentence to learn from or to measure on, accelerate is
            missing, or the encoder cannot be loaded.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, set_seed

    from coherencegym.eval.tasks.criteria.decoders import CriteriaModel, Decoders

    require_accelerate("a training")
    terms = terms_of(criteria)
    learned, measured = data.training.sentences, data.test.sentences
    for part in data.parts:
        _require_targets(terms, targets, part.sentences, part.split)
    set_seed(seed)
    encoder = start.make()
    width = int(encoder.config.hidden_size)
    decoders = Decoders(width, {term: targets.size(term) for term in terms}, start.hidden)
    model = CriteriaModel(encoder, decoders)
    collate = collator_of(start, targets, terms)
    with tempfile.TemporaryDirectory(prefix="coherencegym-training-") as work:
        chosen = {
            "prediction_loss_only": True,
            "metric_for_best_model": "loss",
            "greater_is_better": False,
        }
        if start.is_new:
            plain = {"lr_scheduler_type": "constant", "warmup_steps": 0, "max_grad_norm": 0.0}
            chosen |= plain
        trainer = Trainer(
            model=model,
            args=training_arguments(Path(work), settings, seed, len(learned), progress, **chosen),
            data_collator=collate,
            train_dataset=learned,
            eval_dataset=data.validation.sentences,
            callbacks=[EarlyStoppingCallback(early_stopping_patience=settings.patience)],
            optimizers=(_optimizer(model, settings, plain=start.is_new), None),
        )
        trainer.remove_callback(PrinterCallback)
        size = 2 * settings.batch_size
        before = mean_losses(model, measured, collate, size)
        trainer.train()
        after = mean_losses(model, measured, collate, size)
        at_home = mean_losses(model, learned, collate, size)
    constant = constant_losses(targets, terms, learned, measured)
    state = trainer.state
    return TrainedEncoder(
        model=model.encoder,
        tokenizer=start.tokenizer,
        seed=seed,
        losses=tuple(
            TermLoss(
                term,
                sum(1 for one in measured if targets.ids(one, term)),
                before[term],
                after[term],
                constant[term],
                at_home[term],
            )
            for term in terms
        ),
        best=float(state.best_metric),
        epochs=float(state.epoch),
        steps=int(state.global_step),
    )


def _require_targets(
    terms: Sequence[str], targets: Targets, sentences: Sequence[PlacedSentence], split: str
) -> None:
    for term in terms:
        if not any(targets.ids(one, term) for one in sentences):
            what = term.replace("_", " ")
            raise EvaluationError(
                f"split {split!r}: no sentence has a {what}; expected documents that do, or other "
                "--criteria"
            )


def _optimizer(model: Any, settings: Settings, *, plain: bool) -> Any:
    import torch

    return torch.optim.AdamW(
        [
            {"params": model.encoder.parameters(), "lr": settings.learning_rate},
            {
                "params": model.decoders.parameters(),
                "lr": settings.learning_rate if plain else DECODER_RATE,
            },
        ],
        # Without decay it is Adam.
        weight_decay=0.0 if plain else WEIGHT_DECAY,
    )


def collator_of(
    start: Beginning, targets: Targets, terms: Sequence[str]
) -> Callable[[Sequence[PlacedSentence]], dict[str, Any]]:
    """Sentences to a batch of tensors: ``inputs`` of the encoder, ``targets`` of the decoders."""
    from coherencegym.eval.tasks.criteria.decoders import padded

    def collate(sentences: Sequence[PlacedSentence]) -> dict[str, Any]:
        inputs = start.tokenizer(
            [one.text for one in sentences],
            truncation=True,
            max_length=start.max_length,
            padding=True,
            padding_side="right",
            return_attention_mask=True,
            return_special_tokens_mask=True,
            return_tensors="pt",
        )
        names = ("input_ids", "attention_mask", "special_tokens_mask")
        return {
            "inputs": {name: inputs[name] for name in names},
            "targets": {
                term: padded([targets.ids(one, term) for one in sentences]) for term in terms
            },
        }

    return collate


def mean_losses(
    model: Any,
    sentences: Sequence[PlacedSentence],
    collate: Callable[[Sequence[PlacedSentence]], dict[str, Any]],
    batch_size: int,
) -> dict[str, float]:
    """The mean loss of each prediction over the sentences that it is of, in nats."""
    import torch

    device = next(model.parameters()).device
    totals: dict[str, list[float]] = {}
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        for batch in _batches(sentences, batch_size):
            made = {
                name: {key: value.to(device) for key, value in part.items()}
                for name, part in collate(batch).items()
            }
            for term, (total, rows) in model.losses(**made).items():
                sums = totals.setdefault(term, [0.0, 0.0])
                sums[0] += float(total)
                sums[1] += int(rows)
    model.train(was_training)
    return {term: total / rows for term, (total, rows) in totals.items()}


def _batches(sentences: Sequence[PlacedSentence], size: int) -> Iterator[Sequence[PlacedSentence]]:
    for start in range(0, len(sentences), size):
        yield sentences[start : start + size]


def constant_losses(
    targets: Targets,
    terms: Sequence[str],
    learned: Sequence[PlacedSentence],
    measured: Sequence[PlacedSentence],
) -> dict[str, float]:
    """The losses on some sentences of predicting the frequencies of others, in nats."""
    import numpy as np

    found = {}
    for term in terms:
        logs = -np.log(targets.frequencies(learned, term))
        rows = [float(logs[ids].mean()) for one in measured if (ids := targets.ids(one, term))]
        found[term] = sum(rows) / len(rows)
    return found
