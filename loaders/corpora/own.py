"""Texts of one's own: plain ones, Markdown with headings, or annotated in a format of corpora.

A ``.txt`` file is a document, and so is a row of a table (CSV, TSV, JSON lines, parquet). They are
made into short documents as articles are: :mod:`loaders.corpora.documents` says how, and what
becomes of splits. A Markdown file is a document, too, with its headings and paragraphs. Ids of
files are their paths within the folder, without the ending. Annotated texts are read by the readers
of corpora.

``T`` lines are mentions: type, offsets of characters (``0 5;10 15`` for two parts) and text. They
corefer by a relation whose type has *coref* or a word that begins with *ident*, an equivalence
(``*``), or a type that names their chain (LitBank's ``MARY_LENNOX-0``). Lines over the same
characters are one mention. Units are sentences, split as those of plain texts.

Sources: https://brat.nlplab.org/standoff.html; Bamman, Lewke and Mansoor 2020, for LitBank
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
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
from coherencegym.loaders.discourse import Discourse, Features, Mention, SourceSpan, Span, Unit
from coherencegym.loaders.formats.lines import (
    LineError,
    RecordError,
    numbered_lines,
    open_text,
    shown,
    shown_names,
    text_problem,
    tidy,
)
from coherencegym.loaders.formats.standoff import Placed, read_raw
from coherencegym.loaders.languages.language import ENGLISH, Language
from coherencegym.loaders.languages.registry import SEVERAL, language
from coherencegym.loaders.registry import corpus as registered
from coherencegym.loaders.text.articles import Origin, Shape
from coherencegym.loaders.text.sections import marked_blocks, sectioned_discourse
from coherencegym.loaders.text.sentences import split_sentences

_PART = "[0-9]{1,9} [0-9]{1,9}"
_MENTION = re.compile(rf"(T\w+)\t([^\t ]+) ({_PART}(?:;{_PART})*)\t(.+)")
_LINK = re.compile(r"(?:R[^\t ]+|\*)\t([^\t ]+)((?: [^\t ]+){2,})\s*")
#: Events, attributes, normalisations and notes, which say nothing of coreference.
_OTHER = re.compile(r"[EAMN#][^\t ]*\t")
_COREFERENCE = re.compile(r"coref|(?<![a-z])ident|^equiv$", re.IGNORECASE)  # not President_of
_NAME_OF_CHAIN = re.compile(r".+-[0-9]+")
_VISIBLE = re.compile(r"[^\s\x01-\x1f\x7f-\x9f]")
_KINDS = {"PRON": "pronoun", "PROP": "proper", "NOM": "nominal"}
_ENTITIES = {"ANIMAL": "animal", "EVENT": "event", "OBJECT": "object", "PLACE": "place"}
_ENTITIES |= dict.fromkeys(("LOC", "LOCATION", "GPE", "FAC"), "place")
_ENTITIES |= dict.fromkeys(("ORG", "ORGANIZATION", "ORGANISATION"), "organization")
_ENTITIES |= dict.fromkeys(("PER", "PERSON"), "person")


def brat_files(path: Path) -> tuple[Path, ...]:
    """The files of a document: its annotation, and its text where it is found."""
    text = path.with_suffix(".txt")
    return (path, text) if text.is_file() else (path,)


def read_brat(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a document. Anything wrong in one of its files makes it a bad one."""
    path = file.path.with_suffix(".txt")
    if not file.path.stat().st_size:  # brat makes such a file for every text
        options.skipped["documents that nobody annotated"] += 1
        return
    try:
        if not path.is_file():
            raise CorpusError(f"{file.path}: its text is missing, expected {path}")
        own = language(corpus.language)
        text = _placed(path, own, options)
        mentions = tuple(_mentions(file, text, own, options))
    except LineError as error:
        error.report(file, options)
    except CorpusError as error:
        options.bad(str(error), "malformed document")
    else:
        units = tuple(Unit(unit, source=SourceSpan(path.name, 1, 1)) for unit in text.texts)
        meta = {"split": file.split}
        yield Discourse(tidy(path.stem), corpus.name, units, mentions=mentions, meta=meta)


def _placed(path: Path, language: Language, options: ReadOptions) -> Placed:
    text = Placed(read_raw(path))
    # The splitter changes white space alone.
    visible, first = [match.start() for match in _VISIBLE.finditer(text.raw)], 0
    try:
        for sentence in split_sentences(text.raw, language.code, None, options):
            last = first + len("".join(sentence.split()))
            text.add([(visible[first], visible[last - 1] + 1)])
            first = last
    except RecordError as error:
        raise CorpusError(f"{path}:1: {error}") from None
    if not text.texts:
        raise CorpusError(f"{path}:1: no sentence, expected an annotated text")
    return text


