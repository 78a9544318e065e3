"""The documents of DISRPT: the whole texts, from the ``.conllu`` beside a table of relations.

The files have tokens and seldom say where spaces are: the text is made by the rules of the
language. Units are sentences; of a dialogue, turns, whose two speakers alternate. Tokens are
counted through the document, as the table counts them.

Headings have lost their line breaks: a sentence begins with its heading. Where an elementary unit
begins and no sign stands before it, a new unit of the document begins there, if it has a capital,
or if what stands before it is a heading by its relation: Chinese has no capitals. Other breaks are
none: a sentence goes on in the next one where that is inside the same elementary unit, or where a
bracket is open.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Mention, SourceSpan, Span, Unit
from coherencegym.loaders.formats.conllu import (
    Block,
    Sentence,
    conllu_documents,
    parse,
    parsed_words,
    tells_spaces,
    without_notes,
)
from coherencegym.loaders.formats.corefud import corefud_mentions, field_names
from coherencegym.loaders.formats.lines import LineError
from coherencegym.loaders.languages.language import Language
from coherencegym.words.scripts import join_texts

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


@dataclass(frozen=True)
class TokenisedDocument:
    """A document, and where its tokens stand.

    Attributes:
        units: its sentences, or its turns.
        places: token, counted from 1 -> unit, first character, one after the last; none of a token
            that has no place, as the mark of a footnote.
        words: the tokens in their order.
        headings: the numbers, from 0, of the units that begin with the number of a heading.
        mentions: the mentions of entities, if they were asked for; one in two units is left out.
    """

    units: tuple[Unit, ...]
    places: Mapping[int, tuple[int, int, int]]
    words: tuple[str, ...]
    headings: tuple[int, ...]
    mentions: tuple[Mention, ...]


def read_documents(
    file: CorpusFile,
    language: Language,
    options: ReadOptions,
    headings: Mapping[str, Collection[tuple[int, int]]],
    entities: bool,
) -> Iterator[tuple[str, TokenisedDocument]]:
    """The documents of a file by name; one of withheld text, or with a bad line, is left out.

    Args:
        file, language, options: the file, its language, and what becomes of its bad lines.
        headings: document -> the first and the last token (from 1) of each of its headings.
        entities: read the mentions of entities.

    Raises:
        CorpusError: there is none, or a bad line.
    """
    found = False
    for name, blocks in conllu_documents(file, options):
        found = True
        filled = [block for block in blocks if block.rows]
        if not filled:
            continue
        if any(block.is_withheld for block in filled):
            options.skipped["withheld text"] += 1
            continue
        try:
            yield name, _document(file, filled, language, options, headings.get(name, ()), entities)
        except LineError as error:
            error.report(file, options)
    if not found:
        raise CorpusError(f"{file.path}:1: no sentence, expected CoNLL-U")


def _document(
    file: CorpusFile,
    blocks: Sequence[Block],
    language: Language,
    options: ReadOptions,
    headings: Collection[tuple[int, int]],
    entities: bool,
) -> TokenisedDocument:
    lay_out = None if tells_spaces(blocks) else language.lay_out
    sentences = []
    for block in blocks:
        sentence = parse(block, lay_out, options)
        sentences.append(without_notes(sentence, {word.deprel for word in sentence.words}))
    turns = any(key in sentence.comments for sentence in sentences for key in _TURNS)
    units: list[Unit] = []
    places: dict[int, tuple[int, int, int]] = {}
    numbered: list[int] = []
    turn = number = 0
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
    words = tuple(word.form for sentence in sentences for word in sentence.words)
    names = _entity_fields(blocks) if entities else ()
    mentions = tuple(_mentions(sentences, places, names, language)) if names else ()
    return TokenisedDocument(tuple(units), places, words, tuple(numbered), mentions)


def _entity_fields(blocks: Sequence[Block]) -> tuple[str, ...]:
    comments = (block.comments.get("global.Entity") for block in blocks)
    return next((field_names(comment) for comment in comments if comment), ())


def _mentions(
    sentences: Sequence[Sentence],
    places: Mapping[int, tuple[int, int, int]],
    names: Sequence[str],
    language: Language,
) -> Iterator[Mention]:
    done = 0
    for sentence in sentences:
        known = [word for word in enumerate(sentence.words, done + 1) if word[0] in places]
        first = {word.start: places[number] for number, word in known}
        last = {word.end: places[number] for number, word in known}
        for mention in corefud_mentions(sentence, 0, names, language):
            ends = {side for _, start, end in mention.span for side in (first[start], last[end])}
            if len({unit for unit, _, _ in ends}) == 1:
                head = mention.head and _placed(mention.head, first, last)
                yield replace(mention, span=_placed(mention.span, first, last), head=head)
        done += len(sentence.words)


def _placed(
    span: Span,
    first: Mapping[int, tuple[int, int, int]],
    last: Mapping[int, tuple[int, int, int]],
) -> Span:
    return tuple((first[start][0], first[start][1], last[end][2]) for _, start, end in span)


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
                head=_moved(word.head, first, last),
            )
            for word in words[first:last]
        )
        comments = sentence.comments if first == 0 else {}
        yield replace(sentence, text=text, words=own, tokens=own, comments=comments)


def _moved(head: int | None, first: int, last: int) -> int | None:
    return head - first if head is not None and first < head <= last else None
