"""DISRPT: discourse relations of many corpora, languages and frameworks in one table.

Zeldes et al. 2019 and later. Each relation has its name in the corpus as its sense, and one of the
17 labels that all corpora share since 2025 (:mod:`loaders.senses`). ``meta["dataset"]`` is the
part (``eng.pdtb.tedm``), ``meta["language"]`` its language.

A row of a table (``.rels``) is a relation between two units, in text order. Columns are found by
their names: the document, the tokens of both units (``42-43,52-64``, counted from 1 through the
document), the kind of relation (``explicit``, ...), its name in the corpus, and the unified label,
or, in tables before 2025, again one of its corpus. The direction of a relation is not kept.

A discourse is a whole document of the ``.conllu`` beside the table, with the grammar of its words.
The files have tokens and seldom say where spaces are: the text is made by the rules of the
language. Units are sentences; of a dialogue, turns, whose two speakers alternate.

Headings have lost their line breaks: a sentence begins with its heading. Where an elementary unit
begins and no sign stands before it, a new unit of the document begins there, if it has a capital,
or if what stands before it is a heading by its relation: Chinese has no capitals. Other breaks are
none: a sentence goes on in the next one where that is inside the same elementary unit, or where a
bracket is open.

Source: https://github.com/disrpt/sharedtask2025
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Relation, SourceSpan, Unit
from coherencegym.loaders.formats.conllu import (
    Block,
    Sentence,
    parsed_sentences,
    parsed_words,
    readable_documents,
)
from coherencegym.loaders.formats.lines import (
    LineError,
    RecordError,
    numbered_rows,
    reporting,
    shown,
)
from coherencegym.loaders.formats.relations import span_of, united
from coherencegym.loaders.languages.language import Language
from coherencegym.loaders.languages.registry import SEVERAL, language
from coherencegym.loaders.senses import is_unified, unified_relation
from coherencegym.words import join_texts

#: Parts (first, last) of some tokens of a document, in order.
_Tokens = tuple[tuple[int, int], ...]

_COLUMNS = ("doc", "unit1_toks", "unit2_toks", "rel_type", "orig_label", "label")
_PART = re.compile(r"([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?")
#: The relations of headings to their texts, which follow.
_HEADS = ("preparation", "organization-heading")
#: The comments that begin a turn.
_TURNS = ("newturn_id", "newturn id")
#: The beginning of an elementary unit, in the last column, and what is inside of one.
_BEGINS, _INSIDE = "B-seg", "O"
_MARKS = ("PUNCT", "SYM")
#: A number that may be that of a heading or a step.
_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2})*\.?")
_OPENING, _CLOSING = "（(《", "）)》"
#: Breaks in a bracket at most; one that is still open then was never closed.
_MOST_BREAKS = 4
#: The ends of sentences, and the colon, behind which there is a whole one.
_END = re.compile(r"[.!?…。！？:：][\"'”’»)\]）」』]*$")


@dataclass(frozen=True, slots=True)
class _Row:
    # A relation as its row has it: the tokens of both units, the kind, its name in its corpus.
    line: int
    document: str
    units: tuple[_Tokens, _Tokens]
    kind: str
    original: str
    label: str


def read_disrpt(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a table and the texts beside it: the documents of these, in their order."""
    dataset = file.path.name.rpartition("_")[0] or file.path.stem
    own = language(dataset.partition(".")[0])
    texts = replace(file, path=_texts(file.path))
    if not texts.path.is_file():
        raise CorpusError(f"{file.path}: its text is missing, expected {texts.path}")
    rows: dict[str, list[_Row]] = defaultdict(list)
    for row in _read_rows(file, options):
        rows[row.document].append(row)
    for name, blocks in readable_documents(texts, options):
        if not (filled := [block for block in blocks if block.rows]):
            continue
        with reporting(texts, options):
            document = _Document(texts, filled, own, options, rows[name])
            yield Discourse(
                id=f"{dataset}/{name}",
                corpus=corpus.name,
                units=tuple(document.units),
                relations=tuple(_relations(file, document, rows[name], options)),
                meta={
                    "split": file.split,
                    "dataset": dataset,
                    "language": own.code,
                    "headings": " ".join(map(str, document.numbered)),
                },
            )


