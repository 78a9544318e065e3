"""Verifiable coherence: texts whose annotation says which part carries the answer.

Storks and Chai 2021: Conversational Entailment (Zhang and Chai 2010) and ART (Bhagavatula et al.
2020), with the units between which the evidence, or the conflict, lies.

- ``ConvEnt_*``: a stretch of a telephone conversation; units are its turns, by speakers ``A`` and
  ``B``. ``meta`` has the ``hypothesis``, and the judgement over the whole is :data:`ENTAILED` or
  :data:`NOT_ENTAILED`. Of the test set the file with annotation is read, which has the same items
  as ``ConvEnt_test_resplit``; the files of ``train`` and ``validation`` say nothing of spans.
- ``ART_*``: an observation, the more plausible hypothesis, and another observation; the hypothesis
  is the text of an alternative with both. ``meta`` has ``second_pair``: what the file says in
  ``23_plausible`` (``true``, ``false`` or empty), whether the less plausible hypothesis goes with
  the second observation.

The annotated units are the span of a judgement :data:`EVIDENCE`. ``meta["question"]`` is
``entailment`` or ``choice``; ``meta["spans"]`` is ``known`` in files with annotation, also of items
without evidence; ``source`` and ``type`` are the corpus's. Ids are ``ce-<id>`` and the files' own
(``val_581``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from coherencegym.files.strict_json import Some
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import (
    Alternative,
    Discourse,
    HumanJudgement,
    SourceSpan,
    Span,
    Unit,
)
from coherencegym.loaders.formats.json_records import (
    TidyText,
    WholeNumber,
    held_records,
    json_records,
)
from coherencegym.loaders.formats.lines import Record

ENTAILED, NOT_ENTAILED = "entailed", "not entailed"
#: The label of a judgement whose span are the units that carry the answer.
EVIDENCE = "evidence"

#: Between which units of the less plausible text a conflict may lie.
_CONFLICTS = ((0, 1), (0, 2), (1, 1), (1, 2))


@dataclass(frozen=True)
class _Turn:
    speaker: TidyText
    text: TidyText


@dataclass(frozen=True)
class _Entailment:
    id: WholeNumber
    dialog_source: TidyText
    label: Literal[0, 1]
    type: TidyText
    turns: Some[_Turn]
    hypothesis: TidyText
    conflict_pair: tuple[WholeNumber, ...] | None = None

    def __post_init__(self) -> None:
        last = len(self.turns) - 1
        match self.conflict_pair:
            case None:
                fits = True
            case (first, second):
                fits = self.label == 1 and 0 <= first <= second <= last
            case pair:
                fits = self.label == 0 and not pair
        if not fits:
            raise ValueError(f"conflict_pair of two turns from 0 to {last}, or [] beside label 0")


@dataclass(frozen=True)
class _Choice:
    id: TidyText
    observation_1: TidyText
    hypothesis_1: TidyText
    hypothesis_2: TidyText
    observation_2: TidyText
    label: Literal[1, 2]
    conflict_pair: tuple[WholeNumber, ...]
    second_pair: Annotated[bool | None, Field(alias="23_plausible", strict=True)] = None

    def __post_init__(self) -> None:
        if self.hypothesis_1 == self.hypothesis_2:
            raise ValueError("two different hypotheses")
        if self.conflict_pair not in _CONFLICTS:
            raise ValueError(f"conflict_pair to be one of {', '.join(map(str, _CONFLICTS))}")
        if self.conflict_pair == (0, 1) and self.second_pair is None:
            raise ValueError("23_plausible beside the conflict_pair [0, 1]")


def read_verifiable(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of either part; its name says of which."""
    records = json_records(file, options)
    if file.path.name.upper().startswith("ART"):
        for record, choice in held_records(records, _Choice, options):
            yield _choice(corpus, file, record, choice)
    else:
        for record, entailment in held_records(records, _Entailment, options):
            yield _entailment(corpus, file, record, entailment)


