"""The names of the suites: what is built, published and scored goes by them."""

from __future__ import annotations

#: Suite name -> one line for the listing. The module ``builders.<name>`` holds ``SUITE``.
SUITES = {
    "sentence_order": "shuffled sentences or utterances against the original order",
    "story_cloze": "the wrong ending of a story against the right one",
    "winograd": "the wrong meaning of a pronoun in its place against the right one",
    "coreference": "a noun phrase said again where a pronoun stands against the pronoun",
    "connectives": "another connective against the one that the author wrote",
    "implicit_relations": "an adverbial that says how sentences relate against one that does not",
    "antecedents": "a mention without the sentence that introduces its referent against with it",
    "illusions": "a pronoun that a person fits who cannot be meant against one that nobody fits",
    "reference_distance": "a mention after a text without its antecedent against one of its length",
    "salience": "what a text is about against what is only mentioned in it, both in near and far",
    "speaker_commitment": "a contradiction by one speaker against one between two speakers",
    "intruder_sentences": "a sentence of another document against the document's own",
    "lasting_surprise": "what follows an intruder or a contradiction against without it",
    "linguistic_probes": "a sentence whose gender, tense, ... no longer fits against the original",
    "replies": "a reply to another message of the same hour against the one that was given",
    "rewrites": "a sentence that does not go with its text against what was written in its place",
    "coherence_ratings": "texts, and how coherent people found them, by degrees",
    "discourse_tasks": "pieces of texts with a label, for classifiers of their vectors",
    "document_structure": "documents with their sections, for sentence encoders to learn from",
    "span_coherence": "texts whose parts have right answers, too: is a model right about them?",
}
#: Those that have no pairs.
WITHOUT_PAIRS = ("coherence_ratings", "document_structure", "span_coherence")
