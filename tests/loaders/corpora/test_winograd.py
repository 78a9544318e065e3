"""The Winograd Schema Challenge and WinoGrande: two layouts of the same schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.small_corpora import OfFile, error

from coherencegym.loaders.corpora.winograd import (
    CORPUS,
    OPTION_ERRATA,
    TEXT_ERRATA,
    WINOGRANDE,
    Schema,
    assemble,
    corrected,
)
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.read import Reading, find, read
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.schemas import CandidateSubstitution

#: A schema as the XML has it: text before, pronoun, text after, candidates, answer.
Raw = tuple[str, str, str, tuple[str, str], str]

SCHEMAS: list[Raw] = [
    ("The trophy doesn't fit into the brown suitcase because\n", "it ", " is too large.\n",
     ("the trophy ", "the suitcase"), "A. "),
    ("The trophy doesn't fit into the brown suitcase because\n", "it ", " is too small.\n",
     ("the trophy ", "the suitcase"), " B"),
    ("The older students bullied the younger ones, so we rescued ", "them", ".",
     ("The older students", "The younger students"), "B."),
    ("Bob paid for Charlie's college education. ", "He", " is very generous. ",
     ("Bob", "Charlie"), "A"),
    ("The fish ate the worm. ", " It ", " was hungry", ("The fish", "The worm"), "A"),
    ("Jim signaled the barman and gestured toward ", "his", " empty glass ",
     ("Jim", "The barman"), "A"),
    ("Emma's mother had died long ago, and ", "her", " place had been taken .",
     ("Emma", "Emma's mother"), "B"),
    ("Dr. Adams informed Kate that ", "she", " had retired .", ("Dr. Adams", "Kate"), "A"),
    ("Joe's uncle can still beat him at tennis, even though ", "he", " is 30 years younger.",
     ("Joe", "Joe's uncle"), "A"),
    ("", "Its", " driver got out of the bus, and so did that of the taxi .",
     ("The bus", "The taxi"), "A"),
]  # fmt: skip

#: Their two texts, the right one first.
TEXTS = [
    ("The trophy doesn't fit into the brown suitcase because the trophy is too large.",
     "The trophy doesn't fit into the brown suitcase because the suitcase is too large."),
    ("The trophy doesn't fit into the brown suitcase because the suitcase is too small.",
     "The trophy doesn't fit into the brown suitcase because the trophy is too small."),
    ("The older students bullied the younger ones, so we rescued the younger students.",
     "The older students bullied the younger ones, so we rescued the older students."),
    ("Bob paid for Charlie's college education. Bob is very generous.",
     "Bob paid for Charlie's college education. Charlie is very generous."),
    ("The fish ate the worm. The fish was hungry.", "The fish ate the worm. The worm was hungry."),
    ("Jim signaled the barman and gestured toward Jim's empty glass.",
     "Jim signaled the barman and gestured toward the barman's empty glass."),
    ("Emma's mother had died long ago, and Emma's mother's place had been taken.",
     "Emma's mother had died long ago, and Emma's place had been taken."),
    ("Dr. Adams informed Kate that Dr. Adams had retired.",
     "Dr. Adams informed Kate that Kate had retired."),
    ("Joe's uncle can still beat him at tennis, even though Joe is 30 years younger.",
     "Joe's uncle can still beat him at tennis, even though Joe's uncle is 30 years younger."),
    ("The bus's driver got out of the bus, and so did that of the taxi.",
     "The taxi's driver got out of the bus, and so did that of the taxi."),
]  # fmt: skip


def xml(schemas: list[Raw]) -> str:
    parts = [
        f"<schema>\n<text><txt1>{left}</txt1>\n<pron>{pronoun}</pron><txt2>{right}</txt2></text>\n"
        f"<quote><quote1></quote1><pron> {pronoun} </pron><quote2>x</quote2></quote>\n"
        f"<answers><answer>{one}</answer>\n<answer> {two}\n</answer></answers>\n"
        f"<correctAnswer>{answer}</correctAnswer><source> (Levesque) </source>\n</schema>\n"
        for left, pronoun, right, (one, two), answer in schemas
    ]
    head = "<?xml version='1.0' encoding='ISO-8859-1'?>\n<collection>\n"
    return head + "".join(parts) + "</collection>"


def lowered(option: str) -> str:
    return option.replace("The ", "the ")


def winogrande_rows(schemas: list[Raw] = SCHEMAS) -> list[dict[str, str]]:
    rows = []
    for left, pronoun, right, options, answer in schemas:
        blank = "_'s" if pronoun.lower() in ("his", "her", "its") else "_"
        words = f"{left} {blank} {right}".replace(" .", ".")
        one, two = (lowered(option.strip()) for option in options)
        number = str("AB".index(answer.strip()[0]) + 1)
        rows.append({"sentence": words, "option1": one, "option2": two, "answer": number})
    return rows


def layouts() -> dict[str, str]:
    lines = "\n".join
    return {
        "xml": xml(SCHEMAS),
        "winogrande": lines(map(json.dumps, winogrande_rows())) + "\n",
        "winogrande array": json.dumps(winogrande_rows(), indent=1),
    }


def substituted(discourse: Discourse) -> tuple[str, str]:
    (target,) = CandidateSubstitution("target")(discourse, Context())
    (distractor,) = CandidateSubstitution()(discourse, Context())
    return target.text, distractor.text


@pytest.mark.parametrize("layout", layouts())
def test_every_layout_gives_the_same_two_texts(of_file: OfFile, layout: str) -> None:
    discourses = list(read(of_file(CORPUS, layouts()[layout])))
    assert [substituted(discourse) for discourse in discourses] == TEXTS
    assert [d.id for d in discourses] == [f"wsc-{n:03d}" for n in range(1, 11)]


def test_what_ends_a_sentence_inside_a_candidate_ends_none(of_file: OfFile) -> None:
    """The layout that has the candidates in their place, not the pronoun."""
    row = {"sentence": "Ann rang _. It was late.", "option1": "Eat! Daily"}
    row |= {"option2": "Yahoo! Limited", "answer": "2"}
    (discourse,) = read(of_file(CORPUS, json.dumps(row)))
    texts = ("Ann rang Yahoo! Limited. It was late.", "Ann rang Eat! Daily. It was late.")
    assert substituted(discourse) == texts
    assert discourse.texts == ("Ann rang Yahoo! Limited.", "It was late.")


#: Schemas with slips that are corrected, in the text and in a candidate.
SLIPS: list[Raw] = [
    ("Ann  recieved Bo because", "she", "was kind .", ("Ann", "Eve"), "A"),
    ("We had hoped to place copies on them, but there were not enough of", "them", ".",
     ("copies of the newsletter", "chairs"), "B."),
]  # fmt: skip


def test_listed_errata_are_mended_in_every_layout(of_file: OfFile) -> None:
    assert {wrong for wrong, _ in TEXT_ERRATA} >= {"recieved"}
    assert {wrong for _, wrong, _ in OPTION_ERRATA} >= {"chairs"}
    texts = [
        ("Ann received Bo because Ann was kind.", "Ann received Bo because Eve was kind."),
        (
            "We had hoped to place copies on them, but there were not enough of the chairs.",
            "We had hoped to place copies on them, but there were not enough of the copies of the "
            "newsletter.",
        ),
    ]
    for content in (
        xml(SLIPS),
        "\n".join(map(json.dumps, winogrande_rows(SLIPS))),
    ):
        discourses = list(read(of_file(CORPUS, content)))
        assert [substituted(discourse) for discourse in discourses] == texts


def test_parquet_too(of_file: OfFile, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(winogrande_rows()), tmp_path / "made")
    discourses = list(read(of_file(CORPUS, (tmp_path / "made").read_bytes())))
    assert [substituted(discourse) for discourse in discourses] == TEXTS


@pytest.mark.parametrize("layout", layouts())
def test_the_alternative_stands_at_the_pronoun(of_file: OfFile, layout: str) -> None:
    for discourse in read(of_file(CORPUS, layouts()[layout])):
        (alternative,) = discourse.alternatives
        there = span_text(discourse, alternative.span)
        if "pronoun" in discourse.meta:
            assert there == discourse.meta["pronoun"]
        else:
            right = alternative.options[alternative.right]
            assert there.lower() == right.lower()


def test_a_schema_in_full(of_file: OfFile) -> None:
    (_, _, third, fourth, *_) = read(of_file(CORPUS, xml(SCHEMAS)))
    assert third.texts == ("The older students bullied the younger ones, so we rescued them.",)
    assert fourth.texts == ("Bob paid for Charlie's college education.", "He is very generous.")
    assert fourth.alternatives[0].span == ((1, 0, 2),)
    assert fourth.alternatives[0].options == ("Bob", "Charlie")
    assert fourth.alternatives[0].right == 0
    assert fourth.meta == {
        "split": "test",
        "family": "family-004",
        "pronoun": "He",
    }
    line = xml(SCHEMAS[:2]).replace("</collection>", "").count("\n") + 1
    assert third.units[0].source is not None
    assert third.units[0].source.start == line


def test_twins_are_a_family(of_file: OfFile) -> None:
    families = [d.meta["family"] for d in read(of_file(CORPUS, xml(SCHEMAS)))]
    assert families[0] == families[1]
    assert len(set(families)) == 9


def test_more_than_two_answers_as_in_the_pronoun_disambiguation_problems(of_file: OfFile) -> None:
    text = xml(SCHEMAS[:1]).replace("</answers>", "<answer>the lid</answer></answers>")
    (discourse,) = read(of_file(CORPUS, text.replace(">A. <", ">c.<")))
    assert discourse.alternatives[0].options == ("the trophy", "the suitcase", "the lid")
    assert discourse.alternatives[0].right == 2


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ("we saw", ".", "we saw them."),
        ("we saw", ", too", "we saw them, too."),
        ("", "ran", "them ran."),
        ("he said \"", "\" aloud!", 'he said "them" aloud!'),
        ("he said \"yes\" to", "\"now\"", 'he said "yes" to them "now"'),
        ("(near", ")", "(near them)"),
        ("(", ") ran.", "(them) ran."),
        ("where", "'re going?", "where them're going?"),
        ("a", "-like man", "a them-like man."),
        ("by", "' years", "by them' years."),
    ],
)  # fmt: skip
def test_spaces_are_where_a_reader_expects_them(left: str, right: str, text: str) -> None:
    assembled, start = assemble(left, "them", right)
    assert assembled == text
    assert assembled[start:].startswith("them")


def test_stray_spaces_and_slips_are_mended() -> None:
    schema = Schema(1, 1, " She  had recieved it , then \n", "it", "fell . ", ("a ", " b\n c"), 0)
    mended = corrected(schema)
    assert (mended.left, mended.right) == ("She had received it, then", "fell.")
    assert mended.options == ("a", "b c")
    places = Schema(1, 1, "We had hoped to place copies on", "them", ".", ("chairs", "x"), 0)
    assert corrected(places).options == ("the chairs", "x")
    password = Schema(1, 1, 'from "a" toÃ\x82 "b"', "it", ".", ("a", "b"), 0)
    assert corrected(password).left == 'from "a" to "b"'


def test_a_layout_that_is_not_known_says_which_are(of_file: OfFile) -> None:
    assert error(of_file(CORPUS, "<a></a>")).startswith("file.txt:1: no <schema>, expected")
    assert error(of_file(CORPUS, "PAR1 and no more")).startswith(
        "file.txt: cannot be read (Parquet"
    )


def numbered(count: int) -> str:
    people = [(f"Ann {n}", f"Bo {n}") for n in range(count)]
    return xml([(f"{pair[0]} met Bo, and", "she", "ran.", pair, "A") for pair in people])


@pytest.mark.parametrize("vintage", [48, 273, 283, 285])
def test_the_first_273_are_the_test_split_of_every_vintage(tmp_path: Path, vintage: int) -> None:
    (tmp_path / "WSCollection.xml").write_text(numbered(vintage))
    ids = [discourse.id for discourse in read(CORPUS, data_dir=tmp_path)]
    assert ids == [f"wsc-{n:03d}" for n in range(1, min(vintage, 273) + 1)]
    added = [d.id for d in read(CORPUS, data_dir=tmp_path, splits=["test_added"])]
    assert added == [f"wsc-{n:03d}" for n in range(274, vintage + 1)]
    both = list(read(CORPUS, data_dir=tmp_path, splits=["test", "test_added"]))
    assert [d.id for d in both] == ids + added
    assert [d.meta["split"] for d in both] == ["test"] * len(ids) + ["test_added"] * len(added)


def test_what_comes_after_wsc273_cannot_spoil_it(tmp_path: Path) -> None:
    damaged = numbered(285).replace("<pron>she</pron><txt2>ran.</txt2></text>", "</text>")
    whole, _, _ = numbered(285).partition("<schema>\n<text><txt1>Ann 273 ")
    (tmp_path / "WSCollection.xml").write_text(whole + damaged[len(whole) :])
    assert len(list(read(CORPUS, data_dir=tmp_path))) == 273


def test_one_file_of_several_is_read_the_proven_layout_first(tmp_path: Path) -> None:
    for name in ("wsc273.jsonl", "wsc285.jsonl"):
        (tmp_path / name).write_text(layouts()["winogrande"])
    assert find(CORPUS, tmp_path).files[0].path.name == "wsc285.jsonl"
    (tmp_path / "WSCollection.xml").write_text(numbered(2))
    found = find(CORPUS, tmp_path)
    assert [file.path.name for file in found.files] == ["WSCollection.xml"]


def test_winogrande_files_and_ids(tmp_path: Path) -> None:
    folder = tmp_path / "winogrande_1.1"
    folder.mkdir()
    rows = [row | {"qID": f"Q{n}-1"} for n, row in enumerate(winogrande_rows())]
    (folder / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for size in ("xl", "m"):
        (folder / f"train_{size}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "test.jsonl").write_text(json.dumps(rows[0] | {"answer": ""}))
    discourses = list(read(WINOGRANDE, data_dir=tmp_path))
    assert [d.id for d in discourses] == [f"Q{n}-1" for n in range(10)]
    assert {d.meta["split"] for d in discourses} == {"validation"}
    train = find(WINOGRANDE, tmp_path, ["train"])
    assert [file.path.name for file in train.files] == ["train_xl.jsonl"]
    with pytest.raises(CorpusError, match=r"test\.jsonl:1: answer is .* without answers\?$"):
        list(read(WINOGRANDE, data_dir=tmp_path, splits=["test"]))


@pytest.fixture
def real(real_corpus: Callable[[str], tuple[Reading, list[Discourse]]]) -> list[Discourse]:
    return real_corpus("winograd")[1]


def test_the_real_collection(real: list[Discourse]) -> None:
    assert [d.meta["split"] for d in real] == ["test"] * 273 + ["test_added"] * 12
    assert sum(d.alternatives[0].right == 0 for d in real[:273]) == 137
    odd = re.compile(r"\s[.,?!;:]|\s\s|^\s|\s$|[^\x00-\x7f]")
    for discourse in real:
        (alternative,) = discourse.alternatives
        assert span_text(discourse, alternative.span) == discourse.meta["pronoun"]
        assert not odd.search(discourse.text), discourse.text
        assert discourse.text[-1] in ".!"
        assert all(text[0].isupper() for text in discourse.texts)
    assert real[248].texts == (
        "Dr. Adams informed Kate that she had retired and presented several options for future "
        "treatment.",
    )
    assert real[173].texts[1:] == (
        "There is a shark swimming right below that duck!",
        "It had better get away to safety fast!",
    )
