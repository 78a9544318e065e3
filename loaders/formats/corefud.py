"""Coreference in CoNLL-U: the brackets of ``Entity=`` in the MISC column.

The comment ``# global.Entity`` names the fields of an opening bracket, which stand in it with
hyphens between them; the first is the id of the entity. ``(1-person-new`` opens a mention,
``1)`` closes it, ``(1-person-new)`` does both; a word may have any number of them. Mentions may
nest and cross, also those of one entity: a closing bracket closes the one opened last.
``[1/2]`` after the id marks the first of two parts of a discontinuous mention.
A corpus may annotate prepositional phrases (``phrase_type`` is ``pp``): the preposition is no part
of a mention here.

Source: https://ufal.mff.cuni.cz/corefud (CorefUD 1.0 file format)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, dropwhile

from coherencegym.loaders.discourse import Features, Mention, Span
from coherencegym.loaders.formats.conllu import Sentence, Token
from coherencegym.loaders.formats.lines import LineError, shown
from coherencegym.loaders.languages.language import Language

_BRACKET = re.compile(r"\((?P<opens>[^()]+)(?P<closed>\))?|(?P<closes>[^()]+)\)")
_ENTITY = re.compile(r"(?P<entity>[^\[\]]+)(?:\[(?P<part>\d{1,3})/(?P<parts>\d{1,3})\])?")

_NUMBERS = {"Sing": "singular", "Plur": "plural", "Ptan": "plural"}
_GENDERS = {"Masc": "masculine", "Fem": "feminine", "Neut": "neuter", "Com": "common"}
_CASES = {"Nom": "nominative", "Acc": "accusative", "Dat": "dative", "Gen": "genitive"}
_PRONOUN_TYPES = {
    **{"Prs": "personal", "Rcp": "reciprocal", "Dem": "demonstrative", "Rel": "relative"},
    **{"Int": "interrogative", "Emp": "reflexive"},
    **dict.fromkeys(("Ind", "Tot", "Neg"), "indefinite"),
}


def field_names(comment: str) -> tuple[str, ...]:
    """The fields that ``# global.Entity`` names; the first, whatever its name, is the entity."""
    return tuple(comment.split("-"))


def corefud_mentions(
    sentence: Sentence, unit: int, names: Sequence[str] | None, language: Language
) -> list[Mention]:
    """The mentions of a sentence, in the order of their first words, longer ones first.

    A mention of nothing but empty nodes has no text, and is left out.

    Args:
        sentence: the sentence.
        unit: the index of the unit in the discourse.
        names: the fields of a bracket; none where no comment named them.
        language: has the pronouns, of whose forms a treebank may say nothing.
    """
    if names is None:
        for token in sentence.tokens:
            if "Entity" in token.misc:
                problem = "Entity= without a # global.Entity comment before it, expected one"
                raise LineError(token.line, problem, "no # global.Entity")
        return []
    said = _said_of_something(sentence.words)
    cells = [(token.line, token.misc.get("Entity", "")) for token in sentence.tokens]
    found = []
    for bracket in brackets(cells, names, "Entity="):
        tokens = (sentence.tokens[index] for index in bracket.tokens)
        words = [token for token in tokens if not token.empty]
        if bracket.fields.get("phrase_type") == "pp":
            words = list(dropwhile(lambda word: word.deprel == "case", words))
        if words:
            found.append(_mention(bracket, words, unit, said, language))
    return found


def brackets(cells: Iterable[tuple[int, str]], names: Sequence[str], column: str) -> list[Bracket]:
    """The mentions of a sentence, in the order of their first words, longer ones first.

    Args:
        cells: the line and the brackets of each word, with or without ``|`` between them.
        names: the fields of a bracket; the first is the entity.
        column: what the brackets stand in, for messages.
    """
    opened: dict[_Part, list[Bracket]] = defaultdict(list)
    unfinished: dict[_Part, list[Bracket]] = defaultdict(list)
    whole: list[Bracket] = []
    for index, (line, cell) in enumerate(cells):
        for match in _matches(line, cell, column) if cell else ():
            text = match["opens"] or match["closes"]
            identity, *values = text.split("-")
            entity, part, parts = key = _part(identity, line)
            if match["opens"]:
                if len(values) >= len(names):
                    problem = (
                        f"{len(values) + 1} fields in {column}({shown(text)}, expected at most "
                        f"{len(names)}: those of # global.Entity"
                    )
                    raise LineError(line, problem, "malformed brackets")
                fields = dict(zip(names[1:], values, strict=False))
                opened[key].append(Bracket(entity, line, [index], fields))
            if match["opens"] and not match["closed"]:
                continue
            if not opened[key]:
                problem = f"{shown(text + ')')} closes a mention that is not open, expected it to"
                raise LineError(line, f"{problem} be opened", "unopened mention")
            bracket = opened[key].pop()
            bracket.tokens = list(range(bracket.tokens[0], index + 1))
            if part > 1:
                if not (before := unfinished[entity, part - 1, parts]):
                    problem = f"part {part} of a mention of entity {shown(entity)}, expected part"
                    fault = f"{problem} {part - 1} before it"
                    raise LineError(bracket.line, fault, "parts of a mention out of order")
                first = before.pop(0)
                bracket.tokens = first.tokens + bracket.tokens
                bracket.fields = {**bracket.fields, **first.fields}
            (whole if part == parts else unfinished[key]).append(bracket)
    left = (*opened.values(), *unfinished.values())
    if unclosed := min(chain(*left), key=lambda one: one.tokens[0], default=None):
        problem = f"a mention of entity {shown(unclosed.entity)} is opened and not closed in its"
        fault = f"{problem} sentence, expected a closing bracket"
        raise LineError(unclosed.line, fault, "unclosed mention")
    return sorted(whole, key=lambda bracket: (bracket.tokens[0], -bracket.tokens[-1]))


