"""Rows for the BabyLM pipeline's zero-shot tasks, which compare what a suite's predictions do.

That pipeline (``babylm/evaluation-pipeline-2025``, and ``strict/`` in its successor
``babylm-org/babylm-eval``, read at 6f825c291e2c) adds up the log-probabilities of a completion's
tokens, and the highest sum wins. What a pair (:mod:`builders.export.item_pairs`) compares depends
on the task that reads its row:

- ``blimp``: two whole texts;
- ``entity_tracking``: two continuations of one beginning, the first of which is right;
- ``comps``: one continuation of two beginnings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.builders.export.item_pairs import WITHOUT_TEXT, LeftOutError, row_pairs
from coherencegym.builders.export.pairs import MAIN_SPLIT
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
from coherencegym.eval.kinds.table_kind import to_row

#: The tasks, by the names that the pipeline's option ``--task`` has for them.
BLIMP, COMPS, ENTITY_TRACKING = "blimp", "comps", "entity_tracking"

#: Reasons why a prediction is left out.
BOTH_DIFFER = "regions that differ after contexts that differ"
NOT_JOINED = "no single space before the region, where the pipeline puts one"
WITH_NOTHING = "the word nothing in a continuation, which the pipeline of 2026 passes over"


@dataclass(frozen=True)
class BabylmRow:
    """A row for a task of the pipeline.

    Attributes:
        task: the task whose reader compares it.
        group: the suite, config, split and group of the prediction.
        fields: the row in the form written.
    """

    task: str
    group: tuple[str, str, str, str]
    fields: dict[str, Any]

    @property
    def name(self) -> str:
        """The name under which the pipeline counts it."""
        return group_name(self.group)

    @property
    def path(self) -> str:
        """The file that it is in.

        Readers take every file of a folder and call its results by the folder's name. Of ``comps``
        they count all rows of a folder as one, so that there each name has its own; of
        ``entity_tracking`` they average files of three names alone, of which this is the first.
        """
        folder, file = self.group[0], f"{self.name}.jsonl"
        if self.task == COMPS:
            folder, file = self.name, "comps_base.jsonl"
        elif self.task == ENTITY_TRACKING:
            file = f"regular_{file}"
        return f"{self.task}/{folder}/{file}"


def babylm_table(table: ItemTable, suite: str) -> Exported[BabylmRow]:
    """The rows of a table, in its order; what is refused are predictions."""
    exported = Exported[BabylmRow](table)
    widest = max((len(p.groups) for item in table.items for p in item.predictions), default=0)
    for item in table.items:
        pairs = zip(item.predictions, row_pairs(to_row(item)), strict=True)
        for prediction, (pair, reason) in pairs:
            try:
                if pair is None:
                    raise LeftOutError(reason)
                task, fields = _task_and_texts(pair)
            except LeftOutError as left_out:
                exported.refused[str(left_out)] += 1
                continue
            # The last is an aggregate, but of those that no aggregate has.
            last = prediction.groups[-1] if len(prediction.groups) == widest > 0 else ""
            group = (suite, table.config, table.split, last)
            if task == BLIMP:
                name = group_name(group)
                fields |= {"field": "discourse", "linguistics_term": suite, "UID": name}
            # The pipeline does not read these.
            fields |= {
                "item_id": item.item_id,
                "discourse_id": item.discourse_id,
                "corpus": item.corpus,
                "config": table.config,
                "split": table.split,
                "formula": prediction.formula,
                "metric": prediction.metric,
                "groups": list(prediction.groups),
            }
            exported.made.append(BabylmRow(task, group, fields))
    return exported


def _task_and_texts(pair: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    contexts = pair["context_good"], pair["context_bad"]
    texts = pair["sentence_good"], pair["sentence_bad"]
    if not any(contexts):
        return BLIMP, {"sentence_good": texts[0], "sentence_bad": texts[1]}
    good, bad = (t.removeprefix(context) for t, context in zip(texts, contexts, strict=True))
    if contexts[0] != contexts[1] and good.lstrip() != bad.lstrip():
        raise LeftOutError(BOTH_DIFFER)
    if not all(contexts):
        raise LeftOutError(WITHOUT_TEXT)
    if any(rest != f" {rest.lstrip()}" for rest in (good, bad)):
        raise LeftOutError(NOT_JOINED)
    if contexts[0] == contexts[1]:
        if "nothing" in good or "nothing" in bad:
            raise LeftOutError(WITH_NOTHING)
        return ENTITY_TRACKING, {"input_prefix": contexts[0], "options": [good, bad], "numops": 2}
    prefixes = {"prefix_acceptable": contexts[0], "prefix_unacceptable": contexts[1]}
    return COMPS, prefixes | {"property_phrase": good.lstrip()}


def group_name(group: tuple[str, str, str, str]) -> str:
    """The name of a (suite, config, split, group) in the pipeline: letters of any script, and _."""
    suite, config, split, last = group
    parts = (suite, config, "" if split == MAIN_SPLIT else split, last.replace(">", " over "))
    # It names files, and a dataset can say anything.
    return "__".join(filter(None, (re.sub(r"[\W_]+", "_", part).strip("_") for part in parts)))


def write(tables: Sequence[ItemTable], release: ExportedRelease, folder: Path) -> list[str]:
    """Write the rows of all tables."""
    made = [babylm_table(table, release.suite) for table in tables]
    rows = [row for table in made for row in table.made]
    names = (group_name(group) for group in {row.group for row in rows})
    refuse_twice(names, "two groups would both be called {}")
    files: dict[str, list[BabylmRow]] = {}
    for row in rows:
        files.setdefault(row.path, []).append(row)
    for path, of_file in files.items():
        # In ASCII, as the pipeline reads a file in whatever encoding its machine prefers.
        write_lines(folder / path, (row.fields for row in of_file), ascii_only=True)
    write_report(folder / "BABYLM.md", made, release, files=sorted(files.items()))
    items = len({(row.group[1:3], row.fields["item_id"]) for row in rows})
    folders = len({Path(path).parent for path in files})
    means = sum(row.fields["metric"] == "mean" for row in rows)
    return [
        f"for the BabyLM pipeline: {things(len(rows), 'row')} of {things(items, 'item')} in "
        f"{things(folders, 'folder')}",
        *([f"by sum as by mean, over the same words: {things(means, 'prediction')}"] * (means > 0)),
        *refusals("left out for the BabyLM pipeline", made),
    ]
