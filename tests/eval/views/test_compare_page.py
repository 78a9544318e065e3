"""Two runs item by item: which items the page has, their texts, and the page in a real browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.browser import Browser
from support.datasets import about_families, with_intruders, write_documents
from support.results import evaluated_table, made_saved
from support.runs import OPEN

from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.predictions import Outcome
from coherencegym.eval.results.comparison import ModelComparison, compare, moved
from coherencegym.eval.results.saved import Saved, SavedDataset, read_saved
from coherencegym.eval.tasks.detect.decisions import intruders
from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction
from coherencegym.eval.views.compare import items
from coherencegym.eval.views.compare.items import collect_pairs
from coherencegym.eval.views.compare.page import render_comparisons
from coherencegym.eval.views.compare.texts import texts_of

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e"
FORMULA = "(2;%bad%) > (2;%good%)"
NAMES = [("model", "baseline")]


def prediction(item: str, margin: float | None, formula: str = FORMULA) -> EvaluatedPrediction:
    outcome = None if margin is None else Outcome(margin > 0, False, margin)
    own = Item(item, 1, (), (), item, "toy")
    return EvaluatedPrediction(
        own, formula, "mean", ("even",), outcome, "" if outcome else "too_long"
    )


def run(
    folder: Path,
    margins: Sequence[float | None],
    data: Path | None = None,
    sha256: str = "",
    formula: str = FORMULA,
) -> Saved:
    """A folder of results with its page, on a dataset."""
    folder.mkdir()
    (folder / "report.html").write_text("page")
    evaluated = [prediction(f"i/{place}", margin, formula) for place, margin in enumerate(margins)]
    dataset = SavedDataset(str(data or "gone"), "toy", "1.0.0", None, "")
    return made_saved(
        folder, evaluated_table(evaluated, "c", "test", rows_sha256=sha256), dataset=dataset
    )


def compared(
    tmp_path: Path, left: Sequence[float | None], right: Sequence[float | None], **about: Any
) -> ModelComparison:
    return compare(run(tmp_path / "a", left, **about), run(tmp_path / "b", right, **about))


def data_of(comparison: ModelComparison, folder: Path, **limits: Any) -> dict[str, Any]:
    return collect_pairs([comparison], NAMES, folder / "out", **limits).data


@pytest.fixture
def dataset(
    tmp_path: Path, make_item: Callable[..., Item], write_dataset: Callable[..., Path]
) -> dict[str, Any]:
    """Two items, one with a hostile text: the folder, and the digest of its rows."""
    texts = ("very sad.", HOSTILE)
    items = [
        make_item(
            {"good": ["The dog", text], "bad": ["The dog", "was green."]},
            FORMULA,
            item_id=f"i/{place}",
        )
        for place, text in enumerate(texts)
    ]
    from coherencegym.eval.data.dataset import tables
    from coherencegym.eval.data.source import find_dataset

    folder = write_dataset(tmp_path / "data", items, "c")
    (table,) = tables(find_dataset(str(folder)))
    return {"data": folder, "sha256": table.rows_sha256}


# ---------------------------------------------------------------- what is on the page


def test_pairs_have_what_both_runs_came_to(tmp_path: Path) -> None:
    found = compared(tmp_path, [1.0, -2.0, 0.5, 3.0, None], [1.5, 2.0, -0.5, 3.0, 1.0])
    packed = collect_pairs([found], NAMES, tmp_path / "out")
    rows = packed.data["predictions"]
    assert [row["o"] for row in rows] == ["both", "model", "baseline", "both", "undefined"]
    assert rows[1]["s"] == ("not met", "met")
    assert rows[1]["m"] == [-2.0, 2.0]
    assert (rows[4]["w"], rows[4]["m"]) == (("too_long", ""), [None, 1.0])
    assert packed.data["pages"] == [["../a/report.html", "../b/report.html"]]
    assert packed.data["groups"] == ["even"]
    assert dict(packed.counts[0]) == {"both": 2, "model": 1, "baseline": 1, "undefined": 1}
    assert packed.without_texts == ("the dataset gone is not to be found from here",)
    assert "c" not in packed.data["items"][0]


def test_texts_come_from_the_dataset_with_what_differs_marked(
    tmp_path: Path, dataset: dict[str, Any]
) -> None:
    found = compared(tmp_path, [1.0, 1.0], [-1.0, -1.0], **dataset)
    packed = collect_pairs([found], NAMES, tmp_path / "out")
    assert packed.without_texts == ()
    assert packed.data["items"][0]["c"] == [
        ["good", [["The dog ", "", ""], ["very sad", "different", ""], [".", "", ""]]],
        ["bad", [["The dog ", "", ""], ["was green", "different", ""], [".", "", ""]]],
    ]


def places_of(one: Saved) -> set[tuple[str, str, str]]:
    """The places of the two items of a run."""
    found = {(unit.config, unit.split, unit.item) for unit in one.outcomes.unit_rows()}
    assert len(found) == 2
    return found


def test_rows_other_than_those_that_were_scored_are_not_taken(
    tmp_path: Path, dataset: dict[str, Any]
) -> None:
    one = run(tmp_path / "a", [1.0, 1.0], dataset["data"], "another digest")
    texts = texts_of(one, places_of(one))
    assert (texts.found, "rows of the dataset" in texts.missing) == ({}, True)
    (dataset["data"] / "manifest.json").write_text("{")
    texts = texts_of(run(tmp_path / "b", [1.0, 1.0], **dataset), places_of(one))
    assert (texts.found, "cannot be read" in texts.missing) == ({}, True)


def test_rows_of_a_closed_corpus_are_not_for_all_whatever_the_manifest_says(
    tmp_path: Path, dataset: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dataset["data"] / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["configs"]["c"] |= OPEN
    path.write_text(json.dumps(manifest))
    one = run(tmp_path / "a", [1.0, 1.0], **dataset)
    assert set(texts_of(one, places_of(one), publishable=True).found) == places_of(one)
    monkeypatch.setattr("coherencegym.eval.views.compare.texts.is_closed", "toy".__eq__)
    found = texts_of(one, places_of(one), publishable=True)
    assert (found.found, found.missing) == ({}, "c may not be published, by its licence")
    assert texts_of(one, places_of(one)).found, "whoever has it may read it"


def test_a_dataset_that_was_moved_is_read_where_it_is(
    tmp_path: Path, dataset: dict[str, Any]
) -> None:
    found = compared(tmp_path, [1.0, 1.0], [-1.0, -1.0], sha256=dataset["sha256"])
    assert collect_pairs([found], NAMES, tmp_path).without_texts
    packed = collect_pairs([moved(found, dataset["data"])], NAMES, tmp_path)
    assert packed.without_texts == ()
    assert packed.data["items"][0]["c"]


def test_a_dataset_of_the_hub_is_looked_for_in_the_cache_only(
    tmp_path: Path, dataset: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    asked: list[dict[str, Any]] = []

    def snapshot(name: str, **how: Any) -> str:
        asked.append({"name": name, **how})
        return str(dataset["data"])

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    one = run(tmp_path / "a", [1.0, 1.0], sha256=dataset["sha256"])
    on_hub = replace(one, dataset=replace(one.dataset, name="me/toy", commit="0" * 40))
    assert set(texts_of(on_hub, places_of(one)).found) == places_of(one)
    assert len(texts_of(on_hub, set(list(places_of(one))[:1])).found) == 1
    assert (asked[0]["name"], asked[0]["revision"]) == ("me/toy", "0" * 40)
    assert asked[0]["local_files_only"] is True


def test_a_formula_that_is_none_is_still_an_item(tmp_path: Path) -> None:
    """Folders of results may be anybody's."""
    about: dict[str, Any] = {"formula": "no formula"}
    runs = [run(tmp_path / name, [margin], **about) for name, margin in (("a", 1.0), ("b", -1.0))]
    (row,) = data_of(compare(*runs), tmp_path)["predictions"]
    assert (row["o"], row["v"]) == ("baseline", [])


