"""What is said of each language: its tables, its spaces, its points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.discourse import Features
from coherencegym.loaders.languages.language import ENGLISH, Spacing, pronoun_table
from coherencegym.loaders.languages.registry import LANGUAGES, language
from coherencegym.loaders.text.detokenize import BRACKETS
from coherencegym.loaders.text.sentences import split_sentences

SPACED = {
    "nl": [
        "Kinderen kosten wel geld , maar laten we ons toch vermenigvuldigen ( aldus Jan ) .",
        "Kinderen kosten wel geld, maar laten we ons toch vermenigvuldigen (aldus Jan).",
        "' Wat een dag ! ' , zei zij , en zij las de \" Volkskrant \" t / m pagina 7 / 8 .",
        "'Wat een dag!', zei zij, en zij las de \"Volkskrant\" t/m pagina 7 / 8.",
        "Ruim 97 % komt uit zo'n huis ; de dvd / cd-speler kost € 35,- .",
        "Ruim 97% komt uit zo'n huis; de dvd/cd-speler kost € 35,-.",
    ],
    "de": [
        "„ Nein “ , sagte er , „ nicht 20 % ! “",
        "„Nein“, sagte er, „nicht 20 %!“",
    ],
    "it": ["l' amico dell' uomo è qui , no ?", "l'amico dell'uomo è qui, no?"],
    "zh": [
        "拜伦 （ George Gordon Byron ， 6th Baron ） ， 英国 “ 诗人 ” 。",
        "拜伦（George Gordon Byron，6th Baron），英国“诗人”。",
        "2.1. 人民 日报 的 经验",
        "2.1. 人民日报的经验",
        "COVID-19 流行 33.7% ，",
        "COVID-19流行33.7%，",
    ],
    "fr": ["Il est là , dit-elle .", "Il est là, dit-elle."],
}


@pytest.mark.parametrize("code", SPACED)
def test_tokens_become_text(code: str) -> None:
    examples = SPACED[code]
    for tokens, text in zip(examples[::2], examples[1::2], strict=True):
        laid_out, places = language(code).lay_out(tokens.split())
        assert laid_out == text
        assert [laid_out[start:end] for start, end in places] == tokens.split()


@given(st.lists(st.text("ab,.\"'(我。12", min_size=1, max_size=4), min_size=1, max_size=12))
def test_every_token_has_its_place(tokens: list[str]) -> None:
    for one in LANGUAGES.values():
        if one.code == "en":
            continue
        text, places = one.lay_out(tokens)
        written = [BRACKETS.get(token, token) for token in tokens]
        assert [text[start:end] for start, end in places] == written
        assert text.replace(" ", "") == "".join(written)


def test_a_token_without_characters() -> None:
    with pytest.raises(ValueError, match="without characters"):
        Spacing()(["a", " "])


@pytest.mark.parametrize(
    ("code", "sentences"),
    [
        ("nl", ["Dhr. Jansen kwam o.a. uit Assen.", "Hij bleef a.u.b. niet.", "Zij wel."]),
        ("nl", ['"Kom!" zei Jan.', "Hij ging in 1992 n.Chr.", "De rest bleef."]),
        ("de", ["Am 3. Mai kam Dr. Weber z.B. aus Bonn.", "Er blieb usw.", "Die anderen gingen."]),
        ("it", ["Il sig. Rossi venne, ecc.", "La porta era chiusa.", "Si veda fig. 2 qui."]),
        ("zh", ["他说：“下雨了。”", "我们没走！", "为什么？"]),
    ],
)
def test_text_becomes_sentences(code: str, sentences: list[str]) -> None:
    text = ("" if code == "zh" else " ").join(sentences)
    assert list(split_sentences(text, code)) == sentences


def test_pronouns_say_what_their_form_says() -> None:
    assert ENGLISH.pronoun("Him") == Features(
        pos="PRON",
        pronoun="personal",
        person="3",
        number="singular",
        gender="masculine",
        case="accusative",
    )
    assert ENGLISH.pronoun("bicycle") is None
    assert language("nl").pronoun("hem") is None


@pytest.mark.parametrize(
    ("form", "kind", "told"),
    [
        ("HER", "", ("", "3", "singular", "feminine", "")),
        ("her", "possessive", ("possessive", "3", "singular", "feminine", "")),
        ("her", "personal", ("personal", "3", "singular", "feminine", "accusative")),
    ],
)
def test_a_form_shows_what_its_readings_share(form: str, kind: str, told: tuple[str, ...]) -> None:
    found = ENGLISH.pronoun(form, kind)
    assert found is not None
    assert (found.pronoun, found.person, found.number, found.gender, found.case) == told


def test_a_table_has_known_values_only() -> None:
    with pytest.raises(ValueError, match=r"^neutral in 'personal neutral': no value"):
        pronoun_table({"personal neutral": "hen"})


def test_any_language_is_one() -> None:
    assert language("nld") is language("nl") is LANGUAGES["nl"]
    assert (language("fra").code, language("fr").name) == ("fr", "French")
    assert (language("qq").code, language("qq").pronouns) == ("qq", {})
