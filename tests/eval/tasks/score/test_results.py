"""What a reader of the scores is told beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from support.results import JudgedPrediction, made_scores

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.forward.trial import Trial
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.options import Options
from coherencegym.eval.tasks.score.report import score_notes
from coherencegym.eval.tasks.score.scored_table import ScoredItemTable
from coherencegym.eval.tasks.score.scoring import score_items
from coherencegym.eval.tasks.score.summary import summarise


def told(model: Any, tokenizer: Any, items: list[Item], **settings: Any) -> str:
    table = ItemTable("c", "test", tuple(items), "0", True, False)
    scored = score_items(model, tokenizer, items, Options(**settings))
    writer = OutcomeWriter()
    own = ScoredItemTable(table, writer)
    own.add(scored)
    notes = score_notes(summarise(writer.tables(), table), [own])
    return "\n".join(f"{note.kind}: {note}" for note in notes)


def test_what_was_left_out_or_cut_is_said_with_its_number(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer(eos=None)
    model = make_model("gpt2", tokenizer, n_positions=16)
    formula = "(2;%a%) > (2;%b%)"
    start = "The dog was sad. It was raining all day."
    items = [
        make_item({"a": ["Hi.", "No."], "b": ["No.", "No."]}, formula, item_id="d1/x"),
        make_item({"a": ["Hi.", "No."], "b": ["Hi.", "No."]}, formula, item_id="d2/x"),
        make_item({"a": ["Hi. [SEP]", "No."], "b": ["No.", "No."]}, formula, item_id="d3/x"),
        make_item({"a": ["a th", "e"], "b": ["a the", " dog"]}, formula, item_id="d4/x", joint=""),
        make_item({"a": [start, "Tim."], "b": [start, "Lily."]}, formula, item_id="d5/x"),
        make_item(
            {"a": ["a th", "e ball"], "b": ["a the", " dog"]}, formula, item_id="d6/x", joint=""
        ),
    ]
    text = told(model, tokenizer, items)
    assert "caution: undefined: 1, their conditions are the same tokens" in text
    assert "undefined: 1, this tokenizer has no separator" in text
    assert "caution: undefined: 2, a token crosses the edge of a compared region" in text
    assert "caution: too long: 1 for the model's context of 16 tokens" in text
    assert "caution: 2 tokens cross the edge of a compared region;" in text
    assert "cut to fit" not in text
    assert "†" not in text
    text = told(model, tokenizer, items, truncate=True)
    assert "too long" not in text
    assert "caution: cut to fit: 1," in text
    assert "families" not in text
    twins = [
        make_item({"a": ["Hi."], "b": ["No."]}, "(1;%a%) > (1;%b%)", item_id=f"d{i}/x", family="f")
        for i in range(2)
    ]
    assert "by families of items that share text: c 1 of 2 items" in told(model, tokenizer, twins)
    whole = make_item({"a": ["Hi."], "b": ["No."]}, "(1;%a%) > (1;%b%)")
    assert "† no start-of-text token" in told(model, tokenizer, [whole], bos="never")


def test_a_config_of_the_headline_of_which_nothing_was_scored_is_said(
    make_item: Callable[..., Item],
) -> None:
    item = make_item({"a": ["x"]}, "f")
    evaluated = [JudgedPrediction(item, "f", "mean", (), None, "too_long")]
    scores = made_scores(evaluated, config="c", split="test")
    scored = [
        ScoredItemTable(
            ItemTable("c", "test", (), "0", True, False, in_headline=in_headline), OutcomeWriter()
        )
        for in_headline in (True, False)
    ]
    said = [[str(note) for note in score_notes(scores, [one])] for one in scored]
    assert "not in the headline score, as no item could be scored: c" in said[0]
    assert not any("headline" in note for note in said[1])


def test_texts_that_are_not_read_together_are_said_in_one_line(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    tokenizer = make_tokenizer()
    item = make_item({"a": ["Hi."], "b": ["No."]}, "(1;%a%) > (1;%b%)")
    scored = score_items(make_model("gpt2", tokenizer), tokenizer, [item], Options())
    failed = [Trial(False, reason=f"reason {number}") for number in "12"]
    execution = replace(scored.execution, sharing=failed[0], beside=failed[1])
    own = ScoredItemTable(ItemTable("c", "test", (item,), "0", True, False), OutcomeWriter())
    for _ in range(2):
        own.add(replace(scored, execution=execution))
    (note,) = (note for note in score_notes([], [own]) if "slower" in str(note))
    assert note.kind == "detail"
    assert "its scores are not affected" in str(note)
    assert str(note).endswith("(docs/speed.md#shared-work; the trial: reason 1; reason 2)")
