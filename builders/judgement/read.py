"""Read answers back: JSON lines of one or more annotators, every line checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coherencegym.builders.judgement.pairs import PAIR_ID, texts_digest
from coherencegym.builders.judgement.questions import (
    ANSWER,
    FREE_FIELDS,
    JUDGED_UNITS,
    NONE,
    PAIR,
    QUESTIONS,
    Question,
    fields,
)
from coherencegym.files.checksums import sha256_of
from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import RecordError, shown, text_problem, tidy
from coherencegym.loaders.formats.records import Record


@dataclass(frozen=True, slots=True)
class UnitAnswer:
    """One annotator's answers about one pair, span, document or example (``unit``).

    ``place`` is ``file:line``, ``annotator`` a name, or the file where no name is given. A question
    that was left open is neither in ``values`` (question -> answer) nor in ``further`` (further
    question -> the answers to it, in the question's order). Which answers there are to a row of
    its own question is known when it is found (:meth:`builders.judgement.match.Matcher.votes`).
    """

    place: str
    unit: str
    id: str
    annotator: str
    values: dict[str, str]
    further: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """True where every question was left open."""
        return not self.values and not self.further

    @property
    def texts(self) -> str:
        """The half of the identifier that stands for the two texts."""
        return self.id.partition("-")[2]

    @property
    def item(self) -> str:
        """The half of the identifier that stands for the item."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Answers:
    """The answers of some files, what was left open altogether among them.

    ``digests`` are the sha256 (hex) of the files; ``options`` counts the lines that were skipped.
    """

    answers: tuple[UnitAnswer, ...]
    digests: tuple[str, ...]
    options: ReadOptions


def read_answers(
    paths: Sequence[Path], skip_bad_rows: bool = False, questions: Sequence[Question] = ()
) -> Answers:
    """Read files of answers: each is one annotator, unless its lines name them.

    ``questions`` are the suite's further ones.

    Raises:
        CorpusError: a line is no answer, answers a pair for a second time, or a file is there
            twice; with ``skip_bad_rows`` such lines are counted instead.
        OSError: a file cannot be read.
    """
    options = ReadOptions(skip_bad_rows)
    answers: list[UnitAnswer] = []
    digests: dict[str, Path] = {}
    places: dict[tuple[str, str, str], str] = {}
    for path, record in _records(paths, options, digests):
        try:
            answer = _answer(record, path, questions)
        except RecordError as bad:
            bad.report(record.place, options)
            continue
        before = places.setdefault((answer.annotator, answer.unit, answer.id), answer.place)
        if before != answer.place:
            options.bad(
                f"{answer.place}: {answer.unit} {answer.id} was answered at {before}, expected one "
                f"answer to a {answer.unit} from each annotator",
                f"a {answer.unit} answered twice",
            )
            continue
        answers.append(answer)
    return Answers(tuple(answers), tuple(digests), options)


def _records(
    paths: Sequence[Path], options: ReadOptions, digests: dict[str, Path]
) -> Iterator[tuple[Path, Record]]:
    for path in paths:
        digest = sha256_of(path)
        if digest in digests:
            raise CorpusError(
                f"{path}: the same content as {digests[digest]}, expected a file for each "
                "annotator; two who do agree in everything need their names in the lines"
            )
        digests[digest] = path
        for record in json_records(CorpusFile(path, "answers"), options):
            yield path, record


def _answer(record: Record, path: Path, questions: Sequence[Question]) -> UnitAnswer:
    values = record.values
    unit = next((unit for unit in JUDGED_UNITS.values() if unit in values), "")
    if not unit:
        named = " or ".join(map(repr, JUDGED_UNITS.values()))
        raise RecordError(f"no field {named}, expected an identifier", "no identifier")
    texts = {name: _text(name, values.get(name)) for name in (unit, *FREE_FIELDS)}
    identifier = texts[unit].strip()
    if not re.fullmatch(PAIR_ID, identifier):
        problem = f"{shown(identifier)} is no {unit}, expected an identifier as `{unit}s.jsonl` has"
        raise RecordError(problem, f"no {unit}")
    answers, further = (
        _of_pair(record, identifier, questions) if unit == PAIR else _of_row(record, unit)
    )
    return UnitAnswer(
        place=record.place,
        unit=unit,
        id=identifier,
        annotator=texts["annotator"].strip() or f"file {path}",
        values={name: answer for name, answer in answers.items() if answer},
        further={name: given for name, given in further.items() if given},
    )


def _of_pair(
    record: Record, pair: str, questions: Sequence[Question]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    values = record.values
    _check_fields(record, fields(questions))
    answers = {
        name: choice(name, values.get(name), allowed) for name, (_, allowed) in QUESTIONS.items()
    }
    further = {
        question.name: _choices(question, values.get(question.name)) for question in questions
    }
    drawn = [_text(name, values.get(name)) for name in ("text_a", "text_b")]
    if all(drawn) and not pair.endswith(texts_digest(*drawn)):
        problem = f"the texts of pair {pair} are not those that were drawn, expected them unchanged"
        raise RecordError(problem, "changed texts")
    return answers, further


def _of_row(record: Record, unit: str) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    given = [name for name in record.values if name == "text" or name.startswith("text_")]
    own = (unit, "number", *given, "question", "answers", ANSWER)
    _check_fields(record, (*own, *FREE_FIELDS))
    return {ANSWER: tidy(_text(ANSWER, record.values.get(ANSWER)))}, {}


def _check_fields(record: Record, known: Sequence[str]) -> None:
    for name in record.values:
        if name not in known:
            problem = f"a field {shown(name)}, expected only {', '.join(known)}"
            raise RecordError(problem, "unknown field")


def _text(name: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError(f"{name} is no text, expected one", "a field that is no text")
    if (problem := text_problem(value)) is not None:
        raise RecordError(f"{name}: {problem[0]}", problem[1])
    return value


def choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """The one of the allowed answers that a field holds, in whatever case; empty where it is open.

    Raises:
        RecordError: it holds something else.
    """
    text = tidy(_text(name, value))
    known = {answer.lower(): answer for answer in allowed}
    if text and text.lower() not in known:
        listed = ", ".join(f'"{answer}"' for answer in allowed)
        problem = f"{name} is {shown(text)}, expected {listed}, or nothing"
        raise RecordError(problem, "no such answer")
    return known.get(text.lower(), "")


def _choices(question: Question, value: object) -> tuple[str, ...]:
    name = question.name
    several = value if question.several and isinstance(value, list) else [value]
    given = [text for one in several if (text := choice(name, one, question.values))]
    if len(set(given)) < len(given):
        raise RecordError(f"{name} has an answer twice, expected each once", "an answer twice")
    if NONE in given and len(given) > 1:
        problem = f'{name} has "{NONE}" beside other answers, expected it alone'
        raise RecordError(problem, "nothing and something")
    return tuple(answer for answer in question.values if answer in given)
