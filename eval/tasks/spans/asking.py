"""A model asked about the spans of a table.

A span goes into a template, and the log-probabilities of two answers after it, or of one for each
alternative, are held against those after the template with an empty text (Zhao et al. 2021), which
take away what the model would say anyway. As one template says little about a model, there are
three, and the metrics of each stand beside those of their mean.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.kinds.items import SEPARATOR, Condition, Region
from coherencegym.eval.kinds.spans import SPANS, SpanText
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.tasks.spans.answers import Answered, RowAnswers
from coherencegym.eval.tasks.spans.coherence import (
    SpanPlace,
    SpanPrediction,
    identical_spans,
    places_of,
)
from coherencegym.eval.tasks.spans.data import (
    CHOICE,
    COHERENCE,
    ENTAILMENT,
    SpanTable,
    span_content,
)
from coherencegym.eval.tasks.spans.heads import head_answers, refuse_question
from coherencegym.eval.tasks.spans.options import HEADS, PROMPT, SURPRISAL, SpanOptions
from coherencegym.eval.tasks.spans.released import paper_table, paper_tables
from coherencegym.eval.tasks.spans.zero_shot import softmax, surprisal_answers
from coherencegym.eval.text.special import chat_of, has_chat_template

if TYPE_CHECKING:
    from coherencegym.eval.surprisal import Answer

#: The regions of what asks, of the answer, and of the first text.
_QUESTION, _ANSWER, _FIRST = 1, 2, 3


@dataclass(frozen=True)
class Template:
    """A question in words: ``{text}`` (or ``{texts}`` of a choice), ``{hypothesis}``, answers.

    The negative answer comes first; those of a choice are letters.
    """

    text: str
    answers: tuple[str, ...] = ()


#: The templates by question; the text comes first, so that spans with one beginning share it.
TEMPLATES: Mapping[str, Mapping[str, Template]] = {
    ENTAILMENT: {
        "true or false": Template(
            "{text}\nTrue or false: {hypothesis}\nAnswer:", ("false", "true")
        ),
        "does it follow": Template(
            '{text}\nQuestion: Does it follow that "{hypothesis}"? Yes or no?\nAnswer:',
            ("no", "yes"),
        ),
        "can we say": Template(
            "{text}\nBased on this alone, can we say: {hypothesis}\nAnswer yes or no:",
            ("no", "yes"),
        ),
    },
    COHERENCE: {
        "does it fit": Template(
            "{text}\nQuestion: Is there something in this text that does not fit? Yes or no?\n"
            "Answer:",
            ("no", "yes"),
        ),
        "good or bad": Template(
            "{text}\nIs this text coherent or incoherent?\nAnswer:", ("coherent", "incoherent")
        ),
        "right or wrong": Template(
            "{text}\nIs everything right with this text, or is something wrong?\nAnswer:",
            ("right", "wrong"),
        ),
    },
    CHOICE: {
        "which": Template("{texts}\nQuestion: Which text makes more sense?\nAnswer:"),
        "plausible": Template("{texts}\nThe more plausible of these texts is"),
        "better": Template("{texts}\nQuestion: Which of these is the better story?\nAnswer:"),
    },
}


def prompt_answers(
    model: LoadedModel,
    table: SpanTable,
    options: Options = DEFAULT_OPTIONS,
    *,
    truncate: bool = False,
    apply_chat_template: bool = False,
    **run: Any,
) -> Answered:
    """Answer the spans of a table by each template, and by the mean of their log-odds.

    Args:
        model: a causal language model.
        table: the rows.
        options: reading and running.
        truncate: cut the end of texts that are too long, never of a question; of a choice the
            longest; else their rows are left out.
        apply_chat_template: a template is the message of a user, and the answer the model's.
        run: the other arguments of :func:`eval.surprisal.surprisals`.
    """
    from coherencegym.eval.surprisal import surprisals

    if table.question == CHOICE and len(table.rows[0].alternatives) > len(string.ascii_uppercase):
        raise ConfigError(f"{table.table.name}: more alternatives than letters; expected fewer")
    templates = TEMPLATES[table.question]
    chat = chat_of(model.tokenizer) if apply_chat_template else None
    queries = prompt_queries(table, truncate=truncate, chat=chat is not None)
    read = surprisals(
        model.model, model.tokenizer, queries, options, uses_separator=False, chat=chat, **run
    )
    given = iter(read.items)
    number = len(table.rows)
    cut = [any(one.shortened for one in read.items[row::number]) for row in range(number)]
    found: dict[str, list[Mapping[SpanPlace, list[float]] | None]] = {
        name: [_logs(row, template, next(given)) for row in table.rows]
        for name, template in templates.items()
    }
    # Rows are held against each other by all templates, or left out of all.
    whole = [all(own[n] is not None for own in found.values()) for n in range(len(table.rows))]

    def answers(names: Sequence[str]) -> list[RowAnswers]:
        return [
            _prediction(row, [found[name][number] or {} for name in names])
            if whole[number]
            else None
            for number, row in enumerate(table.rows)
        ]

    return Answered(
        table,
        answers(list(templates)),
        cut=sum(own and whole[row] for row, own in enumerate(cut)),
        by_template={name: answers([name]) for name in templates},
        about={
            "templates": {name: template.text for name, template in templates.items()},
            "chat_template": chat.text if chat else None,
            "ignores_chat_template": chat is None and has_chat_template(model.tokenizer),
        },
    )


def prompt_queries(table: SpanTable, *, truncate: bool = False, chat: bool = False) -> list[Query]:
    """The texts that are read: each row in each template; their ends may be cut (``truncate``).

    In a ``chat`` the model's turn begins where ``[SEP]`` stands.
    """
    templates = TEMPLATES[table.question].values()
    for row in table.rows if chat else ():
        if any(SEPARATOR in text for text in SPANS.texts(row)):
            raise ConfigError(
                f"{row.item_id}: {SEPARATOR} in its text; expected none with --apply-chat-template"
            )
    before = SEPARATOR if chat else " "
    return [_query(row, template, truncate, before) for template in templates for row in table.rows]


def _answers(row: SpanText, template: Template) -> Sequence[str]:
    return template.answers or string.ascii_uppercase[: len(row.alternatives)]


def _query(row: SpanText, template: Template, truncate: bool, before: str) -> Query:
    conditions = []
    for name, asked in _asked(row, template):
        for answer in _answers(row, template):
            regions = (*asked, Region(_QUESTION, before), Region(_ANSWER, answer))
            content = "".join(one.content for one in regions)
            conditions.append(Condition(f"{name} {answer}", content, regions))
    gives = {one.region_number for one in conditions[0].regions} - {_QUESTION, _ANSWER}
    read = frozenset({_ANSWER})
    return Query(
        row.item_id,
        conditions,
        {one.condition_name: read for one in conditions},
        frozenset(gives) if truncate else frozenset(),
    )


_EMPTY = "empty"


def _asked(row: SpanText, template: Template) -> Iterator[tuple[str, list[Region]]]:
    # With each span, and with an empty text.
    number = max(1, len(row.alternatives))
    texts = {_EMPTY: ["N/A"] * number}
    for place in places_of(row):
        texts[str(place)] = [span_content(row, place, which) for which in range(number)]
    for name, own in texts.items():
        yield name, list(_pieces(row, template, own))


def _pieces(row: SpanText, template: Template, texts: Sequence[str]) -> Iterator[Region]:
    # What stands in braces in a text is no field.
    for piece in re.split(r"(\{\w+\})", template.text):
        if piece == "{hypothesis}":
            yield Region(_QUESTION, row.hypothesis.strip())
        elif piece in ("{text}", "{texts}"):
            letters = string.ascii_uppercase if piece == "{texts}" else [""]
            for number, (letter, text) in enumerate(zip(letters, texts, strict=False)):
                if letter:
                    yield Region(_QUESTION, f"\n{letter}: " if number else f"{letter}: ")
                yield Region(_FIRST + number, text)
        elif piece:
            yield Region(_QUESTION, piece)


def _logs(
    row: SpanText, template: Template, answer: Answer
) -> Mapping[SpanPlace, list[float]] | None:
    # In nats.
    if answer.too_long:
        return None

    def of(name: str) -> list[float]:
        return [
            -math.log(2) * answer.conditions[f"{name} {said}"].answer_bits(_ANSWER)
            for said in _answers(row, template)
        ]

    empty = of(_EMPTY)
    return {
        place: [own - base for own, base in zip(of(str(place)), empty, strict=True)]
        for place in places_of(row)
    }


def _prediction(
    row: SpanText, found: Sequence[Mapping[SpanPlace, list[float]]]
) -> dict[SpanPlace, SpanPrediction]:
    # By the mean of the templates' log-probabilities.
    same = identical_spans(row) if row.is_choice else frozenset()
    predicted = {}
    for place in places_of(row):
        chances = softmax([fmean(own) for own in zip(*(f[place] for f in found), strict=True)])
        if place in same:
            # Which letter a model likes says nothing about two texts that are one.
            chances = [1 / len(chances)] * len(chances)
        predicted[place] = (
            SpanPrediction.of_choice(chances)
            if row.is_choice
            else SpanPrediction.of_one_text(chances[1])
        )
    return predicted


def askable(options: SpanOptions, table: SpanTable) -> SpanTable:
    """A table that can be asked about so, as far as can be told without the model."""
    if options.compat and paper_table(table.table.config) is None:
        raise ConfigError(
            f"--compat {options.compat}: {table.table.name} is not of the paper; expected "
            f"--config {' or '.join(paper_tables())}"
        )
    if options.scorer in HEADS:
        refuse_question(options.scorer, table)
    return table


def ask_spans(
    model: LoadedModel,
    table: SpanTable,
    options: SpanOptions,
    reading: Options = DEFAULT_OPTIONS,
    **run: Any,
) -> Answered:
    """Ask a model about every span of a table.

    Args:
        model: one with the scorer's head, or a causal language model.
        table: the rows.
        options: those of :func:`with_scorer`.
        reading: ways in which a causal model reads; of a model with a head the size of batches.
        run: further arguments of :func:`eval.surprisal.surprisals`.
    """
    how: dict[str, Any] = {"truncate": options.truncate}
    _check_head(model, options.scorer)
    if options.scorer not in HEADS and model.scorer != "causal":
        raise EvaluationError(
            f"model {model.name!r} is a masked language model; expected a causal one for --scorer "
            f"{options.scorer}"
        )
    if options.scorer in HEADS:
        # The paper's program reads no more.
        how["max_length"] = 128 if options.compat else None
        how |= {"label_map": options.label_map, "batch_tokens": reading.batch_tokens}
        found = head_answers(model, options.scorer, table, **how)
    elif options.scorer == PROMPT:
        how["apply_chat_template"] = options.apply_chat_template
        found = prompt_answers(model, table, reading, **how, **run)
    else:
        how["temperature"] = options.temperature
        found = surprisal_answers(model, table, reading, **how, **run)
    answered = replace(found, rho=options.rho, compat=options.compat)
    if not answered.judged:
        raise ConfigError(
            f"{table.table.name}: all {len(table.rows):,} rows exceed the model's context; "
            "expected --truncate, or another model"
        )
    return answered


def _check_head(model: LoadedModel, scorer: str) -> None:
    made = type(model.model).__name__
    answers = ("ForSequenceClassification", "ForMultipleChoice")
    others = ("ForCausalLM", "LMHeadModel") if scorer in HEADS else answers
    if any(other in made for other in others):
        raise EvaluationError(
            f"model {model.name!r} is a {made}, and --scorer {scorer} needs another kind of model; "
            f"expected {' or '.join(HEADS) if others == answers else f'{SURPRISAL} or {PROMPT}'}"
        )
