"""A Winograd schema, whatever file it stood in, and the discourse that it becomes.

Every layout is brought to the same parts (:class:`Schema`) and put together by the same rules, so
that a schema read from two of them gives the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from coherencegym.loaders.corpus import Corpus, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Alternative, Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import shown, text_problem, tidy
from coherencegym.loaders.text.sentences import ends_sentence, sentence_spans


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
        credit: the person who thought of it, where the layout says so.
    """

    number: int
    line: int
    left: str
    pronoun: str
    right: str
    options: tuple[str, ...]
    answer: int
    identifier: str = ""
    credit: str = ""


class BadSchemaError(Exception):
    """A fault of a schema with what was expected, and the reason under which it is counted."""

    def __init__(self, problem: str, reason: str) -> None:
        super().__init__(problem)
        self.problem, self.reason = problem, reason


#: Slips in the collection's texts, and what is read in their place. The mojibake is a no-break
#: space that went through UTF-8 twice.
TEXT_ERRATA = (
    ("recieved", "received"),
    ("Kamtchatka", "Kamchatka"),
    ("con artist has succeeded in fooling Sam,", "con artist had succeeded in fooling Sam,"),
    ("toÃ\x82 ", "to "),
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


def with_families(schemas: Iterable[Schema]) -> Iterator[tuple[Schema, str]]:
    """Schemas, each with a name for the run of neighbours that share a candidate with the next.

    Twins stand side by side in every file, with the same two candidates or at least one of them.
    """
    family, previous = "", frozenset[str]()
    for schema in schemas:
        candidates = frozenset(tidy(option).casefold() for option in schema.options)
        if not candidates & previous:
            family = f"family-{schema.number:03d}"
        previous = candidates
        yield schema, family


def discourse_of(
    corpus: Corpus, file: CorpusFile, schema: Schema, family: str, options: ReadOptions
) -> Discourse | None:
    """The discourse of a schema; none where the schema is bad and bad ones are skipped.

    Units are sentences. The one alternative stands where the pronoun is; in the place of a blank
    the text has the right candidate.
    """
    schema = corrected(tidied(schema))
    problem = _problem(schema)
    if problem is not None:
        options.bad(f"{file.path}:{schema.line}: {problem[0]}", problem[1])
        return None
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
    meta = {
        "split": file.split,
        "family": family,
        "pronoun": schema.pronoun,
        "credit": schema.credit,
    }
    return Discourse(
        id=schema.identifier or f"wsc-{schema.number:03d}",
        corpus=corpus.name,
        units=tuple(units),
        alternatives=(Alternative((span,), schema.options, schema.answer),),
        meta={name: value for name, value in meta.items() if value},
    )


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of a text. None ends inside the place, whatever the candidate in it has."""
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


def tidied(schema: Schema) -> Schema:
    """The schema with single spaces, and none before a comma or full stop."""
    return replace(
        schema,
        left=_STRAY_SPACE.sub("", tidy(schema.left)),
        pronoun=tidy(schema.pronoun),
        right=_STRAY_SPACE.sub("", tidy(schema.right)),
        options=tuple(map(tidy, schema.options)),
        identifier=tidy(schema.identifier),
        credit=tidy(schema.credit),
    )


def corrected(schema: Schema) -> Schema:
    """The schema without the slips of :data:`TEXT_ERRATA` and :data:`OPTION_ERRATA`."""
    left, right, options = f"{schema.left} ", schema.right, schema.options
    for wrong, better in TEXT_ERRATA:
        left, right = left.replace(wrong, better), right.replace(wrong, better)
    for beginning, wrong, better in OPTION_ERRATA:
        if left.startswith(beginning):
            options = tuple(better if option == wrong else option for option in options)
    return replace(schema, left=left[:-1], right=right, options=options)


def _problem(schema: Schema) -> tuple[str, str] | None:
    """Say what is wrong, and the reason under which it is counted."""
    texts = (schema.identifier, schema.left, schema.pronoun, schema.right, schema.credit)
    for text in (*texts, *schema.options):
        if (problem := text_problem(text)) is not None:
            return problem
    if not schema.left and not schema.right:
        return "no text around the pronoun, expected a sentence or more", "empty text"
    if not all(schema.options):
        return "an empty candidate, expected words", "empty candidate"
    if len(schema.options) < 2:
        return f"{len(schema.options)} candidate, expected two or more", "too few candidates"
    if len({option.casefold() for option in schema.options}) < len(schema.options):
        twice = shown(", ".join(schema.options), 80)
        return f"the candidates are {twice}, expected different ones", "same candidates"
    return None
