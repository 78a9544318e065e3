"""The sentence with a mention's antecedent taken away, or its neighbour."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marked_texts import annotated, told_by_somebody
from support.strategies import discourses

from coherencegym.loaders.discourse import Discourse, span_text, undo
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedents import (
    AntecedentRemoval,
    Removed,
    ScoredKind,
    scored_mention,
    scored_place,
)
from coherencegym.manipulations.reference.english import ENGLISH_RULES
from coherencegym.manipulations.reference.mention_rules import mentions_of_units

TEXT = (
    "The mill stood empty for years. / The roof had come down in a storm. / "
    "[Ann Lee|1 proper entity=person function=nsubj] bought the bakery. / "
    "In May [she|1 entity=person] opened the doors."
)


def told(text: str) -> Discourse:
    """Any sentence may be the neighbour, as each mentions somebody whom no mention can mean."""
    return told_by_somebody(annotated(text))


def made(text: str, removed: Removed = "", scored: ScoredKind = "pronoun") -> tuple[str, ...] | str:
    """The three sentences of the only excerpt; else why there is none."""
    context = Context()
    found = list(AntecedentRemoval(scored, removed)(told(text), context))
    if not found:
        return "; ".join(context.skipped)
    (excerpt,) = found
    return excerpt.texts


def test_one_sentence_is_replaced_and_the_stand_in_comes_first() -> None:
    mill, roof, ann, she = annotated(TEXT).texts
    assert made(TEXT) == (roof, ann, she)
    assert made(TEXT, "antecedent") == (mill, roof, she)
    assert made(TEXT, "control") == (mill, ann, she)


def test_a_sentence_between_is_the_neighbour() -> None:
    mill, roof, ann, she = TEXT.split(" / ")
    text = " / ".join((mill, ann, roof, she))
    mill, ann, roof, she = annotated(text).texts
    assert made(text) == (ann, roof, she)
    assert made(text, "antecedent") == (mill, roof, she)
    assert made(text, "control") == (mill, ann, she)


def test_sentences_between_source_and_target_are_left_out() -> None:
    mill, roof, ann, she = TEXT.split(" / ")
    pronoun = "[She|1 entity=person] had come from the coast."
    text = " / ".join((mill, roof, ann, pronoun, "It rained, and it did not stop.", she))
    context = Context()
    found = list(AntecedentRemoval("pronoun")(told(text), context))
    texts = annotated(text).texts
    # The pronoun between is scored, too; the last one takes up the name over both sentences.
    assert [excerpt.texts for excerpt in found if excerpt.variant == "u5c7-10"] == [
        (texts[2], texts[4], texts[5])
    ]
    assert "u3c0-3" in {excerpt.variant for excerpt in found}
    for opening in ("But ", "In [the storm|7 nominal status=giv:act], "):
        later = text.replace("In May [", f"{opening}[")
        context = Context()
        variants = [
            excerpt.variant for excerpt in AntecedentRemoval("pronoun")(told(later), context)
        ]
        assert not [variant for variant in variants if variant.startswith("u5")]
        assert context.skipped["continues a sentence that is left out"] == 1
    further = text.replace("It rained", "It rained. / " * 3 + "It rained")
    context = Context()
    list(AntecedentRemoval("pronoun")(told(further), context))
    assert context.skipped["the antecedent is more than 5 sentences away"] == 1


@pytest.mark.parametrize(
    ("somebody", "fits"),
    [
        ("[Tom|9 proper entity=person gender=masculine]", True),
        ("[us|9 person=1]", True),
        ("[two men|9 nominal entity=person number=plural]", True),
        ("[Eve|9 proper entity=person]", False),  # may be she
        ("[the mill|9 nominal entity=object]", False),  # is nobody
    ],
)
def test_the_neighbour_mentions_somebody_else(somebody: str, fits: bool) -> None:
    """Of another gender or number, or the first or second person."""
    text = TEXT.replace("in a storm", f"on {somebody}")
    context = Context()
    found = list(AntecedentRemoval()(annotated(text), context))
    assert bool(found) == fits
    assert context.skipped["no sentence that could be the control"] == (not fits)
    # A nearer sentence without anybody is passed over.
    nearer = text.replace("[Ann Lee", "The sign of the mill was green. / [Ann Lee")
    assert [one.texts for one in AntecedentRemoval()(annotated(nearer), Context())] == [
        one.texts for one in found
    ]


def test_nobody_is_in_the_neighbour_where_the_antecedent_is_nobody() -> None:
    bakery = "The old town once had [a bakery|1 nominal entity=place]."
    text = " / ".join((*TEXT.split(" / ")[:2], bakery, "In May [it|1 entity=place] burned down."))
    assert len(list(AntecedentRemoval()(annotated(text), Context()))) == 1
    somebody = text.replace("in a storm", "on [us|9 person=1]")
    assert not list(AntecedentRemoval()(annotated(somebody), Context()))


def test_what_a_pronoun_says_of_somebody_holds_for_their_name() -> None:
    text = TEXT.replace("in a storm", "on [Tom|9 proper entity=person]")
    him = "[He|9 gender=masculine] left for good that winter."
    assert "u3c7-10" not in {one.variant for one in AntecedentRemoval()(annotated(text), Context())}
    found = AntecedentRemoval()(annotated(f"{text} / {him}"), Context())
    assert "u3c7-10" in {one.variant for one in found}


def test_the_edits_say_where_the_sentences_are_from() -> None:
    (excerpt,) = AntecedentRemoval("pronoun", "antecedent")(told(TEXT), Context())
    assert undo(excerpt) == made(TEXT)
    assert [(edit.unit, edit.source_unit) for edit in excerpt.edits] == [(0, 0), (1, 1)]
    (control,) = AntecedentRemoval("pronoun", "control")(told(TEXT), Context())
    assert [(edit.unit, edit.source_unit) for edit in control.edits] == [(0, 0)]


def test_the_scored_mention_is_found_again() -> None:
    for removed in ("", "antecedent", "control"):
        (excerpt,) = AntecedentRemoval("pronoun", removed)(told(TEXT), Context())
        assert excerpt.variant == "u3c7-10"
        assert scored_place(excerpt) == (7, 10)
        assert span_text(excerpt, scored_mention(excerpt).span) == "she"
    with pytest.raises(ValueError, match="no excerpt with a scored mention"):
        scored_place(told(TEXT))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        # Somebody else whom the pronoun could mean.
        ("The roof", "[Eve|2 entity=person] said that the roof", "could be the stand-in"),
        ("The mill", "[Eve|2 entity=person] said that the mill", "could be the stand-in"),
        ("In May [", "In May, [Eve|2 entity=person] said, [", "has another possible antecedent"),
        # Of nobody knows what type; and of another one.
        ("The roof", "[Eve|2] said that the roof", "could be the stand-in"),
        ("The mill", "[Eve|2] said that the mill", "could be the stand-in"),
        ("The roof", "[Eve|2 entity=place] said that the roof", ""),
        ("The mill", "[Eve|2 entity=place] said that the mill", ""),
        # The referent itself.
        ("The roof", "[Ann Lee|1 proper] said the roof", "could be the stand-in"),
        ("The mill", "[Ann Lee|1 proper] said the mill", "could be the stand-in"),
        ("The mill stood", "The mill of Annabel Leerdam's aunt stood", ""),
        ("The mill stood", "The Lee mill stood", "could be the stand-in"),
        # What goes on from another sentence, or is none.
        ("The mill", "However, the mill", "could be the stand-in"),
        ("The mill stood", "Another mill stood", "could be the stand-in"),
        ("The roof", "But the roof", "could be the stand-in"),
        ("The roof", "[He|4] said that the roof", "could be the stand-in"),
        ("years.", "years:", "could be the stand-in"),
        ("years.", 'years."', "could be the stand-in"),
        ("stood empty for years", "stood", "could be the stand-in"),
        ("opened the doors", "opened [their|5] doors", "another pronoun refers"),
        ("The mill stood empty for years.", '"See. / The mill was empty. / Go."', "the stand-in"),
        # The pronoun.
        ("doors", "doors of [Ann|1 proper entity=person]", "pronoun before its noun phrase"),
        ("[she|1 entity=person]", "[they|1]", "may mean what nobody annotated"),
        # The antecedent.
        ("[Ann Lee|1 proper entity=person function=nsubj]", "[She|1]", "no noun phrase or name"),
        ("entity=person] opened", "entity=event] opened", "refers to a situation"),
    ],
)
def test_what_is_left_out(old: str, new: str, reason: str) -> None:
    assert old in TEXT
    found = made(TEXT.replace(old, new))
    if reason:
        assert isinstance(found, str)
        assert reason in found
    else:
        assert not isinstance(found, str)


def test_a_pronoun_of_no_type_could_mean_anything() -> None:
    place = TEXT.replace("The roof", "[Eve|2 entity=place] said that the roof")
    assert isinstance(made(place), tuple)
    assert "could be the stand-in" in made(place.replace("[she|1 entity=person]", "[she|1]"))


def test_a_pronoun_of_a_thing_could_mean_any_thing() -> None:
    text = TEXT.replace("entity=person", "entity=object").replace("[she", "[it")
    assert isinstance(made(text), tuple)
    hill = "[The hill|2 entity=place] and the roof"
    assert "could be the stand-in" in made(text.replace("The roof", hill))


def test_names_of_five_letters_are_known_by_their_beginning() -> None:
    text = TEXT.replace("Ann Lee|1", "Albania|1").replace("The mill", "The Albanian mill")
    found = made(text)
    assert isinstance(found, str)
    assert "could be the stand-in" in found


def test_sentences_are_alike_in_length() -> None:
    long = TEXT.replace("for years", "for years and years and years and years and years and years")
    found = made(long.replace("and years.", "and years and years and years."))
    assert isinstance(found, str)
    assert "could be the stand-in" in found


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_the_nearest_in_length_stands_in(order: tuple[int, ...]) -> None:
    """Of five and eight words are the two that it may replace: six are nearest to both."""
    candidates = (
        "The mill stood empty.",
        "The old mill stood quite empty.",
        "The old mill of the town stood quite empty in the rain.",
    )
    after = " / ".join(candidates[number] for number in order)
    roof, ann, she = TEXT.split(" / ")[1:]
    assert made(" / ".join((roof, ann, she, after)), "control")[0] == candidates[1]


def test_phrases_are_scored_that_share_no_word_with_the_antecedent() -> None:
    text = TEXT.replace("[she|1 entity=person]", "[the lawyer|1 nominal entity=person]")
    found = made(text, "antecedent", "phrase")
    assert found[-1] == "In May the lawyer opened the doors."
    text = text.replace("bought the bakery", "bought the bakery of a lawyers' office")
    assert made(text, "antecedent", "phrase") == (
        "a word of the phrase stands in the antecedent's sentence"
    )


def test_another_phrase_with_the_same_noun_is_another_antecedent() -> None:
    text = TEXT.replace("[she|1 entity=person]", "[the lawyer|1 nominal entity=person]")
    text = text.replace("The roof", "[A lawyer|7 entity=abstract] said the roof")
    found = made(text, "", "phrase")
    assert isinstance(found, str)
    assert "could be the stand-in" in found


def test_without_a_neighbour_there_is_no_control() -> None:
    mill, _, ann, she = TEXT.split(" / ")
    assert "could be the control" in made(" / ".join((ann, she, mill)))


@given(discourses(max_units=5), st.sampled_from(["pronoun", "phrase"]))
def test_whatever_is_annotated_the_versions_go_together(
    discourse: Discourse, scored: ScoredKind
) -> None:
    versions = [
        list(AntecedentRemoval(scored, removed)(told_by_somebody(discourse), Context()))
        for removed in ("", "antecedent", "control")
    ]
    for original, removed, control in zip(*versions, strict=True):
        assert undo(removed) == undo(control) == original.texts
        assert removed.texts[::2] == control.texts[::2]
        assert {removed.texts[1], control.texts[1]} == set(original.texts[:2])


WORDS = st.sampled_from(["The roof", "A storm", "However, rain", "This wind", "Another town"])
REFERENTS = st.sampled_from(["[Ann|1 proper entity=person]", "[Eve|2 entity=person]", "Nobody"])
PRONOUNS = st.sampled_from(["[she|1 entity=person]", "[they|3]", "we"])


@given(st.lists(st.tuples(WORDS, REFERENTS, PRONOUNS), min_size=3, max_size=7))
def test_the_antecedent_is_in_one_of_the_versions_only(
    sentences: list[tuple[str, str, str]],
) -> None:
    text = " / ".join(f"{a} came to {b}, and {c} stayed at home." for a, b, c in sentences)
    discourse = told(text)
    for removed in ("antecedent", "control"):
        for excerpt in AntecedentRemoval("pronoun", removed)(discourse, Context()):
            assert ("Ann" in " ".join(excerpt.texts[:2])) == (removed == "control")
            assert "Eve" not in " ".join(excerpt.texts[:2])


@pytest.mark.parametrize(
    ("text", "begins", "points"),
    [
        ("Ann ran.", False, False),
        ("However, Ann ran.", True, True),
        ("In addition to it, Ann ran.", True, True),
        ("Sofia ran.", False, False),  # not: so
        ("Ann ran again.", False, True),
        ("Ann ran to those.", False, True),
    ],
)
def test_words_that_go_on(text: str, begins: bool, points: bool) -> None:
    rules = ENGLISH_RULES
    assert (rules.goes_on(text), rules.points_back(text)) == (begins, points)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ann ran. / [Ann|1 proper] saw that [she|1] fell.", ""),
        ("[Ann|1 proper] ran. / [She|1] fell.", "pronoun of another sentence's referent"),
        ("Ann ran. / [It|1 pronoun=expletive] rained.", ""),
        ("Ann ran. / [I|1 person=1] fell.", ""),
        ("[A dog|1] ran. / [The dog|1] fell.", "definite phrase for another sentence's referent"),
        ("[A dog|1] ran. / [The dog|2] fell.", ""),
        ("Ann ran. / [The tail|2 status=acc:inf] hurt.", "definite phrase"),
        ("Ann ran. / [The sun|2 status=acc:com] shone.", ""),
    ],
)
def test_what_takes_up_another_sentence(text: str, found: str) -> None:
    discourse = told(text)
    mentions = mentions_of_units(discourse)[1]
    taken = ENGLISH_RULES.takes_up(discourse, mentions)
    assert taken.startswith(found)
    assert bool(taken) == bool(found)
    assert ENGLISH_RULES.takes_up(discourse, mentions, known={"1", "2"}) == ""
