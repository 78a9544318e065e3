"""Answers meet the rows of a build: each finds what it is about, or says why not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from coherencegym.builders.judgement.asked import Asked, AskedRow
from coherencegym.builders.judgement.pairs import (
    ConditionPair,
    condition_pairs,
    place_digest,
    texts_digest,
)
from coherencegym.builders.judgement.questions import (
    ANSWER,
    CANNOT_TELL,
    PAIR,
    TEXT_A,
    YES,
    is_model,
)
from coherencegym.builders.judgement.read import Answers, UnitAnswer, choice
from coherencegym.eval.kinds.items import Item
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.formats.lines import RecordError

#: Answers in a vote on coherence.
COHERENT, INCOHERENT = "coherent", "incoherent"

_Vote = TypeVar("_Vote", bound=Hashable)


def majority(votes: Sequence[_Vote]) -> _Vote | None:
    """The answer of more than half of those who answered; none where there is no such answer."""
    if not votes:
        return None
    ((answer, count), *_) = Counter(votes).most_common(1)
    return answer if 2 * count > len(votes) else None


@dataclass(frozen=True, slots=True)
class Vote:
    """One annotator's answers about a pair, by condition and no longer by A and B.

    ``less_coherent`` is :data:`COHERENT`, :data:`INCOHERENT` or ``cannot tell``; none stands for a
    question that was left open. ``further`` has the answers to further questions that were not.
    """

    annotator: str
    coherent_grammatical: bool | None
    incoherent_grammatical: bool | None
    less_coherent: str | None
    further: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair of an item, and what annotators said of it: at least one of them something."""

    item: Item
    pair: ConditionPair
    votes: tuple[Vote, ...]

    @property
    def verdict(self) -> str | None:
        """The condition that most call the less coherent; none where there is no majority."""
        return majority([v.less_coherent for v in self.votes if v.less_coherent is not None])

    @property
    def has_verdicts(self) -> bool:
        """True where anybody said which is the less coherent."""
        return any(vote.less_coherent is not None for vote in self.votes)

    def grammatical(self, condition: str) -> bool | None:
        """Tell whether most find a condition grammatical; none where nobody was of any opinion."""
        said = [
            v.coherent_grammatical if condition == self.pair.coherent else v.incoherent_grammatical
            for v in self.votes
        ]
        votes = [one for one in said if one is not None]
        return majority(votes) is True if votes else None

    @property
    def is_ok(self) -> bool | None:
        """True where people found what is predicted; none where a question has no answer at all."""
        forms = [self.grammatical(name) for name in (self.pair.coherent, self.pair.incoherent)]
        if None in forms or not self.has_verdicts:
            return None
        return all(forms) and self.verdict == INCOHERENT


