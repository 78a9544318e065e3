"""``coherencegym plot``: from folders of results to figures, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line

from coherencegym.eval.commands.cli import main
from coherencegym.eval.commands.results import _notes
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.results.folder import read_results, run_folders
from coherencegym.eval.tasks.results import Results
from coherencegym.files.folders import CHECKSUMS


@pytest.fixture(scope="module")
def results(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
    make_item: Callable[..., Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """A folder of results of a suite that replaces connectives."""
    folder = tmp_path_factory.mktemp("plots")
    save_model(folder / "model")
    items = [
        make_item(
            {"original": ["It rained", "as", text], "since": ["It rained", "since", text]},
            "(3;%since%) > (3;%original%)",
            item_id=f"d{number}/x",
            groups=("as_causal → since", "same sense"),
        )
        for number, text in enumerate(("we left.", "Tim was sad.", "the dog ran."))
    ]
    data = write_dataset(folder / "data", items, "toy", headline="same sense")
    words = ["--model", str(folder / "model"), "--dataset", str(data), "--device", "cpu"]
    assert main([*words, "--output", str(folder / "first")]) == 0
    assert main([*words, "--output", str(folder / "second"), "--limit", "2"]) == 0
    return folder


def test_a_run_writes_its_plots(results: Path) -> None:
    assert sorted(path.name for path in (results / "first").iterdir()) == [
        CHECKSUMS,
        "outcomes.parquet",
        "regions.parquet",
        "report.html",
        "results.json",
        "run.yaml",
        "systems.parquet",
        "units.parquet",
    ]


def test_results_are_read_back_as_they_were_written(results: Path) -> None:
    run = read_results(results / "first")
    document = json.loads((results / "first" / "results.json").read_text())
    assert isinstance(run, Results)
    for score, written in zip(run.rows, document["scores"], strict=True):
        assert asdict(score) == {name: written[name] for name in asdict(score)}
    assert run.model_name == document["model"]["name"]
    assert run.signature == document["signature"]
    assert set(run.digests) == {("toy", "test")}


def test_options_that_only_one_task_has_are_no_difference(results: Path) -> None:
    first, second = (read_results(results / name) for name in ("first", "second"))
    probe = replace(second, task="probe")
    assert _notes([first, probe]) == []
    assert _notes([first, second, probe]) == ["the runs of score differ in --limit: null, 2"]


@pytest.mark.usefixtures("real_figures")
def test_end_to_end(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "figures"
    words = ["plot", str(results / "first"), str(results / "second"), "--output", str(output)]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "the runs differ in --limit: null, 2" in printed.out
    assert sorted(path.name for path in output.iterdir()) == [
        CHECKSUMS,
        "scores.png",
        "scores.svg",
    ]
    assert main(words) == 2
    assert "--overwrite" in one_line(capsys.readouterr().err)
    before = (output / "scores.svg").read_bytes()
    assert main([*words, "--overwrite"]) == 0
    assert (output / "scores.svg").read_bytes() == before


def test_results_are_never_overwritten_by_plots(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(results / "first")
    assert main(["plot", folder, "--output", folder, "--overwrite"]) == 2
    assert "neither inside the other" in one_line(capsys.readouterr().err)
    assert (results / "first" / "results.json").exists()


def test_what_the_user_can_mend_is_one_line(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, what in (
        ([str(tmp_path / "none")], "no such folder"),
        ([str(results / "data")], "no results.json in it"),
    ):
        assert main(["plot", *words, "--output", str(tmp_path / "out")]) == 2
        assert what in one_line(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        (("scores",), 3, "scores: 3; expected an array"),
        (("scores",), [], "scores: an empty array; expected at least one"),
        (("scores", 0), "x", 'scores[0]: "x"; expected an object'),
        (("scores", 0, "score"), "high", 'scores[0].score: "high"; expected a number'),
        (("scores", 0, "score"), 7, "scores[0].score: 7; expected at most 1"),
        (("scores", 0, "n"), 1.5, "scores[0].n: 1.5; expected a whole number"),
        (("scores", 0, "n"), True, "scores[0].n: true; expected a whole number"),
        (("scores", 0, "config"), None, "scores[0].config: null; expected a string"),
        (("scores", 0, "margin_mean"), 10**400, "expected a number that is smaller"),
        (("model",), [], "model: an array; expected an object"),
        (("dataset", "tables", 0), {}, "dataset.tables[0]: no 'config'"),
        (("differences",), {}, "differences: an object; expected an array"),
        (("settings",), [], "settings: an array; expected an object"),
    ],
)
def test_results_of_another_kind_are_refused_with_the_place(
    path: tuple[Any, ...],
    value: Any,
    what: str,
    results: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = json.loads((results / "first" / "results.json").read_text())
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "results.json").write_text(json.dumps(document))
    assert main(["plot", str(tmp_path / "in"), "--output", str(tmp_path / "out")]) == 2
    line = one_line(capsys.readouterr().err)
    assert what in line
    assert str(tmp_path / "in" / "results.json") in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", ["", "[1", "[]", '{"a": NaN}', '{"scores": 1}'])
def test_a_file_that_is_no_results_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "results.json").write_text(content)
    assert main(["plot", str(tmp_path / "in"), "--output", str(tmp_path / "out")]) == 2
    assert "results.json" in one_line(capsys.readouterr().err)


def test_intervals_of_another_release_are_said(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old"
    old.mkdir()
    document = json.loads((results / "first" / "results.json").read_text())
    del document["settings"]["intervals"]
    (old / "results.json").write_text(json.dumps(document))
    output = ["--output", str(tmp_path / "figures"), "--overwrite"]
    assert main(["plot", str(results / "first"), *output]) == 0
    assert "intervals of another release" not in capsys.readouterr().out
    assert main(["plot", str(results / "first"), str(old), *output]) == 0
    printed = capsys.readouterr().out
    assert f"intervals of another release, which are not comparable: {old}; evaluate" in printed


def test_results_of_an_older_release_are_read(results: Path, tmp_path: Path) -> None:
    """Fields that came later are missing, and such as went are there."""
    document = json.loads((results / "first" / "results.json").read_text())
    for score in document["scores"]:
        for name in ("human_score", "human_n", "metric", "chance", "counts"):
            del score[name]
        score["gone"] = 1
    del document["differences"]
    (tmp_path / "results.json").write_text(json.dumps(document))
    score = read_results(tmp_path).rows[0]
    assert score.human_score is None
    assert (score.human_n, score.counts, score.metric) == (0, {}, "CD score")


def test_a_folder_of_runs_is_each_of_them(tmp_path: Path) -> None:
    for name in ("results/one", "results/two", "alone"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "results.json").touch()
    (tmp_path / "results" / "overview").mkdir()
    results, alone = tmp_path / "results", tmp_path / "alone"
    runs = [results / "one", results / "two"]
    assert run_folders([results, alone]) == [*runs, alone]
    assert run_folders(sorted(results.iterdir())) == runs
    assert run_folders([alone, alone / ".." / "alone"]) == [alone]
    assert run_folders([results / "overview"]) == [results / "overview"]
