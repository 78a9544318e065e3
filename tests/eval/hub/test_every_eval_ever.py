"""Runs in the format of Every Eval Ever, held to its schemas."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from support.commands import one_line

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.formats import evaluation_files
from coherencegym.eval.results.folder import read_results

SOURCE = "Somewhere"
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


def test_files_are_exported(scored: Path, tmp_path: Path) -> None:
    files = evaluation_files([scored], SOURCE)
    words = ["--organization", "Somewhere", "--output", str(tmp_path / "out")]
    assert main(["export-results", str(scored), *words]) == 0
    assert {path: (tmp_path / "out" / path).read_bytes() for path in files} == files


def test_what_cannot_be_exported_is_one_line(
    scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["export-results", str(scored), "--output", str(tmp_path / "out")])
    assert "--organization" in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
    twins = [Path(shutil.copytree(scored, tmp_path / name)) for name in ("one", "two")]
    with pytest.raises(EvaluationError, match="a run that is there twice"):
        evaluation_files(twins, SOURCE)
