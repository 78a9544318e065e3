"""Candidate substitution: English in the place of a pronoun."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import discourses

from coherencegym.loaders.discourse import Alternative, Discourse, Unit, undo
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.mention_rules import (
    her_is_possessive,
    mid_sentence,
    possessive,
)
from coherencegym.manipulations.reference.schemas import (
    CandidateSubstitution,
    around_candidate,
    in_place,
    substitution,
)


def marked(text: str, *options: str, right: int = 0) -> Discourse:
    """A discourse of one unit whose pronoun stands between square brackets."""
    start, end = text.index("["), text.index("]") - 1
    plain = text.replace("[", "").replace("]", "")
    span = ((0, start, end),)
    return Discourse("d", "t", (Unit(plain),), alternatives=(Alternative(span, options, right),))


def put(text: str, option: str) -> str:
    (result,) = CandidateSubstitution("target")(marked(text, option, "other words"), Context())
    return result.text


@pytest.mark.parametrize(
    ("text", "option", "expected"),
    [
        # Only a determiner is lowered, and only inside a sentence.
        ("because [they] ran.", "The City councilmen", "because the City councilmen ran."),
        ("because [he] ran.", "A man", "because a man ran."),
        ("because [he] ran.", "My father", "because my father ran."),
        ("because [they] ran.", "Their dogs", "because their dogs ran."),
        ("because [he] ran.", "Theodor", "because Theodor ran."),
        ("because [they] ran.", "People", "because People ran."),
        ("because [he] ran.", "Tom", "because Tom ran."),
        # The capital of a sentence's start is the pronoun's own.
        ("[They] ran.", "the councilmen", "The councilmen ran."),
        ('"[He] ran."', "my father", '"My father ran."'),
        ("[He] ran.", "tom", "Tom ran."),
        ('Then she said: "[He] ran."', "my father", 'Then she said: "My father ran."'),
        ("[he] ran.", "My father", "my father ran."),
        # Possessives.
        ("toward [his] glass.", "The barman", "toward the barman's glass."),
        ("took [their] hats.", "The boys", "took the boys' hats."),
        ("took [their] hats.", "The children", "took the children's hats."),
        ("took [their] hats.", "Ann and James", "took Ann and James's hats."),
        ("took [his] hat.", "James", "took James's hat."),
        ("took [his] hat.", "the boss", "took the boss's hat."),
        ("[Its] doors shut.", "the bus", "The bus's doors shut."),
        ("that hat is [his].", "Tom", "that hat is Tom's."),
        ("that hat is [hers].", "my aunt", "that hat is my aunt's."),
        # "her" is either.
        ("and [her] place was taken.", "Emma's mother", "and Emma's mother's place was taken."),
        ("against [her] will.", "the girl", "against the girl's will."),
        ("he met [her] in town.", "the girl", "he met the girl in town."),
        ("he met [her].", "the girl", "he met the girl."),
        # What is no pronoun is a candidate already: case alone is set right.
        ("so [Tom] ran.", "Tom", "so Tom ran."),
        ("so [the man's] hat fell.", "The man's", "so the man's hat fell."),
        ("[the man] ran.", "the man", "The man ran."),
        ("so [I] ran.", "The man", "so the man ran."),
        ("[I] ran.", "the man", "The man ran."),
    ],
)
def test_a_candidate_reads_as_english(text: str, option: str, expected: str) -> None:
    assert put(text, option) == expected


def test_target_and_distractors() -> None:
    discourse = marked("Ann saw Bo when [she] fell.", "Ann", "Bo", "Cy", right=1)
    (target,) = CandidateSubstitution("target")(discourse, Context())
    assert (target.text, target.variant) == ("Ann saw Bo when Bo fell.", "target")
    first, second = CandidateSubstitution()(discourse, Context())
    assert (first.text, first.variant) == ("Ann saw Bo when Ann fell.", "distractor")
    assert (second.text, second.variant) == ("Ann saw Bo when Cy fell.", "distractor-2")
    assert around_candidate(second) == ("Ann saw Bo when", "Cy", "fell.")
    assert substitution(second).before == "she"
    for result in (target, first, second):
        assert result.alternatives == ()
        assert undo(result) == discourse.texts


def test_around_a_candidate_in_a_later_unit() -> None:
    units = (Unit("Ann ran."), Unit("Bo saw her, too."))
    place = Alternative(((1, 7, 10),), ("Ann", "Di"), 0)
    discourse = Discourse("d", "t", units, alternatives=(place,))
    (result,) = CandidateSubstitution()(discourse, Context())
    assert around_candidate(result) == ("Ann ran. Bo saw", "Di", ", too.")
    (first,) = CandidateSubstitution()(marked("[It] fell.", "The cat", "The dog"), Context())
    assert around_candidate(first) == ("", "The dog", "fell.")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("he made [her] laugh.", "'her' may be object or possessive"),
        ("he saw [her] mother.", "'her' may be object or possessive"),
        ("Tom hurt [himself].", "reflexive pronoun"),
    ],
)
def test_where_rules_do_not_do_it_is_left_out_and_counted(text: str, reason: str) -> None:
    context = Context()
    assert list(CandidateSubstitution()(marked(text, "Ann", "Bo"), context)) == []
    assert context.skipped == {reason: 1}


def test_no_candidates_is_counted() -> None:
    context = Context()
    assert list(CandidateSubstitution()(Discourse("d", "t", (Unit("A."),)), context)) == []
    assert context.skipped == {"no candidates": 1}
    with pytest.raises(ValueError, match="no candidate was substituted"):
        around_candidate(Discourse("d", "t", (Unit("A."),)))


def test_another_candidate_is_not_asked_for() -> None:
    with pytest.raises(ValueError, match="expected target or distractor"):
        CandidateSubstitution("both")


@pytest.mark.parametrize(
    ("before", "after", "answer"),
    [
        ("Stretching", " back, the woman smiled", True),
        ("for", " very own dog", True),
        ("he shouted", ' "Dibs!"', True),
        ("he met", "", False),
        ("he met", ", too", False),
        ("he met", " and left", False),
        ("he gave", " the book", False),
        ("he gave", " money", None),
        ("he Let", " go", None),
    ],
)
def test_which_her_it_is(before: str, after: str, answer: bool | None) -> None:
    assert her_is_possessive(before, after) is answer


def test_possessives_of_several() -> None:
    assert possessive("the Smiths", plural=True) == "the Smiths'"
    assert possessive("the mistress", plural=True) == "the mistress's"
    assert possessive("the Smiths") == "the Smiths's"
    assert mid_sentence("Thebes") == "Thebes"


@given(discourses())
def test_whatever_it_is_given(discourse: Discourse) -> None:
    for candidate in ("target", "distractor"):
        context = Context()
        results = list(CandidateSubstitution(candidate)(discourse, context))
        assert len(results) + context.skipped.total() <= 1
        for result in results:
            assert undo(result) == discourse.texts
            before, phrase, after = around_candidate(result)
            assert "".join((before, phrase, after)).replace(" ", "") == result.text.replace(" ", "")


@given(st.sampled_from(["he", "his", "their", "it", "They", "I"]), st.text("aB ", min_size=1))
def test_no_letter_of_a_candidate_but_the_first_changes(pronoun: str, words: str) -> None:
    option = " ".join(words.split()) or "x"
    phrase = in_place(option, f"and {pronoun} ran", 4, 4 + len(pronoun))
    assert phrase[1:].startswith(option[1:])
    assert phrase[0].lower() == option[0].lower()
    assert phrase[len(option) :] in ("", "'", "'s")
