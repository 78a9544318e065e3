"""CoNLL-2012, the layout of OntoNotes 5 with coreference: one word a line, columns by spaces.

``#begin document (bc/cctv/00/cctv_0000); part 000`` begins a part, which is a discourse;
``#end document`` ends it, empty lines stand between sentences. Of the columns the fourth is the
word, the fifth its part of speech, the tenth the speaker and the last coreference:
``(12|(3)`` opens a mention of entity 12 and has one of entity 3, ``12)`` closes.

Chains of one mention are not annotated in OntoNotes, so one is an error. Files whose words were
taken out (``[WORD]``) are left out and counted. No real file was at hand: the reader was made from
the description of the shared task, and says so.

Source: https://conll.cemantix.org/2012/data.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from coherencegym.licence import OTHER
from coherencegym.loaders.corpora.citations import cited
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Mention, SourceSpan, Unit
from coherencegym.loaders.formats.conll2012 import (
    END,
    Annotate,
    Part,
    Word,
    conll2012_mentions,
    part_sentences,
    read_parts,
    treebank_phrase,
)
from coherencegym.loaders.formats.lines import LineError, text_problem
from coherencegym.loaders.languages.registry import language

#: The word that stands for each word of the text in the file's skeleton.
_WITHHELD = "[WORD]"


def read_conll2012(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    *,
    singletons: bool = False,
    prepare: Callable[[Sequence[Sequence[Word]]], Iterable[Sequence[Word]]] = iter,
    annotate: Annotate = treebank_phrase,
) -> Iterator[Discourse]:
    """Read a file of documents. A bad line makes its whole part a bad one.

    Args:
        singletons: chains of one mention are annotated, too.
        prepare: changes the sentences of a document before anything is made of them.
        annotate: gives the mentions their kind, head and features by their words.
    """
    found = False
    for part in read_parts(file, options):
        found = True
        try:
            _check(part)
            sentences = list(prepare(list(part_sentences(part))))
            discourse = _document(corpus, file, part, sentences, singletons, annotate)
            if discourse is not None:
                yield discourse
            else:
                options.skipped["withheld text"] += 1
        except LineError as error:
            error.report(file, options)
    if not found:
        raise CorpusError(
            f"{file.path}:1: no document, expected '#begin document (<name>); part 000'"
        )


def _check(part: Part) -> None:
    for at, line in part.lines:
        if (unusable := text_problem(line)) is not None:
            raise LineError(at, *unusable)
    if not part.name or text_problem(part.name) is not None:
        problem = "a malformed beginning, expected '#begin document (<name>); part 000'"
        raise LineError(part.line, problem, "malformed beginning")
    if not part.whole:
        problem = f"the document of line {part.line} does not end, expected {END!r}"
        raise LineError(part.last_line, problem, "document cut off")


def _document(
    corpus: Corpus,
    file: CorpusFile,
    part: Part,
    sentences: Sequence[Sequence[Word]],
    singletons: bool,
    annotate: Annotate,
) -> Discourse | None:
    if not sentences:
        raise LineError(part.line, "a document without words, expected some", "empty document")
    if all(word.form == _WITHHELD for words in sentences for word in words):
        return None
    own = language(corpus.language)
    units: list[Unit] = []
    found: list[tuple[int, Mention]] = []
    for number, words in enumerate(sentences):
        text, places = own.lay_out([_spelling(word.form) for word in words])
        source = SourceSpan(file.path.name, words[0].line, words[-1].line)
        units.append(
            Unit(text, None if words[0].speaker in ("-", "") else words[0].speaker, source)
        )
        found += conll2012_mentions(number, words, places, own, annotate)
    sizes = Counter(mention.chain for _, mention in found)
    for at, mention in found:
        if sizes[mention.chain] == 1 and not singletons:
            problem = f"the only mention of entity {mention.chain}, expected two or more in a chain"
            raise LineError(at, problem, "chain with one mention")
    return Discourse(
        id=f"{part.name}/{part.number}",
        corpus=corpus.name,
        units=tuple(units),
        mentions=tuple(mention for _, mention in found),
        # Names of documents that are no path have no genre.
        meta={"split": file.split, "genre": part.name.rpartition("/")[0].split("/")[0]},
    )


def _spelling(form: str) -> str:
    # OntoNotes puts signs in front of some words: ``/.``, ``\/``.
    if len(form) > 1 and form[0] == "/" and form[1] in ".?!-,:;":
        return form[1:]
    return form.replace("\\/", "/").replace("\\*", "*")


CORPUS = Corpus(
    name="ontonotes",
    title="OntoNotes 5 (CoNLL-2012)",
    homepage="https://conll.cemantix.org/2012/",
    citation=cited("pradhan-etal-2012-conll"),
    licence_name="Linguistic Data Consortium user agreement",
    licence_url="https://catalog.ldc.upenn.edu/LDC2013T19",
    text_licence=OTHER,
    text_licence_name="under the same agreement",
    obtain=(
        "get LDC2013T19 from the Linguistic Data Consortium and the CoNLL-2012 skeletons, insert "
        "the words with the scripts of the skeletons, and join the English files of each split"
    ),
    patterns=(
        FilePattern("train*gold_conll", "train", "train.english.v4_gold_conll"),
        FilePattern("dev*gold_conll", "validation", "dev.english.v4_gold_conll"),
        FilePattern("test*gold_conll", "test", "test.english.v4_gold_conll"),
        FilePattern("*gold_conll", "unsplit", "<document>.v4_gold_conll"),
    ),
    reader=read_conll2012,
    public_since=2007,
    public_source="OntoNotes Release 1.0 (LDC2007T21)",
    producers="Writers of news, of the web and of the Bible, and speakers on radio and telephone.",
    source_datasets=("extended|other-ontonotes",),
)
