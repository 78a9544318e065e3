"""Texts of one's own: articles, Markdown with headings, or annotated in a format of corpora.

A ``.txt`` file is an article, and so is a row of a table (CSV, TSV, JSON lines or one JSON array,
parquet), with its text in a column, and ``id``, ``title``, ``domain`` and ``split``, if there are
any. What becomes of an article is in :mod:`loaders.text.articles`. Ids are the paths of files
within the folder, without the ending; of rows the ``id``, or that and the row's number, six digits.
A Markdown file is a document with its headings and paragraphs. Annotated texts are read by the
readers of corpora.

The split is what the folder (``train/``, ``validation/``, ``test/``) or the name of the table says
(``train.jsonl``, ``test-1.jsonl.gz``, ``tales_test.jsonl``); elsewhere the ``split`` of the row, or
``unsplit``. Of near-duplicates the first in reading order stays, whatever the splits: train,
validation, test.

The corpus ``documents`` is text files and JSON lines in a folder that is called so, among the other
corpora: any file could be somebody's document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.files.tables import read_frame
from coherencegym.licence import licence_fields
from coherencegym.loaders.corpora.conll2012 import read_conll2012
from coherencegym.loaders.corpus import (
    Corpus,
    CorpusError,
    CorpusFile,
    FilePattern,
    Reader,
    ReadOptions,
)
from coherencegym.loaders.discourse import Discourse, SourceSpan
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import (
    LONGEST_FIELD,
    Record,
    RecordError,
    open_text,
    parquet_records,
    reporting,
    shown,
    shown_names,
    tidy,
)
from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.loaders.languages.registry import SEVERAL
from coherencegym.loaders.registry import corpus as registered
from coherencegym.loaders.text.articles import (
    COLUMNS,
    USUAL_SHAPE,
    Origin,
    Shape,
    article_discourse,
    first_column,
)
from coherencegym.loaders.text.sections import marked_blocks, sectioned_discourse

#: The name of a corpus of the user's own texts, plain or annotated.
OWN = "own"
#: The split of what no name puts into one.
UNSPLIT = "unsplit"
#: Names of splits, in reading order; the first name is the one that they get.
_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test",),
}
_BY_NAME = {name: split for split, names in _SPLITS.items() for name in names}
#: The usual names of a column of texts, the likeliest first.
TEXT_COLUMNS = ("text", "document", "story", "content", "article", "body", "sentences")
#: Rows by which a column is chosen.
_LOOKED_AT = 200

_JSON = (".jsonl", ".jsonl.gz")
#: Endings of files whose rows are articles, of all files of articles, and of documents.
_TABLES = (*_JSON, ".csv", ".tsv", ".parquet")
_READABLE = (".txt", *_TABLES)
_MARKDOWN = (".md", ".markdown")
#: Characters of a Markdown file; a longer one is no document.
_LONGEST = 2_000_000


def named_split(path: Path) -> str | None:
    """The split that a file's folder says, or the first or last word of a table's name, if any.

    >>> named_split(Path("mine/dev/one.txt")), named_split(Path("tales_test.csv"))
    ('validation', 'test')
    """
    words = [path.parent.name.lower()]
    if path.name.lower().endswith(_TABLES):
        name = re.split("[-_.]", _stem(path).lower())
        words += [name[0], name[-1]]
    return next((_BY_NAME[word] for word in words if word in _BY_NAME), None)


def _read(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    *,
    shape: Shape,
    columns: Mapping[Path, str] | None = None,
    root: Path | None = None,
) -> Iterator[Discourse]:
    """Read a text file, or a table of texts.

    Args:
        columns: the columns of tables that hold the texts; none: ``text``, ``article`` or
            ``sentences``.
        root: the folder from which ids are counted; none: the file's own.
    """
    if file.path.name.lower().endswith(_TABLES):
        column = (columns or {}).get(file.path)
        said = options.memory.setdefault("said", set())
        options = _Once(options.skip_bad_rows, options.skipped, options.memory, said)
        # The name of the file, or its folder's, says the split; elsewhere the rows do.
        named = named_split(file.path)
        for record in _table_records(file, options):
            source = SourceSpan(file.path.name, record.line, record.line)
            identifier = f"{_stem(file.path, root)}-{record.number:06d}"
            with reporting(record.place, options):
                split = file.split if named else _split_of_row(record.values.get("split"))
                if split != file.split:
                    continue
                named_column = first_column(record.values, [column] if column else COLUMNS)
                origin = Origin(corpus.name, identifier, source, split)
                if found := article_discourse(record.values, named_column, origin, options, shape):
                    yield found
        return
    is_markdown = file.path.suffix.lower() in _MARKDOWN
    try:
        with open_text(file) as text:
            content = text.read(_LONGEST + 1 if is_markdown else LONGEST_FIELD)
    except CorpusError as error:
        options.bad(str(error), "text file that cannot be decoded")
        return
    lines = (content if is_markdown else content.rstrip()).count("\n") + 1
    source = SourceSpan(file.path.name, 1, lines)
    origin = Origin(corpus.name, _stem(file.path, root), source, file.split)
    made: Discourse | None = None
    with reporting(f"{file.path}:1", options):
        if is_markdown:
            if len(content) > _LONGEST:
                problem = f"more than {_LONGEST:,} characters, expected a document"
                raise RecordError(problem, "overlong file")
            made = sectioned_discourse(origin, marked_blocks(content), options, shape)
        else:
            if not content.strip():
                problem = "nothing but white space, expected an article"
                raise RecordError(problem, "empty text file")
            if len(content) == LONGEST_FIELD and "\n" not in content:
                problem = f"a line of more than {LONGEST_FIELD:,} characters, expected fewer"
                raise RecordError(problem, "overlong line")
            made = article_discourse({"text": content}, "text", origin, options, shape)
    if made is not None:
        yield made


@dataclass
class _Once(ReadOptions):
    # A file is read once for each split in it.
    said: set[str] = field(default_factory=set)

    def bad(self, message: str, reason: str) -> None:
        if message not in self.said:
            self.said.add(message)
            super().bad(message, reason)


def _table_records(file: CorpusFile, options: ReadOptions) -> Iterator[Record]:
    """The rows of a table; of CSV and TSV the row's number stands for its line."""
    if file.path.name.lower().endswith(_JSON):
        yield from json_records(file, options)
    elif file.path.suffix.lower() == ".parquet":
        yield from parquet_records(file)
    else:
        for number, values in enumerate(read_frame(file.path).to_dict("records"), 1):
            yield Record(number, number, f"{file.path}: row {number}", values)


