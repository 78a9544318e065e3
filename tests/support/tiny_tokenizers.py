"""Tiny tokenizers of every kind that a model may come with, trained on a few sentences."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import processors as processing
from transformers import PreTrainedTokenizerFast

TEXT = [
    "Lily had a red ball. She threw the ball to Tim. Tim ran to the park with the ball.",
    "The dog was sad. It was raining all day, and the dog could not go out to play.",
    "Hello, how are you? I am fine, thank you! Le café était naïf. 今天天气很好。你好，世界。",
]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SPECIAL = ["<unk>", "<s>", "</s>"]
ALPHABET = "".join(map(chr, range(0x21, 0x7F)))


def byte_level(normalizer: Any = None, *, prefix: bool = False, trim: bool = False) -> Tokenizer:
    """BPE over bytes: GPT-2's, or RoBERTa's, whose offsets leave spaces out."""
    tokenizer = Tokenizer(models.BPE())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    if trim:
        tokenizer.post_processor = processing.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=350,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=SPECIAL,
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def bpe(
    normalizer: Any = None,
    pre_tokenizer: Any = None,
    *,
    fallback: bool = True,
    unknown: bool = True,
) -> Tokenizer:
    """BPE over characters; with byte fallback, as Llama's."""
    tokenizer = Tokenizer(
        models.BPE(unk_token="<unk>" if unknown else None, byte_fallback=fallback, fuse_unk=True)
    )
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=420 if fallback else 150,
        limit_alphabet=40,
        special_tokens=SPECIAL + (BYTES if fallback else []),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    made = json.loads(tokenizer.to_str())
    # Byte tokens are in the vocabulary, but no added tokens: their names are no text.
    made["added_tokens"] = [t for t in made["added_tokens"] if t["content"] in SPECIAL]
    return Tokenizer.from_str(json.dumps(made))


def several_words(texts: list[str], size: int = 140) -> Any:
    """A tokenizer of transformers whose tokens may hold several words of often repeated texts."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Replace("▁", " ")
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=SPECIAL, show_progress=False, initial_alphabet=[*ALPHABET]
    )
    tokenizer.train_from_iterator(texts * 50, trainer)
    return wrap(tokenizer)


def unigram(normalizer: Any = None, *, special: bool = False) -> Tokenizer:
    """SentencePiece's Unigram with byte fallback; ``special``: its vocabulary has ``<s>``."""
    tokenizer = Tokenizer(models.Unigram())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=120,
        special_tokens=SPECIAL if special else SPECIAL[:1],
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    made = json.loads(tokenizer.to_str())
    made["model"]["byte_fallback"] = True
    made["model"]["vocab"] += [[name, -20.0] for name in BYTES]
    return Tokenizer.from_str(json.dumps(made))


def word_piece() -> Tokenizer:
    """BERT's: lower case, no accents, no control characters."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=150, special_tokens=["[UNK]", "[SEP]"], show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def word_level(unknown: str | None = "<unk>") -> Tokenizer:
    """Whole words."""
    tokenizer = Tokenizer(models.WordLevel(unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=80, special_tokens=SPECIAL if unknown else [], show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def characters() -> Tokenizer:
    """One token a character; a line break is the end of a text."""
    alphabet = sorted({character for text in TEXT for character in text} | {"\n"})
    names = ["<unk>", *alphabet]
    model = models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.add_special_tokens(["\n"])
    return tokenizer


def charsmap(*deleted: int) -> bytes:
    """A precompiled table of SentencePiece's that deletes some characters below U+0080.

    A double array: the root's child for byte b is unit 512 + b, whose leaf is unit 1024 + b.
    """
    units = [0] * 2048
    units[0] = 512 << 10
    for code in deleted:
        # Bit 8: a leaf below; the offset is exclusive-or of the unit's number and the leaf's.
        units[512 ^ code] = ((512 ^ code ^ 1024 ^ code) << 10) | 1 << 8 | code
        units[1024 ^ code] = 1 << 31
    table = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(table)) + table + b"\0"


def llama() -> Tokenizer:
    """Llama's: marks for spaces are written by the normalizer."""
    return bpe(normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]))


def nmt_nfkc() -> Any:
    """SentencePiece's default rules, as far as the library has them without a table."""
    return normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )


def deleting() -> Any:
    """A precompiled table, with what comes around it in real tokenizers."""
    return normalizers.Sequence(
        [normalizers.Precompiled(charsmap(1, 2)), normalizers.Replace(Regex(" {2,}"), "▁")]
    )


def stripping() -> Any:
    """ALBERT's rules."""
    steps = [
        normalizers.Strip(),
        normalizers.Replace("``", '"'),
        normalizers.NFKD(),
        normalizers.StripAccents(),
        normalizers.Lowercase(),
    ]
    return normalizers.Sequence(steps)


KINDS: dict[str, Callable[[], Tokenizer]] = {
    "gpt2": byte_level,
    "roberta": lambda: byte_level(prefix=True, trim=True),
    "roberta_without_prefix": lambda: byte_level(trim=True),
    "neox": lambda: byte_level(normalizers.NFC()),
    "nfd": lambda: byte_level(normalizers.NFD()),
    "nfkc": lambda: byte_level(normalizers.NFKC()),
    "lower": lambda: byte_level(normalizers.Lowercase()),
    "stripping": lambda: byte_level(stripping()),
    "llama": llama,
    "metaspace": lambda: bpe(pre_tokenizer=pre_tokenizers.Metaspace()),
    "metaspace_unknown": lambda: bpe(pre_tokenizer=pre_tokenizers.Metaspace(), fallback=False),
    "unigram": unigram,
    "unigram_special": lambda: unigram(special=True),
    "nmt_nfkc": lambda: unigram(nmt_nfkc()),
    "deleting": lambda: unigram(deleting()),
    "deleting_bpe": lambda: bpe(deleting()),
    "word_piece": word_piece,
    "word_level": word_level,
    "characters": characters,
}

#: Those whose tokens together say all of what the tokenizer cuts.
COMPLETE = tuple(
    kind
    for kind in KINDS
    if not kind.startswith("word_") and kind not in ("metaspace_unknown", "characters")
)


@cache
def make(kind: str) -> Any:
    """A tokenizer of transformers; not to be changed, use :func:`wrap` for that."""
    return wrap(KINDS[kind]())


def wrap(tokenizer: Tokenizer, **names: Any) -> Any:
    """A tokenizer of transformers, with the special tokens that its vocabulary has."""
    known = {
        name: token
        for name, token in (
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("sep_token", "[SEP]"),
            ("unk_token", "<unk>"),
            ("unk_token", "[UNK]"),
        )
        if tokenizer.token_to_id(token) is not None
    }
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **{**known, **names})
