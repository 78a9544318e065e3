"""The folder of files that a run leaves behind.

``results.json`` has the signature, model, dataset, settings and scores, with them the differences
from control configs (:mod:`eval.tasks.score.controls`), the correlations of margin and length
(:mod:`eval.tasks.score.lengths`) and what was published (:mod:`eval.data.source`);
``predictions.parquet`` what became of every prediction, ``outcomes.parquet`` the same in the form
of every task (:mod:`eval.results.folder`);
``regions.parquet`` the surprisal of every region that was read; ``tokens.parquet``, if asked for,
that of every token; ``scores.png`` and ``scores.svg`` the scores with their intervals;
``heatmap.png`` and ``heatmap.svg``, where the suite replaces words by others, the scores by both
(:mod:`eval.views.heatmap`); ``report.html`` all of this, and the items with their tokens, as a page
(:mod:`eval.views.html_report`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coherencegym.eval.kinds.formula import WHOLE, read_of
from coherencegym.eval.results.folder import (
    PREDICTIONS_FILE,
    judgement_rows,
    predictions_schema,
    results_folder,
    write_rows,
)
from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.scoring import ScoredItem
from coherencegym.eval.text.regions import SPECIAL


def write(results: Results, folder: Path, *, overwrite: bool = False, tokens: bool = False) -> None:
    """Write a folder of results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    from coherencegym.eval.results.runs import run_of
    from coherencegym.eval.views.html_report import write_report
    from coherencegym.eval.views.plots import plot_runs

    with results_folder(results, folder, overwrite=overwrite) as work:
        write_rows(region_rows(results), _region_schema(), work / "regions.parquet")
        write_rows(prediction_rows(results), predictions_schema(), work / PREDICTIONS_FILE)
        if tokens:
            write_rows(token_rows(results), _token_schema(), work / "tokens.parquet")
        plot_runs([run_of(results)], work)
        write_report(results, work)


def _region_schema() -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            ("config", pa.string()),
            ("split", pa.string()),
            ("item_id", pa.string()),
            ("condition_name", pa.string()),
            ("region_number", pa.int32()),
            ("n_tokens", pa.int32()),
            ("sum_bits", pa.float64()),
            ("mean_bits", pa.float64()),
        ]
    )


def _token_schema() -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            ("config", pa.string()),
            ("split", pa.string()),
            ("item_id", pa.string()),
            ("condition_name", pa.string()),
            ("position", pa.int32()),
            ("token_id", pa.int32()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("text", pa.string()),
            ("region_number", pa.int32()),
            ("bits", pa.float64()),
        ]
    )


def prediction_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``predictions.parquet``: every prediction of every item."""
    for table, _ in results.tables:
        yield from judgement_rows(table, results.judged[table.config, table.split])


def region_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``regions.parquet``: every region that a prediction reads.

    ``n_tokens`` counts tokens that have a surprisal; ``mean_bits`` is null without any.
    """
    for table, scored in results.tables:
        for item in scored.items:
            for name, region in _regions_read(item):
                bits = item.conditions[name].region_bits(region)
                yield {
                    "config": table.config,
                    "split": table.split,
                    "item_id": item.item.item_id,
                    "condition_name": name,
                    "region_number": region,
                    "n_tokens": len(bits),
                    "sum_bits": float(bits.sum()),
                    "mean_bits": float(bits.mean()) if len(bits) else None,
                }


def _regions_read(scored: ScoredItem) -> list[tuple[str, int]]:
    """(condition, region) pairs that an item's predictions read, in the order of the item."""
    read = {
        reference
        for prediction in scored.item.predictions
        for reference in read_of(prediction.formula)
    }
    return [
        (condition.condition_name, region.region_number)
        for condition in scored.item.conditions
        if condition.condition_name in scored.conditions
        for region in condition.regions
        if read
        & {(region.region_number, condition.condition_name), (WHOLE, condition.condition_name)}
    ]


def token_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``tokens.parquet``: every token as the model saw it.

    ``start`` and ``end`` are characters of the condition's content; ``region_number`` is null for
    start-of-text and separator tokens and 0 outside every region; ``bits`` is null where no
    prediction reads the token and where it has no surprisal.
    """
    for table, scored in results.tables:
        for item in scored.items:
            for name, condition in item.conditions.items():
                content = item.item.condition(name).content
                encoding = condition.encoding
                for position, token_id in enumerate(encoding.ids):
                    start, end = encoding.offsets[position]
                    region = encoding.regions[position]
                    bits = float(condition.bits[position])
                    yield {
                        "config": table.config,
                        "split": table.split,
                        "item_id": item.item.item_id,
                        "condition_name": name,
                        "position": position,
                        "token_id": token_id,
                        "start": start,
                        "end": end,
                        "text": content[start:end],
                        "region_number": None if region == SPECIAL else region,
                        "bits": None if bits != bits else bits,
                    }
