"""Human scores by group, as the CD score is grouped; an item's verdict from those of its pairs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.toy import SUITE, SURE, WHY

from coherencegym.builders.judgement.figures import human_figures, human_scores, question_figures
from coherencegym.builders.judgement.match import COHERENT, INCOHERENT, JudgedPair, Vote, human_ok
from coherencegym.builders.judgement.pairs import ConditionPair
from coherencegym.eval.kinds.items import Condition, Item, Prediction, Region

CONFIG = SUITE.configs[0]


def judged(
    number: int, verdict: str | None, *groups: str, discourse: str = "", form: bool | None = True
) -> JudgedPair:
    """A pair about which one annotator was asked."""
    texts = f"good {number}", f"bad {number}"
    item = Item(
        item_id=f"d{number}/x",
        item_number=number,
        conditions=tuple(
            Condition(n, t, (Region(1, t),)) for n, t in zip(("a", "b"), texts, strict=True)
        ),
        predictions=(Prediction("(1;%b%) > (1;%a%)", "mean", groups),),
        discourse_id=discourse or f"d{number}",
        corpus="toy",
        extra={"moved": number % 2 == 0},
    )
    return JudgedPair(
        item, ConditionPair("a", "b", *texts, groups), (Vote("ann", True, form, verdict),)
    )


def test_the_score_of_all_and_by_column_are_over_the_headline() -> None:
    config = replace(CONFIG, headline="main", breakdowns=("moved",))
    made = [
        *(judged(i, INCOHERENT, "row", "main") for i in range(6)),
        *(judged(i, COHERENT, "row", "aside") for i in range(6, 10)),
        judged(10, None, "row", "main"),
    ]
    scores = {s["group"]: (s["n"], s["score"]) for s in human_scores(config, made)}
    assert scores == {
        "": (6, 1.0),
        "moved=true": (3, 1.0),
        "moved=false": (3, 1.0),
        "row": (10, 0.6),
        "main": (6, 1.0),
        "aside": (4, 0.0),
    }
    plain = {s["group"]: s["score"] for s in human_scores(replace(config, headline=""), made)}
    assert (plain[""], plain["moved=true"]) == (0.6, 0.6)


def test_pairs_of_one_discourse_are_not_independent() -> None:
    made = [judged(i, (INCOHERENT, COHERENT)[i % 3 > 1], discourse=f"d{i // 4}") for i in range(12)]
    (score,) = human_scores(CONFIG, made)
    assert (score["n"], score["n_discourses"]) == (12, 3)
    assert score["ci_high"] - score["ci_low"] > 0.8  # as of three, not of twelve


@pytest.mark.parametrize(
    ("verdict", "form", "ok"),
    [
        (INCOHERENT, True, True),
        (INCOHERENT, False, False),
        (COHERENT, True, False),
        ("cannot tell", True, False),
        (None, True, None),
        (INCOHERENT, None, None),
        (COHERENT, None, None),
    ],
)
def test_a_pair_is_ok_where_all_three_answers_are(
    verdict: str | None, form: bool | None, ok: bool | None
) -> None:
    one = judged(0, verdict, form=form)
    assert one.is_ok is ok
    assert human_ok([one]) is ok
    right, open_one = judged(0, INCOHERENT), judged(0, None)
    assert human_ok([right, one, open_one]) is (ok is not False)
    assert human_ok([]) is None


def test_annotators_of_form_alone_give_no_bound() -> None:
    figures = human_figures(CONFIG, [judged(i, None) for i in range(3)], ["f" * 64])
    assert figures["scores"] == []
    assert figures["pairs"] == 3
    assert figures["human_ok"]["null"] == 3


def said(number: int, *answers: str, question: str = "why") -> JudgedPair:
    """A pair to which annotators gave these answers (joined by spaces; empty: left open)."""
    votes = (
        Vote(f"ann{i}", True, True, INCOHERENT, {question: tuple(given.split())} if given else {})
        for i, given in enumerate(answers)
    )
    return replace(judged(number, None), votes=tuple(votes))


def test_answers_to_a_further_question_are_counted_each_by_itself() -> None:
    kinds = replace(WHY, answers=(("odd", "it is odd"), ("long", "it is long"), ("none", "-")))
    made = [
        said(0, "odd long", "odd", "long"),  # both have a majority
        said(1, "odd", "none"),  # neither has: half is not more than half
        said(2, "", "long", ""),  # one answer, which no other could agree with
        said(3, "none", "none", "none"),
        said(4, "", "", ""),  # not asked
    ]
    figures = question_figures(kinds, made)
    assert (figures["name"], figures["text"], figures["pairs"]) == ("why", "Why <so>?", 4)
    assert {value: answer["share"] for value, answer in figures["answers"].items()} == {
        "odd": 0.25,
        "long": 0.5,
        "none": 0.25,
    }
    assert {answer["units"] for answer in figures["answers"].values()} == {3}
    # odd, over pairs 0, 1 and 3: yes yes no, yes no, no no no. Of 8 values 3 are yes. Observed
    # disagreement (2 + 2) / 8, expected 2 * 3 * 5 / (8 * 7): alpha = 1 - (1/2) / (30/56).
    assert figures["answers"]["odd"]["alpha"] == round(1 - (1 / 2) / (30 / 56), 4)
    assert question_figures(SURE, made) == {}


def test_only_a_config_that_asks_reports_further_questions() -> None:
    made = [said(0, "odd", ""), said(1, "odd", "none")]
    plain = human_figures(CONFIG, made, [])
    assert "questions" not in plain
    asking = human_figures(replace(CONFIG, questions=(WHY, SURE)), made, [])
    assert asking["questions"] == [question_figures(WHY, made)]
    assert plain | {"questions": asking["questions"]} == asking


def test_an_answer_to_a_further_question_alone_is_a_vote_and_no_verdict() -> None:
    one = replace(judged(0, None), votes=(Vote("ann", None, None, None, {"why": ("odd",)}),))
    assert one.is_ok is None


def test_a_suite_has_each_question_once_and_no_two_of_one_name() -> None:
    first, second = (replace(CONFIG, name=name, questions=(WHY,)) for name in ("one", "two"))
    assert replace(SUITE, configs=(first, second)).questions == (WHY,)
    other = replace(second, questions=(replace(WHY, text="Why not?"),))
    with pytest.raises(ValueError, match="two different questions are called 'why'"):
        replace(SUITE, configs=(first, other))
