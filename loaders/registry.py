"""All corpora by name. A new corpus is one module and one line here."""

from __future__ import annotations

from coherencegym.loaders.corpora import (
    conll2012,
    dialoguenli,
    disco,
    discoeval,
    documents,
    gum,
    insted,
    irc,
    mmax,
    pdtb,
    personachat,
    rocstories,
    storycloze,
)
from coherencegym.loaders.corpora.sample import all_samples, sample_of
from coherencegym.loaders.corpora.winograd import reader as winograd
from coherencegym.loaders.corpus import Corpus, CorpusError

__all__ = ["CORPORA", "corpus", "sample_of"]

_NATIVE = (
    storycloze.CORPUS,
    rocstories.CORPUS,
    personachat.CORPUS,
    winograd.CORPUS,
    winograd.WINOGRANDE,
    gum.CORPUS,
    mmax.ARRAU,
    mmax.PARCOR,
    conll2012.CORPUS,
    disco.CORPUS,
    pdtb.PDTB,
    pdtb.TEDMDB,
    dialoguenli.CORPUS,
    discoeval.CORPUS,
    insted.CORPUS,
    irc.CORPUS,
    documents.CORPUS,
)

#: The corpora in the order in which they are listed; ``sample`` last.
CORPORA: dict[str, Corpus] = {declared.name: declared for declared in _NATIVE}
CORPORA["sample"] = all_samples(_NATIVE)


def corpus(name: str) -> Corpus:
    """The corpus of this name.

    ``sample`` stands for all of this project's own texts; :func:`sample_of` gives those in the
    format of one corpus.

    Raises:
        CorpusError: there is none; names the nearest.
    """
    if name in CORPORA:
        return CORPORA[name]
    import difflib

    near = difflib.get_close_matches(name.lower(), CORPORA, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise CorpusError(f"no corpus is called {name!r}; {hint}there are {', '.join(CORPORA)}")
