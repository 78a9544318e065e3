"""The files of a release: rows, the hash of each, and the manifest that describes them.

The manifest is everything a card prints and a merge needs, as one JSON file. The documents of a
release are always rendered from it, so it can be merged from builds made on different machines by
people with different corpora. Rows are parquet shards, written from an in-memory table, whose
schema has the features by which ``datasets`` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.suite import Config, Suite
from coherencegym.cards.render import dataset_card, quality_json
from coherencegym.eval.data.benchmark import EVAL_YAML, eval_yaml
from coherencegym.eval.data.source import FORMAT, Published
from coherencegym.eval.kinds import TABLE_KINDS, kind_named
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.table_kind import IDENTITY, SAMPLE, SuiteError, row_hash, with_numbers
from coherencegym.files.parquet import parquet_rows, write_parquet
from coherencegym.files.strict_json import held
from coherencegym.loaders.corpus import Corpus
from coherencegym.papers import published_cells

#: The file by which a folder is known as a build, and a repository as a release.
MANIFEST = "manifest.json"
#: The documents that are rendered from it.
RELEASE_DOCUMENTS = (MANIFEST, "README.md", "quality.json", EVAL_YAML)
#: Parts of a config's entry that have a key for each split.
_BY_SPLIT = ("splits", "quality", "skipped")

Manifest = dict[str, Any]


def dump_manifest(manifest: Manifest) -> str:
    """The manifest as the text of its file, which :func:`eval.data.source.read_manifest` reads.

    Keys keep their order, which carries meaning (the columns of a table), so what is written must
    be in the order of :func:`in_order`. A list of corpus files that several configs have is written
    once, under ``files``; a config names it.
    """
    files: dict[str, Any] = {}
    configs = dict(manifest["configs"])
    for name, config in configs.items():
        corpus = config["corpus"]
        key = row_hash({"files": corpus["files"]})[:12]
        files[key] = corpus["files"]
        configs[name] = config | {"corpus": corpus | {"files": key}}
    written = manifest | {"configs": configs, "files": files}
    return json.dumps(written, ensure_ascii=False, indent=1) + "\n"


def release_documents(manifest: Manifest) -> dict[str, str]:
    """Name -> text: manifest, card, its figures, and ``eval.yaml`` where there is a task."""
    makers = (dump_manifest, dataset_card, quality_json, eval_yaml)
    texts = [make(manifest) for make in makers]
    return {name: text for name, text in zip(RELEASE_DOCUMENTS, texts, strict=True) if text}


def write_documents(manifest: Manifest, folder: Path) -> None:
    """Write the documents of a release into its folder."""
    for name, text in release_documents(manifest).items():
        (folder / name).write_text(text, encoding="utf-8")


def diagnostic_configs(configs: Mapping[str, Any]) -> list[str]:
    """The configs, of entries by name, whose scores say nothing of their suite's hypothesis."""
    return [name for name, config in configs.items() if config.get("is_diagnostic")]


def in_order(manifest: Manifest) -> Manifest:
    """The manifest with configs by rank and name, splits by name, and one config the default.

    That is the config of the headline with the most rows: what a reader of the dataset sees first
    is what its one number is about. Of several corpora the project's sample is the last choice, and
    a config without its texts comes after any with texts.

    However a manifest was put together (built, merged, read back), equal content gives equal text.
    """
    configs = manifest["configs"]
    ordered = sorted(configs, key=lambda name: (configs[name]["rank"], name))
    default = max(ordered, key=lambda name: _rank_as_default(configs[name]), default="")
    return manifest | {
        "configs": {
            name: configs[name]
            | {key: dict(sorted(configs[name][key].items())) for key in _BY_SPLIT}
            | {"default": name == default}
            for name in ordered
        }
    }


def _rank_as_default(config: dict[str, Any]) -> tuple[bool, bool, bool, int]:
    in_headline = bool(config.get("in_headline", kind_named(config["kind"]) is ITEMS))
    rows = sum(split["rows"] for split in config["splits"].values())
    return not config.get("stand_off"), in_headline, config["corpus"]["name"] != SAMPLE, rows


#: Uncompressed bytes of a table that go into one parquet file.
_SHARD_BYTES = 500_000_000


def data_path(config: str, split: str, shard: int = 0, shards: int = 1) -> str:
    """The path of a shard inside a release."""
    return f"data/{config}/{split}-{shard:05d}-of-{shards:05d}.parquet"


def hashes_path(config: str, split: str) -> str:
    """The path of a split's row hashes inside a release."""
    return f"hashes/{config}-{split}.parquet"


@dataclass(frozen=True)
class _RowHash:
    item_id: str
    sha256: str


def read_hashes(path: Path) -> dict[str, str]:
    """Item id -> row hash, from a file of row hashes, which anybody may have written."""
    return {row.item_id: row.sha256 for row in (held(row, _RowHash) for row in parquet_rows(path))}


def to_table(rows: Sequence[Mapping[str, Any]], features: Any) -> Any:
    """Rows as a ``pyarrow.Table`` with the schema of ``features``, classes by their numbers."""
    import pyarrow as pa

    numbered = [with_numbers(row, features) for row in rows]
    return pa.Table.from_pylist(numbered, schema=features.arrow_schema)


