"""Train a ladder of small models: one tokenizer and architecture, three sizes, checkpoints.

    python -m benchmarks.demo_model.train --texts FOLDER --data-dir CORPORA --output runs/ladder

``FOLDER`` has the collections of :mod:`benchmarks.demo_model.texts`, a JSON object with ``work``
and ``text`` a line. A stopped command goes on where it was. Checkpoints are written at powers of
two of tokens; each can be scored. The learning rate is constant after its warm-up, and a checkpoint
holds the mean of the weights over about the last tenth of the steps: so checkpoints of one training
compare, each as if the training had been meant to end there. Where much time passes in the kernel,
``MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=268435456`` keeps the memory of a step.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.demo_model.texts import SEPARATOR, passages, texts_of_suites

#: Width, layers and heads by size.
SIZES = {"0.3M": (48, 4, 4), "1M": (96, 5, 4), "3M": (160, 8, 5)}

#: The token between texts: start and end of text.
BOUNDARY = "<|endoftext|>"
VOCABULARY = 4096
#: Tokens of a row. In one step of eight, rows are two in a row, which trains later positions.
ROW = 256
ROWS_A_STEP = 4
#: Every so many rows one is held out.
HELD_OUT = 200
FIRST_CHECKPOINT = 2**16


def train_tokenizer(texts: Sequence[str]) -> Any:
    """A byte-level BPE tokenizer; it adds no token by itself."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[BOUNDARY, SEPARATOR],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer=trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOUNDARY,
        eos_token=BOUNDARY,
        pad_token=BOUNDARY,
        sep_token=SEPARATOR,
        model_max_length=2 * ROW,
        clean_up_tokenization_spaces=False,
    )


def packed(texts: Sequence[Sequence[str]], tokenizer: Any) -> Iterator[list[int]]:
    """Rows of one length: the boundary, then sentences of one text after the other.

    Each row begins with a sentence; what of its last one has no room is left out.
    """
    encode = {"add_special_tokens": False, "verbose": False}
    row, room = "", ROW - 1
    for text in texts:
        lengths = tokenizer(list(text), return_length=True, **encode)["length"]
        for sentence, length in zip(text, lengths, strict=True):
            row += sentence
            room -= length
            if room <= 0:
                row = row.removeprefix(SEPARATOR).removeprefix(BOUNDARY).lstrip()
                ids = tokenizer(BOUNDARY + row, **encode)["input_ids"]
                if len(ids) >= ROW:
                    yield ids[:ROW]
                row, room = "", ROW - 1
        row, room = row.rstrip() + BOUNDARY, room - 1


def prepare(texts: Path, data_dir: Path, output: Path) -> tuple[Any, Any]:
    """The tokenizer and the rows of token ids, made once; ``works.jsonl`` says of which works."""
    import numpy as np
    from transformers import AutoTokenizer

    folder, path = output / "tokenizer", output / "rows.npy"
    if not path.exists():
        output.mkdir(parents=True, exist_ok=True)
        kept = list(passages(texts, texts_of_suites(data_dir)))
        works = dict.fromkeys(json.dumps(work) for work, _ in kept)
        (output / "works.jsonl").write_text("\n".join(works) + "\n", encoding="utf-8")
        tokenizer = train_tokenizer(["".join(text) for _, text in kept])
        tokenizer.save_pretrained(folder)
        rows = np.array(list(packed([text for _, text in kept], tokenizer)), np.uint16)
        np.save(path, rows)
        left_out = sum(json.loads(work)["of_a_suite"] for work in works)
        print(
            f"{len(works)} works, {rows.size:,} tokens; left out: {left_out} paragraphs of suites"
        )
    return AutoTokenizer.from_pretrained(folder), np.load(path)


