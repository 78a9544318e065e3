"""What holds of every suite's sample, whatever the suite: its rows, their hashes and counts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.commands import build_command
from support.suites import Sample, no_classifiers, rows

from coherencegym.builders.command.show import print_build
from coherencegym.builders.registry import SUITES
from coherencegym.builders.release.manifest import hashes_path
from coherencegym.eval.kinds import kind_named
from coherencegym.eval.kinds.items import ITEMS, Item
from coherencegym.eval.kinds.table_kind import row_hash, with_names


@pytest.mark.parametrize("suite", SUITES)
def test_rows_are_valid_and_those_that_the_manifest_counts(
    suite: str, built_sample: Sample
) -> None:
    folder, manifest = built_sample(suite)
    for config, entry in manifest["configs"].items():
        kind = kind_named(entry["kind"])
        if group := entry.get("headline"):  # what a card shows is scored
            assert any(group in each["groups"] for each in entry["example"]["predictions"])
        for split, about in entry["splits"].items():
            found = rows(folder, config, split)
            assert len(found) == about["rows"]
            names = [row["item_id"] for row in found]
            assert len(set(names)) == len(names)
            hashes = pq.read_table(folder / hashes_path(config, split))
            assert hashes.column("item_id").to_pylist() == names
            assert hashes.column("sha256").to_pylist() == [row_hash(row) for row in found]
            read = [kind.from_row(with_names(row, entry["features"])) for row in found]
            assert entry.get("separator", False) == kind.separated(read)
            for number, one in enumerate(read, start=1):
                if isinstance(one, Item):
                    ITEMS.check(one)
                    assert one.item_number == number


def test_a_build_of_several_kinds_of_rows_is_a_line_a_config(
    built_sample: Sample, capsys: pytest.CaptureFixture[str]
) -> None:
    _, manifest = built_sample("discourse_tasks")
    empty = {f"config{number}": "no paragraph of three to fifteen sentences" for number in (1, 2)}
    print_build(manifest, {}, empty, ["written to out"])
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 20
    assert max(map(len, shown)) <= 100
    for name in manifest["configs"]:
        assert sum(re.match(rf"{name}[, ]", line) is not None for line in shown) == 1


@pytest.mark.parametrize(
    "suite", ["coreference", "discourse_tasks", "intruder_sentences", "story_cloze"]
)
def test_two_processes_make_the_same_rows(
    suite: str, built_sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What suites learn from their corpus and what they draw does not depend on who generates."""
    _, manifest = built_sample(suite)
    no_classifiers(monkeypatch)
    monkeypatch.setattr("coherencegym.builders.pipeline.build.CHUNK", 5)
    options = ("--corpus", "sample", "--num-proc", 2, "--output", tmp_path / "out")
    assert build_command(suite, *options) == 0
    again = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    for made in (again, manifest):
        for entry in made["configs"].values():
            for counts in entry["splits"].values():
                counts.pop("baselines", None)  # no classifier decided here
    assert {name: entry["splits"] for name, entry in again["configs"].items()} == {
        name: entry["splits"] for name, entry in manifest["configs"].items()
    }
