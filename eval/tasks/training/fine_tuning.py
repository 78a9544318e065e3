"""Fine-tune an encoder with ``transformers.Trainer``: seeds, early stopping, class weights.

The task says what is read, and by which metric of its own the best weights are told. Where no
paper fixes a number it is that of Devlin et al. 2019, appendix A.3: batches of 32, learning rate
2e-5, 3 epochs, a tenth of the steps to warm up.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.tasks.training.encoder import Encoder, Head, TrainingRow, collator

#: Share of the steps in which the learning rate rises.
WARMUP = 0.1
WEIGHT_DECAY = 0.01


@dataclass(frozen=True)
class Settings:
    """Settings of a training.

    Attributes:
        learning_rate: its height; it falls linearly to 0.
        epochs: most passes over what is learned from.
        batch_size: rows in a step.
        evaluations: measurements on the validation rows in an epoch.
        patience: so many evaluations without a better one end the training.
        max_length: most tokens of an input; None: 512, or what the encoder can read.
        class_weights: ``balanced``: all classes weigh alike in the loss, however rare they are;
            ``none``: each row weighs alike, as the rows of choices always do.
        device: ``auto`` (a GPU where there is one) or ``cpu``.
        dtype: ``auto`` (bfloat16 for matrix products on a GPU that has it), ``float32`` or
            ``bfloat16``.
        freeze: train the head alone, as Shen et al. 2021 do where they freeze the encoder.
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
    freeze: bool = False


@dataclass(frozen=True)
class BestWeights:
    """The metric by which the best weights are told.

    Attributes:
        name: a few words on it.
        rows: those that it is measured on.
        value: the metric of the logits of these rows, shape (rows, classes or alternatives).
    """

    name: str
    rows: Sequence[TrainingRow]
    value: Callable[[Any], float]


@dataclass(frozen=True)
class FineTuned:
    """A model that was fine-tuned.

    Attributes:
        model, tokenizer: those to be saved; the weights are those of the best evaluation.
        seed: draws the new head, the order of the rows and the dropout.
        logits: those of each collection of rows that was asked for, shape (rows, classes or
            alternatives).
        best: the best value of the metric on the validation rows.
        epochs, steps: numbers of those that were run.
        weights: those of each class in the loss, the first one's is 1; empty of choices.
    """

    model: Any
    tokenizer: Any
    seed: int
    logits: list[Any]
    best: float
    epochs: float
    steps: int
    weights: tuple[float, ...]


def require_accelerate(command: str) -> None:
    """Refuse to train where the Trainer cannot run.

    Raises:
        EvaluationError: accelerate is not installed.
    """
    if find_spec("accelerate") is None:
        raise EvaluationError(
            f"{command} needs accelerate; expected pip install 'coherencegym[train]'"
        )


