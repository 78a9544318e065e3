"""The checkpoints of a training: found by a pattern, and prepared once."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line, without_progress
from support.hub.server import HubServer

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.models.checkpoints import checkpoints
from coherencegym.eval.models.load import load_config
from coherencegym.eval.run.options import ModelOptions

Save = Callable[..., Path]
Capture = pytest.CaptureFixture[str]


def train(folder: Path, save_model: Save) -> Path:
    """A folder as a trainer leaves it: checkpoints with other weights each, and other things."""
    from transformers import AutoModelForCausalLM

    first = save_model(folder / "checkpoint-20")
    model = AutoModelForCausalLM.from_pretrained(first)
    for step in (100, 3):
        shutil.copytree(first, folder / f"checkpoint-{step}")
        model.get_input_embeddings().weight.data += 0.05
        model.save_pretrained(folder / f"checkpoint-{step}")
    (folder / "checkpoint-of-nothing").mkdir()
    (folder / "checkpoint.txt").touch()
    return folder


def build(folder: Path, items: list[Item], write_dataset: Callable[..., Path]) -> Path:
    """A folder of two builds, with other items each."""
    for name, chosen in (("one", items), ("two", items[:5])):
        write_dataset(folder / name, chosen, extra={"moved": "bool"})
    return folder


#: The command that scores all checkpoints in ``runs`` on the builds in ``suites``.
COMMAND = [
    *("score", "--model", "runs", "--all-revisions", "checkpoint-*", "--no-cache"),
    *("--dataset", "suites", "--output", "out"),
]


@pytest.fixture(scope="module")
def finished(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Save,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """A training, its builds, and what the command made of them; nobody writes into it."""
    folder = tmp_path_factory.mktemp("finished")
    train(folder / "runs", save_model)
    build(folder / "suites", pair_items, write_dataset)
    with contextlib.chdir(folder):
        assert main(COMMAND) == 0
    return folder


@pytest.fixture
def runs(finished: Path, tmp_path: Path) -> Path:
    """The training, to change it."""
    return shutil.copytree(finished / "runs", tmp_path / "runs")


@pytest.fixture
def suites(finished: Path, tmp_path: Path) -> Path:
    """The two builds, to change them."""
    return shutil.copytree(finished / "suites", tmp_path / "suites")


@pytest.fixture
def words(runs: Path, suites: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command, of which nothing has run."""
    monkeypatch.chdir(tmp_path)
    return list(COMMAND)


@pytest.fixture
def again(words: list[str], finished: Path, tmp_path: Path) -> list[str]:
    """The command, which has run."""
    shutil.copytree(finished / "out", tmp_path / "out")
    return words


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the models that are loaded."""
    found: list[str] = []
    real = ModelOptions.load

    def counted(arguments: Any, *how: Any, **more: Any) -> Any:
        found.append(Path(arguments.model).name)
        return real(arguments, *how, **more)

    monkeypatch.setattr(ModelOptions, "load", counted)
    return found


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of texts that are encoded, call by call."""
    from coherencegym.eval import surprisal

    found: list[int] = []
    real: Any = surprisal.__dict__["prepare"]

    def counted(*given: Any, **how: Any) -> Any:
        found.append(len(given[2]))
        return real(*given, **how)

    monkeypatch.setattr(surprisal, "prepare", counted)
    return found


def names(folder: Path) -> list[str]:
    folders = (path.name for path in folder.iterdir() if path.is_dir())
    return sorted(name for name in folders if name != "overview")


ALL = sorted(f"{suite}--checkpoint-{step}" for suite in ("one", "two") for step in (3, 20, 100))


def test_one_command_scores_all_checkpoints_and_prepares_them_once(
    words: list[str], tmp_path: Path, loads: list[str], planned: list[int], capsys: Capture
) -> None:
    assert main(words) == 0
    assert without_progress(capsys.readouterr().err) == ""
    assert loads == ["checkpoint-3", "checkpoint-20", "checkpoint-100"]
    assert planned == [8, 5]
    assert names(tmp_path / "out") == ALL
    assert (tmp_path / "out/overview/curve.png").is_file()
    # What is shared changes nothing: a checkpoint alone has the same results.
    alone = ["score", "--model", "runs/checkpoint-100", "--no-cache"]
    alone += ["--dataset", "suites/two", "--output", "alone"]
    assert main(alone) == 0
    tables = (f"{name}.parquet" for name in ("regions", "units", "systems", "outcomes"))
    for name in ("results.json", *tables):
        together = tmp_path / "out/two--checkpoint-100" / name
        assert together.read_bytes() == (tmp_path / "alone" / name).read_bytes()


