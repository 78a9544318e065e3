"""The pairs that an export wrote as JSON lines, read for lm-evaluation-harness.

This module needs nothing but ``datasets`` beside Python: an export copies it beside the pairs as
``local.py``, where its ``local.yaml`` names it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def pairs(config: str, split: str, **_: Any) -> Any:
    """The pairs of a config and split as a ``datasets.DatasetDict``.

    The harness gives all metadata of a task.
    """
    from datasets import Dataset, DatasetDict

    path = Path(__file__).with_name(f"{config}-{split}.jsonl")
    with path.open(encoding="utf-8") as lines:
        return DatasetDict({split: Dataset.from_list([json.loads(line) for line in lines])})
