"""Answers to spans: from surprisals, or from the head of a model that was trained to answer.

A causal language model was trained for none of it:

- **A choice**: the bits of each alternative's span; p = softmax(-bits / T).
- **Does the hypothesis follow?** The gain: the bits that the span saves on each token of the
  hypothesis after it.
- **Does it hold together?** The lowest gain of the span's units: the bits that what stands before
  it in the span saves on each token of a unit. One unit alone holds together.

Gains become probabilities by a logistic regression on whole texts of another split: as a classifier
would be, they are taught the task and asked about the parts.

All spans with one beginning are read together: a choice and what holds together cost as many
readings as there are beginnings; a hypothesis is read after each span, in groups of spans that
share one beginning. (Of Conversational Entailment that is 98,920 tokens of 133,284; beginnings
shared as a tree would be 88,359, which is not worth a second kind of packed rows.)

Heads give

- ``classifier``: a probability for each of its classes, of a text, or of a text with a hypothesis.
  Which class is the positive answer is read off its name, or said by ``--label-map``.
- ``multiple-choice``: one number for each alternative, and the softmax of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.kinds.documents import NEGATIVE, POSITIVE, SpanText
from coherencegym.eval.kinds.formula import RegionRef
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.tasks.spans.coherence import (
    CHOICE,
    CROSSING,
    ENTAILMENT,
    TOO_LONG,
    Answered,
    SpanPlace,
    SpanPrediction,
    SpanTable,
    TextPrediction,
    identical_spans,
    places_of,
    span_content,
    unit_texts,
)
from coherencegym.eval.tasks.spans.options import (
    CLASSIFIER,
    MULTIPLE_CHOICE,
    SpanOptions,
)
from coherencegym.eval.tasks.task import TaskContext
from coherencegym.eval.tasks.training.encoder import (
    TextPair,
    cut_inputs,
    most_tokens,
    read_logits,
)
from coherencegym.eval.text.encode import crossing_differs

if TYPE_CHECKING:
    from coherencegym.eval.surprisal import Answer, ScoredCondition


#: The hypothesis by itself.
_ALONE = "alone"
#: The regions of a span, and of the hypothesis behind it.
_TEXT, _HYPOTHESIS = 1, 2


def probability(value: float, weight: float, threshold: float) -> float:
    """The probability of a positive answer by a number: ``sigmoid(weight * (x - threshold))``."""
    odds = weight * (value - threshold)
    return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0


def fitted_slope(values: Sequence[float], labels: Sequence[int], where: str) -> tuple[float, float]:
    """Weight and threshold of a logistic regression on rows that are not answered."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    from coherencegym.eval.statistics.estimators import one_thread

    if len({*labels}) < 2:
        raise ConfigError(
            f"{where}: the rows that the threshold is set on have but one label; expected rows of "
            "both in validation or train"
        )
    x = np.asarray(values, dtype=np.float64)
    centre, spread = float(x.mean()), float(x.std())
    with one_thread():
        model = LogisticRegression(C=100.0, tol=1e-5, max_iter=1000)
        model.fit(((x - centre) / (spread or 1.0))[:, None], np.asarray(labels))
    weight = float(model.coef_[0, 0]) / spread if spread else 0.0
    if not weight:
        raise ConfigError(
            f"{where}: all rows have the same measured value, so the threshold cannot be set; "
            "expected rows that differ"
        )
    return weight, centre - float(model.intercept_[0]) / weight


def surprisal_answers(context: TaskContext, table: SpanTable, temperature: float = 1.0) -> Answered:
    """Answer the spans of a table with a causal language model; ``temperature``: T, in bits."""
    # ``[SEP]`` in a text is text.
    texts = replace(table, separator=False)
    given = iter(context.surprisals(texts, span_queries(table)))
    if table.question == CHOICE:
        chosen = [_chosen(row, next(given), temperature) for row in table.rows]
        return Answered(table, chosen, about={"temperature": temperature})
    gains = _gain_of_hypothesis if table.question == ENTAILMENT else _lowest_gains
    # Of a text of one unit it is not asked whether it holds together.
    taught = [(gains(row, [_whole(row)], next(given)), row) for row in table.calibration]
    whole = [(own[_whole(row)], row.label) for own, row in taught if not isinstance(own, str)]
    known = [(gain, label) for gain, label in whole if math.isfinite(gain)]
    found = [gains(row, places_of(row), next(given)) for row in table.rows]
    slope = fitted_slope([gain for gain, _ in known], [label for _, label in known], table.name)
    about: dict[str, Any] = {"weight": slope[0], "threshold": slope[1]}
    about |= {"calibrated_on": table.calibrated_on, "calibrated_with": len(known)}
    both = zip(table.rows, found, strict=True)
    return Answered(table, [_by_slope(row, own, slope) for row, own in both], about=about)


