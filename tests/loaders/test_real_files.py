"""What readers make of the real files that are at hand: as many as their declarations say.

The folder that ``COHERENCEGYM_SHARED`` names has a part of each release.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from coherencegym.loaders.corpora.discoeval import DISCOEVAL_ROWS
from coherencegym.loaders.corpus import REPAIRED, Corpus
from coherencegym.loaders.read import find, read
from coherencegym.loaders.registry import CORPORA

AT_HAND = (
    *("personachat", "winograd", "winogrande", "gum", "tedmdb"),
    *("discoeval", "insted", "irc", "disrpt", "verifiable"),
)


@pytest.mark.parametrize(
    "corpus", [*(CORPORA[name] for name in AT_HAND), DISCOEVAL_ROWS], ids=lambda one: one.name
)
def test_as_much_is_read_as_was_declared(corpus: Corpus, shared: Path) -> None:
    folder = shared / "corpora"
    reading = read(corpus, found=find(corpus, folder, corpus.splits))
    documents = list(reading)
    counts = {
        "documents": len(documents),
        "units": sum(len(one.units) for one in documents),
        "annotations": sum(
            len(one.mentions)
            + len(one.relations)
            + len(one.alternatives)
            + len(one.judgements)
            + (one.tree is not None)
            for one in documents
        ),
        "left out": sum(
            count for reason, count in reading.skipped.items() if not reason.startswith(REPAIRED)
        ),
    }
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    assert corpus.proven.endswith(f"; {told}")
