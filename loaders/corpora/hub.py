"""Any dataset on the Hugging Face Hub, or a local folder laid out like one, as a corpus.

The dataset needs one column that holds a discourse: a list of sentences (strings), a list of turns,
or plain text. Turns are dictionaries with the text under one of :data:`TEXT_FIELDS` and the speaker
under one of :data:`SPEAKER_FIELDS`. Rows without text are left out and counted.

Of articles (:mod:`loaders.text.articles`), papers (:mod:`loaders.text.sections`) and documents with
headings (:mod:`loaders.text.sections`) their modules say what is made of a row. Rows of texts with
an answer and its evidence, of which comes what :mod:`loaders.corpora.judged` gives, have

- ``units``: the text, a list of strings;
- ``hypothesis``: what the text is asked about; may be empty or absent;
- ``label``: 1, true, ``entailed`` or ``entailment`` where the answer is yes; 0, false,
  ``not entailed``, ``not_entailment``, ``neutral`` or ``contradiction`` where it is no;
- ``evidence``: a list of ``[first, last]``, numbers of units from 0, both included, any of which
  suffices; empty where the answer is no; null where nobody marked it;
- ``speakers``, of each unit, ``source``, what rows have in common, and ``type``, if there are any.

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
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator

from coherencegym.errors import EvaluationError
from coherencegym.files.strict_json import Some, held
from coherencegym.files.tables import blank_file, builder_of, parquet_file, parquet_rows, rows_of
from coherencegym.hub import unread
from coherencegym.licence import licence_fields
from coherencegym.loaders.corpora.judged import ENTAILED, NOT_ENTAILED, evidence_judgement
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions, Shard
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.json_records import TidyText, WholeNumber
from coherencegym.loaders.formats.lines import RecordError, check_text, reporting, shown, tidy
from coherencegym.loaders.text.articles import (
    COLUMNS,
    COLUMNS_BESIDE,
    EMPTY_TEXT,
    USUAL_SHAPE,
    Origin,
    Shape,
    article_discourse,
    first_column,
)
from coherencegym.loaders.text.sections import (
    ABSTRACT_COLUMN,
    BODY_COLUMNS,
    SECTION_COLUMNS,
    TITLES,
    as_dictionaries,
    first_value,
    paper_discourse,
    section_row_discourse,
)

TEXT_FIELDS = ("text", "content", "value")
SPEAKER_FIELDS = ("speaker", "role", "from")
#: Rows that a shard has at least, where its file has as many.
_SHARD_ROWS = 10_000

#: Columns that rows with evidence may have.
_BESIDE = ("hypothesis", "speakers", "source", "type")
_LABELS = {
    **dict.fromkeys(("1", "true", "entailed", "entailment"), True),
    **dict.fromkeys(
        ("0", "false", "not entailed", "not_entailment", "neutral", "contradiction"), False
    ),
}


def _label(value: Any) -> bool:
    label = _LABELS.get(tidy(str(value)).lower())
    if label is None:
        raise ValueError(f"one of {', '.join(_LABELS)}")
    return label


def _word(value: Any) -> str | None:
    return None if value is None or not str(value).strip() else str(value)


_Word = Annotated[TidyText | None, BeforeValidator(_word)]


@dataclass(frozen=True)
class _EvidenceRow:
    units: Some[TidyText]
    label: Annotated[bool, PlainValidator(_label)]
    evidence: tuple[tuple[WholeNumber, WholeNumber], ...] | None
    hypothesis: _Word = None
    source: _Word = None
    type: _Word = None
    speakers: tuple[_Word, ...] | None = None

    def __post_init__(self) -> None:
        count = len(self.units)
        if self.speakers and len(self.speakers) != count:
            raise ValueError("one of speakers for each unit")
        if self.evidence is not None and bool(self.evidence) != self.label:
            raise ValueError("evidence to be a list of [first, last], [] where the label says no")
        if not all(0 <= first <= last < count for first, last in self.evidence or ()):
            raise ValueError(f"evidence to be pairs of units from 0 to {count - 1}")


#: Row, the column of the text, its origin, options, shape -> its discourse, if it makes one.
_Make = Callable[[Mapping[str, Any], str, Origin, ReadOptions, Shape], Discourse | None]


@dataclass(frozen=True)
class _Rows:
    # ``columns`` are the names that the column of the text may have, ``needed`` and ``beside``
    # other columns.
    make: _Make
    columns: tuple[str, ...]
    needed: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    shape: Shape = USUAL_SHAPE

    @property
    def asked(self) -> frozenset[str]:
        return frozenset((*self.columns, *self.needed, *self.beside))


def hub_corpus(
    repo: str,
    *,
    column: str | None = None,
    config: str | None = None,
    split: str | None = None,
    revision: str | None = None,
    genre: str = "",
    shape: Shape = USUAL_SHAPE,
    licence: str | None = None,
) -> Corpus:
    """Declare a dataset as a corpus, from what its card says. Asks the Hub, downloads no rows.

    Args:
        repo: ``org/name`` on the Hub, or a folder with parquet, JSON lines or the like.
        column: the column that holds the discourses; needed but for the genres of ``_GENRES``,
            which have names for it.
        config: the dataset's configuration; needed where it has several and no default.
        split: the only split wanted; none: every split.
        revision: tag, branch or commit on the Hub; none: its newest commit.
        genre: ``documents`` (articles, to be made into short documents), ``papers``, ``sections``
            or ``spans`` (see above); else each row is a discourse.
        shape: the shape of documents, and the spaCy pipeline that splits plain text into
            sentences; the language is the card's.
        licence: SPDX identifier to go by instead of the card's.

    Returns:
        A corpus for :func:`loaders.read.read`. Its name is the dataset's, its licence the card's;
        where that is not known to allow it, ``republishable`` is false.
    """
    local = Path(repo).is_dir()
    if column is None and genre not in _GENRES:
        plain = ", or --texts in place of --hub-dataset" * local
        what = "expected --text-column with the one that holds the discourses"
        raise CorpusError(f"{repo}: no column named; {what}{plain}")
    if local and revision is not None:
        raise CorpusError(f"{repo}: a folder has no revision {revision!r}; leave it out")
    sha = "" if local else _commit(repo, revision)
    builder = _builder(repo, config, sha)
    card = _card(repo, sha)
    language = _language(card, config)
    rows = _GENRES.get(genre, _Rows(_plain, ()))
    columns = (column,) if column and genre != "spans" else rows.columns
    rows = replace(rows, columns=columns, shape=replace(shape, language=language))
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
        proven="",
        patterns=(),
        reader=partial(_read, builder=builder, rows=rows),
        shards=partial(_shards, builder=builder),
        shard_reader=partial(_read, builder=None, rows=rows),
        source_datasets=() if local else (f"extended|{repo}",),
        collected=genre != "spans",
        files=tuple(
            CorpusFile(Path(repo), name, tuple(map(Path, parts)) if local else (), sha)
            for name, parts in _wanted(builder, repo, split).items()
        ),
    )


def _read(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, *, builder: Any, rows: _Rows
) -> Iterator[Discourse]:
    shard = file.shard
    if shard is None:
        found, first = rows_of(builder, file.split, rows.asked), 1
    else:
        found, first = parquet_rows(shard.address, rows.asked, shard.groups), shard.first
    for number, row in enumerate(_readable(file, found), first):
        place = f"{file.path}:{number}"
        try:
            names = (rows.columns, *((name,) for name in rows.needed))
            column, *_ = (first_column(row, each) for each in names)
        except RecordError as missing:  # from every row, not from this one
            raise CorpusError(f"{place}: {missing}") from None
        source = SourceSpan(file.path.name, number, number)
        origin = Origin(corpus.name, f"{file.split}-{number:06d}", source, file.split)
        with reporting(place, options):
            if discourse := rows.make(row, column, origin, options, rows.shape):
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


def _plain(
    row: Mapping[str, Any], column: str, origin: Origin, options: ReadOptions, shape: Shape
) -> Discourse | None:
    value = as_dictionaries(row[column])
    if value is None:
        texts: list[tuple[str, str | None]] = []
    elif isinstance(value, str):
        # An empty line always ends a sentence, as after a heading.
        texts = [(sentence, None) for sentence in shape.split(value, options)]
    else:
        texts = list(_turns(value, column))
    if not texts:
        options.skipped[EMPTY_TEXT] += 1
        return None
    for text, _ in texts:
        check_text(text)
    units = tuple(Unit(text, speaker, origin.source) for text, speaker in texts)
    return Discourse(origin.identifier, origin.corpus, units, meta={"split": origin.split})


def _turns(value: Any, column: str) -> Iterator[tuple[str, str | None]]:
    if not isinstance(value, list):
        raise _wrong_type(column, value, "a list of sentences")
    for item in value:
        text, speaker = item, None
        if isinstance(item, Mapping):
            text, speaker = first_value(item, TEXT_FIELDS), first_value(item, SPEAKER_FIELDS)
        if not isinstance(text, str):
            raise _wrong_type(column, item, "text in a list of sentences")
        if tidy(text):
            yield tidy(text), None if speaker is None else str(speaker)


def _wrong_type(column: str, value: Any, expected: str) -> RecordError:
    there = shown(value if isinstance(value, str) else repr(value))
    return RecordError(f"{column} has {there}, expected {expected}", "wrong type")


def _with_evidence(
    row: Mapping[str, Any], column: str, origin: Origin, options: ReadOptions, shape: Shape
) -> Discourse:
    try:
        values = held(row, _EvidenceRow)
    except EvaluationError as error:
        raise RecordError(str(error), "malformed row") from None
    speakers = values.speakers or (None,) * len(values.units)
    units = tuple(Unit(*pair, origin.source) for pair in zip(values.units, speakers, strict=True))
    evidence = values.evidence
    return Discourse(
        origin.identifier,
        origin.corpus,
        units,
        judgements=(
            HumanJudgement(None, ENTAILED if values.label else NOT_ENTAILED),
            *(evidence_judgement(units, *pair) for pair in evidence or ()),
        ),
        meta={
            "split": origin.split,
            "question": "table",
            "spans": "unknown" if evidence is None else "known",
            "hypothesis": values.hypothesis or "",
            "source": values.source or "",
            "type": values.type or "",
        },
    )


#: The genres whose rows are no discourses as they are.
_GENRES = {
    "documents": _Rows(article_discourse, COLUMNS, beside=COLUMNS_BESIDE),
    "papers": _Rows(paper_discourse, BODY_COLUMNS, (ABSTRACT_COLUMN,)),
    "sections": _Rows(section_row_discourse, SECTION_COLUMNS, beside=TITLES),
    "spans": _Rows(_with_evidence, ("units",), ("label", "evidence"), _BESIDE),
}
