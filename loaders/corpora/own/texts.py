"""Plain texts of one's own: text files, tables with a column of texts, or a folder of them.

A ``.txt`` file is a document, and so is a row of a table (CSV, TSV, JSON lines, parquet). They are
made into short documents as articles are: :mod:`loaders.corpora.documents` says how, and what
becomes of splits. Ids of files are their paths within the folder, without the ending.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.licence import licence_fields
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
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.formats.lines import RecordError, shown_names
from coherencegym.loaders.text.articles import Shape

#: The name of a corpus of the user's own texts, plain or annotated.
OWN = "own"
#: The usual names of a column of texts, the likeliest first.
TEXT_COLUMNS = ("text", "document", "story", "content", "article", "body", "sentences")
#: Rows by which a column is chosen.
_LOOKED_AT = 200


class NoTextsError(CorpusError):
    """Files of which none is a plain text or a table."""


@dataclass(frozen=True)
class OwnTexts:
    """A corpus of the user's own texts, and a line that says what is read and what is not."""

    corpus: Corpus
    said: str


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
    files, others = readable_files(path, lambda one: one.name.lower().endswith(READABLE))
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
    corpus = own_corpus(
        path,
        found,
        title=f"Own texts ({path.resolve().name})",
        licence=licence,
        collected=True,
        language=shape.language,
        reader=partial(
            _read, shape=shape, columns=columns, root=path if path.is_dir() else path.parent
        ),
    )
    named = Counter(columns.values())
    said = f"texts: {counted(files)} ({path})"
    if named:
        said += ", column " + ", ".join(map(repr, named))
        said += "" if column else " (--text-column names another)"
    said += f"; of each a document of {shape.fewest} to {shape.most} sentences (--sentences)"
    return OwnTexts(corpus, said + (f"; not read: {others}" if others else ""))


def own_corpus(path: Path, files: Iterable[CorpusFile], **fields: Any) -> Corpus:
    """The declaration of a corpus of the user's own files, which others cannot get."""
    order = [*SPLITS, UNSPLIT]
    return Corpus(
        name=OWN,
        homepage="",
        citation="",
        obtain=f"the builder's own files ({path.resolve().name})",
        patterns=(),
        files=tuple(sorted(files, key=lambda file: (order.index(file.split), file.path))),
        producers="The authors of the texts, which the builder of the dataset collected.",
        **licence_fields(fields.pop("licence") or None),
        **fields,
    )


def readable_files(path: Path, wanted: Callable[[Path], bool]) -> tuple[list[Path], str]:
    """The files at a path that are wanted, in order, and the endings of all others, counted."""
    if not path.exists():
        raise CorpusError(f"--texts {path}: no such file or folder")
    if not path.is_dir():
        return ([path], "") if wanted(path) else ([], counted([path]))
    inside = [one.relative_to(path) for one in sorted(path.rglob("*"))]
    visible = [one for one in inside if not any(part.startswith(".") for part in one.parts)]
    files = [path / one for one in visible if (path / one).is_file()]
    return [one for one in files if wanted(one)], counted(one for one in files if not wanted(one))


def counted(files: Any) -> str:
    """Files counted by their endings.

    >>> counted([Path("a.txt"), Path("b.txt"), Path("c.pdf"), Path("d")])
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
