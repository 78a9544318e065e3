"""INSteD's human answers: the sentences that people took for the intruder.

A line is ``{"file_id": "4183", "gold": "4", "annoated": ["4", "-1", ...]}`` (sic): the number of
the sentence that is the intruder, and what each annotator said; -1 is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.loaders.corpus import CorpusFile, ReadOptions
from coherencegym.loaders.formats.json_records import json_kind, json_records
from coherencegym.loaders.formats.lines import tidy

#: Reasons why answers are not used.
OTHER_GOLD = "human answers to another sentence"

#: The probes' names in the files of answers.
_NAMES = {
    "gender_pronoun_flip": "gender_flip",
    "animacy_pronoun_downgrade": "animacy_downgrade",
    "animacy_pronoun_upgrade": "animacy_upgrade",
    "singular_determiner_flip": "demonstrative",
    "conjunction_flip": "conjunction",
    "past_to_future_flip": "past_to_future",
    "to_negation": "negation",
    "number_exaggerate": "number_exaggeration",
}
#: The misspelt field, and how it may have been spelt right.
_ANSWERS = ("annoated", "annotated")


@dataclass(frozen=True, slots=True)
class DocumentAnswers:
    """People's answers about one document, and the right answer; numbers of sentences, as texts."""

    gold: str
    said: tuple[str, ...]


def answers_file(path: Path, probe: str, where: str) -> Path | None:
    """The file of answers to a file of records, if there is one."""
    if probe:
        answers = path.parent / "human_annotation" / f"{where}_{_NAMES[probe]}.jsonl"
    else:
        answers = path.parent / "human_annotation.jsonl"
    return answers if answers.is_file() else None


def read_answers(path: Path, split: str, options: ReadOptions) -> dict[str, list[DocumentAnswers]]:
    """The answers of a file by the id of the document.

    Raises:
        CorpusError: the file is not of JSON objects, or a bad one.
        OSError: it cannot be read.
    """
    answers: dict[str, list[DocumentAnswers]] = {}
    for record in json_records(CorpusFile(path, split), options):
        problem = _problem(record.values)
        if problem is not None:
            options.bad(f"{record.place}: {problem}", "malformed human answers")
            continue
        values = record.values
        said = next(values[name] for name in _ANSWERS if name in values)
        one = DocumentAnswers(
            tidy(str(values["gold"])), tuple(tidy(str(answer)) for answer in said)
        )
        answers.setdefault(tidy(str(values["file_id"])), []).append(one)
    return answers


def _problem(values: dict[str, Any]) -> str | None:
    for name in ("file_id", "gold"):
        if not _is_word(values.get(name)):
            return (
                f"{name} is {json_kind(values.get(name))}, expected a number, or a text that is one"
            )
    said = next((values[name] for name in _ANSWERS if name in values), None)
    if not isinstance(said, list) or not all(map(_is_word, said)):
        return f"{_ANSWERS[0]} is {json_kind(said)}, expected a list of numbers of sentences"
    return None


def _is_word(value: Any) -> bool:
    """Tell whether a value is a whole number, or a short text of letters, digits and hyphens."""
    if isinstance(value, str):
        word = value.strip().lstrip("-")
        return 0 < len(word) <= 40 and word.isascii() and word.replace("_", "").isalnum()
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9
