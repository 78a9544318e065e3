"""The probes by name, and the function that applies one to a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from coherencegym.manipulations.probes.animacy_down import AnimacyDown
from coherencegym.manipulations.probes.animacy_up import AnimacyUp
from coherencegym.manipulations.probes.conjunction_flip import ConjunctionFlip
from coherencegym.manipulations.probes.demonstrative_flip import DemonstrativeFlip
from coherencegym.manipulations.probes.gender_flip import GenderFlip
from coherencegym.manipulations.probes.negation import Negation
from coherencegym.manipulations.probes.number_exaggeration import NumberExaggeration
from coherencegym.manipulations.probes.past_to_future import PastToFuture
from coherencegym.manipulations.probes.probe import Probe, Replacement
from coherencegym.manipulations.probes.sentence import analyse


@dataclass(frozen=True, slots=True)
class _Entry:
    """A probe: what it does, in one line, and how it is made."""

    description: str
    make: Callable[[], Probe]


PROBES: dict[str, _Entry] = {
    "gender_flip": _Entry("he becomes she and she becomes he, in every case", GenderFlip),
    "animacy_down": _Entry("he and she become it, in every case", AnimacyDown),
    "animacy_up": _Entry("it becomes he, in every case", AnimacyUp),
    "demonstrative_flip": _Entry(
        "this and that become these and those, with noun and verb agreeing", DemonstrativeFlip
    ),
    "conjunction_flip": _Entry("a conjunction becomes one of opposed sense", ConjunctionFlip),
    "past_to_future": _Entry("past verbs of the main clause become will and base", PastToFuture),
    "negation": _Entry("the main clause is negated, with do where it has no auxiliary", Negation),
    "number_exaggeration": _Entry("numbers that count become a thousand times", NumberExaggeration),
}


def probe_sentence(
    text: str,
    name: str,
    pipeline: str | None = None,
    preceding: Sequence[str] = (),
) -> tuple[Replacement, ...]:
    """Apply a probe to a sentence and return what it replaces; empty where it does not apply.

    Args:
        text: one English sentence, detokenised.
        name: a key of :data:`PROBES`.
        pipeline: a trained spaCy pipeline to take tags from; none: rules only.
        preceding: the sentences before it, in order: what a pronoun could stand for.

    Raises:
        KeyError: no probe has that name.
        MissingLibraryError: lemminflect is not installed.
        MissingPipelineError: the pipeline is not installed, or gives no tags.
    """
    sentence = replace(analyse(text, pipeline), preceding=tuple(preceding))
    return PROBES[name].make()(sentence)
