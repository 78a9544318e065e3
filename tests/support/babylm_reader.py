"""What the BabyLM pipeline reads of a folder, which comparison it makes, and what it reports.

Written down from the specification of its formats, so that what is exported for it can be held to
it: the fields that each task reads, the texts that are scored, the part of them that is summed up,
and the averages. There are two versions: ``2025``, which its successor of 2026 began with, and the
``later`` one of 2026, which reads other targets and passes over some rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Version = Literal["2025", "later"]

#: The names of files that ``entity_tracking`` averages, by how they begin.
_AVERAGED = ("regular", "ambiref", "move_contents")
#: The only names of files that ``comps`` tells apart.
_COMPS = {
    "comps_base": "base",
    "comps_wugs": "wugs",
    "comps_wugs_dist-before": "wugs_dist_before",
}


@dataclass(frozen=True)
class Choice:
    """Texts of which the first is right, the place where each is scored from, and the row."""

    uid: str
    texts: tuple[str, ...]
    starts: tuple[int, ...]
    row: dict[str, Any]


def read_folder(folder: Path, task: str, version: Version = "2025") -> list[Choice]:
    """Read every ``.jsonl`` file of a folder, not of folders in it."""
    found = []
    for file in sorted(folder.iterdir()):
        if file.suffix == ".jsonl":
            # Lines end with a line feed alone, and letters are ASCII: it names no encoding.
            for line in file.read_text(encoding="ascii").split("\n")[:-1]:
                row = json.loads(line)
                nothing = any("nothing" in option for option in row.get("options", ()))
                if not (nothing and version == "later"):
                    found.append(decoded(row, file.stem, task, version))
    return found


def decoded(row: dict[str, Any], file: str, task: str, version: Version) -> Choice:
    """The choice that a task makes of a row in a file of that name, without its ending."""
    if task == "blimp":
        assert row["field"]
        assert row["linguistics_term"]
        return Choice(row["UID"], (row["sentence_good"], row["sentence_bad"]), (0, 0), row)
    if task == "comps":
        contexts = row["prefix_acceptable"], row["prefix_unacceptable"]
        pairs = [(context, f" {row['property_phrase']}") for context in contexts]
        return _after(_COMPS.get(file, "wugs_dist_in_between"), pairs, row)
    assert task == "entity_tracking"
    pairs = [(row["input_prefix"], option) for option in row["options"]]
    return _after(f"{file}_{row['numops']}_ops", pairs, row)


def _after(uid: str, pairs: Sequence[tuple[str, str]], row: dict[str, Any]) -> Choice:
    texts = tuple(before + after for before, after in pairs)
    return Choice(uid, texts, tuple(len(before) for before, _ in pairs), row)


@dataclass(frozen=True)
class Reader:
    """A model that reads texts, each of them once, with its tokenizer."""

    model: Any
    tokenizer: Any
    kept: dict[str, tuple[list[int], list[float]]] = field(default_factory=dict)

    def log_probability(self, text: str, start: int) -> float:
        """Sum the log-probabilities (nats) of the tokens that end behind a place.

        Tokens are those that the tokenizer adds; a first one with nothing before it has none.
        """
        if text not in self.kept:
            self.kept[text] = self._read(text)
        ends, found = self.kept[text]
        return float(sum(value for value, end in zip(found, ends, strict=True) if end > start))

    def _read(self, text: str) -> tuple[list[int], list[float]]:
        """The ends of the tokens from the second on, and their log-probabilities."""
        import torch

        read = self.tokenizer(text, return_offsets_mapping=True)
        ids = torch.tensor([read["input_ids"]])
        with torch.no_grad():
            logits = self.model(input_ids=ids[:, :-1]).logits.float()
        found = torch.log_softmax(logits, dim=-1).gather(-1, ids[:, 1:, None])[0, :, 0]
        return [end for _, end in read["offset_mapping"]][1:], found.tolist()


def first_is_chosen(values: Sequence[float]) -> bool:
    """Tell whether the first value is the highest; so it is in a tie."""
    return values[0] >= max(values)


def averages(
    task: str, choices: Sequence[Choice], right: Sequence[bool]
) -> tuple[dict[str, float], float]:
    """The accuracy (%) of every name that rows are counted under, and the average over names."""
    counted: dict[str, list[bool]] = defaultdict(list)
    for choice, is_right in zip(choices, right, strict=True):
        counted[choice.uid].append(is_right)
    by_uid = {uid: 100 * sum(own) / len(own) for uid, own in counted.items()}
    if task != "entity_tracking":
        return by_uid, sum(by_uid.values()) / len(by_uid)
    parts = [[v for uid, v in by_uid.items() if uid.startswith(name)] for name in _AVERAGED]
    means = [sum(part) / len(part) for part in parts if part]
    return by_uid, sum(means) / len(means)
