"""ROCStories: the five-sentence stories that the Story Cloze Test is trained on.

A discourse is the five sentences; the id is the file's ``storyid`` and ``meta["title"]`` the title.
There is one split, ``train`` (45,496 stories of spring 2016, 52,665 of winter 2017).
"""

from __future__ import annotations

from collections.abc import Iterator

from coherencegym.loaders.corpora import stories
from coherencegym.loaders.corpora.storycloze import CORPUS as STORYCLOZE
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.formats.lines import tidy
from coherencegym.loaders.formats.table import rows

_IDENTIFIER = "storyid"
TITLE = "storytitle"
_SENTENCES = ("sentence1", "sentence2", "sentence3", "sentence4", "sentence5")


def read_stories(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of five-sentence stories (CSV or TSV).

    Raises:
        CorpusError: the file has another header, or a bad row.
    """
    for row in rows(file, (_IDENTIFIER, TITLE, *_SENTENCES), options):
        identifier = stories.story_id(file, row, _IDENTIFIER, options)
        if identifier is None:
            continue
        texts = stories.sentences(file, row, _SENTENCES, options)
        if texts is None:
            continue
        yield Discourse(
            id=identifier,
            corpus=corpus.name,
            units=stories.units(file, row, texts),
            meta={"split": file.split, "title": tidy(row.values[TITLE])},
        )


CORPUS = Corpus(
    name="rocstories",
    title="ROCStories",
    homepage=stories.HOMEPAGE,
    citation=STORYCLOZE.citation,
    licence="other",
    licence_name=STORYCLOZE.licence_name,
    licence_url=stories.HOMEPAGE,
    republishable=False,
    obtain=stories.OBTAIN,
    proven=False,
    patterns=(
        FilePattern(
            "*ROCStories*winter*2017*.[ct]sv",
            "train",
            "ROCStories_winter2017 - ROCStories_winter2017.csv",
        ),
        FilePattern(
            "*ROCStories*spring*2016*.[ct]sv",
            "train",
            "ROCStories__spring2016 - ROCStories_spring2016.csv",
        ),
    ),
    reader=read_stories,
    producers="Crowd workers on Amazon Mechanical Turk (Mostafazadeh et al. 2016).",
    source_datasets=("extended|other-rocstories",),
)
