"""The choices of a probe."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from coherencegym.command_line import flag_of, not_negative, option, positive
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import EXAMPLES
from coherencegym.eval.plan.options import POOLS
from coherencegym.eval.tasks.options import CommandLine

#: The choices of ``--encoding`` and ``--input``.
ENCODINGS = ("isolated", "in-context", "whole")
INPUT_CHOICES = ("published", "pair", "first")
#: The layer of ``--compat discoeval-2019``: the mean over all of them.
MEAN_LAYER = -1
#: The mode of the published protocol.
COMPAT = "discoeval-2019"
#: The choice of the last layer, whatever its number.
LAST = (-1,)


def layers(text: str) -> tuple[int, ...]:
    """Numbers of layers, for argparse: ``all`` is none of them, ``last`` is -1."""
    if text == "all":
        return ()
    if text == "last":
        return LAST
    try:
        found = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}; expected all, last, or numbers with commas between them"
        ) from None
    if found[0] < 0:
        raise argparse.ArgumentTypeError(
            f"layer {found[0]}; expected 0 for the embeddings, or more"
        )
    return found


@dataclass(frozen=True)
class ProbeOptions:
    """The choices of a run; no layers: all of them."""

    layers: tuple[int, ...] = option(
        (),
        "layers that are probed; 0 is the embeddings; default all",
        parse=layers,
        metavar="all|last|0,4,8",
    )
    pool: str = option(
        "auto",
        f"tokens that give a segment's vector: {', '.join(POOLS)}",
        choices=("auto", *POOLS),
        metavar="NAME",
    )
    encoding: str = option(
        "isolated",
        f"context of a segment: {', '.join(ENCODINGS)}",
        choices=ENCODINGS,
        metavar="NAME",
    )
    input: str = option(
        "published",
        "combination of vectors: published, pair, first",
        choices=INPUT_CHOICES,
        metavar="NAME",
    )
    train_on: str = option(
        "",
        "config that trains the probe of every tested config; default: each trains its own",
        metavar="CONFIG",
    )
    random_init: Annotated[int, Field(ge=0)] = option(
        3,
        "number of randomly initialised models of the same architecture",
        parse=not_negative,
        metavar="N",
        rare=True,
    )
    seed: int = option(0, "seed of all random draws", metavar="N", rare=True)
    compat: str = option(
        "",
        "train the classifiers of the paper, for its own items only",
        choices=("", COMPAT),
        rare=True,
    )
    batch_tokens: Annotated[int, Field(ge=1)] | None = option(
        None,
        "most tokens in a forward pass, padding included; default by device and memory",
        parse=positive,
        metavar="N",
        rare=True,
    )


def check_probe(options: ProbeOptions) -> ProbeOptions:
    """The options, of which ``compat`` says most by itself."""
    if not options.compat:
        return options
    plain = ProbeOptions()
    for name in ("layers", "encoding", "input", "train_on"):
        if getattr(options, name) != getattr(plain, name):
            raise EvaluationError(
                f"--compat {options.compat}: the mode sets {flag_of(name)} itself; leave the "
                "option out"
            )
    return replace(options, random_init=0)


COMMAND = CommandLine(
    name="probe",
    kind=EXAMPLES,
    options=ProbeOptions,
    reads_bits=False,
    units="rows",
    examples="""\
  coherencegym probe --model gpt2 --dataset coherencegym/discourse_tasks --config relation_gum_rst
  coherencegym probe --model bert-base-uncased --dataset suites/discourse_tasks --pool cls
""",
)
