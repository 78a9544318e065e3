"""What is scored: rows of real corpora, and as many generated items as are asked for.

Tools that take text get, for each condition, what stands before the region that is read, and that
region with the white space before it.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import coherencegym
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Prediction, Region
from coherencegym.eval.kinds.table_kind import to_row

#: Conditions of an item of shuffles or generated: the original and six replacements.
CONDITIONS = 7
#: How many sentences stand before the connective's own sentence in generated items. Four of them
#: make about three quarters of all tokens context that the seven conditions share.
_CONTEXT_SENTENCES = (3, 4, 4, 5)
#: Words of a document, and its shuffles.
_WORDS, _SHUFFLES = 900, 3

#: Rows of corpora, and how many of them.
DATASETS = {
    "connectives": ("built connectives, gum: what follows the connective is read", 20),
    "stories": ("built story_cloze, sample: the ending is read", 40),
    "pairs": ("BLiMP's passive_1: a sentence is read", 150),
    "dialogues": ("built sentence_order, personachat: a dialogue and six shuffles; all is read", 8),
    "documents": ("GUM's first documents, 900 words of each, and three shuffles; all is read", 2),
}
#: What is made from the samples, in any number.
GENERATED = {
    "shuffle": "built sentence_order, sample_narration_all: a story and six shuffles; all is read",
    "connective_long": "built connectives, sample, behind three to five sentences of stories: what "
    "follows the connective is read",
}


@dataclass(frozen=True)
class Text:
    """A condition as other tools take it; ``read`` is what is scored, after ``before``."""

    before: str
    read: str

    @property
    def whole(self) -> str:
        """The condition's text."""
        return self.before + self.read


def texts(item: Item) -> Iterator[Text]:
    """The conditions of an item, cut where its last region, the one that is read, begins."""
    for condition in item.conditions:
        start, _ = condition.region_offsets[-1]
        before = condition.content[:start]
        space = len(before) - len(before.rstrip())
        cut = start - space
        yield Text(condition.content[:cut], condition.content[cut:])


def make_dataset(name: str, items: int | None, folder: Path, corpora: Path) -> list[Item]:
    """The items of a dataset.

    Args:
        name: one of :data:`DATASETS` or :data:`GENERATED`.
        items: at most so many; none: as many as are usual.
        folder: where suites are built.
        corpora: the folder with the files of corpora.
    """
    count = items or DATASETS.get(name, ("", 40))[1]
    if name == "connective_long":
        return long_connectives(folder, count)
    if name == "shuffle":
        return shuffles(folder / "stories", "sample", "sample_narration_all", corpora)[:count]
    if name == "dialogues":
        found = shuffles(folder / name, "personachat", "personachat_dialogue_all", corpora)
    elif name == "pairs":
        found = list(coherencegym.load_pairs(corpora / "blimp/passive_1.jsonl", limit=count))
    elif name == "documents":
        found = documents(corpora, count)
    else:
        suite, corpus = {"connectives": ("connectives", "gum")}.get(name, ("story_cloze", "sample"))
        found = list(_items(_build(suite, corpus, folder / name, corpora), corpus))
    return found[:count]


def shuffles(folder: Path, corpus: str, config: str, corpora: Path) -> list[Item]:
    """Texts with six shuffles each: the suite's pairs of a text, put together."""
    built = _build("sentence_order", corpus, folder, corpora, "--permutations", str(CONDITIONS - 1))
    texts: dict[str, list[Item]] = {}
    for item in _items(built, config):
        texts.setdefault(item.discourse_id, []).append(item)
    return [_together(pairs) for pairs in texts.values() if len(pairs) == CONDITIONS - 1]


def documents(corpora: Path, count: int) -> list[Item]:
    """Whole documents of GUM and shuffles of their sentences."""
    from coherencegym.loaders.read import read
    from coherencegym.loaders.registry import corpus

    made: list[Item] = []
    for discourse in read(corpus("gum"), data_dir=corpora):
        ends = list(accumulate(len(text.split()) for text in discourse.texts))
        if ends[-1] < _WORDS:
            continue
        texts = list(discourse.texts[: bisect(ends, _WORDS)])
        drawn = random.Random(discourse.id)
        names = ("original", *(f"shuffled_{number + 1}" for number in range(_SHUFFLES)))
        orders = [texts, *(drawn.sample(texts, len(texts)) for _ in range(_SHUFFLES))]
        conditions = tuple(
            Condition(name, " ".join(order), (Region(1, " ".join(order)),))
            for name, order in zip(names, orders, strict=True)
        )
        predictions = tuple(Prediction(f"(1;%{n}%) > (1;%original%)", "mean") for n in names[1:])
        number, name = len(made) + 1, discourse.id
        made.append(Item(name, number, conditions, predictions, name, "gum"))
        if len(made) == count:
            break
    return made


