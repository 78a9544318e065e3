"""Every kind of tokenizer: tokens stand where they should, or the text is refused in one line."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import tiny_tokenizers as tiny
from tokenizers import normalizers, pre_tokenizers, processors

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.text.encode import NO_REGION, SPECIAL, Encoding, encode
from coherencegym.eval.text.reading import TokenReader
from coherencegym.eval.text.sequence import TURN, count_names
from coherencegym.eval.text.special import Start, separator, start_of_text

NO_START = Start(None, "", "test")


def cut(*regions: str, joint: str = "") -> Condition:
    numbered = tuple(Region(number, region) for number, region in enumerate(regions, 1))
    return Condition("c", joint.join(regions), numbered)


def encoding(tokenizer: Any, condition: Condition, start: Start = NO_START) -> Encoding:
    (found,) = encode(tokenizer, [condition], start, None)
    assert found is not None
    return found


def tokens_of(tokenizer: Any, *regions: str, joint: str = "") -> list[tuple[str, int]]:
    """Each token with its region."""
    found = encoding(tokenizer, cut(*regions, joint=joint))
    names = tokenizer.convert_ids_to_tokens(list(found.ids))
    return list(zip(names, found.regions, strict=True))


def plain_ids(tokenizer: Any, text: str) -> list[int]:
    encoded = tokenizer(text, add_special_tokens=False, split_special_tokens=True)
    return list(encoded["input_ids"])


# ---------------------------------------------------------------- what must hold for all

PIECES = st.sampled_from(
    [
        *"ab c.,X'`\"",
        " ",
        "  ",
        "the ",
        "ball",
        "\r\n",
        "\t",
        "é",
        "e\u0301",
        "\u0301",
        "\u0323\u0301",
        "\u200d",
        "\u200b",
        "\ufe0f",
        "👩🏽\u200d🚀",
        "🇫🇷",
        "🙂",
        "今天天气",
        "，",
        "\u3000",
        "\u00a0",
        "ﾊﾞ",
        "가",
        "\u1100\u1161",
        "ﬁ",
        "½",
        "…",
        "İ",
        "ß",
        "Å",
        "\u0958",
        "\x01",
        "\x02",
        "\x85",
        "\ufeff",
        "\u00ad",
        "``",
        "▁",
        "##",
        "<0x41>",
        "<s>",
        "</s>",
        "[SEP]",
        "<unk>",
    ]
)
TEXTS = st.lists(PIECES | st.characters(exclude_categories=["Cs"]), max_size=12).map("".join)


@st.composite
def conditions(draw: Any) -> Condition:
    """A text of at least one region, cut anywhere, with white space or nothing between."""
    text = draw(TEXTS)
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    content, regions = "", []
    for number, piece in enumerate(pieces, 1):
        # A region that begins with white space could be found at once in the white space before.
        joint = draw(st.sampled_from(["", "", " ", "\n"])) if not piece[:1].isspace() else ""
        content += joint + piece
        regions.append(Region(number, piece))
    condition = Condition("c", content, tuple(regions))
    _ = condition.region_offsets  # a region that is not there is an error
    return condition


def region_by_character(condition: Condition, start: int, end: int) -> int:
    """The region of a token, found character by character."""
    content, offsets = condition.content, condition.region_offsets

    def at(place: int) -> int:
        for region, (begin, stop) in zip(condition.regions, offsets, strict=True):
            if begin <= place < stop:
                return region.region_number
        return NO_REGION

    for place in range(start, len(content)):
        if not content[place].isspace():
            return at(place)
    return at(min(start, len(content) - 1))


def without_space(text: str) -> str:
    return "".join(text.replace("▁", " ").split())


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("kind", tiny.KINDS)
@settings(max_examples=30, deadline=None)
@given(condition=conditions())
def test_every_token_is_placed_or_the_text_is_refused(kind: str, condition: Condition) -> None:
    tokenizer = tiny.make(kind)
    content = condition.content
    cuts_names = {"unigram_special", "word_level"}
    special = {tokenizer.bos_token_id, tokenizer.eos_token_id} - {None}
    if kind in cuts_names and special & set(plain_ids(tokenizer, content)):
        # Their vocabulary has the names of special tokens as words.
        with pytest.raises(EvaluationError, match=r"gives its special token '</?s>'"):
            encoding(tokenizer, condition)
        return
    found = encoding(tokenizer, condition)
    assert list(found.ids) == plain_ids(tokenizer, content)
    assert list(found.starts) == sorted(found.starts)
    assert all(0 <= a <= b <= len(content) for a, b in found.offsets)
    # Each token is in one region: that of its first character that is not white space.
    expected = [region_by_character(condition, a, b) for a, b in found.offsets]
    assert list(found.regions) == expected
    numbers = {region.region_number for region in condition.regions}
    assert set(found.regions) <= numbers | {NO_REGION}
    in_regions = [i for n in numbers for i, number in enumerate(found.regions) if number == n]
    in_none = [i for i, number in enumerate(found.regions) if number == NO_REGION]
    assert sorted(in_regions + in_none) == list(range(len(found.ids)))
    assert all(not content[a:b].strip() for i in in_none for a, b in [found.offsets[i]])
    # What no token covers is white space, or nothing to the tokenizer's normalizer either.
    covered = {place for a, b in found.offsets for place in range(a, b)}
    left = "".join(c for i, c in enumerate(content) if i in covered or c.isspace())
    missing = [c for i, c in enumerate(content) if i not in covered and not c.isspace()]
    rule = tokenizer.backend_tokenizer.normalizer
    if rule is None:
        assert not missing
    else:
        # Without the space between them a letter and an accent may have become one character.
        rewritten = without_space(rule.normalize_str(content))
        assert nfc(without_space(rule.normalize_str(left))) == nfc(rewritten)


@pytest.mark.parametrize("kind", tiny.COMPLETE)
@settings(max_examples=30, deadline=None)
@given(text=TEXTS)
def test_the_text_before_a_token_is_what_the_tokens_before_it_say(kind: str, text: str) -> None:
    """Seen from the tokens' bytes; the code sees it from offsets."""
    tokenizer = tiny.make(kind)
    try:
        (tokens,) = TokenReader(tokenizer).read([text])
    except EvaluationError:
        assert kind == "unigram_special"
        return
    # The name of a byte token is that byte to a Unigram model, in a text too.
    assume("<0x" not in text)
    rule = tokenizer.backend_tokenizer.normalizer
    names = tokenizer.convert_ids_to_tokens(tokens.ids.tolist())
    level = "Ġ" in tokenizer.backend_tokenizer.get_vocab()

    def rewritten(part: str) -> bytes:
        return without_space(rule.normalize_str(part) if rule else part).encode()

    def said(tokens: list[str]) -> bytes:
        if level:
            table = {shown: byte for byte, shown in byte_level_alphabet().items()}
            whole = bytes(table[character] for token in tokens for character in token)
        else:
            whole = b"".join(
                bytes([int(token[3:5], 16)])
                if len(token) == 6 and token.startswith("<0x")
                else token.encode()
                for token in tokens
            )
        return whole

    whole = said(names).decode()
    assert without_space(whole).encode() == rewritten(text)
    for number, name in enumerate(names):
        before = without_space(said(names[:number]).decode(errors="ignore")).encode()
        upto = without_space(said(names[: number + 1]).decode(errors="ignore")).encode()
        if len(upto) == len(before) or name == "▁":
            continue
        # A token that begins within a character begins where that does.
        start, end = int(tokens.starts[number]), int(tokens.ends[number])
        assert before.startswith(rewritten(text[:start]))
        assert len(rewritten(text[:end])) >= len(upto)


