"""Spans for people to judge: drawn blind, one of a text, and answers compared with the dataset."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import one_line

from coherencegym.builders.command.cli import main
from coherencegym.builders.judgement.span_draw import SPAN_LINES, SPAN_SHEET, drawn_spans
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.spans import SPANS

Built = Callable[[str], Path]


@pytest.fixture
def folder(sample_build: Built) -> Path:
    return sample_build("span_coherence")


def sheet(folder: Path, output: Path, *options: str) -> list[dict[str, Any]]:
    assert main(["sample", str(folder), "--output", str(output), *options]) == 0
    return [json.loads(line) for line in (output / SPAN_LINES).read_text().splitlines()]


def golds(folder: Path) -> dict[str, str]:
    tables = table_rows(find_dataset(str(folder)), kind=SPANS)
    found = [span for table in tables for _, span in drawn_spans("span_coherence", table)]
    assert len({span.id for span in found}) == len(found)
    return {span.id: span.gold for span in found}


def write(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_spans_are_drawn_blind_in_fair_shares(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = sheet(folder, tmp_path / "a", "-n", "40", "--config", "intruder_sample")
    assert capsys.readouterr().out.startswith("40 spans (intruder_sample 40)")
    known = golds(folder)
    counts = Counter(known[line["span"]] for line in lines)
    assert abs(counts["yes"] - counts["no"]) <= 2
    for line in lines:
        assert set(line) == {
            *("span", "number", "text", "question", "answers", "answer", "annotator", "comment")
        }
        assert (line["answer"], line["annotator"]) == ("", "")
    page = (tmp_path / "a" / SPAN_SHEET).read_text()
    assert page.count("<section") == 40
    assert "checked>" not in page
    assert lines == sheet(folder, tmp_path / "b", "-n", "40", "--config", "intruder_sample")
    other = sheet(folder, tmp_path / "c", "-n", "40", "--config", "intruder_sample", "--seed", "1")
    assert {line["span"] for line in lines} != {line["span"] for line in other}


def test_answers_are_compared_with_the_dataset(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = sheet(folder, tmp_path / "a", "-n", "20", "--config", "contradiction_sample")
    known = golds(folder)
    right = [{**line, "answer": known[line["span"]]} for line in lines]
    unsure = [{**right[0], "answer": "can't tell"}, *right[1:-1], {**right[-1], "answer": ""}]
    paths = (write(tmp_path / "a.jsonl", right), write(tmp_path / "b.jsonl", unsure))
    capsys.readouterr()
    assert main(["sample", str(folder), "--answers", *paths]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "contradiction_sample, a.jsonl: 20 of 20 answers are the dataset's; κ 1.00",
        "contradiction_sample, b.jsonl: 18 of 19 answers are the dataset's, 1 cannot tell; κ 1.00",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"span": "x"}, "answers.jsonl:1: span 'x' is none of the build's"),
        ({"answer": "perhaps"}, "answers.jsonl:1: answer is 'perhaps', expected 'yes', 'no'"),
        ({}, "answers.jsonl:2: span {span} was answered at "),
    ],
)
def test_what_is_no_answer_is_refused(
    change: dict[str, Any],
    message: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = {**sheet(folder, tmp_path / "a", "-n", "1")[0], "answer": "no"}
    path = write(tmp_path / "answers.jsonl", [{**line, **change}, line])
    capsys.readouterr()
    assert main(["sample", str(folder), "--answers", path]) == 2
    assert message.replace("{span}", line["span"]) in one_line(capsys.readouterr().err)


def test_answers_to_pairs_are_no_answers_to_spans(
    sample_build: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sample_build("story_cloze")
    assert main(["sample", str(folder), "--answers", write(tmp_path / "a.jsonl", [])]) == 2
    assert "--answers are to spans, of which it has none" in one_line(capsys.readouterr().err)
