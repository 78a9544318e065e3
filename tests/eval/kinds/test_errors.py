"""How errors are printed, by every command: one line that is short and does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import one_line as checked

from coherencegym.builders.command.show import explain
from coherencegym.errors import LONGEST, EvaluationError, one_line
from coherencegym.eval.commands.cli import main
from coherencegym.loaders import cli as loaders_cli
from coherencegym.loaders.corpus import CorpusError


@given(st.text(st.characters(exclude_categories=())))
def test_any_error_is_one_short_line_that_can_be_printed(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= LONGEST
    assert len(one_line(text * 1000)) <= LONGEST


def test_what_a_terminal_obeys_or_hides_is_escaped() -> None:
    said = one_line("a\n  b\x1b[31m \u202ec\u200b \ud800é")
    assert said == r"a b\u001b[31m \u202ec\u200b \ud800é"


def test_a_long_error_keeps_its_place_and_what_was_expected() -> None:
    line = one_line(f"file.json: {'x' * 100_000}; expected less")
    assert len(line) == LONGEST
    assert line.startswith("file.json: xxx")
    assert line.endswith("xxx; expected less")
    assert " ... " in line


def test_every_command_prints_errors_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "\x1b[2J" + "y" * 1000
    name = tmp_path / "\u202e"
    for words in (["--model", "demo", "--dataset", str(name) + said], ["plot", said], [said]):
        assert main(words) == 2
    with pytest.raises(SystemExit):
        main(["--modle", said])
    for error in (EvaluationError(said), CorpusError(said)):
        assert explain(error) == (2, one_line(said))

    def fail(*_: object) -> None:
        raise CorpusError(said)

    monkeypatch.setattr(loaders_cli, "_print_table", fail)
    assert loaders_cli.main([]) == 2
    for line in capsys.readouterr().err.splitlines():
        assert checked(line + "\n")[:-1].isprintable()
        assert len(line) <= LONGEST + 40  # the command's name, and the advice of argparse
