"""One config for each value of a property that a corpus has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.toy import SUITE

from coherencegym.builders.pipeline.build import part_name, spread
from coherencegym.builders.release.quality import baseline_decisions, baseline_scores, quality
from coherencegym.builders.suite import Config
from coherencegym.eval.kinds.items import Prediction
from coherencegym.eval.statistics.control import checked_items
from coherencegym.eval.statistics.pair_baselines import BaselineDecision
from coherencegym.loaders.discourse import Discourse, Unit

CONFIG: Config = replace(SUITE.configs[0], name="context", by="genre")


def document(identifier: str, genre: str | None) -> Discourse:
    meta = {"split": "test"} | ({} if genre is None else {"genre": genre})
    return Discourse(identifier, "toy", (Unit("A."), Unit("B.")), meta=meta)


DOCUMENTS = [
    document("a", "news"),
    document("b", "Trains 93"),
    document("c", None),
    document("d", "trains-93"),
]


def test_a_config_for_each_value() -> None:
    parts = spread(CONFIG, DOCUMENTS)
    assert [part.full_name("toy") for part in parts] == [
        "toy_context",
        "toy_news_context",
        "toy_trains_93_context",
    ]
    chosen = [[d.id for d in DOCUMENTS if part.select(d)] for part in parts]
    assert chosen == [["c"], ["a"], ["b", "d"]]
    assert all(part.by == "" for part in parts)


def test_the_config_s_own_name_may_be_empty() -> None:
    (first, second, _) = spread(replace(CONFIG, name=""), DOCUMENTS)
    assert (first.full_name("toy"), second.full_name("toy")) == ("toy", "toy_news")


def test_only_what_the_config_selects_is_looked_at() -> None:
    chosen = replace(CONFIG, select=lambda d: d.id in "ab")
    parts = spread(chosen, DOCUMENTS)
    assert [part.name for part in parts] == ["news_context", "trains_93_context"]
    assert [[d.id for d in DOCUMENTS if part.select(d)] for part in parts] == [["a"], ["b"]]


def test_a_config_by_nothing_is_one() -> None:
    config = SUITE.configs[0]
    assert spread(config, DOCUMENTS) == [config]
    assert spread(config, []) == [config]
    assert spread(CONFIG, []) == []


@pytest.mark.parametrize(
    ("value", "name"), [("bio", "bio"), ("Trains 93", "trains_93"), ("a--b!", "a_b"), ("é", "")]
)
def test_a_value_is_a_part_of_a_name(value: str, name: str) -> None:
    assert part_name(value) == name


def test_scores_of_a_part_are_of_its_own_decisions() -> None:
    from coherencegym.builders.pipeline.build import generate_items

    generated, _ = generate_items(
        SUITE.configs[0].generator,
        [Discourse("a", "toy", tuple(map(Unit, ("A.", "B.", "C.", "D."))))],
        seed=0,
        suite="toy",
    )
    decisions = [
        BaselineDecision(name, name, f"{name}/1", Prediction("f", "mean"), value)
        for name, value in (("a", 1.0), ("b", 0.0))
    ]
    own = baseline_decisions(generated, decisions)
    report = quality(SUITE.configs[0], generated, own, checked_items(generated))
    (score,) = report["partial_input"]
    assert (score["score"], score["n"]) == (1.0, 1)
    (both,) = baseline_scores(decisions)
    assert (both["score"], both["n"]) == (0.5, 2)
