"""Corpora, suites and tasks of another package, found by its entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import one_line

from coherencegym.__main__ import main
from coherencegym.builders.command.new import skeleton
from coherencegym.builders.registry import all_suites, describe_suite, load_suite
from coherencegym.eval.data.source import may_be_published
from coherencegym.extensions import extensions
from coherencegym.loaders.registry import CORPORA, _load, corpus

ENTRIES = """\
[coherencegym.corpora]
diaries = diaries:CORPUS
winograd = diaries:CORPUS
broken = diaries_missing:CORPUS
[coherencegym.suites]
diary_order = diary_order:SUITE
no_suite = diaries:CORPUS
lost_suite = diaries_lost:SUITE
[coherencegym.tasks]
weigh = diary_task:TASK
no_task = diaries:CORPUS
"""
TASK = '''\
"""A task that is another by its name."""

from dataclasses import replace

from coherencegym.eval.tasks.correlate.task import TASK as OTHER

TASK = replace(OTHER, command=replace(OTHER.command, name="weigh"))
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that looks installed: its modules and its metadata."""
    site = tmp_path / "site"
    metadata = site / "diaries-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: diaries\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRIES)
    (site / "diaries.py").write_text(skeleton("corpus", "diaries")["diaries.py"])
    (site / "diary_order.py").write_text(skeleton("suite", "diary_order")["diary_order.py"])
    (site / "diary_task.py").write_text(TASK)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    for cached in (extensions, _load):
        cached.cache_clear()
    yield site
    for cached in (extensions, _load):
        cached.cache_clear()
    for name in ("diaries", "diary_order", "diary_task"):
        sys.modules.pop(name, None)


def test_what_a_package_brings_joins_the_registries(installed: Path) -> None:
    assert corpus("diaries").name == "diaries"
    assert [*CORPORA][-1] == "sample"
    assert len(CORPORA) == len([*CORPORA])
    assert corpus("winograd").title != "Diaries"  # the toolkit's own stay
    assert all_suites()[-3:] == ("diary_order", "lost_suite", "no_suite")
    assert describe_suite("diary_order") == (
        "Stories, and the same stories with all sentences but the last shuffled. (package diaries)"
    )
    assert load_suite("diary_order").title == "Diary order"


def test_it_is_built_and_run_by_its_name(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"d{i}\tAnn got up at {i}.\tShe ran.\tShe fell.\tShe wept.\n" for i in range(25))
    Path("diaries.tsv").write_text(rows)
    built = ["--corpus", "diaries", "--data-dir", ".", "--dry-run"]
    assert main(["build", "diary_order", *built]) == 0
    said = capsys.readouterr().out
    assert "diaries_context" in said
    assert "corpus diaries: its reader was never run on the real files; look at some" in said
    assert main(["build", "sentence_order", *built]) == 0
    assert "diaries_narration_all" in capsys.readouterr().out
    assert main(["corpora", "show", "diaries"]) == 0
    assert main(["weigh", "--model", "demo", "--dataset", "nowhere"]) == 2
    assert capsys.readouterr().err.startswith("coherencegym weigh: dataset 'nowhere': no such")
    assert main([]) == 0
    assert "weigh          a task of diaries" in capsys.readouterr().out


def test_a_suite_that_cannot_be_imported_is_listed_with_the_reason(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build"]) == 0
    listed = capsys.readouterr().out
    reason = "cannot be imported: ModuleNotFoundError: No module named 'diaries_lost'; mend the pac"
    assert f"lost_suite          (diaries_lost:SUITE) {reason}" in listed


@pytest.mark.parametrize(
    ("licence", "name", "is_open"),
    [
        ("CC-BY-4.0", "diaries", True),
        ("other", "diaries", False),
        ("CC-BY-ND-4.0", "diaries", False),
        ("other", "winograd", True),
        ("other", "unheard_of", True),
    ],
)
def test_no_manifest_opens_its_closed_corpus(
    installed: Path, licence: str, name: str, is_open: bool
) -> None:
    module = installed / "diaries.py"
    declared = module.read_text()
    assert declared.count('licence="CC-BY-4.0"') == 1
    module.write_text(declared.replace("CC-BY-4.0", licence))
    about = {"name": name, "licence": "CC-BY-4.0"}
    said = {"republishable": True, "licences": {"CC-BY-4.0": 1}, "corpus": about}
    assert may_be_published({"configs": {"c": said}}, "c") is is_open


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["build", "no_suite"], "coherencegym.suites: no_suite (diaries:CORPUS) is a Corpus;"),
        (["corpora", "show", "broken"], "broken (diaries_missing:CORPUS) cannot be imported"),
        (["build", "lost_suite"], "mend the package diaries and install it again, or uninstall it"),
        (["no_task"], "coherencegym.tasks: no_task (diaries:CORPUS) is a Corpus; expected a Task"),
    ],
)
def test_what_is_wrong_with_it_is_one_line(
    installed: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in one_line(capsys.readouterr().err)


def test_two_packages_with_one_name_are_refused(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = installed / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[coherencegym.suites]\ndiary_order = other:SUITE\n")
    extensions.cache_clear()
    assert main(["build", "diary_order"]) == 2
    assert "uninstall the other" in one_line(capsys.readouterr().err)
