"""Documents divided at their headings, from GUM's comments, Markdown and rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherencegym.__main__ import main
from coherencegym.builders.document_structure import document_sections
from coherencegym.eval.kinds.documents import DocumentSection
from coherencegym.files.parquet import parquet_rows
from coherencegym.loaders.discourse import Discourse, Unit


def discourse(*texts: str, **meta: str) -> Discourse:
    return Discourse("d", "toy", tuple(map(Unit, texts)), meta=meta)


def test_headings_divide_a_document() -> None:
    found = discourse(
        *("Rain", "One.", "Two.", "Three.", "A caption", "Why", "it rains", "Four.", "Last"),
        sections="0:1 5:2 6:2 8:2",
        headings="0 4 5 6 8",
        paragraphs="0 1 3 4 5 7 8",
    )
    # The title is none; nor are a caption, and a section without text; a heading may go on.
    assert document_sections(found) == (
        "Rain",
        (
            DocumentSection("", 1, (("One.", "Two."), ("Three.",))),
            DocumentSection("Why it rains", 2, (("Four.",),)),
        ),
    )


def test_headings_beside_each_other_are_two() -> None:
    found = discourse("A", "B", "One.", sections="0:2 1:3", paragraphs="0 1 2", title="Rain")
    assert document_sections(found) == ("Rain", (DocumentSection("B", 3, (("One.",),)),))


def test_a_text_without_marks_is_one_paragraph() -> None:
    section = DocumentSection("", 1, (("One.", "Two."),))
    assert document_sections(discourse("One.", "Two.")) == ("", (section,))


CONLLU = """# newdoc id = GUM_bio_rain
# meta::title = Rain
# newpar_block = head (1 s)
# sent_id = 1
# text = Rain
1	Rain	rain	NOUN	NN	_	0	root	_	_

# newpar_block = p (2 s)
# sent_id = 2
# text = It rained
1	It	it	PRON	PRP	_	2	nsubj	_	_
2	rained	rain	VERB	VBD	_	0	root	_	_

# sent_id = 3
# text = We stayed
1	We	we	PRON	PRP	_	2	nsubj	_	_
2	stayed	stay	VERB	VBD	_	0	root	_	_

# newpar_block = figure rend:::"x" (1 s) | caption (1 s)
# sent_id = 4
# text = Clouds
1	Clouds	cloud	NOUN	NNS	_	0	root	_	_

# newpar_block = head rend:::"bold large" (1 s)
# sent_id = 5
# text = Causes
1	Causes	cause	NOUN	NNS	_	0	root	_	_

# newpar_block = p (1 s)
# sent_id = 6
# text = Winds blow
1	Winds	wind	NOUN	NNS	_	2	nsubj	_	_
2	blow	blow	VERB	VBP	_	0	root	_	_
"""


def rows(folder: Path, split: str) -> list[dict[str, object]]:
    (table,) = (folder / "data").glob(f"*/{split}-*.parquet")
    return list(parquet_rows(table))


def test_gum_has_headings_of_two_levels(tmp_path: Path) -> None:
    data = tmp_path / "gum"
    data.mkdir()
    (data / "GUM_bio_rain.conllu").write_text(CONLLU, encoding="utf-8")
    output = tmp_path / "built"
    command = ["build", "document_structure", "--corpus", "gum", "--data-dir", str(data)]
    assert main([*command, "--output", str(output)]) == 0
    (row,) = rows(output, "train")
    assert row["title"] == "Rain"
    assert row["sections"] == [
        {"title": "", "level": 1, "paragraphs": [["It rained", "We stayed"]]},
        {"title": "Causes", "level": 2, "paragraphs": [["Winds blow"]]},
    ]
    (own,) = json.loads((output / "manifest.json").read_text())["configs"].values()
    assert own["quality"]["train"] == {
        **{"items": 1, "titles": 1, "sections": 2, "headings": 1},
        **{"levels": 2, "paragraphs": 2, "sentences": 3},
    }
    card = (output / "README.md").read_text()
    assert "> level 2, Causes: 1 paragraph, 1 sentence" in card
    assert "coherencegym train encoder --model gru --criteria nsp spp --dataset" in card


def test_markdown_of_ones_own_keeps_its_splits(tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        folder = tmp_path / "notes" / split
        folder.mkdir(parents=True)
        for number in range(2):
            text = f"# Rain {number}\n\nIt rained in {split}. We stayed {number}.\n\n## End\n\nSo."
            (folder / f"{number}.md").write_text(text, encoding="utf-8")
    output = tmp_path / "built"
    command = ["build", "document_structure", "--texts", str(tmp_path / "notes")]
    assert main([*command, "--genre", "sections", "--output", str(output)]) == 0
    first, second = rows(output, "validation")
    assert first["item_id"] == "validation/0"
    assert second["title"] == "Rain 1"
    assert second["sections"] == [
        {"title": "", "level": 1, "paragraphs": [["It rained in validation.", "We stayed 1."]]},
        {"title": "End", "level": 2, "paragraphs": [["So."]]},
    ]


def test_a_folder_without_markdown_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.txt").write_text("It rained.", encoding="utf-8")
    command = ["build", "document_structure", "--texts", str(tmp_path), "--genre", "sections"]
    assert main([*command, "--output", str(tmp_path / "built")]) == 2
    assert "found 1 .txt; expected files that end in .md or .markdown" in capsys.readouterr().err


def test_a_dataset_with_sections_is_read(tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        lines = [
            {
                "name": f"Rain {number}",
                "parts": [
                    {"text": f"It rained in {split} {number}. We stayed."},
                    {"title": "End", "text": "So."},
                ],
            }
            for number in range(3)
        ]
        path = tmp_path / "data" / f"{split}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    output = tmp_path / "built"
    command = ["build", "document_structure", "--hub-dataset", str(tmp_path / "data")]
    command += ["--genre", "sections", "--text-column", "parts", "--output", str(output)]
    assert main(command) == 0
    assert [row["title"] for row in rows(output, "train")] == ["Rain 0", "Rain 1", "Rain 2"]
