"""A task: what a model is asked about tables of a kind, and what the results of every task have.

A new task is one folder with a module ``task.py`` that declares a :class:`Task`, and one line in
:mod:`eval.tasks.registry`: what it reads, its options, what each row came to, what a reader of the
results must know. Everything else, from the subcommand to the comparison of two models, comes of
these. ``score``, ``detect`` and ``train``, which show more, have commands of their own.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from coherencegym.errors import ConfigError
from coherencegym.eval.data.notes import Note, detail, of_each, partial_notes
from coherencegym.eval.data.signature import versions
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.table_kind import FAMILY, TableKind
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.measures import added_up
from coherencegym.eval.statistics.scores import Score, Statistic, UnitOutcome, text_of
from coherencegym.eval.tasks.score.headline import Headline

_T = TypeVar("_T")


@dataclass(frozen=True)
class Table(Generic[_T]):
    """The rows of one config and split.

    Attributes:
        source: the dataset.
        config, split: names.
        rows: values of the kind, in the order of the table.
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        separator: ``[SEP]`` in a text is a change of speaker.
        breakdowns: columns by whose values scores are also reported.
    """

    source: Source
    config: str
    split: str
    rows: tuple[_T, ...]
    rows_sha256: str
    verified: bool
    separator: bool
    breakdowns: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Config and split, for people."""
        return f"{self.config} ({self.split})"

    def outcome(
        self,
        row: Any,
        measure: str,
        statistic: Statistic,
        value: float | None,
        *,
        judge: str = "",
        unit: str = "",
        groups: Sequence[str] | None = None,
        reason: str = "too_long",
        **more: Any,
    ) -> UnitOutcome:
        """The outcome of a row, with the fields of :class:`UnitOutcome`.

        Args:
            unit: names a part of the row, such as ``#2``.
            groups: None: those by the columns of ``breakdowns``.
            reason: says why there is no value, where there is none.
            more: ``whole`` of a ratio, ``truth`` of ranks.
        """
        if groups is None:
            extra = getattr(row, "extra", {})
            groups = [
                f"{column}={text_of(extra[column])}"
                for column in self.breakdowns
                if extra.get(column) not in (None, "")
            ]
        return UnitOutcome(
            config=self.config,
            split=self.split,
            measure=measure,
            judge=judge,
            statistic=statistic,
            unit_id=row.item_id + unit,
            discourse_id=row.discourse_id,
            cluster=getattr(row, "cluster", row.discourse_id),
            groups=tuple(groups),
            value=value,
            **more,
            reason=reason if value is None else "",
        )


@dataclass(frozen=True)
class Task(Generic[_T]):
    """A question to models.

    Attributes:
        name: the subcommand.
        kind: the tables that it reads.
        options: declares its own options beside those of the model and the data.
        settings: the names of those that results record.
        run: gives the outcomes of a table, of each row under each measure of the task.
        notes: lines that a reader of the scores must know, such as what they measure.
        examples: command lines.
    """

    name: str
    kind: TableKind[_T]
    options: Callable[[argparse.ArgumentParser], None]
    settings: tuple[str, ...]
    run: Callable[[LoadedModel, Table[_T], argparse.Namespace], Iterable[UnitOutcome]]
    notes: tuple[str, ...]
    examples: str


@dataclass(frozen=True)
class TaskResults:
    """The part that the results of every task have.

    Attributes:
        signature: one line from which they can be reproduced.
        model, dataset: facts for ``results.json``.
        settings: the user's choices, and what came of them.
        notes: lines that a reader of the scores must know.
        task: its name.
        headline: the suite's one number, where it has one.
    """

    signature: str
    model: Mapping[str, Any]
    dataset: Mapping[str, Any]
    settings: Mapping[str, Any]
    notes: Sequence[Note]
    task: str = field(default="score", kw_only=True)
    headline: Headline | None = field(default=None, kw_only=True)

    @property
    def rows(self) -> Sequence[Score]:
        """The scores, in the form that every task has."""
        raise NotImplementedError

    @property
    def outcomes(self) -> Iterable[UnitOutcome]:
        """The outcomes of every unit."""
        raise NotImplementedError

    def more(self) -> dict[str, Any]:
        """The keys of ``results.json`` that only this task has."""
        return {}


@dataclass(frozen=True)
class OutcomeResults(TaskResults):
    """The results of a task that are all in its outcomes."""

    outcomes: Sequence[UnitOutcome] = ()

    @property
    def rows(self) -> list[Score]:
        """The scores that the outcomes add up to."""
        return added_up(self.outcomes)


