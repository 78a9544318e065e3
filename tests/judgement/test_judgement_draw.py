"""Drawing questions: the same again, blind, in fair shares, few of one text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coherencegym.builders.judgement.questions import (
    Drawing,
    RowPlace,
    asked_of,
    condition_pairs,
    draw,
)
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Prediction, Region
from coherencegym.eval.kinds.table_kind import to_row

Built = Callable[[str], Path]


def item(
    number: int, formulas: dict[str, tuple[str, ...]], discourse: str = "", **texts: str
) -> Item:
    return Item(
        item_id=f"d{number}/x",
        item_number=number + 1,
        conditions=tuple(Condition(n, t, (Region(1, t),)) for n, t in texts.items()),
        predictions=tuple(Prediction(f, "mean", g) for f, g in formulas.items()),
        discourse_id=discourse or f"d{number}",
        corpus="toy",
    )


def simple(number: int, config: str = "", discourse: str = "") -> Item:
    formulas: dict[str, tuple[str, ...]] = {"(1;%bad%) > (1;%good%)": ("g",)}
    return item(
        number, formulas, discourse, good=f"{config} {number}.", bad=f"{config} not {number}."
    )


def table(config: str, items: list[Item], headline: str = "") -> TableRows[Item]:
    rows = [to_row(item) for item in items]
    return TableRows(ITEMS, config, config, "test", rows, "", True, {"headline": headline})


def texts(drawing: Drawing) -> list[frozenset[str]]:
    return [frozenset("\n".join(lines) for _, lines in one.texts) for one in drawing.asked]


def test_the_more_surprising_side_is_the_incoherent_one() -> None:
    formulas: dict[str, tuple[str, ...]] = {
        "(1;%b%) > (1;%a%)": ("x",),
        "(*;%a%) < (*;%b%)": ("y",),
        "(1;%b%) = (1;%a%)": ("no direction",),
        "(1;%b%) > (1;%a%) & (1;%b%) > (1;%c%)": ("two at once",),
        "(1;%c%) > (1;%a%)": ("z",),
        "(1;%same%) > (1;%a%)": ("no difference",),
    }
    made = item(0, formulas, a="A.", b="B.", c="C.", same="A.")
    found = [(p.coherent, p.incoherent, p.groups) for p in condition_pairs(made)]
    assert found == [("a", "b", ("x", "y")), ("a", "c", ("z",))]


def test_the_same_seed_draws_the_same_and_more_pairs_hold_fewer() -> None:
    tables = [table("one", [simple(i) for i in range(60)])]
    drawn = draw("toy", tables, 40, 3)
    assert drawn == draw("toy", tables, 40, 3)
    assert drawn != draw("toy", tables, 40, 4)
    fewer = {one.id for one in draw("toy", tables, 20, 3).asked}
    assert fewer < {one.id for one in drawn.asked}


def test_a_draw_does_not_depend_on_the_order_of_the_rows() -> None:
    items = [simple(i) for i in range(60)]
    drawn = draw("toy", [table("one", items)], 40, 0)
    assert drawn == draw("toy", [table("one", items[::-1])], 40, 0)


def test_either_text_comes_first_as_often_and_always_the_same() -> None:
    place = RowPlace("toy", "one", "test", {})
    asked = [one for i in range(2000) for one in asked_of("items", place, simple(i))]
    right = Counter(one.right for one in asked)
    assert 900 < right["a",] < 1100
    for one in asked:
        (_, (text_a,)), (_, (text_b,)) = one.texts
        assert "not" in (text_a if one.right == ("a",) else text_b)
    other = [
        one for i in range(9) for one in asked_of("items", replace(place, config="two"), simple(i))
    ]
    assert other == asked[:9]


def test_a_change_of_speaker_is_a_new_line_in_both_texts_of_a_pair() -> None:
    formulas: dict[str, tuple[str, ...]] = {"(1;%bad%) > (1;%good%)": ()}
    made = item(0, formulas, good="Hello. [SEP] Hi. [SEP] Bye.", bad="Hello. Hi.")
    (asked,) = asked_of("items", RowPlace("toy", "one", "test", {}), made)
    assert {lines for _, lines in asked.texts} == {
        ("Speaker 1: Hello.", "Speaker 2: Hi.", "Speaker 1: Bye."),
        ("Speaker 1: Hello. Hi.",),
    }


def test_configs_get_fair_shares_and_small_ones_all_they_have() -> None:
    sizes = {"big": 50, "middle": 20, "small": 3}
    made = [
        table(name, [simple(i, name, f"{name}{i}") for i in range(n)]) for name, n in sizes.items()
    ]
    assert draw("toy", made, 31, 0).counts == {"big": 14, "middle": 14, "small": 3}
    assert draw("toy", made, 200, 0).counts == sizes


def two_alike_and_one(n: int) -> list[TableRows[Item]]:
    """Three configs of ``n`` pairs, of which the first two have the same."""
    shared = [simple(i) for i in range(n)]
    other = [simple(i, "3") for i in range(n)]
    return [table("one", shared), table("two", shared), table("three", other)]


def test_a_pair_that_two_configs_have_is_drawn_once_and_counts_for_both() -> None:
    made = two_alike_and_one(10)
    drawn = draw("toy", made, 10, 0)
    assert drawn.counts == {"one": 5, "two": 5, "three": 5}
    assert len(set(texts(drawn))) == 10
    everything = draw("toy", made, 100, 0)
    assert len(everything.asked) == 20
    assert everything.counts == {"one": 10, "two": 10, "three": 10}


def test_new_discourses_come_first() -> None:
    many = [simple(i, discourse=f"d{i % 10}") for i in range(40)]
    drawn = draw("toy", [table("one", many)], 25, 0)
    numbers = [int(min(both, key=len).removesuffix(".")) for both in texts(drawn)]
    uses = Counter(number % 10 for number in numbers)
    assert sorted(uses.values()) == [2] * 5 + [3] * 5


def test_no_text_or_discourse_comes_twice_while_any_table_has_others() -> None:
    formulas: dict[str, tuple[str, ...]] = {"(1;%bad%) > (1;%good%)": ("g",)}
    many = [simple(i) for i in range(30)]
    crossed = [
        replace(
            simple(i, "crossed"),
            extra={"family": f"d{i} × d{i + 10}", "partner_discourse": f"d{i + 10}"},
        )
        for i in range(10)
    ]
    same_text = [item(i, formulas, f"e{i}", good=f" {i}.", bad=f"e not {i}.") for i in range(10)]
    made = [table("many", many), table("crossed", crossed), table("same text", same_text)]

    sources = {
        frozenset(both): {*both, *one.discourses}
        for each in made
        for one in each.each()
        for both in [[condition.content.strip() for condition in one.conditions]]
    }

    def most_uses(drawing: Drawing) -> int:
        return max(Counter(s for pair in texts(drawing) for s in sources[pair]).values())

    few = draw("toy", made, 12, 0)
    assert most_uses(few) == 1
    assert few.n_repeated == 0
    everything = draw("toy", made, 100, 0)
    assert len(everything.asked) == 50
    fresh = 50 - everything.n_repeated
    without = draw("toy", made, fresh, 0)
    assert without.n_repeated == 0
    assert most_uses(without) == 1
    assert draw("toy", made, fresh + 1, 0).n_repeated == 1


def test_texts_of_several_configs_of_the_sample_come_once(sample_build: Built) -> None:
    made = table_rows(find_dataset(str(sample_build("story_cloze"))), kind=ITEMS)
    drawing = draw("story_cloze", [one for one in made if one.about["in_headline"]], 100, 0)
    assert len({text for both in texts(drawing) for text in both}) == 200


def test_groups_take_turns_and_only_the_headline_is_drawn() -> None:
    items = []
    for i in range(60):
        rare = "rare" if i < 5 else "common"
        formulas: dict[str, tuple[str, ...]] = {
            "(1;%bad%) > (1;%good%)": (rare, "headline"),
            "(1;%other%) > (1;%good%)": ("aside", "control"),
        }
        items.append(item(i, formulas, good=f"{i}.", bad=f"{rare} {i}.", other=f"other {i}."))
    made = [table("one", items, "headline")]
    kinds = Counter(
        next(word for word in ("rare", "common", "other") if any(word in text for text in pair))
        for pair in texts(draw("toy", made, 10, 0))
    )
    assert kinds == {"rare": 5, "common": 5}


@pytest.mark.parametrize("suite", ["winograd", "connectives"])
def test_pairs_of_the_samples_are_two_conditions_of_one_item(
    sample_build: Built, suite: str
) -> None:
    read = list(table_rows(find_dataset(str(sample_build(suite))), kind=ITEMS))
    drawn = draw(suite, read, 30, 0)
    known = {
        frozenset((pair.coherent_text, pair.incoherent_text)): (table, pair)
        for table in read
        for item in table.each()
        for pair in condition_pairs(item)
    }
    assert len(set(texts(drawn))) == len(drawn.asked) > 10
    for both in texts(drawn):
        of, contrast = known[both]
        assert not of.about["headline"] or of.about["headline"] in contrast.groups
