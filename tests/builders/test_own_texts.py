"""Texts of the user's own, plain and annotated, from the command line to the rows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from support.commands import build_command, one_line
from support.native_files import LAYOUTS

import coherencegym as cg
from coherencegym.builders.command import cli
from coherencegym.builders.command.cli import main
from coherencegym.errors import EvaluationError
from coherencegym.loaders.corpora.own import OWN, annotated_texts
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus as registered

TEXTS = {
    "kettle": "The kettle\n\nThe kettle sang in the kitchen. Ann took two cups from the shelf.\n\n"
    "She poured the tea. It was too hot to drink.",
    "train": "Bo ran to the station. He fell on the stairs. His train left without him.",
    "rain": "It rained for nine days. The river rose to the bridge. Then the sun came out.",
}
KETTLE = (
    "The kettle sang in the kitchen. Ann took two cups from the shelf. She poured the tea. It was "
    "too hot to drink."
)
SUITES = [
    *("sentence_order", "intruder_sentences", "linguistic_probes"),
    *("discourse_tasks", "span_coherence"),
]
CONLL_2012 = """\
#begin document (ann); part 000
ann 0 0 Ann NNP - - - - - - (1)
ann 0 1 had VBD - - - - - - -
ann 0 2 a DT - - - - - - (2
ann 0 3 dog NN - - - - - - 2)
ann 0 4 . . - - - - - - -

ann 0 0 She PRP - - - - - - (1)
ann 0 1 sang VBD - - - - - - -
ann 0 2 . . - - - - - - -

#end document
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in a folder with texts, and find no corpus of the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "mine").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "mine" / f"{name}.txt").write_text(text)
    return tmp_path


def table(**columns: Any) -> pd.DataFrame:
    rows = {"nr": ["1", "2", "3"], "story": list(TEXTS.values()), "who": ["me"] * 3}
    return pd.DataFrame(rows).rename(columns=columns)


def originals(folder: str = "out", config: str = "own_narration_all") -> dict[str, str]:
    """The original text of each discourse of a config."""
    (path,) = Path(folder, "data", config).iterdir()
    return {
        row["discourse_id"]: condition["content"]
        for row in pd.read_parquet(path).to_dict("records")
        for condition in row["conditions"]
        if condition["condition_name"] == "original"
    }


