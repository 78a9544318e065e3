"""Discourse tasks: what do the vectors of a text's pieces say of its discourse?

Chen, Chu and Gimpel 2019 (DiscoEval), section 3. A row has pieces of a text and a label, such as
how two of them relate; a classifier that gets nothing but a vector of each piece has to find the
label. The paper's items are from corpora that may not be published; here they are made from corpora
that may be, with the figures beside which any accuracy is to be read. The paper's own items are
read, too, where somebody has them (``--corpus discoeval``, :mod:`builders.discourse.released`).

Order, place and coherence of sentences are asked of windows of any text. Of each document one
window is taken for a task, and five for positions and orders; more by the setting ``windows``: none
overlaps another.

- ``position_<corpus>``: five sentences, one of them moved to the front; the label is its place.
  The first window is the beginning of the text, the paper's; the others follow it.
- ``order_<corpus>``: two sentences as they stand, and exchanged.
- ``replaced_<corpus>``: six sentences as they stand, and with one of the second to fifth replaced
  by a sentence of another document: of the same genre or domain, where there is another; and
  ``replaced_<corpus>_similar``, of similar documents.
- ``place_in_paragraph_<corpus>``, ``place_in_document_<corpus>``: one sentence, and where it stood
  (the paper's training objective of sentence positions, section 4.2).
- ``section_<corpus>``: one sentence of a paper's abstract, and one of the middle of its body.

    coherencegym build discourse_tasks --corpus gum --data-dir PATH
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from coherencegym.builders.discourse.cutting import (
    CATEGORY,
    DOCUMENT,
    FIRST_UNIT,
    ChosenWindows,
    Extent,
    choose,
    paragraphs,
    stretches,
    tiles,
)
from coherencegym.builders.discourse.relations import RELATIONS
from coherencegym.builders.discourse.released import (
    ABSTRACT,
    BODY,
    COHERENT,
    EXCHANGED,
    IN_ORDER,
    PROBED,
    RELEASED_TASKS,
    REPLACED,
    example,
)
from coherencegym.builders.pipeline.kinds import Division, Fits, OwnSplits
from coherencegym.builders.suite import (
    ANY_LANGUAGE,
    FAMILY_COLUMN,
    Column,
    Config,
    Contrast,
    ItemGenerator,
    Suite,
    by_language,
)
from coherencegym.eval.kinds.documents import EXAMPLES, LabelledExample
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.corpora.discoeval import DISCOEVAL_ROWS
from coherencegym.loaders.corpus import cited
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.text.sections import ABSTRACT_SENTENCES
from coherencegym.manipulations.intruders.intruder_sentence import (
    FittedIntruderSentence,
    IntruderSentence,
)
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.units import Exchange, MoveToFront, moved_from

#: Corpora of prose, those that anybody may republish first; with threads for what suits them.
STORIES = ("storycloze", "rocstories")
PROSE = ("documents", "gum", "insted")
THREADS = ("irc",)

#: Windows of a document for positions and orders where another task has one: they are short, and
#: a classifier learns little from as many rows as there are documents.
_SHORT = 5
#: The category of documents whose own category no other document of the split is of.
_OTHERS = "other"
#: Sentences of a paragraph that is asked about; a longer one is a whole recording.
_PARAGRAPH = range(3, 16)
PLACES_IN_PARAGRAPH = ("first", "middle", "last")


@dataclass(frozen=True)
class Windows:
    """The common part of item generators: windows are chosen once, from all texts of a split.

    ``most`` is how many of a document are.
    """

    most: int = 1
    chosen: ChosenWindows = field(default_factory=ChosenWindows, repr=False, compare=False)
    contrasts: tuple[Contrast, ...] = ()

    #: The task in the random key (rows and pairs are of one), units of a window, windows that are
    #: taken at once, and what a document without any lacks.
    task: ClassVar[str] = ""
    size: ClassVar[int] = 1
    at_once: ClassVar[int] = 1
    missing: ClassVar[str] = ""

    def wanted(self, discourse: Discourse, context: Context) -> Sequence[Extent]:
        """The windows of a document, the best first; here those of ``size``, in random order."""
        generator = context.random(discourse, self.task)
        extents = tiles(discourse, self.size, generator)
        generator.shuffle(extents)
        return extents

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The item generator with the windows of these documents."""

        def wanted(discourse: Discourse) -> Sequence[Extent]:
            return self.wanted(discourse, context)

        return replace(
            self, chosen=choose(discourses, wanted, self.most * self.at_once, self.missing)
        )

    def windows(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """The windows of a document; why there are no more is counted."""
        context.skipped.update(self.chosen.reasons[discourse.id])
        yield from self.chosen.windows[discourse.id]

    def columns(self, window: Discourse) -> dict[str, Any]:
        """The columns that all of them have."""
        return {
            FAMILY: self.chosen.family[window.meta[DOCUMENT]],
            "genre": window.meta[CATEGORY],
            "first_unit": int(window.meta[FIRST_UNIT]),
        }

    def row(self, window: Discourse, name: str, label: str, **columns: Any) -> LabelledExample:
        """The row of a window; ``name`` ends its id, where it has several."""
        own = self.columns(window) | columns
        return example(window, name, label, own, window.meta[DOCUMENT])


@dataclass(frozen=True)
class Position(Windows):
    """Five sentences with one moved to the front."""

    task = "position"
    size = 5
    missing = "fewer than five sentences of prose in a row"
    recipe = f"{MoveToFront()}"

    def wanted(self, discourse: Discourse, context: Context) -> Sequence[Extent]:
        """The windows from the beginning of the text on."""
        return tiles(discourse, self.size)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield a row of each window."""
        for window in self.windows(discourse, context):
            for moved in MoveToFront()(window, context):
                yield self.row(moved, "", str(moved_from(moved)))


@dataclass(frozen=True)
class Order(Windows):
    """Two sentences in their order and exchanged."""

    task = "order"
    size = 2
    missing = "no two sentences of prose in a row"
    recipe = f"unchanged; {Exchange()}"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield both rows of each window."""
        for window in self.windows(discourse, context):
            yield self.row(window, "in_order", IN_ORDER)
            for exchanged in Exchange()(window, context):
                yield self.row(exchanged, EXCHANGED, EXCHANGED)


@dataclass(frozen=True)
class Replaced(Windows):
    """Six sentences as they stand, and with one replaced by one of a document of another family."""

    operator: IntruderSentence = field(default_factory=IntruderSentence)
    fitted: FittedIntruderSentence | None = field(default=None, repr=False, compare=False)

    task = "replaced"
    size = 6
    missing = "fewer than six sentences of prose in a row"

    @property
    def recipe(self) -> str:
        """The operator, as the manifest records it."""
        return f"{self.operator}"

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The item generator with the windows of these documents, and their intruders."""
        made = super().fit(discourses, context, fits)
        family = made.chosen.family
        windows = [window for own in made.chosen.windows.values() for window in own]
        families = [family[window.meta[DOCUMENT]] for window in windows]
        number = {name: place for place, name in enumerate(dict.fromkeys(families))}
        fitted = fits.fit(
            self.operator,
            _with_donors(windows, families),
            context,
            group_of=tuple(number[name] for name in families),
        )
        return replace(made, fitted=fitted)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield both rows of each window that has an intruder."""
        assert self.fitted is not None
        for window in self.windows(discourse, context):
            for made in self.fitted(window, context):
                choice = self.fitted.choices[window.id]
                source = choice.intruder
                document, _, extent = source.discourse.rpartition("/")
                first, _, _ = extent.partition("-")
                columns = {
                    "place": choice.slot,
                    "source_discourse": document,
                    "source_unit": int(first) + source.unit,
                    "similarity": source.similarity,
                    "document_similarity": source.document_similarity,
                }
                yield self.row(window, COHERENT, COHERENT, **columns)
                yield self.row(made, REPLACED, REPLACED, **columns)


def _with_donors(windows: Sequence[Discourse], families: Sequence[str]) -> list[Discourse]:
    # Where no other family is of a window's category, one category stands for all such.
    named = zip(windows, families, strict=True)
    count = Counter(category for category, _ in {(w.meta[CATEGORY], name) for w, name in named})
    return [
        window
        if count[window.meta[CATEGORY]] > 1
        else replace(window, meta={**window.meta, CATEGORY: _OTHERS})
        for window in windows
    ]


@dataclass(frozen=True)
class PlaceInParagraph(Windows):
    """A sentence, and whether it is the first or last of its paragraph, or between them."""

    task = "place_in_paragraph"
    missing = "no paragraph of three to fifteen sentences of prose"
    recipe = "one sentence of a paragraph of three to fifteen"

    def wanted(self, discourse: Discourse, context: Context) -> Sequence[Extent]:
        """One sentence of each paragraph, in a place that is drawn."""
        generator = context.random(discourse, self.task)
        found = [extent for extent in paragraphs(discourse) if extent[1] - extent[0] in _PARAGRAPH]
        generator.shuffle(found)
        places = []
        for first, end in found:
            middle = generator.randrange(first + 1, end - 1)
            places.append(generator.choice((first, middle, end - 1)))
        return [(place, place + 1) for place in places]

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield a row of each sentence."""
        for window in self.windows(discourse, context):
            unit = int(window.meta[FIRST_UNIT])
            first, end = next(e for e in paragraphs(discourse) if e[0] <= unit < e[1])
            label = PLACES_IN_PARAGRAPH[(unit > first) + (unit == end - 1)]
            yield self.row(window, "", label, sentences=end - first, place=unit - first)


@dataclass(frozen=True)
class PlaceInDocument(Windows):
    """A sentence, and in which fifth of its document it stood."""

    task = "place_in_document"
    missing = "fewer than five sentences of prose"
    recipe = "one sentence of a fifth of the document"

    def wanted(self, discourse: Discourse, context: Context) -> Sequence[Extent]:
        """Sentences of all fifths by turns, in random order."""
        generator = context.random(discourse, self.task)
        fifths: list[list[int]] = [[] for _ in range(5)]
        places = _prose(discourse)
        if len(places) < len(fifths):
            return []
        for number, unit in enumerate(places):
            fifths[number * 5 // len(places)].append(unit)
        for own in fifths:
            generator.shuffle(own)
        generator.shuffle(fifths)
        turns = range(max(map(len, fifths)))
        order = [own[turn] for turn in turns for own in fifths if turn < len(own)]
        return [(unit, unit + 1) for unit in order]

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield a row of each sentence."""
        places = _prose(discourse)
        for window in self.windows(discourse, context):
            number = places.index(int(window.meta[FIRST_UNIT]))
            label = str(number * 5 // len(places))
            yield self.row(window, "", label, sentences=len(places), place=number)


def _prose(discourse: Discourse) -> list[int]:
    return [unit for first, end in stretches(discourse) for unit in range(first, end)]


@dataclass(frozen=True)
class Section(Windows):
    """One sentence of the abstract, and one of the middle of the body."""

    task = "section"
    missing = "no sentence of prose in the abstract, or none in the middle of the body"
    at_once = 2
    recipe = "one sentence of the abstract; one of the middle third of the body"

    def wanted(self, discourse: Discourse, context: Context) -> Sequence[Extent]:
        """Sentences of both by turns, in random order."""
        generator = context.random(discourse, self.task)
        places = _prose(discourse)
        generator.shuffle(places)
        end = int(discourse.meta[ABSTRACT_SENTENCES])
        both = zip(
            (unit for unit in places if unit < end),
            (unit for unit in places if unit >= end),
            strict=False,
        )
        return [(unit, unit + 1) for two in both for unit in two]

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield a row of each sentence."""
        end = int(discourse.meta[ABSTRACT_SENTENCES])
        for window in self.windows(discourse, context):
            label = ABSTRACT if int(window.meta[FIRST_UNIT]) < end else BODY
            yield self.row(window, label, label)


_COLUMNS = {
    **FAMILY_COLUMN,
    "genre": Column("string", "genre or domain of the document, where its corpus has several"),
    "first_unit": Column("int32", "the position (from 0) of the first sentence in its document"),
}
DONOR_COLUMNS = {
    **_COLUMNS,
    "place": Column("int32", "the position (from 0) of the sentence that one row replaces"),
    "source_discourse": Column("string", "the document that the other sentence is from"),
    "source_unit": Column(
        "int32", "the position (from 0) of the other sentence in its own document"
    ),
    "similarity": Column("float64", "TF-IDF cosine of the two sentences"),
    "document_similarity": Column(
        "float64",
        "TF-IDF cosine of the two windows; 0 if the second window was drawn at random",
    ),
}
_PLACE_COLUMNS = {
    **_COLUMNS,
    "sentences": Column(
        "int32", "number of sentences in the paragraph, or in the document's prose"
    ),
    "place": Column("int32", "the position (from 0) of the sentence among these sentences"),
}


def _examples(prefix: str, generator: ItemGenerator, summary: str, **more: Any) -> Config:
    settings: dict[str, Any] = {
        "columns": _COLUMNS,
        "breakdowns": ("genre",),
        "genre": "documents",
        "languages": ANY_LANGUAGE,
        "name": "",
    }
    return Config(
        prefix=prefix,
        kind=EXAMPLES,
        generator=generator,
        summary=summary,
        regions=(),
        task_defaults=PROBED.get(prefix, {}),
        **settings | more,
    )


def _replaced_config(most: int, similar: bool) -> Config:
    how: dict[str, Any] = {"strategy": "same_category", "category": CATEGORY}
    where = "of the same genre or domain, if there is one"
    if similar:
        how, where = {}, "with similar words (TF-IDF)"
    return _examples(
        "replaced",
        Replaced(most, operator=IntruderSentence(**how, share=1.0, keep_last=1)),
        "six consecutive sentences, or the same with one of the second to fifth replaced by a "
        f"sentence of another document {where}",
        name="similar" * similar,
        corpora=(*PROSE, *THREADS),
        columns=DONOR_COLUMNS,
        breakdowns=("genre", "place"),
    )


def _window_configs(windows: int) -> tuple[Config, ...]:
    # With at most so many windows of a document; five times as many short ones.
    return (
        _examples(
            "position",
            Position(_SHORT * windows),
            "five sentences, one of them moved to the front; the label is its original position",
            corpora=(*STORIES, *PROSE, *THREADS),
        ),
        _examples(
            "order",
            Order(_SHORT * windows),
            "two consecutive sentences, in their order or exchanged",
            corpora=(*STORIES, *PROSE, *THREADS),
        ),
        _replaced_config(windows, similar=False),
        _replaced_config(windows, similar=True),
        _examples(
            "place_in_paragraph",
            PlaceInParagraph(windows),
            "a sentence; the label says whether it is the first or the last of its paragraph, or "
            "between them",
            corpora=("gum",),
            genre="",
            columns=_PLACE_COLUMNS,
        ),
        _examples(
            "place_in_document",
            PlaceInDocument(windows),
            "a sentence; the label says in which fifth of its document it stood",
            corpora=("gum", *STORIES),
            genre="",
            columns=_PLACE_COLUMNS,
        ),
        _examples(
            "section",
            Section(windows),
            "a sentence of a paper; the label says whether it is from the abstract or from the "
            "middle of the body",
            corpora=(),
            genre="papers",
        ),
        *RELEASED_TASKS,
    )


def _configured(windows: int) -> dict[str, Any]:
    own = _window_configs(windows)
    twins = (by_language(one) for one in own if "documents" in (one.genre, *one.corpora))
    return {"configs": (*own, *RELATIONS, *twins)}


SUITE = Suite(
    name="discourse_tasks",
    title="Discourse tasks",
    version="2.2.0",
    hypothesis=(
        "If a model's layer encodes how the segments of a text relate, a simple classifier "
        "predicts the relation better from their vectors than from the words alone."
    ),
    description=(
        "Text segments with a label that depends on the discourse: the position of a sentence, "
        "which of two sentences came first, whether one of six is foreign, the section of a "
        "sentence, how two spans relate. A classifier of their vectors is trained on `train`, "
        "chosen on `validation` and scored on `test`; `test2`, where present, has other genres. "
        "Rare classes (fewer than 10 rows in `train`) are left out and counted."
    ),
    conditions={},
    limitations=(
        "An accuracy means nothing by itself. Compare it with the most frequent class, the bag of "
        "words and the ceiling, and with the same model randomly initialised. A classifier that "
        "finds a label in a layer does not show that the model uses it.",
        "Splits divide whole documents, but a genre, an author or a phrase may occur in several. "
        "`recurring` in `quality.json` is the share of rows that have a segment with `train`.",
        "Arguments of explicit relations do not contain their connective, but the surrounding text "
        "(`text`) does: contextual vectors have seen it.",
        "In rhetorical trees, `same-unit` is a matter of syntax and `organization` one of layout "
        "(column `aspect`). The rows of a document form one cluster in every interval.",
        "A sentence of another document can fit by chance.",
    ),
    citation=cited("chen-etal-2019-evaluation"),
    readings={DISCOEVAL_ROWS.name: DISCOEVAL_ROWS},
    divide=OwnSplits(Division(0.2, 0.1)),
    configure=_configured,
    settings={"windows": 1},
    settings_help={"windows": "windows per document; five times as many for positions"},
    tags=("discourse-relations", "probing", "rhetorical-structure-theory"),
    task_categories=("text-classification",),
    **_configured(windows=1),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
