"""Any dataset on the Hugging Face Hub, or a local folder laid out like one, as a corpus.

The dataset needs one column that holds a discourse (:mod:`loaders.corpora.hub_rows`). It is
streamed: what is not asked for is not downloaded. A name such as ``main`` is resolved to a commit
once, and everything is read at that commit; code in the repository is never run (``datasets``
refuses it).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.loaders.corpora.hub_rows import KINDS, RowFormat, read_row
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.licence import licence_fields
from coherencegym.loaders.text.articles import Shape, read_article_row

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
    licence: str | None = None,
) -> Corpus:
    """Declare a dataset as a corpus, from what its card says. Asks the Hub, downloads no rows.

    Args:
        repo: ``org/name`` on the Hub, or a folder with parquet, JSON lines or the like.
        column: the column that holds the discourses; none, of articles only: the first of
            :data:`loaders.text.articles.COLUMNS` that is there.
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
        licence: SPDX identifier to go by instead of the card's.

    Returns:
        A corpus for :func:`loaders.read.read`. Its name is the dataset's, its licence the card's;
        where that is not known to allow it, ``republishable`` is false.

    Raises:
        CorpusError: the dataset, revision, configuration, split or column is not there, or the Hub
            cannot be reached.
    """
    if kind not in KINDS:
        raise CorpusError(f"{repo}: kind is {kind!r}, expected one of {', '.join(KINDS)}")
    if column is None and articles is None:
        raise CorpusError(f"{repo}: no column named, expected the one that holds the discourses")
    local = Path(repo).is_dir()
    if local and revision is not None:
        raise CorpusError(f"{repo}: a folder has no revision {revision!r}; leave it out")
    sha = "" if local else _commit(repo, revision)
    builder = _builder(repo, config, sha)
    splits = {str(name): list(files) for name, files in builder.config.data_files.items()}
    if split is not None and split not in splits:
        raise CorpusError(f"{repo}: no split {split!r}; its splits are {', '.join(splits)}")
    wanted = [split] if split is not None else list(splits)
    card = _card(repo, sha)
    language = _language(card, config)
    reader: _RowReader
    if articles is not None:
        shape = replace(articles, language=language, pipeline=pipeline)
        reader = partial(read_article_row, shape=shape, column=column, id_column=id_column)
    else:
        assert column is not None
        row_format = RowFormat(column, id_column, kind, language, pipeline)
        reader = partial(read_row, row_format=row_format)
    stated = licence or card.get("license")
    name, link = card.get("license_name"), card.get("license_link")
    return Corpus(
        name=_name(repo, config),
        title=str(card.get("pretty_name") or repo.rstrip("/").rsplit("/", 1)[-1]),
        homepage="" if local else f"https://huggingface.co/datasets/{repo}",
        citation="",
        **licence_fields(stated, *((None, None) if licence else (name, link))),
        language=language,
        # Of a folder only its name: this text is published.
        obtain=f"the folder {Path(repo).name}" if local else f"{repo} on the Hugging Face Hub",
        proven=False,
        patterns=(),
        reader=partial(_read, builder=builder, read_one=reader),
        source_datasets=() if local else (f"extended|{repo}",),
        files=tuple(
            CorpusFile(Path(repo), name, tuple(map(Path, splits[name])) if local else (), sha)
            for name in wanted
        ),
    )


def _read(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, *, builder: Any, read_one: _RowReader
) -> Iterator[Discourse]:
    """Stream the rows of one split."""
    rows = _rows(builder, file)
    for number, row in enumerate(rows, 1):
        discourse = read_one(corpus, file, number, row, options)
        if discourse is not None:
            yield discourse


def _rows(builder: Any, file: CorpusFile) -> Iterator[Mapping[str, Any]]:
    try:
        yield from builder.as_streaming_dataset(file.split)
    except CorpusError:
        raise
    except Exception as error:  # pyarrow's, json's, fsspec's, the Hub client's: no common base
        raise _loading_error(str(file.path), error) from error


def _commit(repo: str, revision: str | None) -> str:
    """The commit that a revision stands for now."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        sha = HfApi().dataset_info(repo, revision=revision).sha
    except GatedRepoError as error:
        raise CorpusError(
            f"{repo}: access to the dataset has to be granted first; ask for it on its page "
            "and log in with `hf auth login`"
        ) from error
    except RepositoryNotFoundError as error:
        raise CorpusError(
            f"{repo}: neither a folder here nor a dataset on the Hub "
            "(or a private one; log in with `hf auth login`)"
        ) from error
    except RevisionNotFoundError as error:
        raise CorpusError(f"{repo}: the dataset has no revision {revision!r}") from error
    except Exception as error:  # no connection, offline mode, a malformed name: no common base
        raise _loading_error(repo, error) from error
    assert sha is not None  # the Hub always sends it
    return sha


def _builder(repo: str, config: str | None, sha: str) -> Any:
    """The ``datasets`` builder of one configuration, at a commit where there is one."""
    import datasets

    try:
        builder = datasets.load_dataset_builder(repo, config, revision=sha or None)
    except Exception as error:  # missing config, no data files, a script, ...: no common base
        raise _loading_error(repo, error) from error
    files = [str(path) for paths in builder.config.data_files.values() for path in paths]
    if sha and not all(f"@{sha}/" in path for path in files):
        # When the Hub cannot be reached, datasets silently falls back to whatever it has cached.
        raise CorpusError(f"{repo}: commit {sha} could not be read from the Hub, try again")
    return builder


def _loading_error(repo: str, error: Exception) -> CorpusError:
    reason = next(iter(str(error).splitlines()), "") or type(error).__name__
    return CorpusError(f"{repo}: cannot be loaded ({reason})")


def _card(repo: str, sha: str) -> Mapping[str, Any]:
    """The YAML at the head of the dataset's card; empty where there is none or it is malformed."""
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
    """The card's language; of several the one in the configuration's name (``20231101.en``)."""
    stated = card.get("language")
    codes = stated if isinstance(stated, list) else [stated] if stated else []
    names = [str(code) for code in codes]
    named = [part for part in re.split(r"[^a-z]+", (config or "").lower()) if part in names]
    if len(names) > 1:
        return named[-1] if named else "en" if "en" in names else names[0]
    return names[0] if names else "en"


def _name(repo: str, config: str | None) -> str:
    """A name that may stand in a config name, such as ``daily_dialog_en``."""
    last = repo.rstrip("/").rsplit("/", 1)[-1]
    parts = [last] if config in (None, "default") else [last, str(config)]
    return re.sub(r"[^a-z0-9]+", "_", "_".join(parts).lower()).strip("_") or "hub"
