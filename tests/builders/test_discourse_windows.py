"""Tasks of windows: what a window is, the rows that are made of it, and whole builds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import build_command, one_line
from support.suites import Sample, no_classifiers, rows

from coherencegym.builders.command.show import build_grid
from coherencegym.builders.discourse.cutting import (
    choose,
    paragraphs,
    stretches,
    tiles,
    window_of,
)
from coherencegym.builders.discourse_tasks import SUITE, Position, Replaced
from coherencegym.builders.pipeline.kinds import Division, Fits, OwnSplits
from coherencegym.eval.kinds.documents import EXAMPLES
from coherencegym.eval.kinds.table_kind import with_names
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.loaders.registry import CORPORA, corpus, sample_of
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.operator import Context

SPLITS = ("train", "validation", "test")


def document(*texts: str, name: str = "d", speaker: str | None = None, **meta: str) -> Discourse:
    units = tuple(Unit(text, speaker) for text in texts)
    return Discourse(name, "toy", units, meta={"split": "test", **meta})


def numbered(count: int, name: str = "d", **meta: str) -> Discourse:
    return document(*(f"Ann saw dog {i} of {name}." for i in range(count)), name=name, **meta)


# Windows ------------------------------------------------------------------------------------------


def test_headings_damage_and_wordless_units_part_stretches() -> None:
    texts = ["A Title.", "Ann ran.", "Bo ran.", "and fell of .", "Cy ran.", "…", "Di ran. [3]"]
    assert stretches(document(*texts, headings="0")) == [(1, 3), (4, 5), (6, 7)]
    assert stretches(document(*texts)) == [(0, 3), (4, 5), (6, 7)]


def test_of_speech_what_says_nothing_parts_stretches() -> None:
    said = ["well i saw it", "Yeah.", "and then it fell", "oh my"]
    assert stretches(document(*said, speaker="a")) == [(0, 1), (2, 3)]
    assert stretches(document(*said, domain="chat")) == [(0, 1), (2, 3)]
    assert stretches(document("I ran.", "I fell.")) == [(0, 2)]  # a story's sentences are short


@given(st.lists(st.sampled_from(["Ann ran.", "No end", "…"]), max_size=14), st.integers(1, 6))
def test_windows_do_not_overlap_and_lie_in_stretches(texts: list[str], size: int) -> None:
    made = document("Ann ran.", *texts)
    for generator in (None, Context().random(made, "t")):
        found = tiles(made, size, generator)
        assert all(second[0] >= first[1] for first, second in pairwise(found))
        assert all(end - first == size for first, end in found)
        inside = stretches(made)
        assert all(any(b <= first and end <= e for b, e in inside) for first, end in found)
        assert bool(found) == any(e - b >= size for b, e in inside)


def test_a_window_knows_where_it_is_from() -> None:
    window = window_of(numbered(9, genre="news"), (3, 5))
    assert (window.id, window.texts) == ("d/3-4", ("Ann saw dog 3 of d.", "Ann saw dog 4 of d."))
    assert (window.meta["document"], window.meta["first_unit"]) == ("d", "3")
    assert window_of(numbered(9), (3, 4)).id == "d/3"


def test_what_is_there_twice_is_taken_once() -> None:
    twice = [numbered(4, "d"), document(*numbered(4, "d").texts, name="e")]
    same = document("Ann ran.", "Ann ran.", "Bo ran.", "Cy ran.", name="f")
    chosen = choose([*twice, same], lambda d: tiles(d, 2), 2, "none")
    assert [w.id for own in chosen.windows.values() for w in own] == ["d/0-1", "d/2-3", "f/2-3"]
    assert chosen.reasons["e"] == {"the same text as an earlier window": 2}
    assert chosen.reasons["f"] == {"two sentences of a window are the same": 1}
    assert chosen.family == {"d": "d", "e": "d", "f": "f"}
    assert choose([same], lambda d: [], 1, "none").reasons == {"f": {"none": 1}}


def test_paragraphs_are_prose_as_a_whole() -> None:
    made = document("A Title", "A.", "B.", "C.", "No end", "D.", headings="0", paragraphs="0 1 3")
    assert paragraphs(made) == [(1, 3)]
    assert paragraphs(numbered(3)) == []


# Splits -------------------------------------------------------------------------------------------


def of(corpus_name: str, *splits: str) -> list[Discourse]:
    texts = [f"Ann saw dog number {i}." for i in range(len(splits))]
    return [
        Discourse(f"d{i}", corpus_name, (Unit(text),), meta={"split": split})
        for i, (text, split) in enumerate(zip(texts, splits, strict=True))
    ]


@pytest.mark.parametrize(
    ("name", "splits", "own"),
    [
        ("gum", ["test"] * 40, True),
        ("gum", ["train", "test2"] * 20, True),
        ("rocstories", ["train"] * 40, False),
        ("storycloze", ["validation", "test"] * 20, False),
        ("sample", ["test"] * 40, False),
        ("documents", ["unsplit", "test"] * 20, False),
        ("documents", ["train", "test"] * 20, True),
        ("mine", ["train", "validation", "test", "test"] * 10, True),
        ("mine", ["train", "test"] * 20, False),
    ],
)
def test_a_corpus_keeps_its_splits_or_is_divided(name: str, splits: list[str], own: bool) -> None:
    found = OwnSplits(Division(0.2, 0.2))(of(name, *splits), 0)
    assert sum(map(len, found.values())) == len(splits)
    if own:
        assert {s: len(d) for s, d in found.items()} == Counter(splits)
    else:
        assert set(found) == set(SPLITS)


# Rows ---------------------------------------------------------------------------------------------


def fitted(generator: Any, discourses: Sequence[Discourse]) -> list[Any]:
    """The rows that an item generator makes of these documents."""
    context = Context(0, "s")
    made = generator.fit(discourses, context, Fits())
    return [row for each in discourses for row in made(each, context)]


def test_more_windows_keep_those_of_fewer() -> None:
    discourses = [numbered(17, f"d{i}") for i in range(20)]
    few, many = (fitted(Position(most), discourses) for most in (1, 3))
    assert len(few) == 20
    assert len(many) == 60
    assert {row.item_id: row for row in few}.items() <= {row.item_id: row for row in many}.items()


def test_the_label_is_the_place_of_the_sentence_in_front() -> None:
    discourses = [numbered(5, f"d{i}") for i in range(40)]
    found = fitted(Position(), discourses)
    for discourse, row in zip(discourses, found, strict=True):
        assert row.text[0] == discourse.texts[int(row.label)]
        assert sorted(row.text) == sorted(discourse.texts)
        assert [slot.segments[0] for slot in row.slots] == list(row.text)
        assert row.places == (0, 1, 2, 3, 4)
    assert {row.label for row in found} == set("01234")


def test_a_donor_is_of_the_same_genre_and_never_of_the_same_family() -> None:
    genres = ["news", "fiction", "news", "fiction", "news", "fiction", "poetry", "letter"]
    discourses = [numbered(24, f"d{i}", genre=genre) for i, genre in enumerate(genres)]
    discourses.append(document(*discourses[0].texts[:6], *numbered(6, "x").texts, name="twin"))
    operator = IntruderSentence(
        strategy="same_category", category="category", share=1.0, keep_last=1
    )
    found = fitted(Replaced(3, operator=operator), discourses)
    genre_of = {d.id: d.meta.get("genre", "") for d in discourses}
    alone = {"poetry", "letter", ""}
    assert len(found) >= 40
    for coherent, replaced in zip(found[::2], found[1::2], strict=True):
        assert (coherent.label, replaced.label) == ("coherent", "replaced")
        assert coherent.extra == replaced.extra
        place, donor = coherent.extra["place"], coherent.extra["source_discourse"]
        differ = [i for i in range(6) if coherent.text[i] != replaced.text[i]]
        assert differ == [place]
        assert 1 <= place <= 4
        own, other = genre_of[coherent.discourse_id], genre_of[donor]
        assert own == other or {own, other} <= alone
        assert coherent.discourse_id != donor
        assert {coherent.discourse_id, donor} != {"d0", "twin"}
        text = next(d for d in discourses if d.id == donor).texts[coherent.extra["source_unit"]]
        assert replaced.text[place] == text
    families = {row.discourse_id: row.extra["family"] for row in found}
    assert families["twin"] == families["d0"] == "d0"
    places = Counter(row.extra["place"] for row in found[::2])
    assert set(places) == {1, 2, 3, 4}


# Builds -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    return built_sample(SUITE.name)


def labelled(folder: Path, manifest: dict[str, Any], config: str, split: str) -> list[Any]:
    """The examples of a split, with the names of their classes."""
    features = manifest["configs"][config]["features"]
    return [EXAMPLES.from_row(with_names(row, features)) for row in rows(folder, config, split)]


def test_the_sample_makes_every_task_that_it_can(built: tuple[Path, dict[str, Any]]) -> None:
    _, manifest = built
    assert set(manifest["configs"]) == {
        *("position_sample", "order_sample", "place_in_document_sample"),
        *("replaced_sample", "replaced_sample_similar"),
        *("relation_sample_rst", "relation_sample_implicit"),
    }
    for name, entry in manifest["configs"].items():
        if name.startswith("relation"):
            continue
        assert set(entry["splits"]) == set(SPLITS)
        if entry["kind"] == "examples":
            assert sum(split["rows"] for split in entry["splits"].values()) >= 230, name
    assert manifest["configs"]["order_sample"]["features"]["label"]["names"] == [
        *("exchanged", "in order"),
    ]


def test_labels_are_held_against_what_needs_no_vector(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    card = (folder / "README.md").read_text()
    assert "# Discourse tasks: what do a model's vectors encode about a text?" in card
    opening = card.partition("## Dataset Details")[0]
    assert "coherencegym score --model" not in opening
    assert "coherencegym probe --model" in opening
    quality = manifest["configs"]["order_sample"]["quality"]["test"]
    bag, frequent = (
        f"{100 * one['any_label']:.1f}"
        for one in (quality["bag_of_words"]["all"], quality["most_frequent"])
    )
    line = next(
        line for line in card.splitlines() if line.startswith("| `order_sample` (default) | **test")
    )
    assert line.endswith(f"| {bag} | {frequent} | {100 * quality['ceiling']:.1f} |")
    grid = build_grid(manifest)
    assert grid.headers[3:] == ("bag of words, %", "most frequent, %", "ceiling, %")
    (row,) = (row for row in grid.rows if row.cells[0] == "order_sample (default), test")
    assert row.cells[3:5] == (bag, frequent)


def test_no_family_is_in_two_splits(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    for config in manifest["configs"]:
        if config.startswith("relation"):
            continue
        families = [{row["family"] for row in rows(folder, config, split)} for split in SPLITS]
        assert len(set.union(*families)) == sum(map(len, families))


def test_order_has_both_orders_of_one_family(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    for split in SPLITS:
        found = labelled(folder, manifest, "order_sample", split)
        for first, second in zip(found[::2], found[1::2], strict=True):
            assert (first.label, second.label) == ("in order", "exchanged")
            assert first.text == second.text[::-1]
            assert first.cluster == second.cluster
            assert first.item_id.rpartition("/")[0] == second.item_id.rpartition("/")[0]


def test_windows_is_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    no_classifiers(monkeypatch)
    options = ("--corpus", "sample", "--windows", "2", "--output", tmp_path / "out")
    assert build_command("discourse_tasks", *options) == 0
    # A story of five sentences has two windows of two sentences, and five of one.
    for config, each in (("order_sample", 4), ("place_in_document_sample", 2)):
        found = [row for split in SPLITS for row in rows(tmp_path / "out", config, split)]
        assert set(Counter(row["discourse_id"] for row in found).values()) == {each}, config
    assert build_command("discourse_tasks", "--windows", "0") == 2


def test_a_paper_gives_a_sentence_of_each_section(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    with (folder / "train.jsonl").open("w") as stream:
        for i in range(30):
            abstract = f"We show that dog {i} barks. It is @xmath0 times as loud."
            body = " ".join(f"Part {part} is of the dog {i} alone." for part in range(9))
            paper = {"abstract": abstract, "article": body + "\n\nSee table 3"}
            stream.write(json.dumps(paper) + "\n")
        stream.write(json.dumps({"abstract": "@xmath0.", "article": "Nothing is here."}) + "\n")
    options = ("--hub-dataset", folder, "--genre", "papers", "--output", tmp_path / "out")
    assert build_command("discourse_tasks", *options) == 0
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    (config,) = manifest["configs"]
    assert config == "section_papers"
    entry = manifest["configs"][config]
    assert entry["bad_rows"] == {"no sentence of prose in abstract or body": 1}
    found = [
        row for s in entry["splits"] for row in labelled(tmp_path / "out", manifest, config, s)
    ]
    assert Counter(row.label for row in found) == {"abstract": 30, "body": 30}
    for row in found:
        (text,) = row.text
        if row.label == "abstract":
            assert text.startswith("We show that dog")
        else:  # of nine sentences the middle three
            assert text.split()[1] in "345"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"abstract": "We ran."}, "1: no column 'article' or 'body'"),
        ({"article": "We ran."}, "1: no column 'abstract'; the columns are 'article'"),
        ({"abstract": "We ran.", "article": 3}, "1: article has '3', expected text or a list of"),
    ],
)
def test_what_is_no_paper_is_said(
    row: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "train.jsonl").write_text(json.dumps(row) + "\n")
    options = ("--hub-dataset", folder, "--genre", "papers", "--output", tmp_path / "out")
    assert build_command("discourse_tasks", *options) == 2
    assert message in one_line(capsys.readouterr().err)


# Real files ---------------------------------------------------------------------------------------


def test_gum_marks_paragraphs_and_headings(real_gum: list[Discourse]) -> None:
    begins = sum(len(d.meta.get("paragraphs", "").split()) for d in real_gum)
    assert (len(real_gum), begins) == (80, 1803)
    for discourse in real_gum:
        headings = set(map(int, discourse.meta.get("headings", "").split()))
        for size in (2, 5, 6):
            for first, end in tiles(discourse, size):
                assert headings.isdisjoint(range(first, end))


def test_every_corpus_of_a_config_is_known() -> None:
    for config in SUITE.configs:
        for name in config.corpora:
            assert name in CORPORA
    sample = sample_of(corpus("documents"))
    assert sample is not None
