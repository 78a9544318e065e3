"""The one table of scores: a column for each metric, a line for each system and group."""

from __future__ import annotations

from typing import Any

from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.statistics.scores import REFERENCE, Score


def made(metric: str, value: float | None, *, n: int = 40, **about: Any) -> Score:
    where: dict[str, Any] = {"config": "c", "split": "test", "group": "", "level": "all", **about}
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    return Score(metric=metric, n=n, score=value, ci_low=low, ci_high=high, **where)


def test_a_metric_is_a_column_and_a_system_a_line() -> None:
    table = score_table(
        [
            made("AUC", 0.6, n=80),
            made("F1", 0.5, system="argmax"),
            made("F1", 0.25, system="never", level=REFERENCE, n=12, counts={"not judged": 28}),
            made("Spearman", -0.3),
        ]
    )
    assert table.headers == (
        "config",
        "n",
        "AUC, %",
        "F1, %",
        "Spearman",
        "left out",
    )
    assert [row.cells for row in table.rows] == [
        ("c (test)", "80", "60.0 [50.0, 70.0]", "", "-0.30 [-0.40, -0.20] (n = 40)", ""),
        ("  argmax", "40", "", "50.0 [40.0, 60.0]", "", ""),
        ("  never", "12 !", "", "25.0 [15.0, 35.0]", "", "28 not judged"),
    ]
    assert [(row.level, row.bold) for row in table.rows] == [(0, True), (1, False), (1, False)]


def test_a_group_has_its_own_systems_and_no_baselines() -> None:
    parts = [
        made("F1", 0.5, group="genre=news", level="column", n=30),
        made("F1", 0.4, group="genre=news", level="column", n=30, system="argmax"),
        made("F1", 0.1, group="genre=news", level=REFERENCE, n=30, system="never"),
        # It has all units of the table.
        made("F1", 0.5, group="all of them", level="group"),
    ]
    table = score_table([made("F1", 0.5), *parts], cell=lambda score: f"{score.score}", unit="")
    assert table.headers == ("config", "n", "F1")
    assert [row.cells[0] for row in table.rows] == ["c (test)", "  genre=news", "    argmax"]
    assert [row.cells[2] for row in table.rows] == ["0.5", "0.5", "0.4"]


def test_configs_stand_one_after_the_other() -> None:
    scores = [made("F1", 0.5, config=config) for config in ("a", "b")]
    table = score_table([*scores, made("F1", None, config="a", system="x")])
    assert [row.cells[0] for row in table.rows] == ["a (test)", "  x", "b (test)"]
    assert table.rows[1].cells[2] == "–"
