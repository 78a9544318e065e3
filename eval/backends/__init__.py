"""The libraries that run language models: a new one is one module and one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherencegym.eval.backends.backend import Backend

#: The word of ``--backend`` -> what it is for, and the module that has its ``BACKEND``.
BACKENDS: dict[str, tuple[str, str]] = {
    "transformers": ("", "coherencegym.eval.backends.backend"),
    "vllm": (
        "for models too large or too slow in the other",
        "coherencegym.eval.backends.vllm",
    ),
}


def backend_named(name: str) -> Backend:
    """The backend of a name, one of :data:`BACKENDS`."""
    backend: Backend = importlib.import_module(BACKENDS[name][1]).BACKEND
    return backend


def backend_of(model: Any) -> Backend:
    """The backend that a model was loaded by."""
    known = {one.models: one for one in map(backend_named, BACKENDS)}
    return next((one for of, one in known.items() if of and isinstance(model, of)), known[None])
