"""The data files that say where corpora come from."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from coherencegym.loaders.fetch import (
    DownloadSource,
    RemoteFile,
    download_source,
    source_names,
)
from coherencegym.loaders.read import find
from coherencegym.loaders.registry import CORPORA

FETCHED = sorted({*CORPORA} & {*source_names()})


@pytest.fixture(params=source_names())
def each(request: pytest.FixtureRequest) -> DownloadSource:
    return download_source(request.param)


def test_there_are_the_openly_readable_ones() -> None:
    names = "blimp discoeval disrpt gum insted irc syntaxgym tedmdb verifiable"
    names += " winograd"
    assert " ".join(source_names()) == names


def test_every_source_says_its_licence_and_what_it_has(each: DownloadSource) -> None:
    assert each.title
    assert each.licence
    assert each.licence_note
    assert each.selection
    assert sum(file.size for file in each.files) > 0
    # The names differ on a file system that ignores case, too.
    assert len({file.path.lower() for file in each.files}) == len(each.files)


def test_who_states_no_licence_or_not_for_all_has_terms() -> None:
    have = {name for name in source_names() if download_source(name).terms}
    assert have == {"disrpt", "gum", "discoeval", "insted", "tedmdb", "verifiable"}
    assert all(
        download_source(name).terms
        for name in source_names()
        if "none" in download_source(name).licence
    )


@pytest.mark.parametrize("name", FETCHED)
def test_a_loader_finds_the_files_where_they_are_put(name: str, tmp_path: Path) -> None:
    for file in download_source(name).files:
        path = tmp_path / name / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = find(CORPORA[name], tmp_path)
    assert found.place == tmp_path / name
    assert found.files


def test_gum_has_four_files_a_document() -> None:
    paths = {file.path for file in download_source("gum").files}
    documents = {p.removeprefix("dep/")[:-7] for p in paths if p.startswith("dep/")}
    assert len(documents) == 263
    pdtb = {f"rst/gdtb/pdtb/{kind}/00/{d}" for kind in ("gold", "raw") for d in documents}
    trees = {f"rst/lisp_binary/{document}.dis" for document in documents}
    conllu = {f"dep/{document}.conllu" for document in documents}
    assert paths == pdtb | trees | conllu | {"LICENSE.txt"}


#: Files of the shared folder that are not copies of what is fetched: notes, and layers left out.
NOT_FETCHED = {
    "tedmdb": {"LICENSE_NOTE.txt", "README.md", "adjudication_groups.xml"},
    "irc": {f"{log}.ascii.txt" for log in ("2004-11-15_03", "2005-06-27_12", "2005-08-08_01")},
    "gum": {"splits.md"},
    "disrpt": {"README.md"},
}
#: Folders of layers that are not fetched: Penn treebank text.
LAYERS_LEFT_OUT = {"PDTB", "RST"}


def test_digests_are_those_of_the_real_files(each: DownloadSource, shared: Path) -> None:
    declared = {(file.path.rsplit("/", 1)[-1], file.size, file.sha256) for file in each.files}
    copies = {
        (path.name, len(content := path.read_bytes()), hashlib.sha256(content).hexdigest())
        for path in (shared / "corpora" / each.name).rglob("*")
        if path.is_file() and not LAYERS_LEFT_OUT & set(path.parts)
    }
    assert copies & declared
    others = {name for name, _, _ in copies - declared}
    assert others == NOT_FETCHED.get(each.name, set())


def test_pins_are_those_of_the_list_of_digests(each: DownloadSource, shared: Path) -> None:
    listed = json.loads((shared / "corpora/digests.json").read_text())[each.name]
    assert (each.repository, each.commit) == (listed["repository"], listed["commit"])
    assert each.without_digest == listed["absent_here"]
    for file in each.files:
        assert listed["files"][file.path] == {"bytes": file.size, "sha256": file.sha256}


def test_a_path_is_quoted_in_the_url() -> None:
    toy = replace(download_source("winograd"), files=(RemoteFile("a b/c.txt", 3, "1" * 64),))
    url = toy.url(toy.files[0], "http://mirror.example/m")
    assert url == f"http://mirror.example/m/{toy.repository}/{toy.commit}/a%20b/c.txt"


def test_pins_are_whole_and_paths_stay_below_a_folder(each: DownloadSource) -> None:
    assert re.fullmatch("[0-9a-f]{40}", each.commit)
    assert re.fullmatch(r"[\w-]+/[\w.-]+", each.repository)
    for file in each.files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.size >= 0
        parts = file.path.split("/")
        # What is hidden is no loader's, and is where fetching keeps notes.
        assert all(part and not part.startswith(".") for part in parts)
        assert file.path.isprintable()
        assert not set(file.path) & set(":\\")
