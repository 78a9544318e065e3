"""Tokens to regions, start of text, separator: one test for each rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherencegym.eval.text.encode as module
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.text.encode import NO_REGION, SPECIAL, Encoding, encode
from coherencegym.eval.text.reading import TokenReader
from coherencegym.eval.text.special import Separator, Start, separator, start_of_text

NO_START = Start(None, "", "test")
Spans = list[tuple[int, int]]


class Scripted:
    """A tokenizer that cuts the one text that it knows at given offsets."""

    is_fast = True
    backend_tokenizer = SimpleNamespace(normalizer=None)
    all_special_ids = ()
    unk_token = None

    def __init__(self, text: str, spans: Spans) -> None:
        self.text, self.spans = text, spans

    def __call__(self, texts: list[str], **_: Any) -> dict[str, Any]:
        assert texts == [self.text]
        return {"input_ids": [list(range(len(self.spans)))], "offset_mapping": [self.spans]}


def condition(*regions: str, joint: str = " ") -> Condition:
    return Condition(
        "c", joint.join(regions), tuple(Region(i, r) for i, r in enumerate(regions, 1))
    )


def only(encodings: list[Encoding | None]) -> Encoding:
    (encoding,) = encodings
    assert encoding is not None
    return encoding


def regions_of(spans: Spans, *regions: str, joint: str = " ") -> tuple[int, ...]:
    one = condition(*regions, joint=joint)
    return only(encode(Scripted(one.content, spans), [one], NO_START, None)).regions


# ---------------------------------------------------------------- tokens to regions


CONTENTS = st.lists(
    st.sampled_from(["Tim", " ", "[SEP]", " [SEP] ", "\n", "ran.", "é", "😀", "  "]), max_size=6
).map("".join)


@given(st.lists(st.tuples(CONTENTS, CONTENTS), min_size=1, max_size=5))
def test_conditions_encoded_together_are_as_each_alone(
    make_tokenizer: Callable[..., Any], pairs: list[tuple[str, str]]
) -> None:
    tokenizer = make_tokenizer()
    start = start_of_text(tokenizer, None, "auto")
    rendering = separator(tokenizer)
    conditions = [condition(*pair) for pair in pairs]
    together = encode(tokenizer, conditions, start, rendering)
    assert together == [only(encode(tokenizer, [one], start, rendering)) for one in conditions]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", 2)
        assert encode(tokenizer, conditions, start, rendering) == together


def test_a_token_belongs_to_the_region_of_its_first_character() -> None:
    assert regions_of([(0, 2), (2, 3), (4, 6)], "ab.", "cd") == (1, 1, 2)


def test_a_token_within_a_region_spans_no_two() -> None:
    one = condition("a b.", "cd")
    encoding = only(encode(Scripted("a b. cd", [(0, 4), (4, 7)]), [one], NO_START, None))
    assert len(encoding.crossing) == 0


def test_a_token_that_begins_with_a_space_belongs_to_what_follows_the_space() -> None:
    assert regions_of([(0, 3), (3, 6)], "ab.", "cd") == (1, 2)


def test_a_token_of_white_space_belongs_to_the_next_region() -> None:
    assert regions_of([(0, 3), (3, 4), (4, 5), (5, 7)], "ab.", "cd", joint="\n ") == (1, 2, 2, 2)


def test_white_space_at_the_end_belongs_to_the_region_that_holds_it() -> None:
    assert regions_of([(0, 2), (2, 4), (4, 5)], "ab", "c\n") == (1, 2, 2)


def test_white_space_at_the_end_outside_every_region_belongs_to_none() -> None:
    one = Condition("c", "ab \n", (Region(1, "ab"),))
    tokens = Scripted("ab \n", [(0, 2), (2, 4)])
    assert only(encode(tokens, [one], NO_START, None)).regions == (1, NO_REGION)


def test_tokens_that_share_a_character_belong_to_its_region() -> None:
    assert regions_of([(0, 2), (3, 4), (3, 4), (3, 4), (4, 5)], "ab", "🙂c") == (1, 2, 2, 2, 2)


def test_a_token_of_no_width_belongs_to_the_region_where_it_starts() -> None:
    assert regions_of([(0, 0), (0, 2), (2, 2), (2, 5), (5, 5)], "ab", "cd") == (1, 1, 2, 2, 2)


def test_a_token_over_two_regions_counts_to_the_first_and_is_counted() -> None:
    one = condition("un", "do", joint="")
    encoding = only(encode(Scripted("undo", [(0, 1), (1, 3), (3, 4)]), [one], NO_START, None))
    assert (encoding.regions, len(encoding.crossing)) == ((1, 1, 2), 1)


def test_a_token_with_a_space_between_two_regions_spans_too_but_not_one_with_a_leading_space() -> (
    None
):
    one = condition("a", "b", "c")
    encoding = only(encode(Scripted("a b c", [(0, 3), (3, 5)]), [one], NO_START, None))
    assert (encoding.regions, len(encoding.crossing)) == ((1, 3), 1)


def test_a_region_may_be_empty() -> None:
    one = Condition("c", "ab cd", (Region(1, "ab"), Region(2, ""), Region(3, "cd")))
    encoding = only(encode(Scripted("ab cd", [(0, 2), (2, 5)]), [one], NO_START, None))
    assert encoding.regions == (1, 3)


# ---------------------------------------------------------------- start of text


def config(**values: Any) -> Any:
    return SimpleNamespace(**values)


def test_a_tokenizer_that_defines_a_bos_gets_it(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer()
    start = start_of_text(tokenizer, config(bos_token_id=None))
    assert (start.token_id, start.text) == (tokenizer.bos_token_id, "<s>")


def test_exactly_one_bos_even_if_the_tokenizer_adds_it_itself(stories260k: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(stories260k)
    assert tokenizer("Tim ran.")["input_ids"][0] == tokenizer.bos_token_id
    start = start_of_text(tokenizer, None)
    encoding = only(encode(tokenizer, [condition("Tim ran.")], start, None))
    assert encoding.ids.count(tokenizer.bos_token_id) == 1
    assert encoding.ids[0] == tokenizer.bos_token_id
    assert encoding.regions[0] == SPECIAL
    assert set(encoding.regions[1:]) == {1}


def test_end_of_text_is_the_start_where_the_config_says_so(
    make_tokenizer: Callable[..., Any],
) -> None:
    tokenizer = make_tokenizer(bos=None, eos="<|endoftext|>")
    start = start_of_text(tokenizer, config(bos_token_id=tokenizer.eos_token_id))
    assert start.text == "<|endoftext|>"
    assert start.reason == "the config's BOS"


def test_no_start_where_only_an_end_of_text_is_known(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer(bos=None)
    assert start_of_text(tokenizer, config(bos_token_id=None)).token_id is None


def test_an_ordinary_token_is_no_start_though_a_config_names_it(
    make_tokenizer: Callable[..., Any],
) -> None:
    """Config classes have defaults (1, 50256) that mean nothing for another vocabulary."""
    tokenizer = make_tokenizer(bos=None)
    assert start_of_text(tokenizer, config(bos_token_id=40)).token_id is None
    assert start_of_text(tokenizer, config(bos_token_id=50256)).token_id is None


def test_bos_always_falls_back_on_end_of_text(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer(bos=None)
    assert start_of_text(tokenizer, None, "always").token_id == tokenizer.eos_token_id
    with pytest.raises(EvaluationError, match="--bos always"):
        start_of_text(make_tokenizer(bos=None, eos=None), None, "always")


def test_bos_never(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer()
    start = start_of_text(tokenizer, None, "never")
    encoding = only(encode(tokenizer, [condition("Tim ran.")], start, None))
    assert start.token_id is None
    assert tokenizer.bos_token_id not in encoding.ids
    assert not encoding.has_start


# ---------------------------------------------------------------- separator


def test_the_tokenizers_separator_comes_first(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer(sep="<sep>")
    assert separator(tokenizer).ids == (tokenizer.sep_token_id,)


def test_then_end_of_text(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer()
    assert separator(tokenizer) == Separator(
        (tokenizer.eos_token_id,), "</s>", "the end-of-text token"
    )


def test_with_neither_the_text_has_no_encoding(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer(eos=None)
    rendering = separator(tokenizer)
    assert rendering.ids is None
    conditions = [condition("Hello. [SEP]", "I am fine."), condition("Hello.", "I am fine.")]
    without, plain = encode(tokenizer, conditions, NO_START, rendering)
    assert without is None
    assert plain is not None


def test_a_text_may_stand_in_for_it(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer(eos=None)
    rendering = separator(tokenizer, "\n- ")
    assert tokenizer.decode(rendering.ids) == "\n- "
    with pytest.raises(EvaluationError, match="gives no token"):
        separator(tokenizer, "")


def test_a_special_token_as_text_is_one_token(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer()
    assert separator(tokenizer, "</s>").ids == (tokenizer.eos_token_id,)


def rendered(tokenizer: Any, content: str, **choice: Any) -> list[str]:
    one = Condition("c", content, (Region(1, content),))
    encoding = only(encode(tokenizer, [one], NO_START, separator(tokenizer, **choice)))
    return [tokenizer.decode([token_id]) for token_id in encoding.ids]


def test_white_space_before_goes_and_the_space_after_stays(
    make_tokenizer: Callable[..., Any],
) -> None:
    text = "".join(rendered(make_tokenizer(), "How are you? [SEP] I am fine."))
    assert text == "How are you?</s> I am fine."


def test_none_leaves_it_out(make_tokenizer: Callable[..., Any]) -> None:
    text = "".join(rendered(make_tokenizer(), "How are you? [SEP] I am fine.", choice="none"))
    assert text == "How are you? I am fine."


def test_separators_at_both_ends_and_in_a_row(make_tokenizer: Callable[..., Any]) -> None:
    text = "".join(rendered(make_tokenizer(), "[SEP] Hello. [SEP] [SEP] I am fine. [SEP]"))
    assert text == "</s> Hello.</s></s> I am fine.</s>"


def test_separator_tokens_are_in_no_region(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer()
    one = condition("How are you? [SEP] I am fine. [SEP]", "What? [SEP] No.")
    encoding = only(encode(tokenizer, [one], NO_START, separator(tokenizer)))
    for token_id, region in zip(encoding.ids, encoding.regions, strict=True):
        assert (token_id == tokenizer.eos_token_id) == (region == SPECIAL)
    for (start, end), region in zip(encoding.offsets, encoding.regions, strict=True):
        if region > 0:
            content = one.content[start:end].strip()
            assert content in one.regions[region - 1].content
    assert encoding.regions.count(SPECIAL) == 3


def test_text_around_a_separator_has_the_tokens_that_it_has_without(
    make_tokenizer: Callable[..., Any],
) -> None:
    tokenizer = make_tokenizer()
    twins = [condition("How are you? [SEP]", "I am fine."), condition("How are you?", "I am fine.")]
    with_one, without = encode(tokenizer, twins, NO_START, separator(tokenizer))
    assert with_one is not None
    assert without is not None
    kept = [i for i, r in zip(with_one.ids, with_one.regions, strict=True) if r != SPECIAL]
    assert tuple(kept) == without.ids


def test_text_around_a_separator_has_its_tokens_in_sentencepiece_too(stories260k: Path) -> None:
    """Its tokenizer puts a mark for a space before whatever it is given."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(stories260k)
    twins = [
        condition("Tim ran. [SEP] Lily was sad. [SEP]", "They went home."),
        condition("Tim ran. Lily was sad.", "They went home."),
    ]
    with_one, without = encode(tokenizer, twins, NO_START, separator(tokenizer))
    assert with_one is not None
    assert without is not None
    kept = [i for i, r in zip(with_one.ids, with_one.regions, strict=True) if r != SPECIAL]
    assert tuple(kept) == without.ids
    tokens = tokenizer.convert_ids_to_tokens(with_one.ids)
    assert tokens.count("</s>") == 2
    assert tokens[tokens.index("</s>") + 1] == "▁Lily"


