"""Logs of other evaluators are compared by the house's own statistics.

Recorded ones, of two tiny models (``recorded/README.md``), and damaged ones.
"""

from __future__ import annotations

import json
import shutil
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import one_line

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.results.comparison import compare
from coherencegym.eval.results.logs import read as logs
from coherencegym.eval.results.logs.read import logs_at, read_log
from coherencegym.eval.results.paired_scores import PairedScore

RECORDED = Path(__file__).parent / "recorded"
#: The names of a row's numbers.
NUMBERS = (
    *("n", "n_clusters", "left_out", "baseline_score", "score"),
    *("baseline_higher", "higher", "difference", "ci_low", "ci_high", "ci_method", "test", "p"),
)


def rows_of(folder: Path, cluster_by: str | None = None) -> dict[str, PairedScore]:
    """The rows of the comparison of two logs, by metric."""
    baseline, model = (read_log(log, cluster_by)[0] for log in logs_at(folder))
    return {row.metric: row for row in compare(baseline, model).rows}


def own_row(aggregation: str) -> dict[str, Any]:
    """A row of the comparison of the same models' own results."""
    rows = json.loads((RECORDED / "own.json").read_text())
    (row,) = (row for row in rows if row["aggregation"] == aggregation)
    return {name: row[name] for name in NUMBERS}


@pytest.mark.parametrize(
    ("logs", "metric", "aggregation"),
    [
        ("lm_eval", "acc", "sum"),
        ("lm_eval", "acc_tokens", "mean"),
        ("exported", "cd_score", ""),
    ],
)
def test_their_numbers_are_our_own(logs: str, metric: str, aggregation: str) -> None:
    row = rows_of(RECORDED / logs, "cluster")[metric]
    found = {name: getattr(row, name) for name in NUMBERS}
    assert found == pytest.approx(own_row(aggregation), abs=1e-12)


def test_the_command_corrects_for_all_tests_and_says_what_is_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["compare", str(RECORDED / "lm_eval"), "--format", "json"]
    assert main([*words, "--cluster-by", "cluster"]) == 0
    said = capsys.readouterr()
    rows = json.loads(said.out)
    assert [row["metric"] for row in rows] == ["acc", "acc_norm", "acc_bytes", "acc_tokens"]
    assert {(row["baseline"], row["model"], row["task"]) for row in rows} == {
        ("demo", "stories260K", "lm-eval")
    }
    assert all(row["p_holm"] == min(1, 4 * row["p"]) for row in rows)
    assert main(words) == 0
    assert "each sample counts as independent" in capsys.readouterr().err
    assert main(["compare", str(RECORDED / "inspect"), "--cluster-by", "pair"]) == 0
    said = capsys.readouterr()
    assert "as no shares: answer_length" in said.out
    assert "which_text: letters.vowel" in said.out


def members(path: Path) -> list[Any]:
    """The JSON of an archive that is compressed by Zstandard."""
    with zipfile.ZipFile(path) as archive:
        return [
            json.loads(logs._decompressed(path, archive.getinfo(f"{name}.json")))
            for name in ("header", "summaries")
        ]


def test_two_forms_of_inspect_are_one_log(tmp_path: Path) -> None:
    """Zstandard, as it writes now; deflated, as it did; and JSON, by its own names."""
    path = RECORDED / "inspect" / "demo.eval"
    header, samples = members(path)
    deflated = tmp_path / "demo.eval"
    with zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", json.dumps(samples))
    as_json = tmp_path / "demo.json"
    as_json.write_text(json.dumps({**header, "samples": samples}))
    found = [read_log(each, "pair")[0] for each in (path, deflated, as_json)]
    assert len({one.rows_sha256 for one in found}) == 1
    for one in found[1:]:
        assert one.outcomes.outcomes == found[0].outcomes.outcomes
    # Every sample is in it, with the score that Inspect gave it.
    assert len(found[0].outcomes.units) == len(samples) == 8


def inspect_json(folder: Path, samples: list[dict[str, Any]], **about: Any) -> Path:
    """A log of Inspect as JSON."""
    asked = {"task": "t", "model": "m", **about.pop("eval", {})}
    path = folder / f"{about.pop('name', 'log')}.json"
    path.write_text(
        json.dumps({"version": 2, "status": "success", "eval": asked, "samples": samples} | about)
    )
    return path


def sample(number: int, value: Any, **about: Any) -> dict[str, Any]:
    return {"id": number, "epoch": 1, "input": f"q{number}", "target": "A"} | {
        "scores": {"s": {"value": value}},
        **about,
    }


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *(("C", 1), ("I", 0), ("P", 0.5), ("N", 0), ("yes", 1), ("False", 0), ("0.25", 0.25)),
        *((True, 1), (0.75, 0.75), ("c", None), ("what", None), (None, None), (float("nan"), None)),
    ],
)
def test_the_values_of_inspect(tmp_path: Path, value: Any, number: float | None) -> None:
    path = inspect_json(tmp_path, [sample(1, value), sample(2, 1)])
    saved, _ = read_log(path)
    (one,) = saved.outcomes.series()
    assert [row.value for row in saved.outcomes.rows(one.places)] == [number, 1]


