"""Models to fine-tune: an encoder with a new head, and the labelled texts that it reads.

The task says what is read, and by which metric of its own the best weights are told.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.config import context_length
from coherencegym.eval.models.load import LoadedModel, read_config, read_tokenizer
from coherencegym.eval.models.machine import attempt, input_device
from coherencegym.eval.models.source import ModelSource, find_model
from coherencegym.eval.tasks.training import Settings

#: Most tokens of an input by default, as in the encoders of Devlin et al. 2019 and their kin.
MAX_LENGTH = 512

#: A text, and the one that it is read with; empty where there is none.
TextPair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """Texts to read, and the right answer.

    Attributes:
        inputs: one input, or those of the alternatives of a choice.
        label: the number of its class, or of the right alternative.
    """

    inputs: tuple[TextPair, ...]
    label: int


@dataclass(frozen=True)
class Head:
    """Answers that an encoder is to learn.

    Attributes:
        labels: the names of the classes, by number; empty: which alternative of a choice is right.
        cut: the text that gives way where both are too long: the longer one, or the first.
    """

    labels: tuple[str, ...]
    cut: Literal["longest_first", "only_first"] = "longest_first"


@dataclass(frozen=True)
class Encoder:
    """An encoder to begin with: where it is from, its tokenizer, and most tokens of an input."""

    source: ModelSource
    tokenizer: Any
    max_length: int

    @property
    def about(self) -> dict[str, Any]:
        """The facts that results record."""
        source = self.source
        return {
            "name": source.name,
            "commit": source.identity(),
            "hub": source.commit is not None,
        }

    def with_head(self, head: Head) -> Any:
        """The encoder with a head for what is to be learned; no other weight may be new.

        A head that it has is kept where it is for as many classes, and else replaced by a new one.
        """
        from transformers import AutoModelForMultipleChoice, AutoModelForSequenceClassification

        names = dict(enumerate(head.labels))
        about: dict[str, Any] = {}
        if names:
            numbers = {label: number for number, label in names.items()}
            about = {"num_labels": len(names), "id2label": names, "label2id": numbers}
        made: Any = AutoModelForSequenceClassification if names else AutoModelForMultipleChoice
        return self._loaded(made, **about)

    def without_head(self) -> Any:
        """The encoder alone; no weight but a pooler's may be new."""
        from transformers import AutoModel

        return self._loaded(AutoModel)

    def _loaded(self, made: Any, **about: Any) -> Any:
        source = self.source
        what = f"model {source.name!r}"
        model, loading = attempt(
            what,
            made.from_pretrained,
            source.path,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **about,
            **source.settings,
        )
        # A model without a head is all body.
        body = "" if model.base_model is model else model.base_model_prefix + "."
        if other := sorted(key for key, *_ in loading["mismatched_keys"] if key.startswith(body)):
            raise EvaluationError(
                f"{what} cannot be loaded: its weights have other shapes than its config says "
                f"({other[0]})"
            )
        missing = sorted(
            key for key in loading["missing_keys"] if key.startswith(body) and "pooler" not in key
        )
        if missing:
            # transformers would go on with random numbers in their place.
            raise EvaluationError(
                f"{what} lacks {len(missing)} of its weights ({missing[0]}, ...); expected those "
                "of an encoder"
            )
        return model.float()


def find_encoder(name: str, revision: str | None = None, max_length: int | None = None) -> Encoder:
    """An encoder's config and tokenizer; weights are read for each seed.

    Args:
        name, revision: a Hub id or a folder; tag or commit on the Hub.
        max_length: most tokens of an input; None: 512, or what the encoder can read.
    """
    source = find_model(name, revision)
    config = read_config(source)
    tokenizer = read_tokenizer(source, "an encoder that has one")
    if getattr(config, "is_encoder_decoder", False):
        raise EvaluationError(
            f"model {name!r} has a decoder as well; expected an encoder, such as roberta-base"
        )
    if tokenizer.pad_token_id is None:
        raise EvaluationError(
            f"model {name!r} has no padding token; expected an encoder, such as roberta-base"
        )
    most = most_tokens(config, tokenizer)
    if max_length is not None and max_length > most:
        raise EvaluationError(
            f"--max-length {max_length}: model {name!r} reads {most:,} tokens; expected no more"
        )
    return Encoder(source, tokenizer, max_length or min(most, MAX_LENGTH))


