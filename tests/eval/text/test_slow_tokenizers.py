"""Tokenizers without offsets: their tokens spell the text, or the text is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import tiny_tokenizers as tiny
from transformers import PreTrainedTokenizer

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Condition, Item, Region
from coherencegym.eval.tasks.score.scoring import score_items
from coherencegym.eval.text.alignment import align_tokens
from coherencegym.eval.text.encode import SPECIAL, Encoding, encode
from coherencegym.eval.text.special import Added, Start, added_by, separator, start_of_text


class Slow(PreTrainedTokenizer):  # type: ignore[misc]
    """A tokenizer in Python over a vocabulary that grows as it is asked."""

    def __init__(self, cut: Callable[[str], list[str]], **names: Any) -> None:
        self.cut = cut
        self.vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2}
        super().__init__(**{"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", **names})

    @property
    def vocab_size(self) -> int:
        return 200

    def get_vocab(self) -> dict[str, int]:
        return dict(self.vocabulary)

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        return self.cut(text)

    def _convert_token_to_id(self, token: str) -> int:
        return self.vocabulary.setdefault(token, len(self.vocabulary))

    def _convert_id_to_token(self, index: int) -> str:
        return {i: token for token, i in self.vocabulary.items()}[index]


class Unknowing(Slow):
    """One that knows no word but `the`."""

    def _convert_token_to_id(self, token: str) -> int:
        return super()._convert_token_to_id(token if token in ("the", "<s>", "</s>") else "<unk>")


def with_marks(text: str) -> list[str]:
    """As SentencePiece with bytes for what is not a letter."""
    words = re.findall(r"▁?[A-Za-z]+|▁|.", "▁" + text.replace(" ", "▁"), flags=re.DOTALL)
    tokens = []
    for word in words:
        if word.strip("▁").isascii():
            tokens.append(word)
        else:
            tokens += [f"<0x{byte:02X}>" for byte in word.encode()]
    return tokens


def pieces(text: str) -> list[str]:
    """As WordPiece, spaces gone."""
    return [
        piece
        for word in text.split()
        for piece in (word[:2], *(f"##{word[i : i + 2]}" for i in range(2, len(word), 2)))
    ]


CUTS: dict[str, Callable[[str], list[str]]] = {
    "characters": list,
    "words": str.split,
    "bytes": lambda text: [chr(byte) for byte in text.encode()],
    "marks": with_marks,
    "pieces": pieces,
    "ends": lambda text: [part for w in text.split() for part in (w[:1], f"{w[1:]}</w>")],
    "byte level": lambda text: tiny.make("gpt2").tokenize(text, split_special_tokens=True),
}

TEXTS = st.lists(
    st.sampled_from(
        [*"abz .,\n", " ", "  ", "é", "e\u0301", "🙂", "今天", "\u3000", "\u00a0", "<s>"]
    ),
    max_size=12,
).map("".join)


def only(encodings: list[Encoding | None]) -> Encoding:
    (found,) = encodings
    assert found is not None
    return found


def condition(*regions: str, joint: str = " ") -> Condition:
    numbered = tuple(Region(number, region) for number, region in enumerate(regions, 1))
    return Condition("c", joint.join(regions), numbered)


NO_START = Start(None, "", "test")


@pytest.mark.parametrize("name", CUTS)
@settings(max_examples=30, deadline=None)
@given(first=TEXTS, second=TEXTS)
def test_tokens_are_where_they_spell_the_text(name: str, first: str, second: str) -> None:
    tokenizer = Slow(CUTS[name])
    one = condition(first, second.lstrip(), joint="")
    text = one.content
    # As a word of its own the name is the token: refused, see below.
    assume(name != "words" or "<s>" not in text.split())
    found = only(encode(tokenizer, [one], NO_START, None))
    assert list(found.ids) == tokenizer.convert_tokens_to_ids(CUTS[name](text))
    assert list(found.starts) == sorted(found.starts)
    covered = {place for a, b in found.offsets for place in range(a, b)}
    assert all(text[i].isspace() for i in range(len(text)) if i not in covered)
    for (start, _), region in zip(found.offsets, found.regions, strict=True):
        solid = next((i for i in range(start, len(text)) if not text[i].isspace()), None)
        if solid is not None:
            assert region == (1 if solid < len(first) else 2)
    # The tokens are those of a fast one that cuts alike, in the same regions.
    if name == "byte level":
        fast = only(encode(tiny.make("gpt2"), [one], NO_START, None))
        assert found.regions == fast.regions
        assert found.offsets == fast.offsets


def test_byte_tokens_share_their_character() -> None:
    found = align_tokens(["▁a", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>", "▁b"], "a🙂 b")
    assert found is not None
    assert list(zip(*(edges.tolist() for edges in found), strict=True)) == [
        (0, 1),
        *[(1, 2)] * 4,
        (2, 4),
    ]


def test_white_space_of_another_kind_and_none_at_all() -> None:
    found = align_tokens(["▁a", "▁b", "▁", "c", "▁"], "a\r\n\u3000b c")
    assert found is not None
    assert found[0].tolist() == [0, 4, 5, 6, 7]
    assert found[1].tolist() == [1, 5, 6, 7, 7]


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["a", "b"], "abc"),
        (["a", "b", "c"], "ab"),
        (["a", "x"], "ab"),
        (["<unk>"], "a"),
        ([], "a"),
        (["<0xF0>", "<0x9F>"], "🙂"),
        (["caf", "e"], "café"),
        (["b", "a"], "ab"),
    ],
)
def test_tokens_that_do_not_spell_the_text_are_not_aligned(tokens: list[str], text: str) -> None:
    assert align_tokens(tokens, text) is None


def test_an_unknown_word_is_where_it_was_cut() -> None:
    tokenizer = Unknowing(str.split)
    found = only(encode(tokenizer, [condition("the qqq", "the")], NO_START, None))
    assert tokenizer.convert_ids_to_tokens(list(found.ids)) == ["the", "<unk>", "the"]
    assert (found.regions, found.offsets) == ((1, 1, 2), ((0, 3), (4, 7), (8, 11)))


def test_a_tokenizer_that_rewrites_is_refused_with_the_item() -> None:
    tokenizer = Slow(lambda text: text.lower().split())
    assert only(encode(tokenizer, [condition("the", "ball")], NO_START, None)).regions == (1, 2)
    with pytest.raises(
        EvaluationError,
        match=r"^d/x: condition 'c' \('The ball'\): the tokenizer \(Slow\) gives no character "
        r"offsets, and its tokens do not spell the text.*expected a fast tokenizer",
    ) as refused:
        encode(tokenizer, [condition("The", "ball")], NO_START, None, None, ["d/x"])
    assert "\n" not in str(refused.value)


def test_names_of_special_tokens_are_text_and_separators_are_not() -> None:
    tokenizer = Slow(list)
    start = start_of_text(tokenizer, None)
    one = condition("a <s> [SEP]", "b")
    found = only(encode(tokenizer, [one], start, separator(tokenizer)))
    names = tokenizer.convert_ids_to_tokens(list(found.ids))
    assert names == ["<s>", *"a <s>", "</s>", " ", "b"]
    assert [r == SPECIAL for r in found.regions] == [len(name) > 1 for name in names]
    assert separator(tokenizer, "</s>").ids == (tokenizer.eos_token_id,)


def test_a_word_that_is_the_name_of_a_special_token_is_refused() -> None:
    with pytest.raises(EvaluationError, match="gives its special token '<s>' for it"):
        encode(Slow(str.split), [condition("the <s> ball")], NO_START, None)


def test_what_a_tokenizer_adds_is_known_without_offsets() -> None:
    assert added_by(Slow(list)) == Added((), ())

    class Adding(Slow):
        def build_inputs_with_special_tokens(self, ids: list[int], _: Any = None) -> list[int]:
            return [self.bos_token_id, *ids, self.eos_token_id]

    tokenizer = Adding(list)
    assert added_by(tokenizer) == Added((tokenizer.bos_token_id,), (tokenizer.eos_token_id,))


def test_a_model_is_scored_as_with_the_fast_tokenizer(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    fast = make_tokenizer(sep="<sep>")

    class Same(Slow):
        def _convert_token_to_id(self, token: str) -> int:
            return int(fast.convert_tokens_to_ids(token))

        def _convert_id_to_token(self, index: int) -> str:
            return str(fast.convert_ids_to_tokens(index))

        def get_vocab(self) -> dict[str, int]:
            return dict(fast.get_vocab())

    slow = Same(
        lambda text: list(fast.tokenize(text, split_special_tokens=True)), sep_token="<sep>"
    )
    model = make_model("gpt2", fast)
    item = make_item(
        {"a": ["How are you? [SEP]", "Fine 🙂, 今天!"], "b": ["What? [SEP]", "Fine 🙂, 今天!"]},
        "(2;%a%) > (2;%b%)",
    )
    one, other = (score_items(model, t, [item]).items[0].conditions for t in (fast, slow))
    for name in ("a", "b"):
        assert one[name].encoding == other[name].encoding
        assert one[name].region_bits(2) == pytest.approx(other[name].region_bits(2))


def test_padding_with_the_end_of_text_token_changes_no_score(
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    make_item: Callable[..., Item],
) -> None:
    """A dialogue model's end of text is its separator and its padding."""
    plain, padding = make_tokenizer(), make_tokenizer()
    padding.pad_token = padding.eos_token
    padding.backend_tokenizer.enable_padding(pad_id=padding.eos_token_id, pad_token="</s>")
    model = make_model("gpt2", plain)
    items = [
        make_item(
            {"a": ["Hello. [SEP]", "Fine." * n], "b": ["What? [SEP]", "Fine." * n]},
            "(2;%a%) > (2;%b%)",
            item_id=f"d{n}/x",
        )
        for n in (1, 5, 9)
    ]
    expected, found = (score_items(model, t, items) for t in (plain, padding))
    for one, other in zip(expected.items, found.items, strict=True):
        for name, scored in one.conditions.items():
            assert scored.encoding == other.conditions[name].encoding
            assert scored.region_bits(2) == pytest.approx(other.conditions[name].region_bits(2))
            assert len(scored.region_bits(2)) > 1
