"""Segments around connectives, and other connectives in the place of the annotated ones.

A segment has the whole sentences that a connective and its arguments stand in.

Beyer et al. 2021, section 4.5, take the segments of Disco-Annotation, which are a sentence or a
few. Of a corpus in the manner of the Penn Discourse Treebank a segment is the run of whole
sentences from the first that holds a part of the relation to the last one.

Where the connective's clause comes first (``Although it rained, we left``), nothing stands before
the connective that it could fail to go with: there it is the main clause that shows whether it
does. What the arguments say is left as it is; whether a new connective can carry their relation is
for the suite to say.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Relation, Span, span_text
from coherencegym.manipulations.connectives.connective_context import (
    has_clause,
    syntax,
    unsuitable,
    words,
)
from coherencegym.manipulations.connectives.plain_sentences import joins_clauses
from coherencegym.manipulations.editing import (
    cut_excerpt,
    last_edit,
    replace_text,
    text_around,
)
from coherencegym.manipulations.operator import Context, Operator
from coherencegym.words import in_case_of

_NAME = "ConnectiveSubstitution"
#: The connectives of the paper (section 4.5), but for ``meanwhile``, which is rare.
AMBIGUOUS = ("although", "as", "however", "since", "though", "while", "yet")


@dataclass(frozen=True)
class ConnectiveSegments(Operator):
    """Copy a segment (one or more whole sentences) around each annotated connective.

    A connective (such as ``however``) relates two parts of a text. A segment runs from the first to
    the last sentence of these parts.

    Attributes:
        connectives: the connectives around which segments are copied. Write them in lower case;
            capitalised connectives (``However``) are found, too.
        most_sentences: the largest number of sentences in a segment. A connective whose segment
            would be longer gives no segment.
        fewest_words_after: the smallest number of words between the connective and the end of the
            segment. A connective with fewer words after it gives no segment. If the connective
            begins its sentence (``Although it rained, we left``), only the words of the main clause
            (``we left``) count.

    The name of a segment says where the connective begins in the text. For example, ``u3c12`` means
    character 12 of sentence 3, both counted from 0.
    """

    connectives: tuple[str, ...] = AMBIGUOUS
    most_sentences: int = 4
    fewest_words_after: int = 3

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the segments in the order of their connectives."""
        for relation in explicit_relations(discourse):
            assert relation.connective is not None
            text = span_text(discourse, relation.connective).lower()
            if text not in self.connectives and not set(text.split()) & set(self.connectives):
                continue
            if len(relation.connective) > 1:
                context.skipped["discontinuous connective"] += 1
            elif text not in self.connectives:
                context.skipped["connective of several words"] += 1
            elif reason := self._objection(discourse, relation, *relation.connective[0]):
                context.skipped[reason] += 1
            else:
                unit, start, _ = relation.connective[0]
                kept = dataclasses.replace(discourse, relations=(relation,))
                yield cut_excerpt(kept, *units_of(relation), variant=f"u{unit}c{start}")

    def _objection(
        self, discourse: Discourse, relation: Relation, unit: int, start: int, end: int
    ) -> str:
        first, last = units_of(relation)
        texts, units = discourse.texts, discourse.units[first : last + 1]
        main = main_clause(discourse, relation)
        next_unit, next_start = main or (unit, end)
        before = [*texts[first:unit], texts[unit][:start]]
        after = [texts[next_unit][next_start:], *texts[next_unit + 1 : last + 1]]
        if reason := unsuitable(texts[unit], start, end):
            return reason
        subordinates = syntax(texts[unit], start, end) == "subordinator"
        if subordinates and not joins_clauses(discourse.units[unit], end):
            return "no conjunction of two clauses"
        if main is None and not any(map(words, before)):
            return "connective begins the segment"
        if sum(map(words, after)) < self.fewest_words_after:
            return f"fewer than {self.fewest_words_after} words after the connective"
        if len(units) > self.most_sentences:
            return f"more than {self.most_sentences} sentences"
        if len({unit.speaker for unit in units}) > 1:
            return "speakers change within the segment"
        return ""


