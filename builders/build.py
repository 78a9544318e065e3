"""A build: from sources to a folder with data, row hashes, manifest and card."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders.drafting import draft
from builders.entries import (
    config_rank,
    control_names,
    corpus_entry,
    detail_counts,
    group_counts,
    short_example,
    suite_entry,
    toolkit_version,
    type_name,
)
from builders.release.manifest import Manifest, dump_manifest, in_order
from builders.release.quality import quality
from builders.release.rows import to_table, write_split
from builders.sources import Source, Sources
from builders.suite import Config, Suite
from eval.suite import features, item_to_row
from loaders.corpus import Corpus, CorpusError
from loaders.discourse import Discourse
from loaders.licence import may_republish
from loaders.read import Reading, read


@dataclass(frozen=True)
class Options:
    """The settings of a build that decide its bytes, and how it is run."""

    seed: int = 0
    limit: int | None = None
    splits: tuple[str, ...] = ()
    data_dir: Path | None = None
    skip_bad_rows: bool = False
    num_proc: int = 1
    withhold: bool = False
    repo_id: str = ""
    version: str = ""
    progress: Callable[[str], None] = field(default=lambda message: None, compare=False)


def build(suite: Suite, sources: Sources, options: Options, folder: Path) -> Manifest:
    """Build every config of the sources into ``folder``.

    Returns:
        The manifest, also written to the folder together with the card.

    Raises:
        CorpusError: a source cannot be read, or nothing came of all of them.
        SuiteError: an item is not valid: a mistake of the suite, not of the user.
    """
    configs: dict[str, Any] = {}
    for source in sources.found:
        reading, by_split, withheld = read_source(suite, source, options)
        for config in source.configs:
            name = config.full_name(source.corpus.name)
            if name in configs:
                raise CorpusError(f"two configs are called {name}; name fewer corpora at a time")
            options.progress(f"{suite.name}: {name}")
            entry = build_config(suite, config, source.corpus, by_split, options, folder, name)
            if entry is not None:
                entry["corpus"]["files"] = [
                    {
                        "name": file.name,
                        "split": file.split,
                        "sha256": file.sha256,
                        "revision": file.revision,
                    }
                    for file in reading.files
                ]
                entry["withheld_discourses"] = withheld
                entry["bad_rows"] = dict(sorted(reading.skipped.items()))
                configs[name] = entry
    if not configs:
        raise CorpusError(f"{suite.name}: no corpus gave a single item; nothing is written")
    manifest = in_order(suite_entry(suite, options.version, options.repo_id) | {"configs": configs})
    write_documents(manifest, folder)
    return manifest


def write_documents(manifest: Manifest, folder: Path) -> None:
    """Write manifest and card, the card being rendered from the manifest alone."""
    from cards.render import render_card

    (folder / "manifest.json").write_text(dump_manifest(manifest), encoding="utf-8")
    (folder / "README.md").write_text(render_card(manifest), encoding="utf-8")


def read_source(
    suite: Suite, source: Source, options: Options
) -> tuple[Reading, dict[str, list[Discourse]], int]:
    """Read a source: its discourses by split, and how many were withheld for their licence."""
    splits = source.corpus.splits if "all" in options.splits else options.splits
    reading = read(
        source.corpus,
        data_dir=options.data_dir,
        splits=splits or None,
        skip_bad_rows=options.skip_bad_rows,
        limit=options.limit,
    )
    by_split: dict[str, list[Discourse]] = defaultdict(list)
    withheld = 0
    for discourse in reading:
        licence = discourse.licence or source.corpus.licence
        if options.withhold and discourse.licence and not may_republish(licence):
            withheld += 1
            continue
        by_split[discourse.meta["split"]].append(discourse)
    return reading, dict(by_split), withheld


def build_config(
    suite: Suite,
    config: Config,
    corpus: Corpus,
    by_split: dict[str, list[Discourse]],
    options: Options,
    folder: Path,
    name: str,
) -> dict[str, Any] | None:
    """Write one config and return its entry in the manifest; none where no item came of it."""
    schema = features({column: spec.type for column, spec in config.columns.items()})
    splits: dict[str, Any] = {}
    report: dict[str, Any] = {}
    skipped: dict[str, dict[str, int]] = {}
    example: dict[str, Any] | None = None
    used: list[Discourse] = []
    for split, everything in by_split.items():
        discourses = list(filter(config.select, everything))
        total = len(discourses)
        drafts, counted = draft(
            config.drafter,
            discourses,
            seed=options.seed,
            suite=suite.name,
            num_proc=options.num_proc,
            progress=lambda done, split=split, total=total: options.progress(  # type: ignore[misc]
                f"{suite.name}: {name} {split}, {done:,} of {total:,} discourses"
            ),
        )
        options.progress(f"{suite.name}: {name} {split}, writing and measuring")
        skipped[split] = dict(sorted(counted.items()))
        if not drafts:
            continue
        rows = [
            item_to_row(made.item) | {"item_number": number}
            for number, made in enumerate(drafts, start=1)
        ]
        written = write_split(folder, name, split, to_table(rows, schema))
        ids = {made.item.discourse_id for made in drafts}
        used += [discourse for discourse in discourses if discourse.id in ids]
        splits[split] = {
            "rows": written.rows,
            "discourses": len(ids),
            "num_bytes": written.num_bytes,
            "download_size": written.download_size,
            "content_hash": written.content_hash,
            "groups": group_counts(config, drafts),
            "details": detail_counts(config, drafts),
        }
        report[split] = quality(config, drafts)
        example = example or short_example(rows)
    if not splits:
        return None
    licences = Counter(discourse.licence or corpus.licence for discourse in used)
    rank = suite.configs.index(config) + len(suite.configs) * config_rank(config, corpus)
    return {
        "kind": config.kind,
        "rank": rank,
        "summary": config.summary,
        "corpus": corpus_entry(corpus),
        "licences": dict(sorted(licences.items())),
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
        "features": schema.to_dict(),
        "seed": options.seed,
        "limit": options.limit,
        "settings": dict(suite.settings),
        "suite_version": suite.version,
        "toolkit_version": toolkit_version(),
        "splits": splits,
        "skipped": skipped,
        "quality": report,
        "example": example,
    }