def test_a_large_suite_is_a_page_of_bearable_size(tmp_path: Path) -> None:
    """Of what is left out most is right for both or for neither, and differs least."""
    left = [float(place % 97 - 48) + 0.5 for place in range(3000)]
    right = [margin if place % 5 else -margin for place, margin in enumerate(left)]
    found = compared(tmp_path, left, right)
    packed = collect_pairs([found], NAMES, tmp_path / "out", most_characters=200_000)
    rows = packed.data["predictions"]
    assert len(json.dumps(packed.data)) < 300_000
    assert 0 < packed.left_out == 3000 - len(rows)
    limit = packed.limit
    outcomes = Counter(row["o"] for row in rows)
    assert outcomes["both"] == outcomes["neither"] == limit
    assert min(outcomes["model"], outcomes["baseline"]) > 2 * limit
    everything = data_of(found, tmp_path)["predictions"]
    most = max(abs(row["m"][1] - row["m"][0]) for row in everything if row["o"] == "model")
    assert any(row["m"][1] - row["m"][0] == most for row in rows)
    page = render_comparisons([found], NAMES, tmp_path / "out")
    assert "are not on this page" not in page


def test_the_page_says_who_is_right_how_often_and_leads_there(tmp_path: Path) -> None:
    found = compared(tmp_path, [1.0, -2.0, 0.5, 3.0], [1.5, 2.0, -0.5, 3.0])
    page = render_comparisons([found], NAMES, tmp_path / "out")
    text = unescape(re.sub(r"<[^>]+>", "", page))
    assert "for both models: 2; only for model: 1; only for baseline: 1; for neither: 0." in text
    assert '<a href="#outcome=model">1</a>' in page
    assert "model reaches 75.0 %, baseline 75.0 %, a difference of +0.0 " in text
    assert "this does not show that they differ" in text
    assert "No texts are shown: the dataset gone is not" in text
    assert "baseline (reference), %" in page
    two = render_comparisons([found, found], NAMES * 2, tmp_path / "out")
    assert 'href="#runs=model+against+baseline&amp;outcome=model"' in two


