"""The choices of a run on spans, for the command line and for Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from pydantic import Field

from coherencegym.command_line import above_zero, option
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import SPANS
from coherencegym.eval.tasks.options import CommandLine

CLASSIFIER, MULTIPLE_CHOICE = "classifier", "multiple-choice"
HEADS = (CLASSIFIER, MULTIPLE_CHOICE)
SURPRISAL = "surprisal"
#: The name of the mode of a paper's program, as ``--compat`` takes it, and of the paper.
MODE = "storks-2021"
#: Ways to find the confidence that a choice needs.
RHO = ("folds", "best")


@dataclass(frozen=True)
class SpanOptions:
    """The choices of a run."""

    label_map: str | None = option(
        None,
        "class of a positive answer, such as entailment=2; default: by the names of the classes",
        parse=str,
        metavar="NAME=NUMBER",
    )
    temperature: Annotated[float, Field(gt=0)] = option(
        1.0,
        "surprisal on choices: p = softmax(-bits / T)",
        parse=above_zero,
        metavar="BITS",
        rare=True,
    )
    truncate: bool = option(
        False,
        "with a head: cut texts that are too long at the end, but never a hypothesis; default: "
        "leave such texts out",
    )
    rho: str = option(
        RHO[0],
        "confidence above which an answer to a choice counts; folds: chosen on other texts; best: "
        "chosen on the tested texts, as in the paper",
        choices=RHO,
    )
    compat: str = option(
        "",
        "also compute the scores of the paper's released program, for its own items only",
        choices=("", MODE),
        rare=True,
    )
    #: What answers: the model's head, or surprisals. It follows from the model.
    scorer: str = ""


#: Option -> the scorers that have a use for it.
_ONLY: Mapping[str, tuple[str, ...]] = {
    "label_map": (CLASSIFIER,),
    "temperature": (SURPRISAL,),
    "truncate": HEADS,
}
_DEFAULT = SpanOptions()


def with_scorer(options: SpanOptions, made: Callable[[], str]) -> SpanOptions:
    """The options with the scorer that fits a model's class."""
    name_of_class = made()
    scorer = SURPRISAL
    if "ForMultipleChoice" in name_of_class:
        scorer = MULTIPLE_CHOICE
    elif "ForSequenceClassification" in name_of_class:
        scorer = CLASSIFIER
    for name, scorers in _ONLY.items():
        if getattr(options, name) != getattr(_DEFAULT, name) and scorer not in scorers:
            raise EvaluationError(
                f"--{name.replace('_', '-')}: this model answers by {scorer}, which does not use "
                f"it; expected a model that answers by {' or '.join(scorers)}"
            )
    return replace(options, scorer=scorer)


def own_settings(options: SpanOptions) -> dict[str, Any]:
    """The options that the scorer has a use for, as results record them."""
    return {
        one.name: getattr(options, one.name)
        for one in fields(SpanOptions)
        if options.scorer in _ONLY.get(one.name, (options.scorer,))
    }


COMMAND = CommandLine(
    name="spans",
    kind=SPANS,
    options=SpanOptions,
    units="texts",
    examples="""\
  coherencegym spans --model demo --dataset suites/span_coherence
  coherencegym spans --model FacebookAI/roberta-large-mnli --dataset suites/span_coherence
""",
)