def test_no_mark_for_a_space_that_is_not_there_in_sentencepiece(stories260k: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(stories260k)
    one = condition("Tim ran. [SEP]They went.")
    encoding = only(encode(tokenizer, [one], NO_START, separator(tokenizer)))
    tokens = tokenizer.convert_ids_to_tokens(encoding.ids)
    assert not tokens[tokens.index("</s>") + 1].startswith("▁")


def test_byte_fallback_in_sentencepiece(stories260k: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(stories260k)
    one = condition("Tim ran.", "🙂 Lily was sad.")
    encoding = only(encode(tokenizer, [one], NO_START, None))
    tokens = tokenizer.convert_ids_to_tokens(encoding.ids)
    first = tokens.index("<0xF0>")
    assert encoding.regions[first - 1 :] == (2,) * (len(tokens) - first + 1)
    assert set(encoding.regions[: first - 1]) == {1}


def test_a_token_that_would_reach_over_a_separator_is_split_there(
    make_tokenizer: Callable[..., Any],
) -> None:
    """Without the separator `the` is together again; it stands between the halves."""
    tokenizer = make_tokenizer()
    assert len(tokenizer(" the")["input_ids"]) == 1
    tokens = rendered(tokenizer, "a th [SEP]e")
    assert "".join(tokens) == "a th</s>e"
    assert tokens[tokens.index("</s>") + 1] == "e"


def test_so_it_is_in_sentencepiece_and_the_second_half_gets_no_mark(stories260k: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(stories260k)
    one = condition("Lily w [SEP]as sad.")
    encoding = only(encode(tokenizer, [one], NO_START, separator(tokenizer)))
    tokens = tokenizer.convert_ids_to_tokens(encoding.ids)
    assert "".join(tokens) == "▁Lily▁w</s>as▁sad."
    assert [one.content[a:b].strip() for a, b in encoding.offsets] == [
        "" if token == "</s>" else token.strip("▁") for token in tokens
    ]


def test_a_continuation_has_no_mark_of_a_first_word(stories260k: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(stories260k)
    text = "was sad"
    ids = TokenReader(tokenizer).read_continuation(text).ids.tolist()
    assert not tokenizer.convert_ids_to_tokens(ids)[0].startswith("▁")
    ids = TokenReader(tokenizer).read_continuation(" " + text).ids.tolist()
    assert tokenizer.convert_ids_to_tokens(ids)[0] == "▁was"


def test_without_a_separator_the_string_is_text(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer()
    one = condition("a [SEP]", "b")
    assert tokenizer.decode(only(encode(tokenizer, [one], NO_START, None)).ids) == "a [SEP] b"
