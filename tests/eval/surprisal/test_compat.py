"""``--compat syntaxgym-2021``: each row of the README's table, in both modes.

Expected values are computed here, one whole sequence at a time, from the model's full softmax.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from support.results import JudgedPrediction, judged_predictions

from coherencegym.command_line import flag_of
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import TIE_BITS, Condition, Item, Prediction, Region
from coherencegym.eval.plan.options import DEFAULT, MODES, SYNTAXGYM_2021, Options, Rules
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.tasks.score.scoring import region_value, score_items
from coherencegym.eval.text.encode import SPECIAL


def template(tokenizer: Any, text: str = "<s> $A </s>") -> Any:
    """The tokenizer, adding tokens by itself."""
    from tokenizers.processors import TemplateProcessing

    special = [(name, tokenizer.convert_tokens_to_ids(name)) for name in ("<s>", "</s>")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=text, special_tokens=special
    )
    return tokenizer


@pytest.fixture
def plain(make_tokenizer: Callable[..., Any]) -> Any:
    """A tokenizer that has a BOS token and does not add it, as GPT-2's."""
    return make_tokenizer()


@pytest.fixture
def adding(make_tokenizer: Callable[..., Any]) -> Any:
    """A tokenizer that puts a token before and one after every text."""
    return template(make_tokenizer())


@pytest.fixture
def model(make_model: Callable[..., Any], plain: Any) -> Any:
    return make_model("gpt2", plain)


def surprisals(model: Any, ids: list[int]) -> list[float]:
    """-log2 p of each token; 0 for the first."""
    import torch

    with torch.inference_mode():
        logs = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0].double(), dim=-1)
    return [0.0, *(-float(logs[p - 1, ids[p]]) / math.log(2) for p in range(1, len(ids)))]


def ids_of(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def condition(
    model: Any, tokenizer: Any, item: Item, rules: Rules, name: str = "a"
) -> ScoredCondition:
    return score_items(model, tokenizer, [item], Options(rules=rules)).items[0].conditions[name]


def evaluate(model: Any, tokenizer: Any, item: Item, rules: Rules) -> list[JudgedPrediction]:
    scored = score_items(model, tokenizer, [item], Options(rules=rules))
    return list(judged_predictions(scored.items[0], rules))


# ---------------------------------------------------------------- one test for each row


def check_text(model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]) -> None:
    regions = (Region(1, "Tim ran"), Region(2, ", then"), Region(3, ""), Region(4, " sat."))
    exact = Condition("a", "Tim ran, then  sat.", regions)
    item = Item("d/x", 1, (exact,), (Prediction("(*;%a%) > 0", "sum"),), "d", "toy")
    found = condition(model, plain, item, DEFAULT)
    assert list(found.encoding.ids[1:]) == ids_of(plain, "Tim ran, then  sat.")
    found = condition(model, plain, item, SYNTAXGYM_2021)
    assert list(found.encoding.ids) == ids_of(plain, "Tim ran , then sat.")
    scored = score_items(model, plain, [item], Options(rules=SYNTAXGYM_2021)).items[0].item
    assert scored.condition("a").content == "Tim ran , then sat."


def check_separator(model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["Hi. [SEP]", "Tim ran."]}, "(*;%a%) > 0")
    default = condition(model, plain, item, DEFAULT).encoding
    place = default.ids.index(plain.eos_token_id)
    assert default.regions[place] == SPECIAL
    literal = condition(model, plain, item, SYNTAXGYM_2021).encoding
    assert list(literal.ids) == ids_of(plain, "Hi. [SEP] Tim ran.")
    assert plain.eos_token_id not in literal.ids
    assert literal.regions == (1,) * len(ids_of(plain, "Hi. [SEP]")) + (2,) * len(
        ids_of(plain, " Tim ran.")
    )


