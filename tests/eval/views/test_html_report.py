"""The page of results: what it holds, what it leaves out, and that texts stay texts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results import made_item, made_results

from coherencegym.eval.kinds.items import Item
from coherencegym.eval.report.grid import share_with_interval
from coherencegym.eval.statistics.scores import Score, shown_rows
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score import items_page as html_items
from coherencegym.eval.tasks.score.items_page import (
    Piece,
    example_of,
    packed,
    scored_pieces,
)
from coherencegym.eval.tasks.score.report import score_grid, score_sections
from coherencegym.eval.text.encode import Encoding
from coherencegym.eval.views.page import page_of, write_html, write_pages

FORMULA = "(2;%bad%) > (2;%good%)"


def word_bits(word: str) -> float:
    """A word's number, or its length."""
    found = re.search(r"\d+", word)
    return float(found.group()) if found else float(len(word))


@pytest.fixture
def results(make_item: Callable[..., Item]) -> Results:
    items = [
        make_item(
            {"good": ["The dog", f"was{number} sad."], "bad": ["The dog", "were3 sad."]},
            FORMULA,
            item_id=f"d{number}/x",
            groups=["even" if number % 2 == 0 else "odd", "any"],
            long=number > 4,
        )
        for number in range(8)
    ]
    scored = [made_item(item, word_bits, too_long=item is items[-1]) for item in items]
    return made_results({"toy": scored}, breakdowns=["long"], notes=["! a <note>"])


