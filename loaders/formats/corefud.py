"""Coreference in CoNLL-U: the brackets of ``Entity=`` in the MISC column.

The comment ``# global.Entity`` names the fields of an opening bracket, which stand in it with
hyphens between them; the first is the id of the entity. ``(1-person-new`` opens a mention,
``1)`` closes it, ``(1-person-new)`` does both; a word may have any number of them. Mentions may
nest and cross, also those of one entity: a closing bracket closes the one opened last.
``[1/2]`` after the id marks the first of two parts of a discontinuous mention.

Source: https://ufal.mff.cuni.cz/corefud (CorefUD 1.0 file format)
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from coherencegym.loaders.discourse import Mention, Span
from coherencegym.loaders.formats.conllu import Sentence, Token
from coherencegym.loaders.formats.corefud_brackets import Bracket, read_brackets
from coherencegym.loaders.formats.corefud_features import features_of, head_of, kind_of


def field_names(comment: str) -> tuple[str, ...]:
    """The fields that ``# global.Entity`` names; the first, whatever its name, is the entity."""
    return tuple(comment.split("-"))


def mentions(sentence: Sentence, unit: int, names: Sequence[str] | None) -> list[Mention]:
    """The mentions of a sentence, in the order of their first words, longer ones first.

    A mention of nothing but empty nodes has no text, and is left out.

    Args:
        sentence: the sentence.
        unit: the index of the unit in the discourse.
        names: the fields of a bracket; none where no comment named them.

    Raises:
        LineError: brackets are malformed or do not match, or nobody named their fields.
    """
    found = []
    said = _said_of_something(sentence.words)
    for bracket in read_brackets(sentence, names):
        tokens = [sentence.tokens[index] for index in bracket.tokens]
        if words := [token for token in tokens if not token.empty]:
            first, last = bracket.tokens[0], bracket.tokens[-1]
            found.append(((first, -last), _mention(bracket, words, unit, said)))
    found.sort(key=lambda pair: pair[0])
    return [mention for _, mention in found]


def _mention(bracket: Bracket, words: Sequence[Token], unit: int, said: Container[int]) -> Mention:
    """A mention of a unit; ``said`` are the ids of the words that say what something is."""
    head = head_of(words, bracket.fields)
    kind = kind_of(head)
    predicate = int(head.id) in said or bracket.fields.get("link") == "pred"
    return Mention(
        span=_span(words, unit),
        chain=bracket.entity,
        kind=kind,
        head=((unit, head.start, head.end),),
        features=features_of(bracket.fields, words[0], head, kind, predicate),
    )


def _said_of_something(words: Sequence[Token]) -> set[int]:
    """The ids of words with a copula, and of those joined to one (``not a king but a fool``).

    What is joined to an apposition or to the complement of a verb says something, too; what has a
    subject of its own begins another clause.
    """
    copular = {token.head for token in words if token.deprel == "cop" and token.head is not None}
    subjects = {token.head for token in words if token.deprel.startswith(("nsubj", "csubj"))}
    first = copular | {int(word.id) for word in words if word.deprel in ("appos", "xcomp")}
    joined: set[int] = set()
    for word in words:
        number = int(word.id)
        if word.deprel == "conj" and word.head in first | joined and number not in subjects:
            joined.add(number)
    return copular | joined


def _span(words: Sequence[Token], unit: int) -> Span:
    """The characters of some words; words whose ids follow one another are one part."""
    parts: list[tuple[int, int, int]] = []
    last = 0
    for word in words:
        number = int(word.id)
        if parts and number == last + 1:
            # ``max``: words whose multiword token is not made up of them all have its place.
            parts[-1] = (unit, parts[-1][1], max(parts[-1][2], word.end))
        else:
            parts.append((unit, word.start, word.end))
        last = number
    return tuple(parts)
