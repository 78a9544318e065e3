"""``coherencegym corpora``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from coherencegym.loaders.cli import main
from coherencegym.loaders.corpus import NEVER_RUN
from coherencegym.loaders.registry import CORPORA

DIALOGUE = "1 hello there !\thi .\n"


def test_the_list_in_a_pipe_is_plain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "test_self_original.txt").write_text(DIALOGUE)
    assert main(["--data-dir", str(tmp_path)]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["name", "found", "annotation", "texts", "may be published", "reader"]
    assert [line[0] for line in lines[1:]] == list(CORPORA)
    rows = {line[0]: line[1:] for line in lines}
    assert rows["storycloze"] == ["no", "other", "other", "no", "2026-11-23"]
    assert rows["tedmdb"][1:] == ["CC-BY-4.0", "CC-BY-NC-ND-4.0", "no", "2026-11-29"]
    assert rows["personachat"] == [str(tmp_path), "CC-BY-4.0", "CC-BY-4.0", "yes", "2026-11-29"]
    assert rows["sample"] == ["in this package", "CC0-1.0", "CC0-1.0", "yes", "–"]
    assert rows["gum"][1:] == ["CC-BY-4.0", "by document", "in part", "2026-11-29"]
    assert rows["pdtb"][-1] == "never"


def test_the_list_on_a_terminal_is_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "┃" in out
    assert "personachat" in out
    never = "rocstories, arrau, ontonotes, disco, pdtb, dialoguenli"
    assert f"Never run on the real files: {never}." in " ".join(out.split())


def test_show(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "test_self_original.txt").write_text(DIALOGUE)
    (tmp_path / "test_both_original.txt").write_text(DIALOGUE)
    assert main(["show", "personachat", "--data-dir", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"found: {tmp_path}\n" in out
    assert "- speaker: partner\n    text: hello there!\n" in out
    assert "test_both_original.txt" not in out.partition("\nfiles:")[2]
    assert "\n@inproceedings{zhang" in out


def test_show_says_what_is_unproven_and_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "ontonotes"]) == 0
    out = capsys.readouterr().out
    assert f"\nproven: {NEVER_RUN}\n" in out
    assert "  test:\n  - test.english.v4_gold_conll\n" in out
    assert "\ntext_licence: other\ntext_licence_name: under the same agreement\n" in out
    assert "first_discourse" not in out


def test_show_the_samples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "sample"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out.partition("@misc")[0])
    formats = "storycloze personachat winograd gum disco pdtb tedmdb dialoguenli irc documents "
    formats += "decor cohesentia"
    assert shown["formats"].split(", ") == formats.split()
    assert shown["first_discourse"]["id"] == "story-0001"


def test_errors_are_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["show", "storyclose"]) == 2
    assert "did you mean" in capsys.readouterr().err
    (tmp_path / "test_self_original.txt").write_text("junk\n")
    assert main(["show", "personachat", "--data-dir", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(
        f"coherencegym corpora: {tmp_path / 'test_self_original.txt'}:1: no number"
    )
    assert err.count("\n") == 1


def test_help_is_quick_and_imports_nothing_heavy(repository: Path) -> None:
    heavy = ["datasets", "rich", "spacy", "nltk", "huggingface_hub", "platformdirs", "numpy"]
    heavy += ["httpx2", "filelock", "multiprocessing"]
    code = (
        "import runpy, sys; sys.argv[1:] = ['--help']\n"
        "try: runpy.run_module('coherencegym.loaders', run_name='__main__')\n"
        f"except SystemExit: print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert "examples:" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
