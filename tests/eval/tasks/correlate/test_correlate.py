"""``coherencegym correlate``: scores of texts, baselines, the command line, two models."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from support.commands import compared, one_line
from support.suites import Sample

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.documents import RatedText
from coherencegym.eval.models.load import LoadedModel, load
from coherencegym.eval.outcomes.estimates import estimates
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.reading import read_outcome_tables
from coherencegym.eval.outcomes.schema import OutcomeRow
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.results.comparison import compare
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.surprisal import surprisals
from coherencegym.eval.tasks.correlate.task import (
    SPEARMAN_GIVEN_LENGTH,
    SPEARMAN_OF_ALL,
    SYSTEMS,
    TASK,
    add_baselines,
    correlate,
    query,
)
from coherencegym.eval.tasks.options import NoOptions
from coherencegym.eval.tasks.table import Table, read_tables
from coherencegym.eval.tasks.task import TaskContext
from coherencegym.files.parquet import parquet_rows


@pytest.fixture(scope="module")
def data(built_sample: Sample) -> Path:
    """The suite of the sample."""
    return built_sample("coherence_ratings")[0]


@pytest.fixture(scope="module")
def models(
    tmp_path_factory: pytest.TempPathFactory,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> Sequence[Path]:
    """Two tiny models with one tokenizer."""
    tokenizer = make_tokenizer()
    folders = []
    for name, room in (("gpt2", "n_positions"), ("llama", "max_position_embeddings")):
        folder = tmp_path_factory.mktemp("models") / name
        make_model(name, tokenizer, **{room: 512}).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        folders.append(folder)
    return folders


def arguments(model: Path, data: Path, output: Path, *more: str) -> list[str]:
    return [
        *("correlate", "--model", str(model), "--dataset", str(data), "--device", "cpu"),
        *("--no-cache", "--output", str(output), *more),
    ]


@pytest.fixture(scope="module")
def folders(
    models: Sequence[Path], data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Sequence[Path]:
    """The results of both models."""
    outputs = []
    for model in models:
        outputs.append(tmp_path_factory.mktemp("results") / model.name)
        assert main(arguments(model, data, outputs[-1])) == 0
    return outputs


def rated(number: int, rating: float, text: str = "", **more: Any) -> RatedText:
    own = {"ratings": (rating,), "prompt": "", **more}
    return RatedText(
        f"t{number:02d}", text or f"Text {number}.", rating, discourse_id=f"d{number:02d}",
        corpus="c", **own,
    )  # fmt: skip


def table_of(data: Path, rows: Sequence[RatedText], breakdowns: tuple[str, ...] = ()) -> Table[Any]:
    return Table(find_dataset(str(data)), "c", "test", tuple(rows), "", False, False, breakdowns)


def by(tables: OutcomeTables, metric: Metric, label: str) -> list[OutcomeRow]:
    return [
        outcome
        for (_, _, name, system), places in tables.series.items()
        if (name, system.label) == (metric.name, label)
        for outcome in tables.rows(places)
    ]


def correlated(model: LoadedModel, table: Table[Any]) -> OutcomeTables:
    """The outcomes of a table by a model and by baselines."""
    writer = OutcomeWriter()
    correlate(TaskContext(model), table, NoOptions(), writer)
    return writer.tables()


def baselines(table: Table[Any]) -> OutcomeTables:
    writer = OutcomeWriter()
    add_baselines(writer, table, writer.units(map(table.unit, table.rows)))
    return writer.tables()


def added_up(tables: OutcomeTables) -> list[Score]:
    found = estimates(tables, {one.name: one for one in TASK.metrics})
    return [score for _, _, score in found]


def test_scores_are_surprisals_taken_negative(data: Path, models: Sequence[Path]) -> None:
    model = load(str(models[0]), "cpu")
    (table, _), _ = read_tables(TASK.command.kind, find_dataset(str(data)), [], "test", 6)
    found = correlated(model, table)
    read = surprisals(model.model, model.tokenizer, list(map(query, table.rows))).items
    for number, (row, own) in enumerate(zip(table.rows, read, strict=True)):
        bits = own.conditions["text"].region_bits("*")
        values = {one.label: by(found, SPEARMAN_OF_ALL, one.label)[number].value for one in SYSTEMS}
        assert values["bits in total"] == pytest.approx(-bits.sum())
        assert values["bits per token"] == pytest.approx(-bits.mean())
        assert values["bits per character"] == pytest.approx(-bits.sum() / len(row.text))
    one = by(found, SPEARMAN_GIVEN_LENGTH, "bits per token")[0]
    assert (one.target, one.given) == (table.rows[0].rating, len(table.rows[0].text))
    assert one.unit.cluster == table.rows[0].prompt


def test_baselines_say_what_is_easier(data: Path) -> None:
    rows = [
        rated(n, n, "x" * (n + 1), ratings=(float(n), float(n)), overlap=n / 20) for n in range(12)
    ]
    found = {(s.metric, s.system): s for s in added_up(baselines(table_of(data, rows)))}
    assert found["Spearman", "length"].score == 1
    assert found["Spearman", "repeated words"].score == 1
    assert found["Spearman", "one rater"].score == 1
    # No prompt has two texts; length with length held is nothing; no word stands in two texts.
    assert {measure for measure, _ in found} == {"Spearman", "partial Spearman (length)"}
    assert ("partial Spearman (length)", "length") not in found
    assert all(system != "bag of words" for _, system in found)


def test_one_rater_is_held_against_the_others(data: Path) -> None:
    ratings = [(1.0, 5.0, 4.0), (2.0, 1.0, 2.0), (3.0, 3.0, 3.0), (4.0,), (5.0, 2.0, 3.0)]
    rows = [rated(n, sum(own) / len(own), ratings=own) for n, own in enumerate(ratings)]
    tables = baselines(table_of(data, rows))
    own = by(tables, SPEARMAN_OF_ALL, "one rater")
    assert [one.value for one in own] == [1, 2, 3, None, 5]
    assert own[3].reason == "one rating"
    expected = stats.spearmanr([1, 2, 3, 5], [4.5, 1.5, 3, 2.5])[0]
    (score,) = (
        one for one in added_up(tables) if one.system == "one rater" and one.metric == "Spearman"
    )
    assert score.score == pytest.approx(float(expected))


def test_a_text_that_is_too_long_is_counted(data: Path, models: Sequence[Path]) -> None:
    model = load(str(models[0]), "cpu")
    rows = [rated(n, n % 4, f"Text {n} is here." if n else "too long " * 500) for n in range(6)]
    tables = correlated(model, table_of(data, rows))
    found = by(tables, SPEARMAN_OF_ALL, "bits per token")
    assert [one.value is None for one in found] == [True, *[False] * 5]
    (score, *_) = added_up(tables)
    assert (score.metric, score.system) == ("Spearman", "bits per token")
    assert (score.n, score.counts) == (5, {"too_long": 1})


def test_scores_by_the_values_of_a_column(data: Path) -> None:
    rows = [rated(n, n, "x" * (n + 1), extra={"genre": "ab"[n % 2]}) for n in range(12)]
    scores = added_up(baselines(table_of(data, rows, ("genre",))))
    assert {score.group: score.n for score in scores if score.metric == "Spearman"} == {
        "": 12,
        "genre=a": 6,
        "genre=b": 6,
    }


def test_the_command_line(
    data: Path, models: Sequence[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    config = "--config", "sample_holistic"
    assert main(arguments(models[0], data, output, *config, "--verbose")) == 0
    printed = capsys.readouterr().out
    assert "coherence_ratings 1.0.0" in printed
    for row in ("bits per token", "bits in total", "length", "repeated words"):
        assert row in printed
    assert "no raters judged the texts" in printed
    results = json.loads((output / "results.json").read_text())
    assert results["task"] == "correlate"
    assert {row["metric"] for row in results["scores"]} == {one.said for one in TASK.metrics}
    head = results["headline"]
    assert (head["metric"], head["chance"], head["over"]) == ("Spearman", 0, ["sample_holistic"])
    (one,) = [
        row
        for row in results["scores"]
        if (row["metric"], row["system"], row["level"]) == ("Spearman", "bits per token", "all")
    ]
    assert (head["score"], head["ci_low"]) == (one["score"], pytest.approx(one["ci_low"]))
    assert one["lexical_overlap_score"] is not None
    baselines = {row["system"] for row in results["scores"] if row["level"] == "reference"}
    assert baselines == {"length", "repeated words", "bag of words"}
    page = (output / "report.html").read_text()
    assert "The Lost Mitten" in page
    assert f"{one['score']:+.2f}" in printed
    assert one["n"] == 36
    # What was found is what scipy finds in the outcomes.
    own = by(read_outcome_tables(output), SPEARMAN_OF_ALL, one["system"])
    assert {o.unit.config for o in own} == {"sample_holistic"}
    expected = stats.spearmanr([o.value for o in own], [o.target for o in own])[0]
    assert one["score"] == pytest.approx(float(expected))
    assert main(arguments(models[0], data, output)) == 2
    assert "--overwrite" in one_line(capsys.readouterr().err)


def test_a_dataset_without_rated_texts(
    models: Sequence[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(models[0], tmp_path / "none", tmp_path / "run")) == 2
    one_line(capsys.readouterr().err)


def test_two_models_are_compared(
    folders: Sequence[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *map(str, folders), "--format", "markdown"]) == 0
    printed = capsys.readouterr().out
    assert "correlations (Spearman) are shown times 100" in printed
    assert " | influence | " in printed
    found = compared(capsys, *folders)
    rows = {
        (row["config"], row["metric"], row["system"]): row for row in found if row["level"] == "all"
    }
    for (_, measure, system), row in rows.items():
        assert system in {one.label for one in SYSTEMS}
        assert row["difference"] == pytest.approx(row["score"] - row["baseline_score"])
        assert row["ci_low"] <= row["difference"] <= row["ci_high"]
        assert (row["p"] < 0.05) == (row["ci_low"] > 0 or row["ci_high"] < 0), measure
    # A baseline is the same for both.
    baseline, model = (read_results(folder, outcomes=True) for folder in folders)
    same = [row for row in compare(baseline, model).rows if row.system == "length"]
    assert {row.difference for row in same} == {0}


def test_the_folder_is_read_back(
    folders: Sequence[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    saved = read_results(folders[0], outcomes=True)
    assert saved.task == "correlate"
    assert main(["overview", *map(str, folders)]) == 0
    assert "correlations times 100" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("target", None, '"Spearman": target; expected a number'),
        ("target", math.inf, "target is not finite"),
        ("given", None, r'"partial Spearman \(length\)": given; expected a number'),
    ],
)
def test_outcomes_that_contradict_themselves(
    folders: Sequence[Path], tmp_path: Path, column: str, value: float | None, said: str
) -> None:
    from pyarrow import Table, parquet

    other = tmp_path / "other"
    shutil.copytree(folders[0], other)
    path = other / "outcomes.parquet"
    rows, schema = parquet_rows(path), parquet.read_schema(path)
    next(row for row in rows if row[column] is not None)[column] = value
    parquet.write_table(Table.from_pylist(rows, schema=schema), path)
    with pytest.raises(EvaluationError, match=said):
        read_results(other, outcomes=True)


def test_the_library_finds_what_the_command_does(
    models: Sequence[Path], data: Path, folders: Sequence[Path], tmp_path: Path
) -> None:
    import coherencegym as cg

    found = cg.correlate(str(models[0]), data, device="cpu", output=tmp_path / "out")
    results = json.loads((folders[0] / "results.json").read_text())
    assert found.headline is not None
    assert found.headline.score == pytest.approx(results["headline"]["score"])
    assert found.signature == results["signature"]
    assert "bits per token" in str(found)
    page = (tmp_path / "out/report.html").read_text()
    assert "partial Spearman (length)" in page
    assert "partial Spearman (length), %" not in page
    assert "|---|" in found._repr_markdown_()
    compared = cg.compare(found, tmp_path / "out")
    assert {row.difference for row in compared.comparisons[0].rows} == {0}
    with pytest.raises(cg.EvaluationError, match="correlate: no option 'scorer'; expected one of"):
        cg.correlate(str(models[0]), data, scorer="x")
    with pytest.raises(
        cg.EvaluationError, match="correlate: 3 is of type int; expected a dataset's"
    ):
        cg.correlate(str(models[0]), 3)  # type: ignore[arg-type]
