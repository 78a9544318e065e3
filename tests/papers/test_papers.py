"""The tables that papers have published, held to their pages and to our suites."""

from __future__ import annotations

import math

import pytest

from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.builders.release.manifest import published_scores, suite_entry
from coherencegym.eval.data.source import Published
from coherencegym.eval.plan.options import MODES
from coherencegym.eval.tasks.registry import TASKS
from coherencegym.papers import PublishedTable, published_cells, read_papers

TABLES = {(p, t): table for p, about in read_papers().items() for t, table in about.tables.items()}
#: The modes of tasks other than ``score``.
OTHER_MODES = {"probe": {"discoeval-2019"}, "spans": {"storks-2021"}, "detect": set[str]()}
#: The means of seven tasks as they stand in the spec of DiscoEval: those computed from the columns
#: of the paper's Table 2, and those printed in the README (which agree with its columns).
MEANS = {
    "2": [54.0, 52.6, 54.5, 56.1, 57.4, 58.1, 54.2, 53.7, 54.5, 54.2, 54.9, 54.1, 53.9, 53.8],
    "readme": [54.6, 54.1, 55.2, 55.0, 55.3, 54.1, 54.1, 53.9, 54.8, 50.8, 52.9, 56.2, 57.7, 58.6],
}


@pytest.mark.parametrize("table", TABLES.values(), ids=map(" ".join, TABLES))
def test_a_table_is_of_a_task_and_of_suites(table: PublishedTable) -> None:
    assert table.task in TASKS
    for row, values in table.values.items():
        assert len(values) == len(table.systems), row
        assert all(math.isnan(value) or 0 <= value <= 100 for value in values), row
    assert {*table.rows} <= {*table.values} or not table.values
    assert table.rows or table.values
    assert table.source
    if table.compat:
        assert table.compat in (MODES if table.task == "score" else OTHER_MODES[table.task])
    if not table.suite:
        return
    suite = load_suite(table.suite)
    assert table.corpus in suite.natives
    names = [config.full_name(table.corpus) for config in suite.configs]
    for row in table.values or table.rows:
        for config in table.row(row).configs:  # DiscoEval's have their domains behind
            assert any(name.endswith(config) or config.startswith(name) for name in names), config


@pytest.mark.parametrize("name", MEANS)
def test_the_columns_of_discoeval_have_their_means(name: str) -> None:
    table = TABLES["chen-2019", name]
    for system, mean in zip(table.systems, MEANS[name], strict=True):
        own = [values[table.systems.index(system)] for values in table.values.values()]
        assert len(own) == 7
        assert math.fsum(own) / 7 == pytest.approx(mean, abs=0.06), system


@pytest.mark.parametrize("table", TABLES.values(), ids=map(" ".join, TABLES))
def test_shares_are_of_whole_items(table: PublishedTable) -> None:
    """A published share of so many items is that of a whole number of them."""
    for row, size in table.sizes.items():
        for system, value in zip(table.systems, table.values[row], strict=True):
            hits = value / 100 * size
            assert hits == pytest.approx(round(hits), abs=0.0005 * size), (row, system)


def test_a_manifest_quotes_the_scores_of_its_suite() -> None:
    quoted = suite_entry(load_suite("winograd"), "", "")["published"]
    source = "Beyer et al. 2021, plots in AnneBeyer/coherencegym, docs/visualization"
    assert quoted[0]["source"].startswith(source)
    first = Published("full", "", "GPT-2 small", 0.531, quoted[0]["source"], "winograd")
    assert next(iter(published_scores("winograd"))) == first
    groups = list(published_scores("connectives"))
    assert {(row.config, "→" in row.row) for row in groups} == {("", True)}
    tasks = [row for row in published_scores("discourse_tasks") if row.model == "ELMo"]
    assert [row.row for row in tasks[:4]] == ["mean of 3 configs"] * 2 + ["mean of 2 configs", ""]
    assert not [cell for suite in SUITES for cell in published_cells(suite) if cell[-1] > 100]