def span_queries(table: SpanTable) -> list[Query]:
    """The texts that are read of the rows to set a threshold on, if any, and of those to answer.

    Of the former the whole text alone is asked about.
    """
    if table.question == CHOICE:
        return [_choice_query(row) for row in table.rows]
    query = _hypothesis_query if table.question == ENTAILMENT else _text_query
    whole = [query(row, [_whole(row)]) for row in table.calibration]
    return [*whole, *(query(row, places_of(row)) for row in table.rows)]


def _whole(row: SpanText) -> SpanPlace:
    return 0, row.size - 1


def _choice_query(row: SpanText) -> Query:
    # Each alternative from each beginning to its end.
    conditions = [
        condition
        for alternative in range(len(row.alternatives))
        for condition in _from_each_start(row, {start for start, _ in places_of(row)}, alternative)
    ]
    return _query(row, conditions)


def _text_query(row: SpanText, places: Sequence[SpanPlace]) -> Query:
    # The text from each beginning, and each unit with nothing before it.
    ends = {unit: unit for start, end in places for unit in range(start, end + 1)}
    for start, end in places:
        ends[start] = max(ends[start], end)
    conditions = list(_from_each_start(row, {*ends}))
    # What follows the last unit that is read does not go through the model.
    reads = [range(start, end + 1) for start, end in sorted(ends.items())]
    return Query(
        row.item_id,
        conditions,
        {one.condition_name: frozenset(own) for one, own in zip(conditions, reads, strict=True)},
    )


def _query(row: SpanText, conditions: Sequence[Condition]) -> Query:
    reads = {
        one.condition_name: frozenset(region.region_number for region in one.regions)
        for one in conditions
    }
    return Query(row.item_id, conditions, reads)


def _from_each_start(row: SpanText, starts: set[int], alternative: int = 0) -> Iterator[Condition]:
    units = unit_texts(row, alternative)
    for start in sorted(starts):
        regions = tuple(Region(n, unit) for n, unit in enumerate(units) if n >= start)
        yield Condition(_name(alternative, start), " ".join(units[start:]), regions)


def _name(alternative: int, start: int) -> str:
    return f"{alternative} from {start}"


def _hypothesis_query(row: SpanText, places: Sequence[SpanPlace]) -> Query:
    # The hypothesis after each span, and alone.
    hypothesis = Region(_HYPOTHESIS, row.hypothesis.strip())
    conditions = [Condition(_ALONE, hypothesis.content, (Region(_TEXT, ""), hypothesis))]
    for place in places:
        content = span_content(row, place)
        conditions.append(
            Condition(
                str(place), f"{content} {hypothesis.content}", (Region(_TEXT, content), hypothesis)
            )
        )
    read = frozenset({_HYPOTHESIS})
    return Query(row.item_id, conditions, {one.condition_name: read for one in conditions})


def _chosen(row: SpanText, answer: Answer[Query], temperature: float) -> TextPrediction | str:
    if answer.too_long:
        return TOO_LONG
    same = identical_spans(row)
    numbers = range(len(row.alternatives))
    found = {}
    for start, end in places_of(row):
        bits = [0.0 for _ in numbers]
        if (start, end) not in same:
            units = range(start, end + 1)
            names = [_name(number, start) for number in numbers]
            if any(_crossing_differs(answer, names[0], other, units) for other in names[1:]):
                return CROSSING
            for number, name in enumerate(names):
                read = answer.conditions[name]
                bits[number] = math.fsum(float(read.region_bits(unit).sum()) for unit in units)
        found[start, end] = SpanPrediction.of_choice(softmax([-own / temperature for own in bits]))
    return TextPrediction(row, found)


def _crossing_differs(answer: Answer[Query], one: str, other: str, regions: Iterable[int]) -> bool:
    encodings = {name: answer.conditions[name].encoding for name in (one, other)}
    times: dict[tuple[RegionRef, str], int] = {
        (region, name): 1 if name == one else -1 for region in regions for name in encodings
    }
    return crossing_differs(encodings, times)


def softmax(values: Sequence[float]) -> list[float]:
    """Probabilities that are proportional to the exponentials of numbers."""
    most = max(values)
    powers = [math.exp(value - most) for value in values]
    return [power / math.fsum(powers) for power in powers]


def _gain_of_hypothesis(
    row: SpanText, places: Sequence[SpanPlace], answer: Answer[Query]
) -> Mapping[SpanPlace, float] | str:
    if answer.too_long:
        return TOO_LONG
    if any(_crossing_differs(answer, _ALONE, str(place), [_HYPOTHESIS]) for place in places):
        return CROSSING
    alone = answer.conditions[_ALONE]
    return {
        place: gain_per_token(alone, answer.conditions[str(place)], _HYPOTHESIS) for place in places
    }


