"""CoheSentia: generated stories, and how coherent people found them, as wholes and by sentences.

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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from coherencegym.files.strict_json import Some
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.json_records import (
    TidyText,
    WholeNumber,
    held_records,
    json_members,
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
_NOT_A_NUMBER = "ratings that are no number"
_NO_SENTENCE = "reasons for a sentence that the story has not"


def _none_of_nan(value: Any) -> Any:
    return None if value != value else value


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
    scores: Annotated[
        dict[str, Annotated[_Score | None, BeforeValidator(_none_of_nan)]], AfterValidator(_rated)
    ]
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
        source = SourceSpan(file.path.name, record.line, record.line)
        yield Discourse(
            id=f"cohesentia-{story.number}",
            corpus=corpus.name,
            units=tuple(Unit(text, source=source) for text in story.incremental.sentences),
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


CORPUS = Corpus(
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
