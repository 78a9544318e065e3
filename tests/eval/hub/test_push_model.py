"""Scores in a model's own repository, by the real client against a server on the loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import HfApi, parse_eval_result_entries
from support.commands import one_line
from support.hub.portal import PAGE
from support.hub.server import HubServer
from support.runs import changed_copy

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.formats import push_to_model
from coherencegym.eval.results.folder import read_results

#: A model of somebody else's: alice, who pushes, may only propose.
MODEL = "bob/model"
COMMIT = "c0ffee" * 6 + "c0ff"
FILE = ".eval_results/coherencegym__me__toy.yaml"
#: Entries of others, with a key that no client knows.
OTHER_FILE = ".eval_results/me__toy.yaml"
THEIRS = """\
# What the authors measured.
- dataset:
    id: me/toy
    task_id: toy_context
    unheard_of: 1
  value: 0.5
  notes: by hand
"""
PUSH = ("--format", "eval-results", "--create-pr")


def on_the_hub(content: dict[str, Any]) -> None:
    content["dataset"] |= {"repo": "me/toy", "name": "me/toy", "commit": COMMIT}


@pytest.fixture
def run(scored: Path, tmp_path: Path) -> Path:
    """Results on a dataset of the Hub."""
    return changed_copy(scored, tmp_path / "run", on_the_hub)


@pytest.fixture
def model(hub_clients: HubServer) -> HubServer:
    """A Hub with the model, in which others have put results."""
    hub_clients.seed(MODEL, {"config.json": b"{}", OTHER_FILE: THEIRS.encode()})
    return hub_clients


def proposed(hub: HubServer, number: int = 1) -> str:
    """The file in a pull request."""
    return hub.files(MODEL, f"refs/pr/{number}")[FILE].decode()


def test_a_pull_request_adds_to_what_is_there(
    model: HubServer, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = model.files(MODEL)
    assert main(["push", str(run), MODEL, *PUSH, "--source-url", "https://e.org"]) == 0
    assert f"{model.url}/{MODEL}/discussions/1" in capsys.readouterr().out
    assert model.files(MODEL, "refs/pr/1")[OTHER_FILE].decode() == THEIRS
    (ours,) = parse_eval_result_entries(yaml.safe_load(proposed(model)))
    score = next(one for one in read_results(run).rows if one.level == "all")
    assert (ours.dataset_id, ours.task_id, ours.dataset_revision) == (
        "me/toy",
        "toy_context",
        COMMIT,
    )
    assert ours.value == round(score.score or 0, 4)
    assert (ours.source_url, ours.source_name) == ("https://e.org", "CoherenceGym")
    assert str(ours.notes).endswith(f"signature {read_results(run).signature}")
    assert len(str(ours.date)) == len("2026-11-27")
    # Nothing of the model's own branch has changed.
    assert model.files(MODEL) == before


def test_what_is_proposed_or_there_is_not_pushed_again(
    model: HubServer, hub_api: HfApi, run: Path, tmp_path: Path
) -> None:
    assert push_to_model(hub_api, [run], MODEL, create_pr=True).commit
    again = push_to_model(hub_api, [run], MODEL, create_pr=True)
    assert (again.commit, again.lines[-1]) == (
        "",
        f"{MODEL} has these results in pull request #1 already",
    )
    # Another run is another pull request, of the same title.
    other = changed_copy(run, tmp_path / "other", lambda content: None)
    assert push_to_model(hub_api, [other], MODEL, create_pr=True).commit
    assert len(yaml.safe_load(proposed(model, 2))) == 1
    # Its owners have merged the first.
    model.seed(MODEL, {FILE: proposed(model).encode()})
    assert "has these results already" in push_to_model(hub_api, [run], MODEL).lines[-1]
    assert len(model.commits(MODEL)) == 3


def test_owners_need_no_pull_request(hub_clients: HubServer, hub_api: HfApi, run: Path) -> None:
    mine = "coherencegym/model"
    earlier = [{"dataset": {"id": "me/toy", "task_id": "toy_context"}, "value": 0.5}]
    hub_clients.seed(mine, {FILE: yaml.safe_dump(earlier).encode()})
    assert push_to_model(hub_api, [run], mine, dry_run=True).commit == ""
    assert push_to_model(hub_api, [run], mine).commit == hub_clients.commits(mine)[0].sha
    made = hub_clients.files(mine)[FILE].decode()
    assert yaml.safe_load(made)[:1] == earlier
    assert len(yaml.safe_load(made)) == 2


@pytest.mark.parametrize("content", [b"a: [\n", b"a: 1\n", b"- a\n--- \n- b\n"])
def test_a_file_that_is_no_list_is_left_alone(
    model: HubServer, hub_api: HfApi, run: Path, content: bytes
) -> None:
    model.seed(MODEL, {FILE: content})
    with pytest.raises(EvaluationError, match=r"me__toy\.yaml: no list of results in YAML; noth"):
        push_to_model(hub_api, [run], MODEL, create_pr=True)


@pytest.mark.parametrize("fault", [{"status": 503}, {"cut": True}, {"answer": PAGE}])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/discussions"), ("GET", "/resolve/"), ("POST", "/preupload/"), ("POST", "/commit/")],
)
def test_a_fault_leaves_nothing_and_the_next_push_does_it(
    model: HubServer,
    hub_sleeps: list[float],
    run: Path,
    capsys: pytest.CaptureFixture[str],
    method: str,
    path: str,
    fault: dict[str, Any],
) -> None:
    model.faults.add(method=method, path_contains=path, times=6, **fault)
    assert main(["push", str(run), MODEL, *PUSH]) == 2
    one_line(capsys.readouterr().err)
    assert not model.pull_requests(MODEL)
    model.faults.clear()
    assert main(["push", str(run), MODEL, *PUSH]) == 0
    assert model.pull_requests(MODEL) == [1]


def test_a_pull_request_whose_answer_was_lost_is_found(model: HubServer, run: Path) -> None:
    model.faults.add(method="POST", path_contains="/commit/", cut=True, after=True)
    assert main(["push", str(run), MODEL, *PUSH]) == 2
    assert main(["push", str(run), MODEL, *PUSH]) == 0
    assert model.pull_requests(MODEL) == [1]


def test_what_cannot_be_pushed_is_one_line(
    model: HubServer, scored: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def other(content: dict[str, Any]) -> None:
        content["model"]["name"] = "other/model"

    another = changed_copy(run, tmp_path / "another", other)
    for words, said in (
        ([str(scored), MODEL, *PUSH], "were not read from the Hub"),
        ([str(run), str(another), MODEL, *PUSH], "results of 2 models (demo, other/model)"),
        ([str(run), "bob/none", *PUSH], "bob/none: no model repository of this name"),
        ([str(run), MODEL, "--create-pr"], "--create-pr: expected --format eval-results"),
        ([str(run), MODEL, *PUSH, "--private"], "--private: expected --format runs with it"),
    ):
        assert main(["push", *words]) == 2
        assert said in one_line(capsys.readouterr().err)
    assert not model.pull_requests(MODEL)
