"""Sentences with all that the criteria ask about them, from documents with their structure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.structures import STRUCTURES, StructuredDocument
from coherencegym.eval.tasks.training.training import TrainingData

#: Levels that are told apart, and equal parts of a paragraph or document, as in the paper's code.
LEVELS, PLACES = 7, 20
_TRAIN, _VALIDATION = "train", "validation"


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence, and where it stands.

    Attributes:
        text: the sentence.
        previous, following: its neighbours in the document; empty where there is none.
        level: the depth of its section, from 0, 6 at most.
        place_in_paragraph, place_in_document: the place of the sentence in its paragraph, and of
            the paragraph in its document, as one of 20 equal parts from 0.
        section_title, document_title: empty where there is none.
    """

    text: str
    previous: str
    following: str
    level: int
    place_in_paragraph: int
    place_in_document: int
    section_title: str
    document_title: str


def placed_sentences(documents: Iterable[StructuredDocument]) -> Iterator[PlacedSentence]:
    """The sentences of documents in reading order."""
    for document in documents:
        sentences = list(document.sentences)
        paragraphs = sum(len(section.paragraphs) for section in document.sections)
        number = paragraph_number = 0
        for section in document.sections:
            for paragraph in section.paragraphs:
                for place, text in enumerate(paragraph):
                    yield PlacedSentence(
                        text=text,
                        previous=sentences[number - 1] if number else "",
                        following=sentences[number + 1] if number + 1 < len(sentences) else "",
                        level=min(section.level, LEVELS) - 1,
                        place_in_paragraph=PLACES * place // len(paragraph),
                        place_in_document=PLACES * paragraph_number // paragraphs,
                        section_title=section.title,
                        document_title=document.title,
                    )
                    number += 1
                paragraph_number += 1


@dataclass(frozen=True)
class StructurePart:
    """The sentences of one split of all configs that are read.

    Attributes:
        split: its name.
        configs: the configs, joined by ``+``.
        documents: the number of documents.
        sentences: those of all of them.
        sha256: the digest (hex) of the tables' rows.
        verified: the rows are those that were published.
    """

    split: str
    configs: str
    documents: int
    sentences: tuple[PlacedSentence, ...]
    sha256: str
    verified: bool


def read_structures(
    dataset: str,
    train_on: Sequence[str] = (),
    test_on: Sequence[str] = (),
    split: str = "test",
    *,
    revision: str | None = None,
    max_items: int | None = None,
) -> TrainingData:
    """Read the documents of a training.

    Args:
        dataset: a Hub id or a folder.
        train_on: configs to learn from and to choose weights on; none: all of documents with
            structure.
        test_on: configs to measure on; none: those of ``train_on``.
        split: the one that is measured on.
        revision: tag or commit on the Hub.
        max_items: no more documents than this of each table.
    """
    source = find_dataset(dataset, revision, list(dict.fromkeys((*train_on, *test_on))))

    def part(configs: Sequence[str], name: str) -> StructurePart:
        read = list(table_rows(source, configs, (name,), kind=STRUCTURES))
        return _part(read, name, max_items)

    training = part(train_on, _TRAIN)
    return TrainingData(
        source=source,
        configs=training.configs,
        rows_sha256=training.sha256,
        texts=training.documents,
        training=training.sentences,
        validation=part(train_on, _VALIDATION).sentences,
        inputs=(part(test_on or train_on, split),),
    )


def _part(
    tables: Sequence[TableRows[StructuredDocument]], split: str, most: int | None
) -> StructurePart:
    documents = [document for table in tables for document in table.read(most)]
    sentences = tuple(placed_sentences(documents))
    configs = "+".join(table.config for table in tables)
    if not sentences:
        raise EvaluationError(f"split {split!r} of {configs}: no sentence; expected some")
    digests = "\n".join(f"{table.config} {table.rows_sha256}" for table in tables)
    return StructurePart(
        split,
        configs,
        len(documents),
        sentences,
        hashlib.sha256(digests.encode()).hexdigest(),
        all(table.verified for table in tables),
    )
