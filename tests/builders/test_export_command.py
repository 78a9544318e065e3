"""Exports from the command line: where they go, what is said, what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.commands import build_command, one_line
from support.hub.server import HubServer
from support.suites import no_classifiers

from coherencegym.builders.command.cli import main
from coherencegym.builders.export.__main__ import main as export_main
from coherencegym.builders.winograd import SUITE as WINOGRAD
from coherencegym.files.folders import CHECKSUMS

SAMPLE = ("--corpus", "sample", "--limit", "21", "--output", "out")
TOOLS = ("syntaxgym", "inspect")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in an empty folder, find no corpus of the user's and train no classifiers."""
    no_classifiers(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    return tmp_path


@pytest.fixture(scope="module")
def few_stories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that exports read; nobody writes into it."""
    folder = tmp_path_factory.mktemp("few") / "out"
    with pytest.MonkeyPatch.context() as patched:
        no_classifiers(patched)
        assert build_command("story_cloze", *SAMPLE[:-1], folder) == 0
    return folder


def content(folder: str) -> dict[str, bytes]:
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def exported(tool: str, dataset: object, *argv: str) -> int:
    """Run ``coherencegym export``; its exit code."""
    return export_main([tool, str(dataset), *argv])


def test_a_build_is_exported(capsys: pytest.CaptureFixture[str]) -> None:
    assert build_command("winograd", *SAMPLE) == 0
    assert exported("syntaxgym", "out", "--output", "suites_out") == 0
    assert exported("pairs", "out") == 0
    shown = capsys.readouterr().out
    assert "for SyntaxGym: 51 items in 4 suites, written to suites_out\n" in shown
    assert "as texts: 42 pairs, and 2 tasks for lm-evaluation-harness, written to" in shown
    assert set(content("suites_out")) == {
        CHECKSUMS,
        "SUITES.md",
        "items.jsonl",
        "sample_crossed-test.json",
        "sample_full-test-mean.json",
        "sample_full-test-sum.json",
        "sample_partial-test.json",
    }
    assert set(content("winograd_pairs")) == {
        CHECKSUMS,
        "PAIRS.md",
        "local.py",
        "local.yaml",
        "sample_full-test.jsonl",
        "sample_partial-test.jsonl",
        *(
            f"tasks/coherencegym_winograd/{name}"
            for name in (
                "_coherencegym_winograd.yaml",
                "_template_yaml",
                "coherencegym_winograd_sample_full_sum.yaml",
                "coherencegym_winograd_sample_partial.yaml",
                "utils.py",
            )
        ),
    }
    suite = json.loads(content("suites_out")["sample_partial-test.json"])
    manifest = json.loads(content("out")["manifest.json"])
    assert list(suite["region_meta"].values()) == manifest["configs"]["sample_partial"]["regions"]


def test_a_dry_run_says_what_would_be_written(
    few_stories: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for tool in TOOLS:
        assert exported(tool, few_stories, "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "24 items in 2 suites, would be written to story_cloze_syntaxgym\n" in shown
    assert "would be written to story_cloze_inspect\n" in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tool", TOOLS)
def test_the_same_again_needs_overwrite_and_gives_the_same_bytes(
    tool: str, few_stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(tool, few_stories, "--output", "made") == 0
    before = content("made")
    assert exported(tool, few_stories, "--output", "made", "--overwrite") == 0
    assert content("made") == before
    capsys.readouterr()
    assert exported(tool, few_stories, "--output", "made") == 2
    said = one_line(capsys.readouterr().err)
    assert said.startswith("coherencegym export: made exists; name another folder with")


@pytest.mark.parametrize("tool", [*TOOLS, "pairs", "babylm"])
def test_what_is_no_export_is_not_overwritten(
    tool: str, few_stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("all of it")
    assert exported(tool, few_stories, "--output", "mine", "--overwrite") == 2
    assert "name another folder with --output" in one_line(capsys.readouterr().err)
    assert Path("mine/thesis.txt").exists()


@pytest.mark.parametrize("place", ["out", "out/pairs", "."])
def test_folders_in_one_another_are_refused(
    place: str, few_stories: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(few_stories, "out")
    before = content("out")
    assert exported("pairs", "out", "--output", place, "--overwrite") == 2
    assert "--output" in one_line(capsys.readouterr().err)
    assert content("out") == before


def test_an_export_of_pairs_that_sums_do_not_decide_is_refused_and_says_why(
    few_stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["speaker_commitment", *SAMPLE]) == 0
    capsys.readouterr()
    for folder, reason in (
        (few_stories, "left out, sample (test): 21, metric mean, where other tools"),
        ("out", "left out, sample_contradiction (test): 7, a text holds [SEP]"),
    ):
        for tool in ("pairs", "babylm"):
            assert exported(tool, folder, "--output", "empty") == 2
            assert reason in one_line(capsys.readouterr().err)
            assert not Path("empty").exists()


def test_what_may_not_be_published_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    rows = "".join(
        f"{i},Ann ran {i}.,She fell.,It hurt.,Bob came.,He helped.,He sang.,1\n" for i in range(3)
    )
    header = (
        "InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,"
        "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding\n"
    )
    name = "cloze_test_test__spring2016 - cloze_test_ALL_test.csv"
    (tmp_path / "data" / name).write_text(header + rows)
    argv = ("--corpus", "storycloze", "--data-dir", "data", "--output", "out")
    assert build_command("sentence_order", *argv) == 0
    assert exported("pairs", "out") == 0
    shown = capsys.readouterr().out
    assert (
        "storycloze_narration_context may not be published, by its licence: what is exported of it "
        "is for yourself" in shown
    )
    report = (tmp_path / "sentence_order_pairs" / "PAIRS.md").read_text()
    assert "needs a private copy" in report


def revision(folder: str) -> str:
    text = content(folder)["tasks/coherencegym_winograd/_template_yaml"].decode()
    loaded = yaml.safe_load(text.replace("!function", ""))
    assert loaded["dataset_path"] == "coherencegym/schemas"
    return str(loaded["dataset_kwargs"]["revision"])


def test_an_earlier_build_and_a_release_are_exported(hub_clients: HubServer) -> None:
    push = ("--push-to-hub", "--allow-partial", "--repo-id", "coherencegym/schemas")
    assert build_command("winograd", *SAMPLE, *push) == 0
    tag = f"v{WINOGRAD.version}"
    release = ("coherencegym/schemas", "--revision", tag, "--output")
    assert exported("pairs", "out", "--output", "p1") == 0
    assert exported("pairs", *release, "p2") == 0
    assert exported("syntaxgym", "out", "--output", "s1") == 0
    assert exported("syntaxgym", *release, "s2") == 0
    assert b"The second command reads the published" in content("p2")["PAIRS.md"]
    assert revision("p1") == revision("p2") == tag
    local, public = content("p1"), content("p2")
    heading = f"# winograd {WINOGRAD.version} as pairs of texts\n\nFrom a local"
    assert local["PAIRS.md"].startswith(heading.encode())
    for name in ("PAIRS.md", CHECKSUMS):
        assert local.pop(name) != public.pop(name)
    assert local == public
    assert content("s1").keys() == content("s2").keys()


def with_licences(value: object) -> Callable[[Any], Any]:
    """A manifest whose first config has something else than licences."""

    def damaged(manifest: Any) -> Any:
        manifest["configs"]["sample"]["licences"] = value
        return manifest

    return damaged


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda manifest: manifest | {"suite": "../x"}, 'suite: "../x"; expected a name'),
        (with_licences(1), "manifest.json: configs.sample.licences: 1; expected an object"),
        (None, "no manifest.json; expected a build"),
    ],
)
def test_a_dataset_that_is_none_of_ours_is_one_line(
    damage: object,
    said: str,
    tool: str,
    few_stories: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(few_stories, "out")
    path = Path("out/manifest.json")
    if callable(damage):
        path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    else:
        path.unlink()
    capsys.readouterr()
    assert exported(tool, "out", "--output", "p") == 2
    assert said in one_line(capsys.readouterr().err)
    assert not Path("p").exists()


def test_changed_rows_are_not_exported(capsys: pytest.CaptureFixture[str]) -> None:
    assert build_command("story_cloze", *SAMPLE) == 0
    assert build_command("story_cloze", *SAMPLE[:2], "--limit", 20, "--output", "other") == 0
    data = "data/sample/test-00000-of-00001.parquet"
    Path("out", data).write_bytes(Path("other", data).read_bytes())
    capsys.readouterr()
    assert exported("pairs", "out") == 2
    assert "20 rows, but 21 were published" in one_line(capsys.readouterr().err)
    assert {path.name for path in Path().iterdir()} == {"out", "other"}
