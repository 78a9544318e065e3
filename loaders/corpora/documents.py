"""Collections of articles, as short documents: folders of text files, and JSON lines.

Each ``.txt`` file is an article; its id is its name without the suffix. In ``.jsonl`` and
``.jsonl.gz`` files (one object a line, or one array) each object is one, with its text under
``text`` or ``article``, or its sentences under ``sentences``, and, if there are any, ``id``,
``title``, ``domain`` and ``split``. Without an ``id`` it is ``<name of the file>-<record, six
digits>``. What becomes of an article is in :mod:`loaders.text.articles`.

The split is what the folder (``train/``, ``validation/``, ``test/``) or the name of the file says
(``train.jsonl``, ``test-1.jsonl.gz``, ``tales_test.jsonl``); elsewhere the ``split`` of the object,
or ``unsplit``. Of near-duplicates the first in reading order stays, whatever the splits: train,
validation, test.

As any file could be somebody's document, files are looked for only in a folder that is called
``documents``. Any other folder, and tables, are one's own texts (:mod:`loaders.corpora.own`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from coherencegym.files.frames import read_frame
from coherencegym.licence import licence_fields
from coherencegym.loaders.corpora.insted import SHEN_2021
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import (
    LONGEST_FIELD,
    Record,
    RecordError,
    open_text,
    parquet_records,
    shown,
    tidy,
)
from coherencegym.loaders.text.articles import (
    COLUMNS,
    Article,
    Origin,
    Shape,
    article_of_row,
    discourse_of,
    first_column,
)

#: The split of what no name puts into one.
UNSPLIT = "unsplit"

#: Names of splits, in reading order; the first name is the one that they get.
SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test",),
}
_BY_NAME = {name: split for split, names in SPLITS.items() for name in names}

_SHAPE = Shape()
_TEXT = ".txt"
_JSON = (".jsonl", ".jsonl.gz")
#: Endings of files whose rows are articles.
TABLE_ENDINGS = (*_JSON, ".csv", ".tsv", ".parquet")
#: Endings of all files that are read.
READABLE = (_TEXT, *TABLE_ENDINGS)


def named_split(path: Path) -> str | None:
    """The split that a file's folder says, or the first or last word of a table's name, if any.

    >>> named_split(Path("mine/dev/one.txt")), named_split(Path("tales_test.csv"))
    ('validation', 'test')
    """
    words = [path.parent.name.lower()]
    if path.name.lower().endswith(TABLE_ENDINGS):
        name = re.split("[-_.]", _stem(path).lower())
        words += [name[0], name[-1]]
    return next((_BY_NAME[word] for word in words if word in _BY_NAME), None)


def read_articles(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    *,
    shape: Shape,
    column: str | None = None,
    root: Path | None = None,
) -> Iterator[Discourse]:
    """Read a text file, or a table of texts.

    Args:
        column: the column of a table that holds the texts; none: ``text``, ``article`` or
            ``sentences``.
        root: the folder from which ids are counted; none: the file's own.
    """
    if file.path.name.lower().endswith(TABLE_ENDINGS):
        yield from _read_records(corpus, file, options, shape, column, root)
        return
    try:
        with open_text(file) as text:
            content = text.read(LONGEST_FIELD)
    except CorpusError as error:
        options.bad(str(error), "text file that cannot be decoded")
        return
    source = SourceSpan(file.path.name, 1, content.rstrip().count("\n") + 1)
    article = Article(Origin(_stem(file.path, root), source, file.split), content)
    try:
        if not content.strip():
            problem = "nothing but white space, expected an article"
            raise RecordError(problem, "empty text file")
        if len(content) == LONGEST_FIELD and "\n" not in content:
            problem = f"a line of more than {LONGEST_FIELD:,} characters, expected fewer"
            raise RecordError(problem, "overlong line")
        made = discourse_of(corpus, article, shape, options)
    except RecordError as bad:
        bad.report(f"{file.path}:1", options)
        return
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


def table_records(file: CorpusFile, options: ReadOptions) -> Iterator[Record]:
    """The rows of a table; of CSV and TSV the row's number stands for its line."""
    if file.path.name.lower().endswith(_JSON):
        yield from json_records(file, options)
    elif file.path.suffix.lower() == ".parquet":
        yield from parquet_records(file)
    else:
        for number, values in enumerate(read_frame(file.path).to_dict("records"), 1):
            yield Record(number, number, f"{file.path}: row {number}", values)


def _read_records(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    shape: Shape,
    column: str | None,
    root: Path | None,
) -> Iterator[Discourse]:
    said = options.memory.setdefault("said", set())
    options = _Once(options.skip_bad_rows, options.skipped, options.memory, said)
    # The name of the file, or its folder's, says the split; elsewhere the rows do.
    named = named_split(file.path)
    for record in table_records(file, options):
        source = SourceSpan(file.path.name, record.line, record.line)
        identifier = f"{_stem(file.path, root)}-{record.number:06d}"
        try:
            split = file.split if named else split_of_row(record.values.get("split"))
            if split != file.split:
                continue
            named_column = first_column(record.values, [column] if column else COLUMNS)
            origin = Origin(identifier, source, split)
            article = article_of_row(record.values, named_column, origin)
            made = discourse_of(corpus, article, shape, options)
        except RecordError as bad:
            bad.report(record.place, options)
            continue
        if made is not None:
            yield made


def _stem(path: Path, root: Path | None = None) -> str:
    name = path.name if root is None else path.relative_to(root).as_posix()
    ending = next((ending for ending in READABLE if name.lower().endswith(ending)), "")
    return tidy(name[: len(name) - len(ending)]) or name


def split_of_row(value: object) -> str:
    """The split that a row's column ``split`` names; ``RecordError`` if it is none."""
    name = UNSPLIT if value is None else tidy(str(value)).lower() or UNSPLIT
    if name not in _BY_NAME and name != UNSPLIT:
        expected = ", ".join((*SPLITS, UNSPLIT))
        problem = f"split is {shown(str(value))}, expected one of {expected}"
        raise RecordError(problem, "unknown split")
    return _BY_NAME.get(name, name)


def _patterns() -> Iterator[FilePattern]:
    for split, names in SPLITS.items():
        for name in names:
            for suffix in (".txt", *_JSON):
                yield FilePattern(f"{name}/*{suffix}", split, f"{split}/*.(txt|jsonl[.gz])")
            for suffix in _JSON:
                for glob in (f"{name}[-_.]*{suffix[1:]}", f"*[-_.]{name}{suffix}"):
                    yield FilePattern(glob, split, f"{split}.jsonl[.gz]")
    # Files that may hold rows of all splits come last.
    yield FilePattern("*.txt", UNSPLIT)
    for split in (*SPLITS, UNSPLIT):
        for suffix in _JSON:
            yield FilePattern(f"*{suffix}", split, "*.jsonl[.gz]")


def documents_corpus(shape: Shape = _SHAPE, licence: str = "") -> Corpus:
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
        citation=SHEN_2021,
        **licence_fields(licence or None),
        language=shape.language,
        obtain=(
            "save articles as text files (.txt) or JSON lines (.jsonl, .jsonl.gz; column text, "
            "optional columns id, title, domain, split) in any folder and give it with --texts, "
            "or in a folder called documents and give its parent folder with --data-dir"
        ),
        patterns=tuple(_patterns()),
        reader=partial(read_articles, shape=shape),
        producers="The authors of the articles, which the builder of the dataset collected.",
        source_datasets=("extended|other-documents",),
        collected=True,
        own_folder=True,
    )


CORPUS = documents_corpus()
