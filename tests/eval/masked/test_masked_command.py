"""Masked language models from the command line and from Python: scores, refusals, what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from datasets import Value
from pyarrow import parquet
from support.datasets import about_families, with_intruders, write_documents
from support.forked import ranks
from support.tiny_encoders import masked_model, masked_tokenizer

import coherencegym as cg
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import cli
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.models.config import scorer_of


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a model each: ``bert``, ``roberta``, ``llama``."""
    folder = tmp_path_factory.mktemp("models")
    for kind in ("bert", "roberta", "llama"):
        tokenizer = masked_tokenizer(kind)
        masked_model(kind, tokenizer).save_pretrained(folder / kind)
        tokenizer.save_pretrained(folder / kind)
    return folder


@pytest.fixture(scope="module")
def data(
    tmp_path_factory: pytest.TempPathFactory,
    write_dataset: Callable[..., Path],
    pair_items: list[Item],
) -> Path:
    place = tmp_path_factory.mktemp("data") / "toy"
    return write_dataset(place, pair_items[:4], extra={"moved": Value("bool")})


def score(*words: str | Path) -> int:
    return cli.main(["score", *map(str, words)])


@pytest.fixture(scope="module")
def results(models: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results by ``pll``, ``original`` and ``causal``, of models on the same data."""
    folder = tmp_path_factory.mktemp("results")
    common = ("--dataset", data, "--cache", folder / "cache")
    for name, words in {
        "pll": ("--model", models / "bert", "--tokens"),
        "original": ("--model", models / "bert", "--masking", "original"),
        "other": ("--model", models / "roberta"),
        "causal": ("--model", "demo"),
    }.items():
        assert score(*words, *common, "--output", folder / name) == 0
    return folder


def read(folder: Path) -> Any:
    return json.loads((folder / "results.json").read_text())


def test_results_say_how_tokens_were_masked(results: Path) -> None:
    found = read(results / "pll")
    assert "|scorer:pll|masking:within_word_l2r|bos:tokenizer=2,end=3|" in found["signature"]
    assert found["settings"]["scorer"] == "pll"
    assert "the text after the token, with the token and the rest of its word masked" in str(
        found["notes"]
    )
    assert "with only the token masked" in str(read(results / "original")["notes"])
    causal = read(results / "causal")
    assert "scorer" not in causal["settings"]
    assert "scorer:" not in causal["signature"]
    assert "masked" not in str(causal["notes"])
    assert "pll: bits are pseudo-surprisals" in (results / "pll" / "report.html").read_text()


def test_every_token_that_is_read_has_a_surprisal_and_none_around_the_text(
    results: Path, pair_items: list[Item]
) -> None:
    tokens = parquet.read_table(results / "pll" / "tokens.parquet").to_pylist()
    assert {row["item_id"] for row in tokens} == {item.item_id for item in pair_items[:4]}
    read_ = [row for row in tokens if row["region_number"] == 2]
    assert read_
    assert all(row["bits"] > 0 for row in read_)


@pytest.mark.parametrize(
    ("model", "words", "said"),
    [
        (
            "bert",
            ["--scorer", "causal"],
            "is a masked language model .*--scorer pll. reads it",
        ),
        (
            "demo",
            ["--scorer", "pll"],
            "no masked language model .*expected one for --scorer pll",
        ),
        ("demo", ["--scorer", "mntp"], "from what precedes it alone, masked or not"),
        ("llama", [], "from what follows it; expected .*--scorer pll or mntp"),
        ("demo", ["--masking", "original"], "--masking original: a causal model is asked without"),
        ("bert", ["--word-correction"], "--word-correction and --scorer pll"),
        ("bert", ["--bos", "always"], "--bos and --scorer pll"),
        ("bert", ["--compat", "syntaxgym-2021"], "--compat syntaxgym-2021 and --scorer pll"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(
    model: str,
    words: list[str],
    said: str,
    models: Path,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import re

    name = models / model if (models / model).is_dir() else model
    output = tmp_path / "out"
    assert score("--model", name, "--dataset", data, "--output", output, *words) == 2
    error = capsys.readouterr().err
    assert len(error.strip().splitlines()) == 1
    assert re.search(said, error), error
    assert not output.exists()


def test_a_model_without_a_mask_is_refused(
    models: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = masked_tokenizer("bert")
    masked_model("bert", tokenizer).save_pretrained(tmp_path / "bare")
    type(tokenizer)(tokenizer_object=tokenizer.backend_tokenizer).save_pretrained(tmp_path / "bare")
    assert score("--model", tmp_path / "bare", "--dataset", data) == 2
    error = capsys.readouterr().err
    assert "the tokenizer has no mask token" in error
    assert "--scorer" not in error


def test_an_encoder_without_a_head_is_refused_as_a_masked_model(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = masked_tokenizer("bert")
    masked_model("bert", tokenizer).bert.save_pretrained(tmp_path / "body")
    tokenizer.save_pretrained(tmp_path / "body")
    assert score("--model", tmp_path / "body", "--dataset", data) == 2
    assert "expected those of a masked language model, output head" in capsys.readouterr().err


def test_texts_that_are_too_long_are_left_out_and_counted(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = masked_tokenizer("bert")
    short = masked_model("bert", tokenizer, max_position_embeddings=60)
    short.save_pretrained(tmp_path / "short")
    tokenizer.save_pretrained(tmp_path / "short")
    words = ("--model", tmp_path / "short", "--dataset", data, "--no-cache")
    assert score(*words, "--output", tmp_path / "out", "--verbose") == 0
    assert "for the model's context of 60 tokens" in capsys.readouterr().out


def test_masked_next_token_prediction_is_chosen(
    models: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--model", models / "llama", "--scorer", "mntp", "--dataset", data, "--no-cache")
    assert score(*words, "--output", tmp_path / "out", "--verbose") == 0
    assert "|scorer:mntp|masking:within_word_l2r|" in capsys.readouterr().out


def test_scores_of_other_scorers_are_compared_only_anyway(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pll, other, causal = (str(results / name) for name in ("pll", "other", "causal"))
    assert cli.main(["compare", pll, other]) == 0
    capsys.readouterr()
    assert cli.main(["compare", pll, causal]) == 2
    assert (
        'scorer: "pll" and not set; masking: "within_word_l2r" and not set'
        in capsys.readouterr().err
    )
    assert cli.main(["compare", pll, str(results / "original")]) == 2
    assert "masking" in capsys.readouterr().err
    assert cli.main(["compare", pll, causal, "--anyway"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("scorer: ") == 1


def test_an_overview_has_a_column_for_each_way_of_masking(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(results / name) for name in ("pll", "original", "causal")]
    assert cli.main(["overview", *folders]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "bert (pll)" in printed
    assert "bert (pll, original)" in printed
    assert "demo (" not in printed


def test_an_item_is_shown(models: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["show", "--item", "d1/shuffled", "--model", str(models / "bert"), "--dataset"]
    assert cli.main([*words, str(data)]) == 0
    out = capsys.readouterr().out
    assert "pll: bits are pseudo-surprisals: each is conditioned on the whole text" in out
    assert "masked (--masking within_word_l2r)" in out
    lines = [line.split() for line in out.splitlines()]
    bits = {line[0]: line[1] for line in lines if len(line) >= 2}
    assert bits["[CLS]"] == bits["[SEP]"] == "–"


def test_other_tasks_refuse_a_masked_model(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bert = str(models / "bert")
    documents = with_intruders(about_families(4))
    built = str(write_documents(tmp_path / "data", {"test": documents}))
    assert cli.main(["detect", "--model", bert, "--threshold", "1", "--dataset", built]) == 2
    assert "is a masked language model" in capsys.readouterr().err


def test_python_scores_what_the_command_line_scores(
    results: Path, models: Path, data: Path
) -> None:
    expected = {s["config"]: s["score"] for s in read(results / "pll")["scores"]}
    for model in (models / "bert", cg.load_model(str(models / "bert"))):
        found = cg.score(model, data)
        assert isinstance(found, cg.Results)
        assert {s.config: s.score for s in found.rows} == expected
        assert found.settings["scorer"] == "pll"
    tokenizer = masked_tokenizer("bert")
    in_memory = cg.score((masked_model("bert", tokenizer), tokenizer), data, masking="original")
    assert isinstance(in_memory, cg.Results)
    assert in_memory.settings["masking"] == "original"
    with pytest.raises(EvaluationError, match="loaded as a causal one"):
        cg.score(cg.load_model("demo"), data, scorer="pll")
    with pytest.raises(EvaluationError, match="a masked language model has no surprisal"):
        cg.score(cg.load_model(str(models / "bert")), data, scorer="causal")


def test_two_processes_report_what_one_does(
    models: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["score", "--model", str(models / "bert"), "--dataset", str(data), "--no-cache"]
    assert cli.main([*common, "--output", str(tmp_path / "one")]) == 0
    argv = [*common, "--output", str(tmp_path / "two")]
    for code, _, error in (fork.wait() for fork in ranks(2, partial(cli.main, argv), tmp_path)):
        assert code == 0, error
    one, two = (tmp_path / name / "regions.parquet" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


class Own:
    """A config of code from a repository."""

    model_type = "own"

    def __init__(self, **entries: str) -> None:
        self.auto_map = entries


def test_auto_goes_by_the_class_and_else_by_the_config() -> None:
    from transformers import AutoConfig

    bert = AutoConfig.for_model("bert")
    assert scorer_of(bert) == "pll"
    assert scorer_of(AutoConfig.for_model("bert", is_decoder=True)) == "causal"
    assert scorer_of(AutoConfig.for_model("bert", architectures=["BertForMaskedLM"])) == "pll"
    assert scorer_of(bert, "BertLMHeadModel") == "causal"
    assert scorer_of(AutoConfig.for_model("gpt2")) == "causal"
    assert scorer_of(None, "OwnForMaskedLM") == "pll"
    assert scorer_of(Own(AutoModelForMaskedLM="a.B")) == "pll"
    both = {"AutoModelForMaskedLM": "a.B", "AutoModelForCausalLM": "a.C"}
    assert scorer_of(Own(**both)) == "causal"
