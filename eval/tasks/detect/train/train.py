"""Fine-tune an encoder to find intruders, with ``transformers.Trainer``.

A classifier of pairs (:mod:`eval.tasks.detect.train.training_pairs`), as Shen et al. 2021, section
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
from coherencegym.eval.models.load import context_length
from coherencegym.eval.models.source import ModelSource, attempt, find
from coherencegym.eval.tasks.detect.decisions import best_threshold, intruders
from coherencegym.eval.tasks.detect.tallies import f1_parts, tally
from coherencegym.eval.tasks.detect.train.training_pairs import (
    Pair,
    by_document,
    collator,
    count_truncated,
    pairs_of,
)

#: Most tokens of a pair by default, as in the paper's encoders.
MAX_LENGTH = 512
#: Share of the steps in which the learning rate rises.
WARMUP = 0.1
WEIGHT_DECAY = 0.01
LABELS = {0: "coherent", 1: "intruder"}


@dataclass(frozen=True)
class Settings:
    """How a classifier is trained.

    Attributes:
        learning_rate: at its highest; it falls linearly to 0.
        epochs: most passes over the training documents.
        batch_size: pairs in a step.
        evaluations: how often in an epoch F1 is measured on the validation documents.
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
        seed: of the new head, the order of the pairs and the dropout.
        scores: of each list of documents that was asked for, of each sentence: the log-odds (nats)
            that it is an intruder; minus infinity for the opening one.
        best_f1: the best F1 over sentences on the validation documents, at its best threshold.
        epochs: how many were run.
        steps: how many steps were run.
        intruder_weight: of a pair with an intruder in the loss; others weigh 1.
    """

    model: Any
    tokenizer: Any
    seed: int
    scores: list[list[list[float]]]
    best_f1: float
    epochs: float
    steps: int
    intruder_weight: float


@dataclass(frozen=True)
class Encoder:
    """An encoder to begin with: where it is from, its tokenizer, and most tokens of a pair."""

    source: ModelSource
    tokenizer: Any
    max_length: int

    def truncated(self, documents: Sequence[Document]) -> int:
        """How many pairs of the documents are cut."""
        return count_truncated(self.tokenizer, pairs_of(documents), self.max_length)


def require_accelerate() -> None:
    """Refuse to train where the Trainer cannot run.

    Raises:
        EvaluationError: accelerate is not installed.
    """
    if find_spec("accelerate") is None:
        raise EvaluationError(
            "train-detector needs accelerate; expected pip install 'coherencegym[train]'"
        )


def load_encoder(name: str, revision: str | None = None, max_length: int | None = None) -> Encoder:
    """An encoder's config and tokenizer; weights are read for each seed.

    Args:
        name: a Hub id or a folder.
        revision: tag or commit on the Hub.
        max_length: most tokens of a pair; None: 512, or what the encoder can read.

    Raises:
        EvaluationError: it is not there, has no usable tokenizer, or cannot read so much.
    """
    from transformers import AutoConfig, AutoTokenizer

    source = find(name, revision)
    config = attempt(f"model {name!r}", AutoConfig.from_pretrained, source.path, **source.settings)
    tokenizer = attempt(
        f"the tokenizer of {name!r}",
        AutoTokenizer.from_pretrained,
        source.path,
        **source.settings,
    )
    if getattr(config, "is_encoder_decoder", False):
        raise EvaluationError(
            f"model {name!r} has a decoder as well; expected an encoder, such as roberta-base"
        )
    if not tokenizer("a b", add_special_tokens=False)["input_ids"]:
        raise EvaluationError(
            f"model {name!r} has no tokenizer files; expected a tokenizer.json beside its weights"
        )
    if tokenizer.pad_token_id is None:
        raise EvaluationError(
            f"model {name!r} has no padding token; expected an encoder, such as roberta-base"
        )
    most = min(_readable(config), tokenizer.model_max_length)
    if max_length is not None and max_length > most:
        raise EvaluationError(
            f"--max-length {max_length}: model {name!r} reads {most:,} tokens; expected no more"
        )
    return Encoder(source, tokenizer, max_length or min(most, MAX_LENGTH))


def _readable(config: Any) -> int:
    """Most tokens that an encoder can read."""
    most = context_length(config)
    if most is None:
        return MAX_LENGTH
    # RoBERTa and its kin number positions from after the padding token's id.
    offset = {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}
    return most - (config.pad_token_id + 1 if config.model_type in offset else 0)


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
        encoder: to begin with.
        training: documents to learn from.
        validation: documents on which F1 decides which weights are kept, and when to stop.
        others: documents to score with the weights that are kept.
        settings: how it is trained; None: the defaults.
        seed: of the new head, the order of the pairs and the dropout.
        progress: whether bars may be shown.

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
    model = _with_head(encoder)
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


def _with_head(encoder: Encoder) -> Any:
    """The encoder with a new head for two classes; no other weight may be new."""
    from transformers import AutoModelForSequenceClassification

    source = encoder.source
    what = f"model {source.name!r}"
    model, loading = attempt(
        what,
        AutoModelForSequenceClassification.from_pretrained,
        source.path,
        use_safetensors=True,
        output_loading_info=True,
        num_labels=len(LABELS),
        id2label=LABELS,
        label2id={label: number for number, label in LABELS.items()},
        **source.settings,
    )
    body = model.base_model_prefix + "."
    missing = sorted(
        key for key in loading["missing_keys"] if key.startswith(body) and "pooler" not in key
    )
    if missing:
        # transformers would go on with random numbers in their place.
        raise EvaluationError(
            f"{what} lacks {len(missing)} of its weights ({missing[0]}, ...); expected those of an "
            "encoder"
        )
    return model.float()


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
        parts, wholes = f1_parts(
            [
                tally(intruders(own, threshold, "independent"), position)
                for own, position in zip(scores, positions, strict=True)
            ]
        )
        return {"f1": math.fsum(parts) / math.fsum(wholes)}

    return compute


def _log_odds(logits: Any) -> Any:
    """Log-odds (nats) of an intruder, from logits of shape (pairs, 2)."""
    first = logits[0] if isinstance(logits, tuple) else logits
    return first[:, 1] - first[:, 0]


__all__ = [
    "Encoder",
    "Pair",
    "Settings",
    "Trained",
    "load_encoder",
    "require_accelerate",
    "train",
]
