"""The surprisal of texts, by token or by word, as reading-time studies take it.

The surprisal of a word is the sum of those of its tokens (Smith and Levy 2013). Of tokenizers that
put the space before a word into its first token, ``word_correction`` moves the probability that a
word ends from the next word's first token to the word (Pimentel and Meister 2024; Oh and Schuler
2024).
"""

from __future__ import annotations

import math
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.pairs import LabelledTexts, condition_after
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.surprisal import ScoredCondition, surprisals
from coherencegym.eval.text.sequence import name_notes

if TYPE_CHECKING:
    from coherencegym.eval.models.load import LoadedModel

#: Units of a text that have a row.
TextUnit = Literal["token", "word"]
UNITS: tuple[TextUnit, ...] = get_args(TextUnit)
_NAME = "text"


def text_surprisals(
    model: LoadedModel,
    given: LabelledTexts,
    by: TextUnit = "token",
    options: Options = DEFAULT_OPTIONS,
    tell: Callable[[str], object] = warnings.warn,
    **running: Any,
) -> Iterator[dict[str, Any]]:
    """A row for each token, or word, of each text; one for several words that share a token.

    Args:
        model: a loaded model, in evaluation mode.
        given: the texts, and a context before each, which is read and not scored.
        tell: takes each line that a reader of the rows must know.
        running: ``store`` and ``progress`` of :func:`eval.surprisal.surprisals`.

    Returns:
        The labels of the text, ``number`` of the token in its text (from 1), ``token`` or ``word``,
        ``start`` and ``end`` (characters of the text), ``bits`` (None where a first token has
        nothing before it, or begins in the context).

    Raises:
        EvaluationError: there is no text, one is empty or longer than the model's context, or there
            are not as many contexts.
    """
    if by not in UNITS:
        raise EvaluationError(f"by={by!r}; expected one of {', '.join(UNITS)}")
    texts, contexts = given.texts, given.contexts
    if not texts:
        raise EvaluationError("no text; expected at least one")
    if contexts is not None and len(contexts) != len(texts):
        raise EvaluationError(f"{len(contexts)} contexts of {len(texts)} texts; expected as many")
    names = [f"text {label['text_number']}" for label in given.labels]
    conditions = []
    for number, (name, text) in enumerate(zip(names, texts, strict=True)):
        if not isinstance(text, str) or not text.strip():
            raise EvaluationError(f"{name}: {text!r:.60}; expected a text that is not empty")
        context = None if contexts is None else contexts[number] or ""
        conditions.append(condition_after(_NAME, context, text))
    region = 1 if contexts is None else 2
    queries = [
        Query(name, [condition], {_NAME: {region}})
        for name, condition in zip(names, conditions, strict=True)
    ]
    found = surprisals(model.model, model.tokenizer, queries, options, **running)
    for note in name_notes(found.names, options.special_tokens):
        tell(note.text)
    entered = shared = 0
    for number, (condition, answer) in enumerate(zip(conditions, found.items, strict=True)):
        if _NAME not in answer.conditions:
            raise EvaluationError(
                f"{names[number]}: longer than the model's context of {found.context:,} tokens; "
                "expected a shorter text, or context"
            )
        start, end = condition.region_offsets[-1]
        offset = len(condition.content) - len(texts[number])
        entered += answer.conditions[_NAME].encoding.is_entered(region)
        tokens = _tokens(answer.conditions[_NAME], condition.content, region, offset)
        rows = tokens if by == "token" else _words(tokens, condition.content, start, end)
        for place, row in enumerate(rows, start=1):
            span = {"start": row["start"] - offset, "end": row["end"] - offset}
            shared += len(row.get("word", "").split()) > 1
            yield {**given.labels[number], "number": place, **row, **span}
    if entered:
        tell(
            f"{entered:,} of {len(texts):,} texts begin within the last token of their context; "
            "the words in this token have no bits"
        )
    if shared:
        tell(f"{shared:,} rows are of several words each, which share a token")


def _tokens(
    scored: ScoredCondition, content: str, region: int, first: int
) -> Iterator[Mapping[str, Any]]:
    encoding = scored.encoding
    for place, (own_region, reached) in enumerate(
        zip(encoding.regions, encoding.reached, strict=True)
    ):
        if region not in (own_region, *(other for other, _ in reached)):
            continue
        # The space between context and text is part of a token, and of no text.
        start, end = max(first, encoding.starts[place]), encoding.ends[place]
        bits = float(scored.bits[place]) if own_region == region else math.nan
        own = None if math.isnan(bits) else bits
        yield {"token": content[start:end], "start": start, "end": end, "bits": own}


def _words(
    tokens: Iterable[Mapping[str, Any]], content: str, start: int, end: int
) -> Iterator[Mapping[str, Any]]:
    """The sums over words, which white space parts; a token of white space is the next word's.

    Words that share a token are one.
    """
    words = list(re.compile(r"\S+").finditer(content, start, end))
    starts, ends = [word.start() for word in words], [word.end() for word in words]
    bits: list[list[float | None]] = [[] for _ in words]
    goes_on = [False for _ in words]
    for token in tokens:
        if (own := bisect_right(ends, token["start"])) < len(words):
            bits[own].append(token["bits"])
            for later in range(own + 1, bisect_left(starts, token["end"])):
                goes_on[later] = True
    rows: list[tuple[int, int, list[float | None]]] = []
    for begin, stop, found, joins in zip(starts, ends, bits, goes_on, strict=True):
        before = rows.pop() if joins else (begin, stop, [])
        rows.append((before[0], stop, [*before[2], *found]))
    for begin, stop, found in rows:
        known = [one for one in found if one is not None]
        whole = math.fsum(known) if known and len(known) == len(found) else None
        yield {"word": content[begin:stop], "start": begin, "end": stop, "bits": whole}
