"""Story cloze: the wrong ending of a story is more surprising than the right one.

Beyer, Loáiciga and Schlangen 2021, section 4.2, on the Story Cloze Test (Mostafazadeh et al. 2016).
``crossed`` takes two similar stories and exchanges their right endings, with one name for those
whom either ending names: no ending is a wrong one that a crowd worker made up, which can be told
from the right one without the story (Sharma et al. 2018; Schwartz et al. 2017).

    coherencegym build story_cloze --corpus storycloze --data-dir PATH
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from coherencegym.builders.crossing.generator import (
    Crossed,
    crossed_columns,
    with_shuffled_contexts,
)
from coherencegym.builders.crossing.partners import (
    MostSimilar,
    Partner,
    narrative_tense,
    persons_in,
    repeated_more,
)
from coherencegym.builders.sentence_order import familiarity_config
from coherencegym.builders.suite import (
    BEYER_2021,
    Column,
    Config,
    Contrast,
    MinimalPairs,
    Suite,
    Use,
    context_and_last,
    last_alone,
)
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context, Pipeline
from coherencegym.manipulations.reference.mention_rules import GENDERS, new_name
from coherencegym.manipulations.reference.named_people import (
    NamedPerson,
    OwnNames,
    Renaming,
    named_people,
    names_in,
)
from coherencegym.manipulations.units import EndingSwap

_WORD = re.compile(r"[^\W\d_]+")


def stories(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give a story and its right ending, which names nobody but people who can be renamed.

    Crossed are stories of one tense whose endings are of one tense and about the same persons: a
    clash alone would tell. Whoever is named counts as he or she, as another ending may say.
    """
    if not any(OwnNames()(discourse, context)):
        return
    *story, ending = discourse.texts
    people = {person.name: person for person in named_people(discourse.texts)}
    named = names_in(ending, story)
    for name in named:
        if name not in people or name not in _WORD.findall(" ".join(story)):
            context.skipped["the ending names somebody who is not in the story"] += 1
            return
        if people[name].problem:
            context.skipped[f"a name in the ending: {people[name].problem}"] += 1
            return
    told, ends = narrative_tense(" ".join(story)), narrative_tense(ending)
    if told == "present":
        ends = ends or told  # "they eat" looks like no tense, but does not clash
    if not told or not ends:
        context.skipped["the tense of the story or the ending is not clear"] += 1
        return
    first, second, he, she, they = persons_in(ending)
    genders = {people[name].gender for name in named}
    he, she = he or "masculine" in genders, she or "feminine" in genders
    in_story = zip(GENDERS, persons_in(" ".join(story))[2:4], (he, she), strict=True)
    if any(
        ends_on and not told_of and all(person.gender != gender for person in people.values())
        for gender, told_of, ends_on in in_story
    ):
        context.skipped["the ending is about a man or a woman who is not in the story"] += 1
        return
    yield _partner(discourse, alike=(first, second, he, she, they, told, ends))


def _partner(discourse: Discourse, **more: Any) -> Partner:
    *story, ending = discourse.texts
    return Partner(discourse, (" ".join(story), ending), **more)


def under_one_name(
    one: Partner, other: Partner, context: Context
) -> tuple[Partner, Partner] | None:
    """Give the people whom either ending names, in both stories, one name that neither has.

    The first man whom a story names stands for the first of the other one, the second for the
    second, and women likewise. Stories whose endings name nobody stay as they are. None where a
    story has not as many, where one is told in the first person alone, where one begins with a man
    and the other with a woman, or where the endings repeat more stems of one of the stories.
    """
    people = [named_people(each.discourse.texts) for each in (one, other)]
    wanted = [
        _place(name, all_named)
        for each, all_named in zip((one, other), people, strict=True)
        for name in names_in(each.parts[1], each.discourse.texts[:-1])
    ]
    if not wanted:
        return None if repeated_more(one, other) else (one, other)
    told = {
        (persons_in(each.parts[0])[0], all_named[0].gender if all_named else "")
        for each, all_named in zip((one, other), people, strict=True)
    }
    if len(told) > 1:
        return None
    text = f"{one.discourse.text}\n{other.discourse.text}"
    random = context.random(one.discourse, "Renaming", other=other.discourse.id)
    names: list[list[tuple[str, str]]] = [[], []]
    for gender, number in sorted(set(wanted)):
        same = [[each.name for each in named if each.gender == gender] for named in people]
        if min(map(len, same)) <= number:
            return None
        new = new_name(gender, text, random)
        text += f" {new}"
        for pairs, found in zip(names, same, strict=True):
            pairs.append((found[number], new))
    renamed = []
    for each, pairs in zip((one, other), names, strict=True):
        (discourse,) = Renaming(tuple(pairs))(each.discourse, Context())
        columns = {"names": [f"{old} > {new}" for old, new in pairs]}
        renamed.append(_partner(discourse, alike=each.alike, columns=columns))
    first, second = renamed
    return None if repeated_more(first, second) else (first, second)


