"""A sentence as the probes see it: words with their places and the tags that they can have."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from coherencegym.loaders.corpus import CorpusError
from coherencegym.manipulations.probes.tagging import disambiguate, form_tags


class MissingPipelineError(CorpusError):
    """The spaCy pipeline that was named is not installed, or gives no tags."""


@dataclass(frozen=True, slots=True)
class Word:
    """A token: its characters in the sentence and the Penn Treebank tags that it can have."""

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


@dataclass(frozen=True, slots=True)
class Sentence:
    """An analysed sentence.

    Attributes:
        text: the sentence.
        words: its tokens.
        pipeline: the trained pipeline that tagged it, or none.
        preceding: the sentences before it, in order, for a probe that looks for antecedents.
    """

    text: str
    words: tuple[Word, ...]
    pipeline: str | None = None
    preceding: tuple[str, ...] = ()

    @property
    def lowers(self) -> tuple[str, ...]:
        """The words in lower case, with plain apostrophes."""
        return tuple(word.lower for word in self.words)


def analyse(text: str, pipeline: str | None = None) -> Sentence:
    """Words and tags of a sentence: by rules, or by the trained spaCy pipeline that is named.

    Rules are the default even where a pipeline is installed, so that the same sentence gives the
    same result on every machine.

    Raises:
        MissingPipelineError: the pipeline is not installed, or it does not tag.
        MissingLibraryError: lemminflect is not installed.
    """
    return from_doc(_tokenizer(pipeline)(text), pipeline)


def from_doc(doc: Any, pipeline: str | None = None) -> Sentence:
    """The sentence that a spaCy ``Doc`` holds; its tags are used where ``pipeline`` is named.

    Raises:
        MissingPipelineError: ``pipeline`` is named and a word has no tag.
    """
    tokens = [token for token in doc if not token.is_space]
    lowers = [token.text.lower().replace("’", "'") for token in tokens]
    if pipeline is None:
        tags = [form_tags(token.text, first=index == 0) for index, token in enumerate(tokens)]
        tags = disambiguate(lowers, tags)
    else:
        if not all(token.tag_ for token in tokens):
            raise MissingPipelineError(
                f"the spaCy pipeline {pipeline!r} gives no part-of-speech tags; name one that has "
                "a tagger, or none"
            )
        tags = [frozenset((token.tag_,)) for token in tokens]
    words = tuple(
        Word(token.text, lower, token.idx, token.idx + len(token.text), tag)
        for token, lower, tag in zip(tokens, lowers, tags, strict=True)
    )
    return Sentence(doc.text, words, pipeline)


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
