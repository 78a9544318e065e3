"""Collections of articles, as short documents: folders of text files, and JSON lines.

Each ``.txt`` file is an article; its id is its name without the suffix. In ``.jsonl`` and
``.jsonl.gz`` files (one object a line, or one array) each object is one, with its text under
``text`` or ``article``, or its sentences under ``sentences``, and, if there are any, ``id``,
``title``, ``domain`` and ``split``. Without an ``id`` it is ``<name of the file>-<record, six
digits>``. What becomes of an article is in :mod:`loaders.text.articles`.

The split is what the folder (``train/``, ``validation/``, ``test/``) or the name of the file says
(``train.jsonl``, ``test-1.jsonl.gz``); elsewhere the ``split`` of the object, or ``unsplit``. Of
near-duplicates the first in reading order stays, whatever the splits: train, validation, test.

As any file could be somebody's document, files are looked for only in a folder that is called
``documents``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from coherencegym.licence import licence_fields
from coherencegym.loaders.corpora.insted.documents import SHEN_2021
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import LONGEST_FIELD, RecordError, open_text, shown, tidy
from coherencegym.loaders.text.articles import (
    Article,
    Shape,
    article_of_row,
    discourse_of,
)

_UNSPLIT = "unsplit"

#: Names of splits, in reading order; the first name is the one that they get.
_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test",),
}
_BY_NAME = {name: split for split, names in _SPLITS.items() for name in names}

_SHAPE = Shape()
_JSON = (".jsonl", ".jsonl.gz")
_NAMED = re.compile(rf"(?:{'|'.join(_BY_NAME)})[-_.].*jsonl(?:\.gz)?\Z", re.IGNORECASE)
_SUFFIX = re.compile(r"\.(?:txt|jsonl|jsonl\.gz)\Z", re.IGNORECASE)


def read_articles(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, *, shape: Shape
) -> Iterator[Discourse]:
    """Read a text file, or one of JSON objects."""
    if file.path.name.lower().endswith(_JSON):
        yield from _read_records(corpus, file, options, shape)
        return
    try:
        with open_text(file) as text:
            content = text.read(LONGEST_FIELD)
    except CorpusError as error:
        options.bad(str(error), "text file that cannot be decoded")
        return
    source = SourceSpan(file.path.name, 1, content.rstrip().count("\n") + 1)
    article = Article(_stem(file), content, source, file.split)
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


def _read_records(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, shape: Shape
) -> Iterator[Discourse]:
    said = options.memory.setdefault("said", set())
    options = _Once(options.skip_bad_rows, options.skipped, options.memory, said)
    # The name of the file, or its folder's, says the split; elsewhere the rows do.
    named = _NAMED.match(file.path.name) or file.path.parent.name.lower() in _BY_NAME
    for record in json_records(file, options):
        source = SourceSpan(file.path.name, record.line, record.line)
        identifier = f"{_stem(file)}-{record.number:06d}"
        try:
            split = file.split if named else _split(record.values.get("split"))
            if split != file.split:
                continue
            article = article_of_row(record.values, identifier, source, split)
            made = discourse_of(corpus, article, shape, options)
        except RecordError as bad:
            bad.report(record.place, options)
            continue
        if made is not None:
            yield made


def _stem(file: CorpusFile) -> str:
    return tidy(_SUFFIX.sub("", file.path.name)) or file.path.name


def _split(value: object) -> str:
    name = _UNSPLIT if value is None else tidy(str(value)).lower() or _UNSPLIT
    if name not in _BY_NAME and name != _UNSPLIT:
        expected = ", ".join((*_SPLITS, _UNSPLIT))
        problem = f"split is {shown(str(value))}, expected one of {expected}"
        raise RecordError(problem, "unknown split")
    return _BY_NAME.get(name, name)


def _patterns() -> Iterator[FilePattern]:
    for split, names in _SPLITS.items():
        for name in names:
            for suffix in (".txt", *_JSON):
                yield FilePattern(f"{name}/*{suffix}", split, f"{split}/*.(txt|jsonl[.gz])")
            for suffix in _JSON:
                yield FilePattern(f"{name}[-_.]*{suffix[1:]}", split, f"{split}.jsonl[.gz]")
    # Files that may hold rows of all splits come last.
    yield FilePattern("*.txt", _UNSPLIT)
    for split in (*_SPLITS, _UNSPLIT):
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
            "put articles as text files (.txt) or JSON lines (.jsonl, .jsonl.gz; columns text, and "
            "id, title, domain, split if there are any) into a folder called documents, and name "
            "the folder around it with --data-dir"
        ),
        patterns=tuple(_patterns()),
        reader=partial(read_articles, shape=shape),
        producers="The authors of the articles, which are the builder's own collection.",
        source_datasets=("extended|other-documents",),
        own_folder=True,
    )


CORPUS = documents_corpus()
