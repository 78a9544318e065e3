"""The documents of DISRPT: the whole texts, from the ``.conllu`` beside a table of relations.

The files have tokens and seldom say where spaces are: the text is made by the rules of the
language. Units are sentences; of a dialogue, turns, whose two speakers alternate. Tokens are
counted through the document, as the table counts them.

Headings have lost their line breaks: a sentence begins with its heading. Where an elementary unit
begins with a capital and no sign stands before it, a new unit of the document begins there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Mention, SourceSpan, Span, Unit
from coherencegym.loaders.formats.conllu import (
    Block,
    Sentence,
    conllu_documents,
    document_name,
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
#: The beginning of an elementary unit, in the last column.
_BEGINS = "B-seg"


@dataclass(frozen=True)
class TokenisedDocument:
    """A document, and where its tokens stand.

    Attributes:
        units: its sentences, or its turns.
        places: token, counted from 1 -> unit, first character, one after the last; none of a token
            that has no place, as the mark of a footnote.
        words: the tokens in their order.
        mentions: the mentions of entities, if they were asked for; one in two units is left out.
    """

    units: tuple[Unit, ...]
    places: Mapping[int, tuple[int, int, int]]
    words: tuple[str, ...]
    mentions: tuple[Mention, ...] = ()


def read_documents(
    file: CorpusFile, language: Language, options: ReadOptions, entities: bool
) -> Iterator[tuple[str, TokenisedDocument]]:
    """The documents of a file by name; one of withheld text, or with a bad line, is left out.

    ``entities``: with the mentions of entities.

    Raises:
        CorpusError: there is none, or a bad line.
    """
    found = False
    for blocks in conllu_documents(file):
        found = True
        filled = [block for block in blocks if block.rows]
        if not filled:
            continue
        if all(line.split("\t")[1:2] == ["_"] for block in filled for _, line in block.rows):
            options.skipped["withheld text"] += 1
            continue
        try:
            yield _document(file, filled, language, entities)
        except LineError as error:
            error.report(file, options)
    if not found:
        raise CorpusError(f"{file.path}:1: no sentence, expected CoNLL-U")


def _document(
    file: CorpusFile, blocks: Sequence[Block], language: Language, entities: bool
) -> tuple[str, TokenisedDocument]:
    lay_out = None if tells_spaces(blocks) else language.lay_out
    sentences = []
    for block in blocks:
        sentence = parse(block, lay_out)
        sentences.append(without_notes(sentence, {word.deprel for word in sentence.words}))
    name = document_name(sentences[0]) or file.path.stem
    turns = any(key in sentence.comments for sentence in sentences for key in _TURNS)
    units: list[Unit] = []
    places: dict[int, tuple[int, int, int]] = {}
    mentions: list[Mention] = []
    names = _entity_fields(blocks) if entities else ()
    turn = number = 0
    for sentence in sentences:
        annotated = corefud_mentions(sentence, 0, names, language) if names else []
        for first, piece in _pieces(sentence):
            begins_turn = any(key in piece.comments for key in _TURNS)
            turn += begins_turn
            source = SourceSpan(file.path.name, piece.line, piece.last_line)
            own = Unit(
                piece.text, str(2 - turn % 2) if turns else None, source, tuple(parsed_words(piece))
            )
            if turns and not begins_turn and units:
                own = _joined(units.pop(), own)
            shift = len(own.text) - len(piece.text)
            units.append(own)
            for word in piece.words:
                number += 1
                if not word.empty:
                    places[number] = (len(units) - 1, shift + word.start, shift + word.end)
            mentions += (
                _moved_mention(mention, len(units) - 1, shift - first)
                for mention in annotated
                if first <= mention.span[0][1] and mention.span[-1][2] <= first + len(piece.text)
            )
    words = tuple(word.form for sentence in sentences for word in sentence.words)
    return name, TokenisedDocument(tuple(units), places, words, tuple(mentions))


def _entity_fields(blocks: Sequence[Block]) -> tuple[str, ...]:
    comments = (block.comments.get("global.Entity") for block in blocks)
    return next((field_names(comment) for comment in comments if comment), ())


def _moved_mention(mention: Mention, unit: int, by: int) -> Mention:
    def moved(span: Span) -> Span:
        return tuple((unit, start + by, end + by) for _, start, end in span)

    return replace(mention, span=moved(mention.span), head=mention.head and moved(mention.head))


def _joined(before: Unit, after: Unit) -> Unit:
    text = join_texts([before.text, after.text])
    shift = len(text) - len(after.text)
    # The trees of dialogues are not those of turns.
    words = (
        replace(word, start=word.start + shift, end=word.end + shift, head=None)
        for word in after.words
    )
    assert before.source is not None
    assert after.source is not None
    source = replace(before.source, end=after.source.end)
    return replace(before, text=text, source=source, words=(*before.words, *words))


def _pieces(sentence: Sentence) -> Iterator[tuple[int, Sentence]]:
    # A sentence that begins with a heading is two, each after its place in the one. Heads are
    # counted in each.
    words = sentence.words
    begins = [
        number
        for number in range(1, len(words))
        if words[number].misc.get("Seg") == _BEGINS
        and words[number].form[:1].isupper()
        and words[number - 1].upos not in ("PUNCT", "SYM")
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
        yield start, replace(sentence, text=text, words=own, tokens=own, comments=comments)


def _moved(head: int | None, first: int, last: int) -> int | None:
    return head - first if head is not None and first < head <= last else None
