"""Probe a sentence: apply one of the linguistic probes to one unit of a discourse.

Shen et al. 2021, section 7.1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import replace_places
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.manipulations.probes.registry import PROBES, probe_sentence


@dataclass(frozen=True)
class ProbeSentence(Composable):
    """Change one linguistic property of a sentence, such as the tense or the gender of a pronoun.

    Attributes:
        probe: the name of the change, such as ``gender_flip``. The examples show the names of all
            changes (:data:`manipulations.probes.registry.PROBES`).
        unit: the position (from 0) of the sentence that is changed. By default, the operator skips
            the opening sentence and changes the first sentence to which the change applies.

    The name of the result is the name of the change. A text gives no result if the change does not
    apply to the sentence. A change of gender, for instance, does not apply to a sentence without
    ``he`` or ``she``.

    Raises:
        ValueError: no probe has that name, or ``unit`` is negative.
    """

    probe: str
    unit: int | None = None

    def __post_init__(self) -> None:
        if self.probe not in PROBES:
            raise ValueError(f"no probe is called {self.probe!r}: there are {', '.join(PROBES)}")
        if self.unit is not None and self.unit < 0:
            raise ValueError(f"unit {self.unit} of a probe: units are counted from 0")

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the edited discourse; nothing where the probe does not apply."""
        texts = discourse.texts
        first, stop = (1, len(texts)) if self.unit is None else (self.unit, self.unit + 1)
        for unit in range(first, min(stop, len(texts))):
            replacements = probe_sentence(texts[unit], self.probe, texts[:unit])
            if replacements:
                edited = replace_places(discourse, unit, replacements, operator="ProbeSentence")
                yield dataclasses.replace(edited, variant=self.probe)
                return
        context.skipped["the probe does not apply"] += 1