def byte_level_alphabet() -> dict[int, str]:
    shown = {b: chr(b) for b in (*range(33, 127), *range(161, 173), *range(174, 256))}
    hidden = (byte for byte in range(256) if byte not in shown)
    return {**shown, **{byte: chr(256 + number) for number, byte in enumerate(hidden)}}


@given(condition=conditions())
def test_leaving_spaces_out_of_offsets_moves_no_token(condition: Condition) -> None:
    """RoBERTa's offsets trim the space that GPT-2's have."""
    trimmed = encoding(tiny.make("roberta_without_prefix"), condition)
    whole = encoding(tiny.make("gpt2"), condition)
    assert trimmed.ids == whole.ids
    solid = [i for i, (a, b) in enumerate(whole.offsets) if condition.content[a:b].strip()]
    assert [trimmed.regions[i] for i in solid] == [whole.regions[i] for i in solid]


@given(condition=conditions())
def test_gpt2_itself(gpt2_tokenizer: Any, condition: Condition) -> None:
    found = encoding(gpt2_tokenizer, condition)
    assert gpt2_tokenizer.decode(found.ids, clean_up_tokenization_spaces=False) == condition.content
    assert list(found.regions) == [region_by_character(condition, a, b) for a, b in found.offsets]


def test_regions_of_chinese_begin_and_end_on_characters(gpt2_tokenizer: Any) -> None:
    """Most characters are two tokens or three: each has all of them in its own region."""
    regions = ("因为下雨了，", "所以我们", "留在家里。", "“真的吗？”", "他问。")
    for own in (regions, tuple("".join(regions))):
        found = encoding(gpt2_tokenizer, cut(*own))
        assert len(found.ids) > sum(map(len, own))
        assert list(found.regions) == sorted(found.regions)
        assert len(found.crossing) == 0
        for number, text in enumerate(own, 1):
            ids = [one for one, of in zip(found.ids, found.regions, strict=True) if of == number]
            assert gpt2_tokenizer.decode(ids) == text


