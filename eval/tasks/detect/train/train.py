"""Fine-tune an encoder to find intruders, with ``transformers.Trainer``.

A classifier of pairs (:mod:`eval.tasks.detect.train.encoder`), as Shen et al. 2021, section
5, fine-tune BERT and its kin. Where that paper does not fix a number it is that of Devlin et al.
2019, appendix A.3: batches of 32, learning rate 2e-5, 3 epochs, a tenth of the steps to warm up.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.tasks.detect.decisions import best_threshold, summed, tallies_of
from coherencegym.eval.tasks.detect.train.encoder import Encoder, by_document, collator, pairs_of

#: Share of the steps in which the learning rate rises.
WARMUP = 0.1
WEIGHT_DECAY = 0.01


@dataclass(frozen=True)
class Settings:
    """Settings of a training.

    Attributes:
        learning_rate: its height; it falls linearly to 0.
        epochs: most passes over the training documents.
        batch_size: pairs in a step.
        evaluations: measurements of F1 on the validation documents in an epoch.
        patience: so many evaluations without a better F1 end the training.
        max_length: most tokens of a pair; None: 512, or what the encoder can read.
        class_weights: ``balanced``: both classes weigh alike in the loss, however rare intruders
            are; ``none``: each pair weighs alike.
        device: ``auto`` (a GPU where there is one) or ``cpu``.
        dtype: ``auto`` (bfloat16 for matrix products on a GPU that has it), ``float32`` or
            ``bfloat16``.
    """

    learning_rate: float = 2e-5
    epochs: int = 3
    batch_size: int = 32
    evaluations: int = 1
    patience: int = 2
    max_length: int | None = None
    class_weights: Literal["balanced", "none"] = "balanced"
    device: str = "auto"
    dtype: str = "auto"


@dataclass(frozen=True)
class Trained:
    """A trained classifier.

    Attributes:
        model, tokenizer: those to be saved; the weights are those of the best evaluation.
        seed: draws the new head, the order of the pairs and the dropout.
        scores: log-odds (nats) of each sentence of the documents that were asked for, that it is
            an intruder; minus infinity for the opening one.
        best_f1: the best F1 over sentences on the validation documents, at its best threshold.
        epochs, steps: numbers of those that were run.
        intruder_weight: the weight of a pair with an intruder in the loss; others weigh 1.
    """

    model: Any
    tokenizer: Any
    seed: int
    scores: list[list[list[float]]]
    best_f1: float
    epochs: float
    steps: int
    intruder_weight: float


def require_accelerate() -> None:
    """Refuse to train where the Trainer cannot run.

    Raises:
        EvaluationError: accelerate is not installed.
    """
    if find_spec("accelerate") is None:
        raise EvaluationError(
            "train-detector needs accelerate; expected pip install 'coherencegym[train]'"
        )


def train(
    encoder: Encoder,
    training: Sequence[Document],
    validation: Sequence[Document],
    others: Sequence[Sequence[Document]] = (),
    settings: Settings | None = None,
    seed: int = 0,
    *,
    progress: bool = False,
) -> Trained:
    """Train a classifier from one seed, and let it score documents.

    Args:
        encoder: the beginning.
        training: documents to learn from.
        validation: documents on which F1 decides which weights are kept, and when to stop.
        others: documents to score with the weights that are kept.
        settings: None: the defaults.
        seed: draws the new head, the order of the pairs and the dropout.
        progress: bars may be shown.

    Raises:
        EvaluationError: no training document has an intruder, or none that is to choose the
            weights, or the encoder cannot be loaded.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, set_seed

    settings = settings or Settings()
    require_accelerate()
    pairs = pairs_of(training)
    found = sum(pair.label for pair in pairs)
    for what, documents in (("train on", training), ("choose the weights on", validation)):
        if not any(document.intruded for document in documents):
            raise EvaluationError(f"no document with an intruder to {what}; expected some")
    weight = 1.0
    if settings.class_weights == "balanced":
        weight = (len(pairs) - found) / found
    set_seed(seed)
    model = encoder.with_head()
    with tempfile.TemporaryDirectory(prefix="train-detector-") as work:
        trainer = Trainer(
            model=model,
            args=_arguments(Path(work), settings, seed, len(pairs), progress),
            data_collator=collator(encoder.tokenizer, encoder.max_length),
            train_dataset=pairs,
            eval_dataset=pairs_of(validation),
            compute_loss_func=_loss(weight),
            compute_metrics=_f1_on(validation),
            callbacks=[EarlyStoppingCallback(early_stopping_patience=settings.patience)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        scores = [
            by_document(documents, _log_odds(trainer.predict(pairs_of(documents)).predictions))
            for documents in others
        ]
    state = trainer.state
    return Trained(
        model=trainer.model,
        tokenizer=encoder.tokenizer,
        seed=seed,
        scores=scores,
        best_f1=float(state.best_metric),
        epochs=float(state.epoch),
        steps=int(state.global_step),
        intruder_weight=weight,
    )


def _arguments(work: Path, settings: Settings, seed: int, pairs: int, progress: bool) -> Any:
    import torch
    from transformers import TrainingArguments

    steps = math.ceil(pairs / settings.batch_size)
    often = max(1, math.ceil(steps / settings.evaluations))
    gpu = settings.device != "cpu" and torch.cuda.is_available()
    bf16 = settings.dtype == "bfloat16"
    if settings.dtype == "auto":
        bf16 = gpu and torch.cuda.is_bf16_supported()
    return TrainingArguments(
        output_dir=str(work),
        learning_rate=settings.learning_rate,
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=2 * settings.batch_size,
        warmup_steps=int(WARMUP * steps * settings.epochs),
        weight_decay=WEIGHT_DECAY,
        eval_strategy="steps",
        eval_steps=often,
        save_strategy="steps",
        save_steps=often,
        # No state of the optimizer: it is a pickle, and nobody goes on from it.
        save_only_model=True,
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model="f1",
        greater_is_better=True,
        seed=seed,
        data_seed=seed,
        bf16=bf16,
        use_cpu=settings.device == "cpu",
        # Pairs are no columns of a dataset.
        remove_unused_columns=False,
        logging_strategy="no",
        report_to=[],
        disable_tqdm=not progress,
    )


def _loss(weight: float) -> Any:
    """Cross-entropy in which an intruder weighs so much more."""

    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        import torch

        logits = outputs["logits"].float()
        weights = torch.tensor([1.0, weight], device=logits.device)
        return torch.nn.functional.cross_entropy(logits, labels, weight=weights)

    return loss


def _f1_on(documents: Sequence[Document]) -> Any:
    """F1 over sentences at its best threshold, as the report chooses it."""
    positions = [document.intruder_position for document in documents]

    def compute(predicted: Any) -> dict[str, float]:
        scores = by_document(documents, _log_odds(predicted.predictions))
        threshold = best_threshold(scores, positions, "independent")
        tallies = tallies_of(scores, positions, threshold, "independent")
        parts, wholes = summed(tallies, "f1")
        return {"f1": math.fsum(parts) / math.fsum(wholes)}

    return compute


def _log_odds(logits: Any) -> Any:
    """Log-odds (nats) of an intruder, from logits of shape (pairs, 2)."""
    first = logits[0] if isinstance(logits, tuple) else logits
    return first[:, 1] - first[:, 0]
