"""Speaker commitment: a contradiction is the more surprising one where one speaker utters both.

Beyer, Loáiciga and Schlangen 2021, section 4.6, on the contradictions of the verified test set of
DialogueNLI (Welleck et al. 2019). The two utterances are the same in both conditions; all that
differs is whether a change of speaker is marked between them.

The paper has no controls. A mark changes the surprisal of whatever follows it, so that the same
pairs are built from neutral and from entailing utterances, too: only what contradictions show
beyond these can come from the contradiction. ``interaction`` puts both together: a contradiction
and controls of like length in one item, and the prediction is that the speaker makes more of a
difference to the contradiction. What a mark does to whatever follows it cancels, and so do the
utterances, each of which stands on both sides.

    coherencegym build speaker_commitment --corpus dialoguenli --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.suite import (
    BEYER_2021,
    Column,
    Config,
    Contrast,
    GeneratedItem,
    MinimalPairs,
    Suite,
    Use,
    generate_item,
)
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.loaders.corpora.dialogues import NLI_LABELS
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context, Operator, Pipeline
from coherencegym.manipulations.units import SpeakerSeparator


def has_label(discourse: Discourse, label: str) -> bool:
    """Tell whether annotators gave the discourse this label as a whole."""
    return any(j.span is None and j.label == label for j in discourse.judgements)


def first_and_second(discourse: Discourse) -> list[list[int]]:
    """Two regions: the first utterance with the separator after it, and the second."""
    return [[0], [1]]


def both_utterances(discourse: Discourse) -> tuple[str, ...]:
    """Give what the partial-input classifier sees: everything but the separator."""
    return tuple(text.removesuffix(f" {SEPARATOR}") for text in discourse.texts)


def pair_columns(first: Discourse, last: Discourse) -> dict[str, Any]:
    """Give the corpus's annotation of the pair, as columns."""
    return {name: first.meta[name] for name in _COLUMNS}


_COLUMNS = {
    "label": Column(
        "string",
        "the corpus's label: "
        + ", ".join(f"`{label}` ({relation})" for label, relation in NLI_LABELS.items()),
    ),
    "dtype": Column("string", "how the pair was made, in the corpus's terms"),
    "origin": Column(
        "string",
        "what the two sentences are in the corpus: utterances, or sentences of a persona; empty "
        "where the corpus does not say",
    ),
    "triple1": Column("string", "the content of the first utterance, as a triple of the corpus"),
    "triple2": Column("string", "the content of the second utterance, as a triple of the corpus"),
}


#: The speaker of the second utterance, the same or another -> the operator that shows it.
_SPEAKERS: Mapping[str, Operator] = {
    "same_speaker": Pipeline(),
    "speaker_change": SpeakerSeparator(),
}
_CONTRADICTION, *_CONTROLS = (NLI_LABELS[label] for label in ("negative", "positive", "neutral"))


def _more_than(control: str) -> Contrast:
    # The speaker makes more of a difference to the contradiction than to the control.
    return Contrast(
        (f"{_CONTRADICTION}_same_speaker", f"{control}_speaker_change"),
        (f"{_CONTRADICTION}_speaker_change", f"{control}_same_speaker"),
        2,
        groups=(control,),
    )


