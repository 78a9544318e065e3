"""``coherencegym train encoder`` end to end: folders that ``probe`` takes, and what goes wrong."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line
from support.datasets import orders, write_examples
from support.structures import planted, sentence, write_structures
from support.tiny_encoders import masked_model, masked_tokenizer

from coherencegym.eval.commands.cli import main
from coherencegym.eval.hidden_states import states
from coherencegym.eval.plan.passages import Passage
from coherencegym.eval.tasks.training.criteria import (
    Targets,
    collator_of,
    read_structures,
    sentence_vectors,
)
from coherencegym.eval.tasks.training.encoder import find_encoder

SMALL = ("--device", "cpu", "--dimensions", "8", "--batch-size", "64")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents to learn from."""
    folder = tmp_path_factory.mktemp("structures") / "data"
    sizes = {"train": (12, 1), "validation": (3, 2), "test": (4, 3)}
    return write_structures(folder, {split: planted(*size) for split, size in sizes.items()})


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder of transformers."""
    folder = tmp_path_factory.mktemp("bert")
    tokenizer = masked_tokenizer("bert")
    masked_model("bert", tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def arguments(model: object, data: Path, output: Path, *more: str) -> list[str]:
    named = ("--model", str(model), "--dataset", str(data), "--output", str(output))
    return ["train", "encoder", *named, *more]


def test_a_folder_that_nobody_names_is_of_the_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results" / "data--bert--train-spans").mkdir(parents=True)
    (tmp_path / "results" / "data--bert--train-spans" / "mine").touch()
    assert main(["train", "spans", "--model", "bert", "--dataset", "data"]) == 2
    assert "results/data--bert--train-spans" in one_line(capsys.readouterr().err)


def read(folder: Path, name: str = "losses.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text())
    return found


def after(folder: Path, metric: str = "after") -> list[dict[str, Any]]:
    """The losses with the weights that were kept, or others."""
    return [score for score in read(folder)["scores"] if score["metric"] == metric]


def test_a_folder_of_each_seed_that_probe_takes(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    more = ("--criteria", "spp", "nsp", "--seeds", "0", "1", *SMALL)
    assert main(arguments("gru", data, output, *more)) == 0
    printed = capsys.readouterr().out
    assert "losses of nsp+spp in nats on test" in printed
    assert "trained on only 12 documents: enough to show that the training runs" in printed
    results = read(output)
    assert results["task"] == "train-encoder"
    assert [one["folder"] for one in results["seeds"]] == ["seed-0", "seed-1"]
    terms = ["previous_sentence", "next_sentence", "place_in_paragraph", "place_in_document"]
    own = [after(output / one["folder"]) for one in results["seeds"]]
    for term, *losses in zip(terms, *own, strict=True):
        assert {loss["config"] for loss in losses} == {term.replace("_", " ")}
        mean = sum(loss["score"] for loss in losses) / 2
        assert re.search(f"{term.replace('_', ' ')} .* {mean:.3f} ± ", printed)
    assert "|seeds:0,1|criteria:nsp+spp|dimensions:8|learning_rate:0.001|" in results["signature"]
    names = {path.name for path in (output / "seed-1").iterdir()}
    assert names == {
        *("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"),
        *("README.md", "losses.json"),
    }
    card = (output / "seed-1" / "README.md").read_text()
    assert "trained with the criteria `nsp+spp` of Chen, Chu and Gimpel (2019)" in card
    assert "| next sentence (test) | 60 |" in card

    examples = tmp_path / "examples"
    splits = {name: orders(20, seed) for seed, name in enumerate(("train", "validation", "test"))}
    write_examples(examples, splits, task_defaults={"input": "order"})
    probe = ["probe", "--model", str(output / "seed-1"), "--dataset", str(examples)]
    probe += ["--device", "cpu", "--no-cache", "--random-init", "1"]
    assert main([*probe, "--output", str(tmp_path / "probed")]) == 0
    probed = read(tmp_path / "probed", "results.json")
    (own,) = probed["probes"]
    assert own["layers"] == [0, 1]
    assert "random init" in {one["system"] for one in probed["scores"]}


def test_an_encoder_of_transformers_learns_the_same(
    data: Path, bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers import AutoModel

    output = tmp_path / "run"
    more = ("--criteria", "nsp", "nl", "spp", "sdt", "--learning-rate", "1e-3", "--epochs", "2")
    assert main(arguments(bert, data, output, *more, *SMALL[:2])) == 0
    results = read(output)
    # What has not learned predicts all ids alike.
    targets = Targets.of(read_structures(str(data)).training)
    sizes = [targets.size(score["config"].replace(" ", "_")) for score in after(output)]
    assert len(sizes) == 7
    both = zip(after(output), sizes, strict=True)
    assert all(own["score"] < math.log(size) for own, size in both)
    assert results["settings"]["max_length"] == 130
    made = AutoModel.from_pretrained(output / "seed-0", use_safetensors=True)
    before = AutoModel.from_pretrained(bert, use_safetensors=True)
    assert type(made) is type(before)
    assert (
        made.embeddings.word_embeddings.weight != before.embeddings.word_embeddings.weight
    ).any()


def test_a_sentence_has_the_vector_that_probes_read(data: Path, bert: Path) -> None:
    """Of its own tokens alone, without those around it, whatever stands beside it in a batch."""
    import torch

    structures = read_structures(str(data))
    start = find_encoder(str(bert))
    sentences = [sentence("a"), sentence("the cat sat on the mat and then it rained")]
    made = collator_of(start, Targets.of(structures.training), ["level"])(sentences)
    model = start.without_head().eval()
    with torch.inference_mode():
        found = sentence_vectors(model, made["inputs"]).numpy()
    passages = [Passage.whole(one.text) for one in sentences]
    expected = states(model, start.tokenizer, passages, dtype="float32").layer(2)
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "train encoder: expected --criteria with one or more of nsp, nl, spp, sdt"),
        (("--criteria", "nl", "--folds", "2"), "--folds: train encoder does not use it; expected"),
        (("--criteria", "nl", "--split", "test2"), "no split 'test2'"),
        (("--criteria", "nl", "--config", "other"), "no config 'other'"),
    ],
)
def test_mistakes_are_one_line(
    more: tuple[str, ...],
    message: str,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(arguments("gru", data, tmp_path / "run", *more)) == 2
    assert message in one_line(capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


def test_other_trainings_take_no_gru(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = arguments("gru", data, tmp_path / "run")
    command[1] = "documents"
    assert main(command) == 2
    assert "--model gru: only for train encoder" in one_line(capsys.readouterr().err)
    assert main([*command, "--dimensions", "3"]) == 2
    assert "--dimensions: train documents does not use it" in one_line(capsys.readouterr().err)
