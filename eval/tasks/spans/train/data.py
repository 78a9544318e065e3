"""Texts with spans to learn from, to choose the weights on, and to test on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.eval.kinds.spans import UNDECIDED, SpanText
from coherencegym.eval.tasks.spans.data import (
    CHOICE,
    SpanTable,
    folds_of,
    places_of,
    read_span_tables,
    span_content,
)
from coherencegym.eval.tasks.training.encoder import Head, TrainingRow

#: The splits that are learned from, and that weights are chosen on.
_TRAIN, _VALIDATION = "train", "validation"


@dataclass(frozen=True)
class SpanTraining:
    """Texts of a training.

    Attributes:
        source: the dataset.
        name: the configs that are learned from, joined by ``+``.
        rows_sha256: digest (hex) of the rows that are learned from and that weights are chosen on.
        texts: the number of texts that are learned from.
        fold: that of a cross-validation on which the weights are chosen, from 0; None: the split.
        folds: the same training with the weights chosen on each fold in turn, where this is a
            cross-validation; ``training`` then has all texts, and ``validation`` none.
        training, validation: rows of what is read of them, with the right answers.
        tested: the tables to test on.
        question, positive: those of all tables.
    """

    source: Source
    name: str
    rows_sha256: str
    texts: int
    training: tuple[TrainingRow, ...]
    validation: tuple[TrainingRow, ...]
    tested: tuple[SpanTable, ...]
    question: str
    positive: str
    fold: int | None = None
    folds: tuple[SpanTraining, ...] = ()

    @property
    def head(self) -> Head:
        """The classes, called so that ``spans`` finds the positive one by its name."""
        labels = () if self.question == CHOICE else (f"not {self.positive}", self.positive)
        return Head(labels, cut="only_first")

    @property
    def test_rows(self) -> list[TrainingRow]:
        """All spans that are asked about in a test."""
        return [one for table in self.tested for one in labelled(table.rows, parts=True)]


def read_span_training(
    dataset: str,
    train_on: Sequence[str] = (),
    test_on: Sequence[str] = (),
    split: str = "test",
    *,
    revision: str | None = None,
    max_items: int | None = None,
    parts: bool = False,
    folds: int | None = None,
) -> SpanTraining:
    """Read the texts of a training.

    In a cross-validation the texts of both splits are dealt to folds by their sources, so that none
    is in two, as Storks and Chai 2021 do.

    Args:
        dataset: a folder, or a Hub id.
        train_on: configs; none: those that are tested on.
        test_on, split: configs and their split; none: those that are trained on, and none of
            either: all that hold spans and have a split ``train``.
        revision: tag or commit of a Hub dataset; None: the newest.
        max_items: no more texts than this of each table.
        parts: learn from every span that has a right answer, and not from the whole alone.
        folds: their number; None: the splits.

    Raises:
        EvaluationError: texts are not there or cannot be read, configs ask different questions, or
            those that are learned from, or chosen on, have the same answer to it; or there are more
            folds than sources.
    """
    if split in (_TRAIN, _VALIDATION):
        raise EvaluationError(
            f"--split {split}: its texts train the classifier; expected another split"
        )
    source = find_dataset(dataset, revision, [*train_on, *test_on])
    on = None if folds else _VALIDATION
    read, notes = read_span_tables(source, train_on or test_on, _TRAIN, max_items, on)
    learned = [table.table.config for table in read]
    tested, _ = read_span_tables(source, test_on or learned, split, max_items)
    question, positive = _asked([*read, *tested], f"dataset {source.name!r}")
    rows = [row for table in read for row in table.rows]
    others = [row for table in read for row in table.calibration]
    where = f"dataset {source.name!r}, config {'+'.join(learned)!r}"
    digests = (f"{table.table.config} {digest}" for table in read for digest in table.digests)
    whole = SpanTraining(
        source=source.noted(notes),
        name="+".join(learned),
        rows_sha256=hashlib.sha256("\n".join(digests).encode()).hexdigest(),
        texts=len(rows),
        training=labelled(rows, parts=parts),
        validation=labelled(others, parts=parts),
        tested=tuple(tested),
        question=question,
        positive=positive,
    )
    if folds:
        return _in_folds(whole, [*rows, *others], folds, where, parts=parts)
    return _with_both_answers(whole, where)


def _in_folds(
    whole: SpanTraining, rows: Sequence[SpanText], number: int, where: str, *, parts: bool
) -> SpanTraining:
    both = list(zip(rows, folds_of(rows, number, where, "--folds"), strict=True))
    folds = []
    for fold in range(number):
        kept = [row for row, own in both if own != fold]
        held = labelled((row for row, own in both if own == fold), parts=parts)
        learned = labelled(kept, parts=parts)
        data = replace(whole, texts=len(kept), training=learned, validation=held, fold=fold)
        folds.append(_with_both_answers(data, where))
    every = labelled(rows, parts=parts)
    return replace(whole, texts=len(rows), training=every, validation=(), folds=tuple(folds))


def _with_both_answers(data: SpanTraining, where: str) -> SpanTraining:
    held = f"split {_VALIDATION!r}" if data.fold is None else f"fold {data.fold}"
    learned = f"split {_TRAIN!r}" if data.fold is None else f"all but fold {data.fold}"
    for name, own in ((learned, data.training), (held, data.validation)):
        if data.question != CHOICE and len({one.label for one in own}) < 2:
            raise EvaluationError(
                f"{where}, {name}: all texts have the same answer; expected some that are "
                f"{data.positive} and some that are not"
            )
    return data


def labelled(rows: Iterable[SpanText], *, parts: bool) -> tuple[TrainingRow, ...]:
    """Rows of what a model reads of texts: the whole of each, or all parts with an answer."""
    found = []
    for row in rows:
        gold = {(one.start, one.end): one.answer for one in row.gold}
        for place in places_of(row) if parts else [(0, row.size - 1)]:
            if gold[place] != UNDECIDED:
                inputs = tuple(
                    (span_content(row, place, alternative), row.hypothesis.strip())
                    for alternative in range(max(1, len(row.alternatives)))
                )
                found.append(TrainingRow(inputs, gold[place]))
    return tuple(found)


def _asked(tables: Sequence[SpanTable], where: str) -> tuple[str, str]:
    asked = {(table.question, table.positive): table.table.config for table in tables}
    if len(asked) > 1:
        said = ", ".join(f"{config}: {positive}" for (_, positive), config in asked.items())
        raise EvaluationError(
            f"{where}: configs ask different questions ({said}); expected one, or several that ask "
            "the same, with --train-on and --test-on"
        )
    numbers = sorted({len(table.rows[0].alternatives) for table in tables})
    if len(numbers) > 1:
        raise EvaluationError(
            f"{where}: choices of {numbers[0]} and of {numbers[-1]} alternatives; expected one "
            "number"
        )
    return next(iter(asked))
