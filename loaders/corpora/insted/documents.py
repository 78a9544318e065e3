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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from coherencegym.licence import OTHER
from coherencegym.loaders.corpora.citations import cited
from coherencegym.loaders.corpora.insted.record import (
    COHERENT,
    InstedRecord,
    insted_records,
    placed,
)
from coherencegym.loaders.corpora.json_fields import is_whole
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Alternative, Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.json_records import json_kind, json_records
from coherencegym.loaders.formats.lines import tidy

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
#: The field with people's answers, and how it may have been spelt right.
_ANSWERS = ("annoated", "annotated")


@dataclass(frozen=True, slots=True)
class _Contents:
    domain: str
    probe: str = ""
    # Which sentence was changed.
    where: str = ""


#: The content of each file. The probes were made from test documents of Wikipedia's.
_FILES = {f"official_{domain}.jsonl": _Contents(domain) for domain in ("wikipedia", "cnn")} | {
    f"{where}_{probe}.txt": _Contents("wikipedia", probe, where)
    for probe, where in product(_PROBES, ("injected", "original"))
}


def _contents(path: Path) -> _Contents:
    if contents := _FILES.get(path.name.lower()):
        return contents
    names = "official_<domain>.jsonl, injected_<probe>.txt or original_<probe>.txt"
    raise CorpusError(f"{path}:1: the name is of no file of this corpus, expected {names}")


def read_insted(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of records; of an official file those of the file's split."""
    contents = _contents(file.path)
    _, *more = _parts(file.path)
    answers = _read_answers(CorpusFile(more[0], file.split), options) if more else {}
    corrupted = contents.where if contents.probe == _CORRUPTED else ""
    for record in insted_records(file, options):
        if file.split not in (record.split, _PROBE_SPLIT):
            continue
        found = placed(record, corrupted)
        if isinstance(found, str):
            options.skipped[found] += 1
            continue
        if not found[0]:
            options.bad(f"{record.place}: no sentence in ctx, expected some", "empty text")
            continue
        given = answers.get(record.file_id, {})
        said = given.get(str(record.position))
        if given and said is None:
            options.skipped["human answers to another sentence"] += 1
        yield _discourse(corpus, file, record, *found, contents, said)


def _discourse(
    corpus: Corpus,
    file: CorpusFile,
    record: InstedRecord,
    sentences: tuple[str, ...],
    unit: int,
    contents: _Contents,
    said: tuple[str, ...] | None,
) -> Discourse:
    source = SourceSpan(file.path.name, record.line, record.line)
    meta = {
        "split": record.split,
        "domain": contents.domain,
        "file_id": record.file_id,
        "position": str(unit),
        "sen_position": str(record.position),
        "label": record.label,
    }
    name = contents.domain
    if contents.probe:
        meta |= {"probe": contents.probe, "where": contents.where}
        name = f"{contents.probe}/{contents.where}"
    if said is not None:
        meta["gold"] = str(record.position)
    alternatives: tuple[Alternative, ...] = ()
    if unit != COHERENT:
        own = sentences[unit]
        options = (own, tidy(record.replacement))
        alternatives = (Alternative(((unit, 0, len(own)),), options, 0),)
    return Discourse(
        id=f"{name}/{record.split}/{record.file_id}",
        corpus=corpus.name,
        units=tuple(Unit(sentence, source=source) for sentence in sentences),
        alternatives=alternatives,
        judgements=tuple(
            HumanJudgement(None, label, str(number)) for number, label in enumerate(said or (), 1)
        ),
        meta=meta,
    )


def _parts(path: Path) -> tuple[Path, ...]:
    contents = _contents(path)
    answers = path.parent / "human_annotation.jsonl"
    if contents.probe:
        name = f"{contents.where}_{_PROBES[contents.probe]}.jsonl"
        answers = path.parent / "human_annotation" / name
    return (path, answers) if answers.is_file() else (path,)


def _read_answers(file: CorpusFile, options: ReadOptions) -> dict[str, dict[str, tuple[str, ...]]]:
    # The id of a document -> the right answer -> what people said; numbers of sentences.
    answers: dict[str, dict[str, tuple[str, ...]]] = {}
    for record in json_records(file, options):
        values = record.values
        said: Any = next((values[name] for name in _ANSWERS if name in values), None)
        if problem := _answers_problem(values, said):
            options.bad(f"{record.place}: {problem}", "malformed human answers")
            continue
        of_document = answers.setdefault(tidy(str(values["file_id"])), {})
        of_document.setdefault(tidy(str(values["gold"])), tuple(tidy(str(one)) for one in said))
    return answers


def _answers_problem(values: dict[str, Any], said: Any) -> str | None:
    for name in ("file_id", "gold"):
        if not _is_word(value := values.get(name)):
            return f"{name} is {json_kind(value)}, expected a number, or a text that is one"
    if not isinstance(said, list) or not all(map(_is_word, said)):
        return f"{_ANSWERS[0]} is {json_kind(said)}, expected a list of numbers of sentences"
    return None


def _is_word(value: Any) -> bool:
    if isinstance(value, str):
        word = value.strip().lstrip("-")
        return 0 < len(word) <= 40 and word.isascii() and word.replace("_", "").isalnum()
    return is_whole(value)


def _patterns() -> Iterator[FilePattern]:
    official = [name for name, contents in _FILES.items() if not contents.probe]
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
    licence_url="https://github.com/AiliAili/Coherence_Modelling",
    text_licence=OTHER,
    text_licence_name="Wikipedia's texts are CC BY-SA; CNN states no licence",
    obtain=(
        "get https://github.com/AiliAili/Coherence_Modelling for the probes and the human answers "
        "(read only with --split probes), and put official_wikipedia.jsonl and official_cnn.jsonl "
        "beside them (the reader is not tested on these two files)"
    ),
    proven=True,
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
