"""Reading a dataset: from a folder, from a Hub, and refusing what is not what was published."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.datasets import write_table

from coherencegym.errors import EvaluationError
from coherencegym.eval.data import dataset
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.items import ITEMS, Item
from coherencegym.eval.kinds.table_kind import to_row

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from support.hub.server import HubServer

Write = Callable[..., Path]
EXTRA = {"moved": "bool"}


@pytest.fixture(autouse=True, params=["in memory", "in parts"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of this holds of tables that are held in memory, and of such as are read in parts."""
    if request.param == "in parts":
        monkeypatch.setattr(dataset, "PART", 1)
        monkeypatch.setitem(globals(), "tables", partial(tables, in_parts=True))


def test_reads_a_folder(tmp_path: Path, pair_items: list[Item], write_dataset: Write) -> None:
    human = {"group": "", "score": 0.9, "n": 40}
    folder = write_dataset(
        tmp_path / "d",
        pair_items,
        extra=EXTRA,
        breakdowns=["moved"],
        quality={"test": {"human": {"scores": [human]}}},
    )
    source = find_dataset(str(folder))
    (table,) = tables(source)
    assert (source.suite, source.version, source.commit) == ("toy", "1.0.0", None)
    assert (table.config, table.split) == ("toy_context", "test")
    assert list(table.items) == pair_items
    assert table.verified
    assert table.breakdowns == ("moved",)
    assert table.humans == (human,)


@pytest.mark.parametrize(
    "human",
    [None, 7, {"scores": [{}]}, {"scores": [{"group": "", "score": "1", "n": 1}]}, {"scores": 1}],
)
def test_human_scores_that_are_none_are_one_line(
    tmp_path: Path, pair_items: list[Item], write_dataset: Write, human: Any
) -> None:
    folder = write_dataset(
        tmp_path / "d", pair_items, extra=EXTRA, quality={"test": {"human": human}}
    )
    with pytest.raises(
        EvaluationError, match=r"manifest\.json: configs\.toy_context\.quality\.test\.human"
    ):
        find_dataset(str(folder))


def test_configs_splits_and_a_limit(
    tmp_path: Path, pair_items: list[Item], write_dataset: Write
) -> None:
    for config, split in (("one", "test"), ("two", "validation")):
        write_dataset(tmp_path, pair_items, config, split, extra=EXTRA)
    source = find_dataset(str(tmp_path))
    assert [t.config for t in tables(source)] == ["one", "two"]
    assert [t.config for t in tables(source, ["two"])] == ["two"]
    assert [t.config for t in tables(source, split="test")] == ["one"]
    assert [t.config for t in tables(source, split="all")] == ["one", "two"]
    short, whole = next(tables(source, max_items=3)), next(tables(source))
    assert len(short.items) == 3
    assert short.rows_sha256 == whole.rows_sha256
    with pytest.raises(EvaluationError, match="no config 'three'; expected one of one, two"):
        list(tables(source, ["three"]))
    with pytest.raises(EvaluationError, match="no split 'x'; expected one of test, validation"):
        list(tables(source, split="x"))


def test_all_splits_are_read_unless_one_is_named(tmp_path: Path, pair_items: list[Item]) -> None:
    """Nothing is trained on items, whatever a split is called."""
    parts = {"train": pair_items, "test": pair_items}
    write_table(tmp_path, ITEMS, "toy", parts, "one", extra=EXTRA, separator=False)
    write_table(tmp_path, ITEMS, "toy", {"validation": pair_items}, "two", extra=EXTRA)
    source = find_dataset(str(tmp_path))
    found = [(t.config, t.split) for t in tables(source)]
    assert sorted(found) == [("one", "test"), ("one", "train"), ("two", "validation")]
    assert [(t.config, t.split) for t in tables(source, split="all")] == found
    assert [t.split for t in tables(source, split="test")] == ["test"]