def evidence_judgement(units: tuple[Unit, ...], first: int, last: int) -> HumanJudgement:
    """The judgement that the units from ``first`` to ``last`` carry the answer."""
    span: Span = tuple((place, 0, len(units[place].text)) for place in range(first, last + 1))
    return HumanJudgement(span, EVIDENCE)


def _entailment(corpus: Corpus, file: CorpusFile, record: Record, values: _Entailment) -> Discourse:
    source = SourceSpan(file.path.name, record.line, record.line)
    units = tuple(Unit(turn.text, turn.speaker, source) for turn in values.turns)
    whole = HumanJudgement(None, ENTAILED if values.label else NOT_ENTAILED)
    pair = values.conflict_pair
    return Discourse(
        id=f"ce-{values.id}",
        corpus=corpus.name,
        units=units,
        judgements=(whole, *((evidence_judgement(units, *pair),) if pair else ())),
        meta={
            "split": file.split,
            "question": "entailment",
            "hypothesis": values.hypothesis,
            "source": values.dialog_source,
            "type": values.type,
            "spans": "unknown" if pair is None else "known",
        },
    )


def _choice(corpus: Corpus, file: CorpusFile, record: Record, values: _Choice) -> Discourse:
    source = SourceSpan(file.path.name, record.line, record.line)
    right, options = values.label - 1, (values.hypothesis_1, values.hypothesis_2)
    texts = (values.observation_1, options[right], values.observation_2)
    units = tuple(Unit(text, source=source) for text in texts)
    second = values.second_pair
    return Discourse(
        id=values.id,
        corpus=corpus.name,
        units=units,
        alternatives=(Alternative(((1, 0, len(texts[1])),), options, right),),
        judgements=(evidence_judgement(units, *values.conflict_pair),),
        meta={
            "split": file.split,
            "question": "choice",
            "second_pair": "" if second is None else str(second).lower(),
            "spans": "known",
        },
    )


#: The files as the repository has them, in its folders or in none, and their splits.
_FILES = {
    "ConvEnt_train_resplit.json": "train",
    "ConvEnt_dev_resplit.json": "validation",
    "ConvEnt_test_annotation_merged2.json": "test",
    "ART_test_rand200_annotation_merged2.json": "test",
}

CORPUS = Corpus(
    name="verifiable",
    title="Conversational Entailment and ART with annotated spans",
    homepage="https://github.com/sled-group/Verifiable-Coherent-NLU",
    citation="storks-chai-2021-beyond-tip",
    licence_name="the authors state no licence",
    text_licence_name="no licence stated (telephone calls of Switchboard, stories of ROCStories)",
    obtain=(
        "get https://github.com/sled-group/Verifiable-Coherent-NLU and take the files "
        "ConvEnt_*.json and ART_test_rand200_annotation_merged2.json"
    ),
    proven=(
        "2026-11-29: the four files that are read, whole; 1,064 documents, 2,696 units, 1,352 "
        "annotations"
    ),
    patterns=tuple(
        FilePattern(folder + name, split, name)
        for name, split in _FILES.items()
        for folder in ("", f"all_data/{name.partition('_')[0]}/")
    ),
    reader=read_verifiable,
    limitations=(
        "The annotators of spans agreed with κ 0.91 on Conversational Entailment, but only with κ "
        "0.30 on ART (Storks and Chai 2021): a difference of a few points of strict coherence on "
        "ART says nothing.",
        "Conversational Entailment has 172 test items from 10 conversations, so its intervals are "
        "wide: differences below 10 points are not resolved.",
    ),
    public_since=2010,
    public_source="Zhang and Chai (2010), for CE; ART's stories since Mostafazadeh et al. (2016)",
    producers=(
        "Speakers of the Switchboard telephone conversations, and writers of hypotheses about "
        "them (Zhang and Chai 2010); crowd workers, who wrote the stories of ROCStories and the "
        "hypotheses of ART (Bhagavatula et al. 2020); two annotators, who marked the spans "
        "(Storks and Chai 2021)."
    ),
    source_datasets=("extended|other-switchboard", "extended|other-art"),
)
