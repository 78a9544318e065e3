"""The splits of texts with spans: a corpus's own where it has the answers, else a division."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.builders.pipeline.kinds import Division
from coherencegym.loaders.discourse import Discourse


@dataclass(frozen=True)
class AskedSplits:
    """The corpus's own splits of texts that it asks something of, and a division of all others.

    The division is that of :mod:`builders.intruder_sentences`, so that a document is in one split
    in both suites.
    """

    division: Division

    def __call__(self, discourses: Sequence[Discourse], seed: int) -> dict[str, list[Discourse]]:
        """The discourses by split, in their order."""
        own: dict[str, list[Discourse]] = {}
        for discourse in discourses:
            if "question" in discourse.meta:
                own.setdefault(discourse.meta["split"], []).append(discourse)
        others = [discourse for discourse in discourses if "question" not in discourse.meta]
        for split, divided in (self.division(others, seed) if others else {}).items():
            own.setdefault(split, []).extend(divided)
        return own
