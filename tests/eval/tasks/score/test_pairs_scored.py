"""Pairs of texts of one's own get what suites get, from a file and from Python alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coherencegym as cg
from coherencegym.eval.commands.cli import main

PAIRS = [
    ("Tom had a small dog.", "Tom a had dog small."),
    ("Lily was very happy.", "Very happy Lily was."),
    ("The cat sat on the mat.", "The mat on cat the sat."),
    ("They went to the park.", "Park the to went they."),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    rows = [
        {"chosen": good, "rejected": bad, "template": n // 2, "kind": "ab"[n % 2]}
        for n, (good, bad) in enumerate(PAIRS)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_pairs_of_a_file_are_scored_with_clusters_and_groups(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", "--model", "demo", "--no-cache", "--dataset", str(file)]
    output = tmp_path / "results"
    more = ["--cluster-by", "template", "--group-by", "kind", "--output", str(output)]
    assert main([*words, *more]) == 0
    found = json.loads((output / "results.json").read_text(encoding="utf-8"))
    rows = {row["group"]: row for row in found["scores"]}
    assert {name: row["n"] for name, row in rows.items()} == {"": 4, "kind=a": 2, "kind=b": 2}
    assert (output / "report.html").is_file()
    in_python = cg.score("demo", file)
    assert isinstance(in_python, cg.Results)
    assert in_python.rows[0].score == rows[""]["score"]
    width = rows[""]["ci_high"] - rows[""]["ci_low"]
    # Four pairs of two templates are worth fewer than four by themselves.
    low, high = in_python.rows[0].ci_low, in_python.rows[0].ci_high
    assert low is not None
    assert high is not None
    assert high - low < width


def test_a_pair_of_runs_that_cannot_be_compared_does_not_keep_others_from_it(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], stories260k: Path
) -> None:
    results, other = tmp_path / "results", tmp_path / "other.jsonl"
    other.write_bytes(file.read_bytes())
    for model in ("demo", str(stories260k)):
        words = ["score", "--model", model, "--no-cache", "--dataset"]
        by = ["--group-by", "kind"] * (model == "demo")
        for path, more in ((file, by), (other, [])):
            name = f"{path.stem}-{Path(model).name}"
            assert main([*words, str(path), *more, "--output", str(results / name)]) == 0
    capsys.readouterr()
    assert main(["compare", str(results)]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("· left out: ")
    assert 'scores by column (--group-by): ["kind"] and not set' in " ".join(printed.err.split())
    assert "other: stories260K against demo" in printed.out
    assert "mine" not in printed.out
    # What was named itself is an error, and so is a folder in which nothing can be compared.
    named = [str(results / f"mine-{name}") for name in ("demo", stories260k.name)]
    assert main(["compare", *named]) == 2
    assert "not comparable" in capsys.readouterr().err


def test_tuples_are_scored_as_the_same_pairs_of_a_file(file: Path) -> None:
    of_tuples, of_file = cg.score("demo", PAIRS), cg.score("demo", cg.load_pairs(file))
    assert isinstance(of_tuples, cg.Results)
    assert isinstance(of_file, cg.Results)
    assert of_tuples.rows[0].score == of_file.rows[0].score
    assert of_tuples.rows[0].n == len(PAIRS)


def test_pairs_that_are_repeated_say_no_more_than_once() -> None:
    once, often = cg.score("demo", PAIRS), cg.score("demo", PAIRS * 9)
    assert isinstance(once, cg.Results)
    assert isinstance(often, cg.Results)
    one, nine = once.rows[0], often.rows[0]
    assert (nine.n, nine.clusters) == (9 * len(PAIRS), len(PAIRS))
    assert (one.ci_low, one.ci_high) == (nine.ci_low, nine.ci_high)
    said = f"families of items that share text: pairs {len(PAIRS)} of {9 * len(PAIRS)} items"
    assert said in str(often)


def test_options_of_pairs_want_a_file_of_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--model", "demo", "--dataset", "x", "--cluster-by", "c"]) == 2
    assert "--cluster-by: only for a file of pairs" in capsys.readouterr().err
    assert main(["score", "--model", "demo", "--dataset", "x.csv", "--config", "c"]) == 2
    assert "--config: x.csv has none; expected a dataset with it" in capsys.readouterr().err
