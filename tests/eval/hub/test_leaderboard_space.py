"""Leaderboards and the Hub: results that were pushed make one, and a static Space holds it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from support.commands import one_line
from support.hub.server import HubServer
from support.runs import OPEN, changed_copy, score

from coherencegym.__main__ import main
from coherencegym.errors import EvaluationError
from coherencegym.eval.hub.fetch_results import fetch_results
from coherencegym.eval.hub.push_leaderboard import leaderboard_files, push_leaderboard
from coherencegym.eval.hub.push_results import push_results
from coherencegym.eval.kinds.items import Item
from coherencegym.files.folders import written_beside

RESULTS = "coherencegym/results"
SPACE = "coherencegym/leaderboard"
KEY = f"spaces/{SPACE}"
FILES = {
    "index.html": b"<!DOCTYPE html>one",
    "leaderboard.json": b"{}",
    "models/a-0123456789.html": b"a",
}


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> list[Path]:
    """Results of the demo model, and the same as of another model."""
    from datasets import Value

    folder = tmp_path_factory.mktemp("runs")
    data = write_dataset(folder / "data", pair_items, extra={"moved": Value("bool")}, **OPEN)
    one = score(data, "demo", folder / "one")
    return [one, changed_copy(one, folder / "two", lambda c: c["model"].update(name="you/two"))]


def tree(hub: HubServer) -> dict[str, bytes]:
    """The files of the Space."""
    return hub.files(KEY)


def test_results_that_were_pushed_make_a_leaderboard(
    hub: HubServer, hub_api: HfApi, runs: list[Path], tmp_path: Path
) -> None:
    push_results(hub_api, runs, RESULTS)
    assert main(["leaderboard", RESULTS, "--output", str(tmp_path / "hub")]) == 0
    assert main(["leaderboard", *map(str, runs), "--output", str(tmp_path / "here")]) == 0
    ours, theirs = (leaderboard_files(tmp_path / name) for name in ("here", "hub"))
    assert set(ours) == set(theirs)
    different = {path for path in ours if ours[path] != theirs[path]}
    assert different == {"index.html", "leaderboard.json"}  # which say of what they are made
    sha = hub.commits(RESULTS)[0].sha
    assert f"2 runs of {RESULTS} at {sha[:10]}" in theirs["index.html"].decode()


def test_a_repository_without_runs_is_no_source(
    hub: HubServer, hub_api: HfApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.seed("coherencegym/other", {"runs/../../../0123456789ab/results.json": b"{}"})
    with pytest.raises(EvaluationError, match="no runs in it"):
        fetch_results(hub_api, "coherencegym/other")
    assert main(["leaderboard", "me/nothing", "--output", str(tmp_path / "out")]) == 2
    said = one_line(capsys.readouterr().err)
    assert (
        "me/nothing: no such folder, and no dataset repository that this account may read" in said
    )
    assert not (tmp_path / "out").exists()


def test_a_push_is_one_commit_with_a_card_that_makes_it_static(
    hub: HubServer, hub_api: HfApi, runs: list[Path], tmp_path: Path
) -> None:
    words = ["leaderboard", str(runs[0]), "--output", str(tmp_path / "out"), "--title", 'A "b": c']
    assert main([*words, "--push-space", SPACE]) == 0
    files = tree(hub)
    card = files.pop("README.md").decode()
    assert re.match(r"---\ntitle: 'A \"b\": c'\nsdk: static\napp_file: index.html\n", card)
    files.pop(".gitattributes")
    assert files == leaderboard_files(tmp_path / "out")  # and nothing of what the Hub had put there
    assert len(hub.commits(KEY)) == 2  # with the Hub's own
    (creation,) = (r for r in hub.requests if r.path == "/api/repos/create")
    assert creation.status == 200


def test_the_same_leaderboard_is_no_commit_and_a_new_one_replaces_the_old(
    hub: HubServer, hub_api: HfApi
) -> None:
    push_leaderboard(hub_api, FILES, SPACE, "Title")
    again = push_leaderboard(hub_api, FILES, SPACE, "Title")
    assert (again.commit, again.lines) == ("", [f"{SPACE} has this leaderboard already"])
    head = hub.commits(KEY)[0].sha
    own = [CommitOperationAdd("LICENSE", b"mine"), CommitOperationAdd("models.txt", b"mine")]
    hub_api.create_commit(SPACE, own, commit_message="own", repo_type="space", parent_commit=head)
    new = {**FILES, "index.html": b"two", "models/b-0123456789.html": b"b"}
    new.pop("models/a-0123456789.html")
    pushed = push_leaderboard(hub_api, new, SPACE, "Another title")
    assert "  delete models/a-0123456789.html" in pushed.lines
    assert "  replace index.html (3 bytes)" in pushed.lines
    files = tree(hub)
    assert set(files) == {*new, "LICENSE", "models.txt", "README.md", ".gitattributes"}
    assert b"title: Title\n" in files["README.md"]  # its owner's from then on
    assert len(hub.commits(KEY)) == 4


def test_a_dry_run_asks_for_reading_only(
    hub: HubServer, hub_api: HfApi, runs: list[Path], tmp_path: Path, capsys: Any
) -> None:
    words = ["leaderboard", str(runs[0]), "--output", str(tmp_path / "out")]
    assert main([*words, "--push-space", SPACE, "--private", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert f"{SPACE} is not there: would be made, private" in said
    assert re.search(r"^  add index\.html \([\d,]+ bytes\)$", said, re.MULTILINE)
    assert f"would be pushed to the Space {SPACE}" in said
    assert hub.repositories() == []
    assert not (tmp_path / "out").exists()
    assert {request.method for request in hub.requests} == {"GET"}


def test_private_is_made_so_and_a_public_one_is_refused(hub: HubServer, hub_api: HfApi) -> None:
    push_leaderboard(hub_api, FILES, SPACE, "Title", private=True)
    assert hub_api.space_info(SPACE).private
    push_leaderboard(hub_api, FILES, "coherencegym/open", "Title")
    with pytest.raises(EvaluationError, match="exists and is public"):
        push_leaderboard(hub_api, FILES, "coherencegym/open", "Title", private=True)


def test_somebody_elses_space_is_left_alone(hub: HubServer, hub_api: HfApi) -> None:
    hub.seed(KEY, {"index.html": b"my own page"})
    before = tree(hub)
    with pytest.raises(
        EvaluationError, match="no leaderboard's Space, and its files are not replaced"
    ):
        push_leaderboard(hub_api, FILES, SPACE, "Title")
    assert tree(hub) == before
    card = b"---\ntitle: x\nsdk: gradio\n---\n"
    hub.seed(KEY, {**FILES, "README.md": card})
    with pytest.raises(EvaluationError, match="does not say `sdk: static`"):
        push_leaderboard(hub_api, {**FILES, "index.html": b"new"}, SPACE, "Title")
    assert tree(hub)["README.md"] == card


def test_a_space_that_was_made_but_never_filled_is_taken(hub: HubServer, hub_api: HfApi) -> None:
    hub_api.create_repo(SPACE, repo_type="space", space_sdk="static")
    push_leaderboard(hub_api, FILES, SPACE, "Title")
    assert set(tree(hub)) == {*FILES, "README.md", ".gitattributes"}


def test_a_commit_of_somebody_else_in_between_is_read_again(
    hub: HubServer, hub_api: HfApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    push_leaderboard(hub_api, FILES, SPACE, "Title")
    real = HfApi.create_commit
    beaten: list[str] = []

    def late(self: HfApi, *arguments: Any, **options: Any) -> Any:
        if not beaten:
            beaten.append(hub.seed(KEY, {"LICENSE": b"mine"}))
        return real(self, *arguments, **options)

    monkeypatch.setattr(HfApi, "create_commit", late)
    push_leaderboard(hub_api, {**FILES, "index.html": b"two"}, SPACE, "Title")
    assert tree(hub)["index.html"] == b"two"
    assert tree(hub)["LICENSE"] == b"mine"
    assert hub.commits(KEY)[0].parent == beaten[0]


def test_one_who_keeps_committing_is_told_of(
    hub: HubServer, hub_api: HfApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = HfApi.create_commit
    count = iter(range(100))

    def late(self: HfApi, *arguments: Any, **options: Any) -> Any:
        hub.seed(KEY, {"leaderboard.json": b"{}", "note": str(next(count)).encode()})
        return real(self, *arguments, **options)

    monkeypatch.setattr(HfApi, "create_commit", late)
    with pytest.raises(EvaluationError, match="somebody else committed 3 times meanwhile"):
        push_leaderboard(hub_api, FILES, SPACE, "Title")
    assert "index.html" not in tree(hub) or tree(hub)["index.html"] != FILES["index.html"]


def test_a_refusal_is_one_line_and_the_leaderboard_stays_here(
    hub: HubServer,
    runs: list[Path],
    tmp_path: Path,
    hub_clients: HubServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["leaderboard", str(runs[0]), "--output", str(tmp_path / "out")]
    assert main([*words, "--push-space", "bob/leaderboard"]) == 2
    said = one_line(capsys.readouterr().err)
    assert "the Hub refused (403): this token may not write there" in said
    assert (tmp_path / "out/index.html").is_file()
    assert hub.repositories() == []


def test_files_are_those_of_the_folder(tmp_path: Path) -> None:
    with written_beside(tmp_path / "out", False, "leaderboard.json") as work:
        (work / "models").mkdir()
        for path, content in FILES.items():
            (work / path).write_bytes(content)
    assert leaderboard_files(tmp_path / "out") == FILES
