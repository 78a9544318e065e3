"""GUM's discourse relations: offsets into one line of words, aligned to the sentences of CoNLL-U.

The relations (GDTB, Liu et al. 2024) count characters of a raw file that holds the words of the
document, parted by spaces (``He 's teething .``). The words are those of the CoNLL-U file, so each
is looked for where the one before it ends, and takes its place in the natural text from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Relation
from coherencegym.loaders.formats.conllu import Sentence
from coherencegym.loaders.formats.lines import LineError, shown
from coherencegym.loaders.formats.standoff import Placed, placed_relation, read_raw, read_relations

#: Places of relations and raw text of ``<folder>/<name>.conllu``: beside the folder, in the
#: layout of the corpus's repository, or with the folders of relations laid next to it.
_FOLDERS = ("rst/gdtb/pdtb/{kind}/00", "pdtb/{kind}", "pdtb/{kind}/00", "{kind}")


def relation_files(path: Path) -> tuple[Path, ...]:
    """The files of relations and raw text of a CoNLL-U file; empty where there are none."""
    for root in (path.parent.parent, path.parent):
        for folder in _FOLDERS:
            pair = tuple(root / folder.format(kind=kind) / path.stem for kind in ("gold", "raw"))
            if pair[0].is_file():
                return pair
    return ()


def document_files(path: Path) -> tuple[Path, ...]:
    """The files that are read for one CoNLL-U file: itself, its relations and their raw text."""
    return (path, *(other for other in relation_files(path) if other.is_file()))


def read_document_relations(
    file: CorpusFile, sentences: Sequence[Sentence], options: ReadOptions
) -> tuple[Relation, ...]:
    """The relations of a document, with spans in its sentences; none where it has no such file.

    Raises:
        CorpusError: the raw text is missing or holds other words than the CoNLL-U file, or a line
            is bad; unless bad rows are skipped.
        OSError: a file cannot be read.
    """
    paths = relation_files(file.path)
    if not paths:
        return ()
    gold, raw_path = paths
    try:
        if not raw_path.is_file():
            raise CorpusError(f"{gold}: its raw text is missing, expected {raw_path}")
        text = align(read_raw(raw_path), sentences, raw_path)
    except CorpusError as error:  # the document itself may be good
        options.bad(str(error), "relations without their raw text")
        return ()
    annotation = CorpusFile(gold, file.split)
    relations: dict[Relation, None] = {}
    for raw in read_relations(annotation, options):
        try:
            relations[placed_relation(raw, text)] = None
        except LineError as error:
            error.report(annotation, options)
    return tuple(relations)


def align(raw: str, sentences: Sequence[Sentence], path: Path) -> Placed:
    """Find where the words of a raw text stand in the texts of the sentences.

    Raises:
        CorpusError: a word of the sentences does not come next in the raw text.
    """
    placed = Placed(raw, texts=[sentence.text for sentence in sentences])
    offset = 0
    for unit, sentence in enumerate(sentences):
        for word in sentence.words:
            while offset < len(raw) and raw[offset].isspace():
                offset += 1
            if not raw.startswith(word.form, offset):
                raise CorpusError(
                    f"{path}: character {offset}: {shown(raw[offset : offset + 30])}, expected "
                    f"{shown(word.form)} as in sentence {unit + 1} of the CoNLL-U file"
                )
            for i in range(len(word.form)):
                # Words of one written token (don't) share its letters, each as far as it reaches.
                character = min(word.start + i, max(word.start, word.end - 1))
                placed.places[offset + i] = (unit, character)
            offset += len(word.form)
    return placed
