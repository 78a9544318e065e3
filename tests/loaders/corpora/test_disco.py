"""Disco-Annotation: a table of segments, and the guess at its distribution."""

from __future__ import annotations

from pathlib import Path

from coherencegym.loaders.corpus import NEVER_RUN
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


def test_it_says_that_it_is_unproven() -> None:
    assert corpus("disco").proven == NEVER_RUN
