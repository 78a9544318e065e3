"""Annotated texts of one's own, in the formats of corpora, whose readers read them.

Which split a file is of says its folder, or a word of its name: ``train/``, ``mine_dev.conllu``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from coherencegym.loaders.corpora.conll2012 import read_conll2012
from coherencegym.loaders.corpora.documents import SPLITS, UNSPLIT
from coherencegym.loaders.corpora.own.brat import brat_files, read_brat
from coherencegym.loaders.corpora.own.texts import OwnTexts, counted, own_corpus, readable_files
from coherencegym.loaders.corpus import CorpusError, CorpusFile, Reader
from coherencegym.loaders.languages.english import ENGLISH
from coherencegym.loaders.languages.registry import SEVERAL
from coherencegym.loaders.registry import corpus as registered

_BY_NAME = {name: split for split, names in SPLITS.items() for name in names}


@dataclass(frozen=True)
class Format:
    """A format of annotation.

    Attributes:
        about: its name and files, in words.
        corpora: the corpora that are in it; the reader is that of the first.
        globs: the names of its files, within the folder.
        but: the names of those among them that are no annotation.
        reader: the reader, where it is not quite that of the first corpus.
        document: the files of a document by one of them, where it is not as in that corpus.
    """

    about: str
    corpora: tuple[str, ...]
    globs: tuple[str, ...]
    but: str = ""
    reader: Reader | None = None
    document: Callable[[Path], tuple[Path, ...]] | None = None

    def has(self, file: Path, root: Path) -> bool:
        """Tell whether a file in a folder has a name of this format."""
        name = file.relative_to(root).as_posix().lower()
        return any(fnmatchcase(name, glob) for glob in self.globs) and not fnmatchcase(
            name, self.but
        )


FORMATS: Mapping[str, Format] = {
    "conllu": Format(
        "CoNLL-U, with Entity= (CorefUD, GUM) or without", ("gum", "disrpt"), ("*.conllu",)
    ),
    "conll2012": Format(
        "CoNLL-2012 with coreference",
        ("ontonotes",),
        ("*.conll", "*_conll"),
        reader=partial(read_conll2012, singletons=True),
    ),
    "mmax": Format("MMAX2: Basedata/*_words.xml, Markables", ("parcor", "arrau"), ("*_words.xml",)),
    "pdtb": Format(
        "PDTB pipe: gold (or pipe, ann), raw",
        ("pdtb", "tedmdb"),
        tuple(f"{start}{folder}/*" for folder in ("gold", "pipe", "ann") for start in ("", "*/")),
        but="*.xml",
    ),
    "brat": Format(
        "brat standoff: *.ann, *.txt",
        ("parcor", "arrau"),  # which have coreference alone, too
        ("*.ann",),
        reader=read_brat,
        document=brat_files,
    ),
    "rels": Format("DISRPT relations", ("disrpt",), ("*.rels",)),
}


def format_option(path: Path) -> str:
    """The option that reads the files at a path, such as ``--format conllu``, or else all."""
    root = path if path.is_dir() else path.parent
    files, _ = readable_files(path, lambda file: True)
    found = [name for name, one in FORMATS.items() if any(one.has(file, root) for file in files)]
    return f"--format {' or '.join(found or FORMATS)}"


def annotated_texts(
    path: Path, name: str, language: str = ENGLISH.code, *, licence: str = ""
) -> OwnTexts:
    """Declare annotated texts of one's own as a corpus.

    Args:
        path: a file, or a folder with files at any depth.
        name: one of :data:`FORMATS`.
        language: ISO 639-1.
        licence: SPDX identifier; without one nothing that is made of them may be published.
    """
    one = FORMATS[name]
    root = path if path.is_dir() else path.parent
    files, others = readable_files(path, lambda file: file == path or one.has(file, root))
    if not files:
        raise CorpusError(
            f"--texts {path} --format {name}: no such file, found {others or 'nothing'}; expected "
            f"{' or '.join(one.globs)}"
        )
    native = registered(one.corpora[0])
    document = one.document or native.parts
    parts = {file: document(file) if document else () for file in files}
    # A document may be in several files of the same kind.
    others_parts = {part for file in files for part in parts[file] if part != file}
    found = [
        CorpusFile(file, _split(file.relative_to(root)), parts[file])
        for file in files
        if file not in others_parts
    ]
    corpus = own_corpus(
        path,
        found,
        title=f"Own texts ({path.resolve().name}), {one.about}",
        licence=licence,
        language=SEVERAL if native.language == SEVERAL else language,
        reader=one.reader or native.reader,
    )
    read = {part for file in found for part in file.parts or (file.path,)}
    left, _ = readable_files(path, lambda file: file not in read)
    said = f"texts: {counted(files)} ({path}), read as {name}"
    return OwnTexts(corpus, said + (f"; not read: {counted(left)}" if left else ""))


def _split(path: Path) -> str:
    words = re.split("[-_./]", path.as_posix().lower())
    return next((_BY_NAME[word] for word in words if word in _BY_NAME), UNSPLIT)
