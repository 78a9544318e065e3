"""MMAX2: ARRAU and ParCorFull."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from coherencegym.loaders.corpora.mmax import ARRAU, PARCOR
from coherencegym.loaders.corpus import NEVER_RUN, Corpus, CorpusError
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.read import read

WORDS = "Ms. Berg 's dog , which barks , ran . She called it again . Uh"
SENTENCES = (
    '<markable id="markable_2" span="word_11..word_15" speaker="A"/>'
    '<markable id="markable_1" span="word_1..word_10"/>'
)
PARCOR_MARKABLES = """\
<markable id="markable_5" span="word_13" coref_class="set_1" mention="pronoun" type="anaphoric"
 type_of_pronoun="personal" agreement="they (sg.)" antetype="entity"/>
<markable id="markable_3" span="word_1..word_4,word_9" coref_class="set_1" mention="np"/>
<markable id="markable_4" span="word_1..word_2" coref_class="set_2" mention="np"/>
<markable id="markable_6" span="word_11..word_11" coref_class="set_2" mention="pronoun"
 type="anaphoric" type_of_pronoun="personal"/>
<markable id="markable_7" span="word_9..word_12" coref_class="empty" mention="clause"/>
"""
ARRAU_MARKABLES = """\
<markable id="markable_3" span="word_1..word_4" min_ids="word_4" min_words="dog" coref_set="set_1"
 category="animate" reference="new" gram_fnc="subj" number="sing"/>
<markable id="markable_4" span="word_1..word_3" min_ids="word_1..word_2" coref_set="set_2"/>
<markable id="markable_5" span="word_13..word_13" min_ids="word_13" coref_set="set_1"
 category="animate" gender="neut" person="per3"/>
