"""The embedded demo model, and the two scripts that it is made with, at toy size."""

from __future__ import annotations

import json
import logging
import random
import warnings
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

import pytest

import coherencegym.eval.models as package
from benchmarks.demo_model import demo_data, demo_text, sample_stories, train_demo_model

FOLDER = Path(package.__file__).parent / "demo_model"

TEXTS = [
    "Once upon a time, there was a little girl named Lily. She loved to play.",
    "Isn’t it — “odd”?\nNo; 3.50 € (or £2)\u00a0is  fine\t… 👩‍👩‍👧 naïve 🎉 日本",
    "  leading and trailing white space \n",
]

STORIES = [
    "Once upon a time, there was a girl named Lily. She had a red ball. Lily ran home. She slept.",
    'One day, a boy named Tim saw a dog. "Hi," said Tim. The dog ran away. Tim was sad.',
    "Once upon a time, there was a big tree. It was old. A bird sang in it. The tree was happy.",
] * 4

DIALOGUE = "1 your persona: i sing.\n2 hello , i do n't sing .\twhy ?\t\ta|b\n3 no idea\toh\n"


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
    assert files == sorted([*train_demo_model.FILES, "README.md"])
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
    story = demo_text.sentences(TEXTS[0] + " One day, she went to the park. She saw a big dog.")
    with torch.no_grad():
        losses = []
        for text in (" ".join(story), " ".join(reversed(story))):
            ids = [tokenizer.bos_token_id, *tokenizer(text)["input_ids"]]
            losses.append(float(train_demo_model.mean_loss(model, [ids])))
        long = torch.randint(
            0, len(tokenizer), (1, 512), generator=torch.Generator().manual_seed(0)
        )
        assert torch.isfinite(model(long).logits).all()
    assert 0 < losses[0] < losses[1] < 12


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model over nine tokens, two of which end a sentence and one a text."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<s>", ".", "!", "Ana", "ran", "home", "and", "sang", "there"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, "<s>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    folder = tmp_path_factory.mktemp("teacher")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>")
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def test_sampling_gives_whole_different_stories_from_a_seed(teacher: Path, tmp_path: Path) -> None:
    def run(name: str, *more: str) -> list[str]:
        target = tmp_path / name
        common = ["--model", str(teacher), "--count", "6", "--batch-size", "4"]
        assert sample_stories.main([*common, "--output", str(target), *more]) == 0
        return target.read_text(encoding="utf-8").splitlines()

    one = run("one")
    assert len(set(one)) == len(one) == 6
    assert all(story[-1] in ".!" and story.count(".") + story.count("!") >= 3 for story in one)
    assert run("two") == one
    assert run("three", "--seed", "1") != one
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "three", "two"]


def test_training_twice_gives_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    (tmp_path / "stories.txt").write_text("\n".join(STORIES), encoding="utf-8")
    (tmp_path / "talk.txt").write_text(DIALOGUE * 3, encoding="utf-8")
    toy = "--steps 3 --hidden 16 --layers 1 --heads 2 --vocabulary 300 --context 64"
    toy += " --batch-tokens 256 --threads 1"
    written = []
    for seed, name in ((0, "a"), (0, "b"), (1, "c")):
        arguments = ["--text", str(tmp_path / "stories.txt"), "--output", str(tmp_path / name)]
        arguments += ["--dialogues", str(tmp_path / "talk.txt"), "--seed", str(seed), *toy.split()]
        assert train_demo_model.main(arguments) == 0
        assert "bits per character" in capsys.readouterr().out
        written.append([(tmp_path / name / file).read_bytes() for file in train_demo_model.FILES])
    assert written[0] == written[1] != written[2]
    assert json.loads(written[0][0])["dtype"] == "float32"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--text", "{dir}/none.txt"], "none.txt"),
        (["--text", "{dir}/empty.txt"], "expected one story a line"),
        (["--text", "{dir}/one.txt"], "expected two or more"),
        (
            ["--text", "{dir}/two.txt", "--dialogues", "{dir}/two.txt"],
            "two.txt:1: no number at the start",
        ),
        (["--text", "{dir}/two.txt", "--steps", "0"], "--steps: expected a positive number"),
        (["--text", "{dir}/two.txt", "--hidden", "20"], "--hidden: expected a multiple"),
    ],
)
def test_a_users_error_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    for name, text in (("empty", "\n"), ("one", "A. B. C.\n"), ("two", "A. B. C.\nD. E.\n")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    given = [argument.format(dir=tmp_path) for argument in arguments]
    assert train_demo_model.main([*given, "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_sampling_from_no_model_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "out.txt")
    common = ["--output", target, "--count", "3"]
    assert sample_stories.main(["--model", str(tmp_path), *common]) == 2
    assert "no config.json" in capsys.readouterr().err
    assert sample_stories.main(["--model", str(tmp_path), *common, "--top-p", "0"]) == 2
    assert "--top-p: expected a positive number" in capsys.readouterr().err
    assert not Path(target).exists()


def test_a_story_is_cut_after_its_last_full_sentence() -> None:
    text = 'Ana ran.\nShe  saw a dog. "Hi!" she said. Then sh'
    assert sample_stories.complete(text, ended=False) == 'Ana ran. She saw a dog. "Hi!" she said.'
    assert sample_stories.complete(text, ended=True) is None
    assert sample_stories.complete("Ana ran. She sat.", ended=True) is None
    assert sample_stories.complete("A. B. \N{REPLACEMENT CHARACTER}. C.", ended=True) is None


def test_names_are_replaced_consistently_and_openings_lose_their_formula() -> None:
    rng = random.Random(0)
    renamed = demo_text.rename("Lily saw Tim. Tim saw Lily's dog.", rng)
    girl, _, boy, boy_again, _, girl_again, _ = renamed.replace(".", "").split()
    assert girl_again == f"{girl}'s"
    assert boy == boy_again
    assert girl in demo_text.NEW_SHE
    assert boy in demo_text.NEW_HE
    openings = {demo_text.reopen(STORIES[0], rng).split(". ")[0] for _ in range(40)}
    assert openings == {"Lily had a red ball", "Lily was a girl", "There was a girl named Lily"}
    assert demo_text.reopen(STORIES[1], rng).startswith("Tim saw a dog.")
    assert demo_text.reopen(STORIES[2], rng).startswith("There was a big tree.")


def test_a_story_of_one_person_can_be_told_by_that_person() -> None:
    told = demo_text.first_person("Lily took her ball. Mom told her to stop. Tim's dog ran.")
    assert told is None
    told = demo_text.first_person("Lily took her ball. Mom told her to stop. She hid with Lily.")
    assert told == "I took my ball. Mom told me to stop. I hid with me."
    assert demo_text.first_person('"Hi," said Lily.') is None


def test_dialogues_are_detokenised_and_rendered_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text(DIALOGUE, encoding="utf-8")
    (turns,) = demo_data.read_dialogues(path)
    assert turns == ["hello, i don't sing.", "why?", "no idea", "oh"]
    copies = {demo_text.dialogue_copy(turns, random.Random(seed)) for seed in range(20)}
    assert "hello, i don't sing.[SEP] why?[SEP] no idea[SEP] oh" in copies
    assert "Hello, I don't sing. Why? No idea Oh" in copies
    assert len(copies) == 4


def test_held_out_texts_are_not_trained_on() -> None:
    kept, held = demo_data.hold_out(list(range(21)), 10, "numbers")
    assert held == [0, 10, 20]
    assert not set(kept) & set(held)
    assert len(kept) == 18
