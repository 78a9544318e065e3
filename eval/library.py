"""Items and a loaded model to a table of scores, in Python.

The command line does the same with a model that it loads: both give the same findings
(:class:`eval.tasks.task.Results`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import ItemTable, tables, unverified_table
from coherencegym.eval.data.notes import detail, of_each
from coherencegym.eval.data.pairs import (
    AS_FOUND,
    PairChoices,
    contrasted,
    read_pairs_file,
    table_of_pairs,
)
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.eval.forward.execute import BatchProgress
from coherencegym.eval.kinds.items import Item, SuiteError, read_item
from coherencegym.eval.models.kind import ScorerChoice
from coherencegym.eval.plan.cached import CachedPlans
from coherencegym.eval.plan.options import DEFAULT, DEFAULT_OPTIONS, MODES, Options
from coherencegym.eval.text.choices import BosChoice, MaskingChoice, SpaceChoice
from coherencegym.files.strict_json import held

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.tasks.results import Results
    from coherencegym.eval.tasks.task import StepProgress, Task

#: The name of items that came from no file.
IN_MEMORY = "items"


@dataclass(frozen=True, repr=False)
class Items:
    """Items that were read, and where they are from; iterating gives those of all tables.

    Attributes:
        source: the dataset or the suites.
        tables: the items of each config and split; ``tables[0].items`` are
            :class:`eval.kinds.items.Item`.
        chosen: the choice that was asked for: ``configs``, ``split``, ``max_items``.
    """

    source: Source
    tables: tuple[ItemTable, ...]
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Item]:
        return (item for table in self.tables for item in table.items)

    def __len__(self) -> int:
        return sum(len(table.items) for table in self.tables)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each condition of each item, with its text."""
        from coherencegym.files.frames import data_frame

        return data_frame(
            [
                {
                    **{"config": table.config, "split": table.split, "item_id": item.item_id},
                    **{"condition_name": one.condition_name, "content": one.content},
                }
                for table in self.tables
                for item in table.items
                for one in item.conditions
            ]
        )

    def __repr__(self) -> str:
        parts = ", ".join(f"{t.config} ({t.split}) {len(t.items):,}" for t in self.tables)
        name = " ".join(filter(None, (self.source.suite, self.source.version)))
        return f"<Items of {name}: {parts}>"


def items_of_pairs(
    pairs: Any, choices: PairChoices = AS_FOUND, max_items: int | None = None
) -> Items:
    """Pairs of texts as items with their baselines.

    Args:
        pairs: a file's name, or what :func:`eval.data.pairs.table_of_pairs` takes.
        choices: columns, clusters, groups and aggregation.
        max_items: no more pairs than this, from the start.

    Raises:
        EvaluationError: there is no pair, a column is not there, or a text is none.
    """
    from coherencegym.eval.statistics.pair_baselines import ComputedBaselines

    if isinstance(pairs, str | Path):
        source, (table,) = read_pairs_file(Path(pairs), choices, max_items)
    else:
        source, (table,) = table_of_pairs(pairs, choices, max_items)
    baselines = ComputedBaselines([contrasted(item) for item in table.items])
    return Items(source, (replace(table, baselines=baselines),))


def items_from(
    dataset: str | Path | None = None,
    *,
    suite: str | Path | Sequence[str | Path] | None = None,
    config: str | Sequence[str] = (),
    split: str | None = None,
    revision: str | None = None,
    max_items: int | None = None,
) -> Items:
    """Read the items of a dataset, or of suites in SyntaxGym's JSON.

    Args:
        dataset: a Hub id, or a folder of a build.
        suite: files of SyntaxGym's JSON, or folders of them, in place of a dataset.
        config: names of those of a dataset to read; none: all that hold items.
        split, revision: one split of a dataset, a tag or commit of one on the Hub.
        max_items: no more items than this of each table, from its start.

    Raises:
        EvaluationError: they are not there or cannot be read, or neither or both were named.
        OSError: a suite's file is not there.
    """
    if (dataset is None) == (suite is None):
        raise EvaluationError("items_from: expected a dataset, or suite=FILE, and not both")
    if max_items is not None and max_items < 1:
        raise EvaluationError(f"items_from: max_items={max_items}; expected at least 1, or None")
    names = [config] if isinstance(config, str) else list(config)
    chosen = {"configs": names, "split": split, "max_items": max_items}
    if dataset is not None:
        if str(dataset).endswith(".json"):
            raise EvaluationError(f"items_from: {str(dataset)!r} is a file; expected suite=FILE")
        source = find_dataset(str(dataset), revision, names)
        return Items(source, tuple(tables(source, names, split, max_items)), chosen)
    for option, value in (("config", names), ("split", split), ("revision", revision)):
        if value:
            raise EvaluationError(f"{option}: a suite's file has none")
    from coherencegym.eval.data.syntaxgym import suites

    paths = [suite] if isinstance(suite, str | Path) else list(suite or ())
    if not paths:
        raise EvaluationError("items_from: no file of a suite; expected at least one")
    source, read = suites([Path(path) for path in paths], max_items)
    return Items(source, read, chosen)


