"""A build: from sources to a folder with data, row hashes, manifest and card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.asked import RowPlace
from coherencegym.builders.judgement.match import Matcher
from coherencegym.builders.judgement.questions import JUDGED_UNITS
from coherencegym.builders.judgement.rows import JUDGED_COLUMNS, judge_rows
from coherencegym.builders.pipeline.entries import (
    config_entry,
    config_rank,
    group_counts,
    suite_entry,
)
from coherencegym.builders.pipeline.fitting import Fits
from coherencegym.builders.pipeline.generation import generate_items, spread
from coherencegym.builders.pipeline.kinds import making
from coherencegym.builders.pipeline.licences import LicenceShare, documents_in
from coherencegym.builders.pipeline.options import BuildOptions as BuildOptions
from coherencegym.builders.pipeline.reading import ONE_SPLIT, read_source, without_separators
from coherencegym.builders.pipeline.repeats import REPEATS, in_families
from coherencegym.builders.pipeline.sources import PlannedCorpus, Sources
from coherencegym.builders.release.baselines import hold_headline, write_baselines
from coherencegym.builders.release.documents import release_documents
from coherencegym.builders.release.manifest import Manifest, in_order
from coherencegym.builders.release.rows import to_table, write_split
from coherencegym.builders.suite import Config, GeneratedDocument, GeneratedItem, Suite
from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.eval.kinds.table_kind import DISCOURSE
from coherencegym.eval.statistics.pair_baselines import BaselineDecision
from coherencegym.loaders.corpus import REPAIRED, Corpus, CorpusError
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import language_of
from coherencegym.loaders.read import ReadingCache
from coherencegym.manipulations.operator import Context
from coherencegym.words.scripts import unspaced_words

#: Types of generated rows whose baselines read words.
_WITH_WORDS = (GeneratedItem, GeneratedDocument)
#: Split -> baseline -> what it decided.
_Decided = Mapping[str, Mapping[str, Sequence[BaselineDecision]]]


def build(
    suite: Suite,
    sources: Sources,
    options: BuildOptions,
    folder: Path,
    matcher: Matcher | None = None,
    *,
    withhold: bool = False,
    progress: Callable[[str], None] = lambda message: None,
    engine: Engine | None = None,
    cache: ReadingCache | None = None,
    share: LicenceShare | None = None,
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

    Raises:
        CorpusError: a source cannot be read, nothing came of all of them, or an answer is about
            no item.
        SuiteError: an item is not valid: a mistake of the suite, not of the user.
    """
    engine = engine or Engine(options.num_proc or 1)
    how = (matcher, withhold, progress, engine, cache, share)
    work = _Build(suite, options, folder, *how)
    configs: dict[str, Any] = {}
    sources.empty.clear()
    for source in sources.found:
        for name, entry in work.entries(source):
            if name in configs or name in sources.empty:
                raise CorpusError(f"two configs are called {name}; name fewer corpora at a time")
            if isinstance(entry, str):
                sources.empty[name] = entry
            else:
                configs[name] = entry
    about = suite_entry(suite, options.version, options.repo_id)
    if not configs:
        if share is not None:
            return about | {"configs": {}}
        raise NoItemsError(_nothing(sources, work.lost, options.limit))
    if matcher is not None and share is None:
        matcher.check()
    hold_headline(configs)
    manifest = in_order(about | {"configs": configs})
    write_documents(manifest, folder)
    return manifest


def write_documents(manifest: Manifest, folder: Path) -> None:
    """Write manifest, card and ``eval.yaml``, which are rendered from the manifest alone."""
    for name, text in release_documents(manifest).items():
        (folder / name).write_text(text, encoding="utf-8")


class NoItemsError(CorpusError):
    """A suite of which the texts gave no row."""


@dataclass(frozen=True)
class _GeneratedSplit:
    # ``measured``: figures of quality that a look at all splits gave.
    discourses: list[Discourse]
    generated: list[Any]
    skipped: dict[str, int]
    measured: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Part:
    # ``matcher``: has what people said of its rows.
    config: Config
    corpus: Corpus
    by_split: dict[str, _GeneratedSplit]
    matcher: Matcher | None

    @property
    def name(self) -> str:
        return self.config.full_name(self.corpus.name)


