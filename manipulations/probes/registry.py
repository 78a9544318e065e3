"""The probes by name, and the function that applies one to a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.probes.conjunction_flip import conjunction_flip
from coherencegym.manipulations.probes.demonstrative_flip import demonstrative_flip
from coherencegym.manipulations.probes.negation import negation
from coherencegym.manipulations.probes.number_exaggeration import number_exaggeration
from coherencegym.manipulations.probes.past_to_future import past_to_future
from coherencegym.manipulations.probes.probe import Probe, Replacement
from coherencegym.manipulations.probes.pronoun_flips import animacy_down, animacy_up, gender_flip
from coherencegym.manipulations.probes.sentence import analyse


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

    Raises:
        KeyError: no probe has that name.
    """
    return PROBES[name].probe(analyse(text, preceding))
