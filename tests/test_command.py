"""The command ``coherencegym`` from end to end: every subcommand by its name, in this process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import one_line
from support.forked import Fork
from support.suites import no_classifiers

from coherencegym.__main__ import SUBCOMMANDS, main
from coherencegym.builders.command.new import WHAT
from coherencegym.builders.export.__main__ import main as python_m_export
from coherencegym.builders.registry import SUITES
from coherencegym.eval.commands.cli import main as python_m_eval
from coherencegym.loaders.cli import main as python_m_loaders

STORIES = "".join(
    f"t{i}\tAnn got up at {i}.\tShe ran to the bus.\tShe fell.\tShe cried.\n" for i in range(25)
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Commands run in an empty folder, find no corpus, train no classifiers, leave no module."""
    no_classifiers(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "path", [*sys.path])
    forget_modules_of_tests(tmp_path)
    yield tmp_path
    forget_modules_of_tests(tmp_path)


def forget_modules_of_tests(tmp_path: Path) -> None:
    """Take out the modules that tests, those of other files too, have loaded from their folders."""
    beginning = f"{tmp_path.parents[1]}{os.sep}"
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(beginning):
            del sys.modules[name]


def exit_code(*words: object) -> int:
    """The exit code of the command."""
    try:
        return main([str(word) for word in words])
    except SystemExit as stopped:  # the parser's
        return int(stopped.code or 0)


def test_from_a_build_to_a_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("build", "story_cloze", "--corpus", "sample", "--limit", 21) == 0
    assert "written to suites/story_cloze" in capsys.readouterr().out
    asked = ["score", "--model", "demo", "--dataset", "suites/story_cloze", "--no-cache"]
    asked += ["--config", "sample"]
    assert exit_code(*asked, "--limit", 5, "--output", "five") == 0
    settings = json.loads(Path("five/results.json").read_text())["settings"]
    assert settings["max_items"] == 5  # as results have always recorded it
    assert exit_code(*asked, "--limit", 5, "--output", "old") == 0
    assert exit_code("compare", "five", "old") == 0
    assert exit_code("judge", "suites/story_cloze", "-n", 5, "--output", "sheet") == 0
    assert Path("sheet/sheet.html").exists()
    assert exit_code("export", "syntaxgym", "suites/story_cloze") == 0


def test_a_suite_that_is_named_alone_has_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    built = ("--corpus", "sample", "--limit", 21, "--permutations", 2, "--dry-run")
    assert exit_code("build", "sentence_order", *built) == 0
    capsys.readouterr()
    assert exit_code("build", "story_cloze", *built) == 2
    assert "no option --permutations" in one_line(capsys.readouterr().err)
    assert exit_code("build", "sentence_order", "story_cloze", *built) == 2
    assert exit_code("build", "sentence_order", "--help") == 0
    assert "--permutations" in capsys.readouterr().out