<markable id="markable_6" span="word_11..word_11" coref_set="set_2" gram_fnc="subj"/>
"""


def write(
    folder: Path,
    markables: str = PARCOR_MARKABLES,
    words: str = WORDS,
    sentences: str = SENTENCES,
    levels: str = "Markables",
) -> Path:
    """A document with its three files; the DTDs that they name are not there."""
    basedata, level_folder = folder / "Basedata", folder / levels
    basedata.mkdir(exist_ok=True)
    level_folder.mkdir(exist_ok=True)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE {0} SYSTEM "{0}.dtd">\n'
    lines = "\n".join(
        f'<word id="word_{i}">{word}</word>' for i, word in enumerate(words.split(), 1)
    )
    (basedata / "a_words.xml").write_text(
        f"{head.format('words')}<words>\n{lines}\n</words>\n", encoding="utf-8"
    )
    for level, content in (("coref", markables), ("sentence", sentences)):
        (level_folder / f"a_{level}_level.xml").write_text(
            f'{head.format("markables")}<markables xmlns="www.eml.org/NameSpaces/{level}">\n'
            f"{content}\n</markables>\n",
            encoding="utf-8",
        )
    return folder


def collections(root: Path, names: Sequence[str] = ("DiscoMT", "TED", "news")) -> Path:
    """The folders of ParCorFull, each with a document in English and one in German."""
    for number, name in enumerate(names):
        for language in ("DE", "EN"):
            folder = root / name / language
            folder.mkdir(parents=True)
            write(folder)
            for path in [*folder.glob("*/a_*.xml")]:
                path.rename(path.with_name(path.name.replace("a_", f"{number}_{language}_", 1)))
    return root


def read_one(corpus: Corpus, folder: Path) -> Discourse:
    (discourse,) = read(corpus, data_dir=folder)
    return discourse


def error(folder: Path, corpus: Corpus = PARCOR) -> str:
    with pytest.raises(CorpusError) as caught:
        list(read(corpus, data_dir=folder))
    message = str(caught.value)
    assert "\n" not in message
    reading = read(corpus, data_dir=folder, skip_bad_rows=True)
    assert list(reading) == []
    assert reading.skipped == {"malformed document": 1}
    return message.removeprefix(f"{folder}/")


@pytest.mark.parametrize("levels", ["Markables", "markables", "Basedata"])
def test_sentences_in_order_detokenised_and_the_rest(tmp_path: Path, levels: str) -> None:
    discourse = read_one(PARCOR, write(tmp_path, levels=levels))
    assert discourse.texts == (
        *("Ms. Berg's dog, which barks, ran.", "She called it again."),
        "Uh",
    )
    assert [unit.speaker for unit in discourse.units] == [None, "A", None]
    assert discourse.id == "a"
    assert discourse.units[1].source is not None
    assert (discourse.units[1].source.start, discourse.units[1].source.end) == (14, 18)


def test_parcor(tmp_path: Path) -> None:
    discourse = read_one(PARCOR, write(tmp_path))
    assert [(span_text(discourse, m.span), m.chain, m.kind) for m in discourse.mentions] == [
        ("Ms. Berg's dog ran", "set_1", "nominal"),
        ("Ms. Berg", "set_2", "proper"),
        ("ran. She called", "markable_7", "nominal"),
        ("She", "set_2", "pronoun"),
        ("it", "set_1", "pronoun"),
    ]
    whole, _, clause, she, it = discourse.mentions
    assert whole.span == ((0, 0, 14), (0, 29, 32))
    assert clause.span == ((0, 29, 33), (1, 0, 10))
    assert clause.features.pos == "VERB"
    assert (it.head, it.features.pronoun, it.features.number) == (
        it.span,
        *("personal", "singular"),
    )
    assert she.features.gender == "feminine"


@pytest.mark.parametrize("above", ["", "corpus", "parcor-full", "parcor-full/corpus"])
def test_parcor_s_three_folders_are_read_in_one(tmp_path: Path, above: str) -> None:
    collections(tmp_path / above)
    assert [d.id for d in read(PARCOR, data_dir=tmp_path)] == ["0_EN", "1_EN", "2_EN"]
    one = tmp_path / above / "TED" / "EN"
    assert [d.id for d in read(PARCOR, data_dir=one)] == ["1_EN"]


def test_pleonastic_pronouns_are_expletive(tmp_path: Path) -> None:
    markable = '<markable id="m" span="word_13" coref_class="empty" mention="pronoun" type="{}"/>'
    for said, expected in (("pleonastic", "expletive"), ("anaphoric", "personal")):
        discourse = read_one(PARCOR, write(tmp_path, markable.format(said)))
        assert discourse.mentions[0].features.pronoun == expected


def test_arrau(tmp_path: Path) -> None:
    discourse = read_one(ARRAU, write(tmp_path, ARRAU_MARKABLES))
    dog, berg, she, it = discourse.mentions
    assert [m.kind for m in discourse.mentions] == ["nominal", "proper", "pronoun", "pronoun"]
    assert [span_text(discourse, m.head) for m in discourse.mentions if m.head] == [
        *("dog", "Berg", "She", "it"),
    ]
    assert (dog.features.entity, dog.features.status) == ("animate", "new")
    assert (dog.features.function, dog.features.number) == ("nsubj", "singular")
    assert (it.features.gender, it.features.person) == ("neuter", "3")
    assert (dog.chain, berg.chain) == (it.chain, she.chain) == ("set_1", "set_2")


def test_the_folders_of_the_second_arrau(tmp_path: Path) -> None:
    for place in ("RST_DTreeBank/train", "Pear_Stories/all"):
        folder = tmp_path / "data" / place / "MMAX"
        folder.mkdir(parents=True)
        write(folder, ARRAU_MARKABLES.replace('coref_set="set_2"', ""), levels="markables")
    (folder / "Basedata" / "a_words.xml").rename(folder / "Basedata" / "b_words.xml")
    for level in ("coref", "sentence"):
        path = folder / "markables" / f"a_{level}_level.xml"
        path.rename(path.with_name(f"b_{level}_level.xml"))
    one, two = read(ARRAU, data_dir=tmp_path)
    assert [(d.id, d.meta["split"]) for d in (one, two)] == [("a", "train"), ("b", "unsplit")]
    # Who is in no set is a chain of its own.
    assert [m.chain for m in one.mentions] == ["set_1", "markable_4", "markable_6", "set_1"]


def test_whether_the_reader_saw_the_real_files() -> None:
    assert ARRAU.proven == NEVER_RUN
    assert PARCOR.proven.endswith("39 documents")
    assert (ARRAU.republishable, PARCOR.republishable) == (False, False)


def test_all_files_of_a_document_are_hashed(tmp_path: Path) -> None:
    reading = read(PARCOR, data_dir=write(tmp_path))
    names = [file["name"] for file in reading.files]
    assert names == ["a_words.xml", "a_coref_level.xml", "a_sentence_level.xml"]


def test_a_document_without_a_word(tmp_path: Path) -> None:
    (write(tmp_path) / "Basedata" / "a_words.xml").write_text("<words/>")
    assert error(tmp_path).startswith("Basedata/a_words.xml:1: no word, expected")