def fine_tune(
    encoder: Encoder,
    head: Head,
    rows: Sequence[TrainingRow],
    selection: BestWeights,
    others: Sequence[Sequence[TrainingRow]] = (),
    settings: Settings | None = None,
    seed: int = 0,
    *,
    progress: bool = False,
) -> FineTuned:
    """Fine-tune from one seed, and let the model read other rows.

    Args:
        encoder: the beginning.
        head: the answers to learn.
        rows: texts to learn from.
        selection: decides which weights are kept, and when to stop.
        others: rows to read with the weights that are kept.
        settings: None: the defaults.
        seed: draws the new head, the order of the rows and the dropout.
        progress: bars may be shown.

    Raises:
        EvaluationError: a class has no row, accelerate is missing, or the encoder cannot be loaded.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, set_seed

    settings = settings or Settings()
    require_accelerate("a training")
    # Whoever asks the saved model later reads no more of a text than it has learned to.
    encoder.tokenizer.model_max_length = encoder.max_length
    weights = class_weights(head, rows, settings.class_weights)
    set_seed(seed)
    model = encoder.with_head(head, freeze=settings.freeze)
    with tempfile.TemporaryDirectory(prefix="coherencegym-training-") as work:
        trainer = Trainer(
            model=model,
            args=training_arguments(Path(work), settings, seed, len(rows), progress),
            data_collator=collator(encoder.tokenizer, encoder.max_length, head.cut),
            train_dataset=rows,
            eval_dataset=selection.rows,
            compute_loss_func=_weighted_cross_entropy(weights),
            compute_metrics=lambda found: {"best": selection.value(_logits(found.predictions))},
            callbacks=[EarlyStoppingCallback(early_stopping_patience=settings.patience)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        trainer.compute_metrics = None  # it is of the validation rows alone
        logits = [_logits(trainer.predict(own).predictions) for own in others]
    state = trainer.state
    return FineTuned(
        model=trainer.model,
        tokenizer=encoder.tokenizer,
        seed=seed,
        logits=logits,
        best=float(state.best_metric),
        epochs=float(state.epoch),
        steps=int(state.global_step),
        weights=weights,
    )


def class_weights(head: Head, rows: Sequence[TrainingRow], how: str) -> tuple[float, ...]:
    """The weight of each class in the loss; none of a choice.

    Raises:
        EvaluationError: a class has no row.
    """
    counts = Counter(row.label for row in rows)
    for number, label in enumerate(head.labels):
        if not counts[number]:
            raise EvaluationError(f"nothing that is {label!r} to learn from; expected some")
    if how == "none":
        return (1.0,) * len(head.labels)
    return tuple(counts[0] / counts[number] for number in range(len(head.labels)))


def most_steps(rows: int, settings: Settings) -> int:
    """The number of steps where nothing ends a training early."""
    return math.ceil(rows / settings.batch_size) * settings.epochs


def training_arguments(
    work: Path, settings: Settings, seed: int, rows: int, progress: bool, **others: Any
) -> Any:
    """The ``TrainingArguments`` of a training.

    Args:
        work: a folder for checkpoints.
        settings: those of the training.
        seed: draws the order of the rows and the dropout.
        rows: the number of those that are learned from.
        progress: bars may be shown.
        others: arguments in place of those that trainings have.
    """
    import torch
    from transformers import TrainingArguments

    steps = math.ceil(rows / settings.batch_size)
    often = max(1, math.ceil(steps / settings.evaluations))
    gpu = settings.device != "cpu" and torch.cuda.is_available()
    bf16 = settings.dtype == "bfloat16"
    if settings.dtype == "auto":
        bf16 = gpu and torch.cuda.is_bf16_supported()
    common: dict[str, Any] = {
        "output_dir": str(work),
        "learning_rate": settings.learning_rate,
        "num_train_epochs": settings.epochs,
        "per_device_train_batch_size": settings.batch_size,
        "per_device_eval_batch_size": 2 * settings.batch_size,
        "warmup_steps": int(WARMUP * steps * settings.epochs),
        "weight_decay": WEIGHT_DECAY,
        "eval_strategy": "steps",
        "eval_steps": often,
        "save_strategy": "steps",
        "save_steps": often,
        # No state of the optimizer: it is a pickle, and nobody goes on from it.
        "save_only_model": True,
        "save_total_limit": 1,
        "load_best_model_at_end": True,
        "metric_for_best_model": "best",
        "greater_is_better": True,
        "seed": seed,
        "data_seed": seed,
        "bf16": bf16,
        "use_cpu": settings.device == "cpu",
        # Rows are no columns of a dataset.
        "remove_unused_columns": False,
        "logging_strategy": "no",
        "report_to": [],
        "disable_tqdm": not progress,
    }
    return TrainingArguments(**{**common, **others})


def _weighted_cross_entropy(weights: Sequence[float]) -> Any:
    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        import torch

        logits = outputs["logits"].float()
        known = torch.tensor(weights, device=logits.device) if weights else None
        return torch.nn.functional.cross_entropy(logits, labels, weight=known)

    return loss


def _logits(predictions: Any) -> Any:
    # Some models have more outputs.
    return predictions[0] if isinstance(predictions, tuple) else predictions
