"""From a build to a sheet, and from answers to a build, as a user goes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.annotators import (
    always_a,
    answered,
    at_random,
    fill,
    first_answer,
    incoherent_texts,
    perfect,
)
from support.commands import build_command, one_line
from support.suites import no_classifiers

from coherencegym.__main__ import main as coherencegym
from coherencegym.builders.command.cli import main
from coherencegym.eval.commands.cli import main as evaluate
from coherencegym.files.checksums import CHECKSUMS, checksums, write_checksums

Built = Callable[[str], Path]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in an empty folder, and find no corpus of the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def command(*argv: object) -> int:
    try:
        return main([str(argument) for argument in argv])
    except SystemExit as stopped:  # the parser's
        return int(stopped.code or 0)


def rebuild(suite: str, *argv: object, classified: bool = False) -> int:
    """Build the sample, without partial-input baselines where the test looks at none of them."""
    with pytest.MonkeyPatch.context() as patched:
        if not classified:
            no_classifiers(patched)
        return build_command(suite, "--corpus", "sample", *argv)


@pytest.fixture
def built(sample_build: Built, tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a build of the sample in the folder for builds."""

    def copy(suite: str) -> Path:
        folder = Path(shutil.copytree(sample_build(suite), tmp_path / "suites" / suite))
        write_checksums(checksums(folder), folder / CHECKSUMS)
        return folder

    return copy


def manifest(folder: str = "suites/story_cloze") -> dict[str, Any]:
    read = json.loads(Path(folder, "manifest.json").read_text())
    assert isinstance(read, dict)
    return read


def human(config: str = "sample", folder: str = "suites/story_cloze") -> dict[str, Any]:
    figures = manifest(folder)["configs"][config]["quality"]["test"]["human"]
    assert isinstance(figures, dict)
    return figures


def overall(figures: dict[str, Any]) -> dict[str, Any]:
    (score,) = (score for score in figures["scores"] if score["group"] == "")
    assert isinstance(score, dict)
    return score


