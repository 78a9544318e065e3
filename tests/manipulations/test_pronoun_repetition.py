"""Pronoun repetition: which pronouns are replaced, by what, and in which English."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marked_texts import annotated
from support.strategies import discourses

from coherencegym.loaders.discourse import Discourse, Mention, Unit, span_text, spans, undo
from coherencegym.manipulations.editing import cut_excerpt
from coherencegym.manipulations.operator import Context, NotApplicableError
from coherencegym.manipulations.reference.antecedents import (
    PronounRepetition,
    replaced_place,
    replaced_pronoun,
)
from coherencegym.manipulations.reference.english import begins_sentence, contracted_verb


def repeated(text: str, **settings: bool) -> list[str]:
    """The second sentences that come of a marked text."""
    results = PronounRepetition(**settings)(annotated(text), Context())
    return [result.texts[1] for result in results]


def reasons(text: str, max_words: int = 15, continued: bool = False) -> dict[str, int]:
    """Why nothing comes of a marked text."""
    context = Context()
    operator = PronounRepetition(max_words=max_words, continued=continued)
    assert list(operator(annotated(text), context)) == []
    return dict(context.skipped)


def put(antecedent: str, sentence: str) -> str:
    """The sentence with the antecedent of ``Today ... .`` in the place of its pronoun."""
    (result,) = repeated(f"Today {antecedent} came. / {sentence}")
    return result


MAN = "[a man|1 first_pos=DET]"
BOYS = "[the boys|1 number=plural first_pos=DET]"


@pytest.mark.parametrize(
    ("antecedent", "sentence", "expected"),
    [
        # The article becomes definite, and a capital goes where the sentence begins.
        (MAN, "[He|1] ran.", "The man ran."),
        (MAN, "Then [he|1] ran.", "Then the man ran."),
        ("[an owl|1]", "I saw [it|1].", "I saw the owl."),
        ("[a cat and a dog|1]", "[They|1] ran.", "The cat and the dog ran."),
        ("[Ann|1]", '"[She|1] ran," he said.', '"Ann ran," he said.'),
        ("[a boat|1]", "[It|1] is 20 feet long.", "The boat is 20 feet long."),
        ("the [Ford|1 proper function=compound] car", "[It|1] is big.", "Ford is big."),
        # A pronoun's capital is its sentence's, or its quotation's, but for that of ``He`` for God.
        ("[a box|1]", 'I said, "[It|1] fell."', 'I said, "The box fell."'),
        ("[a box|1]", "And I thought, [It|1]'s red.", "And I thought, The box is red."),
        (BOYS, "I asked: [They|1] ran?", "I asked: The boys ran?"),
        ("[the lord|1]", "And [He|1] spoke.", "And the lord spoke."),
        # Possessives.
        (MAN, "[His|1 function=nmod:poss] hat fell.", "The man's hat fell."),
        (BOYS, "I saw [their|1] hats.", "I saw the boys' hats."),
        ("[the children|1 number=plural]", "I saw [their|1] hats.", "I saw the children's hats."),
        ("[Senators|1 number=plural]", "I saw [their|1] hats.", "I saw Senators' hats."),
        ("[Senators|1 number=]", "I saw [their|1] hats.", "I saw Senators' hats."),
        ("[Ann and James|1]", "I saw [their|1] hats.", "I saw Ann and James's hats."),
        ("[James|1]", "I saw [his|1] hat.", "I saw James's hat."),
        ("[James's|1 function=nmod:poss] dog", "I saw [his|1] hat.", "I saw James's hat."),
        ("[the boys'|1 number=plural function=nmod:poss] dog", "[They|1] ran.", "The boys ran."),
        ("[the king of Spain|1 head=king]", "[His|1] hat fell.", "The king of Spain's hat fell."),
        ("[John Smith|1 head=John]", "[His|1] hat fell.", "John Smith's hat fell."),
        (MAN, "[His|1] own hat fell.", "The man's own hat fell."),
        (MAN, "The hat is [his|1 function=root].", "The hat is the man's."),
        # "her" is either.
        ("[Ann|1]", "I met [her|1].", "I met Ann."),
        ("[Ann|1]", "I met [her|1] sister.", "I met Ann's sister."),
        ("[Ann|1]", "It made [her|1 pronoun=personal] laugh.", "It made Ann laugh."),
        ("[Ann|1]", "I saw [her|1 pronoun=possessive] mother.", "I saw Ann's mother."),
        # Contracted verbs are spelt out.
        ("[a house|1]", "[It|1]'s red.", "The house is red."),
        ("[a house|1]", "[It|1]’s been sold.", "The house has been sold."),
        ("[a house|1]", "[It|1]'s just got a door.", "The house has just got a door."),
        (MAN, "Soon [he|1]'ll run.", "Soon the man will run."),
        (BOYS, "[They|1]'re here.", "The boys are here."),
        (BOYS, "[They|1]'ve run.", "The boys have run."),
        (BOYS, "[They|1]'d been here.", "The boys had been here."),
        # A part of many needs an article, a full stop is not doubled, a particle stays behind.
        ("[paintings|1 number=plural]", "Most of [them|1] fell.", "Most of the paintings fell."),
        ("[Acme Inc.|1]", "I left [it|1].", "I left Acme Inc."),
        ("[a box|1]", "I picked [it|1] up.", "I picked the box up."),
        ("[the Netherlands|1 proper number=plural]", "[It|1] is flat.", "The Netherlands is flat."),
        ("[salt and pepper|1]", "I like [it|1].", "I like salt and pepper."),
    ],
)
def test_it_reads_as_english(antecedent: str, sentence: str, expected: str) -> None:
    assert put(antecedent, sentence) == expected


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("[The man|1 first_pos=DET] came.", "Then the man ran."),
        ("[The man|1] came.", "Then the man ran."),
        ("[Their father|1] came.", "Then their father ran."),
        ("[Old men|1 number=plural first_pos=NOUN] came.", "Then old men ran."),
        ("[An owl|1 first_pos=DET] came.", "Then the owl ran."),
        ("[Ann|1 proper first_pos=PROPN] came.", "Then Ann ran."),
        ("[Music|1 first_pos=NOUN] came.", "Then music ran."),
        ("[NASA|1 first_pos=NOUN] came.", "Then NASA ran."),
        ("[Dad|1 first_pos=NOUN] came.", "Then Dad ran."),
        ('"[Water|1 first_pos=NOUN] came."', "Then water ran."),
        ('He said, "[The man|1] came."', "Then the man ran."),
        ("Look: [Water|1 first_pos=NOUN] came.", "Then water ran."),
        # A capital inside a sentence is a name's.
        ("Today [Water|1 first_pos=NOUN] came.", "Then Water ran."),
        # Of an adjective, or where no part of speech is known, the rest of the text may say.
        ("[Dutch gin|1 first_pos=ADJ] came. I like Dutch gin.", "Then Dutch gin ran."),
        ("[Salty water|1 first_pos=ADJ] came.", "Then salty water ran."),
        ("[Water|1] came. No water is blue.", "Then water ran."),
        ("[Clinton|1] came. So Clinton ran.", "Then Clinton ran."),
    ],
)
def test_the_first_letter_inside_a_sentence(context: str, expected: str) -> None:
    pronoun = "they" if "plural" in context else "it"
    (result,) = repeated(f"{context} / Then [{pronoun}|1] ran.")
    assert result == expected


def test_the_rest_of_the_document_says_whether_a_capital_is_a_name_s() -> None:
    text = "[Clinton|1] came. / Then [it|1] ran. / So Clinton won."
    assert repeated(text) == ["Then Clinton ran."]
    assert reasons("[Clinton|1] came. / Then [it|1] ran.") == {
        "capital of a name or of a sentence": 1
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # What a pronoun is.
        ("[Ann|1 proper] ran. / She hurt [herself|1].", "reflexive pronoun"),
        ("[Ann|1 proper] ran. / Bo, [who|1] fell, wept.", "relative pronoun or question word"),
        ("[Ann|1 proper] ran. / [I|1] fell.", "first or second person"),
        ("[Ann|1 proper] ran. / [Your|1] hat fell.", "first or second person"),
        ("[Ann|1 proper] ran. / [It|1 pronoun=expletive] rained.", "expletive it"),
        ("[Ann|1 proper] ran. / [That|1] was bad.", "demonstrative or indefinite pronoun"),
        (
            "[Ann|1 proper] ran. / [He alone|1 pronoun] won.",
            "pronoun with modifiers, or of another form",
        ),
        ("[Ann|1 proper] ran. / I SAW [HER|1].", "word in capitals"),
        ("[Ann|1 proper] ran. / [[She|1]|2] fell.", "pronoun of two chains"),
        # Where it stands.
        ("[She|1] ran.", "no noun phrase or name in the sentence before"),
        ("It rained. / [She|1] ran.", "no noun phrase or name in the sentence before"),
        ("[Ann|1 proper] ran. / It rained. / [She|1] ran.", "no noun phrase or name in the"),
        ("[Ann|1 proper] ran. / [Ann|1 proper] saw [her|1] dog.", "not the first mention in its"),
        ("a: [Ann|1 proper] ran. / b: [She|1] fell.", "another speaker"),
        ("[Ann|1 proper] ran - / [She|1] fell.", "sentence that breaks off"),
        ("[Ann|1 proper] ran. / [She|1] fell —", "sentence that breaks off"),
        ("[Ann|1 proper] runs / [She|1] fell.", "sentence without a full stop"),
        ("[Ann|1 proper] ran. / [She|1] fell,", "sentence without a full stop"),
        ("[Ann|1 proper] r- ran. / [She|1] fell.", "disfluent sentence"),
        ("[Ann|1 proper] ran. / [She|1] was was was bad.", "disfluent sentence"),
        ("[Ann|1 proper] and — and Bo ran. / [She|1] fell.", "disfluent sentence"),
        ("[Ann|1 proper] ran. / [She|1] fell on on a dog.", "disfluent sentence"),
        ('I went, said "yes, "and saw [a dog|1]. / [It|1] fell.', "quotation mark that stands the"),
        ("I saw [a dog|1]. / [It|1], it fell.", "disfluency at the pronoun"),
        ("I saw [a dog|1]. / [It|1] -- well, it fell.", "disfluency at the pronoun"),
        ("[Ann|1 proper] ran. / That was bad, wasn't [she|1]?", "tag question"),
        ("[Ann|1 proper] ran. / So [she|1] and Bo fell.", "pronoun that begins a coordination"),
        ("[Ann|1 proper] ran. / I saw [[her|1] and others|2].", "pronoun that begins a coord"),
        ("[Ann|1 proper] ran. / I saw [her|1] and her dog.", "pronoun that begins a coordination"),
        ("I saw [a dog|1]. / There [it|1] is.", "pronoun after 'there', 'here' or 'the more'"),
        ("[Ann|1 proper] ran. / And here [she|1] was.", "pronoun after 'there', 'here' or"),
        ("I saw [the boys|1 number=plural]. / The more [they|1] ran, the better.", "pronoun after"),
        ("I saw [the boys|1 number=plural]. / The faster [they|1] ran, the better.", "pronoun aft"),
        ("[Ann|1 proper] ran. / For [her|1] part, Bo fell.", "pronoun of an idiom"),
        ("I saw [the boys|1 number=plural]. / On [their|1] own, dogs fell.", "pronoun of an idiom"),
        ("I saw [a dog|1]. / It was, as [it|1] were, red.", "pronoun of an idiom"),
        ("I saw [a dog|1]. / Isn't that part of [it|1]?", "pronoun of an idiom"),
        (
            "[Ann|1 proper] ran. / Shaking [her|1] head, Ann fell.",
            "possessive in a clause of a part",
        ),
        ("[Ann|1 proper] ran. / Then [she|1] or he fell.", "one of two pronouns"),
        ("[Ann|1 proper] ran. / Then he/[she|1] fell.", "one of two pronouns"),
        ("[Ann|1 proper] ran. / [She|1] who fell wept.", "pronoun with a modifier after it"),
        (
            "I saw [the boys|1 number=plural]. / Bo saw [them|1] all.",
            "pronoun with a modifier after it",
        ),
        # What cannot be said by rule.
        ("Today [Ann|1] ran. / It made [her|1] laugh.", "'her' may be object or possessive"),
        ("Today [Ann|1] ran. / [She|1]'s changed.", "'s may be is or has"),
        ("Today [Ann|1] ran. / [She|1]'d run.", "'d may be had or would"),
        ("[The man who left|1 head=man] ran. / [His|1] hat fell.", "possessive of a long phrase"),
        ("[The king of Spain|1 head=king] ran. / It is [his|1].", "possessive of a long phrase"),
        (
            "I saw [the man with a hat|1 head=man]. / Bo picked [him|1] up.",
            "long phrase before a particle",
        ),
        ("[A cat with a hat and a tie|1 head=cat] ran. / [It|1] fell.", "several articles in the"),
        ("[Dutch gin|1 first_pos=ADJ] came. / Then [it|1] ran.", "capital of a name or of a"),
        # What it would be replaced by.
        ("Ann is [a cook|1 predicate=yes]. / [She|1] ran.", "antecedent: predicate nominal"),
        ("Ann works as [a cook|1]. / [She|1] ran.", "antecedent: predicate nominal"),
        ("This means [a war|1]. / [It|1] was bad.", "antecedent: predicate nominal"),
        # Where the corpus has no grammar the words tell what is a predicate or an apposition.
        ("Ann was [a cook|1]. / [She|1] ran.", "antecedent: predicate nominal"),
        ("Ann's always [a cook|1]. / [She|1] ran.", "antecedent: predicate nominal"),
        ("Ann sang, and is [a cook|1]. / [She|1] ran.", "antecedent: predicate nominal"),
        ("Ann (a girl) is [a cook|1]. / [She|1] ran.", "antecedent: predicate nominal"),
        ("Ann was not a poet but [a cook|1]. / [She|1] ran.", "antecedent: predicate nominal"),
        ("Ann isn't a poet, but rather [a cook|1]. / [She|1] ran.", "antecedent: predicate nomin"),
        ("[A poor cook|1], she fell. / [She|1] ran.", "antecedent: predicate nominal"),
        ("[A cook|1] and poet, she fell. / [She|1] ran.", "antecedent: predicate nominal"),
        ("They made Ann [the cook|1 function=xcomp]. / [She|1] ran.", "antecedent: predicate"),
        ("Ann, [a cook|1 function=appos], ran. / [She|1] ran.", "antecedent: apposition"),
        ("Ann, [a cook|1 link=appos], ran. / [She|1] ran.", "antecedent: apposition"),
        ("I saw a [fine lake|1 function=obj]. / [It|1] is big.", "noun without its determiner"),
        ("I saw the [Alps|1 proper]. / [It|1] is big.", "noun without its determiner"),
        # An amount is no thing that has it.
        ("I saw [a boat|1]. / Alone, [it|1]'s about 20 tons.", "pronoun for an amount"),
        ("I saw [a boat|1]. / [It|1] is less than one ton for us.", "pronoun for an amount"),
        ("I saw [a boat|1]. / [It|1] was an average of five years.", "pronoun for an amount"),
        ("I saw [the man|1 function=reparandum], no. / [He|1] ran.", "antecedent: disfluency"),
        ("I saw [the uh man|1]. / [He|1] ran.", "antecedent: disfluency"),
        ("I saw [the the man|1]. / [He|1] ran.", "antecedent: disfluency"),
        ("I heard [the war|1 entity=event]. / [It|1] ended.", "antecedent: clausal or event"),
        ("He [left|1 nominal pos=VERB]. / [It|1] was bad.", "antecedent: clausal or event"),
        ("I [see|1 nominal link=disc]. / [It|1] was bad.", "antecedent: clausal or event"),
        ("[Two men|1 number=plural] ran. / [They|1] fell.", "antecedent: quantified phrase"),
        ("[40 men|1 number=plural] ran. / [They|1] fell.", "antecedent: quantified phrase"),
        ("[A number of men|1 number=plural] ran. / [They|1] fell.", "antecedent: quantified"),
        ("[The two of the men|1 number=plural] ran. / [They|1] fell.", "antecedent: quantified"),
        ("[A few men|1 number=plural] ran. / [They|1] fell.", "antecedent: quantified phrase"),
        ("[Another man|1] ran. / [He|1] fell.", "antecedent: quantified phrase"),
        ("[Someone here|1 nominal] ran. / [He|1] fell.", "antecedent: quantified phrase"),
        ("[Those who ran|1 number=plural] came. / [They|1] fell.", "antecedent: quantified phrase"),
        ("I saw [the latter|1]. / [He|1] fell.", "antecedent: quantified phrase"),
        ("[This one|1] ran. / [It|1] fell.", "antecedent: quantified phrase"),
        ("[Men|1 number=plural first_pos=NUM] ran. / [They|1] fell.", "antecedent: quantified"),
        ("[My man|1] ran. / [He|1] fell.", "antecedent: phrase with a pronoun of its chain"),
        ("[[We|2] men|1 number=plural] ran. / [They|1] fell.", "antecedent: phrase with a pronoun"),
        ("[[Thy|2] men|1 number=plural] ran. / [They|1] fell.", "antecedent: phrase with a pro"),
        ("[The man and [his|1] dog|1] ran. / [He|1] fell.", "antecedent: phrase with a pronoun"),
        ("[Earl of Clare|1 proper entity=person] ran. / [He|1] fell.", "antecedent: title of a"),
        ('I read ["Emma"|1]. / [It|1] fell.', "antecedent: punctuation in the phrase"),
        ('I read "[Emma|1]". / [It|1] fell.', "antecedent: phrase in brackets or quotation marks"),
        ("I came (by [a bus|1]). / [It|1] fell.", "antecedent: phrase in brackets or quotation"),
        ("I saw [the bus, a red one|1 head=bus]. / [It|1] fell.", "antecedent: quantified phrase"),
        ("I saw [the bus, red as it was|1 head=bus]. / [It|1] fell.", "antecedent: punctuation"),
        ("I saw [a man, pale and sad|1 head=man]. / [He|1] fell.", "antecedent: punctuation"),
        ("I saw [the men, Ann and Bo|1 head=men number=plural]. / [They|1] fell.", "punctuation"),
        ("I saw [the boss, Ann|1 head=Ann]. / [She|1] fell.", "antecedent: punctuation"),
        ("I saw [Rome, Italy|1 head=Rome]. / [It|1] fell.", "antecedent: punctuation"),
        ("I saw [the bus -|1 head=bus] then. / [It|1] fell.", "antecedent: punctuation"),
        ("In [lipstick|1 function=compound] ads [it|1] fell. / [It|1] fell.", "no noun phrase of"),
        ("I saw [poor guy|1]. / [He|1] fell.", "antecedent: noun without an article"),
        (
            "I saw [the boys|1 number=plural]. / [He|1] fell.",
            "antecedent: another number or gender",
        ),
        ("I saw [the team|1]. / [They|1] fell.", "antecedent: another number or gender"),
        # Where the corpus does not say the number, the words do.
        ("I saw [the team|1 number=]. / [They|1] fell.", "antecedent: another number or gender"),
        ("I saw [these men|1 number=]. / [It|1] fell.", "antecedent: another number or gender"),
        ("I saw [a girl|1]. / [They|1 number=singular] fell.", "antecedent: another number or"),
        # What would stand beside a word that it does not go with.
        ("I saw [a red bus|1]. / [It|1]'s a nice bus.", "predicate that repeats the phrase"),
        ("I saw [Acme|1]. / [It|1] is called Acme.", "predicate that repeats the phrase"),
        ("I saw [a red bus|1]. / Isn't [it|1] a nice bus?", "predicate that repeats the phrase"),
        ("I saw [Ann|1]. / I told Bo [she|1] fell.", "name beside a name"),
        ("I saw [Ann|1]. / I call [her|1 pronoun=personal] Bo.", "name beside a name"),
        ("I saw [dogs|1 number=plural]. / Bo killed [them|1].", "bare noun that reads as one"),
        ("I saw [Bo|1 gender=masculine]. / [She|1] fell.", "antecedent: another number or gender"),
    ],
)
def test_what_is_left_out_is_counted_by_its_reason(text: str, reason: str) -> None:
    assert any(reason in found for found in reasons(text)), reasons(text)


def test_a_discontinuous_phrase_is_left_out() -> None:
    whole = annotated("I saw [the man|1] today who fell. / [He|1] ran.")
    parts = ((0, 6, 13), (0, 20, 28))
    mention = dataclasses.replace(whole.mentions[0], span=parts)
    context = Context()
    discourse = dataclasses.replace(whole, mentions=(mention, whole.mentions[1]))
    assert list(PronounRepetition()(discourse, context)) == []
    assert context.skipped == {"antecedent: discontinuous phrase": 1}


def test_the_longest_phrase_is_a_setting() -> None:
    text = "[The old man by the sea|1 head=man] ran. / [He|1] fell."
    assert repeated(text) == ["The old man by the sea fell."]
    operator = PronounRepetition(max_words=6)
    assert len(list(operator(annotated(text), Context()))) == 1
    assert reasons(text, max_words=5) == {"antecedent: more than 5 words": 1}


def test_the_last_fit_mention_is_taken() -> None:
    text = "[Ann|1 proper] met [the cook|1] and is [a cook|1 predicate=yes], too. / [She|1] ran."
    assert repeated(text) == ["The cook ran."]
    # What is joined to a predicate is one.
    text = "[Ann|1 proper] is [a cook|1 predicate=yes] and [a poet|1 function=conj]. / [She|1] ran."
    assert repeated(text) == ["Ann ran."]
    # "such as" names no role.
    assert repeated("I saw men such as [Bo|1]. / [He|1] ran.") == ["Bo ran."]


@pytest.mark.parametrize("said", ["[a fine place|1 function=obj]", "a [fine place|1 function=obj]"])
def test_what_a_verb_says_of_its_object_is_not_said_again(said: str) -> None:
    assert repeated(f"It makes [the square|1] {said}. / [It|1] is big.") == ["The square is big."]


def test_a_longer_mention_of_the_chain_comes_first() -> None:
    text = "Today [a man|1] came. / [The man who lost [his|1] hat|1] ran."
    assert reasons(text) == {"not the first mention in its sentence": 1}


def test_each_pronoun_is_a_result_of_its_own() -> None:
    text = "[Ann|1 proper] sold [a map|2]. / [She|1] printed [it|2] first. / [She|1] ran."
    discourse = annotated(text)
    first, second = PronounRepetition()(discourse, Context())
    assert (first.variant, second.variant) == ("u1c0", "u1c12")
    assert first.texts == ("Ann sold a map.", "Ann printed it first.")
    assert second.texts == ("Ann sold a map.", "She printed the map first.")
    (same, _) = PronounRepetition(repeat=False)(discourse, Context())
    assert same.texts == discourse.texts[:2]
    assert same.variant == "u1c0"
    assert same.edits == ()
    assert same.alternatives[-1].options == ("She", "Ann")
    assert replaced_place(same) == (0, 3)
    assert replaced_place(first) == (0, 3)
    assert replaced_place(second) == (12, 19)
    with pytest.raises(ValueError, match="no place of a pronoun"):
        replaced_place(discourse)


def test_only_where_the_sentence_goes_on() -> None:
    assert repeated("I saw [a man|1]. / Bo saw [him|1] today.", continued=True) == [
        "Bo saw the man today."
    ]
    text = "I saw [a man|1]. / Bo saw [him|1]."
    assert repeated(text) == ["Bo saw the man."]
    assert reasons(text, continued=True) == {"nothing follows the pronoun": 1}


def test_reasons_hold_whether_pronouns_are_replaced_or_not() -> None:
    discourse = annotated("[Ann|1 proper] ran. / [She|1] saw [herself|1]. / [They|2] ran.")
    contexts = (Context(), Context())
    for repeat, context in zip((True, False), contexts, strict=True):
        assert len(list(PronounRepetition(repeat=repeat)(discourse, context))) == 1
    assert contexts[0].skipped == contexts[1].skipped
    assert contexts[0].skipped.total() == 2


SENTENCES = st.sampled_from(
    [
        "[Ann|1 proper] met [a man|2 first_pos=DET].",
        "[The boys|3 number=plural] saw [Bo|2].",
        "[She|1]'s here with [his|2] dog and [them|3].",
        "Then [he|2] met [her|1] and [their|3] dog.",
        "[It|4]’ll rain, and [she|1] and [he|2] know [it|4].",
        "Near [the old house|4] [they|3] fell.",
    ]
)
TEXTS_WITH_MENTIONS = st.lists(SENTENCES, min_size=1, max_size=5).map(" / ".join)


@given(TEXTS_WITH_MENTIONS)
def test_one_place_changes_and_the_rest_holds(text: str) -> None:
    discourse = annotated(text)
    context, same = Context(), Context()
    results = list(PronounRepetition()(discourse, context))
    originals = list(PronounRepetition(repeat=False)(discourse, same))
    pronouns = [mention for mention in discourse.mentions if mention.kind == "pronoun"]
    assert len(results) + context.skipped.total() == len(pronouns)
    assert context.skipped == same.skipped
    assert len({result.variant for result in results}) == len(results)
    for result, original in zip(results, originals, strict=True):
        unit, at = map(int, result.variant[1:].split("c"))
        assert original.texts == discourse.texts[unit - 1 : unit + 1]
        assert undo(result) == original.texts
        assert result.texts[0] == original.texts[0]
        (edit,) = result.edits
        assert edit.start == at
        assert edit.before != edit.after
        before, after = original.texts[1], result.texts[1]
        assert before[:at] == after[:at]
        assert before[at + len(edit.before) :] == after[at + len(edit.after) :]
        left = [span_text(original, span) for span in spans(original)]
        for span in spans(result):
            assert span_text(result, span) in left
        # Only what touches the pronoun is lost.
        place = (1, at, at + len(edit.before))
        untouched = [
            mention
            for mention in original.mentions
            if not any(u == 1 and s < place[2] and place[1] < e for u, s, e in mention.span)
        ]
        assert len(result.mentions) == len(untouched)


@given(TEXTS_WITH_MENTIONS, st.integers(0, 3))
def test_results_do_not_depend_on_what_stands_elsewhere(text: str, more: int) -> None:
    """A sentence put after all others changes nothing that came of those."""
    longer = " / ".join([text, *["It rained."] * more])
    one = [(r.variant, r.texts) for r in PronounRepetition()(annotated(text), Context())]
    two = [(r.variant, r.texts) for r in PronounRepetition()(annotated(longer), Context())]
    assert one == two


@given(discourses())
def test_a_discourse_without_pronouns_gives_nothing(discourse: Discourse) -> None:
    context = Context()
    assert list(PronounRepetition()(discourse, context)) == []
    assert not context.skipped


@given(discourses(), st.data())
def test_an_excerpt_keeps_what_lies_in_it(discourse: Discourse, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(discourse.units) - 1))
    last = data.draw(st.integers(first, len(discourse.units) - 1))
    part = cut_excerpt(discourse, first, last)
    assert part.units == discourse.units[first : last + 1]
    inside = [
        span_text(discourse, mention.span)
        for mention in discourse.mentions
        if all(first <= unit <= last for unit, _, _ in mention.span)
    ]
    assert [span_text(part, mention.span) for mention in part.mentions] == inside


def test_an_excerpt_of_what_was_changed_undoes() -> None:
    (changed,) = PronounRepetition()(annotated("[Ann|1 proper] ran. / [She|1] fell."), Context())
    part = cut_excerpt(changed, 1, 1)
    assert part.texts == ("Ann fell.",)
    assert undo(part) == ("She fell.",)
    assert cut_excerpt(changed, 0, 0).edits == ()
    with pytest.raises(ValueError, match="no units 1 to 2"):
        cut_excerpt(changed, 1, 2)


@pytest.mark.parametrize(
    ("after", "verb"),
    [
        ("'s red", ("is", 2)),
        ("'s not been here", ("has", 2)),
        ("’S got", ("has", 2)),
        ("'ll go", ("will", 3)),
        ("'re", ("are", 3)),
        ("'d better go", ""),
        ("'d had it", ("had", 2)),
        ("'s gone", ""),
        ("'s already taken", ""),
        ("'s a red house", ("is", 2)),
        (" is red", ("", 0)),
        ("'stis", ("", 0)),
    ],
)
def test_contracted_verbs(after: str, verb: tuple[str, int] | str) -> None:
    if verb:
        assert contracted_verb(after) == verb
        return
    with pytest.raises(NotApplicableError):
        contracted_verb(after)


def test_where_a_sentence_begins() -> None:
    for before in ("", '"', "Ann ran. ", 'Ann ran." ', "He said: ", "- "):
        assert begins_sentence(f"{before}He", len(before)), before
    for before in ("Ann and ", "Ann, ", "Ann's "):
        assert not begins_sentence(f"{before}He", len(before)), before


def test_a_mention_of_no_words_before_is_no_antecedent() -> None:
    """A mention that only touches the sentence before by its number is none of it."""
    units = (Unit("Ann ran."), Unit("She fell."))
    mentions = (Mention(((1, 0, 3),), "1", "pronoun"),)
    context = Context()
    discourse = Discourse("d", "test", units, mentions=mentions)
    assert list(PronounRepetition()(discourse, context)) == []
    assert context.skipped.total() == 1


def test_lists_keep_their_commas() -> None:
    for listed in ("Ann, Bo and Cy", "the cat, the dog, and the owl", "cats, dogs & owls"):
        assert put(f"[{listed}|1 number=plural]", "I saw [them|1].") == f"I saw {listed}."
    assert put("[the old, grey dog|1]", "I saw [it|1].") == "I saw the old, grey dog."


def test_a_predicate_may_repeat_what_there_are_many_of() -> None:
    text = "I saw [a bus|1]. / [It|1] was the first bus, and one of the oldest."
    assert repeated(text) == ["The bus was the first bus, and one of the oldest."]


def test_what_is_no_predicate() -> None:
    """A form of *be* before its subject, and the existential *there*."""
    for context in ("There is [a dog|1].", "Where's [the dog|1]?", "Is [the dog|1] red?"):
        assert repeated(f"{context} / [It|1] fell.") == ["The dog fell."]


def test_headings_and_fragments_are_no_sentence_before() -> None:
    text = "I saw [a dog|1]. / [It|1] fell."
    for meta in ({"headings": "0"}, {"sentence_types": "frag decl"}):
        context = Context()
        assert list(PronounRepetition()(annotated(text, meta=meta), context)) == []
        assert context.skipped == {"heading or fragment before": 1}
    for meta in ({"headings": "2 10"}, {"sentence_types": "decl frag"}):
        assert len(list(PronounRepetition()(annotated(text, meta=meta), Context()))) == 1
    spoken = annotated("a: [A dog|1]. / a: [It|1] fell.", meta={"sentence_types": "frag decl"})
    assert len(list(PronounRepetition()(spoken, Context()))) == 1


def test_the_pronoun_of_an_excerpt_is_found_by_its_whole_span() -> None:
    """A longer mention that begins where the pronoun does comes before it."""
    discourse = annotated("I saw [a dog|1]. / Then [[it|1] up there|2 pronoun] fell.")
    (original,) = PronounRepetition(repeat=False)(discourse, Context())
    assert span_text(original, replaced_pronoun(original).span) == "it"
    (contracted,) = PronounRepetition(repeat=False)(
        annotated("I saw [a dog|1]. / Soon [it|1]'s red."), Context()
    )
    assert span_text(contracted, replaced_pronoun(contracted).span) == "it"
    (repeated_one,) = PronounRepetition()(annotated("I saw [a dog|1]. / [It|1] ran."), Context())
    with pytest.raises(ValueError, match="no pronoun at its place"):
        replaced_pronoun(repeated_one)
