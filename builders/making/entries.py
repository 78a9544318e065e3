"""Entries of the manifest about a build's suite, its corpora and its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any

from coherencegym.builders.making.published import published_scores
from coherencegym.builders.making.sources import SAMPLE
from coherencegym.builders.release.manifest import FORMAT, Manifest
from coherencegym.builders.suite import Config, Suite
from coherencegym.eval.kinds.registry import KINDS
from coherencegym.eval.kinds.table_kind import Row
from coherencegym.loaders.corpus import Corpus

#: More than the ranks of one kind: configs are in the order of their kinds before any other.
OF_A_KIND = 10_000


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
        "repo_id": repo_id or f"coherencegym/{suite.name}",
        "toolkit_version": toolkit_version(),
        "hypothesis": suite.hypothesis,
        "description": suite.description,
        "conditions": dict(suite.conditions),
        "limitations": list(suite.limitations),
        "citation": suite.citation,
        "published": published_scores(suite.name),
        "tags": list(suite.tags),
        "task_categories": list(suite.task_categories),
    }


def config_rank(suite: Suite, config: Config, corpus: Corpus) -> int:
    """The place of a config among those of a suite: by kind, corpus, and the suite's own order."""
    kinds = [*KINDS, config.kind.name]
    own = suite.configs.index(config) + len(suite.configs) * _corpus_rank(config, corpus)
    return kinds.index(config.kind.name) * OF_A_KIND + own


def _corpus_rank(config: Config, corpus: Corpus) -> int:
    """0 for the config's best corpus, then the others, then other datasets, then the sample."""
    if corpus.name == SAMPLE:
        return 99
    if corpus.name in config.corpora:
        return config.corpora.index(corpus.name)
    return 98


def control_names(suite: Suite, config: Config, corpus: Corpus) -> list[str]:
    """The full names of a config's controls, built from the same corpus."""
    return [
        other.full_name(corpus.name) for other in suite.configs if other.name in config.controls
    ]


def corpus_entry(corpus: Corpus) -> dict[str, Any]:
    """Make the manifest's entry on a corpus."""
    return {
        "name": corpus.name,
        "title": corpus.title,
        "homepage": corpus.homepage,
        "citation": corpus.citation,
        "licence": corpus.licence,
        "licence_name": corpus.licence_name,
        "licence_url": corpus.licence_url,
        "language": corpus.language,
        "proven": corpus.proven,
        "producers": corpus.producers,
        "source_datasets": list(corpus.source_datasets),
    }


def type_name(kind: Any) -> str:
    """A column's type as the card shows it."""
    if isinstance(kind, list):
        return f"list of {type_name(kind[0])}"
    if isinstance(kind, dict):
        return ", ".join(f"{name}: {type_name(of)}" for name, of in kind.items()).join("{}")
    return str(kind)


def config_entry(
    suite: Suite, config: Config, corpus: Corpus, seed: int, limit: int | None
) -> dict[str, Any]:
    """Make the part of the manifest's entry on a config that does not hang on its rows."""
    return {
        "kind": config.kind.name,
        "summary": config.summary,
        "corpus": corpus_entry(corpus),
        "republishable": corpus.republishable,
        "separator": config.separator,
        "operators": config.drafter.recipe,
        "regions": list(config.regions),
        "predictions": [
            {"formula": contrast.formula, "metric": contrast.metric, "groups": contrast.groups}
            for contrast in config.drafter.contrasts
        ],
        "columns": {
            column: {"type": type_name(spec.type), "description": spec.description}
            for column, spec in config.columns.items()
        },
        "breakdowns": list(config.breakdowns),
        "headline": config.headline,
        "controls": control_names(suite, config, corpus),
        "length_confound": config.length_confound,
        "questions": [question.entry for question in config.questions],
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
    for row in rows:
        for column in config.breakdowns:
            if (value := str(row[column]).lower()) != "":
                counts[f"{column}={value}"] += 1
    return dict(sorted(counts.items()))
