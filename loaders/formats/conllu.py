"""CoNLL-U: sentences of words with their grammar, and where each word stands in the natural text.

The reader is strict: ten columns, ids that count up, text that agrees with ``# text``. It knows
nothing of any corpus: comments and the MISC column are handed on as they are. What is wrong with a
line is a :class:`LineError`, so that a loader can say which document it spoils and go on with the
next one.

Source: https://universaldependencies.org/format.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coherencegym.loaders.formats.conllu_blocks import Block, blocks, documents
from coherencegym.loaders.formats.conllu_rows import Row, check_ids, lay_out_rows, read_row
from coherencegym.loaders.formats.lines import LineError, shown, text_problem, tidy

__all__ = ["Block", "LineError", "Sentence", "Token", "blocks", "documents", "pairs", "parse"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a multiword token or an empty node.

    Attributes:
        id: the id in the file: ``3``, ``3-4`` or ``3.1``.
        form, lemma, upos, xpos, deprel: the columns of the file; ``_`` where it says nothing.
        feats: morphological features.
        head: id of the word that it depends on, 0 for the root; none where the file has ``_``.
        misc: the last column; a part without ``=`` has an empty value.
        start, end: characters in the sentence's text; equal for an empty node.
        line: number of the line.
    """

    id: str
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: Mapping[str, str]
    head: int | None
    deprel: str
    misc: Mapping[str, str]
    start: int
    end: int
    line: int

    @property
    def empty(self) -> bool:
        """True where it is an empty node, which has no place in the text."""
        return "." in self.id


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence.

    Attributes:
        text: its text, as ``# text`` has it: one line, single spaces.
        words: the words; ``words[i]`` has the id ``i + 1``.
        multiwords: the tokens that stand for several words (``don't`` for ``do`` and ``n't``).
        tokens: words and empty nodes in the order of the file.
        comments: ``key = value`` as key and value; a comment without ``=`` has an empty value.
        line: number of its first line, comments included.
        last_line: number of its last line.
    """

    text: str
    words: tuple[Token, ...]
    multiwords: tuple[Token, ...]
    tokens: tuple[Token, ...]
    comments: Mapping[str, str]
    line: int
    last_line: int


def parse(block: Block) -> Sentence:
    """Read the lines of a sentence.

    Raises:
        LineError: a line is not as the format wants it, or the words do not give ``# text``.
    """
    for number, line in block.lines:
        if (unusable := text_problem(line)) is not None:
            raise LineError(number, *unusable)
    rows = [read_row(number, line) for number, line in block.rows]
    first, last = block.lines[0][0], block.lines[-1][0]
    check_ids(rows, last)
    comments = block.comments
    text, places = lay_out_rows(rows)
    if not text:
        raise LineError(first, "a sentence without words, expected some", "sentence without words")
    natural = comments.get("text")
    if natural is not None and tidy(natural) != text:
        raise LineError(first, _difference(text, tidy(natural)), "words do not give # text")
    tokens = [_token(row, place) for row, place in zip(rows, places, strict=True)]
    words = tuple(token for token in tokens if token.id.isdigit())
    for token in tokens:
        if token.head is not None and token.head > len(words):
            problem = f"head {token.head} of {shown(token.form)}, expected at most {len(words)}"
            raise LineError(token.line, problem, "head outside the sentence")
    return Sentence(
        text=text,
        words=words,
        multiwords=tuple(token for token in tokens if "-" in token.id),
        tokens=tuple(token for token in tokens if "-" not in token.id),
        comments=comments,
        line=first,
        last_line=last,
    )


def _difference(text: str, natural: str) -> str:
    """Say where the text that the words make up departs from ``# text``, as a problem."""
    both = enumerate(zip(text, natural, strict=False))
    at = next((i for i, (a, b) in both if a != b), min(len(text), len(natural)))
    return (
        f"the words give {shown(text[max(0, at - 10) :])} where # text "
        f"has {shown(natural[max(0, at - 10) :])}, expected the same"
    )


def _token(row: Row, place: tuple[int, int]) -> Token:
    identifier, _, lemma, upos, xpos, feats, head, deprel, _, misc = row.columns
    if head != "_" and not (head.isascii() and head.isdigit() and len(head) < 7):
        problem = f"head {shown(head)}, expected the id of a word, 0 or _"
        raise LineError(row.line, problem, "bad head")
    return Token(
        id=identifier,
        form=row.form,
        lemma=lemma,
        upos=upos,
        xpos=xpos,
        feats=pairs(feats),
        head=None if head == "_" else int(head),
        deprel=deprel,
        misc=pairs(misc),
        start=place[0],
        end=place[1],
        line=row.line,
    )


def pairs(column: str) -> dict[str, str]:
    """The parts of a FEATS or MISC column: ``Number=Sing|Person=3``; ``_`` is none."""
    if column == "_":
        return {}
    return {key: value for key, _, value in (part.partition("=") for part in column.split("|"))}