def test_checkpoints_of_a_folder_are_listed_by_name(
    words: list[str], tmp_path: Path, capsys: Capture
) -> None:
    listed = ["--model-revision", "checkpoint-20", "checkpoint-3"]
    assert main([*words[:3], *listed, *words[5:]]) == 0
    assert names(tmp_path / "out") == [name for name in ALL if "-100" not in name]
    assert (tmp_path / "out/overview/curve.png").is_file()
    capsys.readouterr()
    assert main([*words[:3], "--model-revision", "checkpoint-21", *words[5:]]) == 2
    assert one_line(capsys.readouterr().err).endswith(
        "--model-revision checkpoint-21: no folder with a model in it has this name in 'runs'; "
        "there are checkpoint-3, checkpoint-20, checkpoint-100 (3)\n"
    )


def test_a_tokenizer_that_was_changed_on_the_way_is_found_out(
    words: list[str], runs: Path, planned: list[int], make_tokenizer: Callable[..., Any]
) -> None:
    make_tokenizer(bos=None).save_pretrained(runs / "checkpoint-20")
    assert main(words) == 0
    assert planned == [8, 5, 8, 5]


def test_a_training_that_goes_on_is_the_same_command(
    words: list[str], runs: Path, tmp_path: Path, loads: list[str], capsys: Capture
) -> None:
    shutil.move(runs / "checkpoint-100", tmp_path / "later")
    shutil.move(runs / "checkpoint-20", tmp_path / "second")
    # One checkpoint is a training already, with a folder for each run.
    assert main([*words[:-3], "suites/one", *words[-2:]]) == 0
    assert names(tmp_path / "out") == ["one--checkpoint-3"]
    shutil.move(tmp_path / "later", runs / "checkpoint-100")
    loads.clear()
    assert main([*words, "--overwrite"]) == 0
    assert loads == ["checkpoint-3", "checkpoint-100"]
    assert names(tmp_path / "out") == [name for name in ALL if "-20" not in name]


def test_a_checkpoint_that_was_deleted_since_stays_in_the_curve(
    again: list[str], runs: Path, tmp_path: Path, loads: list[str]
) -> None:
    shutil.rmtree(runs / "checkpoint-3")
    shutil.copytree(runs / "checkpoint-20", runs / "checkpoint-400")
    # Results of other settings stand in a row of their own; what is none is passed over.
    other = tmp_path / "out/two--checkpoint-3/results.json"
    other.write_text(other.read_text().replace('"bos": "auto"', '"bos": "never"'))
    (tmp_path / "out/broken").mkdir()
    (tmp_path / "out/broken/results.json").write_text("{}")
    assert main([*again, "--overwrite"]) == 0
    assert loads == ["checkpoint-20", "checkpoint-100", "checkpoint-400"]
    lines = (tmp_path / "out/overview/overview.md").read_text().splitlines()
    assert any(
        line.startswith("| suite | items | checkpoint-3 | checkpoint-20 |") for line in lines
    )
    rows = [line.split(" | ") for line in lines if line.startswith("| toy")]
    assert [[cell == "–" for cell in row[2:6]] for row in rows] == [
        [False] * 4,
        [False, True, True, True],
        [True, False, False, False],
    ]
    assert '--bos "never"' in rows[1][0]


def test_a_checkpoint_that_is_broken_does_not_end_the_others(
    words: list[str], runs: Path, tmp_path: Path, loads: list[str], capsys: Capture
) -> None:
    weights = runs / "checkpoint-20/model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    assert main(words) == 2
    printed = capsys.readouterr()
    broken, summary = without_progress(printed.err).splitlines()
    assert printed.err.endswith(f"{summary}\n")
    assert broken.startswith("runs/checkpoint-20: not scored: model ")
    assert summary.endswith(
        "2 of 6 runs could not be made, as said above; the same command with --overwrite takes the "
        "others from the cache and tries these again"
    )
    assert names(tmp_path / "out") == [name for name in ALL if "-20" not in name]
    assert (tmp_path / "out/overview/curve.png").is_file()
    assert "checkpoint-100" in printed.out
    weights.write_bytes(whole)
    assert main(words) == 2
    assert "exists; name another folder" in one_line(capsys.readouterr().err)
    assert main([*words, "--overwrite"]) == 0
    assert names(tmp_path / "out") == ALL


