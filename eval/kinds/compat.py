"""Where this evaluator departs from the one behind published numbers, and how to go back to it.

The scores of Gauthier et al. (2020), of Hu et al. (2020) and of Beyer, Loáiciga and Schlangen
(2021) come from ``syntaxgym`` on top of ``lm-zoo``. ``--compat syntaxgym-2021`` does what those
programs did until the summer of 2021, so that a number may be held against a published one. (In
August 2021 ``lm-zoo`` began to put ``<|endoftext|>`` around GPT-2's sentences: its later numbers
are comparable in neither mode.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Condition, Item, Region, join_regions
from coherencegym.eval.kinds.predictions import TIE_BITS


@dataclass(frozen=True, slots=True)
class Rules:
    """The choices in which scoring programs differ; :data:`DEPARTURES` says why the default's.

    Attributes:
        name: of the mode; empty for the default.
        joins_regions: a condition's text is its regions joined by one space, not its content.
        separator_is_text: ``[SEP]`` is ordinary text.
        tokenizer_adds: start and end tokens are what the tokenizer adds by itself, and they belong
            to the first and to the last region.
        first_token_is_zero: the first token that the model reads has surprisal 0 and is counted;
            else it has none.
        whole_sums_regions: ``*`` is the sum of the regions' values; else the metric over all
            tokens.
        identical_counts: conditions that are the same tokens are judged; else left out.
        tie_bits: sides no further apart than this (bits) tie.
    """

    name: str = ""
    joins_regions: bool = False
    separator_is_text: bool = False
    tokenizer_adds: bool = False
    first_token_is_zero: bool = False
    whole_sums_regions: bool = False
    identical_counts: bool = False
    tie_bits: float = TIE_BITS


DEFAULT = Rules()
SYNTAXGYM_2021 = Rules(
    name="syntaxgym-2021",
    joins_regions=True,
    separator_is_text=True,
    tokenizer_adds=True,
    first_token_is_zero=True,
    whole_sums_regions=True,
    identical_counts=True,
    tie_bits=0.0,
)

#: The modes by the name that ``--compat`` takes.
MODES: Mapping[str, Rules] = {SYNTAXGYM_2021.name: SYNTAXGYM_2021}


@dataclass(frozen=True, slots=True)
class Departure:
    """One row of the README's table: what each mode does, and why the default does otherwise."""

    what: str
    default: str
    syntaxgym_2021: str
    why: str

    @property
    def row(self) -> str:
        """The row in Markdown."""
        return f"| {self.what} | {self.default} | {self.syntaxgym_2021} | {self.why} |"


DEPARTURES = (
    Departure(
        "text of a condition",
        "its `content`, exactly",
        "its regions, joined by one space",
        "a space before a comma or inside a word is no English",
    ),
    Departure(
        "`[SEP]`",
        "the model's separator or end-of-text token, in no region",
        "five literal characters, in their region",
        "no model was trained on the string",
    ),
    Departure(
        "start token",
        "exactly one if the model has one",
        "none, unless the tokenizer adds one",
        "without it the first word cannot be scored",
    ),
    Departure(
        "first token read",
        "no surprisal: left out of the mean and the sum",
        "surprisal 0, counted",
        "it is unknown, not certain: a 0 draws the mean of short regions down",
    ),
    Departure(
        "start and end tokens that the tokenizer adds",
        "no end token; the start token is in no region",
        "inside the first and the last region",
        "they are not the suite's text",
    ),
    Departure(
        "`*`",
        "the metric over all tokens",
        "the sum of the regions' values",
        "a sum of means depends on where regions are cut (for `sum` both are the same)",
    ),
    Departure(
        "conditions that are the same tokens",
        "left out and counted",
        "judged: equal, so `>` and `<` fail",
        "the model was not asked anything",
    ),
    Departure(
        "`>` and `<`",
        f"a difference up to {TIE_BITS:g} bits is a tie",
        "any difference decides",
        "below it the sign is rounding",
    ),
)


def refuse_options(rules: Rules, options: Mapping[str, Any]) -> None:
    """Refuse options that contradict a mode: it fixes them all.

    Args:
        rules: the mode.
        options: name of the option -> its value, and what it is by default.

    Raises:
        EvaluationError: an option is not what it is by default.
    """
    if not rules.name:
        return
    for option, (value, default) in options.items():
        if value != default:
            raise EvaluationError(
                f"{option} and --compat {rules.name}: the mode sets this itself; "
                f"expected one of the two"
            )


def with_joined_regions(item: Item) -> Item:
    """The item with its regions joined by one space, as SyntaxGym's sentences are."""

    def joined(condition: Condition) -> Condition:
        regions = tuple(Region(r.region_number, r.content.strip()) for r in condition.regions)
        content = join_regions(region.content for region in regions)
        return Condition(condition.condition_name, content, regions)

    return replace(item, conditions=tuple(map(joined, item.conditions)))
