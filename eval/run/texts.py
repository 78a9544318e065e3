"""Surprisals of texts by models, by token or by word, as reading-time studies take them.

The surprisal of a word is the sum of those of its tokens (Smith and Levy 2013). Of tokenizers that
put the space before a word into its first token, ``word_correction`` moves the probability that a
word ends from the next word's first token to the word (Pimentel and Meister 2024; Oh and Schuler
2024).
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import did_you_mean, option, options_in
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.pairs import ID_NAMES, condition_after
from coherencegym.eval.models.machine import ALONE, world
from coherencegym.eval.plan.options import Options
from coherencegym.eval.run.call import described_model, parse_options, progress_bar, reading_model
from coherencegym.eval.run.options import DATA, WRITTEN, ModelOptions, OutputOptions, each_model
from coherencegym.eval.text.sequence import name_notes
from coherencegym.files.tables import FRAME_SUFFIXES, read_frame, read_text, records

if TYPE_CHECKING:
    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.surprisal import ScoredCondition

#: The column of texts, where none is named.
TEXT_NAME = "text"
#: The endings of files of texts: one text a line, or a table.
TEXT_SUFFIXES = (".txt", *FRAME_SUFFIXES)


@dataclass(frozen=True)
class TextOptions:
    """The columns of texts, and what has a row."""

    column: str | None = option(
        None, f"column of the texts; default {TEXT_NAME}", metavar="COLUMN", group=DATA
    )
    context: str | None = option(
        None,
        "column of contexts, which precede the texts and are not scored",
        metavar="COLUMN",
        group=DATA,
    )
    by: str = option(
        "word",
        "one row per word (between white space) or per token",
        choices=("word", "token"),
        group=WRITTEN,
    )


#: The options of a call, and the names that it takes of each.
TEXT_KINDS = (
    (ModelOptions, options_in(ModelOptions)),
    (Options, options_in(Options)),
    (TextOptions, options_in(TextOptions)),
    (OutputOptions, ("cache", "no_cache", "quiet")),
)


def surprisal_rows(
    texts: Any,
    given: Mapping[str, Any],
    contexts: Sequence[str | None] | None = None,
    *,
    in_shell: bool = False,
) -> list[dict[str, Any]]:
    """A row for each token, or word, of each text, by each model.

    Args:
        texts: a list of texts, a file or a data frame.
        given: the options that were given, the model among them.
        contexts: a text before each of a list.
        in_shell: several processes may have been launched, and lines go to standard error.
    """
    where = "" if in_shell else "surprisal"
    usual = {"scorer": "auto", "by": "word" if in_shell else "token"}
    model, reading, chosen, output = parse_options(TEXT_KINDS, given, where, usual)
    reading.check()
    if isinstance(texts, str):
        # Not whether it is there: the name of a file may not be as long as a text.
        if Path(texts).suffix.lower() not in TEXT_SUFFIXES:
            expected = f"a list of texts, a file ({', '.join(TEXT_SUFFIXES)}) or a data frame"
            raise EvaluationError(f"surprisal: {texts!r:.60}; expected {expected}")
        texts = Path(texts)
    labelled = labelled_texts(texts, chosen.column, chosen.context, contexts)
    processes, rows = world() if in_shell else ALONE, []
    for each in each_model(model):
        one = described_model(each, "surprisal", lambda model: True, reading.scorer)
        said = one.name, len(labelled[0]), "texts", output.quiet or not processes.is_first
        tell = partial(_tell, one.name) if in_shell else warnings.warn
        with (
            reading_model(one, reading, output, processes) as (loaded, how, cache),
            progress_bar(*said) as step,
        ):
            run: Any = {"store": cache, "progress": partial(step, ""), "world": processes}
            found = _rows(loaded, *labelled, chosen.by, how, tell, **run)
            rows += [{"model": one.name, **row} for row in found]
    return rows


def labelled_texts(
    given: Any,
    column: str | None = None,
    context: str | None = None,
    contexts: Sequence[Any] | None = None,
) -> tuple[list[dict[str, Any]], list[Any], Sequence[Any] | None]:
    """Labels of texts, the texts, and a context before each; None: no text has one.

    The labels are the columns of a text in a table of results: ``text_number`` (its row, or its
    line in a file of plain text, from 1), and its id where the texts have ids. Nothing is checked.

    Args:
        given: a path: a ``.txt`` file of one text a line, or a table; a data frame; or texts.
        column, context: the columns of the texts (by default ``text``) and of their contexts.
        contexts: the contexts of texts that have no columns.
    """
    where, named, is_lines = "texts", column or TEXT_NAME, False
    if isinstance(given, Path):
        where, is_lines = str(given), given.suffix.lower() == ".txt"
        given = (
            read_text(given).splitlines() if is_lines else read_frame(given, f"a column {named!r}")
        )
    if hasattr(given, "columns"):
        for name in filter(None, (named, context)):
            if name not in given:
                listed, near = ", ".join(map(str, given)), did_you_mean(name, given)
                raise EvaluationError(
                    f"{where}: no column {name!r}; there are {listed}; expected one of them with "
                    f"--column or --context, in Python column= or context={near}"
                )
        rows = records(given)
    elif column or context:
        what = "a .txt file has" if is_lines else "a list of texts has"
        raise EvaluationError(f"{where}: {what} no columns; expected a table, or no column")
    else:
        rows = [{named: text} for text in given]
    numbered = [(n, row) for n, row in enumerate(rows, 1) if not is_lines or row[named].strip()]
    if is_lines and not numbered:
        raise EvaluationError(f"{where}: the file is empty; expected a text on each line")
    if context is not None:
        contexts = [row[context] for row in rows]
    names = [name for name in ID_NAMES if rows and name in rows[0]][:1]
    labels = [{"text_number": n, **{name: row[name] for name in names}} for n, row in numbered]
    return labels, [row[named] for _, row in numbered], contexts


def _tell(model: str, said: str) -> None:
    print(f"! {model}: {said}", file=sys.stderr)


_NAME = "text"


def _rows(
    model: LoadedModel,
    labels: Sequence[Mapping[str, Any]],
    texts: Sequence[Any],
    contexts: Sequence[Any] | None,
    by: str,
    options: Options,
    tell: Callable[[str], object],
    **running: Any,
) -> Iterator[dict[str, Any]]:
    # The labels of a text, ``number`` of the token in it (from 1), ``token`` or ``word``, ``start``
    # and ``end`` (characters of the text), ``bits`` (None where a first token has nothing before
    # it, or begins in the context). ``tell`` takes each line that a reader of the rows must know.
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.surprisal import surprisals

    if not texts:
        raise EvaluationError("no text; expected at least one")
    if contexts is not None and len(contexts) != len(texts):
        raise EvaluationError(f"{len(contexts)} contexts of {len(texts)} texts; expected as many")
    names = [f"text {label['text_number']}" for label in labels]
    conditions = []
    for number, (name, text) in enumerate(zip(names, texts, strict=True)):
        if not isinstance(text, str) or not text.strip():
            raise EvaluationError(f"{name}: {text!r:.60}; expected a text that is not empty")
        context = None if contexts is None else contexts[number] or ""
        conditions.append(condition_after(_NAME, context, text))
    region = 1 if contexts is None else 2
    queries = [
        Query(name, [condition], {_NAME: {region}})
        for name, condition in zip(names, conditions, strict=True)
    ]
    found = surprisals(model.model, model.tokenizer, queries, options, **running)
    rendering = found.rendering
    for note in name_notes(rendering.names, options.special_tokens):
        tell(note.text)
    entered = shared = 0
    for number, (condition, answer) in enumerate(zip(conditions, found.items, strict=True)):
        if _NAME not in answer.conditions:
            raise EvaluationError(
                f"{names[number]}: longer than the model's context of "
                f"{rendering.context:,} tokens; expected a shorter text, or context"
            )
        start, end = condition.region_offsets[-1]
        offset = len(condition.content) - len(texts[number])
        entered += answer.conditions[_NAME].encoding.is_entered(region)
        tokens = _tokens(answer.conditions[_NAME], condition.content, region, offset)
        rows = tokens if by == "token" else _words(tokens, condition.content, start, end)
        for place, row in enumerate(rows, start=1):
            span = {"start": row["start"] - offset, "end": row["end"] - offset}
            shared += len(row.get("word", "").split()) > 1
            yield {**labels[number], "number": place, **row, **span}
    if entered:
        tell(
            f"{entered:,} of {len(texts):,} texts begin within the last token of their context; "
            "the words in this token have no bits"
        )
    if shared:
        tell(f"{shared:,} rows are of several words each, which share a token")


def _tokens(
    scored: ScoredCondition, content: str, region: int, first: int
) -> Iterator[Mapping[str, Any]]:
    encoding = scored.encoding
    for place, (own_region, reached) in enumerate(
        zip(encoding.regions, encoding.reached, strict=True)
    ):
        if region not in (own_region, *(other for other, _ in reached)):
            continue
        # The space between context and text is part of a token, and of no text.
        start, end = max(first, encoding.starts[place]), encoding.ends[place]
        bits = float(scored.bits[place]) if own_region == region else math.nan
        own = None if math.isnan(bits) else bits
        yield {"token": content[start:end], "start": start, "end": end, "bits": own}


def _words(
    tokens: Iterable[Mapping[str, Any]], content: str, start: int, end: int
) -> Iterator[Mapping[str, Any]]:
    # The sums over words, which white space parts; a token of white space is the next word's.
    # Words that share a token are one.
    words = list(re.compile(r"\S+").finditer(content, start, end))
    starts, ends = [word.start() for word in words], [word.end() for word in words]
    bits: list[list[float | None]] = [[] for _ in words]
    goes_on = [False for _ in words]
    for token in tokens:
        if (own := bisect_right(ends, token["start"])) < len(words):
            bits[own].append(token["bits"])
            for later in range(own + 1, bisect_left(starts, token["end"])):
                goes_on[later] = True
    rows: list[tuple[int, int, list[float | None]]] = []
    for begin, stop, found, joins in zip(starts, ends, bits, goes_on, strict=True):
        before = rows.pop() if joins else (begin, stop, [])
        rows.append((before[0], stop, [*before[2], *found]))
    for begin, stop, found in rows:
        known = [one for one in found if one is not None]
        whole = math.fsum(known) if known and len(known) == len(found) else None
        yield {"word": content[begin:stop], "start": begin, "end": stop, "bits": whole}
