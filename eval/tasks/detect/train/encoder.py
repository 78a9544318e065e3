"""An encoder, and what it is asked about: a sentence and its document as a pair of texts.

As in Shen et al. 2021, section 5: the input is the sentence and the whole document, the question is
whether the sentence is an intruder in it. Opening sentences are never asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.models.libraries import attempt
from coherencegym.eval.models.limits import context_length
from coherencegym.eval.models.source import ModelSource, find_model

#: Most tokens of a pair by default, as in the paper's encoders.
MAX_LENGTH = 512
_LABELS = {0: "coherent", 1: "intruder"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, the document that it stands in, and 1 if it is an intruder there, else 0."""

    sentence: str
    document: str
    label: int


@dataclass(frozen=True)
class Encoder:
    """An encoder to begin with: where it is from, its tokenizer, and most tokens of a pair."""

    source: ModelSource
    tokenizer: Any
    max_length: int

    def truncated(self, documents: Sequence[Document]) -> int:
        """The number of pairs of the documents that are cut."""
        return count_truncated(self.tokenizer, pairs_of(documents), self.max_length)

    def with_head(self) -> Any:
        """The encoder with a new head for two classes; no other weight may be new."""
        from transformers import AutoModelForSequenceClassification

        source = self.source
        what = f"model {source.name!r}"
        model, loading = attempt(
            what,
            AutoModelForSequenceClassification.from_pretrained,
            source.path,
            use_safetensors=True,
            output_loading_info=True,
            num_labels=len(_LABELS),
            id2label=_LABELS,
            label2id={label: number for number, label in _LABELS.items()},
            **source.settings,
        )
        body = model.base_model_prefix + "."
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
        max_length: most tokens of a pair; None: 512, or what the encoder can read.

    Raises:
        EvaluationError: it is not there, has no usable tokenizer, or cannot read so much.
    """
    from transformers import AutoConfig, AutoTokenizer

    source = find_model(name, revision)
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
    most = min(context_length(config) or MAX_LENGTH, tokenizer.model_max_length)
    if max_length is not None and max_length > most:
        raise EvaluationError(
            f"--max-length {max_length}: model {name!r} reads {most:,} tokens; expected no more"
        )
    return Encoder(source, tokenizer, max_length or min(most, MAX_LENGTH))


def pairs_of(documents: Iterable[Document]) -> list[Pair]:
    """The pairs of documents, in order: of each every sentence but the opening one."""
    pairs = []
    for document in documents:
        text = " ".join(sentence.strip() for sentence in document.sentences)
        for place, sentence in enumerate(document.sentences[1:], start=1):
            pairs.append(Pair(sentence.strip(), text, int(place == document.intruder_position)))
    return pairs


def by_document(documents: Sequence[Document], values: Sequence[float]) -> list[list[float]]:
    """Values of pairs as scores of sentences: minus infinity for each opening sentence."""
    scores, start = [], 0
    for document in documents:
        end = start + len(document.sentences) - 1
        scores.append([float("-inf"), *map(float, values[start:end])])
        start = end
    return scores


def collator(tokenizer: Any, max_length: int) -> Callable[[Sequence[Pair]], dict[str, Any]]:
    """Pairs to a batch of tensors: token ids cut to ``max_length``, padded, and labels.

    Pairs are encoded when they are needed, so that a large collection stays text in memory.
    """

    def collate(pairs: Sequence[Pair]) -> dict[str, Any]:
        import torch

        batch = tokenizer(
            [pair.sentence for pair in pairs],
            [pair.document for pair in pairs],
            truncation="longest_first",
            max_length=max_length,
            padding=True,
            return_tensors="pt",
        )
        return {**batch, "labels": torch.tensor([pair.label for pair in pairs])}

    return collate


def count_truncated(tokenizer: Any, pairs: Sequence[Pair], max_length: int) -> int:
    """Count the pairs with more tokens than the classifier reads, its special tokens included."""
    special = tokenizer.num_special_tokens_to_add(pair=True)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.sentence, pair.document)))
    sizes: dict[str, int] = {}
    for start in range(0, len(texts), 1000):
        part = texts[start : start + 1000]
        encoded = tokenizer(part, add_special_tokens=False, verbose=False)["input_ids"]
        sizes.update(zip(part, map(len, encoded), strict=True))
    return sum(sizes[p.sentence] + sizes[p.document] + special > max_length for p in pairs)
