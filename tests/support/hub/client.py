"""Pointing clients at a loopback Hub: in a fresh interpreter, or in this process."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.hub.server import HubServer

# No variable turns this off. Without it a load of the newest revision asks the name service for
# `datasets-server.127.0.0.1`.
NO_PARQUET_EXPORT = "import datasets; datasets.config.USE_PARQUET_EXPORT = False\n"


def environment(hub: HubServer, home: Path) -> dict[str, str]:
    """The variables that a fresh interpreter needs; they are read when a client is imported."""
    return {
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": hub.write_token,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_XET": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def run_python(code: str, env: Mapping[str, str], timeout: float = 120) -> str:
    """Run code in a fresh interpreter and return what it printed; a failure raises with stderr.

    `env` is added to this process's variables, of which no Hugging Face one is passed on.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**inherited, **env},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.strip()


def patch_clients(hub: HubServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clients imported in this process talk to the hub, as if HF_ENDPOINT had been set.

    They copy the variables into module constants on import; this sets the copies that count.
    """
    import datasets
    from huggingface_hub import constants, hf_api

    for name, value in environment(hub, home).items():
        monkeypatch.setenv(name, value)
    template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    # Else the first request asks which programs count as agents, where one runs the tests.
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setattr(
        hf_api.api, "endpoint", hub.url
    )  # behind `huggingface_hub.create_repo` etc.
    if "transformers.utils.hub" in sys.modules:
        # It keeps the client that it made first, with the address of an earlier test's hub.
        monkeypatch.setattr(sys.modules["transformers.utils.hub"], "_hf_api", None)
    config: Any = datasets.config
    monkeypatch.setattr(config, "HF_ENDPOINT", hub.url)
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", home / "datasets")
    monkeypatch.setattr(config, "USE_PARQUET_EXPORT", False)
    monkeypatch.setattr(config, "HF_UPDATE_DOWNLOAD_COUNTS", False)


class InstantClock:
    """The `time` module, except that `sleep` only notes for how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


# Where the clients wait before they try again.
SLEEPERS = (
    "huggingface_hub.utils._http",
    "huggingface_hub.file_download",
    "datasets.arrow_dataset",
    "datasets.dataset_dict",
    "datasets.utils.file_utils",
)


def patch_sleep(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let the clients' back-off cost nothing; the list fills with the waits they wanted."""
    clock = InstantClock()
    for name in SLEEPERS:
        monkeypatch.setattr(importlib.import_module(name), "time", clock)
    return clock.slept
