"""Entries of the manifest about a build's suite, its corpora and its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any

from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.release.manifest import Manifest
from coherencegym.builders.suite import Config, Suite
from coherencegym.eval.data.source import FORMAT, Published
from coherencegym.eval.kinds import TABLE_KINDS
from coherencegym.eval.kinds.table_kind import DISCOURSE, SAMPLE, Row
from coherencegym.licence import OTHER, combined_licence, licence_class
from coherencegym.loaders.corpus import Corpus
from coherencegym.loaders.discourse import Discourse
from coherencegym.papers import published_cells

#: The reason why an item is in no repository.
INCOMPATIBLE = "texts under two licences that exclude each other"


def documents_in(row: Row, known: Container[str]) -> set[str]:
    """The ids of the documents that a row has texts of, of a corpus whose ids are ``known``.

    A document that lent a text stands in a column such as ``partner_discourse``, or in an edit.
    """
    named = {row[name] for name in row if name == DISCOURSE or name.endswith("_discourse")}
    named |= {edit["source_discourse"] for edit in row.get("edits", ())}
    return {document_of(name, known) for name in named if name}


def document_of(name: str, known: Container[str]) -> str:
    """The id of the document that an item, or a part of a document, is of, by its own id.

    >>> document_of("GUM_bio_byron/1-6/matched", {"GUM_bio_byron"})
    'GUM_bio_byron'
    """
    parts = name.split("/")
    starts = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((start for start in starts if start in known), name)


def licence_classes(configs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The classes of licences of the texts in the entries of a manifest, the freest first."""
    return sorted(
        {
            licence_class(combined_licence((config["corpus"]["licence"], licence)))
            for config in configs
            for licence in config["licences"]
        },
        key=lambda name: ("", "-sa", "-nc", "-odbl").index(name),
    )


@dataclass
class LicenceShare:
    """The share of a build whose texts are of one class of licences.

    Attributes:
        name: the class, see :func:`coherencegym.licence.licence_class`.
    """

    name: str
    _licences: dict[str, tuple[str, str]] = field(default_factory=dict)

    def read(self, corpus: Corpus, discourses: Iterable[Discourse]) -> None:
        """Learn the licences of the discourses of a corpus: of the annotation, and of the text."""
        texts = corpus.licence_of_texts
        self._licences = {d.id: (corpus.licence, d.licence or texts) for d in discourses}

    def _class_of(self, documents: Iterable[str]) -> str | None:
        licences = [one for each in documents for one in self._licences.get(each, (OTHER,))]
        found = combined_licence(licences)
        return licence_class(found) if found else None

    def of(self, name: str, discourses: Sequence[Discourse]) -> list[Discourse]:
        """The discourses whose own text is of a class of licences."""
        return [each for each in discourses if self._class_of([each.id]) == name]

    def generate(
        self,
        discourses: Sequence[Discourse],
        generate: Callable[[Sequence[Discourse]], tuple[list[Any], Counter[str]]],
        row_of: Callable[[Any], Row],
    ) -> tuple[list[Any], Counter[str]]:
        """The items that are of the class, in the order of the discourses, and what was skipped.

        An item of several documents is of the class that all of them allow, so an item of a freer
        document may be of the class, too.
        """
        generated, skipped = generate(self.of(self.name, discourses))
        if self.name:
            generated += generate(self.of("", discourses))[0]
        order = {discourse.id: number for number, discourse in enumerate(discourses)}
        chosen = []
        for made in generated:
            row = row_of(made)
            found = self._class_of(documents_in(row, self._licences))
            is_own = self._class_of([row[DISCOURSE]]) == self.name
            skipped[INCOMPATIBLE] += is_own and found is None
            if found == self.name:
                chosen.append((order[row[DISCOURSE]], made))
        return [made for _, made in sorted(chosen, key=lambda one: one[0])], +skipped


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
        **({"question": asdict(config.question)} if config.question else {}),
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
