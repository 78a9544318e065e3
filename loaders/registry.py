"""All corpora by name, and their samples. A new corpus is one module and one line here.

Those of other packages come by their entry points (:mod:`coherencegym.extensions`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.extensions import added, load_extension
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse

#: The corpora written for this project (CC0-1.0): ``samples/<corpus>/`` holds files that the reader
#: of that corpus reads. All of them are of split ``test``. Ids are unique over all the samples.
SAMPLES = Path(__file__).parent / "corpora" / "samples"
SAMPLE_NAME = "sample"
#: Limitations of the samples in the formats of some corpora.
_LIMITATIONS = {
    "decor": (
        "Both sentences are good English of similar length and were written to differ in "
        "coherence, so they are easier to read than learners' essays.",
    ),
    "cohesentia": (
        "The ratings are not by people: sentences of a good story were replaced, and each version "
        "was written for its rating.",
    ),
}

#: The place of each corpus's declaration, in the order in which they are listed: a module of
#: ``loaders.corpora``, which is imported when the corpus is asked for, and a name in it.
_DECLARED = {
    "storycloze": "stories.STORYCLOZE",
    "rocstories": "stories.ROCSTORIES",
    "personachat": "dialogues.PERSONACHAT",
    "winograd": "winograd.CORPUS",
    "winogrande": "winograd.WINOGRANDE",
    "gum": "gum.CORPUS",
    "arrau": "mmax.ARRAU",
    "parcor": "mmax.PARCOR",
    "ontonotes": "conll2012.ONTONOTES",
    "disco": "pdtb.DISCO",
    "pdtb": "pdtb.PDTB",
    "tedmdb": "pdtb.TEDMDB",
    "dialoguenli": "dialogues.DIALOGUENLI",
    "discoeval": "discoeval.CORPUS",
    "insted": "insted.CORPUS",
    "irc": "dialogues.IRC",
    "documents": "own.OWN_DOCUMENTS",
    "disrpt": "disrpt.CORPUS",
    "verifiable": "judged.VERIFIABLE",
    "decor": "judged.DECOR",
    "cohesentia": "judged.COHESENTIA",
}


def _others() -> dict[str, EntryPoint]:
    return added("corpora", (*_DECLARED, SAMPLE_NAME))


def is_extension(name: str) -> bool:
    """Tell whether another package brings the corpus."""
    return name in _others()


@cache
def _load(name: str) -> Corpus:
    if name == SAMPLE_NAME:
        return _all_samples(tuple(map(_load, _DECLARED)))
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
        return name in _DECLARED or name == SAMPLE_NAME or name in _others()

    def __iter__(self) -> Iterator[str]:
        return iter((*_DECLARED, *_others(), SAMPLE_NAME))

    def __len__(self) -> int:
        return len(_DECLARED) + len(_others()) + 1


CORPORA: Mapping[str, Corpus] = _Corpora()


def corpus(name: str) -> Corpus:
    """The corpus of this name.

    ``sample`` stands for all of this project's own texts; :func:`sample_of` gives those in the
    format of one corpus. ``CorpusError`` names the nearest where there is none.
    """
    if name in CORPORA:
        return CORPORA[name]
    hint = did_you_mean(name, CORPORA)
    raise CorpusError(f"no corpus is called {name!r}{hint}; there are {', '.join(CORPORA)}")


def sample_of(corpus: Corpus) -> Corpus | None:
    """This project's own texts in the format of a corpus; none where there are none.

    What comes back is read by the same reader and is called ``sample``; ``native`` is the name of
    the corpus whose format it has.
    """
    folder = SAMPLES / corpus.name
    if not folder.is_dir():
        return None
    patterns = tuple(FilePattern(glob, "test") for glob in corpus.sample_patterns)
    own = {"reader": corpus.reader, "parts": corpus.parts, "collected": corpus.collected}
    return _sample(**own, patterns=patterns, native=corpus.name, folder=folder)


def _all_samples(corpora: Sequence[Corpus]) -> Corpus:
    """The samples of all these corpora as one corpus; ``native`` names them, comma-separated."""
    natives = {corpus.name: corpus for corpus in corpora if (SAMPLES / corpus.name).is_dir()}

    def native(path: Path) -> Corpus:
        return natives[path.relative_to(SAMPLES).parts[0]]

    def read_sample(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
        return native(file.path).reader(corpus, file, options)

    def parts(path: Path) -> tuple[Path, ...]:
        of = native(path).parts
        return of(path) if of is not None else ()

    return _sample(
        reader=read_sample,
        patterns=tuple(
            FilePattern(f"{name}/{glob}", "test")
            for name, of in natives.items()
            for glob in of.sample_patterns
        ),
        parts=parts,
        native=", ".join(natives),
        folder=SAMPLES,
    )


def _sample(**own: Any) -> Corpus:
    return Corpus(
        **own,
        name=SAMPLE_NAME,
        title="CoherenceGym samples",
        homepage="https://github.com/coherencegym/coherencegym",
        citation="coherencegym-samples",
        licence="CC0-1.0",
        obtain="they are part of this package; install it again",
        proven="",
        public_since=2026,
        public_source="this project",
        producers="Written for this project with the help of language models, and edited.",
        limitations=_LIMITATIONS.get(own["native"], ()),
        source_datasets=("original",),
    )
