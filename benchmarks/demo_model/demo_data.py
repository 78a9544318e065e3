"""From files to batches: the demo model's training stream.

Documents are copies of stories and dialogues (see :mod:`benchmarks.demo_model.demo_text`), without
end; rows are documents as token ids; batches are rows of similar length.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.demo_model.demo_text import SEPARATOR, dialogue_copy, story_copy
from coherencegym.loaders.corpora import personachat
from coherencegym.loaders.corpus import CorpusFile, ReadOptions

#: The token between documents: start and end of text.
BOUNDARY = "<|endoftext|>"


def read_dialogues(path: Path) -> list[list[str]]:
    """The dialogues of a file in ParlAI's text format, as running text, without personas.

    Raises:
        CorpusError: a line without a number first, or a file without a dialogue.
    """
    file = CorpusFile(path, "train")
    found = personachat.read_dialogues(personachat.CORPUS, file, ReadOptions())
    return [list(dialogue.texts) for dialogue in found if len(dialogue.units) > 1]


def read_stories(path: Path) -> list[str]:
    """The stories of a file, one a line; empty lines do not count.

    Raises:
        ValueError: there is none.
    """
    stories = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    stories = [story for story in stories if story]
    if not stories:
        raise ValueError(f"{path}: no text; expected one story a line")
    return stories


def hold_out(items: list[Any], every: int, what: str) -> tuple[list[Any], list[Any]]:
    """What is trained on, and what is held out: the first of every so many.

    Raises:
        ValueError: nothing would be left to train on.
    """
    if len(items) == 1:
        raise ValueError(f"only one of {what}; expected two or more, one is held out")
    return [item for n, item in enumerate(items) if n % every], items[::every]


def documents(
    stories: Sequence[str], dialogues: Sequence[Sequence[str]], seed: int, repeats: int
) -> Iterator[str]:
    """Training documents without end: shuffled passes over the stories, each time other copies.

    Args:
        stories: one string each.
        dialogues: turns each.
        seed: decides everything.
        repeats: how often each dialogue comes in a pass over the stories.
    """
    rng = random.Random(seed)
    while True:
        batch: list[str | Sequence[str]] = [*stories]
        for _ in range(repeats):
            batch.extend(dialogues)
        rng.shuffle(batch)
        for source in batch:
            if isinstance(source, str):
                yield story_copy(source, rng)
            else:
                yield dialogue_copy(source, rng)


def train_tokenizer(texts: Sequence[str], vocabulary: int, context: int) -> Any:
    """A byte-level BPE tokenizer of at most ``vocabulary`` entries; it adds no token by itself."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
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
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )


def rows(texts: Iterator[str], tokenizer: Any, context: int) -> Iterator[list[int]]:
    """Rows of token ids that start with the boundary: one text, or (one in sixteen) several.

    A row of several is ``context`` long and trains the later positions; its last text is cut.
    """
    boundary = tokenizer.bos_token_id

    def encoded() -> Iterator[list[int]]:
        for text in texts:
            yield tokenizer(text, add_special_tokens=False)["input_ids"]

    stream = encoded()
    for number, ids in enumerate(stream):
        row = [boundary, *ids, boundary]
        while number % 16 == 15 and len(row) < context:
            row += [*next(stream), boundary]
        yield row[:context]


def batches(stream: Iterator[list[int]], tokens: int) -> Iterator[list[list[int]]]:
    """Batches of rows of similar length, at most ``tokens`` with padding, without end.

    Rows are sorted by length within a pool; the pool's batches come in a fixed mixed order.
    """
    rng = random.Random(0)
    while True:
        pool = sorted(islice(stream, 2048), key=len)
        found: list[list[list[int]]] = [[]]
        for row in pool:
            if found[-1] and len(row) * (len(found[-1]) + 1) > tokens:
                found.append([])
            found[-1].append(row)
        rng.shuffle(found)
        yield from found


def tensors(batch: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Input ids padded on the right, and labels with -100 where there is nothing to predict."""
    import torch

    longest = max(len(row) for row in batch)
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in batch])
    labels = torch.tensor([[*row, *[-100] * (longest - len(row))] for row in batch])
    return ids, labels
