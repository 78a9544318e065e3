"""Fixtures around `HubServer`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.hub.client import environment, patch_clients, patch_sleep
from support.hub.portal import Portal
from support.hub.server import HubServer

if TYPE_CHECKING:
    from huggingface_hub import HfApi


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A running, empty Hub."""
    # Where the machine has a proxy for the rest.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with HubServer() as server:
        yield server
    assert not server.crashes, "\n".join(server.crashes)


@pytest.fixture
def hub_env(hub: HubServer, tmp_path: Path) -> dict[str, str]:
    """Variables for `run_python`: this Hub, the write token, an empty HF_HOME."""
    return environment(hub, tmp_path / "hf_home")


@pytest.fixture
def hub_clients(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """The hub, with this process's `huggingface_hub` and `datasets` pointed at it."""
    patch_clients(hub, tmp_path / "hf_home_here", monkeypatch)
    return hub


@pytest.fixture
def hub_api(hub_clients: HubServer) -> HfApi:
    """An in-process client that may write."""
    from huggingface_hub import HfApi

    return HfApi(endpoint=hub_clients.url, token=hub_clients.write_token)


@pytest.fixture
def hub_sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clients' waits before a retry, noted instead of slept."""
    return patch_sleep(monkeypatch)


@pytest.fixture
def portal() -> Iterator[Portal]:
    """Another host than the Hub's."""
    with Portal().running() as running:
        yield running
