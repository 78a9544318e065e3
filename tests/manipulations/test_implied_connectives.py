"""Implied connectives: which sentences an adverbial can be put between, and how it is put."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.marked_texts import parsed

from coherencegym.loaders.discourse import Discourse, Features, Mention, Relation, Unit
from coherencegym.manipulations.connectives.implied_connectives import (
    WAYS,
    Implied,
    exclude_each_other,
    has_fillers,
    implied_connectives,
    says_how_it_goes_on,
    within_sentence,
)
from coherencegym.manipulations.operator import Context

RESULT = "Contingency.Cause.Result"
FIRST = "The dairy lost its largest customer."


def implying(*texts: str, word: str = "as a result", sense: str = RESULT, **own: Any) -> Discourse:
    """A discourse whose last two sentences imply a connective."""
    units = tuple(Unit(text) for text in texts)
    spans = [((i, 0, len(text)),) for i, text in enumerate(texts)]
    relation = Relation("Implicit", None, spans[-2], spans[-1], (sense,), implied=word)
    return Discourse("d", "test", units, relations=(relation,), **own)


def found(discourse: Discourse) -> tuple[list[Implied], dict[str, int]]:
    context = Context()
    return list(implied_connectives(discourse, context)), dict(context.skipped)


def test_the_annotators_adverbial_goes_before_a_lowered_sentence() -> None:
    (made,), _ = found(implying(FIRST, "It now sells milk at the gate."))
    assert (made.first, made.second) == (FIRST, "it now sells milk at the gate.")
    assert (made.way, made.word, made.unit) == ("result", "as a result", 1)
    assert made.has("now")
    assert not made.has("no")


@pytest.mark.parametrize(
    ("word", "sense", "put"),
    [
        ("so", RESULT, "as a result"),
        ("but", "Comparison.Concession.Arg2-as-denier", "however"),
        ("thus", RESULT, "thus"),
        ("for instance", "Expansion.Instantiation.Arg2-as-instance", "for instance"),
    ],
)
def test_but_and_so_become_adverbials(word: str, sense: str, put: str) -> None:
    (made,), _ = found(implying(FIRST, "It now sells milk at the gate.", word=word, sense=sense))
    assert made.word == put


@pytest.mark.parametrize(
    ("second", "own", "reason"),
    [
        ("It sells milk.", {}, "sentences of under 4 or over 45 words"),
        ("It now sells milk at the gate", {}, "no full sentences"),
        ("Does it sell milk at the gate?", {}, "no full sentences"),
        ('It now sells "milk at the gate.', {}, "a quotation cut in two"),
        ("It now sells, um, milk at the gate.", {}, "fillers of speech, or a repetition"),
        ("But it sells milk at the gate.", {}, "second sentence that says how it goes on"),
        ("For this reason, it sells milk.", {}, "second sentence that says how it goes on"),
        ("That said, it sells milk now.", {}, "second sentence that says how it goes on"),
        ("It now sells, of course, all milk.", {}, "second sentence that says how it goes on"),
        ("Brill sells milk at the gate.", {}, "first word that may be a name"),
        (
            "It now sells milk at the gate.",
            {"word": "because", "sense": "Contingency.Cause.Reason"},
            "implied connective that no sentence begins with",
        ),
        (
            "It now sells milk at the gate.",
            {"sense": "Expansion.Conjunction"},
            "implied connective of another sense",
        ),
        (
            "It now sells milk at the gate.",
            {"meta": {"sentence_types": "decl frag"}},
            "no full sentences",
        ),
        (
            "It now sells milk at the gate.",
            {"meta": {"genre": "vlog"}},
            "talk, which hardly has such adverbials",
        ),
    ],
)
def test_what_no_adverbial_is_put_before_is_counted(
    second: str, own: dict[str, Any], reason: str
) -> None:
    assert found(implying(FIRST, second, **own)) == ([], {reason: 1})


def test_a_sentence_that_words_relate_to_an_earlier_one_has_no_adverbial() -> None:
    discourse = implying(FIRST, "This is why it sells milk now.")
    said = replace(discourse.relations[0], type="AltLex", implied="")
    both = replace(discourse, relations=(*discourse.relations, said))
    assert found(discourse)[0]
    assert found(both) == ([], {"second sentence that says how it goes on": 1})


def test_an_adverbial_of_the_main_verb_is_the_sentences_own() -> None:
    discourse = implying(FIRST, "It sells milk hence now.")
    grammar = "It:nsubj:1 sells:root: milk:obj:1 hence:advmod:1 now:advmod:1"
    known = replace(discourse.units[1], words=parsed(grammar).words)
    assert found(discourse)[0]
    assert not found(replace(discourse, units=(discourse.units[0], known)))[0]


def test_speakers_may_not_change_and_sentences_be_neighbours() -> None:
    discourse = implying(FIRST, "It now sells milk at the gate.")
    units = (Unit(FIRST, "a"), Unit(discourse.texts[1], "b"))
    spoken = Discourse("d", "test", units, relations=discourse.relations)
    assert found(spoken)[1] == {"speakers change between the arguments": 1}
    (relation,) = discourse.relations
    apart = (*discourse.units[:1], Unit("It rained."), *discourse.units[1:])
    far = Relation(
        "Implicit", None, relation.arg1, ((2, 0, 30),), relation.senses, implied=relation.implied
    )
    made = found(Discourse("d", "test", apart, relations=(far,)))
    assert made == ([], {"arguments that are no neighbouring sentences": 1})


def test_a_sentence_with_two_relations_has_no_adverbial() -> None:
    discourse = implying(FIRST, "It now sells milk at the gate.")
    (one,) = discourse.relations
    other = Relation("Implicit", None, one.arg1, one.arg2, one.senses, implied="so")
    both = Discourse("d", "test", discourse.units, relations=(one, other))
    assert found(both) == ([], {"several relations of one sentence": 1})


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("The cow sleeps.", "the cow sleeps."),
        ("I saw the cow.", "I saw the cow."),
        ("I'm at the gate.", "I'm at the gate."),
        ("NATO sent a cow.", "NATO sent a cow."),
        ("Anna saw it.", "Anna saw it."),
        ("Farmers saw it.", "farmers saw it."),
        ("Lyon sleeps.", ""),
        ("40 cows sleep.", "40 cows sleep."),
    ],
)
def test_a_first_word_is_lowered_where_it_is_no_name(text: str, inside: str) -> None:
    units = (Unit(text), Unit("We met Anna and some farmers."))
    assert within_sentence(Discourse("d", "test", units), 0) == inside


def test_annotation_says_what_is_a_name() -> None:
    def lowered(pos: str) -> str:
        mention = Mention(((0, 0, 4),), "1", "proper", features=Features(first_pos=pos))
        return within_sentence(Discourse("d", "t", (Unit("Rose left."),), mentions=(mention,)), 0)

    assert (lowered("PROPN"), lowered("NOUN")) == ("Rose left.", "rose left.")


@pytest.mark.parametrize(
    ("first", "second", "inside"),
    [
        ("Jóola languages are old.", "They speak Jóola and Ólá there.", "Jóola languages are old."),
        ("Ólá is spoken.", "They speak Jóola and Ólá there.", "Ólá is spoken."),
        ("Summer cows are old.", "This Summer was warm, as a summer is.", "summer cows are old."),
        ("Canadian cows are old.", "They eat hay.", ""),
        ("Canadian cows are old.", "They eat canadian hay.", "canadian cows are old."),
        ("Regular cows are old.", "They eat hay.", "regular cows are old."),
    ],
)
def test_an_adjective_of_a_name_keeps_its_capital(first: str, second: str, inside: str) -> None:
    end = len(first.split()[0])
    mention = Mention(((0, 0, end),), "1", "nominal", features=Features(first_pos="ADJ"))
    units = (Unit(first), Unit(second))
    assert within_sentence(Discourse("d", "t", units, mentions=(mention,)), 0) == inside


def test_ways_exclude_each_other_both_ways_and_never_themselves() -> None:
    for one in WAYS:
        assert not exclude_each_other(one, one)
        for other in WAYS:
            assert exclude_each_other(one, other) == exclude_each_other(other, one)
    assert exclude_each_other("contrast", "result")
    assert not exclude_each_other("detail", "instance")


def test_no_word_says_two_ways() -> None:
    words = [word for way in WAYS.values() for word in way.words + way.likewise]
    assert len(set(words)) == len(words)


def test_plain_sentences() -> None:
    assert says_how_it_goes_on("For example, it rained.")
    assert says_how_it_goes_on("“It rained.”")
    assert not says_how_it_goes_on("Forests burn.")
    assert has_fillers("It rained, you know.")
    assert has_fillers("I saw the the cow.")
    assert has_fillers("I was like walking home.")
    assert has_fillers("I saw the – all the cows.")
    assert not has_fillers("It is a kind of map that I like.")