def most_tokens(config: Any, tokenizer: Any) -> int:
    """Most tokens of an input that a model can read; 512 where nothing says how many."""
    return int(min(context_length(config) or MAX_LENGTH, tokenizer.model_max_length))


def _encoded(tokenizer: Any, *texts: Any, **how: Any) -> Any:
    def encode(trust_remote_code: bool, **settings: Any) -> Any:
        return tokenizer(*texts, **settings)

    return attempt(f"model {tokenizer.name_or_path!r}: a text", encode, **how)


def collator(
    tokenizer: Any, max_length: int, cut: str = "longest_first"
) -> Callable[[Sequence[TrainingRow]], dict[str, Any]]:
    """Rows to a batch of tensors: token ids cut to ``max_length``, padded, and labels.

    Of choices there is a dimension for the alternatives: (rows, alternatives, tokens). Texts are
    encoded when they are needed, so that a large collection stays text in memory.
    """

    def collate(rows: Sequence[TrainingRow]) -> dict[str, Any]:
        import torch

        inputs = [one for row in rows for one in row.inputs]
        batch = _batch(tokenizer, inputs, max_length, cut)
        if (alternatives := len(rows[0].inputs)) > 1:
            batch = {name: v.reshape(len(rows), alternatives, -1) for name, v in batch.items()}
        return {**batch, "labels": torch.tensor([row.label for row in rows])}

    return collate


def _batch(tokenizer: Any, inputs: Sequence[TextPair], max_length: int, cut: str) -> Any:
    return _encoded(
        tokenizer,
        *_columns(inputs),
        truncation=cut,
        max_length=max_length,
        padding=True,
        return_tensors="pt",
    )


def read_logits(
    loaded: LoadedModel,
    inputs: Sequence[TextPair],
    max_length: int,
    cut: str = "longest_first",
    size: int = 32,
    *,
    apart: bool = False,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> list[Any]:
    """The logits of a model with a head, float64 arrays, one of each input.

    Args:
        loaded: the model.
        inputs: read once each, those of one length together.
        max_length, cut: most tokens of an input, and the text that gives way.
        size: inputs of a batch.
        apart: each input is a choice of one alternative.
        step: told how many inputs are read, and how many there are.
    """
    import torch

    model, tokenizer = loaded.model, loaded.tokenizer
    if tokenizer.pad_token_id is None:
        raise EvaluationError(
            f"model {loaded.name!r} has no padding token; expected one in its tokenizer"
        )
    order = sorted(dict.fromkeys(inputs), key=lambda one: (-len(one[0]) - len(one[1]), one))
    logits: dict[TextPair, Any] = {}
    for start in range(0, len(order), size):
        read = order[start : start + size]
        batch = _batch(tokenizer, read, max_length, cut)
        batch = {name: v[:, None] if apart else v for name, v in batch.items()}
        batch = {name: v.to(input_device(model)) for name, v in batch.items()}
        with torch.inference_mode():
            found = model(**batch).logits.double().cpu().numpy()
        logits.update(zip(read, found, strict=True))
        step(len(logits), len(order))
    return [logits[one] for one in inputs]


def count_truncated(tokenizer: Any, rows: Sequence[TrainingRow], max_length: int) -> int:
    """Count the inputs with more tokens than the model reads, its special tokens included."""
    inputs = [one for row in rows for one in row.inputs]
    cut = cut_inputs(tokenizer, inputs, max_length)
    return sum(one in cut for one in inputs)


def cut_inputs(tokenizer: Any, inputs: Sequence[TextPair], max_length: int) -> set[TextPair]:
    """The inputs that have more tokens than that, special tokens included."""
    unique, cut = list(dict.fromkeys(inputs)), set[TextPair]()
    for start in range(0, len(unique), 1000):
        part = unique[start : start + 1000]
        ids = _encoded(tokenizer, *_columns(part), verbose=False)["input_ids"]
        cut |= {one for one, own in zip(part, ids, strict=True) if len(own) > max_length}
    return cut


def _columns(inputs: Sequence[TextPair]) -> tuple[list[str], list[str] | None]:
    # First and second texts; None where there are no second ones.
    seconds = [other for _, other in inputs]
    return [text for text, _ in inputs], seconds if any(seconds) else None


def refuse_long_seconds(tokenizer: Any, texts: Iterable[str], max_length: int) -> None:
    """Refuse second texts, which are never cut, that leave the first one no token."""
    encoded = _encoded(tokenizer, list({*texts}), add_special_tokens=False, verbose=False)
    longest = max(map(len, encoded["input_ids"]))
    least = longest + tokenizer.num_special_tokens_to_add(pair=True) + 1
    if least > max_length:
        raise EvaluationError(
            f"--max-length {max_length}: the longest hypothesis and a token of its text are "
            f"{least:,} tokens; expected so many or more, or an encoder that reads them"
        )


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
    *,
    progress: bool = False,
) -> Trained:
    """Fine-tune from one seed.

    Args:
        encoder, head: the beginning, and the answers to learn.
        rows: texts to learn from.
        validation: rows that decide which weights are kept, and when to stop.
        value: the metric of the logits of these, shape (rows, classes or alternatives).
        settings: those of the training.
        seed: draws the new head, the order of the rows and the dropout.
        progress: bars may be shown.
    """
    from transformers import set_seed

    # Whoever asks the saved model later reads no more of a text than it has learned to.
    encoder.tokenizer.model_max_length = encoder.max_length
    weights = class_weights(head, rows)
    set_seed(seed)
    model = encoder.with_head(head)
    state = run_trainer(
        model,
        rows,
        settings,
        seed,
        progress,
        data_collator=collator(encoder.tokenizer, encoder.max_length, head.cut),
        eval_dataset=validation,
        compute_loss_func=_weighted_cross_entropy(weights),
        # Some models have more outputs than logits.
        compute_metrics=lambda found: {
            "best": value(
                found.predictions[0] if isinstance(found.predictions, tuple) else found.predictions
            )
        },
    )
    return Trained(model, encoder.tokenizer, seed, *state, weights=weights)


