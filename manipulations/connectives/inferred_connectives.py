"""Connectives of texts in which nobody annotated any, inferred from annotated relations.

A word of the language's table of connectives that begins an elementary unit is taken for the
connective of that unit's relation where the relation is one that the word can say. What is inferred
is the connective alone: the relation is the corpus's own.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, ParsedWord, Relation, Span
from coherencegym.loaders.languages.registry import language_of
from coherencegym.loaders.senses import Connective
from coherencegym.manipulations.editing import cut_excerpt, replace_places
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.words import in_case_of

#: The unified labels of relations that each meaning can say: a reason that is given may be one of a
#: thing or of saying it (``explanation``).
_LABELS = {
    "causal": frozenset(("causal", "explanation")),
    "result": frozenset(("causal", "explanation")),
    "contrast": frozenset(("contrast", "concession")),
    "concession": frozenset(("contrast", "concession")),
}
_VERBS = ("VERB", "AUX", "VV", "VC", "VE", "VA")
_MARKS = ("PUNCT", "PU")
_SUBJECTS = ("nsubj", "csubj", "expl", "top")
#: Phrases with a connective in which no other stands: ``尽管如此`` (in spite of that).
_FIXED = re.compile(r"尽管如此")
_NAME = "InferredConnectiveSubstitution"


def _labels(connective: Connective) -> frozenset[str]:
    """The unified labels of the relations that a connective can say."""
    return frozenset().union(
        *(_LABELS.get(meaning, frozenset()) for meaning in connective.meanings)
    )


@dataclass(frozen=True)
class InferredConnectiveSegments(Composable):
    """Cut out a segment around each connective that can be inferred.

    Attributes:
        before: the most sentences before the connective's that a segment has.
        fewest_after: the fewest characters of text after the connective.

    A segment ends with the sentence of the connective. It has one relation, whose ``connective``
    is the inferred place, and of a pair (``因为 ... 所以``) both places. Its variant is
    ``u<unit>c<character>``. Connectives for which nothing could stand are left out
    (:func:`fitting_connectives`).
    """

    before: int = 3
    fewest_after: int = 8

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the segments in the order of their connectives."""
        for (unit, start), (argument, relation) in sorted(_elementary(discourse).items()):
            word, known = _begins_with(discourse, unit, start)
            if known is None:
                continue
            end = start + len(word)
            first, last = _units(relation)
            if reason := self._objection(discourse, relation, (unit, start, end)):
                context.skipped[reason] += 1
            elif relation.unified not in _labels(known):
                context.skipped["a relation that the word does not say"] += 1
            elif not _syntax(discourse, known, end, argument):
                context.skipped["no whole clause behind the word"] += 1
            else:
                places = ((unit, start, end), *_partner(discourse, known, unit, end))
                own = dataclasses.replace(relation, type="Explicit", connective=places)
                kept = dataclasses.replace(discourse, relations=(own,))
                segment = cut_excerpt(kept, first, last, variant=f"u{unit}c{start}")
                if fitting_connectives(segment):
                    yield segment
                else:
                    context.skipped["no other connective of its syntax"] += 1

    def _objection(
        self, discourse: Discourse, relation: Relation, place: tuple[int, int, int]
    ) -> str:
        unit, start, end = place
        first, last = _units(relation)
        text = discourse.units[unit].text
        if len({one.speaker for one in discourse.units[first : last + 1]}) > 1:
            return "speakers change within the segment"
        if last > unit:
            return "a clause before its main sentence"
        if unit - first > self.before:
            return f"more than {self.before} sentences before the connective"
        if len(text) - end < self.fewest_after:
            return "little text after the connective"
        if _is_second(discourse, place):
            return "the second connective of a pair"
        return "a fixed phrase" * (_FIXED.match(text[start:]) is not None)


def _units(relation: Relation) -> tuple[int, int]:
    held = [unit for unit, _, _ in (*relation.arg1, *relation.arg2)]
    return min(held), max(held)


def _elementary(discourse: Discourse) -> dict[tuple[int, int], tuple[Span, Relation]]:
    # Place at which a unit begins -> the shortest unit that begins there, and its relation.
    found: dict[tuple[int, int], tuple[Span, Relation]] = {}
    for relation in discourse.relations:
        for argument in (relation.arg1, relation.arg2):
            place = argument[0][:2]
            if place not in found or _size(argument) < _size(found[place][0]):
                found[place] = (argument, relation)
    return found


def _size(span: Span) -> int:
    return sum(end - start + 1 for _, start, end in span)


def _begins_with(discourse: Discourse, unit: int, start: int) -> tuple[str, Connective | None]:
    text = discourse.units[unit].text
    for word in discourse.units[unit].words:
        if word.start == start:
            form = text[start : word.end]
            return form, language_of(discourse).connectives.get(form.lower())
    return "", None


