"""What holds of every operator, whatever it does: on any discourse, and on all of the samples.

An operator is a value, and so is what it makes: the same discourse and seed give the same results,
in any company; nothing else changes; every change can be undone; text stays text. That they are the
same in any process, however it hashes, the digests of rows show (``test_digests.py``).
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
import sys
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operators_page import EXAMPLES
from support.strategies import FEW, discourses

from coherencegym import manipulations
from coherencegym.loaders.discourse import Discourse, span_text, spans, undo
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import CORPORA, corpus, sample_of
from coherencegym.manipulations.connectives import (
    ConnectiveSegments,
    ConnectiveSubstitution,
)
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.matched_order import MatchedOrder
from coherencegym.manipulations.operator import Context, Operator, Pipeline
from coherencegym.manipulations.probes.registry import PROBES, ProbeSentence
from coherencegym.manipulations.reference.antecedents import PronounRepetition
from coherencegym.manipulations.reference.named_people import NewNames, OwnNames, Renaming
from coherencegym.manipulations.reference.schemas import CandidateSubstitution
from coherencegym.manipulations.units import (
    EndingSwap,
    Exchange,
    LastUnit,
    MoveToFront,
    Shuffle,
    SpeakerSeparator,
)

#: One or more of each, with settings that take another way through it.
OPERATORS: tuple[Operator, ...] = (
    Shuffle(),
    Shuffle(keep_last=1, permutations=4),
    MoveToFront(),
    Exchange(),
    Exchange(unit=2),
    LastUnit(),
    SpeakerSeparator(),
    EndingSwap(),
    OwnNames(),
    Renaming((("Dmitri", "Keith"),)),
    NewNames(),
    CandidateSubstitution(),
    CandidateSubstitution(candidate="target"),
    ConnectiveSegments(),
    ConnectiveSubstitution(replacement="since"),
    PronounRepetition(),
    PronounRepetition(repeat=False),
    *(ProbeSentence(probe=name) for name in PROBES),
    Shuffle(keep_last=1) | SpeakerSeparator(),
    ConnectiveSegments() | ConnectiveSubstitution(replacement="yet"),
)
#: These choose for each text of several, which they are fitted to.
CHOOSING: tuple[MatchedOrder | IntruderSentence, ...] = (
    MatchedOrder(caliper=1e9),
    IntruderSentence(share=1.0),
    IntruderSentence(strategy="random", keep_last=1),
)
#: These cut excerpts out of a discourse, which may have no place for one.
EXCERPTS = (ConnectiveSegments, PronounRepetition)
#: These may find nothing to do, and no reason to name.
SILENT = (*EXCERPTS, ConnectiveSubstitution, CandidateSubstitution)
#: These may leave every word in its place.
SPARING = (MoveToFront, SpeakerSeparator, OwnNames, CandidateSubstitution)
#: What an operator may change.
MADE = (
    *("units", "variant", "edits"),
    *("mentions", "relations", "alternatives", "judgements", "tree"),
)
EACH = pytest.mark.parametrize("operator", OPERATORS, ids=str)
EVERY = pytest.mark.parametrize("operator", [*OPERATORS, *CHOOSING], ids=str)


def fitted(
    operator: Operator | MatchedOrder, texts: Sequence[Discourse], seed: int = 0
) -> Operator:
    """The operator, ready for these texts."""
    if isinstance(operator, IntruderSentence):
        return operator.fit(texts, Context(seed, "test"))
    if isinstance(operator, MatchedOrder):
        return operator.fit(texts, [one.id for one in texts], Context(seed, "test"))
    return operator


@cache
def samples() -> tuple[Discourse, ...]:
    """Some texts in the format of each corpus, with every kind of annotation that there is."""
    formats = set(CORPORA) - {"documents"}  # of no annotation, and slow to read
    own = [found for name in sorted(formats) if (found := sample_of(corpus(name))) is not None]
    texts = [text for _, text in EXAMPLES if isinstance(text, Discourse)]
    shown = {f"{text.id}{text.variant}": text for text in texts}
    return (
        *(text for sample in own for text in list(read(sample))[::4][:14]),
        *(dataclasses.replace(text, id=name) for name, text in shown.items()),
    )


def suited(operator: object) -> tuple[Discourse, ...]:
    """Those of them that the operator can be fitted to: orders are of texts equally long."""
    whole = not isinstance(operator, MatchedOrder)
    return tuple(text for text in samples() if whole or len(text.units) == 5)


def check(original: Discourse, operator: Operator, seed: int = 0) -> list[Discourse]:
    """What the operator makes of a discourse, in which all is as it has to be."""
    kept, context, again = copy.deepcopy(original), Context(seed, "test"), Context(seed, "test")
    results = list(operator(original, context))
    assert original == kept
    assert (list(operator(original, again)), again) == (results, context)
    for reason in context.skipped:
        assert reason == " ".join(reason.split()) != ""
    first = operator.steps[0] if isinstance(operator, Pipeline) and operator.steps else operator
    if not isinstance(first, SILENT):
        assert results or context.skipped
        assert not (results and context.skipped) or isinstance(first, Shuffle)
    one_each = len({result.variant for result in results}) == len(results)
    assert one_each or isinstance(operator, ConnectiveSubstitution)  # but of a segment
    there = {span_text(original, span) for span in spans(original)}
    for result in results:
        assert (
            dataclasses.replace(result, **{name: getattr(original, name) for name in MADE})
            == original
        )
        assert all(text == " ".join(text.split()) != "" for text in result.texts)
        assert {span_text(result, span) for span in spans(result)} <= there
        if isinstance(first, EXCERPTS):
            assert {*undo(result)} <= {*original.texts}
            continue
        assert undo(result) == original.texts
        assert result.texts != original.texts or isinstance(first, SPARING)
        edited = {edit.unit for edit in result.edits}
        if len(result.units) == len(original.units):
            for place, (old, new) in enumerate(zip(original.units, result.units, strict=True)):
                assert place in edited or old == new
        if isinstance(operator, SpeakerSeparator):
            assert len([*spans(result)]) == len([*spans(original)])
    return results


def test_every_operator_is_here() -> None:
    for module in pkgutil.walk_packages(manipulations.__path__, f"{manipulations.__name__}."):
        importlib.import_module(module.name)
    named = {type(operator) for operator in (*OPERATORS, *CHOOSING)}
    named |= {type(fitted(operator, suited(operator)[:9])) for operator in CHOOSING}
    assert named == {
        each
        for each in Operator.__subclasses__()
        if each.__module__.startswith(manipulations.__name__)
        # A module that another test wrote and took away may still be remembered.
        and each is getattr(sys.modules.get(each.__module__), each.__name__, None)
    }


@EVERY
def test_it_is_a_value_that_reads_as_it_was_made(operator: Operator | MatchedOrder) -> None:
    assert eval(str(operator), globals()) == operator
    assert pickle.loads(pickle.dumps(operator)) == operator
    for field in dataclasses.fields(operator):  # type: ignore[arg-type]
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(operator, field.name, None)


@EACH
@FEW
@given(discourses(), st.integers(0, 9))
def test_any_discourse(operator: Operator, discourse: Discourse, seed: int) -> None:
    check(discourse, operator, seed)


@EVERY
def test_all_samples(operator: Operator | MatchedOrder) -> None:
    """Each text makes what it does alone also in the company of all others."""
    texts = suited(operator)
    ready, together = fitted(operator, texts), Context(0, "test")
    alone = [result for text in texts for result in check(text, ready)]
    assert alone == [result for text in texts for result in ready(text, together)]
    assert alone
