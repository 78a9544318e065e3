"""Spans, documents and labelled examples, which are judged in one way: sheet, answers, build."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line
from support.toy import SUITE

from coherencegym.builders.intruder_sentences import RELEASED
from coherencegym.builders.judgement.answers import JudgedRow, Matcher, judge_rows
from coherencegym.builders.judgement.questions import JUDGED_UNITS, Asked, RowPlace, asked_of, main
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import find_sources
from coherencegym.builders.registry import load_suite
from coherencegym.builders.suite import Suite
from coherencegym.cards.render import dataset_card
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds import kind_named
from coherencegym.eval.kinds.documents import Document, LabelledExample, Slot
from coherencegym.eval.kinds.items import Condition, Item, Prediction, Region
from coherencegym.files.parquet import parquet_rows
from coherencegym.loaders.corpus import CorpusError

Built = Callable[[str], Path]
Lines = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A kind of rows, and a config of the sample that has them."""

    kind: str
    suite: str
    config: str

    @property
    def unit(self) -> str:
        return JUDGED_UNITS[self.kind]


CASES = [
    Case("items", "story_cloze", "sample"),
    Case("spans", "span_coherence", "contradiction_sample"),
    Case("documents", "intruder_sentences", "detect_sample"),
    Case("examples", "discourse_tasks", "replaced_sample"),
]


@pytest.fixture(params=CASES, ids=lambda case: str(case.kind))
def case(request: pytest.FixtureRequest) -> Case:
    assert isinstance(request.param, Case)
    return request.param


