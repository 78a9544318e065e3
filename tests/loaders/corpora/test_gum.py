"""GUM, and the brackets of CorefUD."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from support.native_files import LAYOUTS
from support.small_corpora import OfFile, error, read_one

from coherencegym.loaders.corpora.gum import CORPUS, LICENCES, TEST, VALIDATION
from coherencegym.loaders.corpus import CorpusFile
from coherencegym.loaders.discourse import Discourse, Features, span_text
from coherencegym.loaders.formats.conllu import blocks, parse
from coherencegym.loaders.read import find, read

HEADER = "# newdoc id = GUM_bio_x\n# global.Entity = GRP-etype-infstat-minspan-link\n"
PRONOUN = "Case=Nom|Gender=Fem|Number=Sing|Person=3|PronType=Prs"


def row(
    number: int,
    form: str,
    tag: str = "NOUN",
    head: int | str = 0,
    deprel: str = "dep",
    entity: str = "",
    feats: str = "_",
    xpos: str = "_",
) -> str:
    misc = f"Entity={entity}" if entity else "_"
    return "\t".join(
        [str(number), form, form, tag, xpos, feats, str(head), deprel, "_", misc + "\n"]
    )


#: Her old friend, the doctor, left.
FRIEND = (
    row(1, "Her", "PRON", 3, "nmod:poss", "(1-person-new-3-coref(2-person-giv:act-1-ana)")
    + row(2, "old", "ADJ", 3)
    + row(3, "friend", "NOUN", 6, "nsubj", feats="Number=Sing")
    + row(4, "the", "DET", 5, "det", "(1-person-giv:act-2-appos")
    + row(5, "doctor", "NOUN", 3, "appos", "1)1)")
    + row(6, "left", "VERB", 0, "root")
)


def texts(discourse: Discourse) -> list[tuple[str, str]]:
    return [(span_text(discourse, mention.span), mention.chain) for mention in discourse.mentions]


def test_mentions_nest_and_come_in_the_order_of_the_text(of_file: OfFile) -> None:
    discourse = read_one(of_file(CORPUS, HEADER + FRIEND))
    assert texts(discourse) == [
        ("Her old friend the doctor", "1"),
        ("Her", "2"),
        ("the doctor", "1"),
    ]
    heads = [span_text(discourse, m.head) for m in discourse.mentions if m.head is not None]
    assert heads == ["friend", "Her", "doctor"]
    assert [m.kind for m in discourse.mentions] == ["nominal", "pronoun", "nominal"]


def test_words_have_their_grammar(of_file: OfFile) -> None:
    (unit,) = read_one(of_file(CORPUS, HEADER + FRIEND)).units
    assert [unit.text[word.start : word.end] for word in unit.words] == unit.text.split()
    assert [(word.relation, word.head) for word in unit.words] == [
        *(("nmod:poss", 2), ("dep", 2), ("nsubj", 5), ("det", 4), ("appos", 2), ("root", None))
    ]
    assert unit.words[2].features == "Number=Sing"


def test_features(of_file: OfFile) -> None:
    whole, her, doctor = read_one(of_file(CORPUS, HEADER + FRIEND)).mentions
    assert whole.features == Features(
        entity="person",
        status="new",
        link="coref",
        function="nsubj",
        pos="NOUN",
        first_pos="PRON",
        number="singular",
    )
    assert (her.features.gender, her.features.number, her.features.person) == (
        *("feminine", "singular"),
        "3",
    )
    assert (doctor.features.function, doctor.features.link) == ("appos", "appos")
    assert not doctor.features.predicate


@pytest.mark.parametrize(
    ("form", "feats", "xpos", "deprel", "expected"),
    [
        ("she", PRONOUN, "PRP", "nsubj", "personal"),
        ("her", "Person=3|Poss=Yes|PronType=Prs", "PRP$", "nmod:poss", "possessive"),
        ("her", "_", "PRP$", "nmod:poss", "possessive"),
        ("herself", "PronType=Prs|Reflex=Yes", "PRP", "obj", "reflexive"),
        ("herself", "PronType=Emp", "PRP", "obl", "reflexive"),
        ("it", "PronType=Prs", "PRP", "expl", "expletive"),
        ("who", "PronType=Rel", "WP", "nsubj", "relative"),
        ("whose", "Poss=Yes|PronType=Int", "WP$", "nmod:poss", "interrogative"),
        ("that", "PronType=Dem", "DT", "nsubj", "demonstrative"),
        ("everyone", "PronType=Tot", "NN", "nsubj", "indefinite"),
        ("them", "_", "PRP", "obj", "personal"),
    ],
)
def test_types_of_pronouns(
    of_file: OfFile, form: str, feats: str, xpos: str, deprel: str, expected: str
) -> None:
    text = HEADER + row(1, form, "PRON", 0, deprel, "(1)", feats, xpos)
    (mention,) = read_one(of_file(CORPUS, text)).mentions
    assert (mention.kind, mention.features.pronoun) == ("pronoun", expected)


def test_what_is_joined_to_a_predicate_is_one(of_file: OfFile) -> None:
    """``He is not [a king] but [a fool], and [Ann] left``: *Ann* has a clause of her own."""
    text = HEADER + (
        row(1, "He", "PRON", 5, "nsubj")
        + row(2, "is", "AUX", 5, "cop")
        + row(3, "not", "PART", 5, "advmod")
        + row(4, "a", "DET", 5, "det", "(1-person-new-2-coref")
        + row(5, "king", "NOUN", 0, "root", "1)")
        + row(6, "but", "CCONJ", 8, "cc")
        + row(7, "a", "DET", 8, "det", "(2-person-new-2-coref")
        + row(8, "fool", "NOUN", 5, "conj", "2)")
        + row(9, "and", "CCONJ", 12, "cc")
        + row(10, "Ann", "PROPN", 11, "nsubj", "(3-person-new-1-coref)")
        + row(11, "sage", "NOUN", 5, "conj", "(4-person-new-1-coref)")
    ).replace("\t12\tcc", "\t11\tcc")
    discourse = read_one(of_file(CORPUS, text))
    assert [m.features.predicate for m in discourse.mentions] == [True, True, False, False]


def test_what_is_joined_to_an_apposition_or_complement_is_a_predicate(of_file: OfFile) -> None:
    for deprel in ("appos", "xcomp"):
        text = HEADER + (
            row(1, "Ann", "PROPN", 0, "root")
            + row(2, "cook", "NOUN", 1, deprel)
            + row(3, "poet", "NOUN", 2, "conj", "(1-person-new-1-coref)")
            + row(4, "Bo", "PROPN", 1, "conj", "(2-person-new-1-coref)")
        )
        poet, bo = read_one(of_file(CORPUS, text)).mentions
        assert poet.features.predicate
        assert not bo.features.predicate


def test_headings_and_captions_are_named(of_file: OfFile) -> None:
    blocks = [
        '# newpar_block = head rend:::"bold large" (1 s)\n',
        "# newpar_block = p (1 s)\n",
        "# newpar_block = figure (2 s) | caption (2 s)\n",
        "",
        "",
    ]
    text = HEADER + "\n".join(block + row(1, "Yes") for block in blocks)
    assert read_one(of_file(CORPUS, text)).meta["headings"] == "0 2 3"


def test_the_units_that_begin_a_paragraph_are_named(of_file: OfFile) -> None:
    comments = (
        "# newpar\n# newpar_block = p (2 s)\n",
        "",
        "# newpar\n",
        "# newpar_block = p (1 s)\n",
    )
    text = HEADER + "\n".join(comment + row(1, "Yes") for comment in comments)
    assert read_one(of_file(CORPUS, text)).meta["paragraphs"] == "0 2 3"
    assert "paragraphs" not in read_one(of_file(CORPUS, HEADER + row(1, "Yes"))).meta


def test_names_and_predicates(of_file: OfFile) -> None:
    text = HEADER + (
        row(1, "Anna", "PROPN", 5, "nsubj", "(1-person-new-1-coref")
        + row(2, "Berg", "PROPN", 1, "flat", "1)")
        + row(3, "is", "AUX", 5, "cop")
        + row(4, "a", "DET", 5, "det", "(1-person-giv:act-2-coref")
        + row(5, "nurse", "NOUN", 0, "root", "1)")
    )
    anna, nurse = read_one(of_file(CORPUS, text)).mentions
    assert (anna.kind, anna.head, anna.features.predicate) == ("proper", ((0, 0, 4),), False)
    assert (nurse.kind, nurse.head, nurse.features.predicate) == ("nominal", ((0, 15, 20),), True)
    assert (anna.features.first_pos, nurse.features.first_pos) == ("PROPN", "DET")


def test_where_there_is_no_tree_the_head_is_the_annotators(of_file: OfFile) -> None:
    text = HEADER + (
        row(1, "the", "DET", "_", "_", "(1-person-new-2-coref")
        + row(2, "man", "NOUN", "_", "_")
        + row(3, "outside", "ADV", "_", "_", "1)")
    )
    (mention,) = read_one(of_file(CORPUS, text)).mentions
    assert mention.head == ((0, 4, 7),)


def test_repeated_crossing_and_several_brackets(of_file: OfFile) -> None:
    text = HEADER + (
        row(1, "a", entity="(1-x(1-y")
        + row(2, "b", entity="(2-z(3)")
        + row(3, "c", entity="1)(4)")
        + row(4, "d", entity="1)2)")
    )
    assert texts(read_one(of_file(CORPUS, text))) == [
        ("a b c d", "1"),
        ("a b c", "1"),
        ("b c d", "2"),
        ("b", "3"),
        ("c", "4"),
    ]


def test_discontinuous_mentions(of_file: OfFile) -> None:
    text = HEADER + (
        row(1, "both", entity="(7[1/2]-person-new-1-coref(7)")
        + row(2, "men", entity="7[1/2])")
        + row(3, "said")
        + row(4, "here", entity="(7[2/2])")
    )
    discourse = read_one(of_file(CORPUS, text))
    assert [m.span for m in discourse.mentions] == [((0, 0, 8), (0, 14, 18)), ((0, 0, 4),)]
    assert discourse.mentions[0].features.entity == "person"


def test_empty_nodes_have_no_text(of_file: OfFile) -> None:
    empty = row(1, "_", "PRON", "_", "_", "(2)").replace("1\t", "1.1\t", 1)
    text = HEADER + row(1, "Go", "VERB", entity="(1") + empty + row(2, "on", entity="1)")
    assert texts(read_one(of_file(CORPUS, text))) == [("Go on", "1")]


def test_the_fields_are_those_that_the_comment_names(of_file: OfFile) -> None:
    header = "# global.Entity = eid-etype-head-other\n# newdoc id = en_x\n"
    rows = row(1, "old", "ADJ", "_", "_", "(e1-place-2-") + row(2, "Rome", "PROPN", "_", "_", "e1)")
    discourse = read_one(of_file(CORPUS, header + rows))
    (mention,) = discourse.mentions
    assert (mention.chain, mention.features.entity, mention.kind) == ("e1", "place", "proper")
    assert (discourse.id, discourse.licence, discourse.meta) == ("en_x", None, {"split": "test"})


def test_speakers_of_sentences_and_of_blocks(of_file: OfFile) -> None:
    blocks = [
        '# newpar_block = sp who:::"#Ann" (2 s) | p (1 s)\n',
        "",
        "",
        '# speaker = Bob\n# newpar_block = sp who:::"#Ann" whom:::"#Cy" (1 s)\n',
        "# s_type = wh\n",
    ]
    text = HEADER + "\n".join(block + row(1, "Yes") for block in blocks)
    discourse = read_one(of_file(CORPUS, text))
    assert [unit.speaker for unit in discourse.units] == ["Ann", "Ann", None, "Bob", None]
    assert discourse.meta["sentence_types"] == "- - - - wh"


def test_documents_with_their_genre_licence_and_source(of_file: OfFile) -> None:
    text = "\n".join(
        f"# newdoc id = {name}\n# meta::title = On  it\n{row(1, 'Yes')}"
        for name in ("GUM_bio_x", "GUM_news_y", "GUM_speech_z", "GENTLE_poetry_x", "OTHER_bio_x")
    )
    found = list(read(of_file(CORPUS, text)))
    assert [d.meta["genre"] for d in found] == ["bio", "news", "speech", "poetry", "bio"]
    assert [d.licence for d in found] == ["CC-BY-SA-3.0", "CC-BY-2.5", "other", None, None]
    assert found[1].meta["title"] == "On it"
    assert found[1].units[0].source is not None
    assert (found[1].units[0].source.start, found[1].units[0].source.end) == (5, 7)


def test_a_document_without_an_id_is_called_after_its_file(of_file: OfFile) -> None:
    assert read_one(of_file(CORPUS, row(1, "Yes"))).id == "file"


def test_sentences_of_words_without_a_form_are_none(of_file: OfFile) -> None:
    assert read_one(of_file(CORPUS, f"{row(1, 'Yes')}\n{row(1, ' ')}")).texts == ("Yes",)
    reading = read(of_file(CORPUS, row(1, " ")), skip_bad_rows=True)
    assert (list(reading), reading.skipped["document without words"]) == ([], 1)


def test_withheld_documents_are_counted(of_file: OfFile) -> None:
    words = row(1, "_", "PRON") + row(2, "_____", "VERB")
    line = row(1, "Name", "NOUN") + row(2, "____", "SYM")
    real = row(1, "Press", "VERB") + row(2, "_") + row(3, "!", "PUNCT")
    text = f"# newdoc id = a\n# text = _ _\n{words}\n# newdoc id = b\n{line}\n# newdoc id = c\n"
    reading = read(of_file(CORPUS, f"{text}# text = Press _ !\n{real}"))
    assert [d.id for d in reading] == ["b", "c"]
    assert reading.skipped == {"withheld text": 1}


ONE = row(1, "he", entity="(1)")


@pytest.mark.parametrize(
    ("entity", "problem"),
    [
        ("(1[0/2])", "entity '1[0/2]', expected"),
        ("(-a)", "entity '', expected"),
        ("()", "Entity='()', expected brackets"),
        ("", "an empty"),
    ],
)
def test_malformed_brackets(of_file: OfFile, entity: str, problem: str) -> None:
    text = HEADER + row(1, "he", entity=entity)
    if not entity:
        assert not read_one(of_file(CORPUS, text)).mentions
        return
    assert error(of_file(CORPUS, text)).startswith(f"file.txt:3: {problem}")


def test_a_mention_does_not_reach_into_the_next_sentence(of_file: OfFile) -> None:
    text = HEADER + row(1, "he", entity="(1") + "\n" + row(1, "she", entity="1)")
    assert error(of_file(CORPUS, text)).startswith("file.txt:3: a mention of entity '1' is opened")


def test_splits(tmp_path: Path) -> None:
    names = {
        "dep/GUM_bio_byron.conllu": "validation",
        "dep/GUM_bio_dvorak.conllu": "test",
        "en_gum-ud-dev.conllu": "validation",
        "en_gum-corefud-test.conllu": "test",
        "en_gum-ud-train.conllu": "train",
        "GUM_bio_brandnew.conllu": "train",
        "dep/GENTLE_poetry_road.conllu": "test2",
    }
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(ONE)
    found = find(CORPUS, tmp_path)
    assert {f.path.relative_to(tmp_path).as_posix(): f.split for f in found.files} == names
    assert CORPUS.splits == ("validation", "test", "train", "test2")


def test_the_lists_of_documents() -> None:
    validation, test = VALIDATION.split(), TEST.split()
    assert len(set(validation) | set(test)) == 64
    # Two documents of each of the 16 genres in each split.
    for names in (validation, test):
        genres = Counter(name.split("_")[0] for name in names)
        assert set(genres.values()) == {2}
        assert set(genres) == {*LICENCES, "speech", "reddit"}


def test_all_the_real_documents(real_gum: list[Discourse]) -> None:
    assert len(real_gum) == 80
    assert sum(len(d.units) for d in real_gum) == 4704
    mentions = [mention for d in real_gum for mention in d.mentions]
    assert len(mentions) == 22311
    assert Counter(m.kind for m in mentions) == {"nominal": 12874, "pronoun": 5777, "proper": 3660}
    sizes = [size for d in real_gum for size in Counter(m.chain for m in d.mentions).values()]
    assert (len(sizes), sum(size > 1 for size in sizes)) == (11319, 3198)
    assert set(Counter(d.meta["genre"] for d in real_gum).values()) == {8}
    assert Counter(d.meta["split"] for d in real_gum) == {"train": 59, "validation": 13, "test": 8}


def test_the_real_mentions_are_words(real_gum: list[Discourse]) -> None:
    edge = re.compile(r"^\s|\s$|\s\s")
    for discourse in real_gum:
        for mention in discourse.mentions:
            text = span_text(discourse, mention.span)
            assert text
            assert not edge.search(text)
            assert mention.head is not None
            (unit, start, end) = mention.head[0]
            assert any(u == unit and s <= start and end <= e for u, s, e in mention.span)
            assert all(part[0] == unit for part in mention.span)


def test_the_real_pronouns(real_gum: list[Discourse]) -> None:
    pronouns = [m for d in real_gum for m in d.mentions if m.kind == "pronoun"]
    assert all(m.features.pronoun for m in pronouns)
    third: Counter[str] = Counter()
    for discourse in real_gum:
        for mention in discourse.mentions:
            features = mention.features
            if features.pronoun in ("personal", "possessive") and features.person == "3":
                third[span_text(discourse, mention.span).lower()] += 1
    one_word = {word: count for word, count in third.items() if " " not in word and count > 4}
    known = "he him his she her hers it its they them their theirs one 'em em"
    assert set(one_word) <= set(known.split())
    assert third["he"] > 300


def without_notes(text: str) -> str:
    return re.sub(r" ?\(\)", "", re.sub(r" ?\[\d+\](?:(?:, |–)\[\d+\])*", "", text))


def test_the_real_texts_are_those_of_the_comments(shared: Path, real_gum: list[Discourse]) -> None:
    by_id = {discourse.id: discourse for discourse in real_gum}
    for path in (shared / "corpora" / "gum" / "conllu").iterdir():
        comments = re.findall(r"^# text = (.*)$", path.read_text(), re.MULTILINE)
        expected = [" ".join(text.split()) for text in comments]
        assert list(map(without_notes, by_id[path.stem].texts)) == list(
            map(without_notes, expected)
        )


def test_marks_of_footnotes_are_left_out_with_all_that_is_annotated(tmp_path: Path) -> None:
    """A number that the sentence needs stays: its relation in the grammar is no ``dep``."""
    # "+": no space
    close_up = "Ann [+ 1+ ]+ , [+ 2+ ] ran [+ 3+ ]+ , as [+ 4+ ] says (+ [+ 5+ ]+ )+ ."
    relations = {1: "nsubj", 9: "root", 16: "nsubj"}
    entities = {1: "(1-person-new-1-sgl", 4: "1)", 10: "(2-object-new-1-sgl", 12: "2)"}
    rows = ""
    for number, word in enumerate(close_up.split(), start=1):
        relation = relations.get(number, "dep")
        line = row(number, word.rstrip("+"), head=9 * (number != 9), deprel=relation).rstrip("_\n")
        misc = [f"Entity={entities[number]}"] if number in entities else []
        misc += ["SpaceAfter=No"] * word.endswith("+")
        rows += f"{line}{'|'.join(misc) or '_'}\n"
    files = {
        "dep/GUM_bio_a.conllu": HEADER.replace("bio_x", "bio_a") + rows,
        "rst/lisp_binary/GUM_bio_a.dis": (
            "( Root (span 1 4)\n ( Nucleus (span 1 3) (rel2par span)\n"
            "  ( Nucleus (leaf 1) (rel2par span) (text _!Ann [ 1 ] , [ 2 ] ran_!) )\n"
            "  ( Satellite (span 2 3) (rel2par attribution-a)\n"
            "   ( Satellite (leaf 2) (rel2par explanation-a) (text _![ 3 ]_!) )\n"
            "   ( Nucleus (leaf 3) (rel2par span) (text _!, as [ 4 ] says_!) ) ) )\n"
            " ( Satellite (leaf 4) (rel2par joint-a) (text _!( [ 5 ] ) ._!) ) )\n"
        ),
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (discourse,) = read(CORPUS, data_dir=tmp_path)
    assert discourse.text == "Ann ran, as [4] says."
    assert texts(discourse) == [("Ann", "1")]
    assert discourse.tree is not None
    units = [span_text(discourse, unit) for unit in discourse.tree.units]
    assert units == ["Ann ran", ", as [4] says", "."]
    spans = [(node.first, node.middle, node.last) for node in discourse.tree.nodes]
    assert spans == [(0, 2, 3), (0, 1, 2)]


def test_a_real_mention_is_its_tokens(shared: Path, real_gum: list[Discourse]) -> None:
    """Each mention's text is that of the words from its opening bracket to its closing one."""
    for discourse in real_gum[:10]:
        path = shared / "corpora" / "gum" / "conllu" / f"{discourse.id}.conllu"
        if "\t[\t" in path.read_text():
            continue  # words of marks stand nowhere
        starts: Counter[tuple[int, int]] = Counter()
        ends: Counter[tuple[int, int]] = Counter()
        for unit, block in enumerate(blocks(CorpusFile(path, "test"))):
            for word in parse(block).words:
                entity = word.misc.get("Entity", "")
                starts[unit, word.start] += entity.count("(")
                ends[unit, word.end] += entity.count(")")
        spans = [mention.span[0] for mention in discourse.mentions]
        assert Counter((unit, start) for unit, start, _ in spans) == +starts
        assert Counter((unit, end) for unit, _, end in spans) == +ends