def write_split(
    folder: Path, config: str, split: str, table: Any, shard_bytes: int = _SHARD_BYTES
) -> dict[str, Any]:
    """Write a table as the shards and hashes of a split below ``folder``.

    Returns:
        The number of rows, and the hash of all row hashes, as the manifest has them.
    """
    import pyarrow as pa

    if not table.num_rows:
        raise ValueError(f"{config}/{split}: no rows to write")
    shards = max(1, -(-table.nbytes // shard_bytes))
    for shard in range(shards):
        start = table.num_rows * shard // shards
        stop = table.num_rows * (shard + 1) // shards
        path = folder / data_path(config, split, shard, shards)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(table.slice(start, stop - start), path)

    rows = table.to_pylist()
    identifiers = [str(row[IDENTITY]) for row in rows]
    if len(set(identifiers)) != len(identifiers):
        twice = next(i for i in identifiers if identifiers.count(i) > 1)
        raise SuiteError(f"{config}/{split}: {IDENTITY} {twice!r} stands twice; expected once")
    hashes = [row_hash(row) for row in rows]
    hash_table = pa.table({IDENTITY: identifiers, "sha256": hashes})
    path = folder / hashes_path(config, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(hash_table, path)
    return {"rows": table.num_rows, "content_hash": row_hash({"rows": hashes})}


#: More than the ranks of one kind: configs are in the order of their kinds before any other.
_OF_A_KIND = 10_000


def toolkit_version() -> str:
    """The installed version of the project, or ``unknown`` when run from a bare checkout."""
    try:
        return installed_version("coherencegym")
    except PackageNotFoundError:
        return "unknown"


def suite_entry(suite: Suite, version: str, repo_id: str) -> Manifest:
    """Make the manifest's entry on the suite as a whole."""
    return {
        "format": FORMAT,
        "suite": suite.name,
        "title": suite.title,
        "version": version or suite.version,
        "repo_id": repo_id or suite.repo_id,
        "toolkit_version": toolkit_version(),
        "hypothesis": suite.hypothesis,
        "description": suite.description,
        "conditions": dict(suite.conditions),
        "limitations": list(suite.limitations),
        "uses": [asdict(use) for use in suite.uses],
        "citation": suite.citation,
        "published": [asdict(row) for row in published_scores(suite.name)],
        "tags": list(suite.tags),
        "task_categories": list(suite.task_categories),
    }


def published_scores(suite: str) -> Iterator[Published]:
    """The scores that papers have published for a suite, for reference beside one's own scores.

    They were computed on the original corpora by another program, and are no expectation of this
    one.
    """
    for table, name, system, value in published_cells(suite):
        row = table.row(name)
        several = f"mean of {len(row.configs)} configs" if len(row.configs) > 1 else ""
        yield Published(
            config="" if row.group else name,
            row=row.group or several,
            model=system,
            score=round(value / 100, 6),
            source=table.source,
            corpus=table.corpus,
        )


def config_rank(suite: Suite, config: Config, corpus: Corpus) -> int:
    """The place of a config among those of a suite: by kind, corpus, and the suite's own order.

    Of the corpora the config's best comes first, then its others, then any other dataset, and the
    sample last.
    """
    if corpus.name in config.corpora:
        of_corpus = config.corpora.index(corpus.name)
    else:
        of_corpus = 99 if corpus.name == SAMPLE else 98
    own = suite.configs.index(config) + len(suite.configs) * of_corpus
    return [*TABLE_KINDS, config.kind.name].index(config.kind.name) * _OF_A_KIND + own


def _corpus_entry(corpus: Corpus) -> dict[str, Any]:
    names = (
        *("name", "title", "homepage", "citation", "licence", "licence_name", "licence_url"),
        *("text_licence", "text_licence_name", "text_licence_url"),
        *("language", "proven", "producers"),
        *("public_since", "public_source"),
    )
    entry = {name: getattr(corpus, name) for name in names}
    return entry | {
        "limitations": list(corpus.limitations),
        "source_datasets": list(corpus.source_datasets),
    }


def _type_name(kind: Any) -> str:
    if isinstance(kind, list):
        return f"list of {_type_name(kind[0])}"
    if isinstance(kind, dict):
        return ", ".join(f"{name}: {_type_name(of)}" for name, of in kind.items()).join("{}")
    return str(kind)


def config_entry(
    suite: Suite, config: Config, corpus: Corpus, options: BuildOptions
) -> dict[str, Any]:
    """Make the part of the manifest's entry on a config that does not hang on its rows."""
    return {
        "kind": config.kind.name,
        "summary": config.summary,
        "corpus": _corpus_entry(corpus),
        "republishable": corpus.republishable,
        "separator": config.separator,
        "operators": config.generator.recipe,
        "regions": list(config.regions),
        "predictions": [asdict(contrast.prediction) for contrast in config.generator.contrasts],
        "columns": {
            column: {"type": _type_name(spec.type), "description": spec.description}
            for column, spec in config.columns.items()
        },
        "breakdowns": list(config.breakdowns),
        "headline": config.headline,
        "controls": [
            other.full_name(corpus.name) for other in suite.configs if other.name in config.controls
        ],
        "length_confound": config.length_confound,
        **({"is_diagnostic": True} if config.is_diagnostic else {}),
        **({"choice": config.choice} if config.choice else {}),
        **({"task_defaults": dict(config.task_defaults)} if config.task_defaults else {}),
        "seed": options.seed,
        "limit": options.limit,
        # Of a suite that divides its corpora these are the corpus's own.
        "splits_asked": options.splits_asked,
        "settings": dict(suite.settings),
        "suite_version": suite.version,
        "toolkit_version": toolkit_version(),
    }
