"""The Penn Discourse Treebank and corpora in its format: a raw text and a file of relations.

A discourse is a document; its units are the sentences of the raw text. ``meta["sense_source"]``
says whose senses its relations have (``pdtb3``, ``pdtb2``). The raw text stands in a folder ``raw``
beside that of the annotation (``gold``, ``ann`` or ``pipe``), under the same folders and name.

Of the TED Multilingual Discourse Bank the English part is read. One of its talks is annotated in
two files, of relations within sentences and between them: they are one discourse.

Disco-Annotation: senses of eight connectives in segments of Europarl, as a table.

Popescu-Belis et al. 2012. The table is tab-separated with the columns ``connective``, ``sense``,
``offset`` (of the connective, in characters of the segment, from 0) and ``segment``; further
columns are passed over. A row is a discourse whose units are the sentences of the segment. The
corpus annotates no arguments: as the first stands all that is before the connective, as the second
all that is after it, so that the segment is what the relation reaches over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Relation, Span, line_units
from coherencegym.loaders.formats.lines import (
    LineError,
    Record,
    numbered_rows,
    reporting,
    shown,
    tidy,
)
from coherencegym.loaders.formats.relations import Placed, placed_relations, read_raw
from coherencegym.loaders.text.sentences import sentence_spans

#: Folders of annotation, whose neighbour ``raw`` has the texts.
_ANNOTATION = ("gold", "ann", "pipe")
_HALVES = ("_intra", "_inter")
#: Noises of listeners, noted in a transcript.
_STAGE = re.compile(r"\((?:Laughter|Applause|Cheers|Cheering|Music|Video|Audio|Sings|Singing)\)")


def read_pdtb(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read one document: its raw text and its file or files of relations.

    A bad line spoils its relation only, a bad raw text the document.
    """
    annotation, raw_path = _files(file.path)
    try:
        if not raw_path.is_file():
            raise CorpusError(f"{file.path}: its raw text is missing, expected {raw_path}")
        text, title = _units(read_raw(raw_path))
        if not text.texts:
            said = f"no sentence, expected the raw text of {file.path.name}"
            raise CorpusError(f"{raw_path}:1: {said}")
    except CorpusError as error:
        options.bad(str(error), "malformed document")
        return
    name = file.path.name.removesuffix(".txt").removesuffix(".pipe")
    relations, schemes = placed_relations(annotation, file.split, text, options)
    meta = {"split": file.split, "sense_source": min(schemes, default="pdtb3")}
    yield Discourse(
        id=tidy(name.removesuffix(_HALVES[0]).removesuffix(_HALVES[1])),
        corpus=corpus.name,
        units=line_units(text.texts, raw_path.name, 1),
        relations=relations,
        meta=meta | ({"title": title} if title else {}),
    )


def _parts(path: Path) -> tuple[Path, ...]:
    annotation, raw = _files(path)
    return (*annotation, raw) if raw.is_file() else annotation


def _files(path: Path) -> tuple[tuple[Path, ...], Path]:
    annotation = [path]
    if path.stem.endswith(_HALVES[0]):
        other = path.with_name(path.name.replace(*_HALVES))
        annotation += [other] if other.is_file() else []
    folders = list(path.parts)
    place = next((i for i in range(len(folders) - 2, -1, -1) if folders[i] in _ANNOTATION), None)
    if place is None:
        return tuple(annotation), path.with_name("raw") / path.name
    raw = Path(*folders[:place], "raw", *folders[place + 1 :])
    return tuple(annotation), raw if raw.is_file() else raw.with_suffix("")


def _units(raw: str) -> tuple[Placed, str]:
    # A talk begins with its number and its title, which are no sentences of it.
    text = Placed(raw)
    title, header = "", False
    offset = 0
    for line in raw.splitlines(keepends=True):
        start, bare = offset, line.strip().strip("\ufeff")
        offset += len(line)
        if not text.texts and not title and bare.startswith("talkid:"):
            header = True
        elif header and bare:
            title, header = tidy(bare), False
        elif bare and bare != ".START":
            for first, last in sentence_spans(line):
                text.add(_without_stage(raw, start + first, start + last))
    return text, title


def _without_stage(raw: str, start: int, end: int) -> list[tuple[int, int]]:
    pieces = []
    for match in _STAGE.finditer(raw, start, end):
        pieces.append((start, match.start()))
        start = match.end()
    return [*pieces, (start, end)]


def _sections() -> Iterator[FilePattern]:
    # The usual division of the Wall Street Journal (Lin et al. 2014, section 5).
    for section in range(25):
        split = "train" if 2 <= section <= 21 else {22: "validation", 23: "test"}.get(section)
        for folder in ("gold", "data/gold", "pipe", "data/pipe"):
            yield FilePattern(
                f"{folder}/{section:02}/wsj_*",
                split or "unsplit",
                "gold/<section>/wsj_<number> with raw/<section>/wsj_<number>",
            )


PDTB = Corpus(
    name="pdtb",
    title="Penn Discourse Treebank",
    homepage="https://catalog.ldc.upenn.edu/LDC2019T05",
    citation="prasad-etal-2019-pdtb",
    licence_name="Linguistic Data Consortium user agreement",
    text_licence_name="articles of the Wall Street Journal, under the same agreement",
    obtain=(
        "get LDC2019T05 (or LDC2008T05 in pipe format) from the Linguistic Data Consortium; "
        "point --data-dir at the folder that holds gold (or pipe) and raw"
    ),
    patterns=tuple(_sections()),
    reader=read_pdtb,
    parts=_parts,
    sample_patterns=("pipe/*",),
    public_since=1989,
    public_source="the Wall Street Journal of 1989; as files since Marcus et al. (1993)",
    producers="Writers of the Wall Street Journal, 1989.",
    source_datasets=("extended|other-pdtb",),
)

