"""Intruder sentences: where they come from, where they go, and that nothing else moves them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherencegym.engines import Engine
from coherencegym.loaders.discourse import Discourse, Unit, undo
from coherencegym.manipulations.intruders.intruder_sentence import (
    NO_CANDIDATE,
    NOT_SELECTED,
    TOO_SHORT,
    FittedIntruderSentence,
    IntruderSentence,
)
from coherencegym.manipulations.intruders.neighbours import groups, normalised
from coherencegym.manipulations.operator import Context

TOPICS = ("lighthouse lamp coast ship", "bridge river arch stone", "owl nest feather night")


def collection(number: int = 60, sentences: int = 5, seed: int = 1) -> list[Discourse]:
    """Documents on three topics; no two share a line."""
    generator = random.Random(seed)
    made = []
    for i in range(number):
        words = [*TOPICS[i % 3].split(), "the", "a", "of", "near", "old", "was", "is"]
        units = tuple(
            Unit(f"Text {i} says {place}: {' '.join(generator.choices(words, k=9))}.")
            for place in range(sentences)
        )
        made.append(Discourse(f"d{i:03}", "toy", units, meta={"domain": f"topic{i % 3}"}))
    return made


def fit(
    operator: IntruderSentence, documents: Sequence[Discourse], seed: int = 0, **how: object
) -> FittedIntruderSentence:
    return operator.fit(documents, Context(seed, "test"), **how)  # type: ignore[arg-type]


def intruded(fitted: FittedIntruderSentence, document: Discourse) -> Discourse | None:
    return next(fitted(document, Context(0, "test")), None)


@pytest.mark.parametrize("strategy", ["similar", "random", "same_category"])
def test_one_sentence_and_never_the_first_is_replaced(strategy: str) -> None:
    documents = collection()
    by_id = {document.id: document for document in documents}
    fitted = fit(IntruderSentence(strategy=strategy), documents)
    assert 15 <= len(fitted.choices) <= 45
    for document in documents:
        changed = intruded(fitted, document)
        if document.id not in fitted.choices:
            assert changed is None
            assert fitted.reasons[document.id] in (NOT_SELECTED, NO_CANDIDATE)
            continue
        choice = fitted.choices[document.id]
        assert changed is not None
        assert changed.variant == "intruded"
        places = [
            i for i, (a, b) in enumerate(zip(document.texts, changed.texts, strict=True)) if a != b
        ]
        assert places == [choice.slot]
        assert choice.slot > 0
        assert undo(changed) == document.texts
        source = by_id[choice.intruder.discourse]
        assert source.id != document.id
        assert choice.intruder.unit > 0
        assert changed.texts[choice.slot] == source.texts[choice.intruder.unit]
        assert choice.intruder.similarity < 0.6
        if strategy == "same_category":
            assert source.meta["domain"] == document.meta["domain"]


def test_similar_documents_are_of_the_same_topic() -> None:
    documents = collection()
    by_id = {document.id: document for document in documents}
    choices = fit(IntruderSentence(share=1.0, most_similar=0.99), documents).choices
    same = [
        by_id[name].meta["domain"] == by_id[choice.intruder.discourse].meta["domain"]
        for name, choice in choices.items()
    ]
    assert sum(same) / len(same) > 0.85
    drawn = fit(IntruderSentence(share=1.0, strategy="random"), documents).choices
    same = [
        by_id[name].meta["domain"] == by_id[choice.intruder.discourse].meta["domain"]
        for name, choice in drawn.items()
    ]
    assert sum(same) / len(same) < 0.6


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.3, 0.6]))
def test_candidates_are_neither_too_similar_nor_the_documents_own(seed: int, most: float) -> None:
    generator = random.Random(seed)
    lines = [f"line {i} about the {generator.choice('abcdef')} bridge" for i in range(40)]
    documents = [
        Discourse(f"d{i}", "toy", tuple(Unit(generator.choice(lines)) for _ in range(4)))
        for i in range(15)
    ]
    group_of = groups([document.texts for document in documents])
    index = {document.id: i for i, document in enumerate(documents)}
    for name, choice in fit(
        IntruderSentence(share=1.0, most_similar=most), documents
    ).choices.items():
        document = documents[index[name]]
        assert choice.intruder.similarity < most
        assert normalised(choice.intruder.text) not in set(map(normalised, document.texts))
        assert group_of[index[name]] != group_of[index[choice.intruder.discourse]]


def test_documents_that_share_lines_give_each_other_nothing() -> None:
    first, second, *_ = collection(2)
    window = replace(second, id="window", units=(*second.units[1:], first.units[0]))
    fitted = fit(IntruderSentence(share=1.0), [first, second, window])
    assert not fitted.choices
    assert set(fitted.reasons.values()) == {NO_CANDIDATE}


def test_documents_of_one_group_give_each_other_nothing() -> None:
    documents = collection()
    group_of = [number // 20 for number in range(60)]  # each has all topics
    fitted = IntruderSentence().fit(documents, Context(0, "test"), group_of=group_of)
    number = {document.id: place for place, document in enumerate(documents)}
    assert len(fitted.choices) >= 15
    for name, choice in fitted.choices.items():
        assert group_of[number[name]] != group_of[number[choice.intruder.discourse]]


def test_the_last_sentence_can_be_kept() -> None:
    documents = collection(200, sentences=4)
    slots = {
        keep: Counter(c.slot for c in fit(operator, documents).choices.values())
        for keep in (0, 1)
        for operator in [IntruderSentence(share=1.0, keep_last=keep)]
    }
    assert {keep: set(found) for keep, found in slots.items()} == {0: {1, 2, 3}, 1: {1, 2}}
    short = fit(IntruderSentence(share=1.0, keep_last=1), collection(9, sentences=2))
    assert set(short.reasons.values()) == {TOO_SHORT}


def test_the_result_depends_on_the_seed_and_on_nothing_else() -> None:
    documents = collection()
    operator = IntruderSentence()
    one = fit(operator, documents)
    assert fit(operator, documents, engine=Engine(2)) == one
    assert fit(operator, documents, seed=1).choices != one.choices
    # Which documents are drawn, and their slots, depend on no other document.
    some = fit(operator, documents[:30]).choices
    assert {name: c.slot for name, c in some.items()} == {
        name: c.slot for name, c in one.choices.items() if name < "d030"
    }
    assert [(n, c.slot, c.intruder.discourse) for n, c in list(one.choices.items())[:3]] == GOLDEN


GOLDEN = [("d001", 1, "d004"), ("d002", 1, "d001"), ("d003", 4, "d015")]


def test_the_share_is_of_documents() -> None:
    documents = collection(400)
    assert len(fit(IntruderSentence(share=1.0), documents).choices) == 400
    assert 60 <= len(fit(IntruderSentence(share=0.2), documents).choices) <= 100


def test_short_documents_stay_as_they_are() -> None:
    documents = [*collection(20), Discourse("one", "toy", (Unit("Only one sentence here."),))]
    fitted = fit(IntruderSentence(share=1.0), documents)
    assert fitted.reasons == {"one": TOO_SHORT}
    context = Context(0, "test")
    assert list(fitted(documents[-1], context)) == []
    assert context.skipped == {TOO_SHORT: 1}
    assert all(choice.intruder.discourse != "one" for choice in fitted.choices.values())


def test_the_filter_prefers_what_the_detector_does_not_find() -> None:
    documents = collection()
    asked: list[int] = []

    def detector(texts: Sequence[Sequence[str]]) -> list[list[float]]:
        """Finds intruders from texts of an even number."""
        asked.append(len(texts))
        return [
            [float("-inf"), *(float(int(text.split()[1]) % 2 == 0) for text in document[1:])]
            for document in texts
        ]

    plain = fit(IntruderSentence(share=1.0), documents)
    filtered = fit(IntruderSentence(share=1.0), documents, detector=detector)
    assert asked[0] > len(documents)
    assert {c.difficulty for c in plain.choices.values()} == {""}
    # Only an odd intruder among even sentences is not the one with the highest score.
    preferred = 0
    for name, choice in filtered.choices.items():
        even = int(name[1:]) % 2 == 0
        from_odd = int(choice.intruder.discourse[1:]) % 2 == 1
        assert choice.difficulty == ("difficult" if even and from_odd else "easy")
        preferred += even and from_odd
    assert preferred > sum(
        int(n[1:]) % 2 == 0 and int(c.intruder.discourse[1:]) % 2 == 1
        for n, c in plain.choices.items()
    )
    slots = {name: choice.slot for name, choice in plain.choices.items()}
    assert slots == {name: choice.slot for name, choice in filtered.choices.items()}


def test_what_cannot_be() -> None:
    with pytest.raises(TypeError, match="not fitted"):
        next(IntruderSentence()(collection(1)[0], Context()))
    with pytest.raises(ValueError, match="same id"):
        fit(IntruderSentence(), [*collection(1), *collection(1)])
    with pytest.raises(ValueError, match="strategy is 'nearest'; expected one of similar"):
        IntruderSentence(strategy="nearest")
    with pytest.raises(ValueError, match="share is 0"):
        IntruderSentence(share=0)
    with pytest.raises(ValueError, match="neighbours is 0"):
        IntruderSentence(neighbours=0)


def test_the_recipe_names_what_is_not_the_default() -> None:
    fitted = fit(IntruderSentence(share=0.2), collection(10))
    assert str(fitted) == "IntruderSentence(share=0.2)"