def page_in(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def embedded(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    data: dict[str, Any] = json.loads(text)
    return data


# ---------------------------------------------------------------- what is on the page


def test_the_page_has_what_the_terminal_shows(results: Results) -> None:
    page = page_of(results)
    text = unescape(re.sub(r"<[^>]+>", "", page))
    for score in shown_rows(results.rows):
        assert share_with_interval(score.score, score.ci_low, score.ci_high) in text
        assert score.group in text
    for said in ("made-up on owner/made_up", "! a <note>"):
        assert said in text
    assert results.signature in text


def test_rows_of_scores_say_where_their_items_are(results: Results) -> None:
    scores: Any = results.rows
    grid = score_grid(scores)
    assert grid.headers[:2] == ("config", "items")
    assert grid.numbers[:2] == (False, True)
    assert [row.target for row in grid.rows][:2] == [("toy", "test", ""), ("toy", "test", "even")]
    assert [row.level for row in grid.rows][:2] == [0, 1]
    assert len(grid.rows) == len(scores)
    # Groups of few items are in the list of all scores alone.
    assert [row.target for row in score_grid(shown_rows(scores)).rows][1] == ("toy", "test", "any")
    titles = [section.title for section in score_sections(results)]
    assert titles == ["What was asked", "Scores", "Scores of all groups", "Items"]


def test_groups_of_the_form_a_over_b_are_explained_where_they_stand(
    make_item: Callable[..., Item],
) -> None:
    for group, is_explained in (("even", False), ("other > same, open", True)):
        item = make_item({"good": ["A", "b."], "bad": ["A", "bb."]}, FORMULA, groups=[group])
        found = made_results({"toy": [made_item(item, word_bits)]})
        leads = [one.lead for one in score_sections(found) if one.title.endswith("cores")]
        assert any(leads) == is_explained


def test_predictions_come_with_tokens_values_groups_and_columns(results: Results) -> None:
    data = embedded(page_of(results))
    assert data["tables"] == [["toy", "test"]]
    assert data["kinds"] == [f"{FORMULA} mean"]
    assert [one["s"] for one in data["predictions"]] == [
        *["met"] * 3,
        "tie",
        *["not met"] * 3,
        "undefined",
    ]
    assert [one["m"] for one in data["predictions"]][:4] == [1.5, 1.0, 0.5, 0.0]
    assert data["predictions"][-1]["w"] == "too_long"
    names = [data["groups"][number] for number in data["predictions"][5]["g"]]
    assert names == ["odd", "any", "long=true"]
    assert data["predictions"][1]["v"] == [[2, "bad", 3.5, 2], [2, "good", 2.5, 2]]
    item = data["items"][1]
    assert (item["id"], item["d"]) == ("d1/x", "d1")
    assert item["c"][0] == {
        "n": "good",
        "t": ["The dog", " was1", " sad."],
        "b": [None, 1.0, 4.0],
        "r": [[1, 1], [2, 2]],
    }
    assert [c["n"] for c in item["c"]] == ["good", "bad"]


def test_only_conditions_that_a_prediction_compares_are_there(
    make_item: Callable[..., Item],
) -> None:
    item = make_item({"good": ["a1"], "bad": ["a2"], "other": ["a3"]}, "(1;%bad%) > (1;%good%)")
    data = embedded(page_of(made_results({"c": [made_item(item, word_bits)]})))
    assert [c["n"] for c in data["items"][0]["c"]] == ["good", "bad"]


def test_texts_that_two_predictions_compare_are_there_once(
    make_item: Callable[..., Item],
) -> None:
    item = make_item(
        {"good": ["a1"], "bad": ["a2"]}, "(1;%bad%) > (1;%good%)", "(*;%good%) = (*;%bad%)"
    )
    data = embedded(page_of(made_results({"c": [made_item(item, word_bits)]})))
    assert [one["i"] for one in data["predictions"]] == [0, 0]
    assert [one["m"] for one in data["predictions"]] == [1.0, None]
    assert len(data["items"]) == 1
    assert len(data["items"][0]["c"]) == 2


def test_scores_are_drawn_with_their_intervals_and_baselines(
    results: Results, tmp_path: Path
) -> None:
    row = replace(
        results.rows[0], config="a<b", score=0.7, ci_low=0.5, ci_high=1.0, chance=0.5,
        partial_input_score=0.25,
    )  # fmt: skip
    write_pages(replace(results, rows=[row]), tmp_path)
    (address,) = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', page_in(tmp_path))
    drawn = ElementTree.fromstring(base64.b64decode(address))
    found = {part.get("class"): part.attrib for part in drawn.iter() if part.get("class")}
    assert float(found["score"]["cx"]) == pytest.approx(370 + 0.7 * 370)
    assert (found["interval"]["x1"], found["interval"]["x2"]) == ("555.0", "740.0")
    assert found["chance"]["x1"] == "555.0"
    assert found["partial_input_score"]["x1"] == "462.5"
    assert "a<b" in {part.text for part in drawn.iter()}
    assert not list(tmp_path.glob("*.png"))


def test_the_page_begins_with_the_verdict_and_a_pair(results: Results) -> None:
    about = {
        "title": "Toy dogs",
        "hypothesis": "Dogs `were` sad.",
        "conditions": {"good": "as it was", "bad": "as it were"},
    }
    one = Score(config="toy", split="test", group="", level="all", n=40, score=0.7, ci_low=0.6,
                ci_high=0.8, partial_input_score=0.75)  # fmt: skip
    headline = Headline(
        **{name: getattr(one, name) for name in ("n", "score", "ci_low", "ci_high")},
        over=("toy",),
        partial_input_score=one.partial_input_score,
    )
    page = page_of(replace(results, dataset={**results.dataset, **about}, headline=headline))
    text = unescape(re.sub(r"<[^>]+>", "", page)).replace("\N{NO-BREAK SPACE}", " ")
    assert (
        "CD 70.0 [60.0, 80.0] % (40 items); partial input 75.0, chance 50.0. "
        "This does not speak for the model: the score is no better than the partial-input baseline."
        in text
    )
    assert "Dogs <code>were</code> sad." in page
    assert "as it were" in text
    assert "<mark>was0</mark> sad." in page
    assert "<mark>were3</mark> sad." in page
    example = example_of(results)
    assert example is not None
    assert [value for _, _, value in example["conditions"]] == [2.0, 3.5]
    assert (example["margin"], example["held"]) == (1.5, "met")
    assert results.verdict is None


# ---------------------------------------------------------------- texts stay texts


HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\"' \u2028\u2029"


def test_a_hostile_dataset_adds_no_markup(make_item: Callable[..., Item]) -> None:
    item = make_item(
        {HOSTILE: [HOSTILE], "bad": ["x"]},
        "(1;%bad%) > (1;%bad%)",
        item_id=f"d/{HOSTILE}",
        groups=[HOSTILE],
        column=HOSTILE,
    )
    scored = made_item(item, word_bits)
    hostile = made_results({HOSTILE: [scored]}, notes=[HOSTILE], model=HOSTILE, dataset=HOSTILE)
    plain = made_results(
        {
            "c": [
                made_item(
                    make_item(
                        {"a": ["x"], "bad": ["x"]},
                        FORMULA.replace("2", "1").replace("good", "bad"),
                        groups=["g"],
                        column="v",
                    ),
                    word_bits,
                )
            ]
        },
        notes=["n"],
    )
    tags = re.compile(r"<[/!a-zA-Z]")
    pages = [page_of(one) for one in (hostile, plain)]
    assert len(tags.findall(pages[0])) == len(tags.findall(pages[1]))
    assert "\u2028" not in pages[0].split('id="data">')[1].split("</script>")[0]
    assert embedded(pages[0])["items"][0]["id"] == f"d/{HOSTILE}"


def test_half_a_character_is_written_as_a_question_mark(
    tmp_path: Path, make_item: Callable[..., Item]
) -> None:
    item = make_item({"a": ["x \ud800"], "b": ["y"]}, "(1;%a%) > (1;%b%)")
    page = page_of(made_results({"c": [made_item(item, word_bits)]}))
    write_html(page, tmp_path / "report.html")
    page = page_in(tmp_path)
    assert embedded(page)["items"][0]["c"][0]["t"] == ["x", " ?"]


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else(
    results: Results,
) -> None:
    page = page_of(results)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    policy = unescape(policy)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not re.search(r"<[^>]+\s(style|on\w+)=", page.split("<script")[0])
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)
    assert "innerHTML" not in page


# ---------------------------------------------------------------- tokens


def pieces_of(content: str, tokens: list[tuple[int, int, int, float]]) -> list[Piece]:
    starts, ends, regions, bits = zip(*tokens, strict=True)
    encoding = Encoding(tuple(range(len(tokens))), regions, starts, ends, ((),) * len(tokens), True)
    return scored_pieces(ScoredCondition(encoding, np.array(bits)), content)


def test_tokens_that_share_a_character_are_one_piece() -> None:
    tokens = [(0, 0, -1, np.nan), (0, 2, 1, 1.0), (2, 3, 2, 5.0), (2, 3, 2, 0.5), (3, 3, 2, 2.0)]
    assert pieces_of("a 🙂", tokens) == [
        Piece("a ", (1.0,), 1),
        Piece("🙂", (5.0, 0.5), 2),
        Piece("", (2.0,), 2),
    ]
    assert packed("x", pieces_of("a 🙂", tokens))["b"] == [1.0, [5.0, 0.5], 2.0]


def test_text_between_tokens_belongs_to_the_region_before() -> None:
    tokens = [(0, 1, 1, np.nan), (1, 1, -1, np.nan), (8, 9, 2, 3.0)]
    pieces = pieces_of("a [SEP] b ", tokens)
    assert pieces == [
        Piece("a", (), 1),
        Piece(" [SEP] ", (), 1),
        Piece("b", (3.0,), 2),
        Piece(" ", (), 2),
    ]
    assert packed("x", pieces)["t"] == ["a [SEP] ", "b", " "]


@given(st.text(max_size=12), st.data())
def test_the_pieces_are_the_text(content: str, data: st.DataObject) -> None:
    places = st.integers(0, len(content))
    spans = data.draw(st.lists(st.tuples(places, places).map(sorted), min_size=1, max_size=8))
    tokens = [(start, end, 1, float(start)) for start, end in sorted(spans)]
    pieces = pieces_of(content, tokens)
    assert "".join(piece.text for piece in pieces) == content
    assert sum(len(piece.bits) for piece in pieces) == len(tokens)
    shown = packed("x", pieces)
    assert "".join(shown["t"]) == content
    assert sum(n for _, n in shown["r"]) == len(shown["t"]) == len(shown["b"])


def test_of_a_text_that_is_too_long_the_beginning_is_shown(make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["x" * 3000], "b": ["y"]}, "(1;%a%) > (1;%b%)")
    data = embedded(page_of(made_results({"c": [made_item(item, word_bits, too_long=True)]})))
    long, short = data["items"][0]["c"]
    assert (long["t"], long["b"], long["r"]) == (["x" * 2000 + " …"], [None], [[1, 1]])
    assert short["t"] == ["y"]


# ---------------------------------------------------------------- what is left out


def test_a_page_that_would_be_too_large_shows_fewer(
    make_item: Callable[..., Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [
        make_item({"a": [f"x{number}"], "b": ["x5"]}, "(1;%a%) > (1;%b%)", item_id=f"d{number}/x")
        for number in range(70)
    ]
    made = made_results({"c": [made_item(item, word_bits) for item in items]})
    assert len(html_items.collect(made)[0]["predictions"]) == 70
    few = html_items.collect(made, most_characters=80)
    assert [one["id"] for one in few[0]["items"]] == [f"d{number}/x" for number in range(18)]
    assert few[1] == {"c (test)": 52}
    assert len(html_items.collect(made, most_characters=0)[0]["predictions"]) == 1
    monkeypatch.setattr("coherencegym.eval.tasks.score.report.collect", lambda _: few)
    text = unescape(re.sub(r"<[^>]+>", "", page_of(made)))
    assert "52 are left out of it, but count in the scores: c (test) 52." in text
