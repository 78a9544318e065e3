"""Rows for the BabyLM pipeline, held to its reader: it compares what we compare, item by item."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.babylm_reader import (
    Reader,
    Version,
    averages,
    decoded,
    first_is_chosen,
    read_folder,
)
from support.commands import build_command
from support.suites import build_from, no_classifiers

from coherencegym.builders.export.__main__ import main as export_main
from coherencegym.builders.export.babylm import (
    BLIMP,
    BOTH_DIFFER,
    COMPS,
    ENTITY_TRACKING,
    NOT_JOINED,
    WITH_NOTHING,
    babylm_table,
    group_name,
)
from coherencegym.builders.export.item_pairs import (
    GOES_ON,
    NO_PAIR,
    SAME_TEXT,
    SEPARATED,
    WITHOUT_TEXT,
)
from coherencegym.builders.export.write import export
from coherencegym.builders.registry import load_suite
from coherencegym.eval.data.dataset import ItemTable, tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.formula import RegionRef, parse_formula
from coherencegym.eval.kinds.items import (
    Condition,
    Item,
    Outcome,
    Prediction,
    Region,
    evaluate,
)
from coherencegym.eval.models.load import load
from coherencegym.eval.plan.options import Options
from coherencegym.eval.surprisal import ScoredCondition, surprisals
from coherencegym.files.folders import CHECKSUMS

#: Suites, and how many discourses of their samples are read: enough for every task.
SUITES = {
    "winograd": 40,
    "coreference": 4,
    "connectives": 6,
    "sentence_order": 8,
    "intruder_sentences": None,
}
MEAN = "metric mean, where other tools compare sums"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Builds of the samples, with their exports in the folder ``babylm`` beside the build."""
    found = {}
    with pytest.MonkeyPatch.context() as patched:
        no_classifiers(patched)
        for name, limit in SUITES.items():
            folder = tmp_path_factory.mktemp(name)
            build_from(load_suite(name), "sample", folder / "build", limit=limit)
            export(find_dataset(str(folder / "build")), "babylm", folder / "babylm")
            found[name] = folder
    return found


@pytest.fixture(scope="module")
def reader() -> Reader:
    """The demo model as the pipeline uses it."""
    demo = load("demo", device="cpu")
    return Reader(demo.model, demo.tokenizer)


@pytest.fixture(scope="module")
def bits(
    exported: dict[str, Path], reader: Reader
) -> Callable[[str], dict[Any, Mapping[str, ScoredCondition]]]:
    """``bits(suite)``: our surprisals of what is exported, but for what is too long."""

    def of_suite(suite: str) -> dict[Any, Mapping[str, ScoredCondition]]:
        items = items_of(exported[suite] / "build")
        rows = (
            choice.row
            for task, folder in folders(exported[suite] / "babylm")
            for choice in read_folder(folder, task)
        )
        places = dict.fromkeys((row["config"], row["split"], row["item_id"]) for row in rows)
        return own_bits(reader, {place: items[place] for place in places})

    return cache(of_suite)


def folders(root: Path) -> Iterator[tuple[str, Path]]:
    """The tasks and the folders of data of an export."""
    for folder in sorted(root.glob("*/*")):
        yield folder.parent.name, folder


def items_of(folder: Path) -> dict[tuple[str, str, str], Item]:
    return {
        (table.config, table.split, item.item_id): item
        for table in tables(find_dataset(str(folder)))
        for item in table.items
    }


def own_bits(reader: Reader, items: Mapping[Any, Item]) -> dict[Any, Mapping[str, ScoredCondition]]:
    """Our surprisals, without a start token, which this tokenizer does not add."""
    asked = list(items.values())
    answers = surprisals(reader.model, reader.tokenizer, asked, Options(bos="never")).items
    return {
        place: answer.conditions
        for place, answer in zip(items, answers, strict=True)
        if not answer.too_long
    }