@pytest.mark.parametrize("suite", SUITES)
def test_help_of_every_suite_is_short(
    suite: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert exit_code("build", suite, "--help") == 0
    assert len(capsys.readouterr().out.splitlines()) < 35


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_help_of_every_subcommand_is_short(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert exit_code(name, "--help") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: coherencegym {name}")
    assert "python -m" not in shown
    assert len(shown.splitlines()) < 35
    if name == "build":  # what docs/building.md says of one's own texts
        options = {"--texts", "--text-column", "--sentences", "--format", "--licence"}
        assert options <= set(shown.split())
    assert exit_code(name, "--help-all") == 0
    assert len(capsys.readouterr().out) >= len(shown) - 50


def test_help_imports_nothing_heavy() -> None:
    heavy = {"datasets", "httpx2", "huggingface_hub", "jinja2", "matplotlib", "nltk", "numpy"}
    heavy |= {"pandas", "pyarrow", "rich", "scipy", "sklearn", "spacy", "torch", "transformers"}
    asked = [[], *([name] for name in SUBCOMMANDS), *(["build", name] for name in SUITES)]
    asked += [["train", "spans"], ["corpora", "show"]]
    code = (
        "import sys\nfrom coherencegym.__main__ import main\n"
        f"for words in {asked}:\n"
        "    try: main([*words, '--help'])\n"
        "    except SystemExit: pass\n"
        f"    print('imported by', words, sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said = [line for line in done.stdout.splitlines() if line.startswith("imported by")]
    assert said == [f"imported by {words} []" for words in asked]
    assert done.stdout.count("usage: coherencegym") == len(asked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["skore"], "coherencegym: no subcommand 'skore'; expected one of build,"),
        (["--versoin"], "coherencegym: no option --versoin; did you mean '--version'?"),
        (["build", "winogrand"], "did you mean 'winograd'?"),
        (["build", "winograd", "--corpus", "winogrnd"], "did you mean 'winogrande'?"),
        (["build", "--all", "--judgements", "x"], "answers are about one suite"),
        (["build", "mine.py"], "coherencegym build: mine.py: no such file; expected a Python file"),
        (["build", "--all", "winograd"], "argument --all: not allowed with winograd"),
        (["score", "--modle", "x"], "no option --modle; did you mean '--model'?"),
        (["score", "--model", "demo", "--dataset", ""], "--dataset: an empty name; expected"),
        (["score", "--model", "", "--dataset", "d"], "--model: an empty name; expected"),
        (["score", "--limit", "x"], "--limit: 'x'; expected a whole number of at least 1"),
        (["score", "--limit", "0"], "--limit: '0'; expected a whole number of at least 1"),
        (["detect", "--threshold", "x"], "--threshold: 'x'; expected a number"),
        (["judge", "nowhere", "-n", "1.5"], "-n: '1.5'; expected a whole number of at least 1"),
        (["compare", "nowhere"], "nowhere: no such folder; expected a folder that"),
        (["score", "--model", "demo", "--dataset", "nowhere"], "coherencegym score: "),
        (["corpora", "show", "winogrnd"], "did you mean 'winogrande'?"),
        (["corpora", "fetch", "winogrd"], "did you mean 'winograd'?"),
        (["judge"], "judge: the following arguments are required: FOLDER"),
        (["judge", "nowhere"], "coherencegym judge: nowhere: no manifest.json"),
        (
            ["export", "nowhere", "x"],
            "export: argument TOOL: 'nowhere'; expected one of",
        ),
        (["new", "suit", "x"], "did you mean 'suite'?"),
        (["new", "suite", "my-suite"], "'my-suite' is no name; expected small letters"),
        (["new", "suite", "json"], "'json' is the name of something else; expected another"),
        (["new", "suite", "winograd"], "'winograd' is the name of something else"),
        (
            ["new", "suite", "x", "--output", "/dev/null"],
            "coherencegym new: /dev/null: File exists",
        ),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(*words) == 2
    out, err = capsys.readouterr()
    assert said in one_line(err)
    assert "usage" not in out + err


def test_a_file_of_the_users_does_not_end_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(3)\n")
    assert exit_code("build", "ends.py") == 2
    assert "ends.py: cannot be run (SystemExit: 3)" in one_line(capsys.readouterr().err)


def test_configs_splits_and_conditions_are_nearly_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("build", "winograd", "--corpus", "sample", "--limit", 21) == 0
    asked = ("--model", "demo", "--dataset", "suites/winograd")
    capsys.readouterr()
    for option, value, meant in (
        ("--config", "sample_ful", "sample_full"),
        ("--split", "tset", "test"),
    ):
        assert exit_code("score", *asked, option, value) == 2
        assert f"did you mean {meant!r}?" in one_line(capsys.readouterr().err)


def test_the_python_m_forms_are_the_same_code(capsys: pytest.CaptureFixture[str]) -> None:
    for command, prog in (
        (python_m_eval, "coherencegym score"),
        (python_m_loaders, "coherencegym corpora"),
        (python_m_export, "coherencegym export"),
    ):
        with pytest.raises(SystemExit) as stopped:
            command(["--quux", "x"])
        assert stopped.value.code == 2
        assert one_line(capsys.readouterr().err).startswith(f"{prog}: ")


def test_the_names_of_all_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code() == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in SUBCOMMANDS)
    assert exit_code("--version") == 0
    assert capsys.readouterr().out.startswith("coherencegym 0.")
    assert exit_code("build") == 0
    assert "speaker_commitment" in capsys.readouterr().out
    assert exit_code("corpora") == 0
    assert "\nwinograd\t" in capsys.readouterr().out


def test_skeletons_pass_their_own_tests(tmp_path: Path) -> None:
    for what in WHAT:
        assert exit_code("new", what, f"my_{what}") == 0
        assert exit_code("new", what, f"my_{what}") == 2  # never replaced

    # One process for all of them: they are beside each other where somebody writes several.
    def work() -> int:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m pytest` has it
        return int(pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", ".", "."]))

    code, out, err = Fork(work, tmp_path / "fork").wait()
    assert code == 0, out + err
    assert re.search(r"^[3-9] passed", out, re.MULTILINE)


def test_nothing_that_is_there_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("test_mine.py").symlink_to("elsewhere.py")
    assert exit_code("new", "corpus", "mine") == 2
    assert "test_mine.py is there already; expected another" in one_line(capsys.readouterr().err)
    assert not Path("mine.py").exists()
    assert not Path("elsewhere.py").exists()


def test_a_suite_and_a_corpus_of_the_users_own(capsys: pytest.CaptureFixture[str]) -> None:
    for what in ("suite", "corpus"):
        assert exit_code("new", what, f"my_{what}") == 0
    Path("my_corpus.tsv").write_text(STORIES)
    own = ("--corpus", "my_corpus.py", "--data-dir", ".", "--dry-run")
    capsys.readouterr()
    assert exit_code("build", "my_suite.py", *own) == 0
    shown = capsys.readouterr().out
    assert "my_corpus_context" in shown
    assert "not built from" not in shown  # nobody asked for others
    assert exit_code("build", "sentence_order", *own, "--genre", "narration") == 0
    assert "my_corpus_narration_all" in capsys.readouterr().out
    assert exit_code("build", "winograd", *own) == 2
    assert "cannot be built from a column of narration texts" in one_line(capsys.readouterr().err)
    assert exit_code("build", "my_corpus.py") == 2
    said = one_line(capsys.readouterr().err)
    assert "my_corpus.py: expected SUITE = Suite(...), found nothing of that name" in said
    Path("broken.py").write_text("SUITE = 1 / 0\n")
    assert exit_code("build", "broken.py") == 2
    assert "cannot be run (ZeroDivisionError: division by zero)" in one_line(
        capsys.readouterr().err
    )


def test_a_suite_of_ones_own_needs_a_genre_for_other_texts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for what in ("suite", "corpus"):
        assert exit_code("new", what, f"my_{what}") == 0
    Path("my_corpus.tsv").write_text(STORIES)
    suite = Path("my_suite.py").read_text()
    assert suite.count('genre="narration",') == 1
    Path("my_suite.py").write_text(suite.replace('genre="narration",', ""))
    lacking = "no Config of it has genre='narration'"
    assert exit_code("build", "my_suite.py", "--corpus", "my_corpus.py", "--data-dir", ".") == 2
    assert f"a column of narration texts: {lacking}" in one_line(capsys.readouterr().err)
    assert exit_code("build", "my_suite.py", "--texts", "my_corpus.tsv") == 2
    said = one_line(capsys.readouterr().err)
    assert f"plain text: {lacking} or genre='documents'; `coheren" in said


def test_the_card_of_a_suite_of_ones_own_names_the_users_repository(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert exit_code("new", "suite", "my_suite") == 0
    build = ("build", "my_suite.py", "--corpus", "sample", "--limit", 3, "--output")
    assert exit_code(*build, "a") == 0
    assert exit_code(*build, "b", "--repo-id", "ann/stories") == 0
    for folder, repo in {"a": "YOUR_NAME/my_suite", "b": "ann/stories"}.items():
        card = Path(folder, "README.md").read_text()
        assert f"--dataset {repo} " in card
        assert "coherencegym/my_suite" not in card
    capsys.readouterr()
    assert exit_code(*build, "c", "--push-to-hub") == 2
    assert "expected --repo-id with the repository to push to, such as YOUR_NAME/my_suite" in (
        one_line(capsys.readouterr().err)
    )


def test_corpora_that_are_nowhere_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("build", "sentence_order", "--limit", 21, "--dry-run") == 0
    shown = " ".join(capsys.readouterr().out.split())
    corpora = "storycloze, rocstories, personachat, documents, gum, insted, discoeval, irc, disrpt"
    assert f"not built from {corpora}: no files here; `coheren" in shown
    assert shown.count("not built from") == 1


def test_what_a_build_passes_over_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("build", "coreference", "--corpus", "sample", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "some texts give no item (most often: not the first mention in its sentence; " in shown
    assert "left out of" not in shown  # of the samples nothing is lost
    assert "no config is from" not in shown
