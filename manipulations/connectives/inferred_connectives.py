"""Connectives of texts in which nobody annotated any, inferred from annotated relations.

A word of the language's table of connectives that begins an elementary unit is taken for the
connective of that unit's relation where the relation is one that the word can say. What is inferred
is the connective alone: the relation is the corpus's own.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherencegym.loaders.discourse import Alternative, Discourse, Relation, Span
from coherencegym.loaders.languages.registry import language_of
from coherencegym.loaders.senses import Connective
from coherencegym.manipulations.connectives.connective_context import units_of
from coherencegym.manipulations.editing import cut_excerpt, replace_places
from coherencegym.manipulations.operator import Context, NotApplicableError, Operator, refuse
from coherencegym.manipulations.probes.sentence import Replacement
from coherencegym.words import in_case_of

_CAUSES, _CONTRASTS = frozenset({"causal", "result"}), frozenset({"contrast", "concession"})
#: The unified labels of relations that each meaning can say: a reason that is given may be one of a
#: thing or of saying it (``explanation``).
_LABELS = {
    **dict.fromkeys(_CAUSES, frozenset({"causal", "explanation"})),
    **dict.fromkeys(_CONTRASTS, frozenset({"contrast", "concession"})),
    "condition": frozenset({"condition"}),
}
#: Meanings that deny a relation, by its unified label. A cause does not deny a condition (``as``
#: for ``if``), and a condition denies nothing.
_DENIED_BY = {
    **dict.fromkeys(("causal", "explanation", "condition"), _CONTRASTS),
    **dict.fromkeys(("contrast", "concession"), _CAUSES),
}
_VERBS = ("VERB", "AUX", "VV", "VC", "VE", "VA")
_MARKS = ("PUNCT", "PU")
_SUBJECTS = ("nsubj", "csubj", "expl", "top")
#: Phrases with a connective in which no other stands: ``尽管如此`` (in spite of that).
_FIXED = re.compile(r"尽管如此|而(?:不是|是|非)")
#: The syntax of words that a comma may follow, and of words that need their partner.
_PAUSED, _PAIRED = "paused", "paired"
#: Tokens of a corpus that are one word of a table at most.
_MOST_PIECES = 3
_NAME = "InferredConnectiveSubstitution"


def _labels(connective: Connective) -> frozenset[str]:
    """The unified labels of the relations that a connective can say."""
    return frozenset().union(
        *(_LABELS.get(meaning, frozenset()) for meaning in connective.meanings)
    )


@dataclass(frozen=True)
class InferredConnectiveSegments(Operator):
    """Find connectives that are not annotated, and copy a segment around each connective.

    The operator is for corpora that annotate relations (such as cause or contrast) between two
    parts of a text, but do not annotate connectives. A word counts as the connective of a relation
    if one of the two parts begins with the word and the word can express the relation (as ``but``
    can express a contrast). A segment (one or more whole sentences) ends with the sentence of the
    connective. If the other part stands in an earlier sentence, the segment begins with that
    sentence.

    Attributes:
        before: the largest number of sentences in the segment before the sentence of the
            connective. A connective that needs more sentences gives no segment.
        fewest_after: the smallest number of characters between the connective and the end of its
            sentence. A connective with fewer characters after it gives no segment.

    The name of a segment says where the connective begins in the text. For example, ``u3c12`` means
    character 12 of sentence 3, both counted from 0. ``relations`` of the segment contains the
    relation and the position of its connective. ``alternatives`` of the segment lists the
    connective and its possible replacements (:func:`fitting_connectives`): connectives that are
    grammatical in the same place and contradict the relation (as ``so`` contradicts a contrast). A
    connective without a possible replacement gives no segment.
    """

    before: int = 3
    fewest_after: int = 8

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the segments in the order of their connectives."""
        arguments = _arguments_by_place(discourse)
        for unit, start in sorted(arguments):
            if known := _connective_at(discourse, unit, start):
                with context.counting():
                    marked = _marked_relations(arguments, (unit, start), known)
                    yield self._segment(discourse, known, (unit, start), marked)

    def _segment(
        self,
        discourse: Discourse,
        known: Connective,
        place: tuple[int, int],
        marked: Iterable[tuple[Span, Relation]],
    ) -> Discourse:
        unit, start = place
        end, text = start + len(known.word), discourse.units[unit].text
        said = ((span, each) for span, each in marked if each.unified in _labels(known))
        argument, relation = next(said, (None, None))
        if argument is None or relation is None:
            raise NotApplicableError("a relation that the word does not say")
        first, last = units_of(relation)
        refuse(
            (
                len({each.speaker for each in discourse.units[first : last + 1]}) > 1,
                "speakers change within the segment",
            ),
            (last > unit, "a clause before its main sentence"),
            (
                unit - first > self.before,
                f"more than {self.before} sentences before the connective",
            ),
            (len(text) - end < self.fewest_after, "little text after the connective"),
            (_is_second(discourse, (unit, start, end)), "the second connective of a pair"),
            (_FIXED.match(text[start:]), "a fixed phrase"),
        )
        if not (syntax := _syntax(discourse, known, end, argument)):
            raise NotApplicableError("no whole clause behind the word")
        partner = _partners(discourse, known, unit, end)
        refuse(
            (len(partner) > 1, "more than one second word"),
            (
                any(text[:begin].rstrip()[-1:].isalnum() for _, begin, _ in partner),
                "a second word inside its clause",
            ),
        )
        replacements = _replacements(discourse, relation, syntax, has_partner=bool(partner))
        if not replacements:
            raise NotApplicableError("no other connective of its syntax")
        places = ((unit, start, end), *partner)
        explicit = dataclasses.replace(relation, type="Explicit", connective=places)
        choice = Alternative(places[:1], (text[start:end], *replacements), right=0)
        kept = dataclasses.replace(discourse, relations=(explicit,), alternatives=(choice,))
        return cut_excerpt(kept, first, last, variant=f"u{unit}c{start}")


