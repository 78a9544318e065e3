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
from coherencegym.manipulations.editing import cut_excerpt, replace_text
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.words import in_case_of

#: The unified labels of relations that each meaning can say: a reason that is given may be one of a
#: thing or of saying it (``explanation``).
LABELS = {
    "causal": frozenset(("causal", "explanation")),
    "result": frozenset(("causal", "explanation")),
    "contrast": frozenset(("contrast", "concession")),
    "concession": frozenset(("contrast", "concession")),
}
_VERBS = ("VERB", "AUX", "VV", "VC", "VE", "VA")
_SUBJECTS = ("nsubj", "csubj", "expl", "top")
#: Phrases with a connective in which no other stands: ``尽管如此`` (in spite of that).
_FIXED = re.compile(r"尽管如此")
#: What the connective of a segment is called in the properties of its discourse.
_SYNTAX = "connective_syntax"


def labels(connective: Connective) -> frozenset[str]:
    """The unified labels of the relations that a connective can say."""
    return frozenset().union(*(LABELS.get(meaning, frozenset()) for meaning in connective.meanings))


@dataclass(frozen=True)
class InferredConnectiveSegments(Composable):
    """Cut out a segment around each connective that can be inferred.

    Attributes:
        before: the most sentences before the connective's that a segment has.
        fewest_after: the fewest characters of text after the connective.

    A segment ends with the sentence of the connective. It has one relation, whose ``connective``
    is the inferred place. Its variant is ``u<unit>c<character>``.
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
            syntax = _syntax(discourse, known, end, argument)
            first, last = _units(relation)
            if reason := self._objection(discourse, relation, (unit, start, end)):
                context.skipped[reason] += 1
            elif relation.unified not in labels(known):
                context.skipped["a relation that the word does not say"] += 1
            elif not syntax:
                context.skipped["no whole clause behind the word"] += 1
            else:
                own = dataclasses.replace(
                    relation, type="Explicit", connective=((unit, start, end),)
                )
                meta = {**discourse.meta, _SYNTAX: syntax}
                kept = dataclasses.replace(discourse, relations=(own,), meta=meta)
                yield cut_excerpt(kept, first, last, variant=f"u{unit}c{start}")

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
    """How a connective is used, by the words behind it; empty where they are no whole clause.

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


def replacements(segment: Discourse) -> list[str]:
    """The connectives that could stand in a segment by grammar, and cannot say its relation."""
    (relation,) = segment.relations
    known = language_of(segment).connectives
    own = known[connective_text(segment).lower()]
    return sorted(
        word
        for word, other in known.items()
        if segment.meta[_SYNTAX] in other.syntax
        and not labels(other) & ({relation.unified} | labels(own))
    )


def connective_text(segment: Discourse) -> str:
    """The connective of a segment as it stands."""
    (relation,) = segment.relations
    assert relation.connective is not None
    ((unit, start, end),) = relation.connective
    return segment.units[unit].text[start:end]


@dataclass(frozen=True)
class InferredConnectiveSubstitution(Composable):
    """Replace the connective of a segment by one that cannot say its relation.

    The replacement is drawn from those of the same syntax (:func:`replacements`). Where the
    connective has a partner in the other clause (*因为 … 所以*), both are replaced, the partner by
    that of the replacement.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the segment with another connective; nothing where none fits."""
        fitting = replacements(discourse)
        if not fitting:
            context.skipped["no other connective of its syntax"] += 1
            return
        drawn = context.random(discourse, "InferredConnectiveSubstitution").choice(fitting)
        known = language_of(discourse).connectives
        (relation,) = discourse.relations
        assert relation.connective is not None
        ((unit, start, end),) = relation.connective
        word = connective_text(discourse)
        name = "InferredConnectiveSubstitution"
        made = discourse
        partner = partner_of(discourse)
        if partner is not None:
            others = known[drawn].partners
            if not others:
                context.skipped["a pair of connectives without another pair"] += 1
                return
            place, last = partner
            made = replace_text(made, unit, place, last, others[0], operator=name)
        made = replace_text(made, unit, start, end, in_case_of(word, drawn), operator=name)
        yield dataclasses.replace(made, variant=drawn)


def partner_of(segment: Discourse) -> tuple[int, int] | None:
    """The place in the sentence of the word that goes with a connective; none without one."""
    (relation,) = segment.relations
    assert relation.connective is not None
    ((unit, _, end),) = relation.connective
    own = language_of(segment).connectives[connective_text(segment).lower()]
    for word in segment.units[unit].words:
        if word.start >= end and segment.units[unit].text[word.start : word.end] in own.partners:
            return word.start, word.end
    return None
