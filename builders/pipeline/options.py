"""All that can be asked of a build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from coherencegym.builders.suite import Genre
from coherencegym.engines import LOCAL
from coherencegym.loaders.languages.english import ENGLISH
from coherencegym.loaders.languages.registry import language
from coherencegym.loaders.text.articles import Shape


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """All that can be asked of a build, by the names that the command line has for it.

    Attributes:
        corpora: the corpora to build from; none: every one that is found, and the sample.
        data_dir: the folder of corpora that is looked in first.
        splits: those that are read; none: all that are there, but for those that a corpus reads
            only by name.
        limit: the most discourses that are read of a split for a config.
        texts: a file or folder of one's own texts to build from: plain, with the column
            ``text_column`` where it is a table, or annotated in ``format``.
        hub_dataset: a Hugging Face dataset to build from, with texts in ``text_column``.
        genre: that of the dataset, of one's own texts, or of a corpus that the suite does not name.
        excerpt, sentences, spacy_pipeline: the documents that are made of articles.
        language: ISO 639-1, that of one's own texts; none: English.
        num_proc, engine, address: decide no byte: see :func:`engines.started`.
        output: the folder of the build, or of one for each of several suites.
        judgements: files with what people said of the suite's items.
        repo_id, version: the repository to push to, and the version; empty: the suite's.
        stand_off: publish configs whose texts may not be published without these texts.
    """

    seed: int = 0
    corpora: Sequence[str] = ()
    data_dir: Path | None = None
    splits: tuple[str, ...] = ()
    limit: Annotated[int, Field(ge=1)] | None = None
    skip_bad_rows: bool = False
    texts: Path | None = None
    text_column: str | None = None
    format: str | None = None
    licence: str = ""
    language: str = ""
    hub_dataset: str | None = None
    hub_config: str | None = None
    hub_split: str | None = None
    hub_revision: str | None = None
    genre: Genre | None = None
    excerpt: str = "auto"
    sentences: Sequence[int] = (3, 8)
    spacy_pipeline: str | None = None
    num_proc: Annotated[int, Field(ge=1)] | None = None
    engine: str = LOCAL
    address: str = ""
    output: Path | None = None
    overwrite: bool = False
    dry_run: bool = False
    judgements: Sequence[Path] = ()
    export_syntaxgym: Path | None = None
    export_pairs: Path | None = None
    export_babylm: Path | None = None
    export_inspect: Path | None = None
    push_to_hub: bool = False
    repo_id: str = ""
    version: str = ""
    private: bool = False
    create_pr: bool = False
    message: str = ""
    prune: bool = False
    allow_partial: bool = False
    stand_off: bool = False

    @property
    def shape(self) -> Shape:
        """The documents that are made of articles."""
        fewest, most = self.sentences
        code = language(self.language or ENGLISH.code).code
        return Shape(self.excerpt, fewest, most, code, self.spacy_pipeline)

    @property
    def splits_asked(self) -> list[str]:
        """The splits that a manifest says were asked for; empty: all."""
        return [] if "all" in self.splits else list(self.splits)
