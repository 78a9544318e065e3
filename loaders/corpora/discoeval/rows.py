"""DiscoEval's questions as they were released: sentences as a line has them, and its answer.

:mod:`loaders.corpora.discoeval.documents` reads the documents behind the same files. Here a
discourse is a line of a file, its units are the sentences in the order of the line, each for
itself, and ``meta`` has ``task``, ``domain`` and the ``label`` of the line:

- ``SP``, five sentences: the place (from 0) of the first in the text, whose others are in order;
  not in Wikipedia's files as released, where the others are in no order and which are of the domain
  ``wikipedia_unordered`` therefore.
- ``BSO``, two sentences in their order; no label.
- ``DC``, six sentences; 1 where they are one text, 0 where one of them is from another.
- ``SSP``, one sentence of a paper; 1 where it is from the abstract.

``meta["wordless"]`` is the number of sentences without a letter or digit, and ``meta["masked"]``
that of words that the corpus masks, where there are any; ``meta["tokenised"]`` has the sentences as
they stand in the file, with tabs between them. Ids are places in files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coherencegym.loaders.corpora.discoeval.documents import (
    CORPUS,
    DOCUMENT_TASKS,
    DOMAINS,
    MASKED,
    LineFormat,
    each_sentence,
    labelled_lines,
    task_and_folder,
)
from coherencegym.loaders.corpora.discoeval.relations import (
    read_relation_items,
    relation_parts,
    relation_patterns,
)
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit

#: The key of ``meta`` with the sentences as the file has them.
TOKENISED = "tokenised"


_TASKS = DOCUMENT_TASKS | {"SSP": LineFormat(1, ("0", "1"))}


def read_lines(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file; its folders say which task and which domain it is of."""
    name, folder = task_and_folder(file, _TASKS)
    domain = DOMAINS.get(folder, folder)
    ordered = (name, domain) != ("SP", "wikipedia")
    for number, label, tokenised in labelled_lines(file, _TASKS[name], options):
        texts = each_sentence(tokenised, domain, ordered)
        counts = {
            "wordless": sum(not any(map(str.isalnum, text)) for text in texts),
            "masked": len(MASKED.findall(" ".join(texts))),
        }
        source = SourceSpan(file.path.name, number, number)
        yield Discourse(
            id=f"{name}/{folder}/{file.path.stem}/{number:06d}",
            corpus=corpus.name,
            units=tuple(Unit(text, source=source) for text in texts),
            meta={
                "split": file.split,
                "task": name,
                "domain": domain if ordered else f"{domain}_unordered",
                "label": label,
                TOKENISED: "\t".join(tokenised),
                **{key: str(count) for key, count in counts.items() if count},
            },
        )


def read_rows(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of sentences, or of relations (:mod:`loaders.corpora.discoeval.relations`)."""
    folders = {file.path.parent.name.upper(), file.path.parent.parent.name.upper()}
    read = read_relation_items if folders & {"PDTB", "RST"} else read_lines
    return read(corpus, file, options)


def _patterns() -> Iterator[FilePattern]:
    for task in _TASKS:
        for part, split in (("train", "train"), ("valid", "validation"), ("test", "test")):
            for place in ("", "data/"):
                example = f"{task}/<domain>/{part}.txt"
                yield FilePattern(f"{place}{task}/*/{part}.txt", split, example)
    yield from relation_patterns()


#: The corpus by the same name, read for its rows; a suite says that it does (``readings``).
DISCOEVAL_ROWS = replace(
    CORPUS,
    patterns=tuple(_patterns()),
    reader=read_rows,
    parts=relation_parts,
    public_since=1989,
    public_source="the Wall Street Journal of 1989, for its relations; others later",
    producers=(
        f"{CORPUS.producers} Writers of the Wall Street Journal, 1989, whose texts the Penn "
        "treebanks have."
    ),
)
