"""Make the rows that ``coherencegym check`` asks, from corpora whose texts may be passed on.

    python -m benchmarks.battery --data-dir CORPORA

Each phenomenon of ``eval/battery/battery.toml`` is built from the first corpus whose files are
there. Rows with a text that may not be published are left out, and the config is dropped where
what is left is worth fewer than 100 effective items, or leaks. Beside the rows, ``SOURCES.md``
names their corpora, and counts the licences of their texts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from coherencegym.battery import BATTERY, FEWEST_ITEMS, Phenomenon, built, phenomena
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import ITEMS, contrasted
from coherencegym.eval.statistics.control import LEAKS, checked_items
from coherencegym.licence import may_republish
from coherencegym.loaders import read, registry

#: Items of a phenomenon at most, from the start of its table.
MOST = 300


def made(each: Phenomenon, data_dir: Path, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a phenomenon that may be passed on, and the line that says whose they are."""
    for name in each.corpora:
        try:
            paths = built(each, name, data_dir, folder)
        except EvaluationError as error:
            print(f"{each.name}: {name}: {error}")
            continue
        if not paths:
            print(f"{each.name}: {name}: no {each.config}")
            continue
        corpus = registry.corpus(name)
        licences = {
            discourse.id: discourse.licence or corpus.licence_of_texts
            for discourse in read.read(corpus, data_dir=data_dir)
        }
        rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
        rows = [row for row in rows if all(map(may_republish, _licences(row, licences)))]
        control = checked_items([contrasted(ITEMS.from_row(row)) for row in rows[:MOST]])
        print(
            f"{each.name}: {name}: {len(rows[:MOST])} items worth {control.balance.effective:.0f}, "
            f"{control.word} ({control.checked[0] if control.checked else ''})"
        )
        worth = control.balance.effective if control.balance.feasible else 0.0
        if worth >= FEWEST_ITEMS and control.word != LEAKS:
            own = [licence for row in rows[:MOST] for licence in _licences(row, licences)]
            counted = ", ".join(f"{one} ({n})" for one, n in sorted(Counter(own).items()))
            return rows[:MOST], [
                f"| {each.name} | {corpus.title} | {corpus.homepage} | {counted} |"
            ]
    return [], []


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
