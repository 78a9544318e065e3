"""Tables of relations of the DISRPT shared task, and the texts beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support.native_files import LAYOUTS, RELS

from coherencegym.builders.discourse_tasks import SUITE
from coherencegym.loaders.corpora.disrpt import CORPUS
from coherencegym.loaders.corpus import CorpusError, CorpusFile
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.formats.conllu import blocks, parse
from coherencegym.loaders.languages.registry import language
from coherencegym.loaders.read import Reading, read
from coherencegym.manipulations.operator import Context


def found(folder: Path) -> list[Discourse]:
    return list(read(CORPUS, data_dir=folder))


def test_one_config_for_each_language(tmp_path: Path) -> None:
    LAYOUTS["disrpt texts"].write(tmp_path)
    one, _ = found(tmp_path)
    relations = [c for c in SUITE.configs if c.corpora == ("disrpt",) and c.prefix == "relation"]
    (config,) = relations
    row = list(config.generator(one, Context(0, "test")))[-1]
    assert row.label == "contrast"
    assert (row.extra["language"], row.extra["relation"]) == ("nld", "Comparison.Contrast")
    assert config.by == "language"


def test_a_table_needs_its_texts(tmp_path: Path) -> None:
    (tmp_path / "fra.sdrt.x_dev.rels").write_text(RELS)
    with pytest.raises(CorpusError, match=r"its text is missing, expected .*_dev\.conllu"):
        found(tmp_path)


def test_documents_are_put_together_from_their_tokens(tmp_path: Path) -> None:
    LAYOUTS["disrpt texts"].write(tmp_path)
    path = tmp_path / "nld.rst.x/nld.rst.x_dev.rels"
    first, *_ = path.read_text().splitlines()[1:]
    more = first.replace("1-1\t2-6", "8-8\t11-13"), first.replace("1-1\t2-6", "_\t11-13")
    path.write_text(path.read_text() + "\n".join(more))
    reading = read(CORPUS, data_dir=tmp_path)
    one, other = reading
    # A heading begins the sentence; marks of notes are left out.
    assert (one.id, one.texts) == (
        "nld.rst.x/a",
        ("Thee", "De kettle (zong).", "maar Ann sliep."),
    )
    assert one.meta == {
        **{"split": "validation", "dataset": "nld.rst.x", "language": "nl"},
        "headings": "",
    }
    found = [(r.unified, span_text(one, r.arg1), span_text(one, r.arg2)) for r in one.relations]
    assert found == [
        ("organization", "Thee", "De kettle (zong)"),
        ("contrast", "De kettle (zong)", "maar Ann sliep"),
    ]
    assert [word.lemma for word in one.units[1].words if word.head is None] == ["zingen"]
    assert reading.skipped == {
        "relations of a footnote mark": 1,
        "relations with a missing unit": 1,
    }
    assert [(unit.speaker, unit.text) for unit in other.units] == [
        ("1", "dag naart"),
        ("2", "dank"),
    ]
    (relation,) = other.relations
    assert (relation.unified, span_text(other, relation.arg1)) == ("reformulation", "dag naart")
    assert [file["name"].rpartition(".")[2] for file in reading.files] == ["rels", "conllu"]


def test_tokens_without_a_form_are_counted(tmp_path: Path) -> None:
    """A sentence of nothing else is none, and relations keep to their tokens."""
    LAYOUTS["disrpt texts"].write(tmp_path)
    before = found(tmp_path)
    path = tmp_path / "nld.rst.x/nld.rst.x_dev.conllu"
    blank = "1\t \t_\tX\t_\t_\t0\troot\t_\tSeg=O\n\n# sent_id = a-2"
    path.write_text(path.read_text().replace("# sent_id = a-2", blank))
    rels = path.with_suffix(".rels")
    rels.write_text(rels.read_text().replace("11-13", "12-14"))
    after = found(tmp_path)
    assert [one.texts for one in after] == [one.texts for one in before]
    assert [one.relations for one in after] == [one.relations for one in before]
    start = path.read_text().index("# newdoc id = b")
    path.write_text(f"# newdoc_id = a\n{blank.partition('#')[0]}{path.read_text()[start:]}")
    reading = read(CORPUS, data_dir=tmp_path, skip_bad_rows=True)
    assert ([one.id for one in reading], reading.skipped["document without words"]) == (
        ["nld.rst.x/b"],
        1,
    )


def chinese_texts(folder: Path, *sentences: str, relations: tuple[str, ...]) -> Discourse:
    """A document of sentences in words, ``|`` before each elementary unit."""
    lines = ["# newdoc_id = a"]
    for sentence in sentences:
        begins = False
        number = 0
        for word in sentence.split():
            if word == "|":
                begins = True
                continue
            number += 1
            mark = "PUNCT" if word in "。，？（）《》" else "NUM" if word.isdigit() else "NOUN"
            relation = "nummod" if word == "3" else "dep"
            seg = "B-seg" if begins else "O"
            head = f"{0 if number == 1 else 1}\t{relation}"
            lines.append(f"{number}\t{word}\t{word}\t{mark}\t_\t_\t{head}\t_\tSeg={seg}")
            begins = False
        lines.append("")
    header, *_ = RELS.splitlines()
    rows = [
        "\t".join(("a", *units.split("|"), *"----", "1-1", "1-1", *"--", "1<2", "none", name, name))
        for units, name in (each.rsplit("|", 1) for each in relations)
    ]
    (folder / "zho.rst.x_dev.conllu").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (folder / "zho.rst.x_dev.rels").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    (document,) = found(folder)
    return document


def test_headings_in_a_script_without_capitals_are_those_of_relations(tmp_path: Path) -> None:
    document = chinese_texts(
        tmp_path,
        "| 茶道 | 水 开 了 。",
        "| 水 开 | 茶 好 。",
        "| 1 洗 杯子 。",
        "| 3 杯 茶 好 。",
        relations=("1-1|2-5|preparation", "6-7|8-10|purpose"),
    )
    assert document.texts == ("茶道", "水开了。", "水开茶好。", "1洗杯子。", "3杯茶好。")
    assert document.meta["headings"] == "3"
    assert span_text(document, document.relations[0].arg2) == "水开了。"


def test_a_sentence_that_was_broken_is_whole_again(tmp_path: Path) -> None:
    document = chinese_texts(
        tmp_path,
        "| 茶 很",
        "好 。",
        "喝 茶 。",
        "| 看 《 茶 ？",
        "| 水 》 吧 。",
        "| （ 水 开 。",
        *["| 茶 好 。"] * 5,
        "| 茶 ） 好 。",
        relations=("1-7|12-15|list",),
    )
    # Two whole sentences may be one elementary unit; a bracket may be open for good.
    assert document.texts == (
        "茶很好。",
        "喝茶。",
        "看《茶？水》吧。",
        "（水开。",
        *["茶好。"] * 5,
        "茶）好。",
    )
    assert span_text(document, document.relations[0].arg2) == "水》吧。"


@pytest.mark.parametrize(
    ("masked", "mask", "text"),
    [
        (r"\d+", "_", "# sent_id = a-1"),
        (r"\d+", "___", "# text = ______ ___"),
        ("[3-9]", "___", "# text = ______ ___"),  # some of the words in multiword tokens are left
    ],
)
def test_withheld_texts_are_left_out(tmp_path: Path, masked: str, mask: str, text: str) -> None:
    LAYOUTS["disrpt texts"].write(tmp_path)
    path = tmp_path / "nld.rst.x/nld.rst.x_dev.conllu"
    lines = path.read_text().splitlines()
    own = [re.sub(rf"^({masked}\t)[^\t]+", rf"\1{mask}", line) for line in lines[:18]]
    spaced = "\n".join([*own, *lines[18:], ""]).replace("Seg=", "SpaceAfter=No|Seg=", 1)
    path.write_text(spaced.replace("# sent_id = a-1", text))
    reading = read(CORPUS, data_dir=tmp_path)
    assert [one.id for one in reading] == ["nld.rst.x/b"]
    assert reading.skipped["withheld text"] == 1


def test_chinese_text_is_as_the_corpus_has_it(shared: Path) -> None:
    path = shared / "corpora/disrpt/zho.rst.gcdt/zho.rst.gcdt_dev.conllu"
    chinese, right = language("zh"), []
    for block in blocks(CorpusFile(path, "")):
        natural = block.comments["text"].replace("-LSB-", "[").replace("-RSB-", "]")
        right.append(parse(block, chinese.lay_out).text == natural)
    assert len(right) == 331
    assert sum(right) == 303


def test_real_documents(real_corpus: Callable[[str], tuple[Reading, list[Discourse]]]) -> None:
    reading, documents = real_corpus("disrpt")
    assert Counter(one.meta["language"] for one in documents) == {
        **{"nl": 68, "zh": 46, "de": 17, "it": 6}
    }
    relations = Counter[str]()
    for one in documents:
        relations[one.meta["language"]] += sum(bool(r.unified) for r in one.relations)
        if one.meta["language"] != "it":
            assert not re.search(r"\s[,.;:!?)](?:\s|$)", one.text), one.id
        if one.meta["language"] == "zh":
            assert not re.search("[\u4e00-\u9fff] [\u4e00-\u9fff]", one.text), one.id
    assert relations == {"nl": 1939, "zh": 1504, "de": 241, "it": 207}
    assert reading.skipped["relations with a missing unit"] == 2
