"""Detokenisation: right on tokenised text, and nothing at all on natural text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus
from coherencegym.loaders.text.detokenize import detokenize, lay_out

EXAMPLES = {
    "hello , how are you ? i don ' t know .": "hello, how are you? i don't know.",
    "it ' s i ' m we ' ve they ' re she ' ll he ' d": "it's i'm we've they're she'll he'd",
    "i'm fine , it's ok .": "i'm fine, it's ok.",
    "do n't , ca n't , it 's , we 've": "don't, can't, it's, we've",
    "that s where i m , you re right": "that's where i'm, you're right",
    "i can t and didn t , he s": "i can't and didn't, he's",
    "on s quilt and t shirts": "on s quilt and t shirts",
    "well . . . maybe . . . . bye": "well... maybe.... bye",
    ". . . just got home": "... just got home",
    "really ? ! ? ! no ! !": "really?!?! no!!",
    "wait ... what ?": "wait... what?",
    "( not really ) . ok": "(not really). ok",
    'i said " hi there . " then left': 'i said "hi there." then left',
    "she said ' go ' to me": "she said 'go' to me",
    '" hi " , he said': '"hi", he said',
    'so , " hi , " he said ( " no . " ) .': 'so, "hi," he said ("no.").',
    '" ( hi ) "': '"(hi)"',
    'he said " hello ! "': 'he said "hello!"',
    # A mark that is alone opens at the beginning, and closes elsewhere.
    '" hello , he said .': '"hello, he said.',
    "' hello , he said .": "'hello, he said.",
    'hello , " he said .': 'hello," he said.',
    "hello , ' he said .": "hello,' he said.",
    "( note : ) cool : )": "(note:) cool:)",
    "my parents ' house": "my parents' house",
    "rock ' n roll": "rock 'n roll",
    "$ 5 and 10 % of 70 , 000 at 97 . 9 by 10 : 30": "$5 and 10% of 70,000 at 97.9 by 10:30",
    "they are 1 , 1 , and 12": "they are 1, 1, and 12",
    "i have 2 , 3 . you ?": "i have 2, 3. you?",
    "from the u . s . like p . o . d .": "from the u.s. like p.o.d.",
    "plan b . c is worse": "plan b. c is worse",
    "`` Stop ! '' he said -LRB- twice -RRB- .": '"Stop!" he said (twice).',
    "hours : nine ; no more": "hours: nine; no more",
    # Marks that say whether they open or close do so, whatever their number.
    "the great `` ébéniste '' of the period . ''": 'the great "ébéniste" of the period."',
    "He said , `` I came .": 'He said, "I came.',
    "I saw . '' Then `` Two '' came .": 'I saw." Then "Two" came.',
    "the `` common toad `` , or `` bufo ``": 'the "common toad", or "bufo"',
    "a part of `` '' , and `` Two ''": 'a part of "", and "Two"',
    "`` Billboard '' 's chart , D.C. 's , Jr. 's , ( so ) 's": (
        "\"Billboard\"'s chart, D.C.'s, Jr.'s, (so)'s"
    ),
    "debuted at # 10 for $ 5": "debuted at #10 for $5",
    "in the late ' 80s , shoot ' em up": "in the late '80s, shoot 'em up",
    "they say 'doors ' are `real ' , too": "they say 'doors' are `real', too",
    "the kings ' sagas and the clusters ' core": "the kings' sagas and the clusters' core",
    "the years ' end was ' so called ' then": "the years' end was 'so called' then",
    "the mechanism ( s ) of process ( es )": "the mechanism(s) of process(es)",
    "“ Yes ” , it ’ s ‘ so ’ , he said": "“Yes”, it’s ‘so’, he said",
    "i 'm gon na go": "i'm gonna go",
    "I CA N'T , I 'M IN , IT IS N'T": "I CAN'T, I'M IN, IT ISN'T",
    "I CA N’T , i ’m in , the dogs ’ house": "I CAN’T, i’m in, the dogs’ house",
    "the sailors ' 90-foot boat of ' 86": "the sailors' 90-foot boat of '86",
    "what is ` fit ' or ` due ' care": "what is 'fit' or 'due' care",
}


#: Those in which a lost apostrophe is put in: no token has its place.
PUT_IN = {"that s where i m , you re right", "i can t and didn t , he s"}


@pytest.mark.parametrize("tokenised", sorted(EXAMPLES.keys() - PUT_IN))
def test_laid_out_tokens_are_as_the_text_is(tokenised: str) -> None:
    assert lay_out(tokenised.split())[0] == EXAMPLES[tokenised]


@pytest.mark.parametrize("tokenised", EXAMPLES)
def test_examples(tokenised: str) -> None:
    assert detokenize(tokenised) == EXAMPLES[tokenised]


NATURAL = [
    "Mr. O'Brien's dogs' toys cost $5.30 (or 5%) at 10:30 a.m. -- \"cheap\", isn't it?",
    "Wait ... what? Well - yes; rock 'n' roll, 'tis :)",
    "A .5 litre bottle, a .com name, 1,000 and 1, 2, 3.",
    "He said, \"'Go,' she said.\" She said, \"...what?\" ('...no.')",
    "sad :'( happy :)",
    "",
    " ",
    "“Yes,” he said… no",
]


@pytest.mark.parametrize("text", NATURAL)
def test_natural_text_is_left_alone(text: str) -> None:
    assert detokenize(text) == text


def test_every_text_of_the_samples_is_left_alone() -> None:
    count = 0
    for discourse in read(corpus("sample")):
        options = [o for alternative in discourse.alternatives for o in alternative.options]
        for text in (*discourse.texts, *options):
            count += 1
            assert detokenize(text) == text
    assert count > 1500


#: What tokenised text has after a word: the end of a contraction, apostrophe lost or not.
CONTRACTED = re.compile(r"n?'(?:t|s|m|re|ve|ll|d)(?![\w'])|(?:m|ve|ll|d|re|s|t)\Z", re.IGNORECASE)

#: Words and signs as natural text has them: every sign touches a word.
WORDS = st.from_regex(
    r"\A[\"(']?[A-Za-z]+([-'][a-z]+)?(\.\.\.|[.,;:!?%])?[\")']?\Z", fullmatch=True
).filter(lambda word: not CONTRACTED.match(word))


@given(st.lists(WORDS, max_size=12))
def test_signs_that_touch_a_word_stay(words: list[str]) -> None:
    text = " ".join(words)
    assert detokenize(text) == text


TOKENS = st.sampled_from([*"abst.,?!;:\"'()$%5", "n't", "'s", "``", "''", "i", "don", "12", "..."])


@given(st.lists(TOKENS, max_size=15))
def test_only_spaces_go_and_twice_is_once(tokens: list[str]) -> None:
    """Whatever the input: no sign is lost or moved; apostrophes that were lost may come back."""
    text = " ".join(tokens).replace("``", '"').replace("''", '"')
    result = detokenize(text)

    def letters(value: str) -> str:
        return re.sub(r"[\s']", "", value)

    assert letters(result) == letters(text)
    assert result.count("'") >= text.count("'")


def test_all_real_utterances(shared: Path) -> None:
    """Candidates included: each sign is one of these, and stands where it is written."""
    path = shared / "corpora" / "personachat" / "self_original.txt"
    utterances: set[str] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.partition(" ")[2].split("\t")
        if len(fields) > 1:
            utterances |= {*fields[:2], *fields[3].split("|")}
    assert len(utterances) == 7697
    for utterance in utterances:
        text = detokenize(utterance)
        assert not re.search(r"(?<=\S) [.,?!;]", text), utterance
        assert re.sub(r"[\s']", "", text) == re.sub(r"\s", "", utterance)
        assert not re.search(r"\b(i m|don t|it s|you re|can t)\b", text), utterance
        assert text == text.lower()