def _read_rows(file: CorpusFile, options: ReadOptions) -> Iterator[_Row]:
    for row in numbered_rows(file, _COLUMNS, options):
        fields = row.values
        with reporting(row.place, options):
            if empty := next((name for name in _COLUMNS if not fields[name]), ""):
                raise RecordError(f"{empty} is empty, expected a value", "empty field")
            if "_" in (fields["unit1_toks"], fields["unit2_toks"]):
                options.skipped["relations with a missing unit"] += 1
                continue
            first, second = (_tokens(fields, f"unit{i}_toks", options) for i in (1, 2))
            names = (fields[name] for name in ("rel_type", "orig_label", "label"))
            yield _Row(row.line, fields["doc"], (first, second), *names)


def _tokens(fields: dict[str, str], name: str, options: ReadOptions) -> _Tokens:
    parts: list[tuple[int, int]] = []
    for part in fields[name].split(","):
        match = _PART.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            message = f"{name} is {shown(fields[name])}, expected tokens such as 42-43,52-64"
            raise RecordError(message, "bad tokens")
        parts.append((first, last))
    if any(one[1] >= other[0] for one, other in pairwise(parts)):
        options.put_right("units whose parts overlap or are out of order")
        parts = united(parts)
    return tuple(parts)


def _relations(
    file: CorpusFile, document: _Document, rows: Sequence[_Row], options: ReadOptions
) -> Iterator[Relation]:
    for row in rows:
        if max(last for unit in row.units for _, last in unit) > document.tokens:
            message = f"{file.path}:{row.line}: tokens that {_texts(file.path).name} has not"
            options.bad(f"{message}, expected those of {row.document}", "tokens and text differ")
            continue
        arg1, arg2 = (
            span_of((range(first, last + 1) for first, last in unit), document.places)
            for unit in row.units
        )
        if not arg1 or not arg2:
            options.skipped["relations of a footnote mark"] += 1
            continue
        mapped = unified_relation(row.original) or unified_relation(row.label)
        unified = row.label if is_unified(row.label) else mapped
        kind = row.kind.capitalize()
        yield Relation(kind, None, arg1, arg2, senses=(row.original,), unified=unified)


def _texts(path: Path) -> Path:
    return path.with_suffix(".conllu")


class _Document:
    # Attributes: ``units``, its sentences or turns; ``places`` of its tokens; ``tokens``, how many
    # there are; ``numbered``, the units that begin with the number of a heading.
    def __init__(
        self,
        file: CorpusFile,
        blocks: Sequence[Block],
        language: Language,
        options: ReadOptions,
        rows: Sequence[_Row],
    ) -> None:
        sentences = list(parsed_sentences(blocks, language, options))
        turns = any(key in sentence.comments for sentence in sentences for key in _TURNS)
        units: list[Unit] = []
        places: dict[int, tuple[int, int, int]] = {}
        numbered: list[int] = []
        turn = number = 0
        headings = {
            (row.units[0][0][0], row.units[0][-1][1]) for row in rows if row.original in _HEADS
        }
        pieces = list(_pieces_of(sentences, headings))
        in_brackets = _in_brackets([piece.text for piece in pieces])
        for place, piece in enumerate(pieces):
            begins_turn = any(key in piece.comments for key in _TURNS)
            turn += begins_turn
            if not piece.text:
                number += len(piece.words)
                continue
            source = SourceSpan(file.path.name, piece.line, piece.last_line)
            own = Unit(
                piece.text, str(2 - turn % 2) if turns else None, source, tuple(parsed_words(piece))
            )
            before = units[-1].text if units else ""
            broken = not turns and (place in in_brackets or _continues(before, piece))
            if units and (broken or (turns and not begins_turn)):
                own = _joined(units.pop(), own)
            elif _is_numbered(piece):
                numbered.append(len(units))
            shift = len(own.text) - len(piece.text)
            units.append(own)
            for word in piece.words:
                number += 1
                if not word.empty:
                    places[number] = (len(units) - 1, shift + word.start, shift + word.end)
        if not units:
            problem = "a document without words, expected some"
            raise LineError(sentences[0].line, problem, "document without words")
        self.tokens = sum(len(each.words) for each in sentences)
        self.units, self.places, self.numbered = units, places, numbered


