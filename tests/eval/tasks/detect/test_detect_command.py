"""``coherencegym detect`` end to end, on a tiny random model; and what goes wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import tiny_tokenizers
from support.commands import one_line, without_progress
from support.datasets import about_families, with_intruders, write_documents

import coherencegym as cg
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.documents import DOCUMENTS, Document
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.tasks.detect.detectors import detections
from coherencegym.eval.tasks.detect.documents import (
    best_threshold,
    decision_parts,
    highest,
    intruders,
)
from coherencegym.eval.tasks.task import TaskContext

HUMAN = {"human": ["int32"]}


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
) -> Path:
    """A folder with a model, and a dataset of documents in two configs."""
    folder = tmp_path_factory.mktemp("detect")
    save_model(folder / "model")
    for number, config in enumerate(("detect_one", "detect_two")):
        splits = {
            split: with_intruders(about_families(size, seed=10 * number + size), seed=size)
            for split, size in (("train", 6), ("validation", 20), ("test", 30))
        }
        write_documents(folder / "data", splits, config)
    return folder


def arguments(saved: Path, output: Path, *more: str, data: str = "data") -> list[str]:
    return [
        *("detect", "--model", str(saved / "model"), "--dataset", str(saved / data)),
        *("--device", "cpu", "--no-cache", "--verbose", "--output", str(output), *more),
    ]


def results_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


def rows_of(results: dict[str, Any]) -> list[dict[str, Any]]:
    """The scores as the terminal has them: a row for each system, with a value by measure."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for score in results["scores"]:
        system = score["system"] or "model"
        about = {"config": score["config"], "group": score["group"], "system": system}
        row = rows.setdefault(tuple(about.values()), about | score["counts"])
        if score["metric"] == "document accuracy":
            row["documents"] = score["n"]
        row[score["metric"].lower().replace(" ", "_")] = {
            "value": score["score"],
            "low": score["ci_low"],
            "high": score["ci_high"],
            "n": score["n"],
        }
    return list(rows.values())


def score_of(results: dict[str, Any], system: str, group: str = "", config: str = "") -> Any:
    (found,) = (
        score
        for score in rows_of(results)
        if (score["system"], score["group"]) == (system, group)
        and score["config"] in (config, "detect_one")
    )
    return found


