"""Texts with a discourse relation, as a test reads best: ``It rained. [However], we left.``"""

from __future__ import annotations

from typing import Any

from loaders.discourse import Discourse, Relation, Span, Unit


def related(
    text: str,
    sense: str = "Comparison.Concession.Arg1-as-denier",
    source: str = "pdtb3",
    **settings: Any,
) -> Discourse:
    """A discourse whose connective stands in square brackets; `` / `` between its sentences.

    Its arguments are all that is before the connective and all that is after it; sentences that
    begin with ``~`` belong to neither.
    """
    units, first, second = [], [], []
    connective: Span = ()
    for number, marked in enumerate(text.split(" / ")):
        outside = marked.startswith("~")
        plain = marked.lstrip("~").replace("[", "").replace("]", "")
        units.append(Unit(plain))
        if "[" in marked:
            start, end = marked.index("["), marked.index("]") - 1
            connective = ((number, start, end),)
            if start:
                first.append((number, 0, start))
            if end < len(plain):
                second.append((number, end, len(plain)))
        elif not outside:
            (second if connective else first).append((number, 0, len(plain)))
    relation = Relation("Explicit", connective, tuple(first), tuple(second), (sense,))
    values = {"id": "d", "corpus": "test", "meta": {"split": "test", "sense_source": source}}
    return Discourse(units=tuple(units), relations=(relation,), **(values | settings))
