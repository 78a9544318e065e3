"""The benchmarks' own code: that tools are asked for the same thing, and ratios mean what they say.

Speed is not asserted anywhere, and the other tools need not be installed.
"""

from __future__ import annotations

import io
import json
import math
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from benchmarks import data, measure, models, pipeline, table, worker
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Prediction, Region
from coherencegym.eval.plan.plan import default_budget, make_plan
from coherencegym.eval.text.masks import MaskedRow
from coherencegym.eval.text.sequence import TokenSequence

WORDS = ("because", "although", "while", "since", "as", "though", "yet")


def seven_conditions(number: int) -> Item:
    """The shape of a connective item."""
    before, after = f"Lily ran home {number} times,", "it was raining all day."
    return Item(
        f"d{number}/x",
        number,
        tuple(
            Condition(
                word,
                f"{before} {word} {after}",
                (Region(1, before), Region(2, word), Region(3, after)),
            )
            for word in WORDS
        ),
        tuple(Prediction(f"(3;%{word}%) > (3;%because%)", "mean") for word in WORDS[1:]),
        f"d{number}",
        "toy",
    )


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tokenizer")
    data.train_tokenizer(folder)
    return str(folder)


@pytest.fixture(scope="module")
def items_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("items") / "items.jsonl"
    data.write_items([seven_conditions(1), seven_conditions(2)], path)
    return path


def test_items_survive_the_way_to_another_process(items_file: Path) -> None:
    assert data.read_items(items_file) == [seven_conditions(1), seven_conditions(2)]


def test_texts_are_cut_before_the_white_space_of_the_region_read() -> None:
    first, second, *_ = data.texts(seven_conditions(1))
    assert first.before == "Lily ran home 1 times, because"
    assert first.read == " it was raining all day."
    assert second.whole == seven_conditions(1).conditions[1].content


def test_a_text_that_is_read_whole_has_nothing_before_it() -> None:
    item = Item("a", 1, (Condition("c", "All of it.", (Region(1, "All of it."),)),), (), "a", "toy")
    assert list(data.texts(item)) == [data.Text("", "All of it.")]


def test_context_before_an_item_changes_its_first_region_only() -> None:
    item = data._behind(seven_conditions(1), "It was late. ", 5)
    ITEMS.check(item)
    assert item.item_id == "d1/x/5"
    for condition, old in zip(item.conditions, seven_conditions(1).conditions, strict=True):
        assert condition.content == "It was late. " + old.content
        assert condition.regions[1:] == old.regions[1:]


def test_pairs_of_a_story_become_one_item_with_its_original_once() -> None:
    def pair(number: int) -> Item:
        regions = {"original": "A. B.", "shuffled": f"B. A{number}."}
        conditions = tuple(Condition(n, t, (Region(1, t),)) for n, t in regions.items())
        return Item(f"s/{number}", number, conditions, (), "s", "toy")

    item = data._together([pair(1), pair(2)])
    ITEMS.check(item)
    assert [c.content for c in item.conditions] == ["A. B.", "B. A1.", "B. A2."]
    assert [p.formula for p in item.predictions] == [
        "(1;%shuffled_1%) > (1;%original%)",
        "(1;%shuffled_2%) > (1;%original%)",
    ]


def test_shared_share_counts_common_beginnings_after_the_first(tokenizer: str) -> None:
    from transformers import AutoTokenizer

    found = table.shared_share([seven_conditions(1)], tokenizer)
    encode = AutoTokenizer.from_pretrained(tokenizer).encode
    alike = len(encode("Lily ran home 1 times,"))
    total = sum(len(encode(c.content)) for c in seven_conditions(1).conditions)
    assert found["tokens"] == total
    # " a" is the beginning of no other connective's token, but it may be of all; none here.
    assert found["shared"] == pytest.approx(6 * alike / total)


def test_floating_point_work_counts_matrices_attention_and_head() -> None:
    config = models.make_config("tiny")
    requests = [TokenSequence((0, 1, 2, 3, 4), (3, 4))]
    plan = make_plan(requests, default_budget("cpu"))
    # Four tokens are read; a layer has 12 x 32 x 32 weights; 1 + 2 + 3 + 4 are looked at.
    body = 2 * (2 * 12 * 32 * 32) * 4
    attention = 4 * 32 * 2 * 10
    head = 2 * 32 * 30000 * 2
    assert models.floating_point_work(config, plan) == body + attention + head


