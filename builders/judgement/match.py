"""Answers read back and matched with the rows of a build: every line is checked."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.asked import IDENTIFIER, Asked
from coherencegym.builders.judgement.questions import ANSWER, FREE_FIELDS, JUDGED_UNITS
from coherencegym.files.checksums import sha256_of
from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import RecordError, shown, text_problem, tidy
from coherencegym.loaders.formats.records import Record


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
                try:
                    answer = _answer(record, path)
                    before = first.setdefault((answer.annotator, answer.id), answer)
                    if before is not answer:
                        raise RecordError(
                            f"{answer.unit} {answer.id} was answered at {before.place}, expected "
                            f"one answer to a {answer.unit} from each annotator",
                            f"a {answer.unit} answered twice",
                        )
                except RecordError as bad:
                    bad.report(record.place, self.options)
                    continue
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
                RecordError(problem, "no such answer").report(answer.place, self.options)
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
