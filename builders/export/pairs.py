"""Pairs of texts in the manner of BLiMP, and a task folder for lm-evaluation-harness.

BLiMP (Warstadt et al. 2020) compares the log-probabilities of two sentences. A pair here is a
prediction that such sums decide: of two texts, or of their rests after two contexts. JSON lines
have ``sentence_good`` and ``sentence_bad``; ``simple_LM_method``, BLiMP's name for it, is true
where the contexts are the same.

A task of the harness has the pairs of a config, a document an item, so that its accuracy is the
suite's own score. Where not all pairs are in a config's headline, one accuracy would mix pairs of
different kinds: there is a task for the headline, and for each group that is not the first of its
prediction, which is a detail. The tasks of a suite are a group without a mean, as its configs are.

The folder reads the published dataset at its tag. Rows become pairs by ``utils.py`` in it, a copy
of :mod:`builders.export.item_pairs`. Beside it ``local.yaml`` and ``local.py``, the same copy, make
the same tasks read the pairs that are written with them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.builders.export.item_pairs import row_pairs
from coherencegym.builders.export.write import (
    Exported,
    ExportedRelease,
    refusals,
    refuse_twice,
    rendered,
    things,
    write_lines,
    write_report,
)
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.items import Item, SuiteError
from coherencegym.eval.kinds.table_kind import to_row

#: The split whose task has the config's name alone.
MAIN_SPLIT = "test"
#: The Python file beside the task files, by the name that they call it.
_MODULE = "utils"
#: The tag of the tasks of all suites.
_TAG = "coherencegym"

#: The pairs of a table, in the form written.
PairTable = Exported[dict[str, Any]]


def pair_table(table: ItemTable, suite: str) -> PairTable:
    """The pairs of a table, in its order."""
    exported = PairTable(table)
    for item in table.items:
        for pair, reason in row_pairs(to_row(item)):
            if pair is None:
                exported.refused[reason] += 1
            else:
                exported.made.append(_record(table, suite, item, pair, len(exported.made)))
    return exported


def _record(
    table: ItemTable, suite: str, item: Item, pair: dict[str, Any], number: int
) -> dict[str, Any]:
    good, bad = pair["sentence_good"], pair["sentence_bad"]
    return {
        "field": "discourse",
        "linguistics_term": suite,
        "UID": table.config,
        "simple_LM_method": pair["context_good"] == pair["context_bad"],
        "lexically_identical": sorted(good.split()) == sorted(bad.split()),
        "pairID": str(number),
        "corpus": item.corpus,
        "config": table.config,
        "split": table.split,
        **pair,
    }


@dataclass(frozen=True)
class HarnessTask:
    """A task: its name, the table that its pairs are of, and what is said of them.

    Attributes:
        group: the group of predictions whose pairs it has; empty: all.
        pairs: the number of its pairs.
        row: the row of ``coherencegym score`` that has its accuracy.
        predictions: the number of all predictions of that row.
        main: the suite's headline score is over them.
    """

    name: str
    table: PairTable
    group: str
    pairs: int
    row: str
    predictions: int
    main: bool

    @property
    def function(self) -> str:
        """The function of ``utils.py`` that makes its documents."""
        return f"pairs_{_slug(self.group)}" if self.group else "process_docs"

    @property
    def note(self) -> str:
        """A sentence on what its accuracy is."""
        row = f"row `{self.row}` of `coherencegym score`"
        if self.pairs == self.predictions:
            return f"acc is the CD score in the {row}."
        return f"acc is over {self.pairs} of the {self.predictions} predictions in the {row}."


def tasks(exported: PairTable, release: ExportedRelease) -> list[HarnessTask]:
    """The tasks of a config and split; none where there is no pair."""
    if not exported.made:
        return []
    headline = exported.table.headline
    name = f"{_TAG}_{release.suite}_{exported.config}"
    if exported.split != MAIN_SPLIT:
        name = f"{name}_{exported.split}"
    if all(not headline or headline in record["groups"] for record in exported.made):
        return [_task(name, exported, release)]
    groups = dict.fromkeys(
        group
        for record in exported.made
        for place, group in enumerate(record["groups"])
        if place or group == headline
    )
    return [
        _task(f"{name}_{_slug(group)}", exported, release, group)
        for group in sorted(groups, key=lambda group: group != headline)
    ]


def _task(name: str, exported: PairTable, release: ExportedRelease, group: str = "") -> HarnessTask:
    headline = exported.table.headline
    records = [record for record in exported.made if not group or group in record["groups"]]
    row, number = group or exported.config, _predictions(exported.table, group or headline)
    about = release.configs.get(exported.config, {})
    main = (
        bool(about.get("in_headline"))
        and group in ("", headline)
        and len(records) == number.total()
    )
    if not headline and {record["metric"] for record in records} == {"sum"} < number.keys():
        name, row, number = f"{name}_sum", "sum", Counter(sum=number["sum"])
    return HarnessTask(name, exported, group, len(records), row, number.total(), main)


def _predictions(table: ItemTable, group: str) -> Counter[str]:
    # The number of predictions of a group (empty: of any), by metric.
    every = (prediction for item in table.items for prediction in item.predictions)
    return Counter(one.metric for one in every if not group or group in one.groups)


def in_no_task(exported: PairTable, made: Sequence[HarnessTask]) -> int:
    """Count how many pairs of a table none of its tasks reads."""
    if any(not task.group for task in made):
        return 0
    groups = {task.group for task in made}
    return sum(groups.isdisjoint(record["groups"]) for record in exported.made)


def harness_files(made: Sequence[HarnessTask], release: ExportedRelease) -> dict[str, str]:
    """The texts of a task folder and of what reads local files, by path; none without a task."""
    if not made:
        return {}
    family = f"{_TAG}_{release.suite}"
    values: dict[str, Any] = {"release": release, "family": family, "module": _MODULE, "tag": _TAG}
    folder = {
        f"_{family}.yaml": rendered("group.yaml", tasks=made, **values),
        "_template_yaml": rendered("template.yaml", **values),
        f"{_MODULE}.py": module_text(made),
        **{f"{task.name}.yaml": rendered("task.yaml", task=task, **values) for task in made},
    }
    return {f"tasks/{family}/{name}": text for name, text in folder.items()} | {
        "local.yaml": rendered("local.yaml", **values),
        "local.py": _source(),
    }


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace(">", " over ")).strip("_")


def _source() -> str:
    return Path(__file__).with_name("item_pairs.py").read_text(encoding="utf-8")


def module_text(made: Sequence[HarnessTask]) -> str:
    """The Python file of the tasks."""
    text, named = _source(), dict[str, str]()
    for function, group in ((task.function, task.group) for task in made if task.group):
        if named.setdefault(function, group) != group:
            raise SuiteError(f"groups {named[function]!r} and {group!r} differ in signs alone")
    for function, group in sorted(named.items()):
        text += f'\n\ndef {function}(rows):\n    """Pairs of one group."""\n'
        text += f"    return process_docs(rows, {group!r})\n"
    return text


def write(tables: Sequence[ItemTable], release: ExportedRelease, folder: Path) -> list[str]:
    """Write the pairs of all tables, and the tasks that read them."""
    made = [pair_table(table, release.suite) for table in tables]
    asked = [(table, tasks(table, release)) for table in made]
    every = [task for _, of_table in asked for task in of_table]
    refuse_twice((task.name for task in every), "two tasks would be called {}")
    for table in made:
        if table.made:
            write_lines(folder / f"{table.config}-{table.split}.jsonl", table.made)
    for path, text in harness_files(every, release).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    rows = [(table, of_table, in_no_task(table, of_table)) for table, of_table in asked]
    family = f"{_TAG}_{release.suite}"
    write_report(folder / "PAIRS.md", made, release, pairs=rows, family=family)
    pairs = sum(len(table.made) for table in made)
    return [
        f"as texts: {things(pairs, 'pair')}, and {things(len(every), 'task')} for "
        "lm-evaluation-harness",
        *refusals("left out as pairs", made),
        *(
            f"in no task, {table.config} ({table.split}): {things(number, 'pair')}, "
            "in groups that no aggregate has"
            for table, _, number in rows
            if number
        ),
    ]
