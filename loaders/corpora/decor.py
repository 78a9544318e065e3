"""DECOR: sentences of learners' essays that are incoherent, why, and what an expert wrote instead.

Zhang et al. 2024, on essays of the TOEFL-11 corpus. A row of a CSV file is a sentence and its
context, all sentences of the essay before it, which is split into sentences here. Where the row has
a rewrite, that stands last in the discourse, and ``alternatives`` has the original sentence and the
rewrite over this unit. Else the sentence itself stands there with a judgement of it,
:data:`COHERENT` or :data:`INCOHERENT`: a rewrite ``DELETE`` says that it had better go.

``meta`` has the ``topic`` that the essay is on, the ``essay``, and the ``reasons`` of incoherence,
with commas between them, by the names of :data:`REASONS`. An id is the essay and the number of
characters before the sentence, which is the same in every file.

``test`` is the published test set of rewriting (213 rows). By name only are read ``test_all``, all
sentences of the test essays, and ``validation``, of whose rewrites the repository does not say who
wrote them.

Two things are otherwise than the repository's description says: a ``label`` of 1 is a coherent
sentence and 0 or -1 an incoherent one, and the file of the validation set is called
``data/val/sent_rewrite_541.csv`` in some versions. Reasons that do not hold are 0 in one file and
empty in another; any other number holds (four are -1 or 3), and is counted where it is not 1.
``test_1355_clean.csv`` has 1,352 rows: 906 of label 1, all without a rewrite, and 446 of label 0,
all with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import (
    Alternative,
    Discourse,
    HumanJudgement,
    SourceSpan,
    Unit,
)
from coherencegym.loaders.formats.lines import RecordError, reporting, shown, tidy
from coherencegym.loaders.formats.table import numbered_rows
from coherencegym.loaders.text.sentences import split_sentences

COHERENT, INCOHERENT = "coherent", "incoherent"
#: The columns of reasons, and what they stand for.
REASONS = {
    "R1": "semantic connection",
    "R2": "entity reference",
    "R3": "discourse relation",
    "R4": "consistency",
    "R5": "contextual relevance",
    "R6": "tangential relevance",
    "R7": "other",
}
_TEXTS = ("essay_id", "topic", "sentence")
_COLUMNS = (*_TEXTS, "context", "label", *REASONS, "Rewrite")
#: A rewrite that says that the sentence is to be left out.
_DELETE = "DELETE"
_LABELS = {"1": COHERENT, "0": INCOHERENT, "-1": INCOHERENT}
#: A flag; any number that is not 0 holds.
_FLAG = re.compile(r"(-?\d{1,3}(?:\.\d{1,3})?)?")


def read_decor(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of sentences in context."""
    for row in numbered_rows(file, _COLUMNS, options):
        values = {name: tidy(value) for name, value in row.values.items()}
        with reporting(row.place, options):
            label = _checked_label(values)
            if not values["context"]:
                options.skipped["no sentence before it"] += 1
                continue
            other = sum(float(values[name] or 0) not in (0, 1) for name in REASONS)
            options.put_right("flags of reasons that are neither 0 nor 1, taken for 1", other)
            source = SourceSpan(file.path.name, row.line, row.line)
            sentence, rewrite = values["sentence"], values["Rewrite"]
            essay = values["essay_id"].removesuffix(".txt")
            rewritten = rewrite not in ("", _DELETE)
            last = rewrite if rewritten else sentence
            texts = (*split_sentences(values["context"]), last)
            span = ((len(texts) - 1, 0, len(last)),)
            reasons = [of for name, of in REASONS.items() if float(values[name] or 0)]
            yield Discourse(
                id=f"{essay}/{len(values['context'])}",
                corpus=corpus.name,
                units=tuple(Unit(text, source=source) for text in texts),
                alternatives=(Alternative(span, (sentence, rewrite), 1),) if rewritten else (),
                judgements=() if rewritten else (HumanJudgement(span, label),),
                meta={
                    "split": file.split,
                    "topic": values["topic"],
                    "essay": essay,
                    "reasons": ", ".join(reasons),
                },
            )


def _checked_label(values: Mapping[str, str]) -> str:
    for name in _TEXTS:
        if not values[name]:
            what = "an id" if name == "essay_id" else "a text"
            raise RecordError(f"{name} is empty, expected {what}", f"empty {name}")
    # The files have ``1`` or ``1.0``.
    if (label := _LABELS.get(values["label"].removesuffix(".0"))) is None:
        problem = f"label is {shown(values['label'])}, expected 1 (coherent), 0 or -1 (incoherent)"
        raise RecordError(problem, "unknown label")
    for name in REASONS:
        if not _FLAG.fullmatch(values[name]):
            problem = f"{name} is {shown(values[name])}, expected a number or nothing"
            raise RecordError(problem, "unknown flag")
    if label == COHERENT and values["Rewrite"]:
        problem = "a rewrite of a coherent sentence, expected none"
        raise RecordError(problem, "rewrite of a coherent sentence")
    return label


def _patterns() -> Iterator[FilePattern]:
    for name, folder, split in (
        ("test_rewrite_213_no_delete.csv", "test", "test"),
        ("test_1355_clean.csv", "test", "test_all"),
        ("rewrite_541.csv", "dev", "validation"),
        ("sent_rewrite_541.csv", "val", "validation"),
    ):
        for place in ("", f"{folder}/", f"data/{folder}/"):
            yield FilePattern(
                f"{place}{name}", split, f"data/{folder}/{name}", by_default=split == "test"
            )


CORPUS = Corpus(
    name="decor",
    title="DECOR",
    homepage="https://github.com/BillyZhang24kobe/writing2coherence",
    citation="zhang-etal-2024-decor",
    licence_name="no licence stated",
    text_licence_name="essays of TOEFL-11, which the Linguistic Data Consortium licenses",
    obtain="get https://github.com/BillyZhang24kobe/writing2coherence and take its folder data",
    proven="2026-11-28: the two files of test essays, whole; 1,565 documents",
    patterns=tuple(_patterns()),
    reader=read_decor,
    limitations=(
        "Learners wrote the essays, so the text before a sentence also has errors, which affect "
        "the surprisal of the sentence.",
        "Sentences that experts would delete (`DELETE`) have no rewrite, so the worst sentences "
        "are missing.",
        "Experts did not always agree on what is incoherent. One expert wrote each rewrite; "
        "another rewrite may be as good.",
    ),
    public_since=2024,
    public_source="Zhang et al. (2024)",
    producers=(
        "Learners of English wrote the essays for the TOEFL test; experts rewrote some of their "
        "sentences (Zhang et al. 2024)."
    ),
    source_datasets=("extended|other-decor",),
    one_file_per_split=True,
)
