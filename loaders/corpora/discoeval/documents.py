"""DiscoEval's sentence files: short documents from Wikipedia, arXiv, stories and chat.

Chen, Chu and Gimpel 2019 ask in which place of its document a sentence stood (SP), which of two
sentences came first (BSO), and whether a sentence was replaced by one of another document (DC).
Read are the documents behind the questions, in their order, one unit a sentence:

- ``SP``: ``label s1 ... s5``. The first sentence shown stood at place ``label`` (from 0), the
  others are in order; it is put back. Not so in Wikipedia's files: there the others are in no
  order (whatever the label, each of them is as likely to be the one that introduces the subject),
  so the text cannot be had. They are read by name only, as the splits ``unordered_train``,
  ``unordered_validation`` and ``unordered_test``; only the sentence shown first is in its place.
- ``DC``: ``label s1 ... s6``. Label 1 is a coherent document; those of label 0 are left out and
  counted.
- ``BSO``: ``s1 s2`` in their order. Two sentences are hardly a document, so these are read by name
  only, as the splits ``bso_train``, ``bso_validation`` and ``bso_test``.

The repository has them as ``data/SP/<domain>/test.txt`` and so on. ``meta`` has ``task`` and
``domain`` (``wikipedia``, ``arxiv``, ``rocstory``, ``chat``). An id is the place in the file,
``SP/wiki/test/000001``. The same sentences may stand in several documents: in both tasks, and in
chat, where documents are overlapping windows of one conversation.

Text is detokenised. Beside tokenisation the files have marks of how they were made, which are
undone: sentences cut in two at an abbreviation or at a closing sign, brackets that are empty as
what stood in them was a template, and in SP's Wikipedia quotation marks that all look alike,
opening marks left at the end of the sentence before, and signs set apart that touch the words
around them. What was lost before (``a draft of .``) cannot be put back, and what the corpus itself
masks stays as it is (``<user>``, ``<unka>``); ``meta["masked"]`` says how often, where it does.
"""

from __future__ import annotations

import html
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from coherencegym.licence import OTHER
from coherencegym.loaders.corpora.citations import cited
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import LineError, numbered_lines, shown, text_problem, tidy
from coherencegym.loaders.text.detokenize import detokenize
from coherencegym.loaders.text.sentences import rejoined
from coherencegym.loaders.text.tex_spacing import without_tex_spaces


@dataclass(frozen=True, slots=True)
class LineFormat:
    """The sentences of a line, and the labels that one before them may have; none: no label."""

    sentences: int
    labels: tuple[str, ...] = ()


#: The lines of each task.
DOCUMENT_TASKS = {
    "SP": LineFormat(5, ("0", "1", "2", "3", "4")),
    "BSO": LineFormat(2),
    "DC": LineFormat(6, ("0", "1")),
}
#: The beginning of the names of splits whose texts are in no order.
_UNORDERED = "unordered_"
#: Names of folders, and what their texts are called here; others keep their name.
DOMAINS = {"wiki": "wikipedia", "roc": "rocstory", "rocstories": "rocstory"}

#: A name or a word that the corpus hides: ``<user>``, ``<unka>``, ``<unk#a.>``.
MASKED = re.compile(r"<(?:user|unk[^\s<>]*)>")

#: Whom a message is for, at its beginning (``<user> :``); who wrote it is not in the files.
_ADDRESSEE = re.compile(r"<(?:user|unk[a#]*)>(?: [:,])+(?:\s+|$)|<unk[a#]*[:,]>(?:\s+|$)")

_ENTITY = re.compile(r"& (#?\w{1,8}) ;")
_STOPS = {".", "!", "?"}
_MONTH = (
    "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|January|February|March|April|June|July|"
    "August|September|October|November|December"
)


