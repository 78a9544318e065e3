"""The decisions of baselines: written beside the rows, published with them, and read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi
from support.hub.server import HubServer
from support.suites import Sample
from support.toy import REPO, SUITE, stories, toy_corpus

from coherencegym.builders.pipeline.generation import generate_items
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.release.baselines import write_baselines
from coherencegym.builders.release.manifest import dump_manifest
from coherencegym.builders.release.publish import publish
from coherencegym.eval.data.dataset import (
    LEXICAL_OVERLAP,
    PARTIAL_INPUT,
    SURFACE,
    baselines_path,
    tables,
)
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.table_kind import row_hash, rows_digest
from coherencegym.eval.statistics.pair_baselines import (
    overlap_decisions,
    partial_input_decisions,
    surface_decisions,
)
from coherencegym.loaders.corpus import Corpus
from coherencegym.loaders.discourse import Discourse, Unit

PATH = baselines_path("toy_context", "test")
Make = Callable[..., tuple[Path, dict[str, Any]]]


def corpus(number: int) -> Corpus:
    return toy_corpus("toy", {"test": stories(0, number)})


def test_a_build_writes_what_baselines_decide(make_build: Make) -> None:
    folder, manifest = make_build(corpus(25))
    rows = pq.read_table(folder / PATH).to_pylist()
    texts = stories(0, 25).items()
    discourses = [Discourse(name, "toy", tuple(map(Unit, own))) for name, own in texts]
    generated, _ = generate_items(SUITE.configs[0].generator, discourses, seed=0, suite=SUITE.name)
    expected = [
        {"item_id": one.item, "baseline": name, "values": [one.value]}
        for name, own in (
            (PARTIAL_INPUT, partial_input_decisions(generated, ())),
            (LEXICAL_OVERLAP, overlap_decisions(generated, ())),
            (SURFACE, surface_decisions(generated, ())),
        )
        for one in own
    ]
    assert rows == expected
    assert len(rows) == 75
    split = manifest["configs"]["toy_context"]["splits"]["test"]
    assert split["baselines"] == {
        "content_hash": rows_digest(map(row_hash, rows)),
        "folds": {PARTIAL_INPUT: 10, SURFACE: 10},
    }
    again, _ = make_build(corpus(25))
    assert (again / PATH).read_bytes() == (folder / PATH).read_bytes()


def test_too_few_discourses_have_no_classifier(make_build: Make) -> None:
    folder, manifest = make_build(corpus(5))
    assert {row["baseline"] for row in pq.read_table(folder / PATH).to_pylist()} == {
        LEXICAL_OVERLAP
    }
    assert manifest["configs"]["toy_context"]["splits"]["test"]["baselines"]["folds"] == {}


def test_no_decisions_are_no_file(tmp_path: Path) -> None:
    assert write_baselines(tmp_path, "c", "test", {LEXICAL_OVERLAP: []}, {}) == {}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suite", ["implicit_relations", "antecedents"])
def test_decisions_are_on_the_predictions_of_items(built_sample: Sample, suite: str) -> None:
    """In the order of the item, and the manifest's score of all items is their mean."""
    folder, manifest = built_sample(suite)
    for table in tables(find_dataset(str(folder))):
        if table.headline:
            continue
        assert table.baselines is not None
        table.baselines.check()
        decided = table.baselines.decisions(table.items)[LEXICAL_OVERLAP]
        assert list(decided) == [item.item_id for item in table.items]
        quality = manifest["configs"][table.config]["quality"][table.split]
        (one,) = [one for one in quality[LEXICAL_OVERLAP] if not one["group"]]
        values = [sum(own) / len(own) for own in decided.values()]
        assert one["score"] == round(sum(values) / len(values), 4)
        assert one["n"] == len(values)


def test_the_file_is_in_the_commit_and_read_from_the_hub(
    hub: HubServer, hub_api: HfApi, hub_env: None, make_build: Make, tmp_path: Path
) -> None:
    folder, manifest = make_build(corpus(25))
    publish(hub_api, folder, manifest, BuildOptions(repo_id=REPO))
    assert len(hub.commits(REPO)) == 2
    assert hub.files(REPO)[PATH] == (folder / PATH).read_bytes()
    source = find_dataset(REPO, configs=["toy_context"])
    (table,) = tables(source)
    assert table.baselines is not None
    table.baselines.check()
    (local,) = tables(find_dataset(str(folder)))
    assert local.baselines is not None
    assert table.baselines.decisions(table.items) == local.baselines.decisions(local.items)


def test_decisions_alone_are_published_where_rows_are_the_same(
    hub: HubServer, hub_api: HfApi, make_build: Make
) -> None:
    folder, manifest = make_build(corpus(25))
    split = manifest["configs"]["toy_context"]["splits"]["test"]
    listed = split.pop("baselines")
    held = (folder / PATH).read_bytes()
    (folder / PATH).unlink()
    publish(hub_api, folder, manifest, BuildOptions(repo_id=REPO))
    assert PATH not in hub.files(REPO)
    data = {path for path in hub.files(REPO) if path.startswith(("data/", "hashes/"))}
    # A later release of the program writes them, too: a patch, as no row changes.
    split["baselines"] = listed
    (folder / PATH).write_bytes(held)
    (folder / "manifest.json").write_text(dump_manifest(manifest))
    done = publish(hub_api, folder, manifest, BuildOptions(repo_id=REPO, version="1.0.1"))
    assert any(f"add {PATH}" in line for line in done.lines)
    assert not any(path in line for line in done.lines for path in data)
    assert json.loads(hub.files(REPO)["manifest.json"])["configs"]["toy_context"]["splits"]["test"][
        "baselines"
    ] == json.loads(json.dumps(listed))
    # And one that writes none takes them away.
    split.pop("baselines")
    publish(hub_api, folder, manifest, BuildOptions(repo_id=REPO, version="1.0.2"))
    assert PATH not in hub.files(REPO)