@dataclass
class _Build:
    suite: Suite
    options: BuildOptions
    folder: Path
    matcher: Matcher | None
    withhold: bool
    progress: Callable[[str], None]
    engine: Engine
    cache: ReadingCache | None
    share: LicenceShare | None

    def __post_init__(self) -> None:
        self.lost: Counter[str] = Counter()  # what was not used of all corpora, by reason
        self.fits = Fits(self.engine, self._tell)

    def _tell(self, message: str) -> None:
        self.progress(f"{self.suite.name}: {message}")

    def entries(self, source: PlannedCorpus) -> Iterator[tuple[str, dict[str, Any] | str]]:
        found = read_source(
            self.suite,
            source,
            self.options,
            self.withhold,
            self.engine,
            self._tell,
            self.cache,
        )
        lost = found.reading.skipped.items()
        self.lost.update({why: times for why, times in lost if not why.startswith(REPAIRED)})
        for config, limited in zip(source.configs, found.configs, strict=True):
            for name, entry in self._configs(config, limited, source.corpus, found.by_split):
                if not isinstance(entry, str):
                    entry["corpus"]["files"] = [file.named for file in found.reading.files]
                    entry["withheld_discourses"] = found.withheld
                    entry["bad_rows"] = dict(sorted(found.reading.skipped.items()))
                yield name, entry

    def _configs(
        self, config: Config, limited: Config, corpus: Corpus, by_split: dict[str, list[Discourse]]
    ) -> Iterator[tuple[str, dict[str, Any] | str]]:
        suite, how = self.suite, making(config.kind)
        everything = [discourse for own in by_split.values() for discourse in own]
        if self.share is not None:
            self.share.read(corpus, everything)
        fitted = self._fit_corpus(limited, everything)
        parts = [
            _in_families(_Part(one, corpus, self._generate(one, corpus, by_split), self.matcher))
            for one in spread(fitted, everything)
        ]
        # One classifier for all that the config is spread over: some parts are small.
        decisions = {
            split: how.decide(
                [each for part in parts for each in part.by_split[split].generated],
                config.breakdowns,
            )
            for split in by_split
        }
        rank = config_rank(suite, config, corpus)
        for part in parts:
            self._tell(f"{part.name}, writing and measuring")
            if not any(one.generated for one in part.by_split.values()):
                yield part.name, _why_empty(part.by_split)
                continue
            yield part.name, self._entry(part, decisions, rank, suite.in_headline(config))

    def _entry(
        self, part: _Part, decisions: _Decided, rank: int, in_headline: bool
    ) -> dict[str, Any]:
        if part.matcher is not None:
            columns = {**part.config.columns, **JUDGED_COLUMNS.get(part.config.kind.name, {})}
            part = replace(part, config=replace(part.config, columns=columns))
        options = self.options
        about = config_entry(self.suite, part.config, part.corpus, options.seed, options.limit)
        about["in_headline"] = in_headline
        about["corpus"]["language"] = _language(part)
        # What a user asked for; of a suite that divides its corpora these are the corpus's own.
        about["splits_asked"] = [] if "all" in options.splits else list(options.splits)
        return about | {"rank": rank} | self._write(part, decisions, about)

    def _fit_corpus(self, config: Config, discourses: list[Discourse]) -> Config:
        if not hasattr(config.generator, "fit_corpus"):
            return config
        clean = list(filter(config.takes, without_separators(discourses)))
        context = Context(self.options.seed, self.suite.name)
        return replace(config, generator=config.generator.fit_corpus(clean, context, self.fits))

    def _generate(
        self, config: Config, corpus: Corpus, by_split: dict[str, list[Discourse]]
    ) -> dict[str, _GeneratedSplit]:
        made = {
            split: self._generate_split(config, corpus, split, by_split[split])
            for split in by_split
        }
        words = _unspaced_words(one.discourses for one in made.values())
        if words:
            made = {split: _with_words(one, words) for split, one in made.items()}
        if (look := making(config.kind).survey) is None:
            return made
        self._tell(f"{config.full_name(corpus.name)}, looking at all splits")
        survey = look(config, {split: one.generated for split, one in made.items()}, words)
        return {
            split: replace(
                one,
                generated=survey.generated[split],
                skipped=dict(sorted({**one.skipped, **survey.skipped[split]}.items())),
                measured=survey.quality.get(split, {}),
            )
            for split, one in made.items()
        }

    def _generate_split(
        self, config: Config, corpus: Corpus, split: str, everything: list[Discourse]
    ) -> _GeneratedSplit:
        discourses = list(filter(config.takes, everything))
        generator, engine = config.generator, self.engine
        if hasattr(generator, "fit"):
            # Nor may what is left out for its text lend a sentence to another document.
            context = Context(self.options.seed, self.suite.name)
            generator = generator.fit(without_separators(discourses), context, self.fits)
        if hasattr(generator, "fit") or hasattr(generator, "fit_corpus"):
            # What it found is not sent about; the finding uses the processors.
            engine = ALONE_IN_PROCESS
        name = config.full_name(corpus.name)

        def generate(chosen: Sequence[Discourse]) -> tuple[list[Any], Counter[str]]:
            return generate_items(
                generator,
                chosen,
                seed=self.options.seed,
                suite=self.suite.name,
                engine=engine,
                progress=lambda done: self._tell(
                    f"{name} {split}, {done:,} of {len(chosen):,} discourses"
                ),
            )

        if self.share is None:
            generated, skipped = generate(discourses)
        else:
            kind, value = config.kind, making(config.kind).value
            row_of = lambda made: kind.to_row(value(made, 1))  # noqa: E731
            generated, skipped = self.share.generate(discourses, generate, row_of)
        first: dict[Hashable, Any] = {}
        for made in generated:
            first.setdefault(making(config.kind).content(made), made)
        if twice := len(generated) - len(first):
            skipped["the same texts as an earlier item"] += twice
        return _GeneratedSplit(discourses, list(first.values()), dict(sorted(skipped.items())))

    def _write(
        self,
        part: _Part,
        decisions: _Decided,
        about: Mapping[str, Any],
    ) -> dict[str, Any]:
        config, kind, how = part.config, part.config.kind, making(part.config.kind)
        all_rows = {
            split: [
                kind.to_row(how.value(made, n)) for n, made in enumerate(one.generated, start=1)
            ]
            for split, one in part.by_split.items()
            if one.generated
        }
        own_types = {column: spec.type for column, spec in config.columns.items()}
        schema = kind.features(own_types, chain.from_iterable(all_rows.values()))
        features = schema.to_dict()
        licences, texts = Counter[str](), part.corpus.licence_of_texts
        splits, quality, examples = {}, {}, {}
        for split, rows in all_rows.items():
            one = part.by_split[split]
            decided = how.baselines(config, one.generated, decisions[split])
            quality[split] = how.quality(config, one.generated, decided) | one.measured
            if kind.name in JUDGED_UNITS:
                place = RowPlace(self.suite.name, part.name, split, {**about, "features": features})
                values = (how.value(made, n) for n, made in enumerate(one.generated, start=1))
                human = judge_rows(part.matcher, place, config, values, rows)
                quality[split] |= {"human": human} if human else {}
            written = write_split(self.folder, part.name, split, to_table(rows, schema))
            own = {row[DISCOURSE] for row in rows}
            splits[split] = {
                "rows": written.rows,
                "discourses": len(own),
                "num_bytes": written.num_bytes,
                "download_size": written.download_size,
                "content_hash": written.content_hash,
                "groups": group_counts(
                    config, (how.groups(config, d) for d in one.generated), rows
                ),
                "details": how.details(config, one.generated),
                **write_baselines(self.folder, part.name, split, decided, how.folds(one.generated)),
            }
            licence_of = {d.id: d.licence or texts for d in one.discourses}
            read = {each for row in rows for each in documents_in(row, licence_of)}
            licences.update(licence_of[each] for each in read & licence_of.keys())
            examples[split] = kind.example(rows)
        return {
            "licences": dict(sorted(licences.items())),
            "features": features,
            "splits": splits,
            "skipped": {split: one.skipped for split, one in part.by_split.items()},
            "quality": quality,
            "example": examples.get(ONE_SPLIT, next(iter(examples.values()))),
        }


