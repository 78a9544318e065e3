"""Items as test suites in SyntaxGym's JSON (Gauthier et al. 2020, section 3).

Two things are narrower in that format than here. The text of a condition is its regions joined by
one space, so that items whose text is another are left out. And a suite has one metric, and one set
of conditions and of predictions for all its items: a config in which items differ in these becomes
several suites, one for each combination, and an item with two metrics is in two of them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.builders.export.write import (
    Exported,
    ExportedRelease,
    refusals,
    refuse_twice,
    things,
    write_lines,
    write_report,
)
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.items import SEPARATOR, Condition, Item, join_regions

#: Names of conditions that SyntaxGym's formulas can have.
_NAME = re.compile(r"[A-Za-z0-9_-]+")

_SEPARATED = f"a text holds {SEPARATOR}, which SyntaxGym would take literally"
ODD_NAME = "a condition's name has other signs than letters, digits, _ and -"


@dataclass
class ExportedSuite:
    """A suite to be written.

    Attributes:
        name: the name of the file, without its ending.
        metric: the metric of all predictions.
        formulas: the formulas, in the order of the first item.
        items: the items, in the order of the table.
    """

    name: str
    metric: str
    formulas: tuple[str, ...]
    items: list[Item] = field(default_factory=list)


def suite_table(table: ItemTable) -> Exported[ExportedSuite]:
    """The suites of a table: of each combination of conditions, regions, formulas and a metric."""
    exported = Exported[ExportedSuite](table)
    suites: dict[tuple[Any, ...], ExportedSuite] = {}
    for item in table.items:
        if reason := refusal(item):
            exported.refused[reason] += 1
            continue
        names = frozenset(condition.condition_name for condition in item.conditions)
        for metric in dict.fromkeys(p.metric for p in item.predictions):
            own = (p.formula for p in item.predictions if p.metric == metric)
            formulas = tuple(dict.fromkeys(own))
            shape = (names, len(item.conditions[0].regions), frozenset(formulas), metric)
            suite = suites.setdefault(shape, ExportedSuite("", metric, formulas))
            suite.items.append(item)
    exported.made = list(suites.values())
    plain = f"{table.config}-{table.split}"
    alike = Counter(suite.metric for suite in exported.made)
    numbers = Counter[str]()
    for suite in exported.made:
        numbers[suite.metric] += 1
        parts = (
            plain,
            suite.metric * (len(alike) > 1),
            f"{numbers[suite.metric]}" * (alike[suite.metric] > 1),
        )
        suite.name = "-".join(filter(None, parts))
    return exported


def refusal(item: Item) -> str:
    """Say why an item cannot be written; empty where it can."""
    if not all(_NAME.fullmatch(condition.condition_name) for condition in item.conditions):
        return ODD_NAME
    if any(SEPARATOR in condition.content for condition in item.conditions):
        return _SEPARATED
    for condition in item.conditions:
        if join_regions(region.content for region in condition.regions) != condition.content:
            return _boundary(condition)
    return ""


def _boundary(condition: Condition) -> str:
    end = 0
    for region, (start, stop) in zip(condition.regions, condition.region_offsets, strict=True):
        if region.content and end and condition.content[end:start] != " ":
            what = "more than one space" if start > end else "no space"
            return f"{what} before region {region.region_number}, where SyntaxGym puts one"
        end = stop
    return "white space around the text, which SyntaxGym drops"


def suite_json(suite: ExportedSuite, regions: Sequence[str], about: str, reference: str) -> Any:
    """A suite as the JSON has it.

    Of each region ``regions`` has the content (those of another number of regions are not used);
    ``about`` and ``reference`` stand in ``meta``. An item keeps the number that it has in the
    dataset.
    """
    known, number = list(regions), len(suite.items[0].conditions[0].regions)
    if len(known) != number:
        known = [f"region {place}" for place in range(1, number + 1)]
    return {
        "meta": {
            "name": suite.name,
            "metric": suite.metric,
            "comment": about,
            "reference": reference,
            "author": "",
        },
        "region_meta": {str(number): text for number, text in enumerate(known, start=1)},
        "predictions": [{"type": "formula", "formula": formula} for formula in suite.formulas],
        "items": [
            {
                "item_number": item.item_number,
                "conditions": [
                    {
                        "condition_name": condition.condition_name,
                        # SyntaxGym forbids white space at the end.
                        "regions": [
                            {"region_number": r.region_number, "content": r.content.strip()}
                            for r in condition.regions
                        ],
                    }
                    for condition in item.conditions
                ],
            }
            for item in suite.items
        ],
    }


def item_records(suite: ExportedSuite) -> Iterator[dict[str, Any]]:
    """List what the JSON has no place for: ids of each item, and the groups of its predictions."""
    for item in suite.items:
        groups: dict[str, list[str]] = {formula: [] for formula in suite.formulas}
        for prediction in item.predictions:
            if prediction.metric == suite.metric:
                groups[prediction.formula] += prediction.groups
        yield {
            "suite": suite.name,
            "item_number": item.item_number,
            "item_id": item.item_id,
            "discourse_id": item.discourse_id,
            "corpus": item.corpus,
            "groups": [{"formula": f, "groups": of} for f, of in groups.items()],
        }


def write(tables: Sequence[ItemTable], release: ExportedRelease, folder: Path) -> list[str]:
    """Write the suites of all tables."""
    made = [suite_table(table) for table in tables]
    suites = [(table, suite) for table in made for suite in table.made]
    refuse_twice((suite.name for _, suite in suites), "two suites would be called {}.json")
    for table, suite in suites:
        about = release.configs[table.config]
        comment = f"CoherenceGym {release.suite} {release.version}: {about.get('summary', '')}"
        content = suite_json(suite, about.get("regions", ()), comment, release.citation)
        text = json.dumps(content, ensure_ascii=False, indent=4) + "\n"
        (folder / f"{suite.name}.json").write_text(text, encoding="utf-8")
    write_lines(folder / "items.jsonl", (r for _, suite in suites for r in item_records(suite)))
    write_report(folder / "SUITES.md", made, release, suites=suites)
    items = {(table.config, table.split, i.item_id) for table, suite in suites for i in suite.items}
    return [
        f"for SyntaxGym: {things(len(items), 'item')} in {things(len(suites), 'suite')}",
        *refusals("left out for SyntaxGym", made),
    ]
