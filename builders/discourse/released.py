"""DiscoEval's own questions (Chen, Chu and Gimpel 2019), as they were released.

One config for each domain: ``position_discoeval_arxiv``, ``order_discoeval_wikipedia``,
``replaced_discoeval_chat``, ``detect_discoeval_chat_released``, ``section_discoeval_abs``. SP's
file of Wikipedia is called ``position_discoeval_wikipedia_unordered``, as the four sentences behind
the first are in no order there. Nothing is left out but pairs of equal sentences, so that scores
are over the paper's rows;
what is odd about a row is in its columns. The texts must not be passed on.

Rows are not independent of each other: chat's windows slide by one sentence, and every coherent one
has a twin in which one sentence is replaced. A family is what shares a sentence of four words or
more; a replaced text is of its twin's family, and not of the one that it borrows a sentence from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from coherencegym.builders.discourse.cutting import families
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.suite import (
    FAMILY_COLUMN,
    Column,
    Config,
    Contrast,
    GeneratedDocument,
    ItemGenerator,
)
from coherencegym.eval.kinds.documents import (
    DOCUMENTS,
    EXAMPLES,
    NO_INTRUDER,
    UNKNOWN_PLACE,
    Document,
    LabelledExample,
    Slot,
)
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.corpora.discoeval import TOKENISED
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.text.prose import sentence_debris
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.units import Exchange

#: Labels. In alphabetical order the numbers of the first two are those of the paper's files.
EXCHANGED, IN_ORDER = "exchanged", "in order"
COHERENT, REPLACED = "coherent", "replaced"
ABSTRACT, BODY = "abstract", "body"

#: Prefix of a config -> what a probe gets of its slots, and the slot that the answer is about
#: (Chen et al. 2019, section 3; Hewitt and Liang 2019 for the latter).
PROBED: Mapping[str, Mapping[str, str]] = {
    "position": {"input": "position", "about": "0"},
    "order": {"input": "order", "about": "0"},
    "replaced": {"input": "concatenation", "about": "2"},
    "section": {"input": "concatenation", "about": "0"},
    "relation": {"input": "pair", "about": "1"},
}


def example(
    window: Discourse, name: str, label: str, columns: Mapping[str, Any], document: str = ""
) -> LabelledExample:
    """The row of a window whose units are the slots, in their order.

    Args:
        name: the end of the row's id; empty where the window has one row.
        document: the id of the document that it is from; none: the window's own.
    """
    return LabelledExample(
        item_id="/".join(filter(None, (window.id, name))),
        slots=tuple(Slot((text,)) for text in window.texts),
        text=window.texts,
        places=tuple(range(len(window.texts))),
        label=label,
        discourse_id=document or window.id,
        corpus=window.corpus,
        extra=dict(columns),
    )


_IS_COHERENT = "1"


@dataclass(frozen=True)
class Twin:
    """The text that differs from another in one sentence, and the place (from 0) of that one."""

    discourse: Discourse
    place: int


def twins(discourses: Sequence[Discourse]) -> dict[str, Twin]:
    """Id of a text -> the one with the other label that differs from it in one sentence.

    Each has at most one, the first in the file; both directions are there.
    """
    coherent: dict[tuple[Any, ...], list[Discourse]] = {}
    others: list[Discourse] = []
    for discourse in discourses:
        if discourse.meta["label"] != _IS_COHERENT:
            others.append(discourse)
            continue
        for place in range(len(discourse.units)):
            coherent.setdefault(_without(discourse, place), []).append(discourse)
    found: dict[str, Twin] = {}
    for other in others:
        for place in range(len(other.units)):
            free = (d for d in coherent.get(_without(other, place), ()) if d.id not in found)
            if (twin := next(free, None)) is not None and twin.texts != other.texts:
                found[other.id], found[twin.id] = Twin(twin, place), Twin(other, place)
                break
    return found


def _without(discourse: Discourse, place: int) -> tuple[Any, ...]:
    return (place, *discourse.texts[:place], *discourse.texts[place + 1 :])


@dataclass(frozen=True)
class DiscoEvalRows:
    """The common part of item generators: families, twins, repetitions among a file's rows."""

    family: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    twin: Mapping[str, Twin] = field(default_factory=dict, repr=False, compare=False)
    times: Mapping[tuple[str, ...], int] = field(default_factory=dict, repr=False, compare=False)
    contrasts: tuple[Contrast, ...] = ()

    #: The operation, as the manifest records it; whether it needs twins.
    recipe: ClassVar[str] = "as released"
    has_twins: ClassVar[bool] = False

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The item generator with what is known of these rows."""
        twin = twins(discourses) if self.has_twins else {}
        # A replaced text would connect its own conversation with the one of its other sentence.
        own = [d for d in discourses if d.id not in twin or d.meta["label"] == _IS_COHERENT]
        # By tokens, with the addressee of a message, which tells short messages apart.
        family = families(own, lambda discourse: discourse.meta[TOKENISED].split("\t"))
        for discourse in discourses:
            if discourse.id not in family:
                family[discourse.id] = family[twin[discourse.id].discourse.id]
        times = Counter(discourse.texts for discourse in discourses)
        return replace(self, family=family, twin=twin, times=times)

    def columns(self, discourse: Discourse) -> dict[str, Any]:
        """The columns that all of them have."""
        chat = discourse.meta["domain"] == "chat"
        return {
            FAMILY: self.family[discourse.id],
            "damaged": 0 if chat else sum(bool(sentence_debris(text)) for text in discourse.texts),
            "wordless": int(discourse.meta.get("wordless", 0)),
            "masked": int(discourse.meta.get("masked", 0)),
            "times": self.times[discourse.texts],
        }


@dataclass(frozen=True)
class ReleasedLabel(DiscoEvalRows):
    """SP and SSP: a label of the file, or its name: a place, or the part of a paper."""

    names: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield the row."""
        label = discourse.meta["label"]
        yield example(discourse, "", self.names.get(label, label), self.columns(discourse))


