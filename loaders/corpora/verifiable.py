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
from coherencegym.loaders.discourse import (
    Alternative,
    Discourse,
    HumanJudgement,
    SourceSpan,
    Span,
    Unit,
)
from coherencegym.loaders.formats.json_records import json_kind, json_records
from coherencegym.loaders.formats.lines import shown, tidy
from coherencegym.loaders.formats.records import Record

ENTAILED, NOT_ENTAILED = "entailed", "not entailed"
#: The label of a judgement whose span are the units that carry the answer.
EVIDENCE = "evidence"

_ENTAILMENT_FIELDS = ("id", "dialog_source", "label", "type", "turns", "hypothesis")
_HYPOTHESES = ("hypothesis_1", "hypothesis_2")
_CHOICE_FIELDS = ("id", "observation_1", *_HYPOTHESES, "observation_2", "label", "conflict_pair")
#: The field on the less plausible hypothesis and the second observation.
_SECOND_PAIR = "23_plausible"
#: Between which units of the less plausible text a conflict may lie.
_CONFLICTS = ([0, 1], [0, 2], [1, 1], [1, 2])


def read_verifiable(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of either part; its name says of which."""
    choice = file.path.name.upper().startswith("ART")
    problem_of, make = (_choice_problem, _choice) if choice else (_entailment_problem, _entailment)
    for record in json_records(file, options):
        if problem := problem_of(record.values):
            options.bad(f"{record.place}: {problem[0]}", problem[1])
            continue
        yield make(corpus, file, record)


def evidence_judgement(units: tuple[Unit, ...], first: int, last: int) -> HumanJudgement:
    """The judgement that the units from ``first`` to ``last`` carry the answer."""
    span: Span = tuple((place, 0, len(units[place].text)) for place in range(first, last + 1))
    return HumanJudgement(span, EVIDENCE)


def _entailment(corpus: Corpus, file: CorpusFile, record: Record) -> Discourse:
    values = record.values
    source = SourceSpan(file.path.name, record.line, record.line)
    turns = values["turns"]
    units = tuple(Unit(tidy(turn["text"]), tidy(turn["speaker"]), source) for turn in turns)
    whole = HumanJudgement(None, ENTAILED if values["label"] else NOT_ENTAILED)
    pair = values.get("conflict_pair")
    return Discourse(
        id=f"ce-{values['id']}",
        corpus=corpus.name,
        units=units,
        judgements=(whole, *((evidence_judgement(units, *pair),) if pair else ())),
        meta={
            "split": file.split,
            "question": "entailment",
            "hypothesis": tidy(values["hypothesis"]),
            "source": tidy(values["dialog_source"]),
            "type": tidy(values["type"]),
            "spans": "unknown" if pair is None else "known",
        },
    )


def _choice(corpus: Corpus, file: CorpusFile, record: Record) -> Discourse:
    values = record.values
    source = SourceSpan(file.path.name, record.line, record.line)
    right = values["label"] - 1
    options = tuple(tidy(values[name]) for name in _HYPOTHESES)
    texts = (tidy(values["observation_1"]), options[right], tidy(values["observation_2"]))
    units = tuple(Unit(text, source=source) for text in texts)
    second = values.get(_SECOND_PAIR)
    return Discourse(
        id=tidy(values["id"]),
        corpus=corpus.name,
        units=units,
        alternatives=(Alternative(((1, 0, len(texts[1])),), options, right),),
        judgements=(evidence_judgement(units, *values["conflict_pair"]),),
        meta={
            "split": file.split,
            "question": "choice",
            "second_pair": "" if second is None else str(second).lower(),
            "spans": "known",
        },
    )


def _entailment_problem(values: Mapping[str, Any]) -> Problem | None:
    if problem := missing_field(values, _ENTAILMENT_FIELDS):
        return problem
    if not is_whole(values["id"]):
        return f"id is {json_kind(values['id'])}, expected a whole number", "bad id"
    texts = [(name, values[name]) for name in ("dialog_source", "type", "hypothesis")]
    turns = values["turns"]
    if not isinstance(turns, list) or not turns:
        return "turns is no list of turns, expected one or more", "malformed turns"
    for number, turn in enumerate(turns):
        if not isinstance(turn, dict):
            return f"turn {number} is {json_kind(turn)}, expected an object", "malformed turns"
        if problem := missing_field(turn, ("speaker", "text")):
            return f"turn {number}: {problem[0]}", problem[1]
        texts += [(f"{name} of turn {number}", turn[name]) for name in ("speaker", "text")]
    if problem := _texts_problem(texts):
        return problem
    if not is_whole(values["label"]) or values["label"] not in (0, 1):
        return f"label is {shown(str(values['label']))}, expected 0 or 1", "unknown label"
    return _evidence_problem(values, len(turns))


def _evidence_problem(values: Mapping[str, Any], turns: int) -> Problem | None:
    if "conflict_pair" not in values:
        return None
    pair, label = values["conflict_pair"], values["label"]
    if not label:
        if pair == []:
            return None
        problem = f"conflict_pair is {shown(str(pair))} of an item with label 0, expected []"
        return problem, "bad conflict_pair"
    if _is_pair(pair) and 0 <= pair[0] <= pair[1] < turns:
        return None
    problem = f"conflict_pair is {shown(str(pair))}, expected two turns from 0 to {turns - 1}"
    return problem, "bad conflict_pair"


def _choice_problem(values: Mapping[str, Any]) -> Problem | None:
    if problem := missing_field(values, _CHOICE_FIELDS):
        return problem
    texts = [(n, values[n]) for n in _CHOICE_FIELDS if n not in ("label", "conflict_pair")]
    if problem := _texts_problem(texts):
        return problem
    if not is_whole(values["label"]) or values["label"] not in (1, 2):
        return f"label is {shown(str(values['label']))}, expected 1 or 2", "unknown label"
    if len({tidy(values[name]) for name in _HYPOTHESES}) < 2:
        return "hypothesis_1 and hypothesis_2 are the same, expected two", "no alternative"
    return _conflict_problem(values["conflict_pair"], values.get(_SECOND_PAIR))


def _conflict_problem(pair: Any, second: Any) -> Problem | None:
    if not _is_pair(pair) or pair not in _CONFLICTS:
        expected = ", ".join(map(str, _CONFLICTS))
        found = f"conflict_pair is {shown(str(pair))}, expected one of {expected}"
        return found, "bad conflict_pair"
    if second is not None and not isinstance(second, bool):
        kind = json_kind(second)
        return f"{_SECOND_PAIR} is {kind}, expected true, false or null", f"bad {_SECOND_PAIR}"
    if pair == [0, 1] and second is None:
        found = f"{_SECOND_PAIR} is null beside the conflict_pair [0, 1], expected true or false"
        return found, f"no {_SECOND_PAIR}"
    return None


def _texts_problem(texts: list[tuple[str, Any]]) -> Problem | None:
    return next(filter(None, (text_field_problem(*named) for named in texts)), None)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_whole, value))


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
    citation=cited("storks-chai-2021-beyond-tip"),
    licence_name="the authors state no licence",
    licence_url="https://github.com/sled-group/Verifiable-Coherent-NLU",
    text_licence=OTHER,
    text_licence_name="no licence stated (telephone calls of Switchboard, stories of ROCStories)",
    obtain=(
        "get https://github.com/sled-group/Verifiable-Coherent-NLU and take the files "
        "ConvEnt_*.json and ART_test_rand200_annotation_merged2.json"
    ),
    proven=True,
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
