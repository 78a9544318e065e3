"""The rows that every suite has: digests of its tables, which no change of the code may move.

``digests.json`` holds the ``content_hash`` of every config and split, of the samples and of real
corpora. Where a suite's version rises because its rows change, they are written anew by
``python -m pytest tests/test_digests.py --write-digests``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.suites import Sample

from coherencegym.builders.registry import SUITES
from coherencegym.eval.kinds.table_kind import SAMPLE

#: Suite -> config -> split -> digest; of a build from a real corpus under "<suite>/<corpus>".
DIGESTS = Path(__file__).with_name("digests.json")
#: The real builds: suite and corpus.
REAL = (
    ("winograd", "winograd"),
    ("sentence_order", "personachat"),
    ("sentence_order", "gum"),
    ("sentence_order", "irc"),
    ("coreference", "gum"),
    ("connectives", "gum"),
    ("connectives", "tedmdb"),
    ("discourse_tasks", "gum"),
    ("discourse_tasks", "tedmdb"),
    ("discourse_tasks", "discoeval"),
    ("span_coherence", "verifiable"),
    ("intruder_sentences", "gum"),
    ("intruder_sentences", "tedmdb"),
    ("replies", "irc"),
)


def check(suite: str, corpus: str, folder: Path, write: bool) -> None:
    """Compare the digests of a build's tables with those written down."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    found = {
        name: {split: counts["content_hash"] for split, counts in config["splits"].items()}
        for name, config in manifest["configs"].items()
    }
    key = suite if corpus == SAMPLE else f"{suite}/{corpus}"
    digests = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    if write:
        digests[key] = found
        DIGESTS.write_text(json.dumps(digests, indent=2, sort_keys=True) + "\n")
    assert found == digests[key]


@pytest.fixture
def write(request: pytest.FixtureRequest) -> bool:
    """Whether the digests are written anew."""
    return bool(request.config.getoption("--write-digests"))


@pytest.mark.parametrize("suite", SUITES)
def test_the_rows_of_the_samples(suite: str, built_sample: Sample, write: bool) -> None:
    check(suite, SAMPLE, built_sample(suite)[0], write)


@pytest.mark.parametrize(("suite", "corpus"), REAL)
def test_the_rows_of_real_corpora(
    suite: str, corpus: str, real_build: Callable[[str, str], Path], write: bool
) -> None:
    check(suite, corpus, real_build(suite, corpus), write)
