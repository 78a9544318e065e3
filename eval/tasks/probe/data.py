"""The tables of a probe: rows to learn from, to choose the layer by, and to test on."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.data.notes import Note, detail, of_each
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.documents import EXAMPLES, LabelledExample
from coherencegym.eval.kinds.table_kind import Row, row_hash, rows_digest, to_row
from coherencegym.eval.tasks.table import Table

TRAIN, VALIDATION = "train", "validation"
#: The share of the training rows that choose the layer where there is no split to do so.
_HELD_OUT = 0.1
#: The name of examples that came from no file.
MADE_EXAMPLES = "examples"


@dataclass(frozen=True)
class ProbeTable(Table[LabelledExample]):
    """The rows of one config to test on, with those to learn from and to choose by.

    Attributes:
        train, validation: rows to learn from, and to choose penalty and layer by.
        held_out: the validation rows were taken out of the split ``train``, as there are no others.
        input, about, protocol: the config's own input (:mod:`eval.tasks.probe.probe`), the slot
            that the answer is about, and the paper's task that it is an instance of, if any.
        trained_on: the config of the rows to learn from and to choose by, where one was named.
        other_labels: the number of test rows left out, as ``trained_on`` does not have their label.
    """

    train: tuple[LabelledExample, ...] = ()
    validation: tuple[LabelledExample, ...] = ()
    held_out: bool = False
    input: str = ""
    about: int = 0
    protocol: str = ""
    trained_on: str = ""
    other_labels: int = 0

    @cached_property
    def every(self) -> tuple[LabelledExample, ...]:
        """All rows: those to learn from, to choose by, and to test on."""
        return (*self.train, *self.validation, *self.rows)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes, those of the training rows first, by name."""
        known = sorted({row.label for row in self.train})
        others = sorted({row.label for row in self.every} - set(known))
        return (*known, *others)

    @property
    def slots(self) -> int:
        """The number of slots of every row."""
        return len(self.every[0].slots)

    @property
    def most_frequent_label(self) -> str:
        """The label that most training rows have."""
        labels = [row.label for row in self.train]
        return max(sorted({*labels}), key=labels.count)


def read_probe_tables(
    source: Source,
    configs: Sequence[str],
    split: str,
    max_items: int | None,
    train_on: str = "",
) -> tuple[list[ProbeTable], list[Note]]:
    """The tables of examples of a dataset, at least one, ready for a probe; and what is missing.

    Where nobody has named configs, those are left out, and noted, that cannot be probed. Rows of
    ``validation`` may be tested on: a tenth of the training rows then chooses in their place.
    With ``train_on`` all learn and choose by the rows of that config, and rows count whose label
    both configs have.
    """
    if split == TRAIN:
        raise EvaluationError(
            f"--split {split}: its rows train the probe; expected a split to test on"
        )
    found: dict[str, dict[str, TableRows[LabelledExample]]] = {}
    named = [*configs, train_on] if configs and train_on not in ("", *configs) else configs
    for read in table_rows(source, named, (TRAIN, VALIDATION, split), kind=EXAMPLES):
        found.setdefault(read.config, {})[read.split] = read
    for config in configs or EXAMPLES.configs(source.manifest.get("configs", {})):
        found.setdefault(config, {})  # one that has none of these splits
    learned = found.get(train_on, {})
    if train_on and TRAIN not in learned:
        known = [config for config, splits in found.items() if TRAIN in splits]
        raise EvaluationError(
            f"--train-on {train_on}: no config with a split {TRAIN!r}; expected "
            + (f"one of {', '.join(known)}{did_you_mean(train_on, known)}" if known else "one")
        )

    def table_of(config: str) -> ProbeTable:
        splits, where = found[config], f"config {config!r}"
        if lack := _lacking([*splits, TRAIN] if train_on else splits, split):
            raise ConfigError(f"{where}: {lack}")
        read, other_labels = splits, 0
        rows = {name: one.read(max_items) for name, one in splits.items()}
        if train_on:
            # Rows of another config to learn from, and of all those with a label that both have.
            labels = {row.label for own in rows.values() for row in own}
            others = {name: one for name, one in learned.items() if name != split}
            read = {**others, split: splits[split]}
            rows = {n: one.read(max_items) for n, one in others.items()} | {split: rows[split]}
            both = labels & {row.label for row in rows[TRAIN]}
            number = len(rows[split])
            rows = {n: tuple(row for row in own if row.label in both) for n, own in rows.items()}
            other_labels = number - len(rows[split])
        taught = f"{train_on} " if train_on else ""
        tested = splits[split]
        about: Mapping[str, Any] = tested.about.get("task_defaults", {})
        return ProbeTable.of(
            source,
            tested,
            rows[split],
            **_divided_up(rows, split, where),
            input=str(about.get("input", "")),
            about=int(about.get("about", 0)),
            protocol=str(about.get("protocol", "")),
            digests=tuple(
                f"{taught * (name != split)}{name} {one.rows_sha256}" for name, one in read.items()
            ),
            trained_on=train_on,
            other_labels=other_labels,
        )

    asked = [config for config in found if not configs or config in configs]
    return of_each(asked, table_of, named=bool(configs))


