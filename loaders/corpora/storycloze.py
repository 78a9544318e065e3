"""Story Cloze Test: four sentences and two endings, one of which is right.

A discourse is the five sentences of the coherent story, the right ending fifth; its one
``alternatives`` entry holds both endings, in the order of the file, over the fifth unit. The id is
the file's ``InputStoryid``.

Splits: ``test`` and ``validation`` are the sets of spring 2016 (1,871 stories each),
``validation_2018`` is the validation set of winter 2018 (1,571). The test set of winter 2018 is
given out without answers: it is ``test_2018``, is opened only when asked for by name or when there
is nothing else, and is then refused with that reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherencegym.loaders.corpora import stories
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Alternative, Discourse
from coherencegym.loaders.formats.lines import shown
from coherencegym.loaders.formats.table import header_names, rows

IDENTIFIER = "InputStoryid"
CONTEXT = ("InputSentence1", "InputSentence2", "InputSentence3", "InputSentence4")
ENDINGS = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
ANSWER = "AnswerRightEnding"


def read_stories(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of stories with two endings (CSV or TSV).

    Raises:
        CorpusError: the file has no answers, another header, or a bad row.
    """
    names = header_names(file)
    if ANSWER.lower() not in names and IDENTIFIER.lower() in names:
        raise CorpusError(
            f"{file.path}:1: no column {ANSWER}, expected the right ending of each story; "
            "the winter 2018 test set is given out without answers and cannot be used: "
            "use the test set of spring 2016 or a validation set"
        )
    for row in rows(file, (IDENTIFIER, *CONTEXT, *ENDINGS, ANSWER), options):
        identifier = stories.story_id(file, row, IDENTIFIER, options)
        if identifier is None:
            continue
        texts = stories.sentences(file, row, (*CONTEXT, *ENDINGS), options)
        if texts is None:
            continue
        answer = row.values[ANSWER]
        if answer not in ("1", "2"):
            message = f"{file.path}:{row.line}: {ANSWER} is {shown(answer)}, expected 1 or 2"
            options.bad(message, "answer neither 1 nor 2")
            continue
        right = int(answer) - 1
        endings = texts[4:]
        yield Discourse(
            id=identifier,
            corpus=corpus.name,
            units=stories.units(file, row, (*texts[:4], endings[right])),
            alternatives=(Alternative(((4, 0, len(endings[right])),), endings, right),),
            meta={"split": file.split},
        )


CORPUS = Corpus(
    name="storycloze",
    title="Story Cloze Test",
    homepage=stories.HOMEPAGE,
    citation="""\
@inproceedings{mostafazadeh-etal-2016-corpus,
    title = "A Corpus and Cloze Evaluation for Deeper Understanding of Commonsense Stories",
    author = "Mostafazadeh, Nasrin and Chambers, Nathanael and He, Xiaodong and Parikh, Devi and
      Batra, Dhruv and Vanderwende, Lucy and Kohli, Pushmeet and Allen, James",
    booktitle = "Proceedings of the 2016 Conference of the North {A}merican Chapter of the
      Association for Computational Linguistics: Human Language Technologies",
    year = "2016",
    address = "San Diego, California",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/N16-1098",
    doi = "10.18653/v1/N16-1098",
    pages = "839--849",
}""",
    licence="other",
    licence_name="no licence stated; given out on request, by form",
    licence_url=stories.HOMEPAGE,
    republishable=False,
    obtain=stories.OBTAIN,
    proven=False,
    patterns=(
        FilePattern(
            "*cloze*test*test*spring*2016*.[ct]sv",
            "test",
            "cloze_test_test__spring2016 - cloze_test_ALL_test.csv",
        ),
        FilePattern(
            "*cloze*test*val*spring*2016*.[ct]sv",
            "validation",
            "cloze_test_val__spring2016 - cloze_test_ALL_val.csv",
        ),
        FilePattern(
            "*cloze*test*val*winter*2018*.[ct]sv",
            "validation_2018",
            "cloze_test_val__winter2018-cloze_test_ALL_val - 1 - 1.csv",
        ),
        FilePattern(
            "*cloze*test*test*winter*2018*.[ct]sv",
            "test_2018",
            "cloze_test_test__winter2018-cloze_test_ALL_test - 1.csv",
            by_default=False,
        ),
    ),
    reader=read_stories,
    producers="Crowd workers on Amazon Mechanical Turk (Mostafazadeh et al. 2016).",
    source_datasets=("extended|other-story-cloze",),
)
