"""Conversational Entailment and ART: texts whose annotated units carry the answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from support.native_files import LAYOUTS

from coherencegym.loaders.corpora.judged import EVIDENCE
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.read import Reading, read
from coherencegym.loaders.registry import corpus


def evidence(discourse: Discourse) -> list[str]:
    return [
        span_text(discourse, judgement.span)
        for judgement in discourse.judgements
        if judgement.label == EVIDENCE and judgement.span
    ]


def test_a_conversation_with_its_hypothesis(tmp_path: Path) -> None:
    LAYOUTS["verifiable conversations"].write(tmp_path)
    first, second = read(corpus("verifiable"), data_dir=tmp_path)
    assert first.id == "ce-1"
    assert first.texts == ("The kettle sang.",)
    assert [unit.speaker for unit in second.units] == ["B", "A"]
    assert first.judgements[0].label == "entailed"
    assert (evidence(first), evidence(second)) == (["The kettle sang."], ["É? I run."])
    assert first.meta == {
        "split": "test",
        "question": "entailment",
        "hypothesis": "SpeakerA has tea.",
        "source": "SW1",
        "type": "fact",
        "spans": "known",
    }


def test_a_file_without_annotation(tmp_path: Path) -> None:
    layout = LAYOUTS["verifiable conversations"]
    records = json.loads(layout.files[layout.main])
    records[0] |= {"label": 0, "conflict_pair": []}
    del records[1]["conflict_pair"]
    (tmp_path / "ConvEnt_dev_resplit.json").write_text(json.dumps(records))
    first, second = read(corpus("verifiable"), data_dir=tmp_path)
    assert [judgement.label for judgement in first.judgements] == ["not entailed"]
    assert [judgement.label for judgement in second.judgements] == ["entailed"]
    assert [discourse.meta["spans"] for discourse in (first, second)] == ["known", "unknown"]
    assert first.meta["split"] == "validation"


def test_a_choice_has_the_plausible_hypothesis_in_its_text(tmp_path: Path) -> None:
    LAYOUTS["verifiable choices"].write(tmp_path)
    first, second = read(corpus("verifiable"), data_dir=tmp_path)
    assert first.texts == ("The kettle sang.", "Ann made tea.", "She drank it.")
    assert second.texts == ("Bo ran.", "He fell.", "It hurt.")
    (alternative,) = second.alternatives
    assert (alternative.options, alternative.right) == (("He sat.", "He fell."), 1)
    assert span_text(second, alternative.span) == "He fell."
    assert evidence(second) == ["He fell. It hurt."]
    assert (first.meta["second_pair"], second.meta["second_pair"]) == ("false", "")


def test_the_real_files(real_corpus: Callable[[str], tuple[Reading, list[Discourse]]]) -> None:
    """Counts of the released files; of the test items only the annotated file is read."""
    reading, found = real_corpus("verifiable")
    assert reading.skipped == {}
    assert Counter((d.meta["question"], d.meta["split"]) for d in found) == {
        ("entailment", "train"): 593,
        ("entailment", "validation"): 110,
        ("entailment", "test"): 172,
        ("choice", "test"): 189,
    }
    conversations = [d for d in found if d.meta["question"] == "entailment"]
    assert Counter(d.meta["spans"] for d in conversations) == {"unknown": 703, "known": 172}
    sources = {(d.meta["split"], d.meta["source"]) for d in conversations}
    assert Counter(split for split, _ in sources) == {"train": 35, "validation": 5, "test": 10}
    choices = [d for d in found if d.meta["question"] == "choice"]
    assert Counter(d.alternatives[0].right for d in choices) == {0: 104, 1: 85}
    assert Counter(d.meta["second_pair"] for d in choices) == {
        "": 130,
        "true": 30,
        "false": 29,
    }
