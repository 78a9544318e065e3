"""What people said, in releases: a new column is a major change, and is not lost by others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi
from support.annotators import fill, incoherent_texts, perfect
from support.hub.server import HubServer
from support.toy import REPO, stories, toy_corpus

from coherencegym.builders.judgement.answers import Matcher
from coherencegym.builders.judgement.questions import draw, json_lines
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.release.changes import PublishError
from coherencegym.builders.release.publish import publish
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.loaders.corpus import Corpus

Make = Callable[..., tuple[Path, dict[str, Any]]]


def push(api: HfApi, build: tuple[Path, dict[str, Any]], **options: Any) -> list[str]:
    return publish(api, *build, BuildOptions(repo_id=REPO, **options))


def judged(make_build: Make, tmp_path: Path, corpus: Corpus, n: int = 5) -> Any:
    """A build with what one perfect annotator said of ``n`` pairs."""
    folder, manifest = make_build(corpus)
    sheet = tmp_path / f"sheet-{corpus.name}-{n}"
    sheet.mkdir(exist_ok=True)
    drawn = draw(manifest["suite"], list(table_rows(find_dataset(str(folder)), kind=ITEMS)), n, 0)
    (sheet / "pairs.jsonl").write_text(json_lines("pair", drawn.asked), encoding="utf-8")
    annotator = perfect(incoherent_texts(folder, "shuffled"))
    answers = fill(sheet / "pairs.jsonl", annotator, sheet / "answers.jsonl")
    return make_build(corpus, matcher=Matcher([answers]))


def head(hub: HubServer) -> dict[str, Any]:
    manifest = json.loads(hub.files(REPO)["manifest.json"])
    assert isinstance(manifest, dict)
    return manifest


def test_judgements_are_a_major_change_and_more_of_them_too(
    hub: HubServer, hub_api: HfApi, make_build: Make, tmp_path: Path
) -> None:
    corpus = toy_corpus("toy", {"test": stories(0, 9)})
    push(hub_api, make_build(corpus))
    build = judged(make_build, tmp_path, corpus)
    with pytest.raises(PublishError, match=r"9 changed.* major change, pass --version 2.0.0"):
        push(hub_api, build)
    push(hub_api, build, version="2.0.0")
    assert head(hub)["configs"]["toy_context"]["quality"]["test"]["human"]["judged"] == 5
    assert "people are right in " in hub.files(REPO)["README.md"].decode()
    # The same answers again change nothing; of two more items two rows change.
    assert "nothing to do" in push(hub_api, judged(make_build, tmp_path, corpus, 5))[-1]
    with pytest.raises(PublishError, match=r"2 changed.* pass --version 3.0.0"):
        push(hub_api, judged(make_build, tmp_path, corpus, 7))


def test_a_build_without_them_does_not_drop_them(
    hub: HubServer, hub_api: HfApi, make_build: Make, tmp_path: Path
) -> None:
    corpus = toy_corpus("toy", {"test": stories(0, 9)})
    push(hub_api, judged(make_build, tmp_path, corpus))
    before = hub.commits(REPO)[0].sha
    plain = make_build(corpus)
    with pytest.raises(PublishError, match="toy_context: people judged the test split"):
        push(hub_api, plain, version="2.0.0")
    assert hub.commits(REPO)[0].sha == before
    push(hub_api, plain, version="2.0.0", prune=True)
    assert "human" not in head(hub)["configs"]["toy_context"]["quality"]["test"]


def test_the_figures_of_others_survive_a_merge(
    hub: HubServer, hub_api: HfApi, make_build: Make, tmp_path: Path
) -> None:
    push(hub_api, judged(make_build, tmp_path, toy_corpus("toy", {"test": stories(0, 9)})))
    before = head(hub)["configs"]["toy_context"]
    push(hub_api, make_build(toy_corpus("other", {"test": stories(0, 5)})), version="1.1.0")
    after = head(hub)["configs"]
    assert set(after) == {"toy_context", "other_context"}
    assert after["toy_context"]["quality"] == before["quality"]
    assert "human_ok" in after["toy_context"]["columns"]
    assert "human_ok" not in after["other_context"]["columns"]
    card = hub.files(REPO)["README.md"].decode()
    assert card.count("people are right in ") == 1
