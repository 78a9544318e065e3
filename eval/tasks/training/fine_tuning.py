"""Train with ``transformers.Trainer``: a seed, early stopping, the best weights, class weights.

The task says what is read, and by which metric of its own the best weights are told.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.tasks.training.encoder import Encoder, Head, TrainingRow, collator
from coherencegym.eval.tasks.training.options import Settings

#: Share of the steps in which the learning rate rises, as Devlin et al. 2019, appendix A.3.
WARMUP = 0.1
WEIGHT_DECAY = 0.01


@dataclass(frozen=True)
class Trained:
    """A model that was trained.

    Attributes:
        model, tokenizer: those to be saved; the weights are those of the best evaluation.
        seed: draws new weights, the order of the rows and the dropout.
        best: the best value of the metric on the validation rows, or the least loss.
        epochs, steps: numbers of those that were run.
        weights: those of each class in the loss, the first one's is 1; empty where it has none.
        fold: that of a cross-validation on which its weights were chosen, from 0; None: no fold.
        results: what it came to on the texts to test on, in the form of its task.
    """

    model: Any
    tokenizer: Any
    seed: int
    best: float
    epochs: float
    steps: int
    weights: tuple[float, ...] = ()
    fold: int | None = None
    results: Any = None

    @classmethod
    def by(cls, trainer: Any, model: Any, tokenizer: Any, **more: Any) -> Trained:
        """That of a trainer that has ended."""
        state, seed = trainer.state, int(trainer.args.seed)
        numbers = float(state.best_metric), float(state.epoch), int(state.global_step)
        return cls(model, tokenizer, seed, *numbers, **more)

    @property
    def name(self) -> str:
        """Its fold, or else its seed, which no other model of the training has."""
        return f"seed {self.seed}" if self.fold is None else f"fold {self.fold}"

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return self.name.replace(" ", "-")

    @property
    def about(self) -> dict[str, Any]:
        """The facts that results record."""
        names = ("seed", "best", "epochs", "steps", "weights")
        fold = {} if self.fold is None else {"fold": self.fold}
        return {**{name: getattr(self, name) for name in names}, **fold}


def require_accelerate(command: str) -> None:
    """Refuse to train where the Trainer cannot run."""
    if find_spec("accelerate") is None:
        raise EvaluationError(
            f"{command} needs accelerate; expected pip install 'coherencegym[train]'"
        )


def fine_tune(
    encoder: Encoder,
    head: Head,
    rows: Sequence[TrainingRow],
    validation: Sequence[TrainingRow],
    value: Callable[[Any], float],
    settings: Settings,
    seed: int = 0,
    others: Sequence[Sequence[TrainingRow]] = (),
    *,
    progress: bool = False,
) -> tuple[Trained, list[Any]]:
    """Fine-tune from one seed, and let the model read other rows.

    Args:
        encoder, head: the beginning, and the answers to learn.
        rows: texts to learn from.
        validation: rows that decide which weights are kept, and when to stop.
        value: the metric of the logits of these, shape (rows, classes or alternatives).
        settings: those of the training.
        seed: draws the new head, the order of the rows and the dropout.
        others: rows to read with the weights that are kept.
        progress: bars may be shown.

    Returns:
        The model, and the logits of each collection of other rows.
    """
    from transformers import set_seed

    # Whoever asks the saved model later reads no more of a text than it has learned to.
    encoder.tokenizer.model_max_length = encoder.max_length
    weights = class_weights(head, rows, settings.class_weights)
    set_seed(seed)
    model = encoder.with_head(head, freeze=settings.freeze)
    with prepared_trainer(
        model,
        rows,
        settings,
        seed,
        progress,
        data_collator=collator(encoder.tokenizer, encoder.max_length, head.cut),
        eval_dataset=validation,
        compute_loss_func=_weighted_cross_entropy(weights),
        compute_metrics=lambda found: {"best": value(_logits(found.predictions))},
    ) as trainer:
        trainer.train()
        trainer.compute_metrics = None  # it is of the validation rows alone
        logits = [_logits(trainer.predict(other).predictions) for other in others]
    return Trained.by(trainer, trainer.model, encoder.tokenizer, weights=weights), logits


def class_weights(head: Head, rows: Sequence[TrainingRow], how: str) -> tuple[float, ...]:
    """The weight of each class in the loss; none of a choice."""
    counts = Counter(row.label for row in rows)
    for number, label in enumerate(head.labels):
        if not counts[number]:
            raise EvaluationError(f"nothing that is {label!r} to learn from; expected some")
    if how == "none":
        return (1.0,) * len(head.labels)
    return tuple(counts[0] / counts[number] for number in range(len(head.labels)))


@contextmanager
def prepared_trainer(
    model: Any,
    rows: Sequence[Any],
    settings: Settings,
    seed: int,
    progress: bool,
    arguments: dict[str, Any] | None = None,
    **parts: Any,
) -> Iterator[Any]:
    """A ``Trainer`` that is ready; its folder of checkpoints is gone afterwards.

    Args:
        model, rows: the model, and what it learns from.
        settings, seed: those of the training.
        progress: bars may be shown.
        arguments: fields of ``TrainingArguments`` in place of those that trainings have.
        parts: further arguments of ``Trainer``.
    """
    import torch
    from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainingArguments

    require_accelerate("a training")
    steps = math.ceil(len(rows) / settings.batch_size)
    often = max(1, math.ceil(steps / settings.evaluations))
    gpu = settings.device != "cpu" and torch.cuda.is_available()
    bf16 = settings.dtype == "bfloat16"
    if settings.dtype == "auto":
        bf16 = gpu and torch.cuda.is_bf16_supported()
    common: dict[str, Any] = {
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
    with tempfile.TemporaryDirectory(prefix="coherencegym-training-") as work:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(output_dir=work, **{**common, **(arguments or {})}),
            train_dataset=rows,
            callbacks=[EarlyStoppingCallback(early_stopping_patience=settings.patience)],
            **parts,
        )
        trainer.remove_callback(PrinterCallback)
        yield trainer


def most_steps(rows: int, settings: Settings) -> int:
    """The number of steps where nothing ends a training early."""
    return math.ceil(rows / settings.batch_size) * settings.epochs


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
