"""Datasets on the Hub, or laid out like one, as corpora."""

from __future__ import annotations

import io
import json
import pickle
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.hub.client import patch_clients
from support.hub.server import HubServer

from coherencegym.engines import Engine
from coherencegym.loaders.corpora.hub import hub_corpus
from coherencegym.loaders.corpora.own import own_texts
from coherencegym.loaders.corpus import Corpus, CorpusError
from coherencegym.loaders.discourse import Discourse, SourceSpan
from coherencegym.loaders.read import NEAR_DUPLICATE, read
from coherencegym.loaders.text.articles import Shape

CARD = "---\nlicense: cc-by-4.0\nlanguage:\n- de\npretty_name: Proben\n---\n# Proben\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty dataset folder; the cache of datasets is elsewhere than the user's."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    path = tmp_path / "My-Set"
    path.mkdir()
    return path


def write(folder: Path, *rows: dict[str, Any], name: str = "train.jsonl") -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def units(corpus: Corpus) -> list[list[tuple[str | None, str]]]:
    return [[(unit.speaker, unit.text) for unit in d.units] for d in read(corpus)]


def test_a_list_of_sentences(folder: Path) -> None:
    write(folder, {"s": ["One.", " Two  a."]}, {"s": ["Three."]})
    corpus = hub_corpus(str(folder), column="s")
    first, second = read(corpus)
    assert (first.id, first.texts) == ("train-000001", ("One.", "Two a."))
    assert (second.id, second.texts) == ("train-000002", ("Three.",))
    assert second.units[0].source == SourceSpan("My-Set", 2, 2)
    assert second.meta == {"split": "train"}
    assert (corpus.name, corpus.title) == ("my_set", "My-Set")
    assert first.corpus == "my_set"
    assert str(folder) not in corpus.obtain


@pytest.mark.parametrize("text", ["text", "content", "value"])
@pytest.mark.parametrize("speaker", ["speaker", "role", "from"])
def test_a_list_of_turns(folder: Path, text: str, speaker: str) -> None:
    write(folder, {"t": [{text: "Hi.", speaker: "x"}, {text: "Hello.", speaker: "y"}]})
    assert units(hub_corpus(str(folder), column="t")) == [[("x", "Hi."), ("y", "Hello.")]]


def test_a_dictionary_of_lists_is_a_list_of_turns(folder: Path) -> None:
    write(folder, {"t": {"text": ["Hi.", "Hello."], "speaker": [0, 1]}})
    assert units(hub_corpus(str(folder), column="t")) == [[("0", "Hi."), ("1", "Hello.")]]


def test_plain_text_is_split_and_an_empty_line_ends_a_sentence(folder: Path) -> None:
    write(folder, {"t": "A title\n\nIt rained. Did it?\nYes, it\ndid!"})
    texts = [text for _, text in units(hub_corpus(str(folder), column="t"))[0]]
    assert texts == ["A title", "It rained.", "Did it?", "Yes, it did!"]


def test_a_pipeline_that_is_not_installed(folder: Path) -> None:
    write(folder, {"t": "One. Two."})
    with pytest.raises(CorpusError, match="'xx_no_such' is not installed; get it with `python -m"):
        list(read(hub_corpus(str(folder), column="t", shape=Shape(pipeline="xx_no_such"))))


def test_a_pipeline_by_name(folder: Path, tmp_path: Path) -> None:
    import spacy

    path = tmp_path / "pipeline"
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer", config={"punct_chars": [";"]})
    pipeline.to_disk(path)
    spacy.blank("en").to_disk(tmp_path / "blank")
    write(folder, {"t": "One. Two; Three."})
    texts = [
        text
        for _, text in units(hub_corpus(str(folder), column="t", shape=Shape(pipeline=str(path))))[
            0
        ]
    ]
    assert texts == ["One. Two;", "Three."]
    with pytest.raises(CorpusError, match="does not find sentences"):
        list(
            read(hub_corpus(str(folder), column="t", shape=Shape(pipeline=str(tmp_path / "blank"))))
        )


