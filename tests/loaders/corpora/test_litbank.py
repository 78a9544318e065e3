"""LitBank: coreference in novels, without parts of speech."""

from __future__ import annotations

from pathlib import Path

from support.native_files import LAYOUTS

from coherencegym.loaders.discourse import span_text
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of


def test_marks_of_italics_go_and_quotations_have_sides(tmp_path: Path) -> None:
    LAYOUTS["litbank"].write(tmp_path)
    found, _ = read(corpus("litbank"), data_dir=tmp_path)
    assert found.texts == ("The old kettle of Ann sang.", '"Come," she said.')
    assert [(span_text(found, m.span), m.chain, m.kind) for m in found.mentions] == [
        ("The old kettle", "1", "nominal"),
        ("Ann", "2", "proper"),
        ("Ann", "3", "proper"),
        ("she", "3", "pronoun"),
    ]


def test_a_quotation_may_go_on_in_the_next_sentence() -> None:
    sample = sample_of(corpus("litbank"))
    assert sample is not None
    texts = [text for discourse in read(sample) for text in discourse.texts]
    assert '"Ring the bell," said Doctor Vane, "and let them all go home."' in texts
