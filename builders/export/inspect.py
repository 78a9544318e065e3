"""Pairs as questions in words for Inspect (inspect-ai), which runs the folder offline.

The choices are the two texts of a pair, as people read them on a sheet of ``coherencegym judge``.
Of every two questions one has the right answer first; which of them follows from the id of the
item.

A prompted choice is another construct than a comparison of surprisals (Hu and Levy 2023, "Prompting
is not a substitute for probability measurements in large language models").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherencegym.builders.export.write import (
    Exported,
    ExportedRelease,
    refusals,
    things,
    write_lines,
    write_report,
)
from coherencegym.builders.judgement.questions import condition_pairs, printed_turns
from coherencegym.eval.data.benchmark import suite_headline
from coherencegym.eval.data.dataset import ItemTable

#: What is asked of two texts, which are the choices.
_QUESTION = "Which text is more coherent?"
_TASKS = '''"""Questions about the coherence of texts, for `inspect eval questions.py`."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import accuracy, choice, stderr
from inspect_ai.solver import multiple_choice


def _asked(name: str) -> Task:
    return Task(
        dataset=json_dataset(str(Path(__file__).with_name(name))),
        solver=multiple_choice(),
        scorer=choice(),
        metrics=[accuracy(), stderr(cluster="cluster")],
    )
'''
_TASK = """

@task
def {function}() -> Task:
    return _asked({file!r})
"""


def _file(table: Exported[dict[str, Any]]) -> str:
    return f"{table.config}-{table.split}.jsonl"


def _function(table: Exported[dict[str, Any]]) -> str:
    return "ask_" + re.sub(r"\W", "_", f"{table.config}_{table.split}")


def _questions(table: ItemTable, coherent: tuple[str, ...]) -> Exported[dict[str, Any]]:
    exported = Exported[dict[str, Any]](table)
    turned = False
    for item in table.items:
        counted = [p for p in item.predictions if not table.headline or table.headline in p.groups]
        if not counted:
            continue
        pairs = condition_pairs(replace(item, predictions=tuple(counted)))
        if not pairs:
            exported.refused["no two conditions of the item are compared"] += 1
        asked = dict.fromkeys(
            tuple(map("\n".join, printed_turns((pair.coherent_text, pair.incoherent_text))))
            for pair in pairs
            if not coherent or pair.coherent in coherent
        )
        for number, (right, wrong) in enumerate(asked, 1):
            name = item.item_id if number == 1 else f"{item.item_id}#{number}"
            # Of every two one is turned round, and a row that comes later turns no earlier one.
            is_odd = bool(len(exported.made) % 2)
            turned = not turned if is_odd else hashlib.sha256(name.encode()).digest()[0] < 128
            choices = [wrong, right] if turned else [right, wrong]
            row = {"id": name, "input": _QUESTION, "choices": choices, "target": "AB"[turned]}
            exported.made.append({**row, "metadata": {"cluster": item.cluster}})
    return exported


def write(tables: Sequence[ItemTable], release: ExportedRelease, folder: Path) -> list[str]:
    """Write the questions about the headline configs, and the tasks that ask them."""
    headline = suite_headline(release.configs)
    asked = [
        _questions(table, tuple(release.configs[table.config].get("choice", ())))
        for table in tables
        if table.config in headline
    ]
    made = [table for table in asked if table.made]
    for table in made:
        write_lines(folder / _file(table), table.made)
    calls = [_TASK.format(function=_function(table), file=_file(table)) for table in made]
    (folder / "questions.py").write_text("".join([_TASKS, *calls]), encoding="utf-8")
    write_report(folder / "INSPECT.md", asked, release, first=next(map(_function, made), ""))
    number = sum(len(table.made) for table in made)
    return [
        f"for Inspect: {things(number, 'question')} in {things(len(made), 'task')}",
        *refusals("left out for Inspect", asked),
    ]
