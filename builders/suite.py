"""The declaration that a builder module fills: a suite, its configs, and what makes their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Literal, Protocol

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import Use as Use
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, ItemEdit, Region, SuiteError
from coherencegym.eval.kinds.items import Contrast as Contrast
from coherencegym.eval.kinds.items import GeneratedItem as GeneratedItem
from coherencegym.eval.kinds.table_kind import FAMILY, TableKind
from coherencegym.eval.kinds.table_kind import Column as Column
from coherencegym.files.strict_json import Name, held
from coherencegym.licence import SUITES
from coherencegym.loaders.corpus import Corpus
from coherencegym.loaders.discourse import Discourse, is_parsed, undo
from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.loaders.languages.registry import SEVERAL, language_of
from coherencegym.loaders.read import Select, every_discourse
from coherencegym.manipulations.operator import Context, Operator, Pipeline
from coherencegym.words import join_texts

#: The genres that a Hub dataset, or a corpus of the user's own, may be said to have.
Genre = Literal["narration", "dialogue", "documents", "papers", "spans", "sections"]

#: Stands for the owner of a repository where nobody named one.
NO_OWNER = "YOUR_NAME"

#: The languages of a config that knows nothing of any.
ANY_LANGUAGE: tuple[str, ...] = ()

#: Most suites are after this paper (BibTeX).
BEYER_2021 = """@inproceedings{beyer-etal-2021-incoherence,
    title = "Is Incoherence Surprising? Targeted Evaluation of Coherence Prediction from Language Models",
    author = "Beyer, Anne and Lo{\\'a}iciga, Sharid and Schlangen, David",
    booktitle = "Proceedings of the 2021 Conference of the North American Chapter of the Association for Computational Linguistics: Human Language Technologies",
    year = "2021",
    pages = "4164--4173",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2021.naacl-main.328",
}"""  # noqa: E501


@dataclass(frozen=True)
class GeneratedDocument:
    """A document, and its sentences without an intruder.

    ``words`` are those of its corpus, where its script has no spaces.
    """

    document: Document
    original: tuple[str, ...]
    words: frozenset[str] = frozenset()


class ItemGenerator(Protocol):
    """Makes the items of one config from one discourse.

    One that must see all discourses of a split first has a method
    ``fit(discourses, context, fits)``, which returns the item generator to call; one that must see
    those of all splits, and of all that its config is spread over, has ``fit_corpus`` with the
    same.
    """

    @property
    def recipe(self) -> str:
        """The operators, as the manifest records them."""
        ...

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The predictions, as the manifest records them."""
        ...

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Any]:
        """Yield :class:`GeneratedItem`, or what else the table is made of; count where none."""
        ...


def context_and_last(discourse: Discourse) -> list[list[int]]:
    """Two regions: all units but the last, and the last."""
    last = len(discourse.units) - 1
    return [list(range(last)), [last]]


def last_alone(discourse: Discourse) -> tuple[str, ...]:
    """Give the partial-input classifier the last unit alone."""
    return (discourse.texts[-1],)


#: A column of suites whose corpora may name the genre of a document.
GENRE = Column("string", "the genre of the document; empty where the corpus names none")

#: The column of suites whose documents may share lines.
FAMILY_COLUMN = {
    FAMILY: Column(
        "string",
        "the document, or the first of the documents that share lines with it; rows of one family "
        "form one cluster in intervals",
    )
}

#: A region of a condition: the units in it, or its text, where it does not keep to units.
RegionContent = Sequence[int] | str


