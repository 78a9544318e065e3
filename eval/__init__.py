"""Score language models on test suites of minimal pairs, and read models' vectors.

``coherencegym.score`` and the other functions of the package are of all that a model is asked. Here
are the vectors::

    from coherencegym.eval import Passage, load_encoder, states

Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherencegym.eval.hidden_states import Passage, States, states
    from coherencegym.eval.models.in_memory import initialise_randomly
    from coherencegym.eval.models.load import load_encoder

__all__ = ["Passage", "States", "initialise_randomly", "load_encoder", "states"]

#: Modules of the names that are not of hidden states.
_ELSEWHERE = {
    "initialise_randomly": "coherencegym.eval.models.in_memory",
    "load_encoder": "coherencegym.eval.models.load",
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        import importlib

        module = _ELSEWHERE.get(name, "coherencegym.eval.hidden_states")
        return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
