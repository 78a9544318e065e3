"""The declaration of a suite: its headline, and slips that are refused by name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from support.toy import SUITE

from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.builders.release.manifest import in_order
from coherencegym.builders.suite import Contrast, MinimalPairs, Suite
from coherencegym.manipulations.probes.registry import PROBES


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "sentence_order": [
            "x_narration_context",
            "x_dialogue_context",
            "x_matched_narration",
            "x_matched_dialogue",
            "x_matched_documents",
            "x_matched_threads",
        ],
        "story_cloze": ["x"],
        "winograd": ["x_partial"],
        "coreference": ["x"],
        "connectives": ["x"],
        "speaker_commitment": ["x_interaction"],
        "intruder_sentences": ["pairs_x"],
        "linguistic_probes": [f"x_{probe}" for probe in PROBES],
    }.items(),
)
def test_the_headline_of_every_suite(name: str, expected: list[str]) -> None:
    suite = load_suite(name)
    assert suite.headline
    # A config of several languages has the name of its twin.
    names = dict.fromkeys(c.full_name("x") for c in suite.configs if suite.in_headline(c))
    assert list(names) == expected


def test_every_suite_is_tested() -> None:
    assert len(SUITES) == 14


def test_the_filtered_pairs_are_the_headline_of_filtered_intruders() -> None:
    suite = load_suite("intruder_sentences").configured(filter_model="demo")
    names = {c.full_name("x") for c in suite.configs if suite.in_headline(c)}
    assert names == {"pairs_x_filtered"}


def test_a_name_that_no_manifest_may_have_is_refused() -> None:
    with pytest.raises(ValueError, match='name: "my suite"; expected a name of letters, digits'):
        replace(SUITE, name="my suite")


def test_a_headline_of_no_config_is_refused_by_name() -> None:
    message = "toy_order: 'contexts', in the headline, is no config of items; expected '"
    with pytest.raises(ValueError, match=message):
        replace(SUITE, headline=("contexts",))


def with_contrast(contrast: Contrast) -> Suite:
    """The toy suite with another prediction."""
    (config,) = SUITE.configs
    generator = config.generator
    assert isinstance(generator, MinimalPairs)
    generator = replace(generator, contrasts=(contrast,))
    return replace(SUITE, configs=(replace(config, generator=generator),))


@pytest.mark.parametrize(
    ("contrast", "said"),
    [
        (
            Contrast("shufled", "original", 2),
            "'shufled', in the contrast (2;%shufled%) > (2;%original%) of 'context', is no "
            "condition; expected 'original', 'shuffled'",
        ),
        (Contrast("shuffled", "orginal", "*"), "'orginal', in the contrast"),
        (
            Contrast("shuffled", "original", 3),
            "3, in the contrast (3;%shuffled%) > (3;%original%) of 'context', is no region; "
            "expected 1, 2",
        ),
        (Contrast("shuffled", "original", "2"), "'2', in the contrast"),
        (Contrast("shuffled", "original", 1, last=3), "3, in the contrast (1;%shuffled%) + (2;"),
    ],
)
def test_a_contrast_of_what_is_not_there_is_refused_by_name(contrast: Contrast, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"toy_order: {said}")):
        with_contrast(contrast)


def test_a_contrast_may_be_of_a_sum_of_regions() -> None:
    contrast = Contrast("shuffled", "original", 1, metric="sum", last=2)
    assert contrast.formula == ("(1;%shuffled%) + (2;%shuffled%) > (1;%original%) + (2;%original%)")
    assert with_contrast(contrast)


def test_regions_that_a_config_does_not_describe_are_not_checked() -> None:
    assert with_contrast(Contrast("shuffled", "original", "*"))
    (config,) = SUITE.configs
    assert replace(SUITE, configs=(replace(config, regions=()),))


def test_the_default_is_the_headline_config_with_the_most_rows() -> None:
    def entry(rank: int, rows: int, **about: Any) -> dict[str, Any]:
        splits = {"splits": {"test": {"rows": rows}}, "quality": {}, "skipped": {}}
        return {"rank": rank, "kind": "items", "corpus": {"name": "toy"}, **splits, **about}

    configs = {
        "first": entry(0, 5),
        "larger": entry(1, 7),
        "as_large": entry(2, 7),
        "spillover": entry(3, 99, in_headline=False),
        "of_the_sample": entry(4, 50, corpus={"name": "sample"}),
        "documents": entry(5, 200, kind="documents"),
    }

    def default(**configs: Any) -> list[str]:
        found = in_order({"configs": configs})["configs"]
        return [name for name, config in found.items() if config["default"]]

    assert default(**configs) == ["larger"]
    assert default(documents=configs["documents"]) == ["documents"]
    assert default() == []
