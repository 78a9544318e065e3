"""The items of a dataset, verified against the row hashes that its build wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.item_tables import ITEMS
from coherencegym.eval.kinds.items import Item


@dataclass(frozen=True)
class ItemTable:
    """The items of one config and split.

    Attributes:
        config, split: which.
        items: in the order of the table.
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        separator: ``[SEP]`` in a text is a change of speaker.
        breakdowns: columns by whose values scores are also reported.
        headline: the group of predictions that the table's own score is over; empty: all.
        artefacts: the build's artefact scores of this table.
        humans: what people found of this table, where the build has it.
        controls: the configs that are its controls.
        length_confound: the suite wants the correlation of margin and length shown.
    """

    config: str
    split: str
    items: tuple[Item, ...]
    rows_sha256: str
    verified: bool
    separator: bool
    breakdowns: tuple[str, ...] = ()
    artefacts: tuple[Mapping[str, Any], ...] = ()
    headline: str = ""
    controls: tuple[str, ...] = ()
    length_confound: bool = False
    humans: tuple[Mapping[str, Any], ...] = ()


def tables(
    source: Source,
    configs: Sequence[str] = (),
    split: str | None = None,
    max_items: int | None = None,
) -> Iterator[ItemTable]:
    """The items tables of a dataset.

    Args:
        source: from :func:`find`.
        configs: only these; none: every config that holds items.
        split: only this one; None: every split, but of a config with a split ``train`` only
            ``test``.
        max_items: no more items than this of each table, from its start.

    Raises:
        EvaluationError: a config or split is not there, holds another kind of table, or its rows
            are not those that were published.
    """
    splits = None if split is None else (split,)
    for read in table_rows(source, configs, splits, kind=ITEMS, test_only=split is None):
        items, about = read.read(max_items), read.about
        quality = about.get("quality", {}).get(read.split, {})
        yield ItemTable(
            config=read.config,
            split=read.split,
            items=items,
            rows_sha256=read.rows_sha256,
            verified=read.verified,
            separator=read.separated(items),
            breakdowns=read.breakdowns,
            artefacts=tuple(quality.get("artefact", ())),
            humans=tuple(quality.get("human", {}).get("scores", ())),
            headline=str(about.get("headline", "")),
            controls=tuple(about.get("controls", ())),
            length_confound=bool(about.get("length_confound", False)),
        )
