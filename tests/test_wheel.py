"""The wheel: what a user installs has the samples, the template and the demo model in it."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.forked import Fork

import coherencegym

ROOMS = ("builders", "cards", "eval", "loaders", "manipulations")
#: What modules of the project, installed or not, may be called.
OURS = ("coherencegym", *ROOMS)


@pytest.fixture(scope="module")
def installed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of a freshly built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # a copy: setuptools leaves its own folders where it builds
    source.mkdir()
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / name, source)
    for name in (*ROOMS, "src"):
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(repository / name, source / name, ignore=ignore, symlinks=True)
    # What pip calls of the build backend, without the four processes that pip takes for it.
    code = "import sys; from setuptools import build_meta as b; b.build_wheel(sys.argv[1])"
    run = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, folder: Path, *arguments: str) -> str:
    """Run an interpreter on the wheel, outside the repository."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_one_name_and_every_module(installed: Path, repository: Path) -> None:
    tops = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == {"coherencegym"}
    assert (installed / f"coherencegym-{coherencegym.__version__}.dist-info").is_dir()
    package = installed / "coherencegym"
    assert all((package / room).is_dir() and not (package / room).is_symlink() for room in ROOMS)
    here = {
        path.relative_to(repository / "src/coherencegym")
        for top in (*ROOMS, "files", "hub", "papers", "reproduction", "words", "")
        for path in (repository / "src/coherencegym" / top).glob("**/*.py" if top else "*.py")
    }
    assert {path.relative_to(package) for path in package.rglob("*.py")} == here


def test_the_wheel_knows_what_can_be_fetched(
    installed: Path, repository: Path, tmp_path: Path
) -> None:
    listed = run(installed, tmp_path, "-m", "coherencegym.loaders", "fetch")
    names = sorted(path.stem for path in (repository / "loaders/sources").iterdir())
    assert all(name in listed for name in names)
    assert len(names) == 10


def test_the_wheel_builds_and_scores_outside_the_repository(
    installed: Path, repository: Path, tmp_path: Path
) -> None:
    suite = "suites/story_cloze"
    commands = (
        ("coherencegym.builders.story_cloze", "--limit", "6"),
        ("coherencegym", "judge", suite, "-n", "4"),
        (
            "coherencegym.eval",
            "--model",
            "demo",
            "--dataset",
            suite,
            "--config",
            "sample",
            "--output",
            "results/demo",
        ),
    )

    def work() -> None:
        # As from a fresh interpreter, but for other people's packages, which take seconds.
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
        ours = (repository, repository / "src", repository / "tests")
        sys.path[:] = [str(installed), *(p for p in sys.path if Path(p).resolve() not in ours)]
        os.chdir(tmp_path)
        for command in commands:
            sys.argv = list(command)
            try:
                runpy.run_module(command[0], run_name="__main__", alter_sys=True)
            except SystemExit as stopped:
                if stopped.code:
                    raise
        files = {m.__file__ for n, m in sys.modules.items() if n.partition(".")[0] in OURS}
        assert all(file and Path(file).is_relative_to(installed) for file in files), files

    code, said, error = Fork(work, tmp_path / "fork", HF_HUB_OFFLINE=1).wait()
    assert code == 0, error
    assert "written to suites/story_cloze" in said
    assert "4 pairs" in said
    assert (tmp_path / "judgements/story_cloze/sheet.html").is_file()
    scores = json.loads((tmp_path / "results/demo/results.json").read_text())["scores"]
    assert scores[0]["config"] == "sample"
    assert scores[0]["n"] == 6
    assert "<h1>" in (tmp_path / "results/demo/report.html").read_text(encoding="utf-8")


def test_names_of_others_hide_nothing(installed: Path, tmp_path: Path) -> None:
    """A folder, and site-packages, have an ``eval.py``, an ``eval`` and a ``loaders`` too."""
    site = tmp_path / "site"
    shutil.copytree(installed, site)
    for folder in (tmp_path, site):
        for name in ("cards", "eval", "loaders"):
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text("raise SystemExit('another package')\n")
        (folder / "eval.py").write_text("raise SystemExit('another module')\n")
    code = (
        "import coherencegym, coherencegym.eval as e\n"
        "from coherencegym.builders.registry import load_suite\n"
        "from coherencegym.cards import render\n"
        "assert e.states and load_suite('story_cloze').name == 'story_cloze'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{site}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_in_a_checkout_no_module_has_two_names(repository: Path) -> None:
    """``python -m eval`` runs the code of ``coherencegym.eval``, not a second copy of it."""
    code = (
        "import runpy, sys\n"
        "for module in ('eval', 'builders.story_cloze', 'loaders'):\n"
        "    sys.argv = [module, '--help']\n"
        "    try:\n"
        "        runpy.run_module(module, run_name='__main__', alter_sys=True)\n"
        "    except SystemExit:\n"
        "        pass\n"
        f"rooms = {ROOMS!r}\n"
        "print([m for m in sys.modules if m.split('.')[0] in rooms and '.' in m])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr
    assert done.stdout.count("usage: ") == 3
