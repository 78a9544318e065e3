"""Entries of the manifest about a build's suite, its corpora and its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any

from coherencegym.builders.release.manifest import Manifest
from coherencegym.builders.suite import Config, Suite
from coherencegym.eval.data.source import FORMAT, Published
from coherencegym.eval.kinds.registry import TABLE_KINDS
from coherencegym.eval.kinds.table_kind import SAMPLE, Row
from coherencegym.loaders.corpus import Corpus
from coherencegym.papers.published import published_cells

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
        "corpora": list(suite.natives),
        "published": [asdict(row) for row in published_scores(suite.name)],
        "tags": list(suite.tags),
        "task_categories": list(suite.task_categories),
    }


def published_scores(suite: str) -> Iterator[Published]:
    """The scores that papers have published for a suite, for reference beside one's own scores.

    They were computed on the original corpora by another program, and are no expectation of this
    one.
    """
    for cell in published_cells(suite):
        row = cell.table.row(cell.row)
        several = f"mean of {len(row.configs)} configs" if len(row.configs) > 1 else ""
        yield Published(
            config="" if row.group else cell.row,
            row=row.group or several,
            model=cell.system,
            score=round(cell.value / 100, 6),
            source=cell.table.source,
            corpus=cell.table.corpus,
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
    suite: Suite, config: Config, corpus: Corpus, seed: int, limit: int | None
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
        **({"headline_value": config.headline_value} if config.headline_value else {}),
        "controls": [
            other.full_name(corpus.name) for other in suite.configs if other.name in config.controls
        ],
        "length_confound": config.length_confound,
        **({"is_diagnostic": True} if config.is_diagnostic else {}),
        **({"question": asdict(config.question)} if config.question else {}),
        **({} if config.choice == () else {"choice": config.choice}),
        **({"task_defaults": dict(config.task_defaults)} if config.task_defaults else {}),
        "seed": seed,
        "limit": limit,
        "settings": dict(suite.settings),
        "suite_version": suite.version,
        "toolkit_version": toolkit_version(),
    }


def group_counts(
    config: Config, groups: Iterable[Iterable[str]], rows: Sequence[Row]
) -> dict[str, int]:
    """Rows by the groups of each, and by the values of the breakdown columns."""
    counts = Counter(group for of_row in groups for group in of_row)
    values = ((column, str(row[column]).lower()) for row in rows for column in config.breakdowns)
    counts.update(f"{column}={value}" for column, value in values if value)
    return dict(sorted(counts.items()))