def _lowest_gains(
    row: SpanText, places: Sequence[SpanPlace], answer: Answer[Query]
) -> Mapping[SpanPlace, float] | str:
    # Of the units after the first; of one unit infinity.
    if answer.too_long:
        return TOO_LONG
    read = {start: answer.conditions.get(_name(0, start)) for start in range(row.size)}
    found: dict[SpanPlace, float] = {}
    gains: dict[SpanPlace, float] = {}
    for start, end in places:
        lowest = math.inf
        for unit in range(start + 1, end + 1):
            alone, after = read[unit], read[start]
            assert alone is not None
            assert after is not None
            if (start, unit) not in gains:
                if _crossing_differs(answer, _name(0, unit), _name(0, start), [unit]):
                    return CROSSING
                gains[start, unit] = gain_per_token(alone, after, unit)
            lowest = min(lowest, gains[start, unit])
        # Positive is what does not hold together, and a high number is to speak for it.
        found[start, end] = -lowest
    return found


def gain_per_token(alone: ScoredCondition, after: ScoredCondition, region: int) -> float:
    """The bits that what stands before a region saves on each of its tokens.

    A first token that has no surprisal in the region alone is left out of both.
    """
    own, others = alone.region_bits(region), after.region_bits(region)
    if alone.leaves_out_first(region):
        others = others[len(others) - len(own) :]
    return float(own.sum() - others.sum()) / len(own) if len(own) else 0.0


def _by_slope(
    row: SpanText, gains: Mapping[SpanPlace, float] | str, slope: tuple[float, float]
) -> TextPrediction | str:
    if isinstance(gains, str):
        return gains
    none = SpanPrediction(NEGATIVE, 0.0)
    one_text = SpanPrediction.of_one_text
    return TextPrediction(
        row,
        {
            place: none if gain == -math.inf else one_text(probability(gain, *slope))
            for place, gain in gains.items()
        },
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
    if is_choice == (scorer == MULTIPLE_CHOICE):
        return
    asked, needed = ("a choice between texts", MULTIPLE_CHOICE)
    if not is_choice:
        asked, needed = "one text and no choice", "classification"
    raise ConfigError(f"{table.name}: {asked}; expected a model for {needed}, or a causal one")


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
    model: LoadedModel, table: SpanTable, options: SpanOptions, batch_tokens: int | None = None
) -> Answered:
    """Answer the spans of a table with a model that has the head of ``options.scorer``.

    The rows of texts that are too long are left out, or with ``truncate`` cut at the end; with
    ``compat`` texts are cut, with their hypotheses. ``batch_tokens``: most tokens in a forward
    pass, at least one text; None: as many as 32 texts have.
    """
    scorer, cuts = options.scorer, options.truncate or bool(options.compat)
    refuse_question(scorer, table)
    label = _label(model, table, options)
    # The paper's program reads no more.
    most = 128 if options.compat else most_tokens(model.model.config, model.tokenizer)
    asked = [list(inputs_of(row, places_of(row))) for row in table.rows]
    long = cut_inputs(model.tokenizer, [one for inputs in asked for one in inputs], most)
    too_long = [not long.isdisjoint(inputs) for inputs in asked]
    left_out = [is_long and not cuts for is_long in too_long]

    wanted = [one for own, is_out in zip(asked, left_out, strict=True) if not is_out for one in own]
    size = _BATCH if batch_tokens is None else max(1, min(_BATCH, batch_tokens // most))
    read = read_logits(model, wanted, most, "only_first", size, apart=scorer == MULTIPLE_CHOICE)
    logits = dict(zip(wanted, read, strict=True))

    def answers(row: SpanText) -> TextPrediction:
        by_place = {p: [logits[one] for one in inputs_of(row, [p])] for p in places_of(row)}
        found = {p: _prediction(row, own, label) for p, own in by_place.items()}
        return TextPrediction(row, found)

    rows = [
        TOO_LONG if is_out else answers(row)
        for row, is_out in zip(table.rows, left_out, strict=True)
    ]
    about = {"label": label, "max_length": most}
    return Answered(table, rows, cut=sum(too_long) if cuts else 0, about=about)


def _label(model: LoadedModel, table: SpanTable, options: SpanOptions) -> int:
    # 0 where there is one output.
    config, label_map = model.model.config, options.label_map
    if options.scorer != CLASSIFIER:
        return 0
    number = int(config.num_labels)
    if label_map is not None:
        name, _, label = label_map.partition("=")
        # ``entailment`` and ``entailed`` are one answer.
        if name[:6].casefold() != table.positive[:6].casefold() or not label.isdecimal():
            raise ConfigError(
                f"--label-map {label_map}: expected {table.positive}=NUMBER, as {table.config} "
                "asks for it"
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


def _prediction(row: SpanText, logits: Sequence[Any], label: int) -> SpanPrediction:
    if row.is_choice:
        return SpanPrediction.of_choice(softmax([float(own[0]) for own in logits]))
    (own,) = logits
    answer = POSITIVE if int(own.argmax()) == label else NEGATIVE
    return SpanPrediction.of_one_text(softmax(own.tolist())[label], answer)