def class_weights(head: Head, rows: Sequence[TrainingRow]) -> tuple[float, ...]:
    """The weight of each class in the loss, in which all weigh alike; none of a choice."""
    counts = Counter(row.label for row in rows)
    for number, label in enumerate(head.labels):
        if not counts[number]:
            raise EvaluationError(f"nothing that is {label!r} to learn from; expected some")
    return tuple(counts[0] / counts[number] for number in range(len(head.labels)))


def run_trainer(
    model: Any,
    rows: Sequence[Any],
    settings: Settings,
    seed: int,
    progress: bool,
    arguments: dict[str, Any] | None = None,
    **parts: Any,
) -> tuple[float, float, int]:
    """Train a model, which then has the weights of the best evaluation.

    Args:
        model, rows: the model, and what it learns from.
        settings, seed: those of the training.
        progress: bars may be shown.
        arguments: fields of ``TrainingArguments`` in place of those that trainings have.
        parts: further arguments of ``Trainer``.

    Returns:
        The best value of the metric, and the numbers of epochs and steps that were run.
    """
    import torch
    from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainingArguments

    steps = math.ceil(len(rows) / settings.batch_size)
    gpu = settings.device != "cpu" and torch.cuda.is_available()
    common: dict[str, Any] = {
        "learning_rate": settings.learning_rate,
        "num_train_epochs": settings.epochs,
        "per_device_train_batch_size": settings.batch_size,
        "per_device_eval_batch_size": 2 * settings.batch_size,
        "warmup_steps": int(WARMUP * steps * settings.epochs),
        "weight_decay": WEIGHT_DECAY,
        "eval_strategy": "epoch",
        "save_strategy": "epoch",
        # No state of the optimizer: it is a pickle, and nobody goes on from it.
        "save_only_model": True,
        "save_total_limit": 1,
        "load_best_model_at_end": True,
        "metric_for_best_model": "best",
        "greater_is_better": True,
        "seed": seed,
        "data_seed": seed,
        "bf16": gpu and torch.cuda.is_bf16_supported(),
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
        trainer.train()
    return float(trainer.state.best_metric), float(trainer.state.epoch), trainer.state.global_step


def _weighted_cross_entropy(weights: Sequence[float]) -> Any:
    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        import torch

        logits = outputs["logits"].float()
        known = torch.tensor(weights, device=logits.device) if weights else None
        return torch.nn.functional.cross_entropy(logits, labels, weight=known)

    return loss