def long_connectives(folder: Path, items: int) -> list[Item]:
    """Items of the suite behind sentences of sample stories, as many as are asked for."""
    drawn = random.Random("connective_long 0")
    built = _items(_build("connectives", "sample", folder / "connectives-sample"), "sample")
    short = [item for item in built if len(item.conditions) == CONDITIONS]
    sentences = sample_sentences()
    made = []
    for number in range(items):
        item = short[number % len(short)]
        count = drawn.choice(_CONTEXT_SENTENCES)
        context = " ".join(drawn.sample(sentences, count)) + " "
        made.append(_behind(item, context, number + 1))
    return made


def sample_sentences() -> list[str]:
    """The sentences of the sample stories, each once."""
    from coherencegym.loaders.read import read
    from coherencegym.loaders.registry import corpus, sample_of

    sample = sample_of(corpus("storycloze"))
    assert sample is not None
    stories = read(sample)
    return list(dict.fromkeys(text for story in stories for text in story.texts))


def _together(pairs: Sequence[Item]) -> Item:
    original = pairs[0].conditions[0]
    conditions = [original]
    predictions = []
    for number, pair in enumerate(pairs, start=1):
        name = f"shuffled_{number}"
        conditions.append(replace(pair.conditions[1], condition_name=name))
        predictions.append(Prediction(f"(1;%{name}%) > (1;%original%)", "mean"))
    return replace(
        pairs[0],
        conditions=tuple(conditions),
        predictions=tuple(predictions),
        edits=(),
    )


def _behind(item: Item, context: str, number: int) -> Item:
    def condition(old: Condition) -> Condition:
        first, *rest = old.regions
        return Condition(
            old.condition_name,
            context + old.content,
            (Region(first.region_number, context + first.content), *rest),
        )

    return replace(
        item,
        item_id=f"{item.item_id}/{number}",
        item_number=number,
        conditions=tuple(map(condition, item.conditions)),
        edits=(),
    )


def _build(
    suite: str, corpus: str, folder: Path, corpora: Path | None = None, *options: str
) -> Path:
    if not (folder / "manifest.json").exists():
        command = [sys.executable, "-m", f"coherencegym.builders.{suite}", "--corpus", corpus]
        command += ["--output", str(folder), *options]
        command += ["--data-dir", str(corpora)] if corpora and corpus != "sample" else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


def _items(folder: Path, config: str) -> tuple[Item, ...]:
    (table,) = tables(find_dataset(str(folder)), [config])
    return tuple(table.items)


def write_items(items: Sequence[Item], path: Path) -> None:
    """Items as JSON lines, for another process."""
    with path.open("w", encoding="utf-8") as file:
        for item in items:
            file.write(json.dumps(to_row(item)) + "\n")


def read_items(path: Path) -> list[Item]:
    """What :func:`write_items` wrote."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [ITEMS.from_row(json.loads(line)) for line in lines]


def train_tokenizer(folder: Path, vocabulary: int = 30000) -> None:
    """A byte-level BPE tokenizer of the sample stories: about as many tokens a word as GPT-2's.

    Writes it to ``folder`` as ``transformers`` reads it, with GPT-2's one special token.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = "<|endoftext|>"
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        special_tokens=[special],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sample_sentences(), trainer)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=special, eos_token=special, pad_token=special
    ).save_pretrained(folder)


def train_word_pieces(folder: Path, vocabulary: int = 1500) -> None:
    """A tokenizer of BERT's kind of the sample stories: words, and pieces of the rarer ones.

    So few entries that words have several pieces about as often as those of other texts in BERT's.
    Writes it to ``folder`` as ``transformers`` reads it.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    tokenizer = Tokenizer(models.WordPiece(unk_token=names["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=list(names.values()), show_progress=False
    )
    tokenizer.train_from_iterator(sample_sentences(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
