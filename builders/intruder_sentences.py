"""Intruder sentences: is there a sentence in the document that came from somewhere else, and which?

Shen et al. 2021 (INSteD), section 3. Half of the documents get an intruder: one of their sentences,
never the first, is replaced by a sentence of a similar document. Documents are divided into train,
validation and test first, and similar ones are looked for inside a split. From one pass come two
views: minimal pairs of the intruded documents (``pairs_*``), and all documents with the place of
the intruder (``detect_*``).

``same_document`` exchanges two sentences of one longer text, so that an intruder is of the same
topic, author and style as what it stands in. Short documents have no two places that are far from
each other: it is made from talks and articles (TED-MDB, GUM).

    coherencegym build intruder_sentences --corpus discoeval --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from coherencegym.builders.crossing.generator import (
    Crossed,
    crossed_columns,
    with_shuffled_contexts,
)
from coherencegym.builders.crossing.partners import (
    SLOT_COLUMNS,
    LeastRepeating,
    far_apart,
    followed_alike,
    slot_and_following,
    slot_columns,
    slots,
)
from coherencegym.builders.discourse.cutting import Passages, category
from coherencegym.builders.judgement.answers import HUMAN_COLUMN
from coherencegym.builders.pipeline.kinds import Division, Fits
from coherencegym.builders.suite import (
    ANY_LANGUAGE,
    FAMILY_COLUMN,
    Column,
    Config,
    Contrast,
    GeneratedDocument,
    GeneratedItem,
    Suite,
    Use,
    by_language,
    generate_item,
)
from coherencegym.eval.kinds.documents import DOCUMENTS, HUMAN, NO_INTRUDER, Document
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.corpora.insted import SHEN_2021
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.intruder_sentence import (
    Choice,
    FittedIntruderSentence,
    IntruderSentence,
)
from coherencegym.manipulations.operator import Context, Operator, Pipeline

INTRUDER_CORPORA = ("documents", "discoeval", "insted", "irc", "rocstories")
COHERENT_CONDITION, INTRUDED = "coherent", "intruded"

_WHOLE_DOCUMENT: Operator = Pipeline()

SLOT = Contrast(INTRUDED, COHERENT_CONDITION, 2, groups=("slot",))
FOLLOWING = Contrast(INTRUDED, COHERENT_CONDITION, 3, groups=("following",))
_WHOLE = Contrast(INTRUDED, COHERENT_CONDITION, "*", groups=("whole",))


@dataclass(frozen=True)
class IntruderView:
    """The common part of the views: the operator, fitted once on the documents of a split.

    Documents with debris of extraction are in no view, and lend no sentence to another. Those that
    share lines, as a document does with itself under another id, are one family.
    """

    operator: IntruderSentence
    filter_model: str = ""
    opening: Operator = _WHOLE_DOCUMENT
    fitted: FittedIntruderSentence | None = None
    debris: Mapping[str, str] = field(default_factory=dict)
    family: Mapping[str, str] = field(default_factory=dict)

    @property
    def recipe(self) -> str:
        """The operator, as the manifest records it."""
        steps = filter(None, (str(self.opening), str(self.operator)))
        return " | ".join(steps) + f", filtered by {self.filter_model}" * bool(self.filter_model)

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The view of these documents."""
        discourses = [cut for whole in discourses for cut in self.opening(whole, Context(0, ""))]
        debris = fits.debris(discourses)
        kept = [discourse for discourse in discourses if discourse.id not in debris]
        fitted = fits.fit(self.operator, kept, context, self.filter_model)
        return replace(self, fitted=fitted, debris=debris, family=fits.families(discourses))

    def kept(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """What a document opens with, unless it is left out for its debris, which is counted."""
        for cut in self.opening(discourse, context):
            if reason := self.debris.get(cut.id):
                context.skipped[f"debris of extraction: {reason}"] += 1
            else:
                yield cut

    def intruded(self, discourse: Discourse, context: Context) -> tuple[Discourse, Choice | None]:
        """The document with its intruder, and what was drawn; as it is, where it gets none."""
        assert self.fitted is not None
        made = next(self.fitted(discourse, context), discourse)
        return made, self.fitted.choices.get(discourse.id)

    def shared_columns(self, discourse: Discourse, choice: Choice | None) -> dict[str, Any]:
        """The columns that all views have."""
        return {
            FAMILY: self.family[discourse.id],
            "domain": discourse.meta.get("domain", ""),
            "similarity": choice.intruder.similarity if choice else None,
            "document_similarity": choice.intruder.document_similarity if choice else None,
            "difficulty": choice.difficulty if choice else "",
            "filter_model": self.filter_model,
        }

    def document_columns(self, discourse: Discourse, choice: Choice | None) -> dict[str, Any]:
        """The columns that views of whole documents have."""
        return {
            "replaced": discourse.texts[choice.slot] if choice else "",
            "source_discourse": choice.intruder.discourse if choice else "",
            "source_unit": choice.intruder.unit if choice else None,
            **self.shared_columns(discourse, choice),
        }

    def slot_item(
        self,
        name: str,
        versions: Mapping[str, Discourse],
        choice: Choice,
        contrasts: tuple[Contrast, ...],
        **columns: Any,
    ) -> GeneratedItem:
        """An item of versions of a document, the first as it stands, that differ in the slot."""
        slot, original = choice.slot, next(iter(versions.values()))
        columns |= {"slot": slot, "sentence_count": len(original.units)}
        columns |= self.shared_columns(original, choice)

        def regions(version: Discourse) -> list[list[int]]:
            after = list(range(slot + 1, len(version.units)))
            return [region for region in (list(range(slot)), [slot], after) if region]

        return generate_item(
            name, versions, regions, contrasts, lambda version: (version.texts[slot],), columns
        )


@dataclass(frozen=True)
class Pairs(IntruderView):
    """Minimal pairs of a document without and with its intruder.

    Chat gives none: readers who compare both texts find three intruders in four.
    """

    contrasts: tuple[Contrast, ...] = (SLOT, FOLLOWING, _WHOLE)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the pair of an intruded document."""
        if discourse.meta.get("domain") == "chat":
            context.skipped["chat, where many an utterance would fit"] += 1
            return
        for cut in self.kept(discourse, context):
            intruded, choice = self.intruded(cut, context)
            if choice is not None:
                versions = {COHERENT_CONDITION: cut, INTRUDED: intruded}
                last = choice.slot == len(cut.units) - 1
                contrasts = (SLOT, _WHOLE) if last else self.contrasts
                yield self.slot_item(intruded.variant, versions, choice, contrasts)


@dataclass(frozen=True)
class Documents(IntruderView):
    """All documents, with the place of the intruder in those that have one."""

    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedDocument]:
        """Yield the document, intruded or coherent, unless it has one sentence."""
        for cut in self.kept(discourse, context):
            if len(cut.units) < 2:
                context.skipped["fewer than two sentences"] += 1
                continue
            # Documents that stay coherent are rows too: they are counted, and not left out.
            intruded, choice = self.intruded(cut, Context(context.seed, context.suite))
            document = Document(
                item_id=cut.id,
                sentences=intruded.texts,
                intruder_position=choice.slot if choice else NO_INTRUDER,
                discourse_id=cut.id,
                corpus=cut.corpus,
                extra=self.document_columns(cut, choice),
            )
            yield GeneratedDocument(document, cut.texts)


_SHARED_COLUMNS = {
    **FAMILY_COLUMN,
    "domain": Column("string", "the domain of the document, where its corpus has several"),
    "similarity": Column(
        "float64", "TF-IDF cosine of the intruder and the sentence that it replaces"
    ),
    "document_similarity": Column(
        "float64", "TF-IDF cosine of the document and the document of the intruder"
    ),
    "difficulty": Column(
        "string",
        "`difficult` if the model of the filter did not find the intruder, `easy` if it found "
        "every candidate; empty without a filter",
    ),
    "filter_model": Column("string", "the model of the adversarial filter; empty without one"),
}
PAIR_COLUMNS = {
    "slot": Column("int32", "the position (from 0) of the sentence that was replaced"),
    "sentence_count": Column("int32", "how many sentences the document has"),
    **_SHARED_COLUMNS,
}
DOCUMENT_COLUMNS = {
    "replaced": Column("string", "the original sentence, which the intruder replaces"),
    "source_discourse": Column("string", "the document that the intruder is from"),
    "source_unit": Column("int32", "the position (from 0) of the intruder in that document"),
    **_SHARED_COLUMNS,
}


def _view_configs(
    operator: IntruderSentence, filter_model: str, opening: Operator = _WHOLE_DOCUMENT
) -> tuple[Config, Config]:
    more = "; intruders that a language model does not find are preferred" * bool(filter_model)
    shared: dict[str, Any] = {
        "name": "filtered" if filter_model else "",
        "by": "domain",
        "languages": ANY_LANGUAGE,
        "corpora": INTRUDER_CORPORA,
        "genre": "documents",
        "breakdowns": ("difficulty",) if filter_model else (),
    }
    pairs = Config(
        prefix="pairs",
        generator=Pairs(operator, filter_model, opening),
        summary="the intruder, the text after it and the whole document are scored" + more,
        regions=(
            "the sentences before the slot, the same in both conditions",
            "the slot: the document's own sentence, or the intruder",
            "the sentences that follow, the same in both conditions (missing where none does)",
        ),
        columns=PAIR_COLUMNS,
        headline="slot",
        partial_input="a bag of words of the sentence in the slot alone",
        **shared,
    )
    detect = Config(
        prefix="detect",
        kind=DOCUMENTS,
        generator=Documents(operator, filter_model, opening),
        summary="all documents; the model names the intruder, if any" + more,
        regions=(),
        columns=DOCUMENT_COLUMNS,
        **shared,
    )
    return pairs, detect


#: Genres of running text by one author; conversations, interviews and forums have many.
_RUNNING_TEXT = (
    "",
    *("academic", "bio", "essay", "fiction", "letter", "news", "speech", "textbook", "voyage"),
)

SAME_DOCUMENT = Config(
    name="same_document",
    corpora=("tedmdb", "gum"),
    select=lambda discourse: category(discourse) in _RUNNING_TEXT,
    generator=Crossed(
        partners=slots,
        operators="sentences of distant places of a text, without the first ones of paragraphs",
        couple=LeastRepeating(far_apart, followed_alike),
        join=slot_and_following,
        apart={"slot": 2, "following": 3},
        names=("context", "sentence"),
        columns=slot_columns,
    ),
    divided=False,
    summary=(
        "two sentences from distant positions of one text, each after its own context and after "
        "the other's; the sentence and the next one are scored in all four combinations"
    ),
    regions=(
        "two or three sentences before the slot",
        "the sentence in the slot: the context's own, or that of the other slot",
        "the sentence after the slot in the context's text (missing at the end of a paragraph)",
    ),
    columns=crossed_columns(**SLOT_COLUMNS),
    headline="slot",
    partial_input="bags of words of the sentences before the slot, in it and after it",
)


@dataclass(frozen=True)
class Released:
    """A document with the replacement that its corpus gives for one of its sentences.

    Shen et al. 2021 released them; their human figures (section 5) are about these documents.
    """

    recipe: str = "the released replacement"
    contrasts: tuple[Contrast, ...] = ()
    family: Mapping[str, str] = field(default_factory=dict)

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The item generator that knows which of these documents share lines."""
        return replace(self, family=fits.families(discourses))

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedDocument]:
        """Yield the document, intruded where the corpus has a replacement."""
        sentences, position, replaced = list(discourse.texts), NO_INTRUDER, ""
        for alternative in discourse.alternatives[:1]:
            ((position, start, end),) = alternative.span
            if position == 0 or (start, end) != (0, len(sentences[position])):
                context.skipped["the released intruder is no whole sentence after the first"] += 1
                return
            replaced = sentences[position]
            sentences[position] = alternative.options[1 - alternative.right]
        if len(sentences) < 2:
            context.skipped["fewer than two sentences"] += 1
            return
        extra = {
            FAMILY: self.family[discourse.id],
            "replaced": replaced,
            "domain": discourse.meta.get("domain", ""),
            "probe": discourse.meta.get("probe", ""),
            HUMAN: _human_positions(discourse),
        }
        document = Document(
            discourse.id, tuple(sentences), position, discourse.id, discourse.corpus, extra
        )
        yield GeneratedDocument(document, discourse.texts)


