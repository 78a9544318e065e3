"""Segments around connectives: the whole sentences that a connective and its arguments stand in.

Beyer et al. 2021, section 4.5, take the segments of Disco-Annotation, which are a sentence or a
few. Of a corpus in the manner of the Penn Discourse Treebank a segment is the run of whole
sentences from the first that holds a part of the relation to the last one.

Where the connective's clause comes first (``Although it rained, we left``), nothing stands before
the connective that it could fail to go with: there it is the main clause that shows whether it
does.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Relation, Span, span_text
from coherencegym.manipulations.connectives.clause_grammar import joins_clauses
from coherencegym.manipulations.connectives.connective_context import (
    has_clause,
    syntax,
    unsuitable,
    words,
)
from coherencegym.manipulations.editing import cut_excerpt
from coherencegym.manipulations.operator import Composable, Context

#: The connectives of the paper (section 4.5), but for ``meanwhile``, which is rare.
AMBIGUOUS = ("although", "as", "however", "since", "though", "while", "yet")


@dataclass(frozen=True)
class ConnectiveSegments(Composable):
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
                yield cut_excerpt(kept, *_units(relation), variant=f"u{unit}c{start}")

    def _objection(
        self, discourse: Discourse, relation: Relation, unit: int, start: int, end: int
    ) -> str:
        first, last = _units(relation)
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


def _units(relation: Relation) -> tuple[int, int]:
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
