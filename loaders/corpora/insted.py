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
document's own sentence that was changed and takes its own place. What people answered
(:mod:`loaders.corpora.insted_answers`) are judgements, whose labels are numbers of sentences as the
authors count them, to be compared with ``meta["gold"]``.

Left out and counted are records whose sentence is not in their context, or which change nothing.
The files ``official_wikipedia.jsonl`` and ``official_cnn.jsonl`` and ten of the probe files could
not be seen; that they hold the same records is what others write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from coherencegym.loaders.corpora.insted_answers import (
    OTHER_GOLD,
    DocumentAnswers,
    answers_file,
    read_answers,
)
from coherencegym.loaders.corpora.insted_record import (
    COHERENT,
    InstedRecord,
    PlacedRecord,
    place,
    read_records,
)
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Alternative, Discourse, HumanJudgement, SourceSpan, Unit

#: The procedure behind documents with an intruder, and the dataset INSteD.
SHEN_2021 = """\
@article{shen-etal-2021-evaluating,
    title = "Evaluating Document Coherence Modeling",
    author = "Shen, Aili and Mistica, Meladel and Salehi, Bahar and Li, Hang and
      Baldwin, Timothy and Qi, Jianzhong",
    journal = "Transactions of the Association for Computational Linguistics",
    volume = "9",
    year = "2021",
    address = "Cambridge, MA",
    publisher = "MIT Press",
    url = "https://aclanthology.org/2021.tacl-1.38",
    doi = "10.1162/tacl_a_00388",
    pages = "621--640",
}"""

#: The probes, as their files are called.
_PROBES = (
    "gender_pronoun_flip",
    "animacy_pronoun_downgrade",
    "animacy_pronoun_upgrade",
    "singular_determiner_flip",
    "conjunction_flip",
    "past_to_future_flip",
    "to_negation",
    "number_exaggerate",
)
#: Sentences that a probe may have changed: the intruder, or the document's own.
WHERE = ("injected", "original")
_DOMAINS = ("wikipedia", "cnn")
#: The split of the files of probes.
PROBE_SPLIT = "probes"
#: The probe in whose files the context already has the intruder in it.
CORRUPTED = "singular_determiner_flip"


@dataclass(frozen=True, slots=True)
class Contents:
    """The content of a file; ``probe`` and ``where`` are empty of the official files."""

    domain: str
    probe: str = ""
    where: str = ""

    @property
    def corrupted(self) -> str:
        """Difference of the context from the document
        (:func:`loaders.corpora.insted_record.place`)."""
        return self.where if self.probe == CORRUPTED else ""

    @property
    def name(self) -> str:
        """The beginning of the ids of its documents."""
        return f"{self.probe}/{self.where}" if self.probe else self.domain


#: The content of each file. The probes were made from test documents of Wikipedia's.
FILES = {f"official_{domain}.jsonl": Contents(domain) for domain in _DOMAINS} | {
    f"{where}_{probe}.txt": Contents("wikipedia", probe, where)
    for probe, where in product(_PROBES, WHERE)
}


def contents_of(path: Path) -> Contents:
    """Tell the content of a file by its name.

    Raises:
        CorpusError: its name says nothing.
    """
    contents = FILES.get(path.name.lower())
    if contents is None:
        names = "official_<domain>.jsonl, injected_<probe>.txt or original_<probe>.txt"
        raise CorpusError(f"{path}:1: the name is of no file of this corpus, expected {names}")
    return contents


def read_documents(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of records; of an official file those of the file's split.

    Raises:
        CorpusError: the name of the file says nothing, or a bad record, or bad human answers.
    """
    contents = contents_of(file.path)
    path = answers_file(file.path, contents.probe, contents.where)
    answers = read_answers(path, file.split, options) if path is not None else {}
    for record in read_records(file, options):
        if file.split not in (record.split, PROBE_SPLIT):
            continue
        placed = place(record, contents.corrupted)
        if isinstance(placed, str):
            options.skipped[placed] += 1
            continue
        if placed.sentences:
            given = _answers(record, answers, options)
            yield _discourse(corpus, file, record, placed, contents, given)
        else:
            options.bad(f"{record.place}: no sentence in ctx, expected some", "empty text")


def _answers(
    record: InstedRecord, answers: dict[str, list[DocumentAnswers]], options: ReadOptions
) -> DocumentAnswers | None:
    """Give people's answers about a document; none where the right answer is another sentence."""
    there = answers.get(record.file_id, [])
    given = next((one for one in there if one.gold == str(record.position)), None)
    if there and given is None:
        options.skipped[OTHER_GOLD] += 1
    return given


def _discourse(
    corpus: Corpus,
    file: CorpusFile,
    record: InstedRecord,
    placed: PlacedRecord,
    contents: Contents,
    given: DocumentAnswers | None,
) -> Discourse:
    source = SourceSpan(file.path.name, record.line, record.line)
    meta = {
        "split": record.split,
        "domain": contents.domain,
        "file_id": record.file_id,
        "position": str(placed.unit),
        "sen_position": str(record.position),
        "label": record.label,
    }
    if contents.probe:
        meta |= {"probe": contents.probe, "where": contents.where}
    if given is not None:
        meta["gold"] = given.gold
    alternatives: tuple[Alternative, ...] = ()
    if placed.unit != COHERENT:
        own = placed.sentences[placed.unit]
        options = (own, " ".join(record.replacement.split()))
        alternatives = (Alternative(((placed.unit, 0, len(own)),), options, 0),)
    return Discourse(
        id=f"{contents.name}/{record.split}/{record.file_id}",
        corpus=corpus.name,
        units=tuple(Unit(sentence, source=source) for sentence in placed.sentences),
        alternatives=alternatives,
        judgements=tuple(
            HumanJudgement(None, label, str(number))
            for number, label in enumerate(given.said if given else (), start=1)
        ),
        meta=meta,
    )


def _parts(path: Path) -> tuple[Path, ...]:
    """The files that are read for one file of records: itself, and the human answers."""
    contents = contents_of(path)
    answers = answers_file(path, contents.probe, contents.where)
    return (path,) if answers is None else (path, answers)


def _patterns() -> Iterator[FilePattern]:
    """The official files, each of two splits, then the probes, in their folder or in none."""
    for split, name in product(("test", "train"), FILES):
        if not FILES[name].probe:
            yield FilePattern(name, split, by_default=split == "test")
    for name, folder in product(FILES, ("linguistic_probe_data/", "")):
        if FILES[name].probe:
            example = "linguistic_probe_data/<where>_<probe>.txt"
            yield FilePattern(f"{folder}{name}", PROBE_SPLIT, example, by_default=False)


CORPUS = Corpus(
    name="insted",
    title="INSteD, the Intruder Sentence Detection dataset",
    homepage="https://github.com/AiliAili/Coherence_Modelling",
    citation=SHEN_2021,
    licence="other",
    licence_name="no licence found that its authors state",
    licence_url="https://github.com/AiliAili/Coherence_Modelling",
    republishable=False,
    obtain=(
        "get https://github.com/AiliAili/Coherence_Modelling for the probes and the human answers "
        "(read by name, as the split probes, and proven on six of their sixteen files), and put "
        "official_wikipedia.jsonl and official_cnn.jsonl (unproven) beside them"
    ),
    proven=False,
    patterns=tuple(_patterns()),
    reader=read_documents,
    parts=_parts,
    producers=(
        "Authors of Wikipedia articles and of CNN's, and crowd workers on Amazon Mechanical Turk, "
        "who looked for the intruders (Shen et al. 2021)."
    ),
    source_datasets=("extended|other-insted",),
)
