"""Texts of each class of licences in a repository of their own: which, and what a push does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset
from huggingface_hub import HfApi
from support.commands import one_line
from support.hub.server import HubServer
from support.suites import no_classifiers
from support.toy import REPO, SUITE, stories, toy_corpus

from coherencegym.builders.command import run as command_run
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus, find_sources
from coherencegym.builders.registry import load_suite
from coherencegym.builders.release.publish import INCOMPATIBLE, LicenceShare, documents_in
from coherencegym.cards.render import dataset_card
from coherencegym.eval.data.source import read_manifest
from coherencegym.licence import ADAPTABLE, combined_licence, licence_class
from coherencegym.loaders.discourse import Discourse, Unit

#: The licences of the documents of a corpus with texts of all classes.
DOCUMENTS = {
    **dict.fromkeys(("s0", "s1", "s2", "s3"), "CC-BY-3.0"),
    **dict.fromkeys(("s4", "s5", "s6"), "CC-BY-SA-3.0"),
    **dict.fromkeys(("s7", "s8"), "CC-BY-NC-SA-4.0"),
}


@pytest.mark.parametrize(
    ("licences", "together", "name"),
    [
        ("CC0-1.0", "CC0-1.0", ""),
        ("CC0-1.0 CC-BY-2.5 cc-by-4.0 CC-BY-3.0", "CC-BY-4.0", ""),
        ("MIT Apache-2.0", "CC-BY-4.0", ""),
        ("MIT CC-BY-3.0", "CC-BY-3.0", ""),
        ("CC-BY-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0", "CC-BY-SA-4.0", "-sa"),
        ("CC-BY-SA-4.0 ODbL-1.0", "", None),
        ("CC-BY-4.0 CC-BY-NC-4.0", "CC-BY-NC-4.0", "-nc"),
        ("CC-BY-NC-4.0 CC-BY-NC-SA-3.0", "CC-BY-NC-SA-3.0", "-nc"),
        ("CC-BY-SA-4.0 CC-BY-NC-SA-4.0", "", None),
        ("CC-BY-SA-4.0 CC-BY-NC-4.0", "", None),
        ("CC-BY-4.0 CC-BY-NC-ND-4.0", "", None),
        ("CC-BY-4.0 other", "", None),
        ("", "", None),
    ],
)
def test_texts_are_published_under_a_licence_that_all_of_theirs_allow(
    licences: str, together: str, name: str | None
) -> None:
    assert combined_licence(licences.split()) == together
    assert combined_licence([" AND ".join(licences.split())]) == together
    if name is not None:
        assert licence_class(together) == name


@pytest.mark.parametrize("licence", ADAPTABLE)
def test_every_adaptable_licence_has_a_class(licence: str) -> None:
    assert combined_licence([licence, licence.lower()]) == licence
    assert licence_class(licence) == (
        "-nc" if "-NC" in licence else "-sa" if "-SA" in licence else "-odbl" * ("ODbL" in licence)
    )


def test_the_documents_of_a_row_are_found_by_their_own_ids() -> None:
    row = {
        "item_id": "a/1-6/crossed/b",
        "discourse_id": "a",
        "partner_discourse": "b",
        "edits": [{"source_discourse": "c/d/7-9"}, {"source_discourse": None}],
        "source_discourse": "",
    }
    assert documents_in(row, {"a", "b", "c/d", "c"}) == {"a", "b", "c/d"}


def test_items_of_two_documents_get_the_stricter_class_or_none() -> None:
    corpus = toy_corpus("toy", {})
    licences = {"by": "CC-BY-4.0", "sa": "CC-BY-SA-4.0", "nc": "CC-BY-NC-4.0", "no": "other"}
    found = [Discourse(n, "toy", (Unit("A."),), licence=licences[n]) for n in licences]
    rows = [(one, other) for one in licences for other in licences]

    def generate(discourses: Sequence[Discourse]) -> tuple[list[Any], Counter[str]]:
        ids = {one.id for one in discourses}
        made = [
            {"discourse_id": one, "partner_discourse": other} for one, other in rows if one in ids
        ]
        return made, Counter({f"lost of {','.join(sorted(ids))}": 1})

    def share(name: str) -> tuple[list[tuple[str, str]], Counter[str]]:
        one = LicenceShare(name)
        one.read(corpus, found)
        made, skipped = one.generate(found, generate, lambda row: row)
        return [(row["discourse_id"], row["partner_discourse"]) for row in made], skipped

    assert share("") == ([("by", "by")], Counter({"lost of by": 1, INCOMPATIBLE: 1}))
    made, skipped = share("-sa")
    assert made == [("by", "sa"), ("sa", "by"), ("sa", "sa")]
    # Of the freer document only the items that are of this class are its business.
    assert skipped == Counter({"lost of sa": 1, INCOMPATIBLE: 2})
    assert share("-nc")[0] == [("by", "nc"), ("nc", "by"), ("nc", "nc")]


def test_the_shares_of_a_real_corpus_are_its_rows(
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gum_once: Callable[[pytest.MonkeyPatch], None],
) -> None:
    no_classifiers(monkeypatch)
    gum_once(monkeypatch)
    suite, data = load_suite("document_structure"), shared / "corpora" / "gum"

    def rows(name: str | None) -> list[dict[str, Any]]:
        folder = tmp_path / f"build{name}"
        folder.mkdir()
        how: dict[str, Any] = {} if name is None else {"share": LicenceShare(name)}
        options = BuildOptions(corpora=["gum"], data_dir=data)
        sources, _ = find_sources(suite, options)
        made = build(suite, sources, options, folder, withhold=True, **how)
        classes = {licence_class(one) for c in made["configs"].values() for one in c["licences"]}
        assert name is None or classes == {name}
        files = sorted(folder.glob("data/*/*.parquet"))
        return [row for path in files for row in pq.read_table(path).to_pylist()]

    shares = [rows(""), rows("-sa")]
    assert all(shares)
    by_id = {row["item_id"]: row for own in shares for row in own}
    whole = rows(None)
    assert by_id == {row["item_id"]: row for row in whole}
    assert sum(map(len, shares)) == len(whole) == len(by_id)


# Pushes -------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in an empty folder."""
    monkeypatch.chdir(tmp_path)


