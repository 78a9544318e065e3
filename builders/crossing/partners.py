"""Partners of a crossing: who is crossed with whom, so that as little as can be gives it away.

By rules, so that they are the same for every corpus: persons, tense, names, repeated words.

What is chosen uses something up (two texts that are crossed, a mention), and leans to one side by
each of some measures: the one that a rule calls right where it goes by repeated words, or by length
(as matched samples are balanced on what could confound them: Rubin 2006). Of what there is to
choose from most leans to one side. So what does not is taken first, and of the rest as much as
evens it out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import chain, combinations, groupby
from typing import Any, Self

from coherencegym.builders.suite import Contrast, GeneratedItem, ItemGenerator
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.statistics.bag_of_words import all_words, content_words, cosine
from coherencegym.eval.statistics.pair_baselines import TIE
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.neighbours import groups, nearest, text_vectors
from coherencegym.manipulations.operator import Context
from coherencegym.words import word_list
from coherencegym.words.scripts import ENGLISH, stop_words

#: Persons that a text may be about without a name: one about a woman tells by itself that it is not
#: of a story about a man.
_PERSONS = (
    r"\b(?:I|me|my|mine|we|us|our|ours)\b",
    r"\byou(?:rs?)?\b",
    r"\b(?:he|him|his)\b",
    r"\b(?:she|hers?)\b",
    r"\b(?:they|them|theirs?)\b",
)
_PRESENT, _PAST = (
    r"\b(?:is|are|am|has|have|do|does|'s|'re|'ve)\b",
    r"\b(?:was|were|had|did|\w+ed)\b",
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
_NAME_IN_TEXT = re.compile(r"(?<=[\w,;’')] )[A-Z][\w’'-]+")
_WORD = re.compile(r"[^\W_]{3,}")
#: Letters of a word that its forms share: a stem that is good enough to count repeated words.
_STEM = 6


@lru_cache(maxsize=20_000)
def persons_in(text: str) -> tuple[bool, ...]:
    """Look for pronouns of the first person, the second, he, she, they: five answers."""
    return tuple(bool(re.search(person, text, re.IGNORECASE)) for person in _PERSONS)


def is_past(text: str) -> bool:
    """Tell whether a text has at least as many forms of the past as of the present."""
    return len(re.findall(_PAST, text)) >= len(re.findall(_PRESENT, text))


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


def names(text: str) -> int:
    """The number of capitalised words that do not begin a sentence."""
    return len(set(_NAME_IN_TEXT.findall(text)) - {"I"})


def _english(code: str) -> frozenset[str]:
    return word_list("closed_classes") | word_list("auxiliaries")


_CLOSED = {ENGLISH: _english}


@lru_cache(maxsize=50_000)
def stems(text: str, code: str = ENGLISH) -> frozenset[str]:
    """The beginnings of the words of a text that are of no closed class of its language.

    ``code`` is the language's, ISO 639-1; of others than English stop words are the closed class.
    """
    closed = _CLOSED.get(code, stop_words)(code)
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word.rstrip("s")[:_STEM] for word in words if word not in closed)


#: Items that may be left over: of few items much would be lost to have none.
_SLACK = 1


@dataclass(frozen=True, slots=True)
class Option:
    """Something that may be chosen.

    Attributes:
        cost: orders the options, each of which has its own: the least is the best.
        uses: names of what it uses up; no two that are chosen use the same.
        leans: the side that it leans to by each measure: 1, -1 or 0.
    """

    cost: tuple[Any, ...]
    uses: frozenset[Hashable]
    leans: tuple[int, ...] = ()


def side(value: float) -> int:
    """The side that a value is on: 1, -1, or 0 where it is nothing.

    >>> side(0.3), side(-2), side(0.0)
    (1, -1, 0)
    """
    return 0 if abs(value) < TIE else 1 if value > 0 else -1


def choose_balanced(options: Iterable[Option], slack: int = 0) -> list[Option]:
    """Choose options of little cost, as many to one side as to the other by every measure.

    Without measures the options of least cost first. Where what is left does not even out, options
    are exchanged for others that use the same, and then dropped, until no side has more than
    ``slack`` more.
    """
    choice = _Choice(sorted(options, key=lambda option: option.cost))
    leans = zip(*(option.leans for option in choice.options), strict=True)
    usual = [side(sum(by_measure)) for by_measure in leans]

    def excess(balance: Sequence[int]) -> list[int]:
        return [value * most for value, most in zip(balance, usual, strict=True)]

    def evens_out(option: Option) -> bool:
        new, old = excess(choice.balance_with(option)), excess(choice.balance)
        return all(after <= max(0, before) for after, before in zip(new, old, strict=True))

    choice.take(lambda option: sum(excess(option.leans)) <= 0)
    choice.take(evens_out)

    def is_even(balance: Sequence[int]) -> bool:
        return all(abs(value) <= slack for value in balance)

    while not is_even(choice.balance):
        choice.mend(is_even)
    # In the place of what was dropped.
    choice.take(lambda option: is_even(choice.balance_with(option)))
    return [option for option in choice.options if option in choice.chosen]


class _Choice:
    def __init__(self, options: Sequence[Option]) -> None:
        self.options = list(options)
        self.chosen: set[Option] = set()
        self.balance = [0 for _ in options[0].leans] if options else []
        self._rank = {option: rank for rank, option in enumerate(options)}
        self._user: dict[Hashable, Option] = {}

    def balance_with(self, new: Option | None, old: Option | None = None) -> list[int]:
        balance = self.balance
        for option, sign in ((new, 1), (old, -1)):
            if option:
                balance = [b + sign * lean for b, lean in zip(balance, option.leans, strict=True)]
        return balance

    def take(self, fits: Callable[[Option], bool]) -> None:
        for option in self.options:
            if option.uses.isdisjoint(self._user) and fits(option):
                self._change(option, None)

    def mend(self, is_even: Callable[[Sequence[int]], bool]) -> None:
        # A drop only where nothing else evens out, and then for good.
        changes = sorted(self._changes(), key=lambda change: change[:3])
        before = self.balance
        for *_, new, old in changes:
            if is_even(self.balance):
                return
            if self._is_open(new, old) and self._far_with(new, old) < self._far_with():
                self._change(new, old)
        if self.balance == before:
            dropped = min(
                filter(lambda option: any(option.leans), self.chosen),
                key=lambda option: (self._far_with(None, option), -self._rank[option]),
            )
            self.options.remove(dropped)
            self._change(None, dropped)

    def _changes(self) -> Iterator[tuple[int, int, int, Option | None, Option | None]]:
        # Additions, exchanges and drops, how far the choice leans after them, and the cost: least
        # first.
        for option in self.options:
            users = {self._user[used] for used in option.uses if used in self._user}
            if len(users) > 1:
                continue
            old = next(iter(users), None)
            new = None if old is option else option
            far = self._far_with(new, old)
            if far < self._far_with():
                kind = 2 if new is None else 1 if old else 0
                cost = (self._rank[new] if new else 0) - (self._rank[old] if old else 0)
                yield kind, far, cost, new, old

    def _is_open(self, new: Option | None, old: Option | None) -> bool:
        users = {self._user[used] for used in new.uses if used in self._user} if new else set()
        return users <= {old} and (old is None or old in self.chosen)

    def _far_with(self, new: Option | None = None, old: Option | None = None) -> int:
        return sum(value * value for value in self.balance_with(new, old))

    def _change(self, new: Option | None, old: Option | None) -> None:
        self.balance = self.balance_with(new, old)
        if old:
            self.chosen.remove(old)
            for used in old.uses:
                del self._user[used]
        if new:
            self.chosen.add(new)
            self._user |= dict.fromkeys(new.uses, new)


@dataclass(frozen=True, slots=True)
class _Made:
    generated: list[GeneratedItem]
    skipped: Counter[str]


@dataclass(frozen=True, kw_only=True)
class Balanced:
    """Items, chosen so that what is measured tells the worse texts in half of them.

    Attributes:
        generator: makes the items; of those that are versions of one the first is the best.
        measures: functions of a text. The texts that the first contrast of an item calls
            worse are held against those that it calls better.
        one_of: gives all versions of one item the same name.
        reason: says of a discourse's item why it is left out.
        made: the chosen items of a fit, by discourse.
    """

    generator: ItemGenerator
    measures: tuple[Callable[[str], float], ...]
    one_of: Callable[[Item], str]
    reason: str
    made: Mapping[str, _Made] = field(default_factory=dict, repr=False, compare=False)

    @property
    def recipe(self) -> str:
        """The operators, as the manifest records them."""
        return self.generator.recipe

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The predictions, as the manifest records them."""
        return self.generator.contrasts

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Any) -> Self:
        """The item generator that knows which items of these discourses are chosen."""
        made: dict[str, _Made] = {}
        options: dict[Option, GeneratedItem] = {}
        for discourse in discourses:
            own = Context(context.seed, context.suite)
            versions: Counter[str] = Counter()
            made[discourse.id] = _Made([], own.skipped)
            for one in self.generator(discourse, own):
                name = self.one_of(one.item)
                lot = context.random(discourse, "Balanced", item=name).random()
                cost = versions[name], lot, one.item.item_id
                versions[name] += 1
                options[Option(cost, frozenset({name}), self._leans(one))] = one
        chosen = choose_balanced(options, _SLACK)
        for option in chosen:
            made[options[option].item.discourse_id].generated.append(options[option])
        used = {name for option in chosen for name in option.uses}
        for option, one in options.items():
            if option.cost[0] == 0 and not option.uses <= used:
                made[one.item.discourse_id].skipped[self.reason] += 1
        return replace(self, made=made)

    def _leans(self, one: GeneratedItem) -> tuple[int, ...]:
        contrast = one.contrasts[0]

        def of(measure: Callable[[str], float], names: Sequence[str]) -> float:
            return sum(measure(one.item.condition(name).content) for name in names)

        return tuple(
            side(of(measure, contrast.worse) - of(measure, contrast.better))
            for measure in self.measures
        )

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the chosen items of a discourse, in their order."""
        own = (self.made or self.fit([discourse], context, None).made)[discourse.id]
        context.skipped.update(own.skipped)
        yield from sorted(own.generated, key=lambda one: one.item.item_id)


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
        half: 1 or 2: the half of the discourses that both are from; 0: these were not divided.
    """

    first: Partner
    second: Partner
    similarity: float | None = None
    half: int = 0


