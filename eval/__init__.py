"""Score language models on test suites of minimal pairs, and read models' vectors.

``coherencegym.score`` and the other functions of the package are of all that a model is asked. Here
are the vectors::

    from coherencegym.eval import Passage, load_encoder, states

Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherencegym.eval.hidden_states import States, states
    from coherencegym.eval.models.in_memory import initialise_randomly
    from coherencegym.eval.models.load import load_encoder
    from coherencegym.eval.plan.passages import Passage

__all__ = ["Passage", "States", "initialise_randomly", "load_encoder", "states"]

#: The modules of the names.
_MODULES = {
    "Passage": "plan.passages",
    "States": "hidden_states",
    "states": "hidden_states",
    "initialise_randomly": "models.in_memory",
    "load_encoder": "models.load",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
