"""Span coherence: worked answers, toys and real files, by the paper and by its program."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.span_texts import (
    abduction,
    entailment,
    judged_choice,
    judged_one,
    places,
    real_abduction,
    real_entailment,
    shares,
)

from coherencegym.eval.kinds.documents import NEGATIVE, POSITIVE, UNDECIDED, SpanText
from coherencegym.eval.tasks.spans.coherence import (
    COHERENCE_METRICS,
    THRESHOLDS,
    SpanPrediction,
    TextPrediction,
    best_thresholds,
    constant_answers,
    mean_of,
    most_frequent_answer,
    released_coherence,
    thresholds_by_folds,
)

A = entailment("a", ("One.", "Two.", "Three."), 1, [0, 1])
B = entailment("b", ("One.", "Two."), 0, [])
C = entailment("c", ("One.",), 1, [0, 0])


def toy(a: set[tuple[int, int]], b: set[tuple[int, int]], c: bool) -> list[TextPrediction]:
    return [
        judged_one(A, lambda *place: place in a),
        judged_one(B, lambda *place: place in b),
        judged_one(C, lambda *_: c),
    ]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (toy({(0, 1), (0, 2)}, set(), True), (1, 1, 1, 1, 1, 1)),
        (toy({*places(3)}, {*places(2)}, True), (2 / 3, 1 / 3, 4 / 9, 4 / 9, 1 / 3, 4 / 9)),
        (toy(set(), set(), False), (1 / 3, 1 / 3, 5 / 9, 1 / 3, 1 / 3, 1 / 3)),
        (toy({(0, 0), (0, 1), (0, 2)}, set(), True), (1, 2 / 3, 17 / 18, 17 / 18, 2 / 3, 17 / 18)),
        (toy({(0, 1)}, set(), True), (2 / 3, 2 / 3, 17 / 18, 2 / 3, 1, 2 / 3)),
        (toy({(0, 1), (0, 2)}, {(0, 0)}, True), (1, 2 / 3, 8 / 9, 8 / 9, 2 / 3, 2 / 3)),
    ],
)
def test_toy_of_one_text(answers: list[TextPrediction], expected: tuple[float, ...]) -> None:
    found, ((stricts, _), (lenients, _)) = shares(answers), released_coherence(answers)
    assert (
        *(found[name] for name in ("accuracy", *COHERENCE_METRICS)),
        mean_of(stricts), mean_of(lenients),
    ) == pytest.approx(expected)  # fmt: skip


def toy_choice() -> list[TextPrediction]:
    def story(name: str, label: int, pair: tuple[int, int], later: bool | None) -> SpanText:
        return abduction(name, "Then.", ("He went.", "He came."), "End.", label - 1, pair, later)

    return [
        judged_choice(
            story("x", 1, (1, 2), None), {(1, 1): 0.5, (0, 1): 0.55, (1, 2): 0.8, (0, 2): 0.9}
        ),
        judged_choice(
            story("y", 2, (0, 1), True), {(1, 1): 0.4, (0, 1): 0.2, (1, 2): 0.45, (0, 2): 0.3}
        ),
        judged_choice(
            story("z", 1, (1, 1), None), {(1, 1): 0.7, (0, 1): 0.6, (1, 2): 0.65, (0, 2): 0.45}
        ),
    ]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (0.25, (2 / 3, 8 / 9, 2 / 3)),
        (0.15, (1 / 3, 8 / 9, 11 / 18)),
        (0.45, (1 / 3, 13 / 18, 11 / 18)),
        (0.85, (0, 5 / 9, 4 / 9)),
    ],
)
def test_toy_of_a_choice(threshold: float, expected: tuple[float, ...]) -> None:
    found = shares(toy_choice(), threshold)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert tuple(found[name] for name in COHERENCE_METRICS) == pytest.approx(expected)


def test_toy_of_a_choice_as_released() -> None:
    (stricts, strict_at), (lenients, lenient_at) = released_coherence(toy_choice(), (0.15, 0.35))
    assert mean_of(lenients) == pytest.approx(20 / 21)
    assert (mean_of(stricts), strict_at, lenient_at) == (1.0, 0.15, 0.15)


@pytest.fixture
def entailments(shared: Path) -> list[SpanText]:
    return real_entailment(shared / "corpora" / "verifiable")


@pytest.fixture
def abductions(shared: Path) -> list[SpanText]:
    return real_abduction(shared / "corpora" / "verifiable")


def test_the_notebooks_output_on_entailment(entailments: list[SpanText]) -> None:
    first = entailments[:10]
    assert [text.item_id for text in first] == [str(number) for number in range(73, 83)]
    answers = [judged_one(text, lambda *_: True) for text in first]
    assert shares(answers)["accuracy"] == 0.7
    (stricts, _), (lenients, _) = released_coherence(answers)
    assert mean_of(lenients) == 0.4269000933706816
    assert mean_of(stricts) == 0.4


NOTEBOOK = (156, 38, 203, 124, 182, 215, 39, 90, 44, 27, 158, 189, 50, 199, 83, 58, 129, 142, 72)


@pytest.mark.parametrize("sixth", [124, 90, 44, 27])
def test_the_notebooks_output_on_choices(abductions: list[SpanText], sixth: int) -> None:
    numbers = sorted(int(text.item_id.removeprefix("val_")) for text in abductions)[:20]
    chosen = [t for t in abductions if int(t.item_id.removeprefix("val_")) in numbers]
    assert [t.item_id for t in chosen] == [f"val_{number}" for number in (*NOTEBOOK, 188)]
    wrong = {f"val_{number}" for number in (203, 215, 39, 158, 58, sixth)}
    answers = []
    for text in chosen:
        end = 1 - text.label if text.item_id in wrong else text.label
        answers.append(
            TextPrediction(text, dict.fromkeys(places(3), SpanPrediction(end, 0.5, 0.0)))
        )
    assert shares(answers)["accuracy"] == 0.7
    (stricts, strict_at), (lenients, lenient_at) = released_coherence(answers)
    assert mean_of(lenients) == 0.18246427120454473
    assert (mean_of(stricts), strict_at, lenient_at) == (0.15, 1.0, 1.0)


def overlap(least: float) -> Callable[[SpanText, int, int], bool]:
    def words(text: str) -> set[str]:
        return {*re.findall("[a-z']+", text.lower())} - {"speakera", "speakerb"}

    def judge(text: SpanText, a: int, b: int) -> bool:
        wanted = words(text.hypothesis)
        return len(wanted & words(" ".join(text.units[a : b + 1]))) / len(wanted) >= least

    return judge


def digest(text: SpanText, a: int, b: int) -> str:
    return hashlib.sha256(f"{text.item_id}:{a}:{b}".encode()).hexdigest()


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (lambda *_: False, (0.424419, 0.424419, 0.667441, 0.424419, 0.424419, 0.424419)),
        (lambda *_: True, (0.575581, 0.244186, 0.332559, 0.332559, 0.244186, 0.332559)),
        (lambda _, a, b: b > a, (0.459302, 0.191860, 0.508371, 0.349152, 0.191860, 0.349152)),
        (overlap(0.5), (0.540698, 0.366279, 0.635349, 0.476724, 0.366279, 0.476724)),
        (overlap(0.4), (0.552326, 0.372093, 0.623905, 0.478174, 0.372093, 0.478174)),
        (lambda _, a, b: (b - a) % 2, (0.412791, 0.191860, 0.535901, 0.335262, 0.203488, 0.306202)),
        (
            lambda *span: int(digest(*span)[-1], 16) < 8,
            (0.476744, 0.168605, 0.457625, 0.341804, 0.186047, 0.294864),
        ),
    ],
)
def test_judges_of_the_real_entailments(
    entailments: list[SpanText], judge: Any, expected: tuple[float, ...]
) -> None:
    answers = [judged_one(text, partial(judge, text)) for text in entailments]
    found, ((stricts, _), (lenients, _)) = shares(answers), released_coherence(answers)
    assert (
        *(found[name] for name in ("accuracy", *COHERENCE_METRICS)),
        mean_of(stricts), mean_of(lenients),
    ) == pytest.approx(expected, abs=6e-7)  # fmt: skip
    assert sum(len(text.gold) for text in entailments) == 1119
    assert sum(one.answer for text in entailments for one in text.gold) == 156


def always_right(text: SpanText, a: int, b: int) -> float:
    return 0.5 if (a, b) in ((0, 0), (2, 2)) else 1.0 - text.label


def as_gold(text: SpanText, a: int, b: int) -> float:
    gold = {(one.start, one.end): one.answer for one in text.gold}[a, b]
    return 0.5 if gold == UNDECIDED else 1.0 - gold


def hashed(text: SpanText, a: int, b: int) -> float:
    return 0.5 if a == b != 1 else int(digest(text, a, b)[:8], 16) / 2**32


@pytest.mark.parametrize(
    ("judge", "accuracy", "strict", "lenient", "gated", "released"),
    [
        (as_gold, 1, 1, 1, 1, (1, 0.05, 1, 0.05)),
        (
            lambda *_: 0.5,
            *(0.550265, 0, 0.6146, 0.3395),
            (0.1164, 1.0, 0.1600, 0.05),
        ),
        (
            always_right,
            *(1, 0.0952, 0.7187, 0.7187),
            (0.8836, 0.05, 0.7388, 1.0),
        ),
        (
            lambda text, a, b: 1.0 - text.label if (a, b) == (0, 2) else 0.5,
            *(1, 0, 0.7813, 0.7813),
            (0.1164, 1.0, 0.6113, 0.05),
        ),
        (
            lambda _, a, b: 0.5 if (a, b) in ((0, 0), (2, 2)) else 1.0,
            *(0.550265, 0.0476, 0.5441, 0.3942),
            (0.4656, 0.05, 0.4056, 1.0),
        ),
        (
            hashed,
            *(0.439153, 0.0212, 0.6146, 0.2804),
            (0.3175, 0.05, 0.2178, 0.35),
        ),
    ],
)
def test_judges_of_the_real_choices(
    abductions: list[SpanText], judge: Any, accuracy: float, strict: float, lenient: float,
    gated: float, released: Any,
) -> None:  # fmt: skip
    answers = [
        judged_choice(text, {place: judge(text, *place) for place in places(3)})
        for text in abductions
    ]
    (stricts, strict_at), (lenients, lenient_at) = released_coherence(answers)
    means = mean_of(stricts), mean_of(lenients)
    assert means == pytest.approx((released[0], released[2]), abs=6e-5)
    assert (strict_at, lenient_at) == (released[1], released[3])
    best = [
        max(mean_of(one.metric(name, at) for one in answers) for at in THRESHOLDS)
        for name in COHERENCE_METRICS
    ]
    assert best == pytest.approx([strict, lenient, gated], abs=6e-5)
    assert shares(answers)["accuracy"] == pytest.approx(accuracy, abs=6e-7)


def test_the_best_threshold_of_the_hashed_judge(abductions: list[SpanText]) -> None:
    answers = [
        judged_choice(text, {place: hashed(text, *place) for place in places(3)})
        for text in abductions
    ]
    expected = {"strict": 0.4, "lenient": 1.0, "lenient if right": 0.6}
    assert best_thresholds(answers) == expected


def test_gold_of_the_real_choices(abductions: list[SpanText]) -> None:
    def undecided(place: tuple[int, int]) -> tuple[int, int]:
        found = Counter(
            one.answer == UNDECIDED
            for text in abductions
            for one in text.gold
            if (one.start, one.end) == place
        )
        return found[True], found[False]

    assert undecided((1, 1)) == (171, 18)
    assert undecided((0, 1)) == (126, 63)
    assert undecided((1, 2)) == (22, 167)
    assert undecided((0, 2)) == (0, 189)


def test_constants_are_the_judges_that_read_nothing(
    entailments: list[SpanText], abductions: list[SpanText]
) -> None:
    never = shares([constant_answers(text, NEGATIVE) for text in entailments])
    assert never["strict"] == pytest.approx(0.424419, abs=6e-7)
    assert most_frequent_answer(entailments) == POSITIVE
    unsure = shares([constant_answers(text, UNDECIDED) for text in abductions])
    assert (unsure["strict"], unsure["lenient"]) == pytest.approx((0, 0.6146), abs=6e-5)


def in_order(found: dict[str, float]) -> None:
    """Who is right about every part is right about the whole, and about no fewer parts."""
    assert found["strict"] <= found["lenient if right"] + 1e-12
    assert found["lenient if right"] <= found["lenient"] + 1e-12
    assert found["strict"] <= found["accuracy"]


PROBABILITIES = st.lists(st.floats(0, 1), min_size=6, max_size=6)


@given(st.lists(st.tuples(PROBABILITIES, st.integers(0, 1), st.booleans()), min_size=1, max_size=4))
def test_what_always_holds_of_one_text(drawn: list[tuple[list[float], int, bool]]) -> None:
    answers = []
    for number, (chances, label, _) in enumerate(drawn):
        text = entailment(f"t{number}", ("One.", "Two.", "Three."), label, [0, 1])
        predicted = dict(zip(places(3), map(SpanPrediction.of_one_text, chances), strict=True))
        answers.append(TextPrediction(text, predicted))
    in_order(shares(answers))


@given(st.lists(st.tuples(PROBABILITIES, st.integers(0, 1), st.booleans()), min_size=1, max_size=4))
def test_what_always_holds_of_a_choice(drawn: list[tuple[list[float], int, bool]]) -> None:
    answers, swapped = [], []
    for number, (chances, label, later) in enumerate(drawn):
        given_ = abduction(f"t{number}", "A.", ("B.", "C."), "D.", label, (0, 1), later)
        other = abduction(f"t{number}", "A.", ("C.", "B."), "D.", 1 - label, (0, 1), later)
        pairs = [(p, 1 - p) for p in chances]
        # A tie goes to the first alternative, whichever that is.
        pairs = [(0.75, 0.25) if one == two else (one, two) for one, two in pairs]
        answers.append(
            TextPrediction(
                given_, dict(zip(places(3), map(SpanPrediction.of_choice, pairs), strict=True))
            )
        )
        turned = [SpanPrediction.of_choice((two, one)) for one, two in pairs]
        swapped.append(TextPrediction(other, dict(zip(places(3), turned, strict=True))))
    for threshold in THRESHOLDS:
        found = shares(answers, threshold)
        assert found == pytest.approx(shares(swapped, threshold), nan_ok=True)
        in_order(found)
    assert shares(answers, 1.01)["strict"] == 0
    assert released_coherence(answers) == released_coherence(swapped)


def test_monotone_is_what_no_longer_span_takes_back() -> None:
    kept, taken = toy({(0, 1), (0, 2)}, set(), True), toy({(0, 1)}, {(0, 0)}, True)
    assert [one.monotone(0.05) for one in kept] == [True, True, True]
    assert [one.monotone(0.05) for one in taken] == [False, False, True]
    x = toy_choice()[0]
    assert x.monotone(0.25)
    assert not x.monotone(0.85) or x.answer((0, 2), 0.85) == UNDECIDED
    unsure = judged_choice(x.text, {(1, 2): 0.9, (0, 2): 0.6})
    assert not unsure.monotone(0.5)


def test_thresholds_come_from_the_texts_of_other_folds() -> None:
    x, y, z = toy_choice()
    found = thresholds_by_folds([x, y, z])
    for number, own in enumerate((x, y, z)):
        others = best_thresholds([one for one in (x, y, z) if one is not own])
        assert {name: values[number] for name, values in found.items()} == others
    alone = thresholds_by_folds([x])
    assert alone == {name: [THRESHOLDS[0]] for name in COHERENCE_METRICS}
