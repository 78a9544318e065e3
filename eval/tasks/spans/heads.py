"""Answers to spans from models that were trained to answer, with a head of their own.

- ``classifier``: a probability for each of its classes, of a text, or of a text with a hypothesis.
  Which class is the positive answer is read off its name, or said by ``--label-map``.
- ``multiple-choice``: one number for each alternative, and the softmax of them.
- ``regression``: one number for a text: the sigmoid of it, or the softmax over alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.kinds.spans import NEGATIVE, POSITIVE, SpanText
from coherencegym.eval.models.libraries import attempt
from coherencegym.eval.models.limits import context_length
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.models.placement import input_device
from coherencegym.eval.tasks.spans.answers import RowAnswers, SpanAnswers
from coherencegym.eval.tasks.spans.coherence import SpanPlace, SpanPrediction
from coherencegym.eval.tasks.spans.data import (
    CHOICE,
    ENTAILMENT,
    SpanTable,
    places_of,
    span_content,
)
from coherencegym.eval.tasks.spans.options import CLASSIFIER, MULTIPLE_CHOICE, REGRESSION

_BATCH = 32
#: Most tokens of a text where neither model nor tokenizer says how many.
_MOST = 512

#: A text, and the hypothesis about it; empty where there is none.
_Input = tuple[str, str]


@dataclass(frozen=True)
class HeadOptions:
    """Choices of the scorers.

    Attributes:
        label: the number of the positive class, where the user says it.
        decision: ``argmax``: positive is the most probable class; ``half``: has half or more.
        truncate: cut the end of texts that are too long; else their rows are left out.
        max_length: most tokens of a text with its hypothesis; None: as many as the model reads.
        whole_length: the same for the answer to the task itself, which is then read apart from the
            span of all units.
        batch_tokens: most tokens in a forward pass, at least one text; None: as many as 32 texts
            have.
    """

    label: int | None = None
    decision: str = "argmax"
    truncate: bool = False
    max_length: int | None = None
    whole_length: int | None = None
    batch_tokens: int | None = None


def kind_of_head(scorer: str) -> Any:
    """The class of transformers that a scorer needs."""
    from transformers import AutoModelForMultipleChoice, AutoModelForSequenceClassification

    if scorer == MULTIPLE_CHOICE:
        return AutoModelForMultipleChoice
    return AutoModelForSequenceClassification


def refuse_question(scorer: str, table: SpanTable) -> None:
    """Refuse a table that asks what a scorer cannot answer."""
    is_choice = table.question == CHOICE
    if scorer == CLASSIFIER and is_choice:
        raise ConfigError(
            f"{table.table.name}: a choice between texts; expected --scorer {MULTIPLE_CHOICE}, "
            f"{REGRESSION}, surprisal or prompt"
        )
    if scorer == MULTIPLE_CHOICE and not is_choice:
        raise ConfigError(
            f"{table.table.name}: one text and no choice; expected --scorer {CLASSIFIER}, "
            f"{REGRESSION}, surprisal or prompt"
        )


def positive_class(labels: Mapping[int, str], positive: str, question: str, name: str) -> int:
    """The class whose name says a positive answer.

    Of entailment it is the one that has *entail* in it and no *not* or *non*; else the one that is
    called as the positive answer is.
    """

    def says(label: str) -> bool:
        words = label.casefold()
        if question == ENTAILMENT:
            return "entail" in words and not re.search("not|non|un|no_", words)
        return re.sub("[^a-z]", "", words) == re.sub("[^a-z]", "", positive.casefold())

    found = [number for number, label in labels.items() if says(label)]
    if len(found) != 1:
        said = ", ".join(f"{number}: {label}" for number, label in sorted(labels.items()))
        raise ConfigError(
            f"model {name!r}: its labels ({said}) do not say which label is {positive!r}; expected "
            f"--label-map {positive}=NUMBER"
        )
    return found[0]


def head_answers(
    model: LoadedModel, scorer: str, table: SpanTable, options: HeadOptions
) -> SpanAnswers:
    """Answer the spans of a table."""
    refuse_question(scorer, table)
    reader = _Reader(model, scorer, options)
    label = _label(model, scorer, table, options)
    most = options.max_length or reader.most
    rows: list[RowAnswers] = []
    asked = [(row, list(inputs_of(row, places_of(row)))) for row in table.rows]
    sizes = reader.sizes([one for _, inputs in asked for one in inputs])
    too_long = [any(sizes[one] > most for one in inputs) for _, inputs in asked]
    kept = [options.truncate or options.max_length is not None or not long for long in too_long]
    wanted = [one for (_, own), keep in zip(asked, kept, strict=True) if keep for one in own]
    logits = reader.logits(wanted, most)
    for (row, _), keep in zip(asked, kept, strict=True):
        found = {
            place: _prediction(
                row, [logits[one] for one in inputs_of(row, [place])], scorer, label, options
            )
            for place in (places_of(row) if keep else ())
        }
        rows.append(found if keep else None)
    return SpanAnswers(
        rows=rows,
        ends=_ends(reader, table, rows, label),
        cut=sum(long and keep for long, keep in zip(too_long, kept, strict=True)),
        about={"label": label, "max_length": most},
    )


def _ends(
    reader: _Reader, table: SpanTable, rows: Sequence[RowAnswers], label: int
) -> list[int | None]:
    # The answers to the task itself, where another length is read for it.
    if reader.options.whole_length is None:
        return []
    whole = {row.item_id: list(inputs_of(row, [(0, row.size - 1)])) for row in table.rows}
    logits = reader.logits(
        [one for own in whole.values() for one in own], reader.options.whole_length
    )
    return [
        _prediction(
            row, [logits[one] for one in whole[row.item_id]], reader.scorer, label, reader.options
        ).answer
        if own is not None
        else None
        for row, own in zip(table.rows, rows, strict=True)
    ]


def _label(model: LoadedModel, scorer: str, table: SpanTable, options: HeadOptions) -> int:
    # 0 where there is one output.
    config = model.model.config
    if scorer == MULTIPLE_CHOICE:
        return 0
    number = int(config.num_labels)
    if scorer == REGRESSION:
        if number != 1:
            raise EvaluationError(
                f"model {model.name!r} has {number} outputs; expected one with --scorer {scorer}"
            )
        return 0
    if number == 1:
        raise EvaluationError(
            f"model {model.name!r} has one output; expected --scorer {REGRESSION}"
        )
    if options.label is not None:
        if not 0 <= options.label < number:
            raise EvaluationError(
                f"--label-map {table.positive}={options.label}: model {model.name!r} has classes 0 "
                f"to {number - 1}; expected one of them"
            )
        return options.label
    labels = {int(key): str(value) for key, value in config.id2label.items()}
    return positive_class(labels, table.positive, table.question, model.name)


def inputs_of(row: SpanText, places: Sequence[SpanPlace]) -> Iterator[_Input]:
    """What is read of spans: each text of each span, with the hypothesis about it."""
    for place in places:
        for alternative in range(max(1, len(row.alternatives))):
            yield span_content(row, place, alternative), row.hypothesis.strip()


def _prediction(
    row: SpanText, logits: Sequence[Any], scorer: str, label: int, options: HeadOptions
) -> SpanPrediction:
    import numpy as np

    if row.is_choice:
        return SpanPrediction.of_choice(
            [float(p) for p in _softmax(np.array([own[0] for own in logits]))]
        )
    (own,) = logits
    if scorer == REGRESSION:
        return SpanPrediction.of_one_text(float(1 / (1 + np.exp(-own[0]))))
    chances = _softmax(own)
    answer = None
    if options.decision == "argmax":
        answer = POSITIVE if int(np.argmax(own)) == label else NEGATIVE
    return SpanPrediction.of_one_text(float(chances[label]), answer)


def _softmax(logits: Any) -> Any:
    import numpy as np

    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


@dataclass(frozen=True)
class _Reader:
    model: LoadedModel
    scorer: str
    options: HeadOptions

    @property
    def most(self) -> int:
        # Of a text with its hypothesis.
        known = context_length(self.model.model.config) or _MOST
        return int(min(known, self.model.tokenizer.model_max_length))

    def sizes(self, inputs: Sequence[_Input]) -> dict[_Input, int]:
        # Special tokens included.
        unique = list(dict.fromkeys(inputs))
        found: dict[_Input, Any] = {}
        for start in range(0, len(unique), 1000):
            part = unique[start : start + 1000]
            encoded = self._encoded(part, verbose=False)["input_ids"]
            found.update(zip(part, map(len, encoded), strict=True))
        return found

    def _encoded(self, inputs: Sequence[_Input], **more: Any) -> Any:
        texts = [text for text, _ in inputs]
        pairs = [pair for _, pair in inputs] if any(pair for _, pair in inputs) else None
        what = f"model {self.model.name!r}: a text"
        tokenizer = self.model.tokenizer

        def encode(**settings: Any) -> Any:
            settings.pop("trust_remote_code")
            return tokenizer(texts, pairs, **settings)

        return attempt(what, encode, **more)

    def logits(self, inputs: Sequence[_Input], most: int) -> dict[_Input, Any]:
        # As float64; a text is cut to so many tokens, its hypothesis never.
        import torch

        tokenizer, model = self.model.tokenizer, self.model.model
        if tokenizer.pad_token_id is None:
            raise EvaluationError(
                f"model {self.model.name!r} has no padding token; expected one in its tokenizer"
            )
        # Of one length together, so that little is padded.
        order = sorted(dict.fromkeys(inputs), key=lambda one: (-len(one[0]), one))
        found: dict[_Input, Any] = {}
        size = _BATCH
        if self.options.batch_tokens is not None:
            size = max(1, min(size, self.options.batch_tokens // most))
        for start in range(0, len(order), size):
            part = order[start : start + size]
            batch = self._encoded(
                part, truncation="only_first", max_length=most, padding=True, return_tensors="pt"
            ).to(input_device(model))
            if self.scorer == MULTIPLE_CHOICE:
                batch = {name: value[:, None] for name, value in batch.items()}
            with torch.inference_mode():
                values = model(**batch).logits.double().cpu().numpy()
            found.update(zip(part, values, strict=True))
        return found
