"""The pairs that an export wrote as JSON lines, read for lm-evaluation-harness.

This module needs nothing but ``datasets`` and ``transformers`` beside Python: an export copies it
beside the pairs as ``local.py``, where its ``local.yaml`` names it. Tokens are counted by the
tokenizer that ``tokenizer=`` or ``pretrained=`` of the harness's ``--model_args`` names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_TEXTS = ("sentence_bad", "sentence_good")


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
    name a tokenizer, pairs have ``tokens``: the numbers of tokens of the incoherent text and of the
    coherent one.
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
            texts = [row[side] for side in _TEXTS]
            row["tokens"] = list(map(len, encode(texts, add_special_tokens=False)["input_ids"]))
    return DatasetDict({split: Dataset.from_list(rows)})


def process_results(
    doc: Mapping[str, Any], results: Iterable[tuple[float, bool]]
) -> dict[str, float]:
    """Tell whether the coherent text is more probable: by sum, per character, byte and token."""
    texts = [doc[side] for side in _TEXTS]
    lengths = {
        "acc": [1, 1],
        "acc_norm": [len(text) for text in texts],
        "acc_bytes": [len(text.encode("utf-8")) for text in texts],
        **({"acc_tokens": doc["tokens"]} if "tokens" in doc else {}),
    }
    bad, good = (log_probability for log_probability, _ in results)
    return {
        name: float(good / of_good > bad / of_bad) for name, (of_bad, of_good) in lengths.items()
    }
