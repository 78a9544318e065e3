"""Speaker commitment: a contradiction is the more surprising one where one speaker utters both.

Beyer, Loáiciga and Schlangen 2021, section 4.6, on the contradictions of the verified test set of
DialogueNLI (Welleck et al. 2019). The two utterances are the same in both conditions; all that
differs is whether a change of speaker is marked between them.

The paper has no controls. A mark changes the surprisal of whatever follows it, so that the same
pairs are built from neutral and from entailing utterances, too: only what contradictions show
beyond these can come from the contradiction.

    coherencegym build speaker_commitment --corpus dialoguenli --data-dir PATH
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coherencegym.builders.suite import BEYER_2021, Column, Config, Contrast, MinimalPairs, Suite
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.loaders.corpora.dialoguenli import LABELS
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Pipeline
from coherencegym.manipulations.speaker_separator import SpeakerSeparator


@dataclass(frozen=True)
class Labelled:
    """Selects the discourses that annotators gave this label as a whole."""

    label: str

    def __call__(self, discourse: Discourse) -> bool:
        """Tell whether one of the discourse's judgements says so."""
        return any(j.span is None and j.label == self.label for j in discourse.judgements)


def first_and_second(discourse: Discourse) -> list[list[int]]:
    """Two regions: the first utterance with the separator after it, and the second."""
    return [[0], [1]]


def both_utterances(discourse: Discourse) -> tuple[str, ...]:
    """Give what the artefact classifier sees: everything but the separator."""
    return tuple(text.removesuffix(f" {SEPARATOR}") for text in discourse.texts)


def pair_columns(first: Discourse, last: Discourse) -> dict[str, Any]:
    """Give the corpus's annotation of the pair, as columns."""
    return {name: first.meta[name] for name in _COLUMNS}


_COLUMNS = {
    "label": Column(
        "string",
        "the corpus's label: "
        + ", ".join(f"`{label}` ({relation})" for label, relation in LABELS.items()),
    ),
    "dtype": Column("string", "how the corpus's authors made the pair, as they call it"),
    "origin": Column(
        "string",
        "what the two sentences are in the corpus: utterances, or sentences of a persona; empty "
        "where it does not say",
    ),
    "triple1": Column("string", "what the first utterance says, as annotators put it"),
    "triple2": Column("string", "what the second utterance says"),
}


def commitment_config(label: str, summary: str, controls: tuple[str, ...] = ()) -> Config:
    """The pairs of one label."""
    return Config(
        name=LABELS[label],
        corpora=("dialoguenli",),
        select=Labelled(label),
        drafter=MinimalPairs(
            versions={"speaker_change": SpeakerSeparator(), "same_speaker": Pipeline()},
            regions=first_and_second,
            contrasts=(Contrast("same_speaker", "speaker_change", 2),),
            columns=pair_columns,
            view=both_utterances,
        ),
        summary=summary,
        regions=(
            "the first utterance (followed by [SEP] in `speaker_change`)",
            "the second utterance, the same text",
        ),
        columns=_COLUMNS,
        breakdowns=("dtype",),
        controls=controls,
        separator=True,
        artefact=(
            "bags of words of the first and of the second utterance (the same in both conditions, "
            "so that here the score is 50 % by construction: only the separator tells them apart)"
        ),
    )


SUITE = Suite(
    name="speaker_commitment",
    title="Speaker commitment",
    version="1.0.0",
    hypothesis=(
        "A model that notices incoherence finds an utterance that contradicts the one before it "
        "more surprising if the same speaker utters both than if the speaker changes, and finds no "
        "such difference, or a smaller one, where the utterance does not contradict."
    ),
    description=(
        "Minimal pairs of two utterances with and without a change of speaker marked between them. "
        "The `contradiction` config is the test; in `neutral` and `entailment`, its controls, one "
        "speaker can well utter both, and the prediction is the same formula so that the scores "
        "can be compared."
    ),
    conditions={
        "speaker_change": "the two utterances with the separator [SEP] between them",
        "same_speaker": "the same two utterances without a separator, as if one speaker went on",
    },
    limitations=(
        "A separator changes the surprisal of whatever comes after it, contradiction or not: a "
        "model can score 0 % or 100 % on `contradiction` by this alone, without reading. A score "
        "says something only next to those on `neutral` and `entailment`: look at the differences "
        "of the mean margins, which the evaluator reports, not at each score against 50 %.",
        "A model never trained on two-person dialogue cannot know what the separator stands for; "
        "the results say how it was rendered.",
        "Of the two controls `entailment` is the closer one: its utterances are about the same "
        "thing, as those of `contradiction` are, and those of `neutral` are not. What the "
        "utterances of the three configs are about, and how long they are, was not matched.",
        "The artefact score cannot show a habit of wording here, as both conditions have the same "
        "words. It says nothing of differences between the configs: a bag of words may well tell "
        "contradictions from the other pairs, by words such as `never`.",
        "Some contradictions are weak: a person may have two jobs, or two favorite bands.",
    ),
    headline=(LABELS["negative"],),
    citation=BEYER_2021,
    configs=(
        commitment_config(
            "negative",
            "the second utterance contradicts the first if one speaker utters both",
            controls=(LABELS["neutral"], LABELS["positive"]),
        ),
        commitment_config(
            "neutral", "control: the second utterance neither contradicts the first nor follows"
        ),
        commitment_config("positive", "control: the second utterance follows from the first"),
    ),
    tags=("dialogue", "contradiction", "natural-language-inference"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
