"""All corpora by name. A new corpus is one module and one line here.

Those of other packages come by their entry points (:mod:`coherencegym.extensions`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.extensions import added, load_extension
from coherencegym.loaders.corpora.sample import NAME as SAMPLE
from coherencegym.loaders.corpora.sample import all_samples, sample_of
from coherencegym.loaders.corpus import Corpus, CorpusError

__all__ = ["CORPORA", "corpus", "is_extension", "sample_of"]

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
    "litbank": "litbank.CORPUS",
    "openboek": "openboek.CORPUS",
    "disco": "disco.CORPUS",
    "pdtb": "pdtb.PDTB",
    "tedmdb": "pdtb.TEDMDB",
    "dialoguenli": "dialoguenli.CORPUS",
    "discoeval": "discoeval.CORPUS",
    "insted": "insted.CORPUS",
    "irc": "irc.CORPUS",
    "documents": "own.DOCUMENTS",
    "disrpt": "disrpt.CORPUS",
    "verifiable": "verifiable.CORPUS",
    "decor": "decor.CORPUS",
    "cohesentia": "cohesentia.CORPUS",
}


def _others() -> dict[str, EntryPoint]:
    return added("corpora", (*_DECLARED, SAMPLE))


def is_extension(name: str) -> bool:
    """Tell whether another package brings the corpus."""
    return name in _others()


@cache
def _load(name: str) -> Corpus:
    if name == SAMPLE:
        return all_samples(tuple(map(_load, _DECLARED)))
    if name not in _DECLARED:
        try:
            loaded: Corpus = load_extension(_others()[name], Corpus)
        except EvaluationError as error:
            raise CorpusError(str(error)) from error
        return loaded
    module, _, attribute = _DECLARED[name].rpartition(".")
    found = getattr(importlib.import_module(f"coherencegym.loaders.corpora.{module}"), attribute)
    assert isinstance(found, Corpus)
    return found


class _Corpora(Mapping[str, Corpus]):
    def __getitem__(self, name: str) -> Corpus:
        return _load(name)

    def __contains__(self, name: object) -> bool:
        return name in _DECLARED or name == SAMPLE or name in _others()

    def __iter__(self) -> Iterator[str]:
        return iter((*_DECLARED, *_others(), SAMPLE))

    def __len__(self) -> int:
        return len(_DECLARED) + len(_others()) + 1


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
    hint = did_you_mean(name, CORPORA)
    raise CorpusError(f"no corpus is called {name!r}{hint}; there are {', '.join(CORPORA)}")
