"""``probe`` in Python, on models that are loaded; and what must come of a probe that is right."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.datasets import orders, write_examples

import coherencegym as cg
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import LabelledExample
from coherencegym.eval.kinds.table_kind import to_row
from coherencegym.eval.tasks.probe import classifiers

QUICK: dict[str, Any] = {"random_init": 0}
Tiny = tuple[Any, Any]


def probe(model: Any, tokenizer: Any, data: Any, **how: Any) -> Any:
    return cg.probe((model, tokenizer), data, **how)


def figures(found: Any) -> list[Any]:
    return list(found.more["probes"])


def reached(found: Any) -> dict[str, Any]:
    """The accuracy of each system on the rows of one config."""
    rows = [row for row in found.rows if not row.group and row.metric == "accuracy"]
    return {row.system: row.score for row in rows}


@pytest.fixture(scope="module")
def tiny(make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]) -> Tiny:
    tokenizer = make_tokenizer()
    return make_model("gpt2", tokenizer), tokenizer


@pytest.fixture(scope="module")
def bert() -> Tiny:
    import torch
    from support.tiny_encoders import ENCODERS, encoder_tokenizer
    from transformers import AutoConfig, AutoModel

    tokenizer = encoder_tokenizer("bert")
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        "bert", vocab_size=len(tokenizer), initializer_range=0.3, pad_token_id=0, **ENCODERS["bert"]
    )
    return AutoModel.from_config(config).eval(), tokenizer


def data(test: int = 40) -> dict[str, list[LabelledExample]]:
    return {"train": orders(60, 0), "validation": orders(20, 1), "test": orders(test, 2)}


def test_examples_from_memory(tiny: Tiny) -> None:
    given = data()
    found = probe(*tiny, given, layers=(0, 1), **QUICK)
    (own,) = figures(found)
    assert tuple(own[name] for name in ("train", "validation", "test", "layers")) == (
        120,
        40,
        80,
        (0, 1),
    )
    assert reached(found)[""] > 0.8
    assert found.details[0].fits[1].log_probabilities.shape == (80, 2)
    assert "most frequent" in " ".join(found.sections[0].body.headers)
    assert "|---|" in found._repr_markdown_()
    # The name stays for the whole: labels of a file are numbers, those of rows are names.
    rows = {split: [to_row(one) for one in own] for split, own in given.items()}
    assert figures(probe(*tiny, rows, layers=(0, 1), **QUICK)) == figures(found)


def test_the_toolkits_call(tiny: Tiny, tmp_path: Path) -> None:
    folder = write_examples(tmp_path / "data", data(10))
    found = cg.probe(tiny, folder, layers=(1,), output=tmp_path / "run", **QUICK)
    assert figures(found)[0]["layer"] == 1
    assert (tmp_path / "run" / "report.html").is_file()
    with pytest.raises(EvaluationError, match="another folder with output="):
        cg.probe(tiny, folder, output=tmp_path / "run")


def test_a_fit_that_is_not_done_is_said_and_costs_nothing_else(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifiers, "_MOST_ITERATIONS", 1)
    found = cg.probe(tiny, data(10), layers=(0, 1), **QUICK)
    said = [note.text for note in found.notes if note.kind == "caution"]
    fault = "examples: 2 fits did not converge (layer 0, 1); their acc"
    assert any(text.startswith(fault) for text in said)
    assert len(found.details[0].fits) == 2


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (data(4), {"layer": 3}, "no option 'layer'; expected one of .*did you mean 'layers'"),
        (data(4), {"pool": "max"}, "pool='max'; expected one of 'auto', 'mean', 'last', 'cls'"),
        (data(4), {"compat": "discoeval"}, "compat='discoeval'; expected one of 'discoeval-20"),
        ({"test": orders(4, 0)}, {}, "no split 'train' to learn from"),
        ([1, 2], {}, "expected a dataset's name or folder, or rows by split"),
    ],
)
def test_a_mistake_is_one_line(tiny: Tiny, given: Any, options: Any, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        cg.probe(tiny, given, **options)


def test_labels_that_are_permuted_cannot_be_found(tiny: Tiny) -> None:
    # In every split: a probe of permuted training labels follows a direction by chance, and would
    # find the labels of the test rows by it, or their opposites.
    given = {split: shuffled(rows) for split, rows in data(200).items()}
    found = probe(*tiny, given, random_init=1)
    (own,) = figures(found)
    bound = 3 * (0.25 / own["test"]) ** 0.5
    of_layers = (fit["test"] for fit in cg.rows(found, "layers"))
    for accuracy in (reached(found)[""], reached(found)["random init"], *of_layers):
        assert abs(accuracy - 0.5) <= bound


def shuffled(rows: list[LabelledExample]) -> list[LabelledExample]:
    labels = [one.label for one in rows]
    random.Random(0).shuffle(labels)
    return [replace(one, label=label) for one, label in zip(rows, labels, strict=True)]


def test_in_the_embeddings_the_first_token_is_the_same_everywhere(bert: Tiny) -> None:
    found = probe(*bert, data(), pool="cls", layers=(0,), **QUICK)
    assert reached(found)[""] == reached(found)["most frequent label"] == 0.5
    said = [note.text for note in found.notes if note.kind == "caution"]
    assert any("the chosen layer has the same vector" in text for text in said)


def test_the_published_protocol_takes_the_first_token_where_there_is_one(
    bert: Tiny, tiny: Tiny, tmp_path: Path
) -> None:
    defaults = {"input": "order", "protocol": "BSO"}
    folder = write_examples(tmp_path / "data", data(10), task_defaults=defaults)
    first, other = (probe(*model, folder, compat="discoeval-2019") for model in (bert, tiny))
    assert (first.settings["pool"], other.settings["pool"]) == ("cls", "mean")
    texts = " ".join(note.text for note in first.notes)
    assert "the mean of all layers of [CLS]" in texts