def by_metric(scored: Mapping[str, ScoredCondition], formula: str, metric: str) -> Outcome:
    """What becomes of a formula, by the sum or the mean of its regions."""

    def value(region: RegionRef, condition: str) -> float:
        bits = scored[condition].region_bits(region)
        return float(bits.sum() if metric == "sum" else bits.mean())

    return evaluate(parse_formula(formula), value)


@pytest.mark.parametrize("version", ["2025", "later"])
@pytest.mark.parametrize("suite", SUITES)
def test_their_comparison_is_ours_by_sum(
    suite: str,
    version: Version,
    exported: dict[str, Path],
    reader: Reader,
    bits: Callable[[str], dict[Any, Mapping[str, ScoredCondition]]],
) -> None:
    scored = bits(suite)
    seen = 0
    for task, folder in folders(exported[suite] / "babylm"):
        for choice in read_folder(folder, task, version):
            row = choice.row
            place = row["config"], row["split"], row["item_id"]
            if place not in scored:  # too long for the model
                continue
            theirs = list(map(reader.log_probability, choice.texts, choice.starts))
            seen += 1
            ours = by_metric(scored[place], row["formula"], "sum")
            assert ours.margin is not None
            margin = (theirs[0] - max(theirs[1:])) / math.log(2)
            assert margin == pytest.approx(ours.margin, abs=2e-3)
            assert first_is_chosen(theirs) == ours.met
            # Exported by mean are means over the same words alone.
            mean = by_metric(scored[place], row["formula"], row["metric"])
            assert mean.met == ours.met or mean.tie or ours.tie
    assert seen > 10


def test_the_tasks_of_the_suites(exported: dict[str, Path]) -> None:
    found = {
        suite: {task for task, _ in folders(folder / "babylm")}
        for suite, folder in exported.items()
    }
    assert found == {
        "winograd": {BLIMP, COMPS},
        "coreference": {ENTITY_TRACKING, COMPS},
        "connectives": {COMPS},
        "sentence_order": {COMPS},
        "intruder_sentences": {COMPS},
    }


def test_every_row_is_counted_under_its_suite_and_group(exported: dict[str, Path]) -> None:
    for suite, folder in exported.items():
        for task, data in folders(folder / "babylm"):
            choices = read_folder(data, task)
            by_uid, average = averages(task, choices, [True] * len(choices))
            assert average == 100  # of entity_tracking: only with names that it averages
            if task == COMPS:
                assert list(by_uid) == ["base"]
                assert data.name.startswith(f"{suite}__")
            else:
                assert data.name == suite
                assert all(f"{suite}__" in uid for uid in by_uid)
            assert all(item.suffix == ".jsonl" for item in data.iterdir())
    connectives = {f.name for _, f in folders(exported["connectives"] / "babylm")}
    assert "connectives__sample__different_sense_same_syntax" in connectives
    (coreference,) = (exported["coreference"] / "babylm/entity_tracking").iterdir()
    assert [p.name for p in coreference.iterdir()] == ["regular_coreference__sample__sum.jsonl"]


def condition(name: str, *texts: str, joint: str = " ") -> Condition:
    regions = tuple(Region(number, text) for number, text in enumerate(texts, start=1))
    return Condition(name, joint.join(filter(None, texts)), regions)


def table(conditions: Sequence[Condition], *predictions: Prediction) -> ItemTable:
    item = Item("i", 1, tuple(conditions), predictions, "d", "corpus")
    return ItemTable("c", "test", (item,), "", False, False)


TEXTS = (
    condition("a", "x", "y", "z"),
    condition("b", "x", "q", "z"),
    condition("c", "x", "r", "z"),
    condition("d", "x", "y", "z"),
    condition("e", "", "y", "z"),
    condition("f", "x", "y", ""),
    condition("g", "w", "q", "z"),
    condition("h", "x", "[SEP] s", "z"),
)


