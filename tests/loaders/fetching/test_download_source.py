"""The data files that say where corpora come from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.fetching.download_source import (
    DownloadSource,
    download_source,
    read_download_source,
    source_names,
)
from coherencegym.loaders.find import find
from coherencegym.loaders.registry import CORPORA

FETCHED = sorted({*CORPORA} & {*source_names()})

GOOD: dict[str, Any] = {
    "title": "A toy",
    "repository": "someone/toy",
    "commit": "0" * 40,
    "licence": "MIT",
    "licence_note": "MIT by its card",
    "terms": "",
    "selection": "all",
    "use": "",
    "without_digest": 0,
    "files": {"a b/c.txt": [3, "1" * 64]},
}


@pytest.fixture(params=source_names())
def each(request: pytest.FixtureRequest) -> DownloadSource:
    return download_source(request.param)


def test_there_are_the_openly_readable_ones() -> None:
    names = "blimp discoeval disrpt gum insted irc litbank openboek syntaxgym tedmdb verifiable"
    names += " winograd"
    assert " ".join(source_names()) == names


def test_every_source_says_its_licence_and_what_it_has(each: DownloadSource) -> None:
    assert each.title
    assert each.licence
    assert each.licence_note
    assert each.selection
    assert each.size == sum(file.size for file in each.files) > 0
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


def written(folder: Path, fields: object) -> Path:
    path = folder / f"{hashlib.sha256(repr(fields).encode()).hexdigest()[:16]}.json"
    path.write_text(json.dumps(fields))
    return path


def test_a_path_is_quoted_in_the_url(tmp_path: Path) -> None:
    toy = read_download_source(written(tmp_path, GOOD))
    url = toy.url(toy.files[0], "http://mirror.example/m")
    assert url == f"http://mirror.example/m/someone/toy/{'0' * 40}/a%20b/c.txt"


@pytest.mark.parametrize(
    "path",
    [
        *(
            "../c.txt",
            "a/../../c.txt",
            "/etc/passwd",
            "a//b",
            "./a",
            "a/.",
            "a/",
            "/",
            "",
            ".",
            "..",
        ),
        *("C:/a", "C:a", "a\\..\\b", "\\\\host\\a", "a\0b", "a\nb", ".git/config", "a/.fetch.lock"),
    ],
)
def test_a_path_that_would_leave_the_folder_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="expected a plain path below a folder"):
        read_download_source(written(tmp_path, GOOD | {"files": {path: [3, "1" * 64]}}))


@given(st.text(alphabet=st.sampled_from("a./\\:C\0 ~%*ä"), max_size=12))
def test_whatever_path_is_taken_stays_below_the_folder(path: str) -> None:
    from coherencegym.loaders.fetching.download_source import _stays_inside

    if _stays_inside(path):
        below = Path("/folder/data", path).resolve()
        assert below != Path("/folder/data")
        assert below.is_relative_to("/folder/data")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.pop("terms"), "expected an object with"),
        (lambda f: f.update(more=1), "more: 1; expected no field of this name"),
        (lambda f: f.update(title=1), "title: 1; expected a string"),
        (lambda f: f.update(commit="master"), 'commit: "master"; expected a commit'),
        (lambda f: f.update(repository="a/../b"), 'repository: "a/../b"; expected owner/name'),
        (lambda f: f.update(repository="a/.."), 'repository: "a/.."; expected owner/name'),
        (lambda f: f.update(without_digest=True), "without_digest: true; expected a whole number"),
        (lambda f: f.update(files={}), "files: an empty object; expected at least one"),
        (lambda f: f.update(files={"a": [1, "ABC"]}), r'files.a\[1\]: "ABC"; expected a sha256'),
        (lambda f: f.update(files={"a": [-1, "1" * 64]}), r"files.a\[0\]: -1; expected at least 0"),
        (lambda f: f.update(files={"a": {"bytes": 1}}), "files.a: an object; expected an array"),
    ],
)
def test_a_wrong_data_file_is_one_line(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    fields = dict(GOOD)
    change(fields)
    with pytest.raises(CorpusError, match=message) as caught:
        read_download_source(written(tmp_path, fields))
    assert "\n" not in str(caught.value)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_no_other_exception_comes_of_a_data_file(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for fields in (value, GOOD | {"files": value}, GOOD | {"commit": value}):
        with pytest.raises(CorpusError):
            read_download_source(written(folder, fields))


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    for content in (b"{", b"\xff", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=r"not JSON at|not UTF-8|nested too deeply"):
            read_download_source(path)
