"""``coherencegym train spans``: a tiny encoder learns what texts ask, and what is left of it."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from markdown_it import MarkdownIt
from support.commands import one_line
from support.datasets import write_documents, write_spans_dataset
from support.span_texts import STORY, abductions, entailments, intruded
from support.tiny_encoders import save_word_encoder

from coherencegym.errors import EvaluationError
from coherencegym.escapes import fenced
from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.documents import Document, GoldSpan, SpanText
from coherencegym.eval.models.in_memory import in_memory
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.tasks.spans.coherence import CHOICE, dealt_folds
from coherencegym.eval.tasks.training import Settings
from coherencegym.eval.tasks.training.encoder import (
    Head,
    Trained,
    TrainingRow,
    class_weights,
    collator,
    count_truncated,
    find_encoder,
    fine_tune,
    read_logits,
)
from coherencegym.eval.tasks.training.texts import (
    SpanTraining,
    labelled,
    training_texts,
)
from coherencegym.eval.tasks.training.training import TrainingData
from coherencegym.files.parquet import parquet_rows

pytestmark = pytest.mark.skipif(find_spec("accelerate") is None, reason="accelerate is missing")

ENTAILMENT = {"task_defaults": {"question": "entailment", "positive": "entailed"}}
CONFIG = ("--config", "conversational_entailment")
TEXTS = entailments(70)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [text for one in [*entailments(6), *abductions(6)] for text in one.texts]
    folder = tmp_path_factory.mktemp("encoder")
    return save_word_encoder(folder, [*texts, *STORY, "SpeakerA SpeakerB"])


def whole_only(text: SpanText) -> SpanText:
    """The text as it is where no part is annotated."""
    return replace(text, evidence=(), gold=(GoldSpan(0, text.size - 1, text.label),))


def renamed(texts: Sequence[SpanText], prefix: str) -> list[SpanText]:
    return [replace(text, item_id=f"{prefix}-{text.item_id}") for text in texts]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of all three questions."""
    folder = tmp_path_factory.mktemp("data") / "texts"
    learned = {
        "train": [whole_only(text) for text in entailments(48)],
        "validation": [whole_only(text) for text in entailments(12, first=60)],
        "test": entailments(24, first=90),
    }
    write_spans_dataset(folder, learned, CONFIG[1], **ENTAILMENT)
    stories = {name: renamed(abductions(12), name) for name in ("train", "validation", "test")}
    write_spans_dataset(folder, stories, "abduction", task_defaults={"question": "choice"})
    texts = [intruded(f"i{n}", n % 3 + 1 if n % 2 else -1) for n in range(12)]
    about = {"task_defaults": {"question": "coherence", "positive": "incoherent"}}
    splits = {name: renamed(texts, name) for name in ("train", "validation", "test")}
    write_spans_dataset(folder, splits, "intruder_toy", **about)
    write_spans_dataset(folder, {"test": renamed(texts, "x")}, "untrained", **about)
    coherent = {**splits, "train": renamed([intruded(f"c{n}", -1) for n in range(4)], "train")}
    write_spans_dataset(folder, coherent, "one_class", **about)
    documents = [Document(f"d{n}", STORY, 1, f"d{n}", "toy") for n in range(4)]
    write_documents(folder, {"train": documents, "test": documents}, "detect_toy")
    return folder


def arguments(encoder: Path, data: Path, output: Path, *more: str) -> list[str]:
    return [
        *("train", "spans", "--model", str(encoder), "--dataset", str(data)),
        *("--device", "cpu", "--output", str(output), *more),
    ]


LEARN = ("--learning-rate", "3e-3", "--epochs", "12", "--patience", "12", "--max-length", "32")