#: Counts the words of a text, or weighs them.
CountWords = Callable[[str], Mapping[str, float]]
#: Measures a combination of the context of one with the target of the other.
Measure = Callable[[Partner, Partner], float]
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


def of_like_length(one: Partner, other: Partner, times: float = 1.5, more: int = 3) -> bool:
    """Tell whether the longer of two targets has at most half as many words again, or three.

    Or so many times as many, or so many more.
    """
    if not any_two(one, other):
        return False
    shorter, longer = sorted(len(each.parts[-1].split()) for each in (one, other))
    return longer <= max(times * shorter, shorter + more)


def repeating_alike(one: Partner, other: Partner) -> bool:
    """Tell whether the targets repeat at most one word more of their own contexts, together.

    More than of each other's: where it is many, counting repeated words tells which goes with
    which.
    """
    before, targets = ([stems(each.parts[i]) for each in (one, other)] for i in (0, -1))
    own, exchanged = (
        sum(len(context & target) for context, target in zip(before, order, strict=True))
        for order in (targets, targets[::-1])
    )
    return own - exchanged <= 1


@dataclass(frozen=True)
class ClosestInLength:
    """Couples partners by how little the lengths (words) of their last parts differ.

    For the partners of one discourse, or of one family, all of which may be compared.

    Attributes:
        fits: tells which partners may be crossed.
        adapt: fits partners to each other, before they are measured.
        scarce_first: true where those that fit few others come first, so that more find one.
        measures: numbers that are as often higher for the own combinations as for the exchanged
            ones, but for one couple; over all discourses, within each of which partners are.
    """

    fits: MayCross = any_two
    adapt: FitTogether = as_they_are
    scarce_first: bool = False
    measures: tuple[Measure, ...] = ()

    def __call__(self, partners: Sequence[Partner], context: Context) -> list[Couple]:
        """Couple partners, each at most once, in their order."""
        words = [len(partner.parts[-1].split()) for partner in partners]
        places = range(len(partners))
        together: list[Sequence[int]] = [places]
        if self.measures:
            together = [list(g) for _, g in groupby(places, lambda i: partners[i].discourse.id)]
        pairs = chain.from_iterable(combinations(own, 2) for own in together)
        wanted = ((abs(words[i] - words[j]), i, j) for i, j in pairs)
        how: dict[str, Any] = {"scarce_first": self.scarce_first, "slack": int(bool(self.measures))}
        couples = _best_first(
            partners, self.fits, wanted, context, self.measures, self.adapt, **how
        )
        return [replace(couple, similarity=None) for couple in couples]