def intruded_documents(folder: Path, number: int) -> list[tuple[list[float], int]]:
    """The scores of the sentences of documents, and the places of intruders, from outcomes."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    outcomes = read_results(folder, outcomes=True).outcomes
    for one in outcomes.rows():
        if one.metric == "auc":
            scores, targets = found.setdefault(one.unit.item, ([-math.inf], [0.0]))
            scores.append(one.value if one.value is not None else math.nan)
            targets.append(one.target or 0.0)
    assert len(found) == number
    return [
        (scores, targets.index(1.0) if 1.0 in targets else -1) for scores, targets in found.values()
    ]


def test_end_to_end(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    assert main(arguments(saved, output, "--config", "detect_one")) == 0
    printed = capsys.readouterr()
    assert " documents in " in printed.err
    assert without_progress(printed.err) == ""
    for text in ("detect_one (test)", "argmax", "independent", "majority", "random place", "AUC"):
        assert text in printed.out
    results = results_of(output)
    place = score_of(results, "model")["place"]
    assert (
        "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * place[k] for k in ("value", "low", "high")))
        in printed.out
    )
    assert results["signature"] in printed.out
    assert "|detector:mutual|" in results["signature"]
    assert results["task"] == "detect"
    assert results["dataset"]["verified"] is True
    assert [table["split"] for table in results["dataset"]["tables"]] == ["test"]
    assert {one["split"] for one in results["thresholds"]} == {"validation"}
    assert all(len(one["sha256"]) == 64 for one in results["thresholds"])
    written = {"results.json", "outcomes.parquet", "report.html"}
    assert {path.name for path in output.iterdir()} >= written

    # Everything that was printed follows from the outcomes, and from the scores of the documents
    # that the thresholds were chosen on.
    scores, places = zip(*intruded_documents(output, 30), strict=True)
    loaded = cg.load_model(str(saved / "model"), device="cpu")
    chosen_on = with_intruders(about_families(20, seed=20), seed=20)
    texts = [document.sentences for document in chosen_on]
    validation = detections(TaskContext(loaded), texts)
    for threshold in results["thresholds"]:
        decision = threshold["decision"]
        assert threshold["documents"] == 20
        wanted = [document.intruder_position for document in chosen_on]
        best, _ = best_threshold(validation, wanted, decision)
        assert threshold["threshold"] == pytest.approx(best)
        own = [
            decision_parts(intruders(one, threshold["threshold"], decision), place)
            for one, place in zip(scores, places, strict=True)
        ]
        score = score_of(results, decision)
        for measure in ("document_accuracy", "exact_accuracy", "f1", "precision", "recall"):
            parts, wholes = zip(*(one[measure] for one in own), strict=True)
            assert score[measure]["value"] == pytest.approx(sum(parts) / sum(wholes))
            assert score[measure]["n"] == 30
            assert score[measure]["low"] <= score[measure]["value"] <= score[measure]["high"]
    model = score_of(results, "model")
    assert (model["place"]["n"], model["auc"]["n"]) == (15, 90)
    right = [highest(s) == p for s, p in zip(scores, places, strict=True) if p > 0]
    assert model["place"]["value"] == sum(right) / 15
    assert score_of(results, "majority: all coherent")["document_accuracy"]["value"] == 0.5
    random = score_of(results, "random place")
    assert random["place"]["value"] == pytest.approx(1 / 3)
    assert random["f1"]["value"] == pytest.approx(2 * 15 / 3 / 45)


def test_the_library_finds_what_the_command_does(saved: Path, tmp_path: Path) -> None:
    words = ("--detector", "context", "--config", "detect_one", "--limit", "9")
    assert main(arguments(saved, tmp_path / "command", *words)) == 0
    model, data = str(saved / "model"), saved / "data"
    how: dict[str, Any] = {"detector": "context", "config": "detect_one", "limit": 9}
    found = cg.detect(model, data, device="cpu", output=tmp_path / "library", **how)
    ours, theirs = (results_of(tmp_path / name) for name in ("library", "command"))
    assert ours["scores"] == theirs["scores"]
    assert found.signature == ours["signature"] == theirs["signature"]
    loaded = cg.load_model(model, device="cpu")
    few = cg.detect(loaded, data, **how)
    assert max(row.n for row in few.rows if row.metric == "F1") == 9
    with pytest.raises(
        EvaluationError, match="detect: no option 'scorer'; expected one of backend"
    ):
        cg.detect(model, data, scorer="x")
    with pytest.raises(
        EvaluationError, match=r"of type dict; expected a dataset's name or folder$"
    ):
        cg.detect(model, {})  # type: ignore[arg-type]


def test_a_second_run_asks_the_model_nothing(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        word
        for word in arguments(saved, tmp_path / "a", "--config", "detect_one")
        if word != "--no-cache"
    ]
    words += ["--cache", str(tmp_path / "cache"), "--verbose"]
    assert main(words) == 0
    capsys.readouterr()
    words[words.index(str(tmp_path / "a"))] = str(tmp_path / "b")
    assert main(words) == 0
    (line,) = (li for li in capsys.readouterr().out.splitlines() if "texts were cached" in li)
    known, _, total = line.split()[:3]
    assert known == total != "0"
    first, second = (tmp_path / name / "results.json" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_across_domains(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write_documents(
        tmp_path / "other",
        {"test": with_intruders(about_families(10, seed=7))},
        "detect_far",
    )
    output = tmp_path / "out"
    cross = ("--calibrate-on", "detect_one", "--config", "detect_two")
    assert main(arguments(saved, output, *cross)) == 0
    results = results_of(output)
    threshold, other_threshold = results["thresholds"]
    assert (threshold["decision"], other_threshold["decision"]) == ("argmax", "independent")
    assert (threshold["config"], threshold["chosen_on"]) == ("detect_two", "detect_one")
    assert {s["config"] for s in results["scores"]} == {"detect_two"}
    words = arguments(
        saved, output, "--overwrite", "--calibrate-on", f"{saved / 'data'}:detect_one"
    )
    words[words.index(str(saved / "data"))] = str(other)
    capsys.readouterr()
    assert main(words) == 0
    results = results_of(output)
    assert Path(results["dataset"]["name"]).name == "other"
    assert {Path(one["dataset"]).name for one in results["thresholds"]} == {"data"}
    assert results["thresholds"][0]["threshold"] == threshold["threshold"]
    assert f"|calibrate_on:{saved / 'data'}:detect_one|" in results["signature"]
    assert "20 documents of" in " ".join(capsys.readouterr().out.split())


def test_a_fixed_threshold_needs_no_validation_split(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_documents(tmp_path / "d", {"test": with_intruders(about_families(8))})
    words = arguments(saved, tmp_path / "out", "--threshold", "-1000")
    words[words.index(str(saved / "data"))] = str(data)
    assert main(words) == 0
    results = results_of(tmp_path / "out")
    assert "|threshold:-1000.0|" in results["signature"]
    independent = [s for s in rows_of(results) if s["system"] == "independent"]
    assert independent[0]["recall"]["value"] == 1.0
    assert independent[0]["document_accuracy"]["value"] == 0.5
    capsys.readouterr()
    assert (
        main([word for word in words if word not in ("--threshold", "-1000")] + ["--overwrite"])
        == 2
    )
    error = one_line(capsys.readouterr().err)
    assert "no split 'validation' to choose the threshold on; expected --threshold X" in error


def test_people_columns_and_the_model_that_filtered(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def document(number: int, position: int, human: list[int], difficulty: str) -> Document:
        sentences = tuple(f"Sentence {place} of {number}." for place in range(4))
        extra = {"human": human, "difficulty": difficulty, "filter_model": "any@sha256:0"}
        return Document(f"d{number}", sentences, position, f"d{number}", "toy", extra)

    documents = [
        document(0, 2, [2, 2, 2, 1, -1], "difficult"),  # the vote is right
        document(1, 3, [1, 1, 3, 3, -1], "easy"),  # two answers share it, no three agree
        document(2, -1, [-1, -1, -1, 2], "easy"),
        document(3, 1, [], ""),  # nobody was asked
    ]
    extra = {**HUMAN, "difficulty": "string", "filter_model": "string"}
    data = write_documents(
        *(tmp_path / "d", {"test": documents, "validation": documents}),
        extra=extra,
        breakdowns=["difficulty"],
    )
    words = arguments(saved, tmp_path / "out")
    words[words.index(str(saved / "data"))] = str(data)
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "difficulty=difficult" in printed
    assert "low by construction" not in printed
    results = results_of(tmp_path / "out")

    def people(system: str, group: str) -> Any:
        (found,) = (s for s in rows_of(results) if (s["system"], s["group"]) == (system, group))
        return found

    judged, agreed = "judged by people", "at least 3 annotators agree"
    vote = people("people: majority vote", judged)
    assert vote["documents"] == 3
    assert vote["document_accuracy"]["value"] == 1.0
    assert vote["exact_accuracy"]["value"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert vote["place"]["value"] == pytest.approx((1 + 0.5) / 2)
    mean = people("people: mean annotator", judged)
    assert mean["document_accuracy"]["value"] == pytest.approx((4 / 5 + 4 / 5 + 3 / 4) / 3)
    assert mean["place"]["value"] == pytest.approx((3 / 5 + 2 / 5) / 2)
    assert mean["f1"]["value"] == pytest.approx(
        2 * 1.0 / (2 * 1.0 + (1 / 5 + 2 / 5 + 1 / 4) + (2 / 5 + 3 / 5))
    )
    assert people("people: majority vote", agreed)["documents"] == 2
    assert people("people: majority vote", agreed)["exact_accuracy"]["value"] == 1.0
    assert people("argmax", agreed)["documents"] == 2
    for number in (2, 3):
        one = people("people: majority vote", f"annotators who agree={number}")
        assert one["documents"] == (1 if number == 2 else 2)
        assert one["exact_accuracy"]["value"] == (0.5 if number == 2 else 1.0)
        assert people("argmax", f"annotators who agree={number}")["documents"] == one["documents"]
    assert people("argmax", "difficulty=easy")["documents"] == 2

    commit = results["model"]["commit"]
    for number, named in enumerate((f"other-name@{commit[:20]}", str(saved / "model"))):
        changed = [
            Document(**{**vars(d), "extra": {**d.extra, "filter_model": named}}) for d in documents
        ]
        data = write_documents(
            tmp_path / f"d{number}", {"test": changed, "validation": changed}, extra=extra
        )
        words[words.index("--dataset") + 1] = str(data)
        assert main([*words, "--overwrite"]) == 0
        assert "low by construction" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("reason", "sentences", "said"),
    [
        ("too_long", ("A very long one. " * 60, "The end."), "are longer than the model's context"),
        ("crossing", ("It is so.", "And so on."), "are left out: a token has characters of two"),
    ],
)
def test_documents_that_are_left_out_are_counted(
    save_model: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    reason: str,
    sentences: tuple[str, str],
    said: str,
) -> None:
    from pyarrow import parquet

    save_model(tmp_path / "model", tokenizer=tiny_tokenizers.several_words(["so. And so"]))
    documents = with_intruders(about_families(8))
    other = Document("other", sentences, 1, "other", "toy")
    write_documents(
        tmp_path / "data", {"test": [*documents, other], "validation": [*documents, other]}
    )
    assert main(arguments(tmp_path, tmp_path / "out")) == 0
    assert f"(test): 1 documents {said}" in capsys.readouterr().out
    results = results_of(tmp_path / "out")
    assert {row["documents"] for row in rows_of(results) if "documents" in row} == {8}
    assert results["dataset"]["tables"][0][reason] == 1
    outcomes = parquet.read_table(tmp_path / "out" / "outcomes.parquet").to_pylist()
    assert {row["reason"] for row in outcomes} == {"", reason}


def test_a_config_without_a_threshold_does_not_keep_others_from_being_tested(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """None to choose it on; no intruder among those; or none that the model can read."""
    documents = with_intruders(about_families(8))
    long = Document("long", ("A very long one. " * 60, "The end."), 1, "long", "toy")
    coherent = [one for one in documents if not one.intruded]
    data = tmp_path / "d"
    for name, validation in (
        ("detect_good", documents),
        ("detect_long", [*coherent, long]),
        ("detect_plain", coherent),
    ):
        write_documents(data, {"test": documents, "validation": validation}, name)
    write_documents(data, {"test": documents}, "detect_untold")
    words = arguments(saved, tmp_path / "out")
    words[words.index(str(saved / "data"))] = str(data)
    assert main(words) == 0
    results = results_of(tmp_path / "out")
    assert {row["config"] for row in rows_of(results)} == {"detect_good"}
    assert [table["config"] for table in results["dataset"]["tables"]] == ["detect_good"]
    notes = [note["text"] for note in results["notes"] if note["text"].startswith("left out: ")]
    assert [text.partition(" to choose")[0] for text in notes] == [
        "left out: config 'detect_plain', split 'validation': no document with an intruder",
        "left out: config 'detect_untold': no split 'validation'",
        "left out: detect_long (validation): no document with an intruder",
    ]
    assert main([*words, "--overwrite", "--config", "detect_plain"]) == 2
    # What was read is said above the error.
    *read, error = capsys.readouterr().err.splitlines(keepends=True)
    assert without_progress("".join(read)) == ""
    assert "no document with an intruder" in one_line(error)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--config", "three"], "no config 'three'; expected one of detect_one, detect_two"),
        (["--split", "x"], "no split 'x'; expected one of test, train, validation"),
        (
            ["--threshold", "1", "--calibrate-on", "detect_one"],
            "expected no --calibrate-on with it",
        ),
        (["--calibrate-on", "nowhere:one"], "dataset 'nowhere'"),
        (["--calibrate-on", "."], "no config '.'; expected one of detect_one, detect_two"),
        (["--revision", "v1"], "is a folder, which has no revisions"),
    ],
)
def test_mistakes_are_one_line(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    assert main(arguments(saved, tmp_path / "out", *more)) == 2
    assert message in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_a_row_that_was_changed_is_refused(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from datasets import Dataset

    from coherencegym.eval.kinds.documents import DOCUMENTS
    from coherencegym.eval.kinds.table_kind import to_row

    documents = with_intruders(about_families(8))
    data = write_documents(tmp_path / "d", {"test": documents, "validation": documents})
    rows = [to_row(document) for document in documents]
    rows[1]["intruder_position"] = -1
    path = data / "data" / "detect_toy" / "test-00000-of-00001.parquet"
    Dataset.from_list(rows, features=DOCUMENTS.features()).to_parquet(str(path))
    words = arguments(saved, tmp_path / "out")
    words[words.index(str(saved / "data"))] = str(data)
    capsys.readouterr()
    assert main(words) == 2
    assert f"{rows[1]['item_id']!r} is not the row that was published" in one_line(
        capsys.readouterr().err
    )


def test_somebody_elses_table(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    lines = [
        {"item_id": d.item_id, "sentences": d.sentences, "intruder_position": d.intruder_position}
        | {"discourse_id": d.discourse_id, "corpus": "own"}
        for d in with_intruders(about_families(12))
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "test.jsonl").write_text(text)
    (folder / "validation.jsonl").write_text(text)
    words = arguments(saved, tmp_path / "out")
    words[words.index(str(saved / "data"))] = str(folder)
    assert main(words) == 0
    assert "rows are not verified" in capsys.readouterr().out
    results = results_of(tmp_path / "out")
    assert results["dataset"]["verified"] is False
    # Another table beside it is for another task.
    (folder / "other").mkdir()
    (folder / "other" / "test.jsonl").write_text('{"question": "Who?"}\n')
    files = {"own": "test.jsonl", "other": "other/test.jsonl"}
    lines_of = [f"- config_name: {name}\n  data_files: {glob}\n" for name, glob in files.items()]
    (folder / "README.md").write_text(f"---\nconfigs:\n{''.join(lines_of)}---\n")
    found = find_dataset(str(folder))
    assert {table.config for table in table_rows(found, kind=DOCUMENTS)} == {"own"}
    with pytest.raises(EvaluationError, match="no column 'intruder_position'"):
        list(table_rows(found, ["other"], kind=DOCUMENTS))


def test_a_table_of_items_is_named_with_its_command(
    saved: Path,
    tmp_path: Path,
    pair_items: Any,
    write_dataset: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = write_dataset(tmp_path / "d", pair_items, extra={"moved": "bool"})
    words = arguments(saved, tmp_path / "out")
    words[words.index(str(saved / "data"))] = str(data)
    assert main(words) == 2
    error = one_line(capsys.readouterr().err)
    assert "d0/shuffled: no list 'before'; expected documents, or the probes" in error


def test_the_real_model(saved: Path, stories260k: Path, tmp_path: Path) -> None:
    words = arguments(saved, tmp_path / "out", "--limit", "10")
    words[words.index(str(saved / "model"))] = str(stories260k)
    assert main(words) == 0
    found = rows_of(results_of(tmp_path / "out"))
    assert {row["documents"] for row in found if row["system"] == "argmax"} == {10}
