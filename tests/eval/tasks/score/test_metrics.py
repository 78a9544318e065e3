"""Region values, and when a prediction is undefined, tied, too long or flagged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.results import JudgedPrediction, judged_predictions, made_scores

from coherencegym.eval.kinds.items import METRICS, Item
from coherencegym.eval.plan.options import DEFAULT, Options, Rules
from coherencegym.eval.statistics.scores import Score, shown_rows
from coherencegym.eval.surprisal import Answer, ScoredCondition
from coherencegym.eval.tasks.score.scoring import VALUES, region_value, score_items
from coherencegym.eval.text.encode import SPECIAL, Encoding

BITS = [2.0, 3.0, 7.0, 4.0]


def scored_condition(
    bits: list[float], regions: list[int], *, ids: list[int] | None = None, start: bool = True
) -> ScoredCondition:
    """A condition from its tokens' surprisals; the start-of-text token is added."""
    ids = ids or list(range(10, 10 + len(bits)))
    if start:
        ids, bits, regions = [1, *ids], [math.nan, *bits], [SPECIAL, *regions]
    places = tuple(range(len(ids)))
    return ScoredCondition(
        Encoding(tuple(ids), tuple(regions), places, places, ((),) * len(ids), start),
        np.array(bits, dtype=float),
    )


# ---------------------------------------------------------------- region values


@pytest.mark.parametrize(
    ("metric", "value"),
    [("mean", 4.0), ("sum", 16.0), ("median", 3.5), ("range", 5.0), ("max", 7.0), ("min", 2.0)],
)
def test_metrics(metric: str, value: float) -> None:
    assert region_value(scored_condition(BITS, [1] * 4), 1, metric) == value


def test_median_of_an_odd_number() -> None:
    assert region_value(scored_condition([9.0, 1.0, 2.0], [1] * 3), 1, "median") == 2.0


def test_every_metric_of_a_suite_is_there() -> None:
    assert set(VALUES) == set(METRICS)


def test_the_whole_text_leaves_out_start_and_separators() -> None:
    condition = scored_condition([2.0, 9.0, 3.0], [1, SPECIAL, 2])
    assert region_value(condition, "*", "sum") == 5.0


def test_an_empty_region_sums_to_nothing_and_has_no_mean() -> None:
    condition = scored_condition(BITS, [1] * 4)
    assert region_value(condition, 2, "sum") == 0.0
    assert region_value(condition, 2, "mean") is None


def test_a_first_token_without_surprisal_is_left_out_and_never_0() -> None:
    condition = scored_condition([math.nan, 3.0, 5.0], [1, 1, 1], start=False)
    assert region_value(condition, 1, "mean") == 4.0
    assert condition.leaves_out_first(1)
    only_first = scored_condition([math.nan, 3.0], [1, 2], start=False)
    assert region_value(only_first, 1, "sum") is None
    assert not only_first.leaves_out_first(2)


# ---------------------------------------------------------------- evaluated predictions


def evaluate(item: Item, **conditions: ScoredCondition) -> list[JudgedPrediction]:
    return list(judged_predictions(Answer(item, conditions)))


def test_a_prediction_holds_fails_or_ties(make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["x"], "b": ["y"]}, "(1;%a%) > (1;%b%)")
    low, high = scored_condition([1.0], [1], ids=[5]), scored_condition([2.0], [1], ids=[6])
    same = scored_condition([2.0 + 1e-6], [1], ids=[7])
    results = [evaluate(item, a=a, b=b)[0].outcome for a, b in ((high, low), (low, high))]
    assert [(r.met, r.tie, r.margin) for r in results if r] == [
        (True, False, 1.0),
        (False, False, -1.0),
    ]
    (tie,) = evaluate(item, a=high, b=same)
    assert tie.outcome is not None
    assert (tie.outcome.met, tie.outcome.tie) == (False, True)


