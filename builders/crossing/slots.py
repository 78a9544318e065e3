"""Slots of one text: sentences that change places in it, each with what stands before it.

The two slots are far from each other: in different paragraphs, where a corpus marks them, and
:data:`_APART` sentences away. So nothing is about another topic or by another author, and what is
left is whether a sentence goes on from what was said. Their contexts are not about the very same
matter, where both sentences would fit both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from coherencegym.builders.crossing.partners import (
    Couple,
    Partner,
    any_two,
    stems,
)
from coherencegym.builders.discourse.cutting import category, stretches
from coherencegym.eval.kinds.table_kind import Column
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

#: Sentences before a slot that its context has at least, and those that it has where they are.
_FEWEST, _MOST = 2, 3
#: Words of a sentence that changes its place.
_WORDS = range(8, 36)
#: Sentences from one slot to the other, at least.
_APART = 8
#: The share of the words of the shorter of two contexts that the other may have, too.
_SAME_MATTER = 0.25
#: References, lists and lines to be filled in.
_NO_PROSE = re.compile(r"\[\d|https?:|www\.|_{3}|^\W*\d+[.)]? ")
_QUOTES = re.compile(r"[\"“”]")
_CAPITAL = re.compile(r"[“\"‘'(]?[A-Z]")

SLOT_COLUMNS = {
    "genre": Column("string", "the genre of the document, where its corpus has several"),
    "slots": Column(["int32"], "the positions (from 0) of the two sentences in the document"),
    "sentence_count": Column("int32", "how many sentences the document has"),
}


def slots(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give the sentences that may change places: parts are context, what follows, sentence."""
    begins = [int(number) for number in discourse.meta.get("paragraphs", "").split()]
    in_prose = 0
    for first, end in stretches(discourse):
        in_prose += end - first
        for place in range(first, end):
            before = range(max(first, place - _MOST), place)
            if reason := _unfit(discourse, place, before, begins):
                context.skipped[reason] += 1
                continue
            ends = place + 1 == end or place + 1 in begins
            following = "" if ends else discourse.texts[place + 1]
            target = discourse.texts[place]
            yield Partner(
                discourse,
                (" ".join(discourse.texts[i] for i in before), following, target),
                name=str(place),
                columns={"place": place, "paragraph": bisect_right(begins, place)},
            )
    if others := len(discourse.units) - in_prose:
        context.skipped["a heading, or debris of extraction"] += others


def _unfit(discourse: Discourse, place: int, before: range, begins: list[int]) -> str:
    target, words = discourse.texts[place], len(discourse.texts[place].split())
    around = [discourse.texts[i] for i in (*before, place)]
    types = discourse.meta.get("sentence_types", "").split()
    if place in begins or place == 0:
        return "the first sentence of a text or paragraph"
    if len(before) < _FEWEST:
        return f"fewer than {_FEWEST} sentences of prose before it"
    if words not in _WORDS:
        return f"not {_WORDS.start} to {_WORDS.stop - 1} words"
    if (types and types[place] != "decl") or target.endswith("?"):
        return "no statement"
    if types and "frag" in types[before.start : place]:
        return "a fragment before it"
    if any(map(_NO_PROSE.search, around)) or not _CAPITAL.match(target):
        return "references, a list or no whole sentence"
    # A quotation that runs on from before is cut where the context begins, or ends with a slot.
    if any(len(_QUOTES.findall(text)) % 2 for text in (target, " ".join(around[:-1]))):
        return "a quotation that begins or ends elsewhere"
    return ""


def far_apart(one: Partner, other: Partner) -> bool:
    """Tell whether two slots of a text are far from each other, and of different matters."""
    apart = abs(one.columns["place"] - other.columns["place"]) >= _APART
    paragraph = one.columns["paragraph"]
    if not apart or (paragraph and paragraph == other.columns["paragraph"]):
        return False
    matters = [stems(each.parts[0]) for each in (one, other)]
    shared = len(matters[0] & matters[1]) / max(1, min(map(len, matters)))
    return any_two(one, other) and shared <= _SAME_MATTER


def followed_alike(one: Partner, other: Partner, context: Context) -> tuple[Partner, Partner]:
    """Leave out what follows a sentence where nothing follows the other one."""
    if bool(one.parts[1]) == bool(other.parts[1]):
        return one, other
    alone = (replace(each, parts=(each.parts[0], "", each.parts[-1])) for each in (one, other))
    return next(alone), next(alone)


def slot_and_following(context: Partner, target: Partner) -> tuple[str, ...]:
    """Regions: the context of one, the sentence of the other, what follows in the first, if any."""
    return tuple(filter(None, (context.parts[0], target.parts[-1], context.parts[1])))


def slot_columns(couple: Couple) -> dict[str, Any]:
    """The columns of two slots of one document."""
    discourse = couple.first.discourse
    return {
        "genre": category(discourse),
        "slots": [couple.first.columns["place"], couple.second.columns["place"]],
        "sentence_count": len(discourse.units),
    }