def test_what_fails_first_ends_the_run(
    words: list[str], runs: Path, tmp_path: Path, capsys: Capture
) -> None:
    weights = runs / "checkpoint-3/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    assert main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_suite_that_a_model_cannot_read_does_not_end_the_others(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    planned: list[int],
    capsys: Capture,
) -> None:
    from coherencegym.eval import surprisal
    from coherencegym.eval.tasks.score import scored_table

    real, asked = surprisal.surprisals, []

    def fail_at_the_third(*given: Any, **how: Any) -> Any:
        asked.append(given)
        if len(asked) == 3:
            raise EvaluationError("a surprisal that is not finite")
        return real(*given, **how)

    monkeypatch.setattr(scored_table, "surprisals", fail_at_the_third)
    assert main(words) == 2
    said = capsys.readouterr().err
    first, second = without_progress(said).splitlines()
    assert said.endswith(f"{second}\n")
    assert first == "out/one--checkpoint-20: not scored: a surprisal that is not finite"
    assert "1 of 6 runs could not be made" in second
    assert names(tmp_path / "out") == [name for name in ALL if name != "one--checkpoint-20"]


def test_a_folder_of_checkpoints_is_no_model_and_what_is_said_works(
    words: list[str], capsys: Capture
) -> None:
    place = words.index("--all-revisions")
    assert main([*words[:place], *words[place + 2 :]]) == 2
    said = one_line(capsys.readouterr().err)
    found = re.search(
        r"model 'runs': no config.json, but a folder of 3 models; expected one, such as "
        r"'(.+)', or of `score` (--all-revisions) '(.+)' for all$",
        said,
    )
    assert found is not None
    model, option, pattern = found.groups()
    load_config(model)
    words[place : place + 2] = [option, pattern]
    assert main([*words, "--limit", "1"]) == 0


def test_a_pattern_that_matches_nothing_names_what_there_is(
    words: list[str], runs: Path, tmp_path: Path, capsys: Capture
) -> None:
    words[words.index("checkpoint-*")] = "step*"
    assert main(words) == 2
    assert capsys.readouterr().err == (
        "coherencegym score: --all-revisions 'step*': no folder with a model in it of 'runs' "
        "matches; there are checkpoint-3, checkpoint-20, checkpoint-100 (3)\n"
    )
    with pytest.raises(EvaluationError, match="'demo' matches; there is none"):
        checkpoints("demo", ["*"])
    for step in range(200, 210):
        shutil.copytree(runs / "checkpoint-3", runs / f"checkpoint-{step}")
    said = "there are checkpoint-3, checkpoint-20, checkpoint-100, ..., checkpoint-207, "
    with pytest.raises(EvaluationError, match=said + r"checkpoint-208, checkpoint-209 \(13\)"):
        checkpoints(str(runs), ["nothing"])


@pytest.fixture
def hub_training(hub_clients: HubServer, runs: Path) -> HubServer:
    """``me/model`` on the Hub with tags, branches, and what both have."""
    for tag in ("step1000", "step20", "step3-tokens1B"):
        folder = runs / ("checkpoint-3" if tag == "step20" else "checkpoint-20")
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        hub_clients.seed("me/model", files, tag)
    return hub_clients


def test_all_revisions_are_branches_and_tags_in_the_order_of_their_numbers(
    hub_training: HubServer,
) -> None:
    found = [revision for _, revision in checkpoints("me/model", ["step*", "*1000", "ma?n"])]
    assert found == ["main", "step3-tokens1B", "step20", "step1000"]
    assert checkpoints("me/model", ["step[0-9]?"]) == [("me/model", "step20")]
    said = (
        "'chck_\\*' 'Step\\*': no branch or tag of 'me/model' matches; there are main, "
        "step3-tokens1B, step20, step1000 \\(4\\)"
    )
    with pytest.raises(EvaluationError, match=said):
        checkpoints("me/model", ["chck_*", "Step*"])
    with pytest.raises(EvaluationError, match="model 'me/other': no such folder, and not on the"):
        checkpoints("me/other", ["*"])


def test_all_revisions_of_a_hub_model_are_scored_and_kept(
    hub_training: HubServer, suites: Path, tmp_path: Path, loads: list[str], capsys: Capture
) -> None:
    words = ["score", "--model", "me/model", "--dataset", str(suites / "one"), "--no-cache"]
    words += ["--output", str(tmp_path / "out"), "--all-revisions", "step*0"]
    assert main(words) == 0
    assert names(tmp_path / "out") == ["one--me__model@step1000", "one--me__model@step20"]
    assert len(loads) == 2
    assert main([*words, "--model-revision", "step20"]) == 2
    assert "--all-revisions and --model-revision: expected one" in capsys.readouterr().err


def test_a_hub_that_does_not_say_what_it_has_is_one_line(
    hub_training: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("the line is dead\nand more")

    monkeypatch.setattr("huggingface_hub.HfApi.list_repo_refs", refuse)
    with pytest.raises(EvaluationError, match=r"OSError: the line is dead\); expected --model-rev"):
        checkpoints("me/model", ["*"])
