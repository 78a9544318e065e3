"""Words of sentences and titles: what the paper's encoder reads, and what is predicted as bags.

A word is a run of letters and digits or of other signs, in lower case. The paper has text that is
tokenised already, and predicts words that are not among the 50,000 most frequent ones as one
unknown word; here a word that occurs once in the training is unknown, too, so that there is
something to learn about it however little is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.tasks.criteria.sentences import LEVELS, PLACES, PlacedSentence

if TYPE_CHECKING:
    import numpy as np

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


def count_word_forms(texts: Iterable[str]) -> Counter[str]:
    """The number of times that each word occurs."""
    return Counter(word for text in texts for word in words_of(text))


def frequent_words(counts: Mapping[str, int], fewest: int = 2) -> list[str]:
    """The words that occur so often, the most frequent first; at most :data:`MOST_WORDS`."""
    found = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [word for word, count in found if count >= fewest][:MOST_WORDS]


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
            name: {
                word: id for id, word in enumerate(frequent_words(count_word_forms(own)), start=1)
            }
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


def read_vectors(path: Path, wanted: Container[str]) -> dict[str, list[float]]:
    """Word vectors of the words that are wanted, from a file with a word and its numbers a line."""
    found: dict[str, list[float]] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                word, _, numbers = line.partition(" ")
                if word in wanted:
                    found.setdefault(word, [float(number) for number in numbers.split()])
    except (OSError, ValueError) as error:
        raise EvaluationError(
            f"--vectors {path}: {error}; expected a word and its numbers in every line"
        ) from None
    if len(sizes := {len(vector) for vector in found.values()}) != 1:
        listed = ", ".join(map(str, sorted(sizes))) or "no word"
        raise EvaluationError(
            f"--vectors {path}: {listed} of the words to learn from; expected vectors of one size"
        )
    return found


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
