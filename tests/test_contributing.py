"""The examples of CONTRIBUTING.md, put together as they stand there."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coherencegym.builders.making.build import Options, build
from coherencegym.builders.making.sources import Source, Sources
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.find import find
from coherencegym.loaders.read import read

RECIPES = "loaders/corpora/recipes.py"
REVERSE = "manipulations/reverse.py"
ORDER = "builders/recipe_order.py"


def blocks(repository: Path, language: str) -> list[str]:
    text = (repository / "CONTRIBUTING.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def modules(repository: Path, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The documented modules, imported under the names that their first lines give."""
    made: dict[str, Any] = {}
    for code in blocks(repository, "python"):
        path = code.splitlines()[0].removeprefix("# ")
        name = "coherencegym." + path.removesuffix(".py").replace("/", ".")
        file = tmp_path / path.replace("/", "_")
        file.write_text(code)
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        made[path] = module
    yield made
    for module in made.values():
        del sys.modules[module.__name__]


def test_the_three_examples_make_a_suite(
    repository: Path, modules: dict[str, Any], tmp_path: Path
) -> None:
    assert list(modules) == [RECIPES, REVERSE, ORDER]
    data = tmp_path / "data"
    data.mkdir()
    (lines,) = blocks(repository, "tsv")
    (data / "recipes.tsv").write_text(lines)
    corpus, suite = modules[RECIPES].CORPUS, modules[ORDER].SUITE
    assert find(corpus, data).files
    sources = Sources([Source(corpus, suite.configs)])
    folder = tmp_path / "out"
    folder.mkdir()
    manifest = build(suite, sources, Options(data_dir=data), folder)
    entry = manifest["configs"]["recipes_all"]
    assert entry["operators"] == "Reverse()"
    original, reverse = entry["example"]["conditions"]
    assert original["content"] == "Boil the water. Pour it over the leaves. Wait four minutes."
    assert reverse["content"] == "Wait four minutes. Pour it over the leaves. Boil the water."
    assert "# Dataset Card for CoherenceGym: Recipe order" in (folder / "README.md").read_text()


def test_the_example_reader_says_what_is_wrong(modules: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "recipes.tsv").write_text("tea\tBoil the water.\n")
    with pytest.raises(CorpusError, match=r"recipes\.tsv:1: 1 steps, expected two or more"):
        list(read(modules[RECIPES].CORPUS, data_dir=tmp_path))


def test_the_examples_pass_the_linter(repository: Path, tmp_path: Path) -> None:
    import subprocess

    for number, code in enumerate(blocks(repository, "python")):
        file = tmp_path / f"example{number}.py"
        file.write_text(code)
        for arguments in (["check", "--ignore", "I001"], ["format", "--check"]):
            run = subprocess.run(
                [sys.executable, "-m", "ruff", *arguments, "--config", "pyproject.toml", str(file)],
                cwd=repository,
                capture_output=True,
                text=True,
                check=False,
            )
            if "No module named ruff" in run.stderr:
                pytest.skip("ruff is not installed")
            assert run.returncode == 0, run.stdout + run.stderr
