"""Releases without texts: nothing of a text is in them, and one's own corpus gives every row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset
from huggingface_hub import HfApi
from support.commands import build_command, one_line
from support.hub.server import HubServer
from support.native_files import LAYOUTS
from support.suites import no_classifiers

import coherencegym as cg
from coherencegym.__main__ import main
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import find_sources
from coherencegym.builders.registry import load_suite
from coherencegym.builders.release.changes import DatasetHead, plan_release
from coherencegym.builders.release.publish import without_texts
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.licence import CLOSED
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import CORPORA

REPO = "coherencegym/story_cloze"
HEADER = (
    "InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,"
    "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding\n"
)
STORY = (
    "{i:08x}-story,Ann quietly peeled {i} turnips.,Rain soaked her porch.,Her kettle whistled.,"
    "Bob mended a gate.,He whistled {i} tunes.,He sold {i} camels.,{right}\n"
)
FILE = "cloze_test_test__spring2016 - cloze_test_ALL_test.csv"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in an empty folder, find no corpus of the user's, and train no classifier."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "200")
    no_classifiers(monkeypatch)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with a file as the Story Cloze test set has it."""
    folder = tmp_path / "corpora"
    folder.mkdir()
    stories = (STORY.format(i=i, right=1 + i % 2) for i in range(12))
    (folder / FILE).write_text(HEADER + "".join(stories))
    return folder


def push(corpus: Path, *options: object) -> int:
    argv = ("--data-dir", corpus, "--push-to-hub", "--stand-off", "--overwrite", *options)
    return build_command("story_cloze", "--corpus", "storycloze", *argv)


@pytest.fixture
def released(hub_clients: HubServer, corpus: Path, capsys: pytest.CaptureFixture[str]) -> HubServer:
    """The hub with a stand-off release of Story Cloze."""
    assert push(corpus) == 0
    capsys.readouterr()
    return hub_clients


def words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.lower())


def runs(texts: Iterator[str], number: int = 3) -> set[tuple[str, ...]]:
    """All runs of so many words in texts."""
    return {
        tuple(found[start : start + number])
        for found in map(words, texts)
        for start in range(len(found) - number + 1)
    }


def strings(value: Any) -> Iterator[str]:
    """All strings in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for part in pair for text in strings(part))
    elif isinstance(value, list | tuple):
        yield from (text for part in value for text in strings(part))


def contents(files: Mapping[str, bytes]) -> Iterator[str]:
    """All that files hold, also what parquet compresses."""
    for path, content in files.items():
        yield path
        yield content.decode("utf-8", "replace")
        if path.endswith(".parquet"):
            yield from strings(pq.read_table(BytesIO(content)).to_pylist())


#: The names under which rows have texts.
QUOTING = {"content", "before", "after", "sentences", "segments", "text", "units", "hypothesis"}


def quoted_in(value: Any) -> Iterator[str]:
    """The texts in a row."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from strings(part) if name in QUOTING else quoted_in(part)
    elif isinstance(value, list):
        yield from (text for part in value for text in quoted_in(part))


def text_runs(folder: Path, number: int = 3) -> set[tuple[str, ...]]:
    """The runs of words in the texts of a build."""
    return runs((text for rows in all_rows(folder).values() for text in quoted_in(rows)), number)