def test_parquet_files_with_digests_and_ids_over_all_files(folder: Path) -> None:
    from datasets import Dataset

    (folder / "data").mkdir()
    for shard in (0, 1):
        rows = [{"s": [f"{number}."]} for number in range(3 * shard, 3 * shard + 3)]
        path = folder / "data" / f"test-0000{shard}-of-00002.parquet"
        Dataset.from_list(rows).to_parquet(str(path))
    reading = read(hub_corpus(str(folder), column="s", split="test"))
    assert [d.id for d in reading] == [f"test-{number:06d}" for number in range(1, 7)]
    assert [file["name"][:10] for file in reading.files] == ["test-00000", "test-00001"]
    assert all(len(file["sha256"]) == 64 for file in reading.files)


def test_configs_and_splits_of_the_card(folder: Path) -> None:
    write(folder, {"s": ["a"]}, name="x.jsonl")
    write(folder, {"s": ["b"]}, name="y.jsonl")
    configs = "configs:\n" + "".join(
        f"- config_name: {name}\n  data_files:\n  - split: dev\n    path: {name}.jsonl\n"
        for name in "xy"
    )
    (folder / "README.md").write_text(CARD.replace("license", configs + "license"))
    corpus = hub_corpus(str(folder), config="y", column="s")
    assert corpus.name == "my_set_y"
    assert corpus.splits == ("dev",)
    assert units(corpus) == [[(None, "b")]]
    with pytest.raises(CorpusError, match="Config name is missing"):
        hub_corpus(str(folder), column="s")
    with pytest.raises(CorpusError, match="no split 'test'; its splits are dev"):
        hub_corpus(str(folder), config="x", column="s", split="test")


LICENCES = [
    ("cc-by-4.0", "CC-BY-4.0", "", True),
    ("mit", "MIT", "", True),
    ("cc-by-nd-4.0", "other", "cc-by-nd-4.0", False),
    ("unknown", "other", "unknown", False),
    ("other\nlicense_name: mine\nlicense_link: https://example.org", "other", "mine", False),
    ("[mit, cc0-1.0]", "MIT AND CC0-1.0", "", True),
    ("[mit, unknown]", "other", "mit, unknown", False),
    ("[]", "other", "unknown", False),
]


@pytest.mark.parametrize(("stated", "licence", "name", "republishable"), LICENCES)
def test_the_licence_is_the_card_s(
    folder: Path, stated: str, licence: str, name: str, republishable: bool
) -> None:
    write(folder, {"s": ["a"]})
    (folder / "README.md").write_text(CARD.replace("cc-by-4.0", stated))
    corpus = hub_corpus(str(folder), column="s")
    assert (corpus.licence, corpus.licence_name) == (licence, name)
    assert corpus.republishable is republishable
    assert (corpus.language, corpus.title) == ("de", "Proben")


@pytest.mark.parametrize("card", [None, "# no YAML\n", "---\n- a\n- b\n---\n", "---\nx: [\n---\n"])
def test_no_licence_is_no_permission(folder: Path, card: str | None) -> None:
    write(folder, {"s": ["a"]})
    if card is not None:
        (folder / "README.md").write_text(card)
    try:
        corpus = hub_corpus(str(folder), column="s")
    except CorpusError:  # datasets itself refuses a card that it cannot read
        return
    assert (corpus.licence, corpus.republishable) == ("other", False)


BAD_ROWS: Sequence[tuple[Any, str, str]] = [
    (["a", "b\0"], "a NUL byte, expected text", "NUL byte"),
    (["a", None], "s has 'None', expected text in a list of sentences", "wrong type"),
    (7, "s has '7', expected a list of sentences", "wrong type"),
]


@pytest.mark.parametrize(("value", "problem", "reason"), BAD_ROWS)
def test_bad_rows(folder: Path, value: Any, problem: str, reason: str) -> None:
    write(folder, {"s": ["good"]}, {"s": value}, {"s": ["fine"]})
    corpus = hub_corpus(str(folder), column="s")
    with pytest.raises(CorpusError) as caught:
        list(read(corpus))
    assert str(caught.value) == f"{folder}:2: {problem}"
    reading = read(corpus, skip_bad_rows=True)
    assert [d.id for d in reading] == ["train-000001", "train-000003"]
    assert reading.skipped == {reason: 1}


