"""Five-sentence stories: the Story Cloze Test, and ROCStories, which it is trained on.

A discourse of the Story Cloze Test is the five sentences of the coherent story, the right ending
fifth; its one ``alternatives`` entry holds both endings, in the order of the file, over the fifth
unit. Splits: ``test`` and ``validation`` are the sets of spring 2016 (1,871 stories each),
``validation_2018`` is the validation set of winter 2018 (1,571). The test set of winter 2018 is
given out without answers: it is ``test_2018``, is opened only when asked for by name or when there
is nothing else, and is then refused with that reason.

The reader was run on the sets of spring 2016, and gave all of their stories.

A discourse of ROCStories is a story, with its title in ``meta``. There is one split, ``train``
(45,496 stories of spring 2016, 52,665 of winter 2017). Ids are those of the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Alternative, Discourse, line_units
from coherencegym.loaders.formats.lines import Record, numbered_rows, shown, tidy

_ANSWER, _TITLE = "AnswerRightEnding", "storytitle"
_CLOZE_COLUMNS = (
    "InputStoryid",
    *(f"InputSentence{number}" for number in range(1, 5)),
    *("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2", _ANSWER),
)
_STORY_COLUMNS = ("storyid", _TITLE, *(f"sentence{number}" for number in range(1, 6)))
_WITHOUT_ANSWERS = (
    "expected the right ending of each story; the winter 2018 test set is given out without "
    "answers and cannot be used: use the test set of spring 2016 or a validation set"
)


def read_storycloze(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of stories with two endings (CSV or TSV)."""
    for row, identifier, texts in _stories(file, _CLOZE_COLUMNS, options):
        answer = row.values[_ANSWER]
        if answer not in ("1", "2"):
            message = f"{row.place}: {_ANSWER} is {shown(answer)}, expected 1 or 2"
            options.bad(message, "answer neither 1 nor 2")
            continue
        right, endings = int(answer) - 1, texts[4:]
        yield Discourse(
            id=identifier,
            corpus=corpus.name,
            units=line_units((*texts[:4], endings[right]), file.path.name, row.line),
            alternatives=(Alternative(((4, 0, len(endings[right])),), endings, right),),
            meta={"split": file.split},
        )


def read_rocstories(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of five-sentence stories (CSV or TSV)."""
    for row, identifier, texts in _stories(file, _STORY_COLUMNS, options):
        meta = {"split": file.split, "title": tidy(row.values[_TITLE])}
        units = line_units(texts, file.path.name, row.line)
        yield Discourse(identifier, corpus.name, units, meta=meta)


def _stories(
    file: CorpusFile, columns: Sequence[str], options: ReadOptions
) -> Iterator[tuple[Record, str, tuple[str, ...]]]:
    for row in numbered_rows(file, columns, options, {_ANSWER: _WITHOUT_ANSWERS}):
        texts = {
            column: tidy(text)
            for column, text in row.values.items()
            if column not in (_ANSWER, _TITLE)
        }
        empty = next((column for column, text in texts.items() if not text), None)
        if empty is None:
            identifier, *sentences = texts.values()
            yield row, identifier, tuple(sentences)
            continue
        article, what = ("an", "id") if empty == columns[0] else ("a", "sentence")
        message = f"{row.place}: {empty} is empty, expected {article} {what}"
        options.bad(message, f"empty {what}")


_HOMEPAGE = "https://cs.rochester.edu/nlp/rocstories/"
_OBTAIN = f"fill in the form at {_HOMEPAGE} (free of charge), the links come by e-mail"
#: The end of a file's name as a glob, its split, and the end that it really has.
_CLOZE_FILES = (
    ("test*spring*2016", "test", "test__spring2016 - cloze_test_ALL_test"),
    ("val*spring*2016", "validation", "val__spring2016 - cloze_test_ALL_val"),
    ("val*winter*2018", "validation_2018", "val__winter2018-cloze_test_ALL_val - 1 - 1"),
    ("test*winter*2018", "test_2018", "test__winter2018-cloze_test_ALL_test - 1"),
)

#: Limitations of the texts of both corpora.
_WRITTEN = (
    "Crowd workers wrote the stories and their endings, and nobody corrected them: slips of "
    "spelling make a text more surprising, whatever it says.",
)

STORYCLOZE = Corpus(
    name="storycloze",
    title="Story Cloze Test",
    homepage=_HOMEPAGE,
    citation="mostafazadeh-etal-2016-corpus",
    licence_name="no licence stated; available on request by a form",
    text_licence_name="the same",
    obtain=_OBTAIN,
    proven=(
        "2026-11-23: both sets of spring 2016, whole; 3,742 documents, 18,710 units, 3,742 "
        "annotations"
    ),
    patterns=tuple(
        FilePattern(
            f"*cloze*test*{glob}*.[ct]sv", split, f"cloze_test_{example}.csv", split != "test_2018"
        )
        for glob, split, example in _CLOZE_FILES
    ),
    reader=read_storycloze,
    public_since=2016,
    public_source="Mostafazadeh et al. (2016)",
    producers="Crowd workers on Amazon Mechanical Turk (Mostafazadeh et al. 2016).",
    limitations=(
        *_WRITTEN,
        "In the release of 2016, the wrong endings can often be identified without the story "
        "(Sharma et al. 2018).",
    ),
    source_datasets=("extended|other-story-cloze",),
)

ROCSTORIES = Corpus(
    name="rocstories",
    title="ROCStories",
    homepage=_HOMEPAGE,
    citation=STORYCLOZE.citation,
    licence_name=STORYCLOZE.licence_name,
    text_licence_name=STORYCLOZE.text_licence_name,
    obtain=_OBTAIN,
    patterns=tuple(
        FilePattern(f"*ROCStories*{glob}*.[ct]sv", "train", example)
        for glob, example in (
            ("winter*2017", "ROCStories_winter2017 - ROCStories_winter2017.csv"),
            ("spring*2016", "ROCStories__spring2016 - ROCStories_spring2016.csv"),
        )
    ),
    reader=read_rocstories,
    public_since=2016,
    public_source="Mostafazadeh et al. (2016)",
    producers="Crowd workers on Amazon Mechanical Turk (Mostafazadeh et al. 2016).",
    limitations=_WRITTEN,
    source_datasets=("extended|other-rocstories",),
)
