"""INSteD: documents with a sentence for which one from another document can be put in.

Shen et al. 2021: opening sections of Wikipedia articles and beginnings of CNN articles; in half of
them a sentence is to be replaced by one of a similar document, the intruder. A discourse is the
coherent document, one unit a sentence, and its one ``alternatives`` entry holds the document's own
sentence and what replaces it, in this order; documents that stay coherent have none. ``meta`` has
``domain`` (``wikipedia``, ``cnn``), ``file_id``, ``label`` and ``sen_position`` as the file has
them, and ``position``, the number of the unit, which differs where the authors' splitter found
other sentences (about one in fifteen).

The official files are read by default for their test documents; those to train on by name, as the
split ``train``. The linguistic probes (100 documents in each of 16 files) are read by name, too, as
the split ``probes``, or where nothing else is there. ``meta["probe"]`` is the probe;
``meta["where"]`` is ``injected`` where the intruder was changed, and ``original`` where it is the
document's own sentence that was changed and takes its own place. What people answered are
judgements, whose labels are numbers of sentences as the authors count them, to be compared with
``meta["gold"]``; a line of their file is ``{"file_id": "4183", "gold": "4", "annoated": ["4", "-1",
...]}`` (sic): the number of the sentence that is the intruder, and what each annotator said.

Left out and counted are records whose sentence is not in their context, or which change nothing.
The reader was run on the probes, all sixteen files of them. The files ``official_wikipedia.jsonl``
and ``official_cnn.jsonl`` could not be seen; that they hold the same records is what others write.

How the authors told sentences apart is not said, and no splitter that was tried gives all of their
numbers (it goes wrong at ``M.D.`` and ``c.``), so the sentence that is replaced is looked for by
its text. In both files of the probe ``singular_determiner_flip`` the context is another one: the
document in which the intruder, without the probe, has taken the place of the document's own
sentence. There the intruder is looked for instead: by the text that the probe changed, or else by
its number, where there is but one way to count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, Field

from coherencegym.loaders.corpus import (
    Corpus,
    CorpusError,
    CorpusFile,
    FilePattern,
    ReadOptions,
    cited,
)
from coherencegym.loaders.discourse import Alternative, Discourse, HumanJudgement, line_units
from coherencegym.loaders.formats.json_records import (
    AnyText,
    Identifier,
    RawText,
    held_records,
    json_records,
)
from coherencegym.loaders.formats.lines import tidy
from coherencegym.loaders.text.sentences import sentence_spans

#: A coherent document's ``sen_position``.
COHERENT = -1
#: The procedure behind documents with an intruder, and the dataset INSteD.
SHEN_2021 = cited("shen-etal-2021-evaluating")

#: The probes as their files are called, and as the files of answers call them.
_PROBES = {
    "gender_pronoun_flip": "gender_flip",
    "animacy_pronoun_downgrade": "animacy_downgrade",
    "animacy_pronoun_upgrade": "animacy_upgrade",
    "singular_determiner_flip": "demonstrative",
    "conjunction_flip": "conjunction",
    "past_to_future_flip": "past_to_future",
    "to_negation": "negation",
    "number_exaggerate": "number_exaggeration",
}
#: The probe in whose files the context already has the intruder in it.
_CORRUPTED = "singular_determiner_flip"
#: The split of the files of probes.
_PROBE_SPLIT = "probes"
#: Reasons why a record is left out that holds to the format but not together.
_NOT_FOUND = "the sentence to be replaced is not in ctx"
_NOT_THERE = "the intruder is not in ctx: the probe changed the document's own sentence"
_NOT_SURE = "no telling which sentence of ctx is the intruder"
_UNCHANGED = "the sentence is replaced by itself"

_STOP = re.compile(r"[.!?][\"'”’)\]]*(?=\s|$)")
#: The forms that the probe singular_determiner_flip makes, with the forms before, for the way back.
_FLIPPED = {"these": "(?:this|these)", "those": "(?:that|those)"}


@dataclass(frozen=True)
class _Document:
    file_id: Identifier
    ctx: RawText
    to_be_replaced: AnyText | None
    replace_with: AnyText | None
    sen_position: Annotated[int, Field(ge=COHERENT, le=10**9)]
    train: Annotated[int, Field(ge=0, le=1)]
    label: Identifier | None = None

    def __post_init__(self) -> None:
        if self.sen_position != COHERENT and not (self.own.strip() and self.other.strip()):
            raise ValueError("to_be_replaced and replace_with that are not empty")

    @property
    def own(self) -> str:
        return self.to_be_replaced or ""

    @property
    def other(self) -> str:
        return self.replace_with or ""

    @property
    def split(self) -> str:
        return "train" if self.train else "test"


@dataclass(frozen=True)
class _Answers:
    file_id: Identifier
    gold: Identifier
    said: Annotated[
        tuple[Identifier, ...], Field(validation_alias=AliasChoices("annoated", "annotated"))
    ]


#: The domain of each file's documents, its probe, and which sentence that changed. The probes were
#: made from test documents of Wikipedia's.
_FILES = {f"official_{domain}.jsonl": (domain, "", "") for domain in ("wikipedia", "cnn")} | {
    f"{where}_{probe}.txt": ("wikipedia", probe, where)
    for probe, where in product(_PROBES, ("injected", "original"))
}


def _contents(path: Path) -> tuple[str, str, str]:
    if contents := _FILES.get(path.name.lower()):
        return contents
    names = "official_<domain>.jsonl, injected_<probe>.txt or original_<probe>.txt"
    raise CorpusError(f"{path}:1: the name is of no file of this corpus, expected {names}")


def read_insted(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of records; of an official file those of the file's split."""
    domain, probe, where = _contents(file.path)
    name = f"{probe}/{where}" if probe else domain
    _, *more = _parts(file.path)
    answers = _read_answers(CorpusFile(more[0], file.split), options) if more else {}
    corrupted = where if probe == _CORRUPTED else ""
    for record, document in held_records(json_records(file, options), _Document, options):
        if file.split not in (document.split, _PROBE_SPLIT):
            continue
        found = _placed(document, corrupted)
        if isinstance(found, str):
            options.skipped[found] += 1
            continue
        sentences, unit = found
        if not sentences:
            options.bad(f"{record.place}: no sentence in ctx, expected some", "empty text")
            continue
        gold = str(document.sen_position)
        meta = {
            "split": document.split,
            "domain": domain,
            "file_id": document.file_id,
            "position": str(unit),
            "sen_position": gold,
            "label": document.label or "",
            **({"probe": probe, "where": where} if probe else {}),
        }
        given = answers.get(document.file_id, {})
        said = given.get(gold)
        if said is not None:
            meta["gold"] = gold
        elif given:
            options.skipped["human answers to another sentence"] += 1
        alternatives: tuple[Alternative, ...] = ()
        if unit != COHERENT:
            own = sentences[unit]
            choice = (own, tidy(document.other))
            alternatives = (Alternative(((unit, 0, len(own)),), choice, 0),)
        yield Discourse(
            id=f"{name}/{document.split}/{document.file_id}",
            corpus=corpus.name,
            units=line_units(sentences, file.path.name, record.line),
            alternatives=alternatives,
            judgements=tuple(
                HumanJudgement(None, label, str(number))
                for number, label in enumerate(said or (), 1)
            ),
            meta=meta,
        )