def results_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What the run of ``trained`` prints."""
    return {}


@pytest.fixture(scope="module")
def trained(
    encoder: Path, data: Path, tmp_path_factory: pytest.TempPathFactory, printed: dict[str, str]
) -> Path:
    output, said = tmp_path_factory.mktemp("trained") / "out", io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(arguments(encoder, data, output, *CONFIG, *LEARN, "--seeds", "4", "7")) == 0
    printed["out"] = said.getvalue()
    return output


def test_it_learns_and_stands_beside_constants(trained: Path) -> None:
    results = results_of(trained)
    assert results["task"] == "train-spans"
    assert "|train:conversational_entailment@" in results["signature"]
    assert "|seeds:4,7|" in results["signature"]
    assert [seed["folder"] for seed in results["seeds"]] == ["seed-4", "seed-7"]
    summary = {(s["group"], s["system"], s["metric"]): s for s in results["summary"]}
    own, never = summary["", "", "accuracy"], summary["", "never", "accuracy"]
    assert own["mean"] > 0.8 > never["mean"] == 0.5
    assert own["seeds"] == 2
    assert summary["", "never", "strict"]["deviation"] == 0.0
    mean = {(one["group"], one["system"], one["metric"]): one["score"] for one in results["scores"]}
    assert mean["", "", "strict"] == pytest.approx(summary["", "", "strict"]["mean"])
    settings = results["settings"]
    assert (settings["training_texts"], settings["training_rows"]) == (48, 48)
    assert settings["epochs"] == 12


def test_a_seed_is_a_run_of_spans_with_its_model(trained: Path, data: Path, tmp_path: Path) -> None:
    for seed in ("seed-4", "seed-7"):
        names = {path.name for path in (trained / seed).iterdir()}
        assert names >= {"model.safetensors", "config.json", "tokenizer.json", "spans.parquet"}
        assert not [name for name in names if name.endswith((".bin", ".pt", ".pth", ".pkl"))]
        assert read_results(trained / seed, outcomes=True).task == "spans"
    tokenizer = json.loads((trained / "seed-7" / "tokenizer_config.json").read_text())
    assert tokenizer["model_max_length"] == 32  # no more than it has learned to read
    config = json.loads((trained / "seed-7" / "config.json").read_text())
    assert config["id2label"] == {"0": "not entailed", "1": "entailed"}
    # Its labels are found by their names, and what it answers is what was written.
    again = tmp_path / "again"
    command = ["spans", "--model", str(trained / "seed-7"), "--dataset", str(data), *CONFIG]
    assert main([*command, "--device", "cpu", "--output", str(again)]) == 0
    assert results_of(again)["settings"]["scorer"] == "classifier"
    first, second = (
        parquet_rows(folder / "spans.parquet") for folder in (trained / "seed-7", again)
    )
    both = [(dict(one), dict(other)) for one, other in zip(first, second, strict=True)]
    assert len(both) > 24
    for one, other in both:
        assert one.pop("p") == pytest.approx(other.pop("p"), abs=1e-5)
        assert one == other


def test_the_card_says_how_poor_it_is(trained: Path) -> None:
    card = (trained / "seed-4" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: transformers\npipeline_tag: text-classification\n")
    assert "label 1 is `entailed`" in card
    assert r"| conversational\_entailment (test) | 24 ! | " in card
    assert re.search(r"\| never \| 24 ! \| 50\.0 \\\[[\d., ]+\\\] \| 50\.0 ", card)
    assert "Mean and standard deviation of 2 seeds" in card
    assert r"| training\_texts | 48 |" in card
    assert "| weights | (1.0, 1.0) |" in card


def test_no_name_ends_a_block_of_the_card() -> None:
    named = SimpleNamespace(config="a b\n```\n# Mine")
    encoder = SimpleNamespace(source=SimpleNamespace(name="e"), max_length=9)
    training: Any = SimpleNamespace(
        data=SimpleNamespace(inputs=[named]), question=CHOICE, positive="", encoder=encoder
    )
    text: Any = SpanTraining.card
    card = fenced(text.fget(training)["use"], "bash")
    (bash,) = [token for token in MarkdownIt().parse(card) if token.type == "fence"]
    assert bash.info == "bash"
    assert shlex.split(bash.content)[-2:] == ["--config", named.config]


def test_the_table_has_the_mean_and_the_constants(trained: Path, printed: dict[str, str]) -> None:
    said = printed["out"]
    assert "±" in said
    lines = [line.split() for line in said.splitlines()]
    rows = [line for line in lines if line and line[0] in ("units:", "never", "always")]
    # Columns without room are in a table below, with the names again.
    assert [row[0] for row in rows] == ["never", "always", "units:", "units:"] * 2
    assert "mean ± standard deviation of 2 seeds" in said
    assert (trained / "seed-7" / "report.html").is_file()


def training_on(read: TrainingData, encoder: Path, **settings: Any) -> SpanTraining:
    """A training on these texts."""
    chosen: dict[str, Any] = {"configs": [], "split": "test", "max_items": None}
    own = {"folds": None}
    how = Settings(device="cpu", **settings)
    return SpanTraining(read, find_encoder(str(encoder)), how, chosen, own)


def test_one_seed_is_one_model(encoder: Path, data: Path) -> None:
    read = training_texts(str(data), test_on=[CONFIG[1]], max_items=20)
    assert (read.texts, len(read.inputs[0].rows)) == (20, 20)
    training = training_on(read, encoder, learning_rate=3e-3, epochs=1)
    first, again, other = (training.train(read, seed).results for seed in (5, 5, 6))
    # The digest is of all weights.
    assert first.model["commit"] == again.model["commit"] != other.model["commit"]
    answers = [[one.rows for one in own.details] for own in (first, again, other)]
    assert answers[0] == answers[1] != answers[2]


def test_a_choice_is_learned(encoder: Path, data: Path, tmp_path: Path) -> None:
    more = ("--config", "abduction", *LEARN, "--seeds", "4")
    assert main(arguments(encoder, data, tmp_path / "out", *more)) == 0
    seed = tmp_path / "out" / "seed-4"
    results = results_of(seed)
    assert results["settings"]["scorer"] == "multiple-choice"
    own = {(one["group"], one["system"], one["metric"]): one for one in results["scores"]}
    assert own["", "", "accuracy"]["score"] > 0.9  # the stories that it has learned from
    config = json.loads((seed / "config.json").read_text())
    assert config["architectures"] == ["BertForMultipleChoice"]
    command = ["spans", "--model", str(seed), "--dataset", str(data), "--config", "abduction"]
    again = tmp_path / "again"
    assert main([*command, "--device", "cpu", "--output", str(again)]) == 0
    assert results_of(again)["scores"] == results["scores"]


def test_whole_texts_are_learned_from(encoder: Path, data: Path) -> None:
    wholes = labelled([intruded("i", 1), intruded("j", -1)])
    assert [row.label for row in wholes] == [1, 0]
    assert wholes[1].inputs == ((" ".join(STORY), ""),)
    assert {len(row.inputs) for row in labelled(abductions(3))} == {2}
    read = training_texts(str(data), test_on=["intruder_toy"])
    assert (read.texts, len(read.training)) == (12, 12)
    head = Head(("not incoherent", "incoherent"), cut="only_first")
    assert training_on(read, encoder).head == head


def test_configs_with_the_same_question_are_learned_from_together(data: Path) -> None:
    read = training_texts(str(data), ["intruder_toy"], ["untrained"])
    assert read.configs == "intruder_toy"
    assert [table.config for table in read.inputs] == ["untrained"]
    both = training_texts(str(data), ["intruder_toy", "one_class"], ["untrained"])
    assert (both.configs, both.texts) == ("intruder_toy+one_class", 16)


def test_what_a_batch_is(encoder: Path) -> None:
    tokenizer = find_encoder(str(encoder)).tokenizer
    rows = [
        TrainingRow((("Lily had a ball .", "It is so ."),), 1),
        TrainingRow((("Tim .", "It is so ."),), 0),
    ]
    assert [count_truncated(tokenizer, rows, size) for size in (12, 11, 9)] == [0, 1, 1]
    assert count_truncated(tokenizer, rows, 8) == 2
    batch = collator(tokenizer, 9, "only_first")(rows)
    assert batch["labels"].tolist() == [1, 0]
    whole = tokenizer("Lily had", "It is so .")["input_ids"]
    assert batch["input_ids"][0].tolist() == whole  # the hypothesis stays
    choices = [TrainingRow((("Lily .", ""), ("Tim had a ball .", "")), 1)] * 3
    assert collator(tokenizer, 9)(choices)["input_ids"].shape == (3, 2, 7)


def test_classes_weigh_alike(encoder: Path) -> None:
    rows = [TrainingRow((("Lily .", ""),), int(n == 0)) for n in range(5)]
    assert class_weights(Head(("no", "yes")), rows) == (1.0, 4.0)
    assert class_weights(Head(()), rows) == ()


def loaded(trained: Trained) -> LoadedModel:
    """A model that was trained, as a task reads with it."""
    return in_memory(trained.model.eval(), trained.tokenizer, "toy", scores=False)


def later(values: Iterator[int], logits: Any) -> float:
    """More than before: the last weights are the best."""
    return float(next(values))


def test_what_weighs_alike_in_the_loss_does_so_in_the_choice_of_weights(
    encoder: Path, data: Path
) -> None:
    import numpy as np

    read = training_texts(str(data), test_on=["intruder_toy"])
    never = np.array([[1.0, 0.0]] * len(read.validation))
    assert training_on(read, encoder).value(read, never) == 0.5
    choices = training_texts(str(data), test_on=["abduction"])
    first = np.array([[1.0, 0.0]] * len(choices.validation))
    share = sum(row.label == 0 for row in choices.validation) / len(choices.validation)
    assert training_on(choices, encoder).value(choices, first) == share
    # Of ten texts that are all the same one is positive, and the answer is open.
    rows = [TrainingRow((("Lily .", ""),), int(n == 0)) for n in range(10)]
    how = Settings(learning_rate=2e-2, epochs=15, device="cpu")
    last, head = partial(later, count()), Head(("no", "yes"))
    start = find_encoder(str(encoder))
    own = fine_tune(start, head, rows, rows, last, how)
    no, yes = np.exp(read_logits(loaded(own), rows[0].inputs, start.max_length)[0])
    assert yes / (no + yes) == pytest.approx(0.5, abs=0.1)


def test_the_best_weights_are_kept_and_nothing_better_ends_it(encoder: Path) -> None:
    import numpy as np

    rows = [TrainingRow((("Lily .", ""),), n % 2) for n in range(8)]
    values, seen = iter([0.5, 0.9, 0.7, 0.6, 1.0]), []

    def value(logits: Any) -> float:
        seen.append(logits)
        return next(values)

    settings = Settings(learning_rate=1e-3, epochs=5, patience=2, device="cpu")
    start, head = find_encoder(str(encoder)), Head(("no", "yes"))
    trained = fine_tune(start, head, rows, rows, value, settings)
    assert (trained.best, trained.epochs) == (0.9, 4.0)
    inputs = [row.inputs[0] for row in rows]
    logits = np.array(read_logits(loaded(trained), inputs, start.max_length))
    assert logits == pytest.approx(seen[1], abs=1e-6)
    assert np.abs(logits - seen[3]).min() > 1e-5


def test_a_head_of_another_size_gives_way(encoder: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    three = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=3)
    three.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(encoder).save_pretrained(tmp_path)
    model = find_encoder(str(tmp_path)).with_head(Head(("no", "yes")))
    assert model.classifier.weight.shape == (2, 32)
    assert model.config.id2label == {0: "no", 1: "yes"}
    kept, old = (m.bert.embeddings.word_embeddings.weight for m in (model, three))
    assert (kept == old).all()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--config", "untrained"], "no split 'train' or 'validation'; expected one of test"),
        (["--config", "one_class"], "split 'train': all texts have the same answer; expected some"),
        (["--config", "detect_toy"], "a table of kind 'documents'; expected spans"),
        ([], "configs ask different questions (conversational_entailment: entailed, "),
        (["--config", "nowhere"], "no config 'nowhere'; expected one of"),
        ([*CONFIG, "--train-on", "intruder_toy"], "configs ask different questions"),
        ([*CONFIG, "--split", "train"], "--split train: its texts train the classifier"),
        ([*CONFIG, "--split", "x"], "no split 'x'"),
        ([*CONFIG, "--folds", "2", "--seeds", "2", "3"], "--folds 2: 2 seeds; expected one"),
        ([*CONFIG, "--folds", "99"], "--folds 99 of "),
        ([*CONFIG, "--dimensions", "3"], "--dimensions: train spans does not use it"),
        ([*CONFIG, "--model", "./nowhere"], "model './nowhere': no such folder"),
        ([*CONFIG, "--max-length", "65"], "reads 64 tokens; expected no more"),
        ([*CONFIG, "--max-length", "8"], "the longest hypothesis and a token of its text are 9"),
    ],
)
def test_mistakes_are_one_line(
    encoder: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    more: list[str], message: str,
) -> None:  # fmt: skip
    assert main(arguments(encoder, data, tmp_path / "out", *more)) == 2
    assert message in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_an_encoder_without_a_tokenizer(
    encoder: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((encoder / name).read_bytes())
    assert main(arguments(bare, data, tmp_path / "out", *CONFIG)) == 2
    assert "has no tokenizer files, or only special tokens in them; expected a" in one_line(
        capsys.readouterr().err
    )


@pytest.mark.parametrize("name", ["documents", "sentences"])
def test_the_task_is_one_that_is_known(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", name])
    assert ("expected one of documents, spans" in capsys.readouterr().err) == (name == "sentences")


def test_every_fold_is_held_out_once(
    encoder: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = arguments(encoder, data, tmp_path / "out", *CONFIG, "--epochs", "1", "--folds", "3")
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "mean ± standard deviation of 3 folds; the figures of each fold" in said
    assert "fold 2: best accuracy on validation" in said
    results = results_of(tmp_path / "out")
    assert "|seeds:0|" in results["signature"]
    assert "|folds:3|" in results["signature"]
    assert [(one["fold"], one["folder"]) for one in results["seeds"]] == [
        (0, "fold-0"),
        (1, "fold-1"),
        (2, "fold-2"),
    ]
    assert {own["seeds"] for own in results["summary"] if own["metric"] == "strict"} == {3}
    with pytest.raises(EvaluationError, match=r"results of several folds; .*/fold-0$"):
        read_results(tmp_path / "out", outcomes=True)
    one = results_of(tmp_path / "out" / "fold-1")
    assert "|fold:1|" in one["signature"]
    card = (tmp_path / "out" / "fold-1" / "README.md").read_text()
    assert "| fold | 1 |" in card
    assert "Mean and standard deviation of 3 folds" in card


def test_no_source_is_in_two_folds(tmp_path: Path) -> None:
    texts = [replace(one, hypothesis=f"{one.discourse_id} {n}.") for n, one in enumerate(TEXTS)]
    learned = {"train": texts[:40], "validation": texts[40:60], "test": texts[60:]}
    write_spans_dataset(tmp_path / "data", learned, CONFIG[1], **ENTAILMENT)
    named = str(tmp_path / "data"), (), [CONFIG[1]]
    splits, dealt = (training_texts(*named, folds=folds) for folds in (None, 4))
    every = {row.inputs for row in (*splits.training, *splits.validation)}
    held = [row.inputs for fold in dealt.folds for row in fold.validation]
    assert (dealt.texts, len(dealt.training), len(dealt.validation)) == (60, 60, 0)
    assert len(held) == len(every) == 60
    assert set(held) == every == {row.inputs for row in dealt.training}
    for fold in dealt.folds:
        others, own = (
            {row.inputs[0][1].split()[0] for row in rows}
            for rows in (fold.training, fold.validation)
        )
        assert (len(others), len(own)) == (30 - len(own), len(own))
        assert not others & own
    assert dealt.rows_sha256 == splits.rows_sha256


def test_sources_are_dealt_to_folds_in_equal_numbers() -> None:
    sources = [f"SW{n}" for n in range(40)]
    folds = dealt_folds([*sources, *sources], 8)
    assert Counter(folds.values()) == dict.fromkeys(range(8), 5)
    assert folds == dealt_folds(reversed(sources), 8)
