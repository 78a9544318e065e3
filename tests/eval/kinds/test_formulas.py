"""The formula language."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.formula import (
    Arithmetic,
    Comparison,
    FormulaError,
    Junction,
    Node,
    Number,
    Truth,
    Value,
    check_names,
    parse_formula,
    read_of,
)
from coherencegym.eval.kinds.items import (
    ITEMS,
    TIE_BITS,
    Item,
    Outcome,
    evaluate,
)

A, B = Value(1, "a"), Value(1, "b")
VALUES = {(1, "a"): 4.0, (1, "b"): 3.0, (2, "a"): 1.0, (2, "b"): 2.5, ("*", "a"): 10.0}


def outcome(formula: str) -> Outcome:
    return evaluate(parse_formula(formula), lambda region, name: VALUES[region, name])


@pytest.mark.parametrize(
    ("formula", "tree"),
    [
        ("(1;%a%)>(1;%b%)", Comparison(">", A, B)),
        ("( 1 ; %a% ) < 2.5", Comparison("<", A, Number(2.5))),
        ("(*;%a%) = -1", Comparison("=", Value("*", "a"), Number(-1))),
        ("(*;%a%) = +1", Comparison("=", Value("*", "a"), Number(1))),
        ("(1;%a%) > 1e-3", Comparison(">", A, Number(0.001))),
        ("(1;%a%) > -2.5E+1", Comparison(">", A, Number(-25))),
        ("(1;%a%)-1 > .5", Comparison(">", Arithmetic("-", A, Number(1)), Number(0.5))),
        # + and - are one level, read from the left.
        (
            "(1;%a%) - (1;%b%) + 1 > 0",
            Comparison(">", Arithmetic("+", Arithmetic("-", A, B), Number(1)), Number(0)),
        ),
        ("[(1;%a%) - (1;%b%)] > 0", Comparison(">", Arithmetic("-", A, B), Number(0))),
        (
            "(1;%a%) - (1;%b%) - 1 > 0",
            Comparison(">", Arithmetic("-", Arithmetic("-", A, B), Number(1)), Number(0)),
        ),
        (
            "(1;%a%) > 1 & (1;%b%) > 1 & 2 < 3",
            Junction(
                "&",
                (
                    Comparison(">", A, Number(1)),
                    Comparison(">", B, Number(1)),
                    Comparison("<", Number(2), Number(3)),
                ),
            ),
        ),
        (
            "((1;%a%) > 1 & (1;%b%) > 1) | [2 < 3]",
            Junction(
                "|",
                (
                    Junction("&", (Comparison(">", A, Number(1)), Comparison(">", B, Number(1)))),
                    Comparison("<", Number(2), Number(3)),
                ),
            ),
        ),
        ("(1;%since → as%) > 0", Comparison(">", Value(1, "since → as"), Number(0))),
    ],
)
def test_reads(formula: str, tree: Truth) -> None:
    assert parse_formula(formula) == tree


@pytest.mark.parametrize(
    ("formula", "character", "what"),
    [
        ("(1;%a%) > (1;%b%) > (1;%c%)", 19, "chain of comparisons"),
        ("(1;%a%) > 1 & 1 > 2 | 1 < 2", 21, "expected parentheses"),
        ("(1;%a%) - (1;%b%)", 1, "nothing is compared"),
        ("1 > 2 & (1;%a%)", 9, "nothing is compared"),
        ("((1;%a%) > 1) + 1 > 2", 1, "a comparison stands where a value"),
        ("((1;%a%) - (1;%b%)] > 1", 19, r"expected '\)'"),
        ("(1;%a%) >", 10, "found the end"),
        ("", 1, "found the end"),
        ("(1;%a%) > 1 2", 13, "expected the end"),
        ("(1;%a%) * 2 > 1", 9, "cannot read"),
        ("__import__('os') > 1", 1, "cannot read"),
        ("(1;a) > 1", 3, "cannot read"),
        ("-(1;%a%) > 1", 2, "expected a number after a leading minus"),
        ("+(1;%a%) > 1", 2, "expected a number after a leading plus"),
        ("1 > (2 > 3)", 5, "a comparison stands where a value"),
        ("[(1;%a%) > 1] = [(1;%b%) > 1]", 1, "a comparison stands where a value"),
        ("(1;%a%) > 1e", 12, "cannot read"),
        ("(1;%a%) > 1e16", 11, r"expected no number beyond 1e\+15"),
        ("1e999 > (1;%a%)", 1, r"expected no number beyond 1e\+15"),
        ("(1;%a%) > nan", 11, "cannot read"),
        ("(1;%a%) >= 1", 10, "found '='"),
        ("(1;%a%) == 1", 10, "found '='"),
        ("(1;%a%) > 1 & & 1 > 2", 15, "found '&'"),
        ("1" + " + 1" * 250 + " > 0", 1001, "252 regions and numbers; expected at most 250"),
        ("(" * 51 + "1 > 0" + ")" * 51, 51, "nested too deeply; expected at most 50"),
        ("[(" * 26 + "1 > 0", 51, "nested too deeply; expected at most 50"),
        (" " * 10_000 + "1 > 0", 10_001, "10,005 characters; expected at most 10,000"),
    ],
)
def test_refuses_and_names_the_place(formula: str, character: int, what: str) -> None:
    with pytest.raises(FormulaError, match=rf"character {character}: .*{what}"):
        parse_formula(formula)


def test_refuses_a_formula_beyond_reason_with_a_short_message() -> None:
    for text in ("(" * 100_000 + "1 > 2", "1 + " * 100_000, "(1;%" + "a" * 100_000 + "%) > 1"):
        with pytest.raises(FormulaError, match="expected at most") as error:
            parse_formula(text)
        assert len(str(error.value)) < 500


def test_the_largest_formula_that_is_read_is_also_evaluated() -> None:
    chain = "(" * 49 + "[" + "(1;%a%)" + " - 1e15" * 248 + "] > 0" + ")" * 49
    assert evaluate(parse_formula(chain), lambda *_: 4.0).met is False
    parts = " & ".join(["[(1;%a%) > 1]"] * 125)
    assert evaluate(parse_formula(parts), lambda *_: 4.0).met is True


def test_what_is_no_text_is_refused() -> None:
    for value in (None, 5, ["1 > 2"]):
        with pytest.raises(FormulaError, match="expected a text"):
            parse_formula(value)  # type: ignore[arg-type]


def test_names_an_unknown_condition_or_region() -> None:
    with pytest.raises(FormulaError, match="character 11: no condition 'c'; expected one of a, b"):
        check_names("(1;%a%) > (1;%c%)", [1, 2], ["a", "b"])
    with pytest.raises(FormulaError, match=r"character 1: no region 3; expected one of 1, 2 or \*"):
        check_names("(3;%a%) > (*;%b%)", [1, 2], ["a", "b"])


def test_references() -> None:
    formula = "[(1;%a%) + (*;%b%)] > 2 | (1;%a%) = (2;%c%)"
    assert read_of(formula) == ((1, "a"), ("*", "b"), (2, "c"))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("(1;%a%) > (1;%b%)", Outcome(True, False, 1.0)),
        ("(1;%a%) < (1;%b%)", Outcome(False, False, -1.0)),
        ("(2;%a%) < (2;%b%)", Outcome(True, False, 1.5)),
        ("(1;%a%) > 4", Outcome(False, True, 0.0)),
        ("(1;%a%) = 4", Outcome(True, False, None)),
        ("(1;%a%) = 4.0009", Outcome(True, False, None)),
        ("(1;%a%) = 4.002", Outcome(False, False, None)),
        # The tolerance is 1e-5 of the right side plus 1e-3.
        ("1e3 + 4 + 0.0109 = 1e3 + (1;%a%)", Outcome(True, False, None)),
        ("1e3 + 4 + 0.0112 = 1e3 + (1;%a%)", Outcome(False, False, None)),
        ("100000 = 100001.0009", Outcome(True, False, None)),
        ("100001.001 = 100000", Outcome(False, False, None)),
        ("(1;%a%) - (1;%b%) + 1 > (2;%b%)", Outcome(False, False, -0.5)),
        # & : the smallest part; | : the largest.
        ("(1;%a%) > 1 & (1;%b%) > 1", Outcome(True, False, 2.0)),
        ("(1;%a%) > 1 | (1;%b%) > 1", Outcome(True, False, 3.0)),
        ("(1;%a%) > 1 & (1;%b%) > 5", Outcome(False, False, -2.0)),
        ("(1;%a%) > 5 | (1;%b%) > 1", Outcome(True, False, 2.0)),
        # A tie does not hold; it is one only if nothing else is in the way.
        ("(1;%a%) > 4 & (1;%b%) > 1", Outcome(False, True, 0.0)),
        ("(1;%a%) > 4 & (1;%b%) > 5", Outcome(False, False, -2.0)),
        ("(1;%a%) > 4 | (1;%b%) > 5", Outcome(False, True, 0.0)),
        ("(1;%a%) > 4 | (1;%b%) > 1", Outcome(True, False, 2.0)),
        ("(1;%a%) > 1 & (1;%a%) = 4", Outcome(True, False, None)),
    ],
)
def test_evaluates(formula: str, expected: Outcome) -> None:
    assert outcome(formula) == expected


def test_sides_closer_than_the_scorer_can_tell_tie() -> None:
    tree = parse_formula("(1;%a%) > (1;%b%)")
    near = {"a": 1 + TIE_BITS / 2, "b": 1.0}
    result = evaluate(tree, lambda _, name: near[name])
    assert (result.met, result.tie) == (False, True)
    assert evaluate(tree, lambda _, name: near[name], tie_bits=0.0).met


def test_equality_has_no_part_in_greater_and_less() -> None:
    formula = "(1;%a%) = 3.9995 & (1;%a%) > 3.9995"
    assert evaluate(parse_formula(formula), lambda *_: 4.0).met


def test_a_value_that_is_no_number_is_an_error_and_not_a_failed_prediction() -> None:
    with pytest.raises(ValueError, match="nan"):
        evaluate(parse_formula("(1;%a%) > 1"), lambda *_: math.nan)


# ---------------------------------------------------------------- any formula

numbers = st.floats(0, 1e6, allow_nan=False).map(lambda x: Number(round(x, 3)))
values = st.builds(
    Value,
    st.one_of(st.just("*"), st.integers(1, 20)),
    st.text(min_size=1, max_size=8).filter(lambda name: "%" not in name),
)
quantities: st.SearchStrategy[Node] = st.recursive(
    st.one_of(numbers, values),
    lambda inner: st.builds(Arithmetic, st.sampled_from("+-"), inner, inner),
    max_leaves=6,
)
comparisons: st.SearchStrategy[Node] = st.builds(
    Comparison, st.sampled_from("<>="), quantities, quantities
)
truths: st.SearchStrategy[Node] = st.recursive(
    comparisons,
    lambda inner: st.builds(
        Junction, st.sampled_from("&|"), st.lists(inner, min_size=2, max_size=3).map(tuple)
    ),
    max_leaves=5,
)


def written(node: Node, opening: str = "(", closing: str = ")") -> str:
    """A formula with every level in parentheses."""
    match node:
        case Number(value):
            return f"{value:.3f}"
        case Value(region, condition):
            return f"({region};%{condition}%)"
        case Arithmetic(operator, left, right) | Comparison(operator, left, right):
            return f"{opening}{written(left)} {operator} {written(right)}{closing}"
        case Junction(operator, parts):
            return opening + f" {operator} ".join(written(p, "[", "]") for p in parts) + closing


@given(truths)
def test_what_is_written_is_what_is_read(tree: Truth) -> None:
    assert parse_formula(written(tree)) == tree


@given(st.text(alphabet="()[]12;*%ab<>=&|+-. ", max_size=25))
def test_any_text_is_read_or_refused_as_a_formula_error(text: str) -> None:
    try:
        tree = parse_formula(text)
    except FormulaError:
        return
    assert isinstance(tree, Comparison | Junction)


@given(truths, st.floats(-50, 50, allow_nan=False))
def test_met_and_tie_exclude_each_other_and_agree_with_the_margin(
    tree: Truth, value: float
) -> None:
    result = evaluate(tree, lambda *_: value)
    assert not (result.met and result.tie)
    if result.margin is not None:
        assert result.met == (result.margin > TIE_BITS)


# ---------------------------------------------------------------- the formulas of an item


def test_an_item_names_what_its_predictions_read(make_item: Callable[..., Item]) -> None:
    item = make_item(
        {"a": ["x", "y"], "b": ["x", ""]}, "(1;%a%) > (2;%b%)", "(*;%a%) > 1", metric="sum"
    )
    assert item.reads == {"a": {1, "*"}, "b": {2}}


@pytest.mark.parametrize(
    ("formula", "what"),
    [
        ("(1;%a%) > (2;%b%)", "character 11: region 2 of condition 'b' is empty and has no mean"),
        ("(*;%c%) > 1", r"character 1: region \* of condition 'c' is empty and has no mean"),
        ("(3;%a%) > 1", "character 1: no region 3"),
        ("(1;%d%) > 1", "character 1: no condition 'd'"),
    ],
)
def test_a_formula_that_an_item_cannot_answer_is_refused_with_the_item_named(
    formula: str, what: str, make_item: Callable[..., Item]
) -> None:
    item = make_item({"a": ["x", "y"], "b": ["x", " "], "c": ["", ""]}, "(*;%b%) > 1", formula)
    with pytest.raises(EvaluationError, match=rf"^d1/x: formula .*{what}"):
        ITEMS.check(item)
