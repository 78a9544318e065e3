"""The suites, by name. A new suite is one module and one line here.

Those of other packages come by their entry points (:mod:`coherencegym.extensions`).
"""

from __future__ import annotations

import importlib

from coherencegym.builders.suite import Suite
from coherencegym.extensions import added, load_extension, package_of

#: Suite name -> one line for the listing. The module ``builders.<name>`` holds ``SUITE``.
SUITES = {
    "sentence_order": "shuffled sentences or utterances against the original order",
    "story_cloze": "the wrong ending of a story against the right one",
    "winograd": "the wrong meaning of a pronoun in its place against the right one",
    "coreference": "a noun phrase said again where a pronoun stands against the pronoun",
    "connectives": "another connective against the one that the author wrote",
    "implicit_relations": "an adverbial that says how sentences relate against one that does not",
    "antecedents": "a mention without the sentence that introduces its referent against with it",
    "relation_order": "cause and effect, condition and what hangs on it, exchanged against as told",
    "speaker_commitment": "a contradiction by one speaker against one between two speakers",
    "intruder_sentences": "a sentence of another document against the document's own",
    "linguistic_probes": "a sentence whose gender, tense, ... no longer fits against the original",
    "replies": "a reply to another message of the same hour against the one that was given",
    "rewrites": "a sentence that does not go with its text against what was written in its place",
    "coherence_ratings": "texts, and how coherent people found them, by degrees",
    "discourse_tasks": "pieces of texts with a label, for classifiers of their vectors",
    "span_coherence": "texts whose parts have right answers, too: is a model right about them?",
}


def all_suites() -> dict[str, str]:
    """All suites by name, each with one line on it; those of other packages last."""
    others = added("suites", SUITES)
    return {**SUITES, **{name: f"a suite of {package_of(each)}" for name, each in others.items()}}


def load_suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        KeyError: there is none.
        EvaluationError: it is of another package, and cannot be imported or is no suite.
    """
    if name not in SUITES:
        loaded: Suite = load_extension(added("suites", SUITES)[name], Suite)
        return loaded
    suite = importlib.import_module(f"coherencegym.builders.{name}").SUITE
    assert isinstance(suite, Suite)
    return suite
