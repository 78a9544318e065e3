"""Disco-Annotation: senses of eight connectives in segments of Europarl, as a table.

Popescu-Belis et al. 2012. The table is tab-separated with the columns ``connective``, ``sense``,
``offset`` (of the connective, in characters of the segment, from 0) and ``segment``; further
columns are passed over. A row is a discourse whose units are the sentences of the segment. The
corpus annotates no arguments: as the first stands all that is before the connective, as the second
all that is after it, so that the segment is what the relation reaches over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Relation, SourceSpan, Span, Unit
from coherencegym.loaders.formats.lines import LineError, Record, reporting, shown, tidy
from coherencegym.loaders.formats.standoff import Placed
from coherencegym.loaders.formats.table import numbered_rows
from coherencegym.loaders.text.sentences import sentence_spans

#: The senses that each connective is annotated with.
SENSES: Mapping[str, tuple[str, ...]] = {
    "although": ("contrast", "concession"),
    "as": ("prep", "causal", "temporal", "comparison", "concession"),
    "however": ("contrast", "concession"),
    "meanwhile": ("contrast", "temporal"),
    "since": ("causal", "temporal", "temporal-causal"),
    "though": ("contrast", "concession"),
    "while": ("contrast", "concession", "temporal", "temporal-contrast", "temporal-causal"),
    "yet": ("adv", "contrast", "concession"),
}


def read_table(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a table of segments."""
    for row in numbered_rows(file, ("connective", "sense", "offset", "segment"), options):
        with reporting(file, options):
            yield _discourse(corpus, file, row)


def _discourse(corpus: Corpus, file: CorpusFile, row: Record) -> Discourse:
    line, text = row.line, row.values["segment"]
    connective, sense = row.values["connective"].lower(), row.values["sense"].lower()
    offset = _offset(line, row.values["offset"])
    if connective not in SENSES:
        known = f"no connective of this corpus, expected one of {', '.join(SENSES)}"
        raise LineError(line, f"{shown(connective)} is {known}", "unknown connective")
    if sense not in SENSES[connective]:
        known = f"no sense of {connective!r}, expected one of {', '.join(SENSES[connective])}"
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
        units=tuple(Unit(t, source=SourceSpan(file.path.name, line, line)) for t in placed.texts),
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


CORPUS = Corpus(
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
    reader=read_table,
    sample_patterns=("*.tsv",),
    public_since=2005,
    public_source="Europarl, Koehn (2005)",
    producers="Members of the European Parliament and its translators.",
    source_datasets=("extended|other-europarl",),
)
