"""The corpora written for this project, in the native formats of other corpora (CC0-1.0).

``samples/<corpus>/`` holds files that the reader of that corpus reads. All of them are of split
``test``. Ids are unique over all the samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions, cited
from coherencegym.loaders.discourse import Discourse

SAMPLES = Path(__file__).parent / "samples"
NAME = "sample"


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


def sample_of(corpus: Corpus) -> Corpus | None:
    """This project's own texts in the format of a corpus; none where there are none.

    What comes back is read by the same reader and is called ``sample``; ``native`` is the name of
    the corpus whose format it has.
    """
    folder = SAMPLES / corpus.name
    if not folder.is_dir():
        return None
    patterns = tuple(FilePattern(glob, "test") for glob in corpus.sample_patterns)
    return _sample(corpus, patterns=patterns, native=corpus.name, folder=folder)


def all_samples(corpora: Sequence[Corpus]) -> Corpus:
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
        corpora[0],  # what it declares of itself is replaced
        patterns=tuple(
            FilePattern(f"{name}/{glob}", "test")
            for name, of in natives.items()
            for glob in of.sample_patterns
        ),
        reader=read_sample,
        parts=parts,
        native=", ".join(natives),
        folder=SAMPLES,
    )


def _sample(corpus: Corpus, **own: Any) -> Corpus:
    return replace(
        corpus,
        **own,
        name=NAME,
        title="CoherenceGym samples",
        homepage="https://github.com/coherencegym/coherencegym",
        citation=cited("coherencegym-samples"),
        licence="CC0-1.0",
        licence_name="",
        licence_url="",
        text_licence="",  # as the annotation
        language="en",
        obtain="they are part of this package; install it again",
        proven=True,
        public_since=2026,
        public_source="this project",
        producers="Written for this project with the help of language models, and edited.",
        limitations=_LIMITATIONS.get(own["native"], ()),
        source_datasets=("original",),
        one_file_per_split=False,
    )
