"""A build: from sources to a folder with data, row hashes, manifest and card.

A source is read, items are generated of its documents, and each config becomes tables, which are
measured and written.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.answers import JUDGED_COLUMNS, Matcher, judge_rows
from coherencegym.builders.judgement.questions import JUDGED_UNITS, RowPlace
from coherencegym.builders.pipeline import kinds
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.pipeline.options import BuildOptions as BuildOptions
from coherencegym.builders.pipeline.sources import REPEATS, PlannedCorpus, in_families
from coherencegym.builders.release.manifest import (
    Manifest,
    config_entry,
    config_rank,
    in_order,
    suite_entry,
    to_table,
    write_documents,
    write_split,
)
from coherencegym.builders.release.publish import LicenceShare, documents_in
from coherencegym.builders.release.quality import (
    baseline_decisions,
    example_quality,
    hold_headline,
    without_rare_classes,
    write_baselines,
)
from coherencegym.builders.suite import (
    Config,
    GeneratedDocument,
    GeneratedItem,
    ItemGenerator,
    Suite,
)
from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.eval.kinds.documents import EXAMPLES
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.table_kind import DISCOURSE, SEPARATOR, to_row
from coherencegym.eval.statistics.control import checked_items
from coherencegym.eval.statistics.pair_baselines import BaselineDecision, partial_input_decisions
from coherencegym.licence import may_republish
from coherencegym.loaders.corpus import REPAIRED, Corpus, CorpusError
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import language_of
from coherencegym.loaders.read import Quota, Reading, ReadingCache, read
from coherencegym.manipulations.operator import Context
from coherencegym.words import unspaced_words

#: The split of a suite that does not divide its corpora.
ONE_SPLIT = "test"
#: Types of generated rows whose baselines read words.
_WITH_WORDS = (GeneratedItem, GeneratedDocument)
_BySplit = dict[str, list[Discourse]]


class NoItemsError(CorpusError):
    """A suite of which the texts gave no row."""


def build(
    suite: Suite,
    sources: Sequence[PlannedCorpus],
    options: BuildOptions,
    folder: Path,
    matcher: Matcher | None = None,
    *,
    withhold: bool = False,
    progress: Callable[[str], None] = lambda message: None,
    engine: Engine | None = None,
    cache: ReadingCache | None = None,
    share: LicenceShare | None = None,
    empty: dict[str, str] | None = None,
) -> Manifest:
    """Build every config of the sources into ``folder``, which is empty.

    Args:
        suite, sources, options: the suite, and what and how it is built from.
        folder: gets the manifest, which is also returned, data, hashes and card.
        matcher: has what people said of the suite's items, if anybody was asked: rows then have
            the column ``human_ok``, and documents ``human``.
        withhold: leave out documents that may not be published, by the licence of their text,
            where others of their corpus may.
        progress: told what is being done.
        engine: runs the blocks of it; none: this machine, with the options' ``num_proc``.
        cache: has the corpora that a build before this one read, if any did.
        share: build only the items whose texts are of one class of licences, which may be none: the
            manifest then has no config, and nothing is written. Answers about other items are
            passed over.
        empty: gets the names of configs of which no item came, each with the reason.
    """
    empty = {} if empty is None else empty
    fits = Fits(engine or Engine(options.num_proc or 1), lambda m: progress(f"{suite.name}: {m}"))
    lost = Counter[str]()  # what was not used of all corpora, by reason
    configs: dict[str, Any] = {}
    for source in sources:
        limited, reading, by_split, withheld = read_source(
            suite, source, options, withhold, fits, cache
        )
        skipped = dict(sorted(reading.skipped.items()))
        lost.update({why: n for why, n in skipped.items() if not why.startswith(REPAIRED)})
        if share is not None:
            share.read(source.corpus, list(chain.from_iterable(by_split.values())))
        for declared, config in zip(source.configs, limited, strict=True):
            made = list(generate(suite, config, source.corpus, by_split, options.seed, fits, share))
            decisions = _decisions(config, [splits for _, splits in made])
            for part, splits in made:
                name = part.full_name(source.corpus.name)
                if name in configs or name in empty:
                    message = f"two configs are called {name}; name fewer corpora at a time"
                    raise CorpusError(message)
                fits.progress(f"{name}, writing and measuring")
                if not any(one.items for one in splits.values()):
                    empty[name] = _why_empty(splits)
                    continue
                if matcher is not None:
                    judged = JUDGED_COLUMNS.get(part.kind.name, {})
                    part = replace(part, columns={**part.columns, **judged})
                entry = config_entry(suite, part, source.corpus, options) | {
                    "in_headline": suite.in_headline(declared),
                    "rank": config_rank(suite, declared, source.corpus),
                    "withheld_discourses": withheld,
                    "bad_rows": skipped,
                }
                entry["corpus"]["files"] = [*reading.files]
                place = RowPlace(suite.name, name, "", entry)
                configs[name] = entry | write(
                    part, source.corpus, splits, decisions, place, folder, matcher
                )
    about_suite = suite_entry(suite, options.version, options.repo_id)
    if not configs:
        if share is not None:
            return about_suite | {"configs": {}}
        raise NoItemsError(_nothing(empty, lost, options.limit))
    if matcher is not None and share is None:
        matcher.check()
    hold_headline(configs)
    manifest = in_order(about_suite | {"configs": configs})
    write_documents(manifest, folder)
    return manifest


# Reading ------------------------------------------------------------------------------------------


def read_source(
    suite: Suite,
    source: PlannedCorpus,
    options: BuildOptions,
    withhold: bool,
    fits: Fits,
    cache: ReadingCache | None = None,
) -> tuple[list[Config], Reading, _BySplit, int]:
    """Read a source; ``withhold``: without documents of texts that no licence lets one publish.

    Returns:
        Its configs, which of a limited build select no more than so many discourses; the reading;
        its discourses by split; and how many were left out for the licence of their texts.
    """
    corpus = source.corpus
    splits = corpus.splits if "all" in options.splits else options.splits
    reading = read(
        corpus,
        data_dir=options.data_dir,
        splits=splits or None,
        skip_bad_rows=options.skip_bad_rows,
        limit=options.limit,
        uses=[config.takes for config in source.configs],
        found=None if splits else source.found,
        engine=fits.engine,
        progress=lambda done, shards: fits.progress(
            f"reading {corpus.name}, {done:,} of {shards:,} shards"
        ),
        cache=cache,
    )
    discourses, texts = list(reading), corpus.licence_of_texts
    configs = [_limited(one, discourses, options.limit) for one in source.configs]
    kept = discourses
    # A corpus that is closed as a whole is built for whoever builds it, and left out of a push.
    if withhold and corpus.republishable:
        kept = [one for one in discourses if may_republish(one.licence or texts)]
    withheld = len(discourses) - len(kept)
    if suite.one_split or not any(one.divided for one in source.configs):
        return configs, reading, {ONE_SPLIT: kept} if kept else {}, withheld
    by_split = defaultdict(list)
    for discourse in kept:
        by_split[discourse.meta["split"]].append(discourse)
    if suite.divide is None:
        return configs, reading, dict(by_split), withheld
    everything = list(chain.from_iterable(by_split.values()))
    return configs, reading, suite.divide(everything, options.seed), withheld


def _limited(config: Config, discourses: Sequence[Discourse], limit: int | None) -> Config:
    if limit is None:
        return config
    quotas: dict[str, Quota] = defaultdict(lambda: Quota(limit, [config.takes]))
    taken = {one.id for one in discourses if quotas[one.meta["split"]].takes(one)}
    return replace(config, select=lambda discourse: discourse.id in taken)


def _without_separators(discourses: list[Discourse]) -> list[Discourse]:
    # Those that are not left out because their own text holds the separator.
    return [d for d in discourses if not any(SEPARATOR in text for text in d.texts)]


# Generating ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Generated:
    """The items of a split.

    Attributes:
        discourses, items: what they were made of, and they themselves.
        skipped: reason -> how many discourses or items are not there.
        measured: figures of quality that a look at all splits gave.
    """

    discourses: list[Discourse]
    items: list[Any]
    skipped: dict[str, int]
    measured: dict[str, Any] = field(default_factory=dict)


#: Discourses of a block: what one worker holds.
CHUNK = 200


@cache
def part_name(value: str) -> str:
    """A value as a part of a config's name: lower-case letters, digits and ``_``.

    >>> part_name("Trains 93"), part_name("bio")
    ('trains_93', 'bio')
    """
    return re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_")


def spread(config: Config, discourses: Iterable[Discourse]) -> list[Config]:
    """The config for each value of ``meta[config.by]`` that the discourses have, in their order.

    Which genres a corpus has only its documents say: a suite declares one config with
    ``by="genre"``. The value goes before the config's own name (``gum_bio_spillover``); a discourse
    without the property is of the config without a value (``arrau_spillover``). A config that is
    not ``by`` anything comes back as it is.
    """
    if not config.by:
        return [config]

    def value_of(discourse: Discourse) -> str:
        return part_name(discourse.meta.get(config.by, ""))

    def part(value: str) -> Config:
        return replace(
            config,
            name="_".join(filter(None, (value, config.name))),
            select=lambda discourse: value_of(discourse) == value and config.takes(discourse),
            by="",
        )

    return [part(value) for value in sorted({value_of(d) for d in discourses if config.takes(d)})]


def generate_items(
    generator: ItemGenerator,
    discourses: Sequence[Discourse],
    *,
    seed: int,
    suite: str,
    engine: Engine = ALONE_IN_PROCESS,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Any], Counter[str]]:
    """The items that ``generator`` makes of the discourses, in their order, and what it skipped.

    A discourse whose own text holds ``[SEP]`` is skipped everywhere, so that configs with and
    without separators have the same items. ``progress`` is told how many
    discourses are done. The result does not depend on the engine.
    """
    chunks = [(discourses[i : i + CHUNK],) for i in range(0, len(discourses), CHUNK)]
    work = partial(generate_block, generator, seed, suite)
    generated: list[Any] = []
    skipped: Counter[str] = Counter()
    done = 0
    for (some,), (made, counted) in zip(chunks, engine.run(work, chunks), strict=True):
        generated += made
        skipped += Counter(counted)
        done += len(some)
        progress(done)
    return generated, skipped


def generate_block(
    generator: ItemGenerator, seed: int, suite: str, discourses: Sequence[Discourse]
) -> tuple[list[Any], dict[str, int]]:
    """The items of a block of discourses, and what was skipped."""
    context = Context(seed, suite)
    generated: list[Any] = []
    for discourse in discourses:
        if any(SEPARATOR in text for text in discourse.texts):
            context.skipped[f"the text itself contains {SEPARATOR}"] += 1
        else:
            generated += generator(discourse, context)
    return generated, dict(context.skipped)


def generate(
    suite: Suite,
    config: Config,
    corpus: Corpus,
    by_split: Mapping[str, list[Discourse]],
    seed: int,
    fits: Fits,
    share: LicenceShare | None = None,
) -> Iterator[tuple[Config, dict[str, Generated]]]:
    """The items of a config by split, or of each of those that it is spread over."""
    everything = list(chain.from_iterable(by_split.values()))
    if hasattr(config.generator, "fit_corpus"):
        clean = list(filter(config.takes, _without_separators(everything)))
        generator = config.generator.fit_corpus(clean, Context(seed, suite.name), fits)
        config = replace(config, generator=generator)
    for part in spread(config, everything):
        name = part.full_name(corpus.name)
        made = {
            split: _generate_split(suite, part, f"{name} {split}", own, seed, fits, share)
            for split, own in by_split.items()
        }
        words = _unspaced_words(one.discourses for one in made.values())
        if words:
            made = {split: _with_words(one, words) for split, one in made.items()}
        if part.kind is EXAMPLES:
            fits.progress(f"{name}, looking at all splits")
            made = measured_examples(part, made, words)
        of_families = {
            split: replace(one, items=in_families(one.items, one.discourses))
            for split, one in made.items()
        }
        if of_families != made:
            part = replace(part, columns={**REPEATS, **part.columns})
        yield part, of_families


def _generate_split(
    suite: Suite,
    config: Config,
    name: str,
    everything: list[Discourse],
    seed: int,
    fits: Fits,
    share: LicenceShare | None,
) -> Generated:
    discourses = list(filter(config.takes, everything))
    generator, engine = config.generator, fits.engine
    if hasattr(generator, "fit"):
        # Nor may what is left out for its text lend a sentence to another document.
        clean = _without_separators(discourses)
        generator = generator.fit(clean, Context(seed, suite.name), fits)
    if hasattr(generator, "fit") or hasattr(generator, "fit_corpus"):
        # What it found is not sent about; the finding uses the processors.
        engine = ALONE_IN_PROCESS

    def generate_of(chosen: Sequence[Discourse]) -> tuple[list[Any], Counter[str]]:
        return generate_items(
            generator,
            chosen,
            seed=seed,
            suite=suite.name,
            engine=engine,
            progress=lambda done: fits.progress(f"{name}, {done:,} of {len(chosen):,} discourses"),
        )

    if share is None:
        items, skipped = generate_of(discourses)
    else:
        row_of = lambda made: to_row(kinds.row_value(made, 1))  # noqa: E731
        items, skipped = share.generate(discourses, generate_of, row_of)
    first: dict[Hashable, Any] = {}
    for made in items:
        first.setdefault(kinds.content(made), made)
    if twice := len(items) - len(first):
        skipped["the same texts as an earlier item"] += twice
    return Generated(discourses, list(first.values()), dict(sorted(skipped.items())))


def _unspaced_words(discourses: Iterable[Sequence[Discourse]]) -> frozenset[str]:
    return unspaced_words(
        unit.text[word.start : word.end]
        for discourse in chain.from_iterable(discourses)
        for unit in discourse.units
        if not unit.text.isascii()
        for word in unit.words
    )


def _with_words(made: Generated, words: frozenset[str]) -> Generated:
    items = [replace(m, words=words) if isinstance(m, _WITH_WORDS) else m for m in made.items]
    return replace(made, items=items)


def measured_examples(
    config: Config, made: Mapping[str, Generated], words: frozenset[str]
) -> dict[str, Generated]:
    """Labelled examples without rare classes, measured: both need all splits at once.

    ``words`` are those of a corpus whose script has no spaces.
    """
    items = {split: one.items for split, one in made.items()}
    kept, skipped = without_rare_classes(items, config.fewest_of_a_class)
    quality = example_quality(kept, config.regions, words)
    return {
        split: replace(
            one,
            items=kept[split],
            skipped=dict(sorted({**one.skipped, **skipped[split]}.items())),
            measured=quality.get(split, {}),
        )
        for split, one in made.items()
    }


def _decisions(
    config: Config, parts: Sequence[Mapping[str, Generated]]
) -> dict[str, Sequence[BaselineDecision]]:
    # One classifier for all that the config is spread over: some parts are small.
    if config.kind is not ITEMS or not parts:
        return {}
    return {
        split: partial_input_decisions([made for splits in parts for made in splits[split].items])
        for split in parts[0]
    }


# Writing ------------------------------------------------------------------------------------------


def write(
    config: Config,
    corpus: Corpus,
    made: Mapping[str, Generated],
    decisions: Mapping[str, Sequence[BaselineDecision]],
    place: RowPlace,
    folder: Path,
    matcher: Matcher | None = None,
) -> dict[str, Any]:
    """Write the tables of a config, their row hashes and the decisions of baselines.

    Args:
        config, corpus: what the rows are of.
        made: the items by split, of which there is one.
        decisions: split -> what the partial-input classifier says of the items of all that the
            declared config is spread over.
        place: the suite, the config's full name, and the part of the manifest's entry that does
            not hang on rows; a split is named in it here, and the language if there is one.
        folder: the build.
        matcher: has what people said of the items.

    Returns:
        The rest of the entry, with the figures that are measured on the rows.
    """
    kind, name = config.kind, place.config
    # A corpus of several languages gives a config of one, or of several.
    languages = {language_of(d).code for one in made.values() for d in one.discourses}
    if len(languages) == 1:
        place.about["corpus"]["language"] = languages.pop()
    values = {
        split: [kinds.row_value(item, n) for n, item in enumerate(one.items, start=1)]
        for split, one in made.items()
        if one.items
    }
    all_rows = {split: [to_row(value) for value in own] for split, own in values.items()}
    own_types = {column: spec.type for column, spec in config.columns.items()}
    schema = kind.features(own_types, chain.from_iterable(all_rows.values()))
    features = schema.to_dict()
    licences, texts = Counter[str](), corpus.licence_of_texts
    splits, quality, examples = {}, {}, {}
    for split, rows in all_rows.items():
        items, discourses = made[split].items, made[split].discourses
        decided: Mapping[str, Sequence[BaselineDecision]] = {}
        control = None
        if kind is ITEMS:
            decided = baseline_decisions(items, decisions[split])
            control = checked_items(items, config.headline)
        quality[split] = kinds.measured(config, items, decided, control) | made[split].measured
        if kind.name in JUDGED_UNITS:
            asked = replace(place, split=split, about={**place.about, "features": features})
            human = judge_rows(matcher, asked, config, values[split], rows)
            quality[split] |= {"human": human} if human else {}
        splits[split] = {
            **write_split(folder, name, split, to_table(rows, schema)),
            "discourses": len({row[DISCOURSE] for row in rows}),
            "groups": kinds.group_counts(config, items, rows),
            **(write_baselines(folder, name, split, decided, control) if control else {}),
        }
        licence_of = {d.id: d.licence or texts for d in discourses}
        read_ones = {each for row in rows for each in documents_in(row, licence_of)}
        licences.update(licence_of[each] for each in read_ones & licence_of.keys())
        examples[split] = kind.example([row for row in rows if _counts(config, row)] or rows)
    return {
        "licences": dict(sorted(licences.items())),
        "features": features,
        "splits": splits,
        "skipped": {split: one.skipped for split, one in made.items()},
        "quality": quality,
        "example": examples.get(ONE_SPLIT, next(iter(examples.values()))),
    }


def _counts(config: Config, row: Mapping[str, Any]) -> bool:
    """Tell whether a row has a prediction that the config's own score is over."""
    groups = (prediction["groups"] for prediction in row.get("predictions", ()))
    return not config.headline or any(config.headline in each for each in groups)


def _nothing(empty: Mapping[str, str], lost: Counter[str], limit: int | None) -> str:
    said = ["no corpus gave a single item; nothing is written"]
    if lost:
        commonest = (f"{reason} ({count})" for reason, count in lost.most_common(3))
        said.append(f"not used: {'; '.join(commonest)}")
    said += [f"{name}: {why}" for name, why in empty.items()][:1]
    return "; ".join([*said, *([f"expected more than --limit {limit}"] if limit else [])])


def _why_empty(splits: Mapping[str, Generated]) -> str:
    skipped = sum((Counter(one.skipped) for one in splits.values()), Counter[str]())
    return min(skipped, key=lambda why: (-skipped[why], why), default="nothing to apply it to")
