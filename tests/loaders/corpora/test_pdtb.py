"""Discourse relations: the pipe format, raw texts, TED-MDB, and GUM's alignment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.formats.relations import Placed
from coherencegym.loaders.read import Reading, read
from coherencegym.loaders.registry import corpus, sample_of

RAW = "\ntalkid: 7\n\nA title\n\nIt rained. (Laughter) We went out, though it  rained.\n"
WORDS = ("although", "as", "however", "since", "though", "while", "yet")


def line(
    connective: str = "56..62",
    sense: str = "Comparison.Concession.Arg1-as-denier",
    arg1: str = "43..54",
    arg2: str = "63..73",
    kind: str = "Explicit",
    word: str = "",
    status: str = "",
) -> str:
    columns = [""] * 35
    columns[0], columns[1], columns[7], columns[8] = kind, connective, word, sense
    columns[14], columns[20], columns[28] = arg1, arg2, status
    return "|".join(columns) + "\n"


def talk(folder: Path, relations: str, raw: str = RAW) -> Path:
    for kind, text in (("ann", relations), ("raw", raw)):
        path = folder / "English" / kind / "01" / "talk_7_en.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def one(folder: Path) -> Discourse:
    (discourse,) = read(corpus("tedmdb"), data_dir=folder)
    return discourse


def test_a_talk_without_header_and_laughter(tmp_path: Path) -> None:
    discourse = one(talk(tmp_path, line(word="though")))
    assert discourse.id == "talk_7_en"
    assert discourse.meta["title"] == "A title"
    assert discourse.meta["sense_source"] == "pdtb3"
    assert discourse.texts == ("It rained.", "We went out, though it rained.")
    (relation,) = discourse.relations
    assert relation.connective == ((1, 13, 19),)
    assert span_text(discourse, relation.arg1) == "We went out"
    assert span_text(discourse, relation.arg2) == "it rained"
    assert relation.senses == ("Comparison.Concession.Arg1-as-denier",)


@pytest.mark.parametrize(
    ("relations", "said"),
    [
        (line("2..9"), "the span 2..9 lies outside the text"),  # of the talk's header
        (line("fifty..60"), "connective has the span 'fifty..60', expected <start>..<end>"),
        (line(arg2="9..10;x"), "Arg2 has the span 'x'"),
        (line(sense="Comparison.Concesion"[:4]), "sense 'Comp' is not known of pdtb3"),
    ],
)
def test_a_bad_line(tmp_path: Path, relations: str, said: str) -> None:
    folder = talk(tmp_path, line() + relations)
    path = folder / "English" / "ann" / "01" / "talk_7_en.txt"
    with pytest.raises(CorpusError) as error:
        one(folder)
    assert str(error.value).startswith(f"{path}:2: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    reading = read(corpus("tedmdb"), data_dir=folder, skip_bad_rows=True)
    (discourse,) = reading
    assert len(discourse.relations) == 1
    assert sum(reading.skipped.values()) == 1


def test_rejected_relations_and_those_without_a_place_are_counted(tmp_path: Path) -> None:
    folder = talk(tmp_path, line() + line(status="Rejected") + line(connective=""))
    reading = read(corpus("tedmdb"), data_dir=folder)
    (discourse,) = reading
    assert len(discourse.relations) == 1
    assert reading.skipped == {
        "relations that their annotators rejected": 1,
        "explicit relations whose connective is not in the text": 1,
    }


@given(st.text(alphabet="ab \n\t\xa0.", max_size=40))
def test_every_character_that_is_no_space_has_its_place(raw: str) -> None:
    placed = Placed(raw)
    placed.add([(0, len(raw))])
    for offset, letter in enumerate(raw):
        if letter.isspace():
            with pytest.raises(LookupError):
                placed.span(((offset, offset + 1),))
        else:
            ((unit, start, end),) = placed.span(((offset, offset + 1),))
            assert placed.texts[unit][start:end] == letter
    assert "  " not in " ".join(placed.texts)


def test_samples() -> None:
    for name, sources in (("tedmdb", {"pdtb3": 25}), ("pdtb", {"pdtb2": 26, "pdtb3": 26})):
        sample = sample_of(corpus(name))
        assert sample is not None
        reading = read(sample)
        discourses = list(reading)
        assert Counter(d.meta["sense_source"] for d in discourses) == sources
        assert len(reading.files) == 2 * len(discourses)
        for discourse in discourses:
            for relation in discourse.relations:
                assert relation.type != "Explicit" or relation.connective


def connectives(discourses: list[Discourse]) -> Counter[str]:
    found: Counter[str] = Counter()
    for discourse in discourses:
        for relation in discourse.relations:
            if relation.type == "Explicit" and relation.connective:
                word = span_text(discourse, relation.connective).lower()
                if word in WORDS:
                    found[word] += 1
    return found


def test_gum_as_it_is(real_corpus: Callable[[str], tuple[Reading, list[Discourse]]]) -> None:
    reading, discourses = real_corpus("gum")
    assert len(discourses) == 80
    assert sum(len(d.mentions) for d in discourses) == 22311
    assert sum(len(d.relations) for d in discourses) == 4865 - 49
    found = connectives(discourses)
    assert sum(found.values()) == 212
    assert found["however"] == 40
    assert found["since"] == 7
    assert reading.skipped == {"explicit relations whose connective is not in the text": 49}
    assert len(reading.files) == 320


def test_tedmdb_as_it_is(real_corpus: Callable[[str], tuple[Reading, list[Discourse]]]) -> None:
    _, discourses = real_corpus("tedmdb")
    assert len(discourses) == 6
    # The fourteenth, an `as`, is one that the annotators rejected.
    assert sum(connectives(discourses).values()) == 13
    (both,) = [d for d in discourses if d.id == "talk_2150_en"]
    assert {"Explicit", "EntRel", "Implicit"} <= {r.type for r in both.relations}


def test_gum_with_words_that_are_not_its_own(shared: Path, tmp_path: Path) -> None:
    name = "GUM_bio_byron"
    source = shared / "corpora" / "gum"
    for path, text in (
        (f"conllu/{name}.conllu", (source / "conllu" / f"{name}.conllu").read_text()),
        (f"pdtb/gold/{name}", (source / "pdtb" / "gold" / name).read_text()),
        (
            f"pdtb/raw/{name}",
            (source / "pdtb" / "raw" / name).read_text().replace("Harrow", "Eton"),
        ),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    with pytest.raises(CorpusError, match=r"raw/GUM_bio_byron: character \d+: 'Eton"):
        list(read(corpus("gum"), data_dir=tmp_path))