@dataclass(frozen=True, kw_only=True)
class MinimalPairs:
    """Conditions that are made from one discourse, each by an operator; one item for each result.

    ``versions`` names them all, each with the operator that makes it from the corpus's discourse
    (an empty ``Pipeline()`` leaves it as it is). ``both`` is applied to every version last.
    Operators that yield one result give it to every item; those that yield more must yield equally
    many.

    Attributes:
        regions: a discourse's regions, which together are its whole text.
        columns: the suite's own columns, from the first and the last version.
        view: the texts of one condition that the partial-input classifier sees: its discourse ->
            texts.

    Raises:
        ValueError: there is no version, or an operator has to be fitted.
    """

    regions: Callable[[Discourse], Sequence[RegionContent]]
    contrasts: tuple[Contrast, ...]
    view: Callable[[Discourse], tuple[str, ...]]
    versions: Mapping[str, Operator]
    both: Operator = field(default_factory=Pipeline)
    columns: Callable[[Discourse, Discourse], dict[str, Any]] = lambda first, last: {}

    def __post_init__(self) -> None:
        if not self.versions:
            raise ValueError("no versions; expected the operator of each condition")
        for name, operator in self.operators.items():
            for step in _steps(operator):
                if hasattr(step, "fit"):
                    raise ValueError(
                        f"{name}: {step} compares many texts (`fit`); expected an operator that "
                        "needs only one"
                    )

    @property
    def operators(self) -> dict[str, Operator]:
        """Condition -> the operator that makes it."""
        # Not `|`, which an operator of somebody's own may lack.
        return {name: Pipeline((one, self.both)) for name, one in self.versions.items()}

    @property
    def recipe(self) -> str:
        """The operators as they are written."""
        steps = {name: str(operator) for name, operator in self.operators.items()}
        return "; ".join(f"{name}: {step or 'unchanged'}" for name, step in steps.items())

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield one item for each set of versions.

        Raises:
            SuiteError: operators yield different numbers of versions, two of the same ``variant``,
                or do not note their edits.
        """
        made: dict[str, list[Discourse]] = {}
        skipped: Counter[str] = Counter()
        for name, operator in self.operators.items():
            own = Context(context.seed, context.suite)
            made[name] = list(operator(discourse, own))
            # The union counts a step that several conditions share, and its reason, once.
            skipped |= own.skipped
            if not made[name]:
                break
        context.skipped.update(skipped)
        if not all(made.values()):
            return
        number = max(map(len, made.values()))
        if any(len(results) not in (1, number) for results in made.values()):
            found = ", ".join(f"{name}: {len(results)}" for name, results in made.items())
            raise SuiteError(f"{discourse.id}: {found} versions; expected one or equally many")
        sets = [
            {name: results[i % len(results)] for name, results in made.items()}
            for i in range(number)
        ]
        variants = Counter(versions[name].variant for versions in sets)
        if variants.total() > len(variants):
            twice = variants.most_common(1)[0][0]
            raise SuiteError(
                f"{discourse.id}: several results of {self.operators[name]} have the variant "
                f"{twice!r}; expected a variant of its own for each result"
            )
        for versions in sets:
            _check_edits(discourse, versions)
            last, texts = [*versions][-1], [*versions.values()]
            columns = self.columns(texts[0], texts[-1])
            name = texts[-1].variant or last
            item = generate_item(name, versions, self.regions, self.contrasts, self.view, columns)
            if len({condition.content for condition in item.item.conditions}) < len(versions):
                context.skipped["two conditions have the same text"] += 1
            else:
                yield item


def _steps(operator: Operator) -> Iterator[Operator]:
    if isinstance(operator, Pipeline):
        for step in operator.steps:
            yield from _steps(step)
    else:
        yield operator


def _check_edits(discourse: Discourse, versions: Mapping[str, Discourse]) -> None:
    source = undo(discourse)
    for name, version in versions.items():
        try:
            texts = undo(version)
        except ValueError:  # an edit is of other text
            texts = ()
        # An excerpt gives back only its own units.
        if texts != source and (len(texts) in (0, len(source)) or not {*texts} <= {*source}):
            raise SuiteError(
                f"{discourse.id}: the edits of {name!r} do not give back the original text; "
                "expected an operator that notes its edits, as replace_text and reorder do"
            )


def generate_item(
    name: str,
    versions: Mapping[str, Discourse],
    regions: Callable[[Discourse], Sequence[RegionContent]],
    contrasts: tuple[Contrast, ...],
    view: Callable[[Discourse], tuple[str, ...]],
    columns: dict[str, Any],
) -> GeneratedItem:
    """An item of versions of one discourse, by condition; ``name`` ends its id.

    Raises:
        SuiteError: the item is not valid.
    """
    first = next(iter(versions.values()))
    item = Item(
        item_id=f"{first.id}/{name}",
        item_number=0,
        conditions=tuple(
            _condition(condition, version, regions(version))
            for condition, version in versions.items()
        ),
        predictions=tuple(contrast.prediction for contrast in contrasts),
        discourse_id=first.id,
        corpus=first.corpus,
        edits=tuple(
            # A row shows a unit that was taken out by its empty `after`.
            ItemEdit(condition, *astuple(edit)[:-1])
            for condition, version in versions.items()
            for edit in version.edits
        ),
        extra=columns,
    )
    ITEMS.check(item)
    views = {condition: view(version) for condition, version in versions.items()}
    return GeneratedItem(item, contrasts, views, language_of(first).code)


def _condition(name: str, discourse: Discourse, regions: Sequence[RegionContent]) -> Condition:
    texts = (
        region if isinstance(region, str) else join_texts(discourse.units[i].text for i in region)
        for region in regions
    )
    numbered = tuple(Region(number, text) for number, text in enumerate(texts, start=1))
    return Condition(name, discourse.text, numbered)


@dataclass(frozen=True)
class Config:
    """One config of a suite, for every corpus that it can be built from.

    Attributes:
        name: the part behind the corpus in the config's name (``narration_all``); may be empty.
        prefix: the part before the corpus (``pairs``); may be empty.
        one_corpus: true where only one corpus can give it: its name goes without the corpus.
        kind: the kind of the table's rows, of which the generator yields the items.
        corpora: native corpora, best first; the project's sample is read in their formats.
        genre: the genre of Hugging Face datasets it can be built from (``narration``,
            ``dialogue``); empty where a column of texts does not hold what the suite needs.
        generator: makes the items; its ``recipe`` goes into the manifest.
        select: a test for the discourses that the config is about; the others are no loss, and are
            not counted as skipped.
        languages: those that it can be made in (ISO 639-1); :data:`ANY_LANGUAGE`: all.
        by: a key of ``meta``, such as ``genre``: one config is made for each of its values that
            the corpus has; empty where it is one config.
        summary, regions, partial_input: a sentence on it, on each region in order, and on the
            texts that the partial-input classifier sees, for the card and the manifest.
        columns: the suite's own columns.
        breakdowns: columns by whose values scores are also reported.
        separator: true where texts hold ``[SEP]``.
        divided: false where nobody is trained on what it is made from: all documents of a corpus
            that gives no other config go into one split, ``test``, though the suite has a division.
        headline: the group of predictions that the config's own score is over; empty: all of them.
            Where there is one, the first group of a prediction is a detail: counted in a table of
            its own, and left out of macro averages.
        controls: the suite's configs (their names) that have the same manipulation and formulas
            without the incoherence: the evaluator reports the differences of the mean margins.
        length_confound: conditions differ in length by what the manipulation does: the evaluator
            does not warn of it.
        is_diagnostic: true where its score says something of another config or of the corpus, and
            nothing of the suite's hypothesis: it is in no headline, and not exported.
        choice: the coherent conditions that an export asks about in words, where the config is in
            the headline; empty: those of all predictions, but for interactions, whose other
            conditions are no texts to choose between.
        task_defaults: options of the task that reads the table, where nobody says otherwise; of
            labelled examples the ``input`` of the probe, the slot that the answer is ``about``, and
            the ``protocol``, the published task that it is an instance of.
        fewest_of_a_class: classes of labelled examples with fewer rows than this in ``train``, or
            with none in ``validation`` or ``test``, are left out; 0 keeps all.
    """

    name: str
    corpora: tuple[str, ...]
    generator: ItemGenerator
    summary: str
    regions: tuple[str, ...]
    columns: Mapping[str, Column] = field(default_factory=dict)
    breakdowns: tuple[str, ...] = ()
    separator: bool = False
    divided: bool = True
    partial_input: str = ""
    headline: str = ""
    controls: tuple[str, ...] = ()
    length_confound: bool = False
    genre: str = ""
    kind: TableKind[Any] = ITEMS
    select: Select = every_discourse
    languages: tuple[str, ...] = (ENGLISH.code,)
    by: str = ""
    prefix: str = ""
    one_corpus: bool = False
    is_diagnostic: bool = False
    choice: tuple[str, ...] = ()
    fewest_of_a_class: int = 10
    task_defaults: Mapping[str, str] = field(default_factory=dict)

    def takes(self, discourse: Discourse) -> bool:
        """Tell whether the config is about a discourse: of its languages, and one it selects."""
        return self.is_in(language_of(discourse).code) and self.select(discourse)

    def is_in(self, language: str) -> bool:
        """Tell whether it can be made in a language (ISO 639-1; ``mul``: several)."""
        return not self.languages or language == SEVERAL or language in self.languages

    def full_name(self, corpus: str) -> str:
        """The config's name when built from a corpus."""
        middle = "" if self.one_corpus else corpus
        return "_".join(filter(None, (self.prefix, middle, self.name)))


