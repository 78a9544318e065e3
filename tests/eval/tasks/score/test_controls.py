"""Differences of mean margins between a config and its controls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import one_line
from support.results import JudgedPrediction, evaluated_table, made_outcomes

from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item, Outcome
from coherencegym.eval.statistics.intervals import difference_of_means
from coherencegym.eval.tasks.score.outcomes import Difference, differences
from coherencegym.eval.tasks.score.report import difference_labels

Make = Callable[..., Item]


def item(identifier: str, family: str | None = None) -> Item:
    extra = {} if family is None else {"family": family}
    return Item(f"{identifier}/x", 1, (), (), identifier, "toy", extra=extra)


def evaluate(
    margins: Sequence[float | None], prefix: str, formula: str = "f", metric: str = "mean"
) -> list[JudgedPrediction]:
    """Evaluated predictions with these margins; None: undefined."""
    return [
        JudgedPrediction(
            item(f"{prefix}{number}"),
            formula,
            metric,
            (),
            None if margin is None else Outcome(margin > 0, margin == 0, margin),
            "identical" if margin is None else "",
        )
        for number, margin in enumerate(margins)
    ]


def compared(
    own: Sequence[JudgedPrediction], controls: Mapping[str, Sequence[JudgedPrediction]]
) -> list[Difference]:
    tables = {"c": own, **controls}
    outcomes = made_outcomes(*(evaluated_table(made, config) for config, made in tables.items()))
    return differences(outcomes, "c", "s", list(controls))


def test_a_difference_by_hand() -> None:
    own, other = [1.0, 2.0, 3.0, None], [0.5, -0.5]
    (found,) = compared(evaluate(own, "a"), {"k": evaluate(other, "b")})
    assert (found.config, found.split, found.control) == ("c", "s", "k")
    assert (found.formula, found.aggregation) == ("f", "mean")
    assert (found.n, found.n_control, found.n_clusters, found.n_clusters_control) == (3, 2, 3, 2)
    assert (found.margin_mean, found.control_margin_mean, found.difference) == (2.0, 0.0, 2.0)
    known = difference_of_means(([1.0, 2.0, 3.0], ["a0", "a1", "a2"]), ([0.5, -0.5], ["b0", "b1"]))
    assert known is not None
    assert (found.ci_low, found.ci_high, found.ci_method) == (known.low, known.high, "t")


def test_a_difference_for_each_control_and_each_formula_of_both() -> None:
    own = (
        evaluate([1.0, 2.0], "a")
        + evaluate([4.0, 5.0], "a", metric="sum")
        + evaluate([1.0], "a", "g")
    )
    controls = {
        "k": evaluate([0.0, 0.0], "b") + evaluate([1.0, 1.0], "b", metric="sum"),
        "m": evaluate([0.5, 1.5], "d") + evaluate([0.5, 1.5], "d", "h"),
    }
    rows = compared(own, controls)
    assert [(r.control, r.formula, r.aggregation, r.difference) for r in rows] == [
        ("k", "f", "mean", 1.5),
        ("k", "f", "sum", 3.5),
        ("m", "f", "mean", 0.5),
    ]
    assert difference_labels(rows) == ["c − k, f mean", "c − k, f sum", "c − m"]


def test_families_are_drawn_and_counted_as_one() -> None:
    def twins(prefix: str) -> list[JudgedPrediction]:
        return [
            JudgedPrediction(
                item(f"{prefix}{i}", f"{prefix}family{i // 2}"),
                *("f", "mean", ()),
                Outcome(True, False, float(i // 2)),
            )
            for i in range(8)
        ]

    (found,) = compared(twins("a"), {"k": twins("b")})
    once = [0.0, 1.0, 2.0, 3.0]
    names = [f"{{}}family{i}" for i in range(4)]
    known = difference_of_means(
        (once, [n.format("a") for n in names]), (once, [n.format("b") for n in names])
    )
    assert known is not None
    assert (found.n, found.n_clusters) == (8, 4)
    assert (found.ci_low, found.ci_high) == pytest.approx((known.low, known.high))


def test_nothing_to_compare_gives_nothing_or_no_number() -> None:
    own = evaluate([1.0, 2.0], "a")
    assert compared(own, {}) == []
    assert compared(own, {"k": []}) == []
    assert compared(own, {"k": evaluate([1.0], "b", "another")}) == []
    (undefined,) = compared(own, {"k": evaluate([None, None], "b")})
    assert (undefined.n_control, undefined.control_margin_mean) == (0, None)
    assert (undefined.difference, undefined.ci_low, undefined.ci_method) == (None, None, "")
    (single,) = compared(own, {"k": evaluate([0.5], "b")})
    assert (single.difference, single.ci_low, single.ci_high) == (1.0, None, None)


def test_a_formula_without_margin_has_no_difference() -> None:
    equal = [JudgedPrediction(item("a0"), "f", "mean", (), Outcome(True, False, None))]
    assert compared(equal, {"k": evaluate([1.0], "b")}) == []


def test_ties_everywhere_differ_by_nothing() -> None:
    (found,) = compared(evaluate([0.0] * 5, "a"), {"k": evaluate([0.0] * 4, "b")})
    assert (found.difference, found.ci_low, found.ci_high) == (0.0, 0.0, 0.0)


@given(
    st.lists(st.none() | st.floats(-99, 99), max_size=6),
    st.lists(st.none() | st.floats(-99, 99), max_size=6),
)
def test_no_number_is_nan(own: list[float | None], other: list[float | None]) -> None:
    for row in compared(evaluate(own, "a"), {"k": evaluate(other, "b")}):
        values = (row.difference, row.ci_low, row.ci_high, row.margin_mean)
        json.dumps(values, allow_nan=False)


# ---------------------------------------------------------------- in a run


@pytest.fixture(scope="module")
def dataset(
    tmp_path_factory: pytest.TempPathFactory,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    folder = tmp_path_factory.mktemp("controls") / "data"
    extra = {"moved": "bool"}
    write_dataset(folder, pair_items, "c_test", extra=extra, controls=["c_control", "c_lost"])
    write_dataset(folder, pair_items[:5], "c_control", extra=extra)
    return folder


def run(dataset: Path, output: Path, *more: str) -> dict[str, Any]:
    arguments = ["--model", "demo", "--dataset", str(dataset), "--output", str(output)]
    assert main([*arguments, "--device", "cpu", "--verbose", *more]) == 0
    results: dict[str, Any] = json.loads((output / "results.json").read_text())
    return results


@pytest.mark.usefixtures("real_figures")
def test_the_manifest_says_what_is_compared(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = run(dataset, tmp_path / "out")
    (row,) = results["differences"]
    margins = {s["config"]: s["margin_mean"] for s in results["scores"]}
    assert (row["config"], row["control"], row["n"], row["n_control"]) == (
        "c_test",
        "c_control",
        8,
        5,
    )
    assert row["difference"] == pytest.approx(margins["c_test"] - margins["c_control"])
    assert row["ci_low"] < row["difference"] < row["ci_high"]
    printed = capsys.readouterr().out
    (line,) = [line.split() for line in printed.splitlines() if "− c_control" in line]
    assert line[:6] == ["c_test", "−", "c_control", "8,", "5", f"{row['margin_mean']:+.3f},"]
    assert line[7:] == [
        f"{row['difference']:+.3f}",
        f"[{row['ci_low']:+.3f},",
        f"{row['ci_high']:+.3f}]",
    ]
    assert "c_test: its score says little without its controls c_lost, which" in printed


def test_one_config_alone_is_scored_and_said_to_lack_its_controls(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = run(dataset, tmp_path / "out", "--config", "c_test")
    assert results["differences"] == []
    assert len(results["scores"]) == 1
    printed = capsys.readouterr().out
    assert "without its controls c_control, c_lost" in printed
    assert "control, bits" not in printed


def test_controls_that_are_no_names_are_refused(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    manifest = json.loads((dataset / "manifest.json").read_text())
    for wrong in ("c_control", [1], {"c_control": 1}):
        manifest["configs"]["c_test"]["controls"] = wrong
        (folder / "manifest.json").write_text(json.dumps(manifest))
        arguments = ["--model", "demo", "--dataset", str(folder), "--output", str(tmp_path / "o")]
        assert main(arguments) == 2
        assert "manifest.json: configs.c_test.controls" in one_line(capsys.readouterr().err)
