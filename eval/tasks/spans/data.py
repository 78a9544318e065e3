"""The tables of texts with spans: rows to answer, rows to set a threshold on, and the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coherencegym.errors import ConfigError
from coherencegym.eval.data.notes import Note, of_each
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.documents import SPANS, SpanText
from coherencegym.eval.tasks.spans.coherence import SpanPlace, dealt_folds
from coherencegym.eval.tasks.task import Table

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
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> tuple[list[SpanTable], list[Note]]:
    """The tables of spans of a dataset, at least one, and what was left out.

    Where nobody has named configs, those are left out, and noted, of which spans cannot be asked.

    Args:
        source: the dataset.
        configs, split: the tables to answer; none: all configs that hold spans and have the split.
        max_items: no more rows than this of each table.
    """
    wanted = (split, *(name for name in _CALIBRATION if name != split))
    tables: dict[str, dict[str, TableRows[SpanText]]] = {}
    for read in table_rows(source, configs, wanted, kind=SPANS):
        tables.setdefault(read.config, {})[read.split] = read

    def table_of(config: str) -> SpanTable:
        splits, where = tables[config], f"config {config!r}"
        if split not in splits:
            raise ConfigError(f"{where}: no split {split!r}; expected one")
        tested = splits[split]
        table = Table.of(source, tested, tested.read(max_items))
        if not table.rows:
            raise ConfigError(f"{where}: no row in {split!r}; expected some")
        # Thresholds are set on the first split that has both answers; without one on the first.
        on, calibration = "", tuple[SpanText, ...]()
        for name in (name for name in wanted[1:] if name in splits):
            rows = splits[name].read(max_items)
            has_both = len({row.label for row in rows}) > 1
            if has_both or not on:
                on, calibration = name, rows
            if has_both:
                break
        question = _question((*table.rows, *calibration), where)
        about = tested.about.get("task_defaults", {})
        said = str(about.get("question", question))
        if said != question:
            raise ConfigError(
                f"{where}: the manifest asks about {said}, the rows about {question}; expected one"
            )
        return SpanTable(
            table=table,
            calibration=calibration,
            calibrated_on=on,
            question=question,
            positive=str(about.get("positive", _POSITIVE[question])),
            digests=tuple(
                f"{name} {splits[name].rows_sha256}" for name in dict.fromkeys((split, on)) if name
            ),
        )

    return of_each(tables, table_of, named=bool(configs))


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