def by_language(config: Config, **changes: Any) -> Config:
    """A config's twin from written documents of DISRPT, one for each language: ``disrpt_nl``."""
    # Rare classes are kept: of most languages there are few documents.
    return replace(
        config,
        **{
            "corpora": ("disrpt",),
            "by": "language",
            "languages": ANY_LANGUAGE,
            "select": _is_written,
            "genre": "",
            "fewest_of_a_class": 0,
            **changes,
        },
    )


def _is_written(discourse: Discourse) -> bool:
    # A whole document that nobody speaks.
    return is_parsed(discourse) and not any(unit.speaker for unit in discourse.units)


@dataclass(frozen=True)
class Suite:
    """A published dataset.

    Attributes:
        name: the dataset's name and the builder module's.
        version: semantic version of the rows; raised when they change.
        hypothesis: the behaviour of a model that notices incoherence.
        limitations: conclusions that a score does not bear.
        uses: questions that configs ask, and what their scores cannot tell, for who chooses one.
        citation: BibTeX of the work that it implements.
        configs: the configs, in order of preference for the default.
        headline: the names of the configs of items whose own scores make the suite's one number;
            none: all of them.
        configure: settings (``permutations=3``) -> the fields that hang on them, if any do.
        one_split: true where the documents of all splits of a corpus go into one split, ``test``:
            for suites from corpora with too few documents to be divided. The division is for
            training on a corpus, and nobody trains on a test suite.
        readings: corpora that this suite reads otherwise than the registry says, by name: other
            files or more annotation of theirs.
        divide: a division, for suites that one may train on: (discourses, seed) -> discourses by
            split, in the place of the corpus's own splits.

    Raises:
        ValueError: a control or the headline is none of the suite's configs, or a
            contrast is of a condition or region that its config does not have.
    """

    name: str
    title: str
    version: str
    hypothesis: str
    description: str
    limitations: tuple[str, ...]
    citation: str
    configs: tuple[Config, ...]
    conditions: Mapping[str, str]
    uses: tuple[Use, ...] = ()
    headline: tuple[str, ...] = ()
    configure: Callable[..., dict[str, Any]] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    settings_help: Mapping[str, str] = field(default_factory=dict)
    one_split: bool = False
    readings: Mapping[str, Corpus] = field(default_factory=dict)
    divide: Callable[[Sequence[Discourse], int], dict[str, list[Discourse]]] | None = None
    tags: tuple[str, ...] = ()
    task_categories: tuple[str, ...] = ("text-classification", "multiple-choice")

    @property
    def repo_id(self) -> str:
        """The repository that a push goes to unless another one is named.

        Of a suite of somebody's own it is no repository yet: ``YOUR_NAME`` stands for its owner.
        """
        return f"{'coherencegym' if self.name in SUITES else NO_OWNER}/{self.name}"

    @property
    def natives(self) -> dict[str, tuple[Config, ...]]:
        """The registered corpora, best first, each with the configs that are made from it."""
        names = dict.fromkeys(name for config in self.configs for name in config.corpora)
        return {name: tuple(c for c in self.configs if name in c.corpora) for name in names}

    def in_headline(self, config: Config) -> bool:
        """Say whether a config's own score is part of the suite's one number."""
        named = not self.headline or config.name in self.headline
        return config.kind is ITEMS and named and not config.is_diagnostic

    def configured(self, **settings: Any) -> Suite:
        """The suite with these settings in place of its own.

        Raises:
            EvaluationError: a setting is of another type than its own, or out of its range.
        """
        if self.configure is None:
            return self
        for name, value in settings.items():
            of_its_type: Any = dict[str, type(self.settings[name])]  # type: ignore[misc]
            settings |= held({name: value}, of_its_type)
        settings = {**self.settings, **settings}
        try:
            return replace(self, settings=settings, **self.configure(**settings))
        except ValueError as error:
            raise EvaluationError(str(error)) from None

    def __post_init__(self) -> None:
        held({"name": self.name}, dict[str, Name])  # as manifests are held to it
        items = [config.name for config in self.configs if config.kind is ITEMS]
        for name in self.headline:
            self._require(name, items, "in the headline", "config of items")
        for config in self.configs:
            others = [other.name for other in self.configs if other.name != config.name]
            for control in config.controls:
                self._require(control, others, f"a control of {config.name!r}", "other config")
            for contrast in config.generator.contrasts:
                self._check(config, contrast)

    def _check(self, config: Config, contrast: Contrast) -> None:
        where = f"in the contrast {contrast.formula} of {config.name!r}"
        # Other item generators make their conditions as they go.
        if isinstance(config.generator, MinimalPairs):
            for condition in (*contrast.worse, *contrast.better):
                self._require(condition, list(config.generator.operators), where, "condition")
        if config.regions and contrast.region != WHOLE:
            known = list(range(1, len(config.regions) + 1))
            for region in contrast.regions:
                self._require(region, known, where, "region")

    def _require(self, name: Any, known: Sequence[Any], where: str, what: str) -> None:
        if name not in known:
            expected = ", ".join(map(repr, dict.fromkeys(known))) or "none, as there is no other"
            raise ValueError(f"{self.name}: {name!r}, {where}, is no {what}; expected {expected}")
