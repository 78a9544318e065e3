"""DiscoEval's own rows: labels, twins and families as released, and the paper's counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import build_command, one_line
from support.suites import rows

from coherencegym.builders.discourse.released import ReleasedCoherence, twins
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.eval.kinds.documents import EXAMPLES, LabelledExample
from coherencegym.eval.kinds.table_kind import with_names
from coherencegym.loaders.corpora.discoeval import DISCOEVAL_ROWS
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.loaders.read import read
from coherencegym.manipulations.operator import Context


def line(*fields: str) -> str:
    return "\t".join(fields) + "\n"


FILES = {
    "SP/wiki/test.txt": line("2", "It sang .", "A tea .", "`` B `` .", "C .", "! !"),
    "data/BSO/wiki/valid.txt": line("Ann ran .", "She fell .") + line("Same .", "Same ."),
    "DC/chat/train.txt": line("0", "a b", "<user> : no", "c", "d", "e", "f")
    + line("1", "a b", "<user> : yes", "c", "d", "e", "f"),
    "SSP/abs/test.txt": line("1", "We show it .") + line("0", "See that ( a ) ."),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_a_row_is_a_line_with_its_sentences_one_by_one(folder: Path) -> None:
    found = {d.id: d for d in read(DISCOEVAL_ROWS, data_dir=folder)}
    position = found["SP/wiki/test/000001"]
    assert position.texts == ("It sang.", "A tea.", '"B".', "C.", "!!")
    assert position.meta == {
        "split": "test",
        "task": "SP",
        "domain": "wikipedia_unordered",
        "label": "2",
        "tokenised": "It sang .\tA tea .\t`` B `` .\tC .\t! !",
        "wordless": "1",
    }
    assert found["BSO/wiki/valid/000001"].texts == ("Ann ran.", "She fell.")
    assert found["BSO/wiki/valid/000001"].meta["domain"] == "wikipedia"
    assert found["DC/chat/train/000002"].texts == ("a b", "yes", "c", "d", "e", "f")
    assert found["SSP/abs/test/000002"].texts == ("See that (a).",)


def test_a_build_has_the_rows_as_released(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--corpus", "discoeval", "--data-dir", folder, "--output", folder / "out")
    assert build_command("discourse_tasks", *options) == 0
    manifest = json.loads((folder / "out/manifest.json").read_text())
    configs = manifest["configs"]
    assert {name: list(entry["splits"]) for name, entry in configs.items()} == {
        "position_discoeval_wikipedia_unordered": ["test"],
        "order_discoeval_wikipedia": ["validation"],
        "replaced_discoeval_chat": ["train"],
        "detect_discoeval_chat_released": ["train"],
        "section_discoeval_abs": ["test"],
    }
    assert not any(entry["republishable"] for entry in configs.values())
    skipped = configs["order_discoeval_wikipedia"]["skipped"]["validation"]
    assert skipped == {"both units have the same text": 1}
    both = rows(folder / "out", "order_discoeval_wikipedia", "validation")
    assert [(row["label"], row["text"]) for row in both] == [
        (1, ["Ann ran.", "She fell."]),
        (0, ["She fell.", "Ann ran."]),
    ]
    coherence = rows(folder / "out", "replaced_discoeval_chat", "train")
    assert [(r["label"], r["place"], r["twin"][-1]) for r in coherence] == [
        (1, 1, "2"),
        (0, 1, "1"),
    ]
    documents = rows(folder / "out", "detect_discoeval_chat_released", "train")
    assert [(r["intruder_position"], r["sentences"][1], r["replaced"]) for r in documents] == [
        (1, "no", "yes"),
        (-1, "yes", ""),
    ]


def test_a_limit_is_of_each_task(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first rows of a split are all of its first file; the others are of other tasks."""
    options = ("--corpus", "discoeval", "--data-dir", folder, "--output", folder / "out")
    assert build_command("discourse_tasks", *options, "--limit", 1) == 0
    assert "section_discoeval_abs" in capsys.readouterr().out
    configs = json.loads((folder / "out/manifest.json").read_text())["configs"]
    assert configs["section_discoeval_abs"]["splits"]["test"]["rows"] == 1
    assert configs["position_discoeval_wikipedia_unordered"]["splits"]["test"]["rows"] == 1


def test_a_bad_line_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "SSP/abs/test.txt").write_text("2\tWe show it .\n", encoding="utf-8")
    options = ("--corpus", "discoeval", "--data-dir", folder, "--output", folder / "out")
    assert build_command("discourse_tasks", *options) == 2
    said = one_line(capsys.readouterr().err)
    assert "test.txt:1: label is '2', expected one of 0, 1" in said
    assert not (folder / "out").exists()


