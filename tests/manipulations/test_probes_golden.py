"""The golden cases of the probes, one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherencegym.manipulations.probes.registry import PROBES, probe_sentence
from coherencegym.manipulations.probes.sentence import apply

GOLDEN = Path(__file__).resolve().parents[2] / "manipulations" / "probes" / "golden"


def rows(name: str) -> list[tuple[str, str, str]]:
    header, *lines = (GOLDEN / f"{name}.tsv").read_text("utf-8").splitlines()
    assert header == "sentence\texpected\tnote"
    split = [line.split("\t") for line in lines]
    assert all(len(row) == 3 for row in split), f"{name}.tsv: a row has not three columns"
    return [(row[0], row[1], row[2]) for row in split]


CASES = [(name, *row) for name in PROBES for row in rows(name)]


@pytest.mark.parametrize(("name", "sentence", "expected", "note"), CASES)
def test_golden_case(name: str, sentence: str, expected: str, note: str) -> None:
    replacements = probe_sentence(sentence, name)
    assert (apply(sentence, replacements) if replacements else "") == expected, note


@pytest.mark.parametrize("name", list(PROBES))
def test_golden_cases_are_enough_and_of_both_kinds(name: str) -> None:
    cases = rows(name)
    assert len(cases) >= 25
    assert len({sentence for sentence, _, _ in cases}) == len(cases)
    applied = sum(bool(expected) for _, expected, _ in cases)
    assert 8 <= applied <= len(cases) - 8
    assert all(note for _, _, note in cases)
    assert all(sentence != expected for sentence, expected, _ in cases)


def test_every_golden_file_is_of_a_probe() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(PROBES)
