"""``coherencegym spans`` end to end, on tiny random models; and what goes wrong."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line
from support.datasets import write_spans_dataset
from support.span_texts import abductions, entailments, intruded

from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.push import render_results_card
from coherencegym.eval.kinds.documents import SpanText
from coherencegym.eval.results.folder import read_results
from coherencegym.files.parquet import parquet_rows


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, save_model: Callable[..., Path]) -> Path:
    """A folder with a causal model, a classifier without names, and a dataset of all questions."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("spans")
    save_model(folder / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    tokenizer.pad_token = tokenizer.eos_token
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=128, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder / "classifier")
    tokenizer.save_pretrained(folder / "classifier")
    learned = {"validation": entailments(12, first=30), "test": entailments(24)}
    write_spans_dataset(
        folder / "data", learned, "conversational_entailment",
        task_defaults={"question": "entailment", "positive": "entailed"},
    )  # fmt: skip
    write_spans_dataset(folder / "data", {"test": abductions(12)}, "abduction")
    texts = [intruded(f"i{n}", n % 3 + 1 if n % 2 else -1) for n in range(12)]
    splits = {"train": texts, "test": [replace(t, item_id=f"t-{t.item_id}") for t in texts]}
    about = {"task_defaults": {"question": "coherence", "positive": "incoherent"}}
    write_spans_dataset(folder / "data", splits, "intruder_toy", **about)
    return folder


def arguments(saved: Path, output: Path, *more: str, model: str = "model") -> list[str]:
    return [
        *("spans", "--model", str(saved / model), "--dataset", str(saved / "data")),
        *("--device", "cpu", "--no-cache", "--output", str(output), *more),
    ]


def results_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


def scores_of(results: dict[str, Any], config: str = "") -> dict[tuple[str, str, str], Any]:
    """The scores of a config, or of all, by group, system and metric."""
    return {
        (one["group"], one["system"], one["metric"]): one
        for one in results["scores"]
        if config in (one["config"], "")
    }


