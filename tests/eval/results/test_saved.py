"""Folders of results, written and read back; damaged ones; and comparing them by command."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import compared, one_line
from support.results import Rows, damage, put

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.results.comparison import MAY_DIFFER
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.tasks.score.outcomes import ACCURACY, OF_MODEL, prediction_rows, select

EXTRA = {"moved": "bool", "family": "string"}


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
    make_item: Callable[..., Item],
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """Results of two models, ``one`` and ``two``, of which the second reads less."""
    folder = tmp_path_factory.mktemp("results")
    save_model(folder / "one-model", n_positions=1024)
    save_model(folder / "two-model", n_layer=1, n_positions=64)
    same = {"a": ["Hi.", "No."], "b": ["Hi.", "No."]}
    items = [
        make_item(
            {c.condition_name: [r.content for r in c.regions] for c in item.conditions},
            item.predictions[0].formula,
            "(*;%shuffled%) = (*;%original%)",
            item_id=item.item_id,
            groups=("all kinds",),
            moved=number % 2 == 0,
            family=f"f{number // 2}",
        )
        for number, item in enumerate(pair_items)
    ]
    items.append(make_item(same, "(2;%a%) > (2;%b%)", item_id="d9/x", moved=True, family=None))
    data = write_dataset(folder / "data", items, extra=EXTRA, breakdowns=["moved"])
    for name in ("one", "two"):
        words = ["--model", str(folder / f"{name}-model"), "--dataset", str(data)]
        assert main([*words, "--device", "cpu", "--output", str(folder / name)]) == 0
    return folder


def test_what_was_written_is_read_back(folder: Path) -> None:
    from pyarrow import parquet

    results = json.loads((folder / "one" / "results.json").read_text())
    saved = read_results(folder / "one", outcomes=True)
    assert saved.signature == results["signature"]
    assert saved.commit == results["model"]["commit"]
    assert saved.rows_sha256 == results["dataset"]["rows_sha256"]
    assert saved.settings == results["settings"]
    (table,) = saved.tables
    assert (table.items, table.breakdowns, table.families) == (9, ("moved",), True)
    rows = list(prediction_rows(saved.outcomes))
    assert len(rows) == 17
    assert (rows[0]["item_id"], rows[0]["cluster"]) == ("d0/shuffled", "f0")
    assert (rows[0]["columns"], rows[0]["groups"]) == (["moved=true"], ["all kinds"])
    written = parquet.read_table(folder / "one" / "outcomes.parquet").to_pylist()
    assert [(row["unit_id"], row["metric"]) for row in written[:3]] == [
        *((0, "accuracy"), (0, "margin"), (1, "accuracy"))
    ]
    assert [row["value"] for row in written[:2]] == [float(rows[0]["met"]), rows[0]["margin"]]
    # An equality has no margin; the item whose conditions are the same tokens has no outcome.
    assert (rows[1]["met"], rows[1]["margin"]) == (False, None)
    assert (rows[-1]["met"], rows[-1]["tie"], rows[-1]["reason"]) == (None, None, "identical")
    assert rows[-1]["cluster"] == "d9"
    assert saved.table("c", "test") is None


def test_every_score_can_be_computed_from_the_outcomes(folder: Path) -> None:
    """The rows, their items and what holds are those of results.json."""
    results = json.loads((folder / "one" / "results.json").read_text())
    saved = read_results(folder / "one", outcomes=True)
    (table,) = saved.tables
    places = saved.outcomes.places_of(table.config, table.split, *OF_MODEL)
    found = [
        (level, ACCURACY.counted(saved.outcomes.cells(own)).value)
        for level, _, own in select(saved.outcomes, places, table.headline, table.breakdowns)
    ]
    assert [(level, len(values)) for level, values in found] == [
        (score["level"], score["n"]) for score in results["scores"]
    ]
    held = [score["n"] * (score["score"] or 0) for score in results["scores"]]
    assert [values.sum() for _, values in found] == pytest.approx(held)
    assert [level for level, _ in found] == ["all", *["formula"] * 3, "group", *["column"] * 2]


def test_of_every_setting_it_is_known_whether_results_may_differ_in_it(folder: Path) -> None:
    """Who adds a setting decides: it is refused when it differs, or it stands in MAY_DIFFER."""
    settings = read_results(folder / "one", outcomes=True).settings
    chosen = {name for name, value in settings.items() if not isinstance(value, dict)}
    refused = {"bos", "separator", "truncate", "word_correction", "compat"}
    assert chosen - MAY_DIFFER - {"added_tokens", "separator_rendering", "numeric_error"} == refused


# ---------------------------------------------------------------- damaged and foreign folders


def changed(path: Path, *keys: Any, value: Any = None) -> None:
    """Set a value of ``results.json``, or remove it where the value is ``...``."""
    content = json.loads((path / "results.json").read_text())
    place = content
    for key in keys[:-1]:
        place = place[key]
    if value is ...:
        del place[keys[-1]]
    else:
        place[keys[-1]] = value
    (path / "results.json").write_text(json.dumps(content))


#: Rows of outcomes: whether the first prediction holds, and by how many bits.
MET, BITS = 0, 1


def outcome(number: int, **columns: Any) -> Callable[[Path], Any]:
    return lambda path: damage(path, "outcomes", put(number, **columns))


def unit(number: int, **columns: Any) -> Callable[[Path], Any]:
    return lambda path: damage(path, "units", put(number, **columns))


def numbers_as_texts(path: Path) -> None:
    import pyarrow

    def change(rows: Rows) -> None:
        for row in rows:
            row["value"] = str(row["value"])

    damage(path, "outcomes", change, value=pyarrow.string())


def no_utf8(path: Path) -> None:
    import pyarrow

    def change(rows: Rows) -> None:
        for row in rows:
            row["item"] = b"\xff"

    file = damage(path, "units", change, item=pyarrow.binary())
    table = pyarrow.parquet.read_table(file)
    place = table.schema.get_field_index("item")
    texts = table["item"].combine_chunks().view(pyarrow.string())
    pyarrow.parquet.write_table(table.set_column(place, "item", texts), file)


def truncated(path: Path) -> None:
    file = path / "outcomes.parquet"
    file.write_bytes(file.read_bytes()[:-100])


def one_item_elsewhere(path: Path) -> None:
    """The last item, which has no outcome, becomes that of a table nobody knows."""
    unit(-1, config="x")(path)
    changed(path, "dataset", "tables", 0, "items", value=8)


def turned(path: Path) -> None:
    def change(rows: Rows) -> None:
        for row in rows:
            if row["metric"] == "accuracy" and row["value"] is not None:
                row["value"] = 1 - row["value"]

    damage(path, "outcomes", change)


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no folder": (shutil.rmtree, "no such folder"),
    "no results": (lambda p: (p / "results.json").unlink(), "no results.json"),
    "no outcomes": (lambda p: (p / "outcomes.parquet").unlink(), "no outcomes.parquet"),
    "no units": (lambda p: (p / "units.parquet").unlink(), "no units.parquet"),
    "no systems": (lambda p: (p / "systems.parquet").unlink(), "no systems.parquet"),
    "no json": (lambda p: (p / "results.json").write_text("{"), "not JSON"),
    "no object": (lambda p: (p / "results.json").write_text("[]"), "expected an object"),
    "a list of nothing": (
        lambda p: (p / "results.json").write_text("{}"),
        "no 'format'",
    ),
    "an old one": (lambda p: changed(p, "format", value=...), "no 'format'"),
    "a new one": (lambda p: changed(p, "format", value=2), "format 2; expected 1"),
    "truth for a number": (lambda p: changed(p, "format", value="1"), 'format "1"; expected 1'),
    "no name": (
        lambda p: changed(p, "model", "name", value=3),
        "model.name: 3; expected a string",
    ),
    "no model": (lambda p: changed(p, "model", value="gpt2"), "expected an object"),
    "no version": (
        lambda p: changed(p, "settings", "versions", "torch", value=2),
        "expected a string",
    ),
    "a commit": (lambda p: changed(p, "dataset", "commit", value=["x"]), "dataset.commit: an arr"),
    "no tables": (lambda p: changed(p, "dataset", "tables", value=[]), "an empty array"),
    "no list": (
        lambda p: changed(p, "dataset", "tables", 0, "breakdowns", value="moved"),
        'tables[0].breakdowns: "moved"; expected an array',
    ),
    "no truth": (
        lambda p: changed(p, "dataset", "tables", 0, "families", value=1),
        "families: 1; expected true or false",
    ),
    "no items": (
        lambda p: changed(p, "dataset", "tables", 0, "items", value="9"),
        "expected a whole number",
    ),
    "another table": (
        lambda p: changed(p, "dataset", "tables", 0, "config", value="x"),
        "not of one run",
    ),
    "a table twice": (
        lambda p: changed(
            p,
            "dataset",
            "tables",
            value=2 * json.loads((p / "results.json").read_text())["dataset"]["tables"],
        ),
        "there twice",
    ),
    "no share": (lambda p: changed(p, "scores", 0, "score", value="x"), "expected a number"),
    "no scores": (lambda p: changed(p, "scores", value=...), "no 'scores'"),
    "cut off": (truncated, "cannot be read"),
    "no parquet": (lambda p: (p / "outcomes.parquet").write_text("x"), "cannot be read"),
    "types": (numbers_as_texts, "other columns; expected unit_id"),
    "bytes": (no_utf8, "cannot be read"),
    "null": (unit(0, formula=None), "formula is null"),
    "no groups": (unit(0, groups=None), "groups is null"),
    "a null in groups": (unit(0, groups='[["", null]]'), "row 0: groups; expected JSON"),
    "half an outcome": (outcome(MET, value=None), "either a value or a reason"),
    "a reason": (outcome(MET, reason="x"), "either a value or a reason"),
    "infinity": (outcome(BITS, value=float("inf")), "row 1: value is not finite"),
    "nan": (outcome(BITS, value=float("nan")), "row 1: value is not finite"),
    "more than holding": (outcome(MET, value=2.0), "a value of 2; expected 0 to 1"),
    "another metric": (outcome(BITS, metric="x"), '"x": no such metric'),
    "twice": (outcome(BITS, metric="accuracy"), "row 1: the unit has another outcome"),
    "no unit": (outcome(MET, unit_id=17), "row 0: unit_id; expected 0 to 16"),
    "an item less": (
        lambda p: damage(p, "outcomes", lambda rows: rows.pop()),
        "not of one run",
    ),
    "turned": (turned, "not of one run"),
    "more": (one_item_elsewhere, '"x": not in results.json'),
}


@pytest.mark.parametrize("name", list(DAMAGES))
def test_damage_is_one_line(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, what = DAMAGES[name]
    copy = tmp_path / "copy"
    shutil.copytree(folder / "one", copy)
    damage(copy)
    with pytest.raises(EvaluationError) as caught:
        read_results(copy, outcomes=True)
    assert what in str(caught.value)
    assert str(copy) in str(caught.value)
    assert main(["compare", str(folder / "one"), str(copy)]) == 2
    said = capsys.readouterr()
    assert what in one_line(said.err)
    assert said.out == ""


def test_no_terminal_is_steered_by_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "one", tmp_path / "copy")
    changed(tmp_path / "copy", "model", "name", value=["\x1b[2J"])
    changed(tmp_path / "copy", "format", value="\x1b[2J")
    with pytest.raises(EvaluationError) as caught:
        read_results(tmp_path / "copy", outcomes=True)
    assert str(caught.value).isprintable()


# ---------------------------------------------------------------- the command


def test_two_models_by_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(folder / "one"), str(folder / "two")]
    assert main(["compare", *words]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "two-model against one-model (reference)" in said.out
    assert "moved=true" not in said.out
    assert "sign flips" in said.out
    assert "\x1b" not in said.out
    row = next(row for row in compared(capsys, *words) if row["level"] == "all")
    # The second model's context is too short for some items; the last has nothing to tell apart.
    scores = json.loads((folder / "two" / "results.json").read_text())["scores"]
    too_long = scores[0]["counts"]["too_long"]
    assert too_long > 0
    assert (row["n"], row["left_out"]) == (8 - too_long, 1 + too_long)
    assert row["undefined"] == 1 + 2 * too_long
    assert row["undefined_baseline"] == 1
    assert row["n_clusters"] < row["n"]
    assert main(["compare", *words, "--details"]) == 0
    assert "moved=true" in capsys.readouterr().out


def test_one_baseline_or_all_pairs(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = shutil.copytree(folder / "one", tmp_path / "again")
    folders = [str(name) for name in (folder / "one", folder / "two", again)]
    assert main(["compare", *folders]) == 0
    said = capsys.readouterr().out
    # A row of headline scores for each, and a table.
    assert said.startswith("Headline scores\n")
    assert said.count("(reference)") == 2
    assert main(["compare", *folders, "--all-pairs"]) == 0
    said = capsys.readouterr().out
    assert said.count("(reference)") == 3
    assert "the same predictions on all items" in said


@pytest.fixture
def runs(folder: Path, tmp_path: Path) -> Path:
    """Runs of two models on two suites, as ``score`` lays them, and one of a third suite."""
    for name in ("a--one", "a--two", "b--one", "b--two", "c--one"):
        suite, _, model = name.partition("--")
        shutil.copytree(folder / model, tmp_path / "runs" / name)
        changed(tmp_path / "runs" / name, "dataset", "suite", value=suite)
    return tmp_path / "runs"


def test_runs_on_several_suites_are_compared_suite_by_suite(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(runs)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    first, *tables = [line for line in said.out.splitlines() if "(reference)" in line]
    assert first == "Headline scores: two-model against one-model (reference)"
    assert [line.split()[0] for line in tables] == ["a", "b"]
    assert all("two-model against one-model (reference)" in line for line in tables)
    assert max(len(line) for line in said.out.splitlines() if str(runs) not in line) <= 100
    left_out = f"left out, as no other run is of the same suite and task: {runs / 'c--one'}"
    assert " ".join(said.out.split()).count(left_out) == 1
    own = [row for row in compared(capsys, runs) if row["level"] != "headline"]
    assert list(dict.fromkeys(row["suite"] for row in own)) == ["a", "b"]
    tested = [row["p_holm"] for row in own if row["p_holm"] is not None]
    assert f"corrected for the {len(tested)} tests of all 2 comparisons printed" in said.out

    # One family: no p-value is smaller than where each suite is corrected by itself.
    alone = runs / "a--one", runs / "a--two"
    assert main(["compare", *map(str, alone)]) == 0
    assert "tests of all" not in capsys.readouterr().out
    apart = [row for row in compared(capsys, *alone) if row["level"] != "headline"]
    rows = zip([row for row in own if row["suite"] == "a"], apart, strict=True)
    pairs = [(row["p_holm"], other["p_holm"]) for row, other in rows if row["p_holm"] is not None]
    assert pairs
    assert all(one >= other for one, other in pairs)


def test_the_first_model_that_is_named_is_the_baseline_of_every_suite(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("b--two", "a--one", "b--one", "a--two")
    assert main(["compare", *(str(runs / name) for name in names)]) == 0
    said = capsys.readouterr().out
    assert said.count("one-model against two-model (reference)") == 3
    assert said.index("b 1.0.0: one") < said.index("a 1.0.0: one")


def test_runs_without_a_partner_are_one_line(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a--two", "b--two"):
        shutil.rmtree(runs / name)
    assert main(["compare", str(runs)]) == 2
    said = one_line(capsys.readouterr().err)
    assert f"{runs / 'a--one'} and 2 more: no two are of the same suite and task" in said


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["compare", "{one}"], "one folder of results; expected two or more"),
        (["compare", "{one}", "{data}"], "no results.json"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str], what: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"one": folder / "one", "data": folder / "data"}
    assert main([word.format(**places) for word in words]) == 2
    assert what.format(**places) in one_line(capsys.readouterr().err)


def test_help_has_examples_and_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "--help-all"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    for part in ("--all-pairs", "--anyway", "--details", "--seed"):
        assert part in said
    assert "coherencegym compare results/" in said
    with pytest.raises(SystemExit):
        main(["compare"])
    assert "RESULTS" in one_line(capsys.readouterr().err)


def test_fewer_items_and_other_rules_are_compared_anyway_alone(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, fewer, never = str(folder / "one"), str(tmp_path / "fewer"), str(tmp_path / "never")
    words = ["--model", str(folder / "one-model"), "--dataset", str(folder / "data")]
    for output, more in ((fewer, ("--limit", "4")), (never, ("--bos", "never"))):
        assert main([*words, "--device", "cpu", "--no-cache", "--output", output, *more]) == 0
    capsys.readouterr()
    assert main(["compare", whole, fewer]) == 2
    assert "9 and 4 items" in one_line(capsys.readouterr().err)
    assert main(["compare", whole, never]) == 2
    assert 'bos: "auto" and "never"' in one_line(capsys.readouterr().err)
    assert main(["compare", whole, fewer, "--anyway"]) == 0
    said = capsys.readouterr().out
    assert "compared although not comparable: toy_context" in said
    assert "9 predictions are left out: only one of the two has them" in said
