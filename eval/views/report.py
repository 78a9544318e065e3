"""The folders of files that runs leave behind.

Every task writes ``results.json`` (signature, model, dataset, settings and scores), ``scores.png``
and ``scores.svg`` (the scores with their intervals), and ``report.html``, all of this as a page.

``score`` adds to ``results.json`` the differences from control configs
(:mod:`eval.tasks.score.controls`), the correlations of margin and length
(:mod:`eval.tasks.score.lengths`) and published scores (:mod:`eval.data.source`), and writes
``regions.parquet``, the surprisal of every region that was read, and if asked for
``tokens.parquet``, that of every token;
``heatmap.png`` and ``heatmap.svg``, where the suite replaces words by others, have the scores by
both (:mod:`eval.views.plots_heatmap`).

``detect`` writes ``documents.parquet``, the scores of sentences. Of trained detectors each has such
a folder of its own, ``seed-N``, with its model as safetensors, its tokenizer and its card
(``README.md``), and ``results.json`` above them has means over seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.formula import WHOLE, read_of
from coherencegym.eval.results.folder import (
    TOKENS_FILE,
    RowWriter,
    write_common,
)
from coherencegym.eval.results.results import Results
from coherencegym.eval.results.runs import run_of
from coherencegym.eval.tasks.score.scoring import Scored, ScoredItem
from coherencegym.eval.text.regions import SPECIAL
from coherencegym.files.folders import written_beside

#: Their names in the folder of results.
REGIONS_FILE, DOCUMENTS_FILE = "regions.parquet", "documents.parquet"
_CONDITION = ("config string", "split string", "item_id string", "condition_name string")
_REGIONS = (*_CONDITION, "region_number int32", "n_tokens int32", "sum_bits double")
_TOKENS = (*_CONDITION, "position int32", "token_id int32", "start int32", "end int32")


def write(results: Results, folder: Path, *, overwrite: bool = False, tokens: bool = False) -> None:
    """Write a folder of scores, whole or not at all.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    with score_folder(folder, overwrite=overwrite, tokens=tokens) as written:
        for table, scored in results.tables:
            written.add(table, scored)
        written.finish(results)


class ScoreFolder:
    """A folder of scores that is being written: rows of items as they are scored, and then the
    rest."""

    def __init__(self, folder: Path, tokens: bool) -> None:
        self._folder = folder
        files = {
            REGIONS_FILE: regions_schema(),
        }
        if tokens:
            files[TOKENS_FILE] = _schema(
                *_TOKENS, "text string", "region_number int32", "bits double"
            )
        self._open = ExitStack()
        self._writers = {
            name: self._open.enter_context(RowWriter(folder / name, schema))
            for name, schema in files.items()
        }

    def add(self, table: ItemTable, scored: Scored) -> None:
        """Write the rows of items of a table."""
        rows = {
            REGIONS_FILE: _regions(table, scored),
            TOKENS_FILE: _tokens(table, scored),
        }
        for name, writer in self._writers.items():
            writer.add(rows[name])

    def finish(self, results: Results) -> None:
        """Write what the results say of all items, of which no more can be added."""
        from coherencegym.eval.views.html_report import write_report
        from coherencegym.eval.views.plots import plot_runs

        self._open.close()
        write_common(results, self._folder)
        plot_runs([run_of(results)], self._folder)
        write_report(results, self._folder)

    def abandon(self) -> None:
        """Leave the files as they are."""
        self._open.close()


@contextmanager
def score_folder(
    folder: Path, *, overwrite: bool = False, tokens: bool = False
) -> Iterator[ScoreFolder]:
    """A folder of scores, to be written whole or not at all.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite) as work:
        written = ScoreFolder(work, tokens)
        try:
            yield written
        finally:
            written.abandon()


def regions_schema() -> Any:
    """The Arrow schema of ``regions.parquet``."""
    return _schema(*_REGIONS, "mean_bits double")


def _schema(*columns: str) -> Any:
    """The Arrow schema of columns, each a name and a type."""
    import pyarrow as pa

    named = [column.split() for column in columns]
    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in named])


def region_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``regions.parquet``: every region that a prediction reads, in the order of the item.

    ``n_tokens`` counts tokens that have a surprisal; ``mean_bits`` is null without any.
    """
    for table, scored in results.tables:
        yield from _regions(table, scored)


def token_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``tokens.parquet``: every token as the model saw it.

    ``start`` and ``end`` are characters of the condition's content; ``region_number`` is null for
    start-of-text and separator tokens and 0 outside every region; ``bits`` is null where no
    prediction reads the token and where it has no surprisal.
    """
    for table, scored in results.tables:
        yield from _tokens(table, scored)


def _items(table: ItemTable, scored: Scored) -> Iterator[tuple[dict[str, Any], ScoredItem]]:
    """Every scored item, and the columns that say which it is."""
    for item in scored.items:
        name = {"config": table.config, "split": table.split, "item_id": item.item.item_id}
        yield name, item


def _regions(table: ItemTable, scored: Scored) -> Iterator[dict[str, Any]]:
    for columns, one in _items(table, scored):
        formulas = [prediction.formula for prediction in one.item.predictions]
        read = {reference for formula in formulas for reference in read_of(formula)}
        for condition in one.item.conditions:
            name = condition.condition_name
            for region in condition.regions if name in one.conditions else ():
                number = region.region_number
                if read & {(number, name), (WHOLE, name)}:
                    bits = one.conditions[name].region_bits(number)
                    yield {
                        **columns,
                        "condition_name": name,
                        "region_number": number,
                        "n_tokens": len(bits),
                        "sum_bits": float(bits.sum()),
                        "mean_bits": float(bits.mean()) if len(bits) else None,
                    }


def _tokens(table: ItemTable, scored: Scored) -> Iterator[dict[str, Any]]:
    for columns, one in _items(table, scored):
        for name, condition in one.conditions.items():
            content = one.item.condition(name).content
            encoding = condition.encoding
            for position, token_id in enumerate(encoding.ids):
                start, end = encoding.offsets[position]
                region = encoding.regions[position]
                bits = float(condition.bits[position])
                yield {
                    **columns,
                    "condition_name": name,
                    "position": position,
                    "token_id": token_id,
                    "start": start,
                    "end": end,
                    "text": content[start:end],
                    "region_number": None if region == SPECIAL else region,
                    "bits": None if bits != bits else bits,
                }
