"""Texts with the right answers for their parts: gold, suite, card and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import build_command, one_line
from support.hub.server import HubServer
from support.native_files import LAYOUTS
from support.suites import Sample, build_from, rows

from coherencegym.builders.release.quality import span_quality
from coherencegym.builders.span_coherence import (
    SUITE,
    Abduction,
    Contradictions,
    Entailment,
    choice_gold,
    covering_gold,
    statement,
    unit_spans,
)
from coherencegym.eval.kinds.documents import SPANS, UNDECIDED, GoldSpan, SpanText
from coherencegym.loaders.discourse import Discourse, HumanJudgement
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus
from coherencegym.manipulations.operator import Context

SPLITS = ("train", "validation", "test")


def answers(gold: Sequence[GoldSpan]) -> dict[tuple[int, int], int]:
    return {(one.start, one.end): one.answer for one in gold}


# Gold ---------------------------------------------------------------------------------------------


@given(st.integers(1, 8), st.data())
def test_gold_of_a_property_is_all_spans_and_monotone(units: int, data: st.DataObject) -> None:
    places = st.integers(0, units - 1)
    drawn = data.draw(st.lists(st.tuples(places, places), max_size=3))
    pairs = [(min(pair), max(pair)) for pair in drawn]
    gold = answers(covering_gold(units, pairs))
    assert len(gold) == units * (units + 1) // 2
    assert gold[0, units - 1] == bool(pairs)
    for (start, end), answer in gold.items():
        assert answer == any(start <= first and last <= end for first, last in pairs)
        for (a, b), larger in gold.items():
            assert not (a <= start and end <= b and larger < answer)


#: Conflict, whether the worse hypothesis goes with the last sentence -> spans with the answer.
CHOICES = [
    ((1, 2), None, {(0, 2), (1, 2)}),
    ((1, 2), True, {(0, 2), (1, 2)}),
    ((0, 1), True, {(0, 2), (0, 1)}),
    ((0, 1), False, {(0, 2), (0, 1), (1, 2)}),
    ((1, 1), None, {(0, 2), (0, 1), (1, 2), (1, 1)}),
    ((1, 1), False, {(0, 2), (0, 1), (1, 2), (1, 1)}),
    ((0, 2), None, {(0, 2)}),
]


@pytest.mark.parametrize(("conflict", "second", "decided"), CHOICES)
@pytest.mark.parametrize("label", [0, 1])
def test_gold_of_a_choice(
    conflict: tuple[int, int], second: bool | None, decided: set[tuple[int, int]], label: int
) -> None:
    """The table of Storks and Chai 2021."""
    gold = answers(choice_gold(conflict, second, label))
    assert gold == {span: label if span in decided else UNDECIDED for span in unit_spans(3)}


def test_a_conflict_elsewhere_is_none() -> None:
    with pytest.raises(KeyError):
        choice_gold((0, 0), None, 1)


# Constants: known answers -------------------------------------------------------------------------


def toy(name: str, units: int, label: int, evidence: Sequence[tuple[int, int]]) -> SpanText:
    gold = covering_gold(units, evidence)
    texts = tuple(f"unit {number}" for number in range(units))
    return SpanText(name, texts, (), "", (), label, tuple(evidence), gold, name, "toy")


def test_constants_of_a_toy() -> None:
    found = span_quality([toy("a", 3, 1, [(0, 1)]), toy("b", 2, 0, []), toy("c", 1, 1, [(0, 0)])])
    assert found["spans"] == 10
    assert found["constants"] == {
        "never": {
            "accuracy": 0.333333,
            "strict": 0.333333,
            "lenient": 0.555556,
        },
        "always": {
            "accuracy": 0.666667,
            "strict": 0.333333,
            "lenient": 0.444444,
        },
    }
    assert found["most_frequent"] == 1


@pytest.fixture(scope="module")
def verifiable(
    shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("verifiable")
    return folder, build_from(SUITE, "verifiable", folder, data_dir=shared / "corpora")


def test_real_conversations(verifiable: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = verifiable
    config = manifest["configs"]["conversational_entailment"]
    found = rows(folder, "conversational_entailment")
    gold = [one["answer"] for row in found for one in row["gold"]]
    assert (len(found), len(gold), sum(gold)) == (172, 1119, 156)
    assert sum(row["one_unit"] for row in found) == 64
    assert max(row["unit_count"] for row in found) == 17
    quality = config["quality"]["test"]
    assert quality["sources"] == 10
    assert quality["constants"] == {
        "never": {
            "accuracy": 0.424419,
            "strict": 0.424419,
            "lenient": 0.667441,
        },
        "always": {
            "accuracy": 0.575581,
            "strict": 0.244186,
            "lenient": 0.332559,
        },
    }
    assert Counter(row["rule"] for row in rows(folder, "conversational_entailment", "train")) == {
        "whole": 593
    }
    assert config["quality"]["train"]["spans"] is None
    assert set(config["quality"]["train"]["constants"]["never"]) == {"accuracy"}


def test_real_choices(verifiable: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = verifiable
    found = rows(folder, "abduction")
    counts = Counter(
        (one["start"], one["end"], one["answer"] != UNDECIDED)
        for row in found
        for one in row["gold"]
    )
    assert counts == {
        (0, 0, False): 189,
        (2, 2, False): 189,
        (0, 2, True): 189,
        (1, 1, False): 171,
        (1, 1, True): 18,
        (0, 1, False): 126,
        (0, 1, True): 63,
        (1, 2, False): 22,
        (1, 2, True): 167,
    }
    assert manifest["configs"]["abduction"]["quality"]["test"]["constants"] == {
        "never": {
            "accuracy": 0.550265,
            "strict": 0.0,
            "lenient": 0.614638,
        },
        "always": {
            "accuracy": 0.550265,
            "strict": 0.047619,
            "lenient": 0.544092,
        },
    }
    for row in found:
        first, second = row["alternatives"]
        assert (first[0], first[2]) == (second[0], second[2])
        assert first[1] != second[1]


# Rows ---------------------------------------------------------------------------------------------


def test_a_row_of_a_conversation(tmp_path: Path) -> None:
    LAYOUTS["verifiable conversations"].write(tmp_path)
    first, second = read(corpus("verifiable"), data_dir=tmp_path)
    (row,) = Entailment()(second, Context())
    assert (row.speakers, row.hypothesis, row.label) == (("B", "A"), "SpeakerB runs.", 1)
    assert row.evidence == ((0, 1),)
    assert answers(row.gold) == {(0, 0): 0, (0, 1): 1, (1, 1): 0}
    assert (row.cluster, row.extra["one_unit"]) == ("SW2", False)
    (row,) = Entailment()(first, Context())
    assert (row.evidence, answers(row.gold)) == (((0, 0),), {(0, 0): 1})
    no = replace(first, judgements=(HumanJudgement(None, "not entailed"),))
    (row,) = Entailment()(no, Context())
    assert (row.label, row.evidence, answers(row.gold)) == (0, (), {(0, 0): 0})


def test_a_row_of_a_choice(tmp_path: Path) -> None:
    LAYOUTS["verifiable choices"].write(tmp_path)
    first, _ = read(corpus("verifiable"), data_dir=tmp_path)
    (row,) = Abduction()(first, Context())
    assert row.alternatives == (
        ("The kettle sang.", "Ann made tea.", "She drank it."),
        ("The kettle sang.", "Ann slept.", "She drank it."),
    )
    assert (row.label, row.evidence, row.units) == (0, ((0, 1),), ())
    assert answers(row.gold)[1, 2] == 0


@pytest.fixture(scope="module")
def sample(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    return built_sample(SUITE.name)


def test_the_sample_has_all_splits(sample: tuple[Path, dict[str, Any]]) -> None:
    _, manifest = sample
    assert set(manifest["configs"]) == {
        "intruder_sample",
        "contradiction_sample",
    }
    for config in manifest["configs"].values():
        assert set(config["splits"]) == {*SPLITS}
        assert config["kind"] == SPANS.name
        assert config["task_defaults"]["question"] == "coherence"


def test_a_part_with_the_intruder_is_incoherent(sample: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = sample
    found = [row for split in SPLITS for row in rows(folder, "intruder_sample", split)]
    assert 0.3 < sum(row["label"] for row in found) / len(found) < 0.6
    for row in found:
        spans = answers(SPANS.from_row(row).gold)
        assert set(spans) == set(unit_spans(len(row["units"]), 2))
        if not row["label"]:
            assert not any(spans.values())
            assert (row["evidence"], row["replaced"]) == ([], "")
            continue
        slot = row["evidence"][0][1]  # the first sentence is never an intruder
        assert row["replaced"] not in row["units"]
        assert spans == {(a, b): int(a <= slot <= b) for a, b in spans}


def test_a_pair_stands_among_what_has_nothing_to_do_with_it(
    sample: tuple[Path, dict[str, Any]],
) -> None:
    folder, _ = sample
    pairs = {d.id: d for d in read(corpus("sample")) if d.meta.get("dtype")}
    for split in SPLITS:
        for row in rows(folder, "contradiction_sample", split):
            pair = pairs[row["discourse_id"]]
            assert (row["units"][row["first"]], row["units"][row["second"]]) == pair.texts
            assert row["label"] == (row["relation"] == "contradiction")
            assert set(row["speakers"]) == {"A"}
            about = [statement(*one) for one in zip(pair.texts, triples(pair), strict=True)]
            known = {one.text: one for d in pairs.values() for one in statements(d)}
            others = [known[text] for text in row["units"] if text not in pair.texts]
            assert len(others) == len(row["units"]) - 2
            for place, one in enumerate(others):
                for other in (*about, *others[:place]):
                    assert not one.matters & other.matters
                    assert not one.words & other.words


def triples(pair: Discourse) -> tuple[str, str]:
    return pair.meta["triple1"], pair.meta["triple2"]


def statements(pair: Discourse) -> list[Any]:
    return [statement(*one) for one in zip(pair.texts, triples(pair), strict=True)]


def test_a_pair_without_company_is_counted() -> None:
    pair = next(d for d in read(corpus("sample")) if d.meta.get("dtype"))
    context = Context()
    assert list(Contradictions()(pair, context)) == []
    assert context.skipped == {"no other utterance fits beside the pair": 1}


# A table of one's own -----------------------------------------------------------------------------

ROW: dict[str, Any] = {
    "units": ["It rained.", "We ran.", "We got wet."],
    "hypothesis": "They were wet.",
    "label": "entailment",
    "evidence": [[2, 2], [0, 1]],
    "source": "s1",
}


def table(folder: Path, *records: dict[str, Any]) -> tuple[object, ...]:
    folder.mkdir()
    (folder / "test.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return ("--hub-dataset", folder, "--genre", "spans", "--output", folder.parent / "out")


def test_a_table_with_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    negative = {**ROW, "label": "neutral", "evidence": []}
    assert build_command("span_coherence", *table(tmp_path / "own", ROW, negative)) == 0
    first, second = rows(tmp_path / "out", "entailment_own")
    gold = answers(SPANS.from_row(first).gold)
    assert {span for span, answer in gold.items() if answer} == {
        *((0, 1), (0, 2), (1, 2), (2, 2)),
    }
    assert (first["family"], first["rule"], first["hypothesis"]) == (
        *("s1", "annotated", "They were wet."),
    )
    assert (second["label"], second["evidence"]) == (0, [])


def test_a_table_without_evidence_has_the_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = {**ROW, "evidence": None}
    assert build_command("span_coherence", *table(tmp_path / "own", unknown, unknown)) == 0
    (row,) = rows(tmp_path / "out", "entailment_own")
    assert (row["gold"], row["rule"]) == ([{"start": 0, "end": 2, "answer": 1}], "whole")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"evidence": [[1, 3]]},
            "1: an object; expected evidence to be pairs of units from 0 to 2",
        ),
        (
            {"evidence": [[2, 1]]},
            "1: an object; expected evidence to be pairs of units from 0 to 2",
        ),
        ({"evidence": []}, "1: an object; expected evidence to be a list of [first, last]"),
        ({"label": 0}, "1: an object; expected evidence to be a list of [first, last], [] where"),
        ({"label": "perhaps"}, '1: label: "perhaps"; expected one of 1, true, entailed'),
        ({"units": []}, "1: units: an empty array; expected at least one element"),
        ({"units": ["a", " ", "b"]}, '1: units[1]: " "; expected a text that is not empty'),
        ({"speakers": ["A"]}, "1: an object; expected one of speakers for each unit"),
    ],
)
def test_what_is_wrong_with_a_table(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_command("span_coherence", *table(tmp_path / "own", {**ROW, **change})) == 2
    assert message in one_line(capsys.readouterr().err)


def test_a_table_needs_its_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    without = {name: value for name, value in ROW.items() if name != "evidence"}
    assert build_command("span_coherence", *table(tmp_path / "own", without)) == 2
    assert "1: no column 'evidence'; the columns are " in one_line(capsys.readouterr().err)


# From the command line ----------------------------------------------------------------------------


def test_a_build_says_what_constants_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    LAYOUTS["verifiable choices"].write(tmp_path / "data")
    LAYOUTS["verifiable conversations"].write(tmp_path / "data")
    options = ("--corpus", "verifiable", "--data-dir", tmp_path / "data")
    assert build_command("span_coherence", *options, "--output", tmp_path / "out") == 0
    card = (tmp_path / "out/README.md").read_text()
    assert "| `conversational_entailment` (default) | **test 2** | 0.0 | 100.0 |" in card
    figures = json.loads((tmp_path / "out/quality.json").read_text())["configs"]
    assert figures["abduction"]["splits"]["test"]["quality"]["rules"] == {"choice": 2}
    assert "> B: **É?**" in card


def test_texts_without_a_licence_are_not_made_public(
    tmp_path: Path,
    hub_clients: HubServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    LAYOUTS["verifiable choices"].write(tmp_path / "data")
    options = ("--corpus", "verifiable", "--data-dir", tmp_path / "data", "--push-to-hub")
    code = build_command("span_coherence", *options, "--output", tmp_path / "out")
    assert code == 2
    assert "corpus verifiable may not be published" in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
    assert hub_clients.repositories() == []
