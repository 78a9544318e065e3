"""Connective substitution: put another connective in the place of the annotated one.

Beyer et al. 2021, section 4.5. What the arguments say is left as it is; whether the new connective
can carry their relation is for the suite to say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.connectives.connective_segments import explicit_relations
from coherencegym.manipulations.editing import last_edit, replace_text, text_around
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.words import in_case_of

_NAME = "ConnectiveSubstitution"


@dataclass(frozen=True)
class ConnectiveSubstitution(Composable):
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
            made = replace_text(discourse, unit, start, end, after, operator=_NAME)
            name = f"{discourse.variant}/{self.replacement}".lstrip("/")
            yield dataclasses.replace(made, variant=name)


def around_connective(discourse: Discourse) -> tuple[str, str, str]:
    """The text before a segment's connective, the connective, and the text after it.

    Without outer spaces. The connective is the one that was substituted, or of a segment that was
    not changed the one that it was cut out for.

    Raises:
        ValueError: there is no connective.
    """
    if (edit := last_edit(discourse, _NAME)) is not None:
        place = edit.unit, edit.start, edit.start + len(edit.after)
    elif (relations := explicit_relations(discourse)) and relations[0].connective:
        place = relations[0].connective[0]
    else:
        raise ValueError(f"{discourse.corpus}/{discourse.id}: there is no connective")
    before, connective, after = text_around(discourse, *place)
    return before.strip(), connective, after.strip()
