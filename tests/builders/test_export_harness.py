"""The task folder for lm-evaluation-harness has the shape that its contribution guide asks for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from support.commands import build_command
from support.task_files import read_task

from coherencegym.builders.export.harness import ExportedRelease
from coherencegym.builders.export.write import Exports, export_build

#: What the template of its guide has, templates/new_yaml_task/README.md.
HEADINGS = [
    "### Paper",
    "### Citation",
    "### Groups, Tags, and Tasks",
    "#### Groups",
    "#### Tags",
    "#### Tasks",
    "### Checklist",
    "### Changelog",
]
QUESTIONS = [
    "Is the task an existing benchmark in the literature?",
    "Have you referenced the original paper that introduced the task?",
    "If yes, does the original paper provide a reference implementation?",
    'Is the "Main" variant of this task clearly denoted?',
    "Have you provided a short sentence in a README on what each new variant adds / evaluates?",
    "Have you noted which, if any, published evaluation setups are matched by this variant?",
]
#: The settings of its linter, in its pyproject.toml, which has 88 columns by default.
LINTER = """
[lint]
extend-select = ["I", "W605"]
[lint.isort]
lines-after-imports = 2
known-first-party = ["lm_eval"]
"""


@pytest.fixture
def folder(exported: Path) -> Path:
    """The task folder of the toy suite, which has a config with a task for each group."""
    return exported / "tasks" / "coherencegym_shapes"


def test_the_folder_is_all_that_a_pull_request_adds(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert {"README.md", "_coherencegym_shapes.yaml", "_template_yaml", "utils.py"} <= names
    assert [path.name for path in folder.parent.iterdir()] == ["coherencegym_shapes"]
    for path in filter(Path.is_file, folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        # Its hooks mend these, and a commit would not be the copy.
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert not re.search(r"[ \t]$", text, flags=re.M)
        # Nothing in it knows where it was written.
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


def test_the_readme_answers_what_the_template_asks(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^##+ .*$", text, flags=re.M) == HEADINGS
    asked = [line for line in text.splitlines() if line.lstrip().startswith("* [")]
    assert len(asked) == len(QUESTIONS)
    assert all(question in line for question, line in zip(QUESTIONS, asked, strict=True))
    # The toy suite is in no paper.
    assert [line.lstrip()[:5] for line in asked] == ["* [ ]", *["* [x]"] * 5]
    described = re.findall(r"^\* `(\w+)`( \(main\))?: .*", text, flags=re.M)
    group = read_task(folder / "_coherencegym_shapes.yaml")
    assert [name for name, _ in described] == [group["group"], "coherencegym", *group["task"]]
    # A pair of the turns is left out.
    main = [name for name, is_main in described if is_main]
    assert main == ["coherencegym_shapes_shapes_connective_different_sense_same_syntax"]
    assert "acc is over 3 of the 4 predictions in the row `shapes_turns` of" in text


def test_a_benchmark_of_a_paper_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ("--corpus", "sample", "--output", "out", "--export-pairs", "pairs")
    assert build_command("winograd", *arguments) == 0
    text = Path("pairs/tasks/coherencegym_winograd/README.md").read_text(encoding="utf-8")
    title = "Is Incoherence Surprising? Targeted Evaluation of Coherence Prediction from Language"
    assert f"\nTitle: {title} Models\n" in text
    assert "\nAbstract: https://aclanthology.org/2021.naacl-main.328\n" in text
    assert "* [x] Is the task an existing benchmark" in text
    assert "@inproceedings{beyer-etal-2021-incoherence," in text
    assert "* `coherencegym_winograd_sample_partial` (main): " in text
    assert "* `coherencegym_winograd_sample_full_sum`: " in text
    assert "acc is the CD score in the row `sum` of `coherencegym score`." in text
    report = Path("pairs/PAIRS.md").read_text(encoding="utf-8")
    row = "| [coherencegym_winograd](coherencegym_winograd/README.md) | Minimal pairs from Winograd"
    assert row in report
    assert report.count("| English |") == 1
    assert "The harness's own tests want" not in report


def test_no_citation_ends_its_block(shapes: Path, tmp_path: Path) -> None:
    changed = shutil.copytree(shapes, tmp_path / "changed")
    manifest = json.loads((changed / "manifest.json").read_text())
    for about in (manifest, *(config["corpus"] for config in manifest["configs"].values())):
        about["citation"] = "@misc{a}\n```\n# Mine\n````"
    (changed / "manifest.json").write_text(json.dumps(manifest))
    export_build(changed, Exports(pairs=tmp_path / "pairs"))
    folder = tmp_path / "pairs" / "tasks" / "coherencegym_shapes"
    text = (folder / "README.md").read_text(encoding="utf-8")
    blocks = [token.content for token in MarkdownIt().parse(text) if token.type == "fence"]
    assert blocks == [f"{manifest['citation']}\n"] * 2


def test_tasks_that_its_tests_would_refuse_are_named(folder: Path) -> None:
    report = (folder.parents[1] / "PAIRS.md").read_text(encoding="utf-8")
    assert "want 10 documents of a new task. Fewer have " in report
    assert "`coherencegym_shapes_shapes_turns` (3)" in report


def test_its_linter_would_change_nothing(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "ruff.toml"
    config.write_text(LINTER)
    for command in (["format", "--check"], ["check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "--config", str(config)]
        done = subprocess.run([*ruff, str(folder)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("citation", "works"),
    [
        ("", []),
        ("@misc{a,\n    note = {Nothing},\n}", []),
        (
            '@book{a,\n  booktitle = "No",\n  title = "The {ZPG} Letter: {A\n    B}",\n}\n\n'
            "@article{b,\n  title = {Of {C}},\n  url = {https://c.org}\n}",
            [("The ZPG Letter: A B", ""), ("Of C", "https://c.org")],
        ),
    ],
)
def test_works_that_are_cited(citation: str, works: list[tuple[str, str]]) -> None:
    assert ExportedRelease("me/s", "v1", "1", "s", {}, citation).works == works
