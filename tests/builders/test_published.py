"""The table of published scores."""

from __future__ import annotations

import pytest

from coherencegym.builders.making import published
from coherencegym.builders.making.entries import suite_entry
from coherencegym.builders.making.published import COLUMNS, parse_published, read_published
from coherencegym.builders.registry import SUITES, load_suite

HEADER = "\t".join(COLUMNS) + "\n"
GOOD = "s\tc\tr\tM\t0.25\tA 2021, Table 1\n"


def test_a_line_is_a_score() -> None:
    (entry,) = parse_published(HEADER + GOOD)
    assert entry == {
        "suite": "s",
        "config": "c",
        "row": "r",
        "model": "M",
        "score": 0.25,
        "source": "A 2021, Table 1",
    }
    assert parse_published(HEADER) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("suite\tscore\n", "published.tsv:1: columns"),
        (HEADER + GOOD + "s\tc\n", "published.tsv:3: 2 columns; expected 6"),
        (HEADER + GOOD.replace("0.25", "x"), "published.tsv:2: score 'x'; expected a number"),
        (HEADER + GOOD.replace("0.25", "25"), "published.tsv:2: score 25.0; expected 0 to 1"),
        (HEADER + GOOD.replace("0.25", "nan"), "published.tsv:2: score nan; expected 0 to 1"),
        (HEADER + GOOD.replace("A 2021, Table 1", ""), "published.tsv:2: no source"),
    ],
)
def test_a_bad_line_is_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_published(text)


def test_every_score_of_the_project_is_of_a_suite_and_a_config() -> None:
    for entry in read_published():
        assert entry["suite"] in SUITES
        names = {config.name for config in load_suite(entry["suite"]).configs}
        assert entry["config"] in names | {""}
        assert entry["source"].startswith("Beyer et al. 2021")
    assert {entry["suite"] for entry in read_published()} >= {"winograd", "connectives"}


def test_a_manifest_quotes_those_of_its_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = HEADER + GOOD.replace("s\t", "winograd\t", 1) + GOOD
    monkeypatch.setattr(published, "read_published", lambda: tuple(parse_published(lines)))
    manifest = suite_entry(load_suite("winograd"), "", "")
    assert manifest["published"] == [
        {"config": "c", "row": "r", "model": "M", "score": 0.25, "source": "A 2021, Table 1"}
    ]
