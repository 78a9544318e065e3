"""The splits of examples to learn from: a corpus's own, or else a division by documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.builders.pipeline.fitting import Division
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import SEVERAL, language_of
from coherencegym.loaders.registry import CORPORA

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
