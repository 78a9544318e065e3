"""Train the small Llama and tokenizer that ship as ``--model demo``.

    python -m benchmarks.demo_model.train_demo_model --text stories.txt --dialogues
    self_original.txt --output DIR

Text files hold one story a line (see :mod:`benchmarks.demo_model.sample_stories`), dialogue files
ParlAI text. What is done to them is in :mod:`benchmarks.demo_model.demo_text`. ``--steps`` decides
how long training is; ``--minutes`` is a limit: where it is reached the learning rate comes down
early, and the run is not reproducible. Within the limit the same arguments give the same files with
one torch version and processor.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.demo_model.demo_data import (
    batches,
    documents,
    hold_out,
    read_dialogues,
    read_stories,
    rows,
    tensors,
    train_tokenizer,
)
from benchmarks.demo_model.demo_text import SEPARATOR
from coherencegym.errors import one_line
from coherencegym.loaders.corpus import CorpusError

#: The files of a finished model.
FILES = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
)

#: Every so many stories (dialogues) one is held out of training.
HELD_OUT = {"stories": 100, "dialogues": 10}


class TrainingError(Exception):
    """A user-facing problem: one line that says what is wrong and what was expected."""


def mean_loss(model: Any, batch: Sequence[Sequence[int]]) -> Any:
    """Mean cross-entropy (nats a token) of the tokens after the first; padding does not count."""
    from torch.nn.functional import cross_entropy

    ids, labels = tensors(batch)
    logits = model(input_ids=ids, use_cache=False).logits[:, :-1].float()
    return cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


def bits_per_character(model: Any, tokenizer: Any, texts: Sequence[str]) -> float:
    """Surprisal of the texts (bits) after a boundary, over their characters."""
    import torch

    limit = model.config.max_position_embeddings
    bits, characters = 0.0, 0
    for text in texts:
        ids = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
        if 1 < len(ids) <= limit:
            with torch.inference_mode():
                bits += mean_loss(model, [ids]).item() * (len(ids) - 1) / math.log(2)
            characters += len(text.replace(SEPARATOR, ""))
    return bits / max(characters, 1)


def train(model: Any, feed: Iterator[list[list[int]]], args: argparse.Namespace) -> int:
    """Train in place with AdamW: warm-up, then a cosine to nothing; returns the steps made."""
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments

    began = time.monotonic()

    def progress(step: int) -> float:
        minutes = (time.monotonic() - began) / 60
        return max(float(step / args.steps), float(minutes / args.minutes))

    def rate(step: int) -> float:
        return min(1.0, (step + 1) / 100) * (1 + math.cos(math.pi * min(1.0, progress(step)))) / 2

    class Limit(TrainerCallback):  # type: ignore[misc]
        """Ends training where the minutes are over."""

        def on_step_end(self, arguments: Any, state: Any, control: Any, **more: Any) -> None:
            control.should_training_stop |= progress(state.global_step) >= 1

    class Feed(torch.utils.data.IterableDataset):  # type: ignore[misc]
        """Batches as they come."""

        def __iter__(self) -> Iterator[list[list[int]]]:
            return feed

    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 0.1},
            {"params": [p for p in model.parameters() if p.ndim < 2], "weight_decay": 0.0},
        ],
        lr=args.learning_rate,
        betas=(0.9, 0.95),
    )
    with tempfile.TemporaryDirectory() as work:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=work,
                max_steps=args.steps,
                per_device_train_batch_size=1,
                max_grad_norm=1.0,
                logging_steps=500,
                save_strategy="no",
                report_to="none",
                use_cpu=True,
                seed=args.seed,
                disable_tqdm=not sys.stderr.isatty(),
            ),
            train_dataset=Feed(),
            data_collator=lambda found: dict(
                zip(("input_ids", "labels"), tensors(found[0]), strict=True)
            ),
            optimizers=(optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, rate)),
            callbacks=[Limit()],
        )
        trainer.train()
    return int(trainer.state.global_step)


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write the model's files: weights as float16, to be loaded as float32."""
    tokenizer.save_pretrained(folder)
    model.half().save_pretrained(folder, safe_serialization=True)
    model.float()
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["dtype"] = "float32"
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    for name in FILES:
        (folder / name).chmod(0o644)


