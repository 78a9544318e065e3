"""Spans for people to judge: drawn blind, one of a text, and answers compared with the dataset."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line

from coherencegym.builders.command.cli import main
from coherencegym.builders.judgement.span_draw import SPAN_LINES, SPAN_SHEET, drawn_spans
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.spans import SPANS
from coherencegym.files.parquet_rows import parquet_rows

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
    assert page.count("Content-Security-Policy") == page.count("default-src 'none'") == 1
    for kind in ("script", "style"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in page
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


def rows_of(folder: Path, config: str) -> list[dict[str, Any]]:
    return [
        row
        for path in sorted((folder / "data" / config).glob("*.parquet"))
        for row in parquet_rows(path)
    ]


def test_answers_enter_rows_manifest_and_card(folder: Path, tmp_path: Path) -> None:
    chosen = ("-n", "20", "--config", "contradiction_sample", "intruder_sample")
    lines = sheet(folder, tmp_path / "a", *chosen)
    known = golds(folder)
    right = [{**line, "answer": known[line["span"]]} for line in lines]
    other = {"yes": "no", "no": "yes"}
    wrong = [{**right[0], "answer": other[right[0]["answer"]]}, *right[1:]]
    # Of the first span there is no majority, of the second most cannot tell, the last is open.
    wrong[1] = {**wrong[1], "answer": "can't tell"}
    second = [right[0], wrong[1], *({**line, "answer": ""} for line in right[2:])]
    paths = [
        *(write(tmp_path / "a.jsonl", wrong), write(tmp_path / "b.jsonl", second)),
    ]
    build = ("span_coherence", "--corpus", "sample", "--output", str(tmp_path / "out"))
    assert main([*build, "--judgements", *paths]) == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    configs = {"contradiction_sample", "intruder_sample"}
    human = [
        quality["human"]
        for name in sorted(configs)
        for quality in manifest["configs"][name]["quality"].values()
        if "human" in quality
    ]
    assert sum(own["spans"] for own in human) == 20
    assert sum(round(own["agree"] * own["spans"]) for own in human) == 18
    assert sum(own["cant_tell"] for own in human) == 1
    assert sum(own["no_majority"] for own in human) == 1
    # One answer of 21 is another than the dataset's, in one split; others agree fully, or say one
    # thing only.
    assert sum(own["kappa"] not in (1.0, None) for own in human) == 1
    card = (tmp_path / "out" / "README.md").read_text()
    assert "### Human judgement" in card
    assert "answered as the dataset does" in card
    said = [
        row["human_ok"]
        for config in configs
        for row in rows_of(tmp_path / "out", config)
        if row["human_ok"] is not None
    ]
    assert (said.count(True), said.count(False)) == (18, 2)
    # What people said changes no text: the same sheet is drawn, and its answers are known.
    assert golds(tmp_path / "out") == known


def test_answers_to_other_texts_stop_a_build(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {**sheet(folder, tmp_path / "a", "-n", "1")[0], "answer": "no"}
    changed = write(tmp_path / "x.jsonl", [{**line, "span": "0" * 8 + line["span"][8:]}])
    build = ("span_coherence", "--corpus", "sample", "--output", str(tmp_path / "out"))
    capsys.readouterr()
    assert main([*build, "--judgements", changed]) == 2
    assert "x.jsonl:1: span '00000000-" in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
    assert main([*build, "--judgements", changed, "--skip-bad-rows"]) == 0
    assert "judgements left out: 1, its span is none of this build's" in capsys.readouterr().out


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