def test_a_token_of_parts_of_two_characters_is_counted(gpt2_tokenizer: Any) -> None:
    """It counts where it begins, as every token does that reaches into the next region."""
    names = gpt2_tokenizer.convert_ids_to_tokens(gpt2_tokenizer("喚士")["input_ids"])
    assert names == ["å", "ĸļå£«"]  # the end of 喚, and 士
    found = encoding(gpt2_tokenizer, cut("喚", "士"))
    assert (set(found.regions), len(found.crossing)) == ({1}, 1)


@pytest.fixture(scope="module")
def gpt2_tokenizer(repository: Path) -> Any:
    import os

    shared = Path(os.environ.get("COHERENCEGYM_SHARED", repository.parent / "shared"))
    folder = shared / "models" / "gpt2-tokenizer"
    if not folder.is_dir():
        pytest.skip("GPT-2's tokenizer (../shared/models/gpt2-tokenizer) is not there")
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


# ---------------------------------------------------------------- bytes


def test_byte_tokens_of_a_character_are_in_its_region() -> None:
    assert tokens_of(tiny.make("llama"), "ab", "🙂c")[2:] == [
        *[(f"<0x{byte:02X}>", 2) for byte in "🙂".encode()],
        ("c", 2),
    ]


def test_byte_tokens_of_a_run_are_each_in_the_region_of_their_character() -> None:
    """Unigram gives all of them the offsets of the whole run of unknown characters."""
    tokenizer = tiny.make("unigram")
    spans = tokenizer("🙂漢", add_special_tokens=False, return_offsets_mapping=True)
    assert spans["offset_mapping"][-1] == (0, 2)
    assert tokens_of(tokenizer, "🙂", "漢") == [
        ("▁", 1),
        *[(f"<0x{byte:02X}>", 1) for byte in "🙂".encode()],
        *[(f"<0x{byte:02X}>", 2) for byte in "漢".encode()],
    ]
    # A line break is in such a run too, and belongs to what follows it.
    assert [r for _, r in tokens_of(tokenizer, "🙂", "漢", joint="\n")] == [1] * 5 + [2] * 4


def test_byte_tokens_that_say_something_else_are_refused() -> None:
    tokenizer = tiny.make("unigram")
    found = TokenReader(tokenizer).read(["🙂漢"])[0]
    from coherencegym.eval.text.places import Tokens, split_runs

    wrong = Tokens(found.ids[1:], found.starts[1:] * 0, found.ends[1:] * 0 + 2)
    with pytest.raises(EvaluationError, match=r"gives 7 tokens the same characters, 'ab'"):
        split_runs(tokenizer, "ab", "ab", wrong)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "metaspace", "unigram", "characters"])
def test_carriage_returns_and_line_breaks_belong_to_what_follows(kind: str) -> None:
    found = tokens_of(tiny.make(kind), "the ball.", "the dog\r\n", joint="\r\n")
    names, regions = zip(*found, strict=True)
    assert list(regions) == sorted(regions)
    first = regions.index(2)
    assert "".join(names[first:]).startswith(("čĊ", "<0x0D><0x0A>", "<unk>\n"))
    assert regions[-1] == 2


# ---------------------------------------------------------------- scripts


@pytest.mark.parametrize("kind", ["gpt2", "llama", "metaspace", "unigram", "word_piece"])
def test_chinese_without_spaces_is_cut_at_the_regions_character(kind: str) -> None:
    tokenizer = tiny.make(kind)
    found = encoding(tokenizer, cut("今天天", "气很好。"))
    for (start, end), region in zip(found.offsets, found.regions, strict=True):
        assert region == (1 if start < 3 else 2)
        assert end > start
    assert set(found.regions) == {1, 2}


