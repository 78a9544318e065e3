"""Illusions: a pronoun without an antecedent is less surprising where somebody else would fit it.

Readers who look for the antecedent of a pronoun are drawn to a person who fits it by gender and
cannot be meant (Badecker and Straub 2002); what fits by form can hide that nothing fits by meaning.
A Winograd schema says whom its pronoun means. That person is the
antecedent, the other one the distractor, and both get names that fit the pronoun or do not:

- antecedent *present* or *absent*: the person whom the text means has the pronoun's gender or not;
- distractor *matching* or *mismatching*: the same of the other person.

The **illusion** is what a matching distractor saves where the antecedent is absent; with the
antecedent present the same difference is **interference**. The two are never summed. Each is read
at the pronoun, and in what follows it (*spillover*), where most schemas first say who is meant.
Every text stands in an item with ``he`` and with ``she``, so that names and pronouns cancel::

    bits(she | Henry ... Peter) + bits(he | Laura ... Diana)
        > bits(she | Henry ... Diana) + bits(he | Laura ... Peter)

    coherencegym build illusions --corpus winograd --data-dir PATH
"""

from __future__ import annotations

from typing import Any

from coherencegym.builders.suite import Column, Config, Contrast, MinimalPairs, Suite, Use
from coherencegym.eval.kinds.items import FAMILY
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import text_around
from coherencegym.manipulations.reference.mention_rules import GENDERS, other_gender
from coherencegym.manipulations.reference.schemas import PersonGenders

_PRONOUN, _REST = 2, 3
#: Condition -> the operator that makes it.
VERSIONS = {
    f"{antecedent}_{distractor}_{gender}": PersonGenders(
        person=gender if antecedent == "present" else other_gender(gender),
        other=gender if distractor == "matching" else other_gender(gender),
        pronoun=gender,
    )
    for antecedent in ("present", "absent")
    for distractor in ("matching", "mismatching")
    for gender in GENDERS
}
ILLUSION, INTERFERENCE, WITHSTOOD = "illusion", "interference", "illusion withstood"


def around_pronoun(discourse: Discourse) -> tuple[str, str, str]:
    """Three regions: what is before the pronoun, the pronoun, and what is after it."""
    before, pronoun, rest = text_around(discourse, *discourse.alternatives[0].span[0])
    return before.rstrip(), pronoun, rest.strip()


def of_both(antecedent: str, distractor: str) -> tuple[str, ...]:
    """The two conditions of a cell of the design, one with each pronoun."""
    return tuple(f"{antecedent}_{distractor}_{gender}" for gender in GENDERS)


def family_of_schema(first: Discourse, last: Discourse) -> dict[str, Any]:
    """The column of an item that names its schema's twins."""
    return {FAMILY: first.meta.get("family", "")}


def _effect(group: str, antecedent: str, region: int) -> Contrast:
    worse, better = of_both(antecedent, "mismatching"), of_both(antecedent, "matching")
    return Contrast(worse, better, region, groups=(group,))


SUITE = Suite(
    name="illusions",
    title="Coherence illusions",
    version="1.0.0",
    hypothesis=(
        "A model that is subject to coherence illusions finds a pronoun without an antecedent, and "
        "what follows it, less surprising if the text names somebody else who fits the pronoun."
    ),
    description=(
        "Winograd schemas with two named persons. The text decides whom the pronoun means "
        "(the antecedent); the other one is the distractor. New names of five letters make either "
        "person fit the pronoun's gender or not: antecedent present or absent, distractor matching "
        "or mismatching. Each of these four has a version with a masculine and one with a feminine "
        "pronoun, and predictions add the two up. The pronoun, and the same words after it, are "
        "scored."
    ),
    conditions={
        name: f"a {one.pronoun} pronoun; the person it means has a {one.person} name, the other "
        f"person a {one.other} one"
        for name, one in VERSIONS.items()
    },
    uses=(
        Use(
            "",
            "is a wrong pronoun less surprising if its gender fits another person in the text",
            "whether the model thinks of the other person or only expects a pronoun of this gender",
        ),
    ),
    limitations=(
        "**A high score is no merit.** The config's score counts `illusion`: the share of schemas "
        "in which a matching distractor makes a pronoun without an antecedent less surprising. "
        "Read it beside `interference`, the same difference with the antecedent present, and do "
        "not add the two up. Compare their mean margins in bits, not only their shares.",
        "At the pronoun, most texts do not show yet who is meant: `illusion` shows only that the "
        "model expects anybody of the pronoun's gender. The text after the pronoun decides who is "
        "meant: `illusion, spillover` shows that this text is less surprising if somebody fits by "
        "gender. `illusion withstood` compares the text after the pronoun in two texts with one "
        "fitting person each: the wrong person in one, the right person in the other. A model "
        "that knows who is meant is above chance.",
        "In `illusion`, the text with the mismatching distractor names two persons of one gender "
        "and the other text a man and a woman; in `interference` it is the reverse. If such pairs "
        "of names have an effect by themselves, this effect raises one score and lowers the other.",
        "World knowledge decides who is meant. The schemas of a family differ in a word or two; "
        "intervals are clustered by family.",
    ),
    citation="""@article{badecker-straub-2002-processing,
    title = "The Processing Role of Structural Constraints on the Interpretation of Pronouns and Anaphors",
    author = "Badecker, William and Straub, Kathleen",
    journal = "Journal of Experimental Psychology: Learning, Memory, and Cognition",
    volume = "28",
    number = "4",
    pages = "748--769",
    year = "2002",
}""",  # noqa: E501
    configs=(
        Config(
            name="",
            corpora=("winograd",),
            generator=MinimalPairs(
                versions=VERSIONS,
                regions=around_pronoun,
                contrasts=(
                    _effect(ILLUSION, "absent", _PRONOUN),
                    _effect(f"{ILLUSION}, spillover", "absent", _REST),
                    _effect(INTERFERENCE, "present", _PRONOUN),
                    _effect(f"{INTERFERENCE}, spillover", "present", _REST),
                    Contrast(
                        of_both("absent", "matching"),
                        of_both("present", "mismatching"),
                        _REST,
                        groups=(WITHSTOOD,),
                    ),
                ),
                columns=family_of_schema,
                view=around_pronoun,
            ),
            summary="two persons, each of whom fits the pronoun's gender or does not",
            regions=(
                "the text before the pronoun",
                "the pronoun",
                "the text after the pronoun, the same in all conditions",
            ),
            columns={
                FAMILY: Column(
                    "string", "an id shared by twin schemas, which differ in a word or two"
                ),
            },
            headline=ILLUSION,
            # In neither text of its headline can the pronoun have its antecedent.
            choice=None,
            partial_input="bags of words of the text before the pronoun, the pronoun and the rest",
        ),
    ),
    tags=("coreference", "pronouns", "interference", "winograd"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