def test_within_the_error_of_the_run_it_is_too_close_and_stays_in_the_score(
    make_item: Callable[..., Item],
) -> None:
    item = make_item({"a": ["x"], "b": ["y"]}, "(1;%a%) > (1;%b%)")
    # Of one token each: 0.25 bits for their difference.
    error = 0.25 / math.sqrt(2)
    low = scored_condition([1.0], [1], ids=[5])
    found = []
    for bits in (1.0 + 1e-6, 1.2, 1.3):
        high = scored_condition([bits], [1], ids=[6])
        (one,) = judged_predictions(Answer(item, {"a": high, "b": low}), error=error)
        assert one.outcome is not None
        found.append((one.outcome.tie, one.too_close, one.outcome.met))
    # A tie is no closer than that; nothing is too close without a measured error.
    assert found == [(True, False, False), (False, True, True), (False, False, True)]
    assert not evaluate(item, a=scored_condition([1.2], [1], ids=[6]), b=low)[0].too_close
    (score,) = (
        s
        for s in made_scores(
            list(judged_predictions(Answer(item, {"a": high, "b": low}), error=9.0))
        )
        if s.level == "all"
    )
    assert (score.counts, score.n, score.score) == ({"too close": 1}, 1, 1.0)


def test_the_bound_is_that_of_the_formula_at_hand(make_item: Callable[..., Item]) -> None:
    texts = {name: ["x", "y"] for name in "abcd"}
    bits = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}

    def widest(formula: str, metric: str, tokens: int, rules: Rules = DEFAULT) -> float:
        """The error for a spread of 1 from which on a prediction is too close."""
        item = make_item(texts, formula, metric=metric)
        regions = [1] * tokens + [2] * tokens
        conditions = {
            name: scored_condition([value] * 2 * tokens, regions, ids=[ord(name)] * 2 * tokens)
            for name, value in bits.items()
        }

        def is_close(error: float) -> bool:
            return next(iter(judged_predictions(Answer(item, conditions), rules, error))).too_close

        low, high = 0.0, 1e6
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if is_close(middle) else (middle, high)
        return high

    pair, crossed = "(1;%c%) > (1;%a%)", "(1;%c%) + (1;%d%) > (1;%a%) + (1;%b%)"
    for metric, one in (("mean", 1 / 9), ("sum", 9), ("median", 1), ("max", 1)):
        times = 9 if metric == "sum" else 1
        assert widest(pair, metric, 9) == pytest.approx(2 * times / math.sqrt(2 * one))
        # Twice the margin by four regions, whose variances add up.
        assert widest(crossed, metric, 9) == pytest.approx(4 * times / math.sqrt(4 * one))
    # The same value twice is off twice; on both sides it is off by nothing.
    twice = "(1;%c%) + (1;%c%) > (1;%a%)"
    assert widest(twice, "mean", 1) == pytest.approx(5 / math.sqrt(5))
    assert widest("(1;%c%) + (2;%d%) > (1;%a%) + (2;%d%)", "mean", 1) == pytest.approx(
        2 / math.sqrt(2)
    )
    assert widest("(1;%c%) > 2.5", "mean", 4) == pytest.approx(0.5 / math.sqrt(1 / 4))
    # An equality within 1e-3 that fails by 2 bits.
    assert widest("(1;%c%) = (1;%a%)", "mean", 1) == pytest.approx(2 / math.sqrt(2), abs=1e-3)
    # All of a text as the sum of its regions' means.
    assert widest("(*;%c%) > 2.5", "mean", 4, Rules(whole_sums_regions=True)) == pytest.approx(
        3.5 / math.sqrt(2 / 4)
    )
    # What holds or fails without the close part is settled.
    away = "(1;%d%) > (1;%a%)"
    assert widest(f"{pair} & {away}", "mean", 1) == pytest.approx(2 / math.sqrt(2))
    assert widest(f"{pair} | {away}", "mean", 1) == pytest.approx(3 / math.sqrt(2))
    assert widest("(1;%a%) > (1;%d%) & (1;%c%) > (1;%a%)", "mean", 1) == pytest.approx(
        3 / math.sqrt(2)
    )


