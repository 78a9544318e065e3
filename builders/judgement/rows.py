"""Answers of people in the rows of a build: columns, and figures for the manifest.

Figures are those of one config and split, over one question a row, or one for each of its parts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from coherencegym.builders.judgement.asked import (
    Asked,
    AskedRow,
    RowPlace,
    answer_of,
    asked_of,
    position_of,
)
from coherencegym.builders.judgement.match import Matcher
from coherencegym.builders.judgement.questions import CANNOT_TELL
from coherencegym.builders.release.baselines import score_figures
from coherencegym.builders.suite import Column, Config
from coherencegym.eval.kinds.documents import DOCUMENTS, HUMAN, Document
from coherencegym.eval.kinds.examples import EXAMPLES
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.spans import SPANS
from coherencegym.eval.kinds.table_kind import HUMAN_OK
from coherencegym.eval.statistics.agreement import agreement_groups
from coherencegym.eval.statistics.scores import text_of

HUMAN_COLUMN = Column(
    ["int32"], "the answer of each annotator: the position of the intruder, or -1 for none"
)

#: Kind -> the columns that its rows have where people judged some of them.
JUDGED_COLUMNS: Mapping[str, Mapping[str, Column]] = {
    kind: {**more, HUMAN_OK: Column("bool", f"whether {said}; null if nobody judged the row")}
    for kind, said, more in (
        (
            ITEMS.name,
            "most annotators called the incoherent text of each judged pair of the item's "
            "conditions the less coherent one",
            {},
        ),
        (
            SPANS.name,
            "most annotators who judged a span of the text, without the surrounding text, gave its "
            "answer in `gold`",
            {},
        ),
        (
            DOCUMENTS.name,
            "most annotators named `intruder_position`",
            {HUMAN: HUMAN_COLUMN},
        ),
        (EXAMPLES.name, "most annotators chose a right label", {}),
    )
}


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
        """The answer of more than half of those who answered; none where there is no such."""
        ((answer, count), *_) = Counter(self.votes.values()).most_common(1)
        return answer if 2 * count > len(self.votes) else None

    @property
    def is_ok(self) -> bool:
        """True where most gave a right answer."""
        return self.verdict in self.asked.right


def judge_rows(
    matcher: Matcher | None,
    place: RowPlace,
    config: Config,
    values: Iterable[Any],
    rows: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Put what people said into rows, and give the figures for the manifest; empty if nothing.

    Args:
        matcher: has the answers; none: only those that a corpus has (the column ``human`` of
            documents) make figures, and no row changes.
        values: the rows as values of their kind.
    """
    if matcher is None and config.kind is not DOCUMENTS:
        return {}
    judged: list[JudgedRow] = []
    for value, row in zip(values, rows, strict=True):
        of_row = []
        for asked in asked_of(config.kind.name, place, value):
            given: Mapping[Any, str] = {} if matcher is None else matcher.votes(asked)
            votes: dict[str | int, str] = {**_known_votes(value), **given}
            if votes:
                of_row.append(JudgedRow(value, asked, votes))
            if matcher is not None and isinstance(value, Document):
                # In their order by place: who said what is not kept.
                row[HUMAN] = [*row.get(HUMAN, ()), *sorted(map(position_of, given.values()))]
        if matcher is not None:
            row[HUMAN_OK] = all(one.is_ok for one in of_row) if of_row else None
        judged += of_row
    return human_figures(config, judged, matcher.digests if matcher else ()) if judged else {}


def _known_votes(value: AskedRow) -> dict[str | int, str]:
    known = value.extra.get(HUMAN) or () if isinstance(value, Document) else ()
    return {number: answer_of(position) for number, position in enumerate(known, start=1)}


