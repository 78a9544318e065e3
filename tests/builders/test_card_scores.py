"""Scores in a card: held to the rows of the build, published, and dropped with their rows."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import build_command, one_line
from support.hub.server import HubServer

from coherencegym.builders.command.cli import main as build_main
from coherencegym.builders.release.publish import publishable
from coherencegym.cards.scores import PLOT, ModelScore, scores_markdown
from coherencegym.eval.commands.cli import main as evaluate

REPO = "coherencegym/story_cloze"
#: A build whose rows are few, and which a public push takes.
FEW = ("--corpus", "sample", "--limit", 21, "--push-to-hub", "--allow-partial")
BUILD = ("--corpus", "sample", "--limit", 21, "--overwrite")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the demo model on a build of 21 stories, and on its first five rows."""
    folder = tmp_path_factory.mktemp("scored")
    assert build_command("story_cloze", *BUILD, "--output", folder / "data") == 0
    run = ["score", "--model", "demo", "--dataset", str(folder / "data"), "--no-cache"]
    assert evaluate([*run, "--output", str(folder / "runs" / "whole")]) == 0
    assert evaluate([*run, "--limit", "5", "--output", str(folder / "part")]) == 0
    return folder / "runs"


def card(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def test_the_card_opens_with_the_plot_and_says_what_was_scored(
    scored: Path, tmp_path: Path
) -> None:
    # A folder of several runs stands for those in it.
    for name, results in (("one", scored / "whole"), ("two", scored)):
        argv = (*BUILD, "--output", tmp_path / name, "--scores", results)
        assert build_command("story_cloze", *argv) == 0
    opening = card(tmp_path / "one").partition("## Dataset Details")[0]
    head = json.loads((scored / "whole" / "results.json").read_text())["headline"]
    baselines = ("partial_input_score", "lexical_overlap_score", "surface_score")
    keys = ("score", "ci_low", "ci_high", *baselines)
    value, low, high, partial_input, overlap, surface = (f"{100 * head[key]:.1f}" for key in keys)
    image = "![Scores of demo on Story cloze with 95 % intervals, by config](assets/scores.png)"
    line = (
        f"- **demo**: CD {value} % [{low}, {high}] (sample, n = {head['n']}); "
        f"partial-input baseline {partial_input} %; lexical-overlap baseline {overlap} %; "
        f"surface baseline {surface} %; chance 50.0 %"
    )
    pair, use = opening.index("> *"), opening.index("pip install coherencegym")
    assert pair < opening.index(f"{image}\n\n{line}\n\nScore a model") < use
    plots = [(tmp_path / name / PLOT).read_bytes() for name in ("one", "two")]
    assert plots[0].startswith(b"\x89PNG")
    assert plots[0] == plots[1]
    assert card(tmp_path / "one") == card(tmp_path / "two")
    # A build that is not asked for scores has none.
    assert "assets" not in card(scored.parent / "data")


def test_scores_of_other_rows_are_refused_in_one_line(
    scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(suite: str, results: Path, limit: int = 21) -> str:
        capsys.readouterr()
        out = tmp_path / "out"
        argv = ("--corpus", "sample", "--limit", limit, "--output", out, "--scores", results)
        assert build_command(suite, *argv) == 2
        assert not out.exists()
        return one_line(capsys.readouterr().err)

    whole = scored / "whole"
    assert "sample (test) has other rows in this build; expected results on" in refused(
        "story_cloze", whole, 20
    )
    assert "results on story_cloze; expected on winograd" in refused("winograd", whole)
    assert "results of --limit 5; expected those of all rows" in refused(
        "story_cloze", scored.parent / "part"
    )
    (tmp_path / "in").mkdir()
    assert "expected a folder that coherencegym score wrote" in refused(
        "story_cloze", tmp_path / "in"
    )
    assert "neither inside the other" in refused("story_cloze", tmp_path)
    elsewhere = shutil.copytree(whole, tmp_path / "elsewhere")
    results = json.loads((whole / "results.json").read_text())
    about = results["dataset"] | {"tables": [results["dataset"]["tables"][0] | {"config": "x"}]}
    (elsewhere / "results.json").write_text(json.dumps(results | {"dataset": about}))
    assert "x (test) is not in this build" in refused("story_cloze", elsewhere)
    (elsewhere / "results.json").write_text(json.dumps(results | {"headline": None}))
    assert "no headline score" in refused("story_cloze", elsewhere)


def test_of_several_suites_each_takes_its_own(scored: Path, tmp_path: Path) -> None:
    names = ["story_cloze", "winograd"]
    argv = [*names, *map(str, BUILD), "--output", str(tmp_path), "--scores", str(scored)]
    assert build_main(argv) == 0
    assert [(tmp_path / name / PLOT).exists() for name in names] == [True, False]


def test_a_push_has_them_in_its_commit_and_they_go_with_their_rows(
    scored: Path,
    hub_clients: HubServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    def push(*argv: object) -> str:
        capsys.readouterr()
        assert build_command("story_cloze", *FEW, "--overwrite", *argv) == 0
        return capsys.readouterr().out

    with_scores = ("--scores", scored)
    assert f"add {PLOT}" in push(*with_scores, "--dry-run")
    push(*with_scores)
    files = hub_clients.files(REPO)
    assert len(hub_clients.commits(REPO)) == 2
    assert files[PLOT] == Path("suites/story_cloze", PLOT).read_bytes()
    assert f"]({PLOT})" in files["README.md"].decode()
    assert "nothing to do" in push(*with_scores)
    # A build without scores, maybe on another machine, leaves those of the same rows.
    assert "nothing to do" in push()
    assert "no file changes" in push("--dry-run")
    out = push("--limit", 22, "--version", "5.1.0")
    assert f"delete {PLOT}" in out
    files = hub_clients.files(REPO)
    assert PLOT not in files
    assert PLOT not in files["README.md"].decode()
    assert "scores" not in json.loads(files["manifest.json"])


def test_damaged_scores_at_the_head_are_one_line(
    scored: Path,
    hub_clients: HubServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert build_command("story_cloze", *FEW, "--scores", scored) == 0
    manifest = json.loads(hub_clients.files(REPO)["manifest.json"])
    manifest["scores"]["models"][0]["score"] = 7
    hub_clients.seed(REPO, {"manifest.json": json.dumps(manifest).encode()})
    capsys.readouterr()
    assert build_command("story_cloze", *FEW, "--overwrite") == 2
    assert f"{REPO}/manifest.json: scores.models[0].score: 7" in one_line(capsys.readouterr().err)


MODEL = ModelScore("me/x", "c", "AUC", 0.75, None, None, None, 0.9, None, "context", 1200)


def manifest_with(*models: ModelScore) -> dict[str, Any]:
    def config(republishable: bool, content_hash: str) -> dict[str, Any]:
        splits = {"test": {"content_hash": content_hash}}
        open_licence = {"licences": {"CC0-1.0": 1}, "corpus": {"licence": "CC0-1.0"}}
        return {"republishable": republishable, "splits": splits, **open_licence}

    tables = [{"config": name, "split": "test", "content_hash": name * 3} for name in ("a", "b")]
    return {
        "title": "Toy",
        "configs": {"a": config(True, "aaa"), "b": config(False, "bbb"), "c": config(True, "")},
        "scores": {"models": [asdict(model) for model in models], "tables": tables},
    }


def test_scores_on_what_may_not_be_published_are_not() -> None:
    manifest = manifest_with(MODEL)
    assert publishable(manifest, private=True)[0] == manifest
    assert "scores" not in publishable(manifest, private=False)[0]
    manifest["configs"]["b"]["republishable"] = True
    assert "scores" in publishable(manifest, private=False)[0]
    manifest["configs"]["b"]["splits"]["test"]["content_hash"] = "other"
    assert "scores" not in publishable(manifest, private=False)[0]


def test_a_name_is_no_markdown_and_what_is_not_known_is_left_out() -> None:
    text = scores_markdown(manifest_with(MODEL, replace(MODEL, model="<b>\n# [x](y)")))
    lines = text.splitlines()
    assert lines[2] == "- **me/x**: AUC 75.0 % (context, n = 1,200); human performance 90.0 %"
    assert lines[3].startswith(r"- **\<b\> \# \[x\](y)**: AUC")
    assert lines[0].count("](") == 2  # of the image, and of the name in it, which is no link
    assert len(lines) == 4
    assert not scores_markdown({"title": "Toy"})
