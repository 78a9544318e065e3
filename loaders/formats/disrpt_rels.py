"""Tables of discourse relations as the DISRPT shared tasks have them: ``.rels`` files.

A row is a relation between two units, in text order. Columns (since 2025 fifteen of them) are found
by their names: the document, the tokens of both units (``42-43,52-64``, counted from 1 through the
document), their texts as tokens and as they are written (``u1_raw``; ``<*>`` between parts of one
that is cut in two), the tokens and texts of their sentences, the direction, the kind of relation
(``explicit``, ...), its name in the corpus, and the unified label.

Source: https://github.com/disrpt/sharedtask2025
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.lines import LineError, numbered_lines, shown, text_problem

#: Parts (first, last) of some tokens of a document, in order.
TokenSpan = tuple[tuple[int, int], ...]

_COLUMNS = (
    *("doc", "unit1_toks", "unit2_toks", "u1_raw", "u2_raw", "s1_toks", "s2_toks"),
    *("unit1_sent", "unit2_sent", "rel_type", "orig_label", "label"),
)
_PART = re.compile(r"([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?")
#: Stands between the parts of a unit that is cut in two.
GAP = "<*>"
#: Text that its owner does not give away has underscores for letters.
_WITHHELD = re.compile(rf"(?:[_\s]|{re.escape(GAP)})+")


@dataclass(frozen=True, slots=True)
class RelsRow:
    """A relation as its row has it.

    Attributes:
        units: the tokens of both units.
        raw: their texts as they are written, part by part.
        sentences: first and last token of the sentence or sentences that each unit is in; none
            where they were not read.
        words: the tokens of these.
        kind, original, label: the kind of relation, its name in its corpus, and its unified label,
            or, in tables before 2025, again one of its corpus.
    """

    line: int
    document: str
    units: tuple[TokenSpan, TokenSpan]
    raw: tuple[tuple[str, ...], tuple[str, ...]]
    sentences: tuple[tuple[int, int], ...]
    words: tuple[tuple[str, ...], ...]
    kind: str
    original: str
    label: str


def read_rels(
    file: CorpusFile, options: ReadOptions, *, sentences: bool = True
) -> Iterator[RelsRow]:
    """The rows of a table; those that lack a text, a unit or a sentence are counted as skipped.

    Args:
        file, options: the table, and what becomes of its bad rows.
        sentences: read the sentences of the units too, each of which has to be one in itself.

    Raises:
        CorpusError: a column is missing, there is no row, or a bad row.
    """
    lines = numbered_lines(file)
    header = next(lines, (1, ""))[1].split("\t")
    if missing := [name for name in _COLUMNS if name not in header]:
        expected = "expected the table of DISRPT 2025 or a later one"
        raise CorpusError(f"{file.path}:1: no column {', '.join(missing)}, {expected}")
    number = 1
    for number, line in lines:
        if not line.strip():
            continue
        try:
            fields = _fields(number, line, header)
            if _WITHHELD.fullmatch(fields["u1_raw"]) or _WITHHELD.fullmatch(fields["u2_raw"]):
                options.skipped["withheld text"] += 1
                continue
            if _lacks_a_unit(fields):
                options.skipped["relations with a missing unit"] += 1
                continue
            row = _row(number, fields, sentences, options)
            if row is None:
                options.skipped["relations with a unit that is not in one sentence"] += 1
                continue
            yield row
        except LineError as error:
            error.report(file, options)
    if number == 1:
        raise CorpusError(f"{file.path}:2: no row after the header, expected at least one")


def _fields(number: int, line: str, header: list[str]) -> dict[str, str]:
    if (problem := text_problem(line)) is not None:
        raise LineError(number, *problem)
    values = line.split("\t")
    if len(values) != len(header):
        message = f"{len(values)} fields, expected {len(header)} as in the header"
        reason = "truncated line" if len(values) < len(header) else "too many fields"
        raise LineError(number, message, reason)
    fields = {name: value.strip() for name, value in zip(header, values, strict=True)}
    for name in _COLUMNS:
        if not (fields[name] or _lacks_a_unit(fields)):
            raise LineError(number, f"{name} is empty, expected a value", "empty field")
    return fields


def _lacks_a_unit(fields: Mapping[str, str]) -> bool:
    return "_" in (fields["unit1_toks"], fields["unit2_toks"])


def _row(
    number: int, fields: dict[str, str], with_sentences: bool, options: ReadOptions
) -> RelsRow | None:
    # None where a unit goes over the end of its sentence, as those of verse do.
    units = tuple(_tokens(number, fields, f"unit{i}_toks", options) for i in (1, 2))
    raw = tuple(tuple(part.strip() for part in fields[f"u{i}_raw"].split(GAP)) for i in (1, 2))
    sentences, words = [], []
    for i, unit in enumerate(units if with_sentences else (), start=1):
        found = _tokens(number, fields, f"s{i}_toks", options)
        first, last = found[0][0], found[-1][1]
        own = fields[f"unit{i}_sent"].split(" ")
        if len(found) > 1 or GAP in own or not first <= unit[0][0] <= unit[-1][1] <= last:
            return None
        if len(own) != last - first + 1:
            message = (
                f"s{i}_toks says {fields[f's{i}_toks']}, and unit{i}_sent has {len(own)} words"
            )
            raise LineError(number, f"{message}, expected as many tokens", "tokens and text differ")
        sentences.append((first, last))
        words.append(tuple(own))
    return RelsRow(
        line=number,
        document=fields["doc"],
        units=(units[0], units[1]),
        raw=(raw[0], raw[1]),
        sentences=tuple(sentences),
        words=tuple(words),
        kind=fields["rel_type"],
        original=fields["orig_label"],
        label=fields["label"],
    )


def _tokens(number: int, fields: dict[str, str], name: str, options: ReadOptions) -> TokenSpan:
    parts: list[tuple[int, int]] = []
    for part in fields[name].split(","):
        match = _PART.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            message = f"{name} is {shown(fields[name])}, expected tokens such as 42-43,52-64"
            raise LineError(number, message, "bad tokens")
        parts.append((first, last))
    if any(one[1] >= other[0] for one, other in pairwise(parts)):
        options.put_right("units whose parts overlap or are out of order")
        parts = united(parts)
    return tuple(parts)


def united(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Parts (first, last) in order, with those made one that overlap.

    >>> united([(7, 9), (1, 4), (3, 5)])
    [(1, 5), (7, 9)]
    """
    whole: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if whole and first <= whole[-1][1]:
            first, last = whole[-1][0], max(whole.pop()[1], last)
        whole.append((first, last))
    return whole
