"""Help that is short first, errors of one line, the name that was meant."""

from __future__ import annotations

import pytest

from coherencegym.command_line import Parser, did_you_mean, rare


@pytest.fixture
def parser() -> Parser:
    parser = Parser(prog="score", description="Score it.", examples="  score --model demo\n")
    parser.add_argument("--model", help="the model")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"))
    run = parser.add_argument_group("how it is run")
    rare(run.add_argument("--batch-tokens", help="most tokens in a batch"))
    rare(run.add_argument("--no-sharing", action="store_true", help="nothing is shared"))
    return parser


def test_help_is_short_first(parser: Parser, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["--help"])
    short = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "--model" in short
    assert "--batch-tokens" not in short
    assert "how it is run" not in short
    assert "--help-all shows 2 more options." in short
    assert short.endswith("examples:\n  score --model demo\n")
    with pytest.raises(SystemExit):
        parser.parse_args(["--help-all"])
    everything = capsys.readouterr().out
    assert "how it is run" in everything
    assert "--batch-tokens" in everything
    assert "more options" not in everything
    assert short.splitlines()[0] == "usage: score [options]"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--modle", "x"], "score: no option --modle; did you mean '--model'?"),
        (["--quux=1"], "score: no option --quux"),
        (["extra"], "score: no argument extra"),
        (["--dtype", "bfloat"], "did you mean 'bfloat16'?"),
        (["--model"], "score: argument --model: expected one argument"),
    ],
)
def test_an_error_is_one_line(
    parser: Parser, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(words)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert "usage" not in error


def test_an_option_of_a_subcommand_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="corpora")
    commands = parser.add_subparsers()
    commands.add_parser("fetch").add_argument("--mirror")
    with pytest.raises(SystemExit):
        parser.parse_args(["fetch", "--miror", "x"])
    assert "no option --miror; did you mean '--mirror'?" in capsys.readouterr().err


def test_rare_options_are_parsed_all_the_same(parser: Parser) -> None:
    parser.format_help()
    assert parser.parse_args(["--no-sharing", "--batch-tokens", "8"]).batch_tokens == "8"


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("winogrande", ["winograd", "coreference"], "; did you mean 'winograd'?"),
        ("GPT2", ["gpt2"], "; did you mean 'gpt2'?"),
        ("zebra", ["winograd"], ""),
    ],
)
def test_did_you_mean(name: str, known: list[str], meant: str) -> None:
    assert did_you_mean(name, known) == meant
