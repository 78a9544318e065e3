"""CoNLL-U: the reader of sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.corpus import CorpusFile, ReadOptions
from coherencegym.loaders.formats.conllu import Sentence, blocks, conllu_documents, parse
from coherencegym.loaders.formats.lines import LineError
from coherencegym.loaders.languages.language import Layout
from coherencegym.loaders.languages.registry import language

WORDS = """\
# newdoc id = one
# text = "Don't go," she said.
1\t"\t"\tPUNCT\t``\t_\t4\tpunct\t_\tSpaceAfter=No
2-3\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tDo\tdo\tAUX\tVB\tMood=Imp|VerbForm=Fin\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No|Entity=(1)|Bare
4.1\tnow\tnow\tADV\tRB\t_\t_\t_\t4:advmod\t_
5\t,\t,\tPUNCT\t,\t_\t4\tpunct\t_\tSpaceAfter=No
6\t"\t"\tPUNCT\t''\t_\t4\tpunct\t_\t_
7\tshe\tshe\tPRON\tPRP\t_\t8\tnsubj\t_\t_
8\tsaid\tsay\tVERB\tVBD\t_\t4\tparataxis\t_\tSpaceAfter=No
9\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_
"""


def sentences(folder: Path, text: str) -> list[Sentence]:
    path = folder / "file.conllu"
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    return [parse(block) for block in blocks(CorpusFile(path, "test"))]


MISPLACED = "multiword tokens that do not stand before their words"


def one_line(*columns: str) -> str:
    filled = list(columns) + ["_"] * (10 - len(columns))
    return "\t".join(filled) + "\n"


def test_words_stand_where_the_text_has_them(tmp_path: Path) -> None:
    (sentence,) = sentences(tmp_path, WORDS)
    assert sentence.text == '"Don\'t go," she said.'
    assert [sentence.text[word.start : word.end] for word in sentence.words] == [
        *('"', "Do", "n't", "go", ",", '"', "she", "said", "."),
    ]
    (now,) = [token for token in sentence.tokens if token.empty]
    assert (now.id, now.start, now.end, now.head) == ("4.1", 9, 9, None)
    assert " ".join(token.id for token in sentence.tokens) == "1 2 3 4 4.1 5 6 7 8 9"


def test_columns_and_comments_are_handed_on(tmp_path: Path) -> None:
    (sentence,) = sentences(tmp_path, WORDS)
    go = sentence.words[3]
    assert (go.lemma, go.upos, go.xpos, go.head, go.deprel) == ("go", "VERB", "VB", 0, "root")
    assert go.misc == {"SpaceAfter": "No", "Entity": "(1)", "Bare": ""}
    assert sentence.words[1].feats == {"Mood": "Imp", "VerbForm": "Fin"}
    assert sentence.comments["newdoc id"] == "one"
    assert (sentence.line, sentence.last_line, go.line) == (1, 13, 7)


def test_a_multiword_token_that_its_words_do_not_make_up_is_the_place_of_each(
    tmp_path: Path,
) -> None:
    text = one_line("1-2", "du") + one_line("1", "de") + one_line("2", "le") + one_line("3", "ma")
    (sentence,) = sentences(tmp_path, text)
    assert sentence.text == "du ma"
    assert [(word.start, word.end) for word in sentence.words] == [(0, 2), (0, 2), (3, 5)]


def test_space_in_a_form_is_one_space(tmp_path: Path) -> None:
    (sentence,) = sentences(tmp_path, one_line("1", "10\u00a0000") + one_line("2", "men"))
    assert sentence.text == "10 000 men"
    assert (sentence.words[1].start, sentence.words[1].end) == (7, 10)


def test_a_word_without_a_form_takes_no_space(tmp_path: Path) -> None:
    rows = one_line("1", "a") + one_line("2", "", *"_" * 7, "SpaceAfter=No") + one_line("3", "b")
    (sentence,) = sentences(tmp_path, rows)
    assert [(word.start, word.end) for word in sentence.words] == [(0, 1), (1, 1), (2, 3)]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_documents_begin_at_newdoc_and_line_ends_do_not_matter(
    tmp_path: Path, line_end: str
) -> None:
    path = tmp_path / "file.conllu"
    again = WORDS.replace("# newdoc id = one\n", "")
    text = f"{WORDS}\n{again}\n\n{WORDS}".replace("\n", line_end)
    path.write_bytes(text.encode())
    found = list(conllu_documents(CorpusFile(path, "test"), ReadOptions()))
    assert [(name, len(document)) for name, document in found] == [("one", 2), ("one", 1)]
    assert [parse(block).line for _, document in found for block in document] == [1, 15, 29]


def test_documents_without_a_name_are_numbered(tmp_path: Path) -> None:
    path, options = tmp_path / "a.conllu", ReadOptions()
    unnamed = WORDS.replace(" id = one", "")
    path.write_text(f"{unnamed}\n{WORDS}\n{unnamed.replace('newdoc', 'newdoc id =')}\n{unnamed}")
    names = [name for name, _ in conllu_documents(CorpusFile(path, "test"), options)]
    assert names == ["a", "one", "a-2", "a-3"]
    assert next(conllu_documents(CorpusFile(path, "train"), options))[0] == "a-4"


REPAIRED = {
    "ranges that overlap": (
        *("1-2 I'd|1 I|2-3 'd've|2 'd|3 've|4 gone", "I'd've gone", "0-1 1-3 3-6 7-11"),
        {"multiword tokens that overlap": 1},
    ),
    "a range that spells its words otherwise": (
        *("1-2 du|1 de|2-3 les|2 le|3 s|4 ma", "dus ma", "0-3 0-3 0-3 4-6"),
        {"multiword tokens that overlap": 1},
    ),
    "a range in another, and one twice": (
        *("1-3 abc|1 a|2-3 bc|1-3 abc|2 b|3 c", "abc", "0-1 1-2 2-3"),
        {"multiword tokens that overlap": 2, MISPLACED: 1},
    ),
    "a range behind its words": (
        *("1 a|2 b|3 c|2-3 bc", "a bc", "0-1 2-3 3-4"),
        {MISPLACED: 1},
    ),
    "no form": ("1 a|2 |3 b", "a b", "0-1 1-1 2-3", {"words without a form": 1}),
    "no form at the ends": ("1 |2 b|3 ", "b", "0-0 0-1 1-1", {"words without a form": 2}),
    "a range without a form": ("1-2 |1 a|2 b", "a b", "0-1 2-3", {"words without a form": 1}),
    "no form at all": ("1 ", "", "0-0", {"words without a form": 1}),
}


@pytest.mark.parametrize("lay_out", [None, language("pt").lay_out, language("en").lay_out])
@pytest.mark.parametrize("name", REPAIRED)
def test_what_releases_have_wrong_is_repaired_and_counted(
    tmp_path: Path, name: str, lay_out: Layout | None
) -> None:
    rows, text, places, counted = REPAIRED[name]
    path, options = tmp_path / "file.conllu", ReadOptions()
    path.write_text("".join(one_line(*row.split(" ")) for row in rows.split("|")))
    (block,) = blocks(CorpusFile(path, "test"))
    sentence = parse(block, lay_out, options)
    assert sentence.text == text
    assert " ".join(f"{word.start}-{word.end}" for word in sentence.words) == places
    assert options.skipped == {f"repaired: {fault}": times for fault, times in counted.items()}


BAD = {
    "wrong number of columns": (WORDS.replace("\tpunct\t_\t_\n7", "\n7"), 10, "7 columns, exp"),
    "bad id": (WORDS.replace("\n6\t", "\nsix\t"), 10, "id 'six', expected a number"),
    "ids out of order": (WORDS.replace("\n6\t", "\n7\t"), 10, "id '7', expected 6"),
    "bad head": (WORDS.replace("\t8\tnsubj", "\t-1\tnsubj"), 11, "head '-1', expected the id"),
    "head outside the sentence": (
        WORDS.replace("\t8\tnsubj", "\t12\tnsubj"),
        11,
        "head 12 of 'she', expected at most 9",
    ),
    "words do not give # text": (
        WORDS.replace("she said.\n", "he said.\n", 1),
        1,
        ", expected the same",
    ),
    "sentence cut off": (one_line("1-3", "ab") + one_line("1", "a"), 2, "ends after word 1"),
    "sentence without words": ("# text = none\n", 1, "a sentence without words"),
    "NUL byte": (WORDS.replace("said", "s\0d"), 2, "a NUL byte"),
    "not UTF-8": (WORDS.replace("said", "s\udcffd"), 2, "byte 0xff is not UTF-8"),
    "overlong field": (one_line("1", "a" * 100_001), 1, "a field of more than 100,000"),
}


@pytest.mark.parametrize("reason", BAD)
def test_what_is_wrong_and_where(tmp_path: Path, reason: str) -> None:
    text, line, problem = BAD[reason]
    with pytest.raises(LineError) as caught:
        sentences(tmp_path, text)
    assert caught.value.reason == reason
    assert caught.value.line == line
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ("2", "1"),
        ("1 1", "2"),
        ("1 3-2 2 3", "a number such as 3, 3-4 or 3.1"),
        ("0-1 1", "a number such as 3, 3-4 or 3.1"),
        ("1 1.2", "1.1"),
        ("1 2.1", "1.1"),
        ("0.2 1", "0.1"),
    ],
)
def test_ids_count_up(tmp_path: Path, ids: str, expected: str) -> None:
    with pytest.raises(LineError, match=rf", expected {expected}$"):
        sentences(tmp_path, "".join(one_line(identifier, "x") for identifier in ids.split()))


def test_an_endless_line_is_not_held_in_memory(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "long.conllu"
    with path.open("wb") as stream:
        for _ in range(50):
            stream.write(b"a" * 1_000_000)
        stream.write(b"\n1\tx" + b"\t_" * 8 + b"\n")
    tracemalloc.start()
    (block,) = blocks(CorpusFile(path, "test"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000
    assert [number for number, _ in block.lines] == [1, 2]
    with pytest.raises(LineError, match="a field of more than 100,000"):
        parse(block)


FORMS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=4)


@given(words=st.lists(st.tuples(FORMS, st.booleans()), min_size=1, max_size=6))
def test_any_words_are_found_in_the_text(
    tmp_path_factory: pytest.TempPathFactory, words: list[tuple[str, bool]]
) -> None:
    rows = "".join(
        one_line(str(i), form, *"_" * 7, "_" if space else "SpaceAfter=No")
        for i, (form, space) in enumerate(words, 1)
    )
    (sentence,) = sentences(tmp_path_factory.getbasetemp(), rows)
    places = [sentence.text[word.start : word.end] for word in sentence.words]
    assert places == [form for form, _ in words]
    natural = "".join(form + " " * space for form, space in words).strip()
    assert sentence.text == natural
