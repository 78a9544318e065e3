"""What the Hub shows of a pushed dataset: Croissant, size and first rows, by its endpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi
from huggingface_hub.utils import get_session  # type: ignore[attr-defined]
from support.hub.server import HubServer
from support.suites import no_classifiers, rows
from support.toy import REPO, SUITE, stories, toy_corpus

from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.builders.release.publish import publish

PAIRS = "toy_context"


@pytest.fixture
def pushed(
    hub_api: HfApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, dict[str, Any]]:
    """The toy suite, pushed."""
    no_classifiers(monkeypatch)
    corpus = toy_corpus("toy", {"test": stories(0, 12), "validation": stories(12, 15)})
    manifest = build(SUITE, [PlannedCorpus(corpus, SUITE.configs)], BuildOptions(), tmp_path)
    publish(hub_api, tmp_path, manifest, BuildOptions(repo_id=REPO))
    return tmp_path, manifest


def asked(hub: HubServer, path: str, **query: str) -> Any:
    """The answer of an endpoint."""
    answer = get_session().get(f"{hub.url}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_eval_yaml_is_in_the_same_commit(
    hub: HubServer, hub_api: HfApi, pushed: tuple[Path, dict[str, Any]]
) -> None:
    head, _ = hub.commits(REPO)
    assert head.sha == hub.tags(REPO)["v1.0.0"].target
    assert head.files["eval.yaml"].data == (pushed[0] / "eval.yaml").read_bytes()
    before = hub.commits(REPO)
    publish(hub_api, *pushed, BuildOptions(repo_id=REPO))
    assert hub.commits(REPO) == before


def test_eval_yaml_goes_where_no_task_is_left(
    hub: HubServer, hub_api: HfApi, pushed: tuple[Path, dict[str, Any]]
) -> None:
    folder, manifest = pushed
    config = manifest["configs"][PAIRS] | {"in_headline": False}
    options = BuildOptions(repo_id=REPO, version="2.0.0", prune=True)
    publish(hub_api, folder, manifest | {"configs": {PAIRS: config}}, options)
    assert "eval.yaml" not in hub.files(REPO)


def test_the_size_of_every_split(hub: HubServer, pushed: tuple[Path, dict[str, Any]]) -> None:
    found = asked(hub, "size", dataset=REPO)["size"]
    counts = {(one["config"], one["split"]): one["num_rows"] for one in found["splits"]}
    assert counts == {
        (name, split): about["rows"]
        for name, entry in pushed[1]["configs"].items()
        for split, about in entry["splits"].items()
    }
    assert found["dataset"]["num_rows"] == sum(counts.values()) == 15


def test_the_first_rows_are_those_of_the_build(
    hub: HubServer, pushed: tuple[Path, dict[str, Any]]
) -> None:
    folder, manifest = pushed
    found = asked(hub, "first-rows", dataset=REPO, config=PAIRS, split="test")
    assert [one["row"] for one in found["rows"]] == rows(folder, PAIRS)
    names = [feature["name"] for feature in found["features"]]
    assert names == list(manifest["configs"][PAIRS]["features"])
    assert found["truncated"] is False


def test_croissant_has_a_record_set_for_each_config(
    hub: HubServer, pushed: tuple[Path, dict[str, Any]]
) -> None:
    found = asked(hub, f"api/datasets/{REPO}/croissant")
    assert [one["@id"] for one in found["recordSet"]] == [PAIRS]
    fields = {one["@id"]: one["dataType"] for one in found["recordSet"][0]["field"]}
    assert fields[f"{PAIRS}/item_id"] == "sc:Text"
    assert {one["encodingFormat"] for one in found["distribution"]} == {"application/x-parquet"}
