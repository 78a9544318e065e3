"""INSteD: the coherent document, the sentence that is replaced, and what people said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coherencegym.loaders.corpus import CorpusError, CorpusFile
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.read import Reading, read
from coherencegym.loaders.registry import corpus

PROBES = "linguistic_probe_data"
RECORD: dict[str, Any] = {
    "file_id": 7,
    "ctx": "Ann is a nurse.  She (b. 1980) ran this ward. She left  it in May. She sings.",
    "to_be_replaced": "She left it in May.",
    "replace_with": "He left this town in June.",
    "sen_position": 3,
    "train": 0,
    "label": 0,
}


def write(folder: Path, name: str, *records: dict[str, Any]) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


def test_a_document_and_the_sentence_that_is_replaced(tmp_path: Path) -> None:
    (document,) = read(corpus("insted"), data_dir=write(tmp_path, "official_cnn.jsonl", RECORD))
    assert document.id == "cnn/test/7"
    assert document.texts == (
        *("Ann is a nurse.", "She (b. 1980) ran this ward.", "She left it in May.", "She sings."),
    )
    (alternative,) = document.alternatives
    assert alternative.options == ("She left it in May.", "He left this town in June.")
    assert alternative.right == 0
    assert span_text(document, alternative.span) == alternative.options[0]
    assert document.judgements == ()
    assert document.meta == {
        "split": "test",
        "domain": "cnn",
        "file_id": "7",
        "position": "2",
        "sen_position": "3",
        "label": "0",
    }


def test_coherent_documents_and_those_to_train_on(tmp_path: Path) -> None:
    coherent = RECORD | {"sen_position": -1, "to_be_replaced": "", "replace_with": None, "label": 1}
    folder = write(tmp_path, "official_wikipedia.jsonl", coherent, RECORD | {"train": 1})
    (document,) = read(corpus("insted"), data_dir=folder)
    assert (document.id, document.alternatives) == ("wikipedia/test/7", ())
    assert (document.meta["position"], document.meta["label"]) == ("-1", "1")
    assert len(document.units) == 4
    (document,) = read(corpus("insted"), data_dir=folder, splits=["train"])
    assert (document.id, len(document.alternatives)) == ("wikipedia/train/7", 1)


def test_of_several_places_the_one_with_the_right_number_before_it(tmp_path: Path) -> None:
    record = RECORD | {
        "ctx": "It rains. He ran. It rains. He sat.",
        "to_be_replaced": "It rains.",
        "sen_position": 2,
    }
    (document,) = read(corpus("insted"), data_dir=write(tmp_path, "official_cnn.jsonl", record))
    assert document.meta["position"] == "2"


def test_records_that_do_not_hold_together_are_counted(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        "official_cnn.jsonl",
        RECORD | {"to_be_replaced": "She left it in March."},
        RECORD | {"replace_with": "She left  it in May."},
    )
    reading = read(corpus("insted"), data_dir=folder)
    assert list(reading) == []
    assert reading.skipped == {
        "the sentence to be replaced is not in ctx": 1,
        "the sentence is replaced by itself": 1,
    }


INTRUDED = RECORD | {
    "ctx": "Ann is a nurse. He left  this town in June. She sings.",
    "replace_with": "He left these town in June.",
    "sen_position": 1,
}


def test_a_context_with_the_intruder_in_it(tmp_path: Path) -> None:
    """The singular determiner files: the document's own sentence is put back."""
    folder = write(tmp_path, f"{PROBES}/injected_singular_determiner_flip.txt", INTRUDED)
    own = {"replace_with": "She left it in those May."}
    write(tmp_path, f"{PROBES}/original_singular_determiner_flip.txt", INTRUDED | own)
    injected, original = read(corpus("insted"), data_dir=folder)
    assert injected.id == "singular_determiner_flip/injected/test/7"
    assert injected.texts == ("Ann is a nurse.", "She left it in May.", "She sings.")
    assert injected.texts == original.texts
    assert injected.meta["position"] == original.meta["position"] == "1"
    assert injected.alternatives[0].options[1] == "He left these town in June."
    assert original.alternatives[0].options[1] == "She left it in those May."
    assert [(d.meta["probe"], d.meta["where"]) for d in (injected, original)] == [
        ("singular_determiner_flip", "injected"),
        ("singular_determiner_flip", "original"),
    ]


