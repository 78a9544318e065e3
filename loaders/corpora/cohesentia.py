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

``meta["holistic"]`` and ``meta["incremental"]`` are what the corpus itself takes for the consensus
of the ratings, empty where it does not say. Ids are ``cohesentia-<StoryID>``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coherencegym.licence import OTHER
from coherencegym.loaders.corpora.citations import cited
from coherencegym.loaders.corpora.json_fields import (
    Problem,
    is_whole,
    missing_field,
    text_field_problem,
)
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.json_records import json_kind, json_members
from coherencegym.loaders.formats.lines import shown, tidy
from coherencegym.loaders.formats.records import Record

HOLISTIC, INCREMENTAL = "holistic", "incremental"
#: The ways of rating, and the fields with their results.
RATED_IN = {HOLISTIC: "HolisticData", INCREMENTAL: "IncrementalData"}
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


def read_cohesentia(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of stories."""
    for record in json_members(file, options):
        if problem := _problem(record.values):
            options.bad(f"{record.place}: {problem[0]}", problem[1])
            continue
        yield _story(corpus, file, record)


def ratings(discourse: Discourse, way: str) -> list[float]:
    """The ratings that a story got in one of the :data:`RATED_IN`, from 1 to 5."""
    return [
        float(judgement.label)
        for judgement in discourse.judgements
        if judgement.span is None and judgement.annotator.startswith(f"{way} ")
    ]


def _story(corpus: Corpus, file: CorpusFile, record: Record) -> Discourse:
    values = record.values
    source = SourceSpan(file.path.name, record.line, record.line)
    sentences = [tidy(text) for text in values["IncrementalData"]["sentences"]]
    return Discourse(
        id=f"cohesentia-{values['StoryID']}",
        corpus=corpus.name,
        units=tuple(Unit(text, source=source) for text in sentences),
        judgements=(*_ratings(values), *_reasons(values["IncrementalData"], sentences)),
        meta={
            "split": file.split,
            "title": tidy(values["Title"]),
            "text": tidy(values["Text"]),
            **{
                way: _as_text(values[name].get("consensus_score")) for way, name in RATED_IN.items()
            },
        },
    )


def _as_text(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _ratings(values: Mapping[str, Any]) -> Iterator[HumanJudgement]:
    for way, name in RATED_IN.items():
        for annotator, score in values[name]["scores"].items():
            who = f"{way} {annotator.removeprefix(_ANNOTATOR)}"
            yield HumanJudgement(None, _as_text(score), who)


def _reasons(incremental: Mapping[str, Any], sentences: list[str]) -> Iterator[HumanJudgement]:
    for annotator, by_sentence in incremental["reasons"].items():
        who = f"{INCREMENTAL} {annotator.removeprefix(_ANNOTATOR)}"
        for place, reasons in by_sentence.items():
            span = ((int(place), 0, len(sentences[int(place)])),)
            for group in dict.fromkeys(GROUPS[reason] for reason in reasons):
                yield HumanJudgement(span, group, who)


def _problem(values: Mapping[str, Any]) -> Problem | None:
    if problem := missing_field(values, ("StoryID", "Title", "Text", *RATED_IN.values())):
        return problem
    if not is_whole(values["StoryID"]):
        return f"StoryID is {json_kind(values['StoryID'])}, expected a whole number", "bad id"
    for name in ("Title", "Text"):
        if problem := text_field_problem(name, values[name]):
            return problem
    for name in RATED_IN.values():
        if problem := _way_problem(name, values[name]):
            return problem
    return _sentences_problem(values["IncrementalData"])


def _way_problem(name: str, data: Any) -> Problem | None:
    if not isinstance(data, dict):
        return f"{name} is {json_kind(data)}, expected an object", "malformed ratings"
    scores, consensus = data.get("scores"), data.get("consensus_score")
    if not isinstance(scores, dict) or not scores:
        return f"{name} has no scores, expected one or more", "malformed ratings"
    found = {**scores, **({} if consensus is None else {"consensus_score": consensus})}
    for what, score in found.items():
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        if not is_number or not LOWEST <= score <= HIGHEST:
            is_what = f"{score:g}" if is_number else json_kind(score)
            expected = f"expected a number from {LOWEST} to {HIGHEST}"
            return f"{name}: {shown(what)} is {is_what}, {expected}", "malformed ratings"
    return None


def _sentences_problem(data: Mapping[str, Any]) -> Problem | None:
    if problem := missing_field(data, ("sentences", "reasons")):
        return f"IncrementalData: {problem[0]}", problem[1]
    sentences, reasons = data["sentences"], data["reasons"]
    if not isinstance(sentences, list) or not sentences:
        return "sentences is no list of texts, expected one or more", "malformed sentences"
    for number, sentence in enumerate(sentences):
        if problem := text_field_problem(f"sentence {number}", sentence):
            return problem
    if not isinstance(reasons, dict) or not all(isinstance(own, dict) for own in reasons.values()):
        return "reasons is no object of objects, expected one", "malformed reasons"
    places = set(map(str, range(len(sentences))))
    for own in reasons.values():
        for place, codes in own.items():
            if place not in places:
                expected = f"expected a sentence from 0 to {len(sentences) - 1}"
                return f"a reason for sentence {shown(place)}, {expected}", "malformed reasons"
            if not isinstance(codes, list) or not all(
                type(code) is int and code in GROUPS for code in codes
            ):
                expected = f"expected a list of numbers from 1 to {max(GROUPS)}"
                return f"the reasons for sentence {place}, {expected}", "malformed reasons"
    return None


CORPUS = Corpus(
    name="cohesentia",
    title="CoheSentia",
    homepage="https://github.com/AviyaMn/CoheSentia",
    citation=cited("maimon-tsarfaty-2023-cohesentia"),
    licence_name="no licence stated",
    licence_url="https://github.com/AviyaMn/CoheSentia",
    text_licence=OTHER,
    text_licence_name="no licence stated",
    obtain="get https://github.com/AviyaMn/CoheSentia and take its folder data",
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
