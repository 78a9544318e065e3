"""Answers of people to spans: how often they agree with the answers of the dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from coherencegym.builders.judgement.figures import alpha_figures
from coherencegym.builders.judgement.match import majority
from coherencegym.builders.judgement.questions import CANT_TELL
from coherencegym.builders.judgement.read import answer_lines, answer_records
from coherencegym.builders.judgement.span_draw import DrawnSpan, spans_of
from coherencegym.builders.suite import Column
from coherencegym.eval.kinds.spans import SpanText
from coherencegym.eval.statistics.intervals import share_interval
from coherencegym.loaders.corpus import ReadOptions
from coherencegym.loaders.formats.lines import shown
from coherencegym.loaders.formats.records import Record

#: (annotator, span, answer)
SpanAnswer = tuple[str, DrawnSpan, str]

SPAN_HUMAN_OK_COLUMN = Column(
    "bool",
    "whether most people who judged a span of the text, without the text around it, gave the "
    "answer that `gold` has for it; null where no span of it was judged",
)


@dataclass(frozen=True, slots=True)
class JudgedSpan:
    """A span that at least one annotator answered, by annotator."""

    row: SpanText
    span: DrawnSpan
    votes: Mapping[str, str]

    @property
    def verdict(self) -> str | None:
        """The answer of most; none where there is no majority."""
        return majority(list(self.votes.values()))

    @property
    def is_ok(self) -> bool:
        """True where most gave the answer of the dataset."""
        return self.verdict == self.span.gold


class SpanMatcher:
    """Finds the answers to the spans of a build, and remembers which of them were found.

    Files are each of one annotator unless their lines name them. Spans that were left open are
    counted and count for nothing.

    Raises:
        CorpusError: a file is there twice or cannot be read; bad lines are counted instead with
            ``skip_bad_rows``.
    """

    def __init__(self, suite: str, paths: Sequence[Path], skip_bad_rows: bool = False) -> None:
        self.suite = suite
        self.options = ReadOptions(skip_bad_rows)
        self.digests: dict[str, Path] = {}
        self._records: dict[str, list[tuple[str, Record]]] = {}
        self._seen: set[str] = set()
        self._given = self._open = 0
        for path, record in answer_records(paths, self.options, self.digests):
            annotator = str(record.values.get("annotator") or path.name)
            span = str(record.values.get("span"))
            self._records.setdefault(span, []).append((annotator, record))

    def votes(self, span: DrawnSpan) -> dict[str, str]:
        """The answers to a span, by annotator.

        Raises:
            CorpusError: one is none of those that there are, or an annotator's second one.
        """
        places: dict[str, str] = {}
        votes: dict[str, str] = {}
        self._seen.add(span.id)
        for annotator, record in self._records.get(span.id, ()):
            answer, allowed = record.values.get("answer", ""), [value for value, _ in span.answers]
            if answer not in ("", *allowed):
                expected = ", ".join(map(repr, allowed))
                self.options.bad(
                    f"{record.place}: answer is {shown(str(answer))}, expected {expected} or ''",
                    "no such answer",
                )
            elif not answer:
                self._open += 1
            elif annotator in votes:
                self.options.bad(
                    f"{record.place}: span {span.id} was answered at {places[annotator]}, expected "
                    "one answer to a span from each annotator",
                    "a span answered twice",
                )
            else:
                votes[annotator], places[annotator] = str(answer), record.place
        self._given += len(votes)
        return votes

    def judged(self, config: str, split: str, positive: str, row: SpanText) -> list[JudgedSpan]:
        """The spans of a row that were judged; see :meth:`votes`."""
        spans = spans_of(self.suite, config, split, positive, row)
        found = (JudgedSpan(row, span, self.votes(span)) for span in spans)
        return [one for one in found if one.votes]

    def check(self) -> None:
        """Check, when all spans were looked at, that no answer is about something else.

        Raises:
            CorpusError: one is; with ``skip_bad_rows`` they are counted instead.
        """
        for span, records in self._records.items():
            for _, record in records if span not in self._seen else ():
                self.options.bad(
                    f"{record.place}: span {shown(span)} is none of the build's; expected one that "
                    "was drawn from it, its text unchanged",
                    "its span is none of this build's",
                )

    def lines(self) -> list[str]:
        """Report what became of the answers, for the end of a build."""
        left_open = f", {self._open:,} spans left open" * bool(self._open)
        return answer_lines(self._given, left_open, self.options)


def read_span_answers(
    paths: Sequence[Path], spans: Mapping[str, DrawnSpan]
) -> Iterator[SpanAnswer]:
    """Read files of answers to spans of a build.

    Raises:
        CorpusError: see :class:`SpanMatcher`.
    """
    matcher = SpanMatcher("", paths)
    for span in spans.values():
        for annotator, answer in matcher.votes(span).items():
            yield annotator, span, answer
    matcher.check()


def span_human_figures(judged: Sequence[JudgedSpan], digests: Sequence[str]) -> dict[str, Any]:
    """The human figures of a split, of which at least one span was judged.

    ``agree`` is the share of spans to which most gave the answer of the dataset, with an interval
    over sources; ``by_gold`` the same by that answer; ``kappa`` Cohen's of all answers and the
    dataset's, those who cannot tell left out (not of majorities: of two people that would be those
    who agree); ``alpha`` Krippendorff's among people. Of the files of answers only their sha256
    are kept.
    """
    rights = [float(one.is_ok) for one in judged]
    interval = share_interval(rights, [one.row.cluster for one in judged])
    verdicts = [one.verdict for one in judged]
    golds = sorted({one.span.gold for one in judged})
    labels = (
        (annotator, one.span.id, answer)
        for one in judged
        for annotator, answer in one.votes.items()
    )
    kappa = _kappa(
        [
            (one.span.gold, answer)
            for one in judged
            for answer in one.votes.values()
            if answer != CANT_TELL
        ]
    )
    return {
        "spans": len(judged),
        "items": len({one.row.item_id for one in judged}),
        "annotators": len({annotator for one in judged for annotator in one.votes}),
        "answers": sum(len(one.votes) for one in judged),
        "agree": round(mean(rights), 4),
        "ci_low": round(interval.low, 4),
        "ci_high": round(interval.high, 4),
        "ci_method": interval.method,
        "by_gold": {
            gold: {
                "n": sum(one.span.gold == gold for one in judged),
                "agree": sum(one.is_ok for one in judged if one.span.gold == gold),
            }
            for gold in golds
        },
        "cant_tell": verdicts.count(CANT_TELL),
        "no_majority": verdicts.count(None),
        "kappa": None if kappa is None else round(kappa, 4),
        **alpha_figures(labels),
        "answers_sha256": sorted(digests),
    }


def agreement_lines(answers: Sequence[SpanAnswer]) -> list[str]:
    """Say for each annotator and config how often the answer is the dataset's, and Cohen's κ.

    Whoever cannot tell does not agree; κ is over the others.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for annotator, span, answer in answers:
        found.setdefault((span.config, annotator), []).append((span.gold, answer))
    return [
        f"{config}, {annotator}: {_agreement(pairs)}"
        for (config, annotator), pairs in sorted(found.items())
    ]


def _agreement(pairs: Sequence[tuple[str, str]]) -> str:
    agree, counts = sum(gold == answer for gold, answer in pairs), Counter(a for _, a in pairs)
    text = f"{agree} of {len(pairs)} answers are the dataset's"
    if counts[CANT_TELL]:
        text += f", {counts[CANT_TELL]} cannot tell"
    kappa = _kappa([(gold, answer) for gold, answer in pairs if answer != CANT_TELL])
    return text if kappa is None else f"{text}; κ {kappa:.2f}"


def _kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    from sklearn.metrics import cohen_kappa_score

    if len({value for pair in pairs for value in pair}) < 2:
        return None
    golds, given = zip(*pairs, strict=True)
    return float(cohen_kappa_score(golds, given))
