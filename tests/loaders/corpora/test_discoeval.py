"""DiscoEval: documents out of questions, in their order, as a reader would see them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coherencegym.loaders.corpora.discoeval import by_itself, sentences, without_tex_spaces
from coherencegym.loaders.corpus import CorpusError, CorpusFile
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import Reading, read
from coherencegym.loaders.registry import corpus


def files(folder: Path, **contents: str) -> Path:
    """Files such as ``SP_wiki_test`` with this content."""
    for name, content in contents.items():
        path = folder / f"{name.replace('_', '/')}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def line(*fields: str) -> str:
    return "\t".join(fields) + "\n"


@pytest.mark.parametrize("place", range(5))
def test_the_sentence_shown_first_is_put_back(tmp_path: Path, place: int) -> None:
    order = [f"It was {'abcde'[number]} ." for number in range(5)]
    shown = [order[place], *order[:place], *order[place + 1 :]]
    (document,) = read(
        corpus("discoeval"), data_dir=files(tmp_path, SP_arxiv_valid=line(str(place), *shown))
    )
    assert document.texts == ("It was a.", "It was b.", "It was c.", "It was d.", "It was e.")
    assert document.id == "SP/arxiv/valid/000001"
    assert document.meta == {"split": "validation", "task": "SP", "domain": "arxiv"}


def test_coherent_documents_only_and_others_are_counted(tmp_path: Path) -> None:
    one, two = (line(label, *"abcdef") for label in "01")
    reading = read(corpus("discoeval"), data_dir=files(tmp_path, DC_wiki_test=one + two + one))
    (document,) = reading
    assert document.id == "DC/wiki/test/000002"
    assert document.texts == tuple("abcdef")
    assert document.meta["domain"] == "wikipedia"
    assert reading.skipped == {"label 0: a sentence was replaced": 2}


def test_pairs_and_what_is_in_no_order_are_no_documents(tmp_path: Path) -> None:
    folder = files(
        tmp_path,
        BSO_wiki_test=line("First .", "Then ."),
        SP_wiki_test=line("1", "B .", "C .", "A .", "E .", "D ."),
        DC_wiki_test=line("1", *"abcdef"),
    )
    assert [d.id for d in read(corpus("discoeval"), data_dir=folder)] == ["DC/wiki/test/000001"]


def test_a_file_in_no_folder_of_a_task(tmp_path: Path) -> None:
    path = tmp_path / "test.txt"
    path.write_text(line("1", *"abcdef"))
    with pytest.raises(CorpusError, match=r"test\.txt:1: in no folder of a task, expected"):
        list(read(replace(corpus("discoeval"), files=(CorpusFile(path, "test"),))))


def test_chat_is_without_addressees_and_stays_lower_case() -> None:
    shown = [
        "<user> : hmm , is that ubcd ? ca n't find it :)",
        "<user> , i 'm <user> 's friend",
        "<unka,> i think is the gnome",
        "thanks <user> but if you need <unka-> ... ok",
        "<user> : <user> , yes",
    ]
    assert sentences(shown, "chat") == [
        "hmm, is that ubcd? can't find it :)",
        "i'm <user>'s friend",
        "i think is the gnome",
        "thanks <user> but if you need <unka-> ... ok",
        "<user>, yes",
    ]


def test_masked_words_are_counted(tmp_path: Path) -> None:
    fields = ["<user> : a", "<unka> b", "c <unk#a.> <user>", "d", "e", "f"]
    (document,) = read(
        corpus("discoeval"), data_dir=files(tmp_path, DC_chat_valid=line("1", *fields))
    )
    assert document.meta["masked"] == "3"
    assert {unit.speaker for unit in document.units} == {None}  # the files do not say who it is


WIKIPEDIA = {
    "He wrote `` A '' , `` B '' and `` C `` x '' '' .": 'He wrote "A", "B" and "C "x"".',
    "Lesbos ( ) was Ottoman , and Piaya ( ; Spanish : x ) not ( , ; ) .": (
        "Lesbos was Ottoman, and Piaya (Spanish: x) not."
    ),
    "It features R & B and AT & T 's Hughes & Sons .": "It features R&B and AT&T's Hughes & Sons.",
    "Peaked at # 4 on `` Billboard '' 's chart , cost $ 5 .": (
        'Peaked at #4 on "Billboard"\'s chart, cost $5.'
    ),
    "The song `` `` Come back '' '' was sung .": 'The song "Come back" was sung.',
    "a & amp ; b & lt ; c & nosuch ; d": "a & b < c & nosuch; d",
}


@pytest.mark.parametrize("tokenised", WIKIPEDIA)
def test_wikipedia(tokenised: str) -> None:
    assert sentences([tokenised], "wikipedia") == [WIKIPEDIA[tokenised]]


UNORDERED = {
    "the common toad ( `` Bufo bufo `` , from Latin `` bufo `` `` toad `` )": (
        'the common toad ("Bufo bufo", from Latin "bufo" "toad")'
    ),
    "Ego `` was remixed , and `` Halo `` was not .": '"Ego" was remixed, and "Halo" was not.',
    "It was on the album `` Two `` . ``": 'It was on the album "Two".',
    "The group is known as the `` Govt .": 'The group is known as the "Govt.',
    "Conan O 'Brien , L 'Aquila and Zel 'dovich did n't get 'em": (
        "Conan O'Brien, L'Aquila and Zel'dovich didn't get 'em"
    ),
    "a singer / songwriter ( 1999 – 2004 , 18 July – 9 May , 1834 – 9 July )": (
        "a singer/songwriter (1999–2004, 18 July – 9 May, 1834 – 9 July)"
    ),
}


@pytest.mark.parametrize("tokenised", UNORDERED)
def test_signs_of_the_unordered_files(tokenised: str) -> None:
    assert by_itself(tokenised, "wikipedia", ordered=False) == UNORDERED[tokenised]


TEX = {
    "the $ O ( n^2 ) $ of $ \\gamma $ -ray and $ 5 $ , $ x_ { 1 } $ .": (
        "the $O(n^2)$ of $\\gamma$-ray and $5$, $x_{1}$."
    ),
    "Schr\\ '' odinger , Poincar\\ ' { e } , P\\ '' { o } schl , Hopf": (
        "Schrödinger, Poincaré, Pöschl, Hopf"
    ),
    "at 99 \\ % of m_ { H } =115 $ each": "at 99\\% of m_{H} =115 $ each",
    "10 km s $ ^ { -1 } $ in ReS $ _2 $ and $ ^ { 12 } $ C $ x $ a": (
        "10 km s$^{-1}$ in ReS$_2$ and $^{12}$C $x$ a"
    ),
    "the spin- $ s $ chain": "the spin-$s$ chain",
    "( V $ _x $ ) $ _2 $ O $ _3 $": "(V$_x$)$_2$ O$_3$",
    "{ \\em et ( and ) } W_ { 3 } ^ { ( 1 ) }": "{\\em et (and)} W_{3}^{(1)}",
    "so $ a ' $ and `fossil ' ones": "so $a '$ and `fossil' ones",
}


@pytest.mark.parametrize("tokenised", TEX)
def test_tex(tokenised: str) -> None:
    assert sentences([tokenised], "arxiv") == [TEX[tokenised]]


@given(st.lists(st.sampled_from([*"ab12=+-^_{}()[]$,.%\\", "x_", "^2", "-ray"]), max_size=20))
def test_of_tex_only_spaces_go(tokens: list[str]) -> None:
    text = " ".join(tokens)
    # Accents are composed with their letter, which is more than a space.
    assume(not re.search(r"\\ ?[\^.=]", text))
    put = without_tex_spaces(text, str.strip)
    assert "".join(put.split()) == "".join(text.split())


CUT = [
    (["Lock No .", "7 is in Iowa ."], ["Lock No. 7 is in Iowa."]),
    (["We met Mr .", "Deeds ."], ["We met Mr. Deeds."]),
    (["He was born ( c .", "1739 ) ."], ["He was born (c. 1739)."]),
    (["Morfik Ltd .", ", a company , did ."], ["Morfik Ltd., a company, did."]),
    (["East Fife F.C .", "finished top ."], ["East Fife F.C. finished top."]),
    (["It ended .", "."], ["It ended."]),
    (["It is `` Yahoo ! ''", "."], ['It is "Yahoo!".']),
    (["Bo left .", "iPhones rang ."], ["Bo left.", "iPhones rang."]),
    (["So did ( Hu et al .", "2007 ) ."], ["So did (Hu et al. 2007)."]),
    (["Vitamin C .", "It heals ."], ["Vitamin C.", "It heals."]),
    (["In the U.S .", "He ran ."], ["In the U.S.", "He ran."]),
    (["The total was 5 .", "7 were left ."], ["The total was 5.", "7 were left."]),
]  # fmt: skip


@pytest.mark.parametrize(("pieces", "whole"), CUT)
def test_sentences_that_were_cut_in_two(pieces: list[str], whole: list[str]) -> None:
    assert sentences(pieces, "wikipedia") == whole


@pytest.fixture(scope="module")
def real(
    real_corpus: Callable[[str], tuple[Reading, list[Discourse]]],
) -> tuple[Reading, list[Discourse]]:
    reading, documents = real_corpus("discoeval")
    return reading, [document for document in documents if document.meta["split"] != "train"]


def test_real_counts(real: tuple[Reading, list[Discourse]]) -> None:
    reading, documents = real
    kinds = Counter((d.meta["task"], d.meta["domain"], d.meta["split"]) for d in documents)
    assert kinds == {
        ("SP", "arxiv", "validation"): 4000,
        ("DC", "wikipedia", "test"): 2000,
        ("DC", "chat", "validation"): 917,
    }
    assert reading.skipped == {"label 0: a sentence was replaced": 2000 + 917 + 2908}
    sizes = Counter(
        (d.meta["domain"], len(d.units)) for d in documents if d.meta["split"] == "test"
    )
    assert sizes[("wikipedia", 6)] > 1900
    assert sum(size for (_, units), size in sizes.items() if units < 3) == 0


def test_real_order(real: tuple[Reading, list[Discourse]]) -> None:
    """Sentences that go on from another do not open a text."""
    goes_on = re.compile(r"(?:It|He|She|They|This|These|However|His|Its|Thus|Also|Moreover)\b")
    texts: defaultdict[int, list[bool]] = defaultdict(list)
    for document in real[1]:
        if document.meta["task"] == "SP":
            for place, text in enumerate(document.texts):
                texts[place].append(goes_on.match(text) is not None)
    shares = [sum(texts[place]) / len(texts[place]) for place in range(5)]
    assert shares[0] < 0.05 < 0.1 < min(shares[1:])


def test_real_text(real: tuple[Reading, list[Discourse]]) -> None:
    """Where signs stand, in texts that are not TeX."""
    for document in real[1]:
        if document.meta["domain"] == "arxiv":
            continue
        for text in document.texts:
            assert not re.search(r"(?<=\w) [.,?!;](?=\s|$)", text) or "<" in text, text
            assert "``" not in text
            assert not re.search(r"\w n't\b|\w '(?:s|re|ve|ll)(?![\w'])", text), text
            assert not re.search(r"(?<!:)[(\[] [a-zA-Z]", text), text
