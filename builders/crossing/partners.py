"""Partners of a crossing: who is crossed with whom, so that as little as can be gives it away.

By rules, so that they are the same for every corpus: persons, tense, names, repeated words. Of all
who fit together the couples of least cost are taken, each text in one of them. What the surface
still tells of which target is whose, balance weights take away (:mod:`eval.statistics.balance`).

The last part has the partners of one text, which are slots: sentences that change places in it,
each with what stands before it. They are far from each other: in different paragraphs, where a
corpus marks them, and :data:`_APART` sentences away. So nothing is about another topic or by
another author, and what is left is whether a sentence goes on from what was said. Their contexts
are not about the very same matter, where both sentences would fit both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

from coherencegym.builders.discourse.cutting import category, stretches
from coherencegym.eval.kinds.table_kind import Column
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.neighbours import groups, nearest, text_vectors
from coherencegym.manipulations.operator import Context
from coherencegym.words import word_list

#: Persons that a text may be about without a name: one about a woman tells by itself that it is not
#: of a story about a man.
_PERSONS = (
    r"\b(?:I|me|my|mine|we|us|our|ours)\b",
    r"\byou(?:rs?)?\b",
    r"\b(?:he|him|his)\b",
    r"\b(?:she|hers?)\b",
    r"\b(?:they|them|theirs?)\b",
)
#: Somebody else's words, and participles, which are no finite verbs: "has already left", "a locked
#: door"; and forms that are the same in the present: "to set".
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_PAST_FORM = (
    r"(?:"
    + "|".join(sorted(word_list("irregular_pasts") | word_list("narrated_pasts")))
    + r"|(?!(?:need|indeed|hundred|speed)\b)\w{2,}ed)\b"
)
_NOT_FINITE = re.compile(
    r"(?:\b(?:has|have|is|are|be|been|being|get|gets|to)|['’](?:s|re|ve))"
    rf"(?: (?:\w+ly|already|never|just|not|also|now|still|often))* {_PAST_FORM}"
    rf"|\b(?:an?|the|his|her|its|their|my|our|your|with|of|as) {_PAST_FORM}",
    re.IGNORECASE,
)
_FINITE_PAST = re.compile(
    rf"\b(?:(?:was|were|had|did|could|would)(?:n['’]t)?\b|{_PAST_FORM})", re.IGNORECASE
)
_NO_VERB = (
    r"(?!(?:was|has|is|does|his|its|this|always|as|us|thus|perhaps|across|unless|besides|towards"
    r"|afterwards|less|plus|minus)\b)"
)
_FINITE_PRESENT = re.compile(
    r"\b(?:(?:is|are|am|has|does|can|will)(?:n['’]t)?|cannot|can['’]t|won['’]t)\b"
    r"|\b(?:I|we|you|they) (?:have|do)\b|\w['’](?:m|re|ve|ll)\b"
    # "she waits"; "and waves the others off", as a plural has no object.
    r"|\b(?:he|she|it|who|which|nobody|every(?:body|one)|some(?:body|one))"
    rf"(?: (?:\w+ly|always|never|now|still|then|also|just))? {_NO_VERB}[a-z]\w*[^\Ws]s\b"
    rf"|\b{_NO_VERB}[a-z]\w*[^\Ws]s (?:the|an?|her|his|him|it|them|their|my|me|us|our"
    r"|himself|herself|itself|nothing)\b",
    re.IGNORECASE,
)
_FUTURE = re.compile(r"\b(?:will|won['’]t)\b|\w['’]ll\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]{3,}")
#: Letters of a word that its forms share: a stem that is good enough to count repeated words.
_STEM = 6
_CLOSED = word_list("closed_classes") | word_list("auxiliaries")


@lru_cache(maxsize=20_000)
def persons_in(text: str) -> tuple[bool, ...]:
    """Look for pronouns of the first person, the second, he, she, they: five answers."""
    return tuple(bool(re.search(person, text, re.IGNORECASE)) for person in _PERSONS)


def narrative_tense(text: str) -> str:
    """Name the tense that a text tells in: ``past``, ``present`` or ``future``; empty if unclear.

    By the words, outside of quotations: three times as many finite verbs are of it as of others.

    >>> narrative_tense("She has left, and the dog waits."), narrative_tense("He came and went.")
    ('present', 'past')
    """
    told = _QUOTED.sub(" ", text)
    past = len(_FINITE_PAST.findall(_NOT_FINITE.sub(" has ", told)))
    present = len(_FINITE_PRESENT.findall(told))
    if past and past >= 3 * present:
        return "past"
    if not present or present < 3 * past:
        return ""
    return "future" if 2 * len(_FUTURE.findall(told)) > present else "present"


@lru_cache(maxsize=50_000)
def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of an English text that are of no closed class."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word.rstrip("s")[:_STEM] for word in words if word not in _CLOSED)


_NAME = "Crossed"


@dataclass(frozen=True)
class Partner:
    """A context with its own target, as one side of a crossing brings them.

    Attributes:
        discourse: the discourse that it is from.
        name: its name among the partners of that discourse; may be empty where it is the only one.
        parts: its texts, of which the conditions are made: at first its context and its target.
        alike: values that partners must have in common (type, tense, gender, number).
        columns: the suite's own columns, on it alone.
    """

    discourse: Discourse
    parts: tuple[str, ...]
    name: str = ""
    alike: tuple[Any, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Its discourse's id and its own name, which together are like no other's."""
        return self.discourse.id, self.name


@dataclass(frozen=True)
class Couple:
    """Two partners.

    Attributes:
        first, second: the partners.
        similarity: the TF-IDF cosine of what they are matched by; none: nothing was.
    """

    first: Partner
    second: Partner
    similarity: float | None = None


