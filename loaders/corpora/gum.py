"""GUM, the Georgetown University Multilayer corpus: 16 genres with full coreference, in CoNLL-U.

A discourse is a document; its units are sentences, with speakers where there are any, and its
mentions all that GUM annotates, chains of one included. ``meta`` has the genre (from the name of
the document: ``GUM_bio_byron``), the title, ``sentence_types``: one word a unit, such as ``decl``,
``frag``, ``wh``, ``headings``: the numbers of the units that are headings or captions, and
``paragraphs``: those of the units that begin a paragraph (a turn, an item of a list, a heading).
``sections`` has those of the headings alone, with their levels: 2, and 1 of the title.

Read are the files of the corpus's own repository, one a document, and those of its releases as a
treebank and as part of CorefUD, which hold many. Documents whose text is withheld (Reddit's have
underscores for words) are left out and counted.

Where the discourse relations of a document's file stand beside it (GDTB, Liu et al. 2024), they are
read with it. They count characters of a raw file that holds the words of the document, parted by
spaces (``He 's teething .``). The words are those of the CoNLL-U file, so each is looked for where
the one before it ends, and takes its place in the natural text from there. So do the elementary
units of the document's rhetorical tree (``rst/lisp_binary``), where that stands beside it.

Marks of footnotes (``Harrow, [6] where``) are no words of a text that has no footnotes: they are
left out of it, and what is annotated keeps to its words. Which number in brackets is one the
grammar says (``dep``): one that a sentence needs (``measured by [24]``) stays.

The splits are those of the corpus's ``splits.md``; ``test2`` is GENTLE, eight further genres. A
document that the lists do not name is of split ``train``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from coherencegym.licence import BY_DOCUMENT, OTHER
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import (
    Discourse,
    Relation,
    RhetoricalNode,
    RhetoricalTree,
    SourceSpan,
    Span,
    Unit,
)
from coherencegym.loaders.formats.conllu import (
    Block,
    Sentence,
    conllu_documents,
    parsed_sentences,
    parsed_words,
    readable_documents,
)
from coherencegym.loaders.formats.corefud import corefud_mentions, field_names
from coherencegym.loaders.formats.lines import LineError, reporting, shown, tidy
from coherencegym.loaders.formats.relations import (
    Placed,
    PlacedRun,
    placed_relations,
    read_raw,
    read_tree,
)
from coherencegym.loaders.languages.registry import language
from coherencegym.loaders.text.sections import SECTIONS

#: https://github.com/amir-zeldes/gum/blob/master/splits.md
VALIDATION = (
    "academic_exposure academic_librarians bio_byron bio_emperor conversation_grounded "
    "conversation_risk court_loan court_negligence essay_evolved essay_tools fiction_beast "
    "fiction_lunre interview_cyclone interview_gaming letter_arendt letter_wiki news_homeopathic "
    "news_iodine podcast_bangladesh podcast_wrestling reddit_macroeconomics reddit_pandas "
    "speech_impeachment speech_inauguration textbook_governments textbook_labor vlog_portland "
    "vlog_radiology voyage_athens voyage_coron whow_joke whow_overalls"
)
TEST = (
    "academic_discrimination academic_eegimaa bio_dvorak bio_jespersen conversation_lambada "
    "conversation_retirement court_insanity court_mitigation essay_fear essay_system "
    "fiction_falling fiction_teeth interview_hill interview_libertarian letter_attorney "
    "letter_mandela news_nasa news_sensitive podcast_bezos podcast_multitasking reddit_escape "
    "reddit_monsters speech_austria speech_newzealand textbook_chemistry textbook_union "
    "vlog_london vlog_studying voyage_oakland voyage_vavau whow_cactus whow_mice"
)

#: Licences of the texts by genre, where they allow adaptations: from the corpus's LICENSE.txt and,
#: for conversations, textbooks and vlogs, which it does not name, from the corpus's web site
#: (https://gucorpling.org/gum/papers.html), which gives no versions: 4.0 is the corpus's own, 3.0
#: the only one that YouTube has. Speeches are said to be in the public domain, which is no licence
#: with an identifier, and Reddit's texts have none: of these, and of documents of other collections
#: in the same format, nothing may be published.
LICENCES = {
    genre: licence
    for licence, genres in (
        ("CC-BY-2.5", "interview news"),
        ("CC-BY-3.0", "vlog"),
        ("CC-BY-4.0", "academic conversation court textbook"),
        ("CC-BY-SA-3.0", "bio voyage"),
        ("CC-BY-NC-SA-3.0", "fiction whow"),
        ("CC-BY-NC-SA-4.0", "essay letter podcast"),
    )
    for genre in genres.split()
}

#: The relation to its head that the number of a footnote has.
_LOOSE = ("dep",)
_NAME = re.compile(r"(?P<collection>[^_]+)_(?P<genre>[^_]+)_.+")
#: A speech in the comment ``# newpar_block``, and how many sentences it has.
_SPEECH = re.compile(r'\bsp who:::"#?(?P<who>[^"]*)"[^|]*\((?P<sentences>\d{1,6}) s\)')
#: A heading or a caption in the same comment, and how many sentences it has.
_HEADING = re.compile(r"\b(?:head|caption)(?: [\w:.\"-]+)* \((?P<sentences>\d{1,6}) s\)")
#: A heading alone, that of no figure.
_SECTION = re.compile(r"\Ahead(?: [\w:.\"-]+)* \((?P<sentences>\d{1,6}) s\)")
#: The comments that say that a paragraph begins.
_PARAGRAPH = {"newpar", "newpar_block"}
#: An elementary unit that is nothing else.
_ONLY_NOTES = re.compile(r"(?:\[ \d+ \]|[ ,–()-])+")
#: Places of relations and raw text of the documents of ``<folder>/<name>.conllu``: beside the
#: folder, in the layout of the corpus's repository, or with the folders of relations laid next to
#: it.
_FOLDERS = ("rst/gdtb/pdtb/{kind}/00", "pdtb/{kind}", "pdtb/{kind}/00", "{kind}")
#: The same for trees.
_TREE_FOLDERS = ("rst/lisp_binary", "lisp_binary", "rst")


def read_gum(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of documents. A bad line makes its whole document a bad one."""
    names: tuple[str, ...] | None = None
    for name, blocks in readable_documents(file, options):
        for block in blocks:
            if (comment := block.comments.get("global.Entity")) is not None:
                names = field_names(comment)
        with reporting(file, options):
            yield _document(corpus, file, name, blocks, names, options)


