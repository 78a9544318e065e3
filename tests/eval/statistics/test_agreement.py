"""Groups of units by how many of the people who judged them agree."""

from __future__ import annotations

import pytest

from coherencegym.eval.statistics.correlation import agreement_groups


@pytest.mark.parametrize(
    ("answers", "groups"),
    [
        ([], []),
        ([1], []),
        ([1, 2], ["annotators who agree=1"]),
        ([2, 2], ["annotators who agree=all"]),
        ([1, 2, 2, 1], ["annotators who agree=2"]),
        ([4, 4, -1, 4], ["annotators who agree=3", "at least 3 annotators agree"]),
        ([4, 4, 4], ["annotators who agree=all", "at least 3 annotators agree"]),
    ],
)
def test_a_unit_is_in_the_group_of_its_commonest_answer(
    answers: list[int], groups: list[str]
) -> None:
    assert list(agreement_groups(answers)) == groups
