"""Words of texts, and the rows in which their tokens are masked."""

from __future__ import annotations

import json
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.tiny_encoders import masked_tokenizer
from support.tiny_tokenizers import KINDS, make

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.cache import row_key
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.models.config import ScorerChoice
from coherencegym.eval.plan.options import Options
from coherencegym.eval.plan.plan import make_plan
from coherencegym.eval.plan.requests import Query, prepare
from coherencegym.eval.text.masks import MaskedRow, Masks, mask_of
from coherencegym.eval.text.places import Tokens
from coherencegym.eval.text.reading import TokenReader
from coherencegym.eval.text.sequence import TokenSequence
from coherencegym.eval.text.special import Added
from coherencegym.eval.text.words import begin_words

MASK = 9999
#: Ids of a text, and the number of the word of each: words follow one another.
TEXTS = st.lists(st.tuples(st.integers(0, 50), st.booleans()), min_size=1, max_size=12).map(
    lambda pairs: ([i for i, _ in pairs], np.cumsum([new for _, new in pairs]).tolist())
)


@given(text=TEXTS, data=st.data())
def test_all_later_tokens_of_a_word_are_masked_and_no_others(
    text: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    ids, words = text
    place = data.draw(st.integers(0, len(ids) - 1))
    row = Masks(MASK).row(ids, words, place)
    hidden = {p for p in range(place, len(ids)) if words[p] == words[place]}
    assert set(row.hidden) == hidden
    assert row.seen(ids) == tuple(MASK if p in hidden else i for p, i in enumerate(ids))
    assert (row.place, row.targets) == (place, (ids[place],))


@given(text=TEXTS, data=st.data(), ahead=st.integers(0, 1))
def test_the_original_masking_hides_one_token(
    text: tuple[list[int], list[int]], data: st.DataObject, ahead: int
) -> None:
    ids, words = text
    assume(ahead < len(ids))
    place = data.draw(st.integers(ahead, len(ids) - 1))
    row = Masks(MASK, "original", ahead).row(ids, words, place)
    assert row.hidden == (place,)
    assert row.place == place - ahead
    assert [p for p, i in enumerate(row.seen(ids)) if i == MASK] == [place]


@given(text=st.text("ab'.- 1é\n", min_size=1, max_size=20), kind=st.sampled_from([*KINDS]))
def test_words_have_no_white_space_within_them_and_are_no_longer_than_the_tokenizers(
    text: str, kind: str
) -> None:
    tokenizer = make(kind)
    try:
        (tokens,) = TokenReader(tokenizer, words=True).read([text])
    except EvaluationError:
        return
    assert tokens.begins is not None
    assert tokens.begins[:1].all()
    own = tokenizer([text], add_special_tokens=False).word_ids(0)
    numbers = np.cumsum(tokens.begins).tolist()
    for number, places in groupby(range(len(own)), key=numbers.__getitem__):
        members = [*places]
        assert len({own[p] for p in members}) == 1, (number, members)
        solid = [p for p in members if text[tokens.starts[p] : tokens.ends[p]].strip()]
        for one, other in pairwise(solid):
            before, behind = (text[tokens.starts[p] : tokens.ends[p]] for p in (one, other))
            end = int(tokens.starts[one]) + len(before.rstrip())
            start = tokens.ends[other] - len(behind.lstrip())
            assert start <= end


def by_characters(text: str, *pieces: str) -> list[bool]:
    """Which pieces of a text begin a word where the tokenizer has no words."""
    starts, at = [], 0
    for piece in pieces:
        at = text.index(piece, at)
        starts.append(at)
        at += len(piece)
    ends = [start + len(piece) for start, piece in zip(starts, pieces, strict=True)]
    ids = np.zeros(len(pieces), dtype=np.int64)
    found: list[bool] = begin_words(text, Tokens(ids, np.array(starts), np.array(ends))).tolist()
    return found


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("unhappy dog.", ("un", "happy", "dog", "."), [1, 0, 1, 1]),
        ("unhappy dog.", ("un", "happy", " dog", "."), [1, 0, 1, 1]),
        ("don't", ("don", "'", "t"), [1, 1, 1]),
        ("a  b", ("a", " ", " b"), [1, 1, 0]),
        ("3rd", ("3", "rd"), [1, 0]),
        ("...", (".", ".", "."), [1, 1, 1]),
        # A letter and its accent.
        ("cafe\u0301s", ("cafe", "\u0301", "s"), [1, 0, 0]),
    ],
)
def test_words_where_the_tokenizer_has_none(
    text: str, pieces: tuple[str, ...], expected: list[int]
) -> None:
    assert by_characters(text, *pieces) == [bool(each) for each in expected]


def condition(*regions: str) -> Condition:
    own = tuple(Region(number, text) for number, text in enumerate(regions, 1))
    return Condition("a", " ".join(regions), own)


def requests(tokenizer: Any, *regions: str, reads: Any = frozenset({"*"}), **options: Any) -> Any:
    query = Query("x", [condition(*regions)], {"a": reads})
    return prepare(tokenizer, None, [query], Options(**{"scorer": "pll", **options}))


def test_only_tokens_that_are_read_are_rows() -> None:
    tokenizer = masked_tokenizer("bert")
    prepared = requests(tokenizer, "The dog", "was sad", reads=frozenset({2}))
    encoding = prepared.fitted[0].encodings["a"]
    read = [place for place, region in enumerate(encoding.regions) if region == 2]
    assert [each.masked.hidden[0] for each in prepared.requests] == read
    assert prepared.query_conditions == [(0, "a")] * len(read)


