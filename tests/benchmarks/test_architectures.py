"""The table of architectures: what it says of two, and of what cannot be measured."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks import architectures


def test_two_configurations_are_told_apart_and_measured_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["gpt2", "mamba", "--output", str(tmp_path)]
    assert architectures.main(given) == 0
    printed = capfd.readouterr().out
    (path,) = tmp_path.iterdir()
    gpt2, mamba = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    for row in (gpt2, mamba):
        assert row["bits"] <= architectures.BITS
        assert max(row["causal"], row["repeatable"], row["right"], row["by token"]) < 1e-4
    # Positions are counted from the row's beginning; a state is not gone on from.
    assert gpt2["left"] > 0.1 > mamba["left"]
    assert mamba["at once"] > 0.01 > gpt2["at once"]
    assert (gpt2["ours"], mamba["ours"]) == ("packs", "pads")

    monkeypatch.setattr(architectures, "measure", lambda name: pytest.fail(name))
    assert architectures.main(given) == 0
    assert capfd.readouterr().out == printed


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        (lambda _: os.kill(os.getpid(), signal.SIGKILL), "crashed (SIGKILL)"),
        (lambda _: time.sleep(60), "timed out"),
    ],
)
def test_what_crashes_or_hangs_is_a_row(
    monkeypatch: pytest.MonkeyPatch, does: Any, reason: str
) -> None:
    monkeypatch.setattr(architectures, "measure", does)
    row = architectures.measure_apart("any", 0.2 if reason == "timed out" else 60)
    assert row["reason"] == reason
    assert architectures.cells(row)[-2] == f"not made: {reason}"


def test_a_wrong_score_without_a_word_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = dict.fromkeys(("causal", "repeatable", "left", "right", "at once", "by token"), 0.0)
    row |= {"name": "any", "ours": "pads", "bits": 0.1, "float32": False}  # type: ignore[dict-item]
    monkeypatch.setattr(architectures, "measure", lambda name: row)
    assert architectures.main(["any", "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().out.endswith("wrong without a word: any\n")


def test_new_and_changed_configurations_are_told() -> None:
    def table(*rows: tuple[str, float | str, float]) -> str:
        asked = dict.fromkeys(("causal", "repeatable", "right", "at once", "by token"), 0.0)
        return architectures.table(
            [
                {"name": n, **asked, "left": left, "ours": "packs", "bits": b, "float32": False}
                for n, left, b in rows
            ]
        )

    before = table(("same", 0.2, 1e-5), ("left", 0.0, 1e-5), ("bits", 0.0, 1e-5), ("old", 0, 0))
    after = table(("same", 9.0, 3e-5), ("left", 0.5, 1e-5), ("bits", 0.0, 1e-3), ("more", 0, 0))
    assert [line.split(": ")[:2] for line in architectures.changes(before, after)] == [
        ["new", "more"],
        ["gone", "old"],
        ["changed", "left"],
        ["changed", "bits"],
    ]
