"""Places with and without a competitor: what changes with a gender, and what is left out."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.discourse import Alternative, Discourse, Unit
from coherencegym.manipulations.operator import Context, NotApplicableError
from coherencegym.manipulations.reference.mention_rules import (
    GENDERED_PRONOUN,
    gender_of_name,
    new_name,
    other_gender,
    pronoun_for,
)
from coherencegym.manipulations.reference.schemas import competed_candidates
from coherencegym.words import word_lists


def generic(text: str) -> str:
    """The text with ``M`` and ``F`` for the names that were drawn."""
    for gender, *names in word_lists("given_names"):
        if names[0] in ("Adam", "Alice"):
            text = re.sub(rf"\b(?:{'|'.join(names)})\b", gender[0].upper(), text)
    return text


def schema(text: str, right: int = 0, options: tuple[str, ...] = ("Ann", "Mary")) -> Discourse:
    """A schema with its pronoun in brackets."""
    before, pronoun, after = re.split(r"[\[\]]", text)
    span = ((0, len(before), len(before) + len(pronoun)),)
    alternative = Alternative(span, options, right)
    return Discourse("s", "t", (Unit(before + pronoun + after),), alternatives=(alternative,))


def test_the_other_candidate_is_the_competitor() -> None:
    (place,) = competed_candidates(schema("Ann saw Mary because [she] had called."), Context())
    assert generic(place.none) == "Ann saw M because"
    assert place.competitor == "Ann saw Mary because"
    assert (place.pronoun, place.name, place.rest) == ("she", "Ann", "had called.")
    assert (place.variant, place.gender, place.between) == ("u0c21", "feminine", True)
    (place,) = competed_candidates(schema("Ann took her hat to Mary, but [she] ran.", 1), Context())
    assert generic(place.none) == "M took his hat to Mary, but"
    assert not place.between


def test_the_same_schema_is_made_the_same() -> None:
    discourse = schema("Ann saw Mary because [she] had called.")
    assert list(competed_candidates(discourse, Context(3))) == list(
        competed_candidates(discourse, Context(3))
    )


@pytest.mark.parametrize(
    ("discourse", "reason"),
    [
        (schema("Ann saw Mary because [they] called."), "not a pronoun for a man or a woman"),
        (schema("Ann saw it because [she] called."), "candidate that stands after the pronoun"),
        (schema("Ann saw Mary because [she] saw her."), "another pronoun, or the competitor"),
        (schema("Ann saw Mary because [she] saw Mary."), "another pronoun, or the competitor"),
        (schema("Ann saw Mary in her car because [she] ran."), "another pronoun of one of the two"),
        (schema("Ann's uncle saw Mary, so [she] ran."), "noun of one gender"),
        (schema("Mary told Ann that [she] ran."), "in one clause with the mention before"),
        (schema("Ann saw Mary, and it was [she]."), "nothing follows"),
        (schema("Ann saw Mary, and [she]-cat ran."), "a mark beside it"),
        (schema("Ann saw Bob, so [she] ran.", 0, ("Ann", "Bob")), "not two given names"),
        (schema("Ann saw Xu, so [she] ran.", 0, ("Ann", "Xu")), "not two given names"),
        (replace(schema("Ann [she] ran."), alternatives=()), "not two candidates"),
    ],
)
def test_why_a_schema_is_left_out(discourse: Discourse, reason: str) -> None:
    context = Context()
    assert list(competed_candidates(discourse, context)) == []
    ((found, count),) = context.skipped.items()
    assert found.startswith(reason)
    assert count == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[He] ran.", "She ran."),
        ("I saw [him].", "I saw her."),
        ("[His] hat fell.", "Her hat fell."),
        ("It is [his].", "It is hers."),
        ("[Her] hat fell.", "His hat fell."),
        ("It is [hers].", "It is his."),
        ("I saw [her].", "I saw him."),
        ("[She] fell.", "He fell."),
        ("She hurt [herself].", "She hurt himself."),
        ("He hurt [himself].", "He hurt herself."),
        ("[HE] ran.", "SHE ran."),
    ],
)
def test_a_pronoun_of_the_other_gender(text: str, expected: str) -> None:
    before, pronoun, after = re.split(r"[\[\]]", text)
    plain, end = before + pronoun + after, len(before) + len(pronoun)
    gender = "masculine" if pronoun.lower().startswith(("she", "her")) else "feminine"
    assert before + pronoun_for(gender, plain, len(before), end) + after == expected


def test_names_are_of_one_gender_and_new() -> None:
    listed = [(name, gender) for gender, *names in word_lists("given_names") for name in names]
    assert len(listed) == len(dict(listed))
    drawn = {new_name("feminine", "Alice met Laura.", "Emma", Random(seed)) for seed in range(200)}
    assert len(drawn) == 9
    assert all(gender_of_name(name) == "feminine" for name in drawn)
    assert not {"Alice", "Laura"} & drawn
    assert not any(name.startswith("E") for name in drawn)
    alike = {new_name("feminine", "", "-", Random(seed), like="Anna") for seed in range(50)}
    assert {len(name) for name in alike} <= {3, 4, 5}
    everybody = " ".join(name for name, _ in listed)
    with pytest.raises(NotApplicableError, match="no given name that is not in the text"):
        new_name("masculine", everybody, "Ann", Random(1))
    assert other_gender(other_gender("masculine")) == "masculine"


NAMES = st.sampled_from(["Ann", "Mary", "Susan", "Rosa", "Judith", "Vera"])


@given(st.lists(NAMES, min_size=2, max_size=2, unique=True), st.booleans(), st.integers(0, 9))
def test_the_texts_differ_in_the_competitor_alone(names: list[str], first: bool, seed: int) -> None:
    one, other = names
    discourse = schema(
        f"{one} took her dog to {other}, because [she] was ill.", int(not first), (one, other)
    )
    (place,) = competed_candidates(discourse, Context(seed))
    person = one if first else other
    assert place.name == person
    assert place.competitor == f"{one} took her dog to {other}, because"
    assert person in place.none
    assert (other if first else one) not in place.none.split()
    pronouns = GENDERED_PRONOUN.findall(place.none)
    assert pronouns == (["her"] if first else ["his"])
