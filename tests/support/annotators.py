"""Simulated annotators: they fill in what `coherencegym judge` wrote."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.table_kind import to_row

#: A line of ``pairs.jsonl`` -> the line with an answer.
Annotator = Callable[[dict[str, Any]], dict[str, Any]]


def answered(line: dict[str, Any], answer: str) -> dict[str, Any]:
    """The line with an answer."""
    return line | {"answer": answer}


def incoherent_texts(folder: Path, condition: str) -> set[str]:
    """The texts that a condition has in a build."""
    return {
        made["content"]
        for table in tables(find_dataset(str(folder)))
        for item in table.items
        for made in to_row(item)["conditions"]
        if made["condition_name"] == condition
    }


def perfect(worse: Collection[str]) -> Annotator:
    """Finds the incoherent text the less coherent one."""
    return lambda line: answered(line, "a" if line["text_a"] in worse else "b")


def always_a(line: dict[str, Any]) -> dict[str, Any]:
    """Finds A the less coherent one, whatever it says."""
    return answered(line, "a")


def at_random(seed: int) -> Annotator:
    """Answers all questions by lot."""
    lots = random.Random(seed)
    return lambda line: answered(line, lots.choice("ab"))


def fill(pairs: Path, annotator: Annotator, answers: Path) -> Path:
    """Write what an annotator gives back, who has the name of the file."""
    name = {"annotator": answers.stem}
    lines = [annotator(json.loads(line)) | name for line in pairs.read_text("utf-8").splitlines()]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return answers
