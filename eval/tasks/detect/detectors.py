"""Score the sentences of documents by how much they look like intruders.

As a function that a builder can hand to an operator::


    detector = load_detector("gpt2")
    detector([["Ann had a dog.", "It barked.", "Tax rates fell."]])  # [[-inf, -0.2, 0.9]]

No torch at import.

Detectors with a language model look at what a sentence and its document have to do with each other.
For a document of sentences s_1 ... s_n, with surprisals S in bits,

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
fine-tune classifiers for it (section 5): one reads a sentence and its document, and says whether
the sentence is an intruder there. It is asked about any documents, also of another domain or
dataset than it has learned from. The other detectors are not trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.kinds.formula import RegionRef
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.models.machine import world
from coherencegym.eval.tasks.detect.documents import DocumentTable
from coherencegym.eval.tasks.detect.options import (
    CLASSIFIER,
    DEFAULT_DETECTOR,
    DETECTORS,
    DetectOptions,
)
from coherencegym.eval.tasks.task import WithHead
from coherencegym.eval.tasks.training.encoder import (
    Head,
    TrainingRow,
    count_truncated,
    most_tokens,
    read_logits,
)
from coherencegym.words import join_texts

if TYPE_CHECKING:
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.surprisal import Answer, ScoredCondition
    from coherencegym.eval.tasks.table import Table
    from coherencegym.eval.tasks.task import TaskContext


#: Detectors that read every sentence but the opening one by itself, and those that read the
#: document without each sentence that something follows.
_ALONE, _WITHOUT = ("mutual", "context"), ("mutual", "following")


def check_detector(name: str) -> None:
    """Refuse the name of no detector."""
    if name not in DETECTORS:
        raise EvaluationError(f"no detector {name!r}; expected one of {', '.join(DETECTORS)}")


#: The condition in which a document is read whole.
_WHOLE = "whole"


def load_detector(
    name: str, detector: str = DEFAULT_DETECTOR, **options: Any
) -> Callable[[Sequence[Sequence[str]]], list[list[float]]]:
    """A model as a function from documents to scores, as :func:`detections` gives them.

    Args:
        name: a Hub id, a folder, or ``demo``, as ``--model`` takes it.
        detector: a name in :data:`eval.tasks.detect.options.DETECTORS`.
        options: those of :func:`eval.models.load.load`.
    """
    from coherencegym.eval.models.load import load
    from coherencegym.eval.models.machine import quiet_libraries
    from coherencegym.eval.tasks.task import TaskContext

    check_detector(detector)
    quiet_libraries()
    context = TaskContext(load(name, scorer="causal", **options))
    return lambda documents: detections(context, documents, detector)


def detections(
    context: TaskContext,
    documents: Sequence[Sequence[str]],
    detector: str = DEFAULT_DETECTOR,
    names: Sequence[str] = (),
    table: Table[Any] | None = None,
) -> list[list[float]]:
    """Score each sentence of each document by how much it looks like an intruder.

    Args:
        context: a causal language model, and how it reads.
        documents: sentences in reading order; one space is put between them.
        detector: a name in :data:`DETECTORS`.
        names: say what errors call each document; empty: by their numbers.
        table: where they are from; None: nowhere.

    Returns:
        Scores in bits per token, higher is more like an intruder; minus infinity for the opening
        sentence. NaN for all others of a document that is longer than the model's context, and for
        all of one in which a token has characters of two sentences.
    """
    queries = document_queries(documents, detector, names)
    scores = [[-math.inf] * len(sentences) for sentences in documents]
    read = iter(context.surprisals(table, queries) if queries else ())
    for own in scores:
        if len(own) < 2:
            continue
        answers = [next(read) for _ in range(2 if detector in _ALONE else 1)]
        if any(answer.too_long for answer in answers):
            own[1:] = [math.nan] * (len(own) - 1)
            continue
        if _WHOLE not in answers[0].conditions:
            name = answers[0].item.item_id
            raise ConfigError(
                f"{name}: this tokenizer has no separator for [SEP]; expected one with --separator"
            )
        if any(c.encoding.crossing for answer in answers for c in answer.conditions.values()):
            own[:] = [math.nan] * len(own)
            continue
        own[1:] = _scores(answers, detector)
    return scores


def document_queries(
    documents: Sequence[Sequence[str]], detector: str, names: Sequence[str] = ()
) -> list[Query]:
    """The texts that a detector reads of documents.

    Sentence i (from 0) is region i + 1 of every condition, empty where the condition leaves it out.
    The document, and the document without each sentence, are one query, so that they share what
    they begin with; the sentences by themselves are another. A document of one sentence has none.
    """
    from coherencegym.eval.plan.requests import Query

    check_detector(detector)
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
        if detector in _WITHOUT:
            for out in places[:-1]:
                kept = {0, *places} - {out}
                conditions.append(_condition(_without(out), sentences, kept))
                reads[_without(out)] = _regions(place for place in places if place > out)
        queries.append(Query(name, conditions, reads))
        if detector in _ALONE:
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


def _scores(answers: Sequence[Answer[Query]], detector: str) -> list[float]:
    conditions = answers[0].conditions
    whole, document = conditions[_WHOLE], answers[0].item.conditions[0]
    read = [whole.region_bits(region.region_number) for region in document.regions]
    bits = [float(own.sum()) for own in read]
    scores = []
    for place in range(1, len(read)):
        score = bits[place]
        if detector != "surprisal":
            # How much less surprising the sentence, and what follows, is than without the other.
            saved = 0.0
            if detector in _ALONE:
                alone = answers[1].conditions[_alone(place)]
                own = float(alone.region_bits(place + 1).sum())
                saved = own - _matched(document, whole, alone, place + 1)
            if (out := conditions.get(_without(place))) is not None:
                after = (out.region_bits(other + 1) for other in range(place + 1, len(read)))
                saved += float(sum(own.sum() for own in after)) - sum(bits[place + 1 :])
            score = -saved
        # Plus 0: no help at all is not minus nothing.
        scores.append(score / max(1, len(read[place])) + 0.0)
    return scores


def _matched(
    document: Condition, whole: ScoredCondition, alone: ScoredCondition, region: int
) -> float:
    # The bits of a sentence in its document that stand against those of it alone: without a
    # start-of-text token its first token has no surprisal alone, and is left out of both.
    first = 0
    if alone.leaves_out_first(region):
        # The document's tokens may be cut elsewhere: what counts is where they begin.
        start, _ = document.region_offsets[region - 1]
        first = start + alone.encoding.ends[0]
    from coherencegym.eval.plan.requests import region_places

    read = [p for p in region_places(whole.encoding, region) if whole.encoding.starts[p] >= first]
    return float(whole.bits[read].sum())


#: The answers of a detector.
HEAD = Head(("coherent", "intruder"))
#: A part of the names of classes of transformers.
_CLASS = "ForSequenceClassification"


def with_detector(options: DetectOptions, made: Callable[[], str]) -> DetectOptions:
    """The options with the detector that fits a model's class: a classifier answers itself."""
    return replace(options, detector=CLASSIFIER) if _CLASS in made() else options


