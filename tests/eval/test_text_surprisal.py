"""The surprisal of texts by token and by word, in Python and on the command line."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

import coherencegym as cg
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main

TEXTS = ["Tom had a small dog.", "The  dog likes playing outside."]


@pytest.fixture(scope="module")
def demo() -> Any:
    return cg.load_model("demo")


def float64_bits(model: Any, tokenizer: Any, text: str, start: int = 0) -> list[float]:
    """The surprisal of each token of a text after the start-of-text token, in plain torch."""
    import torch

    ids = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
    with torch.no_grad():
        logits = model.double()(torch.tensor([ids])).logits[0]
    logs = torch.log_softmax(logits, -1)
    bits = [-float(logs[at, ids[at + 1]]) / math.log(2) for at in range(len(ids) - 1)]
    model.float()
    return bits[start:]


def test_tokens_have_the_bits_of_plain_torch(demo: Any) -> None:
    frame = cg.surprisal(demo, TEXTS)
    assert list(frame) == ["model", "text_number", "number", "token", "start", "end", "bits"]
    for number, text in enumerate(TEXTS, start=1):
        own = frame[frame.text_number == number]
        assert own.number.tolist() == list(range(1, len(own) + 1))
        assert [text[a:b] for a, b in zip(own.start, own.end, strict=True)] == own.token.tolist()
        assert "".join(own.token) == text
        assert own.bits.tolist() == pytest.approx(
            float64_bits(demo.model, demo.tokenizer, text), abs=1e-4
        )


def test_names_of_special_tokens_are_counted_and_read_as_asked(
    demo: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = demo.tokenizer.bos_token
    texts = [f"Tim {start} ran.", f"Tim {start} run.", "So. [SEP] Tim ran.", "So [SEP]. Tim ran."]
    names = "texts with names of special tokens"
    letters = [
        "texts with [SEP], read as a change of speaker: 2",
        f"{names} ({start}), read as letters (see --special-tokens): 2",
    ]
    tokens = [f"{names} ({start}, [SEP]), read as these tokens (see --special-tokens): 4"]
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    for special_tokens, said in ((False, letters), (True, tokens)):
        words = ["surprisal", str(tmp_path / "texts.txt"), "--model", "demo", "--no-cache"]
        assert main([*words, *["--special-tokens"] * special_tokens]) == 0
        lines = capsys.readouterr().err.splitlines()
        assert [line for line in lines if "texts with" in line] == [
            f"! demo: {own}" for own in said
        ]
        pairs = [(texts[0], texts[1]), (texts[2], texts[3])]
        scored: Any = cg.score(demo, pairs, special_tokens=special_tokens)
        assert [note.text for note in scored.notes if "texts with" in note.text] == said
        assert ("|names:tokens|" in scored.signature) == special_tokens
        assert scored.settings.get("special_tokens") == (special_tokens or None)
        with pytest.warns(UserWarning, match="texts with") as caught:
            frame = cg.surprisal(demo, texts, special_tokens=special_tokens)
        assert [str(one.message) for one in caught] == said
    for number, text in enumerate(texts, start=1):
        expected = float64_bits(demo.model, demo.tokenizer, text)
        own = frame[frame.text_number == number]
        assert own.bits.tolist() == pytest.approx(expected, abs=1e-4)


def test_a_word_is_the_sum_of_its_tokens(demo: Any) -> None:
    words = cg.surprisal(demo, TEXTS, by="word")
    tokens = cg.surprisal(demo, TEXTS)
    for number, text in enumerate(TEXTS, start=1):
        own = words[words.text_number == number]
        assert own.word.tolist() == text.split()
        assert [text[a:b] for a, b in zip(own.start, own.end, strict=True)] == text.split()
        of_tokens = tokens[tokens.text_number == number].bits.sum()
        assert own.bits.sum() == pytest.approx(of_tokens, abs=1e-4)


def test_a_context_is_read_and_not_scored(demo: Any) -> None:
    """The rows are those of the text within the whole, with places in the text itself."""
    context, text = "Tom had a small dog.", "The dog sat."
    whole = cg.surprisal(demo, [f"{context} {text}"], by="word")
    after = cg.surprisal(demo, [text], contexts=[context], by="word")
    assert after.word.tolist() == text.split()
    assert after.start.tolist() == [0, 4, 8]
    assert after.bits.tolist() == pytest.approx(whole.bits.tolist()[-3:], abs=1e-4)
    tokens = cg.surprisal(demo, [text], contexts=[context])
    assert [text[a:b] for a, b in zip(tokens.start, tokens.end, strict=True)] == list(tokens.token)
    assert "".join(tokens.token) == text
    none = cg.surprisal(demo, [text] * 3, contexts=[context, "", None], by="word")
    alone = cg.surprisal(demo, [text], by="word").bits.tolist()
    assert none.bits.tolist() == pytest.approx([*after.bits, *alone, *alone], abs=1e-4)


def test_files_and_frames_are_read_as_the_command_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], demo: Any
) -> None:
    path = tmp_path / "items.csv"
    path.write_text(f"id,sentence,before\nx7,{TEXTS[0]},\nx8,It sat.,A dog ran.\n", "utf-8")
    how: Any = {"column": "sentence", "context": "before", "by": "word"}
    read = [cg.surprisal(demo, each, **how) for each in (str(path), path, pd.read_csv(path))]
    assert all(frame.equals(read[0]) for frame in read)
    assert list(read[0])[:4] == ["model", "text_number", "id", "number"]
    assert read[0].id.unique().tolist() == ["x7", "x8"]
    rows = printed(capsys, path, "--column", "sentence", "--context", "before")
    assert [row["id"] for row in rows] == read[0].id.tolist()
    bits = [float(row["bits"]) for row in rows]
    assert bits == pytest.approx(read[0].bits.tolist(), abs=1e-4)


def test_several_models_stand_below_each_other(demo: Any) -> None:
    frame = cg.surprisal([demo, "demo"], TEXTS[:1], by="word")
    assert len(frame) == 2 * 5
    first, second = frame.bits.tolist()[:5], frame.bits.tolist()[5:]
    assert first == second


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"texts": []}, "no text; expected at least one"),
        ({"texts": ["a", " "]}, "text 2: ' '; expected a text that is not empty"),
        ({"texts": ["a"], "contexts": ["b", "c"]}, "2 contexts of 1 texts; expected as many"),
        ({"texts": ["a"], "by": "letter"}, "by='letter'; expected one of 'word', 'token'"),
        ({"texts": ["dog " * 3000]}, "text 1: longer than the model's context of "),
        ({"texts": ["a"], "boss": "auto"}, "no option 'boss'"),
        (
            {"texts": "The dog. " * 99},
            "; expected a list of texts, a file (.txt, .csv, .tsv, .jsonl, .parquet) or a data ",
        ),
        ({"texts": ["a"], "column": "b"}, "a list of texts has no columns"),
        ({"texts": pd.DataFrame({"b": ["a"]})}, "no column 'text'; there are b; expected one of"),
    ],
)
def test_what_cannot_be_read_is_refused(demo: Any, given: Any, said: str) -> None:
    with pytest.raises(EvaluationError) as error:
        cg.surprisal(demo, **given)
    assert said in str(error.value)


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, str]]:
    """The rows that the command prints."""
    assert main(["surprisal", *map(str, words), "--model", "demo", "--no-cache"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_the_command_prints_a_row_for_each_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], demo: Any
) -> None:
    (tmp_path / "texts.txt").write_text("\n\n".join(TEXTS), encoding="utf-8")
    rows = printed(capsys, tmp_path / "texts.txt")
    frame = cg.surprisal(demo, TEXTS, by="word")
    assert [row["word"] for row in rows] == frame.word.tolist()
    assert [float(row["bits"]) for row in rows] == pytest.approx(frame.bits.tolist(), abs=1e-4)
    assert {row["text_number"] for row in rows} == {"1", "3"}  # the lines of the file


def test_the_command_reads_columns_of_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "items.csv"
    path.write_text('before,sentence\n"Tom had, a dog.",The dog sat.\n', encoding="utf-8")
    how = ("--column", "sentence", "--context", "before", "--by", "token")
    assert "".join(row["token"] for row in printed(capsys, path, *how)).strip() == "The dog sat."
    assert main(["surprisal", str(path), "--model", "demo"]) == 2
    said = capsys.readouterr().err
    assert said == (
        f"coherencegym surprisal: {path}: no column 'text'; there are before, sentence; expected "
        "one of them with --column or --context, in Python column= or context=\n"
    )