def _lacking(splits: Container[str], split: str) -> str:
    if TRAIN not in splits:
        return f"no split {TRAIN!r} to learn from; expected one"
    if split in splits:
        return ""
    lack = f"no split {split!r} to test on; expected one"
    if VALIDATION in splits:
        lack += f" (--split {VALIDATION} tests on that, and a tenth of {TRAIN} chooses)"
    return lack


def probe_table_of(
    given: Mapping[str, Iterable[LabelledExample | Row]], split: str = "test", train_on: str = ""
) -> ProbeTable:
    """A table of examples, or rows of a dataset, that come from no file, by their split."""
    if train_on:
        raise EvaluationError(
            f"train_on={train_on!r}: examples from memory have no configs; expected the rows to "
            f"learn from under {TRAIN!r}"
        )
    if lack := _lacking(given, split):
        raise EvaluationError(f"examples: {lack}")
    rows = {
        name: tuple(map(EXAMPLES.from_row, own))
        for name, own in given.items()
        if name in (TRAIN, VALIDATION, split)
    }
    hashes = {name: rows_digest(row_hash(to_row(r)) for r in own) for name, own in rows.items()}
    note = detail("examples from memory: rows are not verified")
    return ProbeTable(
        source=Source(MADE_EXAMPLES, Path(), notes=(note,)),
        config=MADE_EXAMPLES,
        split=split,
        rows=rows[split],
        rows_sha256=hashes[split],
        verified=False,
        separator=False,
        digests=tuple(f"{name} {digest}" for name, digest in hashes.items()),
        **_divided_up(rows, split, MADE_EXAMPLES),
    )


def _divided_up(
    rows: Mapping[str, tuple[LabelledExample, ...]], split: str, where: str
) -> dict[str, Any]:
    # Rows to learn from and to choose by, checked. What is tested on chooses nothing.
    train = rows[TRAIN]
    validation = rows.get(VALIDATION, ()) if split != VALIDATION else ()
    if held_out := not validation:
        train, validation = _divided(train)
    parts = ((TRAIN, train), (TRAIN if held_out else VALIDATION, validation), (split, rows[split]))
    for name, own in parts:
        if not own:
            raise ConfigError(f"{where}: no row in {name!r}; expected some")
    numbers = sorted({len(row.slots) for _, own in parts for row in own})
    if len(numbers) > 1:
        raise ConfigError(
            f"{where}: rows of {numbers[0]} and of {numbers[-1]} slots; expected one number"
        )
    if len({row.label for row in train}) < 2:
        raise ConfigError(f"{where}: all training rows have one label; expected two or more")
    return {"train": train, "validation": validation, "held_out": held_out}


def _divided(
    rows: Sequence[LabelledExample],
) -> tuple[tuple[LabelledExample, ...], tuple[LabelledExample, ...]]:
    # A tenth is to choose by; families stay together, by a hash.
    def chooses(row: LabelledExample) -> bool:
        digest = hashlib.sha256(f"validation\0{row.cluster}".encode()).digest()
        return int.from_bytes(digest[:8], "big") < _HELD_OUT * 2**64

    return (
        tuple(row for row in rows if not chooses(row)),
        tuple(row for row in rows if chooses(row)),
    )