def test_around_a_text_stands_what_the_tokenizer_puts_there_in_no_region() -> None:
    tokenizer = masked_tokenizer("bert")
    prepared = requests(tokenizer, "The dog", "was sad")
    encoding = prepared.fitted[0].encodings["a"]
    assert list(encoding.ids) == tokenizer("The dog was sad")["input_ids"]
    assert (encoding.regions[0], encoding.regions[-1]) == (-1, -1)
    assert len(prepared.requests) == len(encoding.ids) - 2
    assert prepared.rendering.added == Added((2,), (3,), counts=False)
    every = requests(tokenizer, "The dog", "was sad", reads=frozenset(), every_token=True)
    assert [each.masked.hidden[:1] for each in every.requests] == [
        (place,) for place in range(1, len(encoding.ids) - 1)
    ]


def test_a_change_of_speaker_is_one_separator_and_a_word_by_itself() -> None:
    tokenizer = masked_tokenizer("bert")
    prepared = requests(tokenizer, "Hello , you", "[SEP] I am fine")
    encoding = prepared.fitted[0].encodings["a"]
    (place,) = [p for p, i in enumerate(encoding.ids[1:-1], 1) if i == tokenizer.sep_token_id]
    words = encoding.words
    assert words[place - 1] < words[place] < words[place + 1]
    assert (place,) not in [each.masked.hidden[:1] for each in prepared.requests]


def test_masked_next_token_prediction_reads_the_place_before() -> None:
    tokenizer = masked_tokenizer("llama")
    prepared = requests(tokenizer, "The dog", scorer="mntp")
    for request in prepared.requests:
        assert request.masked.place == request.masked.hidden[0] - 1
    # What has nothing in front of it has no surprisal, where no token could stand there.
    bare = make("gpt2")
    bare = type(bare)(tokenizer_object=bare.backend_tokenizer, mask_token="<mask>")
    first = requests(bare, "The dog", scorer="mntp").requests[0]
    assert first.masked.hidden[0] == 1
    assert requests(bare, "The dog").requests[0].masked.hidden[0] == 0
    with_start = type(bare)(
        tokenizer_object=bare.backend_tokenizer, mask_token="<mask>", bos_token="<s>"
    )
    prepared = requests(with_start, "The dog", scorer="mntp")
    assert prepared.rendering.added.before == (with_start.bos_token_id,)
    assert prepared.requests[0].masked.hidden[0] == 1
    assert prepared.fitted[0].encodings["a"].regions[:2] == (-1, 1)


def test_too_long_texts_lose_what_is_alike_on_the_left_behind_the_first_token() -> None:
    tokenizer = masked_tokenizer("bert")
    config = type("Config", (), {"max_position_embeddings": 12, "model_type": "bert"})()
    text = "The dog was sad . The dog was sad ."
    query = Query("x", [condition(text, "A ball")], {"a": frozenset({2})})
    kept = prepare(tokenizer, config, [query], Options(scorer="pll"))
    assert kept.fitted[0].too_long
    cut = prepare(tokenizer, config, [query], Options(scorer="pll", truncate=True))
    encoding = cut.fitted[0].encodings["a"]
    assert len(encoding.ids) == len(encoding.words) == 12
    assert (encoding.ids[0], encoding.ids[-1]) == (2, 3)
    assert cut.fitted[0].truncated > 0


def test_rows_are_alike_by_what_the_model_sees_and_where_it_is_read() -> None:
    def request(ids: tuple[int, ...], place: int, *hidden: int) -> TokenSequence:
        row = MaskedRow(hidden, MASK, place, (ids[hidden[0]],))
        return TokenSequence(ids, (), True, masked=row)

    asked = [
        request((1, 2, 3), 1, 1),
        request((1, 5, 3), 1, 1),
        request((1, 2, 3), 0, 1),
        request((1, 2, 3), 1, 1, 2),
        TokenSequence((1, MASK, 3), (1,)),
    ]
    plan = make_plan(asked)
    assert plan.sequence_of_request == (0, 0, 1, 2, 3)
    first = plan.sequences[0]
    assert first.asked == (2, 5)
    assert first.reads().tolist() == [[1, 2], [1, 5]]
    assert (first.length, first.count, [*first.places]) == (3, 2, [2])
    assert plan.sequences[3] == TokenSequence((1, MASK), (1,))


def test_what_is_kept_is_kept_by_scorer_and_by_what_is_masked() -> None:
    scorers: tuple[ScorerChoice, ...] = ("causal", "pll", "mntp")
    found = [Options(scorer=scorer).identity() for scorer in scorers]
    assert len({json.dumps(each) for each in found}) == 3
    # One token masked is one row, whatever way of masking asked for it.
    assert Options(scorer="pll", masking="original").identity() == found[1]
    alone, with_next = (MaskedRow(hidden, MASK, 1, (5,)) for hidden in ((1,), (1, 2)))
    keys = {row_key(TokenSequence((2, 5, 3), (), True, masked=row)) for row in (alone, with_next)}
    assert len(keys) == 2


def test_a_tokenizer_without_a_mask_is_refused() -> None:
    with pytest.raises(EvaluationError, match="no mask token"):
        mask_of(make("gpt2"))
