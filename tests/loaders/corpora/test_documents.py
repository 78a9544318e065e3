"""Articles as short documents: folders of texts, JSON lines, datasets of articles."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.hub.client import patch_clients
from support.hub.server import HubServer

from coherencegym.builders.command.cli import build_options, suite_parser
from coherencegym.builders.pipeline.sources import hub_dataset
from coherencegym.builders.registry import load_suite
from coherencegym.loaders.corpora.hub import hub_corpus
from coherencegym.loaders.corpora.own import OWN_DOCUMENTS, documents_corpus
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusNotFoundError, ReadOptions
from coherencegym.loaders.discourse import SourceSpan
from coherencegym.loaders.formats.lines import RecordError
from coherencegym.loaders.read import Reading, read
from coherencegym.loaders.text.articles import Shape, first_column

KETTLE = "The kettle sang in the kitchen. Ann took two cups from the shelf. She poured the tea."
TRAIN = "Bo ran to the station. He fell on the stairs, and it hurt. His train left without him."
RAIN = "It rained for nine days. The river rose to the bridge. Then the sun came out again."
LONG = " ".join(
    f"Sentence number {word} is here." for word in ("one", "two", "three", "four", "five")
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "documents"
    path.mkdir()
    return path


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def reading(folder: Path, corpus: Corpus = OWN_DOCUMENTS, **arguments: Any) -> Reading:
    return read(corpus, data_dir=folder.parent, **arguments)


def ids(found: Reading) -> list[str]:
    return [discourse.id for discourse in found]


def test_texts_without_capitals_are_split_and_counted(folder: Path) -> None:
    write(folder, a=KETTLE.lower())
    found = reading(folder)
    (document,) = found
    assert len(document.units) == 3
    assert sum(count for reason, count in found.skipped.items() if "lower case" in reason) == 1


def test_a_folder_of_text_files(folder: Path) -> None:
    write(folder, b=f"Bo's train\n\n{TRAIN}\n", a=KETTLE.replace(". Ann", ".\nAnn"))
    first, second = reading(folder)
    assert (first.id, first.corpus, first.meta) == ("a", "documents", {"split": "unsplit"})
    assert first.text == KETTLE
    assert len(first.units) == 3
    assert first.units[0].source == SourceSpan("a.txt", 1, 2)
    assert second.meta == {"split": "unsplit", "title": "Bo's train"}
    assert [file["name"] for file in reading(folder).files] == ["a.txt", "b.txt"]


def test_split_folders_in_their_order(folder: Path) -> None:
    for name, text in (("train", RAIN), ("test", KETTLE), ("dev", TRAIN)):
        (folder / name).mkdir()
        write(folder / name, **{f"of_{name}": text})
    assert [(d.id, d.meta["split"]) for d in reading(folder)] == [
        ("of_train", "train"),
        ("of_dev", "validation"),
        ("of_test", "test"),
    ]
    assert ids(reading(folder, splits=["test"])) == ["of_test"]


def test_files_are_looked_for_in_a_folder_of_that_name_only(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, notes=KETTLE)
    with pytest.raises(CorpusNotFoundError, match=r"no files found; expected 'train/\*\.\(txt"):
        read(OWN_DOCUMENTS, data_dir=tmp_path)
    write(folder, a=KETTLE)
    assert (
        ids(read(OWN_DOCUMENTS, data_dir=tmp_path))
        == ids(read(OWN_DOCUMENTS, data_dir=folder))
        == ["a"]
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_json_lines(folder: Path, suffix: str) -> None:
    rows = (
        {"id": 7, "title": "Tea ", "domain": "kitchen", "text": KETTLE},
        {"article": TRAIN, "title": None, "split": None},
        {
            "sentences": ["It rained. It rained  on.", " The river rose.", "It fell again."],
            "id": "r",
        },
    )
    content = lines(*rows).encode()
    if suffix.endswith(".gz"):
        content = gzip.compress(content)
    (folder / f"some{suffix}").write_bytes(content)
    found = reading(folder)
    tea, train, rain = found
    assert (tea.id, train.id, rain.id) == ("7", "some-000002", "r")
    assert tea.meta == {"split": "unsplit", "title": "Tea", "domain": "kitchen"}
    assert train.meta == {"split": "unsplit"}
    assert train.units[0].source == SourceSpan(f"some{suffix}", 2, 2)
    assert rain.texts == ("It rained. It rained on.", "The river rose.", "It fell again.")
    assert found.skipped == {}


def test_rows_say_their_split_unless_the_file_does(folder: Path) -> None:
    rows = [{"id": "a", "text": KETTLE, "split": "test"}, {"id": "b", "text": TRAIN}]
    (folder / "all.jsonl").write_text(lines(*rows))
    assert [(d.id, d.meta["split"]) for d in reading(folder)] == [("a", "test"), ("b", "unsplit")]
    assert ids(reading(folder, splits=["test"])) == ["a"]
    assert ids(reading(folder, splits=["train"])) == []
    (folder / "all.jsonl").rename(folder / "valid-1.jsonl")
    assert {d.meta["split"] for d in reading(folder)} == {"validation"}


def test_what_is_wrong_is_counted_once_though_rows_are_read_for_each_split(folder: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "text": 5},
        {"id": "b", "text": KETTLE, "split": "xyz"},
        {"text": "No."},
    ]
    (folder / "all.jsonl").write_text(lines(*rows) + "{\n" + lines({"id": "c", "text": TRAIN}))
    found = reading(folder, skip_bad_rows=True)
    assert ids(found) == ["c"]
    assert found.skipped == {
        "wrong type": 1,
        "unknown split": 1,
        "malformed JSON": 1,
        "fewer than 3 sentences": 1,
    }


@pytest.mark.parametrize("cut", [3, 30, -5])
def test_a_damaged_gzip_file(folder: Path, cut: int) -> None:
    content = gzip.compress(lines(*({"id": str(n), "text": KETTLE} for n in range(500))).encode())
    (folder / "all.jsonl.gz").write_bytes(content[:cut])
    with pytest.raises(CorpusError, match=r"all\.jsonl\.gz:1: cannot be decompressed \(.+\)") as e:
        list(reading(folder))
    assert "\n" not in str(e.value)
    for bad in (b"no gzip at all", content[:40] + b"\xff" * 20 + content[60:]):
        (folder / "all.jsonl.gz").write_bytes(bad)
        with pytest.raises(CorpusError, match=r"all\.jsonl\.gz:1: cannot be decompressed"):
            list(reading(folder))


def test_every_drop_is_counted_by_reason(folder: Path) -> None:
    write(
        folder,
        a=KETTLE,
        b=KETTLE.upper(),
        c="Too short. Really too short.",
        d=LONG + LONG + "\n\nHistory\n\nNothing.",
        e=f"{TRAIN}\n\n* one thing\n* another thing",
        f=f"{TRAIN} He had {{{{nothing}}}} else.",
        g=f"{TRAIN} He cried.",
        h="In 12 34 56 78 there. " * 3,
        i=TRAIN + " The list is this:",
    )
    found = reading(folder)
    assert ids(found) == ["a"]
    assert found.skipped == {
        "near-duplicate of an earlier document": 1,
        "fewer than 3 sentences": 1,
        "more than 8 sentences": 1,
        "list": 1,
        "leftover markup": 1,
        "a sentence of fewer than 3 words": 1,
        "too few letters": 1,
        "a sentence without its end": 1,
    }


def test_near_duplicates_are_found_over_files_and_splits_and_anew_each_time(folder: Path) -> None:
    rows = [{"id": "t", "text": KETTLE, "split": "train"}]
    (folder / "all.jsonl").write_text(lines(*rows))
    (folder / "test").mkdir()
    write(folder / "test", a=KETTLE)
    found = reading(folder)
    assert ids(found) == ids(found) == ["a"]  # files of one split come before files of all
    assert found.skipped == {"near-duplicate of an earlier document": 1}


def test_the_shape_of_documents_is_the_user_s(folder: Path) -> None:
    write(folder, a=LONG, b=f"{KETTLE}\n\nHistory\n\n{TRAIN}")
    assert [len(d.units) for d in reading(folder)] == [5, 3]
    corpus = documents_corpus(Shape(most=2, fewest=1))
    assert [d.texts for d in reading(folder, corpus)] == [
        ("Sentence number one is here.", "Sentence number two is here."),
    ]
    assert reading(folder, corpus).skipped == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"fewest": 0}, "documents of 0 to 8 sentences, expected two numbers in order"),
        ({"fewest": 9}, "documents of 9 to 8 sentences"),
    ],
)
def test_shapes_that_there_are_not(arguments: Any, said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        Shape(**arguments)


def test_an_article_of_any_length_is_read_to_where_it_is_decided(folder: Path) -> None:
    write(folder, a=f"{KETTLE}\n\nHistory\n\n" + f"{LONG}\n" * 10_000, b=f"{LONG} " * 600)
    found = reading(folder)
    assert [(d.id, len(d.units)) for d in found] == [("a", 3), ("b", 8)]
    (folder / "rows.jsonl").write_text(
        lines({"id": "c", "text": f"{RAIN}\n\nNow\n\n" + LONG * 900})
    )
    assert [d.text for d in reading(folder)][2:] == [RAIN]


def test_files_that_cannot_be_read_as_text(folder: Path) -> None:
    write(folder, a=KETTLE, blank=" \n", empty="")
    (folder / "wide.txt").write_bytes(KETTLE.encode("utf-16"))
    (folder / "latin.txt").write_bytes("Café. ".encode("latin-1") + KETTLE.encode())
    with pytest.raises(CorpusError, match=r"blank\.txt:1: nothing but white space"):
        list(reading(folder))
    found = reading(folder, skip_bad_rows=True)
    assert ids(found) == ["a"]
    assert sum(found.skipped.values()) == 4


def test_documents_are_yielded_lazily(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from coherencegym.loaders.text import articles

    made: list[str] = []
    real = articles.document

    def document(text: str, shape: Shape, options: ReadOptions) -> Any:
        made.append(text)
        return real(text, shape, options)

    monkeypatch.setattr(articles, "document", document)
    (folder / "train.jsonl").write_text(lines(*({"text": t} for t in (KETTLE, TRAIN, RAIN))))
    assert ids(reading(folder, limit=2)) == ["train-000001", "train-000002"]
    assert made == [KETTLE, TRAIN]


def test_nothing_may_be_published_unless_the_user_names_a_licence() -> None:
    assert (OWN_DOCUMENTS.licence, OWN_DOCUMENTS.republishable, OWN_DOCUMENTS.proven) == (
        "other",
        False,
        "",
    )
    named = documents_corpus(licence="cc-by-4.0")
    assert (named.licence, named.republishable) == ("CC-BY-4.0", True)
    closed = documents_corpus(licence="CC-BY-ND-4.0")
    assert (closed.licence, closed.licence_name) == ("other", "CC-BY-ND-4.0")
    assert not closed.republishable


# Datasets of articles

WIKIPEDIA = (
    {"id": "12", "url": "u", "title": "Tea", "text": f"{KETTLE}\n\nHistory \n\nLong ago.\n\nSee"},
    {"id": "13", "url": "u", "title": "Stub", "text": "It is a village."},
    {"id": "14", "url": "u", "title": "Rain", "text": f"{RAIN}\n\nReferences\n\nExternal links"},
    {"id": "15", "url": "u", "title": "Rain 2", "text": RAIN},
)
STORIES = (
    {"article": f"LONDON, England (CNN) -- {TRAIN} {KETTLE} {RAIN}", "highlights": "x", "id": "c1"},
    {"article": "", "highlights": "x", "id": "c2"},
)


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    path = tmp_path / "Set"
    path.mkdir()
    return path


def test_a_dataset_laid_out_like_wikipedia(dataset: Path) -> None:
    (dataset / "train.jsonl").write_text(lines(*WIKIPEDIA))
    found = read(hub_corpus(str(dataset), genre="documents", shape=Shape()))
    tea, rain = found
    assert (tea.id, tea.text, tea.meta) == ("12", KETTLE, {"split": "train", "title": "Tea"})
    assert rain.id == "14"
    assert rain.units[0].source == SourceSpan("Set", 3, 3)
    assert found.skipped == {
        "fewer than 3 sentences": 1,
        "near-duplicate of an earlier document": 1,
    }
    limited = read(hub_corpus(str(dataset), genre="documents", shape=Shape()), limit=1)
    assert ids(limited) == ["12"]
    assert limited.skipped == {}


def test_a_dataset_laid_out_like_cnn(dataset: Path) -> None:
    (dataset / "test.jsonl").write_text(lines(*STORIES))
    found = read(hub_corpus(str(dataset), genre="documents", shape=Shape(most=4)))
    (story,) = found
    assert (story.id, len(story.units)) == ("c1", 4)
    assert story.texts[0] == "Bo ran to the station."
    assert found.skipped == {"no text": 1}


def test_columns_of_one_s_own(dataset: Path) -> None:
    (dataset / "test.jsonl").write_text(lines({"key": "k", "body": KETTLE, "n": 1}))
    corpus = hub_corpus(str(dataset), genre="documents", shape=Shape(), column="body")
    assert ids(read(corpus)) == ["test-000001"]
    with pytest.raises(CorpusError, match="Set:1: no column 'sentences' or 'text' or 'article'"):
        list(read(hub_corpus(str(dataset), genre="documents", shape=Shape()), skip_bad_rows=True))
    with pytest.raises(CorpusError, match="Set:1: no column 'x'; the columns are 'key', 'body'"):
        list(read(hub_corpus(str(dataset), genre="documents", shape=Shape(), column="x")))
    corpus = hub_corpus(str(dataset), genre="documents", shape=Shape(), column="n")
    with pytest.raises(CorpusError, match="Set:1: n has '1', expected text or a list of sentences"):
        list(read(corpus))
    with pytest.raises(CorpusError, match="no column named; expected --text-column with the one"):
        hub_corpus(str(dataset))


LANGUAGES = [
    ("[ab, de, en]", "20231101.de", "de"),
    ("[ab, de, en]", "20231101.xx", "en"),
    ("[ab, de]", "default", "ab"),
    ("[de]", "default", "de"),
    ("pt", "20231101.en", "pt"),
    ("null", "default", "en"),
]


@pytest.mark.parametrize(("stated", "config", "language"), LANGUAGES)
def test_of_several_languages_the_configuration_has_one(
    dataset: Path, stated: str, config: str, language: str
) -> None:
    (dataset / "x.jsonl").write_text(lines(*WIKIPEDIA))
    (dataset / "README.md").write_text(
        f"---\nlanguage: {stated}\nlicense: [cc-by-sa-3.0, gfdl]\nconfigs:\n"
        f"- config_name: '{config}'\n  data_files: x.jsonl\n---\n"
    )
    corpus = hub_corpus(str(dataset), config=config, genre="documents", shape=Shape())
    assert corpus.language == language
    if language != "ab":  # of which spaCy has no rules
        assert len(list(read(corpus))) == 2
    else:
        with pytest.raises(CorpusError, match="no rules for the language 'ab'"):
            list(read(corpus))
    assert not corpus.republishable
    named = hub_corpus(
        str(dataset), config=config, genre="documents", shape=Shape(), licence="CC-BY-SA-3.0"
    )
    assert (named.licence, named.republishable) == ("CC-BY-SA-3.0", True)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    """A Hub with a large dataset of articles, in 40 files."""
    card = b"---\nlicense: cc-by-4.0\n---\n"
    files = {"README.md": card}
    for shard in range(40):
        rows = [
            {
                "id": f"{shard}-{number}",
                "text": f"Town {shard} lies in valley {number} of the north. It has "
                f"{number + 9} farms and {shard + 2} mills by the river. Nobody knows its age."
                f"\n\nHistory\n\n{'Long ago. ' * 2000}",
            }
            for number in range(5)
        ]
        files[f"data/train-{shard:05d}-of-00040.jsonl"] = lines(*rows).encode()
    with HubServer() as server:
        server.seed("lab/articles", files)
        yield server
    assert not server.crashes


def test_a_limit_stops_the_stream_early(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_clients(hub, tmp_path / "home", monkeypatch)
    reading = read(hub_corpus("lab/articles", genre="documents", shape=Shape()), limit=7)
    found = [discourse.id for discourse in reading]
    assert found == [f"{number // 5}-{number % 5}" for number in range(7)]
    assert reading.skipped == {}
    assert reading.files[0]["revision"] == hub.commits("lab/articles")[0].sha
    asked = {request.path for request in hub.requests if "/resolve/" in request.path}
    assert 2 <= len([path for path in asked if "data/train" in path]) < 10, asked


def test_the_command_line_s_settings() -> None:
    parser = suite_parser(load_suite("sentence_order"))
    assert build_options(parser.parse_args([])).shape == Shape()
    options = "--sentences 2 5 --spacy-pipeline en_x --licence CC0-1.0"
    made = build_options(parser.parse_args(options.split()))
    assert (made.shape, made.licence) == (Shape(2, 5, "en", "en_x"), "CC0-1.0")
    assert hub_dataset(made) is None


def test_a_dataset_of_articles_on_the_command_line(dataset: Path) -> None:
    (dataset / "train.jsonl").write_text(lines(*WIKIPEDIA))
    parser = suite_parser(load_suite("sentence_order"))
    options = ["--hub-dataset", str(dataset), "--genre", "documents", "--sentences", "1", "2"]
    corpus = hub_dataset(build_options(parser.parse_args(options)))
    assert corpus is not None
    assert ids(read(corpus)) == ["13", "15"]


@pytest.mark.parametrize("name", ["te\u2028xt", "te\udcffxt", "x" * 10_000])
def test_names_of_columns_are_on_one_line(name: str) -> None:
    row = {name: "The kettle sang.", **dict.fromkeys(map(str, range(99)))}
    with pytest.raises(RecordError) as caught:
        first_column(row, ["text"])
    (line,) = str(caught.value).splitlines()
    line.encode()
    assert line.endswith("'8', 90 more")
    assert len(line) < 300