@pytest.fixture(scope="module")
def finished(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("results") / "run"
    assert main(arguments(saved, output)) == 0
    return output


def test_what_a_run_says_of_each_config(finished: Path) -> None:
    results = results_of(finished)
    by_config = {own["config"]: own for own in results["spans"]}
    assert {c: own["question"] for c, own in by_config.items()} == {
        "conversational_entailment": "entailment",
        "abduction": "choice",
        "intruder_toy": "coherence",
    }
    scores = scores_of(results, "conversational_entailment")
    sizes = [scores[group, "", "strict"]["n"] for group in ("", "units: 1", "units: several")]
    assert sizes == [24, 8, 16]
    strict, accuracy = (scores["units: 1", "", name]["score"] for name in ("strict", "accuracy"))
    assert strict == accuracy
    assert {system for group, system, _ in scores if not group} == {
        *("", "never", "always", "most frequent", "bag of words")
    }
    assert by_config["intruder_toy"]["about"]["calibrated_on"] == "train"
    low, high = by_config["abduction"]["thresholds"]["strict"]
    assert 0 < low <= high <= 1
    assert by_config["intruder_toy"]["thresholds"] == {}
    strict = [scores_of(results, name)["", "", "strict"]["score"] for name in by_config]
    assert results["headline"]["score"] == pytest.approx(sum(strict) / 3)
    for name in by_config:
        scores = scores_of(results, name)
        for metric in ("accuracy", "strict", "lenient"):
            chance = scores["", "", metric]["chance"]
            assert chance >= scores["", "never", metric]["score"]


def test_the_best_constant_answer_is_not_called_chance(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = results_of(finished)
    rows = [one for one in results["scores"] if one["chance"] is not None]
    assert {one["chance_name"] for one in (results["headline"], *rows)} == {"best constant answer"}
    page = (finished / "report.html").read_text()
    assert f"best constant answer {100 * results['headline']['chance']:.1f}" in page
    assert f"best constant answer {100 * results['headline']['chance']:.1f}\n" in said_of(finished)
    assert main(["overview", str(finished)]) == 0
    said = capsys.readouterr().out
    assert "above the best constant answer on" in said
    assert "chance" not in said.replace("replaces chance", "")
    card = render_results_card("me/results", {"runs/a": read_results(finished)}, {"runs/a": []})
    assert "best constant answer |" in card
    assert main(["overview", str(finished), "--output", str(tmp_path / "overview")]) == 0
    page = (tmp_path / "overview/index.html").read_text()
    assert "best constant answer" in page
    assert not re.search('[>"]chance[,:<]', page)


def said_of(folder: Path) -> str:
    """The line of the headline as a terminal has it."""
    from coherencegym.eval.tasks.headline import headline_line

    head = read_results(folder).headline
    assert head is not None
    return headline_line(head) + "\n"


def _opposite(row: SpanText) -> SpanText:
    gold = tuple(replace(one, answer=1 - one.answer) for one in row.gold)
    return replace(row, label=1 - row.label, gold=gold)


def test_inverted_answers_are_said_where_one_looks(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the labels that the threshold is set on and of their opposites one is inverted."""
    learned = entailments(12, first=30)
    said = {}
    for name, known in {
        "as it is": learned,
        "opposite": list(map(_opposite, learned)),
    }.items():
        write_spans_dataset(
            tmp_path / name, {"validation": known, "test": entailments(8)}, "toy",
            task_defaults={"question": "entailment", "positive": "entailed"},
        )  # fmt: skip
        run = tmp_path / f"run {name}"
        arguments = ("--model", str(saved / "model"), "--dataset", str(tmp_path / name))
        assert (
            main(["spans", *arguments, "--device", "cpu", "--no-cache", "--output", str(run)]) == 0
        )
        (own,) = results_of(run)["spans"]
        page = (run / "report.html").read_text()
        said[own["about"]["weight"] < 0] = (own, capsys.readouterr().out, page)
    own, out, page = said[True]
    weight = f"{own['about']['weight']:.3f}"
    for text in (" ".join(out.split()), page):
        assert f"the answers are inverted (weight {weight}, set on validation)" in text
    own, out, page = said[False]
    assert "answers are inverted" not in out + page


def test_every_span_and_every_text_is_there(finished: Path) -> None:
    spans = parquet_rows(finished / "spans.parquet")
    results = results_of(finished)
    for own in results["spans"]:
        rights = [row["right"] for row in spans if row["config"] == own["config"]]
        scores = scores_of(results, own["config"])
        share = scores["", "", "span accuracy"]["score"]
        assert sum(rights) / len(rights) == pytest.approx(share)
    page = (finished / "report.html").read_text()
    assert len(re.findall(r"<bdi>units \d to \d: ", page)) == len(spans)
    wrong = re.findall(r"<bdi>wrong, right is ", page)
    assert len(wrong) == sum(not row["right"] for row in spans)
    assert " style=" not in page


def test_the_released_program(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configs = ("--config", "conversational_entailment", "abduction", "--compat", "storks-2021")
    assert main(arguments(saved, tmp_path / "out", *configs, "--rho", "best", "--verbose")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "released program, never" in said
    assert "neither is the paper's definition" in said
    results = results_of(tmp_path / "out")
    for own in results["spans"]:
        scores = scores_of(results, own["config"])
        for metric in ("strict", "lenient"):
            assert {("", "released program", metric), ("", "released program, never", metric)} <= {
                *scores
            }


def test_a_classifier_by_its_head(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--config", "conversational_entailment", "--label-map", "entailment=1")
    assert main(arguments(saved, tmp_path / "out", *more, model="classifier")) == 0
    said = one_line(capsys.readouterr().err)
    assert said.startswith("conversational_entailment (test): 24 texts")
    results = results_of(tmp_path / "out")
    assert results["settings"]["scorer"] == "classifier"
    assert "scorer:classifier" in results["signature"]
    assert results["spans"][0]["about"] == {"label": 1, "max_length": 128}


CE = ("--config", "conversational_entailment")


@pytest.mark.parametrize(
    ("model", "more", "said"),
    [
        (
            "classifier",
            CE,
            "its labels (0: LABEL_0, 1: LABEL_1) do not say which label is 'entailed'",
        ),
        ("classifier", (*CE, "--label-map", "entailed=7"), "has classes 0 to 1; expected one of"),
        ("classifier", (*CE, "--label-map", "neutral=1"), "expected entailed=NUMBER"),
        ("classifier", ("--config", "abduction"), "a choice between texts; expected a model for"),
        (
            "model",
            (*CE, "--label-map", "entailed=1"),
            "--label-map: this model answers by surprisal",
        ),
        ("model", (*CE, "--truncate"), "--truncate: this model answers by surprisal"),
        (
            "model",
            ("--config", "intruder_toy", "--compat", "storks-2021"),
            "intruder_toy (test) is not of the paper;",
        ),
    ],
)
def test_what_goes_wrong_is_one_line(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    model: str, more: tuple[str, ...], said: str,
) -> None:  # fmt: skip
    assert main(arguments(saved, tmp_path / "out", *more, model=model)) == 2
    assert said in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def cautions(folder: Path) -> list[str]:
    notes = results_of(folder)["notes"]
    return [note["text"] for note in notes if note["text"].startswith("left out: ")]


def test_a_config_without_both_labels_does_not_keep_others_from_being_asked(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [intruded(f"i{n}", n % 3 + 1 if n % 2 else -1) for n in range(8)]
    alike = [text for text in texts if text.label]
    folder = write_spans_dataset(tmp_path / "data", {"train": texts, "test": texts[:4]}, "both")
    write_spans_dataset(folder, {"train": alike, "test": texts[:4]}, "alike")
    write_spans_dataset(folder, {"train": texts}, "untested")
    command = arguments(saved, tmp_path / "out")
    command[command.index(str(saved / "data"))] = str(folder)
    assert main(command) == 0
    assert [own["config"] for own in results_of(tmp_path / "out")["spans"]] == ["both"]
    assert [text.partition(";")[0] for text in cautions(tmp_path / "out")] == [
        "left out: config 'untested': no split 'test'",
        "left out: alike (test): the rows that the threshold is set on have but one label",
    ]
    assert (
        "left out: alike (test): the rows that the threshold is set on" in capsys.readouterr().out
    )
    assert main([*command, "--overwrite", "--config", "alike"]) == 2
    assert "the rows that the threshold is set on" in one_line(capsys.readouterr().err)
    assert main([*command, "--overwrite", "--config", "both", "untested"]) == 2


def test_a_head_is_asked_what_it_can_answer(saved: Path, tmp_path: Path) -> None:
    more = ("--label-map", "entailed=1")
    assert main(arguments(saved, tmp_path / "out", *more, model="classifier")) == 0
    (own,) = results_of(tmp_path / "out")["spans"]
    assert own["config"] == "conversational_entailment"
    choice, coherence = cautions(tmp_path / "out")
    assert "abduction (test): a choice between texts" in choice
    assert "expected incoherent=NUMBER, as intruder_toy asks for it" in coherence


def test_a_model_that_reads_too_little(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = abductions(3)
    long = tuple((*s[:2], "the dog " * 300) for s in texts[0].alternatives)
    rows = [replace(texts[0], alternatives=long), *texts[1:]]
    write_spans_dataset(tmp_path / "data", {"test": rows}, "abduction")
    command = arguments(saved, tmp_path / "out")
    command[command.index("--dataset") + 1] = str(tmp_path / "data")
    assert main(command) == 0
    assert "1 of 3 texts exceed the model's context and are left out" in capsys.readouterr().out
    results = results_of(tmp_path / "out")
    assert scores_of(results)["", "", "strict"]["n"] == 2
    assert results["dataset"]["tables"][0]["left_out"]["too_long"] == 1
    shutil.copytree(tmp_path / "out", tmp_path / "other")
    assert main(["compare", str(tmp_path / "out"), str(tmp_path / "other")]) == 0
    assert "too long for the other model, so left out for both: 1 texts" in capsys.readouterr().out


def test_people_who_judged_spans_stand_beside_the_model(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(saved / "model", tmp_path / "model")
    said: list[bool | None] = [True, True, True, False, None, None]
    rows = entailments(24)
    judged = [
        replace(r, extra={**r.extra, "human_ok": ok}) for r, ok in zip(rows, said * 4, strict=True)
    ]
    unjudged = [replace(r, extra={"human_ok": None}) for r in entailments(12, first=30)]
    learned = {"validation": unjudged, "test": judged}
    write_spans_dataset(tmp_path / "data", learned, "judged", extra={"human_ok": "bool"})
    assert main(arguments(tmp_path, tmp_path / "run", "--verbose")) == 0
    shown = capsys.readouterr().out
    # Columns without room are in a table below, with the names again.
    first, *more = (line.split() for line in shown.splitlines() if line.startswith("  people"))
    assert first[1:3] == ["16", "!"]
    assert ["people", "75.0"] in (line[:2] for line in more)
    scores = [one for one in results_of(tmp_path / "run")["scores"] if one["human_n"]]
    assert {one["metric"] for one in scores} == {"span accuracy"}
    (own,) = [one for one in scores if one["level"] == "all"]
    assert (own["human_score"], own["human_n"]) == (0.75, 16)
    assert own["human_ci_low"] < 0.75 < own["human_ci_high"]