def test_real_speakers_and_types_of_sentences(real_gum: list[Discourse]) -> None:
    genres: Counter[str] = Counter()
    for discourse in real_gum:
        genres[discourse.meta["genre"]] += any(unit.speaker for unit in discourse.units)
        assert len(discourse.meta["sentence_types"].split()) == len(discourse.units)
    assert genres["conversation"] == genres["interview"] == genres["court"] == 8
    assert genres["bio"] == genres["textbook"] == 0


def test_a_tree_has_its_units_in_the_sentences(tmp_path: Path) -> None:
    LAYOUTS["gum relations"].write(tmp_path)
    reading = read(CORPUS, data_dir=tmp_path)
    first = next(iter(reading))
    assert first.tree is not None
    texts = [span_text(first, unit) for unit in first.tree.units]
    assert (len(texts), " ".join(texts)) == (2, first.text)
    (node,) = first.tree.nodes
    assert (node.nuclearity, node.relation) == ("NS", "adversative-contrast")
    assert [file["name"] for file in reading.files[:4]] == [
        *("GUM_bio_a.conllu", "GUM_bio_a", "GUM_bio_a", "GUM_bio_a.dis")
    ]


def test_documents_of_one_file_have_their_trees_beside_it(tmp_path: Path) -> None:
    LAYOUTS["gum relations"].write(tmp_path)
    one = tmp_path / "dep/en_gum-ud-dev.conllu"
    files = sorted((tmp_path / "dep").glob("GUM_*"))
    one.write_text("\n".join(file.read_text() for file in files))
    for file in files:
        file.unlink()
    reading = read(CORPUS, data_dir=tmp_path)
    assert [(d.id, d.tree is not None, len(d.relations)) for d in reading] == [
        *(("GUM_bio_a", True, 1), ("GUM_bio_b", True, 1))
    ]
    assert len(reading.files) == 7


def test_real_trees(real_gum: list[Discourse]) -> None:
    found = [d.tree for d in real_gum if d.tree is not None]
    assert (len(found), sum(len(tree.units) for tree in found)) == (80, 10_250)
    nodes = [node for tree in found for node in tree.nodes]
    labels = Counter(f"{n.nuclearity}-{n.relation.split('-')[0]}" for n in nodes)
    assert (len(nodes), len(labels)) == (10_170, 27)
    # Counted by a script of its own, from the indentation of the files; less marks of footnotes.
    assert [labels[name] for name in ("NS-elaboration", "NN-joint", "NN-same", "SN-purpose")] == [
        *(2058, 1794, 547, 12)
    ]
