"""The probes by name, and what applies one to a sentence, or to a unit of a discourse.

Shen et al. 2021, section 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import replace_places
from coherencegym.manipulations.operator import Context, Operator
from coherencegym.manipulations.probes.flips import (
    conjunction_flip,
    demonstrative_flip,
    number_exaggeration,
)
from coherencegym.manipulations.probes.pronoun_flips import animacy_down, animacy_up, gender_flip
from coherencegym.manipulations.probes.sentence import Probe, Replacement, analyse
from coherencegym.manipulations.probes.verbs import negation, past_to_future


@dataclass(frozen=True, slots=True)
class _Entry:
    description: str
    probe: Probe


PROBES: dict[str, _Entry] = {
    "gender_flip": _Entry(
        "`he` (`him`, `his`) becomes `she` (`her`), or `she` becomes `he`", gender_flip
    ),
    "animacy_down": _Entry(
        "`he` or `she` (`him`, `her`, `his`) becomes `it` (`its`)", animacy_down
    ),
    "animacy_up": _Entry("`it` (`its`) becomes `he` (`him`, `his`)", animacy_up),
    "demonstrative_flip": _Entry(
        "`this` or `that` becomes `these` or `those`, and its noun and verb become plural",
        demonstrative_flip,
    ),
    "conjunction_flip": _Entry(
        "a conjunction (`and`) is replaced by one with an opposite meaning (`but`)",
        conjunction_flip,
    ),
    "past_to_future": _Entry(
        "past-tense verbs of the main clause become `will` and the base form", past_to_future
    ),
    "negation": _Entry(
        "the main clause is negated with `not`, and with `do` if it has no auxiliary", negation
    ),
    "number_exaggeration": _Entry(
        "a number that counts things (`two eyes`) is multiplied by a thousand", number_exaggeration
    ),
}


def probe_sentence(text: str, name: str, preceding: Sequence[str] = ()) -> tuple[Replacement, ...]:
    """Apply a probe to an English sentence; gives what it replaces, nothing where it cannot.

    ``preceding`` are the sentences before, in order: what a pronoun could stand for.
    """
    return PROBES[name].probe(analyse(text, preceding))


@dataclass(frozen=True)
class ProbeSentence(Operator):
    """Change one linguistic property of a sentence, such as the tense or the gender of a pronoun.

    Attributes:
        probe: the name of the change, such as ``gender_flip`` (a key of :data:`PROBES`).
        unit: the position (from 0) of the sentence that is changed. By default, the operator skips
            the opening sentence and changes the first sentence to which the change applies.

    The name of the result is the name of the change. A text gives no result if the change does not
    apply to the sentence. A change of gender, for instance, does not apply to a sentence without
    ``he`` or ``she``.
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
                yield replace(edited, variant=self.probe)
                return
        context.skipped["the probe does not apply"] += 1