def test_what_is_shared_is_work_once() -> None:
    config = models.make_config("tiny")
    beginning = tuple(range(20))
    requests = [TokenSequence((*beginning, n, 7), (21,), family=0) for n in (30, 31, 32)]
    shared = make_plan(requests, default_budget("cpu"), sharing="packed")
    apart = make_plan(requests, default_budget("cpu"))
    difference = models.floating_point_work(config, apart) - models.floating_point_work(
        config, shared
    )
    # Twenty tokens and their attention among themselves, twice less.
    assert shared.tokens_once == apart.tokens_once - 40
    assert difference == 2 * (2 * (2 * 12 * 32 * 32) * 20 + 4 * 32 * 2 * 210)


def test_weights_depend_on_the_seed_alone() -> None:
    first, again, other = (models.make_model("tiny", seed=seed) for seed in (0, 0, 1))
    assert models.fingerprint(first) == models.fingerprint(again)
    assert models.fingerprint(first) != models.fingerprint(other)
    assert not first.training


def measured(tool: str, items_file: Path, tokenizer: str) -> dict[str, Any]:
    return worker.work(worker.Job(tool, str(items_file), tokenizer, shape="tiny", warm_up=0))


def test_a_run_gives_a_table_and_agrees_with_the_reference(
    items_file: Path, tokenizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The machine's rate is asked of for minutes, and asserted on nowhere.
    monkeypatch.setattr(measure, "multiply_rate", lambda device, dtype: 1.0)
    ours = measured("coherencegym", items_file, tokenizer)
    reference = measured("reference", items_file, tokenizer)
    assert len(ours["sums"]) == 14
    assert [len(row) for row in ours["tokens"]] == [len(row) for row in reference["tokens"]]
    assert measured("by_hand", items_file, tokenizer)["sums"] == pytest.approx(reference["sums"])
    # Another tool: twice the time, and wrong by a bit in one place.
    other = {**ours, "seconds": 2 * ours["seconds"], "tokens": None}
    other["sums"] = [ours["sums"][0] + 1.0, *ours["sums"][1:]]
    dataset: dict[str, Any] = {
        "rounds": [{"coherencegym": ours, "loglikelihood": other}],
        "reference": reference,
        "items": 2,
        **table.shared_share(data.read_items(items_file), tokenizer),
    }
    report = {
        "datasets": {"connectives": dataset},
        "machine": {"processor": "some", "cores": 2, "python": "3", "versions": {"torch": "2"}},
        "model": {"shape": "tiny", "device": "cpu", "dtype": "float32"},
        "settings": {"batch": 8, "tokenizer": "trained"},
    }
    table.summarise(report)
    summary = dataset["summary"]
    assert summary["coherencegym"]["ratios"] == [1.0]
    assert summary["coherencegym"]["error_bits_a_token"] < 1e-5
    assert summary["loglikelihood"]["ratios"] == [pytest.approx(2.0)]
    assert summary["loglikelihood"]["largest_difference_bits"] == pytest.approx(1.0)
    tokens = len(reference["tokens"][0])
    assert summary["loglikelihood"]["error_bits_a_token"] == pytest.approx(1 / tokens, rel=1e-3)
    text = io.StringIO()
    table.print_results(report, Console(file=text, width=160))
    assert "1.0e+00 DIFFERS" in text.getvalue()
    assert text.getvalue().count("DIFFERS") == 1
    assert "lm-evaluation-harness" in text.getvalue()
    assert "tokens read of" in text.getvalue()


def test_a_masked_model_is_read_by_all_of_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "multiply_rate", lambda device, dtype: 1.0)
    data.train_word_pieces(tmp_path)
    items = tmp_path / "items.jsonl"
    data.write_items([seven_conditions(1)], items)
    made = partial(worker.Job, data=str(items), tokenizer=str(tmp_path), shape="tiny-bert")
    ours, reference = (worker.work(made(tool, warm_up=0)) for tool in ("coherencegym", "reference"))
    assert ours["weights"] == reference["weights"]
    for own, expected in zip(ours["tokens"], reference["tokens"], strict=True):
        assert own == pytest.approx(expected, abs=1e-4)
    # A row of logits for each token that is read.
    assert ours["plan"]["head_rows"] == sum(map(len, reference["tokens"]))