def check_start(model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["Tim ran.", "He sat."]}, "(*;%a%) > 0")
    ids = ids_of(plain, "Tim ran. He sat.")
    assert list(condition(model, plain, item, DEFAULT).encoding.ids) == [plain.bos_token_id, *ids]
    assert list(condition(model, plain, item, SYNTAXGYM_2021).encoding.ids) == ids
    found = condition(model, adding, item, SYNTAXGYM_2021).encoding.ids
    assert list(found) == [adding.bos_token_id, *ids, adding.eos_token_id]


def check_first(model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["Tim ran.", "He sat."]}, "(1;%a%) > 0")
    first = len(ids_of(plain, "Tim ran."))
    bits = surprisals(model, ids_of(plain, "Tim ran. He sat."))[:first]
    found = condition(model, plain, item, SYNTAXGYM_2021)
    assert found.region_bits(1)[0] == 0.0
    assert region_value(found, 1, "sum") == pytest.approx(sum(bits), abs=1e-4)
    assert region_value(found, 1, "mean") == pytest.approx(sum(bits) / first, abs=1e-4)
    assert not found.leaves_out_first(1)
    (never,) = score_items(model, plain, [item], Options(bos="never")).items
    assert len(never.conditions["a"].region_bits(1)) == first - 1
    assert region_value(never.conditions["a"], 1, "mean") == pytest.approx(
        sum(bits) / (first - 1), abs=1e-4
    )
    # Only where the first token is read: the other region is as it is.
    other = make_item({"a": ["Tim ran.", "He sat."]}, "(2;%a%) > 0")
    assert math.isnan(condition(model, plain, other, SYNTAXGYM_2021).bits[0])


def check_added(model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["Tim ran.", "He sat."]}, "(*;%a%) > 0", metric="sum")
    inner = ids_of(adding, "Tim ran. He sat.")
    first = len(ids_of(adding, "Tim ran."))
    bits = surprisals(model, [adding.bos_token_id, *inner, adding.eos_token_id])
    found = condition(model, adding, item, SYNTAXGYM_2021)
    assert found.encoding.regions == (1,) * (first + 1) + (2,) * (len(inner) - first + 1)
    assert region_value(found, 1, "sum") == pytest.approx(sum(bits[: first + 1]), abs=1e-4)
    assert region_value(found, 2, "sum") == pytest.approx(sum(bits[first + 1 :]), abs=1e-4)
    assert region_value(found, 1, "mean") == pytest.approx(
        sum(bits[: first + 1]) / (first + 1), abs=1e-4
    )
    # By default the tokenizer is told to add nothing, and the start token is in no region.
    default = condition(model, adding, item, DEFAULT)
    assert list(default.encoding.ids) == [adding.bos_token_id, *inner]
    assert default.encoding.regions[0] == SPECIAL
    assert region_value(default, 1, "mean") == pytest.approx(
        sum(bits[1 : first + 1]) / first, abs=1e-4
    )


def check_whole(model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["Tim", "ran to the park."]}, "(*;%a%) > 0", metric="mean")
    for rules in (DEFAULT, SYNTAXGYM_2021):
        found = condition(model, plain, item, rules)
        means = [region_value(found, number, "mean") for number in (1, 2)]
        (prediction,) = evaluate(model, plain, item, rules)
        assert prediction.outcome is not None
        whole = found.region_bits("*").mean()
        expected = whole if rules is DEFAULT else sum(mean for mean in means if mean is not None)
        assert prediction.outcome.margin == pytest.approx(expected)
        assert abs(whole - sum(mean or 0.0 for mean in means)) > 0.1
    # A region without a mean leaves the sum of means without a value; a sum of sums has one.
    for metric, reasons in (("mean", ["empty"]), ("sum", [""])):
        item = make_item({"a": ["Tim", "", "ran."]}, "(*;%a%) > 0", metric=metric)
        assert [j.reason for j in evaluate(model, plain, item, SYNTAXGYM_2021)] == reasons
        assert [j.reason for j in evaluate(model, plain, item, DEFAULT)] == [""]


