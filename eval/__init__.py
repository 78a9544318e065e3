"""Score causal language models on test suites of minimal pairs, and read models' vectors.

As a library::

    from coherencegym.eval import items_from, score

    results = score(model, tokenizer, items_from("coherencegym/sentence_order"))

On the command line: ``coherencegym score --model gpt2 --dataset coherencegym/sentence_order``.
Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# The function has its module's name. A module that is imported takes its name in this package, so
# that the function has to come after it; the module loads nothing.
from coherencegym.eval.states import Passage, States, states

if TYPE_CHECKING:
    from coherencegym.eval.library import (
        Items,
        items_from,
        rows,
        score,
        to_pandas,
    )
    from coherencegym.eval.models.body import random_twin
    from coherencegym.eval.models.load import load as load_model
    from coherencegym.eval.models.load import load_encoder
    from coherencegym.eval.views.findings import ShownFindings as Results
    from coherencegym.eval.views.findings import write_findings as write_results

__all__ = [
    "Items",
    "Passage",
    "Results",
    "States",
    "items_from",
    "load_encoder",
    "load_model",
    "random_twin",
    "rows",
    "score",
    "states",
    "to_pandas",
    "write_results",
]

#: Modules of the names that are not in the library's own module under that name.
_ELSEWHERE = {
    "Results": ("coherencegym.eval.views.findings", "ShownFindings"),
    "load_encoder": ("coherencegym.eval.models.load", "load_encoder"),
    "load_model": ("coherencegym.eval.models.load", "load"),
    "random_twin": ("coherencegym.eval.models.body", "random_twin"),
    "write_results": ("coherencegym.eval.views.findings", "write_findings"),
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        import importlib

        module, attribute = _ELSEWHERE.get(name, ("coherencegym.eval.library", name))
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
