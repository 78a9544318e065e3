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

from coherencegym.builders.pipeline.build import generate_items
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.release.manifest import dump_manifest
from coherencegym.builders.release.publish import publish
from coherencegym.builders.release.quality import hold_headline, write_baselines
from coherencegym.cards.render import said_of_control
from coherencegym.eval.data.dataset import (
    BALANCE_WEIGHT,
    LEXICAL_OVERLAP,
    PARTIAL_INPUT,
    SURFACE,
    baselines_path,
    tables,
)
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.table_kind import SAMPLE, row_hash, rows_digest
from coherencegym.eval.statistics.control import (
    CONTROLLED,
    LEAKS,
    TOO_SMALL,
    UNCONTROLLED,
    checked_items,
)
from coherencegym.eval.statistics.pair_baselines import overlap_decisions, partial_input_decisions
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
            (PARTIAL_INPUT, partial_input_decisions(generated)),
            (LEXICAL_OVERLAP, overlap_decisions(generated)),
        )
        for one in own
    ]
    control = checked_items(generated)
    for name, values in ((BALANCE_WEIGHT, control.weights), (SURFACE, control.surface)):
        expected += [{"item_id": i, "baseline": name, "values": [v]} for i, v in values.items()]
    assert rows == expected
    # Every one of 25 items of a toy text has as much weight as it may have.
    assert len(rows) == 100
    split = manifest["configs"]["toy_context"]["splits"]["test"]
    assert split["baselines"] == {"content_hash": rows_digest(map(row_hash, rows))}
    again, _ = make_build(corpus(25))
    assert (again / PATH).read_bytes() == (folder / PATH).read_bytes()


def test_too_few_discourses_have_no_classifier(make_build: Make) -> None:
    folder, _ = make_build(corpus(5))
    assert {row["baseline"] for row in pq.read_table(folder / PATH).to_pylist()} == {
        LEXICAL_OVERLAP
    }


def test_no_decisions_are_no_file(tmp_path: Path) -> None:
    assert write_baselines(tmp_path, "c", "test", {LEXICAL_OVERLAP: []}, checked_items([])) == {}
    assert not list(tmp_path.iterdir())


def test_a_build_says_what_the_control_of_each_split_is(make_build: Make) -> None:
    folder, manifest = make_build(corpus(60))
    config = manifest["configs"]["toy_context"]
    control = config["quality"]["test"]["control"]
    weights = [
        row["values"][0]
        for row in pq.read_table(folder / PATH).to_pylist()
        if row["baseline"] == BALANCE_WEIGHT
    ]
    assert control["weighed"]
    assert control["items"] == len(weights) == 60
    assert sum(weights) == pytest.approx(60)
    assert control["effective_items"] == pytest.approx(
        sum(weights) ** 2 / sum(weight**2 for weight in weights), abs=0.05
    )
    said = said_of_control(control)
    assert said.startswith(control["word"])
    assert config["not_headline"] == said
    card = (folder / "README.md").read_text()
    assert said.startswith("leaks (")
    assert "A low one?** A high one: no, `toy_context` leaks: " in card
    assert f" | {control['effective_items']:.0f} | {said} |" in card


def test_what_cannot_be_balanced_has_no_weights(make_build: Make) -> None:
    # Of each of four places the first unit is the shortest: a cue without exception.
    texts = {f"d{n}": [f"A{n}.", *(f"B{n} {w} was there." for w in "xyz")] for n in range(40)}
    folder, manifest = make_build(toy_corpus("toy", {"test": texts}))
    control = manifest["configs"]["toy_context"]["quality"]["test"]["control"]
    written = {row["baseline"] for row in pq.read_table(folder / PATH).to_pylist()}
    assert control["weighed"] == (BALANCE_WEIGHT in written) == (SURFACE in written)


def configs_of(**words: str) -> dict[str, dict[str, Any]]:
    """Entries of a manifest with such controls."""
    control = {"effective_items": 10, "needed": 250, "cue": "c", "by": "b", "score": 0.5}
    control |= {"ci_low": 0.4, "ci_high": 0.7}
    return {
        name: {
            **{"in_headline": True, "corpus": {"name": "gum"}},
            "quality": {
                "test": {"items": 30, "control": control | {"word": word} if word else None}
            },
        }
        for name, word in words.items()
    }


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ({"a": CONTROLLED, "b": LEAKS, "c": TOO_SMALL}, ["a"]),
        ({"a": UNCONTROLLED, "b": LEAKS, "c": TOO_SMALL}, ["b", "c"]),
        ({"a": UNCONTROLLED, "b": UNCONTROLLED}, ["a", "b"]),
        ({"a": "", "b": LEAKS}, ["a"]),
    ],
)
def test_the_headline_is_of_what_holds(words: dict[str, str], kept: list[str]) -> None:
    configs = configs_of(**words)
    hold_headline(configs)
    assert [name for name, config in configs.items() if config["in_headline"]] == kept
    for name, word in words.items():
        said = configs[name].get("not_headline", "")
        assert said.startswith(word if word != CONTROLLED else "")
        assert bool(said) == (word not in ("", CONTROLLED))


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ({"tiny": TOO_SMALL, "a": TOO_SMALL, "b": LEAKS}, ["a", "b"]),
        ({"tiny": LEAKS, "a": UNCONTROLLED}, ["a"]),
        ({"tiny": CONTROLLED, "a": LEAKS}, ["tiny"]),
        ({"tiny": LEAKS, "also_tiny": UNCONTROLLED}, ["tiny"]),
    ],
)
def test_one_of_a_few_items_does_not_weigh_as_much_as_larger_ones(
    words: dict[str, str], kept: list[str]
) -> None:
    configs = configs_of(**words)
    for name, config in configs.items():
        if "tiny" in name:
            config["quality"]["test"]["items"] = 29
    hold_headline(configs)
    assert [name for name, config in configs.items() if config["in_headline"]] == kept


def test_samples_are_left_to_readers_and_what_a_suite_names_in_no_headline_is_never_in() -> None:
    configs = configs_of(sample=CONTROLLED, named=LEAKS, diagnostic=CONTROLLED)
    configs["sample"]["corpus"] = {"name": SAMPLE}
    configs["diagnostic"]["in_headline"] = False
    hold_headline(configs)
    # Who scores the sample alone has a headline of it; beside others it counts nowhere.
    counted = [name for name, config in configs.items() if config["in_headline"]]
    assert counted == ["sample", "named"]
    assert [name for name, config in configs.items() if "not_headline" in config] == ["named"]
    alone = configs_of(a=LEAKS, b=UNCONTROLLED)
    for config in alone.values():
        config["corpus"] = {"name": SAMPLE}
    hold_headline(alone)
    assert [config["in_headline"] for config in alone.values()] == [True, False]


@pytest.mark.parametrize("suite", ["story_cloze", "winograd"])
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
    assert any(f"add {PATH}" in line for line in done)
    assert not any(path in line for line in done for path in data)
    assert json.loads(hub.files(REPO)["manifest.json"])["configs"]["toy_context"]["splits"]["test"][
        "baselines"
    ] == json.loads(json.dumps(listed))
    # And one that writes none takes them away.
    split.pop("baselines")
    publish(hub_api, folder, manifest, BuildOptions(repo_id=REPO, version="1.0.2"))
    assert PATH not in hub.files(REPO)
