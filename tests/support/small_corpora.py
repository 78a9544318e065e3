"""What the tests of the loaders do with a corpus of one small file (the fixture ``of_file``)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coherencegym.loaders.corpus import Corpus, CorpusError
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.formats.lines import CONTROL
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


def assert_clean(discourse: Discourse) -> None:
    """The texts are clean, and everything that points into them stays inside."""
    speakers = [unit.speaker for unit in discourse.units if unit.speaker is not None]
    chains = [mention.chain for mention in discourse.mentions]
    options = [option for alternative in discourse.alternatives for option in alternative.options]
    labels = [judgement.label for judgement in discourse.judgements]
    assert discourse.id
    assert discourse.units
    for text in (*discourse.texts, *options):
        assert text == " ".join(text.split()) != ""
    for text in (discourse.id, *discourse.texts, *options, *speakers, *chains, *labels):
        text.encode("utf-8")
        assert "\0" not in text
        assert CONTROL.search(text) is None
    for name, value in discourse.meta.items():
        f"{name}{value}".encode()
        assert len(value.splitlines()) <= 1
    spans = [mention.span for mention in discourse.mentions]
    spans += [mention.head for mention in discourse.mentions if mention.head is not None]
    spans += [alternative.span for alternative in discourse.alternatives]
    for relation in discourse.relations:
        assert relation.connective is None or relation.connective
        spans += [one for one in (relation.connective, relation.arg1, relation.arg2) if one]
    for span in spans:
        assert span
        for unit, start, end in span:
            assert 0 <= start < end <= len(discourse.units[unit].text)
        assert span_text(discourse, span).strip()
