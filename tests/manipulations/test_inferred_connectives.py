"""Connectives that are inferred from relations, in Dutch and Chinese."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from coherencegym.builders.discourse.inferred_connectives import around_connectives
from coherencegym.loaders.discourse import Discourse, ParsedWord, Relation, Unit, undo
from coherencegym.manipulations.connectives.inferred_connectives import (
    InferredConnectiveSegments,
    InferredConnectiveSubstitution,
    connective_of,
    connective_places,
    fitting_connectives,
)
from coherencegym.manipulations.operator import Context
from coherencegym.words import join_texts


def discourse(language: str, relation: str, *sentences: str) -> Discourse:
    """A text of words with parts of speech, ``|`` between the two units of its relation.

    ``hij:nsubj`` is a subject, ``kwam*`` a verb.
    """
    units, parts = [], list[tuple[int, int, int]]()
    for number, sentence in enumerate(sentences):
        text, words, cut = "", [], None
        for token in sentence.split():
            if token == "|":
                cut = len(text)
                continue
            form = re.sub(r"\*|:nsubj", "", token)
            touches = language == "zh" or form in ".,"
            text += "" if touches or not text else " "
            words.append(
                ParsedWord(
                    *(len(text), len(text) + len(form), form),
                    "VERB" if "*" in token else "PUNCT" if form in "，。,." else "NOUN",
                    "VerbForm=Fin" if "*" in token else "",
                    "nsubj" if ":nsubj" in token else "obj",
                    None,
                )
            )
            text += form
        if cut is not None:
            start = cut + (language != "zh")
            parts += [(number, 0, cut), (number, start, len(text))]
        elif len(sentences) == 2:
            parts.append((number, 0, len(text)))
        units.append(Unit(text, words=tuple(words)))
    relations = (Relation("None", None, (parts[0],), (parts[1],), ("x",), relation),)
    meta = {"language": language, "dataset": "x"}
    return Discourse("d", "disrpt", tuple(units), relations=relations, meta=meta)


def segment(language: str, relation: str, *sentences: str) -> tuple[Discourse | None, str]:
    context = Context(0, "connectives")
    made = list(InferredConnectiveSegments()(discourse(language, relation, *sentences), context))
    return (made[0] if made else None), "; ".join(context.skipped)


def replaced(of: Discourse) -> Discourse:
    (made,) = InferredConnectiveSubstitution()(of, Context(0, "connectives"))
    return made


def test_a_contrast_becomes_a_cause_of_the_same_syntax() -> None:
    found, _ = segment("nl", "contrast", "Het:nsubj regende* , | maar hij:nsubj bleef* buiten .")
    assert found is not None
    assert fitting_connectives(found) == ["dus", "want"]
    other = replaced(found)
    assert around_connectives(found)[0] == around_connectives(other)[0] == "Het regende,"
    assert around_connectives(other)[1] in ("dus", "want")
    assert around_connectives(found)[2:] == around_connectives(other)[2:]
    assert undo(other) == found.texts


def test_behind_an_adverb_stands_the_verb() -> None:
    found, _ = segment("nl", "causal", "Het:nsubj regende* .", "Dus bleef* hij:nsubj binnen .")
    assert found is not None
    assert fitting_connectives(found) == ["desondanks", "niettemin", "toch"]
    found, _ = segment("nl", "causal", "Het:nsubj regende* .", "Dus hij:nsubj bleef* binnen .")
    assert found is not None
    assert fitting_connectives(found) == ["maar"]
    assert replaced(found).texts[-1] == "Maar hij bleef binnen."


def test_of_a_pair_both_words_are_replaced() -> None:
    found, _ = segment("zh", "concession", "虽然 天气:nsubj 不好* ， | 但是 他们:nsubj 去* 了 。")
    assert found is not None
    assert [found.text[start:end] for _, start, end in connective_places(found)] == [
        "虽然",
        "但是",
    ]
    other = replaced(found)
    assert other.text in ("因为天气不好，所以他们去了。", "由于天气不好，所以他们去了。")
    assert [other.text[start:end] for _, start, end in connective_places(other)] == [
        connective_of(other),
        "所以",
    ]
    for one in (found, other):
        assert join_texts(around_connectives(one)) == one.text
    assert undo(other) == found.texts


def test_a_word_in_two_pieces_is_one_connective() -> None:
    found, _ = segment("zh", "causal", "天气:nsubj 不好* ， | 因 此 ， 他们:nsubj 没* 去 散步 。")
    assert found is not None
    assert connective_of(found) == "因此"
    # Before a comma stand words that may pause.
    assert fitting_connectives(found) == ["不过", "但是", "可是", "然而"]
    found, _ = segment("zh", "causal", "天气:nsubj 不好* ， | 因此 他们:nsubj 没* 去 公园 散步 。")
    assert found is not None
    assert fitting_connectives(found) == ["不过", "但", "但是", "可是", "然而"]


def test_a_condition_becomes_a_contrast_and_nothing_becomes_a_condition() -> None:
    found, _ = segment("zh", "condition", "如果 天气:nsubj 好* ， | 我们:nsubj 去* 公园 。")
    assert found is not None
    # 虽然 stands only with a second word.
    assert fitting_connectives(found) == ["尽管"]
    found, _ = segment("zh", "causal", "因为 天气:nsubj 不好* ， | 所以 我们:nsubj 没* 去 公园 。")
    assert found is not None
    assert fitting_connectives(found) == ["尽管", "虽然"]
    found, _ = segment("zh", "concession", "虽然 天气:nsubj 好* ， | 我们:nsubj 没* 去 公园 。")
    assert found is not None
    assert fitting_connectives(found) == ["因为", "由于"]


def test_a_connective_stands_before_all_that_it_joins() -> None:
    text = discourse("zh", "causal", "天气:nsubj 不好* 。", "因此 出门* 之前 ， 要* 带* 雨伞 。")
    (cause,) = text.relations
    before, after = ((1, 0, 7),), ((1, 7, 12),)
    time = replace(cause, arg1=before, arg2=after, unified="temporal")
    text = replace(text, relations=(time, replace(cause, arg2=after)))
    (found,) = InferredConnectiveSegments()(text, Context(0, "connectives"))
    assert (connective_of(found), found.relations[0].unified) == ("因此", "causal")
    assert found.texts == text.texts
    # Of a relation to what follows only a subordinator speaks.
    text = replace(text, relations=(replace(time, unified="causal"),))
    assert list(InferredConnectiveSegments()(text, Context(0, "connectives"))) == []


@pytest.mark.parametrize(
    ("relation", "sentences", "reason"),
    [
        ("elaboration", ["Het:nsubj regende* , | maar hij:nsubj bleef* ."], "does not say"),
        ("contrast", ["Het:nsubj regende* , | maar niet hard vandaag ."], "no whole clause"),
        ("contrast", ["Het:nsubj regende* , | maar bleef* droog en warm ."], "no whole clause"),
        ("causal", ["Omdat het:nsubj regende* .", "Hij:nsubj bleef* thuis ."], "main sentence"),
    ],
)
def test_what_is_left_out_and_why(relation: str, sentences: list[str], reason: str) -> None:
    found, skipped = segment("nl", relation, *sentences)
    assert found is None
    assert reason in skipped


def test_a_finite_verb_behind_a_subordinator_makes_it_an_adverb() -> None:
    text = "Viele:nsubj kaufen* Autos . | Da {} die Industrie:nsubj {} ."
    assert segment("de", "causal", text.format("", "boomt*"))[0] is not None
    assert segment("de", "causal", text.format("boomt*", ""))[0] is None


@pytest.mark.parametrize(
    ("relation", "sentence", "reason"),
    [
        ("contrast", "不是 茶:nsubj ， | 而 是* 水 和 杯子 ， 杯子 是* 空 的 。", "a fixed phrase"),
        ("condition", "如果 天气:nsubj 好* ， | 我们:nsubj 就 去* 公园 。", "inside its clause"),
        ("condition", "如果 天气:nsubj 好* 的 话 ， | 我们:nsubj 去* 公园 。", "inside its clause"),
        ("concession", "虽然 天气:nsubj 好* ， | 我们:nsubj 却 没* 去 。", "inside its clause"),
        (
            "concession",
            "天气:nsubj 好* ， | 但是 我们:nsubj 仍然 没* 去 公园 散步 。",
            "inside its clause",
        ),
        (
            "concession",
            "虽然 天气:nsubj 好* ， | 但是 我们:nsubj 却 没* 去 公园 。",
            "more than one",
        ),
    ],
)
def test_what_is_left_out_in_chinese(relation: str, sentence: str, reason: str) -> None:
    found, skipped = segment("zh", relation, sentence)
    assert found is None
    assert reason in skipped
