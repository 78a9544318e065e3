"""The work of builds on generated items that differs by the kind of the table.

A kind that is not named here serves as it is: its generators yield what its ``to_row`` takes, and
nothing is measured but the number of items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, TypeVar

from coherencegym.builders.discourse.cutting import families
from coherencegym.builders.release.quality import document_quality, quality, span_quality
from coherencegym.builders.suite import Config, GeneratedDocument, GeneratedItem
from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.eval.kinds.documents import RatedText, SpanText, StructuredDocument
from coherencegym.eval.kinds.table_kind import Row
from coherencegym.eval.statistics.control import Control
from coherencegym.eval.statistics.pair_baselines import BaselineDecision
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import SEVERAL, language_of
from coherencegym.loaders.registry import CORPORA
from coherencegym.loaders.text.prose import debris
from coherencegym.manipulations.intruders.intruder_sentence import (
    FittedIntruderSentence,
    IntruderSentence,
)
from coherencegym.manipulations.intruders.neighbours import groups
from coherencegym.manipulations.operator import Context, Detector

_T = TypeVar("_T")

#: The suite's name in the random key: all suites that divide a corpus divide it alike.
_KEY = "division"


@dataclass(frozen=True)
class Division:
    """Sizes of the splits; what is left is ``train``.

    A group of documents that share lines (:mod:`manipulations.intruders.neighbours`) goes to
    one side as a whole, by a number drawn for its first document in the order of ids: adding
    documents moves no other group.
    """

    test: float
    validation: float

    def __post_init__(self) -> None:
        if self.test <= 0 or self.validation < 0 or self.test + self.validation > 1:
            raise ValueError(
                f"--test-share {self.test} and --validation-share {self.validation}: expected a "
                "test share above 0, and both together at most 1"
            )

    def __call__(self, discourses: Sequence[Discourse], seed: int) -> dict[str, list[Discourse]]:
        """The discourses by split, in their order."""
        group_of = groups([discourse.texts for discourse in discourses])
        grouped = list(zip(discourses, group_of, strict=True))
        first: dict[int, Discourse] = {}
        for discourse, group in sorted(grouped, key=lambda pair: pair[0].id):
            first.setdefault(group, discourse)
        context = Context(seed, _KEY)
        divided: dict[str, list[Discourse]] = {}
        for discourse, group in grouped:
            number = context.random(first[group], "Division").random()
            divided.setdefault(self._split(number), []).append(discourse)
        return dict(sorted(divided.items()))

    def _split(self, number: float) -> str:
        if number < self.test:
            return "test"
        return "validation" if number < self.test + self.validation else "train"


#: The splits that whoever learns from examples needs.
_NEEDED = {"train", "validation", "test"}
#: The name of the split of documents that nobody has divided.
_UNSPLIT = "unsplit"
#: Fewer documents than this are all for testing.
_FEWEST = 20


@dataclass(frozen=True)
class OwnSplits:
    """The splits of a corpus that has those of :data:`_NEEDED`, and a division of any other.

    Too small a corpus to learn from becomes the split ``test``.

    A registered corpus has the splits that it declares, whichever of them were read: GUM's test
    documents alone are not divided again. A dataset of which nothing is declared has those that
    its discourses are of; so do one's own documents, of which any may be of no split.
    """

    division: Division

    def __call__(self, discourses: Sequence[Discourse], seed: int) -> dict[str, list[Discourse]]:
        """The discourses by split, in their order; each language by itself."""
        parts: dict[str, list[Discourse]] = {}
        for discourse in discourses:
            parts.setdefault(language_of(discourse).code, []).append(discourse)
        found: dict[str, list[Discourse]] = {}
        for part in parts.values():
            for split, own in self._of_language(part, seed).items():
                found.setdefault(split, []).extend(own)
        return found

    def _of_language(
        self, discourses: Sequence[Discourse], seed: int
    ) -> dict[str, list[Discourse]]:
        found = {discourse.meta["split"] for discourse in discourses}
        names = {discourse.corpus for discourse in discourses}
        # The parts of a corpus of several languages need not have the splits of others.
        known = {name for name in names & {*CORPORA} if CORPORA[name].language != SEVERAL}
        declared = {split for name in known for split in CORPORA[name].splits}
        if _UNSPLIT in found or not declared | found >= _NEEDED:
            if len(discourses) < _FEWEST:
                return {"test": list(discourses)}
            return self.division(discourses, seed)
        own: dict[str, list[Discourse]] = {}
        for discourse in discourses:
            own.setdefault(discourse.meta["split"], []).append(discourse)
        return own


@dataclass
class Fits:
    """Results over the documents of one build, made once for all its configs.

    Attributes:
        engine: runs a retrieval.
        progress: told what is being done.
    """

    engine: Engine = ALONE_IN_PROCESS
    progress: Callable[[str], None] = lambda message: None
    _found: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, find: Callable[[], _T]) -> _T:
        """Return the finding of a key; ``find`` is asked for it the first time only."""
        if key not in self._found:
            self._found[key] = find()
        found: _T = self._found[key]
        return found

    def fit(
        self,
        operator: IntruderSentence,
        discourses: Sequence[Discourse],
        context: Context,
        filter_model: str = "",
        group_of: tuple[int, ...] | None = None,
    ) -> FittedIntruderSentence:
        """The operator fitted on the discourses of a split: what was fitted is not fitted again.

        The result depends on the context's seed and suite; ``filter_model`` is the model of the
        adversarial filter, if any; ``group_of`` labels discourses by groups that give each other
        nothing (none: those that share lines).
        """

        def find() -> FittedIntruderSentence:
            detector: Detector | None = None
            if filter_model:
                from coherencegym.eval.tasks.detect.detectors import load_detector

                self.progress(f"filtering with {filter_model}: each sentence is also read alone")
                detector = self.once(
                    ("detector", filter_model), lambda: load_detector(filter_model)
                )
            return operator.fit(
                discourses,
                context,
                group_of=group_of,
                detector=detector,
                engine=self.engine,
                progress=self.progress,
            )

        key = (operator, _ids(discourses), context.seed, context.suite, filter_model, group_of)
        return self.once(key, find)

    def debris(self, discourses: Sequence[Discourse]) -> Mapping[str, str]:
        """Id -> what shows that extraction damaged it, of those of some discourses that it did.

        Chat is not extracted from anything, and is written as it comes.
        """

        def find() -> Mapping[str, str]:
            return {
                discourse.id: reason
                for discourse in discourses
                if discourse.meta.get("domain") != "chat" and (reason := debris(discourse.texts))
            }

        return self.once(("debris", _ids(discourses)), find)

    def families(self, discourses: Sequence[Discourse]) -> Mapping[str, str]:
        """Id -> the id of the first document that shares lines with it, itself perhaps."""
        return self.once(("families", _ids(discourses)), lambda: families(discourses))


def _ids(discourses: Sequence[Discourse]) -> tuple[str, ...]:
    return tuple(discourse.id for discourse in discourses)


def row_value(made: Any, number: int) -> Any:
    """What the kind's ``to_row`` takes of a generated item, the ``number``-th from 1."""
    if isinstance(made, GeneratedItem):
        return replace(made.item, item_number=number)
    return made.document if isinstance(made, GeneratedDocument) else made