@pytest.mark.parametrize("kind", ["gpt2", "llama", "metaspace", "unigram", "neox"])
@pytest.mark.parametrize(
    "cluster", ["👩🏽\u200d🚀", "👍🏿", "🇫🇷", "❤\ufe0f", "क्षि", "x\u0323\u0307"]
)
def test_a_cluster_at_a_regions_start_and_across_its_end(kind: str, cluster: str) -> None:
    tokenizer = tiny.make(kind)
    for first, second in (("ab", cluster + " c"), ("ab" + cluster[:1], cluster[1:] + " c")):
        found = encoding(tokenizer, cut(first, second))
        border = len(first)
        assert list(found.regions) == [1 if a < border else 2 for a in found.starts]
        assert len(found.crossing) == sum(a < border < b for a, b in found.offsets)
        assert set(found.regions) == {1, 2}


# ---------------------------------------------------------------- rewritten texts


def test_a_composed_character_belongs_to_the_region_of_its_first() -> None:
    tokenizer = tiny.make("neox")
    found = encoding(tokenizer, cut("cafe", "\u0301 xy"))
    names = tokenizer.convert_ids_to_tokens(list(found.ids))
    place = names.index("Ã©")
    assert (found.regions[place], found.offsets[place], len(found.crossing)) == (1, (3, 5), 1)
    assert set(found.regions[place + 1 :]) == {2}


def test_what_a_table_deletes_shifts_no_token() -> None:
    """The library's offsets are one off behind a deleted character at a text's beginning."""
    tokenizer = tiny.make("deleting_bpe")
    text = "\x01ab the"
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    assert spans["offset_mapping"][-1][1] < len(text)
    found = encoding(tokenizer, cut("\x01a", "b the"))
    assert [text[a:b] for a, b in found.offsets][:2] == ["a", "b"]
    assert found.regions[:2] == (1, 2)
    assert found.ends[-1] == len(text)


def test_lower_case_and_stripped_accents_stay_in_place() -> None:
    tokenizer = tiny.make("word_piece")
    found = encoding(tokenizer, cut("Ne\u0301", "E\u0301T THE", "BALL"))
    text = "Ne\u0301E\u0301T THEBALL"
    assert "".join(text[a:b] for a, b in found.offsets if b > a).startswith("N")
    assert list(found.regions) == sorted(found.regions)
    assert found.regions[-1] == 2 or 3 in found.regions


def test_what_is_rewritten_to_nothing_has_no_token() -> None:
    tokenizer = tiny.make("deleting")
    found = encoding(tokenizer, cut("ab", "\x01\x02", "c"))
    assert 2 not in found.regions
    assert set(found.regions) == {1, 3}


def test_a_separator_between_a_letter_and_its_accent_splits_them() -> None:
    tokenizer = tiny.make("neox")
    one = cut("cafe[SEP]\u0301 x")
    (found,) = encode(tokenizer, [one], NO_START, separator(tokenizer))
    assert found is not None
    names = tokenizer.convert_ids_to_tokens(list(found.ids))
    assert names[names.index("</s>") - 1] == "e"
    assert found.regions.count(SPECIAL) == 1


def test_a_text_that_cannot_be_matched_with_what_it_is_rewritten_to_is_refused() -> None:
    """The library takes the word out before it rewrites the rest, twice: `_` for each piece."""
    rule = normalizers.Prepend("_")
    tokenizer = tiny.wrap(tiny.byte_level(rule))
    tokenizer.add_tokens(["ball"])
    with pytest.raises(EvaluationError, match=r"d1/x: condition 'c' \('the ball and'\): .*rewrit"):
        encode(tokenizer, [cut("the ball and")], NO_START, None, None, ["d1/x"])


# ---------------------------------------------------------------- white space and regions


def test_a_mark_alone_belongs_to_the_word_that_follows() -> None:
    found = tokens_of(tiny.make("metaspace"), "the", "🙂", joint=" ")
    assert found[:3] == [("▁the", 1), ("▁", 2), ("<0xF0>", 2)]


