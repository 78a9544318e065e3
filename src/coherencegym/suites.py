"""The names of the suites: what is built, published and scored goes by them."""

from __future__ import annotations

#: Suite name -> one line for the listing. The module ``builders.<name>`` holds ``SUITE``.
SUITES = {
    "sentence_order": "sentences in a shuffled order, compared with the original order",
    "story_cloze": "the wrong ending of a story, compared with the right ending",
    "winograd": "a pronoun replaced by the wrong referent, compared with the right referent",
    "coreference": "a repeated noun phrase, compared with a pronoun",
    "connectives": "another connective, compared with the author's connective",
    "implicit_relations": "an adverbial that does not fit, compared with one that fits",
    "antecedents": "a mention whose antecedent is removed, compared with another removed sentence",
    "illusions": "a pronoun without an antecedent, with and without another person of its gender",
    "reference_distance": "a mention far from its antecedent, compared with no antecedent",
    "salience": "salient and other entities, after a whole document and after its last part",
    "speaker_commitment": "a contradiction by one speaker, compared with a change of speaker",
    "intruder_sentences": "a sentence of another document, compared with the original",
    "lasting_surprise": "the text after an intruder or a contradiction, compared with the original",
    "linguistic_probes": "a sentence with a wrong gender, tense, ..., compared with the original",
    "replies": "a reply to another chat message, compared with the right reply",
    "rewrites": "an incoherent sentence, compared with its rewrite",
    "coherence_ratings": "texts with human ratings of their coherence",
    "discourse_tasks": "labelled text segments, for probing classifiers",
    "document_structure": "documents with their sections, for training sentence encoders",
    "span_coherence": "questions about texts, with the right answer for every part of a text",
}
#: Those that have no pairs.
WITHOUT_PAIRS = ("coherence_ratings", "document_structure", "span_coherence")
