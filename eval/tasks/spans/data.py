"""The tables of texts with spans: rows to answer, rows to set a threshold on, and the question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.data.notes import Note, detail, of_each
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.spans import SPANS, SpanText
from coherencegym.eval.kinds.table_kind import Row, row_hash, rows_digest, to_row
from coherencegym.eval.tasks.spans.coherence import SpanPlace, dealt_folds
from coherencegym.eval.tasks.table import Table

#: The splits that thresholds are set on, the first one that is there.
_CALIBRATION = ("validation", "train")
#: The questions of tables, by what rows have: whether a hypothesis follows from a text; whether a
#: text holds what does not fit; which alternative is better.
ENTAILMENT, COHERENCE, CHOICE = "entailment", "coherence", "choice"
_POSITIVE = {ENTAILMENT: "entailed", COHERENCE: "incoherent", CHOICE: "better"}


@dataclass(frozen=True)
class SpanTable:
    """One config: its rows by what they are for.

    Attributes:
        table: the rows to answer, with the facts of the dataset.
        calibration: rows to set thresholds on; may be none.
        calibrated_on: their split.
        question: :data:`ENTAILMENT`, :data:`COHERENCE` or :data:`CHOICE`.
        positive: the name of a positive answer.
        digests: those of the rows of every split that was read.
    """

    table: Table[SpanText]
    calibration: tuple[SpanText, ...]
    calibrated_on: str
    question: str
    positive: str
    digests: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[SpanText, ...]:
        """The rows to answer."""
        return self.table.rows


def read_span_tables(
    source: Source,
    configs: Sequence[str],
    split: str,
    max_items: int | None,
    calibrate_on: str | None = None,
) -> tuple[list[SpanTable], list[Note]]:
    """The tables of spans of a dataset, at least one, and what was left out.

    Where nobody has named configs, those are left out, and noted, of which spans cannot be asked.

    Args:
        source: the dataset.
        configs, split: the tables to answer; none: all configs that hold spans and have the split.
        max_items: no more rows than this of each table.
        calibrate_on: the split that thresholds are set on; None: the first of validation and train
            that has both answers.
    """
    if calibrate_on == split:
        raise EvaluationError(f"--calibrate-on {split}: the tested rows; expected another split")
    wanted = (split, *(name for name in _calibration_splits(calibrate_on) if name != split))
    tables: dict[str, dict[str, TableRows[SpanText]]] = {}
    for read in table_rows(source, configs, wanted, kind=SPANS):
        tables.setdefault(read.config, {})[read.split] = read

    def table_of(config: str) -> SpanTable:
        splits, where = tables[config], f"config {config!r}"
        _require_splits(splits, split, calibrate_on, where)
        tested = splits[split]
        rows = tested.read(max_items)
        table = Table(
            *(source, config, split, rows, tested.rows_sha256, tested.verified),
            *(tested.separated(rows), tested.breakdowns),
        )
        others = {name: splits[name] for name in wanted[1:] if name in splits}
        return _span_table(
            *(table, others, where, lambda name: others[name].read(max_items)),
            lambda name: others[name].rows_sha256,
            tested.about.get("task_defaults", {}),
        )

    return of_each(tables, table_of, named=bool(configs))


def span_table_of(
    given: Mapping[str, Iterable[SpanText | Row]],
    split: str = "test",
    calibrate_on: str | None = None,
) -> SpanTable:
    """A table of texts with spans, or rows of a dataset, that come from no file, by their split."""
    where = "texts"
    _require_splits(given, split, calibrate_on, where)

    def rows_of(name: str) -> tuple[SpanText, ...]:
        return tuple(map(SPANS.from_row, given[name]))

    def digest(rows: Iterable[SpanText]) -> str:
        return rows_digest(row_hash(to_row(row)) for row in rows)

    rows = rows_of(split)
    note = detail("texts from memory: rows are not verified")
    source = Source(where, Path(), notes=(note,))
    table = Table(source, where, split, rows, digest(rows), False, False)
    others = [n for n in _calibration_splits(calibrate_on) if n in given and n != split]
    return _span_table(table, others, where, rows_of, lambda name: digest(rows_of(name)))


def _calibration_splits(calibrate_on: str | None) -> tuple[str, ...]:
    return (calibrate_on,) if calibrate_on else _CALIBRATION


def _require_splits(known: Iterable[str], split: str, calibrate_on: str | None, where: str) -> None:
    for name in (split, *([calibrate_on] if calibrate_on else [])):
        if name not in known:
            raise ConfigError(f"{where}: no split {name!r}; expected one")


def _span_table(
    table: Table[SpanText],
    others: Iterable[str],
    where: str,
    rows_of: Callable[[str], tuple[SpanText, ...]],
    digest_of: Callable[[str], str],
    about: Mapping[str, Any] = MappingProxyType({}),
) -> SpanTable:
    # Thresholds are set on the first split that has both answers; without one on the first.
    on, calibration = "", tuple[SpanText, ...]()
    for name in others:
        rows = rows_of(name)
        has_both = len({row.label for row in rows}) > 1
        if has_both or not on:
            on, calibration = name, rows
        if has_both:
            break
    if not table.rows:
        raise ConfigError(f"{where}: no row in {table.split!r}; expected some")
    question = _question((*table.rows, *calibration), where)
    said = str(about.get("question", question))
    if said != question:
        raise ConfigError(
            f"{where}: the manifest asks about {said}, the rows about {question}; expected one"
        )
    digests = {table.split: table.rows_sha256, **({on: digest_of(on)} if on else {})}
    return SpanTable(
        table=table,
        calibration=calibration,
        calibrated_on=on,
        question=question,
        positive=str(about.get("positive", _POSITIVE[question])),
        digests=tuple(f"{name} {digest}" for name, digest in digests.items()),
    )


def folds_of(rows: Sequence[SpanText], number: int, where: str, option: str) -> tuple[int, ...]:
    """The fold (from 0) of each row: so many, and no source in two (Storks and Chai 2021)."""
    sources = {row.cluster for row in rows}
    if not 2 <= number <= len(sources):
        raise ConfigError(
            f"{where}: {option} {number} of {len(sources):,} sources; expected 2 to "
            f"{len(sources):,}"
        )
    dealt = dealt_folds(sources, number)
    return tuple(dealt[row.cluster] for row in rows)


def _question(rows: Iterable[SpanText], where: str) -> str:
    shapes = {
        (CHOICE if row.is_choice else ENTAILMENT if row.hypothesis else COHERENCE): row
        for row in rows
    }
    if len(shapes) > 1:
        raise ConfigError(
            f"{where}: rows about {' and about '.join(sorted(shapes))}; expected one question"
        )
    numbers = sorted({len(row.alternatives) for row in rows})
    if len(numbers) > 1:
        raise ConfigError(
            f"{where}: choices of {numbers[0]} and of {numbers[-1]} alternatives; expected one "
            "number"
        )
    return next(iter(shapes))


def unit_texts(row: SpanText, alternative: int = 0) -> list[str]:
    """The units as a reader gets them: with their speakers, where there are any.

    A speaker of one letter is written as hypotheses about dialogues call him or her: ``SpeakerA``.
    """
    units = row.alternatives[alternative] if row.is_choice else row.units
    found = [unit.strip() for unit in units]
    if not row.speakers:
        return found
    names = [f"Speaker{name}" if len(name) == 1 else name for name in row.speakers]
    return [f"{name}: {unit}" for name, unit in zip(names, found, strict=True)]


def span_content(row: SpanText, place: SpanPlace, alternative: int = 0) -> str:
    """The text of a span, one space between its units."""
    return " ".join(unit_texts(row, alternative)[place[0] : place[1] + 1])