def human_ok(judged: list[JudgedPair]) -> bool | None:
    """An item's value of the column, from the pairs of it that were judged."""
    known = [value for one in judged if (value := one.is_ok) is not None]
    return all(known) if known else None


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A question about a row, and the answers to it by annotator, of which there is at least one.

    Annotators are names; or numbers, where the corpus has answers and does not say whose.
    """

    row: AskedRow
    asked: Asked
    votes: Mapping[str | int, str]

    @property
    def verdict(self) -> str | None:
        """The answer of most; none where there is no majority."""
        return majority(list(self.votes.values()))

    @property
    def is_ok(self) -> bool:
        """True where most gave a right answer."""
        return self.verdict in self.asked.right


class Matcher:
    """Finds the answers to the rows of a build, and remembers which of them were found.

    A pair is known by its texts: where two configs have them, its answers serve both. A row with a
    question of its own is known by itself: what people say is of those that were drawn.
    """

    def __init__(self, suite: str, answers: Answers) -> None:
        self.suite = suite
        self.answers = answers
        self._found: dict[tuple[str, str], list[UnitAnswer]] = defaultdict(list)
        for answer in answers.answers:
            self._found[_key(answer)].append(answer)
        self._items = {(answer.unit, answer.item) for answer in answers.answers}
        self._items_seen: set[tuple[str, str]] = set()
        self._seen: set[tuple[str, str]] = set()
        self._bad = 0

    def judged(self, config: str, split: str, item: Item) -> list[JudgedPair]:
        """The pairs of an item that were judged.

        Raises:
            CorpusError: an annotator answered one pair in two sheets.
        """
        found = []
        for pair in condition_pairs(item):
            place = place_digest(self.suite, config, split, item.item_id, pair)
            texts = (pair.coherent_text, pair.incoherent_text)
            digests = texts_digest(*texts), texts_digest(*texts[::-1])
            votes = tuple(
                _vote(answer, answer.texts == digests[0])
                for answer in self._given(PAIR, place, digests)
            )
            if votes:
                found.append(JudgedPair(item, pair, votes))
        return found

    def votes(self, unit: str, asked: Asked) -> dict[str | int, str]:
        """The answers to a question about a row, by annotator.

        Raises:
            CorpusError: one is none of those that there are, or an annotator's second one.
        """
        votes: dict[str | int, str] = {}
        for answer in self._given(unit, asked.id.partition("-")[0], (asked.id,)):
            try:
                given = choice(ANSWER, answer.values[ANSWER], asked.question.values)
            except RecordError as bad:
                bad.report(answer.place, self.answers.options)
                self._bad += 1
                continue
            votes[answer.annotator] = given
        return votes

    def _given(self, unit: str, place: str, names: Sequence[str]) -> Iterator[UnitAnswer]:
        if (unit, place) in self._items:
            self._items_seen.add((unit, place))
        found: dict[tuple[str, str], UnitAnswer] = {}
        for name in names:
            if (unit, name) in self._found:
                self._seen.add((unit, name))
            for answer in self._found.get((unit, name), ()):
                if answer.is_open:
                    continue
                # A model reads a pair in both orders.
                who = answer.annotator, name if is_model(answer.annotator) else ""
                if before := found.get(who):
                    raise CorpusError(
                        f"{answer.place}: the texts of {unit} {answer.id} are those of {unit} "
                        f"{before.id}, which was answered at {before.place}, expected one answer "
                        f"to a {unit} from each `annotator`"
                    )
                found[who] = answer
        yield from found.values()

    def check(self) -> None:
        """Check, when all rows were looked at, that no answer is about something else.

        Raises:
            CorpusError: one is; with ``skip_bad_rows`` they are counted instead.
        """
        out = "or pass --skip-bad-rows to leave it out"
        for answer in self.answers.answers:
            if self._is_found(answer):
                continue
            unit = answer.unit
            problem = (
                f"is of no item of this build of {self.suite}, expected answers to {unit}s drawn "
                f"from it; build the corpora that they were drawn from, {out}"
            )
            reason = f"its {unit} is of no item of this build"
            if (unit, answer.item) in self._items_seen:
                problem = (
                    f"has other texts in this build, expected those that were judged; draw {unit}s "
                    f"anew, {out}"
                )
                reason = f"the texts of its {unit} have changed"
            self.answers.options.bad(f"{answer.place}: {unit} {answer.id} {problem}", reason)

    def _is_found(self, answer: UnitAnswer) -> bool:
        return _key(answer) in self._seen

    def lines(self, option: str = "judgements") -> list[str]:
        """Report what became of the answers that an option gave, for the end of a build."""
        read = self.answers.answers
        given = sum(not answer.is_open and self._is_found(answer) for answer in read) - self._bad
        empty = Counter(answer.unit for answer in read if answer.is_open)
        left_open = "".join(f", {n:,} {unit}s left open" for unit, n in empty.items())
        return [
            f"{option}: {given:,} answers{left_open}",
            *(
                f"{option} left out: {count:,}, {reason}"
                for reason, count in sorted(self.answers.options.skipped.items())
            ),
        ]


def _key(answer: UnitAnswer) -> tuple[str, str]:
    return answer.unit, answer.texts if answer.unit == PAIR else answer.id


def _vote(answer: UnitAnswer, coherent_is_a: bool) -> Vote:
    values = answer.values
    forms = [values[f] == YES if f in values else None for f in ("a_grammatical", "b_grammatical")]
    chosen = values.get("less_coherent")
    if chosen is not None and chosen != CANNOT_TELL:
        chosen = COHERENT if (chosen == TEXT_A) == coherent_is_a else INCOHERENT
    coherent, incoherent = forms if coherent_is_a else reversed(forms)
    return Vote(answer.annotator, coherent, incoherent, chosen, answer.further)
