"""The toolkit in one call each: build a suite, score models on suites, compare them.

::

    import coherencegym as cg

    cg.score("gpt2", "coherencegym/sentence_order")
    cg.score(["gpt2", "gpt2-medium"], cg.build("story_cloze", corpus="sample"))

What is given may be a name, a folder, or a value that is loaded already; a list of them is each in
turn. A mistake is an :class:`~coherencegym.errors.EvaluationError` of one line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from coherencegym.errors import EvaluationError, shown_value

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

    from coherencegym.builders.suite import Suite
    from coherencegym.eval.run.data import Items
    from coherencegym.eval.tasks.results import Results
    from coherencegym.eval.views.compare_table import Comparisons
    from coherencegym.eval.views.overview import ShownOverview


def load_items(dataset: str | Path, **options: Any) -> Items:
    """Read the items of a dataset, or of suites in SyntaxGym's JSON.

    Args:
        dataset: a Hub id, the folder of a build, or a file of SyntaxGym's JSON or of pairs.
        options: the part of it: ``config`` (one name or several), ``split`` (one, or ``all``, as
            by default), ``revision`` (a tag or commit of a Hub dataset), ``limit`` (most items of
            each table), and those of :func:`load_pairs`.

    Raises:
        EvaluationError: they are not there, or cannot be read.
    """
    from coherencegym.eval.run.data import read_items
    from coherencegym.eval.run.options import ItemOptions

    if not isinstance(dataset, str | Path):
        message = f"{shown_value(dataset)}; expected a dataset's name or folder"
        raise EvaluationError(f"load_items: {message}")
    return read_items(_options(ItemOptions, "load_items", {**options, "dataset": dataset}))


def load_pairs(pairs: Any, *, limit: int | None = None, **options: Any) -> Items:
    """Pairs of texts as items: is the better text the less surprising one?

    Args:
        pairs: ``(good, bad)`` or ``(context, good, bad)`` each; a data frame or rows with columns
            such as ``sentence_good`` and ``sentence_bad``, ``good`` and ``bad``, ``chosen`` and
            ``rejected``; or a file of such rows: CSV, TSV, JSON lines, parquet.
        limit: no more pairs than this, from the start.
        options: ``good``, ``bad`` and ``context`` (the columns, where they have other names),
            ``cluster_by`` (the column by which pairs are drawn together, such as their document,
            for intervals), ``group_by`` (columns by whose values there are scores, too),
            ``aggregation`` (``sum``, ``mean``, ... of the bits of a text's tokens).

    Raises:
        EvaluationError: there is no pair, a column is not there, or a text is none.
    """
    from coherencegym.eval.data.pairs import PairChoices
    from coherencegym.eval.run.data import items_of_pairs

    return items_of_pairs(pairs, _options(PairChoices, "load_pairs", options), limit)


def _options(kind: type[Any], where: str, given: Mapping[str, Any]) -> Any:
    from coherencegym.command_line import options_in
    from coherencegym.eval.tasks.options import options_from, refuse_unknown

    refuse_unknown(f"{where}: ", given, options_in(kind))
    return options_from(kind, given)


def score(
    model: Any, dataset: Any, *, tokenizer: Any = None, **options: Any
) -> Results | ShownOverview:
    """Score models on suites.

    Args:
        model: a Hub id or a folder; what :func:`load_model` returns; a model of transformers, with
            ``tokenizer``, or a pair of both; or a list of these.
        dataset: a dataset's name or folder, what :func:`load_items` or :func:`build` returns, items
            or rows; pairs of texts, as :func:`load_pairs` takes them; or a list of names.
        tokenizer: that of a loaded model; None: the one of the files that it was loaded from.
        options: those of ``coherencegym score``, with ``_`` for ``-``. They choose a part of the
            dataset (``config``, ``split``, ``revision``, ``limit``), load the model (``device``,
            ``dtype``, ``model_revision``, ``model_arg``, ...), say how it reads (``scorer``,
            ``masking``, ``bos``, ``separator``, ``truncate``, ``compat``, ``batch_tokens``, ...:
            see :class:`eval.plan.options.Options`), and where results go: ``output``, a folder, in
            which several runs have one each beside an overview, written as soon as their scores are
            there; ``overwrite`` replaces results, ``cache`` is a folder in which surprisals are
            kept from run to run, and ``quiet=False`` shows progress.

    Returns:
        The results of one model on one dataset, or an overview of several, which shows a row for
        each suite and a column for each model. Both show themselves in a notebook and under
        ``print``; scores are shares from 0 to 1, surprisals bits.

    Raises:
        EvaluationError: a model or a dataset is not there, an option is wrong, or results are there
            already.
    """
    return _ask("score", model, dataset, tokenizer, options)


def surprisal(
    model: Any,
    texts: Sequence[str] | str | Path | pandas.DataFrame,
    *,
    contexts: Sequence[str | None] | None = None,
    tokenizer: Any = None,
    **options: Any,
) -> pandas.DataFrame:
    """The surprisal of texts, by token or by word.

    Args:
        model: a model as :func:`score` takes it, or a list.
        texts: a list of texts; a file: ``.txt`` with one text a line, or a table (CSV, TSV, JSON
            lines, parquet); or a data frame.
        contexts: a text before each, which is read and not scored; None or empty: no text.
        tokenizer: see :func:`score`.
        options: ``column`` and ``context``, the columns of a table with the texts, by default
            ``text``, and with their contexts; ``by``: ``token``, or ``word``, the sum over the
            tokens of each word, which white space parts; and those of models and reading, as for
            :func:`score`.

    Returns:
        A data frame with a row for each token or word: ``model``, ``text_number`` (row of a table,
        line of a file, from 1), the id that a table has in a column such as ``id``, ``number``
        (from 1), ``token`` or ``word``, ``start`` and ``end`` (characters of the text), ``bits``
        (missing where a first token has nothing before it).

    Raises:
        EvaluationError: a model or a file is not there, an option is wrong, or a text is empty
            or too long.
    """
    import pandas

    from coherencegym.eval.run.texts import surprisal_rows

    given = {**options, "model": _with_tokenizer(model, tokenizer)}
    return pandas.DataFrame(surprisal_rows(texts, given, contexts))


def probe(model: Any, dataset: Any, *, tokenizer: Any = None, **options: Any) -> Results:
    """Ask which layers of a model know the labels of a dataset's examples.

    Args:
        model, tokenizer: one model, see :func:`score`; it need not be a causal language model.
        dataset: its name or folder, or examples (or rows) by split: ``train``, ``test`` and, where
            there is one, ``validation``.
        options: ``layers``, ``pool``, ``encoding``, ``input``, ``random_init``, ``compat``, ...
            (:class:`eval.tasks.probe.options.ProbeOptions`), and those of data, model and output,
            as for :func:`score`.

    Returns:
        Results that show themselves in a notebook and under ``print``; ``rows`` has the accuracies
        by config, group and system, and ``more["probes"]`` what each config's layers came to.

    Raises:
        EvaluationError: the model or the dataset is not there, an option is wrong, or results are
            there already.
    """
    return cast("Results", _ask("probe", model, dataset, tokenizer, options))


def spans(model: Any, dataset: Any, *, tokenizer: Any = None, **options: Any) -> Results:
    """Ask whether a model that is right about a text is right about each of its spans.

    Args:
        model, tokenizer: one model, see :func:`score`; one with a head answers with it.
        dataset: a dataset's name or folder.
        options: ``label_map``, ``truncate``, ``rho``, ...
            (:class:`eval.tasks.spans.options.SpanOptions`), and those of data, model and output, as
            for :func:`score`.

    Returns:
        Results that show themselves in a notebook and under ``print``; ``rows`` has the scores by
        config, group and system, such as strict coherence, a share from 0 to 1.

    Raises:
        EvaluationError: the model or the dataset is not there, an option is wrong, or results are
            there already.
    """
    return cast("Results", _ask("spans", model, dataset, tokenizer, options))


def correlate(model: Any, dataset: str | Path, *, tokenizer: Any = None, **options: Any) -> Results:
    """Correlate a model's scores of texts with the ratings of people.

    Args:
        model, tokenizer: one model, see :func:`score`.
        dataset: a dataset's name or folder.
        options: ``bos``, ``batch_tokens``, ``share``, and those of data, model and output, as for
            :func:`score`.

    Returns:
        Results that show themselves in a notebook and under ``print``; ``headline.score`` is
        Spearman's correlation, from -1 to 1.

    Raises:
        EvaluationError: the model or the dataset is not there, an option is wrong, or results are
            there already.
    """
    return cast("Results", _ask("correlate", model, dataset, tokenizer, options))


def detect(model: Any, dataset: str | Path, *, tokenizer: Any = None, **options: Any) -> Results:
    """Find by a model's surprisals the sentence of a document that does not belong there.

    Args:
        model, tokenizer: one model, see :func:`score`.
        dataset: a dataset's name or folder.
        options: ``detector``, ``calibrate_on``, ``threshold``
            (:class:`eval.tasks.detect.options.DetectOptions`), ``bos``, ``batch_tokens``,
            ``share``, and those of data, model and output, as for :func:`score`.

    Returns:
        Results that show themselves in a notebook and under ``print``; ``headline.score`` is the
        mean of the configs' areas under the ROC curve, a share from 0 to 1.

    Raises:
        EvaluationError: the model or the dataset is not there, an option is wrong, or results are
            there already.
    """
    return cast("Results", _ask("detect", model, dataset, tokenizer, options))


def _ask(
    task: str, model: Any, dataset: Any, tokenizer: Any, options: Mapping[str, Any]
) -> Results | ShownOverview:
    from coherencegym.eval.run.runs import run_task
    from coherencegym.eval.tasks.registry import task_named

    given = {**options, "model": _with_tokenizer(model, tokenizer), "dataset": dataset}
    return run_task(task_named(task), given)


def _with_tokenizer(model: Any, tokenizer: Any) -> Any:
    if tokenizer is None:
        return model
    several = isinstance(model, list)
    pairs = [(one, tokenizer) for one in (model if several else [model])]
    return pairs if several else pairs[0]


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
    from coherencegym.eval.results.folder import MARKER, read_results, run_folders
    from coherencegym.eval.views.overview import overview

    if not isinstance(folder, str | Path):
        raise EvaluationError(f"load_results: {shown_value(folder)}; expected a folder of results")
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
) -> Comparisons:
    """Compare models item by item, on the same rows: each with the first, the baseline.

    Args:
        results: results of :func:`score`, :func:`probe`, :func:`spans`, :func:`correlate` or
            :func:`detect`, folders of results, or all of them in one list.
        anyway: compare what both have where data or settings differ.
        details: also the finest groups.
        seed: start of the signs that are drawn where not all can be counted.

    Returns:
        Differences of scores (shares from -1 to 1) with intervals, and p-values corrected for all
        tests of all models. They show themselves in a notebook and under ``print``.

    Raises:
        EvaluationError: there are fewer than two, or two are not comparable.
    """
    from coherencegym.eval.results.comparison import compare as compared
    from coherencegym.eval.results.comparison import holm_corrected, model_labels
    from coherencegym.eval.views.compare_table import Comparisons

    given = (
        list(results[0])
        if len(results) == 1 and isinstance(results[0], list | tuple)
        else [*results]
    )
    if len(given) < 2:
        runs = f"{len(given)} run{'s' * (len(given) != 1)}"
        raise EvaluationError(f"compare: results of {runs}; expected two or more")
    if type(seed) is not int or seed < 0:
        raise EvaluationError(f"compare: seed={seed!r}; expected a whole number of at least 0")
    baseline, *others = saved = [_compared(each) for each in given]
    first, *names = model_labels(saved)
    how: dict[str, Any] = {"anyway": anyway, "details": details, "seed": seed}
    named = zip(others, names, strict=True)
    pairs = [compared(baseline, other, names=(name, first), **how) for other, name in named]
    return Comparisons(holm_corrected(pairs))


def _compared(results: Any) -> Results:
    from coherencegym.eval.results.folder import read_results
    from coherencegym.eval.tasks.results import Results

    if isinstance(results, str | Path):
        return read_results(Path(results), outcomes=True)
    if not isinstance(results, Results):
        raise EvaluationError(
            f"compare: {shown_value(results)}; expected results or a folder of them"
        )
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
            ``seed``, ``overwrite``, ``skip_bad_rows``, ``push_to_hub``, and the suite's own
            settings.

    Returns:
        The folder, as :func:`score` takes it.

    Raises:
        EvaluationError: there is no such suite, corpus or option, or a corpus cannot be read.
    """
    from coherencegym.builders.command.run import CheckedBuild
    from coherencegym.builders.command.show import explaining
    from coherencegym.builders.pipeline.options import BuildOptions
    from coherencegym.builders.registry import suite_named
    from coherencegym.builders.suite import Suite
    from coherencegym.command_line import options_in
    from coherencegym.engines import started
    from coherencegym.eval.tasks.options import options_from, refuse_unknown

    if not isinstance(suite, str | Path | Suite):
        what = "expected a suite's name, a Python file that declares SUITE, or a Suite"
        raise EvaluationError(f"build: {shown_value(suite)}; {what}")
    declared = suite if isinstance(suite, Suite) else suite_named(str(suite))
    known = options_in(BuildOptions).keys() - {"corpora", "dry_run"}
    refuse_unknown("build: ", options, {"corpus", *known, *declared.settings})
    own = {name: options.pop(name) for name in declared.settings.keys() & options.keys()}
    options |= {"corpora": _names("corpus", corpus), "texts": texts}
    options |= {"output": output, "data_dir": data_dir}
    asked = options_from(BuildOptions, options)
    with explaining():
        checked = CheckedBuild(declared.configured(**own), asked, output_option="output=")
        with started(asked.engine, asked.num_proc, asked.address) as engine:
            checked.build(engine, quiet=True)
    return checked.destination


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
            otherwise than in the release: it is named, and corpus files that are others.
    """
    from coherencegym.builders.command.rebuild import rebuild as rebuilt
    from coherencegym.builders.command.show import explaining

    if not isinstance(dataset, str | Path):
        raise EvaluationError(
            f"rebuild: {shown_value(dataset)}; expected a dataset's name or folder"
        )
    with explaining():
        return rebuilt(
            str(dataset),
            None if data_dir is None else Path(data_dir),
            revision=revision,
            configs=_names("config", config),
            output=None if output is None else Path(output),
            overwrite=overwrite,
        )


def _names(option: str, given: Any) -> list[str]:
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Sequence) or not all(isinstance(name, str) for name in several):
        raise EvaluationError(f"{option}={given!r}; expected a name, or a list of names")
    return list(several)
