"""Intruder sentences as a suite: split first, two views of the same documents, honest counts."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.suites import Sample, build_from, no_classifiers, rows

import coherencegym as cg
from coherencegym.builders import linguistic_probes, span_coherence
from coherencegym.builders.command.cli import run_suite
from coherencegym.builders.intruder_sentences import RELEASED, SUITE, Documents, Pairs
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.kinds import Division, Fits
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.builders.suite import Suite
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.eval.kinds.documents import DOCUMENTS
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.loaders.discourse import Discourse, Unit, undo
from coherencegym.loaders.read import find, read
from coherencegym.loaders.registry import corpus
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.intruders.neighbours import groups
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.registry import PROBES


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    return built_sample(SUITE.name)


def test_two_views_of_the_same_documents(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    assert set(manifest["configs"]) == {
        "pairs_sample",
        "detect_sample",
        "sample_same_document",
        "sample_same_document_shuffled_context",
    }
    assert manifest["configs"]["detect_sample"]["kind"] == "documents"
    everything = 0
    for split in ("train", "validation", "test"):
        documents = {row["item_id"]: row for row in rows(folder, "detect_sample", split)}
        pairs = {row["discourse_id"]: row for row in rows(folder, "pairs_sample", split)}
        everything += len(documents)
        assert set(pairs) == {i for i, row in documents.items() if row["intruder_position"] > 0}
        for name, row in documents.items():
            DOCUMENTS.from_row(row)
            if name not in pairs:
                assert row["replaced"] == row["source_discourse"] == ""
                continue
            item = ITEMS.from_row(pairs[name])
            coherent, intruded = (item.condition(c) for c in ("coherent", "intruded"))
            slot = row["intruder_position"]
            assert " ".join(row["sentences"]) == intruded.content
            assert intruded.regions[1].content == row["sentences"][slot]
            assert coherent.regions[1].content == row["replaced"]
            assert (len(item.conditions[0].regions) == 3) == (slot < len(row["sentences"]) - 1)
            groups_of = [prediction.groups[0] for prediction in item.predictions]
            assert groups_of == (
                ["slot", "following", "whole"] if len(coherent.regions) == 3 else ["slot", "whole"]
            )
            # The intruder is from the same split: no other was seen.
            assert row["source_discourse"] in documents
    assert everything == 120


def test_the_card_says_what_the_checks_found(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    card = (folder / "README.md").read_text()
    assert "coherencegym detect --model gpt2" in card
    assert "Train on the split `train` only" in card
    quality = manifest["configs"]["detect_sample"]["quality"]["train"]
    assert quality["items"] == len(rows(folder, "detect_sample", "train"))
    alone = quality["sentence_alone"]
    assert 0 < alone["accuracy"] <= 1
    assert 0.5 < alone["majority"] < 1
    figures = json.loads((folder / "quality.json").read_text())["configs"]["detect_sample"]
    assert figures["splits"]["train"]["quality"] == quality
    assert quality["words"]["intruders"]["q1"] <= quality["words"]["intruders"]["q3"]
    reasons = (folder / "quality.json").read_text()
    assert "stays coherent: not selected for an intruder" in reasons


def test_the_hub_client_loads_both_kinds(
    built: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    import datasets

    folder, _ = built
    loaded = datasets.load_dataset(
        str(folder), "detect_sample", split="test", cache_dir=str(tmp_path)
    )
    assert loaded.features["sentences"].feature.dtype == "string"
    assert loaded[0]["item_id"] == rows(folder, "detect_sample")[0]["item_id"]


def test_a_division_keeps_groups_together_and_moves_no_other() -> None:
    def document(i: int, *lines: str) -> Discourse:
        return Discourse(f"d{i:03}", "toy", tuple(map(Unit, lines)))

    documents = [
        document(i, f"This is the line number {i // 2}.", f"And this is line {i} of all.")
        for i in range(300)
    ]
    divided = Division(0.2, 0.1)(documents, 0)
    assert list(divided) == ["test", "train", "validation"]
    split_of = {d.id: split for split, own in divided.items() for d in own}
    assert len(split_of) == 300
    assert 30 <= len(divided["test"]) <= 90
    group_of = groups([d.texts for d in documents])
    for d, group in zip(documents, group_of, strict=True):
        assert split_of[d.id] == split_of[documents[group].id]
    fewer = Division(0.2, 0.1)(documents[:100], 0)
    assert all(split_of[d.id] == split for split, own in fewer.items() for d in own)
    assert Division(0.2, 0.1)(documents, 1) != divided
    with pytest.raises(ValueError, match="expected a test share above 0"):
        Division(0, 0.5)
    with pytest.raises(ValueError, match="at most 1"):
        Division(0.7, 0.5)


def test_settings_come_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        run_suite(
            SUITE,
            [
                *("--corpus", "sample", "--output", str(tmp_path / "s"), "--strategy", "random"),
                *("--share", "0.9", "--test-share", "0.5", "--neighbours", "3"),
            ],
        )
    assert done.value.code == 0
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    config = manifest["configs"]["pairs_sample"]
    assert config["operators"] == ("IntruderSentence(strategy='random', neighbours=3, share=0.9)")
    assert config["settings"]["test_share"] == 0.5
    for wrong, message in (
        (["--strategy", "nearest"], "strategy is 'nearest'; expected one of similar"),
        (["--share", "2"], "share is 2.0; expected more than 0, at most 1"),
        (["--test-share", "1", "--validation-share", "1"], "both together at most 1"),
    ):
        with pytest.raises(SystemExit) as refused:
            run_suite(SUITE, wrong)
        assert refused.value.code == 2
        assert message in capsys.readouterr().err


def test_documents_with_debris_are_dropped_and_lend_nothing() -> None:
    documents = [
        Discourse(
            f"d{number}",
            "toy",
            tuple(Unit(f"The ship {number} saw {what} from the old harbour.") for what in "abcd"),
            meta={"domain": "chat" if number % 3 == 0 else "encyclopaedia"},
        )
        for number in range(30)
    ]
    broken = [
        replace(d, units=(*d.units, Unit(f"It has a length of and {d.id} flags.")))
        for d in documents
    ]
    everything = [*broken[:10], *documents[10:]]
    context = Context(0, "test")
    fits = Fits()
    operator = IntruderSentence(share=1.0)
    view = Documents(operator).fit(everything, context, fits)
    pairs = Pairs(operator).fit(everything, context, fits)
    generated = [one for d in everything for one in view(d, context)]
    # Chat is written as it comes.
    dropped = {d.id for d in everything[:10] if d.meta["domain"] != "chat"}
    assert len(dropped) == 6
    assert {one.document.discourse_id for one in generated} == {d.id for d in everything} - dropped
    assert dropped.isdisjoint(one.document.extra["source_discourse"] for one in generated)
    reason = "debris of extraction: a preposition without its noun"
    assert context.skipped == {reason: 6}
    again = Context(0, "test")
    made = [one for d in everything for one in pairs(d, again)]
    assert {one.item.discourse_id for one in made} == {
        d.id for d in documents[10:] if d.meta["domain"] != "chat"
    }
    assert again.skipped == {reason: 6, "chat, where many an utterance would fit": 10}


def test_intruders_of_chat_name_whom_their_document_names(shared: Path) -> None:
    threads = {d.id: d for d in read(corpus("irc"), data_dir=shared / "corpora", splits=None)}
    fitted = IntruderSentence(share=1.0).fit(list(threads.values()), Context(0, "test"))
    named = 0
    for name, choice in fitted.choices.items():
        thread, intruder = threads[name], choice.intruder
        (intruded,) = fitted(thread, Context(0, "test"))
        assert undo(intruded) == thread.texts
        source = threads[intruder.discourse]
        strangers = {m.chain for m in source.mentions if m.span[0][0] == intruder.unit}
        others = {m.chain for m in thread.mentions if m.span[0][0] != choice.slot}
        named += bool(strangers - others)
        text = intruded.texts[choice.slot]
        assert not any(re.search(rf"(?<!\w){re.escape(s)}(?!\w)", text) for s in strangers - others)
    assert named >= 8


def test_documents_that_share_lines_are_on_one_side(shared: Path) -> None:
    found = find(corpus("discoeval"), shared / "corpora")
    files = tuple(file for file in found.files if file.path.match("DC/chat/valid.txt"))
    chat = list(read(replace(corpus("discoeval"), files=files)))
    assert len(chat) == 917
    group_of = dict(zip((d.id for d in chat), groups([d.texts for d in chat]), strict=True))
    sizes = Counter(group_of.values())
    assert sum(sizes[group] > 1 for group in group_of.values()) > 700  # windows overlap
    sides: dict[int, set[str]] = {}
    operator = IntruderSentence(share=1.0)
    for split, own in Division(0.2, 0.1)(chat, 0).items():
        fitted = operator.fit(own, Context(0, "test"))
        assert len(fitted.choices) > 0.95 * len(own)
        for d in own:
            sides.setdefault(group_of[d.id], set()).add(split)
        for name, choice in fitted.choices.items():
            assert group_of[name] != group_of[choice.intruder.discourse]
    assert all(len(splits) == 1 for splits in sides.values())


@pytest.fixture(scope="module")
def probes(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    return built_sample(linguistic_probes.SUITE.name)


def test_a_config_for_each_probe(probes: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = probes
    assert set(manifest["configs"]) == {f"sample_{probe}" for probe in PROBES}
    both = 0
    for name, config in manifest["configs"].items():
        for split in config["splits"]:
            for row in rows(folder, name, split):
                item = ITEMS.from_row(row)
                slots = {c.condition_name: c.regions[1].content for c in item.conditions}
                assert set(slots) >= {"original", "intruder"}
                assert len(slots) > 2
                both += len(slots) == 4
                assert len(item.predictions) == {3: 2, 4: 4}[len(slots)]
                assert len(set(slots.values())) == len(slots)
                for condition in item.conditions:
                    whole = [*row["before"], slots[condition.condition_name], *row["after"]]
                    assert condition.content == " ".join(whole)
    assert both > 20


def test_pairs_and_probes_are_scored(
    built: tuple[Path, dict[str, Any]], probes: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    for (folder, manifest), config in ((built, "pairs_sample"), (probes, "sample_negation")):
        argv = ["--model", "demo", "--dataset", str(folder), "--config", config, "--no-cache"]
        assert evaluate([*argv, "--limit", "6", "--output", str(tmp_path / config)]) == 0
        scores = json.loads((tmp_path / config / "results.json").read_text())["scores"]
        splits = manifest["configs"][config]["splits"]
        assert len(splits) == 3
        assert {s["split"]: s["n"] for s in scores if s["level"] == "all"} == {
            split: min(6, counts["rows"]) for split, counts in splits.items()
        }


def test_filtered_pairs_warn_the_model_that_filtered_them(tmp_path: Path) -> None:
    suite = SUITE.configured(filter_model="demo", test_share=0.1, validation_share=0.9)
    manifest = build_from(suite, "sample", tmp_path / "data", limit=14)
    filtered = {"pairs_sample_filtered", "detect_sample_filtered"}
    assert set(manifest["configs"]) == filtered | {
        "sample_same_document",
        "sample_same_document_shuffled_context",
    }
    config = manifest["configs"]["pairs_sample_filtered"]
    assert config["operators"] == "IntruderSentence(), filtered by demo"
    pairs = rows(tmp_path / "data", "pairs_sample_filtered", "validation")
    assert {row["filter_model"] for row in pairs} == {"demo"}
    assert {row["difficulty"] for row in pairs} <= {"difficult", "easy"}
    items = [ITEMS.from_row(row) for row in pairs]
    from coherencegym.eval.models.load import load

    model = load("demo", device="cpu")
    results: Any = cg.score(model, items)
    assert any("low by construction" in note.text for note in results.notes)
    results = cg.score(replace(model, name="other", commit="c"), items)
    assert not any("low by construction" in note.text for note in results.notes)


def test_the_released_intruders_and_what_people_answered(shared: Path, tmp_path: Path) -> None:
    manifest = build(
        SUITE.configured(test_share=1.0, validation_share=0),
        [PlannedCorpus(corpus("insted"), (RELEASED,))],
        BuildOptions(data_dir=shared / "corpora"),
        tmp_path,
    )
    name = "detect_insted_wikipedia_released"
    documents = [DOCUMENTS.from_row(row) for row in rows(tmp_path, name)]
    assert len(documents) == manifest["configs"][name]["splits"]["test"]["rows"] == 291
    judged = [d for d in documents if d.extra["human"]]
    assert len(judged) > 250
    right = [d.extra["human"].count(d.intruder_position) / len(d.extra["human"]) for d in judged]
    assert 0.3 < sum(right) / len(right) < 0.7
    for document in documents:
        assert document.intruded
        assert document.extra["replaced"] not in document.sentences
        assert all(-1 <= answer < len(document.sentences) for answer in document.extra["human"])


@pytest.mark.parametrize("suite", [SUITE, linguistic_probes.SUITE, span_coherence.SUITE])
def test_a_document_under_two_ids_is_one_family_and_no_item_twice(
    suite: Suite, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the files of INSteD's probes have it: the same text in several."""
    no_classifiers(monkeypatch)
    sample = repository / "loaders/corpora/samples/documents/encyclopaedia.jsonl"
    records = [json.loads(line) for line in sample.read_text().splitlines()[:40]]
    probes = tmp_path / "insted/linguistic_probe_data"
    probes.mkdir(parents=True)
    for where in ("injected", "original"):
        lines = [
            {
                **{"file_id": str(number), "ctx": record["text"], "sen_position": -1, "train": 0},
                **{"to_be_replaced": None, "replace_with": None, "label": 0},
            }
            for number, record in enumerate(records)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (probes / f"{where}_to_negation.txt").write_text(text)
    everything = suite.configured(test_share=1.0, validation_share=0)
    few = [c for c in everything.natives["insted"] if c.name not in set(PROBES) - {"negation"}]
    sources = [PlannedCorpus(corpus("insted"), tuple(few))]
    manifest = build(everything, sources, BuildOptions(data_dir=tmp_path), tmp_path / "out")
    twice = dropped = 0
    for name, config in manifest["configs"].items():
        of_text: dict[Any, set[tuple[str, str]]] = {}
        asked = Counter[str]()
        for row in rows(tmp_path / "out", name):
            coherent = row.get("conditions", [{}])[0].get("content")
            if coherent is None:  # with its intruder, or without one
                coherent = row["discourse_id"].rpartition("/")[2]
            of_text.setdefault(coherent, set()).add((row["discourse_id"], row["family"]))
            kept = ("conditions", "predictions", "sentences", "intruder_position", "units", "gold")
            asked[json.dumps([row.get(column) for column in kept])] += 1
        assert all(len({family for _, family in own}) == 1 for own in of_text.values())
        twice += sum(len(own) > 1 for own in of_text.values())
        assert set(asked.values()) == {1}
        dropped += config["skipped"]["test"].get("the same texts as an earlier item", 0)
    assert twice > 4
    assert dropped or suite is linguistic_probes.SUITE  # whose intruders are drawn apart