def rewrite(folder: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    from datasets import Dataset

    from coherencegym.eval.kinds.items import ITEMS

    (path,) = folder.glob("data/*/*.parquet")
    (source,) = tables(find_dataset(str(folder)))
    rows = [to_row(item) for item in source.items]
    change(rows)
    Dataset.from_list(rows, features=ITEMS.features(EXTRA)).to_parquet(str(path))


def test_a_row_that_was_changed_is_refused(
    tmp_path: Path, pair_items: list[Item], write_dataset: Write
) -> None:
    folder = write_dataset(tmp_path, pair_items, extra=EXTRA)
    rewrite(folder, lambda rows: rows[3].update(moved=not rows[3]["moved"]))
    with pytest.raises(EvaluationError, match="'d3/shuffled' is not the row that was published"):
        list(tables(find_dataset(str(folder)), max_items=1))


def test_a_row_that_is_missing_is_refused(
    tmp_path: Path, pair_items: list[Item], write_dataset: Write
) -> None:
    folder = write_dataset(tmp_path, pair_items, extra=EXTRA)
    rewrite(folder, lambda rows: rows.pop())
    with pytest.raises(EvaluationError, match="7 rows, but 8 were published"):
        list(tables(find_dataset(str(folder))))


def test_missing_hashes_or_data_are_refused(
    tmp_path: Path, pair_items: list[Item], write_dataset: Write
) -> None:
    folder = write_dataset(tmp_path, pair_items, extra=EXTRA)
    (hashes,) = folder.glob("hashes/*")
    hashes.unlink()
    with pytest.raises(EvaluationError, match="no row hashes"):
        list(tables(find_dataset(str(folder))))
    (data,) = folder.glob("data/*/*")
    data.write_bytes(b"nothing")
    with pytest.raises(EvaluationError, match="cannot be read"):
        list(tables(find_dataset(str(folder))))
    data.unlink()
    with pytest.raises(EvaluationError, match="no file data/toy_context/test"):
        list(tables(find_dataset(str(folder))))


def test_another_kind_of_table_is_named_with_its_command(
    tmp_path: Path, pair_items: list[Item], write_dataset: Write
) -> None:
    folder = write_dataset(tmp_path, pair_items, extra=EXTRA, kind="documents")
    with pytest.raises(EvaluationError, match=r"'documents'; expected items .*coherencegym detect"):
        list(tables(find_dataset(str(folder))))
    write_dataset(tmp_path, pair_items, "pairs", extra=EXTRA)
    assert [t.config for t in tables(find_dataset(str(folder)))] == ["pairs"]
    with pytest.raises(EvaluationError, match="'documents'"):
        list(tables(find_dataset(str(folder)), ["toy_context"]))


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"format": 2, "configs": {}}',
        '{"format": 1}',
        '{"format": 1, "configs": {"a": {"kind": "items"}}}',
        '{"format": 1, "configs": {"a": 3}}',
        '{"format": 1, "configs": {"../a": {"kind": "items", "splits": {}}}}',
        '{"format": 1, "configs": {"a": {"kind": "items", "splits": {"/etc/x": {}}}}}',
    ],
)
def test_a_manifest_that_cannot_be_read(content: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(EvaluationError, match="manifest"):
        find_dataset(str(tmp_path))


def test_an_invalid_item_is_named(
    tmp_path: Path, make_item: Callable[..., Item], write_dataset: Write
) -> None:
    item = make_item({"a": ["x"]}, "(1;%a%) > 1", metric="mode", item_id="d7/x")
    with pytest.raises(EvaluationError, match="d7/x: metric 'mode'"):
        list(tables(find_dataset(str(write_dataset(tmp_path, [item])))))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("(2;%a%) > (2;%c%)", "d1/x: formula .*character 11: no condition 'c'"),
        ("(2;%a%) > 1 > 0", "d1/x: formula .*character 13: a chain of comparisons"),
        ("(1;%b%) > 1", "d1/x: formula .*region 1 of condition 'b' is empty and has no mean"),
    ],
)
def test_a_formula_that_cannot_be_answered_is_refused_when_it_is_read(
    formula: str,
    message: str,
    tmp_path: Path,
    make_item: Callable[..., Item],
    write_dataset: Write,
) -> None:
    item = make_item({"a": ["x", "y"], "b": ["", "y"]}, "(2;%a%) > (2;%b%)", formula)
    folder = write_dataset(tmp_path / "d", [item])
    with pytest.raises(EvaluationError, match=rf"config 'toy_context', split 'test': {message}"):
        list(tables(find_dataset(str(folder))))