def _human_positions(discourse: Discourse) -> list[int]:
    # The authors number sentences otherwise.
    if discourse.meta.get("position") != discourse.meta.get("sen_position"):
        return []
    answers = [int(judgement.label) for judgement in discourse.judgements]
    return [answer for answer in answers if NO_INTRUDER <= answer < len(discourse.units)]


RELEASED = Config(
    prefix="detect",
    name="released",
    by="domain",
    corpora=("insted",),
    kind=DOCUMENTS,
    # Without those in which a probe edited the document's own sentence.
    select=lambda discourse: discourse.meta.get("where", "") != "original",
    generator=Released(),
    summary="the documents and intruders that the authors of INSteD released",
    regions=(),
    columns={
        **FAMILY_COLUMN,
        "replaced": DOCUMENT_COLUMNS["replaced"],
        "domain": Column("string", "Wikipedia or CNN"),
        "probe": Column("string", "the linguistic probe in the intruder; empty for none"),
        HUMAN: HUMAN_COLUMN,
    },
    breakdowns=("probe",),
)

_SETTINGS: dict[str, tuple[Any, str]] = {
    "strategy": ("similar", "source of intruders: similar, random, same_category"),
    "neighbours": (10, "number of other documents that give a candidate"),
    "most_similar": (0.6, "candidates with at least this TF-IDF cosine are dropped"),
    "share": (0.5, "share of the documents that get an intruder"),
    "test_share": (0.2, "share of the documents in the split test"),
    "validation_share": (0.1, "share of the documents in the split validation"),
    "filter_model": ("", "prefer intruders that this model does not find"),
}
INTRUDER_SETTINGS = {name: default for name, (default, _) in _SETTINGS.items()}
SETTINGS_HELP = {name: what for name, (_, what) in _SETTINGS.items()}


