"""OpenBoek: coreference in Dutch novels, with Alpino's tags and a table of entities."""

from __future__ import annotations

from pathlib import Path

from support.native_files import LAYOUTS

from coherencegym.loaders.discourse import span_text
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus


def test_people_are_told_by_the_table_and_articles_by_the_tag(tmp_path: Path) -> None:
    LAYOUTS["openboek"].write(tmp_path)
    found, _ = read(corpus("openboek"), data_dir=tmp_path)
    assert found.texts == ("De kettle van Anna zong", "Zij lachte.")
    assert [
        (span_text(found, m.span), m.kind, m.features.entity, m.features.gender)
        for m in found.mentions
    ] == [
        ("De kettle", "nominal", "object", "common"),
        ("Anna", "proper", "person", "feminine"),
        ("Zij", "pronoun", "person", "feminine"),
    ]


def test_a_sentence_without_a_finite_verb_is_a_fragment(tmp_path: Path) -> None:
    LAYOUTS["openboek"].write(tmp_path)
    found, _ = read(corpus("openboek"), data_dir=tmp_path)
    assert found.meta["sentence_types"] == "decl decl"
    novel = next(tmp_path.rglob("*.conll"))
    novel.write_text(novel.read_text(encoding="utf-8").replace("WW[pv,", "WW[inf,", 1))
    found, _ = read(corpus("openboek"), data_dir=tmp_path)
    assert found.meta["sentence_types"] == "frag decl"
