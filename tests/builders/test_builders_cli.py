"""The builders' command line, as a user meets it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from huggingface_hub import HfApi
from support.commands import build_command, one_line
from support.forked import Fork
from support.hub.server import HubServer
from support.suites import no_classifiers

from coherencegym import library
from coherencegym.builders.command.cli import main, suite_parser
from coherencegym.builders.command.run import CheckedBuild
from coherencegym.builders.pipeline import build as module
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.builders.release.manifest import dump_manifest, write_split
from coherencegym.engines import Engine
from coherencegym.errors import EvaluationError
from coherencegym.files.folders import CHECKSUMS
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import Reading

HEADER = (
    "InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,"
    "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding\n"
)
STORY = "{i},Ann ran {i}.,She fell.,It hurt.,Bob came.,He helped.,He sang.,{right}\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in an empty folder, find no corpus of the user's and train no classifiers."""
    no_classifiers(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def storycloze(tmp_path: Path) -> Path:
    """A folder with a file as the Story Cloze test set has it."""
    folder = tmp_path / "corpora"
    folder.mkdir()
    text = HEADER + "".join(STORY.format(i=i, right=1 + i % 2) for i in range(25))
    (folder / "cloze_test_test__spring2016 - cloze_test_ALL_test.csv").write_text(text)
    return folder


def test_the_splits_that_are_there_are_built_but_for_those_of_a_name(
    storycloze: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for start, name in (
        (100, "val__spring2016 - cloze_test_ALL_val"),
        (200, "test__winter2018-cloze_test_ALL_test - 1"),
    ):
        text = HEADER + "".join(STORY.format(i=start + i, right=1 + i % 2) for i in range(25))
        (storycloze / f"cloze_test_{name}.csv").write_text(text)
    argv = ("--data-dir", storycloze, "--corpus", "storycloze", "--output", "out")
    assert build_command("story_cloze", *argv) == 0
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert list(manifest["configs"]["storycloze"]["splits"]) == ["test", "validation"]
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "default: all but those that are read only by name" in shown


def test_without_a_suite_the_suites_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    shown = capsys.readouterr().out
    assert all(name in shown for name in SUITES)


def test_an_unknown_suite_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sentence_ordr"]) == 2
    said = one_line(capsys.readouterr().err)
    assert said.startswith("coherencegym build: no suite 'sentence_ordr'; expected one of sentence")
    assert said.endswith("did you mean 'sentence_order'?\n")


def test_every_suite_shows_its_own_options() -> None:
    assert "--permutations" in suite_parser(load_suite("sentence_order")).format_help()
    assert "--permutations" not in suite_parser(load_suite("story_cloze")).format_help()


def test_a_build_says_what_it_made_and_what_it_could_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_command("story_cloze", "--limit", 30) == 0
    out, err = capsys.readouterr()
    assert err == ""  # no progress in a pipe
    assert "not built from storycloze: " in out
    assert "written to suites/story_cloze" in out
    manifest = json.loads((tmp_path / "suites/story_cloze/manifest.json").read_text())
    assert manifest["configs"]["sample"]["splits"]["test"]["rows"] == 30


def test_a_request_needs_no_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = BuildOptions(corpora=("sample",), limit=21, output=tmp_path / "out")
    manifest = CheckedBuild(load_suite("story_cloze"), options).build(Engine())
    assert capsys.readouterr().out.endswith(f"written to {tmp_path / 'out'}\n")
    assert manifest["configs"]["sample"]["splits"]["test"]["rows"] == 21
    assert (tmp_path / "out/manifest.json").read_text() == dump_manifest(manifest)
    assert CheckedBuild(load_suite("story_cloze"), options).build(Engine()) == manifest
    assert capsys.readouterr().out.endswith("out is there already, as this build makes it\n")
    assert CheckedBuild(load_suite("story_cloze"), options).build(Engine(), quiet=True)
    assert capsys.readouterr().out == ""
    with pytest.raises(EvaluationError, match="out exists"):
        CheckedBuild(load_suite("story_cloze"), replace(options, limit=20))


def test_python_publishes_as_the_command_does(hub_clients: HubServer, tmp_path: Path) -> None:
    how: dict[str, Any] = {"corpus": "sample", "limit": 4, "output": tmp_path / "out"}
    suite = load_suite("winograd")
    library.build(suite, **how, push_to_hub=True, allow_partial=True, repo_id="alice/schemas")
    assert list(hub_clients.tags("alice/schemas")) == [f"v{suite.version}"]


def test_all_suites_at_once(tmp_path: Path) -> None:
    assert main(["--all", "--corpus", "sample", "--limit", "32", "--output", "out"]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(SUITES)


def test_a_build_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--corpus", "sample", "--limit", 21, "--output", "out")
    assert build_command("story_cloze", *arguments) == 0
    folder = tmp_path / "out"
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}
    capsys.readouterr()
    assert build_command("story_cloze", *arguments) == 0
    assert "\nout is there already, as this build makes it\n" in capsys.readouterr().out
    assert before == {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in folder.rglob("*")}
    manifest = (folder / "manifest.json").read_bytes()
    assert build_command("story_cloze", *arguments, "--overwrite") == 0
    assert (folder / "manifest.json").read_bytes() == manifest
    assert (folder / "manifest.json").stat().st_ino != before[folder / "manifest.json"][0]
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == ["out"]


def test_another_build_that_is_there_is_refused_before_any_work(
    tmp_path: Path,
    storycloze: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work(*_: object, **__: object) -> NoReturn:
        raise AssertionError("built before all was checked")

    arguments = ("--limit", 21, "--output", "out", "--corpus", "sample")
    assert build_command("story_cloze", *arguments) == 0
    monkeypatch.setattr("coherencegym.builders.command.run.build", work)
    readme = tmp_path / "out/README.md"
    for suite, *words in (
        ("winograd", *arguments),
        ("story_cloze", *arguments, "--seed", 1),
        ("story_cloze", *arguments, "--limit", 20),
        ("story_cloze", *arguments, "--split", "test"),
        ("story_cloze", *arguments[:-1], "storycloze", "--data-dir", storycloze),
    ):
        capsys.readouterr()
        assert build_command(suite, *words) == 2
        said = one_line(capsys.readouterr().err)
        assert "out exists; name another folder with --output, or pass --overwrite" in said
    readme.write_text("Mine.")
    assert build_command("story_cloze", *arguments) == 2
    assert "out exists; " in one_line(capsys.readouterr().err)
    assert readme.read_text() == "Mine."


def test_a_build_of_other_files_is_refused_and_nothing_is_left(
    storycloze: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--corpus", "storycloze", "--data-dir", storycloze, "--output", "out")
    assert build_command("story_cloze", *arguments) == 0
    (file,) = storycloze.iterdir()
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    capsys.readouterr()
    assert build_command("story_cloze", *arguments) == 2
    assert "out exists; name another" in one_line(capsys.readouterr().err)
    found = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == before
    assert not list(tmp_path.glob(".out-*"))
    file.write_text("".join(lines))
    assert build_command("story_cloze", *arguments) == 0


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build_command("story_cloze", "--corpus", "sample", "--limit", 21, "--dry-run") == 0
    assert "nothing was written" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("26,A.,B.,C.,D.,E.,F.,3\n", ":27: "),
        ("26,A.,B.,C.,D.\n", ":27: "),
        ("1,A.,B.,C.,D.,E.,F.,1\n", ":27: "),
    ],
)
def test_a_bad_row_is_one_line_and_no_folder(
    storycloze: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], row: str, said: str
) -> None:
    (file,) = storycloze.iterdir()
    file.write_text(file.read_text() + row)
    arguments = ("--corpus", "storycloze", "--data-dir", storycloze, "--output", "out")
    assert build_command("story_cloze", *arguments) == 2
    line = one_line(capsys.readouterr().err)
    assert f"{file.name}{said}" in line
    assert line.endswith("; --skip-bad-rows leaves it out and goes on\n")
    assert not (tmp_path / "out").exists()
    assert build_command("story_cloze", *arguments, "--skip-bad-rows") == 0
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    entry = manifest["configs"]["storycloze"]
    assert entry["splits"]["test"]["rows"] == 25
    assert sum(entry["bad_rows"].values()) == 1


def test_suites_of_one_command_read_a_corpus_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read_files, names = Reading.read_files, []

    def counted(reading: Reading) -> Iterator[Discourse]:
        names.append(reading.corpus.native)
        return read_files(reading)

    monkeypatch.setattr(Reading, "read_files", counted)
    argv = ["coreference", "discourse_tasks", "--corpus", "sample", "--dry-run"]
    assert main(argv) == 0
    assert names.count("gum") == 1


def test_a_known_fault_of_a_release_is_put_right_and_named(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without a flag; the rows are those of the corpus without the fault."""
    data = tmp_path / "gum"
    shutil.copytree(repository / "loaders/corpora/samples/gum", data)
    (data / "sample_documents.conllu").rename(data / "en_gum-ud-train.conllu")
    arguments = ("coreference", "--corpus", "gum", "--data-dir", data, "--limit", 8, "--output")
    assert build_command(*arguments, "whole") == 0
    tree = data / "rst/SAMPLE_fiction_ferry.dis"
    tree.write_text(tree.read_text().replace("Root (span 1 ", "Root (span 2 ", 1))
    assert build_command(*arguments, "faulty") == 0
    fault = "spans of a tree's node that are not its units'"
    shown = capsys.readouterr().out
    assert f"\ncorpus gum, repaired: {fault} (1)\n" in shown
    assert "corpus gum, not used" not in shown
    assert '"repaired: a tree' not in Path("whole/quality.json").read_text()
    for config in json.loads(Path("faulty/quality.json").read_text())["configs"].values():
        assert config["bad_rows"] == {f"repaired: {fault}": 1}
    one, other = (sorted(Path(name).glob("data/**/*.parquet")) for name in ("whole", "faulty"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other] != []


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--corpus", "gutenberg"], "expected one of storycloze, sample"),
        (["--corpus", "storycloze"], "cloze_test_test__spring2016"),
        (["--corpus", "sample", "--split", "trial"], "trial"),
        (["--version", "one", "--push-to-hub", "--corpus", "sample"], "three numbers"),
        (["--push-to-hub", "--repo-id", "mine", "--corpus", "sample"], "expected USER/NAME"),
        (["--corpus", "sample"], "exists; name another folder with --output"),
        (["--corpus", "sample", "--stand-off"], "changes no folder; expected --push-to-hub"),
        (["--corpus", "sample", "--private"], "changes no folder; expected --push-to-hub"),
    ],
)
def test_mistakes_are_one_line(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names are looked at before the folder of the build: that it is there is said last."""
    Path("suites/story_cloze").mkdir(parents=True)
    Path("suites/story_cloze/notes.txt").touch()
    assert build_command("story_cloze", *argv) == 2
    assert said in one_line(capsys.readouterr().err)


def test_a_hub_dataset_is_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    with (folder / "train.jsonl").open("w") as stream:
        for i in range(25):
            text = [f"Ann saw {i} dogs.", "They barked.", "She ran."]
            stream.write(json.dumps({"sentences": text}) + "\n")
    argv = ("--hub-dataset", folder, "--text-column", "sentences", "--output", "out")
    assert build_command("sentence_order", *argv) == 0
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert {name.rsplit("_", 2)[-1] for name in manifest["configs"]} == {"all", "context"}
    assert all(not entry["republishable"] for entry in manifest["configs"].values())


def test_a_hub_dataset_without_a_licence_is_not_pushed(
    hub_clients: HubServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    line = json.dumps({"sentences": ["Ann saw dogs.", "They barked.", "She ran."]}) + "\n"
    (tmp_path / "mine" / "train.jsonl").write_text(line)
    argv = ("--hub-dataset", tmp_path / "mine", "--text-column", "sentences", "--push-to-hub")
    assert build_command("sentence_order", *argv) == 2
    assert "may not be published, by its licence" in one_line(capsys.readouterr().err)
    assert hub_clients.repositories() == []


# Publishing from the command line -----------------------------------------------------------------


def test_what_was_pushed_loads(hub_clients: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    from datasets import load_dataset

    argv = ["sentence_order", "--corpus", "sample", "--limit", "30", "--push-to-hub"]
    assert main([*argv, "--allow-partial"]) == 0
    out, err = capsys.readouterr()
    assert "published coherencegym/sentence_order v4.0.0" in out
    assert hub_clients.write_token not in out + err
    assert len(hub_clients.commits("coherencegym/sentence_order")) == 2
    name = "coherencegym/sentence_order"
    data = load_dataset(name, "sample_narration_context", revision="v4.0.0")["test"]
    assert (data.num_rows, data.column_names[-1]) == (30, "last_context_unit_moved")
    assert load_dataset(name)["test"][0]["item_id"] == "story-0001/shuffled"
    # The list of the folder's files is in no commit, and no reader minds it.
    assert Path("suites/sentence_order", CHECKSUMS).is_file()
    assert not any(CHECKSUMS in path for path in hub_clients.files(name))
    assert load_dataset("suites/sentence_order")["test"].num_rows == 30


def test_what_may_not_be_republished_is_refused_when_named(
    hub_clients: HubServer, storycloze: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    push = ("--push-to-hub", "--repo-id", "coherencegym/mine")
    argv = (*push, "--data-dir", storycloze)
    assert build_command("story_cloze", *argv, "--corpus", "storycloze") == 2
    closed = "storycloze may not be published, by its licence"
    assert f"corpus {closed} (annotation: " in one_line(capsys.readouterr().err)
    assert build_command("story_cloze", *argv) == 2
    said = one_line(capsys.readouterr().err)
    assert f"alone; {closed}; expected --corpus sample in place of --data-dir to publish" in said
    assert hub_clients.repositories() == []
    assert build_command("story_cloze", *push, "--corpus", "sample", "--output", "out") == 0
    assert build_command("story_cloze", *argv, "--version", "7.0.0") == 0
    assert f"left out of the push: {closed} (pass --private" in capsys.readouterr().out
    manifest = json.loads(hub_clients.files("coherencegym/mine")["manifest.json"])
    assert list(manifest["configs"]) == [
        "sample",
        "sample_crossed",
        "sample_familiarity",
        "sample_crossed_shuffled_context",
    ]
    assert not [p for p in hub_clients.files("coherencegym/mine") if "storycloze" in p]


def test_a_private_repository_takes_it(
    hub_clients: HubServer, storycloze: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ("--push-to-hub", "--data-dir", storycloze, "--corpus", "storycloze", "--private")
    assert build_command("story_cloze", *argv) == 0
    manifest = json.loads(hub_clients.files("coherencegym/story_cloze")["manifest.json"])
    assert list(manifest["configs"]) == [
        "storycloze",
        "storycloze_crossed",
        "storycloze_familiarity",
        "storycloze_crossed_shuffled_context",
    ]
    hub_clients.seed("coherencegym/public", {})
    capsys.readouterr()
    code = build_command("story_cloze", *argv, "--repo-id", "coherencegym/public", "--overwrite")
    assert code == 2
    assert "exists and is public" in one_line(capsys.readouterr().err)


def test_a_push_of_the_sample_lets_no_closed_text_out(
    hub_clients: HubServer, hub_api: HfApi, storycloze: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = "coherencegym/story_cloze"
    private = ("--push-to-hub", "--data-dir", storycloze, "--corpus", "storycloze", "--private")
    assert build_command("story_cloze", *private) == 0
    hub_api.update_repo_settings(repo, private=False, repo_type="dataset")
    commits = hub_clients.commits(repo)
    argv = ("--corpus", "sample", "--push-to-hub", "--version", "1.1.1", "--output", "out")
    capsys.readouterr()
    assert build_command("story_cloze", *argv) == 2
    said = one_line(capsys.readouterr().err)
    assert "is public and would hold configs that may not be published: storycloze" in said
    assert hub_clients.commits(repo) == commits


def test_a_first_release_of_the_samples_alone_is_asked_for(
    hub_clients: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--push-to-hub", "--limit", "21", "--allow-partial")
    alone = "a first release to coherencegym/story_cloze would hold the package's samples alone; "
    for more in ((), ("--dry-run",)):
        assert main(["story_cloze", "winograd", *few, *more]) == 2
        first, second = capsys.readouterr().err.splitlines()
        said = f"coherencegym build story_cloze: {alone}not built from storycloze: no files here"
        assert first.startswith(said)
        assert "`coherencegym corpora show NAME` says how to get one; expected --data-dir" in first
        assert second.startswith("coherencegym build winograd: ")
        assert {request.method for request in hub_clients.requests} <= {"GET", "HEAD"}
        assert not Path("suites").exists()
    assert build_command("story_cloze", *few, "--corpus", "sample") == 0
    # Readers of a release lose nothing by another one.
    assert build_command("story_cloze", *few, "--overwrite") == 0


def test_the_module_of_a_suite_is_a_command_of_the_checkout(
    hub: HubServer, hub_env: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "builders.connectives", "--push-to-hub", "--output"]
    done = subprocess.run(
        [*command, str(tmp_path / "out")],
        cwd=repository,
        env={**os.environ, **hub_env, "XDG_CACHE_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    said = one_line(done.stderr)
    assert said.startswith("coherencegym build connectives: a first release to coherencegym/conn")
    assert "not built from disco, pdtb, gum, tedmdb: no files here" in said
    assert hub.repositories() == []
    assert not (tmp_path / "out").exists()


#: The arguments of a push of a part of a suite.
PART = ("--corpus", "sample", "--limit", 21, "--push-to-hub", "--allow-partial")


@pytest.mark.parametrize(
    ("token", "repo_id", "said"),
    [
        ("read_token", "coherencegym/x", "this token may not write there, only read"),
        ("write_token", "others/x", "is of alice, who is no member of others; expected --repo-id"),
        ("stranger_token", "coherencegym/x", "who is no member of coherencegym; expected"),
    ],
)
def test_a_token_without_rights_is_refused_before_anything_is_built(
    hub_clients: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    token: str,
    repo_id: str,
    said: str,
) -> None:
    secret = getattr(hub_clients, token)
    monkeypatch.setenv("HF_TOKEN", secret)
    assert build_command("story_cloze", *PART, "--repo-id", repo_id) == 2
    out, err = capsys.readouterr()
    assert said in one_line(err)
    assert secret not in out + err
    assert not Path("suites").exists()
    # Anybody may look, and open a pull request.
    assert build_command("story_cloze", *PART, "--repo-id", repo_id, "--dry-run") == 0


def test_a_token_that_the_hub_does_not_know_is_refused_and_one_that_it_cannot_tell_of_is_not(
    hub_clients: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub_clients.faults.add(path_contains="/whoami", status=429, times=99)
    assert build_command("story_cloze", *PART) == 0
    assert "published" in capsys.readouterr().out
    monkeypatch.delenv("HF_TOKEN")
    assert build_command("story_cloze", *PART, "--output", "other") == 2
    assert "log in with `hf auth login`" in one_line(capsys.readouterr().err)
    assert not Path("other").exists()


@pytest.mark.parametrize(("option", "value"), [("--limit", "21"), ("--split", "test")])
def test_a_part_is_not_published_for_all_unless_one_says_so(
    hub_clients: HubServer, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    argv = ("--corpus", "sample", option, value, "--push-to-hub")
    for more in ((), ("--dry-run",)):
        assert build_command("story_cloze", *argv, *more) == 2
        said = one_line(capsys.readouterr().err)
        assert f"{option}: a part of the suite would be published for all to see" in said
        assert "--allow-partial" in said
    assert not Path("suites").exists()
    assert hub_clients.repositories() == []
    assert build_command("story_cloze", *argv, "--private", "--output", "private") == 0
    allowed = ("--allow-partial", "--repo-id", "coherencegym/part", "--output", "out")
    assert build_command("story_cloze", *argv, *allowed) == 0
    part = f"(--limit {value})" if option == "--limit" else "of splits only test was asked for"
    assert part in capsys.readouterr().out
    card = hub_clients.files("coherencegym/part")["README.md"].decode()
    assert "**This build contains only part of the suite's data:** " in card


@pytest.mark.parametrize("status", [500, 503, None])
def test_a_failing_hub_is_one_line_and_the_same_command_finishes(
    hub_clients: HubServer,
    hub_sleeps: list[float],
    capsys: pytest.CaptureFixture[str],
    status: int | None,
) -> None:
    argv = (*PART, "--overwrite")
    hub_clients.faults.add(
        method="POST", path_contains="/commit/", status=status, cut=status is None
    )
    assert build_command("story_cloze", *argv) == 1
    said = one_line(capsys.readouterr().err)
    assert "; readers see no release, or a whole one; run the same command again to finish" in said
    assert build_command("story_cloze", *argv) == 0
    assert list(hub_clients.tags("coherencegym/story_cloze")) == ["v6.0.0"]
    hub_clients.faults.add(method="POST", path_contains="/commit/", status=500)
    assert build_command("story_cloze", *argv, "--seed", 1, "--version", "7.0.0") == 1
    said = one_line(capsys.readouterr().err)
    assert "; readers still see a whole release; run the same command again to finish" in said
    # Where nothing was to be published, nothing is said of it.
    hub_clients.faults.add(path_contains="/api/datasets/", status=503, times=9)
    assert build_command("story_cloze", "--hub-dataset", "coherencegym/story_cloze") != 0
    assert "readers" not in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(("status", "code"), [(403, 2), (409, 2), (503, 1)])
def test_a_tag_that_is_refused_says_that_the_commit_is_there(
    hub_clients: HubServer, capsys: pytest.CaptureFixture[str], status: int, code: int
) -> None:
    argv = (*PART, "--overwrite")
    hub_clients.faults.add(method="POST", path_contains="/tag/", status=status, times=9)
    assert build_command("story_cloze", *argv) == code
    head = hub_clients.commits("coherencegym/story_cloze")[0].sha
    said = one_line(capsys.readouterr().err)
    assert f"the commit {head[:10]} is made and readers of the newest see it, but it has no" in said
    assert len(said.removeprefix("coherencegym build ")) < 300
    hub_clients.faults.clear()
    assert build_command("story_cloze", *argv) == 0
    assert hub_clients.tags("coherencegym/story_cloze")["v6.0.0"].target == head


def test_a_dry_run_of_a_push(hub_clients: HubServer, capsys: pytest.CaptureFixture[str]) -> None:
    argv = (*PART, "--dry-run")
    assert build_command("story_cloze", *argv) == 0
    shown = capsys.readouterr().out
    assert "does not exist, would be made" in shown
    assert "add data/sample/test-00000-of-00001.parquet" in shown
    assert "tag v6.0.0" in shown
    assert hub_clients.repositories() == []


def test_a_dry_run_offline_says_unknown(
    hub_clients: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    argv = (*PART, "--dry-run")
    assert build_command("story_cloze", *argv) == 0
    assert "changes unknown" in capsys.readouterr().out
    assert build_command("story_cloze", *argv[:-1]) == 2
    assert "HF_HUB_OFFLINE is set" in one_line(capsys.readouterr().err)
    assert hub_clients.requests == []


def stopped_build(folder: Path, number: signal.Signals) -> tuple[int, str]:
    """Exit status and messages of a build into ``out`` that gets a signal while it writes rows."""

    def work() -> int:
        def waiting(*arguments: Any) -> Any:
            write_split(*arguments)
            time.sleep(60)

        setattr(module, "write_split", waiting)  # noqa: B010
        return main(["story_cloze", "--corpus", "sample", "--limit", "15", "--output", "out"])

    fork = Fork(work, folder / "said")
    deadline = time.monotonic() + 60
    while not list(folder.glob(".out-*/hashes/*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    fork.signal(number)
    status, _, err = fork.wait()
    return status, err


def outputs(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if "out" in path.name]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_build_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    status, err = stopped_build(tmp_path, number)
    assert status == 128 + number
    assert "nothing half-written" in one_line(err)
    assert outputs(tmp_path) == []


def test_what_a_killed_build_leaves_is_cleared_by_the_next(tmp_path: Path) -> None:
    status, _ = stopped_build(tmp_path, signal.SIGKILL)
    assert status == -signal.SIGKILL
    assert len(outputs(tmp_path)) == 2  # a folder and its lock
    assert build_command("story_cloze", "--corpus", "sample", "--limit", 5, "--output", "out") == 0
    assert outputs(tmp_path) == ["out"]


def test_building_loads_no_library_of_models(tmp_path: Path) -> None:
    code = (
        "import sys; from coherencegym.builders.command.cli import main; "
        "import coherencegym.builders.release.publish; "
        "done = main(['story_cloze', '--corpus', 'sample', '--limit', '4', '--output', 'out']); "
        "print(done, sorted({'torch', 'transformers', 'tokenizers'} & {*sys.modules}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "0 []"
