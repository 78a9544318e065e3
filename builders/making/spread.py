"""One config for each value that a corpus has of a property, such as its genres.

Which genres a corpus has only its documents say, so that a suite declares one config with
``by="genre"``, and a build makes of it as many as there are genres in what it has read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from coherencegym.builders.suite import Config
from coherencegym.loaders.discourse import Discourse


def part_name(value: str) -> str:
    """A value as a part of a config's name: lower-case letters, digits and ``_``.

    >>> part_name("Trains 93"), part_name("bio")
    ('trains_93', 'bio')
    """
    return re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_")


@dataclass(frozen=True, slots=True)
class Having:
    """A further selection: of what ``select`` selects, where ``meta[key]`` has this part."""

    select: Callable[[Discourse], bool]
    key: str
    value: str

    def __call__(self, discourse: Discourse) -> bool:
        """Tell whether the discourse is one of them."""
        return part_name(discourse.meta.get(self.key, "")) == self.value and self.select(discourse)


def spread(config: Config, discourses: Iterable[Discourse]) -> list[Config]:
    """The config for each value of ``meta[config.by]`` that the discourses have, in their order.

    The value goes before the config's own name (``gum_bio_spillover``); a discourse without the
    property is of the config without a value (``arrau_spillover``). A config that is not ``by``
    anything comes back as it is.
    """
    if not config.by:
        return [config]
    values = sorted({part_name(d.meta.get(config.by, "")) for d in discourses if config.select(d)})
    return [
        replace(
            config,
            name="_".join(filter(None, (value, config.name))),
            select=Having(config.select, config.by, value),
            by="",
        )
        for value in values
    ]
