"""The toolkit in one call each: build a suite, score models on suites, compare them.

::

    import coherencegym as cg

    cg.score("gpt2", "coherencegym/sentence_order")
    cg.score(["gpt2", "gpt2-medium"], cg.build("story_cloze", corpus="sample"))

What is given may be a name, a folder, or a value that is loaded already; a list of them is each in
turn. A mistake is an :class:`~coherencegym.errors.EvaluationError` of one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

    from coherencegym.builders.suite import Suite
    from coherencegym.eval.library import Items
    from coherencegym.eval.models.kind import ScorerChoice
    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.tasks.results import Results
    from coherencegym.eval.tasks.task import Task
    from coherencegym.eval.text_surprisal import TextUnit
    from coherencegym.eval.views.notebook import Comparisons
    from coherencegym.eval.views.overview import ShownOverview

_MODEL = "expected a model id, a folder, a loaded model, or a list of these"
_DATA = "expected a dataset's name or folder, items, pairs of texts, or a list of these"


def load_items(
    dataset: str | Path,
    *,
    config: str | Sequence[str] = (),
    split: str | None = None,
    revision: str | None = None,
    limit: int | None = None,
) -> Items:
    """Read the items of a dataset, or of suites in SyntaxGym's JSON.

    Args:
        dataset: a Hub id, the folder of a build, or a file of SyntaxGym's JSON.
        config: names of configs; none: all.
        split: name of one split, or ``all``; None: all, or ``test`` where there is ``train``.
        revision: tag or commit of a Hub dataset; None: the newest.
        limit: no more items than this of each table, from its start.

    Raises:
        EvaluationError: they are not there, or cannot be read.
    """
    from coherencegym.eval.library import items_from

    if not isinstance(dataset, str | Path):
        raise EvaluationError(f"load_items: {_named(dataset)}; expected a dataset's name or folder")
    chosen: dict[str, Any] = {"config": config, "split": split, "revision": revision}
    _check_chosen({**chosen, "limit": limit})
    if not str(dataset).endswith(".json") or Path(dataset).is_dir():
        return items_from(dataset, max_items=limit, **chosen)
    try:
        return items_from(suite=dataset, max_items=limit, **chosen)
    except OSError as error:
        raise EvaluationError(f"{dataset}: {error.strerror}; expected a suite's file") from None


def load_pairs(
    pairs: Any,
    *,
    good: str | None = None,
    bad: str | None = None,
    context: str | None = None,
    cluster_by: str | None = None,
    group_by: str | Sequence[str] = (),
    aggregation: str = "sum",
    limit: int | None = None,
) -> Items:
    """Pairs of texts as items: is the better text the less surprising one?

    Args:
        pairs: ``(good, bad)`` or ``(context, good, bad)`` each; a data frame or rows with columns
            such as ``sentence_good`` and ``sentence_bad``, ``good`` and ``bad``, ``chosen`` and
            ``rejected``; or a file of such rows: CSV, TSV, JSON lines, parquet.
        good, bad, context: the columns, where they have other names.
        cluster_by: the column by which pairs are drawn together (their document, their template),
            for intervals; None: each pair is drawn by itself.
        group_by: columns by whose values there are scores, too.
        aggregation: ``sum``, ``mean``, ... of the bits of a text's tokens.
        limit: no more pairs than this, from the start.

    Raises:
        EvaluationError: there is no pair, a column is not there, or a text is none.
    """
    from coherencegym.eval.data.pairs import PairChoices
    from coherencegym.eval.library import items_of_pairs

    choices = PairChoices(good, bad, context, cluster_by, group_by, aggregation)
    return items_of_pairs(pairs, choices, limit)


def _check_chosen(chosen: Mapping[str, Any]) -> None:
    limit, config = chosen["limit"], chosen["config"]
    if limit is not None and (type(limit) is not int or limit < 1):
        raise EvaluationError(f"limit={limit!r}; expected a whole number of at least 1, or None")
    _names("config", config)
    for name in ("split", "revision"):
        if not isinstance(chosen[name], str | None):
            raise EvaluationError(f"{name}={chosen[name]!r}; expected a name, or None")


def _names(option: str, given: Any) -> list[str]:
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Sequence) or not all(isinstance(name, str) for name in several):
        raise EvaluationError(f"{option}={given!r}; expected a name, or a list of names")
    return list(several)


def score(
    model: Any,
    dataset: Any,
    *,
    tokenizer: Any = None,
    config: str | Sequence[str] = (),
    split: str | None = None,
    revision: str | None = None,
    limit: int | None = None,
    data_dir: str | Path | None = None,
    device: str = "auto",
    dtype: str = "auto",
    output: str | Path | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Results | ShownOverview:
    """Score models on suites.

    Args:
        model: a Hub id or a folder; what :func:`load_model` returns; a model of transformers, with
            ``tokenizer``, or a pair of both; or a list of these.
        dataset: a dataset's name or folder, what :func:`load_items` or :func:`build` returns, items
            or rows; pairs of texts, as :func:`load_pairs` takes them; or a list of names.
        tokenizer: that of a loaded model; None: the one of the files that it was loaded from.
        config, split, revision, limit: parts, see :func:`load_items`, of a dataset given by name.
        data_dir: a folder of corpus files, of a dataset without its texts: see :func:`rebuild`.
        device, dtype: place and numbers, see :func:`load_model`, of models given by name.
        output: a folder to write results to; for several, one in it for each, written as soon as
            its scores are there, and an overview of all that are in it.
        overwrite: replace results that are there.
        options: ``scorer``, ``masking``, ``bos``, ``separator``, ``truncate``, ``compat``, ...
            (:func:`coherencegym.eval.library.score`).

    Returns:
        The results of one model on one dataset, or an overview of several, which shows a row for
        each suite and a column for each model. Both show themselves in a notebook and under
        ``print``; scores are shares from 0 to 1, surprisals bits.

    Raises:
        EvaluationError: a model or a dataset is not there, an option is wrong, or results are there
            already.
    """
    from coherencegym.eval.library import options_of, score_loaded
    from coherencegym.eval.models.in_memory import evaluating
    from coherencegym.eval.models.load import load
    from coherencegym.eval.plan.cached import CachedPlans
    from coherencegym.eval.results.read import runs_beside
    from coherencegym.eval.views.overview import overview, write_overview
    from coherencegym.eval.views.page import write_results_folder

    if not isinstance(output, str | Path | None):
        raise EvaluationError(f"score: output: {_named(output)}; expected a folder, or None")
    for name, value in (("device", device), ("dtype", dtype)):
        if not isinstance(value, str):
            raise EvaluationError(f"score: {name}: {_named(value)}; expected a name")
    chosen_options = options_of(**{"scorer": "auto", **options})
    models = list(model) if isinstance(model, list) else [model]
    if not models:
        raise EvaluationError(f"score: nothing to score; {_MODEL}")
    chosen = {"config": config, "split": split, "revision": revision, "limit": limit}
    if data_dir is None:
        read = read_data(dataset, chosen)
    else:
        one_by_one = dataset if _are_several(dataset) else [dataset]
        made = [rebuild(d, data_dir=data_dir, revision=revision, config=config) for d in one_by_one]
        read = read_data(made, {**chosen, "revision": None})
    # All that can be refused before hours of scoring: the last model may not be there.
    scorer = chosen_options.scorer
    given = [_model(each, tokenizer, alone=len(models) == 1, scorer=scorer) for each in models]
    ways = scorer, chosen_options.masking
    folders = None if output is None else _folders(Path(output), given, read, ways, overwrite)
    # Of several models those with one tokenizer read the same tokens.
    plans = CachedPlans() if len(given) > 1 else None
    runs = []
    for model_number, each in enumerate(given):
        loaded = load(each, device, dtype, scorer=scorer) if isinstance(each, str) else each
        with evaluating(loaded.model):
            for data_number, items in enumerate(read):
                results = score_loaded(loaded, items, chosen_options, plans=plans)
                if folders is not None:
                    folder = folders[model_number][data_number]
                    named = each, items.source.repo or items.source.name
                    how = {**chosen, "device": device, "dtype": dtype, **options}
                    how["data_dir"] = None if data_dir is None else str(data_dir)
                    more = _run_file(results, named, how, folder)
                    write_results_folder(results, folder, overwrite=overwrite, more=more)
                    results = replace(results, folder=folder)
                runs.append(results)
    if output is not None and folders != [[Path(output)]]:
        others = runs_beside(Path(output), [run.place for run in runs])
        write_overview(overview([*others, *runs]), Path(output))
    return results if len(runs) == 1 else overview(runs)


def surprisal(
    model: Any,
    texts: Sequence[str] | str | Path | pandas.DataFrame,
    *,
    contexts: Sequence[str | None] | None = None,
    column: str | None = None,
    context: str | None = None,
    by: TextUnit = "token",
    tokenizer: Any = None,
    device: str = "auto",
    dtype: str = "auto",
    **options: Any,
) -> pandas.DataFrame:
    """The surprisal of texts, by token or by word.

    Args:
        model: a model as :func:`score` takes it, or a list.
        texts: a list of texts; a file: ``.txt`` with one text a line, or a table (CSV, TSV, JSON
            lines, parquet); or a data frame.
        contexts: a text before each, which is read and not scored; None or empty: no text.
        column, context: the columns of a table with the texts, by default ``text``, and with their
            contexts.
        by: ``token``; or ``word``: the sum over the tokens of each word, which white space parts.
        tokenizer, device, dtype: see :func:`score`.
        options: ``scorer``, ``masking``, ``bos``, ``word_correction``, ... as for :func:`score`.

    Returns:
        A data frame with a row for each token or word: ``model``, ``text_number`` (row of a table,
        line of a file, from 1), the id that a table has in a column such as ``id``, ``number``
        (from 1), ``token`` or ``word``, ``start`` and ``end`` (characters of the text), ``bits``
        (missing where a first token has nothing before it).

    Raises:
        EvaluationError: a model or a file is not there, an option is wrong, a text is empty or too
            long, or pandas is not installed.
    """
    from coherencegym.eval.data.texts import TEXT_SUFFIXES, labelled_texts
    from coherencegym.eval.library import options_of
    from coherencegym.eval.models.in_memory import evaluating
    from coherencegym.eval.models.load import load
    from coherencegym.eval.text_surprisal import text_surprisals
    from coherencegym.files.frames import data_frame

    chosen = options_of(**{"scorer": "auto", **options})
    if isinstance(texts, str):
        # Not whether it is there: the name of a file may not be as long as a text.
        if Path(texts).suffix not in TEXT_SUFFIXES:
            expected = (
                f"expected a list of texts, a file ({', '.join(TEXT_SUFFIXES)}) or a data frame"
            )
            raise EvaluationError(f"surprisal: {texts!r:.60}; {expected}")
        texts = Path(texts)
    several = labelled_texts(texts, column, context, contexts)
    rows = []
    for each in model if isinstance(model, list) else [model]:
        given = _model(each, tokenizer, alone=True, scorer=chosen.scorer)
        way: Any = {"device": device, "dtype": dtype, "scorer": chosen.scorer}
        loaded = load(given, **way) if isinstance(given, str) else given
        with evaluating(loaded.model):
            found = text_surprisals(loaded, several, by, chosen.settled(loaded.scorer))
            rows += [{"model": loaded.name, **row} for row in found]
    return data_frame(rows)


def probe(
    model: Any,
    dataset: Any,
    *,
    tokenizer: Any = None,
    config: str | Sequence[str] = (),
    split: str = "test",
    revision: str | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    cache: str | Path | None = None,
    output: str | Path | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Results:
    """Ask which layers of a model know the labels of a dataset's examples.

    Args:
        model: a Hub id or a folder; what :func:`load_model` returns; a model of transformers, with
            ``tokenizer``, or a pair of both. It need not be a causal language model.
        dataset: its name or folder, or examples (or rows) by split: ``train``, ``test`` and, where
            there is one, ``validation``.
        tokenizer: that of a loaded model; None: the one of the files that it was loaded from.
        config, split, revision, limit: parts of a dataset; no config: all of examples.
        device, dtype: place and numbers, see :func:`load_model`, of a model given by name.
        cache: a folder in which vectors are kept from run to run; None: they are thrown away.
        output: a folder to write results to.
        overwrite: replace results that are there.
        options: ``layers``, ``pool``, ``encoding``, ``input``, ``probe``, ``seeds``,
            ``random_init``, ``compat``, ... (:class:`eval.tasks.probe.options.ProbeOptions`).

    Returns:
        Results that show themselves in a notebook and under ``print``; ``details[0].scores`` has
        the ``accuracy`` of the first config, a share from 0 to 1, and its ``layer``.

    Raises:
        EvaluationError: the model or the dataset is not there, an option is wrong, or results are
            there already.
    """
    return _ask(
        "probe",
        model,
        dataset,
        options,
        tokenizer=tokenizer,
        config=config,
        split=split,
        revision=revision,
        limit=limit,
        device=device,
        dtype=dtype,
        output=output,
        overwrite=overwrite,
        vectors=cache,
    )


def spans(
    model: Any,
    dataset: Any,
    *,
    tokenizer: Any = None,
    config: str | Sequence[str] = (),
    split: str = "test",
    revision: str | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    output: str | Path | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Results:
    """Ask whether a model that is right about a text is right about each of its spans.

    Args:
        model: a Hub id or a folder; what :func:`load_model` returns; a model of transformers, with
            ``tokenizer``, or a pair of both. One with a head answers with it.
        dataset: a dataset's name or folder, or texts with spans (or rows) by split: ``test`` and,
            where a threshold is to be set, ``validation`` or ``train``.
        tokenizer: that of a loaded model; None: the one of the files that it was loaded from.
        config, split, revision, limit: parts of a dataset; no config: all that hold spans.
        device, dtype: place and numbers, see :func:`load_model`, of a model given by name.
        output: a folder to write results to.
        overwrite: replace results that are there.
        options: ``scorer``, ``calibrate_on``, ``label_map``, ``truncate``, ``rho``, ...
            (:class:`eval.tasks.spans.options.SpanOptions`).

    Returns:
        Results that show themselves in a notebook and under ``print``;
        ``details[0].scores.coherence.strict`` is that of the first config, a share from 0 to 1.

    Raises:
        EvaluationError: the model or the dataset is not there, an option is wrong, or results are
            there already.
    """
    return _ask(
        "spans",
        model,
        dataset,
        options,
        tokenizer=tokenizer,
        config=config,
        split=split,
        revision=revision,
        limit=limit,
        device=device,
        dtype=dtype,
        output=output,
        overwrite=overwrite,
    )


def correlate(
    model: Any,
    dataset: str | Path,
    *,
    tokenizer: Any = None,
    config: str | Sequence[str] = (),
    split: str = "test",
    revision: str | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    output: str | Path | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Results:
    """Correlate a model's scores of texts with the ratings of people.

    Args:
        model: a Hub id or a folder; what :func:`load_model` returns; a model of transformers, with
            ``tokenizer``, or a pair of both.
        dataset: a dataset's name or folder.
        tokenizer: that of a loaded model; None: the one of the files that it was loaded from.
        config, split, revision, limit: parts of it; no config: all that hold rated texts.
        device, dtype: place and numbers, see :func:`load_model`, of a model given by name.
        output: a folder to write results to.
        overwrite: replace results that are there.
        options: ``bos``, ``batch_tokens`` and ``share``, as for :func:`score`.

    Returns:
        Results that show themselves in a notebook and under ``print``; ``headline.score`` is
        Spearman's correlation, from -1 to 1.

    Raises:
        EvaluationError: the model or the dataset is not there, an option is wrong, or results are
            there already.
    """
    return _ask(
        "correlate",
        model,
        dataset,
        options,
        tokenizer=tokenizer,
        config=config,
        split=split,
        revision=revision,
        limit=limit,
        device=device,
        dtype=dtype,
        output=output,
        overwrite=overwrite,
        scores=True,
    )


def detect(
    model: Any,
    dataset: str | Path,
    *,
    tokenizer: Any = None,
    config: str | Sequence[str] = (),
    split: str = "test",
    revision: str | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    output: str | Path | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Results:
    """Find by a model's surprisals the sentence of a document that does not belong there.

    Args:
        model: a Hub id or a folder; what :func:`load_model` returns; a model of transformers, with
            ``tokenizer``, or a pair of both.
        dataset: a dataset's name or folder.
        tokenizer: that of a loaded model; None: the one of the files that it was loaded from.
        config, split, revision, limit: parts of it; no config: all that hold documents.
        device, dtype: place and numbers, see :func:`load_model`, of a model given by name.
        output: a folder to write results to.
        overwrite: replace results that are there.
        options: ``detector``, ``decision``, ``calibrate_on``, ``threshold``
            (:class:`eval.tasks.detect.options.DetectOptions`); ``bos``, ``batch_tokens`` and
            ``share``, as for :func:`score`.

    Returns:
        Results that show themselves in a notebook and under ``print``; ``headline.score`` is the
        mean of the configs' areas under the ROC curve, a share from 0 to 1.

    Raises:
        EvaluationError: the model or the dataset is not there, an option is wrong, or results are
            there already.
    """
    return _ask(
        "detect",
        model,
        dataset,
        options,
        tokenizer=tokenizer,
        config=config,
        split=split,
        revision=revision,
        limit=limit,
        device=device,
        dtype=dtype,
        output=output,
        overwrite=overwrite,
        scores=True,
    )


def _ask(
    name: str,
    model: Any,
    dataset: Any,
    options: Mapping[str, Any],
    *,
    tokenizer: Any,
    limit: int | None,
    device: str,
    dtype: str,
    output: str | Path | None,
    overwrite: bool,
    scores: bool = False,
    vectors: str | Path | None = None,
    **chosen: Any,
) -> Results:
    # ``scores``: whatever the options, surprisals are read.
    from coherencegym.eval.library import task_choices, task_loaded
    from coherencegym.eval.models.in_memory import evaluating
    from coherencegym.eval.tasks.registry import task_named
    from coherencegym.eval.views.page import write_results_folder
    from coherencegym.files.folders import check_folder

    task = task_named(name)
    _check_chosen({**chosen, "limit": limit})
    is_given = task.given is not None and isinstance(dataset, Mapping)
    if not isinstance(dataset, str | Path) and not is_given:
        rows = ", or rows by split" if task.given else ""
        raise EvaluationError(
            f"{name}: {_named(dataset)}; expected a dataset's name or folder{rows}"
        )
    own, _ = task_choices(task, options)
    given = _model(model, tokenizer, alone=True, scores=scores)
    if output is not None:
        place = Path(output), overwrite, "output="
        check_folder(*place, inputs=_paths(dataset), around=_paths(given))
    scorer: ScorerChoice = "auto" if scores else "causal"
    loaded = given
    if isinstance(loaded, str):
        loaded = _loaded_for(task, own, loaded, device, dtype, scorer)
    with evaluating(loaded.model):
        about = {**chosen, "max_items": limit, "vectors": vectors}
        found = task_loaded(name, loaded, dataset, options, **about)
    if output is not None:
        how = {**chosen, "limit": limit, "device": device, "dtype": dtype, **options}
        more = _run_file(found, (given, dataset), how, Path(output))
        write_results_folder(found, Path(output), overwrite=overwrite, more=more)
    return found


def _run_file(
    found: Results, named: tuple[Any, Any], how: Mapping[str, Any], folder: Path
) -> dict[str, str]:
    """The file that makes a run again, by name; none where a value in memory was scored."""
    from argparse import Namespace

    from coherencegym.eval.commands.run_file import RUN_FILE_NAME, run_file_text

    if not all(isinstance(one, str | Path) for one in named):
        return {}
    model, dataset = map(str, named)
    if dataset != found.dataset["repo"] and not Path(dataset).is_dir():
        return {}
    one = Namespace(model=model, dataset=dataset, model_revision=None, output=folder)
    given = {f"--{name.replace('_', '-')}": _typed(value) for name, value in how.items()}
    given = {flag: value for flag, value in given.items() if value not in (False, "auto", [])}
    task = found.asked.command.name
    return {RUN_FILE_NAME: run_file_text(task, one, given, found.signature)}


def _typed(value: Any) -> str | list[str] | bool:
    # As it would be typed; false where it would not be.
    if value is None or isinstance(value, bool):
        return bool(value)
    return [*map(str, value)] if isinstance(value, list | tuple) else str(value)


def _loaded_for(
    task: Task[Any, Any, Any],
    options: Any,
    name: str,
    device: str,
    dtype: str,
    scorer: ScorerChoice,
) -> LoadedModel:
    from coherencegym.eval.models.load import load, load_config, load_encoder, load_with_head
    from coherencegym.eval.tasks.task import Loader

    loader = Loader(
        lambda: load(name, device, dtype, scorer=scorer),
        lambda: load_encoder(name, device, dtype),
        lambda head: load_with_head(name, head, device, dtype),
    )
    resolved = task.resolve(options, lambda: load_config(name, scores=False)[0], "")
    return task.load(resolved, loader)


def _folders(
    output: Path,
    models: Sequence[str | LoadedModel],
    read: Sequence[Items],
    ways: Sequence[str],
    overwrite: bool,
) -> list[list[Path]]:
    from coherencegym.eval.results.folder import run_name, told_apart
    from coherencegym.eval.views.overview import check_runs, has_overview

    if alone := len(models) == len(read) == 1 and not has_overview(output):
        folders = [[output]]
    else:
        names = [each if isinstance(each, str) else each.name for each in models]
        of_models, of_data = told_apart(set(names)), told_apart({_data(items) for items in read})
        folders = [
            [output / run_name(of_data[_data(items)], of_models[name], *ways) for items in read]
            for name in names
        ]
    flat = [folder for own in folders for folder in own]
    above = None if alone else output
    inputs = [items.source.name for items in read]
    check_runs(flat, overwrite, above, "output=", inputs=inputs, around=_paths(*models))
    return folders


def _paths(*given: Any) -> list[str | Path]:
    return [one for one in given if isinstance(one, str | Path)]


def _data(items: Items) -> str:
    # That of a suite's file is the suite's.
    source = items.source
    return source.name if source.repo or Path(source.name).is_dir() else source.suite


def read_data(dataset: Any, chosen: Mapping[str, Any]) -> list[Items]:
    """The items of a dataset, or of each of a list, as :func:`score` takes them.

    Args:
        dataset: see :func:`score`.
        chosen: ``config``, ``split``, ``revision`` and ``limit``, see :func:`load_items`.

    Raises:
        EvaluationError: there is none, or one is not there, cannot be read or has no item.
    """
    from coherencegym.eval.library import as_items

    datasets = list(dataset) if _are_several(dataset) else [dataset]
    if not datasets:
        raise EvaluationError(f"score: nothing to score; {_DATA}")
    return [as_items(_items(each, chosen)) for each in datasets]


def _are_several(dataset: Any) -> bool:
    from coherencegym.eval.library import Items

    named = (str, Path, Items)
    return isinstance(dataset, list | tuple) and all(isinstance(one, named) for one in dataset)


def _items(dataset: Any, chosen: Mapping[str, Any]) -> Any:
    from coherencegym.eval.data.pairs import are_pairs, is_pairs_file
    from coherencegym.eval.kinds.items import Item
    from coherencegym.eval.library import Items

    if isinstance(dataset, Items):
        return dataset
    if isinstance(dataset, str | Path) and not is_pairs_file(dataset):
        return load_items(dataset, **chosen)
    given = [name for name, value in chosen.items() if value not in (None, (), [])]
    if given:
        raise EvaluationError(
            f"score: {given[0]}= chooses from a dataset by name; expected none with items"
        )
    if are_pairs(dataset):
        return load_pairs(dataset)
    are_rows = isinstance(dataset, Iterable) and not isinstance(dataset, Mapping)
    rows = list(dataset) if are_rows else None
    if rows is None or not all(isinstance(row, Item | Mapping) for row in rows):
        raise EvaluationError(f"score: {_named(dataset)}; {_DATA}")
    return rows


def _model(
    model: Any,
    tokenizer: Any,
    alone: bool,
    scores: bool = True,
    scorer: ScorerChoice = "auto",
) -> str | LoadedModel:
    # ``alone``: loading tells whether its config can be read.
    from coherencegym.eval.models.in_memory import evaluating, in_memory, tokenizer_of
    from coherencegym.eval.models.load import LoadedModel, load_config

    if isinstance(model, LoadedModel):
        return model
    if isinstance(model, str | Path):
        if not alone:
            load_config(str(model), scorer=scorer)
        return str(model)
    if isinstance(model, tuple) and len(model) == 2:
        model, tokenizer = model
    if not hasattr(model, "config") or not hasattr(model, "forward"):
        raise EvaluationError(f"score: {_named(model)}; {_MODEL}")
    own = tokenizer_of(model) if tokenizer is None else tokenizer
    with evaluating(model):  # it is asked whether it sees ahead, which dropout looks like
        return in_memory(model, own, scores=scores, scorer=scorer)


def _named(value: Any) -> str:
    shown = repr(value)
    return f"{shown if len(shown) < 60 else shown[:57] + '...'} is a {type(value).__name__}"


def load_results(folder: str | Path) -> Results | ShownOverview:
    """The results that a run has written; of a folder of several runs their overview.

    Args:
        folder: a folder that :func:`score` or another task wrote, or such folders in one.

    Returns:
        Results with ``rows``, ``headline`` and ``to_pandas()``, or an overview, as :func:`score`
        returned them. Items and surprisals stay in the folder, where ``to_pandas("regions")`` reads
        them.

    Raises:
        EvaluationError: there are none, or they are damaged.
    """
    from coherencegym.eval.results.folder import MARKER
    from coherencegym.eval.results.read import read_results, run_folders
    from coherencegym.eval.views.overview import overview

    if not isinstance(folder, str | Path):
        raise EvaluationError(f"load_results: {_named(folder)}; expected a folder of results")
    path = Path(folder)
    inside = run_folders([path])
    if (path / MARKER).is_file() or inside == [path]:
        return read_results(path, outcomes=True)
    return overview([read_results(one) for one in inside])


def compare(
    *results: Any,
    anyway: bool = False,
    details: bool = False,
    seed: int = 0,
    equivalence_margin: float | None = None,
) -> Comparisons:
    """Compare models item by item, on the same rows: each with the first, the baseline.

    Args:
        results: results of :func:`score`, :func:`probe`, :func:`spans`, :func:`correlate` or
            :func:`detect`, folders of results, or all of them in one list.
        anyway: compare what both have where data or settings differ.
        details: also the finest groups.
        seed: start of the signs that are drawn where not all can be counted.
        equivalence_margin: also test whether each difference is smaller than this share, either
            way; 0.03 is 3 percentage points.

    Returns:
        Differences of scores (shares from -1 to 1) with intervals, and p-values corrected for all
        tests of two models. They show themselves in a notebook and under ``print``.

    Raises:
        EvaluationError: there are fewer than two, or two are not comparable.
    """
    from coherencegym.eval.results.comparison import compare as compared
    from coherencegym.eval.results.labels import model_labels
    from coherencegym.eval.views.notebook import Comparisons

    given = (
        list(results[0])
        if len(results) == 1 and isinstance(results[0], list | tuple)
        else [*results]
    )
    if len(given) < 2:
        raise EvaluationError(f"compare: {len(given)} results; expected two or more")
    if type(seed) is not int or seed < 0:
        raise EvaluationError(f"compare: seed={seed!r}; expected a whole number of at least 0")
    baseline, *others = saved = [_compared(each) for each in given]
    first, *names = model_labels(saved)
    how: dict[str, Any] = {"anyway": anyway, "details": details, "seed": seed}
    how["equivalence_margin"] = equivalence_margin
    found = tuple(compared(baseline, other, **how) for other in others)
    return Comparisons(found, tuple((name, first) for name in names))


def _compared(results: Any) -> Results:
    from coherencegym.eval.results.read import read_results
    from coherencegym.eval.tasks.results import Results

    if isinstance(results, str | Path):
        return read_results(Path(results), outcomes=True)
    if not isinstance(results, Results):
        raise EvaluationError(f"compare: {_named(results)}; expected results or a folder of them")
    return results


def build(
    suite: str | Path | Suite,
    *,
    corpus: str | Sequence[str] = (),
    texts: str | Path | None = None,
    output: str | Path | None = None,
    data_dir: str | Path | None = None,
    **options: Any,
) -> Path:
    """Build a suite, into a folder of rows, hashes, manifest and card.

    Args:
        suite: its name, the path of a Python file that declares ``SUITE``, or a ``Suite``.
        corpus: the corpora to build from; none: all that are found, and the sample; with
            ``texts``, these alone.
        texts: a file or folder of your own texts: ``text_column`` names a table's column,
            ``format`` that of annotated ones.
        output: the folder; None: ``suites/SUITE``.
        data_dir: a folder of corpus files.
        options: further ones of ``coherencegym build SUITE``, with ``_`` for ``-``: ``limit``,
            ``seed``, ``overwrite``, ``skip_bad_rows``, and the suite's own settings.

    Returns:
        The folder, as :func:`score` takes it.

    Raises:
        EvaluationError: there is no such suite, corpus or option, or a corpus cannot be read.
    """
    from dataclasses import fields

    from coherencegym.builders.command.declared import suite_named
    from coherencegym.builders.command.errors import explain
    from coherencegym.builders.command.run import BuildJob, BuildRequest
    from coherencegym.builders.suite import Suite
    from coherencegym.files.strict_json import held

    if not isinstance(suite, str | Path | Suite):
        what = "expected a suite's name, a Python file that declares SUITE, or a Suite"
        raise EvaluationError(f"build: {_named(suite)}; {what}")
    declared = suite if isinstance(suite, Suite) else suite_named(str(suite))
    name = declared.name if isinstance(suite, Suite) else str(suite)
    known_options = {field.name for field in fields(BuildRequest)} - {"dry_run"}
    for option in options:
        if option not in known_options | declared.settings.keys():
            near = did_you_mean(option, (*known_options, *declared.settings))
            raise EvaluationError(
                f"build: no option {option!r}; see `coherencegym build {name} --help-all`{near}"
            )
    settings = _settings(declared, options)
    given = {"corpora": _names("corpus", corpus), "texts": texts}
    given |= {"output": output, "data_dir": data_dir}
    request = held({**given, **options}, BuildRequest)
    try:
        job = BuildJob(settings, request, output_option="output=")
        job.make(lambda message: None)
    except Exception as error:
        if (explained := explain(error)) is None:
            raise  # a mistake of ours, shown whole
        raise EvaluationError(explained[1]) from None
    return job.destination


def rebuild(
    dataset: str | Path,
    *,
    data_dir: str | Path | None = None,
    config: str | Sequence[str] = (),
    revision: str | None = None,
    output: str | Path | None = None,
    overwrite: bool = False,
) -> Path:
    """Make the rows of a release without texts from your own corpus files, and verify them.

    Args:
        dataset: a Hub id, or the folder of such a release.
        data_dir: a folder of corpus files; None: where corpora are looked for.
        config: names of configs; none: all whose texts are not in the release.
        revision: tag or commit of a Hub dataset; None: the newest.
        output: the folder; None: ``suites/NAME-VERSION``, which is not made again.
        overwrite: replace what is in it.

    Returns:
        The folder, as :func:`score` and all other tasks take it. Results on it name the release.

    Raises:
        EvaluationError: the release has its texts, a corpus is not there, or a row comes out
            otherwise than in the release: its corpus file and line are named.
    """
    from coherencegym.builders.command.errors import explain
    from coherencegym.builders.command.rebuild import rebuild as rebuilt

    if not isinstance(dataset, str | Path):
        raise EvaluationError(f"rebuild: {_named(dataset)}; expected a dataset's name or folder")
    try:
        return rebuilt(
            str(dataset),
            None if data_dir is None else Path(data_dir),
            revision=revision,
            configs=_names("config", config),
            output=None if output is None else Path(output),
            overwrite=overwrite,
        )
    except Exception as error:
        if (explained := explain(error)) is None:
            raise  # a mistake of ours, shown whole
        raise EvaluationError(explained[1]) from None


def _settings(suite: Suite, options: dict[str, Any]) -> Suite:
    # Those that are the suite's own are taken out of ``options``.
    from coherencegym.files.strict_json import held

    given = {}
    for name in suite.settings.keys() & options.keys():
        try:
            given[name] = held(options.pop(name), type(suite.settings[name]))
        except EvaluationError as error:
            raise EvaluationError(f"{name}: {error}") from None
    try:
        return suite.configured(**given)
    except ValueError as error:  # one that is out of its range
        raise EvaluationError(str(error)) from None