def _is_second(discourse: Discourse, place: tuple[int, int, int]) -> bool:
    unit, start, end = place
    text, known = discourse.units[unit].text, language_of(discourse).connectives
    return any(
        text[start:end] in known[form.lower()].partners
        for word in discourse.units[unit].words
        if word.end <= start and (form := text[word.start : word.end]).lower() in known
    )


def _syntax(discourse: Discourse, known: Connective, end: int, argument: Span) -> str:
    """The syntax of a connective by the words behind it; empty where they are no whole clause.

    Of a word that is an adverb and a conjunction the verb tells which: it stands behind the adverb.
    Behind a conjunction there is a subject of its own, which a text without one shares.
    """
    unit = argument[0][0]
    clause = [
        word
        for word in discourse.units[unit].words
        if word.start >= end and any(word.end <= e for u, _, e in argument if u == unit)
    ]
    if not any(word.pos in _VERBS for word in clause):
        return ""
    if clause[0].pos in _MARKS and "subordinator" in known.syntax:
        return ""
    verb_first = _is_finite(clause[0])
    if len(known.syntax) > 1:
        return "adverbial" if verb_first else "coordinator"
    (only,) = known.syntax
    if only == "coordinator":
        has_subject = any(word.relation.split(":")[0] in _SUBJECTS for word in clause)
        return only if has_subject and not verb_first else ""
    return only


def _is_finite(word: ParsedWord) -> bool:
    return word.pos in _VERBS and "VerbForm=Inf" not in word.features


def _partner(
    discourse: Discourse, known: Connective, unit: int, end: int
) -> tuple[tuple[int, int, int], ...]:
    # A corpus may have a word of the table in two pieces (``因 此``).
    text, words = discourse.units[unit].text, discourse.units[unit].words
    ends = {word.end for word in words}
    for word in words:
        for partner in sorted(known.partners, key=len, reverse=True):
            last = word.start + len(partner)
            if word.start >= end and last in ends and text[word.start : last] == partner:
                return ((unit, word.start, last),)
    return ()


def fitting_connectives(segment: Discourse) -> list[str]:
    """The connectives that could stand in a segment by grammar, and cannot say its relation.

    In the place of a pair only such that have a partner, too. None where the discourse is no
    segment around an inferred connective.
    """
    if len(segment.relations) != 1 or not segment.relations[0].connective:
        return []
    relation = segment.relations[0]
    (unit, start, end), *partner = connective_places(segment)
    known = language_of(segment).connectives
    own = known.get(segment.units[unit].text[start:end].lower())
    begun = [span for span in (relation.arg1, relation.arg2) if span[0][:2] == (unit, start)]
    if own is None or not begun:
        return []
    syntax = _syntax(segment, own, end, begun[0])
    return sorted(
        word
        for word, other in known.items()
        if syntax in other.syntax
        and not _labels(other) & ({relation.unified} | _labels(own))
        and not (partner and not other.partners)
    )


def connective_of(segment: Discourse) -> str:
    """The connective of a segment, or what stands in its place, without its partner."""
    unit, start, end = connective_places(segment)[0]
    return segment.units[unit].text[start:end]


def connective_places(segment: Discourse) -> list[tuple[int, int, int]]:
    """The place (unit, start, end) of the connective or of what replaced it; of a pair both.

    Raises:
        ValueError: the discourse is no segment around an inferred connective.
    """
    edits = [edit for edit in segment.edits if edit.operator == _NAME]
    if edits:
        # Each was made to the left of those before it.
        places, shift = list[tuple[int, int, int]](), 0
        for edit in reversed(edits):
            start = edit.start + shift
            places.append((edit.unit, start, start + len(edit.after)))
            shift += len(edit.after) - len(edit.before)
        return places
    if len(segment.relations) != 1 or not segment.relations[0].connective:
        raise ValueError(f"{segment.corpus}/{segment.id}: there is no connective")
    return list(segment.relations[0].connective)


@dataclass(frozen=True)
class InferredConnectiveSubstitution(Composable):
    """Replace the connective of a segment by one that cannot say its relation.

    The replacement is drawn from those of the same syntax (:func:`fitting_connectives`). Of a pair
    (``因为 ... 所以``) both are replaced. The variant is that of the segment.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the segment with another connective; nothing where none fits."""
        if not (fitting := fitting_connectives(discourse)):
            return
        places = connective_places(discourse)
        random = context.random(discourse, _NAME, segment=discourse.variant)
        drawn = random.choice(fitting)
        words = [in_case_of(connective_of(discourse), drawn)]
        words += language_of(discourse).connectives[drawn].partners[: len(places) - 1]
        yield replace_places(
            discourse,
            places[0][0],
            [
                Replacement(start, end, word)
                for (_, start, end), word in zip(places, words, strict=True)
            ],
            operator=_NAME,
        )