def _stem(path: Path, root: Path | None = None) -> str:
    name = path.name if root is None else path.relative_to(root).as_posix()
    ending = next(
        (ending for ending in (*_READABLE, *_MARKDOWN) if name.lower().endswith(ending)), ""
    )
    return tidy(name[: len(name) - len(ending)]) or name


def _split_of_row(value: object) -> str:
    """The split that a row's column ``split`` names; ``RecordError`` if it is none."""
    name = UNSPLIT if value is None else tidy(str(value)).lower() or UNSPLIT
    if name not in _BY_NAME and name != UNSPLIT:
        expected = ", ".join((*_SPLITS, UNSPLIT))
        problem = f"split is {shown(str(value))}, expected one of {expected}"
        raise RecordError(problem, "unknown split")
    return _BY_NAME.get(name, name)


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
    files, others = _readable_files(path, lambda one: one.name.lower().endswith(_READABLE))
    if not files:
        said = f"--texts {path}: no texts, found {others or 'nothing'}; expected"
        if any((path / name).is_file() for name in ("dataset_info.json", "dataset_dict.json")):
            raise CorpusError(f"{said} --hub-dataset {path} for a saved dataset")
        raise NoTextsError(f"{said} files that end in {', '.join(_READABLE)}")
    columns: dict[Path, str] = {}
    found: list[CorpusFile] = []
    for one in files:
        splits = {named_split(one)}
        if one.name.lower().endswith(_TABLES):
            columns[one], in_rows = _look_into(one, column)
            splits = splits if None not in splits else in_rows
        found += [CorpusFile(one, split or UNSPLIT) for split in splits]
    if column is not None and not columns:
        raise CorpusError(f"--text-column {column}: {path} has no table; expected no --text-column")
    reader = partial(_read, shape=shape, columns=columns, root=_root(path))
    said = ""
    if named := dict.fromkeys(columns.values()):
        said = ", column " + ", ".join(map(repr, named))
        said += "" if column else " (--text-column names another)"
    said += f"; of each a document of {shape.fewest} to {shape.most} sentences (--sentences)"
    corpus = _own_corpus(path, found, reader, licence, shape.language)
    return OwnTexts(corpus, _said(path, files, said, others))


