"""Linguistic probes: documents from items, and scores without and with the probe, paired."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line, without_progress
from support.datasets import about_families, with_intruders, write_documents

from coherencegym.eval.commands.cli import main
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.items import Item, SuiteError
from coherencegym.eval.kinds.table_kind import to_row
from coherencegym.eval.outcomes.estimates import estimates
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.tasks.detect.documents import (
    PROBE_METRICS,
    Decision,
    DocumentTable,
    add_probe_outcomes,
    documents_of,
    probe_differences,
)

EXTRA = {"before": ["string"], "after": ["string"]}
SLOTS = {
    "original": "He saw the ship.",
    "intruder": "He ate the cake.",
    "intruder_probe": "He will eat the cake.",
    "original_probe": "He will see the ship.",
}


@pytest.fixture(scope="module")
def make_probe(make_item: Callable[..., Item]) -> Callable[..., Item]:
    def make(
        number: int = 0,
        before: Sequence[str] = ("Ann went out.",),
        after: Sequence[str] = ("It was late.", "She slept."),
        slots: Mapping[str, str] = SLOTS,
        **extra: Any,
    ) -> Item:
        start = [f"{before[0]} {number}", *before[1:]] if before else []
        return make_item(
            {name: [" ".join(start), slot, " ".join(after)] for name, slot in slots.items()},
            " > ".join(f"(2;%{name}%)" for name in list(slots)[:2]),
            item_id=f"d{number}/p",
            before=start,
            after=list(after),
            **extra,
        )

    return make


def test_an_item_is_a_document_for_each_condition(make_probe: Callable[..., Item]) -> None:
    documents = list(documents_of(to_row(make_probe(family="f"))))
    assert [d.item_id for d in documents] == [f"d0/p/{name}" for name in SLOTS]
    assert [d.intruder_position for d in documents] == [-1, 1, 1, -1]
    assert documents[2].sentences == (
        "Ann went out. 0",
        "He will eat the cake.",
        "It was late.",
        "She slept.",
    )
    assert {d.extra["family"] for d in documents} == {"f"}
    last = list(documents_of(to_row(make_probe(after=()))))[1]
    assert last.sentences[last.intruder_position] == "He ate the cake."


def test_what_is_no_probe_is_refused(make_probe: Callable[..., Item]) -> None:
    def refused(item: Item, **changed: Any) -> str:
        with pytest.raises(SuiteError) as error:
            list(documents_of({**to_row(item), **changed}))
        return str(error.value)

    assert "d0/p: no list 'after'" in refused(make_probe(), after="It was late.")
    only = {name: SLOTS[name] for name in ("original", "original_probe")}
    assert "d0/p: no condition 'intruder'" in refused(make_probe(slots=only))
    assert "intruder_position is 0" in refused(make_probe(before=()))


def test_scores_are_of_pairs(make_probe: Callable[..., Item]) -> None:
    """Eight items; one has no probe, and one is too long with it."""
    plain = {name: SLOTS[name] for name in ("original", "intruder")}
    items = [make_probe(n, slots=plain if n == 7 else SLOTS) for n in range(8)]
    documents = tuple(d for item in items for d in documents_of(to_row(item)))
    table = DocumentTable(Source("d", Path()), "negation", "test", documents, "", True, False)

    def scores(number: int, condition: str) -> list[float]:
        # The probe hides three of the intruders that are found, and shows one original.
        hidden = condition == "intruder_probe" and number < 3
        shown = condition == "original_probe" and number == 0
        found = shown or (condition.startswith("intruder") and not hidden)
        own = [-math.inf, 1.0 if found else -1.0, 0.0, -1.0]
        return (
            [-math.inf, math.nan, math.nan, math.nan]
            if (number, condition) == (6, "intruder_probe")
            else own
        )

    read = [scores(int(d.item_id[1]), str(d.extra["condition"])) for d in documents]
    thresholds: dict[Decision, float] = {"argmax": 0.5, "independent": -0.5}
    writer = OutcomeWriter()
    add_probe_outcomes(writer, table, read, thresholds)
    outcomes = writer.tables()
    found = {
        (system.label, metric.said): score
        for metric, system, score in estimates(
            outcomes, {metric.name: metric for metric in PROBE_METRICS}
        )
    }
    before, after = (found["argmax", f"F1 {which} probe"] for which in ("without", "with"))
    assert (before.n, found["argmax", "coherent without probe"].n) == (6, 7)
    assert before.score == 1.0
    assert after.score == pytest.approx(2 * 3 / (3 + 6))
    rows = list(probe_differences(outcomes))
    assert {(row["config"], row["split"]) for row in rows} == {("negation", "test")}
    changes = {row["metric"]: row for row in rows if row["decision"] == "argmax"}
    difference = changes["F1 with probe"]
    assert list(difference)[4:] == ["value", "low", "high", "method", "n", "clusters"]
    assert difference["value"] == pytest.approx(2 / 3 - 1)
    # Three of six documents say little: which way F1 goes is open.
    assert -1 <= difference["low"] < difference["value"] < 0 < difference["high"] < 0.5
    assert found["argmax", "coherent without probe"].score == 1.0
    assert found["argmax", "coherent with probe"].score == pytest.approx(6 / 7)
    assert changes["coherent with probe"]["value"] == pytest.approx(-1 / 7)
    # The third sentence is above the threshold in all of them.
    assert found["independent", "F1 without probe"].score == pytest.approx(2 * 6 / (12 + 6))
    assert found["independent", "coherent without probe"].score == 0.0


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
    make_probe: Callable[..., Item],
    write_dataset: Callable[..., Path],
) -> Path:
    folder = tmp_path_factory.mktemp("probes")
    save_model(folder / "model")
    for config in ("gender_flip", "negation"):
        items = [make_probe(number) for number in range(12)]
        write_dataset(folder / "data", items, config, extra=EXTRA)
    documents = with_intruders(about_families(20))
    write_documents(
        folder / "documents", {"validation": documents, "test": documents}, "detect_wiki"
    )
    return folder


def arguments(saved: Path, output: Path, *more: str) -> list[str]:
    return [
        *("detect", "--model", str(saved / "model"), "--dataset", str(saved / "data")),
        *("--device", "cpu", "--no-cache", "--output", str(output), *more),
    ]


def test_end_to_end(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    elsewhere = f"{saved / 'documents'}:detect_wiki"
    assert main(arguments(saved, output, "--calibrate-on", elsewhere)) == 0
    printed = capsys.readouterr()
    assert without_progress(printed.err) == ""
    for text in ("gender_flip (test)", "F1 with probe, %", "change in points"):
        assert text in printed.out
    results = json.loads((output / "results.json").read_text())
    assert {s["metric"] for s in results["scores"]} == {
        *("F1 without probe", "F1 with probe"),
        *("coherent without probe", "coherent with probe"),
    }
    scores = {(s["config"], s["system"], s["metric"]): s for s in results["scores"]}
    assert {s["n"] for s in scores.values()} == {12}
    assert {t["chosen_on"] for t in results["thresholds"]} == {"detect_wiki"}
    assert len(results["probes"]) == 2 * 2 * 2
    for change in results["probes"]:
        about, after = (change["config"], change["decision"]), change["metric"]
        values = (
            scores[*about, metric]["score"] for metric in (after.replace("with", "without"), after)
        )
        assert change["value"] == pytest.approx(-(next(values) - next(values)))


def test_a_threshold_is_chosen_on_documents_without_probes(
    saved: Path,
    tmp_path: Path,
    make_probe: Callable[..., Item],
    write_dataset: Callable[..., Path],
) -> None:
    items = [make_probe(number) for number in range(10)]
    data = tmp_path / "d"
    for split in ("validation", "test"):
        write_dataset(data / split, items, "negation", split, extra=EXTRA)
    # One config with two splits.
    for folder in ("data", "hashes"):
        for path in (data / "validation" / folder).rglob("*.parquet"):
            there = data / "test" / path.relative_to(data / "validation")
            there.parent.mkdir(exist_ok=True, parents=True)
            path.rename(there)
    manifest = json.loads((data / "test" / "manifest.json").read_text())
    manifest["configs"]["negation"]["splits"]["validation"] = {"rows": 10}
    (data / "test" / "manifest.json").write_text(json.dumps(manifest))
    words = arguments(saved, tmp_path / "out")
    words[words.index(str(saved / "data"))] = str(data / "test")
    assert main(words) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [(t["chosen_on"], t["documents"]) for t in results["thresholds"]] == [
        ("negation", 20),
        ("negation", 20),
    ]


def test_without_a_validation_split_it_says_what_to_do(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(saved, tmp_path / "out")) == 2
    error = one_line(capsys.readouterr().err)
    assert "config 'gender_flip': no split 'validation' to choose the threshold on" in error
    assert "DATASET:CONFIG" in error
