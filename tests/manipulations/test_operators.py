"""Ending swap, speaker separators, text replacement, composition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marked_texts import parsed
from support.strategies import discourses

from coherencegym.loaders.discourse import (
    Alternative,
    Discourse,
    Mention,
    RhetoricalNode,
    RhetoricalTree,
    Unit,
    span_text,
    spans,
    undo,
)
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.operator import Context, Pipeline
from coherencegym.manipulations.probes.registry import ProbeSentence
from coherencegym.manipulations.units import EndingSwap, LastUnit, Shuffle, SpeakerSeparator


def test_ending_swap_puts_the_other_ending() -> None:
    discourse = Discourse(
        "s1",
        "test",
        (Unit("Ann ran."), Unit("She won.")),
        alternatives=(Alternative(((1, 0, 8),), ("She slept.", "She won."), 1),),
    )
    (swapped,) = EndingSwap()(discourse, Context())
    assert swapped.texts == ("Ann ran.", "She slept.")
    assert swapped.variant == "distractor_ending"
    assert swapped.alternatives == ()
    assert undo(swapped) == discourse.texts


def test_ending_swap_counts_where_it_does_not_apply() -> None:
    context = Context()
    assert list(EndingSwap()(Discourse("d", "test", (Unit("A."),)), context)) == []
    assert context.skipped == {"no alternative ending": 1}


def test_a_separator_follows_every_utterance_but_the_last() -> None:
    units = (Unit("Hi.", "a"), Unit("Hello.", "a"), Unit("Well?", "b"))
    discourse = Discourse("d", "test", units)
    (result,) = SpeakerSeparator()(discourse, Context())
    assert result.texts == ("Hi. [SEP]", "Hello. [SEP]", "Well?")


def test_a_text_with_the_separator_is_skipped_and_counted() -> None:
    context = Context()
    discourse = Discourse("d", "test", (Unit("A [SEP] token."), Unit("B.")))
    assert list(SpeakerSeparator()(discourse, context)) == []
    assert context.skipped == {"the text itself contains [SEP]": 1}


@given(discourses(), st.data())
def test_replacement_moves_or_drops_annotations(discourse: Discourse, data: st.DataObject) -> None:
    unit = data.draw(st.integers(0, len(discourse.units) - 1))
    text = discourse.units[unit].text
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    result = replace_text(discourse, unit, start, end, "the new words", operator="Test")
    assert undo(result) == discourse.texts
    before = [span_text(discourse, span) for span in spans(discourse)]
    for span in spans(result):
        assert span_text(result, span) in before


def test_replacement_moves_a_mention_behind_the_place() -> None:
    discourse = Discourse(
        "d", "test", (Unit("It saw her."),), mentions=(Mention(((0, 7, 10),), "c", "pronoun"),)
    )
    result = replace_text(discourse, 0, 0, 2, "The dog", operator="Test", variant="dog")
    assert span_text(result, result.mentions[0].span) == "her"
    assert result.variant == "dog"
    assert replace_text(result, 0, 0, 3, "A", operator="Test").variant == "dog"


def test_a_changed_unit_has_no_grammar() -> None:
    units = (parsed("Ann:nsubj:1 ran:root:"), parsed("Bo:nsubj:1 slept:root:"))
    changed = replace_text(Discourse("d", "test", units), 1, 0, 2, "He", operator="Test")
    assert [len(unit.words) for unit in changed.units] == [2, 0]


def test_replacement_outside_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="not in unit"):
        replace_text(Discourse("d", "test", (Unit("A."),)), 0, 1, 5, "x", operator="Test")


def test_edits_that_do_not_fit_the_text_do_not_undo() -> None:
    (result,) = EndingSwap()(
        Discourse(
            "d", "t", (Unit("A."),), alternatives=(Alternative(((0, 0, 2),), ("A.", "B."), 0),)
        ),
        Context(),
    )
    other = Discourse("d", "t", (Unit("C."),), edits=result.edits)
    with pytest.raises(ValueError, match="is not in"):
        undo(other)


def test_a_pipeline_reads_as_it_was_written() -> None:
    assert (
        str(Shuffle(keep_last=1) | SpeakerSeparator())
        == "Shuffle(keep_last=1) | SpeakerSeparator()"
    )
    assert str(Pipeline() | Shuffle()) == "Shuffle()"


def test_an_empty_pipeline_yields_what_it_gets() -> None:
    discourse = Discourse("d", "t", (Unit("A."),))
    assert list(Pipeline()(discourse, Context())) == [discourse]


def test_names_that_several_results_would_share_begin_with_the_earlier_name() -> None:
    four = Discourse("d", "t", tuple(map(Unit, ("He ran.", "She sat.", "He ate.", "It fell."))))
    two = Shuffle(keep_last=1, permutations=2)
    swapped = list((two | ProbeSentence("gender_flip", unit=1))(four, Context()))
    names = [made.variant for made in two(four, Context())]
    assert [made.variant for made in swapped] == [f"{name}/gender_flip" for name in names]
    assert all(undo(made) == four.texts for made in swapped)
    # One result alone has the last name, and an operator that names nothing changes none.
    (one,) = (Shuffle(keep_last=1) | ProbeSentence("gender_flip", unit=1))(four, Context())
    assert one.variant == "gender_flip"
    assert [made.variant for made in (two | Pipeline())(four, Context())] == names


def test_a_tree_moves_with_its_units_and_falls_with_one_of_them() -> None:
    tree = RhetoricalTree(
        (((0, 0, 8),), ((0, 9, 17),)), (RhetoricalNode(0, 1, 2, "NN", "joint-list"),)
    )
    discourse = Discourse("d", "test", (Unit("It rains and pours so."),), tree=tree)
    moved = replace_text(discourse, 0, 18, 21, "hard", operator="Test")
    assert moved.tree == tree
    moved = replace_text(discourse, 0, 8, 9, ", ", operator="Test")
    assert moved.tree is not None
    assert moved.tree.units == (((0, 0, 8),), ((0, 10, 18),))
    assert replace_text(discourse, 0, 3, 8, "snows", operator="Test").tree is None


def test_the_last_unit_alone() -> None:
    discourse = Discourse("d", "test", (Unit("Ann ran."), Unit("She won.")))
    (result,) = LastUnit()(discourse, Context())
    assert result.texts == ("She won.",)
    assert undo(result) == discourse.texts
    context = Context()
    assert list(LastUnit()(result, context)) == []
    assert context.skipped.total() == 1