#: Place at which an argument begins -> the argument, the other one, and their relation.
_ArgumentsByPlace = Mapping[tuple[int, int], Sequence[tuple[Span, Span, Relation]]]


def _arguments_by_place(discourse: Discourse) -> _ArgumentsByPlace:
    arguments: dict[tuple[int, int], list[tuple[Span, Span, Relation]]] = defaultdict(list)
    for relation in discourse.relations:
        for own, other in ((relation.arg1, relation.arg2), (relation.arg2, relation.arg1)):
            arguments[own[0][:2]].append((own, other, relation))
    for those in arguments.values():
        those.sort(key=lambda each: sum(end - start + 1 for _, start, end in each[0]))
    return arguments


def _marked_relations(
    arguments: _ArgumentsByPlace, place: tuple[int, int], known: Connective
) -> Iterator[tuple[Span, Relation]]:
    """The relations that a connective at a place may mark, the nearest first.

    A subordinator joins its clause to another one, whose place is either; other words to the text
    before. They stand before all that they join: of ``so, before you go, drink water`` the clause
    behind the word belongs to a later one in the sentence, which ``so`` joins to the text before.
    """
    reached = [place]
    for one in reached:
        later = list[tuple[int, int]]()
        for own, other, relation in arguments.get(one, ()):
            target = other[0][:2]
            if target < place or (one == place and "subordinator" in known.syntax):
                yield own, relation
            if target[0] == place[0] and target > one and target not in reached:
                later.append(target)
        reached += later


def _connective_at(discourse: Discourse, unit: int, start: int) -> Connective | None:
    # A corpus may have a word of the table in two pieces (``因 此``).
    text, known = discourse.units[unit].text, language_of(discourse).connectives
    ends = sorted(word.end for word in discourse.units[unit].words if word.start >= start)
    forms = (text[start:end].lower() for end in ends[:_MOST_PIECES])
    return next((known[form] for form in reversed(list(forms)) if form in known), None)


def _is_second(discourse: Discourse, place: tuple[int, int, int]) -> bool:
    unit, start, end = place
    before = (word.start for word in discourse.units[unit].words if word.end <= start)
    firsts = filter(None, (_connective_at(discourse, unit, begin) for begin in before))
    return any(discourse.units[unit].text[start:end] in first.partners for first in firsts)


