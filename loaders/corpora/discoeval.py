"""DiscoEval: short documents from Wikipedia, arXiv, stories and chat, and its own questions.

Chen, Chu and Gimpel 2019 ask in which place of its document a sentence stood (SP), which of two
sentences came first (BSO), and whether a sentence was replaced by one of another document (DC).
Read are the documents behind the questions, in their order, one unit a sentence:

- ``SP``: ``label s1 ... s5``. The first sentence shown stood at place ``label`` (from 0), the
  others are in order; it is put back. Not so in Wikipedia's files, which are left out: there the
  others are in no order (whatever the label, each of them is as likely to be the one that
  introduces the subject), so the text cannot be had.
- ``DC``: ``label s1 ... s6``. Label 1 is a coherent document; those of label 0 are left out and
  counted.

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

:data:`DISCOEVAL_ROWS` are the questions as they were released. Of sentence files a discourse is a
line, its units are the sentences in the order of the line, each for itself, and ``meta`` has
``task``, ``domain`` and the ``label`` of the line:

- ``SP``: as above; Wikipedia's files are of the domain ``wikipedia_unordered``.
- ``BSO``: no label.
- ``DC``: 1 where they are one text, 0 where one of them is from another.
- ``SSP``, one sentence of a paper; 1 where it is from the abstract.

``meta["wordless"]`` is the number of sentences without a letter or digit; ``meta["tokenised"]`` has
the sentences as they stand in the file, with tabs between them.

Of the relation files (section 3.4; from the Penn Discourse Treebank 2 and the RST Discourse
Treebank, whose text may not be published) a discourse is a row:

- ``PDTB/{Explicit,Implicit}``: ``index Arg1 Arg2``; ``labelset.txt`` beside has the senses, one a
  line. The units are the arguments, Arg1 first, whichever comes first in the text. A pair with two
  senses stands there twice, each time with one of them: the other one is the relation's second
  sense, and both rows have the same ``family``. ``meta["task"]`` is ``PDTB-E`` or ``PDTB-I``.
- ``RST``: a pickle of ``(label, [left units], [right units])``. The units are elementary ones, and
  the tree has one node.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from coherencegym.errors import EvaluationError
from coherencegym.files.strict_json import Some, held
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import (
    Discourse,
    Relation,
    RhetoricalNode,
    RhetoricalTree,
    Span,
    line_units,
)
from coherencegym.loaders.formats.json_records import TidyText, read_plain_pickle
from coherencegym.loaders.formats.lines import (
    LineError,
    RecordError,
    check_text,
    numbered_lines,
    reporting,
    shown,
    text_problem,
    tidy,
)
from coherencegym.loaders.text.detokenize import detokenize
from coherencegym.loaders.text.sentences import rejoined

#: The key of ``meta`` with the sentences as the file has them.
TOKENISED = "tokenised"
_LABELS = "labelset.txt"
_NUCLEARITIES = ("NN", "NS", "SN")
#: Parts as files are called, and the splits that they are.
_PARTS = {"train": "train", "valid": "validation", "test": "test"}


_LineFormat = tuple[int, tuple[str, ...]]
#: Task -> the sentences of a line, and the labels that one before them may have.
_TASKS: dict[str, _LineFormat] = {
    "SP": (5, ("0", "1", "2", "3", "4")),
    "BSO": (2, ()),
    "DC": (6, ("0", "1")),
    "SSP": (1, ("0", "1")),
}
#: Names of folders, and what their texts are called here; others keep their name.
_DOMAINS = {"wiki": "wikipedia", "roc": "rocstory", "rocstories": "rocstory"}

#: A name or a word that the corpus hides: ``<user>``, ``<unka>``, ``<unk#a.>``.
_MASKED = re.compile(r"<(?:user|unk[^\s<>]*)>")

#: Whom a message is for, at its beginning (``<user> :``); who wrote it is not in the files.
_ADDRESSEE = re.compile(r"<(?:user|unk[a#]*)>(?: [:,])+(?:\s+|$)|<unk[a#]*[:,]>(?:\s+|$)")

_ENTITY = re.compile(r"& (#?\w{1,8}) ;")
_STOPS = {".", "!", "?"}
_MONTH = (
    "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|January|February|March|April|June|July|"
    "August|September|October|November|December"
)
#: Accents that TeX writes in front of a letter, and the combining characters that they are.
_ACCENTS = {
    '"': "\u0308", "''": "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303",
}  # fmt: skip
_ACCENTED = re.compile(
    r"\\ ?(''|[\"'`^~]) ?(?:\{ ?\\?([A-Za-z]) ?\}|\\([ij])\b|([A-Za-z])) ?(?=(\w*))"
)
#: The number of an isotope: ``$^{12}$C``.
_MASS = re.compile(r"\^\{?\d{2,3}(?:, ?\d{2,3})*\}?")
#: Stand-ins for formulae while the words around them are put together.
_FIRST_STAND_IN = 0xE000
_STAND_IN = re.compile("[\ue000-\uf8ff]")
_MOST_FORMULAE = 0x1900


def read_discoeval(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file; its folders say which task and which domain it is of."""
    task, domain = _task_and_domain(file)
    for number, label, order in _labelled_lines(file, _TASKS[task], options):
        if task == "DC" and label == "0":
            options.skipped["label 0: a sentence was replaced"] += 1
            continue
        if task == "SP":
            order.insert(int(label), order.pop(0))
        texts = sentences(order, domain)
        if not texts:
            options.skipped["no sentence with a word"] += 1
            continue
        yield _of_line(corpus, file, number, texts, task=task, domain=domain)