def sectioned_texts(path: Path, shape: Shape, *, licence: str = "") -> OwnTexts:
    """Declare Markdown files of one's own as a corpus, as above; no document is cut."""
    files, others = _readable_files(path, lambda one: one.suffix.lower() in _MARKDOWN)
    if not files:
        raise CorpusError(
            f"--texts {path} --genre sections: found {others or 'nothing'}; expected files that "
            f"end in {' or '.join(_MARKDOWN)}"
        )
    found = [CorpusFile(one, named_split(one) or UNSPLIT) for one in files]
    reader = partial(_read, shape=shape, root=_root(path))
    corpus = _own_corpus(path, found, reader, licence, shape.language)
    return OwnTexts(corpus, _said(path, files, ", read with their headings", others))


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
    left = _counted(_readable_files(path, lambda file: file not in read)[0])
    return OwnTexts(corpus, _said(path, files, f", read as {name}", left))


def _said(path: Path, files: Iterable[Path], how: str, left: str) -> str:
    return f"texts: {_counted(files)} ({path}){how}" + (f"; not read: {left}" if left else "")


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
    order = [*_SPLITS, UNSPLIT]
    return Corpus(
        name=OWN,
        title=f"Own texts ({path.resolve().name}){about}",
        homepage="",
        citation="",
        obtain=f"the builder's own files ({path.resolve().name})",
        proven="",
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
        raise CorpusError(
            f"--texts {path}: no such file or folder; expected a file of texts or a folder of them"
        )
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
    for number, record in enumerate(_table_records(CorpusFile(path, UNSPLIT), options)):
        names |= dict.fromkeys(record.values)
        try:
            splits.add(_split_of_row(record.values.get("split")))
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


def _patterns() -> Iterator[FilePattern]:
    for split, names in _SPLITS.items():
        for name in names:
            for suffix in (".txt", *_JSON):
                yield FilePattern(f"{name}/*{suffix}", split, f"{split}/*.(txt|jsonl[.gz])")
            for suffix in _JSON:
                for glob in (f"{name}[-_.]*{suffix[1:]}", f"*[-_.]{name}{suffix}"):
                    yield FilePattern(glob, split, f"{split}.jsonl[.gz]")
    # Files that may hold rows of all splits come last.
    yield FilePattern("*.txt", UNSPLIT)
    for split in (*_SPLITS, UNSPLIT):
        for suffix in _JSON:
            yield FilePattern(f"*{suffix}", split, "*.jsonl[.gz]")


def documents_corpus(shape: Shape = USUAL_SHAPE, licence: str = "") -> Corpus:
    """The corpus of one's own documents.

    Args:
        shape: the shape of a document.
        licence: SPDX identifier of the licence of the articles, if one knows it. Without it, or
            where it does not allow it, nothing that is made of them may be published.
    """
    return Corpus(
        name="documents",
        title="Short documents from a collection of articles",
        homepage="https://aclanthology.org/2021.tacl-1.38",
        # Of the procedure: the articles are the user's own.
        citation="shen-etal-2021-evaluating",
        **licence_fields(licence or None),
        language=shape.language,
        obtain=(
            "save articles as text files (.txt) or JSON lines (.jsonl, .jsonl.gz; column text, "
            "optional columns id, title, domain, split) in any folder and give it with --texts, "
            "or in a folder called documents and give its parent folder with --data-dir"
        ),
        proven="",
        patterns=tuple(_patterns()),
        reader=partial(_read, shape=shape),
        producers="The authors of the articles, which the builder of the dataset collected.",
        source_datasets=("extended|other-documents",),
        collected=True,
        own_folder=True,
    )


OWN_DOCUMENTS = documents_corpus()