@pytest.mark.parametrize("empty", [None, "", " \n", [], ["", " "]])
@pytest.mark.parametrize("genre", ["", "documents"])
def test_a_row_without_text_is_left_out(folder: Path, empty: Any, genre: str) -> None:
    one, other = "The kettle sang in the kitchen.", "Bo ran to the old station."
    write(folder, {"s": [one]}, {"s": empty}, {"s": ["", other]})
    of_hub = read(hub_corpus(str(folder), column="s", genre=genre, shape=Shape(fewest=1)))
    own = read(own_texts(folder / "train.jsonl", Shape(fewest=1), column="s").corpus)
    for reading in (of_hub, own):
        assert [each.texts for each in reading] == [(one,), (other,)]
        assert reading.skipped == {"no text": 1}


@pytest.mark.parametrize("kind", ["text", "sentences"])
def test_of_texts_that_are_nearly_the_same_the_first_stays(folder: Path, kind: str) -> None:
    texts = ["Ann sang and Bo left. It rained.", "ANN sang, and Bo left. It rained!", "Bo slept."]
    write(folder, *({"s": text if kind == "text" else [text]} for text in texts))
    reading = read(hub_corpus(str(folder), column="s"))
    assert [each.id for each in reading] == ["train-000001", "train-000003"]
    assert reading.skipped == {NEAR_DUPLICATE: 1}


def test_a_folder_whose_name_is_a_pattern_is_refused(folder: Path) -> None:
    for name in ("a[1]", "a?", "a*"):
        (folder / name).mkdir()
        write(folder / name, {"text": "Ann sang."})
        with pytest.raises(CorpusError, match="rename the folder"):
            list(read(hub_corpus(str(folder / name), column="text")))


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_columns_that_nobody_asks_for_may_hold_anything(folder: Path, ending: str) -> None:
    """The first file has no value there, the second text, the third a day that Python has not."""
    far = pa.array([2**50], pa.timestamp("ms"))
    for number, more in enumerate((pa.nulls(1), pa.array(["x"]), far)):
        rows = pa.table({"s": [f"Ann saw {number}."], "more": more})
        if ending == "parquet":
            pq.write_table(rows, folder / f"train-{number}.parquet")
        elif number < 2:
            write(folder, *rows.to_pylist(), name=f"train-{number}.jsonl")
    corpus = hub_corpus(str(folder), column="s")
    found = [each.text for each in read(corpus)]
    assert found == [f"Ann saw {number}." for number in range(3 if ending == "parquet" else 2)]
    with pytest.raises(CorpusError, match=":1: no column 'x'; the columns are 's', 'more'"):
        list(read(hub_corpus(str(folder), column="x")))


@pytest.mark.parametrize("ids", [["1989-11-01", "1989-11-02"], ["007", "1e5"], ["NA", "1.10"]])
@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_ids_stay_as_they_were_written(folder: Path, ids: list[str], ending: str) -> None:
    texts = ("Ann sang in the kitchen.", "Bo ran to the station.")
    rows = [{"id": i, "s": text} for i, text in zip(ids, texts, strict=True)]
    if ending == "csv":
        pd.DataFrame(rows).to_csv(folder / "train.csv", index=False)
    elif ending == "json":
        (folder / "train.json").write_text(json.dumps(rows, indent=1))
    else:
        write(folder, *rows)
    corpus = hub_corpus(str(folder), column="s", genre="documents", shape=Shape(fewest=1))
    assert [d.id for d in read(corpus)] == ids


def test_no_id_stands_twice(folder: Path) -> None:
    texts = zip((7, 8, 7), ("Ann sang here.", "Bo ran away.", "They all left."), strict=True)
    write(folder, *({"id": i, "s": [text]} for i, text in texts))
    corpus = hub_corpus(str(folder), column="s", genre="documents", shape=Shape(fewest=1))
    with pytest.raises(CorpusError, match=r":3: id '7' stands at .*My-Set:1 already"):
        list(read(corpus))
    assert [d.id for d in read(corpus, skip_bad_rows=True)] == ["7", "8"]


