"""Moving annotations along with the text they annotate."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from coherencegym.loaders.discourse import Discourse, Span


def move_annotations(discourse: Discourse, move: Callable[[Span], Span | None]) -> Discourse:
    """The discourse with ``move`` applied to every span of its annotations.

    Where ``move`` returns none the annotation is dropped; a mention whose head alone is lost keeps
    its span and loses the head. The units are left as they are, so ``move`` must return spans of
    the text that the caller puts there at the same time (:func:`with_units`).
    """
    mentions = []
    for mention in discourse.mentions:
        if (span := move(mention.span)) is not None:
            head = None if mention.head is None else move(mention.head)
            mentions.append(dataclasses.replace(mention, span=span, head=head))
    relations = []
    for relation in discourse.relations:
        arg1, arg2 = move(relation.arg1), move(relation.arg2)
        connective = None if relation.connective is None else move(relation.connective)
        lost = relation.connective is not None and connective is None
        if arg1 is not None and arg2 is not None and not lost:
            relations.append(
                dataclasses.replace(relation, arg1=arg1, arg2=arg2, connective=connective)
            )
    alternatives = [
        dataclasses.replace(alternative, span=span)
        for alternative in discourse.alternatives
        if (span := move(alternative.span)) is not None
    ]
    judgements = []
    for judgement in discourse.judgements:
        span = None if judgement.span is None else move(judgement.span)
        if judgement.span is None or span is not None:
            judgements.append(dataclasses.replace(judgement, span=span))
    return _unchecked(
        discourse,
        mentions=tuple(mentions),
        relations=tuple(relations),
        alternatives=tuple(alternatives),
        judgements=tuple(judgements),
    )


def _unchecked(discourse: Discourse, **changes: object) -> Discourse:
    """A changed copy whose spans are not checked: the units that they refer to come next."""
    copy = object.__new__(Discourse)
    for field in dataclasses.fields(Discourse):
        object.__setattr__(
            copy, field.name, changes.get(field.name, getattr(discourse, field.name))
        )
    return copy
