"""Pairs as questions in words for Inspect (inspect-ai), which runs the folder offline.

A question quotes once what the two texts of a pair share, and asks which of two continuations (or
which words for a gap, or which of two whole texts) makes the more coherent text. Of every two
questions one has the right answer first; which of them follows from the id of the item.

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
from coherencegym.builders.judgement.questions import condition_pairs
from coherencegym.eval.data.benchmark import suite_headline
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.items import Condition
from coherencegym.eval.kinds.table_kind import SEPARATOR

#: Marks the place of the choices in a text.
_GAP = "____"
#: Whether the texts share a beginning, and an end -> what is asked.
_ASKED = {
    (False, False): "Which {text} is more coherent?",
    (True, False): "Which continuation makes this {text} more coherent?",
    (False, True): f"Which beginning, in place of {_GAP}, makes this {{text}} more coherent?",
    (True, True): f"What makes this {{text}} more coherent in place of {_GAP}?",
}
_DIALOGUE = " (Each line is a turn.)"
#: The space between sentences, or turns.
_BOUNDARY = re.compile(rf"(?<=[.!?])\s+|(?<=[.!?]['\"”’)])\s+|\s*{re.escape(SEPARATOR)}\s*")
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
#: The questions of a table, as Inspect reads them.
QuestionTable = Exported[dict[str, Any]]


def _file(table: QuestionTable) -> str:
    return f"{table.config}-{table.split}.jsonl"


def _function(table: QuestionTable) -> str:
    return "ask_" + re.sub(r"\W", "_", f"{table.config}_{table.split}")


def _questions(table: ItemTable, coherent: tuple[str, ...]) -> QuestionTable:
    exported = QuestionTable(table)
    turned = False
    for item in table.items:
        counted = [p for p in item.predictions if not table.headline or table.headline in p.groups]
        if not counted:
            continue
        pairs = condition_pairs(replace(item, predictions=tuple(counted)))
        if not pairs:
            exported.refused["no two conditions of the item are compared"] += 1
        asked: list[tuple[str, str, str]] = []
        for pair in pairs:
            if coherent and pair.coherent not in coherent:
                continue
            made = ask_pair(item.condition(pair.coherent), item.condition(pair.incoherent))
            if made[1] == made[2]:
                exported.refused["both choices have the same text"] += 1
            elif made not in asked:
                asked.append(made)
        for number, (question, right, wrong) in enumerate(asked, 1):
            name = item.item_id if number == 1 else f"{item.item_id}#{number}"
            # Of every two one is turned round, and a row that comes later turns no earlier one.
            is_odd = bool(len(exported.made) % 2)
            turned = not turned if is_odd else hashlib.sha256(name.encode()).digest()[0] < 128
            choices = [wrong, right] if turned else [right, wrong]
            row = {"id": name, "input": question, "choices": choices, "target": "AB"[turned]}
            exported.made.append({**row, "metadata": {"cluster": item.cluster}})
    return exported


def ask_pair(right: Condition, wrong: Condition) -> tuple[str, str, str]:
    """The question that two conditions of an item make, and its right and its wrong answer."""
    before, (good, bad), after = _divided(right, wrong)
    is_dialogue = any(SEPARATOR in one.content for one in (right, wrong))
    asked = _ASKED[bool(before), bool(after)].format(text="dialogue" if is_dialogue else "text")
    asked += _DIALOGUE * is_dialogue
    quoted = _turns(f"{before}{_GAP}{after}" if after else before)
    return "\n\n".join(filter(None, (asked, quoted))), _turns(good), _turns(bad)


def _divided(one: Condition, other: Condition) -> tuple[str, tuple[str, str], str]:
    # What both texts share before and after the part in which they differ, as far as a region, a
    # sentence or a turn; of either text something is left.
    texts = one.content, other.content

    def are_left(start: int, end: int) -> bool:
        return all(_turns(text[start : len(text) - end]) for text in texts)

    starts = _edges(one) & _edges(other)
    same = (place for place in starts if texts[0][:place] == texts[1][:place])
    start = max((place for place in same if are_left(place, 0)), default=0)
    ends = {len(texts[0]) - p for p in _edges(one)} & {len(texts[1]) - p for p in _edges(other)}
    same = (size for size in ends if texts[0].endswith(texts[1][len(texts[1]) - size :]))
    end = max((size for size in same if are_left(start, size)), default=0)
    # White space and changes of speaker at the ends of an answer belong to the text around it.
    (lead, good, trail), (other_lead, bad, other_trail) = (
        _trimmed(text[start : len(text) - end]) for text in texts
    )
    if (lead, trail) != (other_lead, other_trail) or good == bad:
        return "", (texts[0].strip(), texts[1].strip()), ""
    before, after = texts[0][:start] + lead, trail + texts[0][len(texts[0]) - end :]
    return before if before.strip() else "", (good, bad), after if after.strip() else ""


def _edges(condition: Condition) -> set[int]:
    found = {place for offsets in condition.region_offsets for place in offsets}
    return found.union(*(match.span() for match in _BOUNDARY.finditer(condition.content)))


def _trimmed(text: str) -> Sequence[str]:
    edge = rf"(?:\s|{re.escape(SEPARATOR)})*"
    match = re.fullmatch(f"({edge})(.*?)({edge})", text, re.DOTALL)
    assert match is not None  # each part may be empty
    return match.groups()


def _turns(text: str) -> str:
    return "\n".join(part.strip() for part in text.split(SEPARATOR)).strip()


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
