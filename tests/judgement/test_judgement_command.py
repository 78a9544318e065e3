"""From a build to a sheet, and from answers to a build, as a user goes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.annotators import (
    always_a,
    answered,
    at_random,
    fill,
    incoherent_texts,
    perfect,
)
from support.commands import build_command, one_line
from support.suites import no_classifiers

from coherencegym.builders.command.cli import main as build
from coherencegym.builders.judgement.questions import main
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.files.folders import CHECKSUMS, checksums, write_checksums

Built = Callable[[str], Path]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in an empty folder, and find no corpus of the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def command(*argv: object) -> int:
    try:
        return main([str(argument) for argument in argv])
    except SystemExit as stopped:  # the parser's
        return int(stopped.code or 0)


def rebuild(suite: str, *argv: object, classified: bool = False) -> int:
    """Build the sample, without partial-input baselines where the test looks at none of them."""
    with pytest.MonkeyPatch.context() as patched:
        if not classified:
            no_classifiers(patched)
        return build_command(suite, "--corpus", "sample", *argv)


@pytest.fixture
def built(sample_build: Built, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a build of the sample in the folder for builds."""

    def copy(suite: str) -> Path:
        folder = Path(shutil.copytree(sample_build(suite), tmp_path / "suites" / suite))
        write_checksums(checksums(folder), folder / CHECKSUMS)
        return folder

    return copy


def manifest(folder: str = "suites/story_cloze") -> dict[str, Any]:
    read = json.loads(Path(folder, "manifest.json").read_text())
    assert isinstance(read, dict)
    return read


def human(config: str = "sample", folder: str = "suites/story_cloze") -> dict[str, Any]:
    figures = manifest(folder)["configs"][config]["quality"]["test"]["human"]
    assert isinstance(figures, dict)
    return figures


def overall(figures: dict[str, Any]) -> dict[str, Any]:
    (score,) = (score for score in figures["scores"] if score["group"] == "")
    assert isinstance(score, dict)
    return score