def content(made: Any) -> Hashable:
    """The question of an item: of those of a split with the same the first one stays."""
    if isinstance(made, GeneratedItem):
        return made.item.conditions, made.item.predictions
    if isinstance(made, GeneratedDocument):
        return made.document.sentences, made.document.intruder_position
    if isinstance(made, StructuredDocument):
        return made.title, made.sections
    if isinstance(made, SpanText):
        return made.units, made.speakers, made.hypothesis, made.alternatives, made.gold
    return id(made)


def group_counts(config: Config, generated: Sequence[Any], rows: Sequence[Row]) -> dict[str, int]:
    """Rows by the groups of each, and by the values of the breakdown columns."""
    counts = Counter(group for made in generated for group in _groups(config, made))
    values = ((column, str(row[column]).lower()) for row in rows for column in config.breakdowns)
    counts.update(f"{column}={value}" for column, value in values if value)
    return dict(sorted(counts.items()))


def _groups(config: Config, made: Any) -> Collection[str]:
    if isinstance(made, GeneratedDocument):
        return ("with an intruder" if made.document.intruded else "coherent",)
    if isinstance(made, GeneratedItem):
        start = 1 if config.headline else 0
        return {group for one in made.item.predictions for group in one.groups[start:]}
    return ()


def measured(
    config: Config,
    generated: Sequence[Any],
    decided: Mapping[str, Sequence[BaselineDecision]],
    control: Control | None = None,
) -> dict[str, Any]:
    """The quality section of a split, as the manifest records it.

    Args:
        config, generated: the config, and its items, of which there is one.
        decided, control: what baselines say of each, and what is said of their surface, where they
            are pairs.
    """
    first = generated[0]
    if isinstance(first, GeneratedItem) and control is not None:
        return quality(config, generated, decided, control)
    if isinstance(first, GeneratedDocument):
        return document_quality(generated)
    if isinstance(first, SpanText):
        return span_quality(generated)
    if isinstance(first, StructuredDocument):
        return structure_quality(generated)
    if isinstance(first, RatedText):
        return {
            "items": len(generated),
            "ratings": range_of([one.rating for one in generated]),
            "raters": range_of([len(one.ratings) for one in generated]),
            "characters": range_of([len(one.text) for one in generated]),
        }
    return {"items": len(generated)}


def range_of(values: Sequence[float]) -> dict[str, float]:
    """The least, the mean and the greatest of some values; empty where there are none."""
    if not values:
        return {}
    return {"least": min(values), "mean": round(fmean(values), 4), "most": max(values)}


def structure_quality(documents: Sequence[StructuredDocument]) -> dict[str, Any]:
    """Numbers of documents, sections, paragraphs and sentences, and of titles and levels."""
    sections = [section for document in documents for section in document.sections]
    return {
        "items": len(documents),
        "titles": sum(bool(document.title) for document in documents),
        "sections": len(sections),
        "headings": sum(bool(section.title) for section in sections),
        "levels": len({section.level for section in sections}),
        "paragraphs": sum(len(section.paragraphs) for section in sections),
        "sentences": sum(1 for document in documents for _ in document.sentences),
    }
