"""The loopback Hub, as `datasets` sees it: pushed to, loaded from, streamed."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset, DatasetDict, get_dataset_config_names, load_dataset
from datasets.exceptions import DatasetNotFoundError
from support.hub.client import NO_PARQUET_EXPORT, run_python
from support.hub.server import HubServer

REPO = "coherencegym/demo"


def table(rows: int) -> DatasetDict:
    return DatasetDict({"train": Dataset.from_dict({"x": list(range(rows))})})


def push(config: str, rows: int) -> None:
    table(rows).push_to_hub(REPO, config_name=config, data_dir=f"data/{config}")


@pytest.fixture
def published(hub_clients: HubServer) -> HubServer:
    """Two configs, of 3 and 2 rows at v1.0.0; config a has 5 on main."""
    push("a", 3)
    push("b", 2)
    hub_clients.seed(REPO, {}, tag="v1.0.0")
    push("a", 5)
    return hub_clients


def test_pushed_configs_are_commits_of_parquet_and_card(published: HubServer) -> None:
    files = published.files(REPO, "v1.0.0")
    assert set(files) == {
        ".gitattributes",
        "README.md",
        "data/a/train-00000-of-00001.parquet",
        "data/b/train-00000-of-00001.parquet",
    }
    assert b"config_name: b" in files["README.md"]
    assert published.files(REPO)["README.md"] != files["README.md"]
    assert len(published.commits(REPO)) == 5  # the Hub's own, a, b, the seed that was tagged, a
    assert {r.status for r in published.requests if r.origin == "storage"} == {200}


def test_a_revision_is_loaded_in_this_process(
    published: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = set()

    def getaddrinfo(host: str, *args: Any, **kwargs: Any) -> Any:
        asked.add(host)
        return found(host, *args, **kwargs)

    found = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert get_dataset_config_names(REPO, revision="v1.0.0") == ["a", "b"]
    assert load_dataset(REPO, "a", split="train", revision="v1.0.0")["x"][:] == [0, 1, 2]
    newest = load_dataset(REPO, "a", split="train")
    assert newest["x"][:] == [0, 1, 2, 3, 4]
    assert Path(newest.cache_files[0]["filename"]).is_relative_to(tmp_path)
    with pytest.raises(DatasetNotFoundError):
        load_dataset(REPO, "a", revision="v9")
    with pytest.raises(DatasetNotFoundError):
        load_dataset("coherencegym/absent")
    assert asked <= {"127.0.0.1", "localhost"}, (
        "the clients ask other hosts too, unless told not to"
    )


def test_a_revision_is_streamed(published: HubServer) -> None:
    published.clear_requests()
    rows = load_dataset(REPO, "a", split="train", revision="v1.0.0", streaming=True)
    assert [row["x"] for row in rows] == [0, 1, 2]
    storage = [(r.method, r.status) for r in published.requests if r.origin == "storage"]
    assert storage
    assert set(storage) == {("GET", 206)}


def test_a_fresh_process_loads_and_pushes(published: HubServer, hub_env: dict[str, str]) -> None:
    published.clear_requests()
    code = f"""
import json
from datasets import Dataset, load_dataset
how = {{"split": "train", "revision": "v1.0.0", "token": {published.read_token!r}}}
print(json.dumps(load_dataset({REPO!r}, "a", **how)["x"][:]))
Dataset.from_dict({{"x": [1, 2]}}).push_to_hub("coherencegym/other", private=True)
"""
    printed = run_python(NO_PARQUET_EXPORT + code, hub_env)
    assert json.loads(printed) == [0, 1, 2]
    assert "data/train-00000-of-00001.parquet" in published.files("coherencegym/other")
    asked = {(r.account, "other" in r.path) for r in published.requests if r.origin == "hub"}
    assert {account for account, other in asked if not other} >= {"alice (read)"}
    assert {account for account, other in asked if other} == {"alice (write)"}


def test_run_python_shows_why_it_failed_and_passes_no_token_on(
    hub_env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "a token of the person who runs the tests")
    code = "import os; print(os.environ.get('HF_TOKEN'), os.environ.get('HF_HOME'))"
    assert run_python(code, {}) == "None None"
    assert run_python(code, hub_env) == f"{hub_env['HF_TOKEN']} {tmp_path / 'hf_home'}"
    with pytest.raises(AssertionError, match="the reason"):
        run_python("raise ValueError('the reason')", hub_env)