def _unspaced_words(discourses: Iterable[Sequence[Discourse]]) -> frozenset[str]:
    return unspaced_words(
        unit.text[word.start : word.end]
        for discourse in chain.from_iterable(discourses)
        for unit in discourse.units
        if not unit.text.isascii()
        for word in unit.words
    )


def _with_words(made: _GeneratedSplit, words: frozenset[str]) -> _GeneratedSplit:
    return replace(
        made,
        generated=[
            replace(one, words=words) if isinstance(one, _WITH_WORDS) else one
            for one in made.generated
        ],
    )


def _in_families(part: _Part) -> _Part:
    by_split = {
        split: replace(one, generated=in_families(one.generated, one.discourses))
        for split, one in part.by_split.items()
    }
    if by_split == part.by_split:
        return part
    columns = {**REPEATS, **part.config.columns}
    return replace(part, config=replace(part.config, columns=columns), by_split=by_split)


def _language(part: _Part) -> str:
    # A corpus of several languages gives a config of one, or of several.
    found = {language_of(d).code for one in part.by_split.values() for d in one.discourses}
    return found.pop() if len(found) == 1 else part.corpus.language


def _nothing(sources: Sources, lost: Mapping[str, int], limit: int | None) -> str:
    said = ["no corpus gave a single item; nothing is written"]
    said += [f"not used: {_commonest(lost)}"] if lost else []
    said += [f"{name}: {why}" for name, why in sources.empty.items()][:1]
    return "; ".join([*said, *([f"expected more than --limit {limit}"] if limit else [])])


def _why_empty(by_split: dict[str, _GeneratedSplit]) -> str:
    skipped = sum((Counter(one.skipped) for one in by_split.values()), Counter[str]())
    number = sum(len(one.discourses) for one in by_split.values())
    return f"no item in {number} discourses ({_commonest(skipped) or 'nothing to apply it to'})"


def _commonest(reasons: Mapping[str, int]) -> str:
    commonest = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))[:3]
    return "; ".join(f"{count} {reason}" for reason, count in commonest)
