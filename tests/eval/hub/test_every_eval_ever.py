"""Runs in the format of Every Eval Ever, held to its schemas."""

from __future__ import annotations

import hashlib
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
from support.results import damage, put
from support.runs import OPEN, changed_copy, score

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.every_eval_ever import EvaluationSource, evaluation_files
from coherencegym.eval.hub.push_evaluations import push_evaluations
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.results.runs import read_run

SOURCE = EvaluationSource("Somewhere")
STORE = "coherencegym/store"
Files = dict[str, Any]


@pytest.fixture(scope="module")
def valid(shared: Path) -> Callable[[dict[str, bytes]], tuple[Files, list[Files]]]:
    """Check files against the schemas; gives the run and its instances."""
    folder = shared / "spec" / "every-eval-ever"
    whole, instance = (
        Draft7Validator(json.loads((folder / f"{name}.schema.json").read_text()))
        for name in ("eval", "instance_level_eval")
    )

    def check(files: dict[str, bytes]) -> tuple[Files, list[Files]]:
        (path,) = (name for name in files if name.endswith(".json"))
        found = json.loads(files[path])
        whole.validate(found)
        samples = found["detailed_evaluation_results"]
        content = files[samples["file_path"]]
        assert samples["file_path"] == f"{path.removesuffix('.json')}_samples.jsonl"
        assert samples["checksum"] == hashlib.sha256(content).hexdigest()
        lines = [json.loads(line) for line in content.decode().splitlines()]
        assert samples["total_rows"] == len(lines)
        known = {one["evaluation_result_id"] for one in found["evaluation_results"]}
        for line in lines:
            instance.validate(line)
            assert line["evaluation_id"] == found["evaluation_id"]
            assert line["evaluation_result_id"] in known
        return found, lines

    return check


def test_a_run_is_valid_and_has_what_its_scores_have(
    scored: Path, pair_items: list[Item], valid: Any
) -> None:
    files = evaluation_files([scored], SOURCE)
    found, lines = valid(files)
    (result,) = found["evaluation_results"]
    own = next(one for one in read_run(scored).scores if one.level == "all")
    details = result["score_details"]
    assert details["score"] == own.score
    assert details["uncertainty"]["num_samples"] == own.n == len(lines)
    interval = details["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (own.ci_low, own.ci_high)
    assert (details["details"]["ties"], details["details"]["chance"]) == ("0", "0.5")
    assert "partial_input_score" in details["details"] or own.partial_input_score is None
    assert found["eval_library"]["additional_details"]["signature"] == read_run(scored).signature
    share = sum(line["evaluation"]["score"] for line in lines) / len(lines)
    assert share == pytest.approx(own.score)
    for line in lines:
        (said,) = line["output"]["raw"]
        assert line["evaluation"]["is_correct"] is said.startswith("mean: holds, margin +")
    assert {line["sample_id"] for line in lines} == {item.item_id for item in pair_items}
    assert files == evaluation_files([scored], SOURCE)


def test_closed_texts_are_digests_and_open_ones_are_texts(
    pair_items: list[Item], write_dataset: Callable[..., Path], tmp_path: Path, valid: Any
) -> None:
    from datasets import Value

    found = {}
    for name, about in (("open", OPEN), ("closed", {})):
        data = write_dataset(
            tmp_path / "data" / name, pair_items, extra={"moved": Value("bool")}, **about
        )
        results = score(data, "demo", tmp_path / name)
        (_, found[name]) = valid(evaluation_files([results], SOURCE))
    texts = [condition.content for item in pair_items for condition in item.conditions]
    assert [text for line in found["open"] for text in line["input"]["choices"]] == texts
    hidden = [text for line in found["closed"] for text in line["input"]["choices"]]
    assert hidden == [f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for text in texts]
    assert not any(text in json.dumps(found["closed"]) for text in texts)
    # A reader may join the two: the digest of a sample is that of its texts.
    hashes = [[line["sample_hash"] for line in found[name]] for name in ("open", "closed")]
    assert hashes[0] == hashes[1]
    one = found["open"][0]
    asked = one["input"]["raw"] + "".join(one["input"]["reference"])
    assert one["sample_hash"] == hashlib.sha256(asked.encode()).hexdigest()


def test_without_the_dataset_instances_name_their_rows(
    scored: Path, tmp_path: Path, valid: Any
) -> None:
    def moved(content: dict[str, Any]) -> None:
        content["dataset"]["name"] = "nowhere"

    found, lines = valid(evaluation_files([changed_copy(scored, tmp_path / "copy", moved)], SOURCE))
    (result,) = found["evaluation_results"]
    rows = result["source_data"]["additional_details"]["rows_sha256"]
    assert [line["sample_hash"] for line in lines] == [None] * len(lines)
    assert lines[0]["input"] == {
        "raw": f"d0/shuffled of the rows sha256:{rows}",
        "reference": ["(2;%shuffled%) > (2;%original%) [mean]"],
        "choices": None,
    }


def test_a_tie_is_told(scored: Path, tmp_path: Path, valid: Any) -> None:
    folder = changed_copy(scored, tmp_path / "copy", lambda content: None)
    fails = next(
        number
        for number, row in enumerate(_rows(folder))
        if row["metric"] == "accuracy" and row["system_id"] == 0 and row["value"] == 0
    )
    damage(folder, "outcomes", put(fails, flags=1))
    _, lines = valid(evaluation_files([folder], SOURCE))
    (tied,) = (line for line in lines if ", tie" in line["output"]["raw"][0])
    assert tied["evaluation"] == {"score": 0, "is_correct": False}


def _rows(folder: Path) -> list[dict[str, Any]]:
    from pyarrow import parquet

    rows: list[dict[str, Any]] = parquet.read_table(folder / "outcomes.parquet").to_pylist()
    return rows


def test_files_are_exported_and_pushed_once(
    hub_clients: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    hub_clients.seed(STORE, {"README.md": b"---\nlicense: mit\n---\n"})
    files = evaluation_files([scored], SOURCE)
    words = ["--format", "every-eval-ever", "--organization", "Somewhere"]
    assert main(["export-results", str(scored), *words, "--output", str(tmp_path / "out")]) == 0
    assert {path: (tmp_path / "out" / path).read_bytes() for path in files} == files
    for _ in range(2):
        assert main(["push", str(scored), STORE, *words, "--create-pr"]) == 0
    assert files.items() <= hub_clients.files(STORE, "refs/pr/1").items()
    again = push_evaluations(hub_api, [scored], STORE, source=SOURCE, create_pr=True)
    assert "in pull request #1 already" in again.lines[-1]
    assert push_evaluations(hub_api, [scored], STORE, source=SOURCE).commit
    again = push_evaluations(hub_api, [scored], STORE, source=SOURCE)
    assert "has these results already" in again.lines[-1]


def test_what_cannot_be_exported_is_one_line(
    scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--output", str(tmp_path / "out")]
    form = ["--format", "every-eval-ever"]
    for words, said in (
        ([*form], "expected --organization NAME with it"),
        ([*form, "--organization", "x", "--dataset", "nowhere"], "--dataset nowhere: no such"),
        (["--format", "inspect", "--organization", "x"], "expected --format every-eval-ever"),
    ):
        assert main(["export-results", str(scored), *words, *out]) == 2
        assert said in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
    twins = [Path(shutil.copytree(scored, tmp_path / name)) for name in ("one", "two")]
    with pytest.raises(EvaluationError, match="a run that is there twice"):
        evaluation_files(twins, SOURCE)