def _document(
    corpus: Corpus,
    file: CorpusFile,
    identifier: str,
    blocks: Sequence[Block],
    names: Sequence[str] | None,
    options: ReadOptions,
) -> Discourse:
    own = language(corpus.language)
    parsed = parsed_sentences(blocks, own, options, _LOOSE)
    sentences = [sentence for sentence in parsed if sentence.text]
    if not sentences:
        problem = "a document without words, expected some"
        raise LineError(blocks[0].lines[0][0], problem, "document without words")
    found = tuple(
        mention
        for number, sentence in enumerate(sentences)
        for mention in corefud_mentions(sentence, number, names, own)
    )
    about = blocks[0].comments
    name = _NAME.fullmatch(identifier)
    collection, genre = name.groups() if name else ("", "")
    relations = _relations(file, identifier, sentences, options)
    meta = {
        "split": file.split,
        "genre": genre,
        "title": tidy(about.get("meta::title", "")),
        **_layout(sentences),
        "sense_source": "pdtb3" if relations else "",
    }
    return Discourse(
        id=identifier,
        corpus=corpus.name,
        units=tuple(_units(file, sentences)),
        mentions=found,
        relations=relations,
        tree=_tree(file, identifier, sentences, options),
        licence=LICENCES.get(genre, OTHER) if collection == "GUM" else None,
        meta={key: value for key, value in meta.items() if value},
    )


def _units(file: CorpusFile, sentences: Sequence[Sentence]) -> Iterator[Unit]:
    for sentence, speech in zip(sentences, _stretches(sentences, _SPEECH), strict=True):
        speaker = sentence.comments.get("speaker") or (speech["who"] if speech else "")
        source = SourceSpan(file.path.name, sentence.line, sentence.last_line)
        yield Unit(sentence.text, tidy(speaker) or None, source, tuple(parsed_words(sentence)))


