"""Score the sentences of documents by how much they look like intruders, with a language model.

As a function that a builder can hand to an operator::

    from coherencegym.eval.tasks.detect.detect import load_detector

    detector = load_detector("gpt2")
    detector([["Ann had a dog.", "It barked.", "Tax rates fell."]])  # [[-inf, -0.2, 0.9]]

``functools.partial(detect, model, tokenizer)`` is the same of a model that is loaded. No torch at
import.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.kinds.formula import RegionRef
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.requests import Query, region_places
from coherencegym.eval.tasks.detect.detectors import (
    DEFAULT_DETECTOR,
    DocumentBits,
    SurprisalDetector,
    detector_of,
)
from coherencegym.words.scripts import join_texts

if TYPE_CHECKING:
    from coherencegym.eval.surprisal import Answer, ScoredCondition, Surprisals

#: The condition in which a document is read whole.
_WHOLE = "whole"


@dataclass(frozen=True)
class Detected:
    """Scores of the sentences of documents.

    Attributes:
        scores: documents of sentences (bits per token, higher is more like an intruder); minus
            infinity for the opening one. NaN for all others of a document that is longer than the
            model's context, and for all of one in which a token has characters of two sentences.
        scored: the surprisals that were read; None where there was nothing to read.
    """

    scores: list[list[float]]
    scored: Surprisals[Answer] | None


def detect(
    model: Any,
    tokenizer: Any,
    documents: Sequence[Sequence[str]],
    detector: str = DEFAULT_DETECTOR,
    **options: Any,
) -> list[list[float]]:
    """Score each sentence of each document by how much it looks like an intruder.

    Args:
        model, tokenizer: a causal language model of transformers.
        documents: sentences in reading order; one space is put between them.
        detector: a name in :data:`eval.tasks.detect.detectors.DETECTORS`.
        options: those of :class:`eval.plan.options.Options`.

    Returns:
        Scores as :class:`Detected` has them.
    """
    from coherencegym.eval.models.in_memory import evaluating

    with evaluating(model):
        return detections(model, tokenizer, documents, detector, Options(**options)).scores


def load_detector(
    name: str, detector: str = DEFAULT_DETECTOR, **options: Any
) -> Callable[[Sequence[Sequence[str]]], list[list[float]]]:
    """A model as a function from documents to scores, as :func:`detect` gives them.

    Args:
        name: a Hub id, a folder, or ``demo``, as ``--model`` takes it.
        detector: a name in :data:`eval.tasks.detect.detectors.DETECTORS`.
        options: those of :func:`eval.models.load.load`.
    """
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.models.load import load

    detector_of(detector)
    quiet_libraries()
    loaded = load(name, scorer="causal", **options)
    return partial(detect, loaded.model, loaded.tokenizer, detector=detector)


def detections(
    model: Any,
    tokenizer: Any,
    documents: Sequence[Sequence[str]],
    detector: str = DEFAULT_DETECTOR,
    options: Options = DEFAULT_OPTIONS,
    *,
    names: Sequence[str] = (),
    **run: Any,
) -> Detected:
    """Score documents as :func:`detect` does, and keep what was read for it.

    Args:
        model, tokenizer, documents, detector: see :func:`detect`; the model in evaluation mode.
        options: reading and running; documents are never cut, and there is one mode.
        names: say what errors call each document; empty: by their numbers.
        run: the other arguments of :func:`eval.surprisal.surprisals`.
    """
    from coherencegym.eval.surprisal import surprisals

    if options.truncate or options.rules.name:
        raise EvaluationError("documents: truncate and compat are for items; expected neither")
    chosen = detector_of(detector)
    queries = document_queries(documents, chosen, names)
    scores = [[-math.inf] * len(sentences) for sentences in documents]
    if not queries:
        return Detected(scores, None)
    scored = surprisals(model, tokenizer, queries, options, **run)
    read = zip(queries, scored.items, strict=True)
    for own in scores:
        if len(own) < 2:
            continue
        texts = [next(read) for _ in range(2 if chosen.alone else 1)]
        query, answers = texts[0][0], [answer for _, answer in texts]
        if any(answer.too_long for answer in answers):
            own[1:] = [math.nan] * (len(own) - 1)
            continue
        if _WHOLE not in answers[0].conditions:
            raise ConfigError(
                f"{query.name}: this tokenizer has no separator for [SEP]; expected one with "
                "--separator"
            )
        if any(c.encoding.crossing for answer in answers for c in answer.conditions.values()):
            own[:] = [math.nan] * len(own)
            continue
        bits = _document_bits(query, answers)
        own[1:] = [chosen.score(bits, sentence) for sentence in range(1, len(own))]
    return Detected(scores, scored)


def document_queries(
    documents: Sequence[Sequence[str]], detector: SurprisalDetector, names: Sequence[str] = ()
) -> list[Query]:
    """The texts that a detector reads of documents.

    Sentence i (from 0) is region i + 1 of every condition, empty where the condition leaves it out.
    The document, and the document without each sentence, are one query, so that they share what
    they begin with; the sentences by themselves are another. A document of one sentence has none.
    """
    queries: list[Query] = []
    for number, given in enumerate(documents):
        name = names[number] if names else f"document {number + 1}"
        sentences = [sentence.strip() for sentence in given]
        if "" in sentences:
            raise EvaluationError(f"{name}: sentence {sentences.index('') + 1} is empty")
        places = range(1, len(sentences))
        if not places:
            continue
        conditions = [_condition(_WHOLE, sentences, {*places, 0})]
        reads = {_WHOLE: _regions([0, *places])}
        if detector.without:
            for out in places[:-1]:
                kept = {0, *places} - {out}
                conditions.append(_condition(_without(out), sentences, kept))
                reads[_without(out)] = _regions(place for place in places if place > out)
        queries.append(Query(name, conditions, reads))
        if detector.alone:
            alone = [_condition(_alone(place), sentences, {place}) for place in places]
            reads = {_alone(place): _regions([place]) for place in places}
            queries.append(Query(f"{name}/alone", alone, reads))
    return queries


def _regions(places: Iterable[int]) -> frozenset[RegionRef]:
    return frozenset(place + 1 for place in places)


def _alone(place: int) -> str:
    return f"sentence {place + 1}"


def _without(place: int) -> str:
    return f"without {place + 1}"


def _condition(name: str, sentences: Sequence[str], kept: set[int]) -> Condition:
    contents = [sentence if place in kept else "" for place, sentence in enumerate(sentences)]
    regions = tuple(Region(number, content) for number, content in enumerate(contents, start=1))
    return Condition(name, join_texts(filter(None, contents)), regions)


def _document_bits(query: Query, answers: Sequence[Answer]) -> DocumentBits:
    conditions = answers[0].conditions
    whole, document = conditions[_WHOLE], query.conditions[0]
    number = len(document.regions)
    own = [whole.region_bits(place + 1) for place in range(number)]
    alone, matched = [0.0] * number, [0.0] * number
    following, following_tokens = [0.0] * number, [0] * number
    for place in range(1, number):
        out = conditions.get(_without(place))
        if out is not None:
            after = [out.region_bits(other + 1) for other in range(place + 1, number)]
            following[place] = float(sum(bits.sum() for bits in after))
            following_tokens[place] = sum(map(len, after))
        if len(answers) > 1:
            by_itself = answers[1].conditions[_alone(place)]
            alone[place] = float(by_itself.region_bits(place + 1).sum())
            matched[place] = _matched(document, whole, by_itself, place + 1)
    return DocumentBits(
        bits=tuple(float(bits.sum()) for bits in own),
        tokens=tuple(map(len, own)),
        alone=tuple(alone),
        matched=tuple(matched),
        following=tuple(following),
        following_tokens=tuple(following_tokens),
    )


def _matched(
    document: Condition, whole: ScoredCondition, alone: ScoredCondition, region: int
) -> float:
    # Without the characters that have none alone.
    first = 0
    if alone.leaves_out_first(region):
        # The document's tokens may be cut elsewhere: what counts is where they begin.
        start, _ = document.region_offsets()[region - 1]
        first = start + alone.encoding.ends[0]
    read = [p for p in region_places(whole.encoding, region) if whole.encoding.starts[p] >= first]
    return float(whole.bits[read].sum())
