"""Linguistic probes: is an intruder seen more easily when its language does not fit either?

Shen et al. 2021, section 7. Every document gets an intruder (:mod:`builders.intruder_sentences`);
then one property of a sentence is changed by rule (gender, animacy, demonstratives, conjunctions,
tense, polarity, numbers): in the intruder, and in the sentence that it replaces. One config for
each probe, of the documents in which it applies to at least one of the two.

    coherencegym build linguistic_probes --corpus discoeval --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coherencegym.builders.intruder_sentences import (
    INTRUDER_CORPORA,
    INTRUDER_SETTINGS,
    PAIR_COLUMNS,
    SETTINGS_HELP,
    IntruderView,
)
from coherencegym.builders.pipeline.fitting import Division
from coherencegym.builders.suite import Column, Config, Contrast, GeneratedItem, Suite, Use
from coherencegym.loaders.corpora.insted.documents import SHEN_2021
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probe_sentence import ProbeSentence
from coherencegym.manipulations.probes.registry import PROBES

ORIGINAL, INTRUDER = "original", "intruder"
INTRUDER_PROBE, ORIGINAL_PROBE = "intruder_probe", "original_probe"

#: The slot is compared in each. What a probe does alone is the score of the config.
CONTRASTS = (
    Contrast(ORIGINAL_PROBE, ORIGINAL, 2, groups=("probe in the original", "probe")),
    Contrast(INTRUDER_PROBE, INTRUDER, 2, groups=("probe in the intruder", "probe")),
    Contrast(INTRUDER, ORIGINAL, 2, groups=("intruder without the probe", "intruder")),
    Contrast(INTRUDER_PROBE, ORIGINAL_PROBE, 2, groups=("intruder with the probe", "intruder")),
)


@dataclass(frozen=True)
class ProbedIntruders(IntruderView):
    """Up to four versions of a document: with or without the intruder, with or without a probe."""

    probe: str = ""
    contrasts: tuple[Contrast, ...] = CONTRASTS

    @property
    def recipe(self) -> str:
        """The operators, as the manifest records them."""
        return f"{self.operator} | ProbeSentence(probe={self.probe!r}, unit=slot)"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the item of a document that has an intruder, if the probe applies."""
        if self.drops(discourse, context):
            return
        intruded, choice = self.intruded(discourse, context)
        if choice is None:
            return
        probe = ProbeSentence(self.probe, unit=choice.slot)
        versions = {ORIGINAL: discourse, INTRUDER: intruded}
        quiet = Context(context.seed, context.suite)
        for name, version in ((INTRUDER_PROBE, intruded), (ORIGINAL_PROBE, discourse)):
            for probed in probe(version, quiet):
                versions[name] = probed
        if len(versions) == 2:
            context.skipped["the probe applies neither to the intruder nor to the original"] += 1
            return
        contrasts = tuple(c for c in CONTRASTS if {c.incoherent, c.coherent} <= set(versions))
        before, after = discourse.texts[: choice.slot], discourse.texts[choice.slot + 1 :]
        yield self.slot_item(
            self.probe, versions, choice, contrasts, before=list(before), after=list(after)
        )


_COLUMNS = {
    "before": Column(["string"], "the sentences before the slot"),
    "after": Column(["string"], "the sentences after the slot"),
    **PAIR_COLUMNS,
}


def _probe_config(operator: IntruderSentence, probe: str) -> Config:
    return Config(
        name=probe,
        by="domain",
        corpora=INTRUDER_CORPORA,
        genre="documents",
        generator=ProbedIntruders(operator, probe=probe),
        summary=f"{PROBES[probe].description}; the sentence in the slot is scored",
        regions=(
            "the sentences before the slot, the same everywhere",
            "the slot: the document's own sentence or the intruder, with or without the probe",
            "the sentences that follow, the same everywhere (missing where none does)",
        ),
        columns=_COLUMNS,
        headline="probe",
        partial_input="a bag of words of the sentence in the slot alone",
        length_confound=probe in ("negation", "past_to_future", "number_exaggeration"),
    )


def _configured(test_share: float, validation_share: float, **drawing: Any) -> dict[str, Any]:
    operator = IntruderSentence(**drawing, share=1.0)
    return {
        "headline": tuple(PROBES),
        "configs": tuple(_probe_config(operator, probe) for probe in PROBES),
        "divide": Division(test_share, validation_share),
    }


_SETTINGS = {
    name: value
    for name, value in INTRUDER_SETTINGS.items()
    if name not in ("strategy", "share", "filter_model")
}


SUITE = Suite(
    name="linguistic_probes",
    title="Linguistic probes",
    version="3.0.0",
    hypothesis=(
        "A model that notices incoherence finds a sentence more surprising when one property "
        "of it no longer agrees with the text around it, and sees an intruder more easily when "
        "it has such a property."
    ),
    description=(
        "Documents with an intruder (a sentence of a similar document in the place of one of "
        "their own), each with up to four versions of the sentence in the slot: the document's "
        "own and the intruder, with and without a probe. A probe is an edit by rule that stays "
        "grammatical and changes one property: the gender or animacy of pronouns, "
        "demonstratives, a conjunction, tense, polarity, or numbers."
    ),
    conditions={
        ORIGINAL: "the document as it stands in the corpus",
        INTRUDER: "the same with one sentence replaced by the intruder",
        INTRUDER_PROBE: "the same with the probe in the intruder, where it applies",
        ORIGINAL_PROBE: "the document with the probe in its own sentence, where it applies",
    },
    uses=(
        Use(
            "",
            "is one changed property noticed",
            "a wording that the rule introduces",
        ),
    ),
    limitations=(
        "A probe need not make a text incoherent: another number, or the negation of a "
        "sentence, can be just as true to a reader who does not know the subject.",
        "Probes change the words that are scored: a rare word is surprising by itself.",
        "The partial-input baseline is near 100 % where a probe always puts in the same words: "
        "whoever is trained on the items learns the words and not the incoherence. Test with these "
        "items, and do not train on them.",
        "Rules choose where a probe applies: sentences in which they are not sure are left "
        "out, so that simple sentences are more frequent than in the corpus.",
    ),
    citation=SHEN_2021,
    configure=_configured,
    settings=_SETTINGS,
    settings_help=SETTINGS_HELP,
    **_configured(**_SETTINGS),
    tags=("intruder-sentence-detection", "linguistic-probes"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
