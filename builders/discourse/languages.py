"""Configs in every language: what knows nothing of any, from documents of several languages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.builders.discourse.cutting import stretches
from coherencegym.builders.suite import ANY_LANGUAGE, Config
from coherencegym.loaders.discourse import Discourse, is_parsed
from coherencegym.loaders.languages.english import ENGLISH
from coherencegym.manipulations.editing import cut_excerpt
from coherencegym.manipulations.operator import Context, Operator

#: Corpora of whole documents in several languages.
MULTILINGUAL = ("disrpt",)


def is_written(discourse: Discourse) -> bool:
    """Select whole documents that nobody speaks."""
    return is_parsed(discourse) and not any(unit.speaker for unit in discourse.units)


def has_entities(discourse: Discourse) -> bool:
    """Select documents in which somebody annotated coreference."""
    return bool(discourse.mentions)


def by_language(config: Config, **changes: Any) -> Config:
    """A config's twin, which makes one config for each language (``order_disrpt_nl``)."""
    # Rare classes are kept: of most languages there are few documents.
    settings = {"select": is_written, "genre": "", "fewest_of_a_class": 0, **changes}
    return replace(config, corpora=MULTILINGUAL, by="language", languages=ANY_LANGUAGE, **settings)


def of_entities(config: Config, languages: Iterable[str]) -> Config:
    """A config's twin from documents with coreference in some other languages than English."""
    return replace(
        config,
        corpora=MULTILINGUAL,
        by="language",
        languages=tuple(code for code in languages if code != ENGLISH.code),
        select=has_entities,
    )


def in_dutch(config: Config) -> Config:
    """A config's twin from Dutch novels (``openboek_nl``)."""
    return replace(config, corpora=("openboek",), by="language", languages=("nl",))


@dataclass(frozen=True)
class Passages(Operator):
    """Sentences of prose that follow one another, without headings and fragments.

    Attributes:
        fewest, most: the numbers of sentences that a passage may have.
        number: the most passages of a document, which do not overlap.

    The first passage has no variant, others ``<first unit>-<last unit>``.
    """

    fewest: int
    most: int
    number: int = 1

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the first passages in the order of the text."""
        found = [
            (start, min(end, start + self.most) - 1)
            for first, end in stretches(discourse)
            for start in range(first, end - self.fewest + 1, self.most)
        ]
        for place, (start, last) in enumerate(found[: self.number]):
            yield cut_excerpt(discourse, start, last, variant=f"{start}-{last}" if place else "")
        if not found:
            context.skipped[f"no {self.fewest} sentences of prose in a row"] += 1
