"""The embedded demo model, and the ladder of models at toy size."""

from __future__ import annotations

import json
import logging
import re
import warnings
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coherencegym.eval.models as package
from benchmarks.demo_model import picture, texts, train
from coherencegym.loaders import read, registry

FOLDER = Path(package.__file__).parent / "demo_model"

TEXTS = [
    "Once upon a time, there was a little girl named Lily. She loved to play.",
    "Isn’t it — “odd”?\nNo; 3.50 € (or £2)\u00a0is  fine\t… 👩‍👩‍👧 naïve 🎉 日本",
    "  leading and trailing white space \n",
]

FILES = (
    "README.md",
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
)


@pytest.fixture(scope="module")
def demo() -> tuple[Any, Any]:
    """Model and tokenizer as a user loads them; a warning, logged or raised, is an error."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    handler = BufferingHandler(100)
    handler.setLevel(logging.WARNING)
    logging.getLogger("transformers").addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DeprecationWarning)
            model = AutoModelForCausalLM.from_pretrained(FOLDER, local_files_only=True)
            tokenizer = AutoTokenizer.from_pretrained(FOLDER, local_files_only=True)
    finally:
        logging.getLogger("transformers").removeHandler(handler)
    assert [record.getMessage() for record in handler.buffer] == []
    return model.eval(), tokenizer


def test_the_folder_is_small_and_holds_no_pickle_and_no_path() -> None:
    files = sorted(path.name for path in FOLDER.iterdir())
    assert files == sorted(FILES)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 4_000_000
    for path in FOLDER.iterdir():
        if path.suffix in (".json", ".md"):
            text = path.read_text(encoding="utf-8")
            assert "/work/" not in text
            assert "_name_or_path" not in text


def test_it_has_a_start_a_separator_and_room(demo: tuple[Any, Any]) -> None:
    import torch

    model, tokenizer = demo
    assert tokenizer.bos_token == tokenizer.eos_token == "<|endoftext|>"
    assert tokenizer.sep_token == "[SEP]"
    ids = tokenizer("hi[SEP] there")["input_ids"]
    assert ids.count(tokenizer.sep_token_id) == 1
    assert tokenizer.bos_token_id not in ids
    assert model.config.max_position_embeddings >= 512
    assert model.dtype == torch.float32
    assert len(tokenizer) == model.config.vocab_size


@pytest.mark.parametrize("text", TEXTS)
def test_text_survives_encoding(demo: tuple[Any, Any], text: str) -> None:
    _, tokenizer = demo
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_its_loss_is_finite_and_better_on_a_story_than_backwards(demo: tuple[Any, Any]) -> None:
    import torch

    model, tokenizer = demo
    story = re.findall(r"\S[^.]*\.", TEXTS[0] + " One day, she went out. She saw a big dog.")
    with torch.no_grad():
        losses = []
        for text in (" ".join(story), " ".join(reversed(story))):
            ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(text)["input_ids"]]])
            losses.append(float(model(ids, labels=ids).loss))
        long = torch.randint(
            0, len(tokenizer), (1, 512), generator=torch.Generator().manual_seed(0)
        )
        assert torch.isfinite(model(long).logits).all()
    assert 0 < losses[0] < losses[1] < 12


WORKS = {
    "african_storybook": ["A hen sat.\n\nIt laid an egg.", "The goat ran home.\n\nTHE END"],
    "fairytaleqa": [
        '"Who is there?" asked the fox.\n\n"It is I," said the hen.\n\n"Come in," said the fox.',
    ],
    "pratham": [],
    "fairy_tales": [],
    "children": [],
}
LONG = (
    "Once there was a miller who had three sons and a mill by the river. ",
    "He left the mill to the eldest, and the cat to the youngest of them all. ",
    "The youngest sat down and wept, for what was he to do with a cat in boots?",
)


@pytest.fixture
def collections(tmp_path: Path) -> Path:
    """A folder of toy collections; one story stands in two, and one has a passage of a suite."""
    works = {name: list(texts) for name, texts in WORKS.items()}
    works["fairytaleqa"].append("".join(LONG))
    works["fairy_tales"].append("\n\n".join(["He began.", *LONG, "He went away."]))
    sample = next(iter(read.read(registry.corpus("sample"))))
    works["children"].append("\n\n".join(["It began so.", " ".join(sample.texts), "So it ended."]))
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, every in works.items():
        lines = (json.dumps({"work": f"{name} {n}", "text": text}) for n, text in enumerate(every))
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_what_a_suite_or_an_earlier_work_says_is_left_out(
    collections: Path, tmp_path: Path
) -> None:
    found = list(texts.passages(collections, texts.texts_of_suites(tmp_path)))
    told = {("".join(text)).strip(): work for work, text in found}
    assert list(told) == [
        "A hen sat. It laid an egg.",
        "The goat ran home.",
        '"Who is there?" asked the fox. "It is I," said the hen. "Come in," said the fox.',
        "".join(LONG),
        "He began.",
        "He went away.",
        "It began so.",
        "So it ended.",
    ]
    assert told["He began."]["of_a_work"] == 3
    assert told["So it ended."]["of_a_suite"] == 1
    assert told["So it ended."]["paragraphs"] == 2


def test_every_second_passage_marks_where_the_speaker_changes(
    collections: Path, tmp_path: Path
) -> None:
    (collections / "african_storybook.jsonl").write_text("", encoding="utf-8")
    lines = (collections / "fairytaleqa.jsonl").read_text(encoding="utf-8").splitlines()
    other = lines[0].replace("hen", "cow")
    (collections / "fairytaleqa.jsonl").write_text(f"{lines[0]}\n{other}", encoding="utf-8")
    (_, first), (_, second), *_ = texts.passages(collections, [])
    assert texts.SEPARATOR not in "".join(first)
    assert second[:3] == [
        ' "Who is there?" asked the fox.',
        '[SEP] "It is I," said the cow.',
        '[SEP] "Come in," said the fox.',
    ]


def test_a_training_that_was_cut_off_comes_to_the_same_weights(
    collections: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = {"SIZES": {"0.3M": (16, 1, 2)}, "VOCABULARY": 300, "ROW": 16, "FIRST_CHECKPOINT": 128}
    for name, value in toy.items():
        monkeypatch.setattr(train, name, value)
    weights = []
    for name, stops in (("whole", [512]), ("cut", [128, 256, 512])):
        for tokens in stops:
            given = ["--texts", str(collections), "--data-dir", str(tmp_path)]
            train.main([*given, "--output", str(tmp_path / name), "--tokens", str(tokens)])
        checkpoints = sorted((tmp_path / name / "0.3M").glob("tokens-*"))
        assert [folder.name[-3:] for folder in checkpoints] == ["128", "256", "512"]
        weights.append([(folder / "model.safetensors").read_bytes() for folder in checkpoints])
    assert weights[0] == weights[1]
    assert weights[0][0] != weights[0][1]
    rows = np.load(tmp_path / "whole" / "rows.npy")
    assert rows.shape[1] == 16
    assert (rows[:, 0] == 0).all()
    config = json.loads((checkpoints[-1] / "config.json").read_text(encoding="utf-8"))
    assert config["dtype"] == "float32"
    assert "bits_a_token" in (checkpoints[-1] / "training.json").read_text(encoding="utf-8")


def test_the_picture_has_a_panel_a_phenomenon_and_a_line_a_size(tmp_path: Path) -> None:
    head = {"n": 9, "score": 0.5, "ci_low": 0.2, "ci_high": 0.8, "effective_items": 9.0}
    rows = [
        {"panel": panel, "size": size, "tokens": tokens, **head}
        for panel in picture.PANELS
        for size in ("0.3M", "1M")
        for tokens in (1024, 2048)
    ]
    for row in rows:
        folder = tmp_path / str(row["size"]) / f"tokens-{row['tokens']:09}"
        folder.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(map(json.dumps, rows)) + "\n"
    (tmp_path / "scores.jsonl").write_text(lines, encoding="utf-8")
    drawn = tmp_path / "ladder.svg"
    picture.main(["--models", str(tmp_path), "--output", str(drawn)])
    text = drawn.read_text(encoding="utf-8")
    assert text.count('id="curve-0"') == text.count('id="curve-1"') == len(picture.PANELS)
