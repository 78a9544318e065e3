"""Clean and corrupted sequences: which positions belong together, and what cannot be aligned."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from support.suites import Sample
from support.tiny_tokenizers import byte_level
from transformers import PreTrainedTokenizerFast

import coherencegym as cg
from coherencegym.eval.kinds.items import Condition, Item, Prediction, Region
from coherencegym.eval.plan.alignment import (
    ACROSS,
    NO_SHARED_TEXT,
    NOT_ENCODED,
    OTHER_TOKENS,
    AlignedPair,
    Alignment,
    align_items,
)
from coherencegym.eval.plan.options import Options

HARD = "(2;%hard%) > (2;%easy%)"


@cache
def tokenizer() -> Any:
    return PreTrainedTokenizerFast(tokenizer_object=byte_level(), bos_token="<s>")


def item(easy: str, hard: str, formula: str = HARD) -> Item:
    """An item of two conditions, with ``|`` between their regions."""
    conditions = tuple(
        Condition(
            name,
            text.replace("|", ""),
            tuple(Region(n, part.strip()) for n, part in enumerate(text.split("|"), start=1)),
        )
        for name, text in (("easy", easy), ("hard", hard))
    )
    return Item("i", 1, conditions, (Prediction(formula, "sum"),), "d", "c")


def align(*items: Item, **options: Any) -> Alignment:
    return align_items(tokenizer(), None, items, **options)


def tokens(pair: AlignedPair) -> list[tuple[str, str, int, bool]]:
    words = tokenizer().convert_ids_to_tokens
    return [
        (words(pair.clean[p.clean]), words(pair.corrupted[p.corrupted]), p.region, p.in_target)
        for p in pair.positions
    ]


@pytest.mark.parametrize("texts", [("the ball, a", "the x y, a"), ("the x y, a", "the ball, a")])
def test_a_region_pairs_up_from_the_left_while_equal_and_then_from_the_right(
    texts: tuple[str, str],
) -> None:
    (pair,) = align(item(*(f"{text}| to" for text in texts))).pairs
    found = tokens(pair)
    assert found[0] == ("<s>", "<s>", -1, False)
    assert found[-1] == ("Ġto", "Ġto", 2, True)
    assert [one[:2] for one in found[-3:-1]] == [(",", ","), ("Ġa", "Ġa")]
    assert pair.is_shifted
    clean, corrupted = pair.unaligned
    assert len(pair.positions) + len(clean) == len(pair.clean)
    assert len(pair.positions) + len(corrupted) == len(pair.corrupted)
    assert not (clean and corrupted)


def test_equal_lengths_leave_no_position_over() -> None:
    (pair,) = align(item("a ball| to", "s ball| to")).pairs
    assert (pair.unaligned, pair.is_shifted) == (([], []), False)
    assert [p.clean for p in pair.positions] == list(range(len(pair.clean)))


def test_what_is_less_than_is_clean() -> None:
    (pair,) = align(item("the ball| to", "a park| to", "(2;%easy%) < (2;%hard%)")).pairs
    assert (pair.clean_condition, pair.corrupted_condition) == ("easy", "hard")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (item("the ball| to", "the ball| and"), NO_SHARED_TEXT),
        (item("the ball| to", "the ball| to", "(*;%hard%) > (*;%easy%)"), NO_SHARED_TEXT),
        (item("a b|all", "a c|all"), ACROSS),
        (item("the ball| to", "the ball-|to"), OTHER_TOKENS),
        (item("the ball [SEP]| to", "the park [SEP]| to"), NOT_ENCODED),
    ],
)
def test_what_cannot_be_aligned_is_counted(given: Item, reason: str) -> None:
    found = align(given)
    assert (found.pairs, found.left_out) == ((), {reason: 1})
    assert str(found).endswith(f"left out: 1: {reason}")


def test_separators_belong_to_the_text_behind_them() -> None:
    given = item("the ball [SEP] a| to", "to the dog [SEP] a| to")
    (pair,) = align(given, options=Options(separator="!")).pairs
    assert ("!", "!", -1, False) in tokens(pair)
    assert [p.corrupted for p in pair.positions] == sorted(p.corrupted for p in pair.positions)


@pytest.mark.parametrize("suite", ["connectives", "story_cloze", "winograd"])
def test_both_targets_of_a_crossed_item_give_a_pair(built_sample: Sample, suite: str) -> None:
    items = cg.load_items(built_sample(suite)[0], config="sample_crossed")
    found = align_items(tokenizer(), None, items)
    assert not found.left_out
    assert len(found.pairs) == 2 * len(items)
    for pair in found.pairs:
        scored = [p for p in pair.positions if p.in_target]
        assert scored
        assert all(pair.clean[p.clean] == pair.corrupted[p.corrupted] for p in scored)
        assert pair.positions[-1] == scored[-1]