def test_perfect_annotators_from_the_build_to_the_card_and_the_evaluator(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("story_cloze")
    worse = incoherent_texts(folder, "distractor_ending")
    rows_before = (folder / "data/sample/test-00000-of-00001.parquet").read_bytes()
    assert command("sample", folder, "--config", "sample", "-n", 40) == 0
    said = capsys.readouterr().out
    assert "40 pairs (sample 40)" in said
    pairs = Path("judgements/story_cloze/pairs.jsonl")
    files = [fill(pairs, perfect(worse), Path(f"{name}.jsonl")) for name in ("Quentin", "Ruth")]
    given = ("--judgements", *files, "--overwrite")
    assert rebuild("story_cloze", *given, classified=True) == 0
    said = capsys.readouterr().out
    assert "judgements: 80 answers\n" in said
    assert "human performance on sample, test: 100.0 [91.2, 100.0] % (n = 40)\n" in said

    figures = human()
    assert (figures["pairs"], figures["annotators"]) == (40, 2)
    assert figures["human_ok"] == {"true": 40, "false": 0, "null": 0}
    assert figures["agreement"]["less_coherent"] == {"alpha": 1.0, "units": 40}
    assert figures["agreement"]["grammatical"] == {"alpha": None, "units": 80}
    score = overall(figures)
    assert (score["score"], score["n"]) == (1.0, 40)
    assert score["ci_low"] == pytest.approx(0.025 ** (1 / 40), abs=1e-4)  # exact, at p = 1
    assert "Quentin" not in json.dumps(manifest())

    card = Path("suites/story_cloze/README.md").read_text()
    section = card.split("### Human performance")[1].split("\n## ")[0]
    assert "| `sample` | test | 40 | 2 | 100.0 % of 40 | 91.2 to 100.0 % | 0 | 0 | 0 |" in section
    assert "| 1.000 (40) | – (80) |" in section
    assert "| `human_ok` | bool | whether" in card
    assert "No items were annotated" not in card
    assert not re.search(r"\n\n\n", section)

    from datasets import load_dataset

    data = load_dataset("suites/story_cloze", "sample", cache_dir="cache")["test"]
    assert data.features["human_ok"].dtype == "bool"
    assert sum(value is True for value in data["human_ok"]) == 40
    assert sum(value is None for value in data["human_ok"]) == data.num_rows - 40
    without = data.remove_columns("human_ok").to_list()
    from pyarrow import BufferReader, parquet

    assert without == parquet.read_table(BufferReader(rows_before)).to_pylist()

    dataset = ["--dataset", "suites/story_cloze", "--config", "sample"]
    assert evaluate(["--model", "demo", *dataset, "--output", "r", "--verbose"]) == 0
    shown = capsys.readouterr().out
    assert re.search(
        r"CD, % \[95 % interval\]\s+partial input, %\s+lexical overlap, %\s+surface, %\s+"
        r"human performance, %",
        shown,
    )
    assert re.search(r"^ sample .* 100\.0 ", shown, re.MULTILINE)
    assert "(sample 40 pairs)" in shown
    assert ", human performance 100.0 [91.2, 100.0] (n = 40)\n" in shown
    (first, *_) = json.loads(Path("r/results.json").read_text())["scores"]
    assert (first["human_score"], first["human_n"]) == (1.0, 40)
    assert first["human_ci_low"] == score["ci_low"]


@pytest.mark.parametrize(
    ("suite", "options"),
    [
        ("story_cloze", ""),
        ("story_cloze", "--limit 9 --seed 3 --output 'my builds'"),
        ("sentence_order", "--limit 9 --permutations 2"),
        ("span_coherence", ""),
    ],
)
def test_the_command_that_is_printed_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suite: str, options: str
) -> None:
    given = shlex.split(options)
    assert rebuild(suite, *given) == 0
    folder = given[-1] if "--output" in given else f"suites/{suite}"
    before = manifest(folder)["configs"]
    assert command("sample", folder, "-n", 5, "--output", "sheet") == 0
    printed, *_ = re.findall("coherencegym (.*)", capsys.readouterr().out)
    (sheet,) = Path("sheet").glob("*.jsonl")
    fill(sheet, first_answer, Path("answers-1.jsonl"))
    words = [
        name
        for word in shlex.split(printed)
        for name in (sorted(path.name for path in tmp_path.glob(word)) if "*" in word else [word])
    ]
    with pytest.MonkeyPatch.context() as patched:
        no_classifiers(patched)
        assert coherencegym(words) == 0
    after = manifest(folder)["configs"]
    assert "human_ok" in json.dumps(after)
    for config, entry in before.items():
        for name in ("limit", "seed", "settings"):
            assert after[config][name] == entry[name]
        for split, counts in entry["splits"].items():
            assert after[config]["splits"][split]["rows"] == counts["rows"]


def test_annotators_without_a_clue(built: Built) -> None:
    folder = built("story_cloze")
    assert command("sample", folder, "--config", "sample", "-n", 150, "--output", "s") == 0
    pairs = Path("s/pairs.jsonl")
    files = [fill(pairs, at_random(seed), Path(f"{seed}.jsonl")) for seed in range(3)]
    assert rebuild("story_cloze", "--judgements", *files, "--overwrite") == 0
    figures = human()
    agreement = figures["agreement"]
    assert abs(agreement["less_coherent"]["alpha"]) < 0.2
    assert abs(agreement["grammatical"]["alpha"]) < 0.2
    assert 0.35 < overall(figures)["score"] < 0.65
    assert 0.35 < figures["grammatical"]["original_ending"]["share"] < 0.65
    assert figures["human_ok"]["false"] > 100


def test_whoever_always_says_a_is_at_chance(built: Built) -> None:
    folder = built("story_cloze")
    assert command("sample", folder, "--config", "sample", "-n", 150, "--output", "s") == 0
    answers = fill(Path("s/pairs.jsonl"), always_a, Path("a.jsonl"))
    assert rebuild("story_cloze", "--judgements", answers, "--overwrite") == 0
    score = overall(human())
    assert score["ci_low"] < 0.5 < score["ci_high"]
    assert score["coherent_worse"] == score["n"] - round(score["score"] * score["n"])
    assert human()["agreement"]["less_coherent"] == {"alpha": None, "units": 0}


