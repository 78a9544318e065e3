"""Divide a corpus into train, validation and test by document, before anything looks across it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.document_groups import groups
from coherencegym.manipulations.operator import Context

#: The suite's name in the random key: all suites that divide a corpus divide it alike.
KEY = "division"


@dataclass(frozen=True)
class Division:
    """Sizes of the splits; what is left is ``train``.

    A group of documents that share lines (:mod:`manipulations.intruders.document_groups`) goes to
    one side as a whole, by a number drawn for its first document in the order of ids: adding
    documents moves no other group.

    Raises:
        ValueError: shares that are negative, or leave nothing or less to train on.
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
        first: dict[int, Discourse] = {}
        for discourse, group in zip(discourses, group_of, strict=True):
            if group not in first or discourse.id < first[group].id:
                first[group] = discourse
        context = Context(seed, KEY)
        split_of = {
            group: self._split(context.random(discourse, "Division").random())
            for group, discourse in first.items()
        }
        divided: dict[str, list[Discourse]] = {}
        for discourse, group in zip(discourses, group_of, strict=True):
            divided.setdefault(split_of[group], []).append(discourse)
        return dict(sorted(divided.items()))

    def _split(self, number: float) -> str:
        if number < self.test:
            return "test"
        return "validation" if number < self.test + self.validation else "train"
