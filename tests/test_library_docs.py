"""The examples of docs/library.md, run as they stand there."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from support.commands import lint_examples

from coherencegym.eval import Results


def blocks(repository: Path) -> list[tuple[str, str]]:
    text = (repository / "docs/library.md").read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_examples_print_what_the_document_says(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed, ran = "", {"python": 0, "text": 0, "py": 0}
    for language, code in blocks(repository):
        ran[language] += 1
        if language == "python":
            with redirect_stdout(StringIO()) as out:
                exec(compile(code, "docs/library.md", "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert printed == code
        else:
            compile(code, "docs/library.md", "exec")  # needs the Hub
    assert ran["python"] >= 9
    assert ran["text"] >= 6
    results = names["results"]
    assert isinstance(results, Results)
    assert names["kept"].rows == results.rows
    assert results.rows[0].n == 40
    assert names["mine"].rows[0].n == 1
    assert names["longest"]["n_tokens"] > 0
    assert (tmp_path / "results/demo/report.html").is_file()


def test_the_examples_pass_the_linter(repository: Path, tmp_path: Path) -> None:
    code = [code for language, code in blocks(repository) if language in ("python", "py")]
    assert code
    lint_examples(repository, tmp_path, code, "I001,B018,D100,F401,F821")