def test_of_many_scores_the_page_says_how_many_differ(tmp_path: Path) -> None:
    def runs(folder: Path, higher: int) -> Saved:
        folder.mkdir()
        tables = (
            evaluated_table(
                [prediction(f"i/{n}", 1.0 if k < higher else -1.0) for n in range(30)],
                f"c{k}",
                "test",
            )
            for k in range(5)
        )
        return made_saved(folder, *tables)

    found = compare(runs(tmp_path / "a", 0), runs(tmp_path / "b", 2))
    page = render_comparisons([found], NAMES, tmp_path / "out")
    said = re.findall(r'<p class="said.*?">(.*?)</p>', page)
    assert len(said) == 3
    assert "model and baseline, by 5 scores" in said[0]
    assert "they differ in 2" in said[0]
    assert "p &lt; 0.001, corrected for all rows" in said[1]


# ---------------------------------------------------------------- in a browser


def opened(browser: Browser, page: str, folder: Path) -> Browser:
    """A page in the browser, which complains of nothing."""
    (folder / "comparison.html").write_text(page, encoding="utf-8")
    browser.get((folder / "comparison.html").as_uri())
    assert browser.log("browser") == []
    return browser


IDS = "return [...document.querySelectorAll('#list .id')].map((n) => n.innerText)"
COUNT = "return document.getElementById('count').value"


ACROSS = """return [...document.querySelectorAll('.conditions > div')]
    .map((n) => Math.round(n.getBoundingClientRect().left))"""


