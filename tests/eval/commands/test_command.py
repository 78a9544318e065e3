"""The command line, end to end, on a tiny random model; and what goes wrong."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line, without_progress

from coherencegym.command_line import Parser, add_options
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.forward.execute import execute
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan.plan import make_plan, one_ahead
from coherencegym.eval.run.call import timed
from coherencegym.eval.run.options import MODEL, ModelOptions
from coherencegym.files.folders import CHECKSUMS

EXTRA = {"moved": "bool"}


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory,
    save_model: Callable[..., Path],
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """A folder with a model, and a dataset of two configs."""
    folder = tmp_path_factory.mktemp("saved")
    save_model(folder / "model")
    prediction = pair_items[0].predictions[0]
    partial_input = {
        "formula": prediction.formula,
        "metric": "mean",
        "group": "moved=true",
        "score": 0.75,
        "ci_low": 0.5,
        "ci_high": 0.9,
    }
    for config in ("toy_context", "toy_again"):
        write_dataset(
            folder / "data",
            pair_items,
            config,
            extra=EXTRA,
            breakdowns=["moved"],
            quality={"test": {"partial_input": [partial_input]}},
        )
    return folder


@pytest.mark.parametrize("several", [False, True])
def test_the_options_of_a_model_stand_under_one_heading(several: bool) -> None:
    parser = Parser(prog="x")
    add_options(parser, ModelOptions, several=several)
    (group,) = (one for one in parser._action_groups if one.title == MODEL)
    names = {name for action in group._group_actions for name in action.option_strings}
    assert {"--model", "--device", "--dtype", "--backend"} <= names
    # Several are named at once or again and again; of one the last name counts.
    given = ["--model", "a", "--model", "b"]
    assert parser.parse_args(given).model == (["a", "b"] if several else "b")
    with pytest.raises(SystemExit):
        parser.parse_args(["--device", "cpu"])


def arguments(saved: Path, output: Path, *more: str) -> list[str]:
    return [
        *("--model", str(saved / "model"), "--dataset", str(saved / "data")),
        *("--device", "cpu", "--verbose", "--output", str(output), *more),
    ]


def test_each_table_that_was_read_is_a_line_beside_the_output(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(saved, tmp_path / "said", "--limit", "3", "--no-cache")) == 0
    said = capsys.readouterr()
    lines = [line.partition(" in ")[0] for line in said.err.splitlines()]
    assert lines == ["toy_context (test): 3 items", "toy_again (test): 3 items"]
    assert "items in" not in said.out
    assert main(arguments(saved, tmp_path / "quiet", "--limit", "3", "--no-cache", "--quiet")) == 0
    quiet = capsys.readouterr()
    assert quiet.err == ""
    assert quiet.out == said.out.replace(str(tmp_path / "said"), str(tmp_path / "quiet"))
    # Each of several runs is a line, with the rows of all its tables.
    words = [*arguments(saved, tmp_path / "several", "--limit", "1"), "--model", "demo"]
    assert main(words) == 0
    lines = [line.partition(" in ")[0] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["data--model: 2 items", "data--demo: 2 items"]


def test_what_fails_has_no_line_but_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(EvaluationError), timed("sample (test)", 3, "items", False):
        raise EvaluationError("sample: too long")
    assert capsys.readouterr().err == ""


def test_what_takes_no_time_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    with timed("sample (test)", 3, "items", False):
        pass
    assert capsys.readouterr().err == "sample (test): 3 items\n"


def test_on_a_terminal_a_bar_says_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with timed("sample (test)", 3, "items", False):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("real_figures")
def test_end_to_end(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pyarrow import parquet

    output = tmp_path / "out"
    assert main(arguments(saved, output, "--tokens")) == 0
    printed = capsys.readouterr()
    assert without_progress(printed.err) == ""
    for text in ("toy_context", "mean of toy_context, toy_again", "fewer than 30 items", "|rows:"):
        assert text in printed.out
    said = " ".join(printed.out.split())
    assert said.count("read the interval") == said.count(str(output)) == 1
    assert sorted(path.name for path in output.iterdir()) == [
        CHECKSUMS,
        "outcomes.parquet",
        "regions.parquet",
        "report.html",
        "results.json",
        "run.yaml",
        "systems.parquet",
        "tokens.parquet",
        "units.parquet",
    ]
    results = json.loads((output / "results.json").read_text())
    assert set(results) >= {"signature", "model", "dataset", "settings", "scores"}
    assert results["signature"] in printed.out
    assert "|bos:auto=0|dtype:float32|device:cpu|" in results["signature"]
    assert results["model"]["commit"].startswith("sha256:")
    assert results["dataset"]["verified"] is True
    assert results["settings"]["start_of_text"]["text"] == "<s>"
    first = results["scores"][0]
    wanted = (
        "config formula metric group n clusters counts score ci_low "
        "ci_high ci_method margin_mean partial_input_score"
    )
    assert set(wanted.split()) <= set(first)
    assert (first["config"], first["group"], first["n"], first["ci_method"]) == (
        "toy_context",
        "",
        8,
        "clopper-pearson",
    )
    assert first["ci_low"] < first["score"] < first["ci_high"]

    regions = parquet.read_table(output / "regions.parquet").to_pylist()
    assert len(regions) == 2 * 8 * 2
    tokens = parquet.read_table(output / "tokens.parquet").to_pylist()
    for row in regions:
        own = [
            t["bits"]
            for t in tokens
            if all(t[k] == row[k] for k in ("config", "item_id", "condition_name", "region_number"))
        ]
        assert len(own) == row["n_tokens"]
        assert sum(own) == pytest.approx(row["sum_bits"])
        assert row["mean_bits"] == pytest.approx(row["sum_bits"] / row["n_tokens"])
    means = {(r["config"], r["item_id"], r["condition_name"]): r["mean_bits"] for r in regions}
    held = [
        means["toy_context", f"d{i}/shuffled", "shuffled"]
        > means["toy_context", f"d{i}/shuffled", "original"]
        for i in range(8)
    ]
    assert first["score"] == sum(held) / len(held)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_next_table_is_planned_while_another_device_reads_one(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    events: list[str] = []
    planned = threading.Semaphore(0)

    def planning(*given: Any, **more: Any) -> Any:
        found = make_plan(*given, **more)
        events.append("plan")
        planned.release()
        return found

    def executing(*given: Any, **more: Any) -> Any:
        if elsewhere and "read" not in events:
            # The first table is not read before the second one is planned.
            assert planned.acquire(timeout=60)
            assert planned.acquire(timeout=60)
        events.append("read")
        return execute(*given, **more)

    def ahead(makes: Any, *, ahead: bool) -> Any:
        assert ahead is False  # on a CPU
        return one_ahead(makes, ahead=elsewhere)

    monkeypatch.setattr("coherencegym.eval.plan.requests.make_plan", planning)
    monkeypatch.setattr("coherencegym.eval.backends.backend.execute", executing)
    monkeypatch.setattr("coherencegym.eval.tasks.score.scored_table.one_ahead", ahead)
    assert main(["score", *arguments(saved, tmp_path / "out", "--no-cache")]) == 0
    assert events == (["plan", "plan", "read", "read"] if elsewhere else ["plan", "read"] * 2)


def test_the_signature_says_how_separators_were_rendered(
    saved: Path,
    tmp_path: Path,
    make_item: Callable[..., Item],
    write_dataset: Callable[..., Path],
) -> None:
    item = make_item(
        {"a": ["Hi. [SEP]", "Tim ran."], "b": ["No. [SEP]", "Tim ran."]}, "(2;%a%) > (2;%b%)"
    )
    data = write_dataset(tmp_path / "d", [item], separator=True)
    words = ["--model", str(saved / "model"), "--dataset", str(data), "--device", "cpu"]
    for number, (choice, signed) in enumerate(
        (("auto", "|sep:auto=1|"), ("none", "|sep:none=none|"), ("|", "|sep:text="))
    ):
        output = tmp_path / f"out{number}"
        assert main([*words, "--separator", choice, "--output", str(output)]) == 0
        results = json.loads((output / "results.json").read_text())
        assert signed in results["signature"]
        assert results["settings"]["separator"] == choice


def test_the_subcommand_may_be_named_and_runs_repeat_to_the_bit(
    saved: Path, tmp_path: Path
) -> None:
    assert main(["score", *arguments(saved, tmp_path / "a", "--config", "toy_context")]) == 0
    assert main(arguments(saved, tmp_path / "b", "--config", "toy_context")) == 0
    assert (tmp_path / "a" / "results.json").read_text() == (
        tmp_path / "b" / "results.json"
    ).read_text()


def test_existing_output_is_refused_and_replaced_only_if_it_is_results(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / "thesis.txt").write_text("three years of work")
    assert main(arguments(saved, output)) == 2
    assert main(arguments(saved, output, "--overwrite")) == 2
    assert f"is not replaced: it has no {CHECKSUMS}" in capsys.readouterr().err
    assert (output / "thesis.txt").exists()
    (output / "thesis.txt").unlink()
    assert main(arguments(saved, output, "--overwrite", "--limit", "2")) == 0
    assert main(arguments(saved, output, "--overwrite", "--limit", "3")) == 0
    assert json.loads((output / "results.json").read_text())["scores"][0]["n"] == 3
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "command",
    ["score", "detect", "probe", "spans", "correlate", "train spans", "train documents"],
)
def test_an_output_is_nothing_that_is_read(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, model = tmp_path / "data", tmp_path / "models" / "one"
    data.mkdir()
    model.mkdir(parents=True)
    words = [*command.split(), "--dataset", str(data), "--model", str(model)]
    for output in (data, data / "in", tmp_path, model, model.parent):
        assert main([*words, "--output", str(output), "--overwrite"]) == 2
        assert "neither inside the other" in one_line(capsys.readouterr().err)
    assert list(data.iterdir()) == list(model.iterdir()) == []


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--config", "nothing"], "no config 'nothing'"),
        (["--split", "train"], "no split 'train'"),
        (["--revision", "v1"], "no revisions"),
        (["--device", "cuda:99"], "device 'cuda:99' is not there"),
        (["--model", "/nonexistent/model"], "model '/nonexistent/model': no such folder"),
        (["--model", "a/b"], "model 'a/b': no such folder, and HF_HUB_OFFLINE is"),
        (["--dataset", "/nonexistent"], "no such folder"),
        (["--dataset", "a/b"], "no such folder, and HF_HUB_OFFLINE is set"),
    ],
)
def test_what_the_user_can_mend_is_one_line_and_leaves_nothing(
    more: list[str],
    what: str,
    saved: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert main(arguments(saved, tmp_path / "out", *more)) == 2
    printed = capsys.readouterr()
    assert what in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_nothing_and_keeps_the_old(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import coherencegym.eval.views.page

    output = tmp_path / "out"
    assert main(arguments(saved, output, "--limit", "2")) == 0
    before = (output / "results.json").read_text()

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(coherencegym.eval.views.page, "scores_svg", stop)
    assert main(arguments(saved, output, "--overwrite", "--limit", "3")) == 130
    assert (output / "results.json").read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_ctrl_c_exits_130_without_a_traceback(
    saved: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A signal that comes while it scores."""

    def stopped(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

    monkeypatch.setattr("coherencegym.eval.forward.passes.start_batch", stopped)
    assert main(arguments(saved, tmp_path / "out", "--no-cache")) == 130
    assert capsys.readouterr().err == "coherencegym score: stopped; nothing half-written is left\n"
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_option_and_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--help-all"])
    assert exit_.value.code == 0
    printed = capsys.readouterr().out
    for option in (
        *("model", "dataset", "config", "split", "revision", "device", "dtype", "batch-tokens"),
        *("bos", "separator", "limit", "truncate", "output", "overwrite"),
        "tokens",
    ):
        assert f"--{option}" in printed
    assert "coherencegym score --model demo" in printed


@pytest.mark.parametrize(
    "words",
    [["--model", "m"], ["--model", "m", "--dataset", "d", "--bos", "x"], ["--limit", "0"]],
)
def test_a_wrong_option_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    assert exit_.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unknown_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scroe"]) == 2
    assert "no subcommand 'scroe'" in capsys.readouterr().err


def test_a_token_in_the_environment_is_never_written(
    saved: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    assert main(arguments(saved, tmp_path / "out", "--limit", "2", "--tokens")) == 0
    printed = capsys.readouterr()
    assert "hf_secret" not in printed.out + printed.err
    for path in (tmp_path / "out").iterdir():
        assert b"hf_secret" not in path.read_bytes()


def test_the_flag_of_texts_without_a_start(
    saved: Path,
    tmp_path: Path,
    make_item: Callable[..., Item],
    write_dataset: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    item = make_item({"a": ["Tim ran."], "b": ["Lily was sad."]}, "(1;%a%) > (1;%b%)")
    data = write_dataset(tmp_path / "d", [item])
    words = ["--model", str(saved / "model"), "--dataset", str(data), "--device", "cpu"]
    assert main([*words, "--bos", "never", "--output", str(tmp_path / "o")]) == 0
    assert "toy_context †" in capsys.readouterr().out
    results = json.loads((tmp_path / "o" / "results.json").read_text())
    assert results["scores"][0]["counts"]["first token left out"] == 1


def test_a_real_model_scores_stories(
    stories260k: Path,
    tmp_path: Path,
    make_item: Callable[..., Item],
    write_dataset: Callable[..., Path],
) -> None:
    """A trained model must find a story's own order the less surprising one, most of the time."""
    story = [
        "Once upon a time, there was a little girl named Lily.",
        "She loved to play outside in the park.",
        "One day, she saw a big dog.",
        "The dog was very friendly and they played together.",
        "Lily went home and told her mom about the dog.",
    ]
    items = [
        make_item(
            {"original": [" ".join(story)], "shuffled": [" ".join(story[k:] + story[:k])]},
            "(1;%shuffled%) > (1;%original%)",
            item_id=f"d{k}/x",
        )
        for k in range(1, 5)
    ]
    data = write_dataset(tmp_path / "d", items)
    words = ["--model", str(stories260k), "--dataset", str(data), "--device", "cpu"]
    assert main([*words, "--output", str(tmp_path / "out")]) == 0
    score = json.loads((tmp_path / "out" / "results.json").read_text())["scores"][0]
    assert (score["n"], score["score"]) == (4, 1)


def test_a_progress_bar_on_a_terminal(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pipe there is none: see the end-to-end test."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    shown = []
    for run in ("first", "again"):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        words = ("--config", "toy_context", "--cache", str(tmp_path / "cache"))
        assert main(arguments(saved, tmp_path / run, *words)) == 0
        found = re.findall(r"toy_context \(test\): 8 items, ([\d,]+) tokens", terminal.getvalue())
        shown.append([int(number.replace(",", "")) for number in found])
    # What is known is not read, and has no bar.
    assert shown[0][-1] > 0
    assert shown[1] == []
