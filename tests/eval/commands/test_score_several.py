"""Several models and datasets in one call: each read once, one overview at the end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line, without_progress
from support.hub.server import HubServer
from support.runs import renamed_suite

from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.results.folder import run_name, told_apart
from coherencegym.eval.run.options import ModelOptions
from coherencegym.files.folders import CHECKSUMS


@pytest.fixture
def suites(tmp_path: Path, pair_items: list[Item], write_dataset: Callable[..., Path]) -> Path:
    """A folder of two builds, of one without items, and of something else."""
    for name in ("one", "two"):
        made = write_dataset(tmp_path / "suites" / name, pair_items[:3], extra={"moved": "bool"})
        renamed_suite(made, name)
    (tmp_path / "suites/other").mkdir()
    (tmp_path / "suites/vectors").mkdir()
    manifest = {"configs": {"relation_x": {"kind": "examples"}}}
    (tmp_path / "suites/vectors/manifest.json").write_text(json.dumps(manifest))
    return tmp_path / "suites"


def test_a_folder_of_suites_ends_in_one_overview(
    suites: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    loads = []
    real = ModelOptions.load

    def counted(arguments: Any, *more: Any, **known: Any) -> object:
        loads.append(arguments)
        return real(arguments, *more, **known)

    monkeypatch.setattr(ModelOptions, "load", counted)
    words = ["score", "--model", "demo", "--dataset", str(suites), "--no-cache"]
    words += ["--output", str(tmp_path / "out")]
    assert main(words) == 0
    printed = capsys.readouterr()
    # A line a dataset: what takes no time has none.
    assert re.findall(r"^(.+) items", printed.err, re.M) == ["one--demo: 3", "two--demo: 3"]
    assert without_progress(printed.err) == ""
    assert len(loads) == 1
    assert printed.out.count("demo is above chance on") == 1
    assert "|rows:" not in printed.out  # the signatures are in the reports
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("one--demo", "overview", "two--demo"),
    ]
    page = (tmp_path / "out/overview/index.html").read_text()
    assert 'href="../one--demo/report.html"' in page
    (tmp_path / "out/two--demo/results.json").unlink()
    assert main(words) == 2
    assert "one--demo exists; name another folder" in capsys.readouterr().err
    (tmp_path / "out/two--demo/notes.txt").write_text("mine")
    assert main([*words, "--overwrite"]) == 2
    assert "notes.txt is not of the earlier output" in capsys.readouterr().err
    (tmp_path / "out/two--demo/notes.txt").unlink()
    (tmp_path / "out/notes.txt").write_text("mine")
    assert main([*words, "--overwrite"]) == 0
    assert (tmp_path / "out/two--demo/results.json").is_file()
    assert (tmp_path / "out/notes.txt").read_text() == "mine"
    # A page that somebody has worked on.
    (tmp_path / "out/overview/index.html").write_text("mine")
    assert main([*words, "--overwrite"]) == 2
    assert "index.html was changed since" in capsys.readouterr().err
    assert (tmp_path / "out/overview/index.html").read_text() == "mine"


def test_an_overview_of_earlier_runs(
    suites: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["score", "--model", "demo", "--dataset", str(suites), "--no-cache"]
    assert main([*words, "--output", str(out)]) == 0
    first = capsys.readouterr().out
    again = ["overview", str(out), "--output", str(tmp_path / "again")]
    assert main(again) == 0
    second = capsys.readouterr().out
    assert second.partition("written to")[0] == first.partition("written to")[0]
    page = (tmp_path / "again/index.html").read_text()
    assert 'href="../out/one--demo/report.html"' in page
    assert main(again) == 2
    assert "again exists; name another folder" in capsys.readouterr().err
    assert main([*again, "--overwrite"]) == 0
    # What killed runs and builds have left is neither.
    shutil.copytree(out / "one--demo", out / ".one--demo-0123abcd")
    results = out / ".one--demo-0123abcd" / "results.json"
    results.write_text(results.read_text().replace('"name": "demo"', '"name": "killed"'))
    shutil.copytree(suites / "one", suites / ".one-0123abcd")
    capsys.readouterr()
    assert main([*words, "--output", str(out), "--overwrite"]) == 0
    assert capsys.readouterr().out == first
    assert main([*again, "--overwrite"]) == 0
    assert capsys.readouterr().out == second
    shutil.rmtree(suites / ".one-0123abcd")
    run = str(out / "one--demo")
    assert main(["overview", str(out), "--output", run, "--overwrite"]) == 2
    assert "one--demo: expected two folders, neither inside" in capsys.readouterr().err
    # A run that is named besides its folder is there once; nothing is written unasked.
    assert main(["overview", str(out / "one--demo"), str(out)]) == 0
    capsys.readouterr()
    assert main(["overview", str(suites)]) == 2
    assert "expected a folder that coherencegym score wrote" in capsys.readouterr().err
    # One that is broken does not keep the others from being shown.
    (out / "one--demo/results.json").write_text("{")
    assert main(["overview", str(out)]) == 0
    printed = capsys.readouterr()
    assert "one--demo/results.json:1: not JSON" in one_line(printed.err)
    assert re.search(r"^two ", printed.out, re.M)
    assert main(["overview", str(out / "one--demo"), str(out / "two--demo")]) == 2
    assert capsys.readouterr() == printed
    assert main(["overview", str(out / "one--demo")]) == 2
    assert one_line(capsys.readouterr().err).startswith("coherencegym overview: ")


def test_datasets_without_pairs_are_left_out_beside_others(
    suites: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", "--model", "demo", "--no-cache", "--output", str(tmp_path / "out")]
    named = [str(suites / name) for name in ("one", "vectors")]
    assert main([*words, "--dataset", *named]) == 0
    left_out = f"left out, as it has no minimal pairs: {suites / 'vectors'}\n"
    assert without_progress(capsys.readouterr().err) == left_out
    assert main([*words[:-1], str(tmp_path / "other"), "--dataset", named[1]]) == 2
    assert "vectors': manifest.json: no 'format'" in capsys.readouterr().err
    beside = [*words[:-1], str(tmp_path / "beside")]
    assert main([*beside, "--dataset", named[0], str(suites / "misspelt")]) == 2
    assert "misspelt': no such folder" in capsys.readouterr().err


def test_a_model_that_is_not_there_is_said_before_any_is_run(
    suites: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", "--model", "demo", "/nonexistent/model", "--dataset", str(suites / "one")]
    assert main([*words, "--output", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert "/nonexistent/model" in printed.err
    assert printed.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_two_runs_of_one_folder_are_refused_before_any_is_run(
    suites: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", "--model", "demo", "--dataset", str(suites / "one"), f"{suites / 'one'}/"]
    assert main([*words, "--output", str(tmp_path / "out")]) == 2
    assert "two runs would be written there" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_datasets_and_models_of_one_name_have_folders_that_tell_them_apart(
    suites: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        shutil.copytree(suites / "one", tmp_path / name / "one")
    monkeypatch.chdir(tmp_path)
    assert main(["score", "--model", "demo", "--dataset", "a/one", "b/one", "--output", "out"]) == 0
    assert {path.parent.name for path in Path("out").glob("*/results.json")} == {
        "a__one--demo",
        "b__one--demo",
    }
    (tmp_path / "c" / "a").mkdir(parents=True)
    assert told_apart(["a", "c/a", "b", "you/b"]) == {
        "a": f"{tmp_path.name}__a",
        "c/a": "c__a",
        "b": "b",
        "you/b": "you__b",
    }
    assert told_apart(["a", "a/"]) == {"a": "a", "a/": "a"}


def test_a_run_of_several_that_is_stopped_leaves_whole_folders_and_goes_on(
    suites: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from coherencegym.eval import surprisal
    from coherencegym.eval.tasks.score import scored_table

    real, asked = surprisal.surprisals, []

    def stop_at_the_second(*given: Any, **how: Any) -> Any:
        asked.append(given)
        if len(asked) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return real(*given, **how)

    monkeypatch.setattr(scored_table, "surprisals", stop_at_the_second)
    cache = ["--cache", str(tmp_path / "cache"), "--verbose"]
    words = ["score", "--model", "demo", "--dataset", str(suites), *cache]
    words += ["--output", str(tmp_path / "out")]
    assert main(words) == 143
    done, last = capsys.readouterr().err.splitlines()
    assert done.partition(" in ")[0] == "one--demo: 3 items"
    assert last == "coherencegym score: stopped; nothing half-written is left"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["one--demo"]
    assert (tmp_path / "out/one--demo/report.html").is_file()
    assert main(words) == 2
    assert "one--demo exists; name another folder" in capsys.readouterr().err
    assert main([*words, "--overwrite"]) == 0
    # What the first one had asked was not asked again.
    known = re.findall(r"([\d,]+) of ([\d,]+) texts were cached", capsys.readouterr().out)
    assert len(known) == 2
    assert all(cached == texts for cached, texts in known)
    folders = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert folders == ["one--demo", "overview", "two--demo"]


def test_another_model_joins_the_first_in_one_folder_and_overview(
    suites: Path, tmp_path: Path, save_model: Any, make_tokenizer: Any, capsys: Any
) -> None:
    other, out = str(save_model(tmp_path / "other", tokenizer=make_tokenizer())), tmp_path / "out"
    words = ["score", "--dataset", str(suites), "--no-cache", "--output", str(out), "--model"]
    assert main([*words, "demo"]) == 0
    first = (out / "one--demo/results.json").stat().st_mtime_ns
    # Another task on the same suite is no score of it.
    content = json.loads((out / "two--demo/results.json").read_text())
    (out / "two--demo--detect").mkdir()
    (out / "two--demo--detect/results.json").write_text(json.dumps({**content, "task": "detect"}))
    alone = [*words, "demo"]
    alone[2] = str(suites / "one")
    assert main([*words, other]) == 0
    index = out / "overview/index.html"
    page, table = index.read_text(), (out / "overview/overview.md").read_text()
    assert "| suite | items | " in table
    for name in ("one--demo", "two--demo", "one--other", "two--other"):
        assert f'href="../{name}/report.html"' in page
        assert f"{name}/" in table
    assert "--detect" not in page
    assert (out / "one--demo/results.json").stat().st_mtime_ns == first
    # One run alone is one among the others, too.
    shutil.rmtree(out / "one--demo")
    assert main(alone) == 0
    assert index.read_text().count("/report.html") == page.count("/report.html")
    capsys.readouterr()
    # Results are in the way, and so is a folder that is none of ours.
    assert main([*words, other, "--limit", "2"]) == 2
    assert "one--other exists; name another folder" in capsys.readouterr().err
    (out / "overview" / CHECKSUMS).unlink()
    shutil.rmtree(out / "one--other")
    shutil.rmtree(out / "two--other")
    assert main([*words, other]) == 2
    assert f"overview is not replaced: it has no {CHECKSUMS}" in capsys.readouterr().err
    assert not (out / "one--other").exists()


@pytest.fixture
def training(
    hub_clients: HubServer, tmp_path: Path, make_tokenizer: Callable[..., Any], save_model: Any
) -> HubServer:
    """``me/model`` on the Hub, whose revisions step10, step200 and main have other weights each."""
    from transformers import AutoModelForCausalLM

    folder = save_model(tmp_path / "model", tokenizer=make_tokenizer())
    model = AutoModelForCausalLM.from_pretrained(folder)
    for tag in ("step10", "step200", "last"):
        model.get_input_embeddings().weight.data += 0.05
        model.save_pretrained(folder)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        hub_clients.seed("me/model", files, tag)
    return hub_clients


def test_each_revision_is_a_run_of_its_own(
    training: HubServer, suites: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["score", "--model", "me/model", "--dataset", str(suites / "one"), "--output", str(out)]
    words += ["--no-cache", "--model-revision", "step200", "step10", "step200"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert without_progress(printed.err) == ""
    folders = sorted(path.name for path in out.iterdir())
    assert folders.pop() == "overview"
    assert folders == ["one--me__model@step10", "one--me__model@step200"]
    found = [json.loads((out / name / "results.json").read_text()) for name in folders]
    assert [one["settings"]["model_revision"] for one in found] == ["step10", "step200"]
    assert len({one["model"]["commit"] for one in found}) == 2
    assert [one["model"]["name"] for one in found] == ["me/model", "me/model"]
    assert "<h1><bdi>me/model@step10 on " in (out / folders[0] / "report.html").read_text()
    # A sentence is of the last checkpoint, and the files have all of them.
    assert printed.out.count("is above chance on") == 1
    assert "model@step200 is above chance on" in printed.out
    for name in ("model@step10", "model@step200"):
        assert name in (out / "overview/overview.md").read_text()
    assert main(["plot", *map(str, out.glob("[!.]*")), "--output", str(tmp_path / "plots")]) == 0
    for folder in (out / "overview", tmp_path / "plots"):
        assert "<!-- me/model@step* -->" in (folder / "curve.svg").read_text()
        assert (folder / "curve.png").is_file()
    drawn = (tmp_path / "plots/scores.svg").read_text()
    assert "<!-- model@step10 -->" in drawn
    assert "<!-- model@step200 -->" in drawn
    assert main(["overview", str(out)]) == 0
    assert "model@step200 is above chance on" in capsys.readouterr().out


def test_a_revision_that_is_not_there_is_said_before_any_is_run(
    training: HubServer, suites: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", "--model", "me/model", "--dataset", str(suites / "one")]
    words += ["--output", str(tmp_path / "out"), "--model-revision", "step10", "step11"]
    assert main(words) == 2
    assert "model 'me/model' at 'step11'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*words[:-1], "step200", "--model-arg", "revision=step10"]) == 2
    said = "--model-arg revision=step10 and --model-revision step200: expected one of them"
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_revision_alone_is_in_the_name_of_the_folder(
    training: HubServer, suites: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["score", "--model", "me/model", "--dataset", "suites/one", "--no-cache"]
    assert main([*words, "--model-revision", "step10"]) == 0
    assert main([*words, "--model-revision", "step200"]) == 0
    assert main(words) == 0
    assert sorted(path.name for path in Path("results").iterdir()) == [
        *("one--me__model", "one--me__model@step10", "one--me__model@step200"),
    ]


@pytest.mark.parametrize(
    ("more", "folder"),
    [
        ({}, "one--me__model"),
        ({"masking": "within_word_l2r"}, "one--me__model"),
        ({"scorer": "pll"}, "one--me__model--pll"),
        ({"scorer": "mntp", "model_revision": "step10"}, "one--me__model@step10--mntp"),
        ({"scorer": "pll", "masking": "original"}, "one--me__model--pll--original"),
        ({"task": "spans", "scorer": "prompt"}, "one--me__model--spans--prompt"),
    ],
)
def test_ways_of_scoring_have_folders_of_their_own(more: dict[str, str], folder: str) -> None:
    how = (more.get(name, "") for name in ("task", "scorer", "masking"))
    revision = more.get("model_revision")
    assert run_name("one", "me/model", *how, revision=revision) == folder
