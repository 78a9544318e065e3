"""A sixth task, put together as anybody would: its module and one line in the registry."""

from __future__ import annotations

import json
import sys
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.commands import one_line, without_progress
from support.suites import Sample

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import commands, main
from coherencegym.eval.data.signature import read_as
from coherencegym.eval.kinds.documents import RATINGS, RatedText
from coherencegym.eval.outcomes.label_metrics import Spearman
from coherencegym.eval.outcomes.metrics import Accuracy, Margin
from coherencegym.eval.outcomes.reading import read_outcome_tables
from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.options import INPUT, RUNNING, SYNTAXGYM_2021, Options
from coherencegym.eval.tasks.correlate.task import query
from coherencegym.eval.tasks.options import CommandLine, NoOptions
from coherencegym.eval.tasks.registry import TASKS
from coherencegym.eval.tasks.table import Table
from coherencegym.eval.tasks.task import Task, TaskContext

SAID = "hold the mean bits of texts against their lengths"
LONGER = Spearman("spearman_length", "Spearman with length")


def lengths(
    context: TaskContext, table: Table[RatedText], options: NoOptions, writer: OutcomeWriter
) -> None:
    """Hold the mean bits of a text against its length."""
    answers = context.surprisals(table, list(map(query, table.rows)))
    bits = [float(one.conditions["text"].region_bits("*").mean()) for one in answers]
    units = writer.units(map(table.unit, table.rows))
    target = [float(len(row.text)) for row in table.rows]
    writer.add(units, LONGER.name, MODEL, bits, target=target)


COMMAND = CommandLine("lengths", RATINGS)
LENGTHS = Task(
    command=COMMAND,
    metrics=(LONGER,),
    run=lengths,
)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("lengths")
    vars(module).update(COMMAND=COMMAND, TASK=LENGTHS)
    for name in ("lengths.options", "lengths.task"):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(TASKS, "lengths", (SAID, "lengths"))


@pytest.mark.usefixtures("registered")
def test_a_task_is_a_module_and_a_line(
    built_sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from scipy.stats import spearmanr

    data, _ = built_sample("coherence_ratings")
    asked = ["lengths", "--model", "demo", "--device", "cpu", "--dataset", str(data)]
    assert commands()["lengths"] == SAID
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        assert main([*asked, "--output", str(folder)]) == 0
    printed, err = capsys.readouterr()
    assert "Spearman with length" in printed
    assert err.count("sample_holistic (test): 36 rows") == 2
    assert without_progress(err) == ""
    results = json.loads((folders[0] / "results.json").read_text())
    (score,) = [one for one in results["scores"] if one["config"] == "sample_holistic"]
    assert score["ci_low"] < score["score"] < score["ci_high"]
    rows = list(read_outcome_tables(folders[0]).rows())
    own = [one for one in rows if one.unit.config == "sample_holistic"]
    expected = spearmanr([one.value for one in own], [one.target for one in own])[0]
    assert score["score"] == pytest.approx(float(expected))
    page = (folders[0] / "report.html").read_text()
    assert "Spearman with length" in page
    for word in ("compare", "overview", "plot"):
        more = ["--output", str(tmp_path / word)] if word == "plot" else []
        assert main([word, *map(str, folders), *more]) == 0
    assert main([*asked, "--output", str(folders[0])]) == 2
    assert "--overwrite" in one_line(capsys.readouterr().err)


def test_metrics_that_no_table_shows_are_refused() -> None:
    for metric in (Margin("bits"), Spearman("rank"), Accuracy("Spearman of nothing")):
        with pytest.raises(
            EvaluationError, match=r"^task lengths, metric .*; expected one from 0 "
        ):
            replace(LENGTHS, metrics=(metric,))
    assert replace(LENGTHS, metrics=(Margin("bits"),), rows=lambda found: []).rows is not None


#: Every option of reading, but those that are as good as any other -> a value other than usual.
CHANGED: dict[str, dict[str, Any]] = {
    "bos": {"bos": "never"},
    "separator": {"separator": "none"},
    "scorer": {"scorer": "pll"},
    "masking": {"scorer": "pll", "masking": "original"},
    "compat": {"rules": SYNTAXGYM_2021},
    "truncate": {"truncate": True},
    "word_correction": {"word_correction": True},
    "special_tokens": {"special_tokens": True},
}


@pytest.mark.parametrize("name", CHANGED)
def test_an_option_of_reading_is_signed(name: str) -> None:
    known = {field.metadata.get("name") or field.name for field in fields(Options)}
    assert known == {*CHANGED, *RUNNING, "every_token"}
    usual, changed = Options(), Options(**CHANGED[name])
    assert usual.signed() == {}
    assert changed.signed()[name] == changed.record()[name]
    came_to: dict[str, Any] = {"tie_bits": 0.0, "added_tokens": None}
    came_to |= {"start_of_text": {"token_id": 0}, "separator_rendering": {"ids": [1]}}
    parts = [read_as(one.signed(), one.record() | came_to) for one in (usual, changed)]
    assert parts[0] != parts[1]
    assert list(parts[0])[:2] == ["truncate", "words"]
    assert read_as({"new": 1}, usual.record() | came_to) == parts[0] | {"new": 1}


@pytest.mark.usefixtures("registered")
def test_a_task_that_reads_signs_how_it_reads(built_sample: Sample, tmp_path: Path) -> None:
    data, _ = built_sample("coherence_ratings")
    asked = ["lengths", "--model", "demo", "--device", "cpu", "--dataset", str(data)]
    asked += ["--limit", "9"]

    def signature_of(*more: str) -> str:
        folder = tmp_path / "-".join(("run", *more))
        assert main([*asked, *more, "--output", str(folder)]) == 0
        found = json.loads((folder / "results.json").read_text())["signature"]
        assert isinstance(found, str)
        return found

    usual = signature_of()
    assert "|bos:" not in usual
    for name in INPUT:
        (value,) = CHANGED[name].values()
        changed = signature_of(f"--{name.replace('_', '-')}", value)
        assert changed.replace(f"|{name}:{value}", "") == usual != changed
    assert signature_of("--no-sharing") == usual
