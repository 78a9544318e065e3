"""Connectives: which can be replaced, in which segment, and by what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.marked_texts import parsed, related

from coherencegym.loaders.discourse import Unit, span_text, undo
from coherencegym.loaders.senses import CONNECTIVES as KNOWN
from coherencegym.manipulations.connectives import (
    AMBIGUOUS,
    ConnectiveSegments,
    ConnectiveSubstitution,
    around_connective,
    explicit_relations,
    finite_clause_after,
    fits,
    has_fillers,
    joins_clauses,
    main_clause,
    says_how_it_goes_on,
    syntax,
    unsuitable,
)
from coherencegym.manipulations.operator import Context
from coherencegym.words import in_case_of


def skipped(text: str, operator: ConnectiveSegments | None = None) -> dict[str, int]:
    context = Context()
    assert list((operator or ConnectiveSegments())(related(text), context)) == []
    return dict(context.skipped)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # Where the clause ends is not annotated here.
        ("[Although] it rained, we left.", "connective begins the segment"),
        ("~We met. / [Although] it rained, we left.", "connective begins the segment"),
        ("[Although] it rained all day, {we left}.", "fewer than 3 words after the connective"),
        ("He left as [soon as] it was dark.", "connective of several words"),
        ("We left, even [though] it rained hard.", "connective of several words"),
        ("We left, [as] if it rained hard.", "connective of several words"),
        ("We left, just [as] it rained hard.", "connective of several words"),
        ("We left, and [yet] it rained hard.", "connective of several words"),
        ("She is as tall [as] her brother was.", "correlative as"),
        ("She is so tired [as] to fall asleep.", "correlative as"),
        ("It is the same day [as] we had then.", "correlative as"),
        ("Sell [as] much as you can now.", "correlative as"),
        ("It is windy, [as] you can see here.", "as that names a source"),
        ("It is, [as] Ann said, a fine thing.", "as that names a source"),
        ("It is, [as] his son, Tom, said, late.", "as that names a source"),
        ("Do as much of the work of the day [as] you can.", "correlative as"),
        ("[As] we sow in spring, {so we shall reap}.", "correlative as"),
        ("Friends, [as] you may well be aware, I go.", "as that names a source"),
        ("It is rare, [as] the fate of many small towns shows.", "as that names a source"),
        ("[As] I announced yesterday, {we have agreed to it}.", "as that names a source"),
        ("It is late, [as] it turns out today.", "connective of several words"),
        ("Keep it short [as] necessary in such cases.", "connective of several words"),
        ("Fees [as] set out in section four.", "as without a subject"),
        ("It is cheap there [as] in other towns.", "as without a subject"),
        ("He was [however], not the last one.", "however between a comma and none"),
        ("It is sold here, [however] you should ask first.", "however between a comma and none"),
        ("It rained, but [however] we all left.", "connective of several words"),
        ("A right [as] called for by law.", "as without a subject"),
        ("And as you — [as] he comes to this.", "connective said twice"),
        ("Laws [as] may be needed later on.", "as without a subject"),
        ("We shall go, [however] hard it may be.", "however of degree"),
        ("We left, [though] not soon.", "fewer than 3 words after the connective"),
        ("It rained, [though].", "fewer than 3 words after the connective"),
        ("A. / B. / C. / D. / [However], we all went out.", "more than 4 sentences"),
    ],
)
def test_what_is_left_out(text: str, reason: str) -> None:
    assert skipped(text) == {reason: 1}


@pytest.mark.parametrize(
    ("grammar", "word", "joins", "finite"),
    [
        ("We:nsubj:1 left:root: as:mark:4 rain:nsubj:4 fell:advcl:1:Fin", "as", True, True),
        ("It:nsubj:1 hurt:root: as:mark:4 are:cop:4:Fin ill:advcl:1", "as", True, False),
        ("It:nsubj:1 hurt:root: as:mark:5 we:nsubj:5 are:cop:5:Fin ill:advcl:1", "as", True, True),
        ("He:nsubj:1 left:root: while:mark:3 singing:advcl:1:Ger", "while", True, False),
        # An adverb, and clauses of phrases.
        ("It:nsubj:1 may:root: though:advmod:1 he:nsubj:4 left:ccomp:1", "though", False, False),
        ("Days:root: spent:acl:0 since:mark:4 he:nsubj:4 left:advcl:1:Fin", "since", False, True),
        ("Days:root: as:mark:3 they:nsubj:3 were:acl:0:Fin", "as", False, True),
    ],
)
def test_grammar_says_what_a_connective_joins(
    grammar: str, word: str, joins: bool, finite: bool
) -> None:
    unit = parsed(grammar.replace(":Fin", ":VerbForm=Fin"))
    end = unit.text.index(f" {word} ") + 1 + len(word)
    assert joins_clauses(unit, end) is joins
    assert finite_clause_after(unit, end) is finite
    bare = replace(unit, words=())
    assert (joins_clauses(bare, end), finite_clause_after(bare, end)) == (True, None)


def test_a_subordinator_that_joins_no_clauses_has_no_segment() -> None:
    discourse = related("Days spent [since] he left us.")
    grammar = parsed("Days:root: spent:acl:0 since:mark:4 he:nsubj:4 left:advcl:1 us:obj:4")
    known = replace(discourse, units=(replace(discourse.units[0], words=grammar.words),))
    context = Context()
    assert len(list(ConnectiveSegments()(discourse, context))) == 1
    assert not list(ConnectiveSegments()(known, context))
    assert context.skipped == {"no conjunction of two clauses": 1}


def test_connectives_outside_the_list_are_not_counted() -> None:
    assert skipped("We left [because] it rained hard.") == {}
    assert skipped("It rained. / [Meanwhile], we all slept.") == {}
    words = (*AMBIGUOUS, "meanwhile")
    (made,) = ConnectiveSegments(words)(
        related("It rained. / [Meanwhile], we all slept."), Context()
    )
    assert made.variant == "u1c0"


def test_a_discontinuous_connective() -> None:
    discourse = related("We left [as] it rained hard.")
    (relation,) = discourse.relations
    both = replace(relation, connective=((0, 8, 10), (0, 14, 20)))
    context = Context()
    assert not list(ConnectiveSegments()(replace(discourse, relations=(both,)), context))
    assert context.skipped == {"discontinuous connective": 1}


def test_a_change_of_speaker() -> None:
    discourse = related("It rained. / [However], we all left.")
    units = tuple(Unit(unit.text, name) for unit, name in zip(discourse.units, "ab", strict=True))
    context = Context()
    assert not list(ConnectiveSegments()(replace(discourse, units=units), context))
    assert context.skipped == {"speakers change within the segment": 1}


def test_a_segment_is_the_run_of_sentences_of_both_arguments() -> None:
    discourse = related("~One. / It rained. / We met. / [However], nobody stayed here. / ~Five.")
    (segment,) = ConnectiveSegments()(discourse, Context())
    assert segment.texts == ("It rained.", "We met.", "However, nobody stayed here.")
    assert segment.variant == "u3c0"
    (relation,) = segment.relations
    assert relation.connective is not None
    assert span_text(segment, relation.connective) == "However"
    assert around_connective(segment) == ("It rained. We met.", "However", ", nobody stayed here.")


@pytest.mark.parametrize(
    ("text", "scored"),
    [
        ("[Although] it rained all day, {some of us left}.", "some of us left."),
        ("~We met. / [Since] it rained, {we all left early}.", "we all left early."),
        ("{And} [while] it rained, {we all left early}.", "we all left early."),
        ("[Although] it rained,| Ann said, {we all left early}.", "Ann said, we all left early."),
        ("[While] in the park (it rained|), {we sang a song}.", "we sang a song."),
        ("[As] it was late, {“we all left early”}.", "“we all left early”."),
    ],
)
def test_a_clause_that_comes_first(text: str, scored: str) -> None:
    (segment,) = ConnectiveSegments()(related(text), Context())
    main = main_clause(segment, segment.relations[0])
    assert main is not None
    assert segment.texts[main[0]][main[1] :] == scored


@pytest.mark.parametrize(
    "text",
    [
        "{We sang} [as] it rained all day.",
        "{They do}, [as] we all do, {whatever they can}.",
        "{It rained}. / [However], we all left.",
        "It rained. / [However], we all left.",
    ],
)
def test_what_begins_with_the_main_clause(text: str) -> None:
    discourse = related(text)
    assert main_clause(discourse, discourse.relations[0]) is None


def test_as_far_as_a_clause_reaches() -> None:
    assert unsuitable("She left as quickly, as he had asked.", 21, 23) == ""
    assert unsuitable("He saw, as people often do.", 8, 10) == ""


def test_two_relations_of_one_connective_are_one() -> None:
    discourse = related("We waited, [since] it rained hard.")
    (one,) = discourse.relations
    two = replace(one, senses=("Temporal.Asynchronous.Succession", *one.senses))
    (joined,) = explicit_relations(replace(discourse, relations=(one, two)))
    assert joined.senses == (*one.senses, "Temporal.Asynchronous.Succession")


def test_the_connective_is_replaced_and_nothing_else() -> None:
    (segment,) = ConnectiveSegments()(related("It rained. / [However], we all left."), Context())
    (made,) = ConnectiveSubstitution("since")(segment, Context())
    assert made.texts == ("It rained.", "Since, we all left.")
    assert made.variant == "u1c0/since"
    assert around_connective(made) == ("It rained.", "Since", ", we all left.")
    assert undo(made) == segment.texts
    context = Context()
    assert not list(ConnectiveSubstitution("however")(segment, context))
    assert sum(context.skipped.values()) == 1


@pytest.mark.parametrize(
    ("word", "expected"),
    [("however", "since"), ("However", "Since"), ("HOWEVER", "SINCE"), ("As", "Since")],
)
def test_case(word: str, expected: str) -> None:
    assert in_case_of(word, "since") == expected


@pytest.mark.parametrize(
    ("sentence", "word", "used"),
    [
        ("We left, though it rained.", "though", "subordinator"),
        ("We left, though, at last.", "though", "adverbial"),
        ("We left it though so it is yours.", "though", "adverbial"),
        ("We left, yet it rained.", "yet", "coordinator"),
        ("However, we left.", "However", "adverbial"),
        ("We sang as we left.", "as", "subordinator"),
    ],
)
def test_syntax(sentence: str, word: str, used: str) -> None:
    start = sentence.index(word)
    assert syntax(sentence, start, start + len(word)) == used


@pytest.mark.parametrize(
    ("sentence", "word", "replacement", "expected"),
    [
        ("We sang as we left.", "as", "since", True),
        ("We sang as we left.", "as", "however", False),
        ("We left, however, at last.", "however", "though", True),
        ("However, we left.", "However", "though", False),
        ("He sang while walking home.", "while", "though", True),
        ("He sang while walking home.", "while", "as", False),
        ("He sang while simultaneously walking home.", "while", "since", False),
        ("He sang, although asked not to.", "although", "as", False),
        ("The century however, marked it.", "however", "as", False),
        ("He sang, although asked not to.", "although", "since", False),
        ("He sang while in prison.", "while", "since", False),
        ("He sang while everything burned.", "while", "since", True),
        ("Our way, although not perfect, was of use.", "although", "as", False),
        ("Our way, although not perfect, was of use.", "although", "though", True),
        ("And, while remarkably kind to guests, they", "while", "since", False),
        ("He asked for it while being a fraud.", "while", "since", False),
        ("He left while the others slept.", "while", "as", False),
        ("He left while the others were asleep.", "while", "as", True),
        ("It is popular since getting that prize.", "since", "although", False),
        ("Though as for that, the path was worn.", "Though", "as", False),
        ("Though as for that, the path was worn.", "Though", "although", True),
        ("It is worth the while since rum is made.", "since", "while", False),
        ("However, we left.", "However", "therefore", True),
        ("However, we left.", "However", "for example", True),
        ("However, we left.", "However", "yet", True),
        ("We had, however, left.", "however", "yet", False),
        ("It rained; however, we left.", "however", "instead", True),
        ("However we left.", "However", "instead", True),
        ("However we left.", "However", "for example", False),
        ("However, we sang instead.", "However", "instead", False),
        ("Yet we left.", "Yet", "then", True),
        ("Yet we left.", "Yet", "however", False),
        ("Yet, we left.", "Yet", "however", True),
        ("It rained, yet we left.", "yet", "therefore", False),
        ("We left as it rained.", "as", "therefore", False),
        ("We left it though so it is yours.", "though", "however", False),
    ],
)
def test_fits(sentence: str, word: str, replacement: str, expected: bool) -> None:
    start = sentence.index(word)
    classes = KNOWN[replacement].syntax
    assert fits(replacement, classes, sentence, start, start + len(word)) is expected


def test_plain_sentences() -> None:
    assert says_how_it_goes_on("For example, it rained.")
    assert says_how_it_goes_on("“It rained.”")
    assert not says_how_it_goes_on("Forests burn.")
    assert has_fillers("It rained, you know.")
    assert has_fillers("I saw the the cow.")
    assert has_fillers("I was like walking home.")
    assert has_fillers("I saw the – all the cows.")
    assert not has_fillers("It is a kind of map that I like.")