def _in_brackets(texts: Sequence[str]) -> set[int]:
    # Numbers of the texts that begin inside a bracket, which they or the next ones close.
    found: set[int] = set()
    for first in range(len(texts)):
        for last in range(first + 1, min(first + 1 + _MOST_BREAKS, len(texts))):
            if not _is_open("".join(texts[first:last])):
                break
            if not _is_open("".join(texts[first : last + 1])):
                found.update(range(first + 1, last + 1))
    return found


def _is_open(text: str) -> bool:
    opened, closed = (sum(map(text.count, signs)) for signs in (_OPENING, _CLOSING))
    return opened > closed


def _continues(before: str, piece: Sentence) -> bool:
    # Whether a piece is inside the elementary unit of the text before it, which is no sentence.
    return piece.words[0].misc.get("Seg") == _INSIDE and not _END.search(before)


def _is_numbered(piece: Sentence) -> bool:
    # The number of something (``nummod``) is none of a heading.
    first = piece.words[0]
    counts = len(piece.words) == 1 or first.deprel == "nummod"
    return _NUMBER.fullmatch(first.form) is not None and not counts


def _joined(before: Unit, after: Unit) -> Unit:
    text = join_texts([before.text, after.text])
    shift = len(text) - len(after.text)
    # The trees of sentences are not those of turns.
    words = (
        replace(word, start=word.start + shift, end=word.end + shift, head=None)
        for word in after.words
    )
    assert before.source is not None
    assert after.source is not None
    source = replace(before.source, end=after.source.end)
    return replace(before, text=text, source=source, words=(*before.words, *words))


def _pieces_of(
    sentences: Sequence[Sentence], headings: Collection[tuple[int, int]]
) -> Iterator[Sentence]:
    done = 0
    for sentence in sentences:
        own = {last - done for first, last in headings if first == done + 1}
        yield from _pieces(sentence, own)
        done += len(sentence.words)


def _pieces(sentence: Sentence, headings: Collection[int]) -> Iterator[Sentence]:
    # A sentence that begins with a heading is two: before a capital or, in a script without any,
    # behind one of the numbers of words in ``headings``. Heads are counted in each.
    words = sentence.words
    begins = [
        number
        for number in range(1, len(words))
        if words[number].misc.get("Seg") == _BEGINS
        and (
            words[number].form[:1].isupper()
            or (number in headings and not words[number].form[:1].islower())
        )
        and words[number - 1].upos not in _MARKS
        and any(map(str.isalnum, words[number].form))
        and any(map(str.isalnum, words[number - 1].form))
    ]
    for first, last in zip([0, *begins], [*begins, len(words)], strict=True):
        start = words[first].start
        end = words[last].start if last < len(words) else len(sentence.text)
        text = sentence.text[start:end].rstrip()
        own = tuple(
            replace(
                word,
                id=str(word.number - first),
                start=word.start - start,
                end=word.end - start,
                head=word.head - first if word.head and first < word.head <= last else None,
            )
            for word in words[first:last]
        )
        comments = sentence.comments if first == 0 else {}
        yield replace(sentence, text=text, words=own, tokens=own, comments=comments)


CORPUS = Corpus(
    name="disrpt",
    title="DISRPT: discourse relations of many corpora",
    homepage="https://github.com/disrpt/sharedtask2025",
    citation="disrpt-2025",
    licence_name="each corpus has its own licence, named in its folder",
    text_licence_name="each corpus has its own licence; some corpora have none",
    obtain=(
        "get https://github.com/disrpt/sharedtask2025 and take its folder data, or the folders of "
        "some of its corpora"
    ),
    patterns=tuple(
        FilePattern(f"{folder}*_{part}.rels", split, f"eng.pdtb.tedm/eng.pdtb.tedm_{part}.rels")
        for part, split in (("train", "train"), ("dev", "validation"), ("test", "test"))
        for folder in ("", "*/", "data/*/")
    ),
    reader=read_disrpt,
    language=SEVERAL,
    parts=lambda path: tuple(filter(Path.is_file, (path, _texts(path)))),
    proven=(
        "2026-11-29: 7 tables of 5 of its corpora, at commit 4b108292bfda; 137 documents, "
        "2,919 units, 3,891 annotations, 37 left out"
    ),
    public_since=1989,
    public_source="the Wall Street Journal of 1989; each corpus has its own year",
    producers="The producers of the corpora that DISRPT combines, in many languages.",
    source_datasets=("extended|other-disrpt",),
)
