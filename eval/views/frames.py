"""Tables of results as plain rows and as data frames: of a run in memory, or of its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, get_args

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.loaded import LoadedResults
from coherencegym.eval.tasks.results import TaskResults

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

#: The tables of results that :func:`rows` gives.
Kind = Literal["scores", "predictions", "regions", "tokens", "layers"]


def rows(results: TaskResults, kind: Kind = "scores") -> list[dict[str, Any]]:
    """A table of results as one flat dictionary a row.

    ``scores`` have a row for each config and each of its groups, ``predictions`` for every
    prediction of every item (``margin`` in bits), ``regions`` for every region that a prediction
    reads (``sum_bits``, ``mean_bits``), ``tokens`` for every token (``bits``). All but the first
    are those of :func:`coherencegym.score` alone, but for :func:`coherencegym.probe`: its
    ``layers`` have a row for every classifier, its ``predictions`` one for each test row.

    Raises:
        EvaluationError: there is no such table, or these are no results, or of another task.
    """
    from coherencegym.eval.tasks.score.outcomes import prediction_rows

    if not isinstance(results, TaskResults):
        raise EvaluationError(
            f"a {type(results).__name__}; expected results, such as those of load_results(FOLDER)"
        )
    if kind not in get_args(Kind):
        raise EvaluationError(f"no table {kind!r}; expected one of {', '.join(get_args(Kind))}")
    if kind == "scores":
        return _score_rows(results)
    if results.task == "probe" and kind in ("layers", "predictions"):
        return _probe_rows(results, kind)
    if results.task != "score" or kind == "layers":
        raise EvaluationError(
            f"rows: {kind} of {results.task}; expected results of "
            + ("probe" if kind == "layers" else "score")
        )
    if kind == "predictions":
        assert results.outcomes is not None
        return list(prediction_rows(results.outcomes))
    return _item_rows(results, kind)


def _score_rows(results: TaskResults) -> list[dict[str, Any]]:
    if isinstance(results, LoadedResults):
        return [dict(row) for row in results.score_rows]
    return [asdict(row) for row in results.rows]


def _probe_rows(results: TaskResults, kind: Kind) -> list[dict[str, Any]]:
    from coherencegym.eval.tasks.probe.files import LABELS_FILE, LAYERS_FILE, label_rows, layer_rows
    from coherencegym.eval.tasks.task import Findings
    from coherencegym.files.parquet_rows import parquet_rows

    file, made = {"layers": (LAYERS_FILE, layer_rows), "predictions": (LABELS_FILE, label_rows)}[
        kind
    ]
    if isinstance(results, LoadedResults):
        return parquet_rows(results.folder / file)
    assert isinstance(results, Findings)
    return list(made(results.details))


def _item_rows(results: TaskResults, kind: Kind) -> list[dict[str, Any]]:
    from coherencegym.eval.tasks.score.files import (
        REGIONS_FILE,
        TOKENS_FILE,
        region_rows,
        token_rows,
    )
    from coherencegym.eval.tasks.task import Findings
    from coherencegym.files.parquet_rows import parquet_rows

    if isinstance(results, LoadedResults):
        path = results.folder / (REGIONS_FILE if kind == "regions" else TOKENS_FILE)
        if not path.is_file():
            raise EvaluationError(f"{path}: not there; expected the results of score --tokens")
        return parquet_rows(path)
    assert isinstance(results, Findings)
    return list(region_rows(results) if kind == "regions" else token_rows(results))


def to_pandas(results: TaskResults, kind: Kind = "scores") -> pandas.DataFrame:
    """The same as a data frame, if pandas is installed (the datasets library brings it).

    Raises:
        EvaluationError: pandas is not installed, or there is no such table.
    """
    return data_frame(rows(results, kind))


def data_frame(of: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Rows as a data frame.

    Raises:
        EvaluationError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise EvaluationError(
            "pandas is not installed; expected pip install pandas, or rows()"
        ) from None
    return pandas.DataFrame(of)
