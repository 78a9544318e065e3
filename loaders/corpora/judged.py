"""Texts whose coherence people judged: DECOR, CoheSentia, and verifiable coherence.

DECOR: sentences of learners' essays that are incoherent, why, and what an expert wrote instead.

Zhang et al. 2024, on essays of the TOEFL-11 corpus. A row of a CSV file is a sentence and its
context, all sentences of the essay before it, which is split into sentences here. Where the row has
a rewrite, that stands last in the discourse, and ``alternatives`` has the original sentence and the
rewrite over this unit. Else the sentence itself stands there with a judgement of it,
:data:`COHERENT` or :data:`INCOHERENT`: a rewrite ``DELETE`` says that it had better go.

``meta`` has the ``topic`` that the essay is on, the ``essay``, and the ``reasons`` of incoherence,
with commas between them, by the names of :data:`REASONS`. An id is the essay and the number of
characters before the sentence, which is the same in every file.

``test`` is the published test set of rewriting (213 rows). By name only are read ``test_all``, all
sentences of the test essays, and ``validation``, of whose rewrites the repository does not say who
wrote them.

Two things are otherwise than the repository's description says: a ``label`` of 1 is a coherent
sentence and 0 or -1 an incoherent one, and the file of the validation set is called
``data/val/sent_rewrite_541.csv`` in some versions. Reasons that do not hold are 0 in one file and
empty in another; any other number holds (four are -1 or 3), and is counted where it is not 1.
``test_1355_clean.csv`` has 1,352 rows: 906 of label 1, all without a rewrite, and 446 of label 0,
all with one.

CoheSentia: generated stories, and how coherent people found them, as wholes and by sentences.

Maimon and Tsarfaty 2023. ``TrainData.json`` and ``TestData.json`` are each one object, whose
members are stories. People rated a story from 1 to 5 in one of two ways: ``holistic``, having read
it, or ``incremental``, after they were shown one sentence after the other and said of each for
which reasons, if any, it does not go with those before it.

Units are the sentences that were shown one by one. They are not always the whole story: a title
at its beginning is no unit, nor are some sentences, mostly what somebody says. ``meta["text"]`` is
the story as it was read as a whole; ``meta["title"]`` is what it was generated for. Judgements are:

- of the whole discourse, the ratings: the label is the number, the annotator the way and who
  (``holistic 0``). Annotators are numbered by story: the same number is not the same person.
- of a sentence, the reasons for which an annotator called it incoherent, by the names of
  :data:`GROUPS`, each once; an annotator who found none has no judgement there.

A rating that is ``NaN`` and a reason for a sentence that the story has not (one of each in the
release) are left out and counted.

``meta["holistic"]`` and ``meta["incremental"]`` are what the corpus itself takes for the consensus
of the ratings, empty where it does not say. Ids are ``cohesentia-<StoryID>``.

Verifiable coherence: texts whose annotation says which part carries the answer.

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

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from coherencegym.files.strict_json import Some
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import (
    Alternative,
    Discourse,
    HumanJudgement,
    SourceSpan,
    Span,
    Unit,
    line_units,
)
from coherencegym.loaders.formats.json_records import (
    TidyText,
    WholeNumber,
    held_records,
    json_members,
    json_records,
)
from coherencegym.loaders.formats.lines import (
    Record,
    RecordError,
    numbered_rows,
    reporting,
    shown,
    tidy,
)
from coherencegym.loaders.text.sentences import split_sentences

COHERENT, INCOHERENT = "coherent", "incoherent"
#: The columns of reasons, and what they stand for.
REASONS = {
    "R1": "semantic connection",
    "R2": "entity reference",
    "R3": "discourse relation",
    "R4": "consistency",
    "R5": "contextual relevance",
    "R6": "tangential relevance",
    "R7": "other",
}
_TEXTS = ("essay_id", "topic", "sentence")
_COLUMNS = (*_TEXTS, "context", "label", *REASONS, "Rewrite")
#: A rewrite that says that the sentence is to be left out.
_DELETE = "DELETE"
_LABELS = {"1": COHERENT, "0": INCOHERENT, "-1": INCOHERENT}
#: A flag; any number that is not 0 holds.
_FLAG = re.compile(r"(-?\d{1,3}(?:\.\d{1,3})?)?")


def read_decor(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of sentences in context."""
    for row in numbered_rows(file, _COLUMNS, options):
        values = {name: tidy(value) for name, value in row.values.items()}
        with reporting(row.place, options):
            label = _checked_label(values)
            if not values["context"]:
                options.skipped["no sentence before it"] += 1
                continue
            other = sum(float(values[name] or 0) not in (0, 1) for name in REASONS)
            options.put_right("flags of reasons that are neither 0 nor 1, taken for 1", other)
            sentence, rewrite = values["sentence"], values["Rewrite"]
            essay = values["essay_id"].removesuffix(".txt")
            rewritten = rewrite not in ("", _DELETE)
            last = rewrite if rewritten else sentence
            texts = (*split_sentences(values["context"]), last)
            span = ((len(texts) - 1, 0, len(last)),)
            reasons = [of for name, of in REASONS.items() if float(values[name] or 0)]
            yield Discourse(
                id=f"{essay}/{len(values['context'])}",
                corpus=corpus.name,
                units=line_units(texts, file.path.name, row.line),
                alternatives=(Alternative(span, (sentence, rewrite), 1),) if rewritten else (),
                judgements=() if rewritten else (HumanJudgement(span, label),),
                meta={
                    "split": file.split,
                    "topic": values["topic"],
                    "essay": essay,
                    "reasons": ", ".join(reasons),
                },
            )


