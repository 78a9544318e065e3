"""Relation order: a cause, a condition or what comes first is more surprising as its own result.

Causes, conditions and precedence are asymmetric (Asher and Lascarides 2003): ``Because the river
froze, the boats stayed in port`` holds together, ``Because the boats stayed in port, the river
froze`` does not. Both have the same clauses and the same conjunction. The subordinate clause may
stand behind the main clause or before it, which says the same (``The boats stayed in port because
the river froze``); so an item has four conditions, the clauses as the author related them and
exchanged, in either order. Each order of the two clauses stands once on each side of the
predictions, so that a preference for one of them scores 50 %: what would say the cause first, or
end on the longer clause, is right in one order and wrong in the other. What is left is which of the
clauses the conjunction has.

    coherencegym build relation_order --corpus gum --data-dir PATH
"""

from __future__ import annotations

from typing import Any

from coherencegym.builders.suite import Column, Config, Contrast, MinimalPairs, Suite, Use
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.manipulations.connectives.relation_swap import RelationSwap, asymmetry

_CORPORA = ("pdtb", "gum", "tedmdb")
MAIN_FIRST, SUBORDINATE_FIRST = "main_first", "subordinate_first"
EXCHANGED_MAIN_FIRST, EXCHANGED_SUBORDINATE_FIRST = (
    "exchanged_main_first",
    "exchanged_subordinate_first",
)
#: The group that a config's score is taken over.
EXCHANGED = "exchanged"


def context_and_sentence(discourse: Discourse) -> tuple[str, str]:
    """Two regions: the sentences before (empty where there are none), and the sentence."""
    *context, sentence = discourse.texts
    return " ".join(context), sentence


def main_and_subordinate(discourse: Discourse) -> tuple[str, ...]:
    """The words of the main clause and those of the subordinate clause, each by itself."""
    (relation,) = discourse.relations
    return span_text(discourse, relation.arg1), span_text(discourse, relation.arg2)


def relation_columns(original: Discourse, exchanged: Discourse) -> dict[str, Any]:
    """The columns of an item, from the excerpt with the main clause first."""
    (relation,) = original.relations
    assert relation.connective is not None
    return {
        "relation": asymmetry(original, relation),
        "conjunction": span_text(original, relation.connective).lower(),
        "sense": " + ".join(relation.senses),
        "authored": SUBORDINATE_FIRST if original.edits else MAIN_FIRST,
        "genre": original.meta.get("genre", ""),
    }


_COLUMNS = {
    "relation": Column("string", "`cause`, `condition` or `precedence`"),
    "conjunction": Column("string", "the conjunction, lower-case"),
    "sense": Column("string", "the sense as the corpus has it; several joined by ` + `"),
    "authored": Column(
        "string", "which order is the author's: `main_first` or `subordinate_first`"
    ),
    "genre": Column("string", "genre of the document; empty where the corpus names none"),
}

ASHER_LASCARIDES_2003 = """@book{asher-lascarides-2003-logics,
    title = "Logics of Conversation",
    author = "Asher, Nicholas and Lascarides, Alex",
    year = "2003",
    publisher = "Cambridge University Press",
}"""

SUITE = Suite(
    name="relation_order",
    title="Relation order",
    version="1.0.0",
    hypothesis=(
        "A model that notices incoherence finds a sentence more surprising when the arguments of a "
        "cause, a condition or a precedence are exchanged in it."
    ),
    description=(
        "Sentences of a main clause and a subordinate clause that a conjunction joins (because, "
        "since, if, unless, after, before, once), behind at most two sentences of their "
        "text. In the exchanged versions each clause stands in the place of the other, so that the "
        "effect becomes the cause. Main clause first or subordinate clause first: one order is the "
        "author's, the other is made of it and says the same. Both clauses have a subject and a "
        "finite verb, of the same tense and aspect, and neither takes up anything of the other; of "
        "a subject that they share, the name goes with the clause that comes first."
    ),
    conditions={
        MAIN_FIRST: "the clauses as the author related them, the main clause first",
        SUBORDINATE_FIRST: "the same, the subordinate clause first",
        EXCHANGED_MAIN_FIRST: "each clause in the place of the other, the main clause first",
        EXCHANGED_SUBORDINATE_FIRST: "the same, the subordinate clause first",
    },
    uses=(Use("", "which clause is the cause", "knowledge of the world from reading"),),
    limitations=(
        "A preference for an order of clauses, or for a conjunction, cancels: each order stands "
        "once on each side of an item's two predictions. What does not is a preference for one "
        "clause as the main one: it may be longer, general, or have a modal verb. The artefact "
        "score is that of a classifier that sees the words of each clause and which of them is the "
        "main clause, but not both together.",
        "Tense and aspect are guessed from the words of the first verb of a clause.",
        "Some relations hold in both directions (`he left because she came`), or are as likely: an "
        "exchanged sentence may be good in another world. Of the 12 items of GUM and TED-MDB at "
        "hand a reader found the author's side clearly better in 10.",
        "`as` is not among the conjunctions, as it may always mean that things happened together, "
        "nor `until`, as what happens at one point cannot go on until something; nor are acts of "
        "speech (`if you are wondering, it is red`, `maybe I should`), as far as the sense or the "
        "words show them.",
        "The rules are strict, and few sentences meet them: of the 80 documents of GUM at hand 11 "
        "items, of TED-MDB one. The Penn Discourse Treebank is larger, but licensed, and could not "
        "be tried. Corpora without coreference give only sentences without pronouns of the third "
        "person.",
        "Of 28 pairs of GUM that a language model read twice, blind, both texts were good "
        "English in 24, and the coherent side was preferred in all of those that could be told "
        "(`docs/quality.md` of the toolkit).",
    ),
    headline=("",),
    citation=ASHER_LASCARIDES_2003,
    configs=(
        Config(
            name="",
            corpora=_CORPORA,
            drafter=MinimalPairs(
                versions={
                    MAIN_FIRST: RelationSwap(main_first=True),
                    SUBORDINATE_FIRST: RelationSwap(main_first=False),
                    EXCHANGED_MAIN_FIRST: RelationSwap(main_first=True, exchanged=True),
                    EXCHANGED_SUBORDINATE_FIRST: RelationSwap(main_first=False, exchanged=True),
                },
                regions=context_and_sentence,
                contrasts=(
                    Contrast(
                        EXCHANGED_MAIN_FIRST,
                        MAIN_FIRST,
                        2,
                        metric="sum",
                        groups=("main clause first", EXCHANGED),
                    ),
                    Contrast(
                        EXCHANGED_SUBORDINATE_FIRST,
                        SUBORDINATE_FIRST,
                        2,
                        metric="sum",
                        groups=("subordinate clause first", EXCHANGED),
                    ),
                ),
                columns=relation_columns,
                view=main_and_subordinate,
            ),
            summary="the arguments of a relation are exchanged, and the sentence is scored",
            regions=(
                "the sentences before, at most two (empty where there are none)",
                "the sentence, the same clauses and conjunction in all conditions",
            ),
            columns=_COLUMNS,
            breakdowns=("relation", "authored"),
            headline=EXCHANGED,
            artefact=(
                "two bags of words, of the main and of the subordinate clause, each without the "
                "other and without the conjunction: what tense, modality and choice of words say "
                "of which is which"
            ),
        ),
    ),
    one_split=True,
    tags=("discourse-relations", "causality", "temporal-order"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
