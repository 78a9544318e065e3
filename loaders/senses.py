"""The meanings of annotated senses, and of connectives, and the labels of relations: three tables.

Senses of the Penn Discourse Treebank (Prasad et al. 2008; Webber et al. 2019) and of
Disco-Annotation (Popescu-Belis et al. 2012) are mapped to nine meanings. Two temporal senses are
one meaning only if they agree on whether things happen together: ``while`` cannot stand for
``since``.

Relations of all frameworks have one set of labels, the 17 of the shared task DISRPT 2025:
``adversative-concession`` of a rhetorical tree and ``Comparison.Concession`` of the Penn Discourse
Treebank are both ``concession``. That table is data of its repository.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from coherencegym.loaders.formats.lines import shown, shown_names

MEANINGS = (
    *("contrast", "concession", "causal", "result", "temporal", "comparison"),
    *("substitution", "instance", "condition", "other"),
)


class UnknownSenseError(ValueError):
    """A sense that the table does not have."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a sense.

    Attributes:
        meanings: one of :data:`MEANINGS`, or several where both hold (``temporal-causal``).
        time: ``during``, ``apart`` or ``next`` of a temporal meaning; empty where nobody said.
    """

    meanings: tuple[str, ...]
    time: str = ""

    @property
    def name(self) -> str:
        """The meanings joined by a hyphen, as groups of predictions are named."""
        return "-".join(self.meanings)


@dataclass(frozen=True, slots=True)
class Connective:
    """A connective's possible meanings, and its syntax (``subordinator``, ``adverbial``, ...)."""

    meanings: frozenset[str]
    time: str
    syntax: frozenset[str]


def meaning_of(scheme: str, sense: str, connective: str = "") -> Meaning:
    """The meaning of a sense in ``pdtb2``, ``pdtb3`` or ``disco``.

    Of a hierarchical sense (``Temporal.Synchronous``) the longest known beginning counts; where the
    scheme does not say the time of a temporal sense, it follows from the annotated connective.
    """
    beginning = sense.lower()
    while beginning:
        found = _senses().get((scheme, beginning))
        if found is not None:
            known = CONNECTIVES.get(connective.lower())
            if "temporal" in found.meanings and not found.time and known is not None:
                return Meaning(found.meanings, known.time)
            return found
        beginning = beginning.rpartition(".")[0]
    labels = [label for of, label, *_ in _rows("senses.tsv", 4) if of == scheme]
    raise UnknownSenseError(
        f"sense {shown(sense)} is not known of {scheme}; expected one of {shown_names(labels, 8)}"
    )


def carries(connective: Connective, meaning: Meaning) -> bool | None:
    """Tell whether a connective can carry a meaning: all of it, none of it, or None for part of it.

    None, too, for the meaning ``other``, of which nothing is known, for a temporal meaning of which
    nobody said whether things happen together, and where what the connective says often holds
    beside the meaning (:func:`beside`).
    """
    if "other" in meaning.meanings or beside(connective, meaning):
        return None
    each = [_carries_one(connective, one, meaning.time) for one in meaning.meanings]
    if all(each):
        return True
    return None if any(one is not False for one in each) else False


def beside(connective: Connective, meaning: Meaning) -> str:
    """Name what a connective says instead of a meaning, where it often holds beside the meaning.

    Empty for pairs of which nothing is known. Of things that happen together one often happens in
    spite of the other (``concession for time``: ``he went on writing while in prison``, or
    ``although``). What is so because of something else often is so at the same time (``time for
    cause``: ``the population grew, as many came to work``, or ``while``). What depends on something
    often is so because of it, or at its time (``cause for condition``, ``condition for cause``,
    ``condition for time``: ``take a coat, as it rains``, or ``if``). What stands in contrast to
    something may also be told as what came after it, as an example, at the same time, or, unless
    it is denied, as its result (``time for contrast``, ``instance for contrast``, ``result for
    contrast``: ``he was to study law. However, he read poems``, or ``Then``).
    """
    if set(meaning.meanings) <= {"contrast", "concession"}:
        return _beside_contrast(connective, "concession" in meaning.meanings)
    if meaning.meanings == ("condition",):
        return "cause for condition" * ("causal" in connective.meanings)
    if connective.meanings == {"condition"} and meaning.meanings in (("causal",), ("temporal",)):
        return "condition for cause" if "causal" in meaning.meanings else "condition for time"
    if meaning == Meaning(("temporal",), "during"):
        return "concession for time" * (connective.meanings == {"contrast", "concession"})
    during = connective.time == "during" and "causal" not in connective.meanings
    return "time for cause" if during and meaning.meanings == ("causal",) else ""


def _beside_contrast(connective: Connective, denied: bool) -> str:
    # ``denied``: it holds beside a concession as well.
    if connective.time == "next":
        return "time for contrast"
    if connective.meanings == {"instance"}:
        return "instance for contrast"
    if denied or "contrast" in connective.meanings:
        return ""
    if connective.meanings == {"result"} and "adverbial" in connective.syntax:
        return "result for contrast"
    return "time for contrast" * (connective.time == "during")


def _carries_one(connective: Connective, meaning: str, time: str) -> bool | None:
    if meaning not in connective.meanings:
        return False
    if meaning != "temporal" or connective.time == time:
        return True
    # Both are of time, but not of the same: neither the same sense nor plainly a different one.
    return None


def unified_relation(name: str) -> str:
    """The unified label of a relation, whatever its case; empty where the shared task has none.

    >>> unified_relation("Contingency.Cause.Reason"), unified_relation("same-unit")
    ('causal', '')
    """
    return _unified().get(name.lower(), "")


def is_unified(label: str) -> bool:
    """Tell whether a label is one of the 17.

    >>> is_unified("causal"), is_unified("cause")
    (True, False)
    """
    return label in set(_unified().values())


def _rows(name: str, width: int) -> Iterator[list[str]]:
    text = (files(__package__) / name).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            cells = line.split("\t")
            yield cells + [""] * (width - len(cells))


@functools.cache
def _senses() -> dict[tuple[str, str], Meaning]:
    return {
        (scheme, sense.lower()): Meaning(tuple(meanings.split()), time)
        for scheme, sense, meanings, time in _rows("senses.tsv", 4)
    }


@functools.cache
def _unified() -> dict[str, str]:
    return dict(_rows("unified_relations.tsv", 2))


#: The English connectives by their word.
CONNECTIVES = {
    word: Connective(frozenset(meanings.split()), time, frozenset(syntax.split()))
    for word, meanings, time, syntax in _rows("connectives.tsv", 4)
}
