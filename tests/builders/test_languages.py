"""Suites in other languages than English: real documents, refusals, texts of one's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from support.native_files import LAYOUTS
from support.treebanks import treebank

import coherencegym as cg
from coherencegym.builders.command.cli import main
from coherencegym.builders.discourse.cutting import Passages
from coherencegym.builders.pipeline.kinds import Division, OwnSplits
from coherencegym.builders.sentence_order import SUITE as SENTENCE_ORDER
from coherencegym.builders.suite import Config, by_language
from coherencegym.errors import EvaluationError
from coherencegym.eval.statistics.overlap import content_words, turns_and_sentences
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.units import Shuffle
from coherencegym.words import unspaced_words

DUTCH = """\
Buren zagen rond 2.30 uur vlammen en belden de brandweer. Die was o.a. met dhr. De Vries snel ter \
plaatse. De bewoner kon zelf naar buiten komen. Hoe de brand ontstond, is nog niet bekend.
"""


def document(*texts: str, **meta: str) -> Discourse:
    return Discourse("d", "toy", tuple(map(Unit, texts)), meta={"split": "train", **meta})


def configs_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())["configs"]
    return found


def rows_of(entry: dict[str, Any]) -> int:
    return sum(split["rows"] for split in entry["splits"].values())


# Real documents -----------------------------------------------------------------------------------


def test_orders_in_dutch_chinese_and_german(real_build: Callable[[str, str], Path]) -> None:
    folder = real_build("sentence_order", "disrpt")
    configs = configs_of(folder)
    found = {name: rows_of(entry) for name, entry in configs.items()}
    assert found == {
        **dict.fromkeys(("disrpt_nl_documents_all", "disrpt_nl_documents_context"), 167),
        **dict.fromkeys(("disrpt_nl_openings_all", "disrpt_nl_openings_context"), 67),
        **dict.fromkeys(("disrpt_zh_documents_all", "disrpt_zh_documents_context"), 89),
        **dict.fromkeys(("disrpt_zh_openings_all", "disrpt_zh_openings_context"), 31),
        **dict.fromkeys(("disrpt_de_documents_all", "disrpt_de_documents_context"), 21),
        **dict.fromkeys(("disrpt_de_openings_all", "disrpt_de_openings_context"), 16),
        "disrpt_nl_matched_documents": 114,
        "disrpt_zh_matched_documents": 44,
        "disrpt_de_matched_documents": 15,
    }
    assert all(name.split("_")[1] == one["corpus"]["language"] for name, one in configs.items())
    card = (folder / "README.md").read_text()
    assert "language:\n- de\n- nl\n- zh\n" in card
    parts = sorted((folder / "data/disrpt_zh_documents_all").iterdir())
    for row in pd.concat(map(pd.read_parquet, parts)).to_dict("records"):
        for condition in row["conditions"]:
            assert "。 " not in condition["content"], row["item_id"]


def test_relations_in_four_languages(real_build: Callable[[str, str], Path]) -> None:
    configs = configs_of(real_build("discourse_tasks", "disrpt"))
    found = {
        name.rpartition("_")[2]: rows_of(one)
        for name, one in configs.items()
        if name.startswith("relation_")
    }
    assert found == {"nl": 1939, "zh": 1490, "de": 241, "it": 206}
    assert set(configs["relation_disrpt_it"]["splits"]) == {"test"}
    assert set(configs["relation_disrpt_nl"]["splits"]) == {"train", "validation", "test"}
    (chinese,) = configs["relation_disrpt_zh"]["example"]["slots"][0]["segments"]
    assert " " not in chinese


# What a config is about ---------------------------------------------------------------------------


def test_a_config_takes_the_languages_that_it_knows() -> None:
    generator = SENTENCE_ORDER.configs[0].generator
    english = Config("a", (), generator, "", ())
    dutch = Config("b", (), generator, "", (), languages=("nl",))
    every = by_language(english, select=lambda discourse: True)
    text = document("Ja.", "Nee.", language="nl")
    assert [one.takes(text) for one in (english, dutch, every)] == [False, True, True]
    assert [one.takes(document("Yes.")) for one in (english, dutch, every)] == [True, False, True]
    assert english.is_in("mul")
    assert (every.by, every.corpora) == ("language", ("disrpt",))


def test_a_passage_is_prose_in_a_row() -> None:
    text = document("Titel", "Een.", "Twee.", "Kop", "Drie.", "Vier.", "Vijf.", "Zes.")
    context = Context(0)
    (found,) = Passages(3, 3)(text, context)
    assert found.texts == ("Drie.", "Vier.", "Vijf.")
    assert list(Passages(5, 8)(text, context)) == []
    assert context.skipped == {"no 5 sentences of prose in a row": 1}
    first, second, third = Passages(2, 3, number=5)(
        document("Een.", "Twee.", "Drie.", "Vier.", "Vijf.", "Kop", "Zes.", "Zeven."), context
    )
    assert [one.texts for one in (first, second, third)] == [
        *(("Een.", "Twee.", "Drie."), ("Vier.", "Vijf.")),
        ("Zes.", "Zeven."),
    ]
    assert [one.variant for one in (first, second, third)] == ["", "3-4", "6-7"]
    shuffled = (list(Shuffle()(one, Context(0))) for one in (first, third))
    assert [one.variant for each in shuffled for one in each] == ["shuffled", "6-7/shuffled"]


def test_languages_are_divided_each_by_itself() -> None:
    def some(code: str, number: int, split: str) -> list[Discourse]:
        return [
            Discourse(
                f"{code}{place}",
                "disrpt",
                (Unit(f"Tekst {code} {place} is een zin."),),
                meta={"split": split, "language": code},
            )
            for place in range(number)
        ]

    every = [*some("de", 17, "validation"), *some("nl", 40, "train"), *some("fr", 1, "test")]
    every += some("fr", 0, "test")
    divided = OwnSplits(Division(0.2, 0.1))(every, 0)
    of = {
        code: {split for split, own in divided.items() for d in own if d.meta["language"] == code}
        for code in ("de", "nl", "fr")
    }
    assert of == {"de": {"test"}, "nl": {"train", "validation", "test"}, "fr": {"test"}}


# Baselines ----------------------------------------------------------------------------------------


def test_words_that_say_nothing_are_those_of_the_language() -> None:
    assert content_words("De honden en de katten lopen hier niet", "nl") == {
        **{"hond": 1, "kat": 1, "lop": 1}
    }
    assert set(content_words("拜伦出生于伦敦。", "zh")) >= {"拜伦", "伦敦"}
    assert turns_and_sentences("下雨了。她没走。") == ("下雨了。", "她没走。")


def test_known_words_of_chinese_are_told() -> None:
    known = frozenset({"塞万提斯", "学院", "塞万"})
    assert set(content_words("塞万提斯学院在上海。", "zh", known)) == {"塞万提斯", "学院"}
    assert content_words("塞万提斯学院在上海。", "zh").keys() > {"塞万", "学院"}
    assert unspaced_words(["学院", "的", "GDP", "5月"]) == {"学院"}


# Texts of one's own -------------------------------------------------------------------------------


@pytest.fixture
def dutch_text(tmp_path: Path) -> Path:
    path = tmp_path / "nieuws.txt"
    path.write_text(DUTCH, encoding="utf-8")
    return path


def test_a_dutch_text_builds_in_one_command(
    dutch_text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ("--texts", str(dutch_text), "--language", "nld")
    assert main(arguments) == 0
    listed = capsys.readouterr().out
    assert "connectives" not in listed
    assert f"build SUITE --texts {dutch_text} --language nld`" in listed
    assert main(["--all", *arguments, "--output", str(out)]) == 0
    configs = configs_of(out / "sentence_order")
    assert {one["corpus"]["language"] for one in configs.values()} == {"nl"}
    (path,) = (out / "sentence_order/data/own_narration_all").iterdir()
    (row,) = pd.read_parquet(path).to_dict("records")
    assert row["conditions"][0]["content"] == " ".join(DUTCH.split())
    assert not (out / "connectives").exists()
    one = tmp_path / "one"
    assert main(["sentence_order", *arguments, "--output", str(one)]) == 0
    assert configs_of(one).keys() == configs.keys()


def test_what_knows_only_english_refuses_the_others(dutch_text: Path) -> None:
    with pytest.raises(EvaluationError, match="connectives cannot be built from plain text in Du"):
        cg.build("connectives", texts=dutch_text, language="nl")
    with pytest.raises(EvaluationError, match="--language nl: the card of me/texts says its lang"):
        cg.build("sentence_order", hub_dataset="me/texts", language="nl")


def test_a_language_without_rules_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.conllu").write_text(treebank("Da lag [ein Mann/Nom] ."), encoding="utf-8")
    own = ("--texts", str(tmp_path / "in"), "--format", "conllu", "--language", "pt")
    assert main(["coreference", *own, "--output", str(tmp_path / "out")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "in conllu in Portuguese: it has rules for en only" in line
    assert main(own) == 0
    assert "no rules for Portuguese: coreference (en), conn" in capsys.readouterr().out


def test_a_folder_of_conllu_in_any_language(tmp_path: Path) -> None:
    LAYOUTS["disrpt texts"].write(tmp_path)
    text = "".join(
        f"# newdoc id = d{number}\n"
        + "".join(
            f"1\tLe\tle\tDET\t_\t_\t2\tdet\t_\t_\n2\tchat\tchat\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
            f"3\tvoit{place}{number}\tvoir\tVERB\t_\t_\t0\troot\t_\t_\n4\t.\t.\tPUNCT\t_\t_\t3\t"
            "punct\t_\t_\n\n"
            for place in range(6)
        )
        for number in range(3)
    )
    folder = tmp_path / "french"
    folder.mkdir()
    (folder / "a.conllu").write_text(text, encoding="utf-8")
    cg.build("sentence_order", texts=folder, format="conllu", language="fr", output=tmp_path / "o")
    entry = configs_of(tmp_path / "o")["own_fr_documents_all"]
    assert (entry["corpus"]["language"], rows_of(entry)) == ("fr", 3)
    first = entry["example"]["conditions"][0]["content"]
    assert first.startswith("Le chat voit00. Le chat voit10.")