def _placed(record: _Document, corrupted: str) -> tuple[tuple[str, ...], int] | str:
    """The coherent document of a record and the number of the sentence that it replaces.

    Args:
        record: the record to place.
        corrupted: ``injected`` or ``original`` where the context has the intruder in it, for the
            record of a probe of that kind; empty where it is the document's own.

    Returns:
        The document's own sentences, and the index of the one that is replaced (-1: none is); or
        the reason why there is none.
    """
    context = record.ctx
    if record.sen_position == COHERENT:
        return _sentences(context), COHERENT
    if tidy(record.own) == tidy(record.other):
        return _UNCHANGED
    if not corrupted:
        found, missing = _occurrence(context, record.own, record.sen_position), _NOT_FOUND
    elif corrupted == "injected":
        found, missing = _unflipped(context, record.other), _NOT_THERE
    else:
        found, missing = _numbered(context, record.sen_position), _NOT_SURE
    if found is None:
        return missing
    start, end = found
    if corrupted == "injected" and tidy(context[start:end]) == tidy(record.other):
        return _UNCHANGED
    before = _sentences(context[:start])
    return (*before, tidy(record.own), *_sentences(context[end:])), len(before)


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(tidy(text[start:end]) for start, end in sentence_spans(text))


def _occurrence(context: str, sentence: str, position: int) -> tuple[int, int] | None:
    words = sentence.split()
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    places = [match.span() for match in pattern.finditer(context)]
    if not words or not places:
        return None
    # Of several places the one with the right number of sentences before it.
    return min(places, key=lambda span: abs(len(sentence_spans(context[: span[0]])) - position))


