"""Drawing pairs: the same again, blind, in fair shares, few of one text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.toy import SURE, WHY

from coherencegym.builders.judgement.draw import Drawing, DrawnPair, draw
from coherencegym.builders.judgement.pairs import condition_pairs, texts_digest
from coherencegym.eval.data.dataset import ItemTable, tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.items import Condition, Item, Prediction, Region

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


def table(config: str, items: list[Item], headline: str = "") -> ItemTable:
    return ItemTable(config, "test", tuple(items), "", True, False, headline=headline)


def texts(drawing: Drawing[DrawnPair]) -> list[frozenset[str]]:
    return [frozenset((pair.text_a, pair.text_b)) for pair in drawing.drawn]


def test_the_more_surprising_side_is_the_incoherent_one() -> None:
    formulas: dict[str, tuple[str, ...]] = {
        "(1;%b%) > (1;%a%)": ("x",),
        "(*;%a%) < (*;%b%)": ("y",),
        "[(1;%a%) - (1;%b%)] > 0": ("no comparison of two conditions",),
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
    assert drawn != draw("other", tables, 40, 3)
    assert set(draw("toy", tables, 20, 3).drawn) < set(drawn.drawn)


def test_a_draw_does_not_depend_on_the_order_of_the_rows() -> None:
    items = [simple(i) for i in range(60)]
    drawn = draw("toy", [table("one", items)], 40, 0)
    assert drawn == draw("toy", [table("one", items[::-1])], 40, 0)


def test_draws_are_pinned() -> None:
    drawn = draw("toy", [table("one", [simple(i) for i in range(9)])], 3, 0)
    assert [(pair.id, pair.text_a) for pair in drawn.drawn] == PINNED


def test_either_text_comes_first_as_often() -> None:
    drawn = draw("toy", [table("one", [simple(i) for i in range(2000)])], 2000, 0)
    first = sum("not" in pair.text_a for pair in drawn.drawn)
    assert 900 < first < 1100
    halves = [
        sum("not" in p.text_a for p in half) for half in (drawn.drawn[:1000], drawn.drawn[1000:])
    ]
    assert all(430 < count < 570 for count in halves)


def test_configs_get_fair_shares_and_small_ones_all_they_have() -> None:
    sizes = {"big": 50, "middle": 20, "small": 3}
    made = [table(name, [simple(i, name) for i in range(n)]) for name, n in sizes.items()]
    assert draw("toy", made, 31, 0).counts == {"big": 14, "middle": 14, "small": 3}
    assert draw("toy", made, 200, 0).counts == sizes


def two_alike_and_one(n: int) -> list[ItemTable]:
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
    assert len(everything.drawn) == 20
    assert everything.counts == {"one": 10, "two": 10, "three": 10}


def test_a_pair_is_asked_what_any_of_its_configs_asks() -> None:
    made = two_alike_and_one(5)
    plain = draw("toy", made, 10, 0)
    drawn = draw("toy", made, 10, 0, questions={"one": [WHY], "two": [WHY, SURE]})
    assert [pair.id for pair in drawn.drawn] == [pair.id for pair in plain.drawn]
    for pair in drawn.drawn:
        assert pair.questions == (() if pair.text_a.startswith("3") else (WHY, SURE))
    assert not any(pair.questions for pair in plain.drawn)


def test_new_discourses_come_first() -> None:
    many = [simple(i, discourse=f"d{i % 10}") for i in range(40)]
    uses = Counter(
        int(pair.text_a.removeprefix(" ").removeprefix("not ").removesuffix(".")) % 10
        for pair in draw("toy", [table("one", many)], 25, 0).drawn
    )
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
        for one in each.items
        for both in [[condition.content for condition in one.conditions]]
    }

    def most_uses(drawing: Drawing[DrawnPair]) -> int:
        return max(Counter(s for pair in texts(drawing) for s in sources[pair]).values())

    few = draw("toy", made, 12, 0)
    assert most_uses(few) == 1
    assert few.n_repeated == 0
    everything = draw("toy", made, 100, 0)
    assert len(everything.drawn) == 50
    fresh = 50 - everything.n_repeated
    without = draw("toy", made, fresh, 0)
    assert without.n_repeated == 0
    assert most_uses(without) == 1
    assert draw("toy", made, fresh + 1, 0).n_repeated == 1


def test_texts_of_several_configs_of_the_sample_come_once(sample_build: Built) -> None:
    made = list(tables(find_dataset(str(sample_build("story_cloze")))))
    drawn = draw("story_cloze", [one for one in made if one.in_headline], 100, 0).drawn
    shown = [text for pair in drawn for text in (pair.text_a, pair.text_b)]
    assert len(set(shown)) == 200


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
    aside = texts(draw("toy", made, 10, 0, ["control"]))
    assert all(any("other" in text for text in pair) for pair in aside)
    assert draw("toy", made, 10, 0, ["no such group"]).drawn == ()


@pytest.mark.parametrize(
    "suite", ["winograd", "sentence_order", "speaker_commitment", "connectives"]
)
def test_pairs_of_the_samples_are_two_conditions_of_one_item(
    sample_build: Built, suite: str
) -> None:
    read = list(tables(find_dataset(str(sample_build(suite)))))
    drawn = draw(suite, read, 30, 0)
    known: dict[frozenset[str], Any] = {
        frozenset((pair.coherent_text, pair.incoherent_text)): (table, pair)
        for table in read
        for item in table.items
        for pair in condition_pairs(item)
    }
    assert len(set(texts(drawn))) == len(drawn.drawn) > 10
    for pair, both in zip(drawn.drawn, texts(drawn), strict=True):
        of, contrast = known[both]
        assert not of.headline or of.headline in contrast.groups
        assert pair.id.endswith(texts_digest(pair.text_a, pair.text_b))


def test_the_digest_tells_changed_and_exchanged_texts() -> None:
    made = {texts_digest("a", "b"), texts_digest("b", "a"), texts_digest("a", "b ")}
    assert len(made) == 3


PINNED: list[tuple[str, str]] = [
    ("a3160953-1b5ead224423", " not 0."),
    ("a5292cce-e8265f4b9c40", " 2."),
    ("3d58f798-9ed7f826dd87", " not 4."),
]
