"""DialogueNLI: pairs of sentences, and everything that can be wrong with a record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.small_corpora import OfFile, read_one

from coherencegym.loaders.corpora.dialogues import DIALOGUENLI, NLI_LABELS
from coherencegym.loaders.discourse import HumanJudgement, SourceSpan
from coherencegym.loaders.read import find, read

PAIR: dict[str, Any] = {
    "label": "negative",
    "sentence1": "since my dad is a mechanic we don ' t buy cars .",
    "sentence2": "my dad is  a priest .",
    "triple1": ["my father", "has_profession", "mechanic"],
    "triple2": ["my father", "has_profession", "priest"],
    "dtype": "e2swap_up",
    "id": "dialogue_nli_train_298308",
}


def array(*records: Any) -> str:
    return json.dumps(records)


def numbered(number: int, **changes: Any) -> dict[str, Any]:
    return PAIR | {"id": f"p{number}", "sentence2": f"i have {number} cats ."} | changes


@pytest.mark.parametrize("write", [array, json.dumps], ids=["array", "lines"])
def test_a_pair_is_two_utterances_without_speaker(
    of_file: OfFile, write: Callable[[Any], str]
) -> None:
    pair = read_one(of_file(DIALOGUENLI, "\n" + write(PAIR)))
    assert pair.id == "dialogue_nli_train_298308"
    assert pair.corpus == "dialoguenli"
    assert pair.texts == (
        "since my dad is a mechanic we don't buy cars.",
        "my dad is a priest.",
    )
    assert [unit.speaker for unit in pair.units] == [None, None]
    assert pair.units[0].source == SourceSpan("file.txt", 2, 2)
    assert pair.judgements == (HumanJudgement(None, "negative"),)
    assert pair.meta == {
        "split": "test",
        "label": "negative",
        "dtype": "e2swap_up",
        "origin": "utterance, persona",
        "triple1": "my father | has_profession | mechanic",
        "triple2": "my father | has_profession | priest",
    }


@pytest.mark.parametrize(
    ("dtype", "origin"),
    [
        ("matchingtriple_uu", "utterance, utterance"),
        ("miscutterance_pp", "persona, persona"),
        ("x_pu", "persona, utterance"),
        ("matchingtriple", ""),
        ("swap", ""),
        ("up", "utterance, persona"),
        ("x_", ""),
        ("x_u", ""),
        ("x_upu", ""),
    ],
)
def test_the_origin_of_the_sentences(of_file: OfFile, dtype: str, origin: str) -> None:
    assert read_one(of_file(DIALOGUENLI, array(PAIR | {"dtype": dtype}))).meta["origin"] == origin


def test_the_verified_set_has_annotations_and_no_id(of_file: OfFile) -> None:
    records = [numbered(i, annotation1="negative", annotation2="neutral") for i in range(3)]
    for record in records:
        del record["id"]
    records[1]["label"] = "unsure"
    reading = read(of_file(DIALOGUENLI, array(*records)), skip_bad_rows=True)
    assert [pair.id for pair in reading] == ["test-000001", "test-000003"]


def test_negative_is_contradiction() -> None:
    assert NLI_LABELS["negative"] == "contradiction"
    assert NLI_LABELS["positive"] == "entailment"


def test_a_pair_that_stands_twice_is_left_out_and_counted(of_file: OfFile) -> None:
    again, other = (
        PAIR | {"id": "again", "dtype": "rand_up"},
        PAIR | {"id": "o", "label": "neutral"},
    )
    reading = read(of_file(DIALOGUENLI, array(PAIR, again, other)))
    assert [pair.id for pair in reading] == [PAIR["id"], "o"]
    assert reading.skipped == {"the same pair with the same label again": 1}


def test_the_verified_set_alone_is_read_by_default(tmp_path: Path) -> None:
    """The archive as it unpacks, and the files beside each other."""
    for name in ("verified_test", "test", "dev", "train"):
        for folder in (tmp_path / "dnli/dialogue_nli", tmp_path / "flat"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"dialogue_nli_{name}.jsonl").write_text("x")
    extra = tmp_path / "dnli/dialogue_nli_extra"
    extra.mkdir()
    for name in ("train", "dev", "test"):
        (extra / f"dialogue_nli_EXTRA_uu_{name}.jsonl").write_text("x")
    for place in ("dnli", "flat", "dnli/dialogue_nli"):
        (file,) = find(DIALOGUENLI, tmp_path / place).files
        assert (file.path.name, file.split) == (
            "dialogue_nli_verified_test.jsonl",
            "verified_test",
        )
    every = find(DIALOGUENLI, tmp_path / "dnli", DIALOGUENLI.splits).files
    assert {(file.path.name[13:-6], file.split) for file in every} == {
        ("verified_test", "verified_test"),
        ("test", "test"),
        ("dev", "validation"),
        ("train", "train"),
        ("EXTRA_uu_test", "extra_test"),
        ("EXTRA_uu_dev", "extra_validation"),
        ("EXTRA_uu_train", "extra_train"),
    }