TEDMDB = Corpus(
    name="tedmdb",
    title="TED Multilingual Discourse Bank (English)",
    homepage="https://github.com/MurathanKurfali/Ted-MDB-Annotations",
    citation="zeyrek-etal-2020-ted",
    licence="CC-BY-4.0",
    licence_name="stated in the README",
    text_licence="CC-BY-NC-ND-4.0",
    text_licence_name="talks of TED; this licence allows no changed texts",
    text_licence_url=(
        "https://www.ted.com/about/our-organization/our-policies-terms/ted-talks-usage-policy"
    ),
    obtain=(
        "get https://github.com/MurathanKurfali/Ted-MDB-Annotations; point --data-dir at the "
        "folder that holds English"
    ),
    proven="2026-11-29: all 6 English talks; 6 documents, 369 units, 656 annotations, 24 left out",
    patterns=tuple(
        FilePattern(f"{folder}ann/*/talk_*_en{half}.txt", "unsplit", "English/ann/01/talk_*_en.txt")
        for folder in ("English/", "")
        for half in ("", "_intra")
    ),
    reader=read_pdtb,
    parts=_parts,
    sample_patterns=("ann/*",),
    public_since=2018,
    public_source="Zeyrek et al. (2018); the talks were on TED's site before",
    producers="Speakers of TED talks.",
    source_datasets=("extended|other-ted-mdb",),
)


#: The senses that each connective is annotated with.
DISCO_SENSES: Mapping[str, tuple[str, ...]] = {
    "although": ("contrast", "concession"),
    "as": ("prep", "causal", "temporal", "comparison", "concession"),
    "however": ("contrast", "concession"),
    "meanwhile": ("contrast", "temporal"),
    "since": ("causal", "temporal", "temporal-causal"),
    "though": ("contrast", "concession"),
    "while": ("contrast", "concession", "temporal", "temporal-contrast", "temporal-causal"),
    "yet": ("adv", "contrast", "concession"),
}


def read_disco(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a table of segments."""
    for row in numbered_rows(file, ("connective", "sense", "offset", "segment"), options):
        with reporting(file, options):
            yield _disco_discourse(corpus, file, row)


def _disco_discourse(corpus: Corpus, file: CorpusFile, row: Record) -> Discourse:
    line, text = row.line, row.values["segment"]
    connective, sense = row.values["connective"].lower(), row.values["sense"].lower()
    offset = _offset(line, row.values["offset"])
    if connective not in DISCO_SENSES:
        known = f"no connective of this corpus, expected one of {', '.join(DISCO_SENSES)}"
        raise LineError(line, f"{shown(connective)} is {known}", "unknown connective")
    if sense not in DISCO_SENSES[connective]:
        known = f"no sense of {connective!r}, expected one of {', '.join(DISCO_SENSES[connective])}"
        raise LineError(line, f"{shown(sense)} is {known}", "unknown sense")
    end = offset + len(connective)
    alone = not (text[:offset][-1:].isalnum() or text[end : end + 1].isalnum())
    if text[offset:end].lower() != connective or not alone:
        raise LineError(
            line,
            f"at offset {offset} stands {shown(text[offset:end])}, expected the word "
            f"{connective!r}; offsets count characters of the segment from 0",
            "connective elsewhere",
        )
    placed = Placed(text)
    for span in sentence_spans(text):
        placed.add([span])
    place = placed.span(((offset, end),))
    around = _all_between(placed, 0, offset), _all_between(placed, end, len(text))
    return Discourse(
        id=f"{tidy(file.path.stem)}-{line - 1:05}",
        corpus=corpus.name,
        units=line_units(placed.texts, file.path.name, line),
        relations=(Relation("Explicit", place, *around, (sense,)),),
        meta={"split": file.split, "sense_source": "disco"},
    )


def _all_between(placed: Placed, start: int, end: int) -> Span:
    try:
        return placed.span(((start, end),)) if start < end else ()
    except LookupError:
        return ()


def _offset(line: int, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        problem = f"the offset is {shown(text)}, expected a number of characters"
        raise LineError(line, problem, "bad offset")
    return int(text)


DISCO = Corpus(
    name="disco",
    title="Disco-Annotation",
    homepage="https://www.idiap.ch/dataset/Disco-Annotation",
    citation="popescu-belis-etal-2012-discourse",
    licence_name="unknown; see the website of the corpus",
    text_licence_name="texts of Europarl, which states no licence",
    obtain=(
        "get https://www.idiap.ch/dataset/Disco-Annotation and make a tab-separated table "
        "disco.tsv with the columns connective, sense, offset, segment"
    ),
    patterns=(FilePattern("disco*.tsv", "unsplit", "disco.tsv"),),
    reader=read_disco,
    sample_patterns=("*.tsv",),
    public_since=2005,
    public_source="Europarl, Koehn (2005)",
    producers="Members of the European Parliament and its translators.",
    source_datasets=("extended|other-europarl",),
)