@dataclass(frozen=True)
class MostSimilar:
    """Couples partners by how similar some texts of theirs are, over many discourses.

    By the project's retrieval (:mod:`manipulations.intruders.neighbours`).

    Attributes:
        fits: tells which partners may be crossed.
        parts: the numbers of the parts that are compared; the first is the context.
        adapt: fits partners to each other, before anything but their similarity is measured.
        neighbours: the number of nearest others that each is compared with.
        balanced: true where as many couples repeat more words in their own combinations as do in
            the exchanged ones, so that repeated words say nothing over all of them: content words,
            all words, and all words by how rare they are, each by itself.
        measures: further numbers that are as often higher for the own combinations.
        within: true where partners of one discourse may be coupled, too, and those first that fit
            few others; no text of the column ``texts`` is then in two couples, and of the measures
            one couple may be left over. Else neither those
            nor partners of discourses that share lines.
        halves: true where the discourses are divided at random. Partners are coupled and balanced
            within a half, by weights of words that the other half gave, so that a baseline that
            learns from one half measures nothing in the other that the coupling was fitted to.
    """

    fits: MayCross = any_two
    adapt: FitTogether = as_they_are
    parts: tuple[int, ...] = (0,)
    neighbours: int = 50
    balanced: bool = False
    measures: tuple[Measure, ...] = ()
    within: bool = False
    halves: bool = False

    def __call__(self, partners: Sequence[Partner], context: Context) -> list[Couple]:
        """Couple partners, each at most once, in their order."""
        if not self.halves:
            return self._coupled(partners, partners, context)
        one, two = _halves(partners, context)
        return [
            replace(couple, half=half)
            for half, (own, other) in enumerate(((one, two), (two, one)), start=1)
            for couple in self._coupled(own, other, context)
        ]

    def _coupled(
        self, partners: Sequence[Partner], known: Sequence[Partner], context: Context
    ) -> list[Couple]:
        # By the weights of the words of those that are known; of a half alone by its own.
        if len(partners) < 2:
            return []
        known = known or partners
        weights = None if known is partners else text_vectors(self._texts(known))[1].idf
        vectors, _ = text_vectors(self._texts(partners), weights=weights)
        indices, similarities = nearest(
            vectors,
            min(self.neighbours, len(partners) - 1),
            range(len(partners))
            if self.within
            else groups([partner.discourse.texts for partner in partners]),
        )
        similarity = {
            (min(i, int(j)), max(i, int(j))): round(float(near), 6)
            for i, (others, nearness) in enumerate(zip(indices, similarities, strict=True))
            for j, near in zip(others, nearness, strict=True)
            if j >= 0
        }
        if self.within and len(partners) <= self.neighbours:
            # Those without a word in common, too.
            similarity = dict.fromkeys(combinations(range(len(partners)), 2), 0.0) | similarity
        repeated = map(_repeated, _ways_to_count(known) if self.balanced else ())
        wanted = ((-near, i, j) for (i, j), near in similarity.items())
        measures = (*repeated, *self.measures)
        return _best_first(
            partners, self.fits, wanted, context, measures, self.adapt, within=self.within
        )

    def _texts(self, partners: Sequence[Partner]) -> list[list[str]]:
        return [[partner.parts[i] for i in self.parts] for partner in partners]