@pytest.mark.parametrize("kind", ["gpt2", "roberta", "llama", "metaspace", "unigram"])
def test_white_space_at_the_end_is_in_the_region_that_holds_it(kind: str) -> None:
    tokenizer = tiny.make(kind)
    assert tokens_of(tokenizer, "the", "ball ", joint=" ")[-1][1] == 2
    outside = Condition("c", "the ball ", (Region(1, "the"), Region(2, "ball")))
    assert encoding(tokenizer, outside).regions[-1] == NO_REGION


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_white_space_around_and_empty_regions(kind: str) -> None:
    tokenizer = tiny.make(kind)
    found = encoding(tokenizer, cut(" the", "", " ball\n", "", "dog", ""))
    # A tokenizer that does not cut at spaces may reach from the third into the fifth.
    assert {1, 5} <= set(found.regions) <= {1, 3, 5}
    assert (3 in found.regions) or len(found.crossing)
    assert encoding(tokenizer, cut("", "")).ids == ()
    assert set(encoding(tokenizer, cut(" ", "\n")).regions) <= {1, 2}


@pytest.mark.parametrize("kind", ["gpt2", "llama", "unigram"])
def test_a_token_over_two_regions_is_counted(kind: str) -> None:
    tokenizer = tiny.make(kind)
    found = encoding(tokenizer, cut("Lily had a ba", "ll. The"))
    assert len(found.crossing) == sum(a < 13 < b for a, b in found.offsets)


# ---------------------------------------------------------------- special tokens


@pytest.mark.parametrize("kind", ["gpt2", "roberta", "llama", "metaspace", "neox"])
def test_the_name_of_a_special_token_is_text(kind: str) -> None:
    tokenizer = tiny.make(kind)
    assert tokenizer.bos_token_id in tokenizer("the <s> ball")["input_ids"]
    found = encoding(tokenizer, cut("the <s>", "ball</s>", joint=" "))
    assert not {tokenizer.bos_token_id, tokenizer.eos_token_id} & set(found.ids)
    assert tokenizer.decode(found.ids).strip() == "the <s> ball</s>"
    texts = ["the <s> ball</s>", "the <s> ball</s>", "no", "a [SEP] b </s>"]
    assert count_names(tokenizer, texts, separated=True) == {"<s>": 1, TURN: 1}
    assert count_names(tokenizer, texts, separated=False) == {"<s>": 1, "</s>": 1}
    # By an option it is the token.
    condition = cut("the <s>", "ball</s>", joint=" ")
    (read,) = encode(tokenizer, [condition], NO_START, None, special_names=True)
    assert read is not None
    assert list(read.ids) == tokenizer(condition.content, add_special_tokens=False).input_ids
    of_names = [n for number, n in zip(read.ids, read.regions, strict=True) if number in (1, 2)]
    assert of_names == [1, 2]
    # The caller's tokenizer is as it was.
    assert tokenizer.bos_token_id in tokenizer("the <s> ball")["input_ids"]
    assert not tokenizer.backend_tokenizer.encode_special_tokens


def test_a_vocabulary_that_has_the_name_as_a_word_is_refused() -> None:
    tokenizer = tiny.make("unigram_special")
    with pytest.raises(
        EvaluationError, match=r"d1/x: condition 'c' \('the <s> ball'\): .*special token '<s>'"
    ):
        encode(tokenizer, [cut("the"), cut("the <s> ball")], NO_START, None, None, ["d0/x", "d1/x"])


def test_unknown_words_and_single_characters_are_no_special_tokens() -> None:
    assert ("<unk>", 1) in tokens_of(tiny.make("word_level"), "qqq")
    # A line break that ends a text is still a line break within one.
    tokenizer = tiny.wrap(tiny.characters(), eos_token="\n")
    assert tokens_of(tokenizer, "a", "\nb")[1:] == [("\n", 2), ("b", 2)]


@pytest.mark.parametrize("template", ["<s> $A", "<s> $A </s>", "$A </s>"])
def test_tokens_that_the_tokenizer_adds_are_left_out_but_for_one_start(template: str) -> None:
    backend = tiny.llama()
    special = [(name, backend.token_to_id(name)) for name in ("<s>", "</s>")]
    backend.post_processor = processors.TemplateProcessing(single=template, special_tokens=special)
    tokenizer = tiny.wrap(backend)
    found = encoding(tokenizer, cut("the", " ball"), start_of_text(tokenizer, None))
    assert list(found.ids) == [tokenizer.bos_token_id, *plain_ids(tokenizer, "the ball")]
    assert found.regions[0] == SPECIAL
    assert SPECIAL not in found.regions[1:]