def test_a_folder_of_text_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine/old").mkdir()
    Path("mine/old/rain.txt").write_text("A man sang. A dog barked at him. The street was empty.")
    Path("mine/notes.pdf").write_bytes(b"")
    assert build_command("sentence_order", "--texts", "mine", "--output", "out") == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "texts: 4 .txt (mine); of each a document of 3 to 8 sentences (--sentences); "
        "not read: 1 .pdf\n"
    )
    assert originals() == {
        "kettle": KETTLE,
        "old/rain": "A man sang. A dog barked at him. The street was empty.",
        "rain": TEXTS["rain"],
        "train": TEXTS["train"],
    }
    configs = json.loads(Path("out/manifest.json").read_text())["configs"]
    assert all(name.startswith("own_") for name in configs)  # no corpus, and no sample
    assert not any(config["republishable"] for config in configs.values())
    assert build_command("sentence_order", "--texts", "mine", "--output", "out") == 0
    assert "is there already" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_a_table(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = f"tales_test.{ending}"
    frame = table(nr="id")
    if ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    argv = ("--texts", path, "--licence", "CC-BY-4.0", "--output", "out")
    assert build_command("sentence_order", *argv) == 0
    said = f"texts: 1 .{ending} ({path}), column 'story' (--text-column names another); "
    assert capsys.readouterr().out.startswith(said)
    assert originals() == dict(zip("123", (KETTLE, *list(TEXTS.values())[1:]), strict=True))
    config = json.loads(Path("out/manifest.json").read_text())["configs"]["own_narration_all"]
    assert (list(config["splits"]), config["republishable"]) == (["test"], True)


def test_the_column_is_the_longest_or_named(capsys: pytest.CaptureFixture[str]) -> None:
    table(story="what was written").to_csv("tales.csv", index=False)
    argv = ("--texts", "tales.csv", "--output", "out", "--dry-run")
    assert build_command("sentence_order", *argv) == 0
    assert "column 'what was written' (--text-column" in capsys.readouterr().out
    assert build_command("sentence_order", *argv, "--text-column", "who") == 2
    said = one_line(capsys.readouterr().err)
    assert "nothing is written; not used: fewer than 3 sentences (3); own_narration_all: no" in said
    assert build_command("sentence_order", *argv, "--text-column", "whom") == 2
    assert one_line(capsys.readouterr().err) == (
        "coherencegym build: tales.csv: no column 'whom'; the columns are 'nr', "
        "'what was written', 'who'\n"
    )


def test_rows_may_say_their_split() -> None:
    frame = table().assign(split=["test", "dev", "test"])
    frame.to_csv("tales.csv", index=False)
    cg.build("sentence_order", texts="tales.csv", text_column="story", output="out")
    config = json.loads(Path("out/manifest.json").read_text())["configs"]["own_narration_all"]
    assert {name: made["rows"] for name, made in config["splits"].items()} == {
        "test": 2,
        "validation": 1,
    }


def test_which_suites_texts_can_give_is_said_and_all_are_built(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--texts", "mine"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()] == SUITES
    assert (
        "build one with `coherencegym build SUITE --texts mine`, all of these with `--all`" in out
    )
    assert "annotated texts give other suites: --format conllu, conll2012, mmax, " in out
    assert main(["sentence_order", "intruder_sentences", "--texts", "mine", "--output", "out"]) == 0
    assert capsys.readouterr().out.count("texts: 3 .txt (mine)") == 1
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(SUITES[:2])


def test_all_skips_suites_that_texts_are_too_short_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    two = {name: name for name in ("sentence_order", "linguistic_probes")}
    monkeypatch.setattr(cli, "all_suites", lambda: two)
    assert main(["--all", "--texts", "mine", "--sentences", "4", "8", "--output", "out"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert max(map(len, said.out.splitlines())) <= 100
    _, reason = " ".join(said.out.split()).split("linguistic_probes: skipped: ")
    assert "no sentence of another text fits" in reason
    assert [path.name for path in Path("out").iterdir()] == ["sentence_order"]
    # A suite that is named is not skipped, nor is what gives nothing at all a success.
    assert main(["linguistic_probes", "--texts", "mine", "--sentences", "4", "8"]) == 2
    argv = ["--all", "--texts", "mine", "--sentences", "6", "8", "--output", "none"]
    assert main(argv) == 2


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("sentence_order --texts nowhere", "--texts nowhere: no such file or folder"),
        ("sentence_order --texts empty", "--texts empty: no texts, found nothing; expected files"),
        ("sentence_order --texts a.doc", "--texts a.doc: no texts, found 1 .doc; expected files"),
        (
            "sentence_order --texts a.doc",
            ".parquet, or --format conllu or conll2012 or mmax or pdtb or rels for annotated te",
        ),
        ("coreference --texts ann.conll", ".parquet, or --format conll2012 for annotated texts"),
        (
            "coreference --texts mine",
            "from plain text, which does not hold what it needs; expected annotated texts, with "
            "--format conllu or conll2012 or mmax; `coherencegym build --texts` with no",
        ),
        ("sentence_order --texts blank.csv", "blank.csv: the file is empty; expected a column of"),
        ("sentence_order --texts blank.jsonl", "blank.jsonl:1: the file is empty, expected text"),
        ("sentence_order --texts blank.parquet", "blank.parquet:1: the file is empty, expected a"),
        ("story_cloze --texts mine", "story_cloze cannot be built from plain text, which does not"),
        ("sentence_order --texts mine --genre dialogue", "--genre dialogue: --texts are plain"),
        ("sentence_order --texts mine --text-column x", "mine has no table; expected no --text-c"),
        ("sentence_order --text-column x", "--text-column x: only for your own texts; expected"),
        ("sentence_order --corpus sample --genre dialogue", "--genre dialogue: only for your own"),
        (
            "sentence_order --corpus sample --licence CC0-1.0",
            "--licence CC0-1.0: only for your own",
        ),
        (
            "sentence_order --language nl",
            "--language nl: only for your own texts; expected --texts",
        ),
        ("sentence_order --format rels", "--format rels: only for your own texts; expected"),
        ("sentence_order --texts mine --output mine", "--output mine and the input mine: expected"),
        ("sentence_order --corpus mine", "--corpus mine: is a folder; expected --texts mine"),
        ("sentence_order --corpus a.doc", "--corpus a.doc: is a file; expected --texts a.doc"),
        ("sentence_order --corpus my/x", "--corpus my/x: no such file or folder; expected the nam"),
        ("sentence_order --hub-dataset a.doc", "--hub-dataset a.doc: is a file; expected --texts"),
        ("sentence_order --hub-dataset mine", "--hub-dataset mine: is a folder of text files; exp"),
        (
            "story_cloze --data-dir mine",
            "--data-dir mine: nothing in it was read; looked for files of storycloze (`coherencegym"
            " corpora show NAME` says their names); there is kettle.txt, rain.txt, train.txt; "
            "texts of your own: expected --texts mine",
        ),
        ("story_cloze winograd --data-dir mine", "looked for files of storycloze, winograd, winog"),
        ("coreference --texts mine --format mmax", "mine --format mmax: no such file, found 3 .tx"),
        (
            "winograd --texts ann.conll --format conll2012",
            "cannot be built from texts in conll2012",
        ),
    ],
)
def test_mistakes_are_one_line(argv: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    Path("a.doc").write_text("x")
    for ending in ("csv", "jsonl", "parquet"):
        Path(f"blank.{ending}").touch()
    Path("ann.conll").write_text(CONLL_2012)
    assert main(argv.split()) == 2
    assert said in one_line(capsys.readouterr().err)


def test_of_several_suites_one_may_read_the_folder_of_corpora(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(shared / "corpora" / "personachat")
    argv = ["story_cloze", "sentence_order", "--data-dir", folder, "--limit", "5", "--dry-run"]
    assert main(argv) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("layout", "form"),
    [
        ("gum", "conllu"),
        ("gum relations", "conllu"),
        ("ontonotes", "conll2012"),
        ("arrau", "mmax"),
        ("parcor", "mmax"),
        ("pdtb", "pdtb"),
        ("tedmdb", "pdtb"),
        ("disrpt texts", "rels"),
    ],
)
def test_what_is_annotated_is_read_as_the_corpus_is(layout: str, form: str, tmp_path: Path) -> None:
    folder = tmp_path / "annotated"
    LAYOUTS[layout].write(folder)
    native = registered(LAYOUTS[layout].corpus)
    own = annotated_texts(folder, form).corpus
    # The Penn Discourse Treebank has its splits by section.
    expected = {
        found.id: replace(found, corpus=OWN, meta={**found.meta, "split": ""})
        for found in read(native, data_dir=folder, splits=native.splits)
    }
    found = {one.id: replace(one, meta={**one.meta, "split": ""}) for one in read(own)}
    assert found == expected


def test_coreference_in_conll_2012_may_have_chains_of_one_mention() -> None:
    Path("dev").mkdir()
    Path("dev/ann.conll").write_text(CONLL_2012)
    (found,) = read(annotated_texts(Path("dev/ann.conll"), "conll2012").corpus)
    assert found.texts == ("Ann had a dog.", "She sang.")
    assert [mention.chain for mention in found.mentions] == ["1", "2", "1"]
    (found,) = read(annotated_texts(Path(), "conll2012").corpus)
    assert found.meta["split"] == "validation"


def test_what_was_repaired_is_not_called_lost(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text("lily had a ball. it rolled away.")
    assert build_command("sentence_order", "--texts", "a.txt", "--output", "out") == 2
    assert "; not used: fewer than 3 sentences (1); own" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("suite", "folder", "form", "config"),
    [
        ("coreference", "gum/conllu", "conllu", "own"),
        ("connectives", "tedmdb/English", "pdtb", "own"),
        ("discourse_tasks", "disrpt/nld.rst.nldt", "rels", "relation_own_nl"),
    ],
)
def test_annotated_texts(suite: str, folder: str, form: str, config: str, shared: Path) -> None:
    cg.build(suite, texts=shared / "corpora" / folder, format=form, output="out")
    configs = json.loads(Path("out/manifest.json").read_text())["configs"]
    assert config in configs
    assert {made["corpus"]["name"] for made in configs.values()} == {"own"}
    assert not any(made["republishable"] for made in configs.values())


def test_python_says_the_same() -> None:
    with pytest.raises(EvaluationError, match="--texts nowhere: no such file or folder"):
        cg.build("sentence_order", texts="nowhere")
    with pytest.raises(
        EvaluationError, match="format='muc'; expected one of 'conllu', 'conll2012'"
    ):
        cg.build("coreference", texts="mine", format="muc")


def test_a_path_without_texts_is_refused_also_without_a_suite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--texts", "nowhere"]) == 2
    assert capsys.readouterr().err == (
        "coherencegym build: --texts nowhere: no such file or folder; expected a file of texts or "
        "a folder of them\n"
    )
    Path("saved").mkdir()
    Path("saved/dataset_info.json").write_text("{}")
    assert main(["--texts", "saved"]) == 2
    assert "expected --hub-dataset saved" in capsys.readouterr().err