def _halves(partners: Sequence[Partner], context: Context) -> tuple[list[Partner], list[Partner]]:
    # Discourses that share lines are in one half.
    together = groups([partner.discourse.texts for partner in partners])
    lots = {
        group: context.random(partner.discourse, _NAME, half="").random()
        for group, partner in zip(together, partners, strict=True)
    }
    first = set(sorted(lots, key=lambda group: (lots[group], group))[::2])
    halves: tuple[list[Partner], list[Partner]] = ([], [])
    for group, partner in zip(together, partners, strict=True):
        halves[group not in first].append(partner)
    return halves


def _ways_to_count(partners: Sequence[Partner]) -> tuple[CountWords, ...]:
    texts = [text for partner in partners for text in (partner.parts[0], partner.parts[-1])]
    found_in = Counter(word for text in texts for word in all_words(text))

    @cache
    def by_rarity(text: str) -> Mapping[str, float]:
        counts = all_words(text).items()
        # A word that partners are given when they are adapted is as rare as can be.
        return {
            word: number * math.log(len(texts) / (found_in[word] or 1)) for word, number in counts
        }

    return content_words, all_words, by_rarity


def _repeated(count: CountWords) -> Measure:
    return lambda context, target: cosine(count(context.parts[0]), count(target.parts[-1]))


