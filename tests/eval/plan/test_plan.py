"""The work planned, which is what costs time; nothing is run here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.plan.plan import Batch, Budget, Plan, head_rows, make_plan
from coherencegym.eval.text.sequence import WORTH_SHARING, Sharing, TokenSequence, shared_length

WIDE = Budget(tokens=10_000, head_rows=10_000, cached=10_000)
BEGINNING = tuple(range(100, 120))
SHARED: tuple[Sharing, ...] = ("cache", "packed")


def test_equal_sequences_run_once() -> None:
    plan = make_plan([TokenSequence((1, 2, 3), (2,)), TokenSequence((1, 2, 3), (2,))], WIDE)
    assert len(plan.sequences) == 1
    assert plan.sequence_of_request == (0, 0)
    assert plan.head_rows == 1


def test_positions_of_equal_sequences_are_united() -> None:
    plan = make_plan(
        [TokenSequence((1, 2, 3, 4), (1, 3)), TokenSequence((1, 2, 3, 4), (2, 3))], WIDE
    )
    assert plan.sequences[0].positions == (1, 2, 3)


def test_nothing_behind_the_last_position_read_is_run() -> None:
    plan = make_plan([TokenSequence((1, 2, 3, 4, 5), (1, 2))], WIDE)
    assert plan.sequences[0].ids == (1, 2, 3)
    assert plan.tokens == 2


def test_what_nothing_reads_is_not_run() -> None:
    plan = make_plan([TokenSequence((1, 2, 3), ()), TokenSequence((4, 5), (1,))], WIDE)
    assert plan.sequence_of_request == (None, 0)
    assert plan.tokens == 1


def test_longest_first_and_within_the_budget() -> None:
    lengths = [3, 9, 5, 9, 2, 4]
    requests = [
        TokenSequence(tuple(range(i * 20, i * 20 + n)), (n - 1,)) for i, n in enumerate(lengths)
    ]
    plan = make_plan(requests, replace(WIDE, tokens=16))
    assert [batch.length for batch in plan.batches] == [8, 4]
    assert [len(batch.indices) for batch in plan.batches] == [2, 4]
    assert plan.padded_tokens == 2 * 8 + 4 * 4


def test_logits_have_a_budget_of_their_own() -> None:
    requests = [TokenSequence(tuple(range(i, i + 5)), (1, 2, 3, 4)) for i in range(6)]
    plan = make_plan(requests, replace(WIDE, head_rows=8))
    assert [batch.head_rows for batch in plan.batches] == [8, 8, 8]


def test_a_sequence_longer_than_the_budget_runs_alone() -> None:
    plan = make_plan(
        [TokenSequence(tuple(range(50)), (49,)), TokenSequence((1, 2), (1,))],
        replace(WIDE, tokens=10),
    )
    assert [len(batch.indices) for batch in plan.batches] == [1, 1]


def item(family: int, *ends: tuple[int, ...], read: int = 2) -> list[TokenSequence]:
    """Requests of one item: the beginning, which is their own, and an end each."""
    requests = []
    for end in ends:
        ids = tuple(family * 1000 + token for token in BEGINNING) + end
        requests.append(TokenSequence(ids, tuple(range(len(ids) - read, len(ids))), family=family))
    return requests


def test_what_an_items_conditions_begin_with_alike_is_read_once() -> None:
    requests = item(1, (1, 2, 3), (4, 2, 3), (5, 6, 2, 3))
    plan = make_plan(requests, WIDE, sharing="cache")
    (batch,) = plan.batches
    assert (batch.prefix, batch.length) == (20, 23)
    assert batch.groups == ((0, 1, 2),)
    # The beginning, and what the model reads of the three ends: all but their last tokens.
    assert plan.tokens == 3 * 20 + 2 + 2 + 3
    assert plan.tokens_once == 20 + 2 + 2 + 3
    assert plan.padded_tokens == 20 + 3 * 3
    assert make_plan(requests, WIDE).padded_tokens == 3 * 23


def test_packed_rows_hold_a_beginning_and_every_rest() -> None:
    requests = item(1, (1, 2, 3), (4, 2, 3), (5, 6, 2, 3)) + item(2, (1, 2, 3), (4, 2, 3))
    plan = make_plan(requests, WIDE, sharing="packed")
    (batch,) = plan.batches
    assert sorted(zip(batch.groups, batch.prefixes, strict=True)) == [((0, 1, 2), 20), ((3, 4), 20)]
    assert (batch.prefix, batch.passes) == (0, 1)
    assert batch.length == 20 + 2 + 2 + 3
    assert plan.tokens_once == (20 + 2 + 2 + 3) + (20 + 2 + 2)
    assert plan.padded_tokens == 2 * (20 + 2 + 2 + 3)
    # A row that is too long for a batch is divided.
    small = make_plan(requests, replace(WIDE, tokens=25), sharing="packed")
    assert sorted(len(group) for each in small.batches for group in each.groups) == [1, 2, 2]


def test_items_do_not_share_and_neither_do_requests_without_one() -> None:
    loose = [replace(request, family=-1) for request in item(1, (1, 2), (3, 4))]
    assert not make_plan(loose, WIDE, sharing="cache").shares
    two = [replace(request, family=n) for n, request in enumerate(item(1, (1, 2), (3, 4)))]
    assert not make_plan(two, WIDE, sharing="cache").shares


def test_beginnings_of_one_batch_are_cut_to_the_shortest() -> None:
    requests = item(1, (1, 2, 3), (4, 2, 3)) + item(2, (1, 2, 3, 4), (1, 5, 3, 4))
    plan = make_plan(requests, WIDE, sharing="cache")
    (batch,) = plan.batches
    assert batch.prefix == 20
    assert plan.padded_tokens == 2 * 20 + 4 * 3


def test_a_beginning_that_saves_little_is_not_shared() -> None:
    requests = [TokenSequence((1, 2, n, 4), (3,), family=7) for n in range(3)]
    assert not make_plan(requests, WIDE, sharing="cache").shares


def test_conditions_that_begin_alike_in_several_ways_are_several_groups() -> None:
    # Shuffles of a text: what all begin with is one token, but some have a sentence in common.
    first, second, third = ((1, *range(n, n + 10)) for n in (100, 200, 300))
    texts = [first + (7,) * 5, second + (8,) * 5, first + (9,) * 5, third, (*second, 5, 5)]
    requests = [TokenSequence(ids, (len(ids) - 1,), family=0) for ids in texts]
    for sharing in SHARED:
        plan = make_plan(requests, WIDE, sharing=sharing)
        groups = {group for batch in plan.batches for group in batch.groups}
        assert groups == {(0, 2), (1, 4), (3,)}
        assert plan.tokens - plan.tokens_once == 11 + 11


@given(st.lists(st.lists(st.integers(0, 1), min_size=2, max_size=9), min_size=1, max_size=6))
def test_no_other_parts_of_a_family_save_more(texts: list[list[int]]) -> None:
    requests = [TokenSequence((*ids, 9), (len(ids),), family=0) for ids in texts]
    plan = make_plan(requests, WIDE, sharing="packed")
    saved = plan.tokens - plan.tokens_once
    best = max(saved_by(plan.sequences, parts) for parts in partitions(range(len(plan.sequences))))
    assert saved == best


def partitions(members: Sequence[int]) -> Iterator[list[list[int]]]:
    """All ways to put some sequences into parts."""
    if not members:
        yield []
        return
    first, *rest = members
    for parts in partitions(rest):
        yield [[first], *parts]
        for number, part in enumerate(parts):
            yield [*parts[:number], [first, *part], *parts[number + 1 :]]


def saved_by(sequences: Sequence[TokenSequence], parts: Sequence[Sequence[int]]) -> int:
    """Tokens saved by sharing in each part where it is worth it."""
    saved = [(len(part) - 1) * shared_length(sequences, part) for part in parts]
    return sum(tokens for tokens in saved if tokens >= WORTH_SHARING)


def test_a_cache_has_to_save_more_than_a_row() -> None:
    requests = [TokenSequence((*range(9), *range(n, n + 60)), (60,), family=0) for n in (100, 200)]
    assert make_plan(requests, WIDE, sharing="packed").shares
    assert not make_plan(requests, WIDE, sharing="cache").shares


def test_rows_within_the_beginning_are_read_once() -> None:
    requests = item(1, (1, 2), (3, 4), read=21)
    plan = make_plan(requests, WIDE, sharing="cache")
    # 20 rows of the beginning (one for both first tokens of the ends), and one in each end.
    assert plan.head_rows == 20 + 2
    assert head_rows(plan.sequences, (0, 1), 0) == 42


def test_a_family_too_large_for_the_budget_is_divided() -> None:
    requests = item(1, *((n, 2, 3) for n in range(8)))
    plan = make_plan(requests, replace(WIDE, cached=50), sharing="cache")
    assert [len(batch.indices) for batch in plan.batches] == [2, 2, 2, 2]
    assert all(batch.prefix for batch in plan.batches)


def test_a_budget_can_be_halved_until_one_token_is_left() -> None:
    budget: Budget | None = Budget(tokens=5, head_rows=3, cached=1)
    sizes = []
    while budget is not None:
        sizes.append((budget.tokens, budget.head_rows))
        budget = budget.halved()
    assert sizes == [(5, 3), (2, 1), (1, 1)]


def test_what_is_done_is_not_batched_again() -> None:
    plan = make_plan(item(1, (1, 2, 3), (4, 2, 3), (5, 6, 2, 3)), WIDE, sharing="cache")
    rest = plan.batched(WIDE, sharing="cache", done={1})
    assert [batch.groups for batch in rest.batches] == [((0, 2),)]
    assert plan.batched(WIDE, sharing="cache", done={0, 1, 2}).batches == ()


@st.composite
def families(draw: st.DrawFn) -> list[TokenSequence]:
    """Requests of a few items whose conditions begin alike, more or less."""
    requests = []
    token = st.integers(0, 3)
    for family in range(draw(st.integers(1, 6))):
        beginning = draw(st.lists(token, max_size=14))
        for _ in range(draw(st.integers(1, 4))):
            ids = tuple(beginning + draw(st.lists(token, min_size=2, max_size=6)))
            places = draw(st.sets(st.integers(1, len(ids) - 1)))
            requests.append(TokenSequence(ids, tuple(sorted(places)), family=family))
    return requests


@pytest.mark.parametrize("sharing", ["none", "cache", "packed"])
@given(
    asked=families(), tokens=st.integers(1, 80), rows=st.integers(1, 60), held=st.integers(1, 90)
)
def test_every_position_asked_for_is_run_once_and_no_batch_is_over_budget(
    sharing: Sharing, asked: list[TokenSequence], tokens: int, rows: int, held: int
) -> None:
    budget = Budget(tokens, rows, held)
    plan = make_plan(asked, budget, sharing=sharing)
    check(plan, asked)
    for batch in plan.batches:
        if batch.prefixes:
            assert batch.padded_tokens <= tokens
            assert batch.length >= max(sum_of_row(plan, batch))
        elif len(batch.indices) > 1:
            rest = batch.length - batch.prefix
            assert len(batch.indices) * rest <= tokens
            if batch.prefix:
                assert len(batch.groups) * batch.prefix <= tokens
                assert len(batch.indices) * batch.length <= held
            else:
                assert batch.head_rows <= rows
    unshared = plan.batched(budget, sharing="none")
    check(unshared, asked)
    assert plan.tokens_once <= unshared.tokens_once == plan.tokens
    assert plan.padded_tokens >= plan.tokens_once


def sum_of_row(plan: Plan, batch: Batch) -> list[int]:
    """Tokens of each packed row."""
    return [
        shared + sum(plan.sequences[i].length - shared for i in group)
        for group, shared in zip(batch.groups, batch.shared, strict=True)
    ]


def check(plan: Plan, asked: list[TokenSequence]) -> None:
    assert sorted(i for batch in plan.batches for i in batch.indices) == list(
        range(len(plan.sequences))
    )
    assert len({sequence.ids for sequence in plan.sequences}) == len(plan.sequences)
    for batch in plan.batches:
        if batch.prefixes:
            assert batch.length == max(sum_of_row(plan, batch))
        else:
            assert batch.length == max(plan.sequences[i].length for i in batch.indices)
        for group, shared in zip(batch.groups, batch.shared, strict=True):
            assert len(group) == 1 or shared
            assert shared < min(plan.sequences[i].length for i in group) or len(group) == 1
            assert len({plan.sequences[i].ids[:shared] for i in group}) == 1
        pairs = zip(batch.groups, batch.shared, strict=True)
        assert batch.head_rows == sum(head_rows(plan.sequences, g, shared) for g, shared in pairs)
    for request, index in zip(asked, plan.sequence_of_request, strict=True):
        if request.positions:
            assert index is not None
            sequence = plan.sequences[index]
            assert set(request.positions) <= set(sequence.positions)
            assert request.ids[: len(sequence.ids)] == sequence.ids


@given(families())
def test_the_shared_length_is_the_longest_common_beginning(asked: list[TokenSequence]) -> None:
    plan = make_plan([replace(r, positions=(len(r.ids) - 1,)) for r in asked], WIDE)
    for family in plan.families:
        length = shared_length(plan.sequences, family)
        members = [plan.sequences[index] for index in family]
        assert len({m.ids[:length] for m in members}) == 1
        assert length < min(m.length for m in members)
        if length < min(m.length for m in members) - 1:
            assert len({m.ids[: length + 1] for m in members}) > 1


@pytest.mark.parametrize("sharing", ["cache", "packed"])
def test_many_items_are_batched_with_little_padding(sharing: Sharing) -> None:
    requests = [
        request
        for n in range(1500)
        for request in item(n, *((c, *range(n % 13)) for c in range(4)), read=1)
    ]
    plan = make_plan(requests, Budget(1024, 512, 2048), sharing=sharing)
    assert plan.padded_tokens < 1.03 * plan.tokens_once
    assert plan.tokens_once < 0.5 * plan.tokens


def test_types_formulas_plans_and_the_command_line_need_no_torch() -> None:
    code = (
        "import sys\n"
        "from coherencegym.eval.commands import cli\n"
        "from coherencegym.eval.kinds import formula, items\n"
        "from coherencegym.eval.plan import plan\n"
        "heavy = {'torch', 'transformers', 'datasets', 'rich', 'pyarrow'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
