"""The probes: what holds of all of them, and the operator."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.discourse import Discourse, Mention, Unit, span_text, undo
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.registry import PROBES, ProbeSentence, probe_sentence
from coherencegym.manipulations.probes.sentence import Replacement, analyse, apply

NAMES = list(PROBES)
SUBJECTS = ["He", "She", "It", "They", "The town", "His sister", "Her boat", "This bridge", "Anna"]
VERBS = [
    "was", "is", "has", "had", "walked", "wrote", "lost", "sells", "can hold", "had been seen by",
    "was also built by", "later left", "gave", "will open", "did not sell",
]  # fmt: skip
OBJECTS = [
    "her", "him", "it", "his house", "her house", "five boats", "1,500 people", "this plan",
    "a painter", "in May", "old", "some bread", "the mill that it owned",
]  # fmt: skip
ENDS = [
    "", ", but he failed", ", and it was sold", " because she was ill", " although they came",
    " before it closed",
    " and died in 1920", " (see below)", ' with "Her Own Way"', " for ten years",
]  # fmt: skip
SENTENCES = st.builds(
    lambda subject, verb, thing, end, stop: f"{subject} {verb} {thing}{end}{stop}",
    st.sampled_from(SUBJECTS),
    st.sampled_from(VERBS),
    st.sampled_from(OBJECTS),
    st.sampled_from(ENDS),
    st.sampled_from([".", "?", "!"]),
)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("It lies 1 km from 30 houses.", []),
        ("It lies one km from 30 houses.", []),
        ("It covers 1 acres near 30 houses.", []),
        ("It lies one miles from 30 houses.", []),
        ("It lies 1 hour from 30 houses.", ["30,000"]),
        ("The sea lies near 30 houses.", ["30,000"]),
    ],
)
def test_of_two_numbers_no_measure_is_left_as_it_was(text: str, changed: list[str]) -> None:
    """A measure that would not be changed, by its sign or by its word, keeps the sentence."""
    assert [one.after for one in probe_sentence(text, "number_exaggeration")] == changed


@given(st.one_of(SENTENCES, st.text(max_size=60)), st.sampled_from(NAMES))
def test_replacements_are_in_order_in_the_text_and_change_it(text: str, name: str) -> None:
    replacements = probe_sentence(text, name)
    position = 0
    for replacement in replacements:
        assert position <= replacement.start <= replacement.end <= len(text)
        assert text[replacement.start : replacement.end] != replacement.after
        position = replacement.end
    if replacements:
        # What lies between the replacements is still there, in its order.
        result, at, before = apply(text, replacements), 0, 0
        for replacement in replacements:
            kept = text[before : replacement.start] + replacement.after
            assert result[at : at + len(kept)] == kept
            at, before = at + len(kept), replacement.end
        assert result[at:] == text[before:]


@given(SENTENCES, st.sampled_from(NAMES))
def test_the_first_letter_keeps_its_case_and_there_is_one_result(text: str, name: str) -> None:
    replacements = probe_sentence(text, name)
    assert replacements == probe_sentence(text, name)
    result = apply(text, replacements)
    assert result[0].isupper()
    assert "  " not in result


@given(SENTENCES)
def test_gender_flip_twice_is_the_sentence(text: str) -> None:
    replacements = probe_sentence(text, "gender_flip")
    if replacements:
        flipped = apply(text, replacements)
        assert flipped != text
        assert apply(flipped, probe_sentence(flipped, "gender_flip")) == text


@given(SENTENCES)
def test_animacy_down_leaves_no_gendered_pronoun(text: str) -> None:
    replacements = probe_sentence(text, "animacy_down")
    if replacements:
        left = set(analyse(apply(text, replacements)).lowers)
        assert left.isdisjoint({"he", "him", "his", "himself", "she", "her", "hers", "herself"})


@given(SENTENCES)
def test_nothing_is_negated_twice(text: str) -> None:
    replacements = probe_sentence(text, "negation")
    if replacements:
        negated = apply(text, replacements)
        assert "not" in negated
        assert probe_sentence(negated, "negation") == ()


def test_registry_describes_and_makes_every_probe() -> None:
    assert [
        *("gender_flip", "animacy_down", "animacy_up", "demonstrative_flip"),
        *("conjunction_flip", "past_to_future", "negation", "number_exaggeration"),
    ] == NAMES
    for name, entry in PROBES.items():
        assert entry.description
        assert "\n" not in entry.description
        assert entry.probe.__name__ == name


def test_apply_refuses_what_overlaps_or_lies_outside() -> None:
    assert apply("abc", (Replacement(2, 3, "C"), Replacement(0, 1, "A"))) == "AbC"
    with pytest.raises(ValueError, match="overlap"):
        apply("abc", (Replacement(0, 2, "x"), Replacement(1, 3, "y")))
    with pytest.raises(ValueError, match="not in a sentence of 3"):
        apply("abc", (Replacement(2, 4, "x"),))


@pytest.mark.parametrize(
    ("before", "applies"),
    [
        ((), True),
        (("Ann came home.",), True),
        (("Ann bought a car.",), False),
        (("Ann bought a car.", "It was old."), False),
        (("Ann bought a car.", "In May the plumber called."), True),
        (("Ann bought a car.", "It rained in Rome."), False),  # the one before that
        (("They met at the University of Rome.",), False),
        (("They met in Rome, Italy.",), True),
        (("He was a guest of the actor James Hill.",), True),
        (("The cars were red.",), True),
        (("They played in the 2005 Toto Cup.",), False),
    ],
)
def test_a_thing_before_the_pronoun_stops_animacy_down(
    before: tuple[str, ...], applies: bool
) -> None:
    text = "He was tired."
    assert bool(probe_sentence(text, "animacy_down", preceding=before)) is applies
    discourse = Discourse("d", "toy", tuple(map(Unit, (*before, text))))
    probe = ProbeSentence("animacy_down", unit=len(before))
    assert bool(list(probe(discourse, Context()))) is applies
    # Other probes do not ask.
    assert probe_sentence(text, "gender_flip", preceding=before)


def test_importing_the_probes_imports_neither_spacy_nor_lemminflect(repository: Path) -> None:
    code = (
        "import sys, manipulations.probes.registry\n"
        "print(sorted({'spacy', 'lemminflect'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def story(*texts: str) -> Discourse:
    house = Mention(((1, 4, 13),), "c", "nominal")
    return Discourse("d", "test", tuple(Unit(text) for text in texts), mentions=(house,))


def test_the_operator_edits_the_first_unit_that_it_can() -> None:
    discourse = story("She was ill.", "The old house burned.", "She lost her way.", "He left.")
    context = Context()
    (result,) = ProbeSentence("gender_flip")(discourse, context)
    assert result.texts == (*discourse.texts[:2], "He lost his way.", "He left.")
    assert result.variant == "gender_flip"
    assert [(edit.operator, edit.before, edit.after) for edit in result.edits] == [
        ("ProbeSentence", "her", "his"),
        ("ProbeSentence", "She", "He"),
    ]
    assert undo(result) == discourse.texts
    assert span_text(result, result.mentions[0].span) == "old house"
    (named,) = ProbeSentence("gender_flip", unit=0)(discourse, context)
    assert named.texts[0] == "He was ill."
    assert not context.skipped


def test_the_operator_counts_where_it_does_not_apply() -> None:
    discourse = story("She was ill.", "The old house burned.")
    context = Context()
    for unit in (None, 1, 7):
        assert list(ProbeSentence("gender_flip", unit)(discourse, context)) == []
    assert context.skipped == {"the probe does not apply": 3}


def test_the_operator_says_what_it_is_and_refuses_what_is_not_there() -> None:
    assert str(ProbeSentence("negation", 2)) == "ProbeSentence(probe='negation', unit=2)"
    with pytest.raises(ValueError, match="no probe is called 'x': there are gender_flip"):
        ProbeSentence("x")
    with pytest.raises(ValueError, match="counted from 0"):
        ProbeSentence("negation", -1)


def test_released_gender_flips_are_made_as_they_were(shared: Path) -> None:
    """Of 83 that flip pronouns alone; the others are where the case or the gender is uncertain."""
    path = shared / "corpora/insted/linguistic_probe_data/original_gender_pronoun_flip.txt"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    pairs = [(row["to_be_replaced"], row["replace_with"]) for row in rows]
    made = [(apply(text, probe_sentence(text, "gender_flip")), theirs) for text, theirs in pairs]
    assert len(pairs) == 100
    assert sum(ours.split() == theirs.split() for ours, theirs in made) == 65


def test_the_examples_of_the_docs_are_what_comes_out(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (repository / "docs" / "detecting.md").read_text("utf-8")
    text = page.partition("## Linguistic probes")[2]
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "docs/detecting.md", "exec"), {})
    (line,) = (line for line in code.splitlines() if "  # " in line)
    assert capsys.readouterr().out.strip() == line.split("  # ")[1]
    rows = re.findall(r"^\| `(\w+)` \| (.*?~~.*?) \|", text, re.MULTILINE)
    assert [name for name, _ in rows] == NAMES
    for name, example in rows:
        before = re.sub(r" \*\*.*?\*\*", "", example).replace("~~", "")
        after = re.sub(r"~~.*?~~ ", "", example).replace("**", "")
        assert apply(before, probe_sentence(before, name)) == after


def test_neighbours_take_readings_away() -> None:
    def tags(text: str, at: int) -> set[str]:
        return set(analyse(text).words[at].tags)

    assert tags("They have come home.", 2) == {"VBN"}
    assert tags("They come home.", 1) == {"VBP"}
    assert tags("She works.", 1) == {"VBZ"}
    assert tags("The works are old.", 1) <= {"NN", "NNS"}
    assert tags("They will leave.", 2) == {"VB"}
    assert "VBD" not in tags("The house was put up.", 3)
    assert tags("mill works", 1) == {"NNS", "VBZ"}
