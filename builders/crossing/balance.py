"""Choices that are balanced, so that over all of them a simple rule is right as often as wrong.

What is chosen uses something up (two texts that are crossed, a mention), and leans to one side by
each of some measures: the one that a rule calls right where it goes by repeated words, or by length
(as matched samples are balanced on what could confound them: Rubin 2006). Of what there is to
choose from most leans to one side. So what does not is taken first, and of the rest as much as
evens it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from coherencegym.builders.suite import Contrast, GeneratedItem, ItemGenerator
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.statistics.pair_baselines import TIE
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

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
