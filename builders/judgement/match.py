"""Answers meet the items of a build: each finds the pair that it is about, or says why not."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from coherencegym.builders.judgement.agreement import majority
from coherencegym.builders.judgement.pairs import Pair, pairs_of, place_digest, texts_digest
from coherencegym.builders.judgement.questions import CANT_TELL, TEXT_A, YES
from coherencegym.builders.judgement.read import Answer, Answers
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
    def is_empty(self) -> bool:
        """True where every question was left open."""
        return self.open_questions == 3 and not self.further

    @property
    def open_questions(self) -> int:
        """The number of the three questions that were left open."""
        return (
            self.coherent_grammatical,
            self.incoherent_grammatical,
            self.less_coherent,
        ).count(None)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair of an item, and what annotators said of it: at least one of them something."""

    item: Item
    pair: Pair
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
            vote.coherent_grammatical
            if condition == self.pair.coherent
            else vote.incoherent_grammatical
            for vote in self.votes
        ]
        votes = [YES if one else "" for one in said if one is not None]
        return majority(votes) == YES if votes else None

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
        self._by_texts: dict[str, list[Answer]] = defaultdict(list)
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
        for pair in pairs_of(item):
            place = place_digest(self.suite, config, split, item.item_id, pair)
            if place in self._items:
                self._items_seen.add(place)
            votes: dict[str, tuple[Vote, Answer]] = {}
            for coherent_is_a in (True, False):
                texts = (pair.coherent_text, pair.incoherent_text)
                digest = texts_digest(*(texts if coherent_is_a else texts[::-1]))
                if digest not in self._by_texts:
                    continue
                self._texts_seen.add(digest)
                for answer in self._by_texts[digest]:
                    vote = _vote(answer, coherent_is_a)
                    if vote.is_empty:
                        continue
                    if answer.annotator in votes:
                        raise CorpusError(
                            f"{answer.place}: the texts of pair {answer.pair} are those of pair "
                            f"{votes[answer.annotator][1].pair}, which was answered at "
                            f"{votes[answer.annotator][1].place}, expected one answer to a pair "
                            "from each annotator"
                        )
                    votes[answer.annotator] = vote, answer
            if votes:
                found.append(JudgedPair(item, pair, tuple(vote for vote, _ in votes.values())))
        return found

    def check(self) -> None:
        """Check, when all items were looked at, that no answer is about something else.

        Raises:
            CorpusError: one is; with ``skip_bad_rows`` they are counted instead.
        """
        for answer in self.answers.answers:
            if answer.texts in self._texts_seen:
                continue
            if answer.item in self._items_seen:
                self.answers.options.bad(
                    f"{answer.place}: pair {answer.pair} has other texts in this build, expected "
                    "those that were judged; draw pairs anew, or pass --skip-bad-rows to leave it "
                    "out",
                    "the texts of its pair have changed",
                )
            else:
                self.answers.options.bad(
                    f"{answer.place}: pair {answer.pair} is of no item of this build of "
                    f"{self.suite}, expected answers to pairs drawn from it; build the corpora "
                    "that they were drawn from, or pass --skip-bad-rows to leave it out",
                    "its pair is of no item of this build",
                )

    def lines(self) -> list[str]:
        """Report what became of the answers, for the end of a build."""
        read = self.answers.answers
        given = sum(not answer.is_open and answer.texts in self._texts_seen for answer in read)
        empty = sum(answer.is_open for answer in read)
        lines = [f"judgements: {given:,} answers" + (f", {empty:,} pairs left open" * bool(empty))]
        for reason, count in sorted(self.answers.options.skipped.items()):
            lines.append(f"judgements left out: {count:,}, {reason}")
        return lines


def _vote(answer: Answer, coherent_is_a: bool) -> Vote:
    values = answer.values
    forms = [values[f] == YES if f in values else None for f in ("a_grammatical", "b_grammatical")]
    chosen = values.get("less_coherent")
    if chosen is not None and chosen != CANT_TELL:
        chosen = COHERENT if (chosen == TEXT_A) == coherent_is_a else INCOHERENT
    coherent, incoherent = forms if coherent_is_a else reversed(forms)
    return Vote(answer.annotator, coherent, incoherent, chosen, answer.further)
