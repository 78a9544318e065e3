"""Disco-Annotation: a table of segments, and the guess at its distribution."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.discourse import span_text
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus

HEADER = "connective\tsense\toffset\tsegment\n"
ROW = "However\tcontrast\t10\tIt rained. However, we went out.\n"


def table(folder: Path, text: str) -> Path:
    (folder / "disco.tsv").write_text(text, encoding="utf-8")
    return folder


def test_a_row_is_a_discourse(tmp_path: Path) -> None:
    row = ROW.replace("10", "11")
    (discourse,) = read(corpus("disco"), data_dir=table(tmp_path, HEADER + row))
    assert discourse.texts == ("It rained.", "However, we went out.")
    (relation,) = discourse.relations
    assert relation.connective == ((1, 0, 7),)
    assert span_text(discourse, relation.arg1) == "It rained."
    assert span_text(discourse, relation.arg2) == ", we went out."
    assert relation.senses == ("contrast",)
    assert discourse.meta == {"split": "unsplit", "sense_source": "disco"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (ROW, "at offset 10 stands ' Howeve', expected the word 'however'"),
        (ROW.replace("10", "90"), "at offset 90 stands '', expected"),
        (ROW.replace("10", "-1"), "the offset is '-1', expected a number"),
        (ROW.replace("10", "²"), "the offset is '²', expected a number"),
        (ROW.replace("contrast", "causal"), "'causal' is no sense of 'however', expected one of"),
        (ROW.replace("However\t", "but\t", 1), "'but' is no connective of this corpus"),
        ("as\tcausal\t3\tShe has gone home.\n", "at offset 3 stands ' h', expected the word 'as'"),
        ("as\tcausal\t5\tShe has gone home.\n", "at offset 5 stands 'as', expected the word 'as'"),
    ],
)
def test_a_bad_row(tmp_path: Path, row: str, said: str) -> None:
    folder = table(tmp_path, HEADER + row)
    with pytest.raises(CorpusError) as error:
        list(read(corpus("disco"), data_dir=folder))
    assert str(error.value).startswith(f"{folder / 'disco.tsv'}:2: {said}")
    reading = read(corpus("disco"), data_dir=folder, skip_bad_rows=True)
    assert list(reading) == []
    assert sum(reading.skipped.values()) == 1


def test_it_says_that_it_is_unproven() -> None:
    assert not corpus("disco").proven
