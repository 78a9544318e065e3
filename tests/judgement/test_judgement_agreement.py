"""Krippendorff's alpha on published examples and against exact fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.builders.judgement.answers import krippendorffs_alpha

Label = tuple[str, str, str]

#: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", with the values that it gives
#: for nominal data: two observers and two categories (section A), two observers and five (B), four
#: observers with missing values (C; of its twelve units one has a single value).
PUBLISHED = [
    (["0100000010", "1110010000"], "0.095", 10),
    (["aabbdcccedda", "babbbccceddd"], "0.692", 12),
    (["123321412...", "1233224125.3", ".3332342251.", "12332441251."], "0.743", 11),
]


def labels(rows: list[str]) -> list[Label]:
    """The labels of a reliability matrix: one row an observer, one column a unit."""
    return [
        (f"observer {observer}", f"unit {unit}", value)
        for observer, row in enumerate(rows)
        for unit, value in enumerate(row)
        if value != "."
    ]


@pytest.mark.parametrize(("rows", "published", "units"), PUBLISHED)
def test_published_examples(rows: list[str], published: str, units: int) -> None:
    value, number = krippendorffs_alpha(labels(rows))
    assert f"{value:.3f}" == published
    assert number == units


def exact(rows: list[Label]) -> Fraction | None:
    """Alpha from the coincidence matrix, as the paper defines it."""
    units: dict[str, list[str]] = {}
    for _, unit, label in rows:
        units.setdefault(unit, []).append(label)
    coincidences: Counter[tuple[str, str]] = Counter()
    weights: dict[tuple[str, str], Fraction] = {}
    for values in units.values():
        for i, one in enumerate(values):
            for j, other in enumerate(values):
                if i != j:
                    coincidences[one, other] += 1
                    weights[one, other] = weights.get((one, other), Fraction()) + Fraction(
                        1, len(values) - 1
                    )
    totals: dict[str, Fraction] = {}
    for (one, _), weight in weights.items():
        totals[one] = totals.get(one, Fraction()) + weight
    n = sum(totals.values(), Fraction())
    expected = sum((totals[c] * totals[k] for c in totals for k in totals if c != k), Fraction())
    if not expected:
        return None
    observed = sum((w for (c, k), w in weights.items() if c != k), Fraction())
    return 1 - (n - 1) * observed / expected


ROWS = st.integers(1, 8).flatmap(
    lambda width: st.lists(st.text("abc.", min_size=width, max_size=width), max_size=5)
)


@given(ROWS, st.randoms())
def test_alpha_is_that_of_the_coincidence_matrix(rows: list[str], lots: object) -> None:
    listed = labels(rows)
    found, _ = krippendorffs_alpha(listed)
    wanted = exact(listed)
    assert (found is None) == (wanted is None)
    if wanted is not None:
        assert found == pytest.approx(float(wanted), abs=1e-12)
    lots.shuffle(listed)  # type: ignore[attr-defined]
    assert krippendorffs_alpha(listed)[0] == found


@pytest.mark.parametrize("rows", [[], ["ab"], ["a.", ".b"], ["aa", "aa"]])
def test_without_variation_or_a_second_opinion_there_is_no_alpha(rows: list[str]) -> None:
    assert krippendorffs_alpha(labels(rows))[0] is None