def all_rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Path -> rows."""
    return {
        str(path.relative_to(folder)): pq.read_table(path).to_pylist()
        for path in sorted(folder.glob("data/*/*"))
    }


def test_no_word_of_a_text_is_published(released: HubServer) -> None:
    files = released.files(REPO)
    assert {path.partition("/")[0] for path in files} == {
        *(".gitattributes", "README.md", "eval.yaml", "manifest.json", "quality.json", "hashes")
    }
    quoted = text_runs(Path("suites/story_cloze"))
    assert ("bob", "mended", "a") in quoted
    everything = list(contents(files))
    assert not quoted & runs(iter(everything))
    told = set(words(" ".join(everything)))
    assert not told & {"ann", "bob", "turnips", "camels", "kettle", "porch", "whistled"}
    manifest = json.loads(files["manifest.json"])
    assert manifest["version"] == load_suite("story_cloze").version
    config = manifest["configs"]["storycloze"]
    assert config["seed"] == 0
    assert config["suite_version"] == manifest["version"]
    (file,) = manifest["files"][config["corpus"]["files"]]
    assert len(file["sha256"]) == 64
    assert config["splits"]["test"]["rows"] == 12
    assert config["quality"]["test"]["control"]["smallest_difference"] is None
    block = yaml.safe_load(files["README.md"].decode().split("---\n")[1])
    assert (block["license"], block["license_name"]) == ("other", "no-texts")
    assert b"coherencegym rebuild coherencegym/story_cloze --data-dir PATH" in files["README.md"]


def test_ids_and_hashes_load(released: HubServer) -> None:
    rows = load_dataset(REPO, "storycloze", split="test", revision="v" + _version())
    assert rows.column_names == ["item_id", "sha256"]
    assert rows[0]["item_id"].startswith("00000000-story")


def _version() -> str:
    return load_suite("story_cloze").version


def test_a_copy_of_the_corpus_gives_the_rows_that_were_built(
    released: HubServer, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rebuild", REPO, "--data-dir", str(corpus)]) == 0
    folder = Path(f"suites/story_cloze-{_version()}")
    assert f"rows are those of {REPO} {_version()}; written to {folder}" in capsys.readouterr().out
    assert all_rows(folder) == all_rows(Path("suites/story_cloze"))
    source = find_dataset(str(folder))
    head = released.commits(REPO)[0].sha
    assert (source.repo, source.commit, source.version) == (REPO, head, _version())
    assert all(table.verified for table in tables(source))
    # It is an ordinary suite: exported, shown, and made no second time.
    assert main(["export", "syntaxgym", str(folder)]) == 0
    before = (folder / "manifest.json").stat().st_mtime_ns
    assert main(["rebuild", REPO, "--data-dir", "nowhere"]) == 0
    assert "has the rows of coherencegym/story_cloze already" in capsys.readouterr().out
    assert (folder / "manifest.json").stat().st_mtime_ns == before


def test_another_row_is_named_after_the_file(
    released: HubServer, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (corpus / FILE).read_text()
    (corpus / FILE).write_text(text.replace("sold 7 camels", "sold 70 camels"))
    assert main(["rebuild", REPO, "--data-dir", str(corpus)]) == 2
    out, err = capsys.readouterr()
    first, second, *_ = out.splitlines()
    assert re.fullmatch(rf"corpus file {FILE} is [0-9a-f]{{12}}, expected [0-9a-f]{{12}}", first)
    assert second.startswith("storycloze 00000007-story")
    said = one_line(err)
    assert "rows are not those of the release: storycloze 00000007-story" in said
    assert said.index("corpus file") < said.index("rows are not those")
    assert "nothing was written" in said
    assert list(Path("suites").iterdir()) == [Path("suites/story_cloze")]
    with pytest.raises(EvaluationError, match="00000007-story"):
        cg.rebuild(REPO, data_dir=corpus)


def test_another_file_with_the_same_rows_is_named_and_good(
    released: HubServer, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (corpus / FILE).write_text((corpus / FILE).read_text() + "\n")
    assert main(["rebuild", REPO, "--data-dir", str(corpus)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"corpus file {FILE} is ")
    assert "rows are those of" in second


def test_a_missing_row_is_named(
    released: HubServer, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (corpus / FILE).read_text().splitlines(keepends=True)
    (corpus / FILE).write_text("".join(lines[:-1]))
    assert main(["rebuild", REPO, "--data-dir", str(corpus), "--config", "storycloze"]) == 2
    assert "storycloze 0000000b-story/distractor_ending\n" in capsys.readouterr().out


def test_a_scorer_says_how_the_texts_are_made(
    released: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    score = ["score", "--model", "demo", "--dataset", REPO, "--limit", "1"]
    assert main(score) == 2
    said = one_line(capsys.readouterr().err)
    assert "a stand-off release, which has no texts; first run `coherencegym rebuild" in said
    assert f"`coherencegym rebuild {REPO} --data-dir PATH` with your copy of" in said


def test_results_say_which_rows_they_are_of(released: HubServer, corpus: Path) -> None:
    made = cg.rebuild(REPO, data_dir=corpus, config="storycloze")
    cg.score("demo", made, output="found")
    results = json.loads(Path("found/results.json").read_text())
    assert f"data:{REPO}|" in results["signature"]
    dataset = results["dataset"]
    assert yaml.safe_load(Path("found/run.yaml").read_text())["dataset"] == str(made)
    assert dataset["repo"] == REPO
    assert dataset["commit"] == released.commits(REPO)[0].sha
    assert dataset["version"] == _version()
    assert dataset["verified"]


def test_what_is_open_is_published_with_its_texts_beside(
    hub_clients: HubServer, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ("--corpus", "sample", "storycloze", "--data-dir", corpus, "--push-to-hub")
    assert build_command("story_cloze", *how, "--stand-off") == 0
    files = hub_clients.files(REPO)
    assert {path.split("/")[1] for path in files if path.startswith("data/")} == {
        *("sample", "sample_crossed", "sample_familiarity", "sample_crossed_shuffled_context")
    }
    assert load_dataset(REPO, split="test")[0]["corpus"] == "sample"
    block = yaml.safe_load(files["README.md"].decode().split("---\n")[1])
    assert block["license"] == "cc0-1.0"
    source = find_dataset(REPO)
    assert {table.config.partition("_")[0] for table in tables(source)} == {"sample"}
    assert "without storycloze, " in str(source.notes[0])
    assert main(["rebuild", REPO, "--data-dir", str(corpus), "--output", "made"]) == 0
    assert all_rows(Path("made")) == all_rows(Path("suites/story_cloze"))


def test_texts_that_were_private_are_replaced(
    hub_clients: HubServer, hub_api: HfApi, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ("--corpus", "storycloze", "--data-dir", corpus, "--push-to-hub", "--private")
    assert build_command("story_cloze", *how) == 0
    hub_api.update_repo_settings(REPO, private=False, repo_type="dataset")
    assert any(path.startswith("data/") for path in hub_clients.files(REPO))
    major = f"{int(_version()[0]) + 1}.0.0"
    assert push(corpus, "--version", major) == 0
    assert (
        "earlier commits of coherencegym/story_cloze hold what may not" in capsys.readouterr().out
    )
    assert not text_runs(Path("suites/story_cloze")) & runs(contents(hub_clients.files(REPO)))


def test_a_manifest_that_says_stand_off_opens_no_texts(
    released: HubServer, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    released.seed(REPO, {"data/storycloze/test-00000-of-00001.parquet": b"PAR1"})
    assert push(corpus, "--message", "again") == 2
    assert "would hold files that no manifest describes" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"suite": "evil.py"}, "the suite 'evil.py', which is not installed here"),
        ({"corpus": "evil.py"}, "the corpus 'evil.py', which is not installed here"),
        ({"settings": {"unknown": 3}}, ""),
        ({"seed": "x"}, 'seed: "x"'),
    ],
)
def test_a_release_runs_nothing_that_lies_here(
    released: HubServer,
    corpus: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    said: str,
) -> None:
    Path("evil.py").write_text("raise SystemExit('it was run')\n")
    manifest = json.loads(released.files(REPO)["manifest.json"])
    for config in manifest["configs"].values():
        config |= {key: change[key] for key in change if key in config and key != "corpus"}
        config["corpus"]["name"] = change.get("corpus", config["corpus"]["name"])
    manifest["suite"] = change.get("suite", manifest["suite"])
    released.seed(REPO, {"manifest.json": json.dumps(manifest).encode()})
    assert main(["rebuild", REPO, "--data-dir", str(corpus)]) == (2 if said else 0)
    if said:
        assert said in one_line(capsys.readouterr().err)


def test_a_release_without_row_hashes_verifies_nothing(
    released: HubServer, hub_api: HfApi, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub_api.delete_file("hashes/storycloze-test.parquet", REPO, repo_type="dataset")
    assert main(["rebuild", REPO, "--data-dir", str(corpus)]) == 2
    assert "no row hashes (hashes/storycloze-test.parquet)" in one_line(capsys.readouterr().err)


def test_rows_that_nobody_could_make_again_are_refused(
    hub_clients: HubServer, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(corpus, "--judgements", "answers.jsonl") == 2
    assert "depend on the answers of --judgements" in one_line(capsys.readouterr().err)
    assert hub_clients.repositories() == []


def test_ones_own_texts_are_no_corpus_that_others_have(
    hub_clients: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Ann saw the dogs. They barked at her. She ran home. It was very late. She slept well."
    Path("mine.txt").write_text(text)
    how = ("--texts", "mine.txt", "--push-to-hub", "--stand-off", "--output", "out")
    assert build_command("sentence_order", *how) == 2
    assert "others cannot rebuild its rows" in one_line(capsys.readouterr().err)
    assert hub_clients.repositories() == []


# The wire -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["503", "cut"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/repos/create"),
        ("POST", "/preupload/"),
        ("POST", "/objects/batch"),
        ("PUT", ""),
        ("POST", "/commit/"),
        ("POST", "/tag/"),
    ],
)
def test_a_push_that_is_cut_off_is_whole_or_not_there(
    hub_clients: HubServer,
    hub_sleeps: list[float],
    corpus: Path,
    method: str,
    path: str,
    kind: str,
) -> None:
    how: dict[str, Any] = {"cut": True} if kind == "cut" else {"status": 503}
    hub_clients.faults.add(method=method, path_contains=path, times=99, **how)
    assert push(corpus) == 1
    is_there = REPO in hub_clients.repositories() and "manifest.json" in hub_clients.files(REPO)
    assert is_there == (path == "/tag/")
    hub_clients.faults.clear()
    assert push(corpus) == 0
    assert list(hub_clients.tags(REPO)) == [f"v{_version()}"]
    assert len(hub_clients.commits(REPO)) == 2


@pytest.mark.parametrize("name", ["manifest.json", "README.md", "hashes/storycloze-test.parquet"])
def test_a_rebuild_that_is_cut_off_leaves_nothing(
    released: HubServer,
    hub_sleeps: list[float],
    corpus: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    released.faults.add(path_contains=f"/{name}", status=503, times=99)
    assert main(["rebuild", REPO, "--data-dir", str(corpus)]) == 2
    assert "the Hub cannot be reached" in one_line(capsys.readouterr().err)
    assert list(Path("suites").iterdir()) == [Path("suites/story_cloze")]
    released.faults.clear()
    assert main(["rebuild", REPO, "--data-dir", str(corpus)]) == 0


# Real corpora -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suite", "name", "limit"),
    [
        ("connectives", "tedmdb", None),
        ("discourse_tasks", "discoeval", 20),
        ("intruder_sentences", "insted", 40),
        ("span_coherence", "verifiable", 40),
        ("winograd", "winograd", 20),
        ("sentence_order", "personachat", 10),
    ],
)
def test_real_files_give_every_row_again(
    shared: Path, tmp_path: Path, suite: str, name: str, limit: int | None
) -> None:
    data, folder = shared / "corpora" / name, tmp_path / "built"
    folder.mkdir()
    declared = load_suite(suite)
    options = BuildOptions(corpora=[name], data_dir=data, limit=limit)
    made = build(declared, find_sources(declared, options)[0], options, folder)
    for entry in made["configs"].values():
        entry["of_a_later_version"] = "what nobody knows of"
    bare = without_texts(folder, made, made["configs"])
    plan = plan_release(folder, bare, DatasetHead(), prune=False, fetch_hashes=Path)
    files = {
        path: content if isinstance(content, bytes) else content.read_bytes()
        for path, content in plan.adds.items()
    }
    for path, content in files.items():
        (tmp_path / "bare" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bare" / path).write_bytes(content)
    assert b"of_a_later_version" not in files["manifest.json"]
    # A value of a column may be a word of a text.
    value = r'"\w+=(?!true"|false"|\d+")'
    assert not re.search(value, files["manifest.json"].decode())
    assert suite != "connectives" or re.search(value, (folder / "manifest.json").read_text())
    # Prose of the suite may share a few words with a text, and ids share none in a row.
    assert not text_runs(folder, 6) & runs(contents(files), 6)
    hashes = (pq.read_table(path) for path in (tmp_path / "bare/hashes").iterdir())
    ids = (name for table in hashes for name in table["item_id"].to_pylist())
    assert not text_runs(folder) & runs(ids)
    assert all_rows(cg.rebuild(tmp_path / "bare", data_dir=data)) == all_rows(folder)


@pytest.mark.parametrize("layout", [n for n, one in LAYOUTS.items() if one.corpus in CLOSED])
def test_the_ids_of_closed_corpora_quote_nothing(layout: str, tmp_path: Path) -> None:
    LAYOUTS[layout].write(tmp_path)
    for discourse in read(CORPORA[LAYOUTS[layout].corpus], data_dir=tmp_path):
        assert not runs(iter([discourse.id]), 2) & runs(iter(discourse.texts), 2)