@dataclass(slots=True)
class Bracket:
    """A mention: its entity, its line, the indices of its words, and its other fields."""

    entity: str
    line: int
    tokens: list[int]
    fields: Mapping[str, str]


#: An entity, and the number of a part of a mention among so many.
_Part = tuple[str, int, int]


def _part(text: str, line: int) -> _Part:
    if text and "[" not in text and "]" not in text:
        return text, 1, 1
    match = _ENTITY.fullmatch(text)
    part, parts = (int(match["part"] or 1), int(match["parts"] or 1)) if match else (0, 0)
    if match is None or not 1 <= part <= parts:
        problem = f"entity {shown(text)}, expected an id such as 1 or 1[1/2]"
        raise LineError(line, problem, "malformed brackets")
    return match["entity"], part, parts


def _matches(line: int, cell: str, column: str) -> Iterator[re.Match[str]]:
    for piece in cell.split("|"):
        position = 0
        while position < len(piece):
            if (match := _BRACKET.match(piece, position)) is None:
                problem = f"{column}{shown(cell)}, expected brackets such as (1) or (1 and 1)"
                raise LineError(line, problem, "malformed brackets")
            yield match
            position = match.end()


def _mention(
    bracket: Bracket,
    words: Sequence[Token],
    unit: int,
    said: Container[int],
    language: Language,
) -> Mention:
    fields = bracket.fields
    head = _head_of(words, fields)
    predicate = head.number in said or fields.get("link") == "pred"
    known = None
    if head.upos == "PRON" or head.xpos in ("PRP", "PRP$", "WP", "WP$") or _agrees(head):
        kind = "pronoun"
        known = language.pronoun(head.form, _pronoun(head)) or Features()
    else:
        kind = "proper" if head.upos == "PROPN" else "nominal"
    return Mention(
        span=_span(words, unit),
        chain=bracket.entity,
        kind=kind,
        head=((unit, head.start, head.end),),
        features=_features_of(fields, words[0], head, known, predicate),
    )


def _agrees(head: Token) -> bool:
    # Where possessives agree with the noun behind them, treebanks have determiners (``seine``).
    return head.upos == "DET" and head.feats.get("Poss") == "Yes"


def _said_of_something(words: Sequence[Token]) -> set[int]:
    # Words with a copula, and those joined to one (``not a king but a fool``). What is joined to an
    # apposition or to the complement of a verb says something, too; what has a subject of its own
    # begins another clause.
    copular = {token.head for token in words if token.deprel == "cop" and token.head is not None}
    subjects = {token.head for token in words if token.deprel.startswith(("nsubj", "csubj"))}
    first = copular | {word.number for word in words if word.deprel in ("appos", "xcomp")}
    joined: set[int] = set()
    for word in words:
        if word.deprel == "conj" and word.head in first | joined and word.number not in subjects:
            joined.add(word.number)
    return copular | joined


def _span(words: Sequence[Token], unit: int) -> Span:
    parts: list[tuple[int, int, int]] = []
    last = 0
    for word in words:
        if parts and word.number == last + 1:
            # ``max``: words whose multiword token is not made up of them all have its place.
            parts[-1] = (unit, parts[-1][1], max(parts[-1][2], word.end))
        else:
            parts.append((unit, word.start, word.end))
        last = word.number
    return tuple(parts)


def _head_of(words: Sequence[Token], fields: Mapping[str, str]) -> Token:
    # Where several words depend on none of the others (an error, or no tree), the first of those
    # that the annotator named, in GUM's ``minspan`` or CorefUD's ``head``.
    inside = {None, *(word.number for word in words)}
    tops = [word for word in words if word.head not in inside and word.deprel != "punct"]
    named = _named(words, fields.get("minspan") or fields.get("head") or "")
    both = [word for word in tops if word in named]
    return (both or tops or named or list(words))[0]


def _named(words: Sequence[Token], numbers: str) -> list[Token]:
    plain = filter(re.compile("[0-9]+").fullmatch, numbers.split(","))
    return [words[place - 1] for n in plain if 1 <= (place := int(n[:6])) <= len(words)]


def _features_of(
    fields: Mapping[str, str],
    first: Token,
    head: Token,
    pronoun: Features | None,
    predicate: bool,
) -> Features:
    # ``pronoun``: what the form of one says; none where it is none.
    is_pronoun, known = pronoun is not None, pronoun or Features()
    layer = "[psor]" if is_pronoun and _agrees(head) else ""
    return Features(
        entity=_value(fields.get("etype", fields.get("entity", ""))),
        status=_value(fields.get("infstat", "")),
        link=_value(fields.get("link", "")),
        function=_value(head.deprel),
        pos=_value(head.upos),
        first_pos=_value(first.upos),
        predicate=predicate,
        pronoun=(_pronoun(head) or known.pronoun) if is_pronoun else "",
        person=head.feats.get("Person", known.person) if is_pronoun else "",
        number=_NUMBERS.get(head.feats.get(f"Number{layer}", ""), known.number),
        gender=_GENDERS.get(head.feats.get(f"Gender{layer}", ""), known.gender),
        case=known.case or _CASES.get(head.feats.get(f"Case{layer}", ""), ""),
    )


def _value(text: str) -> str:
    return "" if text == "_" else text


def _pronoun(head: Token) -> str:
    if head.deprel.split(":")[0] == "expl":
        return "expletive"
    kind = _PRONOUN_TYPES.get(head.feats.get("PronType", ""), "")
    if kind in ("", "personal"):
        if head.feats.get("Reflex") == "Yes":
            return "reflexive"
        if head.feats.get("Poss") == "Yes" or head.xpos == "PRP$":
            return "possessive"
    return kind
