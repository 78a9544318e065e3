"""Questions with choices: the table kind ``choices``, which chat models are prompted with.

A row asks in words which of two texts is the more coherent one. That is another construct than a
comparison of surprisals (Hu and Levy 2023, "Prompting is not a substitute for probability
measurements in large language models"): the two have no column in common. The rows are flat, so
that other evaluators read them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.eval.kinds.table_kind import (
    MODEST,
    ORIGIN,
    Clustered,
    Column,
    Row,
    RowName,
    SuiteError,
    TableKind,
    of_modest_length,
    row_held,
    to_row,
)


@dataclass(frozen=True)
class ChoiceQuestion(Clustered):
    """A question with its choices.

    Attributes:
        question: the question, with the text that all choices share.
        choices: the answers, each once.
        target: the place of the right one, from 0.
    """

    item_id: RowName
    question: str
    choices: tuple[str, ...]
    target: int
    discourse_id: RowName
    corpus: RowName
    extra: Mapping[str, Any] = field(default_factory=dict)


def choice_question_from_row(row: Row) -> ChoiceQuestion:
    """A question from a row of a table.

    Raises:
        SuiteError: a column is missing or is not what it should be, a text is empty, there are
            fewer than two choices, two are the same, or the target is none of them.
    """
    asked = row_held(row, PROMPTED_CHOICES.columns, ChoiceQuestion)
    if not all(text.strip() for text in (asked.question, *asked.choices)):
        raise SuiteError(f"{asked.item_id}: an empty text; expected a question and its choices")
    number = len(asked.choices)
    if number < 2 or len(set(asked.choices)) < number:
        raise SuiteError(f"{asked.item_id}: {number} choices; expected two or more, each once")
    if not 0 <= asked.target < number:
        raise SuiteError(f"{asked.item_id}: target {asked.target}; expected 0 to {number - 1}")
    return asked


def _length(row: Row) -> int:
    return len(row["question"]) + sum(map(len, row["choices"]))


def _example(rows: Sequence[Row]) -> Row:
    return of_modest_length(rows, _length, MODEST)


PROMPTED_CHOICES = TableKind(
    name="choices",
    row=(
        "a question in words: which of two texts is more coherent? A model is prompted with the "
        "question and its choices, and answers with a letter; chance is 50 %."
    ),
    columns={
        "item_id": Column(
            "string",
            "the id of the item in the config of pairs (with `#2`, `#3`, … if the item has "
            "several pairs), unique in its config and split",
        ),
        "question": Column("string", "the question, with the text that the choices share"),
        "choices": Column(["string"], "the answers"),
        "target": Column("int32", "the position (from 0) of the right answer in `choices`"),
        **ORIGIN,
    },
    mark="choices",
    from_row=choice_question_from_row,
    to_row=to_row,
    texts=lambda asked: (asked.question, *asked.choices),
    example=_example,
    task="",
    command="inspect eval",
    ask="Prompt a chat model with the choice",
)