def test_truncation_and_padding_in_the_file_change_no_text(
    tmp_path: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers import AutoTokenizer

    backend = tiny.byte_level()
    backend.enable_truncation(4, direction="left")
    backend.enable_padding(length=64, pad_token="</s>", pad_id=2)
    tiny.wrap(backend, pad_token="</s>", model_max_length=4).save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer.backend_tokenizer.truncation is not None
    assert (tokenizer.model_max_length, tokenizer.pad_token) == (4, "</s>")
    text = "Lily had a red ball and a dog 🙂"
    found = encoding(tokenizer, cut(text))
    assert tokenizer.decode(found.ids) == text
    assert list(found.ids) == plain_ids(tiny.make("gpt2"), text)
    encoding(tokenizer, cut("\x01a"))
    assert capfd.readouterr() == ("", "")


def test_the_same_where_the_text_is_rewritten() -> None:
    backend = tiny.byte_level(normalizers.NFC())
    backend.enable_truncation(4, direction="left")
    backend.enable_padding(length=64)
    found = encoding(tiny.wrap(backend), cut("the cafe\u0301 and the ball"))
    assert list(found.ids) == plain_ids(tiny.make("neox"), "the café and the ball")


# ---------------------------------------------------------------- refusals


def test_a_character_that_the_tokenizer_drops_is_refused() -> None:
    """BPE without an unknown token and without bytes gives nothing for it."""
    tokenizer = tiny.wrap(
        tiny.bpe(pre_tokenizer=pre_tokenizers.Metaspace(), fallback=False, unknown=False),
        unk_token=None,
    )
    encoding(tokenizer, cut("the ball"))
    texts = [cut("the ball"), cut("the 🙂 ball"), cut("the dog")]
    with pytest.raises(
        EvaluationError,
        match=r"^b: condition 'c' \('the 🙂 ball'\): the tokenizer \(.*\) has no token for '🙂';",
    ) as refused:
        encode(tokenizer, texts, NO_START, None, None, ["a", "b", "c"])
    assert "\n" not in str(refused.value)


class Misplacing:
    """A tokenizer whose offsets are wrong."""

    is_fast = True
    all_special_ids = ()
    unk_token = None
    backend_tokenizer = tiny.word_level()

    def __init__(self, *spans: tuple[int, int]) -> None:
        self.spans = spans

    def __call__(self, texts: list[str], **_: Any) -> dict[str, Any]:
        return {
            "input_ids": [list(range(len(self.spans))) for _ in texts],
            "offset_mapping": [list(self.spans) for _ in texts],
        }


@pytest.mark.parametrize(
    ("spans", "match"),
    [
        ([(0, 2), (3, 6)], "at 3 to 6 of 5 characters"),
        ([(0, 2), (5, 3)], "at 5 to 3 of 5"),
        ([(-1, 2), (3, 5)], "at -1 to 2 of 5"),
        ([(3, 5), (0, 2)], r"before the one that precedes it \(0\)"),
        ([(0, 2), (3, 4)], "has no token for 'd'"),
        ([(1, 2), (3, 5)], "has no token for 'a'"),
        ([], "has no token for 'a'"),
    ],
)
def test_offsets_that_cannot_be_are_refused(spans: list[tuple[int, int]], match: str) -> None:
    with pytest.raises(EvaluationError, match=match):
        encode(Misplacing(*spans), [cut("ab", "cd", joint=" ")], NO_START, None)


def test_what_the_library_raises_becomes_one_line() -> None:
    tokenizer = tiny.wrap(tiny.word_level(unknown=None), unk_token=None)
    with pytest.raises(
        EvaluationError, match=r"^two: condition 'c' .*fails on it: .*Missing"
    ) as one:
        encode(tokenizer, [cut("the"), cut("qqq")], NO_START, None, None, ["one", "two"])
    assert "\n" not in str(one.value)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(EvaluationError, match="character 2 is half of a surrogate pair"):
        encoding(tiny.make("gpt2"), cut("a\ud83d b"))


def test_texts_are_nfc_or_not_as_they_came() -> None:
    """Nothing rewrites a text for a tokenizer that does not."""
    tokenizer = tiny.make("gpt2")
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, "café naïf")
        assert tokenizer.decode(encoding(tokenizer, cut(text)).ids) == text
