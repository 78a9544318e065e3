"""Familiarity: how much less surprising texts are than the same texts with other names.

A corpus that was public when a model's training data were collected may have been read by the
model, which then knows what comes next by heart. Who is called what does not matter for what
happens in a story, but a memorised text no longer stands there word by word when its people have
other names. What is scored comes after everybody was named, and has the same words but for the
names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.builders.suite import Config, Contrast, MinimalPairs
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context, Operator
from coherencegym.manipulations.reference.named_people import NewNames, named_people

#: The name of the config; it is in no suite's headline.
FAMILIARITY = "familiarity"


@dataclass(frozen=True)
class NamedAndMore(Operator):
    """Leave a discourse as it is; one that ends with its last name is left out."""

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse if something follows the first mention of the last person."""
        if named_people(discourse.texts) and not _named_and_rest(discourse)[1]:
            context.skipped["nothing follows the last name"] += 1
            return
        yield discourse


def familiarity_config(corpora: tuple[str, ...]) -> Config:
    """The config of texts and the same texts with other names, from corpora, the best first."""
    return Config(
        name=FAMILIARITY,
        corpora=corpora,
        generator=MinimalPairs(
            versions={"original": NamedAndMore(), "renamed": NamedAndMore() | NewNames()},
            regions=_named_and_rest,
            contrasts=(Contrast("renamed", "original", 2, metric="sum"),),
            view=lambda discourse: (discourse.text,),
        ),
        summary=(
            "each text as published, and with other names for all people; a model that has read "
            "the text before finds the published version less surprising"
        ),
        regions=("the text until the last person has been named", "the rest of the text"),
        length_confound=True,
        is_diagnostic=True,
        partial_input="a bag of words of the whole text",
    )


def _named_and_rest(discourse: Discourse) -> list[str]:
    """The text through the word with which the last new person is named, and the rest."""
    text = discourse.text
    last = max(
        match.end()
        for person in named_people(discourse.texts)
        if (match := re.search(rf"\b{person.name}\b\S*", text))
    )
    return [text[:last], text[last:].lstrip()]
