"""A build: same input, same bytes; skips counted; nothing half-written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.suites import Sample, rows
from support.toy import SUITE, stories, toy_corpus

from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.builders.release.manifest import (
    data_path,
    dump_manifest,
    in_order,
    to_table,
    write_split,
)
from coherencegym.builders.sentence_order import SUITE as SENTENCE_ORDER
from coherencegym.builders.story_cloze import SUITE as STORY_CLOZE
from coherencegym.eval.data.source import read_manifest
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.loaders.registry import corpus

Make = Callable[..., tuple[Path, dict[str, Any]]]


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def sentence_order(built_sample: Sample) -> Path:
    """The suite built from the project's own texts."""
    return built_sample(SENTENCE_ORDER.name)[0]


def test_same_input_same_bytes_whatever_the_number_of_processes(make_build: Make) -> None:
    corpus = toy_corpus("toy", {"test": stories(0, 450)})
    one, _ = make_build(corpus)
    two, _ = make_build(corpus, num_proc=2)
    assert digests(one) == digests(two)


def test_another_seed_gives_other_rows(make_build: Make) -> None:
    corpus = toy_corpus("toy", {"test": stories(0, 30)})
    one, _ = make_build(corpus)
    two, _ = make_build(corpus, seed=1)
    name = data_path("toy_context", "test")
    assert digests(one)[name] != digests(two)[name]


