"""Readings of pairs by causal language models: which of two texts is the less coherent?

The question is a template, ``templates/pair_reading.txt.jinja``. The answer is the more probable of
the letters A and B after it; nothing is generated. Each pair is read in both orders of its texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import SEPARATOR, Condition, Region

#: The template of the question, in ``templates``.
READING_PROMPT = "pair_reading.txt.jinja"
_QUESTION, _ANSWER = 1, 2


@dataclass(frozen=True, slots=True)
class PairReader:
    """A model that reads pairs: the user's name for it, its commit, and its answers.

    ``answers`` are of each pair (A or B in the order that it was given, A or B in the other one):
    ``a``, ``b``, ``cannot tell`` where both are equally probable, or ``""`` where the texts are too
    long.
    """

    name: str
    commit: str
    answers: tuple[tuple[str, str], ...]


def pair_readings(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Iterator[PairReader]:
    """Answers of each model to all pairs, one model after the other.

    Args:
        names: Hub ids, folders, or ``demo``.
        pairs: the two texts of each; a ``[SEP]`` in them is read as a new line.

    Raises:
        EvaluationError: a model cannot be loaded, or two are of one family: they learned from
            similar texts by similar means, and their agreement is no second opinion.
    """
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.models.load import load, load_config

    quiet_libraries()
    families: dict[str, str] = {}
    for name in names:
        family = str(load_config(name)[0].model_type)
        if (other := families.setdefault(family, name)) != name or names.count(name) > 1:
            raise EvaluationError(
                f"--model {other} {name}: both are of the family {family}, whose models err alike; "
                "expected models of different families"
            )
    if len(names) < 2:
        raise EvaluationError(
            f"--model {' '.join(names)}: one model, whose taste would be the filter; expected two "
            "of different families"
        )
    for name in names:
        loaded = load(name, scorer="causal")
        answers = _answers(loaded.model, loaded.tokenizer, pairs)
        yield PairReader(loaded.name, loaded.commit, answers)


def _answers(
    model: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.surprisal import surprisals

    read = frozenset({_ANSWER})
    queries = [
        Query(f"pair {number}, {order}", conditions, {"a": read, "b": read})
        for number, texts in enumerate(pairs, start=1)
        for order, conditions in (("AB", _asked(*texts)), ("BA", _asked(*texts[::-1])))
    ]
    found = []
    for answer in surprisals(model, tokenizer, queries, uses_separator=False).items:
        if answer.too_long:
            found.append("")
            continue
        a, b = (answer.conditions[one].answer_bits(_ANSWER) for one in "ab")
        found.append("cannot tell" if a == b else "a" if a < b else "b")
    return tuple(zip(found[::2], found[1::2], strict=True))


def _asked(text_a: str, text_b: str) -> list[Condition]:
    from coherencegym.files.templates import templates_of

    text_a, text_b = (re.sub(rf"\s*{re.escape(SEPARATOR)}\s*", "\n", t) for t in (text_a, text_b))
    template = templates_of("eval.tasks").get_template(READING_PROMPT)
    question = template.render(text_a=text_a, text_b=text_b).rstrip("\n") + " "
    return [
        Condition(
            letter, question + letter.upper(), (Region(1, question), Region(2, letter.upper()))
        )
        for letter in "ab"
    ]