def _layout(sentences: Sequence[Sentence]) -> dict[str, str]:
    types = [s.comments.get("s_type", "").replace(" ", "-") or "-" for s in sentences]
    headings = enumerate(_stretches(sentences, _HEADING))
    sections = [bool(found) for found in _stretches(sentences, _SECTION)]
    # The title is what the document begins with; GUM has no depth of the others.
    title = sections.index(False) if False in sections else len(sections)
    return {
        "sentence_types": "" if set(types) == {"-"} else " ".join(types),
        "headings": " ".join(str(number) for number, heading in headings if heading),
        SECTIONS: " ".join(
            f"{number}:{1 if number < title else 2}"
            for number, section in enumerate(sections)
            if section
        ),
        "paragraphs": " ".join(
            str(number)
            for number, sentence in enumerate(sentences)
            if not _PARAGRAPH.isdisjoint(sentence.comments)
        ),
    }


def _stretches(
    sentences: Sequence[Sentence], pattern: re.Pattern[str]
) -> Iterator[re.Match[str] | None]:
    # The match that begins with each sentence, or with one before it and goes on so far.
    match, left = None, 0
    for sentence in sentences:
        if found := pattern.search(sentence.comments.get("newpar_block", "")):
            match, left = found, int(found["sentences"])
        yield match if left > 0 else None
        left -= 1


def _beside(path: Path, name: str, folders: Sequence[str]) -> Path | None:
    for root in (path.parent.parent, path.parent):
        for folder in folders:
            if (found := root / folder / name).is_file():
                return found
    return None


def _relation_files(path: Path, identifier: str) -> tuple[Path, ...]:
    gold = _beside(path, identifier, [folder.format(kind="gold") for folder in _FOLDERS])
    if gold is None:
        return ()
    *above, own = gold.parent.parts
    folder = Path(*above, "raw") if own == "gold" else Path(*above[:-1], "raw", own)
    return gold, folder / identifier


def _tree_file(path: Path, identifier: str) -> Path | None:
    return _beside(path, f"{identifier}.dis", _TREE_FOLDERS)


def _parts(path: Path) -> tuple[Path, ...]:
    # What is called after its only document need not be opened to know that.
    names = [path.stem] if _NAME.fullmatch(path.stem) else _documents(path)
    beside = [
        other
        for name in names
        for other in (*_relation_files(path, name), _tree_file(path, name))
        if other is not None and other.is_file()
    ]
    return (path, *beside)


def _documents(path: Path) -> list[str]:
    if not any((root / "rst").is_dir() for root in (path.parent.parent, path.parent)):
        return []
    try:
        return [name for name, _ in conllu_documents(CorpusFile(path, ""), ReadOptions())]
    except CorpusError:  # whoever reads it says why
        return []


def _relations(
    file: CorpusFile, identifier: str, sentences: Sequence[Sentence], options: ReadOptions
) -> tuple[Relation, ...]:
    paths = _relation_files(file.path, identifier)
    if not paths:
        return ()
    gold, raw_path = paths
    try:
        if not raw_path.is_file():
            raise CorpusError(f"{gold}: its raw text is missing, expected {raw_path}")
        text = _placed(sentences, read_raw(raw_path), raw_path)
    except CorpusError as error:  # the document itself may be good
        options.bad(str(error), "relations without their raw text")
        return ()
    return placed_relations((gold,), file.split, text, options)[0]


def _tree(
    file: CorpusFile, identifier: str, sentences: Sequence[Sentence], options: ReadOptions
) -> RhetoricalTree | None:
    if (path := _tree_file(file.path, identifier)) is None:
        return None
    with reporting(CorpusFile(path, file.split), options):
        tree = read_tree(path, file.split)
        try:
            text = _placed(sentences, " ".join(tree.units), path)
            starts = accumulate((len(unit) + 1 for unit in tree.units), initial=0)
            parts = zip(starts, tree.units, strict=False)
            options.put_right("spans of a tree's node that are not its units'", tree.wrong_spans)
            return _with_words([_place(text, *part) for part in parts], tree.nodes)
        except CorpusError as error:  # the document itself may be good
            options.bad(str(error), "tree of another text")
        except LookupError:
            options.bad(f"{path}: longer than its CoNLL-U file", "tree of another text")
    return None