def _configured(
    test_share: float, validation_share: float, filter_model: str, **drawing: Any
) -> dict[str, Any]:
    return {
        "configs": with_shuffled_contexts(
            *_view_configs(IntruderSentence(**drawing), filter_model),
            SAME_DOCUMENT,
            RELEASED,
            # Whole documents are too long, and have headings.
            *(
                by_language(one)
                for one in _view_configs(IntruderSentence(**drawing), filter_model, Passages(4, 8))
            ),
        ),
        "headline": ("filtered" if filter_model else "",),
        "divide": Division(test_share, validation_share),
    }


SUITE = Suite(
    name="intruder_sentences",
    title="Intruder sentences",
    version="5.0.0",
    hypothesis=(
        "A model that notices incoherence finds a sentence from another document, and the text "
        "after it, more surprising than the document's own, and can tell which sentence of a "
        "document is the intruder."
    ),
    description=(
        "Short documents. In some of them, one sentence (never the first) was replaced by an "
        "intruder: a sentence of another document on a similar subject (TF-IDF), but not a "
        "paraphrase. Documents that share lines are in one split."
    ),
    conditions={
        COHERENT_CONDITION: "the document of the corpus, unchanged",
        INTRUDED: "the document with one sentence replaced by the intruder",
        "context_1_sentence_1": "same_document: a sentence in its own position in the text",
        "context_2_sentence_2": (
            "same_document: a sentence of the same text in its own, distant position"
        ),
        "context_1_sentence_2": "same_document: the first context with the second sentence",
        "context_2_sentence_1": "same_document: the second context with the first sentence",
    },
    uses=(
        Use(
            "pairs",
            "is a sentence of another document surprising",
            "whether the model notices incoherence or a change of topic",
        ),
        Use(
            "same_document",
            "is a misplaced sentence of the same text surprising",
            "whether the model notices a gap in the argument or only a pronoun without a referent",
        ),
    ),
    limitations=(
        "An intruder can fit by chance, if the other document has the same topic or the sentence "
        "says little. A small corpus has few similar documents, so its intruders are easier.",
        "The intruder and the replaced sentence differ: a model may find one of them more "
        "surprising even without context. The prediction about the text after the slot compares "
        "equal texts.",
        "Scores of a filtered config are low by construction for the model that filtered it.",
        "`same_document`: topics of a text's parts, and names, may distinguish its sentences; "
        "speeches and lists of facts have sentences that fit in several positions.",
    ),
    citation=SHEN_2021,
    configure=_configured,
    settings=INTRUDER_SETTINGS,
    settings_help=SETTINGS_HELP,
    tags=("intruder-sentence-detection",),
    **_configured(**INTRUDER_SETTINGS),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
