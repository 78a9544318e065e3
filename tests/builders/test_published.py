"""The table of published scores."""

from __future__ import annotations

import pytest

from coherencegym.builders.pipeline import entries
from coherencegym.builders.pipeline.entries import parse_published, read_published, suite_entry
from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.eval.data.source import Published

HEADER = "suite\tcorpus\tconfig\trow\tmodel\tscore\tsource\n"
GOOD = "s\tk\tc\tr\tM\t0.25\tA 2021, Table 1\n"


def test_a_line_is_a_score() -> None:
    assert list(parse_published(HEADER + GOOD)) == [
        ("s", Published("c", "r", "M", 0.25, "A 2021, Table 1", "k"))
    ]
    assert list(parse_published(HEADER)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("suite\tscore\ns\t0.5\n", "published.tsv:2: no 'config'"),
        (HEADER + GOOD + "s\tk\tc\n", "published.tsv:3: row: null; expected a string"),
        (HEADER + GOOD.replace("0.25", "x"), 'published.tsv:2: score: "x"; expected a .*number'),
        (HEADER + GOOD.replace("0.25", "25"), 'published.tsv:2: score: "25"; expected at most 1'),
        (HEADER + GOOD.replace("0.25", "nan"), 'published.tsv:2: score: "nan"; expected a'),
        (HEADER + GOOD.replace("\n", "\tmore\n"), "published.tsv:2: "),
    ],
)
def test_a_bad_line_is_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(parse_published(text))


def test_every_score_of_the_project_is_of_a_suite_and_a_config() -> None:
    for suite, score in read_published():
        assert suite in SUITES
        if suite == "discourse_tasks":  # by the paper's names, of which some are of several configs
            assert score.config in {"SP", "BSO", "DC", "SSP", "PDTB-E", "PDTB-I", "RST-DT"}
            continue
        assert score.config in {config.name for config in load_suite(suite).configs} | {""}
        assert score.corpus in load_suite(suite).natives
        assert score.model
        assert score.source.startswith("Beyer et al. 2021")
    assert {suite for suite, _ in read_published()} >= {"winograd", "connectives"}


def test_a_manifest_quotes_those_of_its_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = HEADER + GOOD.replace("s\t", "winograd\t", 1) + GOOD
    monkeypatch.setattr(entries, "read_published", lambda: tuple(parse_published(lines)))
    manifest = suite_entry(load_suite("winograd"), "", "")
    assert manifest["published"] == [
        {
            "config": "c",
            "row": "r",
            "model": "M",
            "score": 0.25,
            "source": "A 2021, Table 1",
            "corpus": "k",
        }
    ]