def check_identical(model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]) -> None:
    item = make_item(
        {"a": ["Tim", "ran."], "b": ["Tim", "ran."]},
        "(2;%a%) > (2;%b%)",
        "(2;%a%) < (2;%b%)",
        "(2;%a%) = (2;%b%)",
    )
    assert [j.reason for j in evaluate(model, plain, item, DEFAULT)] == ["identical"] * 3
    outcomes = [j.outcome for j in evaluate(model, plain, item, SYNTAXGYM_2021)]
    assert [outcome and outcome.met for outcome in outcomes] == [False, False, True]


def check_tie(model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]) -> None:
    item = make_item({"a": ["Tim", "ran."]}, "(2;%a%) > 0", metric="sum")
    found = [region_value(condition(model, plain, item, r), 2, "sum") for r in (DEFAULT, Rules())]
    assert found[0] == found[1]
    for rules, expected in ((DEFAULT, (False, True)), (SYNTAXGYM_2021, (True, False))):
        value = region_value(condition(model, plain, item, rules), 2, "sum")
        assert value is not None
        near = make_item({"a": ["Tim", "ran."]}, f"(2;%a%) > {value - 5e-5:.9f}", metric="sum")
        (prediction,) = evaluate(model, plain, near, rules)
        assert prediction.outcome is not None
        assert (prediction.outcome.met, prediction.outcome.tie) == expected


CHECKS = {
    "text of a condition": check_text,
    "`[SEP]`": check_separator,
    "start token": check_start,
    "first token of a text without a start token": check_first,
    "start and end tokens that the tokenizer adds": check_added,
    "`*` (all regions) in a formula": check_whole,
    "conditions with identical tokens": check_identical,
    "`>` and `<`": check_tie,
}


@pytest.mark.parametrize("row", CHECKS)
def test_each_row_says_what_both_modes_do(
    row: str, model: Any, plain: Any, adding: Any, make_item: Callable[..., Item]
) -> None:
    CHECKS[row](model, plain, adding, make_item)


def test_the_readme_has_the_table_and_nothing_in_it_that_the_code_has_not(
    repository: Path,
) -> None:
    text = (repository / "docs" / "comparing.md").read_text(encoding="utf-8")
    head = "| setting | default | `syntaxgym-2021` | reason for the default |\n|---|---|---|---|\n"
    assert head in text
    table = text.split(head)[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    assert [what for what, *_ in rows] == list(CHECKS)
    assert all(len(row) == 4 for row in rows)
    assert f"a difference up to {TIE_BITS:g} bits is a tie" in table


def test_the_mode_departs_from_the_default_in_everything() -> None:
    for field in fields(Rules):
        assert getattr(SYNTAXGYM_2021, field.name) != getattr(DEFAULT, field.name)
    assert MODES == {"syntaxgym-2021": SYNTAXGYM_2021}


# ---------------------------------------------------------------- around them


def test_end_tokens_go_to_the_last_region_even_if_it_is_empty(
    model: Any, adding: Any, make_item: Callable[..., Item]
) -> None:
    item = make_item({"a": ["", "ran.", ""]}, "(*;%a%) > 0", metric="sum")
    regions = condition(model, adding, item, SYNTAXGYM_2021).encoding.regions
    assert (regions[0], set(regions[1:-1]), regions[-1]) == (1, {2}, 3)


def test_a_tokenizer_that_adds_only_a_start_token(
    model: Any, make_tokenizer: Callable[..., Any], make_item: Callable[..., Item]
) -> None:
    tokenizer = template(make_tokenizer(), "<s> $A")
    item = make_item({"a": ["Tim", "ran."]}, "(*;%a%) > 0")
    scored = score_items(model, tokenizer, [item], Options(rules=SYNTAXGYM_2021))
    added = scored.rendering.added
    assert added is not None
    assert (added.before, added.after) == ((tokenizer.bos_token_id,), ())
    assert scored.rendering.start.token_id is None


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("bos", "never"),
        ("separator", "none"),
        ("truncate", True),
        ("word_correction", True),
        ("special_tokens", True),
    ],
)
def test_options_that_the_mode_fixes_are_refused(
    option: str, value: Any, model: Any, plain: Any, make_item: Callable[..., Item]
) -> None:
    item = make_item({"a": ["Tim", "ran."]}, "(*;%a%) > 0")
    options = Options(**{option: value}, rules=SYNTAXGYM_2021)
    with pytest.raises(EvaluationError, match=f"{flag_of(option)} and --compat syntaxgym-2021"):
        score_items(model, plain, [item], options)


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory,
    make_tokenizer: Callable[..., Any],
    save_model: Callable[..., Path],
    make_item: Callable[..., Item],
    write_dataset: Callable[..., Path],
) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    save_model(folder / "model", tokenizer=template(make_tokenizer()))
    item = make_item(
        {
            "a": ["Hi. [SEP]", "Tim ran."],
            "b": ["No. [SEP]", "Tim ran."],
            "c": ["Hi. [SEP]", "Tim ran."],
        },
        "(2;%a%) > (2;%b%)",
        "(2;%a%) = (2;%c%)",
    )
    write_dataset(folder / "data", [item], separator=True)
    return folder


