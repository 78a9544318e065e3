"""Questions for Inspect: what is asked of a pair, where the right answer stands, the folder."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.suites import Sample, rows
from support.toy import SUITE, stories, toy_corpus

from coherencegym.builders.export.write import ExportError, export
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.eval.data.benchmark import benchmark_tasks, eval_yaml
from coherencegym.eval.data.source import find_dataset


def exported(folder: Path, number: int, choice: tuple[str, ...] = ()) -> Path:
    """The questions about a build of the toy suite."""
    (folder / "built").mkdir(parents=True)
    suite = replace(SUITE, configs=tuple(replace(c, choice=choice) for c in SUITE.configs))
    splits = {"test": stories(0, number), "validation": stories(number, number + 4)}
    sources = [PlannedCorpus(toy_corpus("toy", splits), suite.configs)]
    build(suite, sources, BuildOptions(), folder / "built")
    export(find_dataset(str(folder / "built")), "inspect", folder / "asked")
    return folder / "asked"


def questions(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_folder_has_the_questions_about_the_headline(tmp_path: Path) -> None:
    folder = exported(tmp_path, 9)
    names = {"toy_context-test.jsonl", "toy_context-validation.jsonl", "questions.py", "INSPECT.md"}
    assert {p.name for p in folder.iterdir() if not p.name.startswith(".")} == names
    for split, number in (("test", 9), ("validation", 4)):
        pairs = {row["item_id"]: row for row in rows(tmp_path / "built", "toy_context", split)}
        asked = questions(folder / f"toy_context-{split}.jsonl")
        assert [one["id"] for one in asked] == list(pairs)
        # As often first as second, but for one row.
        targets = ["AB".index(one["target"]) for one in asked]
        assert abs(2 * sum(targets) - number) <= 1
        for one, target in zip(asked, targets, strict=True):
            original, shuffled = pairs[one["id"]]["conditions"]
            assert one["input"] == "Which text is more coherent?"
            assert one["choices"][target] == original["content"]
            assert one["choices"][1 - target] == shuffled["content"]
    # More rows leave those as they are that were there, and places are not in turns.
    more = questions(exported(tmp_path / "more", 41) / "toy_context-test.jsonl")
    assert more[:9] == questions(folder / "toy_context-test.jsonl")
    order = "".join(one["target"] for one in more[:40])
    assert order not in ("AB" * 20, "BA" * 20)


def test_pairs_that_are_no_question_have_none(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="nothing to write; no table can be exported"):
        exported(tmp_path, 9, ("another",))
    assert not (tmp_path / "asked").exists()


def entry(kind: str, rank: int, corpus: str = "c", **more: Any) -> dict[str, Any]:
    """As much of a manifest's entry as tasks follow from."""
    about = {"kind": kind, "rank": rank, "corpus": {"name": corpus}, "splits": {"test": {}}}
    return about | more


def test_tasks_of_several_configs_and_kinds() -> None:
    configs = {
        "b": entry("items", 2, in_headline=True),
        "a": entry("items", 1, in_headline=True),
        "control": entry("items", 3, in_headline=False),
        "sample": entry("items", 4, "sample", in_headline=True),
        "documents": entry("documents", 10_001, splits={"train": {}, "validation": {}}),
        "learned": entry("structures", 50_001),
    }
    assert [tuple(one.values()) for one in benchmark_tasks(configs)] == [
        ("headline", "a", "test"),
        ("a", "a", "test"),
        ("b", "b", "test"),
        ("documents", "documents", "validation"),
    ]
    about = {"configs": {"learned": configs["learned"]}, "title": "", "hypothesis": ""}
    assert eval_yaml(about) == ""


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in SUITES
        if any(load_suite(name).in_headline(config) for config in load_suite(name).configs)
    ],
)
def test_every_suite_of_pairs_has_questions(
    name: str, tmp_path: Path, built_sample: Sample
) -> None:
    """Of its sample: the choices are texts of the item."""
    folder, _ = built_sample(name)
    export(find_dataset(str(folder)), "inspect", tmp_path / "asked")
    files = list((tmp_path / "asked").glob("*.jsonl"))
    assert files
    for path in files:
        config, split = path.stem.rsplit("-", 1)
        items = {row["item_id"]: row for row in rows(folder, config, split)}
        found = questions(path)
        assert abs(2 * sum(one["target"] == "A" for one in found) - len(found)) <= 1
        for one in found:
            item = items[one["id"].partition("#")[0]]
            assert one["metadata"] == {"cluster": item.get("family") or item["discourse_id"]}
            conditions = item["conditions"]
            texts = [_bare(condition["content"]) for condition in conditions]
            assert {_bare(choice) for choice in one["choices"]} <= set(texts), one["id"]


def _bare(text: str) -> str:
    # Letters and signs alone: turns and lines are set otherwise.
    return "".join(re.sub(r"\[SEP\]|^Speaker [12]: ", "", text, flags=re.MULTILINE).split())