def _checked_label(values: Mapping[str, str]) -> str:
    for name in _TEXTS:
        if not values[name]:
            what = "an id" if name == "essay_id" else "a text"
            raise RecordError(f"{name} is empty, expected {what}", f"empty {name}")
    # The files have ``1`` or ``1.0``.
    if (label := _LABELS.get(values["label"].removesuffix(".0"))) is None:
        problem = f"label is {shown(values['label'])}, expected 1 (coherent), 0 or -1 (incoherent)"
        raise RecordError(problem, "unknown label")
    for name in REASONS:
        if not _FLAG.fullmatch(values[name]):
            problem = f"{name} is {shown(values[name])}, expected a number or nothing"
            raise RecordError(problem, "unknown flag")
    if label == COHERENT and values["Rewrite"]:
        problem = "a rewrite of a coherent sentence, expected none"
        raise RecordError(problem, "rewrite of a coherent sentence")
    return label


def _patterns() -> Iterator[FilePattern]:
    for name, folder, split in (
        ("test_rewrite_213_no_delete.csv", "test", "test"),
        ("test_1355_clean.csv", "test", "test_all"),
        ("rewrite_541.csv", "dev", "validation"),
        ("sent_rewrite_541.csv", "val", "validation"),
    ):
        for place in ("", f"{folder}/", f"data/{folder}/"):
            yield FilePattern(
                f"{place}{name}", split, f"data/{folder}/{name}", by_default=split == "test"
            )


DECOR = Corpus(
    name="decor",
    title="DECOR",
    homepage="https://github.com/BillyZhang24kobe/writing2coherence",
    citation="zhang-etal-2024-decor",
    licence_name="no licence stated",
    text_licence_name="essays of TOEFL-11, which the Linguistic Data Consortium licenses",
    obtain="get https://github.com/BillyZhang24kobe/writing2coherence and take its folder data",
    proven="2026-11-28: the two files of test essays, whole; 1,565 documents",
    patterns=tuple(_patterns()),
    reader=read_decor,
    limitations=(
        "Learners wrote the essays, so the text before a sentence also has errors, which affect "
        "the surprisal of the sentence.",
        "Sentences that experts would delete (`DELETE`) have no rewrite, so the worst sentences "
        "are missing.",
        "Experts did not always agree on what is incoherent. One expert wrote each rewrite; "
        "another rewrite may be as good.",
    ),
    public_since=2024,
    public_source="Zhang et al. (2024)",
    producers=(
        "Learners of English wrote the essays for the TOEFL test; experts rewrote some of their "
        "sentences (Zhang et al. 2024)."
    ),
    source_datasets=("extended|other-decor",),
    one_file_per_split=True,
)


HOLISTIC, INCREMENTAL = "holistic", "incremental"
#: The reasons by number, as the repository's ``preprocess_data.py`` groups them.
GROUPS = {
    **dict.fromkeys((1, 2, 3), "cohesion"),
    **dict.fromkeys((4, 5), "consistency"),
    **dict.fromkeys((6, 7), "relevance"),
    8: "other",
}
#: The lowest and the highest rating.
LOWEST, HIGHEST = 1, 5
_ANNOTATOR = "annot"

_Score = Annotated[float, Field(strict=True, ge=LOWEST, le=HIGHEST)]
#: The same, or NaN, which becomes none.
_MaybeScore = Annotated[
    _Score | None, BeforeValidator(lambda given: given if given == given else None)
]
_NOT_A_NUMBER = "ratings that are no number"
_NO_SENTENCE = "reasons for a sentence that the story has not"


def _rated(scores: dict[str, float | None]) -> dict[str, float | None]:
    if all(score is None for score in scores.values()):
        raise ValueError("at least one rating")
    return scores


def _place(value: str) -> str:
    if not (value.isascii() and value.isdigit() and len(value) < 5):
        raise ValueError("the number of a sentence")
    return value


_SentenceNumber = Annotated[str, AfterValidator(_place)]
_Reason = Annotated[WholeNumber, Field(ge=1, le=8)]