def test_four_texts_stand_two_by_two_and_below_each_other_on_a_telephone(
    browser: Browser,
    tmp_path: Path,
    make_item: Callable[..., Item],
    write_dataset: Callable[..., Path],
) -> None:
    from coherencegym.eval.data.dataset import tables
    from coherencegym.eval.data.source import find_dataset

    texts = {name: ["The dog", f"was {name}."] for name in ("red", "blue", "green", "old")}
    formula = "(2;%red%) + (2;%blue%) > (2;%green%) + (2;%old%)"
    folder = write_dataset(tmp_path / "data", [make_item(texts, formula, item_id="i/0")], "c")
    (table,) = tables(find_dataset(str(folder)))
    about: dict[str, Any] = {"data": folder, "sha256": table.rows_sha256, "formula": formula}
    runs = [run(tmp_path / name, [margin], **about) for name, margin in (("a", -1.0), ("b", 1.0))]
    page = opened(browser, render_comparisons([compare(*runs)], NAMES, tmp_path / "out"), tmp_path)
    for width, columns in ((1600, 2), (1000, 2), (400, 1)):
        page.resize(width)
        places = page.run(ACROSS)
        assert (len(places), len(set(places))) == (4, columns)
        assert places == places[:columns] * (4 // columns)
    assert len(page.run("return [...document.querySelectorAll('mark')]")) == 4


def test_items_that_differ_come_first_and_filters_have_the_rest(
    browser: Browser, tmp_path: Path, dataset: dict[str, Any]
) -> None:
    margins = [-2.0, 0.5, 1.0, -1.0], [2.0, -0.5, 1.5, -1.5]
    found = compared(tmp_path, margins[0], margins[1], **dataset)
    page = opened(browser, render_comparisons([found], NAMES, tmp_path / "out"), tmp_path)
    assert page.run(IDS) == ["i/0", "i/1"]
    assert page.run(COUNT) == "2 of 4 predictions"
    shown = page.run(
        """const one = document.querySelector('#list li');
        return {
          marks: [...one.querySelectorAll('mark')].map((n) => n.innerText),
          runs: [...one.querySelectorAll('.met')].map((n) => n.innerText.replace(/\\s+/g, ' ')),
          pages: [...one.querySelectorAll('.runs a')].map((n) => n.getAttribute('href')),
          images: document.images.length,
          hostile: document.querySelectorAll('#list li')[1].querySelector('dd').textContent,
        }"""
    )
    assert shown["marks"] == ["very sad", "was green"]
    assert shown["runs"] == [
        "baseline not met −2.000 bits",
        "model met +2.000 bits",
        "difference +4.000 bits",
    ]
    assert shown["pages"][1] == "../b/report.html#config=c&split=test&item=i%2F0"
    assert (shown["hostile"], shown["images"]) == (f"The dog {HOSTILE}", 0)
    page.choose("state", "neither")
    assert page.run(IDS) == ["i/3"]
    assert page.run("return location.hash") == "#outcome=neither"
    page.run("location.hash = '#outcome=any&order=highest'")
    page.run("return new Promise((done) => setTimeout(done, 100))")
    assert page.run(IDS) == ["i/0", "i/2", "i/3", "i/1"]
    page.run("document.querySelectorAll('#list a.id')[1].click()")
    page.run("return new Promise((done) => setTimeout(done, 100))")
    assert page.run(IDS) == ["i/2"]
    assert page.run(COUNT) == "1 of 4 predictions, those of i/2"
    for width in (400, 1400):
        page.resize(width)
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")


def test_detection_is_compared_document_by_document(
    browser: Browser,
    tmp_path: Path,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> None:
    tokenizer = make_tokenizer()
    make_model("gpt2", tokenizer).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    splits = {
        split: with_intruders(about_families(size, seed=size), seed=size)
        for split, size in (("validation", 10), ("test", 12))
    }
    write_documents(tmp_path / "data", splits, "detect_one")
    words = ["detect", "--model", str(tmp_path / "model"), "--dataset", str(tmp_path / "data")]
    for detector in ("mutual", "surprisal"):
        output = str(tmp_path / detector)
        assert main([*words, "--device", "cpu", "--detector", detector, "--output", output]) == 0
    found = compare(read_saved(tmp_path / "mutual"), read_saved(tmp_path / "surprisal"))
    folder = tmp_path / "out"
    folder.mkdir()
    data = collect_pairs([found], NAMES, folder).data
    assert data["kinds"][0] == "exact accuracy, argmax"
    results = json.loads((tmp_path / "surprisal" / "results.json").read_text())
    documents = {document.item_id: document for document in splits["test"]}
    thresholds = {one["decision"]: one["threshold"] for one in results["thresholds"]}
    rows = [row for row in data["predictions"] if row["k"] == 0]
    assert len(rows) == len(documents)
    for row in rows:
        item = data["items"][row["i"]]
        document = documents[item["id"]]
        assert (item["d"], item["l"]) == (document.sentences, document.intruder_position)
        scores = [score or 0.0 for score in row["e"][1]]
        assert row["c"][1] == intruders(scores, thresholds["argmax"], "argmax")
        right = row["c"][1] == ((item["l"],) if item["l"] > 0 else ())
        assert row["s"][1] == ("right" if right else "wrong")
    page = opened(browser, render_comparisons([found], NAMES, folder), folder)
    page.choose("state", "any")
    assert page.run(COUNT).startswith(f"{len(documents)} of ")
    line = page.run("return document.querySelector('.sentences li.intruder').innerText")
    assert re.search(r"intruder\s.*\s+baseline [+−]\d+\.\d{3}.*model [+−]\d", line, re.S)
    link = page.run("return document.querySelector('.runs a').getAttribute('href')")
    report = (tmp_path / "mutual" / "report.html").read_text()
    assert f'<table id="{link.split("#")[1].replace("%2F", "/")}">' in report
    page.resize(400)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")


@given(
    margins=st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=60),
    limit=st.integers(1, 5),
)
def test_of_many_pairs_those_that_differ_most_are_held(
    margins: list[tuple[float, float]], limit: int
) -> None:
    """They are those that would be chosen of all, whatever was dropped on the way."""
    pairs = [
        items.ItemPair(
            "c",
            "test",
            f"i{place}",
            "f mean",
            (),
            outcome="model" if left < 0 < right else "both",
            states=("met", "met"),
            margins=(left, right),
            reasons=("", ""),
            compared=((1, "a"),),
        )
        for place, (left, right) in enumerate(margins)
    ]
    with mock.patch.object(items, "_LIMITS", (limit, 1)):
        found = items._leading(iter(pairs))
    assert found.pairs == items._chosen(pairs, limit)
    assert items._chosen(found.pairs, 1) == items._chosen(pairs, 1)
    assert (found.total, sum(found.counts.values())) == (len(pairs), len(pairs))
