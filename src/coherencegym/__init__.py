"""Turn discourse corpora into test suites of coherence, and score language models on them.

::

    import coherencegym as cg

    cg.check("gpt2")                                         # what it notices, on one screen
    cg.score("gpt2", "coherencegym/sentence_order")          # results, which show themselves
    built = cg.build("story_cloze", corpus="sample")         # the folder of a dataset
    cg.score(["demo", "gpt2"], [built, "coherencegym/winograd"])  # an overview
    cg.probe("gpt2", "coherencegym/discourse_tasks")         # which layers know the labels
    cg.correlate("gpt2", "suites/coherence_ratings")         # with people's ratings
    cg.spans("gpt2", "coherencegym/span_coherence")          # right for the right parts?
    cg.detect("gpt2", "coherencegym/intruder_sentences")     # which sentence does not belong

``coherencegym.loaders`` read corpora, ``coherencegym.manipulations`` take their coherence away,
``coherencegym.builders`` make datasets with ``coherencegym.cards``, and ``coherencegym.eval``
scores models on them. Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherencegym.battery import check
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.models.load import load as load_model
    from coherencegym.eval.run.data import Items
    from coherencegym.eval.tasks.results import Results, rows, to_pandas
    from coherencegym.library import (
        build,
        compare,
        correlate,
        detect,
        load_items,
        load_pairs,
        load_results,
        probe,
        rebuild,
        score,
        spans,
        surprisal,
    )
    from coherencegym.training import ScoreCallback

__version__ = "0.1.0"

__all__ = [
    "EvaluationError",
    "Items",
    "Results",
    "ScoreCallback",
    "__version__",
    "build",
    "check",
    "compare",
    "correlate",
    "detect",
    "load_items",
    "load_model",
    "load_pairs",
    "load_results",
    "probe",
    "rebuild",
    "rows",
    "score",
    "spans",
    "surprisal",
    "to_pandas",
]

#: Places of names that are not in the library's module under that name.
_ELSEWHERE = {
    "EvaluationError": ("coherencegym.errors", "EvaluationError"),
    "check": ("coherencegym.battery", "check"),
    "Items": ("coherencegym.eval.run.data", "Items"),
    "Results": ("coherencegym.eval.tasks.results", "Results"),
    "ScoreCallback": ("coherencegym.training", "ScoreCallback"),
    "load_model": ("coherencegym.eval.models.load", "load"),
    "rows": ("coherencegym.eval.tasks.results", "rows"),
    "to_pandas": ("coherencegym.eval.tasks.results", "to_pandas"),
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        import importlib

        module, attribute = _ELSEWHERE.get(name, ("coherencegym.library", name))
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
