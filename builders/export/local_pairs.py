"""The pairs that an export wrote as JSON lines, read for lm-evaluation-harness.

This module needs nothing but ``datasets`` and ``transformers`` beside Python: an export copies it
beside the pairs as ``local.py``, where its ``local.yaml`` names it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def pairs(
    config: str,
    split: str,
    pretrained: str | None = None,
    tokenizer: str | None = None,
    revision: str = "main",
    **_: Any,
) -> Any:
    """The pairs of a config and split as a ``datasets.DatasetDict``.

    The harness gives all metadata of a task, and the arguments of the model with them. Where these
    name a tokenizer, pairs that a mean is of have ``tokens``, its number: two means tie if they are
    within 1e-4 bits.
    """
    from datasets import Dataset, DatasetDict

    path = Path(__file__).with_name(f"{config}-{split}.jsonl")
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if name := tokenizer or pretrained:
        from transformers import AutoTokenizer

        of_model = {} if tokenizer else {"revision": revision}
        encode = AutoTokenizer.from_pretrained(name, **of_model)
        for row in rows:
            texts = [row["sentence_good"], row["context_good"]]
            whole, context = encode(texts, add_special_tokens=False)["input_ids"]
            row["tokens"] = len(whole) - len(context) if row["metric"] == "mean" else 1
    return DatasetDict({split: Dataset.from_list(rows)})
