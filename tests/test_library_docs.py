"""The examples of docs/library.md and docs/patching.md, run as they stand there."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from support.commands import lint_examples
from support.suites import Sample

import coherencegym as cg
from coherencegym.eval import Results


def blocks(page: Path) -> list[tuple[str, str]]:
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run_page(page: Path) -> tuple[dict[str, Any], Counter[str]]:
    """The names that the blocks of a page leave, and the blocks by language."""
    names: dict[str, Any] = {}
    printed, ran = "", Counter[str]()
    for language, code in blocks(page):
        ran[language] += 1
        if language == "python":
            with redirect_stdout(StringIO()) as out:
                exec(compile(code, str(page), "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert printed == code
        elif language == "py":
            compile(code, str(page), "exec")  # needs the Hub, or a corpus
    return names, ran


def test_the_examples_print_what_the_document_says(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    names, ran = run_page(repository / "docs/library.md")
    assert ran["python"] >= 9
    assert ran["text"] >= 6
    results = names["results"]
    assert isinstance(results, Results)
    assert names["kept"].rows == results.rows
    assert results.rows[0].n == 40
    assert names["mine"].rows[0].n == 1
    assert names["longest"]["n_tokens"] > 0
    assert (tmp_path / "results/demo/report.html").is_file()


def test_patching_recovers_what_the_document_says(
    repository: Path, built_sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    monkeypatch.setattr(cg, "build", lambda suite, corpus: built_sample(suite)[0], raising=False)
    names, ran = run_page(repository / "docs/patching.md")
    assert (ran["python"], ran["text"]) == (5, 4)
    alignment, bits = names["alignment"], names["target_bits"]
    # The two differences of an item are the margin of its prediction.
    own = alignment.pairs[:2]
    assert len({one.item_id for one in own}) == 1
    items = cg.load_items(built_sample("connectives")[0], config="sample_crossed", limit=1)
    difference = 0.0
    for one in own:
        target = [place for place in one.positions if place.in_target]
        difference += bits([one.corrupted], [place.corrupted for place in target]).item()
        difference -= bits([one.clean], [place.clean for place in target]).item()
    results: Any = cg.score(names["loaded"], items)
    assert results.rows[0].margin_mean == pytest.approx(difference, abs=1e-3)
    # All positions patched in any layer: the clean text.
    pair = next(one for one in alignment.pairs if not one.is_shifted)
    places = [place.clean for place in pair.positions if place.in_target]
    clean = bits([pair.clean], places)
    states = names["hidden_states"](pair.clean)
    for layer in range(len(states)):
        whole = names["patched_bits"](pair, [pair.positions], layer, states, places)
        assert whole.tolist() == pytest.approx(clean.tolist(), abs=1e-3)


@pytest.mark.parametrize("page", ["library", "patching"])
def test_the_examples_pass_the_linter(repository: Path, tmp_path: Path, page: str) -> None:
    page_blocks = blocks(repository / f"docs/{page}.md")
    code = [code for language, code in page_blocks if language in ("python", "py")]
    assert code
    lint_examples(repository, tmp_path, code, "I001,B018,D100,F401,F821")
