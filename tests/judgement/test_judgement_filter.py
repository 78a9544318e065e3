"""Filters by readers, from the sheet to the report: ``build --judged`` and ``judge --model``."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.annotators import Annotator, answered, fill, incoherent_texts, perfect
from support.commands import build_command, one_line

from coherencegym.builders.command.cli import main
from coherencegym.builders.judgement.draw import DrawnPair
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import find_sources
from coherencegym.builders.registry import load_suite
from coherencegym.builders.release import quality
from coherencegym.cards.render import dataset_card
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.eval.data.dataset import FILTER_MODEL, tables
from coherencegym.eval.data.source import find_dataset, read_manifest
from coherencegym.eval.models.load import load
from coherencegym.eval.statistics import pair_baselines
from coherencegym.eval.tasks.pair_readings import pair_readings

DATASET = Path("suites/story_cloze")
ONE, OTHER = "model:one@abc123", "model:other@def456"


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of a few items of the sample."""
    folder, suite = tmp_path_factory.mktemp("few"), load_suite("story_cloze")
    build(suite, find_sources(suite, ["sample"]), BuildOptions(limit=20), folder)
    return folder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: Path) -> Path:
    """Commands run in a folder with a build of the sample alone, and a sheet of some of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(pair_baselines, "FEWEST_DISCOURSES", 10**9)
    monkeypatch.setattr(quality, "FEWEST_INTRUDED", 10**9)
    shutil.copytree(few, DATASET)
    argv = ["sample", str(DATASET), "--config", "sample", "-n", "12", "--output", "sheet"]
    assert main(argv) == 0
    return tmp_path


def sheet() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("sheet/pairs.jsonl").read_text("utf-8").splitlines()]


def rebuild(*argv: object) -> int:
    return build_command(
        "story_cloze", "--corpus", "sample", "--limit", 20, "--output", "filtered", *argv
    )


def wrong_from(first: int) -> Annotator:
    """Prefers the original of the first pairs of the sheet, and of the others its opposite."""
    number = iter(range(12))
    right = perfect(incoherent_texts(DATASET, "distractor_ending"))

    def answer(line: dict[str, Any]) -> dict[str, Any]:
        found = right(line)
        other = {"a": "b", "b": "a"}[found["less_coherent"]]
        return found if next(number) < first else answered(line, other)

    return answer


def write(path: str, lines: list[dict[str, Any]]) -> Path:
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Path(path)


def readings(*models: str, wrong: int = 0, one_order: bool = False) -> list[dict[str, Any]]:
    """Answers of models in both orders; in one order the last gets ``wrong`` pairs wrong."""
    worse = incoherent_texts(DATASET, "distractor_ending")
    known = {frozenset((one["text_a"], one["text_b"])): one for one in exchanged()}
    lines = []
    for model in models:
        for number, line in enumerate(sheet()):
            other = known[frozenset((line["text_a"], line["text_b"]))]
            for order in (line,) if one_order else (line, other):
                is_a = order["text_a"] in worse
                if model == models[-1] and number < wrong and order is other:
                    is_a = not is_a
                texts = {key: order[key] for key in ("pair", "text_a", "text_b")}
                lines.append({**texts, "less_coherent": "ba"[is_a], "annotator": model})
    return lines


def exchanged() -> Iterator[dict[str, Any]]:
    for line in sheet():
        pair = DrawnPair(line["pair"], line["text_a"], line["text_b"]).exchanged
        yield {"pair": pair.id, "text_a": pair.text_a, "text_b": pair.text_b}


def texts_of(config: str, folder: str = "filtered") -> set[frozenset[str]]:
    """The texts of each item of a config."""
    (table,) = tables(find_dataset(folder), [config])
    return {frozenset(str(one.content) for one in item.conditions) for item in table.items}


def manifest() -> Any:
    return read_manifest(Path("filtered/manifest.json"))


def test_people_who_prefer_the_original_choose_the_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pairs = Path("sheet/pairs.jsonl")
    # Of three most prefer the original of eight pairs, and of two of them only two.
    three = [fill(pairs, wrong_from(n), Path(f"{n}.jsonl")) for n in (12, 8, 5)]
    measuring = fill(pairs, wrong_from(3), Path("Ruth.jsonl"))
    assert rebuild("--judged", *three, "--judgements", measuring) == 0
    said = capsys.readouterr().out
    assert "judged: 36 answers\n" in said
    assert "judgements: 12 answers\n" in said
    made = manifest()["configs"]
    assert "sample_people_filtered" in made
    assert "sample_crossed_people_filtered" not in made  # nobody read it
    kept = {frozenset((one["text_a"], one["text_b"])) for one in sheet()[:8]}
    assert texts_of("sample_people_filtered") == kept
    assert texts_of("sample") == texts_of("sample", str(DATASET))

    entry = made["sample_people_filtered"]
    assert not entry["in_headline"]
    assert entry["filtered"]["unfiltered"] == "sample"
    assert (entry["filtered"]["readers"], entry["filtered"]["number"]) == ("people", 3)
    found = entry["quality"]["test"]
    assert found["filtered"] == {"read": 12, "kept": 8}
    # Human performance is of the unfiltered items, by who did not filter.
    assert "human" not in found
    assert "human_ok" not in entry["columns"]
    (score, *_) = made["sample"]["quality"]["test"]["human"]["scores"]
    assert (score["score"], score["n"]) == (0.25, 12)
    assert "Ruth" not in json.dumps(made)

    card = Path("filtered/README.md").read_text()
    assert card == dataset_card(manifest())
    said = " ".join(card.split())
    assert (
        "**`sample_people_filtered` is `sample`, filtered by readers**: 8 of the 12 items" in said
    )
    assert "(3 people answered)" in said

    # The report has the unfiltered score beside it, and misses it where it was not computed.
    argv = ["--model", "demo", "--dataset", "filtered", "--verbose"]
    both = ["--config", "sample", "sample_people_filtered"]
    assert evaluate([*argv, *both, "--output", "both"]) == 0
    shown = capsys.readouterr().out
    line = (
        r"sample_people_filtered: ([\d.]+) % on the items .*; ([\d.]+) % on the unfiltered sample"
    )
    beside = re.search(line, shown)
    assert beside
    scores = json.loads(Path("both/results.json").read_text())["scores"]
    of = {one["config"]: f"{100 * one['score']:.1f}" for one in scores if one["level"] == "all"}
    assert beside.groups() == (of["sample_people_filtered"], of["sample"])
    assert evaluate([*argv, *both[::2], "--output", "one"]) == 0
    assert "says little without the score of the unfiltered sample" in capsys.readouterr().out

    # Nobody is asked about the filtered items alone.
    sample = ["sample", "filtered", "-n", "500", "--output", "new"]
    assert main([*sample, "--config", "sample_people_filtered"]) == 2
    assert "filtered by readers; expected sample" in one_line(capsys.readouterr().err)
    assert main(sample) == 0
    assert "filtered" not in capsys.readouterr().out.splitlines()[0]


def test_two_models_choose_what_both_prefer_in_both_orders(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commit = load("demo").commit
    demo = f"model:demo@{commit}"
    # What is too long for one of them was not read: it is left open.
    lines = readings(ONE, demo, wrong=3)
    for line in lines[-2:]:
        line["less_coherent"] = ""
    answers = write("models.jsonl", lines)
    assert rebuild("--judged", answers) == 0
    entry = manifest()["configs"]["sample_model_filtered"]
    assert entry["quality"]["test"]["filtered"] == {"read": 11, "kept": 8}
    assert entry["filtered"]["models"] == [f"demo@{commit}", "one@abc123"]
    kept = {frozenset((one["text_a"], one["text_b"])) for one in sheet()[3:11]}
    assert texts_of("sample_model_filtered") == kept
    (table,) = tables(find_dataset("filtered"), ["sample_model_filtered"])
    assert {item.extra[FILTER_MODEL] for item in table.items} == {f"demo@{commit}, one@abc123"}
    said = " ".join(Path("filtered/README.md").read_text().split())
    assert f"Each of `demo@{commit}`, `one@abc123` chose the incoherent text" in said
    assert "`eval/tasks/templates/pair_reading.txt.jinja`" in said
    assert "No items were annotated" in said  # by people

    both = ["--config", "sample", "sample_model_filtered"]
    capsys.readouterr()
    assert evaluate(["--model", "demo", "--dataset", "filtered", *both, "--output", "r"]) == 0
    assert "demo is one of the readers that chose these items" in capsys.readouterr().out

    # People and models may choose in one build; whose filter keeps nothing gives no config.
    contrary = fill(Path("sheet/pairs.jsonl"), wrong_from(0), Path("Ann.jsonl"))
    assert rebuild("--judged", answers, contrary, "--overwrite") == 0
    said = capsys.readouterr().out
    assert "no config sample_people_filtered: of 12 items that readers read, they prefer" in said
    assert "sample_model_filtered" in manifest()["configs"]


def test_readers_who_may_not_choose_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = Path("sheet/pairs.jsonl")
    ann = fill(pairs, wrong_from(12), Path("Ann.jsonl"))
    models = write("models.jsonl", readings(ONE, OTHER))
    nameless = [line | {"annotator": ""} for line in map(json.loads, ann.open())]
    unnamed = write("unnamed.jsonl", nameless)
    copy = shutil.copy(unnamed, "copy.jsonl")
    wrong = {"document": sheet()[0]["pair"], "answer": "none"}
    for argv, said in (
        (["--judged", ann, "--judgements", ann], "--judged has answers of Ann, also in --judgeme"),
        (["--judged", unnamed, "--judgements", copy], "a file with the content of one in"),
        (["--judgements", models], "--judgements has answers of model:one@abc123, a model"),
        (["--judged", write("1.jsonl", readings(ONE))], "answers of one@abc123 alone, expected"),
        (
            ["--judged", write("2.jsonl", readings(ONE, OTHER, one_order=True))],
            "in one order, expected both",
        ),
        (["--judged", write("3.jsonl", [wrong])], "3.jsonl:1: a document, expected answers to pa"),
        (["--judged", "none.jsonl"], "none.jsonl"),
    ):
        capsys.readouterr()
        assert rebuild(*argv) == 2
        assert said in one_line(capsys.readouterr().err), argv
        assert not Path("filtered").exists()
    with pytest.raises(SystemExit):
        main(["--all", "--judged", "a.jsonl"])
    assert "--judged: answers are about one suite" in capsys.readouterr().err


@pytest.fixture(scope="session")
def other_family(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that is no Llama, with the demo model's tokenizer."""
    from transformers import GPT2Config, GPT2LMHeadModel, set_seed

    tokenizer = load("demo").tokenizer
    set_seed(0)
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 512}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes, initializer_range=0.3))
    folder = str(tmp_path_factory.mktemp("gpt2"))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_models_answer_a_sheet(other_family: str, capsys: pytest.CaptureFixture[str]) -> None:
    judge = ["sample", str(DATASET), "--config", "sample", "-n", "4", "--model", "demo"]
    assert main([*judge, other_family]) == 0
    said = capsys.readouterr().out
    assert re.search(r"demo: \d of 4 pairs answered alike in both orders; A \d times, B \d", said)
    path = Path("judgements/story_cloze_models/answers.jsonl")
    assert f"--judged {path}" in said
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 4 * 2 * 2
    assert {line["annotator"].rpartition("@")[0] for line in lines} == {
        "model:demo",
        f"model:{other_family}",
    }
    for one, two in zip(lines[::2], lines[1::2], strict=True):
        assert (one["text_a"], one["text_b"]) == (two["text_b"], two["text_a"])
    assert rebuild("--judged", path) == 0
    assert "judged: 16 answers\n" in capsys.readouterr().out

    (reader,) = (
        one
        for one in pair_readings(["demo", other_family], [("x " * 600, "y")])
        if one.name == "demo"
    )
    assert reader.answers == (("", ""),)  # too long


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--model", "demo"], "one model, whose taste would be the filter"),
        (["--model", "demo", "--model", "COPY"], "both are of the family llama, whose models err"),
        (["--model", "demo", "OTHER", "--kind", "documents"], "no documents"),
    ],
)
def test_models_that_do_not_make_a_second_opinion(
    capsys: pytest.CaptureFixture[str], argv: list[str], said: str
) -> None:
    if "COPY" in argv:
        from coherencegym.eval.models import load as module

        demo = Path(module.__file__).parent / "demo_model"
        shutil.copytree(demo, "COPY")
    assert main(["sample", str(DATASET), *argv]) == 2
    assert said in one_line(capsys.readouterr().err)
    assert not Path("judgements").exists()


def test_controls_are_not_filtered() -> None:
    def speakers(*argv: object) -> int:
        return build_command("speaker_commitment", "--corpus", "sample", "--limit", 9, *argv)

    assert speakers() == 0
    folder = "suites/speaker_commitment"
    configs = [f"sample_{name}" for name in ("contradiction", "neutral", "entailment")]
    assert main(["sample", folder, "--config", *configs, "-n", "99", "--output", "all"]) == 0
    worse = incoherent_texts(Path(folder), "same_speaker")
    answers = fill(Path("all/pairs.jsonl"), perfect(worse), Path("Ann.jsonl"))
    assert speakers("--judged", answers, "--overwrite") == 0
    made = json.loads(Path(folder, "manifest.json").read_text())["configs"]
    filtered = {name for name in made if name.endswith("_people_filtered")}
    assert filtered == {"sample_contradiction_people_filtered"}
    assert made.keys() >= set(configs)
    (name,) = filtered
    assert made[name]["controls"] == configs[1:]