@pytest.mark.parametrize(
    ("formula", "metric", "task"),
    [
        ("(*;%b%) > (*;%a%)", "sum", BLIMP),
        ("(*;%a%) < (*;%b%)", "sum", BLIMP),
        ("(1;%g%) > (1;%a%)", "sum", BLIMP),
        ("(2;%b%) > (2;%a%)", "sum", ENTITY_TRACKING),
        ("(2;%b%) + (3;%b%) > (3;%a%) + (2;%a%)", "sum", ENTITY_TRACKING),
        ("((2;%b%) > (2;%a%)) & ((2;%c%) > (2;%a%))", "sum", NO_PAIR),
        ("(3;%b%) > (3;%a%)", "sum", COMPS),
        ("(3;%b%) > (3;%a%)", "mean", COMPS),
        # A pair is of the same two texts, but what is compared is not their sum.
        ("(2;%b%) > (2;%a%)", "mean", MEAN),
        ("(*;%b%) > (*;%a%)", "mean", MEAN),
        ("(3;%b%) > (3;%a%)", "median", "metric median, where other tools compare sums"),
        ("(3;%b%) > (3;%a%)", "max", "metric max, where other tools compare sums"),
        ("(2;%g%) > (2;%a%)", "sum", BOTH_DIFFER),
        ("(2;%d%) > (2;%a%)", "sum", SAME_TEXT),
        ("(*;%d%) > (*;%a%)", "sum", SAME_TEXT),
        ("(2;%e%) > (2;%a%)", "sum", WITHOUT_TEXT),
        ("(3;%f%) > (3;%a%)", "sum", WITHOUT_TEXT),
        ("(2;%h%) > (2;%a%)", "sum", SEPARATED),
        ("(1;%g%) > (1;%h%)", "sum", BLIMP),  # the separator stands behind what is compared
        ("(2;%b%) = (2;%a%)", "sum", NO_PAIR),
        ("(2;%b%) > 3", "sum", NO_PAIR),
        ("(2;%b%) - (2;%a%) > 0", "sum", NO_PAIR),
        ("(1;%b%) + (3;%b%) > (1;%a%) + (3;%a%)", "sum", NO_PAIR),
        ("(*;%b%) + (3;%b%) > (*;%a%) + (3;%a%)", "sum", NO_PAIR),
        ("(2;%b%) > (3;%a%)", "sum", NO_PAIR),
        ("(2;%b%) > (2;%a%) + (2;%c%)", "sum", NO_PAIR),
        ("(3;%a%) > (2;%a%)", "sum", NO_PAIR),
        ("((2;%b%) > (2;%a%)) | ((2;%c%) > (2;%a%))", "sum", NO_PAIR),
        ("(2;%a%) + (2;%b%) < (2;%c%) + (2;%g%)", "sum", NO_PAIR),
    ],
)
def test_a_prediction_has_one_task_or_is_left_out_with_a_reason(
    formula: str, metric: str, task: str
) -> None:
    made = babylm_table(table(TEXTS, Prediction(formula, metric)), "s")
    if made.refused:
        assert (dict(made.refused), made.made) == ({task: 1}, [])
    else:
        assert [row.task for row in made.made] == [task]


@pytest.mark.parametrize(
    ("joint", "reason"), [("", GOES_ON), ("\n", NOT_JOINED), ("  ", NOT_JOINED)]
)
def test_what_stands_around_a_region_is_one_space(joint: str, reason: str) -> None:
    texts = [condition(name, "x", mid, "z", joint=joint) for name, mid in (("a", "y"), ("b", "q"))]
    made = babylm_table(table(texts, Prediction("(2;%b%) > (2;%a%)", "sum")), "s")
    assert made.refused == {reason: 1}


def test_continuations_with_nothing_are_left_out() -> None:
    texts = [condition(name, "x", mid, "z") for name, mid in (("a", "y"), ("b", "nothing"))]
    made = babylm_table(table(texts, Prediction("(2;%b%) > (2;%a%)", "sum")), "s")
    assert (made.made, made.refused) == ([], {WITH_NOTHING: 1})


def word_bits(before: str, word: str) -> float:
    """Bits of a word, as of a model for which every word and every beginning counts."""
    return zlib.crc32(f"{before.split()} {word}".encode()) / 2**28


