"""The works behind the corpora, in one file of BibTeX."""

from __future__ import annotations

from pathlib import Path

from coherencegym.loaders.corpus import cited
from coherencegym.loaders.registry import CORPORA, SAMPLES


def test_every_work_is_cited_and_whole() -> None:
    works = Path(SAMPLES.parent, "citations.bib").read_text("utf-8").split("\n\n")
    entries = {work.strip() for work in works}
    assert len(entries) == len(works)
    assert {corpus.citation for corpus in CORPORA.values()} == entries
    for entry in entries:
        assert entry.startswith("@")
        assert entry.endswith("\n}")
        assert entry.count("{") == entry.count("}")


def test_a_work_is_found_by_its_key() -> None:
    assert cited("zeldes-2017-gum").startswith("@article{zeldes-2017-gum,\n    title = ")
