"""Results of two models against each other, from evaluated predictions made by hand."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from support.results import (
    Evaluated,
    JudgedPrediction,
    dataset_facts,
    evaluated_table,
    made_saved,
    model_facts,
)

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Item, Outcome
from coherencegym.eval.report import grid
from coherencegym.eval.report.formats import print_document
from coherencegym.eval.results.comparison import (
    ModelComparison,
    PairedScore,
    by_suite,
    compare,
    holm_corrected,
    model_labels,
)
from coherencegym.eval.statistics.paired import holm, mcnemar, sign_flips
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.views.compare_table import comparison_document, comparison_grid

SETTINGS: dict[str, Any] = {"bos": "auto", "compat": None, "seed": 0, "versions": {"torch": "2.9"}}


def prediction(
    item: str,
    met: bool | None,
    *,
    cluster: str | None = None,
    formula: str = "f",
    groups: Sequence[str] = (),
    **columns: Any,
) -> JudgedPrediction:
    outcome = None if met is None else Outcome(met, False, 1.0 if met else -1.0)
    own = Item(item, 1, (), (), cluster or item, "toy", (), columns)
    reason = "too_long" if met is None else ""
    return JudgedPrediction(own, formula, "mean", tuple(groups), outcome, reason)


def results(name: str, *evaluated: Sequence[JudgedPrediction] | Evaluated, **table: Any) -> Results:
    """A folder of results with one table, or with some."""
    tables = [
        own if isinstance(own, tuple) else evaluated_table(own, split="test", **table)
        for own in evaluated
    ]
    return made_saved(Path("results") / name, *tables, settings=SETTINGS)


def rows(
    left: Sequence[JudgedPrediction], right: Sequence[JudgedPrediction], **table: Any
) -> dict[str, PairedScore]:
    """The rows of a comparison by their level and group."""
    found = compare(results("a", left, **table), results("b", right, **table), details=True)
    return {f"{row.level} {row.group}".strip(): row for row in found.rows}


def outcomes(*met: bool | None, **about: Any) -> list[JudgedPrediction]:
    return [prediction(f"i{place}", value, **about) for place, value in enumerate(met)]


def test_mcnemar_of_independent_items() -> None:
    left = outcomes(*[True] * 10, *[False] * 8, True, False)
    right = outcomes(*[True] * 10, *[True] * 8, False, False)
    row = rows(left, right)["all"]
    assert (row.n, row.n_clusters, row.higher, row.baseline_higher) == (20, 20, 8, 1)
    assert (row.baseline_score, row.score) == pytest.approx((0.55, 0.9))
    assert row.difference == pytest.approx(0.35)
    assert (row.test, row.p, row.p_holm) == ("mcnemar", mcnemar(8, 1), mcnemar(8, 1))
    assert row.ci_low is not None
    assert row.ci_high is not None
    assert 0 < row.ci_low < 0.35 < row.ci_high < 0.7


def test_sign_flips_of_items_that_share_a_discourse() -> None:
    left = [prediction(f"i{k}", False, cluster=f"d{k // 4}") for k in range(20)]
    right = [prediction(f"i{k}", True, cluster=f"d{k // 4}") for k in range(20)]
    row = rows(left, right)["all"]
    assert (row.n, row.n_clusters, row.test) == (20, 5, "sign flips")
    assert row.p == pytest.approx(2 / 2**5)


def test_items_are_paired_by_their_names() -> None:
    left = [prediction("a", True), prediction("b", False), prediction("c", False)]
    row = rows(left, [left[2], left[0], left[1]])["all"]
    assert (row.n, row.baseline_higher, row.higher, row.p) == (3, 0, 0, 1.0)


def test_an_items_value_is_the_share_of_its_predictions() -> None:
    """As in the table of scores: one of three is a third of an item, and no item for McNemar."""
    left = [
        prediction("i", met, formula=f) for f, met in zip("fgh", (True, False, False), strict=True)
    ]
    right = [
        prediction("i", met, formula=f) for f, met in zip("fgh", (True, True, False), strict=True)
    ]
    others = outcomes(True, False)
    found = rows([*left, *others], [*right, *others])
    row = found["all"]
    assert (row.n, row.higher, row.baseline_higher, row.test) == (3, 1, 0, "sign flips")
    assert row.baseline_score == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert row.difference == pytest.approx(1 / 9)


def test_what_is_undefined_for_either_is_left_out_for_both_and_counted() -> None:
    left = outcomes(True, None, True, False, None)
    right = outcomes(False, True, None, True, None)
    row = rows(left, right)["all"]
    assert (row.n, row.left_out, row.undefined_baseline, row.undefined) == (2, 3, 2, 2)
    assert (row.baseline_score, row.score) == (0.5, 0.5)


def test_an_item_stays_with_the_predictions_that_both_have() -> None:
    left = [prediction("i", True, formula="f"), prediction("i", None, formula="g")]
    right = [prediction("i", True, formula="f"), prediction("i", False, formula="g")]
    found = rows(left, right)
    assert (found["all"].n, found["all"].left_out, found["all"].undefined_baseline) == (1, 0, 1)
    assert found["all"].score == 1.0


def test_a_prediction_that_an_item_has_twice_counts_twice() -> None:
    """As in the scores: the second of the one is paired with the second of the other."""
    left = [prediction("i", met, groups=(g,)) for met, g in ((True, "one"), (False, "two"))]
    right = [prediction("i", met, groups=(g,)) for met, g in ((False, "one"), (True, "two"))]
    found = rows(left, right)
    assert (found["all"].n, found["all"].difference) == (1, 0.0)
    assert (found["group one"].difference, found["group two"].difference) == (-1.0, 1.0)


def test_nothing_defined_is_no_difference_and_no_test() -> None:
    found = compare(results("a", outcomes(None, None)), results("b", outcomes(True, False)))
    (row,) = found.rows
    assert (row.n, row.left_out, row.difference, row.p, row.p_holm) == (0, 2, None, None, None)
    assert "–" in printed([found])


def test_a_table_in_which_nothing_is_in_the_headline_has_its_row() -> None:
    found = rows(outcomes(True, groups=("g",)), outcomes(False, groups=("g",)), headline="x")
    assert (found["all"].n, found["all"].difference, found["all"].p) == (0, None, None)
    assert found["detail g"].difference == -1.0


def test_rows_are_those_of_the_scores_and_holm_is_over_the_printed_ones() -> None:
    def evaluate(shift: int) -> list[JudgedPrediction]:
        return [
            prediction(
                f"i{k}",
                (k + shift) % 3 > 0,
                groups=("fine", "wide" if k % 2 else "other"),
                moved=k < 20,
                same=1,
            )
            for k in range(80)
        ]

    settings = {"headline": "wide", "breakdowns": ("moved", "same")}
    left, right = results("a", evaluate(0), **settings), results("b", evaluate(1), **settings)
    found = compare(left, right, details=True)
    names = {(row.level, row.group): row for row in found.rows}
    assert set(names) == {
        ("all", ""),
        ("detail", "fine"),
        ("headline", "wide"),
        ("group", "other"),
        ("column", "moved=true"),
        ("column", "moved=false"),
    }
    assert names["all", ""].n == 40
    assert names["column", "moved=true"].n == 10
    assert [row.group for row in found.shown] == ["", "other", "moved=false", "moved=true", "fine"]
    p_values = [row.p for row in found.shown if row.p is not None]
    assert [row.p_holm for row in found.shown] == holm(p_values)
    # Groups are there only for those who ask, and only then counted.
    whole = compare(left, right)
    assert [row.group for row in whole.shown] == [""]
    assert whole.shown[0].p_holm == whole.shown[0].p
    assert {row.p_holm for row in whole.rows if row.group} == {None}


def test_headline_scores_are_compared_over_the_same_configs_and_corrected_by_themselves() -> None:
    def saved(name: str, shift: int, over: Sequence[str] = ("c", "d")) -> Results:
        own = [prediction(f"i{k}", (k + shift) % 5 > 0) for k in range(40)]
        other = [prediction(f"j{k}", (k * k + shift) % 3 > 0) for k in range(20)]
        tables = [
            evaluated_table(one, config=c, split="test")
            for c, one in zip("cd", (own, other), strict=True)
        ]
        head = Headline(over=tuple(over), n=1, score=None, ci_low=None, ci_high=None)
        return made_saved(Path(name), *tables, settings=SETTINGS, headline=head)

    left, right = saved("a", 0), saved("b", 1)
    found = compare(left, right)
    head = found.headline
    assert head is not None
    whole = {row.config: row for row in found.rows if row.level == "all"}
    assert head.score == pytest.approx(fmean(whole[c].score or 0 for c in "cd"))
    assert head.difference == pytest.approx(fmean(whole[c].difference or 0 for c in "cd"))
    assert (head.n, head.p_holm) == (60, head.p)
    text = printed([found])
    assert text.index("Headline scores: b against a (reference)") < text.index("\nconfig ")
    together = holm_corrected([found, found])
    p = head.p or 0.0
    assert [one.headline and one.headline.p_holm for one in together] == [min(1.0, 2 * p)] * 2
    lone = compare(left, saved("b", 1, "c"), anyway=True)
    assert lone.headline is None
    said = "no difference of the headline scores, as only one of them counts d"
    assert said in lone.remarks
    assert said in printed([lone])


EVALUATED = st.lists(
    st.tuples(
        st.sampled_from([True, False, None]),
        st.sampled_from([True, False, None]),
        st.sampled_from("abcde"),
        st.sampled_from(["", "one", "two"]),
    ),
    min_size=1,
    max_size=20,
)


def sides(
    evaluated: list[tuple[bool | None, bool | None, str, str]],
) -> list[list[JudgedPrediction]]:
    """The evaluated predictions of two models on the same items."""
    return [
        [
            prediction(f"i{k}", met, cluster=cluster, groups=(group,) if group else ())
            for k, (met, cluster, group) in enumerate(side)
        ]
        for side in (
            [(left, cluster, group) for left, _, cluster, group in evaluated],
            [(right, cluster, group) for _, right, cluster, group in evaluated],
        )
    ]


def test_tasks_are_compared_with_those_that_are_like_them() -> None:
    def run(model: str, suite: str, task: str) -> Results:
        return replace(results(model, []), dataset=dataset_facts(suite), task=task)

    scored = [run("a", "x", "score"), run("b", "x", "score")]
    probed = run("a", "x", "probe")
    found = [run("a", "y", "detect"), run("b", "y", "detect")]
    assert by_suite([*scored, probed, *found]) == ([scored, found], [probed])
    # The baseline is the model that comes first in all, where a suite has it.
    more = [run("b", "x", "score"), run("c", "y", "score"), *scored[:1], run("b", "y", "score")]
    groups, _ = by_suite(more)
    assert [[one.model_name for one in group] for group in groups] == [["b", "a"], ["b", "c"]]
    # Of two the comparison says what keeps them apart; of one, layers are compared.
    assert by_suite([scored[0], probed]) == ([[scored[0], probed]], [])
    assert by_suite([probed], fewest=1) == ([[probed]], [])


@given(EVALUATED)
def test_the_same_results_do_not_differ(evaluated: list[Any]) -> None:
    left, _ = sides(evaluated)
    for row in rows(left, left).values():
        if row.n:
            assert (row.difference, row.p, row.p_holm) == (0.0, 1.0, 1.0)
            assert (row.higher, row.baseline_higher) == (0, 0)
            assert row.ci_low is not None
            assert row.ci_low == -(row.ci_high or 0.0) < 0


@given(EVALUATED)
def test_exchanging_the_models_turns_the_difference(evaluated: list[Any]) -> None:
    left, right = sides(evaluated)
    there, back = rows(left, right), rows(right, left)
    assert there.keys() == back.keys()
    for name, row in there.items():
        turned = back[name]
        assert (turned.p, turned.p_holm, turned.n) == (row.p, row.p_holm, row.n)
        assert (turned.score, turned.baseline_score) == (row.baseline_score, row.score)
        assert (turned.undefined, turned.higher) == (row.undefined_baseline, row.baseline_higher)
        if row.difference is not None:
            assert turned.difference == -row.difference
            assert row.ci_low is not None
            assert turned.ci_high == pytest.approx(-row.ci_low, abs=1e-12)


@given(EVALUATED)
def test_numbers_are_those_of_the_items_that_both_have(evaluated: list[Any]) -> None:
    """Against a few lines that know nothing of rows."""
    row = rows(*sides(evaluated))["all"]
    both = [(a, b, cluster) for a, b, cluster, _ in evaluated if a is not None and b is not None]
    assert row.n == len(both)
    if both:
        assert row.difference == pytest.approx(fmean(b - a for a, b, _ in both))
        clusters = [cluster for _, _, cluster in both]
        assert row.p == pytest.approx(sign_flips([float(b - a) for a, b, _ in both], clusters).p)


# ---------------------------------------------------------------- what may be compared

LEFT = results("a", outcomes(True, False))


def with_tables(*tables: TableFacts) -> dict[str, Any]:
    return {"dataset": dataset_facts("suite", *tables)}


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"settings": {**SETTINGS, "bos": "never"}}, 'bos: "auto" and "never"'),
        ({"settings": {**SETTINGS, "compat": "x"}}, 'compat: not set and "x"'),
        ({"settings": {**SETTINGS, "rules": {"tie_bits": 1}}}, "rule tie_bits: not set and 1"),
        (
            {"settings": {**SETTINGS, "of_a_later_release": True}},
            "of_a_later_release: not set and tr",
        ),
        (with_tables(replace(LEFT.tables[0], sha256="x")), "c (test): the rows differ"),
        (with_tables(replace(LEFT.tables[0], headline="x")), 'c (test): score over "" and "x"'),
        (
            with_tables(replace(LEFT.tables[0], items=1)),
            "c (test): 2 and 1 items",
        ),
        (with_tables(*LEFT.tables, replace(LEFT.tables[0], config="d")), "d (test): only in the"),
    ],
)
def test_different_data_and_rules_are_refused_and_compared_when_told_to(
    other: dict[str, Any], what: str
) -> None:
    changed = replace(LEFT, folder=Path("other"), **other)
    for pair in ((LEFT, changed), (changed, LEFT)):
        with pytest.raises(EvaluationError, match=r"not comparable: .*--anyway") as caught:
            compare(*pair)
        if pair[0] is LEFT:
            assert what in str(caught.value)
        found = compare(*pair, anyway=True)
        assert len(found.obstacles) == 1
        assert found.rows[0].n >= 1 or found.baseline.tables[0].headline
        assert found.obstacles[0] in " ".join(printed([found]).split())


def test_runs_of_different_suites_are_refused_by_their_names() -> None:
    other = replace(LEFT, dataset={**LEFT.dataset, "suite": "other"})
    for pair in ((LEFT, other), (other, LEFT)):
        with pytest.raises(EvaluationError) as caught:
            compare(*pair)
        assert f"{pair[0].suite} and {pair[1].suite}" in str(caught.value)
        assert len(f"coherencegym compare: {caught.value}") <= 100


def test_commits_of_the_dataset_are_compared_where_both_have_one() -> None:
    one, two = (replace(LEFT, dataset={**LEFT.dataset, "commit": c}) for c in ("1", "2"))
    with pytest.raises(EvaluationError, match='dataset commit: "1" and "2"'):
        compare(one, two)
    assert not compare(one, LEFT).obstacles


def test_a_setting_that_an_older_release_did_not_know_is_off_there() -> None:
    known = replace(LEFT, settings={**SETTINGS, "of_a_later_release": False})
    assert not compare(LEFT, known).obstacles
    assert not compare(known, LEFT).obstacles


def test_precision_machine_and_packages_may_differ_and_are_said() -> None:
    other = replace(
        LEFT,
        model=model_facts("m", "bfloat16", device="cuda"),
        settings={
            **SETTINGS,
            **{"seed": 1, "batch_tokens": 8, "versions": {"torch": "3", "peft": "1"}},
            **{"numeric_error": {"mean": 0.1}, "start_of_text": {"token_id": 7}},
        },
    )
    found = compare(LEFT, other)
    assert list(found.remarks) == [
        'dtype: "float32" and "bfloat16"',
        'torch: "2.9" and "3"',
        'peft: not set and "1"',
    ]
    assert 'differs: dtype: "float32" and "bfloat16"' in printed([found])


def test_what_is_too_close_to_call_for_either_is_counted() -> None:
    left, right = outcomes(True, True, True, None), outcomes(True, False, True, True)
    left[0] = replace(left[0], too_close=True)
    right[1], right[3] = (replace(right[k], too_close=True) for k in (1, 3))
    found = compare(results("a", left), results("b", right))
    assert (found.rows[0].n, found.rows[0].too_close) == (3, 2)
    (grid,) = comparison_document([found]).grids[-1:]
    assert "too close" in grid.headers


def test_many_obstacles_are_still_one_readable_line() -> None:
    tables = [asdict(replace(LEFT.tables[0], config=f"d{k}")) for k in range(30)]
    with pytest.raises(EvaluationError, match="and 25 more") as caught:
        compare(LEFT, replace(LEFT, dataset={**LEFT.dataset, "tables": tables}))
    assert len(str(caught.value)) < 500


def test_many_ties_are_said_of_the_model_that_has_them() -> None:
    def tied(number: int) -> list[JudgedPrediction]:
        own = outcomes(*[True] * 20)
        return [
            *(replace(one, outcome=Outcome(False, True, 0.0)) for one in own[:number]),
            *own[number:],
        ]

    few, many = results("a", tied(1)), results("b", tied(2))
    said = printed([compare(few, many)])
    assert said.count("a tie") == 1
    assert "c: 2 of 20 items have a tie, which counts as wrong (the other model, b)" in said


def test_what_only_one_has_is_counted() -> None:
    other = results("b", outcomes(True, True, False), rows_sha256="other")
    found = compare(LEFT, other, anyway=True)
    assert (found.rows[0].n, found.unpaired) == (2, 1)
    assert "1 predictions are left out: only one of the two has" in printed([found])
    with pytest.raises(EvaluationError, match="no item is in both"):
        compare(LEFT, results("b", [prediction("x", True)]), anyway=True)


# ---------------------------------------------------------------- what is shown


def printed(comparisons: list[ModelComparison], width: int = 160) -> str:

    file = io.StringIO()
    console = Console(file=file, width=width, highlight=False)
    print_document(comparison_document(comparisons), console)
    assert "\x1b" not in file.getvalue()
    return file.getvalue()


@pytest.fixture
def comparison() -> ModelComparison:
    name = "a_group_with_a_long_name_of_many_words"
    left = [
        prediction(f"i{k}", k % 5 == 0 or k > 90, groups=("[1] " + name if k % 2 else "$x$",))
        for k in range(100)
    ]
    right = [prediction(f"i{k}", k % 5 > 0, groups=left[k].groups) for k in range(100)]
    return compare(results("a", left), results("b", right))


def test_the_table_says_what_it_has_no_room_for(comparison: ModelComparison) -> None:
    text = printed([comparison])
    assert max(map(len, text.splitlines())) <= 100
    assert "not shown" not in text
    assert "b against a (reference)" in text
    (whole,) = (line for line in text.splitlines() if line.startswith("c "))
    row = comparison.rows[0]
    for part in (" 100 ", "28.0", "80.0", "+52.0 [+3", "McNemar", "<0.001", "<0.001*"):
        assert part in whole, (part, row)
    assert "corrected for the one test printed; * below 0.05" in text
    assert "[1] a_group_with_a_long_name_of_many_words" not in text
    assert "2 rows of groups of items are left out; --details prints and tests them" in text
    detailed = compare(comparison.baseline, comparison.model, details=True)
    names = [row.cells[0].strip() for row in comparison_grid(detailed.shown).rows]
    assert "[1] a_group_with_a_long_name_of_many_words" in names
    assert "left out" not in whole
    said = " ".join(printed([comparison, comparison]).split())
    assert "corrected for the 2 tests of all 2 comparisons printed" in said


def test_details_leave_out_nothing_that_details_would_print() -> None:
    left, right = (
        [
            prediction(f"i{k}", k % other > 0, formula=formula, groups=[f"by {formula}"])
            for k in range(40)
            for formula in ("f", "g")
        ]
        for other in (2, 3)
    )
    short, detailed = (
        printed([compare(results("a", left), results("b", right), details=details)])
        for details in (False, True)
    )
    assert "2 rows of groups of items are left out; --details prints and tests them" in short
    assert "are left out" not in detailed


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_number_is_cut_at_any_width(width: int, comparison: ModelComparison) -> None:

    file = io.StringIO()
    Console(file=file, width=width).print(
        grid.in_width(comparison_grid(comparison.shown), width=width)
    )
    text = file.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for part in ("100", "28.0", "80.0", "+52.0", "<0.001*"):
        assert part in text
    assert "[+3" in text
    assert "McNemar" in text


def test_few_items_are_marked() -> None:
    found = compare(LEFT, results("b", outcomes(False, True)))
    assert " 2 ! " in printed([found])
    assert "fewer than 30 items" in printed([found])
    assert "corrected for the one test printed" in printed([found])


def test_names_tell_the_models_apart_and_move_no_cursor() -> None:
    def named(name: str, dtype: str = "float32", folder: str = "r") -> Results:
        return replace(LEFT, folder=Path(folder), model=model_facts(name, dtype))

    assert model_labels([named("me/one"), named("two")]) == ["one", "two"]
    assert model_labels([named("me/one"), named("you/one")]) == ["me/one", "you/one"]
    two = [named("m"), named("m", "bfloat16")]
    assert model_labels(two) == ["m (float32)", "m (bfloat16)"]
    assert model_labels([named("m", folder="x/a"), named("m", folder="x/b")]) == ["m (a)", "m (b)"]
    assert model_labels([named("m", folder="a/r"), named("m", folder="b/r")]) == [
        "m (a/r)",
        "m (b/r)",
    ]
    assert model_labels([named("m"), named("m")]) == ["1: m (r)", "2: m (r)"]
    evil = results("a", outcomes(True, False), config="\x1b[2J")
    assert r"\u001b[2J" in printed([compare(evil, evil)])
