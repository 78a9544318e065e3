"""Score the sentences of documents by how much they look like intruders, with a language model.

As a function that a builder can hand to an operator::


    detector = load_detector("gpt2")
    detector([["Ann had a dog.", "It barked.", "Tax rates fell."]])  # [[-inf, -0.2, 0.9]]

``functools.partial(detect, model, tokenizer)`` is the same of a model that is loaded. No torch at
import.

All detectors look at what a sentence and its document have to do with each other. For a document of
sentences s_1 ... s_n, with surprisals S in bits,

- what the context before it does for sentence i: h_i = S(s_i) - S(s_i | s_<i);
- what it does for what follows: f_i = S(s_>i | s_<i) - S(s_>i | s_<i, s_i), 0 for the last.

h_i is the pointwise mutual information (PMI) of the sentence and what precedes it (Church and Hanks
1990), which Holtzman et al. 2021 ("Surface Form Competition") use to rank texts by what
a context does for them and not by how frequent they are. By the chain rule h_i + f_i is the PMI of
the sentence and all the rest of its document, log2 p(s_1 ... s_n) - log2 p(s_i) - log2 p(the
document without s_i). An intruder shares less with its document, so a score is a negated help. It
is divided by the number of tokens of the sentence: long sentences have more of everything. The
unit is bits per token; higher is more like an intruder.

The task is that of Shen et al. 2021 ("Evaluating Document Coherence Modeling", TACL 9), who
fine-tune classifiers for it; these detectors are not trained.
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
from coherencegym.words.scripts import join_texts

if TYPE_CHECKING:
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.surprisal import Answer, ScoredCondition, Surprisals


@dataclass(frozen=True)
class DocumentBits:
    """Bits that were read of a document of n sentences; all tuples are of length n.

    Attributes:
        bits: surprisal of each sentence after those before it.
        tokens: tokens of each sentence that have a surprisal.
        alone: bits of each sentence read by itself; 0 for the opening one, and all 0 where the
            detector does not ask for them.
        matched: the part of ``bits`` that stands against ``alone``: without a start-of-text token
            the first token of a sentence by itself has no surprisal, and is left out of both.
        following: bits of the sentences after each one, when it is taken out; as ``alone``.
        following_tokens: the number of these tokens.
    """

    bits: tuple[float, ...]
    tokens: tuple[int, ...]
    alone: tuple[float, ...]
    matched: tuple[float, ...]
    following: tuple[float, ...]
    following_tokens: tuple[int, ...]

    def context_help(self, sentence: int) -> float:
        """h (bits): how much less surprising a sentence is after those before it than alone."""
        return self.alone[sentence] - self.matched[sentence]

    def following_help(self, sentence: int) -> float:
        """f (bits): how much less surprising what follows is with the sentence than without."""
        return self.following[sentence] - sum(self.bits[sentence + 1 :])

    def per_token(self, sentence: int, bits: float) -> float:
        """Bits over the tokens of a sentence."""
        # Plus 0: no help at all is not minus nothing.
        return bits / max(1, self.tokens[sentence]) + 0.0


@dataclass(frozen=True)
class SurprisalDetector:
    """A way to score sentences.

    Attributes:
        name, summary: its score, in a word and for people.
        alone: it needs every sentence but the opening one read by itself.
        without: it needs the document read without each sentence that something follows.
        score: gives bits per token from what was read and the place of a sentence (1 to n - 1).
    """

    name: str
    summary: str
    alone: bool
    without: bool
    score: Callable[[DocumentBits, int], float]


def _mutual(read: DocumentBits, sentence: int) -> float:
    helps = read.context_help(sentence) + read.following_help(sentence)
    return read.per_token(sentence, -helps)


def _context(read: DocumentBits, sentence: int) -> float:
    return read.per_token(sentence, -read.context_help(sentence))


def _following(read: DocumentBits, sentence: int) -> float:
    return read.per_token(sentence, -read.following_help(sentence))


def _surprisal(read: DocumentBits, sentence: int) -> float:
    return read.per_token(sentence, read.bits[sentence])


def _removal(read: DocumentBits, sentence: int) -> float:
    bits = sum(read.bits[:sentence]) + read.following[sentence]
    tokens = sum(read.tokens[:sentence]) + read.following_tokens[sentence]
    return sum(read.bits) / max(1, sum(read.tokens)) - bits / max(1, tokens)


#: The detectors by name; the first is the default.
DETECTORS = {
    detector.name: detector
    for detector in (
        SurprisalDetector(
            "mutual",
            "negative mutual information of the sentence and the rest, per token",
            True,
            True,
            _mutual,
        ),
        SurprisalDetector(
            "context",
            "negative bits per token that the context saves on the sentence",
            True,
            False,
            _context,
        ),
        SurprisalDetector(
            "following",
            "negative bits per token that the sentence saves on the text after it",
            False,
            True,
            _following,
        ),
        SurprisalDetector(
            "surprisal",
            "mean surprisal of the sentence after the text before it",
            False,
            False,
            _surprisal,
        ),
        SurprisalDetector(
            "removal",
            "mean surprisal of the document, minus its mean surprisal without the sentence",
            False,
            True,
            _removal,
        ),
    )
}
DEFAULT_DETECTOR = next(iter(DETECTORS))


def detector_of(name: str) -> SurprisalDetector:
    """The detector of that name."""
    if name not in DETECTORS:
        raise EvaluationError(f"no detector {name!r}; expected one of {', '.join(DETECTORS)}")
    return DETECTORS[name]


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
        detector: a name in :data:`eval.tasks.detect.detect.DETECTORS`.
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
        detector: a name in :data:`eval.tasks.detect.detect.DETECTORS`.
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
    from coherencegym.eval.plan.requests import Query

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
    from coherencegym.eval.plan.requests import region_places

    read = [p for p in region_places(whole.encoding, region) if whole.encoding.starts[p] >= first]
    return float(whole.bits[read].sum())
