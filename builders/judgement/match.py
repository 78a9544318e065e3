"""Answers meet the items of a build: each finds the pair that it is about, or says why not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from coherencegym.builders.judgement.pairs import (
    ConditionPair,
    condition_pairs,
    place_digest,
    texts_digest,
)
from coherencegym.builders.judgement.questions import CANT_TELL, TEXT_A, YES
from coherencegym.builders.judgement.read import Answers, PairAnswer, answer_lines
from coherencegym.builders.suite import Column
from coherencegym.eval.kinds.items import Item
from coherencegym.loaders.corpus import CorpusError

#: The column of an item that says whether people found what the suite predicts.
HUMAN_OK = "human_ok"

HUMAN_OK_COLUMN = Column(
    "bool",
    "whether, in each pair of the item's conditions that people judged, most found both texts "
    "grammatical English and the incoherent one the less coherent; null where no pair of it was "
    "judged on all three questions",
)

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

    ``less_coherent`` is :data:`COHERENT`, :data:`INCOHERENT` or ``can't tell``; none stands for a
    question that was left open. ``further`` has the answers to further questions that were not.
    """

    annotator: str
    coherent_grammatical: bool | None
    incoherent_grammatical: bool | None
    less_coherent: str | None
    further: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def open_questions(self) -> int:
        """The number of the three questions that were left open."""
        forms = self.coherent_grammatical, self.incoherent_grammatical
        return (*forms, self.less_coherent).count(None)


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


class Matcher:
    """Finds the answers to the pairs of a build, and remembers which of them were found."""

    def __init__(self, suite: str, answers: Answers) -> None:
        self.suite = suite
        self.answers = answers
        self._by_texts: dict[str, list[PairAnswer]] = defaultdict(list)
        for answer in answers.answers:
            self._by_texts[answer.texts].append(answer)
        self._items = {answer.item for answer in answers.answers}
        self._items_seen: set[str] = set()
        self._texts_seen: set[str] = set()

    def judged(self, config: str, split: str, item: Item) -> list[JudgedPair]:
        """The pairs of an item that were judged.

        A pair is known by its two texts: where two configs have them, its answers serve both.

        Raises:
            CorpusError: an annotator answered one pair in two sheets.
        """
        found = []
        for pair in condition_pairs(item):
            place = place_digest(self.suite, config, split, item.item_id, pair)
            if place in self._items:
                self._items_seen.add(place)
            votes: dict[str, tuple[Vote, PairAnswer]] = {}
            texts = (pair.coherent_text, pair.incoherent_text)
            for coherent_is_a in (True, False):
                digest = texts_digest(*(texts if coherent_is_a else texts[::-1]))
                if digest in self._by_texts:
                    self._texts_seen.add(digest)
                for answer in self._by_texts.get(digest, ()):
                    if answer.is_open:
                        continue
                    if before := votes.get(answer.annotator):
                        raise CorpusError(
                            f"{answer.place}: the texts of pair {answer.pair} are those of pair "
                            f"{before[1].pair}, which was answered at {before[1].place}, expected "
                            "one answer to a pair from each annotator"
                        )
                    votes[answer.annotator] = _vote(answer, coherent_is_a), answer
            if votes:
                found.append(JudgedPair(item, pair, tuple(vote for vote, _ in votes.values())))
        return found

    def check(self) -> None:
        """Check, when all items were looked at, that no answer is about something else.

        Raises:
            CorpusError: one is; with ``skip_bad_rows`` they are counted instead.
        """
        out = "or pass --skip-bad-rows to leave it out"
        for answer in self.answers.answers:
            if answer.texts in self._texts_seen:
                continue
            problem = (
                f"is of no item of this build of {self.suite}, expected answers to pairs drawn "
                f"from it; build the corpora that they were drawn from, {out}"
            )
            reason = "its pair is of no item of this build"
            if answer.item in self._items_seen:
                problem = (
                    "has other texts in this build, expected those that were judged; draw pairs "
                    f"anew, {out}"
                )
                reason = "the texts of its pair have changed"
            self.answers.options.bad(f"{answer.place}: pair {answer.pair} {problem}", reason)

    def lines(self) -> list[str]:
        """Report what became of the answers, for the end of a build."""
        read = self.answers.answers
        given = sum(not answer.is_open and answer.texts in self._texts_seen for answer in read)
        empty = sum(answer.is_open for answer in read)
        left_open = f", {empty:,} pairs left open" * bool(empty)
        return answer_lines(given, left_open, self.answers.options)


def _vote(answer: PairAnswer, coherent_is_a: bool) -> Vote:
    values = answer.values
    forms = [values[f] == YES if f in values else None for f in ("a_grammatical", "b_grammatical")]
    chosen = values.get("less_coherent")
    if chosen is not None and chosen != CANT_TELL:
        chosen = COHERENT if (chosen == TEXT_A) == coherent_is_a else INCOHERENT
    coherent, incoherent = forms if coherent_is_a else reversed(forms)
    return Vote(answer.annotator, coherent, incoherent, chosen, answer.further)
