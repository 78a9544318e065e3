"""Draw spans for people to judge, blind and without the text around them, and write them.

Half of the spans of a config have its commonest kind of answer and half another, as far as there
are such. Of a text one span is drawn: whoever has read a part of it knows more of it than is asked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from coherencegym.builders.judgement.pairs import texts_digest
from coherencegym.builders.judgement.questions import ANSWER_LABELS, CANT_TELL, NO, YES
from coherencegym.eval.data.table_rows import TableRows
from coherencegym.eval.kinds.spans import NEGATIVE, UNDECIDED, GoldSpan, SpanText
from coherencegym.files.templates import templates_of, under_policy
from coherencegym.manipulations.operator import Context

#: The files of a folder for annotators.
SPAN_LINES, SPAN_SHEET = "spans.jsonl", "sheet.html"
#: The answer that no alternative is better, and how it is printed.
AS_GOOD = "as good"

_QUESTIONS = {
    "entailed": "Is this said in the text, or does it follow from it? “{hypothesis}”",
    "incoherent": "Is there a sentence in the text that does not belong there?",
    "contradictory": "Does a speaker contradict himself or herself in the text?",
    "choice": "Which text is the more plausible?",
}


@dataclass(frozen=True, slots=True)
class DrawnSpan:
    """A span as annotators get it, and the answer of the dataset, which they do not get.

    ``texts`` are (name, lines): one without a name, or the alternatives.
    """

    id: str
    config: str
    question: str
    answers: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, tuple[str, ...]], ...]
    gold: str


def drawn_spans(suite: str, table: TableRows[SpanText]) -> Iterator[tuple[SpanText, DrawnSpan]]:
    """All spans of a table that people can be asked about, each with its row."""
    positive = positive_of(table.about.get("task_defaults", {}))
    for row in table.read():
        for span in spans_of(suite, table.config, table.split, positive, row):
            yield row, span


def positive_of(defaults: Mapping[str, Any]) -> str:
    """The name of a positive answer, by the defaults of a config's task."""
    return str(defaults.get("positive", "entailed"))


def spans_of(
    suite: str, config: str, split: str, positive: str, row: SpanText
) -> Iterator[DrawnSpan]:
    """The spans of a row that people can be asked about.

    Left out are those of which the alternatives have the same text.
    """
    named = "choice" if row.is_choice else positive
    words = _QUESTIONS.get(named, f"Is the text {named}?")
    question = words.replace("{hypothesis}", row.hypothesis)
    place = f"{suite}/{config}/{split}/{row.item_id}"
    for span in row.gold:
        texts = _texts(row, span)
        if len({lines for _, lines in texts}) < len(texts):
            continue
        shown = "\n\n".join("\n".join(lines) for _, lines in texts)
        where = texts_digest(place, f"{span.start}-{span.end}")[:8]
        identifier = f"{where}-{texts_digest(shown, question)}"
        yield DrawnSpan(identifier, config, question, _answers(row), texts, _gold(row, span))


def draw_spans(
    suite: str, tables: Sequence[TableRows[SpanText]], n: int, seed: int
) -> tuple[DrawnSpan, ...]:
    """Draw n spans, from each config in turn; fewer where there are fewer."""
    context = Context(seed, suite)
    of_config: dict[str, list[TableRows[SpanText]]] = {}
    for table in tables:
        of_config.setdefault(table.config, []).append(table)
    drawn = [_of_config(context, own) for own in of_config.values()]
    turns = filter(None, chain.from_iterable(zip_longest(*drawn)))
    return tuple(sorted(islice(turns, n), key=lambda span: span.id.partition("-")[2]))


def _of_config(context: Context, tables: Sequence[TableRows[SpanText]]) -> list[DrawnSpan]:
    # The kinds of answers take turns.
    of_row: dict[tuple[float, float, str], list[DrawnSpan]] = {}
    for table in tables:
        for row, span in drawn_spans(context.suite, table):
            generator = context.random_for(
                row.corpus, row.discourse_id, "span judgement", item=row.item_id
            )
            key = generator.random(), generator.random(), f"{table.split}/{row.item_id}"
            of_row.setdefault(key, []).append(span)
    counts = Counter(dict.fromkeys((s.gold for own in of_row.values() for s in own), 0))
    chosen, later = [], []
    for (_, pick, _), spans in sorted(of_row.items()):
        rare = min({span.gold for span in spans}, key=lambda gold: (counts[gold], gold))
        fitting = [span for span in spans if span.gold == rare]
        span = fitting[int(pick * len(fitting))]
        if counts[rare] > min(counts.values()):
            later.append(span)
            continue
        counts[rare] += 1
        chosen.append(span)
    return chosen + later


def _texts(row: SpanText, span: GoldSpan) -> tuple[tuple[str, tuple[str, ...]], ...]:
    part = slice(span.start, span.end + 1)
    if row.is_choice:
        return tuple(
            (name, alternative[part])
            for name, alternative in zip(ascii_uppercase, row.alternatives, strict=False)
        )
    speakers = row.speakers[part] or ("",) * len(row.units[part])
    said = zip(speakers, row.units[part], strict=True)
    return (("", tuple(f"{who}: {text}" if who else text for who, text in said)),)


def _answers(row: SpanText) -> tuple[tuple[str, str], ...]:
    unsure = (CANT_TELL, ANSWER_LABELS[CANT_TELL])
    if not row.is_choice:
        return ((YES, ANSWER_LABELS[YES]), (NO, ANSWER_LABELS[NO]), unsure)
    names = ascii_uppercase[: len(row.alternatives)]
    return (*((name.lower(), name) for name in names), (AS_GOOD, "they are as good"), unsure)


def _gold(row: SpanText, span: GoldSpan) -> str:
    if not row.is_choice:
        return NO if span.answer == NEGATIVE else YES
    return AS_GOOD if span.answer == UNDECIDED else ascii_uppercase[span.answer].lower()


def write_span_sheet(spans: Sequence[DrawnSpan], folder: Path) -> None:
    """Write the spans into a folder that is there: JSON lines, and a page to read and tick."""
    lines = [_line(number, span) for number, span in enumerate(spans, start=1)]
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / SPAN_LINES).write_text(content, encoding="utf-8")
    environment = templates_of("builders.judgement", autoescape=True)
    sheet = texts_digest("", "\n".join(span.id for span in spans))
    template = environment.get_template("span_sheet.html.jinja")
    page = template.render(spans=spans, sheet=sheet, further=())
    (folder / SPAN_SHEET).write_text(under_policy(page), encoding="utf-8")


def _line(number: int, span: DrawnSpan) -> dict[str, Any]:
    # The answer of the dataset is not in it.
    texts = {f"text_{name.lower()}" if name else "text": "\n".join(t) for name, t in span.texts}
    allowed = [value for value, _ in span.answers]
    given = {"span": span.id, "number": number, **texts, "question": span.question}
    return {**given, "answers": allowed, "answer": "", "annotator": "", "comment": ""}