@dataclass(frozen=True)
class Interaction:
    """A contradiction and a control of each kind that there is, each by one speaker and by two.

    A control is a pair whose utterances are about as long, and is that of one contradiction only.
    """

    recipe = "same_speaker: unchanged; speaker_change: SpeakerSeparator(); with controls"
    contrasts: tuple[Contrast, ...] = tuple(map(_more_than, _CONTROLS))
    #: The contradictions by their ids, each with the kinds of its controls and these.
    controls: Mapping[str, Mapping[str, Discourse]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The item generator with the controls that these discourses have."""
        of_kind: dict[str, list[Discourse]] = {NLI_LABELS[label]: [] for label in NLI_LABELS}
        for discourse in discourses:
            for label, kind in NLI_LABELS.items():
                if has_label(discourse, label):
                    of_kind[kind].append(discourse)
        found: dict[str, dict[str, Discourse]] = {one.id: {} for one in of_kind[_CONTRADICTION]}
        for kind in _CONTROLS:
            for name, control in _partners(of_kind[_CONTRADICTION], of_kind[kind], context):
                found[name][kind] = control
        kinds = [kind for kind in _CONTROLS if of_kind[kind]]
        whole = {name: own for name, own in found.items() if kinds and len(own) == len(kinds)}
        return replace(self, controls=whole)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the item of a contradiction."""
        if not has_label(discourse, "negative"):
            return
        if (controls := self.controls.get(discourse.id)) is None:
            context.skipped["no control is left"] += 1
            return
        versions = {
            f"{kind}_{speaker}": version
            for kind, pair in {_CONTRADICTION: discourse, **controls}.items()
            for speaker, operator in _SPEAKERS.items()
            for version in operator(pair, Context(context.seed, context.suite))
        }
        contrasts = tuple(c for c in self.contrasts if c.groups[0] in controls)
        columns = pair_columns(discourse, discourse) | {
            kind: controls[kind].id if kind in controls else "" for kind in _CONTROLS
        }
        yield generate_item(
            "interaction", versions, first_and_second, contrasts, both_utterances, columns
        )


def _words(pair: Discourse) -> tuple[int, int, str]:
    # The second first; the id makes the order total.
    first, second = (len(text.split()) for text in pair.texts)
    return second, first, pair.id


def _partners(
    ones: Sequence[Discourse], others: Sequence[Discourse], context: Context
) -> Iterator[tuple[str, Discourse]]:
    # The shortest with the shortest, and so on; of the kind of which there are more, as many as
    # there are of the other are drawn.
    def drawn(pairs: Sequence[Discourse]) -> list[Discourse]:
        numbered = sorted(pairs, key=lambda pair: context.random(pair, "Interaction").random())
        return sorted(numbered[: min(len(ones), len(others))], key=_words)

    for one, other in zip(drawn(ones), drawn(others), strict=True):
        yield one.id, other


def commitment_config(label: str, summary: str, controls: tuple[str, ...] = ()) -> Config:
    """The pairs of one label."""
    return Config(
        name=NLI_LABELS[label],
        corpora=("dialoguenli",),
        select=lambda discourse: has_label(discourse, label),
        generator=MinimalPairs(
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
        partial_input=(
            "bags of words of the first and of the second utterance (the same in both conditions, "
            "so the score is 50 % by construction: the conditions differ only in the separator)"
        ),
    )


SUITE = Suite(
    name="speaker_commitment",
    title="Speaker commitment",
    version="1.1.0",
    hypothesis=(
        "A model that notices incoherence finds an utterance that contradicts the previous one "
        "more surprising if the same speaker utters both than if the speaker changes. Without a "
        "contradiction, it finds no such difference, or a smaller one."
    ),
    description=(
        "Minimal pairs of two utterances with and without a marked change of speaker. The config "
        "`interaction` compares a contradiction with two controls: an entailing pair and a neutral "
        "pair. The config `contradiction` is the paper's test; `neutral` and `entailment` are its "
        "controls, in which one speaker can well utter both. All three use the same formula, so "
        "their scores can be compared."
    ),
    conditions={
        "speaker_change": "the two utterances with the separator [SEP] between them",
        "same_speaker": "the same two utterances without a separator, as if one speaker went on",
        **{
            f"{kind}_{speaker}": f"of `interaction`: the {what}, {how}"
            for kind, what in (
                (_CONTRADICTION, "contradiction"),
                ("entailment", "entailing pair"),
                ("neutral", "neutral pair"),
            )
            for speaker, how in (
                ("same_speaker", "without a separator"),
                ("speaker_change", "with one"),
            )
        },
    },
    uses=(
        Use(
            "contradiction",
            "is a self-contradiction surprising",
            "whether the contradiction matters or only the mark `[SEP]`",
        ),
        Use(
            "interaction",
            "is a self-contradiction more surprising than a pair without a contradiction",
            "whether the model understands that `[SEP]` is a change of speaker",
        ),
    ),
    limitations=(
        "A separator changes the surprisal of any text after it: this alone can give a model 0 % "
        "or 100 % on `contradiction`. Use `interaction`, in which the effect cancels, or the "
        "differences of the mean margins.",
        "In `interaction`, a control is matched in length but not in topic. A model should beat "
        "both controls, not one.",
        "A model that was never trained on two-person dialogue cannot know the meaning of the "
        "separator; the results record how it was rendered.",
        "The partial-input baseline cannot show habits of wording here, because both conditions "
        "have the same words.",
    ),
    headline=("interaction",),
    citation=BEYER_2021,
    configs=(
        Config(
            name="interaction",
            corpora=("dialoguenli",),
            generator=Interaction(),
            summary=(
                "one speaker for both utterances raises the surprisal of the second, and more so "
                "for a contradiction than for controls of similar length"
            ),
            regions=(
                "the first utterance (followed by [SEP] in conditions of `speaker_change`)",
                "the second utterance, the same text with one speaker and with two",
            ),
            columns=_COLUMNS
            | {
                kind: Column("string", f"the id of the control of this kind ({kind})")
                for kind in _CONTROLS
            },
            breakdowns=("dtype",),
            separator=True,
            choice=(f"{_CONTRADICTION}_speaker_change",),
            partial_input=(
                "bags of words of the first and of the second utterance (each on both sides of the "
                "prediction, so the score is 50 % by construction)"
            ),
        ),
        commitment_config(
            "negative",
            "the second utterance contradicts the first if one speaker utters both",
            controls=(NLI_LABELS["neutral"], NLI_LABELS["positive"]),
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