def test_work_on_a_masked_text_counts_all_pairs_of_its_tokens() -> None:
    config = models.make_config("tiny-bert")
    row = MaskedRow((1,), 9, 1, (5,))
    plan = make_plan([TokenSequence((2, 5, 3), (), True, masked=row)], default_budget("cpu"))
    body = 2 * 2 * (4 * 32 * 32 + 2 * 32 * 64) * 3
    assert models.floating_point_work(config, plan) == body + 4 * 32 * 2 * 9 + 2 * 32 * 30522


def test_tools_with_other_weights_are_not_compared() -> None:
    report = {
        "datasets": {
            "x": {"rounds": [{"coherencegym": {"weights": "a"}}], "reference": {"weights": "b"}}
        }
    }
    with pytest.raises(ValueError, match="x: the tools had different weights"):
        table.summarise(report)


def test_the_model_is_left_out_of_the_pipeline() -> None:
    plan = make_plan([TokenSequence((0, 1, 2, 3), (2, 3))])
    execution = pipeline.without_model(SimpleNamespace(), plan, default_budget("cpu"), share=True)
    assert execution.plan.tokens_once == 3
    assert [len(bits) for bits in execution.bits] == [2]
    assert all(math.isfinite(value) and value >= 0 for value in execution.bits[0])


def test_retrieval_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import retrieval

    def run_here(command: list[str], **_: object) -> SimpleNamespace:
        # Imports take a process longer than all that is measured.
        assert command[1:3] == ["-m", "benchmarks.retrieval"]
        with redirect_stdout(io.StringIO()) as out:
            assert retrieval.main(command[3:]) == 0
        return SimpleNamespace(stdout=out.getvalue())

    monkeypatch.setattr(retrieval, "subprocess", SimpleNamespace(run=run_here))
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("memory is read from /proc")
    options = ["--documents", "40", "80", "--output", str(tmp_path / "r.json")]
    assert retrieval.main([*options, "--plot", str(tmp_path / "r.svg")]) == 0
    rows = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert [row["documents"] for row in rows] == [40, 80]
    assert all(0.2 < row["intruded"] < 0.8 and row["bare_cpu"] > 0 for row in rows)
    assert (tmp_path / "r.svg").read_text().startswith("<?xml")
    assert retrieval.synthetic(3) == retrieval.synthetic(3)


def test_the_coverage_of_intervals_is_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import coverage

    monkeypatch.setattr(coverage, "_MANY", 200)
    assert coverage.main(["--quick", "--runs", "4"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("## ") == 12
    lines = [line for line in printed.splitlines() if line.startswith("| 5 |")]
    # Each cell: what was before -> what is now, as coverage (mean width).
    assert all(" \u2192 " in line for line in lines)
    assert coverage.main(["--quick", "--runs", "4", "--only", "shares"]) == 0
    assert capsys.readouterr().out.strip() in printed


def test_tests_of_differences_are_counted() -> None:
    """Of ten of which none is worse, which is as likely as (10 / 11) ** 10, all signs are alike."""
    import numpy as np

    from benchmarks import coverage

    kind = coverage.TESTED["1 in 11 worse"]
    flips, now = coverage.of_tests(kind, 10, 300, np.random.default_rng(0))
    assert flips == pytest.approx((10 / 11) ** 10, abs=0.08)
    assert now <= 0.05


def test_coverage_is_that_of_the_intervals() -> None:
    """Of a binomial share: the probabilities of the outcomes whose interval holds it."""
    import numpy as np
    from scipy import stats

    from benchmarks import coverage

    found = coverage.of_shares(coverage.DESIGNS[0], 20, 0.9, 4000, np.random.default_rng(0))
    tests = [stats.binomtest(met, 20) for met in range(21)]
    for measured, method in ((found.now, "exact"), (found.before, "wilson")):
        known = [test.proportion_ci(method=method) for test in tests]
        held = [k for k, one in enumerate(known) if one.low <= 0.9 <= one.high]
        chances = stats.binom.pmf(range(21), 20, 0.9)
        assert measured[0] == pytest.approx(chances[held].sum(), abs=0.015)
        widths = np.array([one.high - one.low for one in known])
        assert measured[1] == pytest.approx((widths * chances).sum(), rel=0.02)