def _of_line(
    corpus: Corpus, file: CorpusFile, number: int, texts: Sequence[str], **meta: str
) -> Discourse:
    if masked := len(_MASKED.findall(" ".join(texts))):
        meta["masked"] = str(masked)
    return Discourse(
        id=f"{meta['task']}/{file.path.parent.name.lower()}/{file.path.stem}/{number:06d}",
        corpus=corpus.name,
        units=line_units(texts, file.path.name, number),
        meta={"split": file.split, **meta},
    )


def _task_and_domain(file: CorpusFile) -> tuple[str, str]:
    task, folder = file.path.parent.parent.name.upper(), file.path.parent.name.lower()
    if task not in _TASKS:
        raise CorpusError(
            f"{file.path}:1: in no folder of a task, expected one such as 'SP/wiki/test.txt'"
        )
    return task, _DOMAINS.get(folder, folder)


def _labelled_lines(
    file: CorpusFile, line_format: _LineFormat, options: ReadOptions
) -> Iterator[tuple[int, str, list[str]]]:
    # The number, the label (or an empty one) and the sentences of each line with text.
    found = False
    for number, line in numbered_lines(file):
        if line.strip():
            found = True
            with reporting(file, options):
                yield number, *_label_and_sentences(number, line, line_format)
    if not found:
        raise CorpusError(f"{file.path}:1: no line with text, expected sentences between tabs")


def _label_and_sentences(number: int, line: str, line_format: _LineFormat) -> tuple[str, list[str]]:
    check_text(line, number)
    fields, (count, labels) = [field.strip() for field in line.split("\t")], line_format
    expected = count + bool(labels)
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


def sentences(tokenised: Sequence[str], domain: str) -> list[str]:
    """The sentences of one document, in order; fewer where one was cut in two.

    Args:
        tokenised: the sentences as the file has them, in the order of the document.
        domain: the kind of text, as ``meta`` has it.
    """
    plain = [_plain(sentence, domain) for sentence in tokenised]
    if domain != "chat":
        plain = rejoined(plain)
    texts = [_natural(sentence, domain) for sentence in plain]
    return [tidy(text) for text in texts if any(map(str.isalnum, text))]


