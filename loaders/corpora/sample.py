"""The corpora written for this project, in the native formats of other corpora (CC0-1.0).

``samples/<corpus>/`` holds files that the reader of that corpus reads. All of them are of split
``test``. Ids are unique over all the samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse

FOLDER = Path(__file__).parent / "samples"
NAME = "sample"

_CITATION = """\
@misc{coherencegym-samples,
    title = "{CoherenceGym} samples",
    author = "{The CoherenceGym contributors}",
    note = "Texts written for the CoherenceGym project, CC0-1.0",
}"""


def sample_of(corpus: Corpus) -> Corpus | None:
    """This project's own texts in the format of a corpus; none where there are none.

    What comes back is read by the same reader and is called ``sample``; ``native`` is the name of
    the corpus whose format it has.
    """
    folder = FOLDER / corpus.name
    if not folder.is_dir():
        return None
    return _sample(
        replace(
            corpus,
            patterns=tuple(FilePattern(glob, "test") for glob in corpus.sample_patterns),
            native=corpus.name,
            folder=folder,
        )
    )


def all_samples(corpora: Sequence[Corpus]) -> Corpus:
    """The samples of all these corpora as one corpus; ``native`` names them, comma-separated."""
    natives = {corpus.name: corpus for corpus in corpora if (FOLDER / corpus.name).is_dir()}

    def native(path: Path) -> Corpus:
        return natives[path.relative_to(FOLDER).parts[0]]

    def read_sample(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
        return native(file.path).reader(corpus, file, options)

    def parts(path: Path) -> tuple[Path, ...]:
        of = native(path).parts
        return of(path) if of is not None else ()

    return _sample(
        Corpus(
            name=NAME,
            title="",
            homepage="",
            citation="",
            licence="",
            republishable=True,
            obtain="",
            proven=True,
            patterns=tuple(
                FilePattern(f"{name}/{glob}", "test")
                for name, of in natives.items()
                for glob in of.sample_patterns
            ),
            reader=read_sample,
            parts=parts,
            native=", ".join(natives),
            folder=FOLDER,
        )
    )


def _sample(corpus: Corpus) -> Corpus:
    """The corpus with what all samples declare."""
    return replace(
        corpus,
        name=NAME,
        title="CoherenceGym samples",
        homepage="https://github.com/coherencegym/coherencegym",
        citation=_CITATION,
        licence="CC0-1.0",
        licence_name="",
        licence_url="",
        language="en",
        republishable=True,
        obtain="they are part of this package; install it again",
        proven=True,
        producers="Written for this project with the help of language models, and edited.",
        source_datasets=("original",),
        one_file_per_split=False,
    )
