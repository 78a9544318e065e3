"""PersonaChat: ParlAI's text format."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.small_corpora import OfFile

from coherencegym.loaders.corpora.dialogues import PERSONACHAT, VARIANTS
from coherencegym.loaders.corpus import Corpus
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import Reading, find, read

TWO = """\
1 your persona: i like tea.
2 partner's persona: i like milk .
3 hello , you !\thi there .\t\tcand one|cand two
4 i don ' t know .\tme neither
1 how are you ?\tgood
2 your persona: late persona lines are left out , too .
3 bye\tbye !
"""


def texts(corpus: Corpus, skip: bool = False) -> dict[str, list[str]]:
    reading = read(corpus, skip_bad_rows=skip)
    return {d.id: [f"{u.speaker}: {u.text}" for u in d.units] for d in reading}


def test_utterances_by_turns_without_personas_and_candidates(of_file: OfFile) -> None:
    assert texts(of_file(PERSONACHAT, TWO)) == {
        "test-0001": [
            "partner: hello, you!",
            "self: hi there.",
            "partner: i don't know.",
            "self: me neither",
        ],
        "test-0002": ["partner: how are you?", "self: good", "partner: bye", "self: bye!"],
    }


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_blank_lines_and_byte_order_marks(
    of_file: OfFile, line_end: str, mark: str
) -> None:
    text = mark + TWO.replace("1 how", "\n1 how").replace("\n", line_end)
    assert texts(of_file(PERSONACHAT, text)) == texts(of_file(PERSONACHAT, TWO))


def test_the_source_is_the_line(of_file: OfFile) -> None:
    first, second = read(of_file(PERSONACHAT, TWO))
    assert [unit.source.start for unit in first.units if unit.source] == [3, 3, 4, 4]
    assert [unit.source.start for unit in second.units if unit.source] == [5, 5, 7, 7]


def test_silence_is_no_utterance(of_file: OfFile) -> None:
    text = "1 __SILENCE__\thi !\n2 hello\t__SILENCE__\n"
    assert texts(of_file(PERSONACHAT, text)) == {"test-0001": ["self: hi!", "partner: hello"]}


def test_one_variant_of_a_split_is_read_short_files_first(tmp_path: Path) -> None:
    for name in ("test_both_original.txt", "test_self_revised_no_cands.txt", "valid_other_revised"):
        (tmp_path / name).with_suffix(".txt").write_text(TWO)
    (tmp_path / "train_none_original.txt").write_text(TWO)
    (tmp_path / "self_original.txt").write_text(TWO)
    found = find(PERSONACHAT, tmp_path)
    assert [(f.split, f.path.name) for f in found.files] == [
        ("train", "train_none_original.txt"),
        ("validation", "valid_other_revised.txt"),
        ("test", "test_self_revised_no_cands.txt"),
        ("unsplit", "self_original.txt"),
    ]
    ids = [d.id for d in read(PERSONACHAT, data_dir=tmp_path, splits=["validation", "unsplit"])]
    assert ids == ["validation-0001", "validation-0002", "unsplit-0001", "unsplit-0002"]


def test_all_variants_have_a_pattern() -> None:
    assert len(VARIANTS) == 16
    assert len({pattern.glob for pattern in PERSONACHAT.patterns}) == 4 * 16


def test_the_real_file(real_corpus: Callable[[str], tuple[Reading, list[Discourse]]]) -> None:
    _, dialogues = real_corpus("personachat")
    assert len(dialogues) == 67
    assert sum(len(dialogue.units) for dialogue in dialogues) == 1048
    for dialogue in dialogues:
        speakers = [unit.speaker for unit in dialogue.units]
        assert speakers == ["partner", "self"] * (len(speakers) // 2)
    first = dialogues[0]
    assert first.id == "unsplit-0001"
    assert first.texts[:2] == (
        "hello, how are you doing tonight?",
        "i am well an loving this interaction how are you?",
    )
    spaced = re.compile(r"\s[.,?!;:]|\s$|^\s|\s\s|persona:|\|")
    assert not [text for d in dialogues for text in d.texts if spaced.search(text)]
