"""Who may see and do what, and what the storage origin and the log give away."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError
from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # httpx2 by its stable name
from support.hub.server import HubServer

REPO = "coherencegym/demo"
PARQUET = b"PAR1 not really PAR1"


def answer(
    url: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    """Status and body, of a refusal its Content-Range; made without any client library."""
    try:
        with urlopen(Request(url, body, headers, method=method)) as response:
            return response.status, response.read()
    except HTTPError as error:
        with error:
            return error.code, error.headers.get("Content-Range", "").encode()


def status_of(caught: pytest.ExceptionInfo[HfHubHTTPError]) -> int:
    return caught.value.response.status_code


def test_whoami(hub: HubServer, hub_api: HfApi) -> None:
    me = hub_api.whoami()
    assert (me["name"], me["auth"]["accessToken"]["role"]) == ("alice", "write")
    assert [org["name"] for org in me["orgs"]] == ["coherencegym"]
    assert hub_api.whoami(token=hub.read_token)["auth"]["accessToken"]["role"] == "read"
    assert [r.path for r in hub.requests] == ["/api/whoami-v2"] * 2


@pytest.mark.parametrize("who", ["anonymous", "stranger"])
def test_a_private_repository_is_invisible(hub: HubServer, hub_api: HfApi, who: str) -> None:
    hub_api.create_repo(REPO, repo_type="dataset", private=True)
    hub.seed(REPO, {"a.parquet": PARQUET, "README.md": b"text"})
    outside = False if who == "anonymous" else hub.stranger_token
    for name in ("a.parquet", "README.md"):
        with pytest.raises(RepositoryNotFoundError) as caught:
            hub_api.hf_hub_download(REPO, name, repo_type="dataset", token=outside)
        assert status_of(caught) == 404
    with pytest.raises(RepositoryNotFoundError):
        hub_api.list_repo_refs(REPO, repo_type="dataset", token=outside)
    assert not hub_api.repo_exists(REPO, repo_type="dataset", token=outside)
    # To a member, whatever the token's role, it is there.
    path = hub_api.hf_hub_download(REPO, "a.parquet", repo_type="dataset", token=hub.read_token)
    assert Path(path).read_bytes() == PARQUET
    assert hub_api.dataset_info(REPO, token=hub.read_token).private


@pytest.mark.parametrize(
    ("who", "expected"), [("reader", 403), ("stranger", 403), ("anonymous", 401), ("forged", 401)]
)
def test_who_may_not_write(hub: HubServer, hub_api: HfApi, who: str, expected: int) -> None:
    head = hub.seed(REPO, {"README.md": b"text"})
    tokens: dict[str, str | bool] = {
        "reader": hub.read_token,
        "stranger": hub.stranger_token,
        "anonymous": False,
        "forged": "hf_" + "0" * 34,
    }
    token = tokens[who]
    with pytest.raises(HfHubHTTPError) as caught:
        hub_api.create_repo("coherencegym/other", repo_type="dataset", token=token)
    assert status_of(caught) == expected
    with pytest.raises(HfHubHTTPError) as caught:
        hub_api.create_commit(
            REPO,
            [CommitOperationAdd("new.txt", b"text")],
            commit_message="refused",
            repo_type="dataset",
            token=token,
        )
    assert status_of(caught) == expected
    with pytest.raises(HfHubHTTPError) as caught:
        hub_api.create_tag(REPO, tag="v1.0.0", repo_type="dataset", token=token)
    assert status_of(caught) == expected
    assert not [r for r in hub.requests if "/commit/" in r.path], "refused before the upload"
    assert hub.repositories() == [REPO]
    assert hub.commits(REPO)[0].sha == head
    assert not hub.tags(REPO)


def test_a_bad_token_is_worse_than_none(hub: HubServer, hub_api: HfApi) -> None:
    hub.seed(REPO, {"README.md": b"text"})
    assert hub_api.dataset_info(REPO, token=False).id == REPO
    with pytest.raises(HfHubHTTPError, match="Invalid credentials in Authorization header"):
        hub_api.dataset_info(REPO, token="hf_forged")


def test_a_stranger_may_propose(hub: HubServer, hub_api: HfApi) -> None:
    hub.seed(REPO, {"README.md": b"text"})
    made = hub_api.create_commit(
        REPO,
        [CommitOperationAdd("a.parquet", PARQUET)],
        commit_message="a proposal",
        repo_type="dataset",
        token=hub.stranger_token,
        create_pr=True,
    )
    assert made.pr_num == 1
    assert hub.commits(REPO, "refs/pr/1")[0].author == "bob"
    assert "a.parquet" not in hub.files(REPO)
    # Without `create_pr` the Hub says what to do instead; so must this one.
    with pytest.raises(HfHubHTTPError, match="create_pr=1"):
        hub_api.upload_file(
            path_or_fileobj=b"x",
            path_in_repo="x",
            repo_id=REPO,
            repo_type="dataset",
            token=hub.stranger_token,
        )


def test_storage_checks_signature_token_and_content(hub: HubServer) -> None:
    hub.seed(REPO, {"a.parquet": PARQUET}, tag="v1.0.0")
    location = httpx.get(f"{hub.url}/datasets/{REPO}/resolve/v1.0.0/a.parquet").headers["Location"]
    assert location.startswith(hub.storage_url)
    assert answer(location) == (200, PARQUET)
    assert answer(location.split("?")[0])[0] == 403
    token = f"Bearer {hub.write_token}"
    assert answer(location, Authorization=token)[0] == 400
    assert answer(location, "PUT", b"other")[0] == 403

    wanted = {"oid": hashlib.sha256(b"announced").hexdigest(), "size": 9}
    batch = {"operation": "upload", "objects": [wanted]}
    objects = f"{hub.url}/datasets/{REPO}.git/info/lfs/objects"
    body = json.dumps(batch).encode()
    told = json.loads(answer(f"{objects}/batch", "POST", body, Authorization=token)[1])
    actions = told["objects"][0]["actions"]
    upload, verify = actions["upload"]["href"], actions["verify"]["href"]
    checked = json.dumps(wanted).encode()
    assert answer(verify, "POST", checked, Authorization=token)[0] == 404
    assert answer(upload, "PUT", b"different")[0] == 400
    assert httpx.put(upload, content=iter([b"announced"])).status_code == 411
    assert wanted["oid"] not in hub.lfs_objects(REPO)
    assert answer(upload, "PUT", b"announced") == (200, b"")
    assert answer(verify, "POST", checked, Authorization=token)[0] == 200
    assert wanted["oid"] in hub.lfs_objects(REPO)


def test_a_commit_cannot_refer_to_what_was_not_uploaded(hub: HubServer) -> None:
    head = hub.seed(REPO, {"README.md": b"text"})
    lines = [
        {"key": "header", "value": {"summary": "dangling", "description": ""}},
        {"key": "lfsFile", "value": {"path": "a.bin", "algo": "sha256", "oid": "0" * 64}},
    ]
    refused = httpx.post(
        f"{hub.url}/api/datasets/{REPO}/commit/main",
        content="\n".join(map(json.dumps, lines)),
        headers={"Authorization": f"Bearer {hub.write_token}"},
    )
    assert refused.status_code == 400
    assert hub.commits(REPO)[0].sha == head


@pytest.mark.parametrize("name", ["a.parquet", "a.txt"])  # from storage, and from the Hub itself
def test_ranges(hub: HubServer, name: str) -> None:
    hub.seed(REPO, {name: b"0123456789"})
    url = f"{hub.url}/datasets/{REPO}/resolve/main/{name}"
    assert answer(url, Range="bytes=2-4") == (206, b"234")
    assert answer(url, Range="bytes=7-") == (206, b"789")
    assert answer(url, Range="bytes=-3") == (206, b"789")
    assert answer(url, Range="bytes=8-99") == (206, b"89")
    assert answer(url, Range="bytes=10-") == (416, b"bytes */10")
    partial = httpx.get(url, headers={"Range": "bytes=2-4"}, follow_redirects=True)
    assert partial.headers["Content-Range"] == "bytes 2-4/10"


def test_the_log_holds_no_secret(hub: HubServer, hub_api: HfApi) -> None:
    hub_api.create_repo(REPO, repo_type="dataset")
    hub_api.upload_file(
        path_or_fileobj=PARQUET * 99, path_in_repo="a.parquet", repo_id=REPO, repo_type="dataset"
    )
    hub_api.hf_hub_download(REPO, "a.parquet", repo_type="dataset", token=hub.read_token)
    written = "\n".join(map(repr, hub.requests)) + "\n".join(map(str, hub.requests))
    assert "alice (write)" in written
    assert "alice (read)" in written
    assert len(hub.requests) >= 7
    for secret in (
        hub.write_token,
        hub.read_token,
        hub.stranger_token,
        "hf_",
        "signature",
        "Bearer",
    ):
        assert secret not in written
    assert "path: a.parquet, sample: <" in written, "no file contents either"
    hub.clear_requests()
    assert hub.requests == []


def test_an_endpoint_that_is_not_there_says_so(hub: HubServer, hub_api: HfApi) -> None:
    hub.seed(REPO, {"README.md": b"text"})
    with pytest.raises(HfHubHTTPError, match="this loopback Hub has no POST"):
        hub_api.create_discussion(REPO, "title", repo_type="dataset")


def test_a_bug_of_the_server_is_no_answer_of_the_hub(hub: HubServer) -> None:
    assert answer(f"{hub.url}/api/validate-yaml", "POST", b"not json")[0] == 500
    (crash,) = hub.crashes
    assert "JSONDecodeError" in crash
    hub.crashes.clear()  # else the fixture fails this test


def test_stop_and_start_keep_data_and_address(hub: HubServer, hub_api: HfApi) -> None:
    sha = hub.seed(REPO, {"README.md": b"text"})
    url = hub.url
    assert hub_api.dataset_info(REPO).sha == sha
    hub.stop()
    with pytest.raises(httpx.ConnectError):
        hub_api.dataset_info(REPO)
    hub.start()
    assert hub.url == url
    assert hub_api.dataset_info(REPO).sha == sha
