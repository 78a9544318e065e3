"""The examples of docs/library.md, run as they stand there."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from support.commands import lint_examples

from coherencegym import Results


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


@pytest.mark.parametrize("page", ["library"])
def test_the_examples_pass_the_linter(repository: Path, tmp_path: Path, page: str) -> None:
    page_blocks = blocks(repository / f"docs/{page}.md")
    code = [code for language, code in page_blocks if language in ("python", "py")]
    assert code
    lint_examples(repository, tmp_path, code, "I001,B018,D100,F401,F821")
