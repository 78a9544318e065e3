"""The whole road: samples are built, published to a Hub, read from it at a tag, and scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.hub.fixtures import hub, hub_clients, hub_sleeps
from support.hub.server import HubServer

from coherencegym.builders.command.cli import run_suite
from coherencegym.builders.registry import load_suite
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.files.folders import CHECKSUMS

__all__ = ["hub", "hub_clients", "hub_sleeps"]

REPO = "coherencegym/sentence_order"


def test_from_samples_to_a_score(
    hub_clients: HubServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    with pytest.raises(SystemExit) as stopped:
        run_suite(
            load_suite("sentence_order"),
            ["--corpus", "sample", "--limit", "60", "--allow-partial", "--push-to-hub"],
        )
    assert stopped.value.code == 0
    # The build on this machine is not needed any more: the scores come from the Hub.
    (tmp_path / "suites").rename(tmp_path / "elsewhere")
    arguments = ["--model", "demo", "--dataset", REPO, "--revision", "v4.0.0", "--output", "out"]
    assert evaluate([*arguments, "--config", "sample_narration_all", "--tokens"]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    dataset = results["dataset"]
    assert dataset["repo"] == REPO
    assert dataset["revision"] == "v4.0.0"
    assert dataset["commit"] == hub_clients.tags(REPO)["v4.0.0"].target
    assert dataset["verified"]
    (score,) = results["scores"]
    # The demo model's gate: it tells stories from their shuffles better than chance.
    assert score["n"] == score["clusters"] == 60
    assert score["ci_method"] == "clopper-pearson"
    assert score["ci_low"] > 0.5
    assert score["partial_input_score"] > 0.5
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        CHECKSUMS,
        "outcomes.parquet",
        "regions.parquet",
        "report.html",
        "results.json",
        "run.yaml",
        "systems.parquet",
        "tokens.parquet",
        "units.parquet",
    }
    shown = capsys.readouterr()
    assert results["signature"] in (tmp_path / "out" / "report.html").read_text()
    assert hub_clients.write_token not in shown.out + shown.err