def test_epochs_of_a_sample_come_to_their_mean(tmp_path: Path) -> None:
    rows = [sample(1, "C"), sample(1, "I", epoch=2), sample(2, {"a": 1, "b": [1]}), sample(3, [1])]
    saved, left_out = read_log(inspect_json(tmp_path, rows))
    found = {one.metric: list(saved.outcomes.rows(one.places)) for one in saved.outcomes.series()}
    assert [row.value for row in found["s"]] == [0.5, None, None]
    assert [row.value for row in found["s.a"]] == [None, 1, None]
    assert left_out == ["s.b"]


def test_messages_are_told_apart_by_what_they_say(tmp_path: Path) -> None:
    """Their ids are others in every run."""

    def digest(text: str, name: str) -> str:
        message = {"id": name, "role": "user", "content": text}
        rows = [sample(1, "C", input=[message])]
        return read_log(inspect_json(tmp_path, rows, name=name))[0].rows_sha256

    assert digest("Why?", "one") == digest("Why?", "two") != digest("How?", "three")


def test_other_rows_and_other_prompts_are_not_compared(tmp_path: Path) -> None:
    logs = [
        read_log(inspect_json(tmp_path, rows, name=f"{n}", **about))[0]
        for n, (rows, about) in enumerate(
            [
                ([sample(1, "C"), sample(2, "I")], {}),
                ([sample(1, "C"), sample(2, "I", input="other")], {}),
                ([sample(1, "C"), sample(2, "I")], {"eval": {"solver": "generate"}}),
            ]
        )
    ]
    for other, said in ((1, "t: the rows differ"), (2, r'solver: not set and "\\"generate\\""')):
        with pytest.raises(EvaluationError, match=said):
            compare(logs[0], logs[other])


def edited(folder: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """A log of the harness whose lines are changed."""
    shutil.copytree(RECORDED / "lm_eval" / "demo", folder)
    (path,) = folder.glob("samples_*.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_each_filter_of_the_harness_is_a_metric(tmp_path: Path) -> None:
    def filters(rows: list[dict[str, Any]]) -> None:
        rows += [row | {"filter": "strict", "acc": 1.0} for row in rows]
        rows[0]["acc_norm"] = [1, 2]

    saved, _ = read_log(edited(tmp_path / "log", filters), "cluster")
    assert {"acc", "acc,strict", "acc_norm,strict"} <= saved.metrics.keys()
    assert len(saved.outcomes.units) == 24
    (one,) = (one for one in saved.outcomes.series() if one.metric == "acc_norm")
    assert saved.outcomes.reasons(one.places)["no score in the log"] == 1


def test_other_texts_of_the_harness_are_other_rows(tmp_path: Path) -> None:
    def other(rows: list[dict[str, Any]]) -> None:
        rows[3]["arguments"]["gen_args_0"]["arg_1"] += "!"

    logs = [
        edited(tmp_path / "same", lambda rows: rows.reverse()),
        edited(tmp_path / "other", other),
    ]
    demo = read_log(RECORDED / "lm_eval" / "demo")[0]
    same, changed = (read_log(log)[0] for log in logs)
    assert all(row.difference == 0 for row in compare(demo, same).rows)
    with pytest.raises(EvaluationError, match=r"sample_full: the rows differ"):
        compare(demo, changed)


def zipped(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.json", content)
    return path


HEADER = json.dumps({"status": "success", "eval": {"task": "t", "model": "m"}})
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda to: zipped(to / "a.eval", header=HEADER), "no summaries.json; expected a log of a"),
        (lambda to: zipped(to / "a.eval", header=DEEP, summaries="[]"), "header.json: not JSON"),
        (lambda to: zipped(to / "a.eval", header=HEADER, summaries="{}"), "expected"),
        (lambda to: zipped(to / "a.eval", header=HEADER, summaries="[]"), "found none"),
        (lambda to: written(to / "a.eval", b"PK"), "no whole zip archive; expected a log of"),
        (lambda to: inspect_json(to, [], status="started"), "status 'started'; expected a log of"),
        (lambda to: inspect_json(to, [sample(1, 7)]), "no metric with a score from 0 to 1"),
        (
            lambda to: inspect_json(to, [{"id": 1, "metadata": 2}]),
            "samples[0].metadata: 2; expected an",
        ),
        (lambda to: edited(to / "log", lambda rows: rows.clear()), "no samples; expected a line"),
        (lambda to: edited(to / "log", lambda rows: rows.append(rows[0])), "document 0 has acc tw"),
        (lambda to: edited(to / "log", lambda rows: rows[1].pop("metrics")), "jsonl:2: no 'metric"),
        (lambda to: two_runs(edited(to / "log", lambda rows: None)), "samples of 2 runs; expected"),
        (lambda to: broken_line(edited(to / "log", lambda rows: None)), "jsonl:25: not JSON"),
        (lambda to: no_utf8(edited(to / "log", lambda rows: None)), "93.json: not JSON in UTF-8"),
        (lambda to: inspect_json(to, [sample(1, 10**400)]), "a score from 0 to 1 for each sample"),
        (lambda to: inspect_json(to, [sample(1, 1e308), sample(1, 1e308)]), "; found s"),
        (lambda to: inspect_json(to, [sample(1, {"\ud800": 1})]), "half a character in a name"),
        (lambda to: inspect_json(to, [sample(1, 1)], eval={"model": "\ud800"}), "half a character"),
    ],
)
def test_what_is_no_whole_log_is_one_line(
    tmp_path: Path, make: Callable[[Path], Path], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(tmp_path)
    assert main(["compare", str(path), str(path)]) == 2
    assert said in one_line(capsys.readouterr().err)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def two_runs(folder: Path) -> Path:
    (path,) = folder.glob("samples_*.jsonl")
    shutil.copy(path, path.with_name(path.name.replace("T07-45", "T08-45")))
    return folder


def no_utf8(folder: Path) -> Path:
    (path,) = folder.glob("results_*.json")
    path.write_bytes(path.read_bytes().replace(b"demo", b"d\xe9mo"))
    return folder


def broken_line(folder: Path) -> Path:
    (path,) = folder.glob("samples_*.jsonl")
    path.write_text(path.read_text() + "{\n")
    return folder


def test_a_field_that_no_sample_has_is_named_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for folder, known in (("lm_eval", "discourse_id"), ("inspect", "discourse_id, pair")):
        assert main(["compare", str(RECORDED / folder), "--cluster-by", "place"]) == 2
        line = one_line(capsys.readouterr().err)
        assert "in 'place'; expected --cluster-by with one of " in line
        assert known in line


def test_clusters_are_of_logs_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(tmp_path), "--cluster-by", "x"]) == 2
    assert "expected logs of other evaluators with it" in one_line(capsys.readouterr().err)


