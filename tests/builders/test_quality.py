"""The partial-input baseline: a classifier that never sees the contrast in its context."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from support.toy import SUITE, stories

from coherencegym.builders.pipeline.build import generate_items
from coherencegym.builders.release.quality import baseline_scores, document_quality, quality
from coherencegym.builders.suite import Contrast, GeneratedDocument, GeneratedItem, MinimalPairs
from coherencegym.eval.data.dataset import PARTIAL_INPUT
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.kinds.items import FAMILY, Condition, Item, Region
from coherencegym.eval.statistics.bag_of_words import FOLDS, out_of_fold_scores
from coherencegym.eval.statistics.control import checked_items
from coherencegym.eval.statistics.overlap import whole_clusters
from coherencegym.eval.statistics.pair_baselines import partial_input_decisions
from coherencegym.loaders.discourse import Discourse, Unit


def pair(number: int, worse: str, better: str, groups: tuple[str, ...] = ()) -> GeneratedItem:
    contrast = Contrast("worse", "better", 1, groups=groups)
    conditions = tuple(
        Condition(name, text, (Region(1, text),))
        for name, text in (("worse", worse), ("better", better))
    )
    item = Item(
        f"d{number}/x",
        number + 1,
        conditions,
        (contrast.prediction,),
        f"d{number}",
        "toy",
        extra={"even": number % 2 == 0},
    )
    return GeneratedItem(item, (contrast,), {"worse": (worse,), "better": (better,)})


def test_a_give_away_word_is_found() -> None:
    generated = [pair(i, f"suddenly w{i}", f"slowly w{i}") for i in range(40)]
    (score,) = baseline_scores(partial_input_decisions(generated), folds=FOLDS)
    assert score["score"] == 1.0
    assert score["n"] == score["n_discourses"] == 40
    assert 0.8 < score["ci_low"] < 0.9  # as of 19 items that nothing was trained on


def test_documents_without_spaces_are_read_in_words() -> None:
    # Each intruder has a word that none has elsewhere, between names that never recur.
    names = [chr(0x4E00 + 7 * number) for number in range(120)]
    documents = [
        GeneratedDocument(
            Document(f"d{n}", ("茶。", f"{one}但{two}", f"{three}却{four}"), 1, f"d{n}", "toy"),
            ("茶。", f"{one}却{two}", f"{three}却{four}"),
        )
        for n, (one, two, three, four) in enumerate(
            zip(names[::4], names[1::4], names[2::4], names[3::4], strict=True)
        )
    ]
    accuracy = [
        document_quality([replace(one, words=words) for one in documents])["sentence_alone"]
        for words in (frozenset({"但是"}), frozenset[str]())
    ]
    assert accuracy[0]["accuracy"] == 1.0
    assert accuracy[1]["accuracy"] < 0.7


def test_equal_texts_are_ties_and_count_a_half() -> None:
    generated = [pair(i, f"same {i % 7}", f"same {i % 7}") for i in range(40)]
    (score,) = baseline_scores(partial_input_decisions(generated), folds=FOLDS)
    assert score["score"] == 0.5


def test_a_separator_is_no_cue() -> None:
    generated = [pair(i, f"same {i % 7} [SEP]", f"same {i % 7}") for i in range(40)]
    assert baseline_scores(partial_input_decisions(generated))[0]["score"] == 0.5


def test_words_of_one_discourse_alone_are_no_cue() -> None:
    """Folds are by discourse: what is only in one discourse cannot be learned from another."""
    generated = [pair(i, f"bad{i}", f"good{i}") for i in range(40)]
    assert baseline_scores(partial_input_decisions(generated))[0]["score"] == 0.5


def test_the_groups_that_are_shown_have_scores_of_their_own() -> None:
    generated = [
        pair(i, "suddenly" if i % 2 else "x", "slowly" if i % 2 else "x", (f"g{i % 2}",))
        for i in range(60)
    ]
    decisions = partial_input_decisions(generated)
    shown = ("", "g0", "g2")
    scores = {s["group"]: s["score"] for s in baseline_scores(decisions, shown)}
    assert scores == {"": 0.75, "g0": 0.5}
    of_headline = {s["group"]: s["score"] for s in baseline_scores(decisions, shown, "g1")}
    assert of_headline == {"": 1.0, "g0": 0.5}


def test_few_discourses_have_no_score() -> None:
    assert baseline_scores(partial_input_decisions([pair(i, "a", "b") for i in range(19)])) == []


def test_forms_of_one_text_have_no_score() -> None:
    """Discourses that share lines are one family: nothing is left to be tested on."""
    generated = [pair(i, "a", "b") for i in range(40)]

    def families(number: int) -> list[GeneratedItem]:
        return [
            replace(d, item=replace(d.item, extra={FAMILY: f"f{place % number}"}))
            for place, d in enumerate(generated)
        ]

    assert partial_input_decisions(families(1)) == []
    assert len(partial_input_decisions(families(2))) == 40


def test_of_many_values_whole_clusters_are_kept() -> None:
    """Those that there is room for: one that is too large does not keep the others out."""
    values = [
        f"{name}{place}"
        for name, size in zip("abcde", (3, 50, 4, 3, 5), strict=True)
        for place in range(size)
    ]
    kept = whole_clusters(values, lambda value: value[0], 12)
    assert whole_clusters(values, lambda value: value[0], 65) == values
    assert kept == whole_clusters(values, lambda value: value[0], 12)
    counts = Counter(value[0] for value in kept)
    assert 8 <= len(kept) <= 12
    assert all(
        counts[name] == size
        for name, size in zip("acde", (3, 4, 3, 5), strict=True)
        if counts[name]
    )
    assert kept == [value for value in values if value[0] in counts]


def test_scores_are_the_same_again() -> None:
    texts = [(f"w{i % 5} w{i % 3}",) for i in range(60)]
    labels, cluster_ids = [i % 2 for i in range(60)], [str(i // 2) for i in range(60)]
    first, second = (out_of_fold_scores(texts, labels, cluster_ids) for _ in range(2))
    assert first == second


def test_the_first_and_last_unit_give_an_order_away() -> None:
    """Openings and closings that are alike in every discourse: what order suites must show."""
    config = SUITE.configs[0]
    discourses = [
        Discourse(name, "toy", tuple(map(Unit, ["Hello.", *texts, "Bye.", "End."])))
        for name, texts in stories(0, 60).items()
    ]
    generated, _ = generate_items(config.generator, discourses, seed=0, suite="toy")
    decided = {PARTIAL_INPUT: partial_input_decisions(generated)}
    report = quality(config, generated, decided, checked_items(generated))
    assert report["partial_input"][0]["score"] > 0.8
    assert report["length_difference"]["mean_absolute"] == 0


def test_lengths_are_in_words_without_separators() -> None:
    config = replace(SUITE.configs[0], columns={}, partial_input="x")
    generated = [pair(0, "one two three [SEP]", "one"), pair(1, "one", "one two")]
    report = quality(config, generated, {}, checked_items(generated))
    assert report["length_difference"]["mean"] == 0.5
    assert report["length_difference"]["mean_absolute"] == 1.5


def test_an_operator_that_compares_texts_is_refused_where_one_text_is_given() -> None:
    from coherencegym.manipulations.matched_order import MatchedOrder
    from coherencegym.manipulations.operator import Pipeline
    from coherencegym.manipulations.units import Shuffle

    with pytest.raises(ValueError, match=r"b: MatchedOrder\(\) compares many texts"):
        MinimalPairs(
            versions={"a": Pipeline(), "b": Shuffle() | MatchedOrder()},
            regions=lambda discourse: [[0]],
            contrasts=(Contrast("b", "a", 1),),
            view=lambda discourse: discourse.texts,
        )


def test_a_generator_leaves_out_and_counts_identical_conditions() -> None:
    from coherencegym.manipulations.operator import Context, Pipeline

    generator = MinimalPairs(
        versions={"a": Pipeline(), "b": Pipeline()},
        regions=lambda discourse: [[0]],
        contrasts=(Contrast("b", "a", 1),),
        view=lambda discourse: discourse.texts,
    )
    context = Context()
    assert not list(generator(Discourse("d", "toy", (Unit("A."),)), context))
    assert context.skipped == {"two conditions have the same text": 1}
