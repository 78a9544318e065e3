"""The wheel: what a user installs has the samples, the template and the demo model in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PACKAGES = {"builders", "cards", "eval", "loaders", "manipulations"}


@pytest.fixture(scope="module")
def installed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of a freshly built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # a copy: setuptools leaves its own folders where it builds
    source.mkdir()
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / name, source)
    for name in PACKAGES:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(repository / name, source / name, ignore=ignore)
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
            *("--quiet", "--wheel-dir", str(folder), str(source)),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PIP_NO_INDEX": "1"},
    )
    assert run.returncode == 0, run.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, folder: Path, *arguments: str) -> str:
    """Run a module of the wheel, outside the repository."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_nothing_but_the_packages(installed: Path) -> None:
    tops = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == PACKAGES


def test_the_wheel_knows_what_can_be_fetched(
    installed: Path, repository: Path, tmp_path: Path
) -> None:
    listed = json.loads(run(installed, tmp_path, "loaders", "fetch", "--json"))
    names = sorted(path.stem for path in (repository / "loaders/origins").iterdir())
    assert [entry["name"] for entry in listed] == names
    assert len(names) == 9


def test_the_wheel_builds_and_scores_outside_the_repository(
    installed: Path, tmp_path: Path
) -> None:
    where = run(installed, tmp_path, "builders.sentence_order", "--limit", "21")
    assert "written to suites/sentence_order" in where
    drawn = ("sample", "--for-judgement", "suites/sentence_order", "-n", "4")
    assert "4 pairs" in run(installed, tmp_path, "builders", *drawn)
    assert (tmp_path / "judgements/sentence_order/sheet.html").is_file()
    dataset = str(tmp_path / "suites" / "sentence_order")
    config = "sample_narration_all"
    arguments = ("eval", "--model", "demo", "--dataset", dataset, "--config", config)
    run(installed, tmp_path, *arguments, "--output", "results/demo")
    scores = json.loads((tmp_path / "results/demo/results.json").read_text())["scores"]
    assert scores[0]["config"] == config
    assert scores[0]["n"] == 21
    assert "<h1>" in (tmp_path / "results/demo/report.html").read_text(encoding="utf-8")