def texts(name: str, label: str, *sentences: str) -> Discourse:
    meta = {"split": "test", "task": "DC", "domain": "chat", "label": label}
    meta["tokenised"] = "\t".join(sentences)
    return Discourse(name, "discoeval", tuple(map(Unit, sentences)), meta=meta)


def test_twins_are_found_wherever_they_stand_and_are_of_one_family() -> None:
    first = [f"this is sentence number {i} here" for i in range(6)]
    second = [f"and that one is number {i} there" for i in range(6)]
    found = [
        texts("a0", "0", *first[:2], second[5], *first[3:]),
        texts("b1", "1", *second),
        texts("c0", "0", *second[:3], "something else it is", "and more of it here", second[5]),
        texts("a1", "1", *first),
        texts("a2", "1", *first[1:], "the window slides by one sentence"),
    ]
    twin = twins(found)
    assert {name: (t.discourse.id, t.place) for name, t in twin.items()} == {
        "a0": ("a1", 2),
        "a1": ("a0", 2),
    }
    generator = ReleasedCoherence().fit(found, Context(), Fits())
    family: dict[str, str] = {
        row.item_id: row.extra["family"] for d in found for row in generator(d, Context())
    }
    # The sentence that `a0` borrows does not connect it with the other conversation.
    assert family["a0"] == family["a1"] == family["a2"]
    assert family["b1"] == family["c0"] != family["a0"]


# The real files: counts of labels, of minimal pairs and of oddities -------------------------------


@pytest.fixture(scope="module")
def real(real_build: Callable[[str, str], Path]) -> Path:
    return real_build("discourse_tasks", "discoeval")


def labelled(folder: Path, config: str, split: str) -> list[LabelledExample]:
    manifest = json.loads((folder / "manifest.json").read_text())
    features = manifest["configs"][config]["features"]
    return [EXAMPLES.from_row(with_names(row, features)) for row in rows(folder, config, split)]


def labels(folder: Path, config: str, split: str) -> dict[str, int]:
    return dict(sorted(Counter(row.label for row in labelled(folder, config, split)).items()))


def test_labels_are_those_of_the_paper(real: Path) -> None:
    counts = 825, 776, 769, 812, 818
    found = labels(real, "position_discoeval_wikipedia_unordered", "test")
    assert found == dict(zip("01234", counts, strict=True))
    halves: dict[tuple[str, str], tuple[str, str, int]] = {
        ("order_discoeval_wikipedia", "test"): ("exchanged", "in order", 4000),
        ("replaced_discoeval_chat", "validation"): ("coherent", "replaced", 917),
        ("section_discoeval_abs", "validation"): ("abstract", "body", 2000),
    }
    for (config, split), (one, other, half) in halves.items():
        assert labels(real, config, split) == {one: half, other: half}


def test_places_and_groups_are_counted_as_they_stand(real: Path) -> None:
    coherent = [r for r in rows(real, "replaced_discoeval_chat", "validation") if r["label"] == 0]
    assert len(coherent) == 917
    counts = Counter(row["place"] for row in coherent)
    assert tuple(counts[place] for place in range(1, 5)) == (216, 240, 233, 228)
    assert len({row["family"] for row in coherent}) == 265


def test_documents_have_a_place_where_a_twin_shows_it(real: Path) -> None:
    chat = rows(real, "detect_discoeval_chat_released", "validation")
    assert len(chat) == 1834
    counts = Counter(row["intruder_position"] for row in chat)
    assert counts == {-1: 917, 1: 216, 2: 240, 3: 233, 4: 228}
    wiki = Counter(
        row["intruder_position"]
        for row in rows(real, "detect_discoeval_wikipedia_released", "test")
    )
    assert wiki == {-1: 2000, -2: 1798, 1: 52, 2: 44, 3: 54, 4: 52}
    assert {row["family"] for row in chat} == {
        row["family"] for row in rows(real, "replaced_discoeval_chat", "validation")
    }


def test_anomalies_are_counted(real: Path) -> None:
    wiki = rows(real, "position_discoeval_wikipedia_unordered", "test")
    assert sum(row["wordless"] for row in wiki) == 39
    order = rows(real, "order_discoeval_wikipedia", "test")
    assert sum(row["wordless"] for row in order) == 2 * 9
    section = rows(real, "section_discoeval_abs", "validation")
    assert len(section) - len({tuple(row["text"]) for row in section}) == 1
