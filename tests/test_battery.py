"""``coherencegym check``: the battery in the package, and its screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coherencegym as cg
from coherencegym.__main__ import main
from coherencegym.battery import (
    ABOVE,
    AT,
    BATTERY,
    BELOW,
    FEWEST_ITEMS,
    TOO_FEW,
    Check,
    CheckedPhenomenon,
    phenomena,
)
from coherencegym.eval.kinds.items import ITEMS, contrasted
from coherencegym.eval.statistics.balance import balanced
from coherencegym.eval.statistics.control import CONTROLLED, LEAKS, TOO_SMALL, UNCONTROLLED
from coherencegym.eval.statistics.surface import surface_differences
from coherencegym.files.parquet import parquet_rows
from coherencegym.licence import may_republish

SHIPPED = [each for each in phenomena() if each.rows]


def checked(score: float, low: float, high: float, items: float = 200.0) -> CheckedPhenomenon:
    return CheckedPhenomenon("some/model", "story ending", score, low, high, items)


@pytest.mark.parametrize("each", SHIPPED, ids=lambda each: each.name)
def test_rows_of_the_battery_are_balanced_and_enough(each: object) -> None:
    rows = parquet_rows(BATTERY / getattr(each, "rows"))  # noqa: B009
    items = [ITEMS.from_row(row) for row in rows]
    balance = balanced(surface_differences([contrasted(item) for item in items]))
    assert balance.feasible
    assert balance.effective >= FEWEST_ITEMS


def test_the_battery_is_small_and_says_whose_it_is() -> None:
    files = {path.name for path in BATTERY.glob("*.parquet")}
    assert files == {each.rows for each in SHIPPED}
    assert sum(path.stat().st_size for path in BATTERY.iterdir()) < 3_000_000
    sources = (BATTERY / "SOURCES.md").read_text(encoding="utf-8").splitlines()
    lines = {line.split(" | ")[0].strip("| "): line for line in sources if line.startswith("| ")}
    for each in SHIPPED:
        licences = lines[each.name].split(" | ")[3].strip(" |").split(", ")
        assert all(may_republish(licence.split(" (")[0]) for licence in licences)
    assert len({each.name for each in phenomena()}) == len(phenomena())


@pytest.mark.parametrize(
    ("row", "word"),
    [
        (checked(0.6, 0.51, 0.69), ABOVE),
        (checked(0.4, 0.31, 0.49), BELOW),
        (checked(0.6, 0.5, 0.7), AT),
        (checked(0.9, 0.8, 1.0, 99), TOO_FEW),
        (CheckedPhenomenon("m", "p", needs="x"), ""),
    ],
)
def test_the_word_is_what_the_interval_says(row: CheckedPhenomenon, word: str) -> None:
    assert row.word == word


def test_the_screen_has_room_for_all_that_may_be_said() -> None:
    names = [each.name for each in phenomena()]
    rows = [CheckedPhenomenon("m" * 60, name, 1.0, 1.0, 1.0, 98_765) for name in names[:-2]]
    rows += [CheckedPhenomenon("m" * 60, names[-2], 0.0, 0.0, 0.0, 1)]
    rows += [CheckedPhenomenon("m" * 60, names[-1], needs="--data-dir with c")]
    screen = str(Check(rows)).splitlines()
    assert len(screen) <= 24
    assert max(map(len, screen)) <= 80
    assert screen[-1] == f"without a score ({names[-1]}: --data-dir with c)"
    said = " ".join(" ".join(screen).split())
    assert f"notices incoherence of {len(names) - 2} in {len(names) - 2} kinds" in said


def test_the_demo_model_is_asked_all_that_ships(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", "demo", "--limit", "150", "--json"]) == 0
    rows = {row["phenomenon"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == [each.name for each in phenomena()]
    for each in phenomena():
        row = rows[each.name]
        assert bool(row["needs"]) == (row["score"] is None)
        assert (row["score"] is not None) <= bool(each.rows)
    (reference,) = [each for each in SHIPPED if each.name == "reference"]
    alone = cg.score("demo", parquet_rows(BATTERY / reference.rows)[:150])
    assert isinstance(alone, cg.Results)
    (score, *_) = cg.rows(alone, "scores")
    assert rows["reference"]["score"] == score["controlled_score"]
    assert rows["reference"]["effective_items"] == score["effective_items"]
    assert not list(tmp_path.iterdir())


def test_what_does_not_ship_is_built_from_files_at_hand(tmp_path: Path) -> None:
    (tmp_path / "winograd").mkdir()
    said: list[str] = []
    rows = cg.check("demo", data_dir=tmp_path, limit=5, say=said.append)
    found = {row.phenomenon: row for row in rows}
    assert found["reply"].needs == "--data-dir with irc"
    asked = (name for name, row in found.items() if not row.needs.startswith("--data-dir"))
    assert said == ["demo: loading", *(f"demo: {name}, 5 items" for name in asked)]


def test_a_model_in_memory_has_a_name_and_no_model_is_an_error() -> None:
    loaded = cg.load_model("demo")
    named = {row.model for row in cg.check((loaded.model, loaded.tokenizer), limit=2)}
    assert len(named) == 1
    assert len(named.pop().splitlines()) == 1
    with pytest.raises(cg.EvaluationError, match="check: no model; expected at least one"):
        cg.check([])


def test_texts_that_are_too_long_are_counted() -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = cg.load_model("demo").tokenizer
    small = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 1}
    config = LlamaConfig(
        vocab_size=len(tokenizer), num_hidden_layers=1, max_position_embeddings=40, **small
    )
    rows = cg.check((LlamaForCausalLM(config).eval(), tokenizer))
    found = {row.phenomenon: row for row in rows}
    assert found["order"].too_long
    assert f"{found['order'].too_long:,} " in str(rows).replace("are too long", "too long")
    assert "too long" in str(rows)


def test_a_folder_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo", "--data-dir", "no/such/folder"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no/such/folder: no such folder; expected one with corpus files" in line


def test_a_broken_corpus_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    (tmp_path / "irc").mkdir()
    (tmp_path / "irc" / "2004-11-15_03.raw.txt").write_text("nothing\n")
    (tmp_path / "irc" / "2004-11-15_03.annotation.txt").write_text("no numbers\n")
    found = {row.phenomenon: row for row in cg.check("demo", data_dir=tmp_path, limit=5)}
    assert "2004-11-15_03" in found["reply"].needs
    assert "\n" not in found["reply"].needs


@pytest.mark.parametrize(
    ("word", "needs"),
    [
        (CONTROLLED, ""),
        (TOO_SMALL, ""),
        (LEAKS, "leaks (n-grams 70.0 [60.0, 80.0])"),
        (UNCONTROLLED, "cannot be controlled (shared words)"),
    ],
)
def test_a_config_whose_surface_gives_it_away_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, needs: str
) -> None:
    control = {"word": word, "by": "n-grams", "score": 0.7, "ci_low": 0.6, "ci_high": 0.8}
    control |= {"cue": "shared words", "effective_items": 10, "needed": 250}
    configs = {"irc_crossed": {"quality": {"test": {"control": control}}}}
    (tmp_path / "manifest.json").write_text(json.dumps({"configs": configs}))
    path = tmp_path / "data" / "irc_crossed" / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes((BATTERY / SHIPPED[0].rows).read_bytes())
    monkeypatch.setattr("coherencegym.battery.built", lambda *how: [path])
    monkeypatch.setattr("coherencegym.loaders.read.find", lambda *how: None)
    found = {row.phenomenon: row for row in cg.check("demo", data_dir=tmp_path, limit=60)}
    assert found["reply"].needs == needs
    assert (found["reply"].score is None) == bool(needs)


def test_a_model_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "no/such-model-here"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
