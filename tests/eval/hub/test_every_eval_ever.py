"""Runs in the format of Every Eval Ever, held to its schemas."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi
from jsonschema import Draft7Validator
from support.commands import one_line
from support.hub.server import HubServer

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.every_eval_ever import (
    EvaluationSource,
    evaluation_files,
    push_evaluations,
)
from coherencegym.eval.results.folder import read_results

SOURCE = EvaluationSource("Somewhere")
STORE = "coherencegym/store"
Files = dict[str, Any]


@pytest.fixture(scope="module")
def valid(shared: Path) -> Callable[[dict[str, bytes]], Files]:
    """Check a run's file against the schema; gives what it has."""
    schema = json.loads((shared / "spec" / "every-eval-ever" / "eval.schema.json").read_text())

    def check(files: dict[str, bytes]) -> Files:
        (content,) = files.values()
        found: Files = json.loads(content)
        Draft7Validator(schema).validate(found)
        return found

    return check


def test_a_run_is_valid_and_has_what_its_scores_have(scored: Path, valid: Any) -> None:
    files = evaluation_files([scored], SOURCE)
    found = valid(files)
    (result,) = found["evaluation_results"]
    own = next(one for one in read_results(scored).rows if one.level == "all")
    details = result["score_details"]
    assert details["score"] == own.score
    assert details["uncertainty"]["num_samples"] == own.n
    interval = details["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (own.ci_low, own.ci_high)
    assert details["details"]["chance"] == "0.5"
    assert "partial_input_score" in details["details"] or own.partial_input_score is None
    assert (
        found["eval_library"]["additional_details"]["signature"] == read_results(scored).signature
    )
    assert files == evaluation_files([scored], SOURCE)


def test_files_are_exported_and_pushed_once(
    hub_clients: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    hub_clients.seed(STORE, {"README.md": b"---\nlicense: mit\n---\n"})
    files = evaluation_files([scored], SOURCE)
    words = ["--organization", "Somewhere"]
    assert main(["export-results", str(scored), *words, "--output", str(tmp_path / "out")]) == 0
    assert {path: (tmp_path / "out" / path).read_bytes() for path in files} == files
    for _ in range(2):
        form = ["--format", "every-eval-ever", "--create-pr"]
        assert main(["push", str(scored), STORE, *words, *form]) == 0
    assert files.items() <= hub_clients.files(STORE, "refs/pr/1").items()
    again = push_evaluations(hub_api, [scored], STORE, source=SOURCE, create_pr=True)
    assert "in pull request #1 already" in again.lines[-1]
    assert push_evaluations(hub_api, [scored], STORE, source=SOURCE).commit
    again = push_evaluations(hub_api, [scored], STORE, source=SOURCE)
    assert "has these results already" in again.lines[-1]


def test_what_cannot_be_exported_is_one_line(
    scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export-results", str(scored), "--output", str(tmp_path / "out")]) == 2
    assert "expected --organization NAME" in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
    twins = [Path(shutil.copytree(scored, tmp_path / name)) for name in ("one", "two")]
    with pytest.raises(EvaluationError, match="a run that is there twice"):
        evaluation_files(twins, SOURCE)