def score(
    model: Any,
    tokenizer: Any,
    items: Items | Iterable[Item | Mapping[str, Any]],
    *,
    name: str | None = None,
    commit: str | None = None,
    scorer: ScorerChoice = "auto",
    masking: MaskingChoice = "within_word_l2r",
    bos: BosChoice = "auto",
    separator: str = "auto",
    separator_space: SpaceChoice = "keep",
    truncate: bool = False,
    word_correction: bool = False,
    special_tokens: bool = False,
    compat: str | None = None,
    share: bool = True,
    batch_tokens: int | None = None,
    progress: BatchProgress | None = None,
) -> Results:
    """Score a loaded model on items.

    The model is asked in evaluation mode, and is left in the mode in which it was.

    Args:
        model: a causal or masked language model of transformers, on its device, in any dtype.
        tokenizer: its tokenizer.
        items: those of :func:`items_from`; or items, or rows of a dataset with their columns.
        name: the model's name in results; None: the one it was loaded by.
        commit: the name of its weights in results; None: a digest of them, which reads them all.
        scorer, masking, bos, separator, separator_space, truncate, word_correction, special_tokens,
            share, batch_tokens: see :class:`eval.plan.options.Options`.
        compat: ``syntaxgym-2021`` scores as published numbers were made; it fixes ``bos`` to
            ``special_tokens``.
        progress: called before the first batch of a table and after each with the tokens done and
            those of the table.

    Returns:
        What ``coherencegym score`` prints and writes: a notebook shows its table, ``print`` prints
        it, ``to_pandas`` has its numbers. Surprisals and margins are in bits, scores are
        shares from 0 to 1.

    Raises:
        EvaluationError: the model is none that can be read so, there is no item, an option is wrong
            or contradicts the mode, or a text cannot be scored.
        SuiteError: an item is not valid.
    """
    from coherencegym.eval.models.in_memory import evaluating, in_memory

    options = options_of(
        scorer=scorer,
        masking=masking,
        bos=bos,
        separator=separator,
        separator_space=separator_space,
        truncate=truncate,
        word_correction=word_correction,
        special_tokens=special_tokens,
        compat=compat,
        batch_tokens=batch_tokens,
        share=share,
    )
    read = as_items(items)
    with evaluating(model):
        loaded = in_memory(model, tokenizer, name, commit, scorer=options.scorer)
        return score_loaded(loaded, read, options, progress)


def options_of(*, compat: str | None = None, **chosen: Any) -> Options:
    """The options of reading and running by their names, checked.

    Raises:
        EvaluationError: there is no such option, value or mode, or one contradicts the mode.
    """
    if compat is not None and compat not in MODES:
        raise EvaluationError(f"compat={compat!r}; expected None or one of {', '.join(MODES)}")
    known = {field.name for field in fields(Options)} - {"rules"}
    for name in chosen:
        if name not in known:
            listed = ", ".join(sorted({*known, "compat"}))
            message = f"no option {name!r}; expected one of {listed}{did_you_mean(name, known)}"
            raise EvaluationError(message)
    options = replace(held(chosen, Options), rules=MODES.get(compat or "", DEFAULT))
    options.check()
    return options


def as_items(given: Items | Iterable[Item | Mapping[str, Any]]) -> Items:
    """Items that are read, or that come from no file; at least one.

    Raises:
        EvaluationError: there is none, or one is no item.
        SuiteError: an item is not valid, or is there twice.
    """
    read = given if isinstance(given, Items) else _in_memory_items(given)
    if not len(read):
        raise EvaluationError("no items; expected at least one")
    return read


def score_loaded(
    loaded: LoadedModel,
    items: Items,
    options: Options,
    progress: BatchProgress | None = None,
    plans: CachedPlans | None = None,
) -> Results:
    """Score a model in evaluation mode, of which is known what results say of it.

    Args:
        plans: those of earlier models on these very items; None: nothing is kept.

    Raises:
        EvaluationError: see :func:`score`.
    """
    from coherencegym.eval.outcomes.tables import OutcomeWriter
    from coherencegym.eval.tasks.collect import collect_results
    from coherencegym.eval.tasks.score.options import ScoreOptions
    from coherencegym.eval.tasks.score.task import TASK
    from coherencegym.eval.tasks.task import TaskContext

    if options.is_masked and loaded.scorer == "causal":
        raise EvaluationError(
            f"model {loaded.name!r} is loaded as a causal one; expected "
            f"load_model(..., scorer={options.scorer!r}), or scorer='causal'"
        )
    options = options.settled(loaded.scorer)
    of_model = plans.of(loaded.tokenizer) if plans is not None else None
    writer = OutcomeWriter()
    context = TaskContext(loaded, options, progress=progress, plans=of_model)
    own = ScoreOptions()
    scored, notes = TASK.ask(context, items.tables, own, writer)
    settings = {
        "configs": [],
        "split": None,
        "max_items": None,
        **items.chosen,
        **options.record(),
        **_how_loaded(loaded),
    }
    about = items.source.noted(notes), loaded, scored, writer.tables(), settings, own
    return collect_results(TASK, *about, {})