def human_figures(
    config: Config, judged: Sequence[JudgedRow], digests: Sequence[str]
) -> dict[str, Any]:
    """The human figures of a split, of which one or more rows have votes.

    ``scores`` are the share of the questions to which most gave a right answer: of those in the
    config's headline (group ``""``), of these by column and by how many annotators agree, and by
    group of predictions. ``one_annotator`` is the share of all answers that are right, each
    question with the same weight; ``by_answer`` counts by the dataset's answer. ``kappa`` is
    Cohen's of all answers and the dataset's, those who cannot tell left out (not of majorities: of
    two people that would be those who agree); ``alpha`` Krippendorff's among people.
    ``annotators`` is None where the corpus has the answers and does not say whose. Of the files of
    answers only their sha256 are kept.
    """
    answers = [(one, who, answer) for one in judged for who, answer in one.votes.items()]
    known = [(one.asked.right[0], answer) for one, _, answer in answers if answer != CANNOT_TELL]
    kappa = cohens_kappa(known)
    alpha, units = krippendorffs_alpha(
        (str(who), one.asked.id, answer) for one, who, answer in answers
    )
    of_one = [mean(a in one.asked.right for a in one.votes.values()) for one in judged]
    by_answer: dict[str, list[bool]] = defaultdict(list)
    for one in judged:
        by_answer[one.asked.answer_kind].append(one.is_ok)
    return {
        "judged": len(judged),
        "annotators": len({who for _, who, _ in answers if isinstance(who, str)}) or None,
        "scores": [_score(group, members) for group, members in _groups(config, judged)],
        "one_annotator": score_figures(of_one, [one.row.cluster for one in judged]),
        "by_answer": {
            kind: {"n": len(own), "agree": sum(own)} for kind, own in sorted(by_answer.items())
        },
        "kappa": None if kappa is None else round(kappa, 4),
        "alpha": None if alpha is None else round(alpha, 4),
        "units": units,
        "answers_sha256": list(digests),
    }


def _groups(
    config: Config, judged: Sequence[JudgedRow]
) -> Iterator[tuple[str, Sequence[JudgedRow]]]:
    groups: dict[str, list[JudgedRow]] = defaultdict(list)
    for one in judged:
        names = list(one.asked.groups)
        if not config.headline or config.headline in names:
            columns = ((column, one.row.extra.get(column)) for column in config.breakdowns)
            names += ["", *agreement_groups(list(one.votes.values()))]
            names += [f"{name}={text_of(v)}" for name, v in columns if v not in (None, "")]
        for name in names:
            groups[name].append(one)
    return iter(sorted(groups.items()))


def _score(group: str, members: Sequence[JudgedRow]) -> dict[str, Any]:
    verdicts = [one.verdict for one in members]
    values = [float(one.is_ok) for one in members]
    return {
        "group": group,
        **score_figures(values, [one.row.cluster for one in members]),
        "cannot_tell": verdicts.count(CANNOT_TELL),
        "no_majority": verdicts.count(None),
    }


def krippendorffs_alpha(labels: Iterable[tuple[str, str, str]]) -> tuple[float | None, int]:
    """Krippendorff's alpha for nominal labels, with missing ones (Krippendorff 2011).

    Labels are (annotator, unit, label). Alpha, and the number of units that at least two
    annotators labelled, which it is over. None where there is no such unit, or no variation: where
    all labels are equal nobody can tell agreement from habit (nltk says 1 there).
    """
    units: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for label in sorted(labels):
        units[label[1]].append(label)
    shared = [label for of_unit in units.values() if len(of_unit) > 1 for label in of_unit]
    number = len({unit for _, unit, _ in shared})
    if len({label for _, _, label in shared}) < 2:
        return None, number

    from nltk.metrics.agreement import AnnotationTask

    return float(AnnotationTask(data=shared).alpha()), number


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's κ of the right labels and an annotator's; None where all right labels are equal.

    κ would then be 0 for whoever errs once, however rarely.
    """
    from sklearn.metrics import cohen_kappa_score

    if len({right for right, _ in pairs}) < 2:
        return None
    golds, given = zip(*pairs, strict=True)
    return float(cohen_kappa_score(golds, given))
