"""What senses mean, and which connective can carry which."""

from __future__ import annotations

import pytest

from coherencegym.loaders.corpora.pdtb import DISCO_SENSES
from coherencegym.loaders.senses import (
    CONNECTIVES,
    MEANINGS,
    Meaning,
    UnknownSenseError,
    beside,
    carries,
    meaning_of,
)


@pytest.mark.parametrize(
    ("scheme", "sense", "meanings", "time"),
    [
        ("pdtb3", "Comparison.Concession.Arg1-as-denier", ("concession",), ""),
        ("pdtb3", "Comparison.Contrast", ("contrast",), ""),
        ("pdtb3", "Contingency.Cause.Reason", ("causal",), ""),
        ("pdtb3", "Contingency.Cause.Result", ("result",), ""),
        ("pdtb3", "Contingency.Cause+Belief.Result+Belief", ("result",), ""),
        ("pdtb3", "Expansion.Substitution.Arg2-as-subst", ("substitution",), ""),
        ("pdtb2", "Expansion.Instantiation", ("instance",), ""),
        ("pdtb3", "Contingency.Cause+SpeechAct.Reason+SpeechAct", ("causal",), ""),
        ("pdtb3", "Contingency.Condition.Arg2-as-cond", ("condition",), ""),
        ("pdtb3", "Contingency.Purpose.Arg2-as-goal", ("other",), ""),
        ("pdtb3", "Temporal.Synchronous", ("temporal",), "during"),
        ("pdtb3", "Temporal.Asynchronous.Succession", ("temporal",), "apart"),
        ("pdtb2", "Comparison.Pragmatic contrast", ("contrast",), ""),
        ("pdtb2", "Contingency.Pragmatic cause.Justification", ("causal",), ""),
        ("pdtb2", "Temporal.Synchrony", ("temporal",), "during"),
        ("pdtb2", "Expansion.Conjunction", ("other",), ""),
        ("disco", "temporal-causal", ("temporal", "causal"), ""),
        ("disco", "prep", ("other",), ""),
    ],
)
def test_meaning(scheme: str, sense: str, meanings: tuple[str, ...], time: str) -> None:
    assert meaning_of(scheme, sense) == Meaning(meanings, time)


def test_time_follows_from_the_connective_where_the_scheme_is_silent() -> None:
    assert meaning_of("disco", "temporal", "since").time == "apart"
    assert meaning_of("disco", "temporal", "While").time == "during"
    assert meaning_of("pdtb3", "Temporal.Synchronous", "since").time == "during"


@pytest.mark.parametrize("sense", ["", "Comparisons.Contrast", "contrast", "x" * 5000])
def test_an_unknown_sense_names_those_that_there_are(sense: str) -> None:
    with pytest.raises(
        UnknownSenseError, match="is not known of pdtb3; expected one of 'Comp"
    ) as found:
        meaning_of("pdtb3", sense)
    assert len(str(found.value)) < 350


def test_every_sense_of_disco_annotation_is_known() -> None:
    for connective, senses in DISCO_SENSES.items():
        for sense in senses:
            meaning = meaning_of("disco", sense, connective)
            assert set(meaning.meanings) <= set(MEANINGS)
            # What a connective was annotated with, the table says that it can carry.
            if sense not in ("prep", "adv") and (connective, sense) not in UNUSUAL:
                assert carries(CONNECTIVES[connective], meaning) is True, (connective, sense)


#: Annotated, and too rare to replace another connective in that sense.
UNUSUAL = {("as", "concession"), ("while", "temporal-causal")}


@pytest.mark.parametrize(
    ("connective", "scheme", "sense", "expected"),
    [
        ("although", "pdtb3", "Comparison.Contrast", True),
        ("although", "pdtb3", "Contingency.Cause.Reason", False),
        ("since", "pdtb3", "Temporal.Synchronous", None),
        ("since", "pdtb3", "Temporal.Asynchronous.Succession", True),
        ("while", "pdtb3", "Temporal.Synchronous", True),
        ("while", "pdtb3", "Temporal", None),
        ("as", "pdtb3", "Comparison.Similarity", True),
        ("as", "disco", "temporal-causal", None),
        ("therefore", "pdtb3", "Contingency.Cause.Result", True),
        ("therefore", "pdtb3", "Contingency.Cause.Reason", False),
        ("therefore", "pdtb3", "Comparison.Concession", False),
        ("therefore", "pdtb3", "Comparison.Contrast", None),
        ("then", "pdtb3", "Temporal.Asynchronous.Succession", None),
        ("instead", "pdtb3", "Expansion.Substitution.Arg2-as-subst", True),
        ("for example", "pdtb2", "Expansion.Instantiation", True),
        ("although", "pdtb3", "Temporal.Synchronous", None),
        ("while", "pdtb3", "Contingency.Cause.Reason", None),
        ("although", "pdtb3", "Temporal.Asynchronous", False),
        ("although", "disco", "temporal-causal", False),
        ("although", "pdtb3", "Expansion.Conjunction", None),
    ],
)
def test_carries(connective: str, scheme: str, sense: str, expected: bool | None) -> None:
    word = "since" if sense == "temporal-causal" else ""
    assert carries(CONNECTIVES[connective], meaning_of(scheme, sense, word)) is expected


@pytest.mark.parametrize(
    ("connective", "sense", "expected"),
    [
        ("although", "Temporal.Synchronous", "concession for time"),
        ("though", "Temporal.Synchronous", "concession for time"),
        ("while", "Temporal.Synchronous", ""),
        ("since", "Temporal.Synchronous", ""),
        ("although", "Temporal.Asynchronous.Succession", ""),
        ("while", "Contingency.Cause.Reason", "time for cause"),
        ("as", "Contingency.Cause.Reason", ""),
        ("although", "Contingency.Cause.Reason", ""),
        ("while", "Contingency.Cause.Result", ""),
        ("because", "Contingency.Condition.Arg2-as-cond", "cause for condition"),
        ("if", "Contingency.Cause.Reason", "condition for cause"),
        ("if", "Temporal.Synchronous", "condition for time"),
        ("if", "Comparison.Concession", ""),
        ("then", "Comparison.Contrast", "time for contrast"),
        ("then", "Comparison.Concession", "time for contrast"),
        ("then", "Contingency.Cause.Reason", ""),
        ("for example", "Comparison.Concession", "instance for contrast"),
        ("for example", "Contingency.Cause.Result", ""),
        ("as", "Comparison.Contrast", "time for contrast"),
        ("as", "Comparison.Concession", ""),
        ("while", "Comparison.Contrast", ""),
        ("therefore", "Comparison.Contrast", "result for contrast"),
        ("therefore", "Comparison.Concession", ""),
        ("so", "Comparison.Contrast", ""),
    ],
)
def test_what_often_holds_beside_a_meaning(connective: str, sense: str, expected: str) -> None:
    assert beside(CONNECTIVES[connective], meaning_of("pdtb3", sense)) == expected
