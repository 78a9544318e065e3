"""The end of a model's training data, and the line that sets it beside the texts' year."""

from __future__ import annotations

from typing import Any

import pytest

from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.tasks.collect import contamination_notes

TOYS, NEW = ({"title": "Toys", "public_since": 1999}, {"title": "New", "public_since": 2024})
UNKNOWN = {"title": "Letters", "public_since": 0}


@pytest.mark.parametrize(
    ("corpora", "cutoff", "said"),
    [
        (
            [TOYS, UNKNOWN],
            None,
            "texts public since 1999 (Toys); the model: its training data are unknown; the model "
            "may have been trained on these texts",
        ),
        (
            [TOYS, NEW],
            "2023-09",
            "the model may have been trained on these texts, but not on those of New",
        ),
        ([NEW], "2023", "2023 (as stated by the user); these texts were not public then"),
        ([TOYS], "1999-01-01", "the model may have been"),
    ],
)
def test_the_year_of_the_texts_beside_it(
    corpora: list[dict[str, Any]], cutoff: str | None, said: str
) -> None:
    (note,) = contamination_notes(corpora, cutoff)
    assert said in note.text
    assert note.kind == "detail"


def test_texts_of_no_known_year_have_no_line() -> None:
    assert not list(contamination_notes([UNKNOWN], "2023"))


def test_a_training_cutoff_is_recorded_and_changes_no_number() -> None:
    found = parse_model_arguments(["training_cutoff=2023"])
    assert found.record() == {"training_cutoff": "2023"}
    assert found.numeric() == {}