def test_whose_grammar_it_is(built: Built) -> None:
    folder = built("story_cloze")
    worse = incoherent_texts(folder, "distractor_ending")
    assert command("sample", folder, "--config", "sample", "-n", 20) == 0

    def strict(line: dict[str, Any]) -> dict[str, Any]:
        right = perfect(worse)(line)
        return right | {f"{right['less_coherent']}_grammatical": "no"}

    answers = fill(Path("judgements/story_cloze/pairs.jsonl"), strict, Path("a.jsonl"))
    assert rebuild("story_cloze", "--judgements", answers, "--overwrite") == 0
    assert human()["grammatical"] == {
        "distractor_ending": {"texts": 20, "share": 0.0},
        "original_ending": {"texts": 20, "share": 1.0},
    }
    assert human()["human_ok"] == {"true": 0, "false": 20, "null": 0}
    assert overall(human())["score"] == 1.0


def test_two_configs_of_the_same_texts_share_answers_and_the_rest_is_counted(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("winograd")
    worse = incoherent_texts(folder, "distractor")
    argv = ("sample", folder, "-n", 8, "--config", "sample_full")
    assert command(*argv) == 0
    turns = iter(range(8))

    def annotator(line: dict[str, Any]) -> dict[str, Any]:
        number = next(turns)
        right = perfect(worse)(line)
        if number == 0:  # grammatical only in the opinion of one
            return right | {"a_grammatical": "no"}
        if number == 1:
            return right | {"less_coherent": "cannot tell"}
        if number == 2:
            return right | {"less_coherent": "b" if right["less_coherent"] == "a" else "a"}
        if number == 3:
            return right | {"b_grammatical": ""}
        return line if number == 4 else right

    answers = fill(Path("judgements/winograd/pairs.jsonl"), annotator, Path("a.jsonl"))
    assert rebuild("winograd", "--judgements", answers, "--overwrite") == 0
    assert "judgements: 7 answers, 1 pairs left open\n" in capsys.readouterr().out
    for config in ("sample_full", "sample_partial"):
        figures = human(config, "suites/winograd")
        assert figures["human_ok"] == {"true": 3, "false": 3, "null": 1}
        score = overall(figures)
        assert (score["n"], score["cannot_tell"], score["coherent_worse"]) == (7, 1, 1)
        assert score["score"] == round(5 / 7, 4)
    groups = {score["group"] for score in human("sample_partial", "suites/winograd")["scores"]}
    assert "region3_has_words=true" in groups


def test_a_majority_of_three_decides(capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--limit", 30)
    assert rebuild("story_cloze", *few) == 0
    folder = Path("suites/story_cloze")
    worse = incoherent_texts(folder, "distractor_ending")
    assert command("sample", folder, "--config", "sample", "-n", 20) == 0
    pairs = Path("judgements/story_cloze/pairs.jsonl")
    right = perfect(worse)

    def wrong(line: dict[str, Any]) -> dict[str, Any]:
        return answered(line, "b" if right(line)["less_coherent"] == "a" else "a", "no", "no")

    def silent(line: dict[str, Any]) -> dict[str, Any]:
        return answered(line, "cannot tell", "", "")

    for voters, score, no_majority, ok in (
        ((right, right, wrong), 1.0, 0, 20),
        ((right, wrong, wrong), 0.0, 0, 0),
        ((right, wrong), 0.0, 20, 0),
        ((right, silent), 0.0, 20, 0),
        ((right, right, silent), 1.0, 0, 20),
    ):
        files = [fill(pairs, voter, Path(f"{i}.jsonl")) for i, voter in enumerate(voters)]
        assert rebuild("story_cloze", *few, "--judgements", *files, "--overwrite") == 0
        found = overall(human())
        assert (found["score"], found["no_majority"]) == (score, no_majority)
        said = "20 of these 20 have no majority, which counts as wrong; an odd number"
        assert (said in capsys.readouterr().out) == bool(no_majority)
        assert human()["human_ok"]["true"] == ok


def test_the_kind_of_incoherence_from_the_sheet_to_the_card(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("intruder_sentences")
    worse = incoherent_texts(folder, "intruded")
    assert command("sample", folder, "--config", "pairs_sample", "-n", 10) == 0
    pairs = Path("judgements/intruder_sentences/pairs.jsonl")
    (empty, *_) = map(json.loads, pairs.read_text().splitlines())
    assert empty["kind_of_incoherence"] == []
    assert "What makes the less coherent text" in pairs.with_name("sheet.html").read_text()

    def annotator(*kinds: list[str]) -> Any:
        turns = iter(range(10))
        right = perfect(worse)

        def answer(line: dict[str, Any]) -> dict[str, Any]:
            return right(line) | {"kind_of_incoherence": kinds[next(turns) % len(kinds)]}

        return answer

    topic, both, none = ["information_structure"], ["information_structure", "factual"], ["none"]
    files = [
        fill(pairs, annotator(topic, none), Path("Quentin.jsonl")),
        fill(pairs, annotator(both, none), Path("Ruth.jsonl")),
    ]
    given = ("--judgements", *files, "--overwrite")
    assert rebuild("intruder_sentences", *given) == 0
    assert "judgements: 20 answers\n" in capsys.readouterr().out
    figures = human("pairs_sample", "suites/intruder_sentences")
    (kinds,) = figures["questions"]
    assert (kinds["name"], kinds["pairs"], kinds["several"]) == ("kind_of_incoherence", 10, True)
    found = {value: (a["share"], a["alpha"], a["units"]) for value, a in kinds["answers"].items()}
    assert found == {
        "information_structure": (0.5, 1.0, 10),
        "logical": (0.0, None, 10),
        # One of two says so of every second pair: of 20 values 5 are yes, and of 10 pairs 5 differ.
        "factual": (0.0, round(1 - (10 / 20) / (2 * 5 * 15 / (20 * 19)), 4), 10),
        "none": (0.5, 1.0, 10),
    }
    assert figures["human_ok"] == {"true": 10, "false": 0, "null": 0}
    card = Path("suites/intruder_sentences/README.md").read_text()
    section = card.split("### Human performance")[1].split("\n## ")[0]
    assert (
        "**What makes the less coherent text incoherent?** They could give several answers."
        in section
    )
    assert "- `factual`: it contradicts what is known of the world\n" in section
    (heading, rule, row), *_ = (
        lines[i : i + 3]
        for lines in [section.splitlines()]
        for i, line in enumerate(lines)
        if "`logical` | alpha" in line
    )
    assert heading.count("|") == rule.count("|") == row.count("|") == 12
    assert row == (
        "| `pairs_sample` | test | 10 | 50.0 % | 1.000 (10) | 0.0 % | – (10) | 0.0 % | -0.267 (10) "
        "| 50.0 % | 1.000 (10) |"
    )
    assert not re.search(r"\n\n\n", section)
    assert command("sample", folder, "--config", "pairs_sample", "--answers", *files) == 0
    assert "pairs_sample, Ruth: 10 of 10 answers are" in capsys.readouterr().out

    lines = files[0].read_text().splitlines(keepends=True)
    bad = json.loads(lines[2]) | {"kind_of_incoherence": ["none", "factual"]}
    files[0].write_text("".join([*lines[:2], json.dumps(bad) + "\n", *lines[3:]]))
    assert rebuild("intruder_sentences", *given) == 2
    assert one_line(capsys.readouterr().err).startswith(
        'intruder_sentences: Quentin.jsonl:3: kind_of_incoherence has "none" beside other answers, '
    )


def test_a_manifest_without_questions_has_none_and_a_damaged_one_is_one_line(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("intruder_sentences")
    path = folder / "manifest.json"
    whole = json.loads(path.read_text())
    pairs = whole["configs"]["pairs_sample"]
    (question,) = pairs.pop("questions")
    path.write_text(json.dumps(whole))
    assert (
        command(
            "sample",
            folder,
            "--config",
            "pairs_sample",
            "-n",
            3,
            "--output",
            "old",
        )
        == 0
    )
    assert "kind_of_incoherence" not in Path("old/pairs.jsonl").read_text()
    other = question | {"text": "Other?"}
    for wrong, said in (
        ({}, "the questions of 'pairs_sample' are no list"),
        (["why"], "a question without name, text, answers or several"),
        ([question | {"answers": {"a": 1, "b": "b"}}], "a question without name, text, answers"),
        ([question | {"answers": {"a": "a"}}], "expected two or more different answers"),
        ([question | {"name": "pair"}], "'pair': a field of every answer"),
        ([question | {"name": "</script>"}], "'</script>', expected letters"),
        ([question, other], "two different questions are called 'kind_of_incoherence'"),
    ):
        pairs["questions"] = wrong
        path.write_text(json.dumps(whole))
        capsys.readouterr()
        assert command("sample", folder, "--output", "new") == 2
        message = one_line(capsys.readouterr().err)
        assert "manifest.json cannot be read (" in message
        assert said in message
        assert not Path("new").exists()


def test_the_same_answers_give_the_same_bytes_in_any_order(built: Built) -> None:
    folder = built("winograd")
    assert command("sample", folder, "-n", 30) == 0
    pairs = Path("judgements/winograd/pairs.jsonl")
    files = [fill(pairs, at_random(seed), Path(f"{seed}.jsonl")) for seed in range(3)]
    for output, given in (("one", files), ("two", files[::-1])):
        assert rebuild("winograd", "--judgements", *given, "--output", output) == 0
    found = sorted(path.relative_to("one") for path in Path("one").rglob("*") if path.is_file())
    for path in found:
        assert Path("one", path).read_bytes() == Path("two", path).read_bytes(), path


def test_other_seeds_show_a_pair_in_another_order_and_mean_the_same(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("winograd")
    worse = incoherent_texts(folder, "distractor")
    files = []
    for seed in (0, 1):
        argv = (folder, "-n", 100, "--seed", seed, "--output", f"s{seed}")
        assert command("sample", *argv) == 0
        files.append(fill(Path(f"s{seed}/pairs.jsonl"), perfect(worse), Path(f"{seed}.jsonl")))
    assert rebuild("winograd", "--judgements", *files, "--overwrite") == 0
    assert human("sample_full", "suites/winograd")["agreement"]["less_coherent"]["alpha"] == 1.0
    # By one annotator these are two answers to the same pairs, also where A and B are exchanged.
    seen: set[str] = set()
    for file in files:
        lines = [json.loads(line) | {"annotator": "Ann"} for line in file.read_text().splitlines()]
        new = [line for line in lines if line["pair"] not in seen]
        seen |= {line["pair"] for line in new}
        file.write_text("".join(json.dumps(line) + "\n" for line in new))
    assert 74 < len(seen) < 148
    capsys.readouterr()
    assert rebuild("winograd", "--judgements", *files, "--overwrite") == 2
    message = one_line(capsys.readouterr().err)
    assert re.match(r"winograd: [01]\.jsonl:\d+: the texts of pair ", message)
    assert re.search(r"which was answered at [01]\.jsonl:\d+, expected one answer", message)


def test_answers_about_something_else_are_refused_or_counted(
    built: Built, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = built("story_cloze")
    before = (folder / "manifest.json").read_bytes()
    assert command("sample", folder, "--config", "sample", "-n", 3) == 0
    lines = Path("judgements/story_cloze/pairs.jsonl").read_text().splitlines()
    ids = [json.loads(line)["pair"] for line in lines]
    unknown, stale = "00000000-000000000000", f"{ids[1].partition('-')[0]}-000000000000"
    capsys.readouterr()
    for pair, said in ((unknown, "is of no item of this build"), (stale, "has other texts")):
        made = [{"pair": ids[0], "less_coherent": "a"}, {"pair": pair, "less_coherent": "a"}]
        Path("a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in made))
        argv = ("--judgements", "a.jsonl", "--overwrite")
        assert rebuild("story_cloze", *argv) == 2
        message = one_line(capsys.readouterr().err)
        assert message.startswith(f"story_cloze: a.jsonl:2: pair {pair} ")
        assert said in message
        assert (folder / "manifest.json").read_bytes() == before
        assert not list(tmp_path.glob("suites/.*"))
    assert rebuild("story_cloze", *argv, "--skip-bad-rows") == 0
    said = capsys.readouterr().out
    assert "judgements: 1 answers\n" in said
    assert "judgements left out: 1, the texts of its pair have changed\n" in said
    assert human()["pairs"] == 1


def test_without_judgements_nothing_is_different(sample_build: Built) -> None:
    assert rebuild("story_cloze", classified=True) == 0
    assert "human" not in json.dumps(manifest())
    ours = Path("suites/story_cloze/README.md").read_text()
    assert "### Human performance" not in ours
    assert "No items were annotated" in ours
    assert ours == (sample_build("story_cloze") / "README.md").read_text()


def test_answers_to_pairs_are_compared_with_the_dataset_by_annotator(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("story_cloze")
    right = perfect(incoherent_texts(folder, "distractor_ending"))
    assert command("sample", folder, "--config", "sample", "-n", 20, "--output", "s") == 0
    numbers = iter(range(40))

    def unsure(line: dict[str, Any]) -> dict[str, Any]:
        number, other = next(numbers), {"a": "b", "b": "a"}
        answer = right(line)["less_coherent"]
        return answered(line, ["cannot tell", "", other[answer], answer][min(number, 3)])

    pairs = Path("s/pairs.jsonl")
    files = [fill(pairs, right, Path("Ann.jsonl")), fill(pairs, unsure, Path("Bob.jsonl"))]
    capsys.readouterr()
    assert command("sample", folder, "--answers", *files) == 0
    # κ says nothing of pairs, whose right answer is always the incoherent text.
    assert capsys.readouterr().out.splitlines() == [
        "sample, Ann: 20 of 20 answers are the dataset's",
        "sample, Bob: 17 of 19 answers are the dataset's, 1 cannot tell",
    ]


def test_a_build_in_place_of_one_with_answers_says_that_it_has_none(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("story_cloze")
    assert command("sample", folder, "--config", "sample", "-n", 3, "--output", "s") == 0
    given = ("--judgements", fill(Path("s/pairs.jsonl"), always_a, Path("a.jsonl")))
    lost = "had answers of --judgements, and this build has none; build again with --judgements"
    for options, is_said in ((given, False), (given, False), ((), True), ((), False)):
        capsys.readouterr()
        assert rebuild("story_cloze", "--overwrite", *options) == 0
        assert (lost in capsys.readouterr().out) == is_said


def test_a_sheet_is_never_overwritten(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    folder = built("story_cloze")
    assert command("sample", folder, "--config", "sample", "-n", 3) == 0
    assert {p.name for p in Path("judgements/story_cloze").iterdir()} == {
        CHECKSUMS,
        "pairs.jsonl",
        "sheet.html",
    }
    capsys.readouterr()
    assert command("sample", folder, "--config", "sample", "-n", 3) == 2
    assert "name another folder with --output" in one_line(capsys.readouterr().err)


def test_a_build_with_a_filled_sheet_in_it_is_not_replaced(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("story_cloze")
    assert command("sample", folder, "--output", folder / "sheets") == 2
    assert "neither inside the other" in one_line(capsys.readouterr().err)
    (folder / "answers-1.jsonl").write_text("{}")
    assert rebuild("story_cloze", "--judgements", folder / "answers-1.jsonl", "--overwrite") == 2
    assert "answers-1.jsonl is not of the earlier output" in one_line(capsys.readouterr().err)
    assert (folder / "answers-1.jsonl").read_text() == "{}"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["nowhere"], "nowhere: no manifest.json; expected the folder"),
        (["BUILD", "--config", "sampel"], "no config 'sampel'; expected one of"),
        (["BUILD", "--group", "x"], "no pair of 'x'"),
        (["BUILD"], "judgements/story_cloze exists; name another folder with --output"),
    ],
)
def test_mistakes_are_one_line(
    built: Built, capsys: pytest.CaptureFixture[str], argv: list[str], said: str
) -> None:
    folder = str(built("story_cloze"))
    Path("judgements/story_cloze").mkdir(parents=True)
    assert command("sample", *(folder if word == "BUILD" else word for word in argv)) == 2
    assert said in one_line(capsys.readouterr().err)
    assert not list(Path("judgements/story_cloze").iterdir())


def test_a_damaged_build_is_one_line(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    folder = built("story_cloze")
    (folder / "manifest.json").write_text("{")
    assert command("sample", folder) == 2
    assert "manifest.json:1: not JSON" in one_line(capsys.readouterr().err)


def test_judgements_are_about_one_suite(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--all", "--judgements", "a.jsonl") == 2
    assert "answers are about one suite" in capsys.readouterr().err


def test_a_missing_file_stops_before_anything_is_built(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert rebuild("story_cloze", "--judgements", "a.jsonl") == 2
    assert "a.jsonl" in one_line(capsys.readouterr().err)
    assert not Path("suites").exists()
