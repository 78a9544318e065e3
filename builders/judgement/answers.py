"""Answers of people in the rows of a build: columns, and figures for the manifest.

Figures are those of one config and split, over one question a row, or one for each of its parts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.questions import (
    ANSWER,
    CANNOT_TELL,
    FREE_FIELDS,
    IDENTIFIER,
    JUDGED_UNITS,
    Asked,
    AskedRow,
    RowPlace,
    answer_of,
    asked_of,
    position_of,
)
from coherencegym.builders.release.quality import score_figures
from coherencegym.builders.suite import Column, Config
from coherencegym.eval.kinds.documents import DOCUMENTS, EXAMPLES, HUMAN, SPANS, Document
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.table_kind import HUMAN_OK
from coherencegym.eval.statistics.correlation import agreement_groups
from coherencegym.eval.statistics.scores import text_of
from coherencegym.files.folders import sha256_of
from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import (
    Record,
    RecordError,
    reporting,
    shown,
    text_problem,
    tidy,
)


@dataclass(frozen=True, slots=True)
class UnitAnswer:
    """One annotator's answer about one pair, span, document or example (``unit``).

    ``place`` is ``file:line``, ``annotator`` a name, or the file where no name is given. ``answer``
    is empty where the question was left open. Which answers there are is known when it is matched.
    """

    place: str
    unit: str
    id: str
    annotator: str
    answer: str


class Matcher:
    """Finds the answers to the questions about a build's rows, and remembers which were found.

    Each file is one annotator, unless its lines name them. ``digests`` are the sha256 (hex) of the
    files; ``options`` counts the lines that were skipped.
    """

    def __init__(self, paths: Sequence[Path], skip_bad_rows: bool = False) -> None:
        self.options = ReadOptions(skip_bad_rows)
        self.digests = _digests(paths)
        self.answers: list[UnitAnswer] = []
        self._by_id: dict[str, list[UnitAnswer]] = defaultdict(list)
        self._seen: set[str] = set()
        self._bad: set[UnitAnswer] = set()
        first: dict[tuple[str, str], UnitAnswer] = {}
        for path in paths:
            for record in json_records(CorpusFile(path, "answers"), self.options):
                with reporting(record.place, self.options):
                    answer = _answer(record, path)
                    before = first.setdefault((answer.annotator, answer.id), answer)
                    if before is not answer:
                        raise RecordError(
                            f"{answer.unit} {answer.id} was answered at {before.place}, expected "
                            f"one answer to a {answer.unit} from each annotator",
                            f"a {answer.unit} answered twice",
                        )
                    self.answers.append(answer)
                    self._by_id[answer.id].append(answer)

    def votes(self, asked: Asked) -> dict[str, str]:
        """The answers to a question about a row, by annotator."""
        self._seen.add(asked.id)
        known = {value.lower(): value for value in asked.question.answers}
        votes = {}
        for answer in self._by_id.get(asked.id, ()):
            if answer.answer.lower() in known:
                votes[answer.annotator] = known[answer.answer.lower()]
            elif answer.answer and answer not in self._bad:
                self._bad.add(answer)
                listed = ", ".join(f'"{value}"' for value in known.values())
                problem = f"answer is {shown(answer.answer)}, expected {listed}, or nothing"
                self.options.bad(f"{answer.place}: {problem}", "no such answer")
        return votes

    def check(self) -> None:
        """Check, when all rows were looked at, that no answer is about something else."""
        for answer in self.answers:
            if answer.id not in self._seen:
                self.options.bad(
                    f"{answer.place}: {answer.unit} {answer.id} is of no row of this build, or its "
                    "text has changed, expected answers to what was drawn from it; build the "
                    "corpora that it was drawn from, or pass --skip-bad-rows to leave it out",
                    f"its {answer.unit} is of no row of this build",
                )

    def lines(self) -> list[str]:
        """Report what became of the answers, for the end of a build."""
        found = [one for one in self.answers if one.answer and one.id in self._seen]
        empty = Counter(answer.unit for answer in self.answers if not answer.answer)
        left_open = "".join(f", {n:,} {unit}s left open" for unit, n in empty.items())
        return [
            f"judgements: {len(found) - len(self._bad):,} answers{left_open}",
            *(
                f"judgements left out: {count:,}, {reason}"
                for reason, count in sorted(self.options.skipped.items())
            ),
        ]


def _digests(paths: Sequence[Path]) -> list[str]:
    digests: dict[str, Path] = {}
    for path in paths:
        digest = sha256_of(path)
        if digest in digests:
            raise CorpusError(
                f"{path}: the same content as {digests[digest]}, expected a file for each "
                "annotator; two who do agree in everything need their names in the lines"
            )
        digests[digest] = path
    return sorted(digests)


def _answer(record: Record, path: Path) -> UnitAnswer:
    values: dict[str, Any] = record.values
    unit = next((unit for unit in JUDGED_UNITS.values() if unit in values), "")
    if not unit:
        named = " or ".join(map(repr, JUDGED_UNITS.values()))
        raise RecordError(f"no field {named}, expected an identifier", "no identifier")
    texts = {name: _text(name, values.get(name)) for name in (unit, ANSWER, *FREE_FIELDS)}
    identifier = texts[unit].strip()
    if not re.fullmatch(IDENTIFIER, identifier):
        problem = f"{shown(identifier)} is no {unit}, expected an identifier as `{unit}s.jsonl` has"
        raise RecordError(problem, f"no {unit}")
    given = (name for name in values if name == "text" or name.startswith("text_"))
    known = (unit, "number", *given, "question", "answers", ANSWER, *FREE_FIELDS)
    for name in values:
        if name not in known:
            problem = f"a field {shown(name)}, expected only {', '.join(known)}"
            raise RecordError(problem, "unknown field")
    annotator = texts["annotator"].strip() or f"file {path}"
    return UnitAnswer(record.place, unit, identifier, annotator, tidy(texts[ANSWER]))


def _text(name: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError(f"{name} is no text, expected one", "a field that is no text")
    if (problem := text_problem(value)) is not None:
        raise RecordError(f"{name}: {problem[0]}", problem[1])
    return value


HUMAN_COLUMN = Column(
    ["int32"], "the answer of each annotator: the position of the intruder, or -1 for none"
)

_OK = {
    ITEMS.name: "most annotators called the incoherent text of each judged pair of the item's "
    "conditions the less coherent one",
    SPANS.name: "most annotators who judged a span of the text, without the surrounding text, gave "
    "its answer in `gold`",
    DOCUMENTS.name: "most annotators named `intruder_position`",
    EXAMPLES.name: "most annotators chose a right label",
}
#: Kind -> the columns that its rows have where people judged some of them.
JUDGED_COLUMNS: Mapping[str, Mapping[str, Column]] = {
    kind: {
        **({HUMAN: HUMAN_COLUMN} if kind == DOCUMENTS.name else {}),
        HUMAN_OK: Column("bool", f"whether {said}; null if nobody judged the row"),
    }
    for kind, said in _OK.items()
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
        known = value.extra.get(HUMAN) or () if isinstance(value, Document) else ()
        for asked in asked_of(config.kind.name, place, value):
            given: Mapping[Any, str] = {} if matcher is None else matcher.votes(asked)
            votes: dict[str | int, str] = {
                **{number: answer_of(position) for number, position in enumerate(known, start=1)},
                **given,
            }
            if votes:
                of_row.append(JudgedRow(value, asked, votes))
            if matcher is not None and isinstance(value, Document):
                # In their order by place: who said what is not kept.
                row[HUMAN] = [*row.get(HUMAN, ()), *sorted(map(position_of, given.values()))]
        if matcher is not None:
            row[HUMAN_OK] = all(one.is_ok for one in of_row) if of_row else None
        judged += of_row
    return human_figures(config, judged, matcher.digests if matcher else ()) if judged else {}


def human_figures(
    config: Config, judged: Sequence[JudgedRow], digests: Sequence[str]
) -> dict[str, Any]:
    """The human figures of a split, of which one or more rows have votes.

    ``scores`` are the share of the questions to which most gave a right answer: of those in the
    config's headline (group ``""``), of these by column and by how many annotators agree, and by
    group of predictions. ``kappa`` is Cohen's of all answers and the dataset's, those who cannot
    tell left out (not of majorities: of two people that would be those who agree); ``alpha``
    Krippendorff's among people. ``annotators`` is None where the corpus has the answers and does
    not say whose. Of the files of answers only their sha256 are kept.
    """
    answers = [(one, who, answer) for one in judged for who, answer in one.votes.items()]
    known = [(one.asked.right[0], answer) for one, _, answer in answers if answer != CANNOT_TELL]
    kappa = cohens_kappa(known)
    alpha, units = krippendorffs_alpha(
        (str(who), one.asked.id, answer) for one, who, answer in answers
    )
    return {
        "judged": len(judged),
        "annotators": len({who for _, who, _ in answers if isinstance(who, str)}) or None,
        "scores": [_score(group, members) for group, members in _groups(config, judged)],
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
