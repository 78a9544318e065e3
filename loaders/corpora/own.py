"""Texts of one's own: plain ones, Markdown with headings, or annotated in a format of corpora.

A ``.txt`` file is a document, and so is a row of a table (CSV, TSV, JSON lines, parquet). They are
made into short documents as articles are: :mod:`loaders.corpora.documents` says how, and what
becomes of splits. A Markdown file is a document, too, with its headings and paragraphs. Ids of
files are their paths within the folder, without the ending. Annotated texts are read by the readers
of corpora.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.licence import licence_fields
from coherencegym.loaders.corpora.conll2012 import read_conll2012
from coherencegym.loaders.corpora.documents import (
    READABLE,
    SPLITS,
    TABLE_ENDINGS,
    UNSPLIT,
    named_split,
    read_articles,
    split_of_row,
    table_records,
)
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, Reader, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan
from coherencegym.loaders.formats.lines import (
    RecordError,
    open_text,
    shown_names,
    tidy,
)
from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.loaders.languages.registry import SEVERAL
from coherencegym.loaders.registry import corpus as registered
from coherencegym.loaders.text.articles import Origin, Shape
from coherencegym.loaders.text.sections import marked_blocks, sectioned_discourse

#: The name of a corpus of the user's own texts, plain or annotated.
OWN = "own"
#: The usual names of a column of texts, the likeliest first.
TEXT_COLUMNS = ("text", "document", "story", "content", "article", "body", "sentences")
#: Rows by which a column is chosen.
_LOOKED_AT = 200
_MARKDOWN = (".md", ".markdown")
#: Characters of a Markdown file; a longer one is no document.
_LONGEST = 2_000_000
_BY_NAME = {name: split for split, names in SPLITS.items() for name in names}


class NoTextsError(CorpusError):
    """Files of which none is a plain text or a table."""


@dataclass(frozen=True)
class OwnTexts:
    """A corpus of the user's own texts, and a line that says what is read and what is not."""

    corpus: Corpus
    said: str


@dataclass(frozen=True)
class Format:
    """A format of annotation.

    Attributes:
        about: its name and files, in words.
        corpora: the corpora that are in it; the reader is that of the first.
        globs: the names of its files, within the folder.
        but: the names of those among them that are no annotation.
        reader: the reader, where it is not quite that of the first corpus.
    """

    about: str
    corpora: tuple[str, ...]
    globs: tuple[str, ...]
    but: str = ""
    reader: Reader | None = None

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
    "rels": Format("DISRPT relations", ("disrpt",), ("*.rels",)),
}


def own_texts(
    path: Path, shape: Shape, *, column: str | None = None, licence: str = ""
) -> OwnTexts:
    """Declare texts of one's own as a corpus. The rows of tables are read for their columns.

    Args:
        path: a file, or a folder with files at any depth.
        shape: the shape of the documents that are made of them.
        column: the column of tables that holds the texts; none: the first of :data:`TEXT_COLUMNS`
            that is there, in any case of letters, else that with the longest texts.
        licence: SPDX identifier; without one nothing that is made of them may be published.
    """
    files, others = _readable_files(path, lambda one: one.name.lower().endswith(READABLE))
    if not files:
        said = f"--texts {path}: no texts, found {others or 'nothing'}; expected"
        if any((path / name).is_file() for name in ("dataset_info.json", "dataset_dict.json")):
            raise CorpusError(f"{said} --hub-dataset {path} for a saved dataset")
        raise NoTextsError(f"{said} files that end in {', '.join(READABLE)}")
    columns: dict[Path, str] = {}
    found: list[CorpusFile] = []
    for one in files:
        splits = {named_split(one)}
        if one.name.lower().endswith(TABLE_ENDINGS):
            columns[one], in_rows = _look_into(one, column)
            splits = splits if None not in splits else in_rows
        found += [CorpusFile(one, split or UNSPLIT) for split in splits]
    if column is not None and not columns:
        raise CorpusError(f"--text-column {column}: {path} has no table; expected no --text-column")
    reader = partial(_read, shape=shape, columns=columns, root=_root(path))
    corpus = _own_corpus(path, found, reader, licence, shape.language)
    named = Counter(columns.values())
    said = f"texts: {_counted(files)} ({path})"
    if named:
        said += ", column " + ", ".join(map(repr, named))
        said += "" if column else " (--text-column names another)"
    said += f"; of each a document of {shape.fewest} to {shape.most} sentences (--sentences)"
    return OwnTexts(corpus, said + (f"; not read: {others}" if others else ""))


def sectioned_texts(path: Path, shape: Shape, *, licence: str = "") -> OwnTexts:
    """Declare Markdown files of one's own as a corpus.

    Args:
        path: a file, or a folder with files at any depth.
        shape: the language and pipeline that say where sentences end; no document is cut.
        licence: SPDX identifier; without one nothing that is made of them may be published.
    """
    files, others = _readable_files(path, lambda one: one.suffix.lower() in _MARKDOWN)
    if not files:
        raise CorpusError(
            f"--texts {path} --genre sections: found {others or 'nothing'}; expected files that "
            f"end in {' or '.join(_MARKDOWN)}"
        )
    found = [CorpusFile(one, named_split(one) or UNSPLIT) for one in files]
    reader = partial(_read_markdown, shape=shape, root=_root(path))
    corpus = _own_corpus(path, found, reader, licence, shape.language)
    said = f"texts: {_counted(files)} ({path}), read with their headings"
    return OwnTexts(corpus, said + (f"; not read: {others}" if others else ""))