def _place(name: str, people: Sequence[NamedPerson]) -> tuple[str, int]:
    # The gender of a person, and the number of those of that gender who are named before.
    gender = next(person.gender for person in people if person.name == name)
    same = [person.name for person in people if person.gender == gender]
    return gender, same.index(name)


SUITE = Suite(
    name="story_cloze",
    title="Story cloze",
    version="6.0.0",
    hypothesis=(
        "A model that notices incoherence finds an ending that does not follow from a story more "
        "surprising than the ending that does."
    ),
    description=(
        "Minimal pairs of a four-sentence story with its right ending and with a wrong one about "
        "the same protagonist and topic."
    ),
    conditions={
        "original_ending": "the story with its right ending",
        "distractor_ending": "the same story with the wrong ending",
        "story_1_ending_1": "crossed: a story with its right ending",
        "story_2_ending_2": "crossed: a similar story with its right ending",
        "story_1_ending_2": "crossed: the first story with the ending of the second",
        "story_2_ending_1": "crossed: the second story with the ending of the first",
    },
    uses=(
        Use(
            "",
            "is the right ending more expected",
            "whether an ending fits the story or is typical of stories",
        ),
        Use(
            "crossed",
            "which ending belongs to which story",
            "whether the model follows the plot or finds related words, such as `dog` and `puppy`",
        ),
    ),
    limitations=(
        "The two endings are different sentences with different words: their mean surprisal "
        "differs for reasons that have nothing to do with the story (length, rare words). The "
        "partial-input baseline shows how much the endings alone give away.",
        "World knowledge decides most items; local coherence alone does not.",
        "Errors in an ending are neither corrected nor counted. In a few items the name alone "
        "shows that an ending is wrong, because the story does not have the person; `crossed` "
        "leaves out, and counts, stories with such an ending.",
        "`crossed`: similar stories are paired. Both pairs of endings, the right and the exchanged "
        "ones, repeat equally many words of the stories (content words, by their first six "
        "letters). Other word-based comparisons may do better; balance weights remove this.",
        "`crossed`: people whom an ending names have other names than in the corpus, the same in "
        "both stories. Stories are left out, and counted, if an ending has another name, or one "
        "that cannot be changed safely. The column `names` has the changes.",
    ),
    headline=("",),
    citation=BEYER_2021,
    configs=with_shuffled_contexts(
        Config(
            name="",
            corpora=("storycloze",),
            generator=MinimalPairs(
                versions={"original_ending": Pipeline(), "distractor_ending": EndingSwap()},
                regions=context_and_last,
                contrasts=(Contrast("distractor_ending", "original_ending", 2),),
                view=last_alone,
            ),
            summary="the ending is scored after the four sentences of the story",
            regions=("the four sentences of the story", "the ending"),
            partial_input="a bag of words of the ending",
        ),
        Config(
            name="crossed",
            corpora=("storycloze",),
            generator=Crossed(
                partners=stories,
                operators="right ending, its people renamed",
                couple=MostSimilar(adapt=under_one_name, neighbours=400),
                across=True,
                names=("story", "ending"),
                columns=lambda couple: {
                    "names": [
                        name
                        for each in (couple.first, couple.second)
                        for name in each.columns.get("names", ())
                    ]
                },
            ),
            summary=(
                "two similar stories, each with its own ending and with the other's; the endings "
                "of all four combinations are scored"
            ),
            regions=("the four sentences of a story", "an ending"),
            columns=crossed_columns(
                names=Column(
                    ["string"],
                    "the renamed people, as `old name > new name`, so that both stories use the "
                    "same names; empty if neither ending names anybody",
                ),
            ),
            partial_input="bags of words of the story and of the ending",
        ),
        familiarity_config(("storycloze",)),
    ),
    tags=("story-cloze", "narration"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
