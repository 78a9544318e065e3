"""Results on a Hub, by the real client against a server on the loopback interface."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hub.server import HubServer
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.repocard_data import model_index_to_eval_results

from eval.cli import main
from eval.errors import EvaluationError
from eval.push_results import PUSHED, push, run_folder
from eval.runs import read_run
from eval.suite import Item

REPO = "coherencegym/results"


@pytest.fixture(scope="module")
def scored(
    tmp_path_factory: pytest.TempPathFactory,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """Results of the demo model."""
    from datasets import Value

    folder = tmp_path_factory.mktemp("scored")
    data = write_dataset(folder / "data", pair_items, extra={"moved": Value("bool")})
    argv = ["--model", "demo", "--dataset", str(data), "--output", str(folder / "results")]
    assert main(argv) == 0
    return folder / "results"


def changed(scored: Path, folder: Path, **about: Any) -> Path:
    """The same results, as if another model had them."""
    shutil.copytree(scored, folder)
    content = json.loads((folder / "results.json").read_text())
    content["model"]["name"] = about.get("model", "other/model")
    content["signature"] += about.get("signature", "|other")
    (folder / "results.json").write_text(json.dumps(content))
    return folder


def test_a_run_is_one_commit_with_a_card_that_loads(
    hub: HubServer, hub_api: HfApi, scored: Path, pair_items: list[Item]
) -> None:
    outcome = push(hub_api, scored, REPO)
    first, *before = hub.commits(REPO)
    assert first.sha == outcome.commit
    assert len(before) == 1  # the Hub's own
    place = run_folder(read_run(scored))
    files = hub.files(REPO)
    kept = {name for name in PUSHED if (scored / name).is_file()}
    assert set(files) == {f"{place}/{name}" for name in kept} | {"README.md", ".gitattributes"}
    for name in kept:
        assert files[f"{place}/{name}"] == (scored / name).read_bytes()
    card = files["README.md"].decode()
    about = yaml.safe_load(card.split("---\n")[1])
    assert [config["config_name"] for config in about["configs"]] == ["predictions", "regions"]
    score = next(s for s in read_run(scored).scores if s.level == "all")
    assert score.score is not None
    assert f"| toy\\_context (test) | demo | {score.n} | {100 * score.score:.1f} % |" in card

    from datasets import load_dataset

    rows = load_dataset(REPO, "predictions", split="train")
    assert set(rows.column_names) >= {"config", "item_id", "formula", "met", "margin"}
    # No text of an item leaves the machine.
    text = pair_items[0].conditions[0].content
    assert all(text.encode() not in content for content in files.values())


def test_the_same_run_again_is_no_commit_and_another_stands_beside(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    push(hub_api, scored, REPO)
    again = push(hub_api, scored, REPO)
    assert (again.lines, again.commit) == ([f"{REPO} has this run already"], "")
    push(hub_api, changed(scored, tmp_path / "other"), REPO)
    assert len(hub.commits(REPO)) == 3
    files = hub.files(REPO)
    assert sum(path.endswith("results.json") for path in files) == 2
    card = files["README.md"].decode()
    assert "| demo |" in card
    assert "| other/model |" in card


def test_a_dry_run_writes_nothing(hub: HubServer, hub_api: HfApi, scored: Path) -> None:
    outcome = push(hub_api, scored, REPO, dry_run=True)
    assert outcome.lines[-1] == f"would be pushed to {REPO}"
    assert hub.repositories() == []


def test_somebody_else_commits_meanwhile(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(hub_api, scored, REPO)
    commit = HfApi.create_commit
    others = iter(range(99))

    def late(self: HfApi, repo_id: str, operations: Any, **more: Any) -> Any:
        if next(others) < times:
            add = CommitOperationAdd(f"note-{next(others)}.txt", b"hello")
            commit(self, repo_id, [add], commit_message="meanwhile", repo_type="dataset")
        return commit(self, repo_id, operations, **more)

    monkeypatch.setattr(HfApi, "create_commit", late)
    times = 1
    push(hub_api, changed(scored, tmp_path / "second"), REPO)
    files = hub.files(REPO)
    assert sum(path.endswith("results.json") for path in files) == 2
    assert any(path.startswith("note-") for path in files)
    times = 99
    with pytest.raises(EvaluationError, match="3 times meanwhile; nothing was pushed"):
        push(hub_api, changed(scored, tmp_path / "third", signature="|third"), REPO)
    assert sum(path.endswith("results.json") for path in hub.files(REPO)) == 2


def test_names_of_models_lead_nowhere_and_break_no_table(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    nasty = changed(scored, tmp_path / "nasty", model="../../x | <b>`y`</b>\n# z")
    push(hub_api, nasty, REPO)
    (place,) = {p.rpartition("/")[0] for p in hub.files(REPO) if p.endswith("results.json")}
    assert ".." not in place.split("/")
    card = hub.files(REPO)["README.md"].decode()
    assert "<b>" not in card
    assert "\n# z" not in card
    (row,) = [line for line in card.splitlines() if "x \\|" in line]
    assert row.replace("\\|", "").count("|") == 10


def test_a_run_in_the_repository_that_is_none_is_said(
    hub: HubServer, hub_api: HfApi, scored: Path
) -> None:
    hub_api.create_repo(REPO, repo_type="dataset")
    add = CommitOperationAdd(f"runs/s/m/{'0' * 12}/results.json", b"{}")
    hub_api.create_commit(REPO, [add], commit_message="x", repo_type="dataset")
    with pytest.raises(EvaluationError, match=rf"{REPO}: runs/s/m/0+/results.json: no 'model'"):
        push(hub_api, scored, REPO)


@pytest.mark.parametrize("which", ["read_token", "stranger_token"])
def test_who_may_not_write_is_told_in_one_line_without_the_token(
    which: str,
    hub_clients: HubServer,
    scored: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = getattr(hub_clients, which)
    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN", token, raising=False)
    assert main(["push", str(scored), REPO]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("eval: the Hub refused (40")
    assert printed.err.count("\n") == 1
    assert token not in printed.err + printed.out


def test_no_folder_no_name_no_hub(
    hub_clients: HubServer,
    hub_sleeps: list[float],
    scored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for argv, said in (
        ((str(tmp_path), REPO), "expected a folder that python -m eval wrote"),
        ((str(scored), "a b/c d"), "expected USER/NAME"),
    ):
        assert main(["push", *argv]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
    hub_clients.stop()
    assert main(["push", str(scored), REPO]) == 2
    error = capsys.readouterr().err
    assert "nothing was pushed" in error
    assert error.count("\n") == 1


def test_a_block_for_the_models_own_card(scored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model-index", str(scored)]) == 0
    block = yaml.safe_load(capsys.readouterr().out)
    name, results = model_index_to_eval_results(block["model-index"])
    assert name == "demo"
    score = next(s for s in read_run(scored).scores if s.level == "all")
    assert [result.metric_value for result in results] == [round(score.score or 0, 4)]
    assert results[0].dataset_config == "toy_context"