@lru_cache(maxsize=10_000)  # windows of one conversation have most of their sentences in common
def by_itself(tokenised: str, domain: str, ordered: bool = True) -> str:
    """A sentence without its neighbours; one of signs alone stays as it is."""
    return tidy(_natural(_plain(tokenised, domain, ordered), domain)) or tidy(tokenised)


def _plain(tokenised: str, domain: str, ordered: bool = True) -> str:
    if domain == "chat":
        return _ADDRESSEE.sub("", tokenised, count=1)
    plain = _ENTITY.sub(_character, tokenised)
    return plain if ordered else _apart(_directed(plain))


def _natural(plain: str, domain: str) -> str:
    if domain == "arxiv":
        return without_tex_spaces(plain)
    return detokenize(_wiki(plain) if domain == "wikipedia" else plain)


def _character(match: re.Match[str]) -> str:
    # Entities of HTML are tokenised: ``& amp ;``.
    entity = f"&{match[1]};"
    character = html.unescape(entity)
    return match[0] if character == entity or not character.isprintable() else character


def without_tex_spaces(text: str, detokenize: Callable[[str], str] = detokenize) -> str:
    """Put formulae of TeX together, and the text around them with ``detokenize``.

    Formulae stay TeX; only the white space that tokenisation put in is taken out, which means
    nothing to TeX there: ``$ O ( n^2 ) $`` to ``$O(n^2)$``, ``Schr\\ '' odinger`` to letters. Where
    dollar signs do not pair, formulae are left as they are.
    """
    parts = _accents(text).split("$")
    formulae = [_formula(part) for part in parts[1::2]]
    if len(parts) % 2 == 0 or len(formulae) > _MOST_FORMULAE or _STAND_IN.search(text):
        return detokenize(_groups(text))
    words = parts[0]
    for number, (formula, following) in enumerate(zip(formulae, parts[2::2], strict=True)):
        isotope = _MASS.fullmatch(formula) and re.match(r" [A-Z][a-z]?\b", following)
        if (formula[:1] in ("_", "^") and not isotope) or re.search(r"\w- $", words):
            # It is the end of the word before.
            words = words.rstrip()
        words += chr(_FIRST_STAND_IN + number)
        # What follows its formula closely; other signs are the detokeniser's.
        words += following[1:] if isotope or re.match(r" -\w", following) else following
    words = detokenize(_groups(words))
    words = re.sub(r" ([)\]])(?=[\ue000-\uf8ff])", r"\1", words)
    for number, formula in enumerate(formulae):
        words = words.replace(chr(_FIRST_STAND_IN + number), f"${formula}$")
    return words


def _accents(text: str) -> str:
    # ``Poincar\ ' { e }`` to ``Poincaré``; what is no letter with an accent stays.
    def letter(match: re.Match[str]) -> str:
        base = match[2] or match[3] or match[4]
        composed = unicodedata.normalize("NFC", base + _ACCENTS[match[1]])
        if len(composed) != 1:
            return match[0]
        # The rest of the word follows, if it begins in lower case.
        rest = match[5]
        return composed + (" " if match[0].endswith(" ") and not rest[:1].islower() else "")

    return _ACCENTED.sub(letter, text)


def _formula(text: str) -> str:
    text = re.sub(r"(?<=[(\[{^_]) ", "", text.strip())
    text = re.sub(r" (?=[)\]}^_])", "", text)
    text = re.sub(r"\s*\\\s+%", r"\\%", text)
    text = re.sub(r"(?<=[\w}])\s+(?=[({])", "", text)
    return re.sub(r"\s+(?=[,;:])", "", text)