@dataclass(frozen=True)
class ReleasedOrder(DiscoEvalRows):
    """BSO: the two sentences of a line in their order, and exchanged, as its reader makes them."""

    recipe = f"unchanged; {Exchange()}"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield both rows, unless the sentences are the same."""
        for exchanged in Exchange()(discourse, context):
            columns = self.columns(discourse)
            yield example(discourse, "in_order", IN_ORDER, columns)
            yield example(exchanged, EXCHANGED, EXCHANGED, columns)


@dataclass(frozen=True)
class ReleasedCoherence(DiscoEvalRows):
    """DC: whether a sentence was replaced."""

    has_twins = True

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield the row."""
        label = COHERENT if discourse.meta["label"] == _IS_COHERENT else REPLACED
        twin = self.twin.get(discourse.id)
        columns = {
            "place": twin.place if twin else None,
            "twin": twin.discourse.id if twin else "",
        }
        yield example(discourse, "", label, self.columns(discourse) | columns)


@dataclass(frozen=True)
class ReleasedDocuments(DiscoEvalRows):
    """DC as documents: whether one of the sentences is of another text, and which if it is known.

    Shen et al. 2021 test detectors of intruders on them.
    """

    has_twins = True

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedDocument]:
        """Yield the document."""
        twin, place, replaced = self.twin.get(discourse.id), NO_INTRUDER, ""
        if discourse.meta["label"] != _IS_COHERENT:
            place = (twin and twin.place) or UNKNOWN_PLACE
            replaced = twin.discourse.texts[twin.place] if twin else ""
        extra = self.columns(discourse) | {"replaced": replaced}
        document = Document(
            discourse.id, discourse.texts, place, discourse.id, discourse.corpus, extra
        )
        yield GeneratedDocument(document, twin.discourse.texts if twin else discourse.texts)


_COLUMNS = {
    **FAMILY_COLUMN,
    "damaged": Column("int32", "number of sentences with lost words or with markup; 0 for chat"),
    "wordless": Column("int32", "sentences without a letter or digit"),
    "masked": Column("int32", "words that the corpus masks (`<user>`, `<unka>`)"),
    "times": Column("int32", "number of rows of the split with the same sentences"),
}
_COHERENCE_COLUMNS = {
    **_COLUMNS,
    "place": Column(
        "int32",
        "the position (from 0) of the sentence in which row and counterpart differ; null without "
        "a counterpart",
    ),
    "twin": Column(
        "string",
        "the counterpart: the row with the other label that differs in one sentence; empty "
        "without one",
    ),
}


def _config(task: str, prefix: str, generator: ItemGenerator, summary: str, **more: Any) -> Config:
    settings: dict[str, Any] = {
        "kind": EXAMPLES,
        "name": "",
        "regions": (),
        "columns": _COLUMNS,
        "task_defaults": {**PROBED.get(prefix, {}), "protocol": task},
        "fewest_of_a_class": 0,
    }
    return Config(
        prefix=prefix,
        corpora=("discoeval",),
        by="domain",
        select=lambda discourse: discourse.meta.get("task") == task,
        generator=generator,
        summary=summary,
        **settings | more,
    )


RELEASED_TASKS = (
    _config(
        "SP",
        "position",
        ReleasedLabel(),
        "DiscoEval's SP: five sentences, one of them moved to the front; the label is its original "
        "position (in `wikipedia_unordered` the other sentences are in no order)",
    ),
    _config(
        "BSO",
        "order",
        ReleasedOrder(),
        "DiscoEval's BSO: two consecutive sentences, in their order or exchanged",
    ),
    _config(
        "DC",
        "replaced",
        ReleasedCoherence(),
        "DiscoEval's DC: six consecutive sentences; one of the second to fifth may be replaced",
        columns=_COHERENCE_COLUMNS,
        breakdowns=("place",),
    ),
    _config(
        "DC",
        "detect",
        ReleasedDocuments(),
        "DiscoEval's DC as documents: six sentences, of which one may be from another text; its "
        "position is -2 if it is unknown",
        name="released",
        kind=DOCUMENTS,
        task_defaults={},
        columns=_COLUMNS
        | {
            "replaced": Column(
                "string", "the counterpart's sentence in the intruder's position; may be empty"
            )
        },
    ),
    _config(
        "SSP",
        "section",
        ReleasedLabel(names={"1": ABSTRACT, "0": BODY}),
        "DiscoEval's SSP: a sentence of a paper; the label says whether it is from the abstract",
    ),
)