def test_what_is_not_there(folder: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be loaded"):
        hub_corpus(str(folder), column="s")
    (folder / "train.csv").touch()
    with pytest.raises(CorpusError, match=r"My-Set/train\.csv is empty\)$"):
        list(read(hub_corpus(str(folder), column="s")))
    (folder / "train.csv").unlink()
    write(folder, {"s": ["a"]})
    with pytest.raises(CorpusError, match=":1: no column 'x'; the columns are 's'"):
        list(read(hub_corpus(str(folder), column="x")))
    with pytest.raises(CorpusError, match="a folder has no revision 'v1'"):
        hub_corpus(str(folder), column="s", revision="v1")


def test_a_broken_file_is_one_line(folder: Path) -> None:
    write(folder, {"s": ["a"]})
    with (folder / "train.jsonl").open("a") as stream:
        stream.write('{"s": ["b"\n')
    with pytest.raises(CorpusError, match="My-Set: cannot be loaded") as caught:
        list(read(hub_corpus(str(folder), column="s")))
    assert "\n" not in str(caught.value)


def test_a_hub_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants, hf_api

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(hf_api.api, "endpoint", "http://127.0.0.1:9")
    with pytest.raises(CorpusError, match=r"^lab/set: no such folder, and the Hub cannot be"):
        hub_corpus("lab/set", column="s")


def test_another_commit_from_the_cache_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What datasets does when the Hub goes away after the commit was resolved."""
    import datasets

    from coherencegym.loaders.corpora import hub

    write(folder, {"s": ["a"]})
    cached = datasets.load_dataset_builder(str(folder))
    cached.config.data_files = {"train": ["hf://datasets/lab/set@0ld/train.jsonl"]}
    monkeypatch.setattr(hub, "_commit", lambda repo, revision: "n3w")
    monkeypatch.setattr(datasets, "load_dataset_builder", lambda *_, **__: cached)
    with pytest.raises(CorpusError, match="commit n3w could not be read from the Hub"):
        hub_corpus("lab/set", column="s")


def test_a_hub_corpus_survives_pickling(folder: Path) -> None:
    write(folder, {"s": ["a"]})
    corpus = pickle.loads(pickle.dumps(hub_corpus(str(folder), column="s")))
    assert units(corpus) == [[(None, "a")]]


@pytest.fixture
def hub() -> Iterator[HubServer]:
    """A Hub with one dataset: two rows at v1.0.0, three now."""
    rows = [json.dumps({"id": f"r{n}", "s": ["Eins.", f"Und {n}."]}) for n in range(3)]
    with HubServer() as server:
        server.seed(
            "lab/set",
            {"README.md": CARD.encode(), "data/train.jsonl": "\n".join(rows[:2]).encode()},
            tag="v1.0.0",
        )
        server.seed("lab/set", {"data/train.jsonl": "\n".join(rows).encode()})
        server.seed("lab/script", {"script.py": b"raise SystemExit('run!')"})
        yield server
    assert not server.crashes


def attempt(repo: str = "lab/set", **arguments: Any) -> Any:
    try:
        corpus = hub_corpus(repo, column="s", **arguments)
        reading = read(corpus)
        ids = [discourse.id for discourse in reading]
        return [ids, corpus.licence, corpus.source_datasets, [f["revision"] for f in reading.files]]
    except CorpusError as error:
        return str(error)


def test_a_dataset_on_the_hub(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_clients(hub, tmp_path / "home", monkeypatch)
    answers = [
        attempt(revision="v1.0.0"),
        attempt(),
        attempt(revision="v9"),
        attempt("lab/nothing"),
        attempt("lab/script"),
    ]
    shas = [commit.sha for commit in hub.commits("lab/set")]
    assert answers[0][:3] == [["train-000001", "train-000002"], "CC-BY-4.0", ("extended|lab/set",)]
    assert answers[1][0] == ["train-000001", "train-000002", "train-000003"]
    assert answers[1][3] == [shas[0]]
    assert answers[0][3][0] in shas[1:]
    said = "lab/set at 'v9': no such folder, and the repository has no such revision; there are"
    assert answers[2] == f"{said} v1.0.0, main (2)"
    assert answers[3].startswith("lab/nothing: no such folder, and not on the Hub, or private")
    assert "scripts are no longer supported" in answers[4]


def article_rows(number: int) -> list[dict[str, str]]:
    """Articles of four sentences, every fifth a copy of an earlier one."""
    draw = random.Random(3)

    def sentence() -> str:
        return " ".join(draw.choice(WORDS) for _ in range(9)).capitalize() + "."

    rows: list[dict[str, str]] = []
    for n in range(number):
        text = rows[n // 2]["text"] if n % 5 == 4 else " ".join(sentence() for _ in range(4))
        rows.append({"text": text})
    return rows


WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "ne", "su") for b in ("bat", "der", "fing", "gol")]


def write_parquet(files: dict[str, list[dict[str, Any]]]) -> dict[str, bytes]:
    """Parquet files of three rows a group."""
    made = {}
    for name, rows in files.items():
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), stream, row_group_size=3)
        made[name] = stream.getvalue()
    return made


@pytest.fixture
def parquet_files(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A training split of two files and a test split, with near-duplicates across all three."""
    monkeypatch.setattr("coherencegym.loaders.corpora.hub._SHARD_ROWS", 6)
    rows = article_rows(45)
    named = {"train-0": rows[:20], "train-1": rows[20:33], "test-0": rows[33:]}
    return write_parquet({f"data/{name}.parquet": own for name, own in named.items()})


def as_read(corpus: Corpus, engine: Engine) -> tuple[list[Discourse], dict[str, int]]:
    reading = read(corpus, engine=engine)
    return list(reading), dict(reading.skipped)


def articles_of(repo: str) -> Corpus:
    return hub_corpus(repo, genre="documents")


def test_shards_of_a_folder_are_the_stream(folder: Path, parquet_files: dict[str, bytes]) -> None:
    for name, content in parquet_files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    corpus = articles_of(str(folder))
    one, skipped = as_read(corpus, Engine())
    assert skipped == {NEAR_DUPLICATE: 9}
    assert len(one) == 45 - 9
    assert one[0].id == "train-000001"
    assert corpus.shards is not None
    parts = [part.shard for file in corpus.files for part in corpus.shards(file)]
    # Six rows a shard, and no row twice: 20, 13 and 12 rows.
    firsts = [part.first for part in parts if part is not None]
    assert sorted(firsts) == sorted([1, 7, 13, 19, 21, 27, 33, 1, 7])
    assert as_read(corpus, Engine(2)) == (one, skipped)


def test_shards_of_a_dataset_on_the_hub_are_the_stream(
    hub: HubServer,
    parquet_files: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patch_clients(hub, tmp_path / "home", monkeypatch)
    hub.seed("lab/articles", parquet_files)
    corpus = articles_of("lab/articles")
    one = as_read(corpus, Engine())
    assert len(one[0]) == 36
    assert as_read(corpus, Engine(2)) == one
    # Anything but parquet is read as one stream, and so is the beginning of a corpus.
    other = hub_corpus("lab/set", column="s")
    found = [each.id for each in as_read(other, Engine(2))[0]]
    assert found == ["train-000001", "train-000002", "train-000003"]
    assert len(list(read(corpus, engine=Engine(2), limit=3))) == 6


def test_what_is_wrong_with_a_shard(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[dict[str, Any]] = [{"s": ["a"]}, {"s": ["b"]}, {"s": ["\0"]}, {"s": ["d"]}]
    (path,) = write_parquet({"train.parquet": rows}).items()
    (folder / path[0]).write_bytes(path[1])
    corpus = hub_corpus(str(folder), column="s")
    with pytest.raises(CorpusError, match=r":3: a NUL byte, expected text"):
        list(read(corpus, engine=Engine(2)))
    left = read(corpus, engine=Engine(2), skip_bad_rows=True)
    assert [each.id for each in left] == ["train-000001", "train-000002", "train-000004"]
    assert left.skipped == {"NUL byte": 1}
    again = hub_corpus(str(folder), column="s")
    (folder / path[0]).write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(CorpusError, match=r"My-Set: cannot be loaded \("):
        list(read(again, engine=Engine(2)))
