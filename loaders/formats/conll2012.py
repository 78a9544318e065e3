"""CoNLL-2012: the parts of a file, their sentences, and the mentions in the last column.

Heads are guessed by part of speech, for there is no tree of words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coherencegym.loaders.corpus import CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Features, Mention
from coherencegym.loaders.formats.lines import CONTROL, Line, LineError, numbered_lines, shown
from coherencegym.loaders.languages.language import Language

#: Columns of a line at least: ten, any number of predicates' arguments, coreference.
_FEWEST = 12
_BEGIN = re.compile(r"#begin document \((?P<name>[^()\s]+)\);(?: part (?P<part>\d{1,6}))?\s*")
END = "#end document"

_BRACKET = re.compile(r"(?P<opens>\()?(?P<entity>\d{1,9})(?P<closes>\))?")
_PRONOUNS = ("PRP", "PRP$", "WP", "WP$")
#: Tags that end the head of a noun phrase, in front of what follows it.
_AFTER_HEAD = ("IN", "WDT", "WP", "WP$", "WRB", ",", ":", "-LRB-", "VBN", "VBG", "TO")
_NUMBERS = dict.fromkeys(("NNS", "NNPS"), "plural") | dict.fromkeys(("NN", "NNP"), "singular")
#: Beginning of a tag -> the Universal Dependencies tag, for the words that matter.
_PARTS_OF_SPEECH = {"NNP": "PROPN", "NN": "NOUN", "VB": "VERB", "DT": "DET"}


@dataclass(frozen=True, slots=True)
class Word:
    """A line of a sentence."""

    line: int
    form: str
    tag: str
    speaker: str
    coreference: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """The annotation that the words of a mention show.

    Attributes:
        kind: that of the mention: ``pronoun``, ``nominal`` or ``proper``.
        head: the number, from 0, of its head among the words.
        features: those of the mention.
    """

    kind: str
    head: int
    features: Features


#: Annotates the words of a mention of an entity, in a language.
Annotate = Callable[[Sequence[Word], str, Language], Phrase]


@dataclass(frozen=True, slots=True)
class Part:
    """The lines between a beginning and an end."""

    name: str
    number: int
    line: int
    lines: tuple[Line, ...]
    last_line: int
    whole: bool


def read_parts(file: CorpusFile, options: ReadOptions) -> Iterator[Part]:
    """Split a file into its parts; lines outside of them are reported."""
    begun: tuple[str, int, int] | None = None
    lines: list[Line] = []
    outside = False
    number = 0
    for number, line in numbered_lines(file):
        if line.startswith("#begin"):
            if begun is not None:
                yield Part(*begun, tuple(lines), number - 1, whole=False)
            match = _BEGIN.fullmatch(line)
            begun = (match["name"], int(match["part"] or 0), number) if match else ("", 0, number)
            lines, outside = [], False
        elif line.rstrip() == END and begun is not None:
            yield Part(*begun, tuple(lines), number, whole=True)
            begun = None
        elif begun is not None:
            lines.append((number, line))
        elif line.strip() and not outside:
            outside = True
            message = f"{file.path}:{number}: a line outside a document, expected '#begin document'"
            options.bad(message, "line outside a document")
    if begun is not None:
        yield Part(*begun, tuple(lines), number, whole=False)


def part_sentences(part: Part) -> Iterator[list[Word]]:
    """The words of each sentence, between empty lines; ``LineError`` for one of too few columns."""
    words: list[Word] = []
    for number, line in part.lines:
        columns = line.split()
        if columns and not line.startswith("#"):
            if len(columns) < _FEWEST:
                problem = f"{len(columns)} columns, expected {_FEWEST} or more with spaces between"
                raise LineError(number, problem, "wrong number of columns")
            if CONTROL.search(" ".join(columns)):
                problem = "a control character in a column, expected text"
                raise LineError(number, problem, "control character")
            words.append(Word(number, columns[3], columns[4], columns[9], columns[-1]))
        elif not columns and words:
            yield words
            words = []
    if words:
        yield words


def treebank_phrase(words: Sequence[Word], entity: str, language: Language) -> Phrase:
    """Annotate a mention by the Penn Treebank's parts of speech, and a language's pronouns."""
    head = _head(words)
    word = words[head]
    is_pronoun = len(words) == 1 and (
        word.tag in _PRONOUNS or (word.tag == "DT" and language.pronoun(word.form) is not None)
    )
    kind = "pronoun" if is_pronoun else "proper" if word.tag.startswith("NNP") else "nominal"
    return Phrase(kind, head, _features(word, words[0], is_pronoun, language))


def conll2012_mentions(
    unit: int,
    words: Sequence[Word],
    places: Sequence[tuple[int, int]],
    language: Language,
    annotate: Annotate = treebank_phrase,
) -> list[tuple[int, Mention]]:
    """The mentions of a sentence with their lines, in order of first words, longer ones first."""
    opened: list[tuple[str, int]] = []
    found: list[tuple[int, int, str]] = []
    for index, word in enumerate(words):
        for bracket in word.coreference.split("|") if word.coreference not in ("-", "_") else ():
            match = _BRACKET.fullmatch(bracket)
            if match is None or not (match["opens"] or match["closes"]):
                problem = f"coreference {shown(word.coreference)}, expected such as (12|(3) or 12)"
                raise LineError(word.line, problem, "malformed coreference")
            if match["opens"]:
                opened.append((match["entity"], index))
            if match["closes"]:
                start = _close(opened, match["entity"], word.line)
                found.append((start, index + 1, match["entity"]))
    for entity, index in opened:
        problem = (
            f"a mention of entity {entity} is opened and not closed in its sentence, "
            "expected a closing bracket"
        )
        raise LineError(words[index].line, problem, "unclosed mention")
    found.sort(key=lambda mention: (mention[0], -mention[1]))
    return [
        (
            words[start].line,
            _mention(annotate(words[start:end], entity, language), entity, unit, places[start:end]),
        )
        for start, end, entity in found
    ]


def _close(opened: list[tuple[str, int]], entity: str, line: int) -> int:
    for position in range(len(opened) - 1, -1, -1):
        if opened[position][0] == entity:
            return opened.pop(position)[1]
    problem = f"'{entity})' closes a mention that is not open, expected it to be opened"
    raise LineError(line, problem, "unopened mention")


def _mention(phrase: Phrase, entity: str, unit: int, places: Sequence[tuple[int, int]]) -> Mention:
    return Mention(
        span=((unit, places[0][0], places[-1][1]),),
        chain=entity,
        kind=phrase.kind,
        head=((unit, *places[phrase.head]),),
        features=phrase.features,
    )


def _head(words: Sequence[Word]) -> int:
    # A guess: the last noun before what may follow a noun.
    head = None
    for index, word in enumerate(words):
        if word.tag in _AFTER_HEAD and head is not None:
            break
        if word.tag.startswith("NN") or word.tag in (*_PRONOUNS, "CD", "EX"):
            head = index
    return len(words) - 1 if head is None else head


def _features(head: Word, first: Word, is_pronoun: bool, language: Language) -> Features:
    known = (language.pronoun(head.form) if is_pronoun else None) or Features()
    pronoun = known.pronoun
    if head.tag == "PRP$":
        pronoun = "possessive"
    elif head.tag == "PRP" and pronoun in ("", "possessive"):
        pronoun = "personal"
    return Features(
        pos=_pos(head.tag),
        first_pos=_pos(first.tag),
        pronoun=pronoun if is_pronoun else "",
        person=known.person,
        number=_NUMBERS.get(head.tag, known.number),
        gender=known.gender,
    )


def _pos(tag: str) -> str:
    if tag in _PRONOUNS:
        return "PRON"
    return next((pos for start, pos in _PARTS_OF_SPEECH.items() if tag.startswith(start)), "")
