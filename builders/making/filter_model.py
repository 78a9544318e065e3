"""The adversarial filter's model: a causal language model as a detector of intruders."""

from __future__ import annotations

import sys
from functools import cache

from coherencegym.manipulations.operator import Detector


@cache
def load_detector(name: str) -> Detector:
    """The detector of ``python -m eval detect`` with a model.

    Args:
        name: a model as ``python -m eval --model`` takes it.

    Raises:
        EvaluationError: the model cannot be loaded.
    """
    from coherencegym.eval.tasks.detect.detect import load_detector as load

    detector: Detector = load(name)
    return detector


def announce(documents: int) -> None:
    """Say what the filter will cost, before it does."""
    print(
        f"adversarial filter: {documents:,} documents are scored, each with every sentence of it "
        "taken out once and read alone",
        file=sys.stderr,
        flush=True,
    )
