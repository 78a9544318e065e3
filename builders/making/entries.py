"""What a build writes into the manifest about its suite, its corpora and its items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any

from coherencegym.builders.making.published import published_scores
from coherencegym.builders.making.sources import SAMPLE
from coherencegym.builders.release.manifest import FORMAT, Manifest
from coherencegym.builders.suite import Config, Draft, Suite
from coherencegym.loaders.corpus import Corpus


def toolkit_version() -> str:
    """The installed version of the project, or ``unknown`` when run from a bare checkout."""
    try:
        return installed_version("coherencegym")
    except PackageNotFoundError:
        return "unknown"


def suite_entry(suite: Suite, version: str, repo_id: str) -> Manifest:
    """What the manifest says of the suite as a whole."""
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


def config_rank(config: Config, corpus: Corpus) -> int:
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
    """What the manifest says of a corpus."""
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
    """What the manifest says of a config whatever its rows are."""
    return {
        "kind": config.kind,
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


def group_counts(config: Config, drafts: Sequence[Draft]) -> dict[str, int]:
    """Items by prediction group and by the values of the breakdown columns, without details."""
    counts: Counter[str] = Counter()
    first = 1 if config.headline else 0
    for made in drafts:
        counts.update({group for contrast in made.contrasts for group in contrast.groups[first:]})
        for column in config.breakdowns:
            if (value := str(made.item.extra[column]).lower()) != "":
                counts[f"{column}={value}"] += 1
    return dict(sorted(counts.items()))


def detail_counts(config: Config, drafts: Sequence[Draft]) -> dict[str, int]:
    """Items by the first group of their predictions, where the config's score is over another.

    Of a group's name what is before an arrow or a colon: the groups ``as_causal → since`` and
    ``as_causal → yet`` have the same items. Empty where all items are in all groups, which says
    nothing.
    """
    counts: Counter[str] = Counter()
    if config.headline:
        for made in drafts:
            firsts = {contrast.groups[0] for contrast in made.contrasts}
            counts.update({re.split(" → |: ", group)[0] for group in firsts})
    if set(counts.values()) == {len(drafts)}:
        return {}
    return dict(sorted(counts.items()))


def short_example(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A row to show in the card: the first of modest length, else the shortest."""

    def length(row: dict[str, Any]) -> int:
        return max(len(condition["content"]) for condition in row["conditions"])

    modest = (row for row in rows if length(row) <= 450)
    return next(modest, min(rows, key=length))