def read_tables(
    task: Task[_T], source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> tuple[list[Table[_T]], list[Note]]:
    """The tables of a split that a task asks about, at least one, and what was left out.

    Raises:
        EvaluationError: see :func:`eval.data.table_rows.table_rows`; or a table that was named, or
            any, has no row.
    """

    def table_of(read: TableRows[_T]) -> Table[_T]:
        rows = read.read(max_items)
        if not rows:
            where = f"config {read.config!r}, split {read.split!r}"
            raise ConfigError(f"{where}: no row; expected at least one")
        about = source, read.config, read.split, rows, read.rows_sha256, read.verified
        return Table(*about, read.separated(rows), read.breakdowns)

    found = table_rows(source, configs, (split,), kind=task.kind)
    return of_each(found, table_of, named=bool(configs))


def gathered(
    task: Task[_T],
    source: Source,
    model: LoadedModel,
    tables: Sequence[Table[_T]],
    outcomes: Sequence[UnitOutcome],
    settings: Mapping[str, Any],
    own: Mapping[str, Any],
) -> OutcomeResults:
    """The results of a task: ``settings`` are the options by their names, ``own`` its own ones."""
    about = model.about()
    digests = [f"{table.config} {table.split} {table.rows_sha256}" for table in tables]
    dataset = about_dataset(
        source,
        digests,
        all(table.verified for table in tables),
        [about_table(table, table.rows) for table in tables],
    )
    recorded = {**settings, **own, "intervals": INTERVALS, "versions": versions(about)}
    return OutcomeResults(
        signature=signature_of(
            *(task.name, about, dataset, recorded), {**own, "dtype": model.dtype}
        ),
        model=about,
        dataset=dataset,
        settings=recorded,
        notes=[
            *run_notes(source, model, tables, settings["max_items"]),
            *map(detail, task.notes),
        ],
        outcomes=outcomes,
        task=task.name,
    )


def run_notes(
    source: Source, model: LoadedModel, tables: Sequence[Table[Any]], limit: int | None
) -> Iterator[Note]:
    """Lines for a reader of any task's scores: on the dataset, the part read, the model."""
    yield from source.notes
    yield from partial_notes(
        source.manifest, [(table.config, len(table.rows)) for table in tables], limit
    )
    yield from model.lines()


#: Facts that a suite says of itself, in its manifest and in results.
SUITE_FACTS = ("title", "hypothesis", "description", "conditions", "limitations", "uses")


def about_dataset(
    source: Source, digests: Iterable[str], verified: bool, tables: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The facts of a dataset that results record; ``digests`` are those of its tables' rows."""
    return {
        "name": source.name,
        "suite": source.suite,
        "version": source.version,
        "repo": source.repo,
        "revision": source.revision,
        "commit": source.commit,
        "rows_sha256": hashlib.sha256("\n".join(digests).encode()).hexdigest(),
        "verified": verified,
        "tables": list(tables),
        **{name: source.manifest[name] for name in SUITE_FACTS if source.manifest.get(name)},
        **_limitations(source, {str(table["config"]): None for table in tables}),
    }


def _limitations(source: Source, configs: Iterable[str]) -> dict[str, list[str]]:
    """The limitations of a suite, and those of the corpora that configs of it were made from."""
    known = source.manifest.get("configs", {})
    corpora = [known.get(config, {}).get("corpus", {}) for config in configs]
    of_corpora = [
        f"{corpus.get('title', '')}: {line}"
        for corpus in corpora
        for line in corpus.get("limitations", ())
    ]
    found = [*source.manifest.get("limitations", ()), *dict.fromkeys(of_corpora)]
    return {"limitations": found} if found else {}


def about_table(table: Any, rows: Sequence[Any], **more: Any) -> dict[str, Any]:
    """The facts of a table that results record, of which these rows were read."""
    return {
        "config": table.config,
        "split": table.split,
        "sha256": table.rows_sha256,
        "items": len(rows),
        **more,
        "headline": getattr(table, "headline", ""),
        "breakdowns": list(table.breakdowns),
        # Without it all items count in the suite's one number.
        **({"headline_value": value} if (value := getattr(table, "headline_value", "")) else {}),
        "families": any(getattr(row, "extra", {}).get(FAMILY) for row in rows),
    }


def signature_of(
    task: str,
    model: Mapping[str, Any],
    dataset: Mapping[str, Any],
    settings: Mapping[str, Any],
    own: Mapping[str, Any],
    **data: Any,
) -> str:
    """``key:value`` pairs signature_line by ``|``, as :mod:`eval.data.signature` has them.

    ``own`` are the options of the task, and the precision; ``data`` what else is read.
    """
    prefix, colon, digits = str(model["commit"]).rpartition(":")
    parts = {
        "model": f"{model['name']}@{prefix}{colon}{digits[:12]}",
        "data": dataset["name"] + (f"@{dataset['revision']}" if dataset["revision"] else ""),
        "version": dataset["version"],
        "commit": dataset["commit"] and dataset["commit"][:12],
        "rows": dataset["rows_sha256"][:12],
        "task": task,
        **data,
        "configs": ",".join(settings["configs"]) or "all",
        "split": settings["split"],
        "max": settings["max_items"],
        **own,
        "device": model["device"],
        "ci": settings["intervals"],
        **settings["versions"],
    }
    return signature_line(parts)


def signature_line(parts: Mapping[str, Any]) -> str:
    """The pairs that have a value, as a signature has them."""
    return "|".join(
        f"{key}:{str(value).replace('|', '/')}" for key, value in parts.items() if value is not None
    )
