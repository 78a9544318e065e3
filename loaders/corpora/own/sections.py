"""Markdown files of one's own, with their headings and paragraphs.

A file is a document; its id is its path within the folder, without the ending. Which split it is of
says its folder (``train/``, ``validation/``, ``test/``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from coherencegym.loaders.corpora.documents import UNSPLIT, named_split
from coherencegym.loaders.corpora.own.texts import OwnTexts, counted, own_corpus, readable_files
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan
from coherencegym.loaders.formats.lines import RecordError, open_text, tidy
from coherencegym.loaders.text.articles import Origin, Shape
from coherencegym.loaders.text.sections import marked_blocks, sectioned_discourse

_ENDINGS = (".md", ".markdown")
#: Characters of a file; a longer one is no document.
_LONGEST = 2_000_000


def sectioned_texts(path: Path, shape: Shape, *, licence: str = "") -> OwnTexts:
    """Declare Markdown files of one's own as a corpus.

    Args:
        path: a file, or a folder with files at any depth.
        shape: the language and pipeline that say where sentences end; no document is cut.
        licence: SPDX identifier; without one nothing that is made of them may be published.
    """
    files, others = readable_files(path, lambda one: one.suffix.lower() in _ENDINGS)
    if not files:
        raise CorpusError(
            f"--texts {path} --genre sections: found {others or 'nothing'}; expected files that "
            f"end in {' or '.join(_ENDINGS)}"
        )
    root = path if path.is_dir() else path.parent
    corpus = own_corpus(
        path,
        [CorpusFile(one, named_split(one) or UNSPLIT) for one in files],
        title=f"Own texts ({path.resolve().name})",
        licence=licence,
        collected=True,
        language=shape.language,
        reader=partial(_read, shape=shape, root=root),
    )
    said = f"texts: {counted(files)} ({path}), read with their headings"
    return OwnTexts(corpus, said + (f"; not read: {others}" if others else ""))


def _read(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, *, shape: Shape, root: Path
) -> Iterator[Discourse]:
    identifier = tidy(file.path.relative_to(root).with_suffix("").as_posix()) or file.path.name
    try:
        with open_text(file) as text:
            content = text.read(_LONGEST + 1)
        if len(content) > _LONGEST:
            problem = f"more than {_LONGEST:,} characters, expected a document"
            raise RecordError(problem, "overlong file")
        source = SourceSpan(file.path.name, 1, content.count("\n") + 1)
        blocks = marked_blocks(content)
        how = options, shape.language, shape.pipeline
        found = sectioned_discourse(corpus, Origin(identifier, source, file.split), blocks, *how)
    except CorpusError as error:
        options.bad(str(error), "text file that cannot be decoded")
    except RecordError as bad:
        bad.report(f"{file.path}:1", options)
    else:
        if found is not None:
            yield found
