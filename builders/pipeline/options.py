"""All that can be asked of a build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_args

from pydantic import Field

from coherencegym.builders.suite import Genre
from coherencegym.command_line import option, positive
from coherencegym.engines import ENGINES, LOCAL
from coherencegym.loaders.corpora.own import FORMATS
from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.loaders.languages.registry import language
from coherencegym.loaders.text.articles import Shape

#: The headings of help: options before ``output`` are of what is read.
READ, WRITTEN = "input", "output"
_GENRES = get_args(Genre)
_TEXTS = "articles as short documents, and plain text as sentences"


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """All that can be asked of a build: options of the shell, and of :func:`coherencegym.build`."""

    corpora: Sequence[str] = option(
        (),
        "corpora (see `coherencegym corpora`); sample: texts in the package",
        flags=("--corpus",),
        metavar="NAME",
        many=True,
    )
    data_dir: Path | None = option(
        None, "folder with the files of the corpora", metavar="DIR", parse=Path
    )
    texts: Path | None = option(
        None,
        "your own texts: .txt, .csv, .tsv, .jsonl, .parquet, or a folder",
        metavar="PATH",
        parse=Path,
    )
    text_column: str | None = option(
        None,
        "column of the texts (default, of --texts: text, story, ..., or the longest)",
        metavar="NAME",
    )
    sentences: tuple[int, int] = option(
        (3, 8),
        "fewest and most sentences of a document (default: 3 8)",
        metavar="N",
        parse=positive,
    )
    format: str | None = option(
        None,
        f"annotation of --texts: {', '.join(FORMATS)}",
        choices=FORMATS,
        metavar="NAME",
    )
    licence: str = option("", "licence of your texts (SPDX), such as CC-BY-4.0", metavar="ID")
    language: str = option(
        "",
        "language of --texts, such as nl or zh (ISO 639-1; default: en)",
        metavar="CODE",
        rare=True,
    )
    hub_dataset: str | None = option(
        None, "a Hub dataset, or a folder that holds one", metavar="ID"
    )
    hub_config: str | None = option(
        None, "its configuration; default: the only one", metavar="NAME", rare=True
    )
    hub_split: str | None = option(
        None, "its split; default: every split", metavar="NAME", rare=True
    )
    hub_revision: str | None = option(None, "its tag or commit", metavar="TAG", rare=True)
    genre: Genre | None = option(
        None,
        "genre of your texts, such as narration or dialogue",
        choices=_GENRES,
        metavar="NAME",
    )
    splits: tuple[str, ...] = option(
        (),
        "splits, or 'all'; default: all but those that are read only by name",
        flags=("--split",),
        metavar="NAME",
        many=True,
    )
    limit: Annotated[int, Field(ge=1)] | None = option(
        None, "read at most N discourses of each split for each config", metavar="N", parse=positive
    )
    skip_bad_rows: bool = option(False, "leave out and count rows that cannot be read", rare=True)
    spacy_pipeline: str | None = option(
        None,
        "spaCy pipeline that splits plain text into sentences, instead of rules",
        metavar="NAME",
        group=_TEXTS,
        rare=True,
    )
    output: Path | None = option(None, "default: suites/<suite>", metavar="DIR", parse=Path)
    overwrite: bool = option(False, "replace an earlier build")
    dry_run: bool = option(False, "print what would be written, and write nothing")
    seed: int = option(0, "seed of all draws", metavar="N", rare=True)
    num_proc: Annotated[int, Field(ge=1)] | None = option(
        None, "processes, or cores of a cluster", metavar="N", parse=positive, rare=True
    )
    engine: str = option(
        LOCAL, "one machine, or a Ray cluster (needs the extra cluster)", choices=ENGINES, rare=True
    )
    address: str = option(
        "",
        "address of the Ray cluster's head; default: $RAY_ADDRESS, or Ray on this machine alone",
        metavar="HOST:PORT",
        rare=True,
    )
    judgements: Sequence[Path] = option(
        (),
        "files of annotators' answers to the pairs that `coherencegym judge` drew",
        metavar="FILE",
        parse=Path,
        many=True,
        rare=True,
    )
    push_to_hub: bool = option(False, "publish the build on the Hub, with a tag")
    repo_id: str = option(
        "",
        "repository, such as ann/stories; a suite of your own needs one",
        metavar="ID",
        rare=True,
    )
    private: bool = option(
        False, "create a private repository; refuse an existing public one", rare=True
    )
    stand_off: bool = option(
        False,
        "leave out the texts of configs that may not be published, and publish the rest of them",
        rare=True,
    )
    allow_partial: bool = option(
        False, "publish a build in public although --limit or --split shortened it", rare=True
    )
    message: str = option("", "commit message", metavar="TEXT", rare=True)
    version: str = option("", "version to publish, such as 1.1.0", metavar="V", rare=True)
    prune: bool = option(
        False, "remove configs, splits and people's answers that this build has not", rare=True
    )

    @property
    def shape(self) -> Shape:
        """The documents that are made of articles."""
        fewest, most = self.sentences
        code = language(self.language or ENGLISH.code).code
        return Shape(fewest, most, code, self.spacy_pipeline)

    @property
    def splits_asked(self) -> list[str]:
        """The splits that a manifest says were asked for; empty: all."""
        return [] if "all" in self.splits else list(self.splits)
