"""LitBank: coreference in English novels, the first 2,000 tokens of each, in CoNLL-2012.

The columns between a word and its coreference are empty: no part of speech, no speaker. Which
mention is a pronoun is told by its form, which is a name by its capitals. Chains of one mention are
annotated. Of six types of entities (people, facilities, places, geopolitical entities,
organisations, vehicles) mentions are annotated; the files do not say which.

Tokens of nothing but ``_``, with which the editions mark italics, are left out, and mentions that
begin or end with one without it. Marks of quotation become straight ones; of a straight one the
side is told by its place: one opens at the start of a sentence, closes at its end, and inside it
does what the one before did not.

Source: https://github.com/dbamman/litbank (Bamman et al. 2020)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from coherencegym.loaders.corpora.conll2012 import Word, read_conll2012
from coherencegym.loaders.corpus import Corpus, FilePattern, cited
from coherencegym.loaders.languages.language import ENGLISH

#: Words that end the head of a noun phrase, as the reader's rules have it for parts of speech.
_ENDING = frozenset(
    ("of", "in", "on", "at", "for", "with", "from", "by", "to", "about", "near", "who", "which")
)
#: Curly marks, as the rules for spaces know them.
_QUOTES = {"“": "``", "”": "''"}


def with_guesses(sentences: Sequence[Sequence[Word]]) -> Iterator[list[Word]]:
    """Give the words the parts of speech that show heads and names, and quotation marks a side."""
    opened = False
    for words in sentences:
        told: list[Word] = []
        for place, word in enumerate(_without_italics(words)):
            form = _QUOTES.get(word.form, word.form)
            if form == '"':
                opened = place == 0 or (place < len(words) - 1 and not opened)
                form = "``" if opened else "''"
            told.append(replace(word, form=form, tag=_tag(form, place)))
        if told:
            yield told


def _without_italics(words: Sequence[Word]) -> list[Word]:
    left: list[Word] = []
    begun: list[str] = []  # mentions that a mark begins
    for word in words:
        brackets = word.coreference.split("|") if word.coreference != "_" else []
        if word.form != "_":
            told = [*begun, *brackets]
            left.append(replace(word, coreference="|".join(told)) if told else word)
            begun = []
            continue
        begun += [one for one in brackets if not one.endswith(")")]
        ended = [one for one in brackets if not one.startswith("(")]
        if ended and left:
            before = [one for one in left[-1].coreference.split("|") if one != "_"]
            left[-1] = replace(left[-1], coreference="|".join((*before, *ended)))
    return left


def _tag(form: str, place: int) -> str:
    known = ENGLISH.pronoun(form)
    if known is not None and known.pronoun in ("personal", "possessive", "reflexive", ""):
        return "PRP$" if known.pronoun == "possessive" else "PRP"
    if form.lower() in _ENDING or form in (",", ":"):
        return "IN"
    if form.lower() in ENGLISH.articles:
        return "DT"
    # Of neither a number is told; a capital that begins a sentence is no sign of a name.
    return "NNP?" if form[:1].isupper() and place else "NN?" if form[:1].isalpha() else "_"


CORPUS = Corpus(
    name="litbank",
    title="LitBank",
    homepage="https://github.com/dbamman/litbank",
    citation=cited("bamman-etal-2020-litbank"),
    licence="CC-BY-4.0",
    licence_name="stated in the README",
    text_licence="CC-BY-4.0",
    text_licence_name="stated for the repository; the novels are in the public domain",
    obtain="get https://github.com/dbamman/litbank and take its folder coref/conll",
    proven=True,
    patterns=tuple(
        FilePattern(f"{folder}*_brat.conll", "unsplit", "<number>_<title>_brat.conll")
        for folder in ("", "conll/", "coref/conll/")
    ),
    reader=partial(read_conll2012, singletons=True, prepare=with_guesses),
    producers="English and American novelists of the years 1719 to 1922.",
    public_since=2020,
    public_source="Bamman et al. (2020); the novels were in print long before, and on the web",
    source_datasets=("original",),
)
