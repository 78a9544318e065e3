"""Sentences with all that the criteria ask about them, from documents with their structure.

A word is a run of letters and digits or of other signs, in lower case. The paper has text that is
tokenised already, and predicts words that are not among the 50,000 most frequent ones as one
unknown word; here a word that occurs once in the training is unknown, too, so that there is
something to learn about it however little is read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.documents import STRUCTURES, StructuredDocument
from coherencegym.eval.tasks.training.training import TrainingData

if TYPE_CHECKING:
    import numpy as np


from functools import cached_property
from typing import ClassVar

from coherencegym.eval.tasks.training.options import GRU

#: The paper's code: Adam, 20 sentences a step, once through, sentences cut to 200 words.
GRU_SETTINGS: dict[str, Any] = {"learning_rate": 1e-3, "epochs": 1, "batch_size": 20}
GRU_LENGTH = 200


@dataclass(frozen=True)
class NewGRU:
    """A GRU before it is trained.

    Attributes:
        words: those that it reads.
        dimensions: those of a direction's states, and of its word vectors.
        max_length: most words of a sentence.
    """

    words: Sequence[str]
    dimensions: int
    max_length: int
    about: ClassVar[dict[str, Any]] = {"name": GRU, "commit": "new", "hub": False}

    @classmethod
    def of(
        cls, sentences: Sequence[PlacedSentence], dimensions: int, max_length: int | None = None
    ) -> NewGRU:
        """One that reads the words of sentences."""
        words = frequent_words(one.text for one in sentences)
        return cls(words, dimensions, max_length or GRU_LENGTH)

    @cached_property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return word_tokenizer(self.words, self.max_length)

    def without_head(self) -> Any:
        """The encoder; what is random in it comes of torch's generator."""
        from coherencegym.eval.models.word_gru import WordGRU, WordGRUConfig

        sizes = {"embedding_size": self.dimensions, "direction_size": self.dimensions}
        return WordGRU(WordGRUConfig(vocab_size=len(self.words) + 2, **sizes))


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


#: Most words of a vocabulary, as in the paper.
MOST_WORDS = 50_000
_PADDING, _UNKNOWN = "[PAD]", "[UNK]"
#: Predictions that are bags of words, and the attribute that they are of.
_BAGS = {
    "previous_sentence": "previous",
    "next_sentence": "following",
    "section_title": "section_title",
    "document_title": "document_title",
}


def words_of(text: str) -> list[str]:
    """The words of a text.

    >>> words_of("Don't stop!")
    ['don', "'", 't', 'stop', '!']
    """
    from tokenizers.pre_tokenizers import Whitespace

    return [word for word, _ in Whitespace().pre_tokenize_str(text.lower())]


def frequent_words(texts: Iterable[str]) -> list[str]:
    """The words that occur twice or more, the most frequent first; at most :data:`MOST_WORDS`."""
    counts = Counter(word for text in texts for word in words_of(text))
    found = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [word for word, count in found if count > 1][:MOST_WORDS]


@dataclass(frozen=True)
class Targets:
    """The ids that are predicted of a sentence: those of the words of a bag, or of one class.

    Attributes:
        vocabularies: prediction -> word -> id, of those that are bags of words; id 0 is a word that
            is in none.
        max_words: words of a bag that are predicted; the others are cut.
    """

    vocabularies: Mapping[str, Mapping[str, int]]
    max_words: int = 200

    @classmethod
    def of(cls, sentences: Sequence[PlacedSentence], max_words: int = 200) -> Targets:
        """Those of sentences to learn from; both neighbours share a vocabulary, titles do not."""
        texts = {
            "previous_sentence": [one.text for one in sentences],
            "section_title": [one.section_title for one in sentences],
            "document_title": [one.document_title for one in sentences],
        }
        found = {
            name: {word: id for id, word in enumerate(frequent_words(own), start=1)}
            for name, own in texts.items()
        }
        return cls({**found, "next_sentence": found["previous_sentence"]}, max_words)

    def size(self, term: str) -> int:
        """The number of ids of a prediction."""
        if term in _BAGS:
            return len(self.vocabularies[term]) + 1
        return LEVELS if term == "level" else PLACES

    def ids(self, sentence: PlacedSentence, term: str) -> list[int]:
        """The ids that are right; none where there is nothing to predict."""
        if term not in _BAGS:
            return [int(getattr(sentence, term))]
        known = self.vocabularies[term]
        words = words_of(getattr(sentence, _BAGS[term]))[: self.max_words]
        return [known.get(word, 0) for word in words]

    def frequencies(self, sentences: Sequence[PlacedSentence], term: str) -> np.ndarray:
        """The best prediction that is the same for all sentences, shape (ids,).

        It is the mean of the right distributions, and of a uniform one so that nothing is 0.
        """
        import numpy as np

        size = self.size(term)
        found, rows = np.full(size, 1 / size), 1
        for sentence in sentences:
            if ids := self.ids(sentence, term):
                np.add.at(found, ids, 1 / len(ids))
                rows += 1
        return found / rows


def word_tokenizer(words: Sequence[str], max_length: int) -> Any:
    """A tokenizer of transformers that reads these words, and any other as an unknown one."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

    ids = {word: number for number, word in enumerate((_PADDING, _UNKNOWN, *words))}
    tokenizer = Tokenizer(WordLevel(ids, unk_token=_UNKNOWN))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=_PADDING,
        unk_token=_UNKNOWN,
        model_max_length=max_length,
    )