def format_option(path: Path) -> str:
    """The option that reads the files at a path, such as ``--format conllu``, or else all."""
    root = _root(path)
    files, _ = _readable_files(path, lambda file: True)
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
    root = _root(path)
    files, others = _readable_files(path, lambda file: file == path or one.has(file, root))
    if not files:
        raise CorpusError(
            f"--texts {path} --format {name}: no such file, found {others or 'nothing'}; expected "
            f"{' or '.join(one.globs)}"
        )
    native = registered(one.corpora[0])
    parts = {file: native.parts(file) if native.parts else () for file in files}
    # A document may be in several files of the same kind.
    others_parts = {part for file in files for part in parts[file] if part != file}
    found = [
        CorpusFile(file, _split(file.relative_to(root)), parts[file])
        for file in files
        if file not in others_parts
    ]
    code = SEVERAL if native.language == SEVERAL else language
    reader = one.reader or native.reader
    corpus = _own_corpus(path, found, reader, licence, code, about=f", {one.about}")
    read = {part for file in found for part in file.parts or (file.path,)}
    left, _ = _readable_files(path, lambda file: file not in read)
    said = f"texts: {_counted(files)} ({path}), read as {name}"
    return OwnTexts(corpus, said + (f"; not read: {_counted(left)}" if left else ""))


def _root(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _split(path: Path) -> str:
    words = re.split("[-_./]", path.as_posix().lower())
    return next((_BY_NAME[word] for word in words if word in _BY_NAME), UNSPLIT)


def _own_corpus(
    path: Path,
    files: Iterable[CorpusFile],
    reader: Reader,
    licence: str,
    language: str,
    about: str = "",
) -> Corpus:
    # Others cannot get it. ``about`` says what is annotated: near-duplicates of it stay.
    order = [*SPLITS, UNSPLIT]
    return Corpus(
        name=OWN,
        title=f"Own texts ({path.resolve().name}){about}",
        homepage="",
        citation="",
        obtain=f"the builder's own files ({path.resolve().name})",
        patterns=(),
        files=tuple(sorted(files, key=lambda file: (order.index(file.split), file.path))),
        reader=reader,
        language=language,
        producers="The authors of the texts, which the builder of the dataset collected.",
        collected=not about,
        **licence_fields(licence or None),
    )


def _readable_files(path: Path, wanted: Callable[[Path], bool]) -> tuple[list[Path], str]:
    """The files at a path that are wanted, in order, and the endings of all others, counted."""
    if not path.exists():
        raise CorpusError(f"--texts {path}: no such file or folder")
    if not path.is_dir():
        return ([path], "") if wanted(path) else ([], _counted([path]))
    inside = [one.relative_to(path) for one in sorted(path.rglob("*"))]
    visible = [one for one in inside if not any(part.startswith(".") for part in one.parts)]
    files = [path / one for one in visible if (path / one).is_file()]
    return [one for one in files if wanted(one)], _counted(one for one in files if not wanted(one))


def _counted(files: Any) -> str:
    """Files counted by their endings.

    >>> _counted([Path("a.txt"), Path("b.txt"), Path("c.pdf"), Path("d")])
    '2 .txt, 1 .pdf, 1 without ending'
    """
    endings = Counter(one.suffix.lower() or "without ending" for one in files)
    return ", ".join(f"{count} {ending}" for ending, count in endings.items())


def _look_into(path: Path, column: str | None) -> tuple[str, set[str | None]]:
    options = ReadOptions(skip_bad_rows=True)  # whoever reads them says what is bad
    splits: set[str | None] = set()
    lengths: Counter[str] = Counter()
    names: dict[str, None] = {}
    for number, record in enumerate(table_records(CorpusFile(path, UNSPLIT), options)):
        names |= dict.fromkeys(record.values)
        try:
            splits.add(split_of_row(record.values.get("split")))
        except RecordError:
            splits.add(UNSPLIT)  # where it is reported
        if number < _LOOKED_AT:
            lengths.update(dict(_lengths(record.values)))
    if not names:
        raise CorpusError(f"{path}: no row, expected a table with a column of texts")
    usual = {name.lower(): name for name in reversed(lengths)}
    if column is None:
        likely = [usual[name] for name in TEXT_COLUMNS if name in usual]
        column = (likely or [max(lengths, key=lengths.__getitem__, default="")])[0]
    if column not in names:
        expected = repr(column) if column else "of texts"
        raise CorpusError(f"{path}: no column {expected}; the columns are {shown_names(names)}")
    return column, splits


def _lengths(row: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for name, value in row.items():
        texts = value if isinstance(value, list) else [value]
        if all(isinstance(text, str) for text in texts):
            yield name, sum(map(len, texts))


def _read(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    *,
    shape: Shape,
    columns: Mapping[Path, str],
    root: Path,
) -> Iterator[Discourse]:
    column = columns.get(file.path)
    yield from read_articles(corpus, file, options, shape=shape, column=column, root=root)


def _read_markdown(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, *, shape: Shape, root: Path
) -> Iterator[Discourse]:
    identifier = tidy(file.path.relative_to(root).with_suffix("").as_posix()) or file.path.name
    try:
        with open_text(file) as text:
            content = text.read(_LONGEST + 1)
        if len(content) > _LONGEST:
            problem = f"more than {_LONGEST:,} characters, expected a document"
            raise RecordError(problem, "overlong file")
        source = SourceSpan(file.path.name, 1, content.count("\n") + 1)
        blocks = marked_blocks(content)
        how = options, shape.language, shape.pipeline
        found = sectioned_discourse(corpus, Origin(identifier, source, file.split), blocks, *how)
    except CorpusError as error:
        options.bad(str(error), "text file that cannot be decoded")
    except RecordError as bad:
        bad.report(f"{file.path}:1", options)
    else:
        if found is not None:
            yield found