def read_discoeval(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file; its folders say which task and which domain it is of."""
    task, folder = task_and_folder(file, DOCUMENT_TASKS)
    domain = DOMAINS.get(folder, folder)
    for number, label, order in labelled_lines(file, DOCUMENT_TASKS[task], options):
        if task == "DC" and label == "0":
            options.skipped["label 0: a sentence was replaced"] += 1
            continue
        if task == "SP":
            order.insert(int(label), order.pop(0))
        texts = sentences(order, domain, ordered=not file.split.startswith(_UNORDERED))
        if not texts:
            options.skipped["no sentence with a word"] += 1
            continue
        meta = {"split": file.split, "task": task, "domain": domain}
        if masked := len(MASKED.findall(" ".join(texts))):
            meta["masked"] = str(masked)
        source = SourceSpan(file.path.name, number, number)
        yield Discourse(
            id=f"{task}/{folder}/{file.path.stem}/{number:06d}",
            corpus=corpus.name,
            units=tuple(Unit(text, source=source) for text in texts),
            meta=meta,
        )


def task_and_folder(file: CorpusFile, tasks: Container[str]) -> tuple[str, str]:
    """The task and the domain's folder, which the folders of a file say.

    Raises:
        CorpusError: they are none of these tasks'.
    """
    task, folder = file.path.parent.parent.name.upper(), file.path.parent.name.lower()
    if task not in tasks:
        raise CorpusError(
            f"{file.path}:1: in no folder of a task, expected one such as 'SP/wiki/test.txt'"
        )
    return task, folder


def labelled_lines(
    file: CorpusFile, line_format: LineFormat, options: ReadOptions
) -> Iterator[tuple[int, str, list[str]]]:
    """The number, the label (or an empty one) and the sentences of each line with text.

    Raises:
        CorpusError: no line has text, or one has other fields than these.
    """
    found = False
    for number, line in numbered_lines(file):
        if line.strip():
            found = True
            try:
                yield number, *_label_and_sentences(number, line, line_format)
            except LineError as error:
                error.report(file, options)
    if not found:
        raise CorpusError(f"{file.path}:1: no line with text, expected sentences between tabs")


def _label_and_sentences(number: int, line: str, line_format: LineFormat) -> tuple[str, list[str]]:
    if (unusable := text_problem(line)) is not None:
        raise LineError(number, *unusable)
    fields, labels = [field.strip() for field in line.split("\t")], line_format.labels
    expected = line_format.sentences + bool(labels)
    problem = f"{len(fields)} fields, expected {expected} with tabs between them"
    if len(fields) < expected:
        raise LineError(number, f"{problem} (is the line cut off?)", "truncated line")
    if len(fields) > expected:
        raise LineError(number, problem, "too many fields")
    if labels and fields[0] not in labels:
        problem = f"label is {shown(fields[0])}, expected one of {', '.join(labels)}"
        raise LineError(number, problem, "unknown label")
    if "" in fields:
        problem = f"field {fields.index('') + 1} is empty, expected a sentence"
        raise LineError(number, problem, "empty sentence")
    return (fields[0], fields[1:]) if labels else ("", fields)


def sentences(tokenised: Sequence[str], domain: str, ordered: bool = True) -> list[str]:
    """The sentences of one document, in order; fewer where one was cut in two.

    Args:
        tokenised: the sentences as the file has them, in the order of the document.
        domain: the kind of text, as ``meta`` has it.
        ordered: false of the files of Wikipedia's that are in no order, whose signs differ, too.
    """
    plain = [_plain(sentence, domain, ordered) for sentence in tokenised]
    if domain != "chat" and ordered:
        plain = rejoined(plain)
    texts = [_natural(sentence, domain) for sentence in plain]
    return [tidy(text) for text in texts if any(map(str.isalnum, text))]


def each_sentence(tokenised: Sequence[str], domain: str, ordered: bool = True) -> list[str]:
    """The same sentences one by one, as many as there are; one of signs alone stays as it is."""
    return [_by_itself(sentence, domain, ordered) for sentence in tokenised]


@lru_cache(maxsize=10_000)  # windows of one conversation have most of their sentences in common
def _by_itself(tokenised: str, domain: str, ordered: bool) -> str:
    return tidy(_natural(_plain(tokenised, domain, ordered), domain)) or tidy(tokenised)


def _plain(tokenised: str, domain: str, ordered: bool) -> str:
    if domain == "chat":
        return _ADDRESSEE.sub("", tokenised, count=1)
    plain = _ENTITY.sub(_character, tokenised)
    return plain if ordered else _apart(_directed(plain))


def _natural(plain: str, domain: str) -> str:
    if domain == "arxiv":
        return without_tex_spaces(plain, detokenize)
    return detokenize(_wiki(plain) if domain == "wikipedia" else plain)


def _character(match: re.Match[str]) -> str:
    # Entities of HTML are tokenised: ``& amp ;``.
    entity = f"&{match[1]};"
    character = html.unescape(entity)
    return match[0] if character == entity or not character.isprintable() else character


def _wiki(text: str) -> str:
    # What an empty template left in brackets, doubled marks, and ``R & B``.
    if " & " in text:
        text = re.sub(r"(?<!\S)([A-Z]{1,3}) & ([A-Z]{1,3})(?!\S)", r"\1&\2", text)
    if "( " in text:
        text = re.sub(r"\( (?:[,;:] )*\) ?", "", text)
        text = re.sub(r"\( (?:[,;:] )+", "( ", text)
    if "``" not in text:
        return text
    return re.sub(r"``\s+(?:``|'')\s+(\w[^`\"]*?)\s+(?:``|'')\s+(?:``|'')", r"`` \1 ''", text)


def _apart(text: str) -> str:
    # Signs that are never set apart in running text: of names, fractions, ranges.
    if " '" in text:
        text = re.sub(r"(?<!\S)([OLDTSNCJMQoldtsncjmq]) '(?=\w)", r"\1'", text)
        text = re.sub(r"(?<=[^\W\d_]) '(?=[a-zà-ÿ]{2})(?!(?:re|ve|ll|em|til|tis)\b)", "'", text)
    text = re.sub(r"(?<=\w) / (?=\w)", "/", text)
    return re.sub(rf"(?<=\d) – (?=\d+(?! (?:{_MONTH})\b))", "–", text)


def _directed(tokenised: str) -> str:
    # Marks open and close by turns, unless they do not pair: then a mark behind the full stop
    # belonged to the next sentence, and one that can only close a quotation lost its beginning to
    # the sentence before.
    tokens = tokenised.split()
    marks = [place for place, token in enumerate(tokens) if token == "``"]
    if len(marks) % 2 and len(tokens) > 1 and tokens[-1] == "``" and tokens[-2] in _STOPS:
        tokens.pop()
        marks.pop()
    elif len(marks) % 2 and _closes(tokens, marks[0]):
        tokens.insert(0, "``")
        marks = [0, *(place + 1 for place in marks)]
    for place in marks[1::2]:
        tokens[place] = "''"
    return " ".join(tokens)


def _closes(tokens: Sequence[str], place: int) -> bool:
    # A name begins the text, and none follows the mark.
    after = tokens[place + 1 : place + 2]
    begins = 0 < place <= 8 and tokens[0][0].isalnum()
    return begins and bool(after) and (after[0][0].islower() or after[0] in {",", ".", "(", "'s"})


def _patterns() -> Iterator[FilePattern]:
    for folder, prefix in (("SP/wiki", _UNORDERED), ("SP/*", ""), ("DC/*", ""), ("BSO/*", "bso_")):
        for part, split in (("train", "train"), ("valid", "validation"), ("test", "test")):
            for place in ("", "data/"):
                yield FilePattern(
                    f"{place}{folder}/{part}.txt",
                    f"{prefix}{split}",
                    f"{folder.replace('*', '<domain>')}/{part}.txt",
                    by_default=not prefix,
                )


CORPUS = Corpus(
    name="discoeval",
    title="DiscoEval",
    homepage="https://github.com/ZeweiChu/DiscoEval",
    citation=cited("chen-etal-2019-evaluation"),
    licence_name="no licence stated for the data; BSD-3-Clause covers only the software",
    licence_url="https://github.com/ZeweiChu/DiscoEval/blob/master/LICENSE",
    text_licence=OTHER,
    text_licence_name="no licence stated (Wikipedia, arXiv, ROCStories, chat logs, treebanks)",
    obtain="get https://github.com/ZeweiChu/DiscoEval and take its folder data",
    proven=True,
    patterns=tuple(_patterns()),
    reader=read_discoeval,
    public_since=2016,
    public_source="Mostafazadeh et al. (2016), for ROCStories; the others were on the web before",
    producers=(
        "Authors of Wikipedia articles, of arXiv abstracts, of the stories of ROCStories and of "
        "messages in Ubuntu's chat channels (Chen et al. 2019)."
    ),
    source_datasets=("extended|other-discoeval",),
)
