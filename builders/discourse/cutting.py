"""Windows of texts: sentences that follow one another, of which examples are made.

A window lies in a stretch of prose. Headings and captions, sentences that extraction damaged, units
without a word, and in speech and chat those of a few words ("Yeah.", "lol") end a stretch: what
stands on both sides of a heading is no neighbour, and nobody can tell where "ok" belongs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from random import Random

from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.text.prose import sentence_debris
from coherencegym.manipulations.editing import cut_excerpt
from coherencegym.manipulations.intruders.neighbours import FEWEST_WORDS, groups
from coherencegym.manipulations.operator import Context, Operator

#: Keys of a window's ``meta``: its document, and the unit (from 0) that it begins with there.
DOCUMENT, FIRST_UNIT = "document", "first_unit"
#: Its genre or domain, where its corpus has several.
CATEGORY = "category"

#: Numbers of notes behind the end of a sentence.
_NOTES = re.compile(r"(?:\s*\[\d[\d\s,–-]*\])+$")

#: The units of a window, from 0: the first, and the one behind the last.
Extent = tuple[int, int]


def category(discourse: Discourse) -> str:
    """The genre or domain of a document; empty where its corpus has one kind only."""
    return discourse.meta.get("genre") or discourse.meta.get("domain", "")


def stretches(discourse: Discourse) -> list[Extent]:
    """The longest runs of units that are prose; of speech and chat, those that say something."""
    headings = set(discourse.meta.get("headings", "").split())
    runs: list[Extent] = []
    start = 0
    for number, unit in enumerate(discourse.units):
        spoken = unit.speaker is not None or discourse.meta.get("domain") == "chat"
        text = _NOTES.sub("", unit.text)
        fits = len(text.split()) >= FEWEST_WORDS if spoken else not sentence_debris(text)
        if str(number) in headings or not fits or not any(map(str.isalnum, text)):
            runs.append((start, number))
            start = number + 1
    runs.append((start, len(discourse.units)))
    return [(first, end) for first, end in runs if end > first]


def paragraphs(discourse: Discourse) -> list[Extent]:
    """The paragraphs that are prose as a whole; none where the corpus does not mark them."""
    begins = [int(number) for number in discourse.meta.get("paragraphs", "").split()]
    ends = [*begins[1:], len(discourse.units)]
    prose = stretches(discourse)
    return [
        (first, end)
        for first, end in zip(begins, ends, strict=False)
        if any(begin <= first and end <= last for begin, last in prose)
    ]


def tiles(discourse: Discourse, size: int, generator: Random | None = None) -> list[Extent]:
    """Windows of ``size`` units, side by side in each stretch.

    They start with the stretch or, given a generator, at one of its first ``size`` units.
    """
    found = []
    for begin, end in stretches(discourse):
        last = end - size
        if generator is not None and last >= begin:
            begin += generator.randrange(min(size, last - begin + 1))
        found += [(first, first + size) for first in range(begin, last + 1, size)]
    return found


@dataclass(frozen=True)
class Passages(Operator):
    """Sentences of prose that follow one another, without headings and fragments.

    Attributes:
        fewest, most: the numbers of sentences that a passage may have.
        number: the most passages of a document, which do not overlap.

    The first passage has no variant, others ``<first unit>-<last unit>``.
    """

    fewest: int
    most: int
    number: int = 1

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the first passages in the order of the text."""
        found = [
            (start, min(end, start + self.most) - 1)
            for first, end in stretches(discourse)
            for start in range(first, end - self.fewest + 1, self.most)
        ]
        for place, (start, last) in enumerate(found[: self.number]):
            yield cut_excerpt(discourse, start, last, variant=f"{start}-{last}" if place else "")
        if not found:
            context.skipped[f"no {self.fewest} sentences of prose in a row"] += 1


def window_of(discourse: Discourse, extent: Extent) -> Discourse:
    """A window as a discourse, of the id ``<document>/<first unit>-<last unit>`` or ``/<unit>``."""
    first, last = extent[0], extent[1] - 1
    place = f"{first}-{last}" if first < last else f"{first}"
    meta = {
        **discourse.meta,
        DOCUMENT: discourse.id,
        FIRST_UNIT: str(first),
        CATEGORY: category(discourse),
    }
    return cut_excerpt(discourse, first, last, id=f"{discourse.id}/{place}", meta=meta)


@dataclass(frozen=True)
class ChosenWindows:
    """The windows of a collection: those of each document (by id), and why others have fewer.

    ``family`` is, for each document, the first one of those that share lines with it.
    """

    windows: Mapping[str, tuple[Discourse, ...]] = field(default_factory=dict)
    reasons: Mapping[str, Counter[str]] = field(default_factory=dict)
    family: Mapping[str, str] = field(default_factory=dict)


def choose(
    discourses: Sequence[Discourse],
    wanted: Callable[[Discourse], Sequence[Extent]],
    most: int,
    missing: str,
    unfit: Callable[[Discourse], str] = lambda window: "",
) -> ChosenWindows:
    """Choose at most so many windows of each document.

    Left out are windows of two units with the same text, whose order nobody can tell, and those
    that an earlier window has word for word: of a corpus that has a document twice.

    Args:
        wanted: a document's windows, the best first.
        missing: the reason where it has none.
        unfit: says why a window is left out; nothing where it is not.
    """
    chosen: dict[str, tuple[Discourse, ...]] = {}
    reasons: dict[str, Counter[str]] = {}
    seen: set[tuple[str, ...]] = set()
    for discourse in discourses:
        own: list[Discourse] = []
        why: Counter[str] = Counter()
        extents = wanted(discourse)
        for extent in extents:
            if len(own) == most:
                break
            window = window_of(discourse, extent)
            if len(set(window.texts)) < len(window.texts):
                why["two sentences of a window are the same"] += 1
            elif window.texts in seen:
                why["the same text as an earlier window"] += 1
            elif reason := unfit(window):
                why[reason] += 1
            else:
                seen.add(window.texts)
                own.append(window)
        chosen[discourse.id] = tuple(sorted(own, key=lambda w: int(w.meta[FIRST_UNIT])))
        reasons[discourse.id] = why if extents else Counter([missing])
    return ChosenWindows(chosen, reasons, families(discourses))


def families(
    discourses: Sequence[Discourse],
    lines: Callable[[Discourse], Sequence[str]] = attrgetter("texts"),
) -> dict[str, str]:
    """Id of a document -> the first one of those that share lines with it, itself perhaps."""
    first: dict[int, str] = {}
    group_of = groups([lines(discourse) for discourse in discourses])
    return {
        discourse.id: first.setdefault(group, discourse.id)
        for discourse, group in zip(discourses, group_of, strict=True)
    }
