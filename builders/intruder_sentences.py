"""Intruder sentences: is there a sentence in the document that came from somewhere else, and which?

Shen et al. 2021 (INSteD), section 3. Half of the documents get an intruder: one of their sentences,
never the first, is replaced by a sentence of a similar document. Documents are divided into train,
validation and test first, and similar ones are looked for inside a split. From one pass come two
views: minimal pairs of the intruded documents (``pairs_*``), and all documents with the place of
the intruder (``detect_*``).

    python -m builders.intruder_sentences --corpus discoeval --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from coherencegym.builders.judgement.questions import NONE, Question
from coherencegym.builders.making.division import Division
from coherencegym.builders.making.fitting import Fits
from coherencegym.builders.making.released_intruders import RELEASED
from coherencegym.builders.suite import (
    Column,
    Config,
    Contrast,
    DocumentDraft,
    Draft,
    Suite,
    condition,
    item_edits,
)
from coherencegym.eval.kinds.documents import COHERENT, DOCUMENTS, Document
from coherencegym.eval.kinds.items import Item, validate_item
from coherencegym.loaders.corpora.insted import SHEN_2021
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.intruder_sentence import (
    Choice,
    FittedIntruderSentence,
    IntruderSentence,
)
from coherencegym.manipulations.operator import Context

CORPORA = ("documents", "discoeval", "insted", "irc", "rocstories")
COHERENT_CONDITION, INTRUDED = "coherent", "intruded"

SLOT = Contrast(INTRUDED, COHERENT_CONDITION, 2, groups=("slot",))
FOLLOWING = Contrast(INTRUDED, COHERENT_CONDITION, 3, groups=("following",))
_WHOLE = Contrast(INTRUDED, COHERENT_CONDITION, "*", groups=("whole",))


def around_slot(discourse: Discourse, slot: int) -> list[list[int]]:
    """Give what stands before the slot, the slot, and what follows it, if anything does."""
    last = len(discourse.units)
    regions = [list(range(slot)), [slot], list(range(slot + 1, last))]
    return [region for region in regions if region]


def intruder_columns(choice: Choice | None, discourse: Discourse, model: str) -> dict[str, Any]:
    """The columns that both views have."""
    intruder = choice.intruder if choice is not None else None
    return {
        "domain": discourse.meta.get("domain", ""),
        "similarity": intruder.similarity if intruder is not None else None,
        "document_similarity": intruder.document_similarity if intruder is not None else None,
        "difficulty": choice.difficulty if choice is not None else "",
        "filter_model": model,
    }


@dataclass(frozen=True)
class IntruderView:
    """The common part of both views: the operator, fitted once on the documents of a split.

    Documents with debris of extraction are in no view, and lend no sentence to another.
    """

    operator: IntruderSentence
    filter_model: str = ""
    fitted: FittedIntruderSentence | None = None
    debris: Mapping[str, str] = field(default_factory=dict)

    @property
    def recipe(self) -> str:
        """The operator, as the manifest records it."""
        if self.filter_model:
            return f"{self.operator}, filtered by {self.filter_model}"
        return str(self.operator)

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The view of these documents."""
        debris = fits.debris(discourses)
        kept = [discourse for discourse in discourses if discourse.id not in debris]
        fitted = fits.fit(self.operator, kept, context, self.filter_model)
        return replace(self, fitted=fitted, debris=debris)

    def drops(self, discourse: Discourse, context: Context) -> bool:
        """Tell whether a document is left out for its debris, which is then counted."""
        if reason := self.debris.get(discourse.id):
            context.skipped[f"debris of extraction: {reason}"] += 1
        return bool(reason)

    def choice(self, discourse: Discourse) -> Choice | None:
        """Look up what was drawn for a document; nothing where it stays coherent."""
        assert self.fitted is not None
        return self.fitted.choices.get(discourse.id)

    def intrude(self, discourse: Discourse, context: Context) -> Discourse | None:
        """The document with its intruder, if it gets one."""
        assert self.fitted is not None
        return next(self.fitted(discourse, context), None)


