"""The ladder's texts: passages that share no thirteen words in a row with a text of a suite.

What a suite asks about must be new to the models, and a story that stands in two collections must
not count twice. One rule does both: a paragraph that shares thirteen words in a row with a text of
a suite, or with a work read before, is left out, and the work is cut there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from coherencegym.battery import BATTERY
from coherencegym.loaders import read, registry
from coherencegym.loaders.corpus import CorpusNotFoundError

#: From the simplest on. The folder's classics are left out: their sentences are long.
COLLECTIONS = ("african_storybook", "fairytaleqa", "pratham", "fairy_tales", "children")

#: So many words in a row make an overlap.
WORDS_IN_A_ROW = 13

#: The separator token: a change of speaker.
SEPARATOR = "[SEP]"

_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "_": None})
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z\"'])|(?<=[.!?][\"']) (?=[A-Z\"'])")
_ENDS_A_SENTENCE = re.compile(r"[.!?:;,-]['\")]*$")


def rows_of_words(words: Sequence[str]) -> Iterator[int]:
    """A number for each row of thirteen words, in order; equal rows have equal numbers."""
    for start in range(len(words) - WORDS_IN_A_ROW + 1):
        yield hash(tuple(words[start : start + WORDS_IN_A_ROW]))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without marks."""
    return re.findall(r"\w+", text.lower().translate(_PLAIN))


def texts_of_suites(data_dir: Path) -> Iterator[str]:
    """Texts and alternative sentences of the samples, of each corpus at hand, and of ``check``."""
    for name in registry.CORPORA:
        try:
            for discourse in read.read(registry.corpus(name), data_dir=data_dir):
                yield " ".join(discourse.texts)
                for alternative in discourse.alternatives:
                    yield from alternative.options
        except CorpusNotFoundError:
            print(f"{name}: not at hand, its texts are not compared")
    for path in sorted(BATTERY.glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            yield from (condition["content"] for condition in row["conditions"])


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a work on one line each; titles, which end without a mark, are left out."""
    lines = (" ".join(part.translate(_PLAIN).split()) for part in text.split("\n\n"))
    return [line for line in lines if _ENDS_A_SENTENCE.search(line)]


def apart(work: Sequence[str], known: set[int]) -> Iterator[list[str]]:
    """The runs of paragraphs of a work in which nothing known is said."""
    words = [words_of(paragraph) for paragraph in work]
    owner = [number for number, own in enumerate(words) for _ in own]
    left_out = set()
    for start, row in enumerate(rows_of_words([word for own in words for word in own])):
        if row in known:
            left_out.update(owner[start : start + WORDS_IN_A_ROW])
    for is_left_out, run in groupby(enumerate(work), lambda pair: pair[0] in left_out):
        if not is_left_out:
            yield [paragraph for _, paragraph in run]


def passages(folder: Path, suites: Iterable[str]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """The passages to train on, sentence by sentence, each with what became of its work.

    Where one quotation follows another the speaker changes: every second passage says so by
    ``[SEP]``, so that the token has a meaning.
    """
    asked = {row for text in suites for row in rows_of_words(words_of(text))}
    earlier: set[int] = set()
    count = 0
    for collection in COLLECTIONS:
        for line in (folder / f"{collection}.jsonl").read_text(encoding="utf-8").splitlines():
            work = json.loads(line)
            every = paragraphs(work["text"])
            unasked = list(apart(every, asked))
            runs = [run for part in unasked for run in apart(part, earlier)]
            rows = {row for run in runs for row in rows_of_words(words_of(" ".join(run)))}
            if rows & asked:
                raise ValueError(f"{work['work']}: shares {len(rows & asked)} rows with a suite")
            earlier |= rows
            kept, new = sum(map(len, runs)), sum(map(len, unasked))
            came = {"paragraphs": kept, "of_a_suite": len(every) - new, "of_a_work": new - kept}
            for run in runs:
                count += 1
                said = {"collection": collection, "work": work["work"], **came}
                yield said, _sentences(run, separated=count % 2 == 0)


def _sentences(run: Sequence[str], *, separated: bool) -> list[str]:
    """The sentences of paragraphs, each with what stands before it: a space, or ``[SEP]`` too."""
    found: list[str] = []
    before = ""
    for paragraph in run:
        first, *rest = _BETWEEN_SENTENCES.split(paragraph)
        speaks = separated and before.startswith('"') and first.startswith('"')
        found += [f"{SEPARATOR} {first}" if speaks else f" {first}", *(f" {each}" for each in rest)]
        before = first
    return found