def test_where_sentences_can_be_counted_in_two_ways_the_intruder_is_not_known(
    tmp_path: Path,
) -> None:
    record = INTRUDED | {"ctx": "Ann has an M.D. from Yale. He left this town in June. She sings."}
    folder = write(tmp_path, f"{PROBES}/original_singular_determiner_flip.txt", record)
    injected = record | {"replace_with": "She left these in May."}
    write(tmp_path, f"{PROBES}/injected_singular_determiner_flip.txt", injected)
    reading = read(corpus("insted"), data_dir=folder)
    assert list(reading) == []
    assert reading.skipped == {
        "no telling which sentence of ctx is the intruder": 1,
        "the intruder is not in ctx: the probe changed the document's own sentence": 1,
    }


def test_human_answers(tmp_path: Path) -> None:
    answered = {"file_id": "7", "gold": "3", "annoated": ["3", "-1", "3"]}
    name = f"{PROBES}/injected_gender_pronoun_flip.txt"
    folder = write(tmp_path, name, RECORD, RECORD | {"file_id": 8}, RECORD | {"file_id": 9})
    answers = f"{PROBES}/human_annotation/injected_gender_flip.jsonl"
    write(tmp_path, answers, answered, answered | {"file_id": "9", "gold": "1"})
    reading = read(corpus("insted"), data_dir=folder)
    first, second, third = reading
    assert [(j.label, j.annotator, j.span) for j in first.judgements] == [
        ("3", "1", None),
        ("-1", "2", None),
        ("3", "3", None),
    ]
    assert first.meta["gold"] == "3"
    assert second.judgements == third.judgements == ()
    assert reading.skipped == {"human answers to another sentence": 1}
    assert [file["name"] for file in reading.files] == [
        "injected_gender_pronoun_flip.txt",
        "injected_gender_flip.jsonl",
    ]


def test_human_answers_to_the_main_data(tmp_path: Path) -> None:
    folder = write(tmp_path, "official_wikipedia.jsonl", RECORD)
    write(tmp_path, "human_annotation.jsonl", {"file_id": 7, "gold": 3, "annotated": [-1]})
    (document,) = read(corpus("insted"), data_dir=folder)
    assert [judgement.label for judgement in document.judgements] == ["-1"]


def test_probes_are_read_by_name_where_there_is_more(tmp_path: Path) -> None:
    folder = write(tmp_path, "official_wikipedia.jsonl", RECORD)
    write(tmp_path, f"{PROBES}/original_to_negation.txt", RECORD)
    assert [d.id for d in read(corpus("insted"), data_dir=folder)] == ["wikipedia/test/7"]
    by_name = read(corpus("insted"), data_dir=folder, splits=["probes"])
    assert [d.id for d in by_name] == ["to_negation/original/test/7"]


def test_a_file_of_no_known_name(tmp_path: Path) -> None:
    write(tmp_path, "other.txt", RECORD)
    other = replace(corpus("insted"), files=(CorpusFile(tmp_path / "other.txt", "test"),))
    with pytest.raises(CorpusError, match=r"other\.txt:1: the name is of no file of this corpus"):
        list(read(other))


@pytest.fixture(scope="module")
def real(
    real_corpus: Callable[[str], tuple[Reading, list[Discourse]]],
) -> tuple[Reading, list[Discourse]]:
    return real_corpus("insted")


def test_real_counts(real: tuple[Reading, list[Discourse]]) -> None:
    reading, documents = real
    assert Counter((d.meta["probe"], d.meta["where"]) for d in documents) == {
        ("gender_pronoun_flip", "injected"): 100,
        ("gender_pronoun_flip", "original"): 100,
        ("singular_determiner_flip", "injected"): 91,
        ("singular_determiner_flip", "original"): 80,
        ("conjunction_flip", "injected"): 100,
        ("conjunction_flip", "original"): 99,
    }
    assert reading.skipped == {
        "the intruder is not in ctx: the probe changed the document's own sentence": 8,
        "no telling which sentence of ctx is the intruder": 17,
        "the sentence is replaced by itself": 5,
    }
    assert Counter(d.meta["split"] for d in documents) == {"test": 565, "train": 5}
    assert Counter(len(d.judgements) for d in documents if d.meta["where"] == "injected") == {
        5: 285,
        4: 1,
        0: 5,
    }
    same = [d.meta["position"] == d.meta["sen_position"] for d in documents]
    assert sum(same) / len(same) > 0.94


def test_real_documents_are_one_whatever_file_they_are_from(
    real: tuple[Reading, list[Discourse]],
) -> None:
    """Also where the context had the intruder in it."""
    texts: dict[tuple[str, str], tuple[str, ...]] = {}
    again = 0
    for document in real[1]:
        key = (document.meta["split"], document.meta["file_id"])
        again += key in texts
        assert texts.setdefault(key, document.texts) == document.texts
    assert again > 100
    assert len({d.id for d in real[1]}) == len(real[1])
