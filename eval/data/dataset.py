"""The items of a dataset, verified against the row hashes that its build wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import Note, caution
from coherencegym.eval.data.source import FLOORS, Source
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.items import ITEMS, Item
from coherencegym.eval.kinds.table_kind import row_hash, rows_digest, to_row

#: The column that names the model with which a row was chosen, as ``name`` or ``name@commit``.
FILTER_MODEL = "filter_model"
#: Identifiers that an error lists at most.
_LISTED = 3


@dataclass(frozen=True)
class ItemTable:
    """The items of one config and split.

    Attributes:
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        separator: ``[SEP]`` in a text is a change of speaker.
        breakdowns: columns by whose values scores are also reported.
        floors: the build's scores of what does not read this table, by name: ``artefact``,
            ``overlap``.
        headline: the group of predictions that the table's own score is over; empty: all.
        controls: the configs that are its controls.
        length_confound: the suite wants the correlation of margin and length shown.
        humans: findings of people, where the build has them.
        in_headline: it counts in the suite's one number.
        headline_value: a breakdown's (``moved=true``): only items that have it count there.
    """

    config: str
    split: str
    items: tuple[Item, ...]
    rows_sha256: str
    verified: bool
    separator: bool
    breakdowns: tuple[str, ...] = ()
    floors: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    headline: str = ""
    controls: tuple[str, ...] = ()
    length_confound: bool = False
    humans: tuple[Mapping[str, Any], ...] = ()
    in_headline: bool = True
    headline_value: str = ""


def tables(
    source: Source,
    configs: Sequence[str] = (),
    split: str | None = None,
    max_items: int | None = None,
) -> Iterator[ItemTable]:
    """The items tables of a dataset, and ``max_items`` of each from its start.

    Without a ``split`` every split is read, but of a config with a split ``train`` only ``test``.

    Raises:
        EvaluationError: as :func:`eval.data.table_rows.table_rows`, or an item is not valid.
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
            floors={name: quality[name] for name in FLOORS if name in quality},
            humans=tuple(quality.get("human", {}).get("scores", ())),
            headline=str(about.get("headline", "")),
            controls=tuple(about.get("controls", ())),
            length_confound=bool(about.get("length_confound", False)),
            in_headline=bool(about.get("in_headline", True)),
            headline_value=str(about.get("headline_value", "")),
        )


def unverified_table(
    config: str, split: str, items: Sequence[Item], most: int | None = None
) -> ItemTable:
    """A table of items that no build has written; it keeps ``most`` of them, from the start."""
    return ItemTable(
        config=config,
        split=split,
        items=tuple(items[:most]),
        rows_sha256=rows_digest(row_hash(to_row(item)) for item in items),
        verified=False,
        separator=ITEMS.separated(items),
    )


def find_item(tables: Sequence[ItemTable], wanted: str) -> tuple[ItemTable, Item]:
    """The item of that id, or the only one whose id begins or ends with it.

    Raises:
        EvaluationError: there is none (the nearest ids are named), or there are several, of several
            ids or in several tables.
    """
    there: dict[str, list[tuple[ItemTable, Item]]] = {}
    for table in tables:
        for item in table.items:
            there.setdefault(item.item_id, []).append((table, item))
    found = [
        name for name in there if wanted and (name.startswith(wanted) or name.endswith(wanted))
    ]
    if wanted in there:
        found = [wanted]
    if not found:
        near = get_close_matches(wanted, there, n=_LISTED, cutoff=0.0)
        raise EvaluationError(
            f"--item {wanted!r}: no such item among {len(there):,}; "
            + (f"the nearest are {_listed(near)}" if near else "the tables are empty")
        )
    if len(found) > 1:
        raise EvaluationError(
            f"--item {wanted!r}: {len(found):,} items begin or end so: {_listed(found)}; "
            "expected the whole id, or more of it"
        )
    places = there[found[0]]
    if len(places) > 1:
        option = "config" if len({table.config for table, _ in places}) > 1 else "split"
        names = list(dict.fromkeys(getattr(table, option) for table, _ in places))
        raise EvaluationError(
            f"--item {found[0]}: is in the {option}s {_listed(names)}; choose one with --{option}"
        )
    return places[0]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def chosen_with(extras: Iterable[Mapping[str, Any]], name: str, commit: str) -> bool:
    """Say whether rows, of which these are the own columns, were chosen with this model."""
    for text in {str(extra[FILTER_MODEL]) for extra in extras if extra.get(FILTER_MODEL)}:
        of, at, at_commit = text.rpartition("@")
        if not at:
            of, at_commit = text, text
        # The same name may be another commit; the same commit, a folder of another name.
        if (of == name and not at) or (at_commit and commit.startswith(at_commit)):
            return True
    return False


def filtered_note(config: str, name: str) -> Note:
    """A note on the score of a table whose rows were chosen with the model that is scored."""
    return caution(
        f"{config}: its intruders were chosen with {name}, so that it does not find them: its "
        "score is low by construction"
    )