def _favours(one: Partner, other: Partner, measure: Measure) -> int:
    # 1: it is higher for the own combinations; -1: for the exchanged ones.
    own = measure(one, one) + measure(other, other)
    return side(own - measure(one, other) - measure(other, one))


def _best_first(
    partners: Sequence[Partner],
    fits: MayCross,
    wanted: Iterable[tuple[float, int, int]],
    context: Context,
    measures: Sequence[Measure] = (),
    adapt: FitTogether = as_they_are,
    *,
    within: bool = False,
    scarce_first: bool = False,
    slack: int = 0,
) -> list[Couple]:
    lots = [
        context.random(partner.discourse, _NAME, partner=partner.name).random()
        for partner in partners
    ]
    fitting = [
        (cost, i, j, both)
        for cost, i, j in wanted
        if partners[i].alike == partners[j].alike
        and fits(partners[i], partners[j])
        and (both := adapt(partners[i], partners[j], context))
    ]
    rare = within or scarce_first
    others = Counter(each for _, i, j, _ in fitting for each in (i, j) if rare)
    names: list[frozenset[Hashable]] = [
        frozenset(partner.columns["texts"]) if within else frozenset({place})
        for place, partner in enumerate(partners)
    ]
    options: dict[Option, Couple] = {}
    for cost, i, j, both in fitting:
        leans = tuple(_favours(*both, measure) for measure in measures)
        order = min(others[i], others[j]), cost, lots[i], lots[j], i, j
        options[Option(order, names[i] | names[j], leans)] = Couple(*both, -cost)
    chosen = choose_balanced(options, slack or int(within))
    return [options[option] for option in sorted(chosen, key=lambda option: option.cost[4:])]
