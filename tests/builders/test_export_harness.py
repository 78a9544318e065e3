"""The task folder for lm-evaluation-harness."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.suites import Sample
from support.task_files import read_task

from coherencegym.builders.export.write import export
from coherencegym.eval.data.source import find_dataset


@pytest.fixture
def folder(exported: Path) -> Path:
    """The task folder of the toy suite, which has a config with a task for each group."""
    return exported / "tasks" / "coherencegym_shapes"


def test_the_folder_knows_nothing_of_where_it_was_written(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert {"_coherencegym_shapes.yaml", "_template_yaml", "utils.py"} <= names
    assert [path.name for path in folder.parent.iterdir()] == ["coherencegym_shapes"]
    for path in filter(Path.is_file, folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        assert str(folder.parents[1]) not in text


def test_the_group_has_every_task_and_no_mean(folder: Path) -> None:
    group = read_task(folder / "_coherencegym_shapes.yaml")
    files = [path for path in folder.glob("*.yaml") if not path.name.startswith("_")]
    assert group["group"] == "coherencegym_shapes"
    assert sorted(group["task"]) == sorted(path.stem for path in files)
    assert len(files) == 3
    assert "aggregate_metric_list" not in group
    for path in (*files, folder / "_coherencegym_shapes.yaml"):
        assert read_task(path)["metadata"]["version"] == "1.0.0"
    # A tag of the group's name would keep the harness from one of them.
    assert read_task(folder / "_template_yaml")["tag"] != group["group"]


def test_the_report_says_what_an_accuracy_is(folder: Path) -> None:
    report = (folder.parents[1] / "PAIRS.md").read_text(encoding="utf-8")
    main = re.findall(r"^- `(\w+)` \(main\): ", report, flags=re.M)
    assert main == ["coherencegym_shapes_shapes_connective_different_sense_same_syntax"]
    # A pair of the turns is left out.
    assert "acc is over 3 of the 4 predictions in the row `shapes_turns` of" in report


def test_a_task_of_sums_where_the_score_is_also_of_means(
    built_sample: Sample, tmp_path: Path
) -> None:
    export(find_dataset(str(built_sample("winograd")[0])), "pairs", tmp_path / "pairs")
    report = (tmp_path / "pairs/PAIRS.md").read_text(encoding="utf-8")
    assert "- `coherencegym_winograd_sample_partial` (main): " in report
    row = "acc is the CD score in the row `sum` of `coherencegym score`."
    assert f"- `coherencegym_winograd_sample_full_sum`: {row}" in report