def sheet(folder: Path, case: Case, output: Path, *options: str) -> Lines:
    argv = [str(folder), "--config", case.config, "--output", str(output), *options]
    assert main(argv) == 0
    lines = (output / f"{case.unit}s.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def asked_in(folder: Path, case: Case) -> dict[str, Asked]:
    """All questions about a build's rows of a config, by identifier."""
    source = find_dataset(str(folder))
    found = [
        asked
        for table in table_rows(source, [case.config], kind=kind_named(case.kind))
        for row in table.read()
        for asked in asked_of(
            case.kind, RowPlace(source.suite, table.config, table.split, table.about), row
        )
    ]
    assert len({asked.id for asked in found}) == len(found)
    return {asked.id: asked for asked in found}


def write(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def answered(lines: Lines, known: dict[str, Asked], case: Case) -> Lines:
    """The lines with the dataset's answers."""
    return [{**line, "answer": known[line[case.unit]].right[0]} for line in lines]


def another(line: dict[str, Any], known: dict[str, Asked], case: Case) -> dict[str, Any]:
    """The line with a wrong answer."""
    right = known[line[case.unit]].right
    return {**line, "answer": next(a for a in line["answers"] if a not in right)}


def only(case: Case) -> Suite:
    """The suite with the case's config alone."""
    suite = load_suite(case.suite)
    configs = tuple(c for c in suite.configs if c.full_name("sample") == case.config)
    return replace(suite, configs=configs, headline=(), configure=None)


def rebuilt(case: Case, output: Path, *paths: Path, skip: bool = False) -> dict[str, Any]:
    """The manifest of a build with answers."""
    suite = only(case)
    matcher = Matcher(paths, skip) if paths else None
    output.mkdir()
    options = BuildOptions(corpora=["sample"])
    return build(suite, find_sources(suite, options)[0], options, output, matcher)


def test_a_sheet_is_blind_and_drawn_again_the_same(
    sample_build: Built, case: Case, tmp_path: Path
) -> None:
    folder = sample_build(case.suite)
    lines = sheet(folder, case, tmp_path / "a", "-n", "20")
    known = asked_in(folder, case)
    assert len(lines) == 20
    for line in lines:
        assert list(line) == [
            *(case.unit, "number"),
            *(("text_a", "text_b") if case.kind == "items" else ("text",)),
            *("question", "answers", "answer", "annotator", "comment"),
        ]
        assert (line["answer"], line["annotator"]) == ("", "")
        assert set(known[line[case.unit]].right) < set(line["answers"])
    page = (tmp_path / "a/sheet.html").read_text("utf-8")
    assert page.count("<section") == 20
    assert page.count('type="radio"') == sum(len(line["answers"]) for line in lines)
    assert "checked>" not in page
    assert page.count("Content-Security-Policy") == page.count("default-src 'none'") == 1
    for kind in ("script", "style"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in page
    if shutil.which("node"):
        (tmp_path / "sheet.js").write_text(re.findall("<script>(.*?)</script>", page, re.DOTALL)[0])
        subprocess.run(["node", "--check", "sheet.js"], cwd=tmp_path, check=True)
    source = find_dataset(str(folder))
    rows = [
        row
        for table in table_rows(source, [case.config], kind=kind_named(case.kind))
        for row in table.read()
    ]
    shown = page + (tmp_path / f"a/{case.unit}s.jsonl").read_text("utf-8")
    names = {name for row in rows for name in (row.item_id, row.discourse_id)}
    assert not [name for name in (*names, case.config, case.suite) if name in shown]
    assert lines == sheet(folder, case, tmp_path / "b", "-n", "20")
    other = sheet(folder, case, tmp_path / "c", "-n", "20", "--seed", "1")
    assert {line[case.unit] for line in lines} != {line[case.unit] for line in other}


def test_answers_enter_rows_manifest_and_card(
    sample_build: Built, case: Case, tmp_path: Path
) -> None:
    folder = sample_build(case.suite)
    lines = sheet(folder, case, tmp_path / "a", "-n", "12")
    known = asked_in(folder, case)
    right = answered(lines, known, case)
    # Of the first there is no majority, the second is wrong, the last was left open by one.
    first = [right[0], another(right[1], known, case), *right[2:]]
    second = [another(right[0], known, case), first[1], *right[2:-1], {**right[-1], "answer": ""}]
    paths = (write(tmp_path / "Ann.jsonl", first), write(tmp_path / "Bob.jsonl", second))
    manifest = rebuilt(case, tmp_path / "out", *paths)
    of_splits = manifest["configs"][case.config]["quality"].values()
    (human,) = (quality["human"] for quality in of_splits if "human" in quality)
    assert (human["judged"], human["annotators"]) == (12, 2)
    score, *groups = human["scores"]
    assert (score["group"], score["n"], score["score"]) == ("", 12, round(10 / 12, 4))
    assert (score["no_majority"], score["cannot_tell"]) == (1, 0)
    assert score["ci_low"] < score["score"] < score["ci_high"]
    agreeing = {own["group"]: (own["n"], own["score"]) for own in groups if "agree" in own["group"]}
    assert agreeing == {
        "annotators who agree=1": (1, 0.0),
        "annotators who agree=all": (10, round(9 / 10, 4)),
    }
    assert 0 < human["kappa"] < 1
    assert (human["units"], len(human["answers_sha256"])) == (11, 2)

    card = dataset_card(manifest)
    (row,) = (line for line in card.splitlines() if line.startswith(f"| `{case.config}`"))
    assert "| 83.3 [" in row
    assert "No items were annotated" not in card
    assert not re.search(r"\n\n\n", card)
    rows = [
        row
        for path in sorted((tmp_path / "out/data" / case.config).glob("*.parquet"))
        for row in parquet_rows(path)
    ]
    said = Counter(row["human_ok"] for row in rows)
    assert (said[True], said[False]) == (10, 2)
    if case.kind == "documents":
        judged = [row for row in rows if row["human_ok"] is not None]
        assert sum(len(row["human"]) for row in rows) == 23
        assert all(
            row["human_ok"] == ({*row["human"]} == {row["intruder_position"]}) for row in judged
        )
    # What people said changes no text: the same sheet is drawn, and its answers are known.
    assert asked_in(tmp_path / "out", case) == known
    again = rebuilt(case, tmp_path / "again", *reversed(paths))
    assert again == manifest


def test_without_answers_a_build_is_as_it_was(case: Case, tmp_path: Path) -> None:
    manifest = rebuilt(case, tmp_path / "out")
    assert "human" not in json.dumps(manifest["configs"])
    assert "people are right" not in dataset_card(manifest)


@pytest.mark.parametrize(
    ("change", "message", "reason"),
    [
        ({"text": "x"}, "", ""),
        ({"id": "0" * 16}, "is of no row of this build", "of no row of"),
        ({"id": "x"}, "answers.jsonl:1: 'x' is no ", "no "),
        ({"answer": "perhaps"}, "answers.jsonl:1: answer is 'perhaps', expected ", "no such"),
        ({"answer": ["no"]}, "answers.jsonl:1: answer is no text", "no text"),
        ({"less_coherent": "a"}, "a field 'less_coherent', expected only", "unknown field"),
        ({"annotator": "Ann"}, "answers.jsonl:2: ", "answered twice"),
    ],
)
def test_what_is_no_answer_is_refused_or_counted(
    case: Case,
    change: dict[str, Any],
    message: str,
    reason: str,
    sample_build: Built,
    tmp_path: Path,
) -> None:
    folder = sample_build(case.suite)
    known = asked_in(folder, case)
    (line,) = answered(sheet(folder, case, tmp_path / "a", "-n", "1"), known, case)
    if "id" in change:
        change = {case.unit: change["id"]}
    lines = [{**line, **change}]
    if "annotator" in change:
        lines *= 2
    path = write(tmp_path / "answers.jsonl", lines)
    if not message:
        assert rebuilt(case, tmp_path / "out", path)
        return
    with pytest.raises(CorpusError) as raised:
        rebuilt(case, tmp_path / "out", path)
    assert message in str(raised.value)
    assert "expected" in str(raised.value)
    matcher = Matcher([path], skip_bad_rows=True)
    for asked in known.values():
        matcher.votes(asked)
    matcher.check()
    assert re.search(rf"judgements left out: 1, .*{reason}", matcher.lines()[-1])


def test_kinds_are_named_and_the_first_is_the_default(
    sample_build: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(sample_build("intruder_sentences"))
    for kind, file in (("", "pairs.jsonl"), ("documents", "documents.jsonl")):
        named = ["--kind", kind] if kind else []
        assert main([folder, *named, "--output", str(tmp_path / file), "-n", "2"]) == 0
        other = "items" if kind else "documents"
        assert f"the build also has {other}: --kind {other}" in capsys.readouterr().out
        assert (tmp_path / file / file).is_file()
    assert main([folder, "--kind", "spans"]) == 2
    assert "no spans; expected items, spans, documents, examples, of which it has items and " in (
        one_line(capsys.readouterr().err)
    )


def test_spans_have_equally_many_of_each_answer_and_one_of_a_text(
    sample_build: Built, tmp_path: Path
) -> None:
    case = Case("spans", "span_coherence", "intruder_sample")
    folder = sample_build(case.suite)
    known = asked_in(folder, case)
    lines = sheet(folder, case, tmp_path / "a", "-n", "20")
    assert Counter(known[line["span"]].right for line in lines) == {("yes",): 10, ("no",): 10}


def document(number: int, position: int, *human: int) -> Document:
    sentences = tuple(f"Sentence {place} of {number}." for place in range(4))
    extra = {"human": list(human), "probe": ""}
    return Document(f"d{number}", sentences, position, f"d{number}", "toy", extra)


def test_answers_that_a_corpus_has_give_figures_and_further_ones_are_added(tmp_path: Path) -> None:
    documents = [document(0, 2, 2, 2, 2, -1, 1), document(1, 3, -1, -1, -1, -1), document(2, -1)]
    place = RowPlace("toy", "released", "test", {})
    rows: list[dict[str, Any]] = [{"human": list(d.extra["human"])} for d in documents]
    before = json.dumps(rows)
    known = judge_rows(None, place, RELEASED, documents, rows)
    assert json.dumps(rows) == before
    assert (known["judged"], known["annotators"]) == (2, None)
    assert {own["group"]: own["score"] for own in known["scores"]} == {
        "": 0.5,
        "annotators who agree=3": 1.0,
        "annotators who agree=all": 0.0,
        "at least 3 annotators agree": 0.5,
    }
    asked = [one for d in documents for one in asked_of("documents", place, d)]
    assert [one.right for one in asked] == [("3",), ("4",), ("none",)]
    assert [*asked[0].question.answers] == ["none", "2", "3", "4"]  # the first is never one
    answers = [
        {"document": asked[0].id, "answer": "2"},
        {"document": asked[2].id, "answer": "None"},
    ]
    matcher = Matcher([write(tmp_path / "a.jsonl", answers)])
    more = judge_rows(matcher, place, RELEASED, documents, rows)
    assert [row["human"] for row in rows] == [[2, 2, 2, -1, 1, 1], [-1, -1, -1, -1], [-1]]
    assert [row["human_ok"] for row in rows] == [False, False, True]
    assert (more["judged"], more["annotators"]) == (3, 1)


def example(label: str, *also: str) -> LabelledExample:
    slots = (Slot(("One", "two")), Slot(("Three",)))
    return LabelledExample("e", slots, (), (-1, -1), label, "d", "toy", also)


def test_an_example_is_asked_by_its_labels() -> None:
    about = {"summary": "which", "features": {"label": {"names": ["A", "B", "C"]}}}
    place = RowPlace("toy", "c", "test", about)
    (asked,) = asked_of("examples", place, example("B", "A"))
    assert asked.question.text == "Which answer is right? (which)"
    assert asked.question.answers == {"A": "A", "B": "B", "C": "C"}
    assert asked.right == ("B", "A")
    assert asked.texts == (("", ("1. One … two", "2. Three")),)
    named = RowPlace("toy", "c", "test", {**about, "regions": ["Arg1", "Arg2"]})
    (asked,) = asked_of("examples", named, example("B", "A"))
    assert asked.texts == (("", ("Arg1: One … two", "Arg2: Three")),)


def test_the_score_is_over_the_headline_and_groups_are_by_prediction(tmp_path: Path) -> None:
    config = replace(SUITE.configs[0], headline="main", breakdowns=("moved",))
    place = RowPlace("toy", "c", "test", {})
    items = [
        Item(
            item_id=f"d{number}/x",
            item_number=number,
            conditions=tuple(Condition(n, f"{n} {number}.", (Region(1, n),)) for n in "ab"),
            predictions=(Prediction("(1;%b%) > (1;%a%)", "mean", groups),),
            discourse_id=f"d{number // 2}",
            corpus="toy",
            extra={"moved": number % 2 == 0},
        )
        for number, groups in enumerate([("row", "main")] * 6 + [("row", "aside")] * 4)
    ]
    asked = [one for item in items for one in asked_of("items", place, item)]
    lines = [{"pair": one.id, "answer": "ab"[one.right == ("b",)]} for one in asked[:6]]
    lines += [{"pair": one.id, "answer": "ba"[one.right == ("b",)]} for one in asked[6:]]
    rows: list[dict[str, Any]] = [{} for _ in items]
    figures = judge_rows(Matcher([write(tmp_path / "a", lines)]), place, config, items, rows)
    scores = {own["group"]: (own["n"], own["score"]) for own in figures["scores"]}
    assert scores == {
        "": (6, 1.0),
        "moved=true": (3, 1.0),
        "moved=false": (3, 1.0),
        "row": (10, 0.6),
        "main": (6, 1.0),
        "aside": (4, 0.0),
    }
    assert figures["scores"][0]["n_discourses"] == 3
    assert [row["human_ok"] for row in rows] == [True] * 6 + [False] * 4


@pytest.mark.parametrize(
    ("votes", "most"),
    [("a", "a"), ("ab", None), ("aab", "a"), ("aabb", None), ("aabc", None)],
)
def test_a_majority_is_more_than_half(votes: str, most: str | None) -> None:
    (asked,) = asked_of("documents", RowPlace("toy", "c", "test", {}), document(0, 2))
    assert JudgedRow(document(0, 2), asked, dict(enumerate(votes))).verdict == most
