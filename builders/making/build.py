"""A build: from sources to a folder with data, row hashes, manifest and card."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.match import HUMAN_OK, HUMAN_OK_COLUMN, Matcher
from coherencegym.builders.making.drafting import draft
from coherencegym.builders.making.entries import (
    config_entry,
    config_rank,
    group_counts,
    suite_entry,
)
from coherencegym.builders.making.fitting import Fits
from coherencegym.builders.making.kinds import making
from coherencegym.builders.making.sources import PlannedCorpus, Sources
from coherencegym.builders.making.spread import spread
from coherencegym.builders.release.manifest import Manifest, dump_manifest, in_order
from coherencegym.builders.release.quality import Decision
from coherencegym.builders.release.rows import to_table, write_split
from coherencegym.builders.suite import Config, Suite
from coherencegym.eval.kinds.table_kind import DISCOURSE, SEPARATOR, Row
from coherencegym.loaders.corpus import Corpus, CorpusError
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.licence import may_republish
from coherencegym.loaders.read import Reading, read
from coherencegym.manipulations.operator import Context

#: The split of a suite that does not divide its corpora.
ONE_SPLIT = "test"


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


def build(
    suite: Suite,
    sources: Sources,
    options: Options,
    folder: Path,
    matcher: Matcher | None = None,
) -> Manifest:
    """Build every config of the sources into ``folder``.

    Args:
        suite: the suite to build.
        sources: the corpora to build it from.
        options: the options of the build.
        folder: an empty one.
        matcher: has what people said of the suite's items, if anybody was asked: rows then have
            the column ``human_ok``.

    Returns:
        The manifest, also written to the folder together with the card.

    Raises:
        CorpusError: a source cannot be read, nothing came of all of them, or an answer is about
            no item.
        SuiteError: an item is not valid: a mistake of the suite, not of the user.
    """
    configs: dict[str, Any] = {}
    fits = Fits(options.num_proc, lambda message: options.progress(f"{suite.name}: {message}"))
    sources.empty.clear()
    for source in sources.found:
        reading, by_split, withheld = read_source(suite, source, options)
        for config in source.configs:
            for name, entry in build_configs(
                suite, config, source.corpus, by_split, options, folder, fits, matcher
            ).items():
                if name in configs or name in sources.empty:
                    raise CorpusError(
                        f"two configs are called {name}; name fewer corpora at a time"
                    )
                if isinstance(entry, str):
                    sources.empty[name] = entry
                    continue
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
    if matcher is not None:
        matcher.check()
    manifest = in_order(suite_entry(suite, options.version, options.repo_id) | {"configs": configs})
    write_documents(manifest, folder)
    fits.done()
    return manifest


def write_documents(manifest: Manifest, folder: Path) -> None:
    """Write manifest and card, the card being rendered from the manifest alone."""
    from coherencegym.cards.render import render_card

    (folder / "manifest.json").write_text(dump_manifest(manifest), encoding="utf-8")
    (folder / "README.md").write_text(render_card(manifest), encoding="utf-8")


def read_source(
    suite: Suite, source: PlannedCorpus, options: Options
) -> tuple[Reading, dict[str, list[Discourse]], int]:
    """Read a source: its discourses by split, and how many were withheld for their licence."""
    splits = source.corpus.splits if "all" in options.splits else options.splits
    reading = read(
        source.corpus,
        data_dir=options.data_dir,
        splits=splits or None,
        skip_bad_rows=options.skip_bad_rows,
        limit=options.limit,
        found=None if splits else source.found,
    )
    by_split: dict[str, list[Discourse]] = defaultdict(list)
    withheld = 0
    for discourse in reading:
        licence = discourse.licence or source.corpus.licence
        if options.withhold and discourse.licence and not may_republish(licence):
            withheld += 1
            continue
        by_split[ONE_SPLIT if suite.one_split else discourse.meta["split"]].append(discourse)
    if suite.divide is not None:
        everything = [discourse for discourses in by_split.values() for discourse in discourses]
        return reading, suite.divide(everything, options.seed), withheld
    return reading, dict(by_split), withheld


def build_configs(
    suite: Suite,
    config: Config,
    corpus: Corpus,
    by_split: dict[str, list[Discourse]],
    options: Options,
    folder: Path,
    fits: Fits,
    matcher: Matcher | None = None,
) -> dict[str, dict[str, Any] | str]:
    """Write a config, or all that it is spread over, and return their entries in the manifest.

    Returns:
        Name -> entry; of a config that no item came of: why not.
    """
    everything = [discourse for discourses in by_split.values() for discourse in discourses]
    made = {
        part.full_name(corpus.name): (
            part,
            draft_config(suite, part, corpus, by_split, options, fits),
        )
        for part in spread(config, everything)
    }
    how = making(config.kind)
    decisions = {
        # One classifier for all that the config is spread over: some parts are small.
        split: how.decide(
            [each for _, drafted in made.values() for each in drafted[split].drafts],
            config.breakdowns,
        )
        for split in by_split
    }
    entries: dict[str, dict[str, Any] | str] = {}
    for name, (part, drafted) in made.items():
        options.progress(f"{suite.name}: {name}, writing and measuring")
        if not any(one.drafts for one in drafted.values()):
            entries[name] = why_empty(drafted)
            continue
        if matcher is not None and how.judge is not None:
            part = replace(part, columns={**part.columns, HUMAN_OK: HUMAN_OK_COLUMN})
        entries[name] = config_entry(suite, part, corpus, options.seed, options.limit) | {
            "rank": config_rank(suite, config, corpus),
            **write_splits(part, corpus, drafted, decisions, folder, name, matcher),
        }
    return entries


@dataclass(frozen=True)
class Drafted:
    """The result for one split of a config: its discourses, their drafts, and what was skipped."""

    discourses: list[Discourse]
    drafts: list[Any]
    skipped: dict[str, int]


def draft_config(
    suite: Suite,
    config: Config,
    corpus: Corpus,
    by_split: dict[str, list[Discourse]],
    options: Options,
    fits: Fits,
) -> dict[str, Drafted]:
    """The drafts of one config by split."""
    name = config.full_name(corpus.name)
    drafted = {}
    for split, everything in by_split.items():
        discourses = list(filter(config.select, everything))
        total = len(discourses)
        drafter, num_proc = config.drafter, options.num_proc
        if hasattr(drafter, "fit"):
            # Nor may what is left out for its text lend a sentence to another document.
            clean = [d for d in discourses if not any(SEPARATOR in text for text in d.texts)]
            drafter = drafter.fit(clean, Context(options.seed, suite.name), fits)
            num_proc = 1  # what it found is not sent about; the finding uses the processors
        drafts, counted = draft(
            drafter,
            discourses,
            seed=options.seed,
            suite=suite.name,
            num_proc=num_proc,
            progress=lambda done, split=split, total=total: options.progress(  # type: ignore[misc]
                f"{suite.name}: {name} {split}, {done:,} of {total:,} discourses"
            ),
        )
        drafted[split] = Drafted(discourses, drafts, dict(sorted(counted.items())))
    return drafted


def why_empty(drafted: dict[str, Drafted]) -> str:
    """Say why no item came of a config: the commonest reasons."""
    skipped = sum((Counter(one.skipped) for one in drafted.values()), Counter[str]())
    number = sum(len(one.discourses) for one in drafted.values())
    reasons = "; ".join(
        f"{count} {reason}"
        for reason, count in sorted(skipped.items(), key=lambda pair: (-pair[1], pair[0]))[:3]
    )
    return f"no item in {number} discourses ({reasons or 'nothing to apply it to'})"


def write_splits(
    config: Config,
    corpus: Corpus,
    drafted: dict[str, Drafted],
    decisions: dict[str, list[Decision]],
    folder: Path,
    name: str,
    matcher: Matcher | None = None,
) -> dict[str, Any]:
    """Write the splits of one config that have items; their part of its entry in the manifest."""
    kind, how = config.kind, making(config.kind)
    schema = kind.features({column: spec.type for column, spec in config.columns.items()})
    splits: dict[str, Any] = {}
    report: dict[str, Any] = {}
    example: Row | None = None
    licences: Counter[str] = Counter()
    for split, one in drafted.items():
        if not one.drafts:
            continue
        rows = [kind.to_row(how.value(made, n)) for n, made in enumerate(one.drafts, start=1)]
        human: dict[str, Any] = {}
        if matcher is not None and how.judge is not None:
            human = how.judge(matcher, config, name, split, one.drafts, rows)
        written = write_split(folder, name, split, to_table(rows, schema))
        ids = {row[DISCOURSE] for row in rows}
        licences.update(d.licence or corpus.licence for d in one.discourses if d.id in ids)
        splits[split] = {
            "rows": written.rows,
            "discourses": len(ids),
            "num_bytes": written.num_bytes,
            "download_size": written.download_size,
            "content_hash": written.content_hash,
            "groups": group_counts(config, (how.groups(config, d) for d in one.drafts), rows),
            "details": how.details(config, one.drafts),
        }
        report[split] = how.quality(config, one.drafts, decisions[split])
        report[split] |= {"human": human} if human else {}
        if example is None or split == ONE_SPLIT:
            example = kind.example(rows)
    return {
        "licences": dict(sorted(licences.items())),
        "features": schema.to_dict(),
        "splits": splits,
        "skipped": {split: one.skipped for split, one in drafted.items()},
        "quality": report,
        "example": example,
    }
