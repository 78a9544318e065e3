"""Split plain text into sentences with spaCy: by rule, or with a trained pipeline.

By rule: spaCy's ``sentencizer`` says where sentences could end (it knows the full stops of many
scripts), and :mod:`loaders.text.sentence_ends` which of them are ends. White space parts sentences;
in scripts that have none (Chinese, Japanese) the sentencizer has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.formats.lines import tidy
from coherencegym.loaders.text.sentence_ends import is_sentence_end

#: Places where the sentencizer sees no end, as its tokenizer keeps the full stop of ``U.S.`` and
#: ``A.``, but there may be one; after an ellipsis; and behind the number of a footnote.
_STOP = re.compile(r"[.!?…][\"'”’»)\]]*(?:\s*\[\d{1,3}\])*\s+")


class TooLongError(ValueError):
    """A text is longer than the pipeline takes; the message says how long it may be."""


def split_sentences(text: str, language: str = "en", pipeline: str | None = None) -> Iterator[str]:
    """The sentences of a text, lazily by paragraph; an empty line always ends a sentence.

    Args:
        text: plain text; a single line break is a space.
        language: ISO 639-1, for the rules.
        pipeline: name of, or folder with, an installed spaCy pipeline that finds sentences; what it
            says is not corrected. None: the rules.

    Raises:
        TooLongError: the text is longer than spaCy takes.
        CorpusError: there are no rules for the language, or no such pipeline.
    """
    splitter = _splitter(language, pipeline)
    if len(text) > splitter.max_length:
        raise TooLongError(
            f"a text of {len(text):,} characters, expected at most {splitter.max_length:,}"
        )
    for paragraph in re.split(r"\n\s*\n", text):
        trained = pipeline is not None
        for sentence in (_trained if trained else _by_rule)(paragraph, splitter):
            if found := tidy(sentence):
                yield found


def _trained(paragraph: str, splitter: Any) -> Iterator[str]:
    for sentence in splitter(paragraph).sents:
        yield sentence.text


def _by_rule(paragraph: str, sentencizer: Any) -> Iterator[str]:
    text = tidy(paragraph)
    starts = {sentence.start_char for sentence in sentencizer(text).sents}
    # The sentencizer gives an opening quotation mark to the sentence before it.
    places = {_before_opening(text, start) for start in starts if start}
    places |= {match.end() for match in _STOP.finditer(text)}
    start = 0
    for place in sorted(places):
        spaced = text[place - 1 : place].isspace()
        if place == start or (not spaced and text[place - 1 : place].isascii()):
            continue
        if not spaced or is_sentence_end(text[start:place], text[place : place + 400]):
            yield text[start:place]
            start = place
    yield text[start:]


def _before_opening(text: str, start: int) -> int:
    """The place before the quotation marks and brackets that open the sentence at ``start``."""
    place = start
    while place and not text[place - 1].isspace() and not text[place - 1].isalnum():
        place -= 1
    return place if place and text[place - 1].isspace() else start


@lru_cache(maxsize=4)
def _splitter(language: str, pipeline: str | None) -> Any:
    """The spaCy pipeline that finds sentences."""
    import spacy

    if pipeline is None:
        try:
            splitter = spacy.blank(language)
        except ImportError as error:
            raise CorpusError(
                f"spaCy has no rules for the language {language!r}; name a trained pipeline"
            ) from error
        splitter.add_pipe("sentencizer")
        return splitter
    try:
        splitter = spacy.load(pipeline)
    except OSError as error:
        raise CorpusError(
            f"the spaCy pipeline {pipeline!r} is not installed; "
            f"get it with `python -m spacy download {pipeline}`"
        ) from error
    if not {"parser", "senter", "sentencizer"} & set(splitter.pipe_names):
        raise CorpusError(f"the spaCy pipeline {pipeline!r} does not find sentences")
    return splitter
