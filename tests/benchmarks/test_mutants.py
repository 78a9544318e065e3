"""The runner of mutants, on a product of one module, and the mutants that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutants import KINDS, MUTANTS, ROOMS, ROOT, Mutant, read_mutants, run

MODULE = "def total(one: int, other: int) -> int:\n    return one + other  # a sum\n"
TESTS = """
import pytest
from coherencegym.eval.sums import total

@pytest.mark.parametrize("of", ["2 - 1 and 3"])
def test_total(of: str) -> None:
    assert total(2, 3) == 5

def test_broken_in_any_case() -> None:
    assert total(2, 2) == 5
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("product")
    for name, text in (
        ("eval/__init__.py", ""),
        ("eval/sums.py", MODULE),
        ("src/coherencegym/__init__.py", ""),
        ("tests/test_sums.py", TESTS),
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "src/coherencegym/eval").symlink_to("../../eval")
    return root


@pytest.fixture(autouse=True)
def _no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take half of the time


def mutant(name: str, find: str, replacement: str, test: str = "test_total") -> Mutant:
    return Mutant(name, "Sums are wrong.", find, replacement, (f"tests/test_sums.py::{test}",))


def test_one_dies_one_lives_one_is_not_there(
    product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dies = mutant("dies", "one + other", "one - other")
    lives = mutant("lives", "one + other", "other + one")
    nowhere = mutant("nowhere", "one * other", "one")
    twice = mutant("twice", "other", "one")
    assert not run(product, [dies, lives, nowhere, twice])
    lines = capsys.readouterr().out.splitlines()
    for name, fate in (
        ("dies", "died: tests/test_sums.py::test_total[2 - 1 and 3]"),
        ("lives", "lived: Sums are wrong."),
        ("nowhere", "text not found: Sums are wrong."),
        ("twice", "text not found (2 times there): Sums are wrong."),
    ):
        (line,) = [line for line in lines if line.startswith(name)]
        assert line.endswith(fate)
    assert lines[-1] == "1 of 4 died"
    assert (product / "eval/sums.py").read_text() == MODULE
    assert not list(product.rglob("__pycache__"))


def test_all_die(product: Path) -> None:
    assert run(product, [mutant("dies", "one + other", "one - other")])


def test_what_fails_in_any_case_or_does_not_run_has_killed_nothing(
    product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anyway = mutant("anyway", "one + other", "one - other", "test_broken_in_any_case")
    untested = mutant("untested", "one + other", "one - other", "test_gone")
    unread = mutant("unread", "one + other", "one +")
    assert not run(product, [anyway])
    said = capsys.readouterr().out
    assert "fails without any fault, too: tests/test_sums.py::test_broken_in_any_case" in said
    assert not run(product, [untested, unread])
    assert capsys.readouterr().out.count("tests did not run") == 2


def test_there_are_fifty_and_each_has_a_sentence_and_one_place() -> None:
    found = read_mutants(MUTANTS)
    assert len(found) >= 50
    assert all(one.breaks.endswith(".") for one in found)
    files = (path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in KINDS)
    product = "\n".join(path.read_text("utf-8") for path in files)
    assert [one.name for one in found if product.count(one.find) != 1] == []