def test_conditions_that_became_identical_are_undefined(make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["x"], "b": ["y"], "c": ["z"]}, "(1;%a%) > (1;%b%)", "(1;%a%) > (1;%c%)")
    a, b = scored_condition([1.0], [1], ids=[5]), scored_condition([1.0], [1], ids=[5])
    c = scored_condition([0.5], [1], ids=[6])
    first, second = evaluate(item, a=a, b=b, c=c)
    assert (first.outcome, first.reason) == (None, "identical")
    assert second.outcome is not None


def test_identical_texts_reach_undefined_from_the_tokenizer(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer()
    item = make_item({"a": ["Tim ran."], "b": ["Tim ran."]}, "(1;%a%) > (1;%b%)")
    scored = score_items(make_model("gpt2", tokenizer), tokenizer, [item])
    assert [j.reason for j in judged_predictions(scored.items[0])] == ["identical"]


def test_no_separator_makes_only_what_needs_one_undefined(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer(eos=None)
    item = make_item(
        {"a": ["Hi. [SEP]", "Tim ran."], "b": ["Tim ran.", "Hi."], "c": ["Hi.", "No."]},
        "(1;%a%) > (1;%b%)",
        "(1;%c%) > (1;%b%)",
    )
    scored = score_items(make_model("gpt2", tokenizer), tokenizer, [item])
    assert [j.reason for j in judged_predictions(scored.items[0])] == ["separator", ""]


def test_without_start_of_text_scores_of_the_whole_are_flagged_and_of_the_end_not(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    item = make_item(
        {"a": ["Lily was sad.", "Tim ran."], "b": ["The dog was sad.", "Tim ran."]},
        "(*;%a%) > (*;%b%)",
        "(1;%a%) > (1;%b%)",
        "(2;%a%) > (2;%b%)",
    )
    never = score_items(model, tokenizer, [item], Options(bos="never"))
    assert [j.first_left_out for j in judged_predictions(never.items[0])] == [True, True, False]
    first = never.items[0].conditions["a"]
    assert math.isnan(first.bits[0])
    assert len(first.region_bits("*")) == len(first.encoding.ids) - 1
    auto = score_items(model, tokenizer, [item])
    assert [j.first_left_out for j in judged_predictions(auto.items[0])] == [False, False, False]


def test_items_with_equal_texts_see_only_what_their_own_predictions_read(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer()
    regions = {"a": ["Lily was sad.", "Tim ran."], "b": ["The dog was sad.", "Tim ran."]}
    items = [
        make_item(regions, f"({n};%a%) > ({n};%b%)", "(2;%a%) > 1", item_id=f"d{n}/x")
        for n in (1, 2)
    ]
    scored = score_items(make_model("gpt2", tokenizer), tokenizer, items)
    assert len(scored.plan.sequences) == 3  # a is run once for both, b to the end and to region 1
    both, last = (item.conditions["a"] for item in scored.items)
    assert len(both.region_bits("*")) == len(both.encoding.ids) - 1
    assert len(last.region_bits(1)) == 0
    np.testing.assert_array_equal(both.region_bits(2), last.region_bits(2))


# ---------------------------------------------------------------- length


LONG = {
    "a": ["The dog was sad. Tim ran to the park.", "It was raining."],
    "b": ["The dog was sad. Lily ran to the park.", "It was raining."],
}


def test_too_long_leaves_the_item_out_of_every_score(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer, n_positions=24)
    long = make_item(LONG, "(2;%a%) > (2;%b%)", "(1;%a%) > (1;%b%)", item_id="long/x")
    short = make_item({"a": ["Hi."], "b": ["No."]}, "(1;%a%) > (1;%b%)", item_id="short/x")
    scored = score_items(model, tokenizer, [long, short])
    assert [item.too_long for item in scored.items] == [True, False]
    evaluated = [j for item in scored.items for j in judged_predictions(item)]
    assert [j.reason for j in evaluated] == ["too_long", "too_long", ""]
    (row, *_) = made_scores(evaluated)
    assert (row.n, row.counts) == (1, {"too_long": 1})


def test_as_long_as_the_context_is_not_too_long(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer()
    item = make_item(LONG, "(2;%a%) > (2;%b%)")
    lengths = [1 + len(tokenizer(c.content)["input_ids"]) for c in item.conditions]
    for spare, too_long in ((0, False), (-1, True)):
        model = make_model("gpt2", tokenizer, n_positions=max(lengths) + spare)
        assert score_items(model, tokenizer, [item]).items[0].too_long is too_long


@pytest.mark.parametrize("bos", ["auto", "never"])
def test_truncate_cuts_the_same_from_all_and_only_what_is_identical(
    bos: Any,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer()
    item = make_item(LONG, "(2;%a%) > (2;%b%)")
    full = {c.condition_name: tokenizer(c.content)["input_ids"] for c in item.conditions}
    start = [tokenizer.bos_token_id] if bos == "auto" else []
    shared = next(i for i, (x, y) in enumerate(zip(full["a"], full["b"], strict=False)) if x != y)
    # Without a start-of-text token the last shared token stays: it goes unscored in both.
    most = shared if start else shared - 1
    longest = max(map(len, full.values())) + len(start)
    for cut, possible in ((3, True), (most, True), (most + 1, False)):
        model = make_model("gpt2", tokenizer, n_positions=longest - cut)
        (result,) = score_items(model, tokenizer, [item], Options(bos=bos, truncate=True)).items
        assert result.too_long is not possible
        if possible:
            assert result.truncated == cut
            for name, condition in result.conditions.items():
                assert list(condition.encoding.ids) == start + full[name][cut:]
                assert len(condition.bits) == len(condition.encoding.ids)


# ---------------------------------------------------------------- scores


def rows(scores: list[Score]) -> dict[tuple[str, str, str], Score]:
    return {(s.level, s.group, s.formula): s for s in scores}


def prediction(
    item: Item, margin: float | None, formula: str = "f", *groups: str
) -> JudgedPrediction:
    from coherencegym.eval.kinds.items import Outcome

    outcome = None if margin is None else Outcome(margin > 0, margin == 0, margin)
    return JudgedPrediction(item, formula, "mean", groups, outcome, "" if outcome else "identical")


def test_cd_counts_ties_and_undefined(make_item: Callable[..., Item]) -> None:
    items = [make_item({"a": ["x"]}, "f", item_id=f"d{i}/x") for i in range(5)]
    margins = [1.0, 2.0, -1.0, 0.0, None]
    (row,) = made_scores([prediction(i, m) for i, m in zip(items, margins, strict=True)])
    assert (row.n, row.counts) == (4, {"identical": 1, "tie": 1})
    assert row.score == 0.5
    assert row.ci_method == "clopper-pearson"
    assert row.margin_mean == 0.5


def test_an_item_with_several_predictions_counts_their_share(
    make_item: Callable[..., Item],
) -> None:
    one, two = (make_item({"a": ["x"]}, "f", item_id=f"d{i}/x") for i in range(2))
    scores = rows(
        made_scores(
            [
                prediction(one, 1.0, "f", "g"),
                prediction(one, -1.0, "h", "g"),
                prediction(one, -1.0, "k", "other"),
                prediction(two, 3.0, "f", "g"),
            ],
        )
    )
    group = scores["group", "g", ""]
    assert (group.n, group.score) == (2, 0.75)
    assert group.margin_mean == 1.5
    whole = scores["all", "", ""]
    assert whole.score == pytest.approx((1 / 3 + 1) / 2)
    assert scores["formula", "", "f"].n == 2
    assert scores["group", "other", "k"].score == 0.0


def test_human_scores_stand_beside_whatever_the_formula(make_item: Callable[..., Item]) -> None:
    items = [make_item({"a": ["x"]}, "f", item_id=f"d{i}/x", moved=bool(i % 2)) for i in range(4)]
    evaluated = [
        replace(prediction(item, 1.0), formula=formula) for item in items for formula in "fg"
    ]
    humans = (
        {"group": "", "score": 0.9, "ci_low": 0.8, "ci_high": 0.95, "n": 40},
        {"group": "moved=true", "score": 0.5, "ci_low": 0.1, "ci_high": 0.9, "n": 2},
    )
    scores = {
        (s.level, s.group): s for s in made_scores(evaluated, breakdowns=("moved",), humans=humans)
    }
    everything = scores["all", ""]
    assert (everything.human_score, everything.human_n) == (0.9, 40)
    assert (everything.human_ci_low, everything.human_ci_high) == (0.8, 0.95)
    assert scores["column", "moved=true"].human_score == 0.5
    for other in (scores["column", "moved=false"], scores["formula", ""]):
        assert (other.human_score, other.human_n) == (None, 0)


def test_a_score_over_a_headline(make_item: Callable[..., Item]) -> None:
    """The config's own score is over one group; columns that tell nothing apart are no rows."""
    evaluated = []
    for number in range(4):
        item = make_item({"a": ["x"]}, "f", item_id=f"d{number}/x", genre="news", kind=number % 2)
        for group, margin in (("wide", 1.0), ("other", -1.0)):
            made = replace(prediction(item, margin), groups=(f"row → {group}", group))
            evaluated.append(made)
    scores = made_scores(evaluated, breakdowns=("genre", "kind"), headline="wide")
    levels = {(s.level, s.group): s.score for s in scores}
    assert levels["all", ""] == 1.0
    assert levels["headline", "wide"] == 1.0
    assert levels["group", "other"] == 0.0
    assert levels["detail", "row → other"] == 0.0
    assert levels["column", "kind=1"] == 1.0
    assert not any(group.startswith("genre") for _, group in levels)
    every = ["", "other", "kind=0", "kind=1", "row → wide", "row → other"]
    assert [s.group for s in shown_rows(scores, with_small=True)] == every
    # Of few items, only those that are of all items are shown.
    assert [s.group for s in shown_rows(scores)] == ["", "other", "row → wide", "row → other"]


def test_a_family_of_discourses_counts_as_one(make_item: Callable[..., Item]) -> None:
    """The interval of eight twins is that of four discourses of two items, not of eight items."""
    margins = [1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0]
    twins, items = [], []
    for number, margin in enumerate(margins):
        family = f"f{number // 2}"
        twin = make_item({"a": ["x"]}, "f", item_id=f"d{number}/x", family=family)
        twins.append(prediction(twin, margin))
        item = make_item({"a": ["x"]}, "f", item_id=f"{family}/{number}")
        items.append(prediction(item, margin))
    (one,), (other,) = made_scores(twins), made_scores(items)
    assert (one.n, one.clusters, one.ci_method) == (8, 4, "korn-graubard")
    assert other.clusters == 4
    for end in ("ci_low", "ci_high", "margin_mean_low", "margin_mean_high"):
        assert getattr(one, end) == getattr(other, end)
    # Null or empty, as in a table in which only some have a family: the discourse.
    for nothing in (None, ""):
        alone = make_item({"a": ["x"]}, "f", item_id="d/x", family=nothing)
        assert alone.cluster == "d"


def test_an_item_of_many_predictions_says_more_than_one_of_one(
    make_item: Callable[..., Item],
) -> None:
    few, many = [], []
    for number in range(30):
        item = make_item({"a": ["x"]}, "f", item_id=f"d{number}/x")
        margins = [1.0 if (number + place) % 3 else -1.0 for place in range(12)]
        few += [prediction(item, margins[0])]
        many += [prediction(item, margin) for margin in margins]
    (one,), (twelve,) = made_scores(few), made_scores(many)
    assert one.score == twelve.score == pytest.approx(2 / 3)
    widths = [row.ci_high - row.ci_low for row in (one, twelve) if row.ci_high and row.ci_low]
    assert widths[1] < 0.5 * widths[0]


def test_no_items_no_score_rather_than_0(make_item: Callable[..., Item]) -> None:
    (row,) = made_scores([prediction(make_item({"a": ["x"]}, "f"), None)])
    assert (row.n, row.score, row.ci_low, row.margin_mean) == (0, None, None, None)


def test_one_discourse_has_no_interval_of_its_margin(make_item: Callable[..., Item]) -> None:
    items = [make_item({"a": ["x"]}, "f", item_id=f"d/{i}") for i in range(3)]
    (row,) = made_scores([prediction(item, 1.0) for item in items])
    assert row.clusters == 1
    assert row.margin_mean_low is None
    assert row.ci_low is not None
    assert row.ci_low < 0.5
