"""``coherencegym train documents``: a tiny encoder learns to find intruders, and what is left."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line
from support.datasets import FAMILIES, write_documents
from support.tiny_encoders import save_word_encoder, word_tokenizer

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.results.comparison import obstacles
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.tasks.detect.detectors import HEAD, by_document, classify, pairs_of
from coherencegym.eval.tasks.detect.documents import DocumentTable
from coherencegym.eval.tasks.training import Settings
from coherencegym.eval.tasks.training.encoder import (
    Head,
    collator,
    count_truncated,
    find_encoder,
    fine_tune,
)
from coherencegym.eval.tasks.training.texts import DocumentTraining, training_documents

pytestmark = pytest.mark.skipif(find_spec("accelerate") is None, reason="accelerate is missing")


def two_families(number: int, seed: int) -> list[Document]:
    """Documents about one of two families; an intruder is about the other.

    No word is more frequent in intruders: a sentence has to be held against its document.
    """
    draw = random.Random(seed)
    documents = []
    for index in range(number):
        own, other = FAMILIES[index // 2 % 2], FAMILIES[1 - index // 2 % 2]
        lines = [" ".join(draw.sample(own, 2)) for _ in range(4)]
        position = draw.randrange(1, 4) if index % 2 else -1
        if position > 0:
            lines[position] = " ".join(draw.sample(other, 2))
        name = f"{seed}-{index}"
        documents.append(Document(name, tuple(lines), position, name, "toy"))
    return documents


@pytest.fixture(scope="module")
def documents() -> dict[str, list[Document]]:
    return {
        "train": two_families(300, 1),
        "validation": two_families(60, 2),
        "test": two_families(80, 3),
    }


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory, documents: dict[str, list[Document]]) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    return save_word_encoder(folder, words_in(documents["train"]))


def words_in(documents: Sequence[Document]) -> list[str]:
    return [sentence for document in documents for sentence in document.sentences]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, documents: dict[str, list[Document]]) -> Path:
    folder = tmp_path_factory.mktemp("data") / "families"
    write_documents(folder, documents, "detect_families")
    far = {"test": two_families(20, 4), "train": two_families(6, 5)}
    return write_documents(folder, far, "detect_far")


def arguments(encoder: Path, data: Path, output: Path, *more: str) -> list[str]:
    return [
        *("train", "documents", "--model", str(encoder), "--dataset", str(data)),
        *("--device", "cpu", "--output", str(output), *more),
    ]


def sentence_scores(folder: Path) -> dict[tuple[str, str, str], float | None]:
    """The scores of sentences in a folder of results."""
    found = read_results(folder, outcomes=True).outcomes
    rows = (one for one in found.rows() if one.metric == "auc")
    return {(row.unit.config, row.unit.item, row.unit.unit): row.value for row in rows}


LEARN = (
    "--learning-rate",
    "1e-2",
    "--epochs",
    "5",
    "--patience",
    "5",
    "--train-on",
    "detect_families",
)


def test_it_learns_and_leaves_a_model_with_its_card(
    encoder: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    output = tmp_path / "out"
    both = ("--test-on", "detect_families", "detect_far")
    assert main(arguments(encoder, data, output, *LEARN, *both, "--seeds", "0", "1")) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "±" in printed.out
    results = json.loads((output / "results.json").read_text())
    assert results["signature"] in printed.out
    assert "|seeds:0,1|" in results["signature"]
    summary = {(s["config"], s["system"], s["metric"]): s for s in results["summary"]}
    for config in ("detect_families", "detect_far"):
        majority = summary[config, "majority: all coherent", "document accuracy"]
        assert majority["mean"] == 0.5
        for decision in ("argmax", "independent"):
            assert summary[config, decision, "document accuracy"]["mean"] > 0.8
            own = summary[config, decision, "F1"]
            assert own["mean"] > 0.8
            assert own["seeds"] == 2
            assert own["low"] <= own["mean"] <= own["high"]
    assert [seed["seed"] for seed in results["seeds"]] == [0, 1]

    scores = {(s.config, s.metric, s.system): s for s in read_results(output).rows}
    mean = scores["detect_far", "F1", "argmax"]
    assert mean.score == pytest.approx(summary["detect_far", "argmax", "F1"]["mean"])
    with pytest.raises(EvaluationError, match=r"several seeds; expected the folder of one"):
        read_results(output, outcomes=True)
    seeds = [read_results(output / name, outcomes=True) for name in ("seed-0", "seed-1")]
    assert obstacles(*seeds) == []
    # Beside a language model that nobody trained for it.
    asked = ["detect", "--model", "demo", "--dataset", str(data), "--config"]
    other = [*both[1:], "--threshold", "0", "--no-cache", "--output", str(tmp_path / "other")]
    assert main([*asked, *other]) == 0
    assert obstacles(read_results(tmp_path / "other", outcomes=True), seeds[0]) == []
    assert main(["compare", str(tmp_path / "other"), str(output / "seed-0")]) == 0
    assert "detect_far" in capsys.readouterr().out
    runs = tmp_path / "runs"
    shutil.copytree(output, runs / "all")
    assert main(["compare", str(runs)]) == 2
    said = capsys.readouterr()
    left_out = f"left out, as results over seeds: {runs / 'all'}; name one's, such as "
    assert " ".join(said.out.split()) == f"· {left_out}{runs / 'all' / 'seed-0'}"
    assert "no folder of results; expected two or more" in said.err
    for name in ("seed-0", "seed-1"):
        shutil.copytree(output / name, runs / name)
    assert main(["compare", str(runs)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert left_out in " ".join(said.out.split()) + " "
    assert "(reference)" in said.out

    names = {path.name for path in (output / "seed-1").iterdir()}
    assert names >= {"model.safetensors", "config.json", "tokenizer.json", "README.md"}
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pth", ".pkl"))]
    card = (output / "seed-1" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: transformers\n")
    assert r"detect\_far (test)" in card
    assert "Mean and standard deviation of 2 seeds" in card
    assert r"| training\_rows | 900 |" in card

    # The saved model, used as the card says, gives the scores that were written.
    tokenizer = AutoTokenizer.from_pretrained(output / "seed-1")
    model = AutoModelForSequenceClassification.from_pretrained(output / "seed-1").eval()
    assert model.config.id2label == {0: "coherent", 1: "intruder"}
    found = sentence_scores(output / "seed-1")
    document = two_families(80, 3)[1]
    text = " ".join(document.sentences)
    for place, sentence in enumerate(document.sentences[1:], start=2):
        with torch.no_grad():
            coherent, intruder = model(**tokenizer(sentence, text, return_tensors="pt")).logits[0]
        score = found["detect_families", document.item_id, f"#{place}"]
        assert float(intruder - coherent) == pytest.approx(score, abs=1e-4)

    # So does detect, and thresholds and figures with them.
    words = ["detect", "--model", str(output / "seed-1"), "--dataset", str(data)]
    there = ["--config", "detect_families", "detect_far", "--calibrate-on", "detect_families"]
    assert main([*words, *there, "--output", str(tmp_path / "again")]) == 0
    asked = json.loads((tmp_path / "again" / "results.json").read_text())
    assert (asked["settings"]["detector"], asked["task"]) == ("classifier", "detect")
    assert "|detector:classifier|" in asked["signature"]
    assert sentence_scores(tmp_path / "again") == pytest.approx(found, abs=1e-4)
    folders = output / "seed-1", tmp_path / "again"
    written = [json.loads((folder / "results.json").read_text())["scores"] for folder in folders]
    trained, tested = (
        {(s["config"], s["metric"], s["system"]): s["score"] for s in own} for own in written
    )
    assert trained == pytest.approx(tested, abs=0.05)


def few(encoder: Path, data: Path, number: int, **settings: Any) -> DocumentTraining:
    """A training on so many documents of each split."""
    read = training_documents(str(data), train_on=["detect_families"], max_items=number)
    chosen: dict[str, Any] = {"configs": [], "split": "test", "max_items": number}
    how = Settings(device="cpu", **settings)
    return DocumentTraining(read, find_encoder(str(encoder)), how, chosen, {})


def test_one_seed_is_one_run(encoder: Path, data: Path) -> None:
    training = few(encoder, data, 60, learning_rate=3e-3, epochs=2)
    trained = [training.train(training.data, seed) for seed in (5, 5, 6)]
    first, again, other = ([d.scores for d in one.results.details] for one in trained)
    assert first == again != other
    assert trained[0].weights == (1.0, 150 / 30)
    assert (trained[0].steps, trained[0].epochs) == (12, 2.0)


def test_training_ends_when_nothing_gets_better(encoder: Path, data: Path) -> None:
    # At such a rate nothing changes: the second evaluation is no better than the first.
    training = few(encoder, data, 20, learning_rate=1e-12, epochs=9, patience=1)
    assert training.train(training.data, 0).epochs == 2.0


def test_pairs() -> None:
    document = Document("d", ("One.", " Two. ", "Three."), 2, "d", "toy")
    first, second = pairs_of([document])
    assert (first.inputs, first.label) == ((("Two.", "One. Two. Three."),), 0)
    assert (second.inputs[0][0], second.label) == ("Three.", 1)
    assert by_document([document, document], [1, 2, 3, 4]) == [
        [float("-inf"), 1, 2],
        [float("-inf"), 3, 4],
    ]


def test_what_is_cut_is_counted(documents: dict[str, list[Document]]) -> None:
    tokenizer = word_tokenizer(words_in(documents["train"]))
    pairs = pairs_of(documents["train"][:1])
    # A sentence of 2 words, a document of 8, and 3 special tokens.
    assert count_truncated(tokenizer, pairs, 13) == 0
    assert count_truncated(tokenizer, pairs, 12) == 3
    whole, cut = (collator(tokenizer, size)(pairs)["input_ids"] for size in (13, 12))
    assert (whole.shape[1], cut.shape[1]) == (13, 12)
    assert whole[0, :4].tolist() == cut[0, :4].tolist()  # the sentence stays


def test_what_an_encoder_reads(
    encoder: Path, tmp_path: Path, documents: dict[str, list[Document]]
) -> None:
    from transformers import RobertaConfig, RobertaModel

    assert find_encoder(str(encoder)).max_length == 64
    assert find_encoder(str(encoder), max_length=20).max_length == 20
    unpadded = word_tokenizer(words_in(documents["train"]))
    unpadded.pad_token = None
    unpadded.save_pretrained(tmp_path / "unpadded")
    (tmp_path / "unpadded" / "config.json").write_bytes((encoder / "config.json").read_bytes())
    with pytest.raises(EvaluationError, match="has no padding token"):
        find_encoder(str(tmp_path / "unpadded"))
    with pytest.raises(EvaluationError, match=r"--max-length 65: model .* reads 64 tokens"):
        find_encoder(str(encoder), max_length=65)
    tokenizer = word_tokenizer(words_in(documents["train"]))
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=34,
        pad_token_id=1,
    )
    RobertaModel(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    # Its positions begin after that of the padding token.
    loaded = find_encoder(str(tmp_path))
    assert loaded.max_length == 32
    long = Document("l", ("ship " * 30, "sea " * 30), 1, "l", "toy")
    settings = Settings(epochs=1, device="cpu")
    rows, one = pairs_of([long, documents["train"][0]]), pairs_of([long])
    shapes: list[tuple[int, ...]] = []

    def value(logits: Any) -> float:
        shapes.append(logits.shape)
        return 0.0

    fine_tune(loaded, HEAD, rows, one, value, settings)
    assert count_truncated(loaded.tokenizer, one, loaded.max_length) == 1
    assert shapes == [(1, 2)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--train-on", "detect_far"], "no split 'validation'; expected one of test, train"),
        (
            ["--train-on", "detect_families", "detect_far"],
            "config 'detect_far': no split 'validation'",
        ),
        (["--train-on", "nowhere"], "no config 'nowhere'; expected one of detect_families"),
        ([*LEARN, "--test-on", "detect_far", "--split", "x"], "no split 'x'"),
        ([*LEARN, "--seeds", "1", "1"], "--seeds 1 1: expected each once"),
        ([*LEARN, "--model", "./nowhere"], "model './nowhere': no such folder"),
        ([*LEARN, "--learning-rate", "0"], "'0'; expected a number greater than 0"),
    ],
)
def test_mistakes_are_one_line(
    encoder: Path,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    message: str,
) -> None:
    words = arguments(encoder, data, tmp_path / "out", *more)
    if "--learning-rate" in more and "0" in more:
        with pytest.raises(SystemExit):
            main(words)
    else:
        assert main(words) == 2
    assert message in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_without_accelerate_it_says_which_extra(
    encoder: Path,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import coherencegym.eval.tasks.training.encoder as module

    missing: Callable[[str], None] = lambda name: None  # noqa: E731
    monkeypatch.setattr(module, "find_spec", missing)
    assert main(arguments(encoder, data, tmp_path / "out")) == 2
    assert "expected pip install 'coherencegym[train]'" in one_line(capsys.readouterr().err)


def test_documents_with_an_intruder_somewhere(
    encoder: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = find_encoder(str(encoder))
    loaded.with_head(Head(("coherent", "intruder"))).save_pretrained(tmp_path / "model")
    loaded.tokenizer.save_pretrained(tmp_path / "model")
    somewhere = [replace(d, intruder_position=-2) for d in two_families(12, 8) if d.intruded]
    splits = {"validation": [*two_families(12, 9), *somewhere], "test": somewhere}
    folder = write_documents(tmp_path / "data", {**splits, "train": somewhere}, "detect_vague")
    words = ["detect", "--model", str(tmp_path / "model"), "--dataset", str(folder)]
    assert main([*words, "--output", str(tmp_path / "out")]) == 2
    said = "detect_vague (validation): intruders in unknown places; expected another config to "
    assert f"{said}choose the threshold on" in one_line(capsys.readouterr().err)
    training = arguments(encoder, folder, tmp_path / "out")
    assert main(training) == 2
    assert "(train): intruders in unknown places; expected another config to train on" in one_line(
        capsys.readouterr().err
    )
    # Below all log-odds every sentence is an intruder: right of each of these documents.
    assert main([*words, "--threshold", "-99", "--output", str(tmp_path / "out")]) == 0
    assert "only document accuracy is measured" in " ".join(capsys.readouterr().out.split())
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {(s["metric"], s["system"]): s["score"] for s in results["scores"]} == {
        ("document accuracy", "argmax"): 1.0,
        ("document accuracy", "independent"): 1.0,
        ("document accuracy", "majority: all coherent"): 0.0,
        ("document accuracy", "random place"): 1.0,
    }
    assert results["headline"]["metric"] == "document accuracy"


def test_a_classifier_of_other_things_is_no_detector(
    encoder: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = find_encoder(str(encoder))
    loaded.with_head(Head(("not entailed", "entailed"))).save_pretrained(tmp_path / "other")
    loaded.tokenizer.save_pretrained(tmp_path / "other")
    words = ["detect", "--model", str(tmp_path / "other"), "--dataset", str(data)]
    assert main([*words, "--config", "detect_families", "--output", str(tmp_path / "out")]) == 2
    said = one_line(capsys.readouterr().err)
    assert "labels not entailed, entailed; expected coherent, intruder, as coherencegym" in said


def test_what_a_classifier_does_not_read_is_counted(encoder: Path) -> None:
    from coherencegym.eval.models.in_memory import in_memory

    loaded = find_encoder(str(encoder))
    loaded.tokenizer.model_max_length = 12
    model = loaded.with_head(Head(("coherent", "intruder"))).eval()
    detector = in_memory(model, loaded.tokenizer, "toy", scores=False)
    short = Document("s", ("ship sea", "sea ship"), -1, "s", "toy")
    long = Document("l", ("ship " * 30, "sea"), 1, "l", "toy")
    documents = short, long, short
    table = DocumentTable(Source("d", Path()), "toy", "test", documents, "", True, False)
    scores, cut = classify(detector, table)
    assert cut == 1
    assert [len(own) for own in scores] == [2, 2, 2]
    assert scores[0] == pytest.approx(scores[2])
    assert scores[0] != pytest.approx(scores[1])
