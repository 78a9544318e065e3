"""Publishing with the real clients: one commit, one tag, nothing lost, nothing half-done."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError
from huggingface_hub.utils import httpx  # type: ignore[attr-defined]
from support.hub.client import NO_PARQUET_EXPORT, run_python
from support.hub.server import HubServer
from support.toy import REPO, Texts, stories, toy_corpus

from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.release.changes import PublishError
from coherencegym.builders.release.publish import publish, publishable
from coherencegym.eval.data.source import published_part
from coherencegym.loaders.corpus import Corpus

Make = Callable[..., tuple[Path, dict[str, Any]]]
Toy = Callable[[int], tuple[Path, dict[str, Any]]]


def push(api: HfApi, build: tuple[Path, dict[str, Any]], **options: Any) -> list[str]:
    return publish(api, *build, BuildOptions(repo_id=REPO, **options))


def head_manifest(hub: HubServer, revision: str = "main") -> dict[str, Any]:
    manifest = json.loads(hub.files(REPO, revision)["manifest.json"])
    assert isinstance(manifest, dict)
    return manifest


def card_yaml(hub: HubServer) -> dict[str, Any]:
    text = hub.files(REPO)["README.md"].decode()
    block = yaml.safe_load(text.split("---\n")[1])
    assert isinstance(block, dict)
    return block


def test_a_release_is_one_commit_and_one_annotated_tag(
    hub: HubServer, hub_api: HfApi, toy_build: Toy
) -> None:
    outcome = push(hub_api, toy_build(5))
    commits = hub.commits(REPO)
    assert len(commits) == 2  # the Hub's own first one, and the release
    assert list(hub.tags(REPO)) == ["v1.0.0"]
    assert hub.tags(REPO)["v1.0.0"].target == commits[0].sha
    assert commits[0].sha[:10] in outcome[-1]
    assert hub.tags(REPO)["v1.0.0"].message
    assert set(hub.files(REPO)) == {
        ".gitattributes",
        "README.md",
        "eval.yaml",
        "manifest.json",
        "quality.json",
        "baselines/toy_context/test-00000-of-00001.parquet",
        "data/toy_context/test-00000-of-00001.parquet",
        "hashes/toy_context-test.parquet",
    }


def test_publishing_the_same_again_does_nothing(
    hub: HubServer, hub_api: HfApi, make_build: Make
) -> None:
    corpus = toy_corpus("toy", {"test": stories(0, 5)})
    push(hub_api, make_build(corpus))
    hub.clear_requests()
    outcome = push(hub_api, make_build(corpus))
    assert "nothing to do" in outcome[-1]
    assert {request.method for request in hub.requests} <= {"GET", "HEAD"}


def test_a_missing_tag_is_made_and_nothing_else(
    hub: HubServer, hub_api: HfApi, toy_build: Toy
) -> None:
    build = toy_build(5)
    push(hub_api, build)
    head = hub.commits(REPO)[0].sha
    hub_api.delete_tag(REPO, tag="v1.0.0", repo_type="dataset")
    push(hub_api, build)
    assert hub.commits(REPO)[0].sha == head
    assert hub.tags(REPO)["v1.0.0"].target == head


@pytest.mark.parametrize(
    ("texts", "least"),
    [
        ({"test": stories(0, 6)}, "1.1.0"),
        ({"test": stories(0, 5), "validation": stories(5, 9)}, "1.1.0"),
        ({"test": stories(0, 5, " home")}, "2.0.0"),
        ({"test": stories(0, 4)}, "2.0.0"),
    ],
)
def test_changed_rows_need_a_raised_version(
    hub: HubServer, hub_api: HfApi, make_build: Make, toy_build: Toy, texts: Any, least: str
) -> None:
    push(hub_api, toy_build(5))
    head = hub.commits(REPO)[0].sha
    objects = hub.lfs_objects(REPO)
    build = make_build(toy_corpus("toy", texts))
    for version in ("", "1.0.0", "1.0.1"):
        with pytest.raises(PublishError, match=f"pass --version {least}"):
            push(hub_api, build, version=version)
    assert hub.commits(REPO)[0].sha == head
    assert hub.lfs_objects(REPO) == objects
    push(hub_api, build, version=least)
    assert set(hub.tags(REPO)) == {"v1.0.0", f"v{least}"}


def test_a_tag_that_is_taken_is_no_version_of_another_release(
    hub: HubServer, hub_api: HfApi, toy_build: Toy
) -> None:
    """A commit whose tag stands elsewhere already would stay without one."""
    push(hub_api, toy_build(5))
    for tag in ("v1.1.0", "v1.2.0"):
        hub_api.create_tag(REPO, tag=tag, repo_type="dataset")
    before = hub.commits(REPO)
    objects = hub.lfs_objects(REPO)
    build = toy_build(6)
    with pytest.raises(PublishError, match=r"1\.1\.0 cannot follow 1\.0\.0 .*--version 1\.3\.0"):
        push(hub_api, build, version="1.1.0")
    assert hub.commits(REPO) == before
    assert hub.lfs_objects(REPO) == objects
    push(hub_api, build, version="1.3.0")
    assert hub.tags(REPO)["v1.3.0"].target == hub.commits(REPO)[0].sha


def test_a_tag_without_a_release_is_no_version_of_the_first(
    hub: HubServer, hub_api: HfApi, toy_build: Toy
) -> None:
    hub.seed(REPO, {"notes.txt": b"ours"}, tag="v1.0.0")
    before = hub.commits(REPO)
    build = toy_build(5)
    with pytest.raises(PublishError, match=r"a tag v1\.0\.0 without a release; raise --version"):
        push(hub_api, build)
    assert hub.commits(REPO) == before
    outcome = push(hub_api, build, version="1.0.1")
    assert hub.tags(REPO)["v1.0.1"].target[:10] in outcome[-1]


def test_the_configs_of_others_stay(
    hub: HubServer, hub_api: HfApi, make_build: Make, toy_build: Toy
) -> None:
    push(hub_api, make_build(toy_corpus("theirs", {"test": stories(0, 5)})))
    ours = toy_build(5)
    with pytest.raises(PublishError, match=r"minor change, pass --version 1\.1\.0"):
        push(hub_api, ours)
    outcome = push(hub_api, ours, version="1.1.0")
    assert any("kept, not made by this build: theirs_context" in line for line in outcome)
    manifest = head_manifest(hub)
    assert set(manifest["configs"]) == {"theirs_context", "toy_context"}
    assert [c["default"] for c in manifest["configs"].values()].count(True) == 1
    assert manifest["configs"]["toy_context"]["default"]  # of the better rank
    assert {c["config_name"] for c in card_yaml(hub)["configs"]} == set(manifest["configs"])
    assert "data/theirs_context/test-00000-of-00001.parquet" in hub.files(REPO)
    # Whoever has the other corpus publishes again: nothing to do, at the later version.
    again = push(hub_api, make_build(toy_corpus("theirs", {"test": stories(0, 5)})))
    assert "nothing to do" in again[-1]


def test_all_splits_are_built_or_dropped(
    hub: HubServer, hub_api: HfApi, make_build: Make, toy_build: Toy
) -> None:
    texts = {"test": stories(0, 5), "validation": stories(5, 9)}
    push(hub_api, make_build(toy_corpus("toy", texts)))
    said = refused(hub_api, toy_build(7), version="1.1.0")
    assert "toy_context: the release also has its split validation" in said
    outcome = push(hub_api, toy_build(7), version="2.0.0", prune=True)
    assert "  removed by --prune: toy_context/validation" in outcome
    assert not [path for path in hub.files(REPO) if "validation" in path]


def test_prune_removes_and_says_so(
    hub: HubServer, hub_api: HfApi, make_build: Make, toy_build: Toy
) -> None:
    push(hub_api, make_build(toy_corpus("theirs", {"test": stories(0, 5)})))
    hub.seed(REPO, {"notes.txt": b"somebody's own"})
    ours = toy_build(5)
    with pytest.raises(PublishError, match=r"removed: theirs_context.*--version 2\.0\.0"):
        push(hub_api, ours, prune=True)
    for dry_run in (True, False):
        outcome = push(hub_api, ours, prune=True, version="2.0.0", dry_run=dry_run)
        said = f"  {'would be ' * dry_run}removed by --prune: theirs_context"
        assert said in outcome
    files = hub.files(REPO)
    assert not [path for path in files if "theirs" in path]
    assert files["notes.txt"] == b"somebody's own"
    assert set(head_manifest(hub)["configs"]) == {"toy_context"}


def test_the_merge_is_redone_when_somebody_else_was_first(
    hub: HubServer,
    hub_api: HfApi,
    make_build: Make,
    toy_build: Toy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = make_build(toy_corpus("theirs", {"test": stories(0, 5)}))
    ours = toy_build(5)
    hub_api.create_repo(REPO, repo_type="dataset")
    create_commit, calls = hub_api.create_commit, 0

    def late(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            push(HfApi(endpoint=hub.url, token=hub.write_token), theirs)
        return create_commit(*args, **kwargs)

    monkeypatch.setattr(hub_api, "create_commit", late)
    outcome = push(hub_api, ours, version="1.1.0")
    assert calls == 2
    assert f"published {REPO} v1.1.0" in outcome[-1]
    assert set(head_manifest(hub)["configs"]) == {"theirs_context", "toy_context"}
    assert set(head_manifest(hub, "v1.0.0")["configs"]) == {"theirs_context"}


def test_three_stale_parents_are_an_error(
    hub: HubServer, hub_api: HfApi, toy_build: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = toy_build(5)
    create_commit = hub_api.create_commit
    calls = 0

    def late(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        hub.seed(REPO, {"notes.txt": str(calls).encode()})
        return create_commit(*args, **kwargs)

    monkeypatch.setattr(hub_api, "create_commit", late)
    with pytest.raises(PublishError, match="3 times"):
        push(hub_api, build)
    assert calls == 3
    assert hub.tags(REPO) == {}
    assert "manifest.json" not in hub.files(REPO)


def test_the_tag_is_on_the_release_and_not_on_what_came_after(
    hub: HubServer, hub_api: HfApi, toy_build: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_commit = hub_api.create_commit

    def followed(*args: Any, **kwargs: Any) -> Any:
        commit = create_commit(*args, **kwargs)
        hub.seed(REPO, {"notes.txt": b"somebody was quick"})
        return commit

    monkeypatch.setattr(hub_api, "create_commit", followed)
    outcome = push(hub_api, toy_build(5))
    assert hub.tags(REPO)["v1.0.0"].target != hub.commits(REPO)[0].sha
    assert hub.tags(REPO)["v1.0.0"].target[:10] in outcome[-1]


def test_a_private_release_is_for_its_owners(
    hub: HubServer, hub_api: HfApi, toy_build: Toy
) -> None:
    push(hub_api, toy_build(5), private=True)
    stranger = HfApi(endpoint=hub.url, token=hub.stranger_token)
    with pytest.raises(RepositoryNotFoundError):
        stranger.dataset_info(REPO)
    assert hub_api.dataset_info(REPO).private


def test_a_read_only_token_publishes_nothing(
    hub: HubServer, toy_build: Toy, hub_clients: Any
) -> None:
    api = HfApi(endpoint=hub.url, token=hub.read_token)
    with pytest.raises(HfHubHTTPError) as caught:
        push(api, toy_build(5))
    assert caught.value.response.status_code in (401, 403)
    assert hub.repositories() == []
    assert hub.read_token not in str(caught.value)


def test_a_dry_run_only_reads(hub: HubServer, hub_api: HfApi, toy_build: Toy) -> None:
    push(hub_api, toy_build(5))
    hub.clear_requests()
    build = toy_build(6)
    outcome = push(hub_api, build, version="1.1.0", dry_run=True)
    assert {request.method for request in hub.requests} <= {"GET", "HEAD"}
    text = "\n".join(outcome)
    assert "replace data/toy_context/test-00000-of-00001.parquet" in text
    assert "rows toy_context/test: 1 added" in text
    assert "tag v1.1.0, change: minor" in text


def test_a_foreign_dataset_is_left_alone(hub: HubServer, hub_api: HfApi, toy_build: Toy) -> None:
    hub.seed(REPO, {"README.md": b"# Mine", "data/train.parquet": b"PAR1"})
    with pytest.raises(PublishError, match=r"without manifest\.json"):
        push(hub_api, toy_build(5))


def test_another_suite_is_left_alone(hub: HubServer, hub_api: HfApi, toy_build: Toy) -> None:
    folder, manifest = toy_build(5)
    push(hub_api, (folder, manifest | {"suite": "other"}))
    with pytest.raises(PublishError, match="holds the suite other"):
        push(hub_api, (folder, manifest))


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (
            '{"format": 99, "configs": {}}',
            "format 99; expected 1 .a newer release of this program may read it.",
        ),
        ('{"format": 1', ":1: not JSON at character 13"),
        ('{"format": 1, "suite": "s", "version": 1, "configs": {}}', "version: 1; expected a str"),
        (
            '{"format": 1, "suite": "s", "version": "1.0.0", "configs": {"a": {"kind": "items"}}}',
            "configs.a: no 'rank'; expected an object with it",
        ),
    ],
)
def test_a_broken_manifest_on_the_hub_is_one_line(
    hub: HubServer, hub_api: HfApi, toy_build: Toy, manifest: str, said: str
) -> None:
    hub.seed(REPO, {"manifest.json": manifest.encode()})
    with pytest.raises(PublishError, match=f"^{REPO}/manifest.json:? ?{said}"):
        push(hub_api, toy_build(5))


def test_configs_that_may_not_be_published_are_held_back(make_build: Make) -> None:
    _, manifest = make_build(
        toy_corpus("toy", {"test": stories(0, 5)}),
        toy_corpus("closed", {"test": stories(0, 5)}, licence="other"),
        toy_corpus("mixed", {"test": stories(0, 5)}, document_licences={"s3": "other"}),
    )
    public, held = publishable(manifest, private=False)
    assert held == ["closed_context", "mixed_context"]
    answers = {name: published_part(manifest, name) for name in manifest["configs"]}
    expected = {"toy_context": "yes", "mixed_context": "in part", "closed_context": "no"}
    assert answers == expected
    assert list(public["configs"]) == ["toy_context"]
    assert publishable(manifest, private=True) == (manifest, [])


def closed_texts(splits: Texts, **documents: str) -> Corpus:
    """A corpus of which nothing may be published, or no document that is named as such."""
    licence = "CC0-1.0" if documents else "other"
    return toy_corpus("shut", splits, licence=licence, document_licences=documents)


def made_public(api: HfApi, release: tuple[Path, dict[str, Any]]) -> None:
    """Publish it privately, and open the repository afterwards."""
    push(api, release, private=True)
    api.update_repo_settings(REPO, private=False, repo_type="dataset")


def refused(api: HfApi, release: tuple[Path, dict[str, Any]], **options: Any) -> str:
    """What is said of a release that may not be made; nothing was uploaded."""
    before = api.dataset_info(REPO).sha
    with pytest.raises(PublishError) as caught:
        push(api, release, **options)
    assert api.dataset_info(REPO).sha == before
    assert len(str(caught.value)) < 300
    return str(caught.value)


def test_what_was_private_is_not_kept_by_a_public_commit(
    hub: HubServer, hub_api: HfApi, make_build: Make, toy_build: Toy
) -> None:
    made_public(hub_api, make_build(closed_texts({"test": stories(0, 5)})))
    objects = hub.lfs_objects(REPO)
    said = refused(hub_api, toy_build(5), version="1.1.0")
    assert said.startswith(f"{REPO} is public and would hold configs that may not be published")
    assert "shut_context" in said
    assert hub.lfs_objects(REPO) == objects
    assert list(hub.tags(REPO)) == ["v1.0.0"]
    # Neither does a tag that is missing come onto such a commit.
    hub_api.delete_tag(REPO, tag="v1.0.0", repo_type="dataset")
    release = make_build(closed_texts({"test": stories(0, 5)}))
    assert "shut_context" in refused(hub_api, release)
    assert hub.tags(REPO) == {}
    outcome = push(hub_api, toy_build(5), version="2.0.0", prune=True)
    assert b"shut" not in b"".join(hub.files(REPO).values())
    assert f"earlier commits of {REPO} hold what may not be published" in str(outcome)


def test_a_private_repository_keeps_it(hub_api: HfApi, make_build: Make, toy_build: Toy) -> None:
    push(hub_api, make_build(closed_texts({"test": stories(0, 5)})), private=True)
    outcome = push(hub_api, toy_build(5), version="1.1.0")
    assert f"published {REPO} v1.1.0" in outcome[-1]


def test_a_name_that_is_known_to_be_closed_wins_over_a_manifest(
    hub: HubServer, hub_api: HfApi, make_build: Make, toy_build: Toy
) -> None:
    push(hub_api, make_build(closed_texts({"test": stories(0, 5)})), private=True)
    claims = head_manifest(hub)
    config = claims["configs"]["shut_context"]
    config |= {"republishable": True, "licences": {"CC0-1.0": 5}}
    config["corpus"] |= {"name": "storycloze", "licence": "CC0-1.0", "text_licence": "CC0-1.0"}
    hub.seed(REPO, {"manifest.json": json.dumps(claims).encode()})
    hub_api.update_repo_settings(REPO, private=False, repo_type="dataset")
    assert "shut_context" in refused(hub_api, toy_build(5), version="1.1.0")
    config["corpus"]["name"] = "toy"
    config["corpus"]["licence"] = "CC-BY-NC-ND-4.0"
    hub.seed(REPO, {"manifest.json": json.dumps(claims).encode()})
    assert "shut_context" in refused(hub_api, toy_build(5), version="1.1.0")


def test_data_that_no_manifest_describes_is_not_kept(
    hub: HubServer, hub_api: HfApi, toy_build: Toy
) -> None:
    push(hub_api, toy_build(5))
    hub.seed(REPO, {"data/storycloze/test-00000-of-00001.parquet": b"PAR1", "notes.txt": b"mine"})
    said = refused(hub_api, toy_build(6), version="1.1.0")
    assert "files that no manifest describes: data/storycloze/test-00000-of" in said
    push(hub_api, toy_build(6), version="1.1.0", prune=True)
    assert "storycloze" not in str(hub.files(REPO).keys())
    assert hub.files(REPO)["notes.txt"] == b"mine"


# What cuts a push off ---------------------------------------------------------------------------

STEPS = [
    ("GET", "/api/datasets/coherencegym/toy_order"),
    ("GET", "/refs"),
    ("HEAD", "/resolve/"),
    ("POST", "/preupload/"),
    ("POST", "/objects/batch"),
    ("PUT", ""),
    ("POST", "/verify"),
    ("POST", "/commit/"),
    ("POST", "/tag/"),
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", ["503", "cut"])
@pytest.mark.parametrize(("method", "path"), STEPS, ids=[path or method for method, path in STEPS])
def test_a_push_that_is_cut_off_leaves_the_old_release_and_can_be_finished(
    hub: HubServer,
    hub_api: HfApi,
    hub_sleeps: list[float],
    toy_build: Toy,
    method: str,
    path: str,
    kind: str,
    after: bool,
) -> None:
    push(hub_api, toy_build(5))
    old = hub.files(REPO, "v1.0.0")
    build = toy_build(7)
    status = None if kind == "cut" else int(kind)
    hub.faults.add(
        method=method, path_contains=path, status=status, cut=kind == "cut", times=99, after=after
    )
    with pytest.raises((HfHubHTTPError, RuntimeError, OSError, httpx.HTTPError)):
        push(hub_api, build, version="1.1.0")
    # What the client retries it waits for, half a minute in all; the waits are noted, not spent.
    retried = path in ("/preupload/", "/objects/batch", "", "/verify")
    retried |= path == "/resolve/" and kind != "cut"
    assert (max(hub_sleeps, default=0) == 8) == retried
    hub.faults.clear()
    assert hub.files(REPO, "v1.0.0") == old
    assert "v1.1.0" not in hub.tags(REPO) or (path == "/tag/" and after)
    whole = hub.files(REPO)
    if whole != old:  # the commit took effect, so all of it did
        assert json.loads(whole["manifest.json"])["version"] == "1.1.0"
        assert path in ("/commit/", "/tag/")
    outcome = push(hub_api, build, version="1.1.0")
    assert " v1.1.0 " in outcome[-1]
    assert hub.tags(REPO)["v1.1.0"].target == hub.commits(REPO)[0].sha
    assert head_manifest(hub)["configs"]["toy_context"]["splits"]["test"]["rows"] == 7
    assert len(hub.commits(REPO)) == 3  # the Hub's own, and one for each release


def test_one_failed_upload_is_waited_for_and_repeated(
    hub: HubServer, hub_api: HfApi, toy_build: Toy
) -> None:
    """The one fault whose back-off (a second) is really spent."""
    hub.faults.add(method="PUT", status=503)
    push(hub_api, toy_build(5))
    assert hub.faults.pending == 0
    assert list(hub.tags(REPO)) == ["v1.0.0"]


def test_old_and_new_tags_load_in_a_fresh_process(
    hub: HubServer, hub_api: HfApi, hub_env: dict[str, str], toy_build: Toy
) -> None:
    push(hub_api, toy_build(5))
    push(hub_api, toy_build(7), version="1.1.0")
    code = NO_PARQUET_EXPORT + (
        "from datasets import load_dataset\n"
        "for tag in ('v1.0.0', 'v1.1.0'):\n"
        f"    data = load_dataset('{REPO}', 'toy_context', revision=tag)\n"
        "    print(tag, data['test'].num_rows, data['test'][0]['conditions'][0]['content'])\n"
    )
    assert run_python(code, hub_env).splitlines() == [
        "v1.0.0 5 Ann saw 0 dogs. They barked. She ran. It was late.",
        "v1.1.0 7 Ann saw 0 dogs. They barked. She ran. It was late.",
    ]


def test_unknown_files_and_commits_of_others_do_not_matter(
    hub: HubServer, hub_api: HfApi, make_build: Make, toy_build: Toy
) -> None:
    corpus = toy_corpus("toy", {"test": stories(0, 5)})
    push(hub_api, make_build(corpus))
    hub_api.create_commit(
        REPO,
        [CommitOperationAdd("figures/plot.txt", b"x")],
        commit_message="a figure",
        repo_type="dataset",
    )
    assert "nothing to do" in push(hub_api, make_build(corpus))[-1]
    push(hub_api, toy_build(6), version="1.1.0")
    assert hub.files(REPO)["figures/plot.txt"] == b"x"
