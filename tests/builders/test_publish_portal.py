"""Somebody else than the Hub answers a push: one line, and a release that is whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi
from support.commands import build_command, one_line
from support.hub.client import patch_clients
from support.hub.portal import INSTEAD, PAGE, UNREAD, WRITES, Portal, check_line, check_portal
from support.hub.server import HubServer
from support.toy import REPO, SUITE

from coherencegym.builders.command.cli import build_options, suite_parser
from coherencegym.builders.command.run import push_build
from coherencegym.builders.command.show import explain
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.release.publish import look_at_target, publish
from coherencegym.hub import AnswerError, hub_answers

Build = tuple[Path, dict[str, Any]]
Toy = Callable[[int], Build]

#: Every request of a push.
STEPS = [
    ("GET", f"/api/datasets/{REPO}"),
    ("GET", "/refs"),
    ("HEAD", "/resolve/"),
    ("GET", "/resolve/"),
    *WRITES,
    ("POST", "/tag/"),
]


def pushed(build: Build, version: str) -> tuple[int, str]:
    """What the command does with a build, and the exit code and the lines that it ends with."""
    argv = ["--push-to-hub", "--repo-id", REPO, "--version", version]
    request = build_options(suite_parser(SUITE).parse_args(argv))
    try:
        private, _ = look_at_target(request)
        lines = push_build(request, *build, private, lambda message: None)
    except Exception as error:
        return explain(error) or (1, f"Traceback: {error!r}")
    return 0, "\n".join(lines)


@pytest.fixture(scope="module")
def released(toy_build: Toy, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a repository to which a build of five stories was pushed."""
    with HubServer() as hub, pytest.MonkeyPatch.context() as patched:
        patch_clients(hub, tmp_path_factory.mktemp("hf_home"), patched)
        api = HfApi(endpoint=hub.url, token=hub.write_token)
        publish(api, *toy_build(5), BuildOptions(repo_id=REPO))
        return hub.files(REPO)


@pytest.mark.parametrize("instead", INSTEAD)
@pytest.mark.parametrize(("method", "path"), STEPS, ids=[f"{m} {p}" for m, p in STEPS])
def test_an_answer_that_is_not_the_hubs_is_one_line_and_the_next_push_finishes(
    hub_clients: HubServer,
    hub_sleeps: list[float],
    toy_build: Toy,
    released: dict[str, bytes],
    portal: Portal,
    method: str,
    path: str,
    instead: str,
) -> None:
    hub = hub_clients
    is_new = path == "/repos/create"
    if not is_new:
        hub.seed(REPO, released, tag="v1.0.0")
    old = {} if is_new else hub.files(REPO)
    build = toy_build(7)
    hub.faults.add(method=method, path_contains=path, times=99, answer=INSTEAD[instead](portal))
    code, said = pushed(build, "1.1.0")
    check_portal(portal)
    assert hub.faults.pending < 99
    hub.faults.clear()
    if (path, instead) in UNREAD:
        assert code == 0
    else:
        assert code == 2
        check_line(said, hub.write_token)
        assert is_new == (REPO not in hub.repositories())
        if not is_new:
            assert (hub.files(REPO) == old) == (path != "/tag/")
            assert set(hub.tags(REPO)) == {"v1.0.0"}
    assert pushed(build, "1.1.0")[0] == 0
    assert hub.tags(REPO)["v1.1.0"].target == hub.commits(REPO)[0].sha
    assert len(hub.commits(REPO)) == (2 if is_new else 3)
    manifest = json.loads(hub.files(REPO)["manifest.json"])
    assert manifest["configs"]["toy_context"]["splits"]["test"]["rows"] == 7


@pytest.mark.parametrize("path", ["/repos/create", "/commit/", "/tag/"])
def test_what_took_effect_though_a_page_answered_is_not_done_twice(
    hub_clients: HubServer, toy_build: Toy, path: str
) -> None:
    build = toy_build(5)
    hub_clients.faults.add(method="POST", path_contains=path, answer=PAGE, after=True)
    code, said = pushed(build, "1.0.0")
    assert code == 2
    check_line(said, hub_clients.write_token)
    assert pushed(build, "1.0.0")[0] == 0
    assert len(hub_clients.commits(REPO)) == 2
    assert hub_clients.tags(REPO)["v1.0.0"].target == hub_clients.commits(REPO)[0].sha


def test_the_command_names_the_host_and_keeps_the_build(
    hub_clients: HubServer, portal: Portal, capsys: pytest.CaptureFixture[str]
) -> None:
    hub_clients.faults.add(path_contains="/validate-yaml", answer=INSTEAD["307"](portal))
    argv = ("--corpus", "sample", "--output", "out", "--push-to-hub")
    assert build_command("story_cloze", *argv) == 2
    err = one_line(capsys.readouterr().err)
    host = hub_clients.url.removeprefix("http://")
    assert f"{host} redirects POST /api/validate-yaml to {portal.host}" in err
    assert hub_clients.write_token not in err
    assert Path("out/manifest.json").exists()
    check_portal(portal)


def test_a_page_of_a_refusal_is_not_taken_for_the_hubs(
    hub_clients: HubServer, toy_build: Toy, portal: Portal
) -> None:
    """A filter that blocks an address says 403, too; nobody has to log in for that."""
    build = toy_build(5)
    blocked = type(PAGE)(403, PAGE.body, PAGE.headers)
    hub_clients.faults.add(path_contains="/repos/create", answer=blocked)
    code, said = pushed(build, "1.0.0")
    assert code == 2
    assert "POST /api/repos/create with 403 (text/html)" in said
    assert "token" not in said


def test_mistakes_of_our_own_stay_what_they_are(hub_api: HfApi) -> None:
    hub_api.create_repo(REPO, repo_type="dataset")
    with pytest.raises(KeyError, match="ours"), hub_answers():
        dict[str, str]()[hub_api.dataset_info(REPO).id and "ours"]
    assert explain(KeyError("ours")) is None


def test_the_client_is_as_it_was_afterwards(hub: HubServer, hub_api: HfApi) -> None:
    hub.seed(REPO, {})
    for _ in range(2):
        hub.faults.add(path_contains="/api/", answer=PAGE)
    with pytest.raises(AnswerError), hub_answers():
        hub_api.dataset_info(REPO)
    with pytest.raises(json.JSONDecodeError):
        hub_api.dataset_info(REPO)


def test_storage_that_is_reached_by_another_client_is_not_laid_at_the_last_answers_door(
    hub_clients: HubServer,
    toy_build: Toy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Xet's client has no hooks; all that it says is that the network failed."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    hub_clients.faults.add(path_contains="/xet-write-token/", status=404, times=99)
    build = toy_build(5)
    code, said = pushed(build, "1.0.0")
    assert (code, said.partition(";")[0]) == (
        1,
        "the connection to the Hub broke (ConnectionError)",
    )


@pytest.mark.parametrize("name", ["a b/c d", "toy_order", "a/b/c"])
def test_no_name_of_a_repository_is_said_before_anything_is_built(
    hub_clients: HubServer, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    argv = ("--corpus", "sample", "--push-to-hub", "--repo-id", name)
    assert build_command("story_cloze", *argv) == 2
    assert "expected USER/NAME" in one_line(capsys.readouterr().err)
    assert hub_clients.requests == []
    assert not Path("suites").exists()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in an empty folder."""
    monkeypatch.chdir(tmp_path)