def _place(text: Placed, start: int, unit: str) -> Span:
    try:
        return text.span(((start, start + len(unit)),))
    except LookupError:
        if _ONLY_NOTES.fullmatch(unit):
            return ()
        raise


def _with_words(units: Sequence[Span], nodes: Iterable[RhetoricalNode]) -> RhetoricalTree:
    numbers = list(accumulate(map(bool, units), initial=0))
    over = (
        replace(
            node,
            first=numbers[node.first],
            middle=numbers[node.middle],
            last=numbers[node.last],
        )
        for node in nodes
    )
    # A node with no words on one side is its other side.
    kept = tuple(node for node in over if node.first < node.middle < node.last)
    return RhetoricalTree(tuple(filter(None, units)), kept)


def _placed(sentences: Sequence[Sentence], raw: str, path: Path) -> Placed:
    # The raw text of a document's relations, or of the units of its tree, is its words.
    runs = []
    offset = 0
    for unit, sentence in enumerate(sentences):
        for word in sentence.words:
            while offset < len(raw) and raw[offset].isspace():
                offset += 1
            if not raw.startswith(word.form, offset):
                raise CorpusError(
                    f"{path}: character {offset}: {shown(raw[offset : offset + 30])}, expected "
                    f"{shown(word.form)} as in sentence {unit + 1} of the CoNLL-U file"
                )
            start, offset = offset, offset + len(word.form)
            if word.empty:
                continue
            # Words of one written token (don't) share its letters, each as far as it reaches.
            last = max(word.start, word.end - 1)
            runs.append(PlacedRun(start, offset, unit, word.start, last))
    return Placed(raw, [sentence.text for sentence in sentences], runs)


def _patterns() -> Iterator[FilePattern]:
    one = "GUM_<genre>_<name>.conllu"
    for documents_of, split in ((VALIDATION, "validation"), (TEST, "test")):
        for name in documents_of.split():
            for folder in ("", "*/"):
                yield FilePattern(f"{folder}GUM_{name}.conllu", split, one)
    for part, split in (("train", "train"), ("dev", "validation"), ("test", "test")):
        release = f"en_gum-(ud|corefud)-{part}.conllu"
        for kind in ("ud", "corefud"):
            for folder in ("", "*/"):
                yield FilePattern(f"{folder}en_gum-{kind}-{part}.conllu", split, release)
    for folder in ("", "*/"):
        yield FilePattern(f"{folder}GUM_*_*.conllu", "train", one)
        yield FilePattern(f"{folder}GENTLE_*_*.conllu", "test2", "GENTLE_<genre>_<name>.conllu")


CORPUS = Corpus(
    name="gum",
    title="GUM, the Georgetown University Multilayer corpus",
    homepage="https://gucorpling.org/gum/",
    citation="zeldes-2017-gum",
    licence="CC-BY-4.0",
    licence_name="stated in LICENSE.txt",
    text_licence=BY_DOCUMENT,
    text_licence_name="one licence per genre: CC BY, CC BY-SA, CC BY-NC-SA, or none (LICENSE.txt)",
    text_licence_url="https://github.com/amir-zeldes/gum/blob/master/LICENSE.txt",
    obtain=(
        "get https://github.com/amir-zeldes/gum and take its folder dep, "
        "or the treebank UD_English-GUM from https://universaldependencies.org"
    ),
    proven=(
        "2026-11-29: 80 of the 263 documents with text at commit 72ce5ac14978; 80 documents, "
        "4,704 units, 27,207 annotations, 49 left out"
    ),
    patterns=tuple(_patterns()),
    reader=read_gum,
    parts=_parts,
    sample_patterns=("*.conllu",),
    public_since=2017,
    public_source="Zeldes (2017); most texts were on the web before, see `meta::dateCreated`",
    producers=(
        "Many authors and speakers of published texts; students and staff of Georgetown "
        "University annotate the texts (Zeldes 2017)."
    ),
    source_datasets=("extended|other-gum",),
)
