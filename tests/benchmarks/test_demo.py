"""What ``make demo`` prints and keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import demo


def test_each_step_has_a_line_and_keeps_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def main(words: Sequence[str]) -> int:
        print(f"{words[0]} says much")
        return 0

    monkeypatch.setattr(demo, "main", main)
    demo.demonstrate(tmp_path / "out")
    printed = capsys.readouterr().out
    assert printed.startswith("0 suites from the sample texts in 0 s: ")
    assert "check says much" in printed
    for name in ("build", "score"):
        assert f"{name} says much" not in printed
        assert (tmp_path / "out" / f"{name}.txt").read_text() == f"{name} says much\n"


def test_what_fails_ends_it_and_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "main", lambda words: 2)
    with pytest.raises(SystemExit, match=r"build ended with 2; .*build.txt says why"):
        demo.demonstrate(tmp_path)
    assert not (tmp_path / "score.txt").exists()