#: Tells whether two partners may be crossed, whatever else they have in common.
MayCross = Callable[[Partner, Partner], bool]
#: Fits two partners to each other; none where that cannot be.
FitTogether = Callable[[Partner, Partner, Context], tuple[Partner, Partner] | None]


def as_they_are(one: Partner, other: Partner, context: Context) -> tuple[Partner, Partner]:
    """Leave two partners as they are."""
    return one, other


def any_two(one: Partner, other: Partner) -> bool:
    """Let any two partners be crossed whose first parts differ, where there are any, and last."""
    same = one.parts[0] == other.parts[0] != ""
    return not same and one.parts[-1] != other.parts[-1]


def repeated_more(one: Partner, other: Partner) -> int:
    """How many more stems two targets repeat of their own contexts than of each other's."""
    before, targets = ([stems(each.parts[i]) for each in (one, other)] for i in (0, -1))
    own, exchanged = (
        sum(len(context & target) for context, target in zip(before, order, strict=True))
        for order in (targets, targets[::-1])
    )
    return own - exchanged


@dataclass(frozen=True)
class LeastRepeating:
    """Couples partners by how little more the targets repeat of their own contexts.

    For the partners of one discourse, or of one family, all of which may be compared. Targets
    repeat more of their own contexts as a rule: those of which it is the other way round even that
    out. Of equal ones those come first whose targets are nearest in length (words).

    Attributes:
        fits: tells which partners may be crossed.
        adapt: fits partners to each other.
    """

    fits: MayCross = any_two
    adapt: FitTogether = as_they_are

    def __call__(self, partners: Sequence[Partner], context: Context) -> list[Couple]:
        """Couple partners, each at most once, in their order."""
        words = [len(partner.parts[-1].split()) for partner in partners]
        cost = {
            (i, j): (repeated_more(partners[i], partners[j]), abs(words[i] - words[j]))
            for i, j in combinations(range(len(partners)), 2)
        }
        return [Couple(*both) for _, both in _of_least_cost(self, partners, cost, context)]


@dataclass(frozen=True)
class MostSimilar:
    """Couples partners by how similar some texts of theirs are, over many discourses.

    By the project's retrieval (:mod:`manipulations.intruders.neighbours`).

    Attributes:
        fits: tells which partners may be crossed.
        parts: the numbers of the parts that are compared; the first is the context.
        adapt: fits partners to each other.
        neighbours: the number of nearest others that each is compared with.
        within: true where partners of one discourse may be coupled, too. Else neither those nor
            partners of discourses that share lines.
    """

    fits: MayCross = any_two
    adapt: FitTogether = as_they_are
    parts: tuple[int, ...] = (0,)
    neighbours: int = 50
    within: bool = False

    def __call__(self, partners: Sequence[Partner], context: Context) -> list[Couple]:
        """Couple partners, each at most once, in their order."""
        if len(partners) < 2:
            return []
        vectors, _ = text_vectors([[each.parts[i] for i in self.parts] for each in partners])
        indices, similarities = nearest(
            vectors,
            min(self.neighbours, len(partners) - 1),
            range(len(partners))
            if self.within
            else groups([partner.discourse.texts for partner in partners]),
        )
        cost = {
            (min(i, int(j)), max(i, int(j))): (-round(float(near), 6),)
            for i, (others, nearness) in enumerate(zip(indices, similarities, strict=True))
            for j, near in zip(others, nearness, strict=True)
            if j >= 0
        }
        if self.within and len(partners) <= self.neighbours:
            # Those without a word in common, too.
            cost = dict.fromkeys(combinations(range(len(partners)), 2), (0.0,)) | cost
        chosen = _of_least_cost(self, partners, cost, context)
        return [Couple(*both, -distance) for (distance,), both in chosen]


def _of_least_cost(
    how: LeastRepeating | MostSimilar,
    partners: Sequence[Partner],
    cost: Mapping[tuple[int, int], tuple[float, ...]],
    context: Context,
) -> list[tuple[tuple[float, ...], tuple[Partner, Partner]]]:
    # The couples by their places, each with its cost; no text of the column ``texts`` is in two.
    lots = [
        context.random(partner.discourse, _NAME, partner=partner.name).random()
        for partner in partners
    ]
    texts: list[frozenset[Hashable]] = [
        frozenset(partner.columns.get("texts", (place,))) for place, partner in enumerate(partners)
    ]
    fitting = [
        (i, j)
        for i, j in cost
        if partners[i].alike == partners[j].alike and how.fits(partners[i], partners[j])
    ]

    def order(places: tuple[int, int]) -> tuple[Any, ...]:
        i, j = places
        return cost[places], *sorted((lots[i], lots[j])), places

    used: set[Hashable] = set()
    chosen = {}
    for i, j in sorted(fitting, key=order):
        both = texts[i] | texts[j]
        if used.isdisjoint(both) and (fit := how.adapt(partners[i], partners[j], context)):
            used |= both
            chosen[i, j] = cost[i, j], fit
    return [chosen[places] for places in sorted(chosen)]


#: Sentences before a slot that its context has at least, and those that it has where they are.
_FEWEST_BEFORE, _MOST_BEFORE = 2, 3
#: Words of a sentence that changes its place.
_SLOT_WORDS = range(8, 36)
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
            before = range(max(first, place - _MOST_BEFORE), place)
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
    if len(before) < _FEWEST_BEFORE:
        return f"fewer than {_FEWEST_BEFORE} sentences of prose before it"
    if words not in _SLOT_WORDS:
        return f"not {_SLOT_WORDS.start} to {_SLOT_WORDS.stop - 1} words"
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