def test_perfect_annotators_from_the_build_to_the_card_and_the_evaluator(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("story_cloze")
    worse = incoherent_texts(folder, "distractor_ending")
    rows_before = (folder / "data/sample/test-00000-of-00001.parquet").read_bytes()
    assert command(folder, "--config", "sample", "-n", 40) == 0
    said = capsys.readouterr().out
    assert "40 pairs (sample 40)" in said
    pairs = Path("judgements/story_cloze/pairs.jsonl")
    files = [fill(pairs, perfect(worse), Path(f"{name}.jsonl")) for name in ("Quentin", "Ruth")]
    given = ("--judgements", *files, "--overwrite")
    assert rebuild("story_cloze", *given, classified=True) == 0
    said = capsys.readouterr().out
    assert "judgements: 80 answers\n" in said
    assert "human" in said
    assert re.search(r"^sample \(default\), test .* 100\.0 \[91\.2, 100\.0\]", said, re.MULTILINE)

    figures = human()
    assert (figures["judged"], figures["annotators"]) == (40, 2)
    assert (figures["alpha"], figures["units"], figures["kappa"]) == (1.0, 40, 1.0)
    score = overall(figures)
    assert (score["score"], score["n"]) == (1.0, 40)
    assert score["ci_low"] == pytest.approx(0.025 ** (1 / 40), abs=1e-4)  # exact, at p = 1
    assert "Quentin" not in json.dumps(manifest())

    card = Path("suites/story_cloze/README.md").read_text()
    assert "A low one: people are right in 100.0 [91.2, 100.0] % of `sample`." in card
    assert "No items were annotated" not in card
    assert not re.search(r"\n\n\n", card)

    from datasets import load_dataset

    data = load_dataset("suites/story_cloze", "sample", cache_dir="cache")["test"]
    assert data.features["human_ok"].dtype == "bool"
    assert sum(value is True for value in data["human_ok"]) == 40
    assert sum(value is None for value in data["human_ok"]) == data.num_rows - 40
    without = data.remove_columns("human_ok").to_list()
    from pyarrow import BufferReader, parquet

    assert without == parquet.read_table(BufferReader(rows_before)).to_pylist()

    dataset = ["--dataset", "suites/story_cloze", "--config", "sample"]
    assert evaluate(["--model", "demo", *dataset, "--output", "r", "--verbose"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^sample .* 100\.0 \(40\) ", shown, re.MULTILINE)
    assert "(sample 40 pairs)" in shown
    said = " ".join(shown.split())
    assert ", human performance 100.0 [91.2, 100.0] (n = 40); plain CD " in said
    (first, *_) = json.loads(Path("r/results.json").read_text())["scores"]
    assert (first["human_score"], first["human_n"]) == (1.0, 40)
    assert first["human_ci_low"] == score["ci_low"]


def test_whoever_always_says_a_is_at_chance_and_is_not_lost(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("story_cloze")
    assert command(folder, "--config", "sample", "-n", 150, "--output", "s") == 0
    answers = fill(Path("s/pairs.jsonl"), always_a, Path("a.jsonl"))
    assert rebuild("story_cloze", "--judgements", answers, "--overwrite") == 0
    score = overall(human())
    assert score["ci_low"] < 0.5 < score["ci_high"]
    assert (human()["alpha"], human()["units"]) == (None, 0)
    few = ("story_cloze", "--limit", 9, "--overwrite")
    capsys.readouterr()
    assert rebuild(*few) == 2
    assert "expected --judgements with the files of answers, or" in one_line(
        capsys.readouterr().err
    )
    assert overall(human()) == score
    assert rebuild(*few, "--prune") == 0


def test_two_configs_of_the_same_texts_share_answers(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("winograd")
    right = perfect(incoherent_texts(folder, "distractor"))
    assert command(folder, "-n", 8, "--config", "sample_full") == 0
    turns = iter(range(8))

    def annotator(line: dict[str, Any]) -> dict[str, Any]:
        number, answer = next(turns), right(line)["answer"]
        return answered(line, ["", "cannot tell", "ba"["ab".index(answer)], answer][min(number, 3)])

    answers = fill(Path("judgements/winograd/pairs.jsonl"), annotator, Path("a.jsonl"))
    assert rebuild("winograd", "--judgements", answers, "--overwrite") == 0
    assert "judgements: 7 answers, 1 pairs left open\n" in capsys.readouterr().out
    for config in ("sample_full", "sample_partial"):
        score = overall(human(config, "suites/winograd"))
        assert (score["n"], score["cannot_tell"], score["score"]) == (7, 1, round(5 / 7, 4))
    groups = {score["group"] for score in human("sample_partial", "suites/winograd")["scores"]}
    assert "region3_has_words=true" in groups


def test_a_majority_of_three_decides(capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--limit", 30)
    assert rebuild("story_cloze", *few) == 0
    folder = Path("suites/story_cloze")
    worse = incoherent_texts(folder, "distractor_ending")
    assert command(folder, "--config", "sample", "-n", 20) == 0
    pairs = Path("judgements/story_cloze/pairs.jsonl")
    right = perfect(worse)

    def wrong(line: dict[str, Any]) -> dict[str, Any]:
        return answered(line, "b" if right(line)["answer"] == "a" else "a")

    def silent(line: dict[str, Any]) -> dict[str, Any]:
        return answered(line, "cannot tell")

    for voters, score, no_majority in (
        ((right, right, wrong), 1.0, 0),
        ((right, wrong, wrong), 0.0, 0),
        ((right, wrong), 0.0, 20),
        ((right, silent), 0.0, 20),
        ((right, right, silent), 1.0, 0),
    ):
        files = [fill(pairs, voter, Path(f"{i}.jsonl")) for i, voter in enumerate(voters)]
        assert rebuild("story_cloze", *few, "--judgements", *files, "--overwrite") == 0
        found = overall(human())
        assert (found["score"], found["no_majority"]) == (score, no_majority)


def test_the_same_answers_give_the_same_bytes_in_any_order(built: Built) -> None:
    folder = built("winograd")
    assert command(folder, "-n", 30) == 0
    pairs = Path("judgements/winograd/pairs.jsonl")
    files = [fill(pairs, at_random(seed), Path(f"{seed}.jsonl")) for seed in range(3)]
    for output, given in (("one", files), ("two", files[::-1])):
        assert rebuild("winograd", "--judgements", *given, "--output", output) == 0
    found = sorted(path.relative_to("one") for path in Path("one").rglob("*") if path.is_file())
    for path in found:
        assert Path("one", path).read_bytes() == Path("two", path).read_bytes(), path


def test_answers_about_something_else_are_refused_or_counted(
    built: Built, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = built("story_cloze")
    before = (folder / "manifest.json").read_bytes()
    assert command(folder, "--config", "sample", "-n", 3) == 0
    lines = Path("judgements/story_cloze/pairs.jsonl").read_text().splitlines()
    known, unknown = json.loads(lines[0])["pair"], "0" * 16
    made = [{"pair": pair, "answer": "a"} for pair in (known, unknown)]
    Path("a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in made))
    argv = ("--judgements", "a.jsonl", "--overwrite")
    capsys.readouterr()
    assert rebuild("story_cloze", *argv) == 2
    message = one_line(capsys.readouterr().err)
    said = f"coherencegym build story_cloze: a.jsonl:2: pair {unknown} is of no row of this build,"
    assert message.startswith(said)
    assert (folder / "manifest.json").read_bytes() == before
    assert not list(tmp_path.glob("suites/.*"))
    assert rebuild("story_cloze", *argv, "--skip-bad-rows") == 0
    said = capsys.readouterr().out
    assert "judgements: 1 answers\n" in said
    assert "judgements left out: 1, its pair is of no row of this build\n" in said
    assert human()["judged"] == 1


def test_without_judgements_nothing_is_different(sample_build: Built) -> None:
    assert rebuild("story_cloze", classified=True) == 0
    assert "human" not in json.dumps(manifest())
    ours = Path("suites/story_cloze/README.md").read_text()
    assert "### Human performance" not in ours
    assert "No items were annotated" in ours
    assert ours == (sample_build("story_cloze") / "README.md").read_text()


def test_a_sheet_is_never_overwritten(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    folder = built("story_cloze")
    assert command(folder, "--config", "sample", "-n", 3) == 0
    assert {p.name for p in Path("judgements/story_cloze").iterdir()} == {
        CHECKSUMS,
        "pairs.jsonl",
        "sheet.html",
    }
    capsys.readouterr()
    assert command(folder, "--config", "sample", "-n", 3) == 2
    assert "name another folder with --output" in one_line(capsys.readouterr().err)


def test_a_build_with_a_filled_sheet_in_it_is_not_replaced(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("story_cloze")
    assert command(folder, "--output", folder / "sheets") == 2
    assert "neither inside the other" in one_line(capsys.readouterr().err)
    (folder / "answers-1.jsonl").write_text("{}")
    assert rebuild("story_cloze", "--judgements", folder / "answers-1.jsonl", "--overwrite") == 2
    assert "answers-1.jsonl is not of the earlier output" in one_line(capsys.readouterr().err)
    assert (folder / "answers-1.jsonl").read_text() == "{}"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["nowhere"], "nowhere: no manifest.json; expected the folder"),
        (["BUILD", "--config", "sampel", "--output", "new"], "no config 'sampel'; expected one of"),
        (["BUILD"], "judgements/story_cloze exists; name another folder with --output"),
    ],
)
def test_mistakes_are_one_line(
    built: Built, capsys: pytest.CaptureFixture[str], argv: list[str], said: str
) -> None:
    folder = str(built("story_cloze"))
    Path("judgements/story_cloze").mkdir(parents=True)
    assert command(*(folder if word == "BUILD" else word for word in argv)) == 2
    assert said in one_line(capsys.readouterr().err)
    assert not list(Path("judgements/story_cloze").iterdir())


def test_a_damaged_build_is_one_line(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    folder = built("story_cloze")
    (folder / "manifest.json").write_text("{")
    assert command(folder) == 2
    assert "manifest.json:1: not JSON" in one_line(capsys.readouterr().err)


def test_judgements_are_about_one_suite(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        build(["--all", "--judgements", "a.jsonl"])
    assert "answers are about one suite" in capsys.readouterr().err


def test_a_missing_file_stops_before_anything_is_built(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert rebuild("story_cloze", "--judgements", "a.jsonl") == 2
    assert "a.jsonl" in one_line(capsys.readouterr().err)
    assert not Path("suites").exists()
