"""LitBank: coreference in novels, without parts of speech."""

from __future__ import annotations

from pathlib import Path

from support.native_files import LAYOUTS

from coherencegym.loaders.discourse import span_text
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus


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


def test_a_quotation_may_go_on_after_who_says_it(tmp_path: Path) -> None:
    words = '"', "Ring", "the", "bell", ",", '"', "said", "Bo", ",", '"', "and", "go", ".", '"'
    lines = "".join(f"1_bell\t0\t{n}\t{word}" + "\t_" * 9 + "\n" for n, word in enumerate(words))
    text = f"#begin document (1_bell_brat); part 0\n{lines}\n#end document\n"
    (tmp_path / "1_bell_brat.conll").write_text(text, encoding="utf-8")
    (found,) = read(corpus("litbank"), data_dir=tmp_path)
    assert found.texts == ('"Ring the bell," said Bo, "and go."',)
