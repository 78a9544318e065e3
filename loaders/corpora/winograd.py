"""The Winograd Schema Challenge and WinoGrande: a pronoun, and two things that it could mean.

A discourse is the text, one unit a sentence; its one ``alternatives`` entry holds the candidates in
the order of the file at the span of the pronoun, or, where the file has a blank instead, of the
right candidate, which then stands there. ``meta["pronoun"]`` is the pronoun, and ``meta["family"]``
the same for schemas that are twins. Files of both are brought to the same parts and put together by
the same rules.

The Challenge is Ernest Davis's XML: a ``schema`` holds ``text`` (``txt1``, ``pron``, ``txt2``),
``quote``, ``answers`` (``answer`` twice; more in the pronoun disambiguation problems of 2016, whose
files look the same), and ``correctAnswer`` (``A``, ``A.``, ``B`` ... with white space).
Records of WinoGrande, one object a line or the rows of a parquet file, are ``sentence`` with a
blank ``_``, ``option1``, ``option2``, ``answer`` 1 or 2, and ``qID`` where there is one. The
Challenge is also handed around in this layout.

The collection of the Challenge grew: the first 273 of its schemas are what the literature calls
WSC273 (Trinh and Le 2018; Beyer et al. 2021) and are the split ``test``; those from 274 on (in the
files of 283 and 285) are ``test_added``, read only by name. Ids are ``wsc-001`` to ``wsc-285``, the
place in the file; of WinoGrande they are the file's ``qID``.

Slips in the collection that would make bad English are corrected (:data:`TEXT_ERRATA`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Alternative, Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import (
    Record,
    RecordError,
    check_text,
    open_text,
    parquet_records,
    reporting,
    shown,
    tidy,
)
from coherencegym.loaders.formats.xml_elements import Element, elements
from coherencegym.loaders.text.sentences import ends_sentence, sentence_spans

_LETTERS = "ABCDEFGHIJ"
#: Elements in a schema; one has about 15.
_MOST_PARTS = 1000
_PARTS = ("text/txt1", "text/pron", "text/txt2", "correctAnswer")

#: The number of schemas in WSC273, and the split of the schemas after those.
_WSC273, _ADDED = 273, "test_added"

#: Slips in the collection's texts, and what is read in their place. The mojibake is a no-break
#: space that went through UTF-8 twice.
TEXT_ERRATA = (
    ("recieved", "received"),
    ("Kamtchatka", "Kamchatka"),
    ("con artist has succeeded in fooling Sam,", "con artist had succeeded in fooling Sam,"),
    ("toÃ\x82 ", "to "),
    ("toÃ ", "to "),  # where the control character is white space
    ("toÂ ", "to "),
)
#: Candidates without the article that they need in the place of the pronoun (``not enough of
#: chairs``): how the text begins, the candidate, what is read.
OPTION_ERRATA = (
    ("We had hoped to place copies", "copies of the newsletter", "the copies of the newsletter"),
    ("We had hoped to place copies", "chairs", "the chairs"),
    ("Fred and Alice had very warm", "coats", "the coats"),
    ("I tried to paint a picture of an orchard", "lemons", "the lemons"),
    ("I tried to paint a picture of an orchard", "lemon trees", "the lemon trees"),
)

_STRAY_SPACE = re.compile(r" (?=[,.;:!?](?:[\s\"')\]”’]|$))")
_ATTACHED = re.compile(r"[,.;:!?)\]”’%]|-\w|'(?:s|ll|d|re|ve|m)\b|'(?=\s)")


@dataclass(frozen=True, slots=True)
class Schema:
    """One problem: a text with a place in it, and what could be meant there.

    Attributes:
        number: its place in the file, from 1, bad ones counted.
        line: the line on which it begins in the file.
        left, right: the text before and after the place.
        pronoun: the text at the place; empty where the layout has a blank there.
        options: the candidates, two or more.
        answer: index of the right one.
        identifier: its identifier, where the layout has one.
    """

    number: int
    line: int
    left: str
    pronoun: str
    right: str
    options: tuple[str, ...]
    answer: int
    identifier: str = ""


def read_challenge(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of the Winograd Schema Challenge: the schemas of the file's split."""
    for schema, family in _with_families(read_schemas(file, options)):
        if (schema.number > _WSC273) == (file.split == _ADDED):
            yield from _discourse(corpus, file, schema, family, options)
        # Not one further than needed: what is wrong there is no matter of this split.
        if schema.number >= _WSC273 and file.split != _ADDED:
            return