def bits_between(text: str, start: int, end: int) -> float:
    """The bits of words that end behind one place and begin before another."""
    words = re.finditer(r"\S+", text)
    return sum(word_bits(text[: w.start()], w[0]) for w in words if start < w.end() <= end)


region_texts = st.sampled_from(["x", "y", "x y", "z", ""])


@st.composite
def made_items(draw: st.DrawFn) -> Item:
    """Items of four conditions, with any comparison of sums of their regions."""
    names = "abcd"
    begins, ends = (draw(st.lists(region_texts, min_size=1, max_size=2)) for _ in range(2))
    parts = [
        (draw(st.sampled_from(begins)), draw(region_texts), draw(st.sampled_from(ends)))
        for _ in names
    ]
    texts = [condition(name, *own) for name, own in zip(names, parts, strict=True)]
    first = draw(st.integers(1, 3))
    last = draw(st.integers(first, 3))
    regions = draw(st.sampled_from([["*"], [str(r) for r in range(first, last + 1)]]))
    sides = draw(st.sampled_from([("a", "b"), ("b", "a"), ("ab", "cd")]))
    more, less = (" + ".join(f"({r};%{n}%)" for n in side for r in regions) for side in sides)
    return Item("i", 1, tuple(texts), (Prediction(f"{more} > {less}", "sum"),), "d", "corpus")


@settings(max_examples=300)
@given(made_items(), st.sampled_from(["2025", "later"]))
def test_whatever_is_written_compares_what_the_formula_does(item: Item, version: Version) -> None:
    made = babylm_table(ItemTable("c", "test", (item,), "", False, False), "s")
    assert bool(made.made) != bool(made.refused)

    def value(region: RegionRef, name: str) -> float:
        text = item.condition(name).content
        places = item.condition(name).region_offsets
        start, end = (0, len(text)) if region == "*" else places[int(region) - 1]
        return bits_between(text, start, end)

    ours = evaluate(parse_formula(item.predictions[0].formula), value)
    theirs = 0.0
    for row in made.made:
        choice = decoded(json.loads(json.dumps(row.fields)), "regular_x", row.task, version)
        good, bad = (
            bits_between(text, start, len(text))
            for text, start in zip(choice.texts, choice.starts, strict=True)
        )
        theirs += bad - good
    if made.made:
        assert theirs == pytest.approx(ours.margin, abs=1e-6)


def test_a_prediction_that_no_aggregate_has_is_counted_under_the_config() -> None:
    predictions = [
        Prediction("(2;%b%) > (2;%a%)", "sum", ("a → b", "one > two")),
        Prediction("(2;%c%) > (2;%a%)", "sum", ("a → c",)),
    ]
    made = babylm_table(table(TEXTS, *predictions), "s")
    assert [row.name for row in made.made] == ["s__c__one_over_two", "s__c"]


@given(st.text(), st.text())
def test_names_of_files_are_safe(config: str, group: str) -> None:
    """Configs and groups come from datasets that strangers publish."""
    name = group_name(("s", config, "test", group))
    assert name.replace("_", "").isalnum()
    assert name.startswith("s")


def test_two_groups_of_one_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ("--corpus", "sample", "--limit", "4", "--output", "out")
    assert build_command("winograd", *arguments) == 0
    monkeypatch.setattr("coherencegym.builders.export.babylm.group_name", lambda group: "same")
    capsys.readouterr()
    assert export_main(["babylm", "out", "--output", "babylm"]) == 2
    assert "two groups would both be called same" in capsys.readouterr().err
    assert not Path("babylm").exists()


def test_files_of_a_suite_are_in_the_folders_of_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ("--corpus", "sample", "--limit", "4", "--output", "out")
    assert build_command("winograd", *arguments) == 0
    assert export_main(["babylm", "out"]) == 0
    folder = Path("winograd_babylm")
    assert f", written to {folder}\n" in capsys.readouterr().out
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    assert sorted(map(str, files)) == [
        CHECKSUMS,
        "BABYLM.md",
        "blimp/winograd/winograd__sample_full.jsonl",
        "comps/winograd__sample_partial/comps_base.jsonl",
    ]