Push = Callable[..., int]


@pytest.fixture
def push(monkeypatch: pytest.MonkeyPatch) -> Push:
    """``push(texts)``: builds the toy suite from stories with licences of all classes, and pushes.

    ``texts`` are those of the corpus where they are others.
    """

    def command(texts: Any = None, **options: Any) -> int:
        how = {"document_licences": options.pop("licences", DOCUMENTS)}
        name = options.pop("name", "toy")
        planned = PlannedCorpus(
            toy_corpus(name, texts or {"test": stories(0, 9)}, **how), SUITE.configs
        )
        monkeypatch.setattr(command_run, "find_sources", lambda *_: ([planned], {}))
        how_pushed = {"repo_id": REPO, "push_to_hub": True, "overwrite": True}
        return command_run.run([SUITE], BuildOptions(**{**how_pushed, **options}))

    return command


def rows_of(hub: HubServer, repo: str) -> list[str]:
    rows = load_dataset(repo, "toy_context", split="test", revision="v1.0.0")
    return [str(name) for name in rows["discourse_id"]]


def card(hub: HubServer, repo: str) -> tuple[dict[str, Any], str]:
    text = hub.files(repo)["README.md"].decode()
    block = yaml.safe_load(text.split("---\n")[1])
    assert isinstance(block, dict)
    return block, text


def test_each_class_is_pushed_to_its_own_repository(
    hub_clients: HubServer, push: Push, capsys: pytest.CaptureFixture[str]
) -> None:
    hub = hub_clients
    assert push(dry_run=True) == 0
    assert hub.repositories() == []
    said = capsys.readouterr().out
    assert push() == 0
    done = capsys.readouterr().out
    for repo, licence, names in (
        (REPO, "cc-by-3.0", ["s0", "s1", "s2", "s3"]),
        (f"{REPO}-sa", "cc-by-sa-3.0", ["s4", "s5", "s6"]),
        (f"{REPO}-nc", "cc-by-nc-sa-4.0", ["s7", "s8"]),
    ):
        assert f"repository {repo}: does not exist, would be made\n" in said
        assert f"repository {repo}: made\n" in done
        assert rows_of(hub, repo) == names
        block, text = card(hub, repo)
        assert block["license"] == licence
        assert f'load_dataset("{repo}", "toy_context", revision="v1.0.0")' in text
        others = {REPO, f"{REPO}-sa", f"{REPO}-nc"} - {repo}
        assert all(f"`{one}`" in text for one in others)
        manifest = json.loads(hub.files(repo)["manifest.json"])
        config = manifest["configs"]["toy_context"]
        assert sum(config["licences"].values()) == len(names)
        quality = config["quality"]["test"]
        assert quality["items"] == len(names)
        assert {one["n"] for one in quality["lexical_overlap"]} == {len(names)}
        assert len(hub.commits(repo)) == 2
        assert list(hub.tags(repo)) == ["v1.0.0"]
    # The folder is one suite: whoever has all texts may read them all.
    whole = dict(read_manifest(Path("suites/toy_order/manifest.json")))
    assert whole["configs"]["toy_context"]["splits"]["test"]["rows"] == 9
    assert "license: other" in dataset_card(whole)