def _mentions(
    file: CorpusFile, text: Placed, language: Language, options: ReadOptions
) -> list[Mention]:
    places: dict[str, Span] = {}  # of every T
    said: dict[Span, set[str]] = {}  # what the types say of a place
    links: list[tuple[int, list[str]]] = []
    for number, line in numbered_lines(file):
        if (problem := text_problem(line)) is not None:
            raise LineError(number, *problem)
        if mention := _MENTION.fullmatch(line):
            identifier, kind, offsets, words = mention.groups()
            if identifier in places:
                second = f"a second {identifier}, expected every mention once"
                raise LineError(number, second, "duplicate mention")
            places[identifier] = place = _span(number, offsets, words, text)
            types = said.setdefault(place, set())
            if _NAME_OF_CHAIN.fullmatch(kind):
                places.setdefault(kind, place)
                links.append((number, [identifier, kind]))
            else:
                types.update(kind.upper().split("_"))
        elif link := _LINK.fullmatch(line):
            if _COREFERENCE.search(link[1]):
                links.append((number, [one.rpartition(":")[2] for one in link[2].split()]))
            else:
                options.skipped["relations that are no coreference"] += 1
        elif line.strip() and not _OTHER.match(line):
            expected = "expected such as T1<tab>PER 0 3<tab>Ann, R1<tab>Coref Arg1:T1 Arg2:T2"
            raise LineError(number, f"{shown(line)}, {expected}", "malformed line")
    chains = _chains(places, links)
    found = [_mention(place, chains[place], said[place], text, language) for place in said]
    return sorted(found, key=lambda one: (one.span[0][:2], -one.span[-1][2]))


def _span(number: int, offsets: str, words: str, text: Placed) -> Span:
    flat = [int(offset) for offset in re.findall("[0-9]+", offsets)]
    parts = list(zip(flat[::2], flat[1::2], strict=True))
    if flat != sorted(flat) or any(start == end for start, end in parts):
        raise LineError(number, f"the span {offsets}, expected parts in order", "bad span")
    there = tidy(" ".join(text.raw[start:end] for start, end in parts))
    for at in reversed(range(1, len(parts))):  # a part ends at the end of a line, too
        if not text.raw[parts[at - 1][1] : parts[at][0]].strip():
            parts[at - 1 : at + 1] = [(parts[at - 1][0], parts[at][1])]
    try:
        span = text.span(tuple(parts))
    except LookupError:
        problem = f"the span {offsets} lies outside the text of {len(text.raw):,} characters"
        raise LineError(number, problem, "span outside the text") from None
    if there.replace(" ", "") != tidy(words).replace(" ", ""):  # parts may touch
        problem = f"at {offsets} stands {shown(there)}, expected {shown(words)}"
        raise LineError(number, problem, "text elsewhere")
    return span


def _chains(places: Mapping[str, Span], links: Iterable[tuple[int, list[str]]]) -> dict[Span, str]:
    above: dict[Span, Span] = {}

    def top(one: Span) -> Span:
        while (other := above.get(one, one)) != one:
            above[one], one = above.get(other, other), other
        return one

    for number, identifiers in links:
        for one in identifiers:
            if one not in places:
                problem = f"there is no {shown(one)}, expected the T line of a mention"
                raise LineError(number, problem, "unknown mention")
            above[top(places[one])] = top(places[identifiers[0]])
    first: dict[Span, str] = {}
    return {place: first.setdefault(top(place), name) for name, place in places.items()}


def _mention(span: Span, chain: str, said: set[str], text: Placed, language: Language) -> Mention:
    words = " ".join(text.texts[unit][start:end] for unit, start, end in span).split()
    one_word = len(words) == 1
    known = language.pronoun(words[0]) if one_word else None
    # A capital at the beginning of a sentence is no sign of a name.
    capital = words[-1][:1].isupper() and (span[0][1] > 0 or not one_word)
    guess = "pronoun" if known else "proper" if capital else "nominal"
    kind = next((kind for name, kind in _KINDS.items() if name in said), guess)
    entity = next((entity for name, entity in _ENTITIES.items() if name in said), "")
    features = replace((known if kind == "pronoun" else None) or Features(), entity=entity)
    return Mention(span, chain, kind, span if one_word else None, features)


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
    document = one.document or native.parts
    parts = {file: document(file) if document else () for file in files}
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
