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

from coherencegym.loaders.discourse import Discourse, Relation, Span
from coherencegym.manipulations.annotations import move_annotations
from coherencegym.manipulations.connectives.clauses import has_clause
from coherencegym.manipulations.connectives.connective_context import unsuitable, words
from coherencegym.manipulations.operator import Composable, Context

#: The connectives of the paper (section 4.5), but for ``meanwhile``, which is rare.
CONNECTIVES = ("although", "as", "however", "since", "though", "while", "yet")


@dataclass(frozen=True)
class ConnectiveSegments(Composable):
    """Cut out a segment around each explicit connective of a list.

    Attributes:
        connectives: the words, lower-case.
        most_sentences: segments of more sentences are left out.
        fewest_words_after: connectives with fewer words after them in the segment, or in the main
            clause where this comes last, are left out.

    Each result has the segment's units, and of all relations only the one that it was cut out for.
    Its variant is ``u<unit>c<character>``, the connective's place in the discourse (from 0). A
    connective that two relations share is one segment with the senses of both.
    """

    connectives: tuple[str, ...] = CONNECTIVES
    most_sentences: int = 4
    fewest_words_after: int = 3

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the segments in the order of their connectives."""
        for relation in explicit_relations(discourse):
            assert relation.connective is not None
            parts = [
                discourse.units[unit].text[start:end].lower()
                for unit, start, end in relation.connective
            ]
            if not set(" ".join(parts).split()) & set(self.connectives):
                continue
            if len(parts) > 1:
                context.skipped["discontinuous connective"] += 1
            elif parts[0] not in self.connectives:
                context.skipped["connective of several words"] += 1
            else:
                yield from self._segment(discourse, relation, context)

    def _segment(
        self, discourse: Discourse, relation: Relation, context: Context
    ) -> Iterator[Discourse]:
        assert relation.connective is not None
        unit, start, end = relation.connective[0]
        held = [u for u, _, _ in relation.connective + relation.arg1 + relation.arg2]
        first, last = min(held), max(held)
        units = discourse.units[first : last + 1]
        before = [u.text for u in discourse.units[first:unit]] + [
            discourse.units[unit].text[:start]
        ]
        main = main_clause(discourse, relation)
        next_unit, next_start = main or (unit, end)
        after = [discourse.units[next_unit].text[next_start:]] + [
            u.text for u in discourse.units[next_unit + 1 : last + 1]
        ]
        if reason := unsuitable(discourse.units[unit].text, start, end):
            context.skipped[reason] += 1
        elif main is None and not any(map(words, before)):
            context.skipped["connective begins the segment"] += 1
        elif sum(map(words, after)) < self.fewest_words_after:
            context.skipped[f"fewer than {self.fewest_words_after} words after the connective"] += 1
        elif len(units) > self.most_sentences:
            context.skipped[f"more than {self.most_sentences} sentences"] += 1
        elif len({u.speaker for u in units}) > 1:
            context.skipped["speakers change within the segment"] += 1
        else:
            kept = dataclasses.replace(discourse, relations=(relation,))
            yield dataclasses.replace(
                move_annotations(kept, lambda span: _inside(span, first, last)),
                units=units,
                variant=f"u{unit}c{start}",
            )


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


def _inside(span: Span, first: int, last: int) -> Span | None:
    """A span counted from the segment's first unit; none where it is not all in the segment."""
    if not all(first <= unit <= last for unit, _, _ in span):
        return None
    return tuple((unit - first, start, end) for unit, start, end in span)
