"""Surprisals of texts by models, for Python and the shell."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.command_line import option, options_in
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.pairs import TEXT_NAME, TEXT_SUFFIXES, labelled_texts
from coherencegym.eval.models.machine import ALONE, world
from coherencegym.eval.plan.options import Options
from coherencegym.eval.run.call import parse_options
from coherencegym.eval.run.options import DATA, WRITTEN, ModelOptions, OutputOptions, each_model
from coherencegym.eval.run.progress import batch_bar


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
    from coherencegym.eval.run.call import described_model, reading_model
    from coherencegym.eval.text_surprisal import text_surprisals

    where = "" if in_shell else "surprisal"
    usual = {"scorer": "auto", "by": "word" if in_shell else "token"}
    model, reading, chosen, output = parse_options(TEXT_KINDS, given, where, usual)
    reading.check()
    if isinstance(texts, str):
        # Not whether it is there: the name of a file may not be as long as a text.
        if Path(texts).suffix not in TEXT_SUFFIXES:
            expected = f"a list of texts, a file ({', '.join(TEXT_SUFFIXES)}) or a data frame"
            raise EvaluationError(f"surprisal: {texts!r:.60}; expected {expected}")
        texts = Path(texts)
    labelled = labelled_texts(texts, chosen.column, chosen.context, contexts)
    processes, rows = world() if in_shell else ALONE, []
    for each in each_model(model):
        one = described_model(each, "surprisal", lambda model: True, reading.scorer)
        said = one.name, len(labelled.texts), "texts", output.quiet or not processes.is_first
        tell = partial(_tell, one.name) if in_shell else warnings.warn
        with (
            reading_model(one, reading, output, processes) as (loaded, how, cache),
            batch_bar(*said) as progress,
        ):
            run: Any = {"store": cache, "progress": progress, "world": processes}
            found = text_surprisals(loaded, labelled, chosen.by, how, tell, **run)
            rows += [{"model": one.name, **row} for row in found]
    return rows


def _tell(model: str, said: str) -> None:
    print(f"! {model}: {said}", file=sys.stderr)
