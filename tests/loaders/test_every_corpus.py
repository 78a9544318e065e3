"""What holds of every corpus that is registered, in every layout: what it declares, what is read.

Every layout is read from two small discourses (:mod:`support.native_files`), every sample as it is
shipped, and every real corpus whose files are there. What is said of damaged files is in
:mod:`formats.test_malformed`; damage that nobody thought of, in :mod:`formats.test_fuzz`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.native_files import LAYOUTS
from support.small_corpora import assert_clean

from coherencegym.loaders.corpus import Corpus, CorpusNotFoundError
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import Reading, read
from coherencegym.loaders.registry import CORPORA, sample_of
from coherencegym.loaders.registry import SAMPLE_NAME as SAMPLE

NAMES = [name for name in CORPORA if name != SAMPLE]


def test_every_corpus_has_a_layout() -> None:
    assert {layout.corpus for layout in LAYOUTS.values()} == {*NAMES}


@pytest.mark.parametrize("name", CORPORA)
def test_declarations_are_whole_and_names_can_be_parts_of_those_of_configs(name: str) -> None:
    declared = CORPORA[name]
    assert declared.name == name
    assert name.isidentifier()
    assert name.islower()
    for text in (declared.title, declared.homepage, declared.licence, declared.obtain):
        assert text
    assert declared.citation.startswith("@")
    assert declared.patterns
    # Nobody but their owner knows when somebody's own articles came out.
    assert bool(declared.public_source) == (name != "documents")
    assert (1900 < declared.public_since < 2100) == bool(declared.public_source)
    for key in ("licence", "text_licence"):
        assert getattr(declared, key) != "other" or getattr(declared, f"{key}_name")


def check(corpus: Corpus, found: Sequence[Discourse], data_dir: Path | None = None) -> None:
    """What was read is clean and of this corpus, and reading a part gives a part of the same."""
    assert found
    assert len({discourse.id for discourse in found}) == len(found)
    for discourse in found:
        assert_clean(discourse)
        assert discourse.corpus == corpus.name
        assert not discourse.variant
        assert not discourse.edits
        for unit in discourse.units:
            assert unit.source is None or unit.source.start <= unit.source.end
        assert discourse.meta["split"] in corpus.splits
    for limit in (0, 2):
        splits = None if corpus.name == SAMPLE else corpus.splits
        reading = read(corpus, data_dir=data_dir, splits=splits, skip_bad_rows=True, limit=limit)
        part = list(reading)
        assert bool(part) == bool(limit)
        assert len(part) <= limit * len(corpus.splits)
        whole = iter(found)
        assert all(discourse in whole for discourse in part)  # in their order


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_read_whole_again_and_in_part(name: str, tmp_path: Path) -> None:
    corpus = CORPORA[LAYOUTS[name].corpus]
    LAYOUTS[name].write(tmp_path)
    reading = read(corpus, data_dir=tmp_path)
    found = list(reading)
    assert (len(found), reading.skipped) == (2, {})
    assert list(reading) == found
    check(corpus, found, tmp_path)
    names = {unit.source.file for each in found for unit in each.units if unit.source}
    assert names <= {Path(file).name for file in LAYOUTS[name].files}


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_read_whole_again_and_in_part(name: str) -> None:
    sample = sample_of(CORPORA[name])
    if sample is None:
        assert name not in CORPORA[SAMPLE].native.split(", ")
        return
    reading = read(sample)
    found = list(reading)
    assert list(reading) == found
    assert {discourse.meta["split"] for discourse in found} == {"test"}
    assert (sample.licence, sample.native) == ("CC0-1.0", name)
    check(sample, found)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_corpus_is_read_whole_and_in_part(
    name: str, shared: Path, real_corpus: Callable[[str], tuple[Reading, list[Discourse]]]
) -> None:
    try:
        _, found = real_corpus(name)
    except CorpusNotFoundError:
        pytest.skip(f"the files of {name} are not there")
    check(CORPORA[name], found, shared / "corpora")
