"""Names in intruders become names of their document, and genders do not give them away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.discourse import Discourse, Unit, undo
from coherencegym.loaders.text.sentences import Nicknames
from coherencegym.manipulations.intruders.intruder_sentence import (
    IntruderSentence,
    exchanged_names,
    sentence_gender,
    text_gender,
)
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.sentence import apply

NAMES = ("ann1", "bo2", "cy3", "dee4", "eve5")


def thread(*messages: str, name: str = "t") -> Discourse:
    """A thread of messages: ``ann1> bo2: hello``, and of what people do: ``ann1> ann1 waves``."""
    nicknames = Nicknames(NAMES, ())
    units = [Unit(text, speaker) for speaker, text in (m.split("> ") for m in messages)]
    mentions = [
        mention
        for index, unit in enumerate(units)
        for mention in nicknames.mentions(
            unit.text, index, unit.speaker if unit.text.startswith(f"{unit.speaker} ") else None
        )
    ]
    return Discourse(name, "toy", tuple(units), mentions=tuple(mentions))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("eve5> no idea", "no idea"),
        ("eve5> dee4: ask dee4, or so", "bo2: ask bo2, or so"),  # whom the slot itself names
        ("eve5> dee4: ask cy3", "bo2: ask cy3"),  # is named in the host, too
        ("eve5> dee4, eve5: hello", None),  # as many as there are, checked below
        ("eve5> eve5 waves", "ann1 waves"),  # whoever speaks there
        ("eve5> eve5 waves at dee4", "ann1 waves at bo2"),
        ("eve5> dee4, cy3, eve5, bo2: hi", None),
    ],
)
def test_names_are_exchanged(message: str, expected: str | None) -> None:
    host = thread("bo2> hello", "cy3> ann1: hi", "ann1> bo2: hey", "ann1> cy3, bo2: see you")
    source = thread("dee4> well", message)
    names = exchanged_names(source, 1, host, 2)
    if expected is not None:
        assert names is not None
        assert apply(source.texts[1], names) == expected
    elif message.count(",") == 1:
        assert names is not None
        assert apply(source.texts[1], names) == "bo2, ann1: hello"
    else:
        assert names is None


def test_who_is_named_in_the_slot_alone_is_no_help() -> None:
    host = thread("bo2> hello", "ann1> bo2: hey", "bo2> fine")
    assert exchanged_names(thread("eve5> hm", "eve5> dee4: yes"), 1, host, 1) is None


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES))), min_size=2),
    st.lists(st.sampled_from(NAMES), max_size=6),
    st.data(),
)
def test_no_stranger_is_named_and_no_two_become_one(
    host_lines: list[tuple[str, list[str]]], named: list[str], data: st.DataObject
) -> None:
    host = thread(*(f"{who}> so {' '.join(names)} ok" for who, names in host_lines))
    slot = data.draw(st.integers(0, len(host_lines) - 1))
    source = thread("ann1> hm", f"eve5> so {' '.join(named)} ok")
    around = {n for i, (_, names) in enumerate(host_lines) if i != slot for n in names}
    names = exchanged_names(source, 1, host, slot)
    if len(set(named)) > len(around):
        assert names is None
        return
    assert names is not None
    result = apply(source.texts[1], names).split()[1:-1]
    assert set(result) <= around
    assert len(set(zip(named, result, strict=True))) == len(set(named)) == len(set(result))
    assert all(new == old for new, old in zip(result, named, strict=True) if old in around)


def test_an_intruder_names_its_hosts_people_and_can_be_undone() -> None:
    threads = [
        thread(
            "ann1> boot question", "bo2> ann1: boot the old kernel", "ann1> bo2: thanks", name="a"
        ),
        thread("dee4> boot trouble", "eve5> dee4: boot the new disk", "dee4> eve5: hmm", name="b"),
    ]
    fitted = IntruderSentence(share=1.0).fit(threads, Context(0, "test"))
    assert set(fitted.choices) == {"a", "b"}
    for host, strangers in zip(threads, (("dee4", "eve5"), ("ann1", "bo2")), strict=True):
        (changed,) = fitted(host, Context(0, "test"))
        assert undo(changed) == host.texts
        slot = fitted.choices[host.id].slot
        assert not any(name in changed.texts[slot] for name in strangers)
        assert changed.texts[slot] == fitted.choices[host.id].intruder.inserted
        first, second = changed.edits
        assert (first.operator, second.operator) == ("IntruderSentence", "ExchangedNames")
        assert first.after == fitted.choices[host.id].intruder.text


@pytest.mark.parametrize(
    ("sentence", "gender"),
    [
        ("He married her in 1920.", "masculine"),
        ("Her father said that he was ill.", "feminine"),
        ("In 1920 she left.", "feminine"),
        ("The heir of Sheffield was here, there and himalayan.", ""),
        ("It was cold.", ""),
    ],
)
def test_gender_of_a_sentence(sentence: str, gender: str) -> None:
    assert sentence_gender(sentence) == gender


def test_gender_of_a_text() -> None:
    assert text_gender(["He left.", "She stayed.", "It rained.", "His son cried."]) == "masculine"
    assert text_gender(["He left.", "She stayed."]) == ""
    assert text_gender([]) == ""


def test_candidates_of_the_other_gender_are_passed_over() -> None:
    def life(number: int, pronoun: str) -> Discourse:
        lines = ("was born in a town", "worked in a harbour", "wrote a book", "died at home")
        return Discourse(
            f"{pronoun}{number}",
            "toy",
            tuple(Unit(f"{pronoun} {line} number {number}{line[-1]}.") for line in lines),
        )

    documents = [life(number, pronoun) for number in range(5) for pronoun in ("He", "She")]
    fitted = IntruderSentence(share=1.0).fit(documents, Context(0, "test"))
    assert len(fitted.choices) == 10
    for name, choice in fitted.choices.items():
        assert choice.intruder.text.split()[0] == name.rstrip("0123456789")
    # Where the document says nothing, anybody may come in.
    taken = set()
    for number in range(8):
        free = IntruderSentence(share=1.0).fit([life(number, "It"), *documents], Context(0, "test"))
        taken.add(free.choices[f"It{number}"].intruder.text.split()[0])
    assert taken == {"He", "She"}