def test_an_item_id_twice_is_refused(
    tmp_path: Path, pair_items: list[Item], write_dataset: Write
) -> None:
    folder = write_dataset(tmp_path, pair_items, extra=EXTRA)
    rewrite(folder, lambda rows: rows.append(rows[2]))
    hashes = folder / "hashes" / "toy_context-test.parquet"
    known = parquet.read_table(hashes)
    parquet.write_table(pa.concat_tables([known, known.slice(2, 1)]), hashes)
    with pytest.raises(EvaluationError, match="'d2/shuffled' is there more than once"):
        list(tables(find_dataset(str(folder))))


def test_somebodys_own_table_needs_no_manifest(
    tmp_path: Path, pair_items: list[Item], write_dataset: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = write_dataset(tmp_path / "d", pair_items, extra=EXTRA)
    (folder / "manifest.json").unlink()
    (folder / "hashes" / "toy_context-test.parquet").unlink()
    source = find_dataset(str(folder))
    (table,) = tables(source)
    assert (table.config, table.split, table.verified) == ("default", "test", False)
    assert list(table.items) == pair_items
    assert "no manifest.json" in source.notes[0].text


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_somebodys_own_table_may_have_columns_that_nobody_reads(
    tmp_path: Path, pair_items: list[Item], ending: str
) -> None:
    """Days as text in JSON, and in parquet what JSON has no value for; the last two are repeats."""
    folder = tmp_path / "mine"
    folder.mkdir()
    days = [f"1989-11-{number:02}" for number in range(1, len(pair_items) + 1)]
    rows = [
        to_row(replace(item, item_id=day, discourse_id=day)) | {"published": day, "rank": None}
        for item, day in zip([*pair_items[:-1], pair_items[-2]], days, strict=True)
    ]
    if ending == "jsonl":
        for number, own in enumerate((rows[:1], rows[1:])):
            lines = [json.dumps(row | {"rank": "first" if number else None}) for row in own]
            (folder / f"test-{number}.jsonl").write_text("\n".join(lines))
    else:
        foreign = {"published": date(1989, 11, 1), "rank": float("nan")}
        parquet.write_table(
            pa.Table.from_pylist([row | foreign for row in rows]), folder / "test.parquet"
        )
    (table,) = tables(find_dataset(str(folder)))
    assert [item.item_id for item in table.items] == days
    assert [item.cluster for item in table.items] == [*days[:-1], days[-2]]


def test_no_such_folder_and_no_revisions_of_one(tmp_path: Path) -> None:
    for name in (str(tmp_path / "nothing"), "./nothing", "a/b/c"):
        with pytest.raises(EvaluationError, match="no such folder"):
            find_dataset(name)
    with pytest.raises(EvaluationError, match="has no revisions"):
        find_dataset(str(tmp_path), "v1.0.0")


# ---------------------------------------------------------------- Hub


def push(api: HfApi, folder: Path, tag: str) -> str:
    from huggingface_hub import CommitOperationAdd

    repo = "coherencegym/toy"
    api.create_repo(repo, repo_type="dataset", exist_ok=True)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    operations = [CommitOperationAdd(str(path.relative_to(folder)), path) for path in files]
    commit = api.create_commit(repo, operations, commit_message=tag, repo_type="dataset")
    api.create_tag(repo, tag=tag, revision=commit.oid, repo_type="dataset")
    return str(commit.oid)


def test_a_file_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "stories.txt").write_text("It rained.")
    with pytest.raises(EvaluationError, match=r"stories\.txt': a file; expected .*\.csv, \.tsv"):
        find_dataset(str(tmp_path / "stories.txt"))