def load_for_detection(options: DetectOptions, load: WithHead) -> LoadedModel:
    """The classifier."""
    from transformers import AutoModelForSequenceClassification

    if world().size > 1:
        raise EvaluationError("detect: several processes with a classifier; expected one")
    loaded = load(AutoModelForSequenceClassification)
    labels = tuple(loaded.model.config.id2label.values())
    if labels != HEAD.labels:
        raise EvaluationError(
            f"model {loaded.name!r}: labels {', '.join(map(str, labels))}; expected "
            f"{', '.join(HEAD.labels)}, as coherencegym train documents leaves them"
        )
    return loaded


def classify(
    loaded: LoadedModel,
    table: DocumentTable,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[list[list[float]], int]:
    """Ask a classifier about every sentence of documents but the opening ones.

    Args:
        loaded: the classifier.
        table: the documents.
        step: told how many pairs are read, and how many there are.

    Returns:
        The log-odds (nats) of each sentence that it is an intruder, minus infinity for the opening
        one; and the number of pairs that were read without their end.
    """
    most = most_tokens(loaded.model.config, loaded.tokenizer)
    pairs = pairs_of(table.rows)
    inputs = [one for pair in pairs for one in pair.inputs]
    logits = read_logits(loaded, inputs, most, step=step)
    cut = count_truncated(loaded.tokenizer, pairs, most)
    return by_document(table.rows, log_odds(logits)), cut


def pairs_of(documents: Iterable[Document]) -> list[TrainingRow]:
    """The pairs of documents, in order: of each every sentence but the opening one."""
    pairs = []
    for document in documents:
        text = join_texts(sentence.strip() for sentence in document.sentences)
        for place, sentence in enumerate(document.sentences[1:], start=1):
            label = int(place == document.intruder_position)
            pairs.append(TrainingRow(((sentence.strip(), text),), label))
    return pairs


def by_document(documents: Sequence[Document], values: Sequence[float]) -> list[list[float]]:
    """Values of pairs as scores of sentences: minus infinity for each opening sentence."""
    scores, start = [], 0
    for document in documents:
        end = start + len(document.sentences) - 1
        scores.append([-math.inf, *values[start:end]])
        start = end
    return scores


def log_odds(logits: Iterable[Any]) -> list[float]:
    """Log-odds (nats) that sentences are intruders, from the two logits of each pair."""
    return [float(own[1] - own[0]) for own in logits]
