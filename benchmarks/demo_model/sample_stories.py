"""Sample short texts from a causal language model, one a line: training text for the demo model.

    python -m benchmarks.demo_model.sample_stories --model FOLDER --output stories.txt --count 30000

Sampling by ``generate`` with a temperature and a nucleus (top-p), in batches. A text that the model
did not end within ``--max-tokens`` is cut after its last full sentence. Same model, arguments,
versions of torch and transformers, and processor: same file.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coherencegym.errors import one_line

#: A sentence's end: its mark, closing quotes or brackets, then white space or the end of the text.
SENTENCE_END = re.compile(r"[.!?]+[\"'”’)]*(?=\s|$)")

#: Count of the most probable tokens that are looked at when a nucleus is taken.
TOP_K = 256


class SamplingError(Exception):
    """A user-facing problem: one line that says what is wrong and what was expected."""


def complete(text: str, *, ended: bool, min_sentences: int = 3) -> str | None:
    """The text on one line, cut after its last full sentence unless the model ended it.

    Args:
        text: as decoded; any white space, line breaks too, becomes one space.
        ended: whether the model produced its end token.
        min_sentences: fewer sentence ends than this: no story.

    Returns:
        The story, or None where there is none (too short, no full sentence, broken characters).
    """
    line = " ".join(text.split())
    ends = [match.end() for match in SENTENCE_END.finditer(line)]
    if len(ends) < min_sentences or "\N{REPLACEMENT CHARACTER}" in line:
        return None
    if ended and ends[-1] < len(line):
        return None
    return line[: ends[-1]]


def load(folder: str) -> tuple[Any, Any]:
    """Model (float32, evaluation mode) and tokenizer of a local folder.

    Raises:
        SamplingError: the folder is missing or does not hold a causal language model.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    if not (Path(folder) / "config.json").is_file():
        raise SamplingError(f"--model: no config.json in {folder!r}; expected a model folder")
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise SamplingError(f"--model: {' '.join(str(error).split())}") from None
    return model.float().eval(), tokenizer


def boundaries(tokenizer: Any) -> tuple[int, set[int]]:
    """The token that starts a text, and the tokens that end it.

    The start token also ends a text: models trained on a stream of documents that are divided by it
    (stories260K is one) emit it where the next would begin.

    Raises:
        SamplingError: the tokenizer has neither a start nor an end token.
    """
    ids = [i for i in (tokenizer.bos_token_id, tokenizer.eos_token_id) if i is not None]
    if not ids:
        raise SamplingError("--model: its tokenizer defines no start token and no end token")
    return ids[0], set(ids)


def sample_batch(
    model: Any, start: int, ends: set[int], *, rows: int, max_tokens: int, **settings: float
) -> list[tuple[list[int], bool]]:
    """Sample ``rows`` texts side by side, with settings of ``generate``.

    Returns:
        For each its token ids without start and end, and whether the model ended it.
    """
    import torch

    beginnings = torch.full((rows, 1), start)
    with torch.inference_mode():
        found = model.generate(
            beginnings,
            attention_mask=torch.ones_like(beginnings),
            do_sample=True,
            top_k=TOP_K,
            max_new_tokens=max_tokens,
            eos_token_id=sorted(ends),
            pad_token_id=start,
            **settings,
        )
    texts = found[:, 1:].tolist()
    sizes = [next((n for n, token in enumerate(ids) if token in ends), None) for ids in texts]
    return [(ids[:size], size is not None) for ids, size in zip(texts, sizes, strict=True)]


def sample(
    model: Any,
    tokenizer: Any,
    *,
    count: int,
    seed: int = 0,
    temperature: float = 0.9,
    top_p: float = 0.95,
    batch_size: int = 128,
    max_tokens: int = 200,
) -> Iterator[str]:
    """``count`` different stories, in the order sampled.

    Raises:
        SamplingError: no start token, or twenty batches in a row without a new complete story.
    """
    import torch

    start, ends = boundaries(tokenizer)
    torch.manual_seed(seed)
    seen: set[str] = set()
    barren = 0
    while len(seen) < count:
        before = len(seen)
        for ids, ended in sample_batch(
            model,
            start,
            ends,
            rows=batch_size,
            max_tokens=max_tokens,
            temperature=temperature,
            top_p=top_p,
        ):
            story = complete(tokenizer.decode(ids, skip_special_tokens=True), ended=ended)
            if story is not None and story not in seen and len(seen) < count:
                seen.add(story)
                yield story
        barren = barren + 1 if len(seen) == before else 0
        if barren == 20:
            raise SamplingError(
                f"{len(seen)} stories, then twenty batches without a new one of three sentences; "
                "expected a model of running English (or raise --temperature, --max-tokens)"
            )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.demo_model.sample_stories",
        description="Sample short texts from a causal language model, one a line.",
        epilog="example: python -m benchmarks.demo_model.sample_stories --model stories260K "
        "--output stories.txt --count 30000",
    )
    parser.add_argument("--model", required=True, help="folder of a causal language model")
    parser.add_argument("--output", required=True, type=Path, help="text file to write")
    parser.add_argument("--count", required=True, type=int, help="how many stories")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    parser.add_argument("--temperature", type=float, default=0.9, help="default 0.9")
    parser.add_argument("--top-p", type=float, default=0.95, help="nucleus, default 0.95")
    parser.add_argument("--batch-size", type=int, default=128, help="default 128")
    parser.add_argument("--max-tokens", type=int, default=200, help="per story, default 200")
    parser.add_argument("--threads", type=int, default=1, help="torch threads, default 1")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0 when the file is written, 2 after a user's error."""
    args = parser().parse_args(argv)
    try:
        for name in ("count", "batch_size", "max_tokens", "threads", "temperature", "top_p"):
            if getattr(args, name) <= 0:
                raise SamplingError(f"--{name.replace('_', '-')}: expected a positive number")
        if not args.output.absolute().parent.is_dir():
            raise SamplingError(f"--output: no folder {str(args.output.parent)!r}")
        run(args)
    except (SamplingError, OSError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 2
    return 0


def run(args: argparse.Namespace) -> None:
    """Sample into the file, which appears only when it is complete."""
    import torch

    torch.set_num_threads(args.threads)
    model, tokenizer = load(args.model)
    limit = getattr(model.config, "max_position_embeddings", None) or args.max_tokens
    options = {
        name: getattr(args, name)
        for name in ("count", "seed", "temperature", "top_p", "batch_size")
    }
    began, done = time.monotonic(), 0
    part = args.output.with_name(args.output.name + ".part")
    try:
        with part.open("w", encoding="utf-8") as handle:
            for story in sample(
                model, tokenizer, max_tokens=min(args.max_tokens, limit), **options
            ):
                handle.write(story + "\n")
                done += 1
                if sys.stderr.isatty() and done % 100 == 0:
                    print(f"\r{done}/{args.count} stories", end="", file=sys.stderr)
        part.replace(args.output)
    finally:
        part.unlink(missing_ok=True)
    seconds = time.monotonic() - began
    print(f"{done} stories in {seconds:.0f} s: {args.output}")


if __name__ == "__main__":
    sys.exit(main())
