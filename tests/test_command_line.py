"""Help that is short first, errors of one line, the name that was meant."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from support.forked import Fork

from coherencegym.command_line import Parser, did_you_mean, finish, rare
from coherencegym.errors import EvaluationError
from coherencegym.terminal import shown_console


@pytest.fixture
def parser() -> Parser:
    parser = Parser(prog="score", description="Score it.", examples="  score --model demo\n")
    parser.add_argument("--model", help="the model")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), help="the number format")
    run = parser.add_argument_group("how it is run")
    rare(run.add_argument("--batch-tokens", help="most tokens in a batch"))
    rare(run.add_argument("--no-sharing", action="store_true", help="nothing is shared"))
    return parser


def test_help_is_short_first(parser: Parser, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["--help"])
    brief = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "--model" in brief
    assert "the number format" in brief
    assert "--batch-tokens" not in brief
    assert "how it is run" not in brief
    assert "--help-all shows 2 more options." in brief
    assert brief.endswith("examples:\n  score --model demo\n")
    with pytest.raises(SystemExit):
        parser.parse_args(["--help-all"])
    everything = capsys.readouterr().out
    assert "how it is run" in everything
    assert "--batch-tokens" in everything
    assert "more options" not in everything
    assert brief.splitlines()[0] == "usage: score [options]"


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--modle x", "score: no option --modle; did you mean '--model'?"),
        ("--task x --modle y", "score: no option --task; did you mean '--tasks'?"),
        ("--model x --datset y", "score: no option --datset; did you mean '--dataset'?"),
        ("--model x --limt 3", "score: no option --limt; did you mean '--limit'?"),
        ("", "score: the following arguments are required: --model"),
        ("--model x -- --tsks", "score: one of the arguments --dataset --suite is required"),
    ],
)
def test_an_unknown_option_is_named_before_those_that_are_missing(
    capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    parser = Parser(prog="score")
    parser.add_argument("--model", required=True)
    parser.add_argument("--limit")
    parser.add_argument("--tasks")
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument("--dataset")
    data.add_argument("--suite")
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(words.split())
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert error.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_in_one_line(
    capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    before = signal.getsignal(number)

    def interrupted() -> NoReturn:
        os.kill(os.getpid(), number)
        raise AssertionError("goes on")

    assert finish("score", interrupted) == 128 + number
    assert capsys.readouterr().err == "score: stopped; nothing half-written is left\n"
    assert signal.getsignal(number) is before


def test_a_command_ends_in_order_where_its_terminal_is_gone(tmp_path: Path) -> None:
    def interrupted() -> NoReturn:
        try:
            os.kill(os.getpid(), signal.SIGHUP)
        finally:
            print("what a bar shows last", file=sys.stderr, flush=True)
        raise AssertionError("goes on")

    def work() -> int:
        terminal, own = os.openpty()
        os.dup2(own, 2)
        sys.stderr = os.fdopen(2, "w", errors="replace", closefd=False)
        os.close(terminal)
        return finish("score", interrupted)

    status, _, _ = Fork(work, tmp_path).wait()
    assert status == 128 + signal.SIGHUP


def test_a_command_goes_on_without_its_terminal_under_nohup() -> None:
    def work() -> int:
        os.kill(os.getpid(), signal.SIGHUP)
        return 0

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert finish("score", work) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_launcher_stops_its_processes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    before = signal.getsignal(signal.SIGTERM)
    assert finish("score", lambda: int(signal.getsignal(signal.SIGTERM) is not before)) == 0


def test_a_mistake_of_ours_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(error: Exception) -> NoReturn:
        raise error

    assert finish("score", lambda: fail(EvaluationError("no such\nmodel"))) == 2
    assert capsys.readouterr().err == "score: no such model\n"
    assert finish("score", lambda: fail(FileNotFoundError(2, "No such file", "a.json"))) == 2
    assert capsys.readouterr().err == "score: a.json: No such file\n"
    with pytest.raises(KeyError):
        finish("score", lambda: fail(KeyError("ours")))


#: Says more than a pipe holds, in letters that ASCII has not.
_TALKS = """
import sys
from coherencegym.command_line import finish

def talk():
    for _ in range(int(sys.argv[1])):
        print("Mädchen · 50 %")
    return 0

sys.exit(finish("talk", talk))
"""


def test_a_pipe_that_is_closed_ends_it_in_silence() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _TALKS, "100000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(60) == 128 + signal.SIGPIPE


def test_a_terminal_without_utf_8_shows_what_it_can() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run(
        [sys.executable, "-c", _TALKS, "1"], capture_output=True, env=env, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"M?dchen ? 50 %\n", b"")


def test_an_option_of_a_subcommand_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="corpora")
    commands = parser.add_subparsers()
    commands.add_parser("fetch").add_argument("--mirror")
    commands.add_parser("show").add_argument("--name", required=True)
    for words, said in (
        ("fetch --miror x", "no option --miror; did you mean '--mirror'?"),
        ("show --nmae x", "no option --nmae; did you mean '--name'?"),
    ):
        with pytest.raises(SystemExit):
            parser.parse_args(words.split())
        assert said in capsys.readouterr().err


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


#: Escape sequences (of colour, of the title of a window, of a link), C1 codes, bidirectional marks,
#: a carriage return, and what nobody sees.
OBEYED = (
    "\x1b[31m \x1b]0;t\x07 \x1b]8;;https://x\x1b\\ \x9b2J \x85 "
    "\u202e \u2066 \r \u2028 \u200b \ud800"
)
STAYS = "a\tb\u00a0c\u3000d \u200d字é\n"


def test_what_is_printed_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    streams = sys.stdout, sys.stderr

    def command() -> int:
        print(OBEYED)
        print(STAYS, end="")
        sys.stdout.writelines([OBEYED])
        print(json.dumps({"name": OBEYED + "\U000e0041"}, ensure_ascii=False))
        print("\x1b]0;t\x07\x9b\u202e", file=sys.stderr)
        # What progress bars and logs of libraries do.
        print("\r\x1b[A\x1b[31mred\x1b[0m", file=sys.stderr)
        return finish("inner", lambda: print("\x1b[2J") or 0)

    assert finish("outer", command) == 0
    assert (sys.stdout, sys.stderr) == streams
    out, err = capsys.readouterr()
    escaped = json.dumps(OBEYED)[1:-1].replace("\\\\", "\\")
    first, rest = out.split("\n", 1)
    assert first == escaped
    assert rest.startswith(STAYS + escaped)
    described, inner = rest.removeprefix(STAYS + escaped).splitlines()
    assert json.loads(described) == {"name": OBEYED + "\U000e0041"}
    assert inner == r"\u001b[2J"
    assert err == "\\u001b]0;t\\u0007\\u009b\\u202e\n\r\x1b[A\x1b[31mred\x1b[0m\n"


def test_a_console_obeys_its_own_styles_alone(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("name")
    table.add_row(Text(OBEYED, style="bold"))

    def command() -> int:
        console = shown_console(force_terminal=True, color_system="standard", width=200)
        console.print(table)
        console.print(Text(OBEYED, style="red"), soft_wrap=True)
        with console.status(Text(OBEYED)):
            console.print(OBEYED, markup=False, highlight=False)
        return 0

    assert finish("table", command) == 0
    out = capsys.readouterr().out
    assert "\x1b[1m" in out
    assert "\x1b[31m\\u001b[31m" in out
    own = re.compile(r"\x1b\[(\??\d+(;\d+)*)?[mhlAK]|\r")
    assert own.sub("", out).replace("\n", "").isprintable()