def build(args: argparse.Namespace, texts: list[str]) -> tuple[Any, Any]:
    """A fresh model (float32, seeded) and a tokenizer trained on the texts."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = train_tokenizer(texts, args.vocabulary, args.context)
    torch.manual_seed(args.seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=args.hidden,
        intermediate_size=args.hidden * 11 // 4,
        num_hidden_layers=args.layers,
        num_attention_heads=args.heads,
        max_position_embeddings=args.context,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config), tokenizer


def run(args: argparse.Namespace) -> None:
    """Train, save, load again and report.

    Raises:
        TrainingError: a file that cannot be read, or sizes that do not fit.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # spinning is slow on a shared machine
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(args.threads)
    try:
        stories = [story for path in args.text for story in read_stories(path)]
        talks = [talk for path in args.dialogues for talk in read_dialogues(path)]
        stories, held_stories = hold_out(stories, HELD_OUT["stories"], "stories")
        talks, held_talks = hold_out(talks, HELD_OUT["dialogues"], "dialogues")
        args.output.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError, CorpusError) as error:
        raise TrainingError(str(error)) from None
    sample = islice(documents(stories, talks, args.seed, args.repeats), len(stories))
    model, tokenizer = build(args, list(sample))
    print(f"{model.num_parameters()} parameters, vocabulary {len(tokenizer)}", flush=True)
    began = time.monotonic()
    texts = documents(stories, talks, args.seed, args.repeats)
    feed = batches(rows(texts, tokenizer, args.context), args.batch_tokens)
    steps = train(model, feed, args)
    minutes = (time.monotonic() - began) / 60
    save(model, tokenizer, args.output)
    model = AutoModelForCausalLM.from_pretrained(args.output).eval()
    tokenizer = AutoTokenizer.from_pretrained(args.output)
    size = sum((args.output / name).stat().st_size for name in FILES)
    early = "" if steps == args.steps else " (stopped by --minutes: not reproducible)"
    print(f"{steps} steps in {minutes:.1f} minutes{early}; {size / 1e6:.2f} MB in {args.output}")
    joined = [f"{SEPARATOR} ".join(talk) for talk in held_talks]
    for what, held in (("stories", held_stories), ("dialogues", joined)):
        if held:
            figure = bits_per_character(model, tokenizer, held)
            print(f"held-out {what} ({len(held)}): {figure:.3f} bits per character")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.demo_model.train_demo_model",
        description="Train the small Llama and tokenizer that ship as --model demo.",
        epilog="example: python -m benchmarks.demo_model.train_demo_model --text stories.txt "
        "--dialogues self_original.txt --output demo_model",
    )
    add = parser.add_argument
    add("--text", nargs="+", type=Path, required=True, help="files with one story a line")
    add("--dialogues", nargs="+", type=Path, default=[], help="files of ParlAI dialogue text")
    add("--output", type=Path, required=True, help="folder; the model's files in it are replaced")
    add("--seed", type=int, default=0, help="default 0")
    add("--minutes", type=float, default=30.0, help="limit of training time, default 30")
    for name, default, about in (
        ("steps", 1800, "optimizer steps"),
        ("vocabulary", 2048, "tokenizer entries"),
        ("context", 512, "positions"),
        ("hidden", 128, "width"),
        ("layers", 6, "layers"),
        ("heads", 4, "attention heads"),
        ("batch-tokens", 4096, "tokens a step, padding included"),
        ("repeats", 4, "times a dialogue comes in a pass over the stories"),
        ("threads", 2, "torch threads"),
    ):
        add(f"--{name}", type=int, default=default, help=f"{about}, default {default}")
    add("--learning-rate", type=float, default=3e-3, help="at its highest, default 0.003")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0 when the model is written, 2 after a user's error."""
    args = parser().parse_args(argv)
    try:
        for name, value in vars(args).items():
            if name != "seed" and isinstance(value, int | float) and value <= 0:
                raise TrainingError(f"--{name.replace('_', '-')}: expected a positive number")
        if args.vocabulary < 258:
            raise TrainingError(
                "--vocabulary: expected 258 or more (256 bytes, two special tokens)"
            )
        if args.hidden % (2 * args.heads):
            raise TrainingError("--hidden: expected a multiple of twice --heads")
        run(args)
    except (TrainingError, OSError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
