"""Hypothesis strategies for discourses, shared by the tests of operators and builders."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from coherencegym.loaders.discourse import (
    Alternative,
    Discourse,
    HumanJudgement,
    Mention,
    Relation,
    RhetoricalNode,
    RhetoricalTree,
    Unit,
)

#: Of what holds of each entry of a registry: fewer examples of an entry, as the entries are many.
FEW = settings(max_examples=max(1, settings().max_examples * 2 // 5))

WORDS = st.sampled_from(["Ann", "left", "the", "dog.", "It", "é", "x y", "…", "😀 smiled."])
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@st.composite
def discourses(
    draw: st.DrawFn, min_units: int = 1, max_units: int = 6, annotated: bool = True
) -> Discourse:
    """A discourse with some of each kind of annotation, spans of one or two parts."""
    texts = draw(st.lists(TEXTS, min_size=min_units, max_size=max_units))
    units = tuple(Unit(text, draw(st.sampled_from([None, "a", "b"]))) for text in texts)

    def part() -> tuple[int, int, int]:
        unit = draw(st.integers(0, len(units) - 1))
        start = draw(st.integers(0, len(units[unit].text) - 1))
        return (unit, start, draw(st.integers(start + 1, len(units[unit].text))))

    def span() -> tuple[tuple[int, int, int], ...]:
        parts = sorted(part() for _ in range(draw(st.integers(1, 2))))
        return tuple(parts)

    last = len(units) - 1
    right = units[last].text
    options = (right, draw(TEXTS)) if draw(st.booleans()) else (draw(TEXTS), right)
    return Discourse(
        id=f"d{draw(st.integers(0, 99))}",
        corpus="test",
        units=units,
        mentions=tuple(
            Mention(span(), "c", "nominal", head=span() if draw(st.booleans()) else None)
            for _ in range(draw(st.integers(0, 2)) if annotated else 0)
        ),
        relations=tuple(
            Relation("Explicit", span(), span(), span())
            for _ in range(draw(st.integers(0, 1)) if annotated else 0)
        ),
        judgements=(HumanJudgement(span(), "odd"),) if annotated else (),
        alternatives=(Alternative(((last, 0, len(right)),), options, options.index(right)),),
        meta={"split": "test"},
        tree=RhetoricalTree((span(), span()), (RhetoricalNode(0, 1, 2, "NS", "elaboration"),))
        if annotated and draw(st.booleans())
        else None,
    )
