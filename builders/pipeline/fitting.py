"""Suites that look across documents: divide the corpus first, then fit once for all configs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from coherencegym.builders.discourse.cutting import families
from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.loaders.discourse import Discourse
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
            return operator.fit(
                discourses,
                context,
                group_of=group_of,
                detector=_detector(filter_model) if filter_model else None,
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


@cache
def _detector(model: str) -> Detector:
    from coherencegym.eval.tasks.detect.detect import load_detector

    detector = load_detector(model)

    def announced(documents: Sequence[Sequence[str]]) -> list[list[float]]:
        print(
            f"adversarial filter: {len(documents):,} documents are scored, each with every "
            "sentence of it taken out once and read alone",
            file=sys.stderr,
            flush=True,
        )
        return detector(documents)

    return announced