def test_more_than_ten_thousand_rows_by_two_routes(tmp_path: Path) -> None:
    schema = ITEMS.features({"number": "int32"})
    made = [
        {
            "item_id": f"d{i}/shuffled",
            "item_number": i + 1,
            "conditions": [
                {
                    "condition_name": name,
                    "content": f"{name} {i}",
                    "regions": [{"region_number": 1, "content": f"{name} {i}"}],
                }
                for name in ("a", "b")
            ],
            "predictions": [{"formula": "(1;%b%) > (1;%a%)", "metric": "mean", "groups": []}],
            "discourse_id": f"d{i}",
            "corpus": "toy",
            "edits": [],
            "number": i,
        }
        for i in range(12_000)
    ]
    whole = to_table(made, schema)
    pieces = pa.concat_tables([to_table(made[i : i + 700], schema) for i in range(0, 12_000, 700)])
    assert whole.column("item_id").num_chunks != pieces.column("item_id").num_chunks
    one = write_split(tmp_path / "one", "c", "test", whole)
    two = write_split(tmp_path / "two", "c", "test", pieces)
    assert one == two
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    # Shards change the files, not the rows.
    three = write_split(tmp_path / "three", "c", "test", whole, shard_bytes=whole.nbytes // 3)
    assert three["content_hash"] == one["content_hash"]
    shards = sorted((tmp_path / "three/data/c").iterdir())
    assert len(shards) == 3
    assert pa.concat_tables(map(pq.read_table, shards)).to_pylist() == made


def test_an_order_is_another_of_the_same_words(sentence_order: Path) -> None:
    manifest = read_manifest(sentence_order / "manifest.json")
    assert len(manifest["configs"]) == 11
    for config in (name for name in manifest["configs"] if not name.endswith("familiarity")):
        for row in rows(sentence_order, config):
            original, shuffled = ITEMS.from_row(row).conditions
            assert sorted(original.content.split()) == sorted(shuffled.content.split())
            assert original.content != shuffled.content


def test_twins_with_separators_have_the_same_permutations(sentence_order: Path) -> None:
    for scope in ("all", "context"):
        plain = rows(sentence_order, f"sample_dialogue_{scope}")
        separated = rows(sentence_order, f"sample_dialogue_{scope}_sep")
        for one, two in zip(plain, separated, strict=True):
            assert one["item_id"] == two["item_id"]
            assert one["permutation"] == two["permutation"]
            for a, b in zip(one["conditions"], two["conditions"], strict=True):
                assert b["content"].replace(" [SEP]", "") == a["content"]
                turns = len(one["permutation"])
                assert b["content"].count("[SEP]") == turns - 1


def test_the_context_configs_keep_the_last_unit(sentence_order: Path) -> None:
    for row in rows(sentence_order, "sample_narration_context"):
        first, second = (c["regions"][1]["content"] for c in row["conditions"])
        assert first == second
        assert row["permutation"][-1] == len(row["permutation"]) - 1
        assert row["last_context_unit_moved"] == (row["permutation"][-2] != 3)


def test_permutations_make_several_items_a_discourse(make_build: Make, tmp_path: Path) -> None:
    suite = SENTENCE_ORDER.configured(permutations=3)
    config = next(c for c in suite.configs if c.name == "narration_all")
    source = PlannedCorpus(toy_corpus("toy", {"test": stories(0, 25)}), (config,))
    manifest = build(suite, [source], BuildOptions(), tmp_path)
    entry = manifest["configs"]["toy_narration_all"]
    assert entry["splits"]["test"]["rows"] == 75
    assert entry["splits"]["test"]["discourses"] == 25
    assert entry["settings"] == {"permutations": 3}


def test_story_cloze_from_the_sample(
    built_sample: Sample,
) -> None:
    folder, manifest = built_sample(STORY_CLOZE.name)
    diagnostic = ["sample_familiarity", "sample_crossed_shuffled_context"]
    assert list(manifest["configs"]) == ["sample", "sample_crossed", *diagnostic]
    read = rows(folder, "sample")
    assert len(read) >= 200
    for row in read:
        first, second = row["conditions"]
        assert first["regions"][0] == second["regions"][0]
        assert first["regions"][1] != second["regions"][1]
        (edit,) = row["edits"]
        assert edit["before"] == first["regions"][1]["content"]
        assert edit["after"] == second["regions"][1]["content"]


def test_a_text_that_holds_the_separator_is_skipped_in_every_config(make_build: Make) -> None:
    texts = stories(0, 5) | {"odd": ["A [SEP] token.", "B.", "C.", "D."]}
    folder, manifest = make_build(toy_corpus("toy", {"test": texts}))
    entry = manifest["configs"]["toy_context"]
    assert entry["skipped"]["test"] == {"the text itself contains [SEP]": 1}
    assert "the text itself contains [SEP]" in (folder / "quality.json").read_text()


def test_documents_of_the_same_text_are_one_family(make_build: Make) -> None:
    texts = stories(0, 5)
    copies = {f"copy{n}": own for n, own in enumerate([texts["s1"], texts["s3"], texts["s1"]])}
    folder, manifest = make_build(toy_corpus("toy", {"test": texts | copies}))
    items = [ITEMS.from_row(row) for row in rows(folder, "toy_context", "test")]
    found = {item.discourse_id: item.cluster for item in items}
    assert set(found.values()) <= texts.keys()
    assert found["s1"] == found["copy0"] == found["copy2"] == "s1"
    assert "family" in manifest["configs"]["toy_context"]["columns"]
    _, without = make_build(toy_corpus("toy", {"test": texts}))
    assert "family" not in without["configs"]["toy_context"]["columns"]


def test_documents_that_may_not_be_republished_are_withheld(make_build: Make) -> None:
    corpus = toy_corpus(
        "toy",
        {"test": stories(0, 5)},
        document_licences={"s1": "other", "s2": "CC-BY-NC-ND-4.0", "s3": "CC-BY-SA-4.0"},
    )
    folder, manifest = make_build(corpus, withhold=True)
    entry = manifest["configs"]["toy_context"]
    assert entry["withheld_discourses"] == 2
    assert entry["licences"] == {"CC-BY-SA-4.0": 1, "CC0-1.0": 2}
    card = (folder / "README.md").read_text()
    assert "license: cc-by-sa-4.0" in card
    assert "- CC-BY-SA-4.0: `toy_context`\n" in card
    _, everything = make_build(corpus)
    assert everything["configs"]["toy_context"]["splits"]["test"]["rows"] == 5


def test_two_configs_of_one_name_are_an_error(make_build: Make) -> None:
    corpus = toy_corpus("toy", {"test": stories(0, 3)})
    with pytest.raises(CorpusError, match="two configs are called toy_context"):
        make_build(corpus, corpus)


def test_one_id_twice_is_an_error(tmp_path: Path) -> None:
    table = pa.table({"item_id": ["a", "a"], "x": [1, 2]})
    with pytest.raises(ValueError, match="item_id 'a' stands twice"):
        write_split(tmp_path, "c", "test", table)


def test_nothing_to_build_is_an_error(make_build: Make) -> None:
    said = "gave a single item; nothing is written; toy_context: "
    with pytest.raises(CorpusError, match=said) as caught:
        make_build(toy_corpus("toy", {"test": {"s": ["One sentence.", "Another."]}}))
    assert "--limit" not in str(caught.value)


def test_a_limit_is_of_each_config(tmp_path: Path) -> None:
    """One that is about later files alone does not give the others more."""
    of_file = {"early": stories(0, 4), "late": stories(4, 8)}

    def read_stories(corpus: Corpus, file: CorpusFile, options: Any) -> Iterator[Discourse]:
        for identifier, texts in of_file[file.path.name].items():
            yield Discourse(identifier, "toy", tuple(map(Unit, texts)), meta={"split": "test"})

    files = tuple(CorpusFile(Path(name), "test", revision="0" * 40) for name in of_file)
    corpus = replace(toy_corpus("toy", {"test": {}}), files=files, reader=read_stories)
    every = SUITE.configs[0]
    late = replace(every, name="late", select=lambda discourse: discourse.id >= "s4")
    suite = replace(SUITE, configs=(every, late))
    sources = [PlannedCorpus(corpus, suite.configs)]
    build(suite, sources, BuildOptions(limit=3), tmp_path)
    found = {
        config: {row["discourse_id"] for row in rows(tmp_path, config, "test")}
        for config in ("toy_context", "toy_late")
    }
    assert found == {"toy_context": {"s0", "s1", "s2"}, "toy_late": {"s4", "s5", "s6"}}


def test_exactly_one_config_is_the_default_and_a_real_corpus_comes_first(make_build: Make) -> None:
    _, manifest = make_build(
        toy_corpus("sample", {"test": stories(0, 3)}), toy_corpus("toy", {"test": stories(0, 3)})
    )
    assert [n for n, c in manifest["configs"].items() if c["default"]] == ["toy_context"]


def test_a_manifest_reads_back_as_it_was(make_build: Make) -> None:
    folder, manifest = make_build(toy_corpus("toy", {"test": stories(0, 3)}))
    path = folder / "manifest.json"
    assert dump_manifest(manifest) == path.read_text()
    assert dump_manifest(in_order(dict(read_manifest(path)))) == path.read_text()
    # Lists of corpus files are long: configs that were made from the same ones share them.
    (entry,) = manifest["configs"].values()
    entry["corpus"]["files"] = [{"name": "a.txt", "sha256": "f" * 64}]
    path.write_text(dump_manifest(manifest | {"configs": {"one": entry, "two": entry}}))
    assert path.read_text().count("f" * 64) == 1
    read = read_manifest(path)["configs"]
    assert read["one"]["corpus"] == read["two"]["corpus"] == entry["corpus"]


def test_real_dialogues(shared: Path, tmp_path: Path) -> None:
    suite = SENTENCE_ORDER
    configs = tuple(c for c in suite.configs if c.genre == "dialogue")
    source = PlannedCorpus(corpus("personachat"), configs)
    options = BuildOptions(data_dir=shared / "corpora" / "personachat")
    manifest = build(suite, [source], options, tmp_path)
    for name, entry in manifest["configs"].items():
        expected = 102 if "matched" in name else 67
        assert sum(split["rows"] for split in entry["splits"].values()) == expected
    partial_input = manifest["configs"]["personachat_dialogue_all"]["quality"]["unsplit"][
        "partial_input"
    ]
    assert partial_input[0]["score"] > 0.85  # first and last utterance alone give a dialogue away


def test_the_toy_suite_is_what_the_tests_say() -> None:
    recipe = "original: unchanged; shuffled: Shuffle(keep_last=1)"
    assert SUITE.configs[0].generator.recipe == recipe
