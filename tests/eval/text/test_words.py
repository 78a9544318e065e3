"""Surprisals of words against an oracle that goes by the definition, in float64."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan.options import Options
from coherencegym.eval.plan.plan import default_budget, make_plan
from coherencegym.eval.tasks.score.scoring import score_items
from coherencegym.eval.text.sequence import TokenSequence
from coherencegym.eval.text.words import WordBeginnings, word_beginnings


def words_of(text: str) -> list[tuple[int, int]]:
    """Where the words of a text begin and end, with the space before each."""
    starts = [i for i, c in enumerate(text) if c == " " and (i == 0 or text[i - 1] != " ")]
    starts = starts if starts and starts[0] == 0 else [0, *starts]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def word_bits(model: Any, tokenizer: Any, text: str) -> list[float]:
    """-log2 p(word | before) of each word, by Pimentel and Meister's formula; float64 weights."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids = [tokenizer.bos_token_id, *encoded["input_ids"]]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids])).logits[0].double()
    p = torch.softmax(logits, dim=-1)
    vocabulary = tokenizer.get_vocab()
    begins = [i for name, i in vocabulary.items() if name[0] in "ĠĊĉč"]
    begins += [i for i in tokenizer.all_special_ids if i not in begins]
    found = []
    for start, end in words_of(text):
        inside = [k for k, (a, b) in enumerate(encoded["offset_mapping"]) if start <= a < end]
        chain = math.prod(float(p[k, ids[k + 1]]) for k in inside)
        before = float(p[inside[0], begins].sum()) if start else 1.0
        after = float(p[inside[-1] + 1, begins].sum())
        found.append(-math.log2(chain * after / before))
    return found


@pytest.mark.parametrize("share", [False, True])
def test_words_equal_the_definition(
    share: bool,
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    pair_items: list[Item],
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    exact = copy.deepcopy(model).double()
    scored = score_items(
        model, tokenizer, pair_items, Options(word_correction=True, every_token=True, share=share)
    )
    compared = 0
    for item in scored.items:
        for name, condition in item.conditions.items():
            text = item.item.condition(name).content
            expected = word_bits(exact, tokenizer, text)
            offsets = condition.encoding.offsets
            for (start, end), bits in zip(words_of(text), expected, strict=True):
                inside = [
                    k for k, (a, b) in enumerate(offsets) if start <= a < end and k > 0 and b > a
                ]
                assert condition.bits[inside].sum() == pytest.approx(bits, abs=1e-4)
                compared += len(inside) > 1
    assert compared > 20


def test_a_region_changes_at_its_ends_only(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any], pair_items: list[Item]
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    plain = score_items(model, tokenizer, pair_items)
    words = score_items(model, tokenizer, pair_items, Options(word_correction=True))
    changed = 0
    for before, after in zip(plain.items, words.items, strict=True):
        for name, condition in after.conditions.items():
            other = before.conditions[name].bits
            assert (np.isnan(condition.bits) == np.isnan(other)).all()
            changed += bool(np.nanmax(np.abs(condition.bits - other)) > 1e-3)
    assert changed > 5


def test_what_is_read_besides() -> None:
    words = WordBeginnings(ids=(5, 6), end=0)
    # Tokens 5 and 6 begin words: the word of 7 ends before the 6, the last one with the text.
    assert words.needed((1, 5, 7, 6, 8), (1, 2)) == (1, 3)
    assert words.needed((1, 5, 7, 6, 8), (3, 4)) == (3, 5)
    assert words.needed((1, 7, 7, 6), (1,)) == ()
    starts = {1: 0.5, 3: 0.25}
    bits = np.array([math.nan, 2.0, 3.0, math.nan, math.nan])
    found = words.corrected((1, 5, 7, 6, 8), bits, starts)
    assert list(found[1:3]) == [1.5, 3.25]


def test_word_starts_are_rows_of_the_same_sequence() -> None:
    request = TokenSequence((1, 2, 3, 4, 0), (3,), family=0, word_starts=(3, 4))
    plan = make_plan([request], default_budget("cpu"))
    assert plan.sequences == (TokenSequence((1, 2, 3, 4, 0), (3,), word_starts=(3, 4)),)
    assert plan.head_rows == 2
    assert plan.tokens == 4


def test_which_tokens_begin_a_word(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer()
    found = word_beginnings(tokenizer, len(tokenizer))
    names = tokenizer.convert_ids_to_tokens(list(found.ids))
    assert {"<s>", "</s>", "Ġ", "Ċ"} <= set(names)
    assert all(name[0] in "ĠĊĉč<" for name in names)
    assert found.end == tokenizer.eos_token_id
    assert max(word_beginnings(tokenizer, 100).ids) < 100


def test_pieces_with_the_mark_of_sentencepiece(stories260k: Any) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(stories260k)
    names = tokenizer.convert_ids_to_tokens(list(word_beginnings(tokenizer, 512).ids))
    assert "▁the" in names
    assert "<0x0A>" in names
    assert "e" not in names


def test_a_tokenizer_without_marks_is_refused() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(EvaluationError, match=r"--word-correction: .*'a b' as \['a', 'b'\]"):
        word_beginnings(PreTrainedTokenizerFast(tokenizer_object=inner), 3)