def arguments(saved: Path, output: Path, *more: str) -> list[str]:
    words = ["--model", str(saved / "model"), "--dataset", str(saved / "data")]
    return [*words, "--device", "cpu", "--output", str(output), *more]


def test_the_mode_is_in_the_signature_and_the_results(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(saved, tmp_path / "a", "--compat", "syntaxgym-2021", "--verbose")) == 0
    printed = capsys.readouterr().out
    assert "scored as the published numbers were, and comparable" in printed
    results = json.loads((tmp_path / "a" / "results.json").read_text())
    assert "|compat:syntaxgym-2021|bos:tokenizer=0,end=1|" in results["signature"]
    assert "|tie:0.0|" in results["signature"]
    assert "|sep:" not in results["signature"]
    assert results["settings"]["compat"] == "syntaxgym-2021"
    # Two of the conditions are the same tokens: evaluated in this mode, left out by default.
    same = [s for s in results["scores"] if s["formula"] == "(2;%a%) = (2;%c%)"]
    assert [(score["n"], score["score"], score["counts"]) for score in same] == [(1, 1, {})]
    assert results["settings"]["rules"]["first_token_is_zero"] is True
    assert results["settings"]["added_tokens"] == {
        "before": [0],
        "after": [1],
        "counts": True,
    }
    assert main(arguments(saved, tmp_path / "b", "--verbose")) == 0
    printed = capsys.readouterr().out
    assert "comparable" not in printed
    results = json.loads((tmp_path / "b" / "results.json").read_text())
    assert "compat" not in results["signature"]
    assert "|sep:auto=1|" in results["signature"]
    assert results["settings"]["compat"] is None
    same = [s for s in results["scores"] if s["formula"] == "(2;%a%) = (2;%c%)"]
    assert [(score["n"], score["counts"]) for score in same] == [(0, {"identical": 1})]


def test_other_number_formats_are_not_called_comparable(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--compat", "syntaxgym-2021", "--dtype", "bfloat16", "--verbose"]
    assert main(arguments(saved, tmp_path / "a", *more)) == 0
    printed = capsys.readouterr().out
    assert "but in bfloat16, not in float32" in printed
    assert "comparable" not in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--compat", "syntaxgym-2021", "--bos", "always"], "--bos and --compat syntaxgym-2021"),
        (["--compat", "syntaxgym-2021", "--truncate"], "--truncate and --compat"),
        (["--compat", "syntaxgym-2021", "--separator", "none"], "--separator and --compat"),
    ],
)
def test_a_contradiction_is_one_line(
    words: list[str],
    message: str,
    saved: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(arguments(saved, tmp_path / "out", *words)) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
