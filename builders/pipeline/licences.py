"""The rows of a build by the licences of their texts: those of one class go into one repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.eval.kinds.table_kind import DISCOURSE, Row
from coherencegym.licence import OTHER, combined_licence, licence_class
from coherencegym.loaders.corpus import Corpus
from coherencegym.loaders.discourse import Discourse

#: The reason why an item is in no repository.
INCOMPATIBLE = "texts under two licences that exclude each other"


def documents_in(row: Row, known: Container[str]) -> set[str]:
    """The ids of the documents that a row has texts of, of a corpus whose ids are ``known``.

    A document that lent a text stands in a column such as ``partner_discourse``, or in an edit.
    """
    named = {row[name] for name in row if name == DISCOURSE or name.endswith("_discourse")}
    named |= {edit["source_discourse"] for edit in row.get("edits", ())}
    return {document_of(name, known) for name in named if name}


def document_of(name: str, known: Container[str]) -> str:
    """The id of the document that an item, or a part of a document, is of, by its own id.

    >>> document_of("GUM_bio_byron/1-6/matched", {"GUM_bio_byron"})
    'GUM_bio_byron'
    """
    parts = name.split("/")
    starts = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((start for start in starts if start in known), name)


def licence_classes(configs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The classes of licences of the texts in the entries of a manifest, the freest first."""
    return sorted(
        {
            licence_class(combined_licence((config["corpus"]["licence"], licence)))
            for config in configs
            for licence in config["licences"]
        },
        key=lambda name: ("", "-sa", "-nc", "-odbl").index(name),
    )


@dataclass
class LicenceShare:
    """The share of a build whose texts are of one class of licences.

    Attributes:
        name: the class, see :func:`coherencegym.licence.licence_class`.
    """

    name: str
    _licences: dict[str, tuple[str, str]] = field(default_factory=dict)

    def read(self, corpus: Corpus, discourses: Iterable[Discourse]) -> None:
        """Learn the licences of the discourses of a corpus: of the annotation, and of the text."""
        texts = corpus.licence_of_texts
        self._licences = {d.id: (corpus.licence, d.licence or texts) for d in discourses}

    def _class_of(self, documents: Iterable[str]) -> str | None:
        licences = [one for each in documents for one in self._licences.get(each, (OTHER,))]
        found = combined_licence(licences)
        return licence_class(found) if found else None

    def of(self, name: str, discourses: Sequence[Discourse]) -> list[Discourse]:
        """The discourses whose own text is of a class of licences."""
        return [each for each in discourses if self._class_of([each.id]) == name]

    def generate(
        self,
        discourses: Sequence[Discourse],
        generate: Callable[[Sequence[Discourse]], tuple[list[Any], Counter[str]]],
        row_of: Callable[[Any], Row],
    ) -> tuple[list[Any], Counter[str]]:
        """The items that are of the class, in the order of the discourses, and what was skipped.

        An item of several documents is of the class that all of them allow, so an item of a freer
        document may be of the class, too.
        """
        generated, skipped = generate(self.of(self.name, discourses))
        if self.name:
            generated += generate(self.of("", discourses))[0]
        order = {discourse.id: number for number, discourse in enumerate(discourses)}
        chosen = []
        for made in generated:
            row = row_of(made)
            found = self._class_of(documents_in(row, self._licences))
            is_own = self._class_of([row[DISCOURSE]]) == self.name
            skipped[INCOMPATIBLE] += is_own and found is None
            if found == self.name:
                chosen.append((order[row[DISCOURSE]], made))
        return [made for _, made in sorted(chosen, key=lambda one: one[0])], +skipped