@dataclass(frozen=True, kw_only=True)
class _Ratings:
    scores: Annotated[dict[str, _MaybeScore], AfterValidator(_rated)]
    consensus_score: _Score | None = None


@dataclass(frozen=True, kw_only=True)
class _Incremental(_Ratings):
    sentences: Some[TidyText]
    # Annotator -> sentence -> numbers of reasons.
    reasons: dict[str, dict[_SentenceNumber, list[_Reason]]]


@dataclass(frozen=True)
class _Story:
    number: Annotated[WholeNumber, Field(alias="StoryID")]
    title: Annotated[TidyText, Field(alias="Title")]
    text: Annotated[TidyText, Field(alias="Text")]
    holistic: Annotated[_Ratings, Field(alias="HolisticData")]
    incremental: Annotated[_Incremental, Field(alias="IncrementalData")]

    @property
    def ways(self) -> dict[str, _Ratings]:
        return {HOLISTIC: self.holistic, INCREMENTAL: self.incremental}


def read_cohesentia(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of stories."""
    for record, story in held_records(json_members(file, options), _Story, options):
        yield Discourse(
            id=f"cohesentia-{story.number}",
            corpus=corpus.name,
            units=line_units(story.incremental.sentences, file.path.name, record.line),
            judgements=(*_ratings(story, options), *_reasons(story.incremental, options)),
            meta={
                "split": file.split,
                "title": story.title,
                "text": story.text,
                **{way: _as_text(own.consensus_score) for way, own in story.ways.items()},
            },
        )


def ratings(discourse: Discourse, way: str) -> list[float]:
    """The ratings that a story got in one of the two ways, from 1 to 5."""
    return [
        float(judgement.label)
        for judgement in discourse.judgements
        if judgement.span is None and judgement.annotator.startswith(f"{way} ")
    ]


def _as_text(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _ratings(story: _Story, options: ReadOptions) -> Iterator[HumanJudgement]:
    for way, own in story.ways.items():
        for annotator, score in own.scores.items():
            if score is None:
                options.skipped[_NOT_A_NUMBER] += 1
                continue
            who = f"{way} {annotator.removeprefix(_ANNOTATOR)}"
            yield HumanJudgement(None, _as_text(score), who)


def _reasons(incremental: _Incremental, options: ReadOptions) -> Iterator[HumanJudgement]:
    for annotator, by_sentence in incremental.reasons.items():
        who = f"{INCREMENTAL} {annotator.removeprefix(_ANNOTATOR)}"
        for place, reasons in by_sentence.items():
            if int(place) >= len(incremental.sentences):
                options.skipped[_NO_SENTENCE] += 1
                continue
            span = ((int(place), 0, len(incremental.sentences[int(place)])),)
            for group in dict.fromkeys(GROUPS[reason] for reason in reasons):
                yield HumanJudgement(span, group, who)


COHESENTIA = Corpus(
    name="cohesentia",
    title="CoheSentia",
    homepage="https://github.com/AviyaMn/CoheSentia",
    citation="maimon-tsarfaty-2023-cohesentia",
    licence_name="no licence stated",
    text_licence_name="no licence stated",
    obtain="get https://github.com/AviyaMn/CoheSentia and take its folder data",
    proven="2026-11-28: both files, but for two stories with the faults that are now left out",
    patterns=tuple(
        FilePattern(f"{folder}{name}Data.json", split, f"data/{name}Data.json")
        for name, split in (("Train", "train"), ("Test", "test"))
        for folder in ("", "data/")
    ),
    reader=read_cohesentia,
    limitations=(
        "Models of the GPT-3 family wrote the stories. A similar model expects what these models "
        "wrote, coherent or not.",
        "Two to five people rated each story; different stories have different raters.",
        "A story rated step by step consists of the sentences that raters saw one by one; a few "
        "sentences of the whole stories are missing.",
    ),
    public_since=2023,
    public_source="Maimon and Tsarfaty (2023)",
    producers=(
        "A language model (GPT-3) wrote the stories; crowd workers rated them (Maimon and Tsarfaty "
        "2023)."
    ),
    source_datasets=("extended|other-cohesentia",),
)


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
    right, options = values.label - 1, (values.hypothesis_1, values.hypothesis_2)
    texts = (values.observation_1, options[right], values.observation_2)
    units = line_units(texts, file.path.name, record.line)
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
_VERIFIABLE_FILES = {
    "ConvEnt_train_resplit.json": "train",
    "ConvEnt_dev_resplit.json": "validation",
    "ConvEnt_test_annotation_merged2.json": "test",
    "ART_test_rand200_annotation_merged2.json": "test",
}

VERIFIABLE = Corpus(
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
        for name, split in _VERIFIABLE_FILES.items()
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