def _syntax(discourse: Discourse, known: Connective, end: int, argument: Span) -> str:
    """The syntax of a connective by the words behind it; empty where they are no whole clause.

    Of a word that is an adverb and a conjunction the verb tells which: it stands behind the adverb.
    Behind a conjunction there is a subject of its own, which a text without one shares. A comma
    tells where a pause may follow.
    """
    unit = argument[0][0]
    clause = [
        word
        for word in discourse.units[unit].words
        if word.start >= end and any(word.end <= e for u, _, e in argument if u == unit)
    ]
    if not any(word.pos in _VERBS for word in clause):
        return ""
    if clause[0].pos in _MARKS and known.syntax & {"subordinator", _PAUSED}:
        return _PAUSED * (_PAUSED in known.syntax)
    verb_first = clause[0].pos in _VERBS and "VerbForm=Inf" not in clause[0].features
    plain = known.syntax - {_PAUSED, _PAIRED}
    if plain == {"subordinator"} and "VerbForm=Fin" in clause[0].features:
        return ""  # an adverb: ``Da boomt die Industrie``
    if len(plain) > 1:
        return "adverbial" if verb_first else "coordinator"
    if plain == {"coordinator"}:
        has_subject = any(word.relation.split(":")[0] in _SUBJECTS for word in clause)
        return "coordinator" * (has_subject and not verb_first)
    return "".join(plain)


def _partners(
    discourse: Discourse, known: Connective, unit: int, end: int
) -> list[tuple[int, int, int]]:
    text, words = discourse.units[unit].text, discourse.units[unit].words
    starts, ends = {word.start for word in words}, {word.end for word in words}
    partners = "|".join(sorted(known.partners, key=len, reverse=True)) or "(?!)"
    spans = (found.span() for found in re.compile(partners).finditer(text, end))
    return [(unit, *span) for span in spans if span[0] in starts and span[1] in ends]


def _replacements(
    discourse: Discourse, relation: Relation, syntax: str, *, has_partner: bool
) -> list[str]:
    # In the place of a pair only such that have a partner, too; without one none that needs one.
    return sorted(
        word
        for word, other in language_of(discourse).connectives.items()
        if syntax in other.syntax
        and other.meanings <= _DENIED_BY[relation.unified]
        and (other.partners if has_partner else _PAIRED not in other.syntax)
    )


def fitting_connectives(segment: Discourse) -> list[str]:
    """The connectives that could stand in a segment by grammar, and deny its relation.

    None where the discourse is no segment around an inferred connective.
    """
    places = {(one.connective or ())[:1] for one in segment.relations}
    found = (one.options[1:] for one in segment.alternatives if one.span in places)
    known = language_of(segment).connectives
    return [word for word in next(found, ()) if word in known]


def connective_of(segment: Discourse) -> str:
    """The connective of a segment, or what stands in its place, without its partner."""
    unit, start, end = connective_places(segment)[0]
    return segment.units[unit].text[start:end]


def connective_places(segment: Discourse) -> list[tuple[int, int, int]]:
    """The place (unit, start, end) of the connective or of what replaced it; of a pair both."""
    edits = [edit for edit in segment.edits if edit.operator == _NAME]
    if edits:
        # Each was made to the left of those before it.
        places: list[tuple[int, int, int]] = []
        shift = 0
        for edit in reversed(edits):
            start = edit.start + shift
            places.append((edit.unit, start, start + len(edit.after)))
            shift += len(edit.after) - len(edit.before)
        return places
    if len(segment.relations) != 1 or not segment.relations[0].connective:
        raise ValueError(f"{segment.corpus}/{segment.id}: there is no connective")
    return list(segment.relations[0].connective)


@dataclass(frozen=True)
class InferredConnectiveSubstitution(Operator):
    """Replace the connective of a segment by a connective that contradicts the annotated relation.

    If the annotated relation is a contrast or concession (``maar``, 'but'), the new connective
    expresses a cause or result (``dus``, 'so'). If the annotated relation is a cause, result or
    condition, the new connective expresses a contrast or concession. The new connective is drawn
    at random from the connectives that are grammatical in the same place
    (:func:`fitting_connectives`).

    The operator works on segments that :class:`InferredConnectiveSegments` has cut out around a
    connective. If the connective is a pair (``因为 ... 所以``, 'because ... therefore'), the
    operator replaces both words. The result has the name of the segment.
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
        pairs = zip(places, words, strict=True)
        replacements = [Replacement(start, end, word) for (_, start, end), word in pairs]
        yield replace_places(discourse, places[0][0], replacements, operator=_NAME)