def _how_loaded(loaded: LoadedModel) -> dict[str, Any]:
    return {
        "model_revision": None,
        "model_args": dict(loaded.arguments),
        "device_map": None,
        "trust_remote_code": loaded.remote_code,
    }


def task_loaded(
    name: str,
    loaded: LoadedModel,
    dataset: str | Path | Mapping[str, Iterable[Any]],
    options: Mapping[str, Any],
    *,
    config: str | Sequence[str] = (),
    split: str = "test",
    revision: str | None = None,
    max_items: int | None = None,
    vectors: str | Path | None = None,
    step: StepProgress | None = None,
) -> Results:
    """Ask a model in evaluation mode what a task of the registry asks.

    Args:
        dataset: a Hub id, a folder of a build, or rows by split, for a task that takes these.
        vectors, step: see :class:`eval.tasks.task.TaskContext`.

    Raises:
        EvaluationError: the dataset cannot be read, there is no such option, or one is wrong.
    """
    from coherencegym.eval.outcomes.tables import OutcomeWriter
    from coherencegym.eval.tasks.collect import collect_results
    from coherencegym.eval.tasks.registry import task_named
    from coherencegym.eval.tasks.task import TaskContext

    task = task_named(name)
    own, reading = task_choices(task, options)
    own = task.resolve(own, lambda: loaded.model.config, type(loaded.model).__name__)
    own = task.settle(own, loaded)
    names = [config] if isinstance(config, str) else list(config)
    if isinstance(dataset, Mapping):
        if task.given is None:
            raise EvaluationError(f"{name}: rows by split; expected a dataset's name or folder")
        inputs, notes = [task.given(dataset, split, own)], []
        source = task.table(inputs[0]).source
    else:
        source = find_dataset(str(dataset), revision, task.names(names, own))
        inputs, notes = task.read(source, names, split, max_items, own)
    inputs, left_out = of_each(inputs, partial(task.accept, own), named=bool(names))
    writer = OutcomeWriter()
    more: dict[str, Any] = {} if step is None else {"step": step}
    folder = None if vectors is None else Path(vectors)
    context = TaskContext(loaded, reading, vectors=folder, **more)
    asked, unasked = task.ask(context, inputs, own, writer)
    settings = {
        **{"configs": names, "split": split, "max_items": max_items},
        **(reading.record() if task.texts is not None and task.reads(own) else {}),
        **_how_loaded(loaded),
    }
    source = source.noted([*notes, *left_out, *unasked])
    about = source, loaded, asked, writer.tables(), settings, own
    return collect_results(task, *about, task.record(own, reading))


#: The options of reading that a call in Python takes beside those of a task.
_READ_OPTIONS = ("bos", "batch_tokens", "share")


def task_choices(task: Task[Any, Any, Any], options: Mapping[str, Any]) -> tuple[Any, Options]:
    """The options of a task, and those of how a model reads texts, where it reads any.

    Raises:
        EvaluationError: there is no such option, or one is wrong.
    """
    from coherencegym.eval.tasks.options import task_options

    beside = _READ_OPTIONS if task.texts is not None else ()
    reads = {name: options[name] for name in beside if name in options}
    given = {name: value for name, value in options.items() if name not in reads}
    own = task.check(task_options(task.command.name, task.command.options, given, beside))
    return own, options_of(**reads) if reads else DEFAULT_OPTIONS


def _in_memory_items(given: Iterable[Item | Mapping[str, Any]]) -> Items:
    # It came from no file.
    items: dict[str, Item] = {}
    for number, each in enumerate(given, start=1):
        if not isinstance(each, Item | Mapping):
            raise EvaluationError(
                f"item {number} is a {type(each).__name__}; expected an Item, or a row of a dataset"
            )
        item = read_item(each)
        if item.item_id in items:
            raise SuiteError(f"{item.item_id}: there more than once; expected an id for each item")
        items[item.item_id] = item
    table = unverified_table(IN_MEMORY, "", list(items.values()))
    note = detail(
        "items from memory: their rows are not verified, and they have no partial-input baseline"
    )
    return Items(Source(IN_MEMORY, Path(), notes=(note,)), (table,) if items else ())
