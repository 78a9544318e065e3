"""Score causal language models on test suites of minimal pairs, and read models' vectors.

As a library::

    from coherencegym.eval import items_from, score

    results = score(model, tokenizer, items_from("coherencegym/sentence_order"))

On the command line: ``coherencegym score --model gpt2 --dataset coherencegym/sentence_order``.
Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherencegym.eval.hidden_states import Passage, States, states
    from coherencegym.eval.library import (
        Items,
        items_from,
        score,
    )
    from coherencegym.eval.models.body import initialise_randomly
    from coherencegym.eval.models.load import load as load_model
    from coherencegym.eval.models.load import load_encoder
    from coherencegym.eval.tasks.results import Results, rows, to_pandas
    from coherencegym.eval.views.page import write_results_folder as write_results

__all__ = [
    "Items",
    "Passage",
    "Results",
    "States",
    "initialise_randomly",
    "items_from",
    "load_encoder",
    "load_model",
    "rows",
    "score",
    "states",
    "to_pandas",
    "write_results",
]

#: Modules of the names that are not in the library's own module under that name.
_ELSEWHERE = {
    "Passage": ("coherencegym.eval.hidden_states", "Passage"),
    "Results": ("coherencegym.eval.tasks.results", "Results"),
    "States": ("coherencegym.eval.hidden_states", "States"),
    "load_encoder": ("coherencegym.eval.models.load", "load_encoder"),
    "load_model": ("coherencegym.eval.models.load", "load"),
    "initialise_randomly": ("coherencegym.eval.models.body", "initialise_randomly"),
    "rows": ("coherencegym.eval.tasks.results", "rows"),
    "states": ("coherencegym.eval.hidden_states", "states"),
    "to_pandas": ("coherencegym.eval.tasks.results", "to_pandas"),
    "write_results": ("coherencegym.eval.views.page", "write_results_folder"),
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        import importlib

        module, attribute = _ELSEWHERE.get(name, ("coherencegym.eval.library", name))
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