def _groups(text: str) -> str:
    # ``m_ { H }``, ``{ \it so }``, ``99 \ %``.
    if not re.search(r"[{}\\]", text):
        return text
    text = re.sub(r"(?<=[\^_]) ?\{([^{}]*)\}", lambda m: f"{{{_formula(m[1])}}}", text)
    text = re.sub(r"(?<=[\w}]) (?=[\^_]\{)", "", text)
    text = re.sub(r"\{ ?([^{}]*?) ?\}", r"{\1}", text)
    text = re.sub(r" ([)\]])(?=\})", r"\1", text)
    return re.sub(r" ?\\ %", r"\\%", text)


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


def _read_lines(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file; its folders say which task and which domain it is of."""
    name, domain = _task_and_domain(file)
    ordered = (name, domain) != ("SP", "wikipedia")
    for number, label, tokenised in _labelled_lines(file, _TASKS[name], options):
        texts = [by_itself(sentence, domain, ordered) for sentence in tokenised]
        meta = {"domain": domain if ordered else f"{domain}_unordered", "label": label}
        if wordless := sum(not any(map(str.isalnum, text)) for text in texts):
            meta["wordless"] = str(wordless)
        meta[TOKENISED] = "\t".join(tokenised)
        yield _of_line(corpus, file, number, texts, task=name, **meta)


def read_rows(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of sentences, of arguments, or of children of nodes."""
    folders = {file.path.parent.name.upper(), file.path.parent.parent.name.upper()}
    if not folders & {"PDTB", "RST"}:
        yield from _read_lines(corpus, file, options)
    elif file.path.suffix.lower() == ".pkl":
        yield from _read_children(corpus, file, options)
    else:
        yield from _read_arguments(corpus, file, options)


def _whole(unit: int, text: str) -> Span:
    return ((unit, 0, len(text)),)


def _read_arguments(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    kind = file.path.parent.name.capitalize()
    senses = _senses(file.path.with_name(_LABELS), file.split)
    line_format = 2, tuple(map(str, range(len(senses))))
    rows: list[tuple[int, str, str, str]] = []
    for number, label, arguments in _labelled_lines(file, line_format, options):
        one, two = map(tidy, arguments)
        if any(map(str.isalnum, one)) and any(map(str.isalnum, two)):
            rows.append((number, senses[int(label)], one, two))
        else:
            message = f"{file.path}:{number}: an argument has no word, expected some"
            options.bad(message, "empty argument")
    of_pair: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for number, sense, one, two in rows:
        of_pair.setdefault((one, two), []).append((number, sense))
    place = f"PDTB/{kind}/{file.path.stem}"
    for number, sense, one, two in rows:
        same = of_pair[one, two]
        all_senses = tuple(dict.fromkeys((sense, *(other for _, other in same))))
        first_text, second_text = tidy(detokenize(one)), tidy(detokenize(two))
        spans = _whole(0, first_text), _whole(1, second_text)
        yield Discourse(
            id=f"{place}/{number:06d}",
            corpus=corpus.name,
            units=line_units((first_text, second_text), file.path.name, number),
            relations=(Relation(kind, None, *spans, senses=all_senses),),
            meta={
                "split": file.split,
                "task": f"PDTB-{kind[0]}",
                "family": f"{place}/{same[0][0]:06d}",
            },
        )


def _senses(path: Path, split: str) -> list[str]:
    if not path.is_file():
        raise CorpusError(f"{path}: missing, expected the senses, one a line")
    senses = []
    for number, line in numbered_lines(CorpusFile(path, split)):
        if problem := text_problem(line):
            raise CorpusError(f"{path}:{number}: {problem[0]}")
        senses += [tidy(line)] if line.strip() else []
    return senses


def _label(value: str) -> str:
    nuclearity, _, relation = value.partition("-")
    if nuclearity not in _NUCLEARITIES or not relation:
        raise ValueError("a label such as 'NS-Elaboration'")
    return value


@dataclass(frozen=True)
class _Children:
    label: Annotated[TidyText, AfterValidator(_label)]
    left: Some[TidyText]
    right: Some[TidyText]


def _read_children(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    rows = read_plain_pickle(file.path)
    if not isinstance(rows, list) or not rows:
        raise CorpusError(f"{file.path}:1: {type(rows).__name__}, expected a list of rows")
    for number, row in enumerate(rows, start=1):
        with reporting(f"{file.path}:{number}", options):
            try:
                two = held(dict(zip(("label", "left", "right"), row, strict=False)), _Children)
            except EvaluationError as error:
                raise RecordError(str(error), "malformed row") from None
            nuclearity, _, relation = two.label.partition("-")
            texts = [detokenize(text) for text in (*two.left, *two.right)]
            yield Discourse(
                id=f"RST/{file.path.stem}/{number:06d}",
                corpus=corpus.name,
                units=line_units(texts, file.path.name, number),
                tree=RhetoricalTree(
                    tuple(_whole(i, text) for i, text in enumerate(texts)),
                    (RhetoricalNode(0, len(two.left), len(texts), nuclearity, relation),),
                ),
                meta={"split": file.split, "task": "RST"},
            )


def _parts(path: Path) -> tuple[Path, ...]:
    # The senses stand beside the arguments.
    labels = path.with_name(_LABELS)
    return (path, labels) if path.suffix == ".txt" and labels.is_file() else (path,)


def _patterns(*globs: str) -> tuple[FilePattern, ...]:
    return tuple(
        FilePattern(
            f"{folder}{glob}/{part}.txt", split, f"{glob.split('/')[0]}/<domain>/{part}.txt"
        )
        for glob in globs
        for folder in ("", "data/")
        for part, split in _PARTS.items()
    )


def _tree_patterns() -> Iterator[FilePattern]:
    for folder in ("", "data/"):
        for part, split in _PARTS.items():
            name = f"RST/RST_{'DEV' if part == 'valid' else part.upper()}.pkl"
            yield FilePattern(folder + name, split, name)


CORPUS = Corpus(
    name="discoeval",
    title="DiscoEval",
    homepage="https://github.com/ZeweiChu/DiscoEval",
    citation="chen-etal-2019-evaluation",
    licence_name="no licence stated for the data; BSD-3-Clause covers only the software",
    licence_url="https://github.com/ZeweiChu/DiscoEval/blob/master/LICENSE",
    text_licence_name="no licence stated (Wikipedia, arXiv, ROCStories, chat logs, treebanks)",
    obtain="get https://github.com/ZeweiChu/DiscoEval and take its folder data",
    proven=(
        "2026-11-29: 4 of the 12 files of SP and DC that are read, commit 262b253b4955; 9,825 "
        "documents, 54,730 units, 5,825 left out"
    ),
    patterns=_patterns("SP/[!w]*", "DC/*"),  # not Wikipedia's of SP
    reader=read_discoeval,
    public_since=2016,
    public_source="Mostafazadeh et al. (2016), for ROCStories; the others were on the web before",
    producers=(
        "Authors of Wikipedia articles, of arXiv abstracts, of the stories of ROCStories and of "
        "messages in Ubuntu's chat channels (Chen et al. 2019)."
    ),
    source_datasets=("extended|other-discoeval",),
)

#: The corpus by the same name, read for its rows; a suite says that it does (``readings``).
DISCOEVAL_ROWS = replace(
    CORPUS,
    proven=(
        "2026-11-29: 13 of the 36 files, commit 262b253b4955; 58,973 documents, 183,408 "
        "units, 17,323 annotations"
    ),
    patterns=(*_patterns(*(f"{task}/*" for task in (*_TASKS, "PDTB"))), *_tree_patterns()),
    reader=read_rows,
    parts=_parts,
    public_since=1989,
    public_source="the Wall Street Journal of 1989, for its relations; others later",
    producers=(
        f"{CORPUS.producers} Writers of the Wall Street Journal, 1989, whose texts the Penn "
        "treebanks have."
    ),
)
