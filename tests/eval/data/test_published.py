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
from coherencegym.eval.report.grid import rich_block
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.tasks.score.published import published_block, published_title

ROW = {
    "config": "context",
    "row": "",
    "model": "GPT-X",
    "score": 0.625,
    "source": "A and B 2021, Table 2",
    "corpus": "toy",
}


def built_from(corpus: str, *configs: str) -> dict[str, Any]:
    """The part of a manifest that says what its configs were built from."""
    return {"configs": {name: {"corpus": {"name": corpus}} for name in configs}}


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
    rows = [ROW | {"config": c} for c in ("context", "text", "", "full")]
    manifest = {"published": rows, **built_from("toy", "toy_context", "full", "toy_outcontext")}
    for config, expected in (("toy_context", ["context", ""]), ("full", ["", "full"])):
        assert [row.config for row in published(manifest, [config])] == expected
    assert [row.config for row in published(manifest, ["toy_outcontext"])] == [""]


def test_only_scores_on_the_corpus_of_the_config_are_shown() -> None:
    def of(corpus: str, row: dict[str, Any] = ROW) -> int:
        manifest = {"published": [row], **built_from(corpus, "context")}
        return len(published(manifest, ["context"]))

    assert (of("toy"), of("pdtb"), of("sample")) == (1, 0, 0)
    # A manifest of an earlier release does not say which corpus a score is on, and one that is
    # no build's not what its rows are from.
    without = {name: value for name, value in ROW.items() if name != "corpus"}
    assert (of("toy", without), len(published({"published": [ROW]}, ["context"]))) == (0, 0)
    # Two corpora in one dataset: a config of each, and the score is beside its own.
    both = built_from("toy", "toy_context")["configs"] | built_from("b", "b_context")["configs"]
    manifest = {"published": [ROW | {"corpus": "b"}], "configs": both}
    assert not published(manifest, ["toy_context"])
    assert len(published(manifest, ["toy_context", "b_context"])) == 1


def printed(mode: str = "", width: int = 120) -> str:
    from rich.console import Console

    rows = [
        Published("context", "as_[causal] → since", "GPT-X", 0.625, "A and B 2021, Table 2"),
        Published("context", "as_[causal] → since", "Dialog-X", 1.0, "A and B 2021, Table 2"),
        Published("all", "", "Dialog-X", 0.5, "A and B 2021, Table 3"),
    ]
    file = io.StringIO()
    Console(file=file, width=width).print(
        rich_block(published_block(rows, published_title(mode)), width)
    )
    return file.getvalue()


def test_a_row_for_each_row_of_the_paper_and_a_column_for_each_model() -> None:
    lines = [line.strip() for line in printed().splitlines() if line.strip()]
    title, head, _, first, second = lines
    assert title == (
        "published, % (same corpus, syntaxgym-2021 mode; not comparable with the figures above)"
    )
    assert head.split() == ["config,", "row", "GPT-X", "Dialog-X", "source"]
    assert first == "context, as_[causal] → since   62.5     100.0  A and B 2021, Table 2"
    assert second.split() == ["all", "–", "50.0", "A", "and", "B", "2021,", "Table", "3"]


def test_in_the_mode_of_the_paper_they_may_be_compared() -> None:
    assert "comparable where the model is the same" in printed("syntaxgym-2021")
    assert "not comparable" not in printed("syntaxgym-2021")


def test_a_run_shows_and_keeps_them(
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = write_dataset(
        tmp_path / "data",
        pair_items,
        extra={"moved": "bool"},
        corpus={"name": "toy", "title": "Toys", "public_since": 1999},
    )
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["published"] = [
        ROW,
        ROW | {"config": "elsewhere", "model": "Another-X"},
        ROW | {"corpus": "pdtb", "model": "Another-X"},
    ]
    path.write_text(json.dumps(manifest))
    arguments = ["--model", "demo", "--dataset", str(folder), "--output", str(tmp_path / "out")]
    assert main(arguments) == 0
    folded = capsys.readouterr().out
    (hidden,) = (line for line in folded.split("\n· ") if line.startswith("not shown: "))
    assert "published scores, " in hidden
    assert "GPT-X" not in folded
    # Cautions stand there unasked, and are read back with what they are.
    assert "fewer than 30 items (!)" in folded
    run = read_results(tmp_path / "out")
    no_better, *others = (note.text for note in run.notes if note.kind == "caution")
    assert f"This does not speak for the model: {no_better}" in folded
    # That of few items is in the verdict.
    assert [text for text in others if not text.startswith("! ")] == [
        line.removeprefix("· ") for line in folded.splitlines() if line.startswith("· ")
    ][:-1]
    assert main([*arguments, "--overwrite", "--verbose"]) == 0
    text = capsys.readouterr().out
    assert "not comparable with the figures above" in text
    assert "GPT-X" in text
    assert "Another-X" not in text
    assert (
        "texts public since 1999 (Toys); the model: its training data are unknown; the model may "
        "have been trained on these texts"
    ) in " ".join(text.split())
    assert json.loads((tmp_path / "out/results.json").read_text())["published"] == [ROW]
    manifest["published"][0]["score"] = -1
    path.write_text(json.dumps(manifest))
    assert main([*arguments, "--overwrite"]) == 2
    error = capsys.readouterr().err
    assert "manifest.json: published[0].score: -1; expected at least 0" in error
    assert error.count("\n") == 1
