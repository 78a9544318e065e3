"""The plain CD score in eighty lines is that of the evaluator, and so are its bits."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.suites import Sample, no_classifiers, rows

import coherencegym as cg
from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.eval.kinds.items import ITEMS


class _Rows(list[Any]):
    """Rows of a config, as ``load_dataset`` gives them."""

    config_name = ""


def _build(suite: str, folder: Path, patched: pytest.MonkeyPatch) -> Path:
    no_classifiers(patched)
    built = cg.build(suite, corpus="sample", limit=40, output=folder)
    assert isinstance(built, Path)
    return built


@pytest.mark.usefixtures("demo_once")
@pytest.mark.parametrize("suite", SUITES)
def test_it_is_the_score_of_the_evaluator(
    examples: Path, built_sample: Sample, monkeypatch: pytest.MonkeyPatch, suite: str
) -> None:
    pairs = [config for config in load_suite(suite).configs if config.kind is ITEMS]
    if not pairs:
        pytest.skip("it has no pairs")
    built, manifest = built_sample(suite)

    def load(folder: str, config: str, split: str, streaming: bool) -> _Rows:
        assert streaming
        found = _Rows(rows(Path(folder), config, split)[:2])
        found.config_name = config
        return found

    loaded = cg.load_model("demo")
    monkeypatch.setattr("datasets.load_dataset", load)
    for name, part in (("ModelForCausalLM", loaded.model), ("Tokenizer", loaded.tokenizer)):
        monkeypatch.setattr(f"transformers.Auto{name}.from_pretrained", lambda *_, p=part, **__: p)
    script = runpy.run_path(str(examples / "cd_score.py"))
    results = cg.score(loaded, built, limit=2)
    assert isinstance(results, cg.Results)
    theirs = {(row.config, row.split): row.score for row in results.rows if row.level == "all"}
    assert {config for config, _ in theirs} == {
        config for config, about in manifest["configs"].items() if about["kind"] == ITEMS.name
    }
    assert theirs == {where: script["cd_score"]("demo", str(built), *where) for where in theirs}


def test_a_folder_is_loaded_and_its_long_texts_are_left_out(
    examples: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    script = runpy.run_path(str(examples / "cd_score.py"))
    built = _build("winograd", tmp_path / "built", monkeypatch)
    model = shutil.copytree(repository / "eval/models/demo_model", tmp_path / "model")
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    config["max_position_embeddings"] = 40
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    results = cg.score(str(model), built, config="sample_full")
    assert isinstance(results, cg.Results)
    assert results.rows[0].counts["too_long"] > 0
    assert script["cd_score"](str(model), str(built), "sample_full") == results.rows[0].score
    loaded = cg.load_model(str(model))
    compared = 0
    for answer, _ in results.details[0].shown:
        for condition in answer.item.conditions if answer.conditions else ():
            row = dataclasses.asdict(condition)
            own = script["region_bits"](loaded.model, loaded.tokenizer, row)["*"].tolist()
            compared += 1
            bits = answer.conditions[condition.condition_name].region_bits("*").tolist()
            assert own == pytest.approx(bits, abs=1e-4)
    assert compared >= 12


def test_other_formulas_are_refused(examples: Path) -> None:
    script = runpy.run_path(str(examples / "cd_score.py"))
    with pytest.raises(ValueError, match="expected sums of regions, compared by >"):
        script["holds"]({"formula": "(2;%a%) > 3", "metric": "sum"}, {})


def test_it_is_short_and_imports_nothing_of_ours(examples: Path) -> None:
    text = (examples / "cd_score.py").read_text(encoding="utf-8")
    assert text.count("\n") <= 90
    assert "coherencegym" not in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
