"""MMAX2, stand-off annotation of words in XML: the corpora ARRAU and ParCorFull.

A document is ``Basedata/<name>_words.xml`` with two levels of markables over its words, in
``Markables/<name>_coref_level.xml`` and ``Markables/<name>_sentence_level.xml`` (the folder may
have a small letter, or all files may lie together). Spans are ``word_1..word_3,word_7``. ARRAU
says which chain a mention is of in ``coref_set``, ParCorFull in ``coref_class``.

Units are the sentences, detokenised by rules; words between sentences are a unit of their own. A
mention of no chain has one for itself, called after the markable.

The reader was run on the English side of ParCorFull (39 documents). No file of ARRAU was at hand:
its declaration says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherencegym.licence import OTHER
from coherencegym.loaders.corpora.citations import cited
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.mmax import (
    LEVELS,
    WORDS,
    PlacedWord,
    document_files,
    mmax_mentions,
    mmax_sentences,
    read_words,
)
from coherencegym.loaders.languages.registry import language


def read_mmax(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a document. Anything wrong in one of its files makes it a bad one."""
    try:
        discourse = _document(corpus, file, options)
    except CorpusError as error:
        options.bad(str(error), "malformed document")
    else:
        yield discourse


def _document(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Discourse:
    name = file.path.name.removesuffix(WORDS)
    levels = {path.name.removeprefix(f"{name}_"): path for path in document_files(file.path)[1:]}
    for level in LEVELS:
        if f"{level}_level.xml" not in levels:
            raise CorpusError(
                f"{file.path}:1: there is no {name}_{level}_level.xml for it, "
                "expected one in the folder Markables beside its own"
            )
    order, lines = read_words(file.path)
    positions = {identifier: position for position, identifier in enumerate(order)}
    sentences = mmax_sentences(levels["sentence_level.xml"], positions, len(order), options)
    words: list[PlacedWord] = []
    units: list[Unit] = []
    texts = list(order.values())
    own = language(corpus.language)
    for number, (start, end, speaker) in enumerate(sentences):
        text, places = own.lay_out(texts[start:end])
        source = SourceSpan(file.path.name, lines[start], lines[end - 1])
        units.append(Unit(text, speaker, source))
        words += [
            PlacedWord(word, number, *place)
            for word, place in zip(texts[start:end], places, strict=True)
        ]
    return Discourse(
        id=name,
        corpus=corpus.name,
        units=tuple(units),
        mentions=tuple(mmax_mentions(levels["coref_level.xml"], positions, words, own, options)),
        meta={"split": file.split},
    )


def _patterns(*folders: str) -> tuple[FilePattern, ...]:
    return tuple(
        FilePattern(f"{folder}*{WORDS}", "unsplit", f"{folder or 'Basedata/'}<document>{WORDS}")
        for folder in folders
    )


_HERE = ("Basedata/", "")
#: The English side of ParCorFull's three collections, which are beside one another.
_COLLECTIONS = tuple(
    f"{above}{collection}/EN/Basedata/"
    for above in ("", "corpus/", "parcor-full/", "parcor-full/corpus/")
    for collection in ("DiscoMT", "TED", "news")
)
_OBTAIN = "; point --data-dir at a folder that holds Basedata and Markables"

ARRAU = Corpus(
    name="arrau",
    title="ARRAU",
    homepage="https://catalog.ldc.upenn.edu/LDC2013T22",
    citation=cited("uryupina-etal-2020-arrau"),
    licence_name="Linguistic Data Consortium user agreement",
    licence_url="https://catalog.ldc.upenn.edu/LDC2013T22",
    text_licence=OTHER,
    text_licence_name="under the same agreement",
    obtain="get LDC2013T22 from the Linguistic Data Consortium" + _OBTAIN,
    patterns=_patterns(*_HERE),
    reader=read_mmax,
    parts=document_files,
    public_since=1989,
    public_source="the Wall Street Journal of 1989, for its news",
    producers="Writers of news, speakers of task dialogues and narrators of stories.",
    source_datasets=("extended|other-arrau",),
)

PARCOR = Corpus(
    name="parcor",
    title="ParCorFull (English)",
    homepage="https://github.com/chardmeier/parcor-full",
    citation=cited("lapshinova-koltunski-etal-2018-parcorfull"),
    licence_name="no licence stated in the repository",
    licence_url="http://hdl.handle.net/11372/LRT-2614",
    text_licence=OTHER,
    text_licence_name="TED's talks are CC BY-NC-ND; no licence stated for the news",
    obtain=(
        "get http://hdl.handle.net/11372/LRT-2614; point --data-dir at the folder that holds its "
        "DiscoMT, TED and news, all of which are read, or at the folder EN of one of them"
    ),
    proven=True,
    patterns=_patterns(*_COLLECTIONS, *_HERE),
    reader=read_mmax,
    parts=document_files,
    public_since=2014,
    public_source="Guillou et al. (2014), whose corpus it extends",
    producers="Speakers of TED talks and writers of news.",
    source_datasets=("extended|other-parcorfull",),
)
