"""Reading SyntaxGym's JSON: what a suite becomes, and what is refused with the place named."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.commands import without_progress

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.data.syntaxgym import SPLIT, read_suite, suites
from coherencegym.eval.kinds.items import METRICS, join_regions
from coherencegym.files.folders import CHECKSUMS


def item(number: int, **conditions: list[str]) -> dict[str, Any]:
    return {
        "item_number": number,
        "conditions": [
            {
                "condition_name": name,
                "regions": [
                    {"region_number": place, "content": content}
                    for place, content in enumerate(contents, start=1)
                ],
            }
            for name, contents in conditions.items()
        ],
    }


def suite(*formulas: str, metric: Any = "sum", items: Any = None) -> dict[str, Any]:
    """A suite as it is published; two items by default."""
    return {
        "meta": {"name": "toy", "metric": metric, "comment": "", "author": ""},
        "region_meta": {"1": "intro", "2": "np", "3": "end"},
        "predictions": [
            {"type": "formula", "formula": formula}
            for formula in formulas or ("(2;%good%) < (2;%bad%)",)
        ],
        "items": items
        or [
            item(1, good=["The dog", "was", "sad ."], bad=["The dog", "were", "sad ."]),
            item(2, bad=["A ball", "are", "red"], good=["A ball", "is", "red"]),
        ],
    }


def write(folder: Path, value: Any, name: str = "toy.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


# ---------------------------------------------------------------- what a suite becomes


def test_a_suite_becomes_items_that_share_its_predictions(tmp_path: Path) -> None:
    table = read_suite(write(tmp_path, suite()))
    assert (table.config, table.split, table.verified, table.separator) == (
        "toy",
        SPLIT,
        False,
        None,
    )
    first, second = table.items
    assert (first.item_id, first.item_number, first.discourse_id) == ("toy/1", 1, "toy/1")
    assert second.condition("bad").content == "A ball are red"
    assert [c.condition_name for c in second.conditions] == ["bad", "good"]
    assert first.predictions == second.predictions
    (prediction,) = first.predictions
    assert (prediction.formula, prediction.metric, prediction.groups) == (
        "(2;%good%) < (2;%bad%)",
        "sum",
        (),
    )
    assert len(read_suite(tmp_path / "toy.json", max_items=1).items) == 1


def test_regions_are_joined_by_one_space_and_none_for_an_empty_one(tmp_path: Path) -> None:
    contents = ["", " the woman", "", "yelled ", ", then", "."]
    value = suite("(2;%a%) > 0", items=[item(1, a=contents)])
    del value["region_meta"]
    (only,) = read_suite(write(tmp_path, value)).items
    (condition,) = only.conditions
    assert condition.content == "the woman yelled , then ."
    assert condition.region_offsets == ((0, 0), (0, 9), (9, 9), (10, 16), (17, 23), (24, 25))


def test_joining_strips_both_ends_of_a_region() -> None:
    assert join_regions([" a ", " ", "", "b  c\n", ", d"]) == "a b  c , d"
    assert join_regions(["", " "]) == ""


def test_each_prediction_is_a_group_where_there_are_several(tmp_path: Path) -> None:
    formulas = ("(2;%good%) < (2;%bad%)", "[(1;%good%) - (1;%bad%)] = 0")
    (first, _) = read_suite(write(tmp_path, suite(*formulas))).items
    assert [p.groups for p in first.predictions] == [("prediction 1",), ("prediction 2",)]
    assert [p.formula for p in first.predictions] == list(formulas)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("mean", ["mean"]), (["sum", "mean", "sum"], ["sum", "mean"]), ("all", list(METRICS))],
)
def test_a_metric_may_be_one_or_several_or_all(
    metric: Any, expected: list[str], tmp_path: Path
) -> None:
    (first, _) = read_suite(write(tmp_path, suite(metric=metric))).items
    assert [p.metric for p in first.predictions] == expected
    groups = [p.groups for p in first.predictions]
    assert groups == ([()] if len(expected) == 1 else [(name,) for name in expected])
    formulas = ("(2;%good%) < (2;%bad%)", "(1;%good%) = (1;%bad%)")
    (first, _) = read_suite(write(tmp_path, suite(*formulas, metric=["sum", "max"]))).items
    assert [p.groups[0] for p in first.predictions] == [
        "prediction 1 sum",
        "prediction 1 max",
        "prediction 2 sum",
        "prediction 2 max",
    ]


def test_files_and_folders_of_suites(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    write(tmp_path / "b", suite(), "two.json")
    write(tmp_path / "b", suite(), "one.json")
    write(tmp_path / "b", "no suite", "README.md")
    source, tables = suites(tmp_path / "b")
    assert [table.config for table in tables] == ["one", "two"]
    assert source.suite == "one,two"
    # The same items under another name are other rows: ids begin with the suite.
    assert len({table.rows_sha256 for table in tables}) == 2
    source, (table,) = suites(write(tmp_path, suite(), "three.json"))
    assert source.suite == table.config == "three"
    (tmp_path / "empty").mkdir()
    with pytest.raises(EvaluationError, match=r"no \*\.json in it"):
        suites(tmp_path / "empty")


def test_what_programs_add_to_a_suite_is_ignored(tmp_path: Path) -> None:
    value = suite()
    value["meta"]["model"] = {"deep": [[[1.5]]]}
    value["items"][0]["conditions"][0]["regions"][0].update(metric_value={"sum": 3.5}, oovs=[])
    path = write(tmp_path, value)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_suite(path).items) == 2


# ---------------------------------------------------------------- what is refused


def at(value: Any, *keys: Any) -> Any:
    for key in keys:
        value = value[key]
    return value


REGIONS = ("items", 1, "conditions", 0, "regions")
#: Where in the suite, what is put there (... : the key is removed), and the error.
MALFORMED: list[tuple[tuple[Any, ...], Any, str]] = [
    (("meta",), ..., "no 'meta'"),
    (("meta",), [], "meta: an array; expected an object"),
    (("meta", "metric"), ..., "meta: no 'metric'"),
    (("meta", "metric"), "product", 'meta.metric: "product"; expected one of mean, sum, median'),
    (("meta", "metric"), ["sum", "product"], 'meta.metric: "product"; expected one of'),
    (("meta", "metric"), 5, "meta.metric: 5; expected one of mean"),
    (("meta", "metric"), {"1": "sum"}, "meta.metric: an object; expected one of mean"),
    (("meta", "metric"), [], "meta.metric: an array; expected one of mean"),
    (("predictions",), ..., "no 'predictions'"),
    (("predictions",), [], "predictions: an empty array"),
    (("predictions",), {"0": ""}, "predictions: an object; expected an array"),
    (("predictions", 0), "(2;%good%) < 1", 'predictions[0]: "(2;%good%) < 1"; expected an object'),
    (("predictions", 0, "type"), "code", "predictions[0].type: \"code\"; expected 'formula'"),
    (("predictions", 0, "formula"), ..., "predictions[0]: no 'formula'"),
    (("predictions", 0, "formula"), 5, "predictions[0].formula: 5; expected a string"),
    (("predictions", 0, "formula"), "", "prediction 1: formula '', character 1: found the end"),
    (("predictions", 0, "formula"), "(2;%good%)", "character 1: nothing is compared"),
    (("predictions", 0, "formula"), "1 < 2 < 3", "character 7: a chain of comparisons"),
    (("predictions", 0, "formula"), "1<2 & 2<3 | 1<2", "character 11: & and | side by side"),
    (("predictions", 0, "formula"), "(2;%ok%) < 1", "character 1: no condition 'ok'"),
    (("predictions", 0, "formula"), "1 < (4;%good%)", "character 5: no region 4"),
    (("predictions", 0, "formula"), "1 < (0;%good%)", "character 5: no region 0"),
    (("predictions", 0, "formula"), "1 + " * 5000, "expected at most 10,000"),
    (("predictions", 0, "formula"), "(" * 99 + "1<2" + ")" * 99, "nested too deeply"),
    (("region_meta",), [], "region_meta: an array; expected an object"),
    (("region_meta", "4"), "more", "region_meta has 4 names; expected one for each of the 3"),
    (("region_meta", "2"), ..., "region_meta has 2 names"),
    (("items",), {"1": {}}, "items: an object; expected an array"),
    (("items",), [], "items: an empty array"),
    (("items", 1), "two", 'items[1]: "two"; expected an object'),
    (("items", 1, "item_number"), ..., "items[1]: no 'item_number'"),
    (("items", 1, "item_number"), "2", 'items[1].item_number: "2"; expected a whole number'),
    (("items", 1, "item_number"), 2.0, "items[1].item_number: 2.0; expected a whole number"),
    (("items", 1, "item_number"), True, "items[1].item_number: true; expected a whole number"),
    (("items", 1, "item_number"), 1, "item 1: two items have this item_number"),
    (("items", 1, "conditions"), None, "items[1].conditions: null; expected an array"),
    (("items", 1, "conditions"), [], "items[1].conditions: an empty array; expected at least one"),
    (("items", 1, "conditions", 0), 1, "items[1].conditions[0]: 1; expected an object"),
    (
        ("items", 1, "conditions", 0, "condition_name"),
        1,
        "items[1].conditions[0].condition_name: 1;",
    ),
    (("items", 1, "conditions", 0, "condition_name"), "good", "condition 'good': two conditions"),
    (("items", 1, "conditions", 0, "condition_name"), "worse", "item 2: no condition 'bad', which"),
    (("items", 1, "conditions", 1), ..., "item 2: no condition 'good', which item 1 has"),
    (("items", 0, "conditions", 1), ..., "item 2: condition 'bad', which item 1 has not"),
    (REGIONS, ..., "items[1].conditions[0]: no 'regions'"),
    (REGIONS, {}, "items[1].conditions[0].regions: an object; expected an array"),
    (REGIONS, [], "items[1].conditions[0].regions: an empty array"),
    ((*REGIONS, 2), ..., "item 2, condition 'bad': 2 regions; expected 3, as in item 1"),
    ((*REGIONS, 1), [], "conditions[0].regions[1]: an array; expected an object"),
    (
        (*REGIONS, 1, "region_number"),
        3,
        "condition 'bad', region 2: region_number 3; expected 1, 2",
    ),
    ((*REGIONS, 1, "region_number"), "2", 'regions[1].region_number: "2"; expected a whole number'),
    ((*REGIONS, 1, "content"), ..., "items[1].conditions[0].regions[1]: no 'content'"),
    ((*REGIONS, 1, "content"), 5, "conditions[0].regions[1].content: 5; expected a string"),
    ((*REGIONS, 1, "content"), None, "regions[1].content: null; expected a string"),
    (
        (*REGIONS, 1, "content"),
        "\ud800",
        "half a character at line 1 column 736; expected both halves",
    ),
]


@pytest.mark.parametrize(("keys", "value", "message"), MALFORMED)
def test_malformed_suites_are_refused_with_the_place_named(
    keys: tuple[Any, ...], value: Any, message: str, tmp_path: Path
) -> None:
    broken = suite()
    holder = at(broken, *keys[:-1])
    if value is ...:
        del holder[keys[-1]]
    else:
        holder[keys[-1]] = value
    path = write(tmp_path, broken)
    with pytest.raises(EvaluationError) as error:
        read_suite(path)
    assert str(error.value).startswith(f"{path}")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": the file is empty; expected JSON"),
        ("{}", ": no 'meta'; expected an object with it"),
        ("[]", ": an array; expected an object"),
        ("null", ": null; expected an object"),
        ('{"meta": {},\n "items": }', ":2: not JSON at character 11 of the line"),
        ('{"meta": NaN}', ": NaN stands in it, which is no JSON"),
        ('{"meta": -Infinity}', ": -Infinity stands in it"),
        ("[" * 200_000, ": nested too deeply"),
        ('{"a":' * 200_000, ": nested too deeply"),
        ("9" * 5000, f": {'9' * 40}...; expected a number that is smaller"),
        ('{"meta": 1e999}', ": 1e999...; expected a number that is smaller"),
        ('{"meta": 1, "items": 2, "meta": 3}', ': "meta" is there twice'),
    ],
)
def test_what_is_not_json_is_refused_with_the_line(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(EvaluationError) as error:
        read_suite(path)
    assert str(error.value).startswith(f"{path}{message}")


def test_a_key_that_is_there_twice_is_refused_where_it_is(tmp_path: Path) -> None:
    text = json.dumps(suite()).replace(
        '"region_number": 2, "content": "are"',
        '"region_number": 2, "content": "", "content": "are"',
    )
    with pytest.raises(EvaluationError) as error:
        read_suite(write(tmp_path, text))
    assert 'items[1].conditions[0].regions[1]: "content" is there twice' in str(error.value)


def test_bytes_that_are_not_utf8_are_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.json"
    path.write_bytes('{"meta":\n "café"}'.encode("latin-1"))
    with pytest.raises(EvaluationError, match=r"latin\.json:2: byte 14 of the file is not UTF-8"):
        read_suite(path)


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coherencegym.files.strict_json.MOST_BYTES", 50)
    with pytest.raises(EvaluationError, match="over 50 bytes"):
        read_suite(write(tmp_path, suite()))


def test_an_empty_region_is_read_by_a_sum_and_refused_for_a_mean(tmp_path: Path) -> None:
    items = [
        item(1, good=["", "was", "sad"], bad=["The", "", "sad"]),
        item(7, good=["", "", "sad"], bad=["The", "", "sad"]),
    ]
    formula = "(1;%good%) < (1;%bad%)"
    assert len(read_suite(write(tmp_path, suite(formula, items=items))).items) == 2
    for metric in sorted(set(METRICS) - {"sum"}):
        path = write(tmp_path, suite(formula, metric=metric, items=items))
        with pytest.raises(EvaluationError, match=r"character 1: region 1 of condition 'good'"):
            read_suite(path)
    assert read_suite(write(tmp_path, suite("(*;%good%) < 1", metric="mean", items=items)))
    path = write(tmp_path, suite("(2;%good%) < 1", metric="mean", items=items))
    with pytest.raises(EvaluationError, match=r"item 7: .* is empty and has no mean"):
        read_suite(path)


def test_a_condition_without_any_text_is_refused(tmp_path: Path) -> None:
    items = [item(1, good=["", " ", "\n"], bad=["The", "", "sad"])]
    with pytest.raises(EvaluationError, match="item 1, condition 'good': all its regions are empt"):
        read_suite(write(tmp_path, suite(items=items)))


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def model(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
) -> Path:
    return save_model(tmp_path_factory.mktemp("saved") / "model")


def test_end_to_end(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pyarrow import parquet

    formulas = (
        "(2;%good%) < (2;%bad%)",
        "[(2;%bad%) - (2;%good%)] + [(3;%bad%) - (3;%good%)] > 0",
        "[(2;%good%) < (2;%bad%)] & [(1;%good%) = (1;%bad%)]",
    )
    path = write(tmp_path, suite(*formulas))
    output = tmp_path / "out"
    words = ["--model", str(model), "--dataset", str(path), "--device", "cpu"]
    assert main([*words, "--output", str(output), "--tokens", "--verbose"]) == 0
    printed = capsys.readouterr()
    assert without_progress(printed.err) == ""
    for text in ("toy", "prediction 1", "prediction 3", "not comparable with published numbers"):
        assert text in printed.out
    assert "compat" not in printed.out.splitlines()[-2]
    assert {file.name for file in output.iterdir()} == {
        CHECKSUMS,
        "outcomes.parquet",
        "regions.parquet",
        "report.html",
        "results.json",
        "run.yaml",
        "systems.parquet",
        "tokens.parquet",
        "units.parquet",
    }
    results = json.loads((output / "results.json").read_text())
    assert results["dataset"]["suite"] == "toy"
    assert [t["items"] for t in results["dataset"]["tables"]] == [2]
    sums = {
        (row["item_id"], row["condition_name"], row["region_number"]): row["sum_bits"]
        for row in parquet.read_table(output / "regions.parquet").to_pylist()
    }
    assert len(sums) == 2 * 2 * 3
    scores = {score["group"]: score for score in results["scores"] if score["level"] == "group"}
    held = [0, 0, 0]
    for number in (1, 2):
        good, bad = (
            [sums[f"toy/{number}", name, region] for region in (1, 2, 3)]
            for name in ("good", "bad")
        )
        assert good[0] == pytest.approx(bad[0], abs=1e-4)  # what follows changes nothing
        held[0] += good[1] < bad[1]
        held[1] += (bad[1] - good[1]) + (bad[2] - good[2]) > 0
        held[2] += good[1] < bad[1]
    assert [2 * scores[f"prediction {n}"]["score"] for n in (1, 2, 3)] == held
    assert {score["n"] for score in scores.values()} == {2}
    assert {score["ci_method"] for score in scores.values()} == {"clopper-pearson"}
    assert scores["prediction 2"]["margin_mean"] is not None


def test_a_suite_is_a_run_and_a_folder_of_suites_another(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "both").mkdir()
    for name in ("one.json", "two.json"):
        write(tmp_path / "both", suite(), name)
    words = ["--model", str(model), "--device", "cpu", "--limit", "1", "--dataset"]
    assert main([*words, "both/one.json"]) == 0
    assert main([*words, "both"]) == 0
    folders = sorted(folder.name for folder in (tmp_path / "results").iterdir())
    assert folders == ["both--model", "one--model"]
    results = json.loads((tmp_path / "results/both--model/results.json").read_text())
    assert [score["config"] for score in results["scores"]] == ["one", "two"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dataset", "none.json"], "none.json"),
        (["--dataset", "toy.json", "--config", "a"], "--config: toy.json has none"),
        (["--dataset", "toy.json", "--split", "a"], "--split: toy.json has none"),
        (["--dataset", "toy.json", "--revision", "a"], "--revision: toy.json has none"),
        (["--dataset", "broken.json"], "broken.json:1: not JSON"),
    ],
)
def test_mistakes_are_one_line_before_any_model_is_loaded(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, suite())
    write(tmp_path, "nothing", "broken.json")
    assert main(["--model", "./no-such-model", *words]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert (printed.err.count("\n"), printed.out) == (1, "")
    assert not (tmp_path / "results").exists()


# ---------------------------------------------------------------- anything at all

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.floats(),
    st.sampled_from(["", "sum", "mean", "all", "good", "(1;%good%) > 1", "\ud800", "[SEP]"]),
    st.text(max_size=5),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


def paths_in(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values in a value."""
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        inner = []
    return [prefix, *(place for key, one in inner for place in paths_in(one, (*prefix, key)))]


PLACES = [place for place in paths_in(suite()) if place]


def read_or_refuse(path: Path) -> None:
    """Read a file; the only error is the project's, and begins with the file."""
    refusal = ""
    try:
        table = read_suite(path)
    except EvaluationError as error:
        refusal = str(error)
    else:
        assert all(one.predictions for one in table.items)
    assert not refusal or refusal.startswith(str(path))


anything = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@settings(anything, max_examples=12)
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), values), min_size=1, max_size=3))
def test_a_suite_with_anything_in_any_place_is_read_or_refused(
    changes: list[tuple[tuple[Any, ...], Any]], tmp_path: Path
) -> None:
    changed = copy.deepcopy(suite())
    for place, value in changes:
        try:
            at(changed, *place[:-1])[place[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change removed the place
    read_or_refuse(write(tmp_path, changed))


@anything
@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "any.json"
    path.write_bytes(content)
    read_or_refuse(path)


@anything
@given(cut=st.integers(0, len(json.dumps(suite()))), more=st.text(max_size=3))
def test_a_file_cut_off_anywhere_is_refused_or_read(cut: int, more: str, tmp_path: Path) -> None:
    read_or_refuse(write(tmp_path, json.dumps(suite())[:cut] + more))
