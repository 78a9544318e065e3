"""Models to fine-tune: an encoder with a new head, and the labelled texts that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.libraries import attempt
from coherencegym.eval.models.limits import context_length
from coherencegym.eval.models.load import read_config, read_tokenizer
from coherencegym.eval.models.source import ModelSource, find_model

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

    def with_head(self, head: Head, *, freeze: bool = False) -> Any:
        """The encoder with a head for what is to be learned; no other weight may be new.

        A head that it has is kept where it is for as many classes, and else replaced by a new one.

        Args:
            head: the answers.
            freeze: no weight of the encoder is to change. One that is new, as a pooler may be, is
                the head's.
        """
        from transformers import AutoModelForMultipleChoice, AutoModelForSequenceClassification

        names = dict(enumerate(head.labels))
        about: dict[str, Any] = {}
        if names:
            numbers = {label: number for number, label in names.items()}
            about = {"num_labels": len(names), "id2label": names, "label2id": numbers}
        made: Any = AutoModelForSequenceClassification if names else AutoModelForMultipleChoice
        return self._loaded(made, freeze, **about)

    def without_head(self) -> Any:
        """The encoder alone; no weight but a pooler's may be new."""
        from transformers import AutoModel

        return self._loaded(AutoModel)

    def _loaded(self, made: Any, freeze: bool = False, **about: Any) -> Any:
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
        for name, weight in model.named_parameters() if freeze else ():
            weight.requires_grad = not name.startswith(body) or name in loading["missing_keys"]
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
    most = min(context_length(config) or MAX_LENGTH, tokenizer.model_max_length)
    if max_length is not None and max_length > most:
        raise EvaluationError(
            f"--max-length {max_length}: model {name!r} reads {most:,} tokens; expected no more"
        )
    return Encoder(source, tokenizer, max_length or min(most, MAX_LENGTH))


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
        paired = any(other for _, other in inputs)
        batch = tokenizer(
            [text for text, _ in inputs],
            [other for _, other in inputs] if paired else None,
            truncation=cut,
            max_length=max_length,
            padding=True,
            return_tensors="pt",
        )
        if (alternatives := len(rows[0].inputs)) > 1:
            batch = {name: v.reshape(len(rows), alternatives, -1) for name, v in batch.items()}
        return {**batch, "labels": torch.tensor([row.label for row in rows])}

    return collate


def count_truncated(tokenizer: Any, rows: Sequence[TrainingRow], max_length: int) -> int:
    """Count the inputs with more tokens than the model reads, its special tokens included."""
    sizes = _sizes(tokenizer, [text for row in rows for one in row.inputs for text in one])
    special = {paired: tokenizer.num_special_tokens_to_add(pair=paired) for paired in (True, False)}
    return sum(
        sizes[text] + sizes[other] + special[bool(other)] > max_length
        for row in rows
        for text, other in row.inputs
    )


def refuse_long_seconds(tokenizer: Any, rows: Sequence[TrainingRow], max_length: int) -> None:
    """Refuse inputs of which the second text, which is never cut, leaves the first no token."""
    sizes = _sizes(tokenizer, [other for row in rows for _, other in row.inputs])
    least = max(sizes.values(), default=0) + tokenizer.num_special_tokens_to_add(pair=True) + 1
    if least > max_length:
        raise EvaluationError(
            f"--max-length {max_length}: the longest hypothesis and a token of its text are "
            f"{least:,} tokens; expected so many or more, or an encoder that reads them"
        )


def _sizes(tokenizer: Any, texts: Sequence[str]) -> dict[str, int]:
    # Special tokens not included.
    unique = list(dict.fromkeys(texts))
    sizes: dict[str, int] = {}
    for start in range(0, len(unique), 1000):
        part = unique[start : start + 1000]
        encoded = tokenizer(part, add_special_tokens=False, verbose=False)["input_ids"]
        sizes.update(zip(part, map(len, encoded), strict=True))
    return sizes
