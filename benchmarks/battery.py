"""Make the rows that ``coherencegym check`` asks, from corpora whose texts may be passed on.

    python -m benchmarks.battery --data-dir CORPORA

Each phenomenon of ``eval/battery/battery.toml`` is built from all its corpora whose files are
there. Rows with a text that may not be published are left out. The shortest are taken, as few as
tell something and no fewer than are read in a moment; none where they are worth fewer than 100
effective items, or leak. Beside the rows, ``SOURCES.md`` names their corpora, and counts the
licences of their texts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coherencegym.battery import BATTERY, FEWEST_ITEMS, Phenomenon, built, phenomena
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import ITEMS, contrasted
from coherencegym.eval.statistics.balance import balanced
from coherencegym.eval.statistics.control import LEAKS, checked_items
from coherencegym.eval.statistics.surface import surface_differences
from coherencegym.licence import may_republish
from coherencegym.loaders import read, registry

#: Items of a phenomenon are enough when they are worth so many, a little over the fewest, and
#: have so many characters, which a model of 100M parameters reads in half a minute.
ENOUGH_ITEMS, ENOUGH_CHARACTERS = 1.02 * FEWEST_ITEMS, 100_000


def made(each: Phenomenon, data_dir: Path, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a phenomenon that may be passed on, and lines that say whose they are."""
    found: list[tuple[int, str, dict[str, Any], list[str]]] = []
    for name in each.corpora:
        try:
            paths = built(each, name, data_dir, folder)
        except EvaluationError as error:
            print(f"{each.name}: {name}: {error}")
            continue
        corpus = registry.corpus(name)
        licences = {
            discourse.id: discourse.licence or corpus.licence_of_texts
            for discourse in read.read(corpus, data_dir=data_dir)
        }
        for row in (row for path in paths for row in pq.read_table(path).to_pylist()):
            texts = (condition["content"] for condition in row["conditions"])
            own = _licences(row, licences)
            if all(map(may_republish, own)):
                found.append((sum(map(len, texts)), name, row, own))
    found.sort(key=lambda one: (*one[:2], one[2]["item_id"]))
    taken = next((n for n in range(5, len(found), 5) if _enough(found[:n])), len(found))
    rows = [row for _, _, row, _ in found[:taken]]
    control = checked_items([contrasted(ITEMS.from_row(row)) for row in rows])
    worth = control.balance.effective if control.balance.feasible else 0.0
    strongest = control.checked[0] if control.checked else ""
    print(f"{each.name}: {taken} items worth {worth:.0f}, {control.word} ({strongest})")
    if worth < FEWEST_ITEMS or control.word == LEAKS:
        return [], []
    lines = []
    for name in each.corpora:
        own = [
            licence for _, corpus, _, known in found[:taken] if corpus == name for licence in known
        ]
        if own:
            corpus = registry.corpus(name)
            counted = ", ".join(f"{one} ({n})" for one, n in sorted(Counter(own).items()))
            lines.append(f"| {each.name} | {corpus.title} | {corpus.homepage} | {counted} |")
    return rows, lines


def _enough(found: Sequence[tuple[int, str, dict[str, Any], list[str]]]) -> bool:
    if sum(characters for characters, *_ in found) < ENOUGH_CHARACTERS:
        return False
    items = [contrasted(ITEMS.from_row(row)) for _, _, row, _ in found]
    balance = balanced(surface_differences(items))
    return balance.feasible and balance.effective >= ENOUGH_ITEMS


def _licences(row: dict[str, Any], licences: dict[str, str]) -> list[str]:
    named = (row["discourse_id"], row.get("partner_discourse"))
    return [licences.get(name.split("#")[0], "") for name in named if name]


def main() -> None:
    """Write the files, and say which there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    data_dir = parser.parse_args().data_dir
    lines = ["# Sources of the rows\n", "| phenomenon | corpus | from | licences (texts) |"]
    lines.append("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for each in phenomena():
            rows, sources = made(each, data_dir, Path(folder))
            if rows:
                name = each.name.replace(", ", "_").replace(" ", "_")
                # Edits and a suite's own columns change no score.
                kept = [
                    {key: row[key] for key in (*ITEMS.columns, "family") if key in row}
                    for row in rows
                ]
                table = pa.Table.from_pylist([row | {"edits": []} for row in kept])
                pq.write_table(table, BATTERY / f"{name}.parquet", compression="zstd")
                lines += sources
    lines += [
        "",
        "`discourse_id` names the document of a row; its corpus says whose it is.",
    ]
    (BATTERY / "SOURCES.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
