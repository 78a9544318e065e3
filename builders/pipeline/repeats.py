"""Documents of a corpus with the same text: what is made of them is of one cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from coherencegym.builders.suite import Column
from coherencegym.eval.kinds.table_kind import FAMILY, Clustered
from coherencegym.eval.statistics.effective_size import WITH
from coherencegym.loaders.discourse import Discourse

#: The column of a config that has none of families, where a text of its corpus is repeated.
REPEATS = {
    FAMILY: Column(
        "string",
        "the first document with the same text, if that is another; rows of one family form one "
        "cluster in intervals",
    )
}


def in_families(generated: list[Any], discourses: Iterable[Discourse]) -> list[Any]:
    """The items made of some discourses, those of the same text in one family."""
    first: dict[tuple[str, ...], str] = {}
    known = {each.id: first.setdefault(each.texts, each.id) for each in discourses}
    if len(first) == len(known):
        return generated
    return [_in_family(made, known) for made in generated]


def _in_family(made: Any, first: Mapping[str, str]) -> Any:
    holder = next((name for name in ("item", "document") if hasattr(made, name)), None)
    if holder is not None:
        return replace(made, **{holder: _in_family(getattr(made, holder), first)})
    if not isinstance(made, Clustered):
        return made
    family = WITH.join(first.get(part, part) for part in made.cluster.split(WITH))
    if family == made.cluster:
        return made
    return replace(made, extra={**made.extra, FAMILY: family})  # type: ignore[type-var]
