"""Each kind of planned failure, and what the real client makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import CommitInfo, HfApi
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError
from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # httpx2 by its stable name
from support.hub.faults import Faults
from support.hub.server import HubServer

REPO = "coherencegym/demo"
PARQUET = b"PAR1 not really PAR1"


def upload(api: HfApi) -> CommitInfo:
    return api.upload_file(
        path_or_fileobj=PARQUET, path_in_repo="a.parquet", repo_id=REPO, repo_type="dataset"
    )


@pytest.fixture(autouse=True)
def seeded(hub: HubServer) -> None:
    hub.seed(REPO, {"README.md": b"text"})


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/preupload/"), ("POST", "/objects/batch"), ("PUT", "")]
)
@pytest.mark.parametrize("kind", ["503", "500", "cut"])
def test_uploads_are_retried(
    hub: HubServer, hub_api: HfApi, hub_sleeps: list[float], method: str, path: str, kind: str
) -> None:
    status = None if kind == "cut" else int(kind)
    hub.faults.add(method=method, path_contains=path, status=status, cut=kind == "cut", times=2)
    upload(hub_api)
    assert hub_sleeps == [1, 2]
    seen = [r.status for r in hub.requests if r.method == method and path in r.path]
    assert seen == [status or 0, status or 0, 200]
    assert hub.files(REPO)["a.parquet"] == PARQUET
    assert hub.faults.pending == 0


def test_an_upload_that_keeps_failing_is_given_up(
    hub: HubServer, hub_api: HfApi, hub_sleeps: list[float]
) -> None:
    hub.faults.add(method="PUT", status=503, times=6)
    # Not an HfHubHTTPError: the client wraps what goes wrong in its upload threads.
    with pytest.raises(RuntimeError, match=r"Error while uploading 'a\.parquet'") as caught:
        upload(hub_api)
    assert isinstance(caught.value.__cause__, HfHubHTTPError)
    assert hub_sleeps == [1, 2, 4, 8, 8]
    assert not hub.lfs_objects(REPO)


def test_a_failed_commit_surfaces_and_changes_nothing(
    hub: HubServer, hub_api: HfApi, hub_sleeps: list[float]
) -> None:
    hub.faults.add(path_contains="/commit/", status=503, message="come back later")
    with pytest.raises(HfHubHTTPError, match="come back later") as caught:
        upload(hub_api)
    assert caught.value.response.status_code == 503
    assert hub_sleeps == []
    assert len(hub.commits(REPO)) == 2
    assert hub.requests[-1].status == 503
    upload(hub_api)
    assert len(hub.commits(REPO)) == 3


def test_a_cut_commit_surfaces_and_changes_nothing(hub: HubServer, hub_api: HfApi) -> None:
    hub.faults.add(path_contains="/commit/", cut=True)
    with pytest.raises(httpx.RemoteProtocolError):
        upload(hub_api)
    assert len(hub.commits(REPO)) == 2
    assert hub.requests[-1].status == 0


@pytest.mark.parametrize("kind", ["503", "cut"])
def test_a_commit_may_be_made_though_its_answer_is_lost(
    hub: HubServer, hub_api: HfApi, kind: str
) -> None:
    status = None if kind == "cut" else int(kind)
    hub.faults.add(path_contains="/commit/", status=status, cut=kind == "cut", after=True)
    with pytest.raises(httpx.HTTPError):
        upload(hub_api)
    assert len(hub.commits(REPO)) == 3
    again = upload(hub_api)  # the client finds the files there and makes no second commit
    assert len(hub.commits(REPO)) == 3
    assert again.oid == hub.commits(REPO)[0].sha


def test_a_tag_may_be_made_though_its_answer_is_lost(hub: HubServer, hub_api: HfApi) -> None:
    hub.faults.add(method="POST", path_contains="/tag/", cut=True, after=True)
    with pytest.raises(httpx.RemoteProtocolError):
        hub_api.create_tag(REPO, tag="v1.0.0", repo_type="dataset")
    assert list(hub.tags(REPO)) == ["v1.0.0"]


@pytest.mark.parametrize("name", ["README.md", "a.parquet"])
def test_a_cut_download_is_tried_again(
    hub: HubServer, hub_api: HfApi, hub_sleeps: list[float], name: str
) -> None:
    hub.seed(REPO, {"a.parquet": PARQUET})
    hub.faults.add(method="GET", cut=True, times=2)
    path = hub_api.hf_hub_download(REPO, name, repo_type="dataset")
    assert Path(path).read_bytes() == hub.files(REPO)[name]
    assert hub_sleeps == [1, 1]


def test_a_planned_refusal_carries_its_reason(hub: HubServer, hub_api: HfApi) -> None:
    hub.faults.add(path_contains="validate-yaml", status=400, message='"license" must be known')
    with pytest.raises(ValueError, match='"license" must be known'):
        hub_api.upload_file(
            path_or_fileobj=b"---\nlicense: mine\n---\n",
            path_in_repo="README.md",
            repo_id=REPO,
            repo_type="dataset",
        )
    hub.faults.add(path_contains="/resolve/", status=403, code="GatedRepo")
    with pytest.raises(GatedRepoError):
        hub_api.hf_hub_download(REPO, "README.md", repo_type="dataset")


def test_faults_are_consumed_in_order(hub: HubServer, hub_api: HfApi) -> None:
    hub.faults.add(path_contains="/nowhere", status=500)
    hub.faults.add(method="GET", path_contains=REPO, status=500)
    hub.faults.add(status=503)
    seen = []
    for _ in range(2):
        with pytest.raises(HfHubHTTPError) as caught:
            hub_api.dataset_info(REPO)
        seen.append(caught.value.response.status_code)
    assert seen == [500, 503]
    hub_api.dataset_info(REPO)
    assert hub.faults.pending == 1
    hub.faults.clear()
    assert hub.faults.pending == 0


def test_a_fault_is_one_thing() -> None:
    with pytest.raises(ValueError, match="either"):
        Faults().add(status=503, cut=True)
    with pytest.raises(ValueError, match="either"):
        Faults().add(method="GET")
