"""Any dataset on the Hugging Face Hub, or a local folder laid out like one, as a corpus.

The dataset needs one column that holds a discourse: a list of sentences (strings), a list of turns,
or plain text. Turns are strings, whose speakers are then ``A`` and ``B`` by turns, or dictionaries
with the text under one of :data:`TEXT_FIELDS` and the speaker under one of :data:`SPEAKER_FIELDS`.
Rows without text are left out and counted.

It is streamed: what is not asked for is not downloaded. Parquet files can be read in shards, each
by another worker, with the same rows, ids and numbers. A name such as ``main`` is resolved to a
commit once, and everything is read at that commit; code in the repository is never run
(``datasets`` refuses it).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.files.dataset_files import builder_of, parquet_file, parquet_rows, rows_of
from coherencegym.files.frames import blank_file
from coherencegym.hub.answers import unread
from coherencegym.licence import licence_fields
from coherencegym.loaders.corpora.hub.spans import SPAN_COLUMNS, read_span_row
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions, Shard
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import LineError, shown, shown_names, text_problem, tidy
from coherencegym.loaders.text.articles import (
    COLUMNS,
    COLUMNS_BESIDE,
    EMPTY_TEXT,
    Shape,
    read_article_row,
)
from coherencegym.loaders.text.papers import ABSTRACT_COLUMN, BODY_COLUMNS, read_paper_row
from coherencegym.loaders.text.sections import SECTION_COLUMNS, TITLES, read_section_row
from coherencegym.loaders.text.sentences import TooLongError, split_sentences

_KINDS = ("auto", "sentences", "turns", "text")
TEXT_FIELDS = ("text", "content", "value")
SPEAKER_FIELDS = ("speaker", "role", "from")
#: Rows that a shard has at least, where its file has as many.
_SHARD_ROWS = 10_000

#: Corpus, file, row number, row, options -> the discourse of the row, if it makes one.
_RowReader = Callable[[Corpus, CorpusFile, int, Mapping[str, Any], ReadOptions], Discourse | None]


def hub_corpus(
    repo: str,
    *,
    column: str | None = None,
    config: str | None = None,
    split: str | None = None,
    revision: str | None = None,
    pipeline: str | None = None,
    id_column: str | None = None,
    kind: str = "auto",
    articles: Shape | None = None,
    papers: bool = False,
    spans: bool = False,
    sections: bool = False,
    licence: str | None = None,
) -> Corpus:
    """Declare a dataset as a corpus, from what its card says. Asks the Hub, downloads no rows.

    Args:
        repo: ``org/name`` on the Hub, or a folder with parquet, JSON lines or the like.
        column: the column that holds the discourses; none, of articles only: the first of
            :data:`loaders.text.articles.COLUMNS` that is there, and of papers' bodies that of
            :data:`loaders.text.papers.BODY_COLUMNS`.
        config: the dataset's configuration; needed where it has several and no default.
        split: the only split wanted; none: every split.
        revision: tag, branch or commit on the Hub; none: its newest commit.
        pipeline: name of an installed spaCy pipeline that splits plain text into sentences; none:
            spaCy's rule-based sentencizer for the card's language.
        id_column: the column with the ids; none: ``<split>-<row, six digits>``, from 1; of articles
            the column ``id`` where there is one.
        kind: ``sentences``, ``turns`` or ``text``; ``auto`` goes by the type of each row's value.
        articles: rows are articles, to be made into short documents (:mod:`loaders.text.articles`);
            their language and pipeline are those named here, not the shape's.
        papers: rows are papers with an abstract and a body (:mod:`loaders.text.papers`).
        spans: rows are texts with a hypothesis and evidence (:mod:`loaders.corpora.hub.spans`).
        sections: rows are documents with headings (:mod:`loaders.text.sections`).
        licence: SPDX identifier to go by instead of the card's.

    Returns:
        A corpus for :func:`loaders.read.read`. Its name is the dataset's, its licence the card's;
        where that is not known to allow it, ``republishable`` is false.

    Raises:
        CorpusError: the dataset, revision, configuration, split or column is not there, or the Hub
            cannot be reached.
    """
    local = Path(repo).is_dir()
    if problem := _request_problem(
        local, column, revision, kind, bool(articles or papers or spans or sections)
    ):
        raise CorpusError(f"{repo}: {problem}")
    sha = "" if local else _commit(repo, revision)
    builder = _builder(repo, config, sha)
    card = _card(repo, sha)
    language = _language(card, config)
    reader: _RowReader
    asked: tuple[str, ...] = ()
    if articles is not None:
        asked = (*COLUMNS_BESIDE, *(() if column else COLUMNS))
        shape = replace(articles, language=language, pipeline=pipeline)
        reader = partial(read_article_row, shape=shape, column=column, id_column=id_column)
    elif papers or sections:
        asked = (ABSTRACT_COLUMN, *BODY_COLUMNS) if papers else (*SECTION_COLUMNS, *TITLES)
        named: dict[str, Any] = {"column": column, "id_column": id_column, "language": language}
        read_one = read_paper_row if papers else read_section_row
        reader = partial(read_one, pipeline=pipeline, **named)
    elif spans:
        asked = SPAN_COLUMNS
        reader = partial(read_span_row, id_column=id_column)
    else:
        row_format = _RowFormat(column or "", id_column, kind, language, pipeline)
        reader = partial(_read_row, row_format=row_format)
    columns = frozenset(filter(None, (*asked, column, id_column)))
    stated = [licence] if licence else [card.get(f"license{end}") for end in ("", "_name", "_link")]
    return Corpus(
        name=_name(repo, config),
        title=str(card.get("pretty_name") or repo.rstrip("/").rsplit("/", 1)[-1]),
        homepage="" if local else f"https://huggingface.co/datasets/{repo}",
        citation="",
        **licence_fields(*stated),
        language=language,
        # Of a folder only its name: this text is published.
        obtain=f"the folder {Path(repo).name}" if local else f"{repo} on the Hugging Face Hub",
        patterns=(),
        reader=partial(_read, builder=builder, columns=columns, read_one=reader),
        shards=partial(_shards, builder=builder),
        shard_reader=partial(_read_shard, columns=columns, read_one=reader),
        source_datasets=() if local else (f"extended|{repo}",),
        collected=not spans,
        files=tuple(
            CorpusFile(Path(repo), name, tuple(map(Path, parts)) if local else (), sha)
            for name, parts in _wanted(builder, repo, split).items()
        ),
    )


def _request_problem(
    local: bool, column: str | None, revision: str | None, kind: str, has_own_columns: bool
) -> str:
    if kind not in _KINDS:
        return f"kind is {kind!r}, expected one of {', '.join(_KINDS)}"
    if column is None and not has_own_columns:
        plain = ", or --texts in place of --hub-dataset" * local
        what = "expected --text-column with the one that holds the discourses"
        return f"no column named; {what}{plain}"
    if local and revision is not None:
        return f"a folder has no revision {revision!r}; leave it out"
    return ""


def _read(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    *,
    builder: Any,
    columns: frozenset[str],
    read_one: _RowReader,
) -> Iterator[Discourse]:
    rows = rows_of(builder, file.split, columns)
    yield from _discourses(corpus, file, options, read_one, rows)


def _read_shard(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    *,
    columns: frozenset[str],
    read_one: _RowReader,
) -> Iterator[Discourse]:
    assert file.shard is not None
    rows = parquet_rows(file.shard.address, columns, file.shard.groups)
    yield from _discourses(corpus, file, options, read_one, rows, file.shard.first)


def _discourses(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    read_one: _RowReader,
    rows: Iterator[Mapping[str, Any]],
    first: int = 1,
) -> Iterator[Discourse]:
    for number, row in enumerate(_readable(file, rows), first):
        if (discourse := read_one(corpus, file, number, row, options)) is not None:
            yield discourse


def _readable(file: CorpusFile, rows: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    try:
        yield from rows
    except Exception as error:  # pyarrow's, json's, the Hub client's: no common base
        raise _loading_error(str(file.path), error) from error


def _shards(file: CorpusFile, *, builder: Any) -> tuple[CorpusFile, ...]:
    addresses = [str(path) for path in builder.config.data_files[file.split]]
    if not all(address.endswith(".parquet") for address in addresses):
        return ()
    first, made = 1, []
    for address in addresses:
        groups: list[int] = []
        rows = 0
        try:
            with parquet_file(address) as opened:
                about = opened.metadata
        except Exception as error:  # pyarrow's, fsspec's, the Hub client's: no common base
            raise _loading_error(str(file.path), error) from error
        for group in range(about.num_row_groups):
            groups.append(group)
            rows += about.row_group(group).num_rows
            if rows >= _SHARD_ROWS or group == about.num_row_groups - 1:
                made.append(replace(file, shard=Shard(address, tuple(groups), first)))
                groups, first, rows = [], first + rows, 0
    return tuple(made)


def _wanted(builder: Any, repo: str, split: str | None) -> dict[str, list[str]]:
    splits = {str(name): list(files) for name, files in builder.config.data_files.items()}
    if split is not None and split not in splits:
        raise CorpusError(f"{repo}: no split {split!r}; its splits are {', '.join(splits)}")
    return splits if split is None else {split: splits[split]}


def _commit(repo: str, revision: str | None) -> str:
    from huggingface_hub import HfApi

    try:
        sha = HfApi().dataset_info(repo, revision=revision).sha
    except Exception as error:
        # Besides the Hub's errors, whatever the client's transport raises.
        at = f" at {revision!r}" if revision else ""
        raise CorpusError(
            f"{repo}{at}: no such folder, and {unread(error, repo, 'dataset')}"
        ) from error
    assert sha is not None  # the Hub always sends it
    return sha


def _builder(repo: str, config: str | None, sha: str) -> Any:
    try:
        builder = builder_of(repo, config, sha or None)
    except Exception as error:  # missing config, no data files, a script, ...: no common base
        raise _loading_error(repo, error) from error
    files = [str(path) for paths in builder.config.data_files.values() for path in paths]
    if sha and not all(f"@{sha}/" in path for path in files):
        # When the Hub cannot be reached, datasets silently falls back to whatever it has cached.
        raise CorpusError(f"{repo}: commit {sha} could not be read from the Hub, try again")
    return builder


def _loading_error(repo: str, error: Exception) -> CorpusError:
    reason = blank_file(Path(repo)) or next(iter(str(error).splitlines()), "")
    reason = reason or type(error).__name__
    return CorpusError(f"{repo}: cannot be loaded ({reason})")


def _card(repo: str, sha: str) -> Mapping[str, Any]:
    from huggingface_hub import RepoCard, hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        if sha:
            path = Path(hf_hub_download(repo, "README.md", repo_type="dataset", revision=sha))
        else:
            path = Path(repo) / "README.md"
        return vars(RepoCard(path.read_text(encoding="utf-8"), ignore_metadata_errors=True).data)
    except (EntryNotFoundError, OSError, ValueError):
        return {}


def _language(card: Mapping[str, Any], config: str | None) -> str:
    stated = card.get("language")
    codes = stated if isinstance(stated, list) else [stated] if stated else []
    names = [str(code) for code in codes] or ["en"]
    if len(names) == 1:
        return names[0]
    # Of several the one in the configuration's name (``20231101.en``).
    named = [part for part in re.split(r"[^a-z]+", (config or "").lower()) if part in names]
    return named[-1] if named else "en" if "en" in names else names[0]


def _name(repo: str, config: str | None) -> str:
    last = repo.rstrip("/").rsplit("/", 1)[-1]
    parts = [last] if config in (None, "default") else [last, str(config)]
    return re.sub(r"[^a-z0-9]+", "_", "_".join(parts).lower()).strip("_") or "hub"


@dataclass(frozen=True, slots=True)
class _RowFormat:
    column: str
    id_column: str | None
    kind: str
    language: str
    pipeline: str | None


def _read_row(
    corpus: Corpus,
    file: CorpusFile,
    number: int,
    row: Mapping[str, Any],
    options: ReadOptions,
    *,
    row_format: _RowFormat,
) -> Discourse | None:
    for column in (row_format.column, row_format.id_column):
        if column is not None and column not in row:
            problem = f"no column {column!r}; the columns are {shown_names(row)}"
            raise CorpusError(f"{file.path}:{number}: {problem}")
    identifier = f"{file.split}-{number:06d}"
    if row_format.id_column is not None:
        value = row[row_format.id_column]
        identifier = "" if value is None else tidy(str(value))
    source = SourceSpan(file.path.name, number, number)
    try:
        if not identifier:
            problem = f"{row_format.id_column} is empty, expected an id"
            raise LineError(number, problem, "empty id")
        units = tuple(_units(row[row_format.column], row_format, source, options))
        if not units:
            options.skipped[EMPTY_TEXT] += 1
            return None
        for text in (identifier, *(unit.text for unit in units)):
            if unusable := text_problem(text):
                raise LineError(number, *unusable)
    except LineError as error:
        error.report(file, options)
        return None
    return Discourse(identifier, corpus.name, units, meta={"split": file.split})


def _units(
    value: Any, row_format: _RowFormat, source: SourceSpan, options: ReadOptions
) -> Iterator[Unit]:
    if isinstance(value, Mapping):  # how older versions of datasets give a list of dictionaries
        value = _by_item(value)
    if value is None:
        return
    kind = row_format.kind if row_format.kind != "auto" else _kind(value)
    if kind == "text":
        if not isinstance(value, str):
            raise _wrong_type(row_format, value, "text", source)
        try:  # an empty line always ends a sentence, as after a heading
            how = row_format.language, row_format.pipeline, options
            for sentence in split_sentences(value, *how):
                yield Unit(sentence, source=source)
        except TooLongError as error:
            raise LineError(source.start, str(error), "overlong field") from None
        return
    if not isinstance(value, list):
        raise _wrong_type(row_format, value, f"a list of {kind}", source)
    for place, item in enumerate(value):
        text, speaker = item, "AB"[place % 2] if kind == "turns" else None
        if kind == "turns" and isinstance(item, Mapping):
            text, speaker = _field(item, TEXT_FIELDS), _field(item, SPEAKER_FIELDS)
        if not isinstance(text, str):
            raise _wrong_type(row_format, item, f"text in a list of {kind}", source)
        if tidy(text):
            yield Unit(tidy(text), None if speaker is None else str(speaker), source)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    dictionaries = isinstance(value, list) and value and isinstance(value[0], Mapping)
    return "turns" if dictionaries else "sentences"


def _by_item(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    # ``{"text": [a, b], ...}`` to ``[{"text": a, ...}, {"text": b, ...}]``.
    lists = {name: column for name, column in value.items() if isinstance(column, list)}
    return [dict(zip(lists, items, strict=True)) for items in zip(*lists.values(), strict=False)]


def _field(item: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _wrong_type(row_format: _RowFormat, value: Any, expected: str, source: SourceSpan) -> LineError:
    found = shown(value if isinstance(value, str) else repr(value))
    problem = f"{row_format.column} has {found}, expected {expected}"
    return LineError(source.start, problem, "wrong type")