@pytest.fixture(scope="module")
def whole_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each form of a log: both archives, JSON, and the harness's."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(RECORDED / "exported", folder / "new")
    shutil.copytree(RECORDED / "lm_eval" / "demo", folder / "harness")
    header, samples = members(folder / "new" / "demo.eval")
    (folder / "old").mkdir()
    with zipfile.ZipFile(folder / "old" / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", json.dumps(samples))
    inspect_json(folder, samples, **header)
    return folder


@given(st.data())
def test_a_damaged_log_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, whole_logs: Path, data: st.DataObject
) -> None:
    patterns = ["new/demo.eval", "old/a.eval", "log.json", "harness/res*.json", "harness/*.jsonl"]
    (whole,) = whole_logs.glob(data.draw(st.sampled_from(patterns)))
    content = bytearray(whole.read_bytes())
    put = st.sampled_from([b"9" * 400, rb"\ud800"]) | st.binary(min_size=1, max_size=1)
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place : place + 1] = data.draw(put)
    kept = data.draw(st.sampled_from([len(content), len(content) // 2]))
    folder = tmp_path_factory.mktemp("damaged") / "log"
    shutil.copytree(whole.parent, folder)
    path = written(folder / whole.name, bytes(content[:kept]))
    with suppress(EvaluationError):
        for log in logs_at(folder if whole.parent.name == "harness" else path):
            found = read_log(log, "cluster")[0]
            assert len(found.outcomes.units) == 24 or whole.suffix != ".eval"


def test_a_member_is_held_to_its_checksum(tmp_path: Path) -> None:
    path = RECORDED / "exported" / "demo.eval"
    with zipfile.ZipFile(path) as archive:
        known = struct.pack("<L", archive.getinfo("summaries.json").CRC)
    content = path.read_bytes().replace(known, bytes(byte ^ 1 for byte in known))
    with pytest.raises(
        EvaluationError, match=r"summaries\.json is damaged; expected the whole log"
    ):
        read_log(written(tmp_path / "a.eval", content))


@pytest.mark.parametrize(
    ("log", "most", "said"),
    [
        ("inspect/demo.eval", 100, r"header\.json: over 100 bytes"),
        ("lm_eval/demo", 2_000, r"results_.*\.json: over 2,000 bytes"),
        ("lm_eval/demo", 20_000, r"samples_.*\.jsonl: over 20,000 bytes"),
    ],
)
def test_a_file_that_is_too_large_is_refused(
    monkeypatch: pytest.MonkeyPatch, log: str, most: int, said: str
) -> None:
    monkeypatch.setattr(logs, "MOST_BYTES", most)
    with pytest.raises(EvaluationError, match=said):
        read_log(RECORDED / log)


def test_the_archive_is_of_the_method_that_it_says() -> None:
    with zipfile.ZipFile(RECORDED / "inspect" / "demo.eval") as archive:
        methods = {one.compress_type for one in archive.infolist()}
    assert methods == {93}
    assert pa.Codec.is_available("zstd")
