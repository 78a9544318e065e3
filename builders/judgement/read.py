"""Read answers back: JSON lines of one or more annotators, every line checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coherencegym.builders.judgement.pairs import PAIR_ID, texts_digest
from coherencegym.builders.judgement.questions import (
    FREE_FIELDS,
    NONE,
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
class PairAnswer:
    """One annotator's answers about one pair.

    ``place`` is ``file:line``, ``annotator`` a name, or the file where no name is given. A question
    that was left open is neither in ``values`` (question -> answer) nor in ``further`` (further
    question -> the answers to it, in the question's order).
    """

    place: str
    pair: str
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
        return self.pair.partition("-")[2]

    @property
    def item(self) -> str:
        """The half of the identifier that stands for the item."""
        return self.pair.partition("-")[0]


@dataclass(frozen=True)
class Answers:
    """The answers of some files, pairs that were left open altogether among them.

    ``digests`` are the sha256 (hex) of the files; ``options`` counts the lines that were skipped.
    """

    answers: tuple[PairAnswer, ...]
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
    answers: list[PairAnswer] = []
    digests: dict[str, Path] = {}
    places: dict[tuple[str, str], str] = {}
    for path, record in answer_records(paths, options, digests):
        try:
            answer = _answer(record, path, questions)
        except RecordError as bad:
            bad.report(record.place, options)
            continue
        before = places.setdefault((answer.annotator, answer.pair), answer.place)
        if before != answer.place:
            options.bad(
                f"{answer.place}: pair {answer.pair} was answered at {before}, expected one "
                "answer to a pair from each annotator",
                "a pair answered twice",
            )
            continue
        answers.append(answer)
    return Answers(tuple(answers), tuple(digests), options)


def answer_records(
    paths: Sequence[Path], options: ReadOptions, digests: dict[str, Path]
) -> Iterator[tuple[Path, Record]]:
    """The lines of files of answers, each with its file; ``digests`` gets the sha256 of each file.

    Raises:
        CorpusError: a file is there twice, or is none of JSON lines.
        OSError: a file cannot be read.
    """
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


def answer_lines(given: int, left_open: str, options: ReadOptions) -> list[str]:
    """Report what became of answers, for the end of a build; ``left_open`` is of those left so."""
    return [
        f"judgements: {given:,} answers{left_open}",
        *(
            f"judgements left out: {count:,}, {reason}"
            for reason, count in sorted(options.skipped.items())
        ),
    ]


def _answer(record: Record, path: Path, questions: Sequence[Question]) -> PairAnswer:
    values, known = record.values, fields(questions)
    for name in values:
        if name not in known:
            problem = f"a field {shown(name)}, expected only {', '.join(known)}"
            raise RecordError(problem, "unknown field")
    if "pair" not in values:
        raise RecordError("no field 'pair', expected a pair's identifier", "no pair")
    names = ("pair", "text_a", "text_b", *FREE_FIELDS)
    texts = {name: _text(name, values.get(name)) for name in names}
    pair = texts["pair"].strip()
    if not re.fullmatch(PAIR_ID, pair):
        problem = f"{shown(pair)} is no pair, expected an identifier as `pairs.jsonl` has it"
        raise RecordError(problem, "no pair")
    answers = {
        name: _choice(name, values.get(name), allowed) for name, (_, allowed) in QUESTIONS.items()
    }
    further = {
        question.name: _choices(question, values.get(question.name)) for question in questions
    }
    drawn = texts["text_a"], texts["text_b"]
    if all(drawn) and not pair.endswith(texts_digest(*drawn)):
        problem = f"the texts of pair {pair} are not those that were drawn, expected them unchanged"
        raise RecordError(problem, "changed texts")
    return PairAnswer(
        place=record.place,
        pair=pair,
        annotator=texts["annotator"].strip() or f"file {path}",
        values={name: answer for name, answer in answers.items() if answer},
        further={name: given for name, given in further.items() if given},
    )


def _text(name: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError(f"{name} is no text, expected one", "a field that is no text")
    if (problem := text_problem(value)) is not None:
        raise RecordError(f"{name}: {problem[0]}", problem[1])
    return value


def _choice(name: str, value: object, allowed: Sequence[str]) -> str:
    text = tidy(_text(name, value).replace("’", "'").lower())
    if text and text not in allowed:
        listed = ", ".join(f'"{answer}"' for answer in allowed)
        problem = f"{name} is {shown(text)}, expected {listed}, or nothing"
        raise RecordError(problem, "no such answer")
    return text


def _choices(question: Question, value: object) -> tuple[str, ...]:
    name = question.name
    several = value if question.several and isinstance(value, list) else [value]
    given = [text for one in several if (text := _choice(name, one, question.values))]
    if len(set(given)) < len(given):
        raise RecordError(f"{name} has an answer twice, expected each once", "an answer twice")
    if NONE in given and len(given) > 1:
        problem = f'{name} has "{NONE}" beside other answers, expected it alone'
        raise RecordError(problem, "nothing and something")
    return tuple(answer for answer in question.values if answer in given)