@dataclass(frozen=True)
class Pairs(IntruderView):
    """Minimal pairs of a document without and with its intruder."""

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The slot, what follows it where something does, and the whole document."""
        return (SLOT, FOLLOWING, _WHOLE)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Draft]:
        """Yield the pair of an intruded document."""
        if self.drops(discourse, context):
            return
        intruded = self.intrude(discourse, context)
        choice = self.choice(discourse)
        if intruded is None or choice is None:
            return
        versions = {COHERENT_CONDITION: discourse, INTRUDED: intruded}
        last = choice.slot == len(discourse.units) - 1
        contrasts = (SLOT, _WHOLE) if last else (SLOT, FOLLOWING, _WHOLE)
        item = Item(
            item_id=f"{discourse.id}/{intruded.variant}",
            item_number=0,
            conditions=tuple(
                condition(name, version, around_slot(version, choice.slot))
                for name, version in versions.items()
            ),
            predictions=tuple(contrast.prediction for contrast in contrasts),
            discourse_id=discourse.id,
            corpus=discourse.corpus,
            edits=tuple(item_edits(INTRUDED, intruded)),
            extra={
                "slot": choice.slot,
                "sentence_count": len(discourse.units),
                **intruder_columns(choice, discourse, self.filter_model),
            },
        )
        validate_item(item)
        views = {name: (version.texts[choice.slot],) for name, version in versions.items()}
        yield Draft(item, contrasts, views)


@dataclass(frozen=True)
class Documents(IntruderView):
    """All documents, with the place of the intruder in those that have one."""

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """None: documents are for detectors."""
        return ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[DocumentDraft]:
        """Yield the document, intruded or coherent."""
        if self.drops(discourse, context):
            return
        if len(discourse.units) < 2:
            context.skipped["fewer than two sentences"] += 1
            return
        # Documents that stay coherent are rows too: they are counted, and not left out.
        intruded = self.intrude(discourse, Context(context.seed, context.suite))
        choice = self.choice(discourse)
        document = Document(
            item_id=discourse.id,
            sentences=(intruded or discourse).texts,
            intruder_position=choice.slot if choice is not None else COHERENT,
            discourse_id=discourse.id,
            corpus=discourse.corpus,
            extra={
                "replaced": discourse.texts[choice.slot] if choice is not None else "",
                "source_discourse": choice.intruder.discourse if choice is not None else "",
                "source_unit": choice.intruder.unit if choice is not None else None,
                **intruder_columns(choice, discourse, self.filter_model),
            },
        )
        yield DocumentDraft(document, discourse.texts)


SHARED_COLUMNS = {
    "domain": Column("string", "the domain of the document, where its corpus has several"),
    "similarity": Column(
        "float64", "TF-IDF cosine of the intruder and the sentence that it replaces"
    ),
    "document_similarity": Column(
        "float64", "TF-IDF cosine of the document and the one that the intruder is from"
    ),
    "difficulty": Column(
        "string",
        "`difficult` where the filter's model did not find the intruder, `easy` where it found "
        "every candidate; empty without a filter",
    ),
    "filter_model": Column("string", "the model of the adversarial filter; empty without one"),
}
PAIR_COLUMNS = {
    "slot": Column("int32", "the place (from 0) of the sentence that was replaced"),
    "sentence_count": Column("int32", "how many sentences the document has"),
    **SHARED_COLUMNS,
}
_DOCUMENT_COLUMNS = {
    "replaced": Column("string", "the sentence that stood in the intruder's place"),
    "source_discourse": Column("string", "the document that the intruder is from"),
    "source_unit": Column("int32", "its place (from 0) there"),
    **SHARED_COLUMNS,
}

#: Shen et al. 2021, section 4.2.
KIND_OF_INCOHERENCE = Question(
    name="kind_of_incoherence",
    text="What makes the less coherent text incoherent?",
    answers=(
        (
            "information_structure",
            "it does not follow on from what was said: new things are taken as known, the topic "
            "jumps",
        ),
        ("logical", "it contradicts what is said, or does not follow from it"),
        ("factual", "it contradicts what is known of the world"),
        (NONE, "nothing, both are fine"),
    ),
    several=True,
)


def view_configs(operator: IntruderSentence, filter_model: str) -> tuple[Config, Config]:
    """The two views of the documents of each domain of a corpus."""
    filtered = "; intruders that a language model does not find are preferred"
    more = filtered if filter_model else ""
    name = "filtered" if filter_model else ""
    breakdowns = ("difficulty",) if filter_model else ()
    pairs = Config(
        prefix="pairs",
        name=name,
        by="domain",
        corpora=CORPORA,
        genre="documents",
        drafter=Pairs(operator, filter_model),
        summary="the intruder, what follows it and the whole document are scored" + more,
        regions=(
            "the sentences before the slot, the same in both conditions",
            "the slot: the document's own sentence, or the intruder",
            "the sentences that follow, the same in both conditions (missing where none does)",
        ),
        columns=PAIR_COLUMNS,
        breakdowns=breakdowns,
        headline="slot",
        artefact="a bag of words of the sentence in the slot alone",
        questions=(KIND_OF_INCOHERENCE,),
    )
    detect = Config(
        prefix="detect",
        name=name,
        by="domain",
        corpora=CORPORA,
        genre="documents",
        kind=DOCUMENTS,
        drafter=Documents(operator, filter_model),
        summary="all documents; which sentence is an intruder, if any is" + more,
        regions=(),
        columns=_DOCUMENT_COLUMNS,
        breakdowns=breakdowns,
    )
    return pairs, detect


SETTINGS_HELP = {
    "strategy": "where intruders are from: similar, random or same_category documents",
    "neighbours": "how many other documents give a candidate",
    "most_similar": "candidates with at least this TF-IDF cosine are dropped",
    "share": "of the documents that get an intruder",
    "weighting": "of the TF-IDF vectors, tfidf or drqa",
    "test_share": "of the documents, for the split test",
    "validation_share": "of the documents, for the split validation",
    "filter_model": "prefer intruders that this model does not find",
}


def make_suite(
    strategy: str = "similar",
    neighbours: int = 10,
    most_similar: float = 0.6,
    share: float = 0.5,
    weighting: str = "tfidf",
    test_share: float = 0.2,
    validation_share: float = 0.1,
    filter_model: str = "",
) -> Suite:
    """The suite with the settings of its operator and of the division.

    Raises:
        ValueError: a setting is out of its range.
    """
    settings = dict(locals())
    operator = IntruderSentence(
        strategy=strategy,
        neighbours=neighbours,
        most_similar=most_similar,
        share=share,
        weighting=weighting,
    )
    return Suite(
        name="intruder_sentences",
        title="Intruder sentences",
        version="2.0.0",
        hypothesis=(
            "A model that notices incoherence finds a sentence from another document more "
            "surprising than the document's own sentence in its place, finds what follows it more "
            "surprising, and can tell which sentence of a document is the intruder."
        ),
        description=(
            "Documents of a few sentences in some of which one sentence, never the first, was "
            "replaced by a sentence of a similar document. The intruder is about a similar subject "
            "(TF-IDF), but not the same sentence in other words. Documents were divided into "
            "splits first, those that share lines together, so that neither a test document nor "
            "the source of its intruder is seen in training."
        ),
        conditions={
            COHERENT_CONDITION: "the document as it stands in the corpus",
            INTRUDED: "the same with one sentence replaced by the intruder",
        },
        limitations=(
            "An intruder can fit by chance: where the other document is about the same thing, or "
            "the sentence says little. Of 47 intruded test documents of DiscoEval that one reader "
            "read without the answers (version 1.0.0), the intruder was pointed out in 27 of 27 "
            "from Wikipedia and in 16 of 20 from chat (`docs/quality.md` of the toolkit).",
            "The intruder and the sentence that it replaces are different sentences: a model may "
            "find one of them more surprising by itself. The prediction about what follows the "
            "slot compares equal texts.",
            "The documents of a small corpus have few similar ones, so that intruders there are "
            "easier to see.",
            "Scores of a filtered config are low by construction for the model that filtered it.",
        ),
        citation=SHEN_2021,
        configs=(*view_configs(operator, filter_model), RELEASED),
        configure=make_suite,
        settings=settings,
        settings_help=SETTINGS_HELP,
        settings_gone={"prune_df": "the search is always exact; leave it out"},
        divide=Division(test_share, validation_share),
        tags=("intruder-sentence-detection",),
    )


SUITE = make_suite()

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
