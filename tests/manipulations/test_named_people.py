"""People of a text who can be given other names, and what no name is changed for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.mention_rules import gender_of_name
from coherencegym.manipulations.reference.named_people import (
    NewNames,
    Renaming,
    is_given_name,
    named_people,
    names_in,
)

_SAMPLE = sample_of(corpus("storycloze"))
assert _SAMPLE is not None
STORIES = tuple(story for story in read(_SAMPLE) if any(not p.problem for p in
                                                        named_people(story.texts)))  # fmt: skip


def renamed(text: str, *names: tuple[str, str]) -> str | None:
    made = list(Renaming(names)(Discourse("a", "t", (Unit(text),)), Context()))
    return made[0].text if made else None


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("Tom ran. I saw Tom's dog.", "Paul ran. I saw Paul's dog."),
        ('"Come, Tom!" she told Tom, and TOMORROW came.', None),  # "she": not of Tom
        ('"Come, Tom!" he said. "Tom?"', '"Come, Paul!" he said. "Paul?"'),
        ("Tom Smith was late. Tom ran.", "Paul Smith was late. Paul ran."),
        ("Tom liked Tom Hanks.", None),
        ("He saw Tom Hanks.", None),
        ("Mr. Tom ran. Tom fell.", None),
        ("Tom ran. He saw Uncle Tom.", "Paul ran. He saw Uncle Paul."),
        ("Tom ran. Tom-like, he fell.", None),
        ("Tom ran. O'Tom fell.", None),
        ("Tom ran. Tommy fell.", None),
        ("Tom ran and tom fell.", None),
        ("Tom's was closed.", None),
        ("The Tom ran. Tom fell.", None),
        ("Mary and Tom ran. Mary Tom fell.", None),
        ("Tom ran. Then Tom fell.", "Paul ran. Then Paul fell."),
        ("Paul saw Tom.", None),  # there is a Paul
        ("Ann ran.", None),
    ],
)
def test_a_name_changes_in_all_of_a_text_or_not_at_all(text: str, becomes: str | None) -> None:
    assert renamed(text, ("Tom", "Paul")) == becomes


def test_a_name_in_s_has_a_possessive_of_its_own() -> None:
    story = "James fell. James' leg and James's arm hurt him."
    assert renamed(story, ("James", "Paul")) == "Paul fell. Paul's leg and Paul's arm hurt him."
    assert renamed("Ann met Bob.", ("Ann", "Eve"), ("Bob", "Al")) == "Eve met Al."


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Kelly fell. She cried.", {"Kelly": "feminine"}),
        ("Kelly fell. He cried.", {"Kelly": "masculine"}),
        ("Kelly fell. He saw her cry.", {}),
        ("Kelly fell.", {}),
        ("Susan met Kelly. She cried.", {"Susan": "feminine"}),
        ("Alex fell. She cried.", {}),
        ("Ariel fell. She called her dad, and he came.", {}),
        ("Ariel fell. She called Susan.", {"Susan": "feminine"}),
        ("Jerome met Maria. He cried.", {"Jerome": "masculine", "Maria": "feminine"}),
        ("Zork and Kelly fell. Then Zork saw that she cried.", {}),
        ("Mark fell. He cried.", {"Mark": "masculine"}),
        ("Mark fell.", {}),
        ("Mark the spot. He cried.", {}),
        ("Will he cry?", {}),
        ("She went to Georgia.", {}),
        ("April fell. She cried.", {"April": "feminine"}),
    ],
)
def test_names_are_of_people_whose_gender_is_told(text: str, names: dict[str, str]) -> None:
    found = {person.name: person.gender for person in named_people((text,)) if not person.problem}
    assert found == names
    assert all(person.gender for person in named_people((text,)) if not person.problem)


def test_names_of_an_ending_are_of_people_or_of_anything_else() -> None:
    story = ("Zork flew to Rome with his dad.", "Grass grew.")
    assert names_in("Zork met Tom in Rome on Sunday, and I saw Dad.", story) == [
        "Zork",
        "Tom",
        "Rome",
    ]
    assert names_in('It was over. Then he cried. "No!" he said.', story) == []


@given(st.sampled_from(STORIES))
def test_names_given_back_make_the_story_again(story: Discourse) -> None:
    people = [person for person in named_people(story.texts) if not person.problem]
    new = {"masculine": ["Adam", "Keith", "Brian"], "feminine": ["Emily", "Fiona", "Diana"]}
    names = tuple((person.name, new[person.gender].pop()) for person in people[:2])
    (made,) = Renaming(names)(story, Context())
    (back,) = Renaming(tuple((after, before) for before, after in names))(made, Context())
    assert back.texts == story.texts
    words = set(re.findall(r"\w+", made.text))
    assert words.isdisjoint(before for before, _ in names)
    assert words >= {after for _, after in names}
    others = {word for word in re.findall(r"\w+", story.text) if is_given_name(word)}
    assert others - {before for before, _ in names} <= words


@given(st.sampled_from(STORIES))
def test_everybody_gets_another_name_of_the_same_gender_or_nobody(story: Discourse) -> None:
    people, context = named_people(story.texts), Context()
    made = list(NewNames()(story, context))
    if not people or any(person.problem for person in people):
        assert (made, context.skipped.total()) == ([], 1)
        return
    (renamed,) = made
    after = named_people(renamed.texts)
    assert len(after) == len(people)
    pairs = zip(after, people, strict=True)
    assert all(gender_of_name(new.name) == old.gender for new, old in pairs)
    words = set(re.findall(r"\w+", story.text))
    assert words.isdisjoint(person.name for person in after)
    assert list(NewNames()(story, Context())) == made
