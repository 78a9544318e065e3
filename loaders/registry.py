"""All corpora by name. A new corpus is one module and one line here."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator, Mapping
from functools import cache

from coherencegym.loaders.corpora.sample import NAME as SAMPLE
from coherencegym.loaders.corpora.sample import all_samples, sample_of
from coherencegym.loaders.corpus import Corpus, CorpusError

__all__ = ["CORPORA", "corpus", "sample_of"]

#: The place of each corpus's declaration, in the order in which they are listed: a module of
#: ``loaders.corpora``, which is imported when the corpus is asked for, and a name in it.
_DECLARED = {
    "storycloze": "stories.STORYCLOZE",
    "rocstories": "stories.ROCSTORIES",
    "personachat": "personachat.CORPUS",
    "winograd": "winograd.CORPUS",
    "winogrande": "winograd.WINOGRANDE",
    "gum": "gum.CORPUS",
    "arrau": "mmax.ARRAU",
    "parcor": "mmax.PARCOR",
    "ontonotes": "conll2012.CORPUS",
    "disco": "disco.CORPUS",
    "pdtb": "pdtb.PDTB",
    "tedmdb": "pdtb.TEDMDB",
    "dialoguenli": "dialoguenli.CORPUS",
    "discoeval": "discoeval.CORPUS",
    "insted": "insted.CORPUS",
    "irc": "irc.CORPUS",
    "documents": "documents.CORPUS",
}


@cache
def _load(name: str) -> Corpus:
    if name == SAMPLE:
        return all_samples(tuple(map(_load, _DECLARED)))
    module, _, attribute = _DECLARED[name].rpartition(".")
    found = getattr(importlib.import_module(f"coherencegym.loaders.corpora.{module}"), attribute)
    assert isinstance(found, Corpus)
    return found


class _Corpora(Mapping[str, Corpus]):
    """The corpora by name; ``sample`` last."""

    def __getitem__(self, name: str) -> Corpus:
        return _load(name)

    def __contains__(self, name: object) -> bool:
        return name in _DECLARED or name == SAMPLE

    def __iter__(self) -> Iterator[str]:
        return iter((*_DECLARED, SAMPLE))

    def __len__(self) -> int:
        return len(_DECLARED) + 1


CORPORA: Mapping[str, Corpus] = _Corpora()


def corpus(name: str) -> Corpus:
    """The corpus of this name.

    ``sample`` stands for all of this project's own texts; :func:`sample_of` gives those in the
    format of one corpus.

    Raises:
        CorpusError: there is none; names the nearest.
    """
    if name in CORPORA:
        return CORPORA[name]
    near = difflib.get_close_matches(name.lower(), CORPORA, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise CorpusError(f"no corpus is called {name!r}; {hint}there are {', '.join(CORPORA)}")
