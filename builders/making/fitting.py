"""Drafters that must see their collection first: fitted once for all configs that share it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.text.prose import debris
from coherencegym.manipulations.intruders.block_store import BlockFolder
from coherencegym.manipulations.intruders.intruder_sentence import (
    FittedIntruderSentence,
    IntruderSentence,
)
from coherencegym.manipulations.intruders.settings import Fitting
from coherencegym.manipulations.operator import Context


def retrieval_folder() -> Path:
    """Name the folder that keeps blocks of a retrieval until its build is done."""
    import platformdirs

    named = os.environ.get("COHERENCEGYM_CACHE")
    folder = Path(named) if named else platformdirs.user_cache_path("coherencegym", appauthor=False)
    return folder / "retrieval"


@dataclass
class Fits:
    """The operators that were fitted in one build, and the blocks that were kept meanwhile.

    Attributes:
        threads: threads of a retrieval.
        progress: told what is being done.
    """

    threads: int = 1
    progress: Callable[[str], None] = lambda message: None
    _made: dict[Any, FittedIntruderSentence] = field(default_factory=dict)
    _debris: dict[tuple[str, ...], Mapping[str, str]] = field(default_factory=dict)
    _stores: list[BlockFolder] = field(default_factory=list)

    def fit(
        self,
        operator: IntruderSentence,
        discourses: Sequence[Discourse],
        context: Context,
        filter_model: str = "",
    ) -> FittedIntruderSentence:
        """The operator fitted on the discourses: what was fitted already is not fitted again.

        Args:
            operator: its result depends on the context's seed and suite.
            discourses: the discourses of one split of one config.
            context: the context of the build.
            filter_model: the model of the adversarial filter; empty: none.
        """
        ids = tuple(discourse.id for discourse in discourses)
        key = (operator, ids, context.seed, context.suite, filter_model)
        if key not in self._made:
            detector = None
            if filter_model:
                from coherencegym.builders.making.filter_model import load_detector

                detector = load_detector(filter_model)
            self._made[key] = operator.fit(
                discourses,
                context,
                Fitting(
                    self.threads,
                    self._store,
                    detector,
                    self._announce,
                    self.progress,
                ),
            )
        return self._made[key]

    def debris(self, discourses: Sequence[Discourse]) -> Mapping[str, str]:
        """Id -> what shows that extraction damaged it, of those of some discourses that it did.

        Chat is not extracted from anything, and is written as it comes.
        """
        ids = tuple(discourse.id for discourse in discourses)
        if ids not in self._debris:
            self._debris[ids] = {
                discourse.id: reason
                for discourse in discourses
                if discourse.meta.get("domain") != "chat" and (reason := debris(discourse.texts))
            }
        return self._debris[ids]

    def done(self) -> None:
        """Throw away the blocks: the build is complete."""
        for store in self._stores:
            store.clear()

    def _store(self, digest: str, k: int) -> BlockFolder:
        store = BlockFolder(retrieval_folder() / digest, k)
        self._stores.append(store)
        return store

    def _announce(self, documents: int) -> None:
        from coherencegym.builders.making.filter_model import announce

        announce(documents)
