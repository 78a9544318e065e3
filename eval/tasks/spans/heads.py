"""Answers to spans from models that were trained to answer, with a head of their own.

- ``classifier``: a probability for each of its classes, of a text, or of a text with a hypothesis.
  Which class is the positive answer is read off its name, or said by ``--label-map``.
- ``multiple-choice``: one number for each alternative, and the softmax of them.
- ``regression``: one number for a text: the sigmoid of it, or the softmax over alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.kinds.documents import NEGATIVE, POSITIVE, SpanText
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.tasks.spans.answers import TOO_LONG, Answered, RowAnswers
from coherencegym.eval.tasks.spans.coherence import SpanPlace, SpanPrediction, places_of
from coherencegym.eval.tasks.spans.data import CHOICE, ENTAILMENT, SpanTable, span_content
from coherencegym.eval.tasks.spans.options import CLASSIFIER, MULTIPLE_CHOICE, REGRESSION
from coherencegym.eval.tasks.training.encoder import (
    TextPair,
    cut_inputs,
    most_tokens,
    read_logits,
)

_BATCH = 32


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
            f"{table.table.name}: a choice between texts; expected a model for "
            f"{MULTIPLE_CHOICE} or {REGRESSION}, or a causal one"
        )
    if scorer == MULTIPLE_CHOICE and not is_choice:
        raise ConfigError(
            f"{table.table.name}: one text and no choice; expected a {CLASSIFIER}, a model for "
            f"{REGRESSION}, or a causal one"
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
    model: LoadedModel,
    scorer: str,
    table: SpanTable,
    *,
    label_map: str | None = None,
    truncate: bool = False,
    max_length: int | None = None,
    batch_tokens: int | None = None,
) -> Answered:
    """Answer the spans of a table.

    Args:
        model: one with the scorer's head.
        scorer: the kind of the head.
        table: the rows.
        label_map: the positive answer, ``=``, and the number of its class; None: by its name.
        truncate: cut the end of texts that are too long; else their rows are left out.
        max_length: cut texts, with their hypotheses, to so many tokens; None: the model's.
        batch_tokens: most tokens in a forward pass, at least one text; None: as many as 32 texts
            have.
    """
    refuse_question(scorer, table)
    label = _label(model, scorer, table, label_map)
    most = max_length or most_tokens(model.model.config, model.tokenizer)
    asked = [list(inputs_of(row, places_of(row))) for row in table.rows]
    long = cut_inputs(model.tokenizer, [one for inputs in asked for one in inputs], most)
    too_long = [not long.isdisjoint(inputs) for inputs in asked]
    kept = [truncate or max_length is not None or not is_long for is_long in too_long]

    wanted = [one for own, keep in zip(asked, kept, strict=True) if keep for one in own]
    size = _BATCH if batch_tokens is None else max(1, min(_BATCH, batch_tokens // most))
    read = read_logits(model, wanted, most, "only_first", size, apart=scorer == MULTIPLE_CHOICE)
    logits = dict(zip(wanted, read, strict=True))
    rows: list[RowAnswers] = [
        {
            place: _prediction(row, [logits[o] for o in inputs_of(row, [place])], scorer, label)
            for place in places_of(row)
        }
        if keep
        else TOO_LONG
        for row, keep in zip(table.rows, kept, strict=True)
    ]
    cut = sum(is_long and keep for is_long, keep in zip(too_long, kept, strict=True))
    return Answered(table, rows, cut=cut, about={"label": label, "max_length": most})


def _label(model: LoadedModel, scorer: str, table: SpanTable, label_map: str | None) -> int:
    # 0 where there is one output.
    config = model.model.config
    if scorer != CLASSIFIER:
        return 0
    number = int(config.num_labels)
    if label_map is not None:
        name, _, label = label_map.partition("=")
        # ``entailment`` and ``entailed`` are one answer.
        if name[:6].casefold() != table.positive[:6].casefold() or not label.isdecimal():
            raise ConfigError(
                f"--label-map {label_map}: expected {table.positive}=NUMBER, as "
                f"{table.table.config} asks for it"
            )
        if int(label) >= number:
            raise EvaluationError(
                f"--label-map {label_map}: model {model.name!r} has classes 0 to {number - 1}; "
                "expected one of them"
            )
        return int(label)
    labels = {int(key): str(value) for key, value in config.id2label.items()}
    return positive_class(labels, table.positive, table.question, model.name)


def inputs_of(row: SpanText, places: Sequence[SpanPlace]) -> Iterator[TextPair]:
    """What is read of spans: each text of each span, with the hypothesis about it."""
    for place in places:
        for alternative in range(max(1, len(row.alternatives))):
            yield span_content(row, place, alternative), row.hypothesis.strip()


def _prediction(row: SpanText, logits: Sequence[Any], scorer: str, label: int) -> SpanPrediction:
    import numpy as np

    if row.is_choice:
        return SpanPrediction.of_choice(
            [float(p) for p in _softmax(np.array([own[0] for own in logits]))]
        )
    (own,) = logits
    if scorer == REGRESSION:
        return SpanPrediction.of_one_text(float(1 / (1 + np.exp(-own[0]))))
    answer = POSITIVE if int(np.argmax(own)) == label else NEGATIVE
    return SpanPrediction.of_one_text(float(_softmax(own)[label]), answer)


def _softmax(logits: Any) -> Any:
    import numpy as np

    powers = np.exp(logits - logits.max())
    return powers / powers.sum()