def read_winogrande(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of WinoGrande."""
    for schema, family in _with_families(read_schemas(file, options)):
        yield from _discourse(corpus, file, schema, family, options)


def read_schemas(file: CorpusFile, options: ReadOptions) -> Iterator[Schema]:
    """The schemas of a file: XML, or WinoGrande's records."""
    with open_text(file) as text:
        head = text.read(1000).lstrip()
    if head.startswith("<"):
        yield from _xml(file, options)
        return
    is_parquet = head.startswith("PAR1")
    for record in parquet_records(file) if is_parquet else json_records(file, options):
        with reporting(record.place, options):
            yield _of_record(record)


def _xml(file: CorpusFile, options: ReadOptions) -> Iterator[Schema]:
    number = 0
    inside: list[Element] = []
    for element in elements(file.path):
        if element.name != "schema":
            inside.append(element)
            if len(inside) > _MOST_PARTS:
                raise CorpusError(
                    f"{file.path}:{element.line}: {_MOST_PARTS:,} elements without a </schema>, "
                    "expected a collection of Winograd schemas"
                )
            continue
        number += 1
        with reporting(f"{file.path}:{element.line}: schema {number}", options):
            yield _of_element(number, element, inside)
        inside = []
    if not number:
        raise CorpusError(f"{file.path}:1: no <schema>, expected a collection of Winograd schemas")


def _of_element(number: int, element: Element, inside: list[Element]) -> Schema:
    depth = len(element.path)
    found: dict[str, list[str]] = {}
    for part in inside:
        found.setdefault("/".join(part.path[depth:]), []).append(part.text)
    for name in _PARTS:
        if len(found.get(name, ())) > 1:
            raise RecordError(f"<{name}> stands twice, expected it once", "part twice")
    text = {name: "".join(found.get(name, ())) for name in _PARTS}
    if not text["text/pron"].strip():
        raise RecordError("no <pron> in <text>, expected the pronoun", "no pronoun")
    answers = tuple(found.get("answers/answer", ()))
    if len(answers) < 2 or len(answers) > len(_LETTERS):
        raise RecordError(f"{len(answers)} <answer>, expected two", "not two candidates")
    letters = _LETTERS[: len(answers)]
    letter = text["correctAnswer"].strip().rstrip(".").strip().upper()
    if len(letter) != 1 or letter not in letters:
        raise RecordError(
            f"<correctAnswer> is {shown(text['correctAnswer'].strip())}, expected "
            f"{', '.join(letters[:-1])} or {letters[-1]}",
            "unknown answer",
        )
    return Schema(
        number=number,
        line=element.line,
        left=text["text/txt1"],
        pronoun=text["text/pron"],
        right=text["text/txt2"],
        options=answers,
        answer=letters.index(letter),
    )


def _of_record(record: Record) -> Schema:
    left, *rest = _text(record, "sentence").split("_")
    if len(rest) != 1:
        raise RecordError(f"{len(rest)} blanks (_) in sentence, expected one", "not one blank")
    answer = record.values.get("answer", "")
    if str(answer) not in ("1", "2"):
        there = f"answer is {shown(repr(answer))}" if "answer" in record.values else "no answer"
        hint = "; is this a test set, which is given out without answers?" if answer == "" else ""
        raise RecordError(f"{there}, expected 1 or 2{hint}", "unknown answer")
    identifier = record.values.get("qID")
    return Schema(
        *(record.number, record.line, left, "", rest[0]),
        options=(_text(record, "option1"), _text(record, "option2")),
        answer=int(answer) - 1,
        identifier=identifier if isinstance(identifier, str) else "",
    )


def _text(record: Record, name: str) -> str:
    if name not in record.values:
        raise RecordError(f"no field {name}, expected it in every record", "missing field")
    value = record.values[name]
    if not isinstance(value, str):
        raise RecordError(f"{name} is {shown(repr(value))}, expected text", "wrong type")
    return value


def _with_families(schemas: Iterable[Schema]) -> Iterator[tuple[Schema, str]]:
    # Twins stand side by side in every file, with the same two candidates or at least one of them.
    family, previous = "", frozenset[str]()
    for schema in schemas:
        candidates = frozenset(tidy(option).casefold() for option in schema.options)
        if not candidates & previous:
            family = f"family-{schema.number:03d}"
        previous = candidates
        yield schema, family


def _discourse(
    corpus: Corpus, file: CorpusFile, schema: Schema, family: str, options: ReadOptions
) -> Iterator[Discourse]:
    schema = corrected(schema)
    with reporting(f"{file.path}:{schema.line}", options):
        _check(schema)
        yield _assembled(corpus, file, schema, family)


def _assembled(corpus: Corpus, file: CorpusFile, schema: Schema, family: str) -> Discourse:
    filler = schema.pronoun or schema.options[schema.answer]
    if not schema.pronoun and ends_sentence(schema.left):
        filler = filler[0].upper() + filler[1:]
    text, start = assemble(schema.left, filler, schema.right)
    source = SourceSpan(file.path.name, schema.line, schema.line)
    end = start + len(filler)
    units, span = [], (0, 0, 0)
    for number, (first, last) in enumerate(_sentences(text, start, end)):
        units.append(Unit(text[first:last], source=source))
        if first <= start:
            span = (number, start - first, end - first)
    meta = {"split": file.split, "family": family, "pronoun": schema.pronoun}
    return Discourse(
        id=schema.identifier or f"wsc-{schema.number:03d}",
        corpus=corpus.name,
        units=tuple(units),
        alternatives=(Alternative((span,), schema.options, schema.answer),),
        meta={name: value for name, value in meta.items() if value},
    )


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    # None ends inside the place, whatever the candidate in it has.
    spans: list[tuple[int, int]] = []
    for first, last in sentence_spans(text):
        if spans and start < spans[-1][1] < end:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return spans


def assemble(left: str, filler: str, right: str) -> tuple[str, int]:
    """The text of the parts with spaces where a reader expects them, and where the filler starts.

    The layouts put white space around the pronoun, or leave it out, without regard to what follows
    (``we rescued them .``). A text without a mark at its end gets a full stop.
    """
    inside_quotation = left.count('"') % 2 == 1
    opens = left[-1:] in set("([“‘") or (left.endswith('"') and inside_quotation)
    before = "" if not left or opens else " "
    closes = right.startswith('"') and inside_quotation
    after = "" if not right or closes or _ATTACHED.match(right) else " "
    text = f"{left}{before}{filler}{after}{right}"
    return (f"{text}." if text[-1].isalnum() else text), len(left) + len(before)


def corrected(schema: Schema) -> Schema:
    """The schema with single spaces, none before a comma or full stop, and without the slips.

    Those are in :data:`TEXT_ERRATA` and :data:`OPTION_ERRATA`.
    """
    left, right = (_STRAY_SPACE.sub("", tidy(text)) for text in (schema.left, schema.right))
    left, options = f"{left} ", tuple(map(tidy, schema.options))
    for wrong, better in TEXT_ERRATA:
        left, right = left.replace(wrong, better), right.replace(wrong, better)
    for beginning, wrong, better in OPTION_ERRATA:
        if left.startswith(beginning):
            options = tuple(better if option == wrong else option for option in options)
    return replace(
        schema,
        left=left[:-1],
        pronoun=tidy(schema.pronoun),
        right=right,
        options=options,
        identifier=tidy(schema.identifier),
    )


def _check(schema: Schema) -> None:
    texts = (schema.identifier, schema.left, schema.pronoun, schema.right)
    for text in (*texts, *schema.options):
        check_text(text)
    if not schema.left and not schema.right:
        problem = "no text around the pronoun, expected a sentence or more"
        raise RecordError(problem, "empty text")
    if not all(schema.options):
        raise RecordError("an empty candidate, expected words", "empty candidate")
    if len({option.casefold() for option in schema.options}) < len(schema.options):
        twice = shown(", ".join(schema.options), 80)
        problem = f"the candidates are {twice}, expected different ones"
        raise RecordError(problem, "same candidates")


#: Files that may hold more than WSC273.
_LONG = {
    "WSCollection*.xml": "WSCollection.xml",
    "raw/WSCollection*.xml": "raw/WSCollection.xml",
    "wsc28[35]*.xml": "WSCollection.xml",
    "wsc285*.jsonl": "wsc285.jsonl",
}
_SHORT = {"wsc273*.xml": "WSCollection.xml", "wsc273*.jsonl": "wsc273.jsonl"}

CORPUS = Corpus(
    name="winograd",
    title="Winograd Schema Challenge",
    homepage="https://cs.nyu.edu/~davise/papers/WinogradSchemas/WS.html",
    citation="levesque-etal-2012-winograd",
    licence="CC-BY-4.0",
    licence_name="stated in the collection's card",
    text_licence_name="written for the collection",
    obtain=(
        "download WSCollection.xml from "
        "https://cs.nyu.edu/~davise/papers/WinogradSchemas/WSCollection.xml"
    ),
    proven="2026-11-29: all 285 schemas; 285 documents, 389 units, 285 annotations",
    patterns=(
        *(FilePattern(glob, "test", example) for glob, example in (_LONG | _SHORT).items()),
        *(FilePattern(glob, _ADDED, example, by_default=False) for glob, example in _LONG.items()),
    ),
    reader=read_challenge,
    limitations=(
        "The schemas have been on the web since 2011; later models have probably read them with "
        "the answers.",
        "A few errors are corrected (spelling, a full stop at the end, an article that a "
        "candidate needs); all other English is unchanged.",
    ),
    public_since=2012,
    public_source="Levesque, Davis and Morgenstern (2012)",
    producers="Experts (Hector Levesque, Ernest Davis and others; each schema names its author).",
    source_datasets=("original",),
    one_file_per_split=True,
)

WINOGRANDE = Corpus(
    name="winogrande",
    title="WinoGrande",
    homepage="https://winogrande.allenai.org",
    citation="sakaguchi-etal-2020-winogrande",
    licence="CC-BY-4.0",
    licence_name="the README says CC-BY without a version",
    licence_url="https://github.com/allenai/winogrande",
    text_licence_name="written for the dataset",
    obtain=(
        "unpack https://storage.googleapis.com/ai2-mosaic/public/winogrande/winogrande_1.1.zip "
        "into the folder"
    ),
    proven=(
        "2026-11-29: dev.jsonl and train_s.jsonl of version 1.1; of train_l.jsonl all 10,234 "
        "rows are read; 1,907 documents, 2,297 units, 1,907 annotations"
    ),
    patterns=(
        FilePattern("winogrande*/dev.jsonl", "validation", "winogrande_1.1/dev.jsonl"),
        FilePattern("winogrande*/validation-*.parquet", "validation"),
        *(
            FilePattern(f"winogrande*/train_{size}.jsonl", "train", by_default=False)
            for size in ("xl", "l", "m", "s", "xs")
        ),
        FilePattern("winogrande*/test.jsonl", "test", by_default=False),
    ),
    reader=read_winogrande,
    public_since=2020,
    public_source="Sakaguchi et al. (2020)",
    producers="Crowd workers on Amazon Mechanical Turk (Sakaguchi et al. 2020).",
    source_datasets=("extended|winogrande",),
    one_file_per_split=True,
)
