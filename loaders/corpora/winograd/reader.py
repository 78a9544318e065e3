"""The Winograd Schema Challenge and WinoGrande: a pronoun, and two things that it could mean.

A discourse is the text, one unit a sentence; its one ``alternatives`` entry holds the candidates in
the order of the file at the span of the pronoun, or, where the file has a blank instead, of the
right candidate, which then stands there. ``meta["pronoun"]`` is the pronoun, and ``meta["family"]``
the same for schemas that are twins. The layout is told from the file itself: Davis's XML
(:mod:`loaders.corpora.winograd.elements`), or records in JSON or parquet
(:mod:`loaders.corpora.winograd.records`).

The collection of the Challenge grew: the first 273 of its schemas are what the literature calls
WSC273 (Trinh and Le 2018; Beyer et al. 2021) and are the split ``test``; those from 274 on (in the
files of 283 and 285) are ``test_added``, read only by name. Ids are ``wsc-001`` to ``wsc-285``, the
place in the file, in every layout; of WinoGrande they are the file's ``qID``.

Slips in the collection that would make bad English are corrected
(:data:`loaders.corpora.winograd.schema.TEXT_ERRATA`).
"""

from __future__ import annotations

from collections.abc import Iterator

from coherencegym.loaders.corpora.winograd.elements import read_xml
from coherencegym.loaders.corpora.winograd.records import read_records
from coherencegym.loaders.corpora.winograd.schema import Schema, discourse_of, with_families
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import open_text
from coherencegym.loaders.formats.records import parquet_records

#: The number of schemas in WSC273.
WSC273 = 273
#: The split of the schemas after those.
ADDED = "test_added"


def read_schemas(file: CorpusFile, options: ReadOptions) -> Iterator[Schema]:
    """The schemas of a file in whichever layout it has.

    Raises:
        CorpusError: the layout is none that is known, or a bad schema.
    """
    with open_text(file) as text:
        head = text.read(1000).lstrip()
    if head.startswith("PAR1"):
        yield from read_records(file, parquet_records(file), options)
    elif head.startswith("<"):
        yield from read_xml(file, options)
    else:
        yield from read_records(file, json_records(file, options), options)


def read_challenge(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of the Winograd Schema Challenge: the schemas of the file's split.

    Raises:
        CorpusError: the layout is none that is known, or a bad schema.
    """
    for schema, family in with_families(read_schemas(file, options)):
        added = schema.number > WSC273
        if added == (file.split == ADDED):
            discourse = discourse_of(corpus, file, schema, family, options)
            if discourse is not None:
                yield discourse
        # Not one further than needed: what is wrong there is no matter of this split.
        if schema.number >= WSC273 and file.split != ADDED:
            return


def read_winogrande(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of WinoGrande.

    Raises:
        CorpusError: the layout is none that is known, or a bad schema.
    """
    for schema, family in with_families(read_schemas(file, options)):
        discourse = discourse_of(corpus, file, schema, family, options)
        if discourse is not None:
            yield discourse


#: Files that may hold more than WSC273, and files that hold no more, with an example of each kind.
#: The XML is proven and comes first.
_LONG = {
    "WSCollection*.xml": "WSCollection.xml",
    "raw/WSCollection*.xml": "raw/WSCollection.xml",
    "wsc28[35]*.xml": "WSCollection.xml",
    "wsc285/test-*.parquet": "wsc285/test-00000-of-00001.parquet",
    "wsc285*.parquet": "wsc285/test-00000-of-00001.parquet",
    "wsc285*.json": "wsc285.json",
    "wsc285*.jsonl": "wsc285.json",
}
_SHORT = {
    "wsc273*.xml": "WSCollection.xml",
    "wsc273/test-*.parquet": "wsc273/test-00000-of-00001.parquet",
    "wsc273*.parquet": "wsc273/test-00000-of-00001.parquet",
    "wsc273*.json": "wsc273.json",
    "wsc273*.jsonl": "wsc273.json",
}

CORPUS = Corpus(
    name="winograd",
    title="Winograd Schema Challenge",
    homepage="https://cs.nyu.edu/~davise/papers/WinogradSchemas/WS.html",
    citation="""\
@inproceedings{levesque-etal-2012-winograd,
    title = "The {W}inograd Schema Challenge",
    author = "Levesque, Hector J. and Davis, Ernest and Morgenstern, Leora",
    booktitle = "Proceedings of the Thirteenth International Conference on Principles of Knowledge
      Representation and Reasoning",
    year = "2012",
    publisher = "AAAI Press",
    url = "https://cdn.aaai.org/ocs/4492/4492-21843-1-PB.pdf",
    pages = "552--561",
}""",
    licence="CC-BY-4.0",
    republishable=True,
    obtain=(
        "download WSCollection.xml from "
        "https://cs.nyu.edu/~davise/papers/WinogradSchemas/WSCollection.xml"
    ),
    proven=True,
    patterns=(
        *(FilePattern(glob, "test", example) for glob, example in (_LONG | _SHORT).items()),
        *(FilePattern(glob, ADDED, example, by_default=False) for glob, example in _LONG.items()),
    ),
    reader=read_challenge,
    producers="Experts (Hector Levesque, Ernest Davis and others; each schema names its author).",
    source_datasets=("original",),
    one_file_per_split=True,
)

WINOGRANDE = Corpus(
    name="winogrande",
    title="WinoGrande",
    homepage="https://winogrande.allenai.org",
    citation="""\
@inproceedings{sakaguchi-etal-2020-winogrande,
    title = "{W}ino{G}rande: An Adversarial {W}inograd Schema Challenge at Scale",
    author = "Sakaguchi, Keisuke and Le Bras, Ronan and Bhagavatula, Chandra and Choi, Yejin",
    booktitle = "Proceedings of the AAAI Conference on Artificial Intelligence",
    volume = "34",
    number = "05",
    year = "2020",
    url = "https://ojs.aaai.org/index.php/AAAI/article/view/6399",
    doi = "10.1609/aaai.v34i05.6399",
    pages = "8732--8740",
}""",
    licence="CC-BY-4.0",
    republishable=True,
    obtain=(
        "unpack https://storage.googleapis.com/ai2-mosaic/public/winogrande/winogrande_1.1.zip "
        "into the folder"
    ),
    proven=False,
    patterns=(
        FilePattern("winogrande*/dev.jsonl", "validation", "winogrande_1.1/dev.jsonl"),
        FilePattern("winogrande*/validation-*.parquet", "validation"),
        *(
            FilePattern(f"winogrande*/train_{size}.jsonl", "train", by_default=False)
            for size in ("xl", "l", "m", "s", "xs")
        ),
        FilePattern("winogrande*/test.jsonl", "test", by_default=False),
    ),
    reader=read_winogrande,
    producers="Crowd workers on Amazon Mechanical Turk (Sakaguchi et al. 2020).",
    source_datasets=("extended|winogrande",),
    one_file_per_split=True,
)