def units_of(relation: Relation) -> tuple[int, int]:
    """The first and the last unit of a relation."""
    parts = (relation.connective or ()) + relation.arg1 + relation.arg2
    held = [unit for unit, _, _ in parts]
    return min(held), max(held)


def main_clause(discourse: Discourse, relation: Relation) -> tuple[int, int] | None:
    """Find the main clause (unit, character) where it follows the connective's clause.

    None where the first argument ends before the connective, has its verb there (``They do, as we
    do, what they can``), or is not annotated. It begins where the second argument ends, before any
    words that neither holds (``Although it rained, Ann said, they left``).
    """
    if not relation.connective or not relation.arg2:
        return None
    unit, _, end = max(relation.arg2)
    begun = " ".join(
        discourse.units[u].text[s:e]
        for u, s, e in relation.arg1
        if (u, s) < relation.connective[0][:2]
    )
    rest = [part for part in relation.arg1 if part[:2] >= (unit, end)]
    if (unit, end) <= relation.connective[-1][::2] or not rest or has_clause(begun):
        return None
    text = discourse.units[unit].text
    gap = re.compile(r"[\s,;:.!?)\]…—–-]*").match(text, end)
    assert gap is not None
    return (unit, gap.end()) if gap.end() < len(text) else (unit + 1, 0)


def explicit_relations(discourse: Discourse) -> list[Relation]:
    """Explicit relations in the order of their connectives, each connective once.

    Of relations that share a connective the arguments and senses are joined.
    """
    found: dict[Span, Relation] = {}
    for relation in discourse.relations:
        connective = relation.connective
        if relation.type != "Explicit" or not connective:
            continue
        same = found.get(connective)
        if same is not None:
            relation = dataclasses.replace(
                same,
                arg1=same.arg1 + relation.arg1,
                arg2=same.arg2 + relation.arg2,
                senses=tuple(dict.fromkeys(same.senses + relation.senses)),
            )
        found[connective] = relation
    return [found[span] for span in sorted(found)]


@dataclass(frozen=True)
class ConnectiveSubstitution(Operator):
    """Replace an annotated connective by another connective, and keep its capitalisation.

    Attributes:
        replacement: the new connective, in lower case.

    Each annotated connective of the text gives one result. A connective gives no result if it is
    the same as the new connective, or if it has two separate parts (``if ... then``). The result is
    named after the new connective, for instance ``although``. If :class:`ConnectiveSegments` has
    cut out the text around a connective, the name of the segment comes first: ``u3c12/although``.
    """

    replacement: str

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with one connective replaced."""
        for relation in explicit_relations(discourse):
            assert relation.connective is not None
            if len(relation.connective) > 1:
                context.skipped["discontinuous connective"] += 1
                continue
            unit, start, end = relation.connective[0]
            word = discourse.units[unit].text[start:end]
            if word.lower() == self.replacement:
                context.skipped["the replacement is the connective that stands there"] += 1
                continue
            after = in_case_of(word, self.replacement)
            name = f"{discourse.variant}/{self.replacement}".lstrip("/")
            yield replace_text(discourse, unit, start, end, after, operator=_NAME, variant=name)


def around_connective(discourse: Discourse) -> tuple[str, str, str]:
    """The text before a segment's connective, the connective, and the text after it.

    Without outer spaces. The connective is the one that was substituted, or of a segment that was
    not changed the one that it was cut out for.
    """
    if (edit := last_edit(discourse, _NAME)) is not None:
        place = edit.unit, edit.start, edit.start + len(edit.after)
    elif (relations := explicit_relations(discourse)) and relations[0].connective:
        place = relations[0].connective[0]
    else:
        raise ValueError(f"{discourse.corpus}/{discourse.id}: there is no connective")
    before, connective, after = text_around(discourse, *place)
    return before.strip(), connective, after.strip()
