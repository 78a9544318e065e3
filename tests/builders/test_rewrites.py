"""Rewrites: natural pairs, and what their context adds."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.native_files import LAYOUTS
from support.suites import Sample

from coherencegym.builders.rewrites import SUITE, reason_columns
from coherencegym.builders.suite import Config, GeneratedItem
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus
from coherencegym.manipulations.operator import Context


def config(name: str) -> Config:
    return next(config for config in SUITE.configs if config.name == name)


@pytest.fixture
def essays(tmp_path: Path) -> list[Discourse]:
    LAYOUTS["decor"].write(tmp_path)
    return list(read(corpus("decor"), data_dir=tmp_path))


def made(name: str, discourse: Discourse) -> GeneratedItem:
    (generated,) = config(name).generator(discourse, Context())
    assert isinstance(generated, GeneratedItem)
    return generated


def test_a_pair_shares_its_context(essays: list[Discourse]) -> None:
    item = made("", essays[0]).item
    assert item.item_id == "1/26/original"
    contents = {one.condition_name: one.content for one in item.conditions}
    assert contents == {
        "rewrite": 'The kettle sang. Ann came. She said "tea".',
        "original": 'The kettle sang. Ann came. He said "tea".',
    }
    assert {one.regions[0].content for one in item.conditions} == {"The kettle sang. Ann came."}
    assert [one.formula for one in item.predictions] == ["(2;%original%) > (2;%rewrite%)"]
    assert item.extra["family"] == "1"


def test_the_interaction_reads_both_sentences_alone(essays: list[Discourse]) -> None:
    item = made("interaction", essays[0]).item
    contents = {one.condition_name: one.content for one in item.conditions}
    assert contents["rewrite_alone"] == 'She said "tea".'
    assert contents["original_alone"] == 'He said "tea".'
    assert [one.regions[0].content for one in item.conditions[2:]] == ["", ""]
    assert item.predictions[0].formula == (
        "(2;%original%) + (2;%rewrite_alone%) > (2;%rewrite%) + (2;%original_alone%)"
    )


@pytest.mark.parametrize(
    ("reasons", "group"),
    [
        ("semantic connection, entity reference", "cohesion"),
        ("consistency", "consistency"),
        ("tangential relevance", "relevance"),
        ("discourse relation, other", "several"),
        ("", ""),
    ],
)
def test_reasons_are_grouped(reasons: str, group: str) -> None:
    meta = {"reasons": reasons, "essay": "1", "topic": "T"}
    discourse = Discourse("1/26", "decor", (Unit("A."),), meta=meta)
    assert reason_columns(discourse, discourse)["reason"] == group


def test_the_suite_of_the_sample(
    built_sample: Sample,
) -> None:
    folder, _ = built_sample(SUITE.name)
    found = {table.config: table for table in tables(find_dataset(str(folder), None))}
    plain, interaction = found["sample"], found["sample_interaction"]
    assert (plain.in_headline, interaction.in_headline) == (False, True)
    assert len(plain.items) == len(interaction.items) == 30
    assert plain.length_confound
    assert not interaction.length_confound
    assert {item.extra["reason"] for item in plain.items} == {
        "cohesion",
        "consistency",
        "relevance",
    }
    # Each sentence stands on both sides, so that no classifier of single sentences can decide.
    assert interaction.baselines is not None
    decided = interaction.baselines.decisions(interaction.items)["partial_input"]
    assert {value for values in decided.values() for value in values} == {0.5}
