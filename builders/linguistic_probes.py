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
from coherencegym.builders.pipeline.kinds import Division
from coherencegym.builders.suite import Column, Config, Contrast, GeneratedItem, Suite, Use
from coherencegym.loaders.corpora.insted import SHEN_2021
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.registry import PROBES, ProbeSentence

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
        if not list(self.kept(discourse, context)):
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
        summary=PROBES[probe].description,
        regions=(
            "the sentences before the slot, the same in all conditions",
            "the slot: the document's own sentence or the intruder, with or without the probe",
            (
                "the sentences after the slot, the same in all conditions (missing at the end of "
                "the document)"
            ),
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
    version="4.0.0",
    hypothesis=(
        "A model that notices incoherence finds a sentence more surprising if one of its "
        "properties no longer agrees with the surrounding text, and notices an intruder more "
        "easily if it has such a property."
    ),
    description=(
        "Documents in which an intruder, a sentence of a similar document, takes the slot of one "
        "of their own sentences. Each document has up to four versions of the slot: its own "
        "sentence and the intruder, with and without a probe. A probe is a rule-based, grammatical "
        "edit of one property: the gender or animacy of pronouns, demonstratives, a conjunction, "
        "tense, polarity, or numbers."
    ),
    conditions={
        ORIGINAL: "the document of the corpus, unchanged",
        INTRUDER: "the document with one sentence replaced by the intruder",
        INTRUDER_PROBE: "the document with the intruder, edited by the probe",
        ORIGINAL_PROBE: "the document with its own sentence, edited by the probe",
    },
    uses=(
        Use(
            "",
            "is one changed property surprising",
            "whether the changed property is surprising or only inserted words, such as `not`",
        ),
    ),
    limitations=(
        "A probe may leave a text coherent: a reader without knowledge of the subject may accept "
        "another number, or a negated sentence.",
        "Probes change the scored words, and a rare word is surprising by itself.",
        "The partial-input baseline is high for probes that always insert the same words: a "
        "model trained on the items learns these words, not incoherence. Use the items for tests "
        "only.",
        "Rules choose the sentences for a probe and leave out doubtful ones, so simple sentences "
        "are more frequent than in the corpus.",
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
