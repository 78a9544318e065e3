"""The cells of the notebook run in their order, offline, and nothing that they print is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from support.suites import no_classifiers

from coherencegym.eval.tasks.probe import classifiers


def test_the_notebook_runs(
    examples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    no_classifiers(monkeypatch)
    monkeypatch.setattr(classifiers, "INVERSE_PENALTIES", classifiers.INVERSE_PENALTIES[:1])
    mpl.use("svg")
    cells = json.loads((examples / "first_steps.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    whole = "\n".join("".join(cell["source"]) for cell in code)
    assert whole.count("limit=60") == 1
    probed = 'cg.build("discourse_tasks", corpus="sample", '
    assert whole.count(probed) == 1
    short = whole.replace("limit=60", "limit=6").replace(probed, f"{probed}limit=40, ")
    names: dict[str, Any] = {}
    exec(compile(short, "first_steps.ipynb", "exec"), names)
    assert "shuffled: " in capsys.readouterr().out
    assert list(names["words"]["text_number"].unique()) == [1, 2]
    assert names["axes"].get_xticklabels()[-1].get_text() == "cake. / chair."
    assert names["results"].rows[0].n == 6
