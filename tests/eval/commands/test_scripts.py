"""Commands in scripts: tables in formats for papers, numbers for programs, and runs from files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyarrow import csv as arrow_csv
from pyarrow import parquet
from support.commands import one_line
from support.runs import score

from coherencegym.__main__ import main
from coherencegym.eval.kinds.items import Item

#: A model's folder, with signs that formats obey.
MODEL = "50%_of&it|x"


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    save_model: Callable[..., Path],
) -> Path:
    """Results of two models on one suite."""
    made = tmp_path_factory.mktemp("scripts")
    save_model(made / MODEL)
    data = write_dataset(made / "toy", pair_items, extra={"moved": "bool"})
    for name, model in (("one", "demo"), ("two", str(made / MODEL))):
        score(data, model, made / "results" / name)
    return made


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[str, str]:
    """Standard output and error of a command."""
    capsys.readouterr()
    assert main([str(word) for word in words]) == 0
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_an_overview_in_every_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overview = ["overview", folder / "results", "--format"]
    saved = [
        json.loads((folder / "results" / n / "results.json").read_text()) for n in ("one", "two")
    ]
    heads = {Path(one["model"]["name"]).name: one["headline"] for one in saved}
    found = json.loads(said(capsys, *overview, "json")[0])
    assert {one["model"] for one in found} == {"demo", MODEL}
    for one in found:
        names = ("n", "score", "ci_low", "ci_high", "chance", "partial_input_score")
        assert {n: one[n] for n in names} == {n: heads[one["model"]][n] for n in names}
    rows = list(csv.DictReader(io.StringIO(said(capsys, *overview, "csv")[0])))
    assert [{k: "" if v is None else str(v) for k, v in one.items()} for one in found] == rows
    table, _ = said(capsys, *overview, "table")
    assert table == said(capsys, "overview", folder / "results")[0]
    markdown, _ = said(capsys, *overview, "markdown")
    assert r"50%\_of&it\|x" in markdown
    assert "\n|---|---|" in markdown
    latex, _ = said(capsys, *overview, "latex")
    assert r"50\%\_of\&it\textbar{}x" in latex
    for sign in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert latex.count(sign) == 1
    (head,) = (line for line in latex.splitlines() if line.startswith("suite &"))
    assert latex.count(r"\\" + "\n") == 2
    assert rf"\begin{{tabular}}{{l{'r' * head.count(' & ')}}}" in latex


def test_files_are_said_beside_a_format(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [folder / "results", "--format", "json", "--output", tmp_path / "out"]
    plain, _ = said(capsys, "overview", folder / "results", "--format", "json")
    by_model = {one["model"]: one for one in json.loads(plain)}
    out, err = said(capsys, "overview", *words)
    assert {one["model"]: one for one in json.loads(out)} == by_model
    assert "written to" in err
    assert (tmp_path / "out/index.html").is_file()


def test_a_comparison_writes_the_values_of_each_item(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", folder / "results/one", folder / "results/two"]
    for name in ("items.csv", "items.parquet"):
        said(capsys, *words, "--items", tmp_path / name)
        table = (arrow_csv.read_csv if name.endswith("csv") else parquet.read_table)(
            tmp_path / name
        )
        rows = [row for row in table.to_pylist() if row["metric"] == "accuracy"]
        (own,) = json.loads(said(capsys, *words, "--format", "json")[0])[1:]
        assert len({row["item"] for row in rows}) == len(rows) == own["n"]
        for side, field in (("reference", "baseline_score"), ("model", "score")):
            values = [row[f"value_{side}"] for row in rows]
            assert sum(values) / len(values) == pytest.approx(own[field])
    for place, error in (
        (tmp_path / "items.csv", "is there already; expected a new file"),
        (tmp_path / "items.txt", "expected a file that ends in .csv or .parquet"),
        (tmp_path / "nowhere/items.csv", "in a folder that is there"),
        (folder / "results/one/items.csv", "--items"),
    ):
        assert main([str(word) for word in [*words, "--items", place]]) == 2
        assert error in one_line(capsys.readouterr().err)
        assert not list(tmp_path.rglob("*.part"))
    assert not (folder / "results/one/items.csv").exists()


def test_a_comparison_in_every_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", folder / "results/one", folder / "results/two"]
    found = json.loads(said(capsys, *words, "--format", "json")[0])
    assert {one["model"] for one in found} == {MODEL}
    assert [one["level"] for one in found] == ["headline", "all"]
    rows = list(csv.DictReader(io.StringIO(said(capsys, *words, "--format", "csv")[0])))
    assert [row["p_holm"] for row in rows] == [str(one["p_holm"]) for one in found]
    latex, _ = said(capsys, *words, "--format", "latex")
    assert r"\textbf{toy\_context} & \textbf{8 !}" in latex
    assert r"difference [95 \% interval]" in latex
    assert "| config |" in said(capsys, *words, "--format", "markdown")[0]


def test_results_on_standard_output(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", "--dataset", folder / "toy", "--no-cache", "--json", "--model", "demo"]
    out, err = said(capsys, *words, "--output", tmp_path / "one")
    found = json.loads(out)
    assert found == json.loads((tmp_path / "one/results.json").read_text())
    assert "toy_context" in err
    assert f"written to {tmp_path / 'one'}" in err
    out, err = said(capsys, *words, folder / MODEL, "--output", tmp_path / "two")
    assert [one["model"]["name"] for one in json.loads(out)] == ["demo", str(folder / MODEL)]
    assert json.loads(out)[0]["scores"] == found["scores"]


def written(path: Path, **content: Any) -> Path:
    """A file of runs."""
    path.write_text(yaml.safe_dump(content))
    return path


def test_a_file_of_runs_is_the_command_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["demo", str(folder / MODEL)]
    options: dict[str, Any] = {"config": ["toy_context"], "limit": 2, "truncate": True}
    options |= {"tokens": False, "bos": "never", "no_cache": True}
    about = {"model": models, "dataset": str(folder / "toy"), **options}
    path = written(tmp_path / "runs.yaml", **about, output=str(tmp_path / "out"))
    found = json.loads(said(capsys, "run", path, "--json", "--limit", 3)[0])
    words = ["--model", *models, "--dataset", folder / "toy", "--config", "toy_context", "--limit"]
    words += ["3", "--truncate", "--bos", "never", "--no-cache", "--output", tmp_path / "shell"]
    assert json.loads(said(capsys, "score", *words, "--json")[0]) == found
    assert [one["settings"]["max_items"] for one in found] == [3, 3]
    assert (tmp_path / "out/overview/overview.md").is_file()


def test_results_have_the_file_that_makes_them_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["demo", str(folder / MODEL)]
    words = ["score", "--dataset", folder / "toy", "--no-cache", "--limit", "0005", "--quiet"]
    said(
        capsys, *words, "--output", tmp_path / "out", "--config", "toy_context", "--model", *models
    )
    for model in models:
        run = tmp_path / "out" / f"toy--{Path(model).name}"
        again = tmp_path / "again" / run.name
        saved = yaml.safe_load((run / "run.yaml").read_text())
        assert saved == {
            "task": "score",
            "model": model,
            "dataset": str(folder / "toy"),
            "config": ["toy_context"],
            "limit": 5,
            "no_cache": True,
            "output": str(run),
        }
        said(capsys, "run", run / "run.yaml", "--output", again)
        for name in ("results.json", "outcomes.parquet", "regions.parquet"):
            assert (again / name).read_bytes() == (run / name).read_bytes()
        signature = json.loads((run / "results.json").read_text())["signature"]
        assert (again / "run.yaml").read_text().startswith(f"# {signature}\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("models: demo", "no option 'models'; expected one of"),
        ("- demo", "an array; expected model, dataset"),
        ("1: demo", "an object; expected model, dataset"),
        ("model: {a: b}", "score: {'a': 'b'} is of type dict; expected a model id"),
        ("model: [demo", ":1: not YAML: expected ',' or ']'"),
        ("model: demo\ntask: scor", "task: no task 'scor'; expected one of score, detect"),
        ("model: demo\ntask: [score]", "task: no task ['score']; expected one of score, detect"),
        ("model: demo\ndtyp: float32", "did you mean 'dtype'?"),
        ("model: demo\ntruncate: sure", 'truncate: "sure"; expected true or false'),
        ("model: demo\noutput: 7", "output: 7; expected a path as text"),
        ("model: demo\ndtype: [float32, auto]", "dtype: an array; expected a string"),
        ("model: [demo, gpt2]\ntask: correlate\ndataset: x", "several models; expected one"),
        ("model: demo\ndtype: f", "dtype='f'; expected one of 'auto', 'float32'"),
        ("model: demo", "score: None is of type NoneType; expected a dataset's name or folder"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_line(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.yaml"
    path.write_text(content)
    assert main(["run", str(path)]) == 2
    assert message in one_line(capsys.readouterr().err)