def make_model(size: str, tokenizer: Any) -> Any:
    """A fresh Llama of a size, from a fixed seed."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    width, layers, heads = SIZES[size]
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=width,
            intermediate_size=width * 11 // 4,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            max_position_embeddings=2 * ROW,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def batch_of(rows: Any, step: int) -> Any:
    """The rows of a step: passes over pairs of neighbours, each pass in another order."""
    import torch

    steps = len(rows) // ROWS_A_STEP
    start = step % steps * ROWS_A_STEP // 2
    pairs = pass_over(len(rows) // 2, step // steps)[start : start + ROWS_A_STEP // 2]
    ids = torch.tensor([rows[2 * pair : 2 * pair + 2].tolist() for pair in pairs])
    return ids.view(-1, 2 * ROW if step % 8 == 0 else ROW)


@lru_cache(maxsize=1)
def pass_over(count: int, number: int) -> list[int]:
    """The numbers up to ``count`` in the order of a pass."""
    return random.Random(number).sample(range(count), count)


def loss_of(model: Any, ids: Any) -> Any:
    """Mean cross-entropy of a token in nats, computed in bfloat16 where the processor has it."""
    import torch

    # Without these instructions a step in bfloat16 takes ten times a step in float32.
    fast = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    with torch.autocast("cpu", torch.bfloat16, enabled=fast):
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())


def train(size: str, tokenizer: Any, rows: Any, output: Path, tokens: int) -> None:
    """Train one size to so many tokens; goes on from ``state.pt`` where there is one."""
    import torch

    folder = output / size
    folder.mkdir(exist_ok=True)
    model, averaged = make_model(size, tokenizer), make_model(size, tokenizer)
    parameters, mean = list(model.parameters()), list(averaged.parameters())
    # As wide models need smaller steps: 0.003 at a width of 100.
    rate = 0.3 / model.config.hidden_size
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in parameters if p.ndim > 1], "weight_decay": 0.1},
            {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
        ],
        lr=rate,
        betas=(0.9, 0.95),
        fused=True,
    )
    saved, step, seconds = folder / "state.pt", 0, 0.0
    if saved.exists():
        state = torch.load(saved, weights_only=True)
        model.load_state_dict(state["model"])
        averaged.load_state_dict(state["averaged"])
        optimizer.load_state_dict(state["optimizer"])
        step, seconds = state["step"], state["seconds"]
    held_out = rows[::HELD_OUT]
    trained = rows[[n for n in range(len(rows)) if n % HELD_OUT]]
    began = time.process_time() - seconds
    while step * ROWS_A_STEP * ROW < tokens:
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 100)
        loss_of(model, batch_of(trained, step)).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        with torch.no_grad():
            torch._foreach_lerp_(mean, parameters, min(1.0, 10 / step))
        seen = step * ROWS_A_STEP * ROW
        due = seen >= FIRST_CHECKPOINT and seen & (seen - 1) == 0
        if due:
            checkpoint = folder / f"tokens-{seen:09}"
            save(averaged, tokenizer, checkpoint)
            bits = held_out_bits(averaged, held_out)
            seconds = round(time.process_time() - began)
            line = {"tokens": seen, "bits_a_token": round(bits, 4), "cpu_seconds": seconds}
            (checkpoint / "training.json").write_text(json.dumps(line) + "\n", encoding="utf-8")
            print(size, line, flush=True)
        if due or step % 1024 == 0:
            state = {
                "model": model.state_dict(),
                "averaged": averaged.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step,
                "seconds": time.process_time() - began,
            }
            torch.save(state, saved.with_suffix(".new"))
            saved.with_suffix(".new").replace(saved)


def held_out_bits(model: Any, rows: Any) -> float:
    """Bits a token of the rows that no step read."""
    import torch

    losses = []
    with torch.inference_mode():
        for start in range(0, len(rows), ROWS_A_STEP):
            ids = torch.tensor(rows[start : start + ROWS_A_STEP].tolist())
            losses += [float(loss_of(model, ids))] * len(ids)
    return sum(losses) / len(losses) / math.log(2)


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a model's files: weights as float16, to be loaded as float32."""
    tokenizer.save_pretrained(folder)
    copy.deepcopy(model).half().save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) | {"dtype": "float32"}
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> None:
    """Prepare the texts, and train the sizes one after the other."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.demo_model.train", description=__doc__
    )
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, required=True, help="corpora of the suites")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--tokens", type=int, default=2**24, help="default 2^24")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args(argv)
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(arguments.threads)
    tokenizer, rows = prepare(arguments.texts, arguments.data_dir, arguments.output)
    tokens = FIRST_CHECKPOINT
    while tokens <= arguments.tokens:
        # All sizes to a checkpoint, then to the next: a command that is cut off leaves a ladder.
        for size in arguments.sizes:
            train(size, tokenizer, rows, arguments.output, tokens)
        tokens *= 2


if __name__ == "__main__":
    main()
