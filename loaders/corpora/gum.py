"""GUM, the Georgetown University Multilayer corpus: 16 genres with full coreference, in CoNLL-U.

A discourse is a document; its units are sentences, with speakers where there are any, and its
mentions all that GUM annotates, chains of one included. ``meta`` has the genre (from the name of
the document: ``GUM_bio_byron``), the title, ``sentence_types``: one word a unit, such as ``decl``,
``frag``, ``wh``, and ``headings``: the numbers of the units that are headings or captions.

Read are the files of the corpus's own repository, one a document, and those of its releases as a
treebank and as part of CorefUD, which hold many. Where the discourse relations of a document's file
stand beside it (:mod:`loaders.corpora.gum_relations`), they are read with it. Documents whose text
is withheld (Reddit's have underscores for words) are left out and counted.

The splits are those of the corpus's ``splits.md``; ``test2`` is GENTLE, eight further genres. A
document that the lists do not name is of split ``train``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherencegym.loaders.corpora.gum_relations import document_files, read_document_relations
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Mention, SourceSpan, Unit
from coherencegym.loaders.formats.conllu import Block, Sentence, documents, parse
from coherencegym.loaders.formats.corefud import corefud_mentions, field_names
from coherencegym.loaders.formats.lines import LineError, tidy

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
#: with an identifier, and Reddit's texts have none.
LICENCES = {
    "academic": "CC-BY-4.0",
    "bio": "CC-BY-SA-3.0",
    "conversation": "CC-BY-4.0",
    "court": "CC-BY-4.0",
    "essay": "CC-BY-NC-SA-4.0",
    "fiction": "CC-BY-NC-SA-3.0",
    "interview": "CC-BY-2.5",
    "letter": "CC-BY-NC-SA-4.0",
    "news": "CC-BY-2.5",
    "podcast": "CC-BY-NC-SA-4.0",
    "textbook": "CC-BY-4.0",
    "vlog": "CC-BY-3.0",
    "voyage": "CC-BY-SA-3.0",
    "whow": "CC-BY-NC-SA-3.0",
}
#: The licence of a document of another genre: nobody may publish texts made from it.
NO_LICENCE = "other"

_NAME = re.compile(r"(?P<collection>[^_]+)_(?P<genre>[^_]+)_.+")
#: A speech in the comment ``# newpar_block``, and how many sentences it has.
_SPEECH = re.compile(r'\bsp who:::"#?(?P<who>[^"]*)"[^|]*\((?P<sentences>\d{1,6}) s\)')
#: A heading or a caption in the same comment, and how many sentences it has.
_HEADING = re.compile(r"\b(?:head|caption)(?: [\w:.\"-]+)* \((?P<sentences>\d{1,6}) s\)")
#: Parts of speech that a withheld word has and a line to be filled in has not.
_NO_WORDS = ("PUNCT", "SYM", "X", "_")


def read_documents(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of documents. A bad line makes its whole document a bad one.

    Raises:
        CorpusError: there is no document in the file, or a bad line.
    """
    names: tuple[str, ...] | None = None
    found = False
    for blocks in documents(file):
        found = True
        for block in blocks:
            if (comment := block.comments.get("global.Entity")) is not None:
                names = field_names(comment)
        if any(_is_withheld(block) for block in blocks):
            options.skipped["withheld text"] += 1
            continue
        try:
            yield _document(corpus, file, blocks, names, options)
        except LineError as error:
            error.report(file, options)
    if not found:
        raise CorpusError(f"{file.path}:1: no sentence, expected CoNLL-U")


def _is_withheld(block: Block) -> bool:
    """Tell whether a word of the sentence is nothing but underscores."""
    for _, line in block.rows:
        columns = line.split("\t", 4)
        if (
            len(columns) == 5
            and columns[0].isdigit()
            and not columns[1].strip("_")
            and columns[1]
            and columns[3] not in _NO_WORDS
        ):
            return True
    return False


def _document(
    corpus: Corpus,
    file: CorpusFile,
    blocks: Sequence[Block],
    names: Sequence[str] | None,
    options: ReadOptions,
) -> Discourse:
    units: list[Unit] = []
    sentences: list[Sentence] = []
    found: list[Mention] = []
    types: list[str] = []
    headings: list[str] = []
    heading_until = 0
    speech = _Speech()
    for number, block in enumerate(blocks):
        sentence = parse(block)
        sentences.append(sentence)
        comments = sentence.comments
        source = SourceSpan(file.path.name, sentence.line, sentence.last_line)
        speaker = speech.speaker(comments.get("newpar_block", ""), comments.get("speaker", ""))
        units.append(Unit(sentence.text, speaker or None, source))
        types.append(comments.get("s_type", "").replace(" ", "-") or "-")
        if heading := _HEADING.search(comments.get("newpar_block", "")):
            heading_until = number + int(heading["sentences"])
        if number < heading_until:
            headings.append(str(number))
        found += corefud_mentions(sentence, number, names)
    comments = blocks[0].comments
    # After all lines were found to be text: an id goes into messages.
    identifier = tidy(comments.get("newdoc id", "")) or tidy(file.path.stem)
    meta = {"split": file.split}
    name = _NAME.fullmatch(identifier)
    genre = name["genre"] if name else ""
    for key, value in (
        ("genre", genre),
        ("title", tidy(comments.get("meta::title", ""))),
        ("sentence_types", "" if set(types) == {"-"} else " ".join(types)),
        ("headings", " ".join(headings)),
    ):
        if value:
            meta[key] = value
    licence = None
    if name and name["collection"] in ("GUM", "GENTLE"):
        licence = LICENCES.get(genre, NO_LICENCE) if name["collection"] == "GUM" else NO_LICENCE
    relations = read_document_relations(file, sentences, options)
    if relations:
        meta["sense_source"] = "pdtb3"
    return Discourse(
        id=identifier,
        corpus=corpus.name,
        units=tuple(units),
        mentions=tuple(found),
        relations=relations,
        licence=licence,
        meta=meta,
    )


@dataclass
class _Speech:
    """The speaker of a sentence, or of a block of so many sentences that begins with it."""

    who: str = ""
    left: int = 0

    def speaker(self, block: str, said: str) -> str:
        """The speaker of the next sentence; empty where there is none."""
        if match := _SPEECH.search(block):
            self.who, self.left = match["who"], int(match["sentences"])
        who = self.who if self.left else ""
        self.left = max(0, self.left - 1)
        return tidy(said or who)


def _patterns() -> Iterator[FilePattern]:
    """Files of the named documents, then of all others, in one folder (``dep``) or in none."""
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
    citation="""\
@article{zeldes-2017-gum,
    title = "The {GUM} Corpus: Creating Multilayer Resources in the Classroom",
    author = "Zeldes, Amir",
    journal = "Language Resources and Evaluation",
    year = "2017",
    volume = "51",
    number = "3",
    pages = "581--612",
    doi = "10.1007/s10579-016-9343-x",
}""",
    licence="CC-BY-4.0",
    republishable=True,
    obtain=(
        "get https://github.com/amir-zeldes/gum and take its folder dep, "
        "or the treebank UD_English-GUM from https://universaldependencies.org"
    ),
    proven=True,
    patterns=tuple(_patterns()),
    reader=read_documents,
    parts=document_files,
    sample_patterns=("*.conllu",),
    producers=(
        "Many authors and speakers of published texts, and the students and staff of Georgetown "
        "University who annotate them (Zeldes 2017)."
    ),
    source_datasets=("extended|other-gum",),
)