def test_reads_a_tag_from_a_hub_and_records_its_commit(
    tmp_path: Path,
    pair_items: list[Item],
    write_dataset: Write,
    hub_clients: HubServer,
    hub_api: HfApi,
) -> None:
    repo = "coherencegym/toy"
    first = push(hub_api, write_dataset(tmp_path / "1", pair_items[:4], extra=EXTRA), "v1.0.0")
    push(hub_api, write_dataset(tmp_path / "2", pair_items, extra=EXTRA), "v1.1.0")
    old = find_dataset(repo, "v1.0.0")
    assert (old.repo, old.revision, old.commit) == (repo, "v1.0.0", first)
    (table,) = tables(old)
    assert list(table.items) == pair_items[:4]
    assert table.verified
    newest = find_dataset(repo)
    assert newest.revision is None
    assert newest.commit != first
    assert len(next(tables(newest)).items) == 8
    said = f"dataset '{repo}' at 'v9': no such folder, and the repository has no such revision; "
    with pytest.raises(
        EvaluationError, match=re.escape(f"{said}there are v1.0.0, v1.1.0, main (3)")
    ):
        find_dataset(repo, "v9")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("coherencegym/conectives", "coherencegym/connectives"),
        ("me/winogrd", "suites/winograd"),
        ("coherencegym/winogrd", "coherencegym/winograd"),
        ("me/nothing", ""),
    ],
)
def test_a_suite_on_the_hub_is_meant(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    hub_clients: HubServer,
    name: str,
    meant: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites" / "winograd").mkdir(parents=True)
    (tmp_path / "suites" / "winograd" / "manifest.json").write_text("{}")
    hint = f"; did you mean '{meant}'?" if meant else ""
    said = "not on the Hub, or private (then log in with `hf auth login`)"
    with pytest.raises(EvaluationError, match=re.escape(f"{said}{hint}") + "$"):
        find_dataset(name)
    monkeypatch.setenv("HF_TOKEN", "hf_" + "0" * 34)
    with pytest.raises(EvaluationError, match="the Hub does not know this token; log in"):
        find_dataset(name)


def test_a_revision_that_was_not_fetched_is_no_other_revision_when_the_hub_is_away(
    tmp_path: Path,
    pair_items: list[Item],
    write_dataset: Write,
    hub_clients: HubServer,
    hub_api: HfApi,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from huggingface_hub import constants

    repo = "coherencegym/toy"
    push(hub_api, write_dataset(tmp_path / "1", pair_items[:4], extra=EXTRA), "v1.0.0")
    push(hub_api, write_dataset(tmp_path / "2", pair_items, extra=EXTRA), "v1.1.0")
    find_dataset(repo, "v1.0.0")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert len(next(tables(find_dataset(repo, "v1.0.0"))).items) == 4
    with pytest.raises(
        EvaluationError,
        match=r"'v1.1.0': no such folder, and HF_HUB_OFFLINE is set, .*--repo-type dataset coh",
    ):
        find_dataset(repo, "v1.1.0")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("winograd", "suites/winograd"),
        ("coherencegym/winograd", "suites/winograd"),
        ("suites/winogrd", "suites/winograd"),
        ("./winograd", "suites/winograd"),
        ("story_cloze", ""),
    ],
)
def test_a_build_in_the_folder_for_builds_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites/winograd").mkdir(parents=True)
    (tmp_path / "suites/winograd/manifest.json").write_text("{}")
    (tmp_path / "suites/story_cloze").mkdir()  # no build
    with pytest.raises(EvaluationError) as raised:
        find_dataset(name)
    assert str(raised.value).partition("; did you mean ")[2] == (f"'{meant}'?" if meant else "")


def test_only_the_configs_asked_for_are_fetched(
    tmp_path: Path,
    pair_items: list[Item],
    write_dataset: Write,
    hub_clients: HubServer,
    hub_api: HfApi,
) -> None:
    for config in ("one", "two"):
        write_dataset(tmp_path / "d", pair_items, config, extra=EXTRA)
    push(hub_api, tmp_path / "d", "v1.0.0")
    source = find_dataset("coherencegym/toy", "v1.0.0", ["one"])
    assert [path.parent.name for path in source.folder.glob("data/*/*")] == ["one"]
    assert len(list(tables(source, ["one"]))) == 1
    assert json.loads((source.folder / "manifest.json").read_text())["suite"] == "toy"
