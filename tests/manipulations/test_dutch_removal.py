"""Dutch: the sentence with a mention's antecedent taken away, or its neighbour."""

from __future__ import annotations

import pytest
from support.marked_texts import annotated, told_by_somebody

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedents import AntecedentRemoval, Removed
from coherencegym.manipulations.reference.language_rules import MENTION_RULES
from coherencegym.manipulations.reference.mention_rules import mentions_of_units

MILL, ROOF = "De molen stond jaren leeg.", "Het dak was in een storm ingevallen."
ANNA = "[Anna Bos|1 proper entity=person gender=feminine] kocht de bakkerij."
ZIJ = "[zij|1 entity=person gender=feminine number=singular]"
TEXT = " / ".join((MILL, ROOF, ANNA, f"In mei opende {ZIJ} de deuren."))
COAT = " / ".join(
    (
        MILL,
        ROOF,
        "Men haalde [een jas|1 entity=object gender=common].",
        "Gelukkig was [hij|1 entity=object] nog droog.",
    )
)
WOMEN = " / ".join(
    (
        MILL,
        ROOF,
        "[Twee vrouwen|1 entity=person number=plural] kochten de bakkerij.",
        "In mei openden [ze|1 entity=person number=plural] de deuren.",
    )
)


def dutch(text: str) -> Discourse:
    """A Dutch discourse from marked text."""
    return annotated(text, meta={"split": "test", "language": "nl"})


def made(text: str, removed: Removed = "") -> tuple[str, ...] | str:
    """The three sentences of the only excerpt; else why there is none."""
    context = Context()
    found = list(AntecedentRemoval("pronoun", removed)(told_by_somebody(dutch(text)), context))
    if not found:
        return "; ".join(context.skipped)
    (excerpt,) = found
    return excerpt.texts


@pytest.mark.parametrize("text", [TEXT, COAT, WOMEN])
def test_one_sentence_is_replaced_and_the_stand_in_comes_first(text: str) -> None:
    mill, roof, source, target = dutch(text).texts
    assert made(text) == (roof, source, target)
    assert made(text, "antecedent") == (mill, roof, target)
    assert made(text, "control") == (mill, source, target)


@pytest.mark.parametrize(
    ("text", "old", "new", "reason"),
    [
        # Somebody else whom the pronoun could mean, by the gender of the person.
        (TEXT, "Het dak", "[Eva|2 entity=person gender=feminine] zei dat het dak", "the stand-in"),
        (TEXT, "Het dak", "[Jan|2 entity=person gender=masculine] zei dat het dak", ""),
        (TEXT, "Het dak", "[De buur|2 entity=person gender=common] zei dat het dak", "stand-in"),
        (TEXT, "Het dak", "[De buur|2 entity=person gender=common] zei dat [hij|2] het dak", ""),
        (TEXT, "Het dak", "[Eva|2 entity=person number=plural] zei dat het dak", ""),
        (TEXT, "Het dak", "Iemand zei dat het dak", "stand-in"),
        (TEXT, "Het dak", "[De wind|2 gender=common] was koud en het dak", ""),
        # What a pronoun for a thing could mean.
        (COAT, "Het dak", "[De hoed|2 entity=object gender=common] en het dak", "stand-in"),
        (COAT, "Het dak", "[Het boek|2 entity=object gender=neuter] en het dak", ""),
        (COAT, "Het dak", "[Jan|2 entity=person gender=masculine] zei dat het dak", "stand-in"),
        # Several people, one by one.
        (WOMEN, "Het dak", "[Jan|2 entity=person gender=masculine] zei dat het dak", "stand-in"),
        (WOMEN, "Het dak", "[Het boek|2 entity=object gender=neuter] en het dak", ""),
        # What goes on from another sentence, or is none.
        (TEXT, "De molen", "Maar de molen", "stand-in"),
        (TEXT, "De molen", "Den volgenden dag stond de molen", "stand-in"),
        (TEXT, "De molen stond", "De andere molen stond", "stand-in"),
        (TEXT, "Het dak was", "Dit dak was", "stand-in"),
        (TEXT, "Het dak was", "Het dak daarvan was", "stand-in"),
        (TEXT, "Het dak was", "Het dak was er door", "stand-in"),
        (TEXT, "Het dak", "[Die|4 pronoun=demonstrative person=3] zei dat het dak", "stand-in"),
        (TEXT, "Het dak", "[Hij|4] zei dat het dak", "stand-in"),
        (TEXT, "Het dak", "[Men|4 pronoun=personal person=3 gender=masculine] zei dat het dak", ""),
        (TEXT, "jaren leeg", "leeg? ja, jaren", "stand-in"),
        # The pronoun.
        (COAT, "[hij|1 entity=object]", "['t|1 pronoun=personal]", "that rarely refers to a noun"),
        (TEXT, "de deuren", "de deuren van [Anna|1 proper]", "pronoun before its noun phrase"),
    ],
)
def test_what_is_left_out(text: str, old: str, new: str, reason: str) -> None:
    assert old in text
    found = made(text.replace(old, new))
    if reason:
        assert isinstance(found, str)
        assert reason in found
    else:
        assert not isinstance(found, str)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('Men riep: "Kijk.', 'Ga weg."', "stand-in"),
        ('"Kijk," riep men, "daar.', 'Ga weg."', "stand-in"),
        ('Men riep: "Kijk."', '"Ga weg."', ""),
        ('Men riep "ja".', "Ga weg.", ""),
    ],
)
def test_a_sentence_inside_a_longer_quotation_is_left_out(
    before: str, after: str, reason: str
) -> None:
    found = made(" / ".join((before, TEXT.replace(f"{MILL} / ", f"{MILL} / {after} / "))))
    assert reason in found if reason else not isinstance(found, str)


@pytest.mark.parametrize(
    ("text", "begins", "points"),
    [
        ("Anna liep weg.", False, False),
        ("Maar Anna liep weg.", True, True),
        ("Daarom liep Anna weg.", True, True),
        ("Een ander liep weg.", False, True),
        ("De andere liep weg.", True, True),
        ("Anna liep ook weg.", False, True),
        ("Anna liep er van weg.", True, True),
        ("Er liep niemand van weg.", False, True),
        ("Anna had dien hoed.", True, True),
        ("Enkele vrouwen liepen weg.", False, False),  # not: en
    ],
)
def test_words_that_go_on(text: str, begins: bool, points: bool) -> None:
    rules = MENTION_RULES["nl"]
    assert (rules.goes_on(text), rules.points_back(text)) == (begins, points)


@pytest.mark.parametrize(
    ("phrase", "found"), [("De hond", True), ("Den hond", True), ("Een hond", False)]
)
def test_a_definite_phrase_takes_up_what_was_mentioned(phrase: str, found: bool) -> None:
    text = dutch(f"[Een hond|1 nominal] liep weg. / [{phrase}|1 nominal] kwam terug.")
    taken = MENTION_RULES["nl"].takes_up(text, mentions_of_units(text)[1])
    assert bool(taken) == found
