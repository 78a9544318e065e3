"""What a manifest quotes from papers, and how it is shown."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.data.source import Published, find_dataset, published
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.views.grid import rich_block
from coherencegym.eval.views.table import published_block

ROW = {
    "config": "context",
    "row": "",
    "model": "GPT-X",
    "score": 0.625,
    "source": "A and B 2021, Table 2",
}


def test_a_manifest_without_published_scores_has_none() -> None:
    assert published({}, ["context"]) == ()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (ROW | {"score": "0.5"}, '[0].score: "0.5"; expected a number'),
        (ROW | {"score": True}, "[0].score: true; expected a number"),
        (ROW | {"score": 62.5}, "[0].score: 62.5; expected at most 1"),
        (ROW | {"score": math.nan}, "NaN stands in it"),
        (ROW | {"model": None}, "[0].model: null; expected a string"),
        (ROW | {"source": ["x"]}, "[0].source: an array; expected a string"),
        ("x", '[0]: "x"; expected an object'),
        ({"config": "c"}, "[0]: no 'row'"),
    ],
)
def test_a_bad_entry_is_refused(wrong: Any, said: str, tmp_path: Path) -> None:
    manifest = {"format": 1, "configs": {}, "published": [wrong]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(EvaluationError) as error:
        find_dataset(str(tmp_path))
    assert said in str(error.value)


def test_only_scores_of_configs_that_were_scored_are_shown() -> None:
    manifest = {"published": [ROW | {"config": c} for c in ("context", "text", "", "full")]}
    for config, expected in (("sample_context", ["context", ""]), ("full", ["", "full"])):
        assert [row.config for row in published(manifest, [config])] == expected
    assert not published({"published": [ROW]}, ["sample_outcontext"])


def test_the_embedded_sample_has_no_published_scores() -> None:
    def of(corpus: str) -> int:
        about = {"context": {"corpus": {"name": corpus}}}
        return len(published({"published": [ROW], "configs": about}, ["context"]))

    assert (of("pdtb"), of("sample")) == (1, 0)


def printed(mode: str = "", width: int = 120) -> str:
    from rich.console import Console

    rows = [
        Published("context", "as_[causal] → since", "GPT-X", 0.625, "A and B 2021, Table 2"),
        Published("context", "as_[causal] → since", "Dialog-X", 1.0, "A and B 2021, Table 2"),
        Published("all", "", "Dialog-X", 0.5, "A and B 2021, Table 3"),
    ]
    file = io.StringIO()
    Console(file=file, width=width).print(rich_block(published_block(rows, mode), width))
    return file.getvalue()


def test_a_row_for_each_row_of_the_paper_and_a_column_for_each_model() -> None:
    lines = [line.strip() for line in printed().splitlines() if line.strip()]
    title, head, _, first, second = lines
    assert title == (
        "published, % (original corpora, syntaxgym-2021 mode; "
        "not comparable with the figures above)"
    )
    assert head.split() == ["config,", "row", "GPT-X", "Dialog-X", "source"]
    assert first == "context, as_[causal] → since   62.5     100.0  A and B 2021, Table 2"
    assert second.split() == ["all", "–", "50.0", "A", "and", "B", "2021,", "Table", "3"]


def test_in_the_mode_of_the_paper_they_may_be_compared() -> None:
    assert "comparable where corpus and model are the same" in printed("syntaxgym-2021")
    assert "not comparable" not in printed("syntaxgym-2021")


def test_a_run_shows_and_keeps_them(
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = write_dataset(tmp_path / "data", pair_items, extra={"moved": "bool"})
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["published"] = [ROW, ROW | {"config": "elsewhere", "model": "Another-X"}]
    path.write_text(json.dumps(manifest))
    arguments = ["--model", "demo", "--dataset", str(folder), "--output", str(tmp_path / "out")]
    assert main(arguments) == 0
    folded = capsys.readouterr().out
    assert "1 published score: --verbose shows them" in folded
    assert "GPT-X" not in folded
    assert main([*arguments, "--overwrite", "--verbose"]) == 0
    text = capsys.readouterr().out
    assert "not comparable with the figures above" in text
    assert "GPT-X" in text
    assert "Another-X" not in text
    assert json.loads((tmp_path / "out/results.json").read_text())["published"] == [ROW]
    manifest["published"][0]["score"] = -1
    path.write_text(json.dumps(manifest))
    assert main([*arguments, "--overwrite"]) == 2
    error = capsys.readouterr().err
    assert "manifest.json: published[0].score: -1; expected at least 0" in error
    assert error.count("\n") == 1