@pytest.mark.parametrize(
    ("licence", "repo"),
    [("CC-BY-4.0", REPO), ("CC-BY-SA-4.0", f"{REPO}-sa"), ("CC0-1.0", REPO)],
)
def test_texts_of_one_class_need_no_second_build(
    hub_clients: HubServer, push: Push, licence: str, repo: str
) -> None:
    assert push(licences=dict.fromkeys(DOCUMENTS, licence)) == 0
    assert hub_clients.repositories() == [repo]
    assert card(hub_clients, repo)[0]["license"] == licence.lower()


def test_the_repositories_before_the_one_that_fails_are_whole_and_a_second_run_finishes(
    hub_clients: HubServer, push: Push, capsys: pytest.CaptureFixture[str]
) -> None:
    hub = hub_clients
    hub.faults.add(path_contains=f"{REPO}-sa/commit/", status=503, times=9)
    assert push() == 1
    said = one_line(capsys.readouterr().err)
    assert f"published: {REPO}; not published: {REPO}-sa, {REPO}-nc; run the same" in said
    assert list(hub.tags(REPO)) == ["v1.0.0"]
    assert "manifest.json" not in hub.files(f"{REPO}-sa")
    assert f"{REPO}-nc" not in hub.repositories()
    first = hub.commits(REPO)
    hub.faults.clear()
    assert push() == 0
    assert hub.commits(REPO) == first
    for repo in (REPO, f"{REPO}-sa", f"{REPO}-nc"):
        assert list(hub.tags(repo)) == ["v1.0.0"]


def test_what_is_refused_of_one_is_refused_before_another_is_touched(
    hub_clients: HubServer, push: Push, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push() == 0
    before = {repo: hub_clients.commits(repo) for repo in hub_clients.repositories()}
    capsys.readouterr()
    changed = stories(0, 10)
    changed["s7"][2] = "She ran home."
    licences = {**DOCUMENTS, "s9": "CC-BY-4.0"}
    assert push({"test": changed}, licences=licences, version="1.1.0") == 2
    said = one_line(capsys.readouterr().err)
    assert f"{REPO}-nc: version 1.1.0 cannot follow 1.0.0" in said
    assert "published" not in said
    assert {repo: hub_clients.commits(repo) for repo in hub_clients.repositories()} == before


def test_a_private_repository_takes_all_of_them(hub_clients: HubServer, push: Push) -> None:
    assert push(private=True) == 0
    assert hub_clients.repositories() == [REPO]
    assert len(rows_of(hub_clients, REPO)) == 9


def test_a_commit_that_would_keep_texts_of_another_class_is_refused(
    hub_clients: HubServer, hub_api: HfApi, push: Push, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = f"{REPO}-sa"
    nc, sa = (dict.fromkeys(DOCUMENTS, f"CC-BY-{terms}-4.0") for terms in ("NC", "SA"))
    assert push(name="theirs", licences=nc, repo_id=repo, private=True) == 0
    hub_api.update_repo_settings(repo, private=False, repo_type="dataset")
    before = hub_clients.commits(repo)
    capsys.readouterr()
    assert push(licences=sa, version="1.1.0") == 2
    said = one_line(capsys.readouterr().err)
    assert f"{repo} would hold texts under licences that exclude each other: CC-BY-NC" in said
    assert hub_clients.commits(repo) == before
    assert push(licences=sa, version="2.0.0", prune=True) == 0
    assert card(hub_clients, repo)[0]["license"] == "cc-by-sa-4.0"
