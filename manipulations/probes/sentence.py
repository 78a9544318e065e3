"""A sentence as the probes see it: words with their places and the tags that they can have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from coherencegym.loaders.corpus import CorpusError
from coherencegym.manipulations.probes.tagging import ADVERBS, disambiguate, form_tags


class MissingPipelineError(CorpusError):
    """The spaCy pipeline that was named is not installed, or gives no tags."""


@dataclass(frozen=True, slots=True)
class Tagged:
    """A token: its characters in the sentence and the Penn Treebank tags that it can have.

    ``lower`` has plain apostrophes.
    """

    text: str
    lower: str
    start: int
    end: int
    tags: frozenset[str]

    def is_only(self, tags: Collection[str]) -> bool:
        """Tell whether it can be nothing but one of ``tags``."""
        return self.tags <= frozenset(tags)

    def may_be(self, tags: Collection[str]) -> bool:
        """Tell whether it can be one of ``tags``."""
        return not self.tags.isdisjoint(tags)


#: Stands where no word is: neither is it only, nor may it be, of any tag.
NOTHING = Tagged("", "", 0, 0, frozenset(("",)))


def word_at(words: Sequence[Tagged], index: int) -> Tagged:
    """The word at an index (from 0); :data:`NOTHING` before the first and behind the last."""
    return words[index] if 0 <= index < len(words) else NOTHING


def plain(words: Iterable[Tagged]) -> list[Tagged]:
    """The words that may be something else than an adverb."""
    return [word for word in words if not word.is_only(ADVERBS)]


def first_plain(words: Iterable[Tagged]) -> Tagged:
    """The first word that may be something else than an adverb, or :data:`NOTHING`."""
    return next((word for word in words if not word.is_only(ADVERBS)), NOTHING)


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence, its tokens, the pipeline that tagged it (or none), and what stands before it."""

    text: str
    words: tuple[Tagged, ...]
    pipeline: str | None = None
    preceding: tuple[str, ...] = ()

    @property
    def lowers(self) -> tuple[str, ...]:
        """The words in lower case, with plain apostrophes."""
        return tuple(word.lower for word in self.words)


def analyse(text: str, pipeline: str | None = None) -> TaggedSentence:
    """Words and tags of a sentence: by rules, or by the trained spaCy pipeline that is named.

    Rules are the default even where a pipeline is installed, so that the same sentence gives the
    same result on every machine.

    Raises:
        MissingPipelineError: the pipeline is not installed, or it does not tag.
        MissingLibraryError: lemminflect is not installed.
    """
    return from_doc(_tokenizer(pipeline)(text), pipeline)


def from_doc(doc: Any, pipeline: str | None = None) -> TaggedSentence:
    """The sentence that a spaCy ``Doc`` holds; its tags are used where ``pipeline`` is named.

    Raises:
        MissingPipelineError: ``pipeline`` is named and a word has no tag.
    """
    tokens = [token for token in doc if not token.is_space]
    lowers = [token.text.lower().replace("’", "'") for token in tokens]
    if pipeline is None:
        tags = [form_tags(token.text, first=index == 0) for index, token in enumerate(tokens)]
        tags = disambiguate(lowers, tags)
    elif all(token.tag_ for token in tokens):
        tags = [frozenset((token.tag_,)) for token in tokens]
    else:
        raise MissingPipelineError(
            f"the spaCy pipeline {pipeline!r} gives no part-of-speech tags; name one that has "
            "a tagger, or none"
        )
    words = tuple(
        Tagged(token.text, lower, token.idx, token.idx + len(token.text), tag)
        for token, lower, tag in zip(tokens, lowers, tags, strict=True)
    )
    return TaggedSentence(doc.text, words, pipeline)


@cache
def _tokenizer(pipeline: str | None) -> Any:
    import spacy

    if pipeline is None:
        return spacy.blank("en")
    try:
        return spacy.load(pipeline)
    except OSError as error:
        raise MissingPipelineError(
            f"the spaCy pipeline {pipeline!r} is not installed: "
            f"get it with `python -m spacy download {pipeline}`, or name none"
        ) from error
