"""What the tests of the loaders do with a corpus of one small file (the fixture ``of_file``)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coherencegym.loaders.corpus import Corpus, CorpusError
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import read

#: Writes content to a file and returns the corpus with that file as its only one.
OfFile = Callable[[Corpus, bytes | str], Corpus]


def read_one(corpus: Corpus) -> Discourse:
    """The only discourse of a corpus."""
    (discourse,) = read(corpus)
    return discourse


def error(corpus: Corpus) -> str:
    """What is said of a bad corpus, without the folder: one line, which begins with the file."""
    with pytest.raises(CorpusError) as caught:
        list(read(corpus))
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message.rpartition("/data/")[2]
