"""One source of task ids: ``eval.yaml``, ``.eval_results`` and the overview."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.suites import no_classifiers
from support.toy import SUITE, stories, toy_corpus

from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.formats import result_entries
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.tasks.results import Results

IDS = ["headline", "one_context", "two_context"]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    """A build of two headline configs and a run of ``score`` on it."""
    folder = tmp_path_factory.mktemp("benchmark")
    splits = {"test": stories(0, 8), "validation": stories(8, 12)}
    corpora = [toy_corpus(name, splits) for name in ("one", "two")]
    (folder / "data").mkdir()
    with pytest.MonkeyPatch.context() as patched:
        no_classifiers(patched)
        sources = [PlannedCorpus(corpus, SUITE.configs) for corpus in corpora]
        build(SUITE, sources, BuildOptions(), folder / "data")
    argv = ["score", "--model", "demo", "--dataset", str(folder / "data")]
    assert main([*argv, "--output", str(folder / "results")]) == 0
    path = folder / "results" / "results.json"
    content = json.loads(path.read_text())
    content["dataset"] |= {"repo": "me/toy", "name": "me/toy", "commit": "c0ffee" * 6 + "c0ff"}
    path.write_text(json.dumps(content))
    return folder / "data", read_results(folder / "results")


def test_every_form_has_the_ids_of_eval_yaml(scored: tuple[Path, Results]) -> None:
    data, run = scored
    listed = yaml.safe_load((data / "eval.yaml").read_text(encoding="utf-8"))["tasks"]
    assert [one["id"] for one in listed] == IDS
    entries = result_entries(run)
    assert [entry["dataset"]["task_id"] for entry in entries] == IDS


def test_a_task_has_the_score_of_its_config_and_split(scored: tuple[Path, Results]) -> None:
    data, run = scored
    listed = yaml.safe_load((data / "eval.yaml").read_text(encoding="utf-8"))["tasks"]
    places = {one["id"]: (one["config"], one["split"]) for one in listed}
    values: dict[str, Any] = {
        entry["dataset"]["task_id"]: entry["value"] for entry in result_entries(run)
    }
    scores = {(s.config, s.split): s.score for s in run.rows if s.level == "all"}
    for name in IDS[1:]:
        assert values[name] == round(scores[places[name]] or 0, 4)
    assert run.headline is not None
    assert values["headline"] == round(run.headline.score or 0, 4)


def test_a_run_without_a_headline_config_is_no_result(scored: tuple[Path, Results]) -> None:
    run = replace(scored[1], headline=None)
    with pytest.raises(EvaluationError, match="no score of a headline config"):
        result_entries(run)