def _unflipped(context: str, flipped: str) -> tuple[int, int] | None:
    # The place of the sentence that the probe made ``flipped`` of.
    words = re.split(r"\b(these|those)\b", tidy(flipped), flags=re.IGNORECASE)
    pattern = "".join(
        _FLIPPED.get(word.lower()) or r"\s+".join(map(re.escape, re.split(" ", word)))
        for word in words
    )
    places = [match.span() for match in re.finditer(pattern, context, re.IGNORECASE)]
    return places[0] if len(places) == 1 else None


def _numbered(context: str, position: int) -> tuple[int, int] | None:
    spans = sentence_spans(context)
    if not 0 < position < len(spans):
        return None
    # Every full stop up to its end has to be the end of a sentence.
    stops = len(_STOP.findall(context[: spans[position][1]]))
    return spans[position] if stops == position + 1 else None


def _parts(path: Path) -> tuple[Path, ...]:
    _, probe, where = _contents(path)
    answers = path.parent / "human_annotation.jsonl"
    if probe:
        answers = path.parent / "human_annotation" / f"{where}_{_PROBES[probe]}.jsonl"
    return (path, answers) if answers.is_file() else (path,)


def _read_answers(file: CorpusFile, options: ReadOptions) -> dict[str, dict[str, tuple[str, ...]]]:
    # The id of a document -> the right answer -> what people said; numbers of sentences.
    answers: dict[str, dict[str, tuple[str, ...]]] = {}
    for _, given in held_records(json_records(file, options), _Answers, options):
        answers.setdefault(given.file_id, {}).setdefault(given.gold, given.said)
    return answers


def _patterns() -> Iterator[FilePattern]:
    official = [name for name, (_, probe, _) in _FILES.items() if not probe]
    for split, name in product(("test", "train"), official):
        yield FilePattern(name, split, by_default=split == "test")
    for name, folder in product(list(_FILES)[len(official) :], ("linguistic_probe_data/", "")):
        example = "linguistic_probe_data/<where>_<probe>.txt"
        yield FilePattern(f"{folder}{name}", _PROBE_SPLIT, example, by_default=False)


CORPUS = Corpus(
    name="insted",
    title="INSteD, the Intruder Sentence Detection dataset",
    homepage="https://github.com/AiliAili/Coherence_Modelling",
    citation=SHEN_2021,
    licence_name="the authors state no licence",
    text_licence_name="Wikipedia's texts are CC BY-SA; CNN states no licence",
    obtain=(
        "get https://github.com/AiliAili/Coherence_Modelling for the probes and the human answers "
        "(read only with --split probes), and put official_wikipedia.jsonl and official_cnn.jsonl "
        "beside them (the reader is not tested on these two files)"
    ),
    proven=(
        "2026-11-29: 6 of the 16 files of probes; the official files were never seen; 570 "
        "documents, 2,866 units, 1,999 annotations, 30 left out"
    ),
    patterns=tuple(_patterns()),
    reader=read_insted,
    parts=_parts,
    public_since=2015,
    public_source="Hermann et al. (2015), for CNN; with intruders since Shen et al. (2021)",
    producers=(
        "Authors of Wikipedia and CNN articles; crowd workers on Amazon Mechanical Turk looked "
        "for the intruders (Shen et al. 2021)."
    ),
    source_datasets=("extended|other-insted",),
)
