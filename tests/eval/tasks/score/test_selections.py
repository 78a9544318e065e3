"""The rows of a table's results: which there are, in which order, and what each is over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.results import JudgedPrediction, evaluated_table, made_outcomes

from coherencegym.eval.kinds.items import Item, Outcome
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.tasks.score.outcomes import OF_MODEL, inside, select

Row = tuple[str, str, list[int]]


def evaluate(number: int, groups: Sequence[str] = (), **extra: Any) -> JudgedPrediction:
    formula = extra.pop("formula", "f")
    item = Item(f"i{number}", 1, (), (), f"d{number}", "toy", extra=extra)
    return JudgedPrediction(item, formula, "mean", tuple(groups), Outcome(True, False, 1.0), "")


def predictions(
    evaluated: Sequence[JudgedPrediction], breakdowns: Sequence[str] = ()
) -> tuple[OutcomeTables, list[int], Any]:
    """The outcomes, the number of the prediction at each place, and the places."""
    outcomes = made_outcomes(evaluated_table(evaluated, breakdowns=tuple(breakdowns)))
    places = outcomes.places_of("c", "s", *OF_MODEL)
    number_of = {int(place): number for number, place in enumerate(places)}
    return outcomes, [number_of.get(place, -1) for place in range(len(outcomes))], places


def rows(
    evaluated: Sequence[JudgedPrediction], breakdowns: Sequence[str] = (), headline: str = ""
) -> list[Row]:
    """The rows with the numbers of their predictions."""
    outcomes, number_of, places = predictions(evaluated, breakdowns)
    return [
        (level, group, [number_of[place] for place in own])
        for level, group, own in select(outcomes, places, headline, breakdowns)
    ]


def test_rows_by_column_are_in_the_order_of_their_names() -> None:
    """Whatever item comes first; a column of one value has none, as its row is that of all."""
    evaluated = [
        evaluate(number, genre=genre, size=size, corpus_part="one")
        for number, (genre, size) in enumerate([("news", 3), ("bio", 2), ("fiction", 3)] * 2)
    ]
    assert rows(evaluated, ("genre", "size", "corpus_part")) == [
        ("all", "", [0, 1, 2, 3, 4, 5]),
        ("column", "genre=bio", [1, 4]),
        ("column", "genre=fiction", [2, 5]),
        ("column", "genre=news", [0, 3]),
        ("column", "size=2", [1, 4]),
        ("column", "size=3", [0, 2, 3, 5]),
    ]


GROUPED = [
    evaluate(0, ("as → since", "wide"), moved=True),
    evaluate(1, ("as → while", "other", "other"), moved=False),
    evaluate(2, ("wide", "wide"), moved=False),
    evaluate(3, (), moved=True, formula="g"),
    evaluate(4, ("as → since", "other"), moved=False),
]


def test_a_group_that_a_prediction_names_twice_has_it_twice() -> None:
    assert rows(GROUPED) == [
        ("all", "", [0, 1, 2, 3, 4]),
        ("formula", "", [0, 1, 2, 4]),
        ("formula", "", [3]),
        ("group", "as → since", [0, 4]),
        ("group", "wide", [0, 2, 2]),
        ("group", "as → while", [1]),
        ("group", "other", [1, 1, 4]),
    ]


def test_a_headline_is_one_row_and_the_first_groups_of_others_are_details() -> None:
    """Wherever a prediction names it, and however often."""
    assert rows(GROUPED, ("moved",), "wide") == [
        ("all", "", [0, 2]),
        ("formula", "", [0, 1, 2, 4]),
        ("formula", "", [3]),
        ("headline", "wide", [0, 2, 2]),
        ("group", "other", [1, 1, 4]),
        ("column", "moved=false", [2]),
        ("column", "moved=true", [0]),
        ("detail", "as → since", [0, 4]),
        ("detail", "as → while", [1]),
    ]


def test_cells_are_the_first_groups_of_what_is_in_the_headline() -> None:
    outcomes, number_of, places = predictions(GROUPED, ("moved",))

    def numbers(found: dict[Any, Any]) -> dict[Any, list[int]]:
        return {name: [number_of[place] for place in own] for name, own in found.items()}

    assert numbers({"": inside(outcomes, places, "moved=true")}) == {"": [0, 3]}


GROUPS = st.lists(st.sampled_from(["one", "two", "wide", "moved=true"]), max_size=3)


@given(
    st.lists(st.tuples(GROUPS, st.booleans(), st.sampled_from("fg")), min_size=1, max_size=9),
    st.sampled_from(["", "wide", "moved=true"]),
)
def test_rows_are_those_of_a_loop_over_predictions(drawn: list[Any], headline: str) -> None:
    """Against lines that know nothing of codes and arrays."""
    made = [
        evaluate(number, groups, moved=moved, formula=formula)
        for number, (groups, moved, formula) in enumerate(drawn)
    ]

    def columns(number: int) -> list[str]:
        return [f"moved={str(drawn[number][1]).lower()}"]

    def grouped() -> Iterator[tuple[str, str, int]]:
        for number, (groups, _, _) in enumerate(drawn):
            for place, name in enumerate(groups):
                if headline and name == headline:
                    yield "headline", name, number
                else:
                    yield "detail" if headline and place == 0 else "group", name, number

    counted = [
        number
        for number, (groups, _, _) in enumerate(drawn)
        if not headline or headline in [*groups, *columns(number)]
    ]
    formulas = list(dict.fromkeys(formula for _, _, formula in drawn))
    by_formula = [[n for n, one in enumerate(drawn) if one[2] == formula] for formula in formulas]
    found: dict[tuple[str, str], list[int]] = {}
    for level, name, number in grouped():
        if level != "detail":
            found.setdefault((level, name), []).append(number)
    values = sorted({name for number in range(len(drawn)) for name in columns(number)})
    for name in values if len(values) > 1 else ():
        if own := [number for number in counted if name in columns(number)]:
            found["column", name] = own
    for level, name, number in grouped():
        if level == "detail":
            found.setdefault((level, name), []).append(number)
    assert rows(made, ("moved",), headline) == [
        ("all", "", counted),
        *(("formula", "", own) for own in by_formula if len(formulas) > 1),
        *((*row, own) for row, own in found.items()),
    ]
