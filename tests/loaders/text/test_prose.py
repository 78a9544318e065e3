"""What is prose and what is not."""

from __future__ import annotations

import pytest

from coherencegym.loaders.text.prose import (
    badly_split,
    debris,
    sentence_debris,
    sentences_drop,
    text_drop,
    unfinished,
)

GOOD = ("The kettle sang.", "Ann took 2 cups from the shelf.", 'She said: "Tea is good."')


@pytest.mark.parametrize(
    "sentences",
    [
        GOOD,
        ("He paid $3.5 million for the house in 1990.", "Was it much?", "It was (he thought)."),
        ("यह एक घर है।", "वह एक बाग है।", "हम यहाँ रहते हैं।"),
        ("これは家です。", "あれは庭です。", "ここは村です。"),
        (" ".join(["word"] * 100) + ".",),
    ],
)
def test_prose(sentences: tuple[str, ...]) -> None:
    assert sentences_drop(sentences) is None


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("It is == here now.", "leftover markup"),
        ("It is {{cite}} here.", "leftover markup"),
        ("It is [[here|there]] now.", "leftover markup"),
        ("Born | 1950 | in Rome.", "leftover markup"),
        ("It is <b>here</b> now.", "leftover markup"),
        ("It is &nbsp; here now.", "leftover markup"),
        ("In 12 34 56 78 90 12 34 56 78 90 12 34 56 78 90 12 34 56 78.", "too few letters"),
        ("It rained.", "a sentence of fewer than 3 words"),
        (" ".join(["word"] * 101) + ".", "a sentence of more than 100 words"),
        ("The list is as follows:", "a sentence without its end"),
        ("A heading without a stop", "a sentence without its end"),
    ],
)
def test_no_prose(sentence: str, reason: str) -> None:
    assert sentences_drop((*GOOD[:1], sentence)) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("They are:\n* one thing\n* another thing", "list"),
        ("They are:\n- one thing\n\n- another thing", "list"),
        ("They are:\n1. one thing\n2. another thing", "list"),
        ("Year\tGoals\n1990\t3", "table"),
        ("It is [[here]].", "leftover markup"),
        ("He said:\n- No.\nThen he left.", None),
        ("\tIt rained.\n\tIt stopped.", None),
        ("It rained in 1990.\nIt stopped in 1991.", None),
    ],
)
def test_lists_and_tables(text: str, reason: str | None) -> None:
    assert text_drop(text) == reason


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Kashibai was married to Bajirao | on March 11, 1720.", "leftover markup"),
        ("Goalkeeper: < br >", "leftover markup"),
        ('! colspan=9 style= "background: # FF0000;"', "leftover markup"),
        ("He was born on 4 April. < ref name= x > < /ref >", "leftover markup"),
        ('He had a part in "", a series about ships.', "empty brackets or quotation marks"),
        ("The town () is old.", "empty brackets or quotation marks"),
        ("The town (;) is old.", "empty brackets or quotation marks"),
        ("His father,, was a smith.", "doubled punctuation"),
        ("It was shot by her fiancé,.", "doubled punctuation"),
        ("He beat Robert Wagner Jr..", "doubled punctuation"),
        ("Naples (, once a kingdom) is a port.", "doubled punctuation"),
        ("They lost the match against the.", "a determiner without its noun"),
        ("He primarily plays in the, but he can run.", "a determiner without its noun"),
        ("The population at the was 962.", "a determiner without its noun"),
        ("He owned Finnoe House, Borrisokane, a", "a determiner without its noun"),
        ("It covers an area of and has a lake.", "a preposition without its noun"),
        ("It has a total length of, and two bridges.", "a preposition without its noun"),
        ("The village lies at.", "a preposition without its noun"),
        ("He played for three teams between and.", "a preposition without its noun"),
        ("It is reached by a -long causeway.", "a hyphen without its number"),
        ("is a mountain pass in the Alps.", "a sentence that begins in the middle"),
        (", Temple of the Blue Waves, is old.", "a sentence that begins in the middle"),
        ("He wrote in several magazines (pub.", "a bracket that is not closed"),
        ("The bridge (of the old town) stood (until 1900.", "a bracket that is not closed"),
        ("The following rooms:", "a sentence without its end"),
        ("National Hospital Organization", "a sentence without its end"),
    ],
)
def test_debris(sentence: str, reason: str) -> None:
    assert sentence_debris(sentence) == reason
    assert debris(("All is well here.", sentence, "So it was.")) == reason


@pytest.mark.parametrize(
    "sentence",
    [
        "It covers an area of 2 km (1 mi), and an elevation of over 300 m.",
        "He wrote The A. and the by-election of 1990 ended in a draw.",
        "At 8:00 a.m. the in-game clock, a .22 rifle and vitamin A, were there.",
        "They took in an area of in-shore water by night ... and left.",
        "She said: \"The film 'Of Mice and Men' is out.\"",
        "He won .957 of them (.821 before that).",
        "The water and everything in between.",
        "The suffix -itis (as in arthritis) is Greek. [...]",
        "de Havilland built it.",
        "iPhone sales rose.",
        "He studied the Qur'an.",
        "Inc., Ltd., etc., are short.",
        "For $x_{the} , ; of.",  # TeX has signs of its own
        "1) He came; 2) she went.",
        "They asked where it came from.",
        "He was difficult to deal with.",
        "Er fängt an.",
        "यह एक घर है।",
    ],
)
def test_what_looks_like_debris(sentence: str) -> None:
    assert sentence_debris(sentence) is None
    assert debris((sentence,)) is None


@pytest.mark.parametrize(
    ("sentence", "piece"),
    [
        ("He worked for the U.S.", True),
        ("This was found by Smith et al.", True),
        ("It was told to Robert J.", True),
        ("Ltd.", True),
        ("She won the final between 1.", True),
        ("went home after that.", True),
        ("“and then he left.", True),
        ("It ended with World War I.", False),
        ("So do I.", False),
        ("She went at the age of 14.", False),
        ("It was built in 1904.", False),
        ("She said no.", False),
        ("“Yes,” he said.", False),
        ("al-Mutawakkil reigned.", False),
    ],
)
def test_pieces_of_a_badly_split_sentence(sentence: str, piece: bool) -> None:
    assert badly_split(sentence) is piece


@pytest.mark.parametrize(
    ("sentence", "goes_on"),
    [
        ("I am the master of my fate,", True),
        ('He said that it "did not feel right.', True),
        ("„Das ist alt.", True),
        ("We left.”", True),
        ('"No," he said, and "never".', False),
        ("„Das ist alt.“", False),
        ("That's the cat's, isn't it?", False),
    ],
)
def test_sentences_that_go_on_in_another(sentence: str, goes_on: bool) -> None:
    assert unfinished(sentence) is goes_on


@pytest.mark.parametrize(
    ("sentence", "is_debris"),
    [
        ("133 (2005) 2853-2863] considered a vector space with a bilinear form.", True),
        ("The growth rate is described in earlier work [D.P.", True),
        ("This follows a recent paper (see Theorem 2 of [3).", True),
        ("The bands (K7-M) and (2+1) were seen before [3].", False),
        ("Values on (0, 1] and on [0, 1) are the same.", False),
        ("We show that a) it is closed, and iii) it is small; 2) follows.", False),
        ("The limit is $]0,1[$ as before.", False),
    ],
)
def test_a_bracket_without_its_other_one_is_debris_of_a_document(
    sentence: str, is_debris: bool
) -> None:
    assert sentence_debris(sentence) is None
    found = debris(("All is well here.", sentence))
    assert found == ("a bracket without its other one" if is_debris else None)
