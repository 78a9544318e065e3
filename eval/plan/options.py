"""Options of reading and running texts, for the command line, the library and the cache's key.

**Modes** (``--compat``). The scores of Gauthier et al. (2020), of Hu et al. (2020) and of Beyer,
Loáiciga and Schlangen (2021) come from ``syntaxgym`` on top of ``lm-zoo``. ``syntaxgym-2021`` does
what those programs did until the summer of 2021, so that a number may be held against a published
one. (In August 2021 ``lm-zoo`` began to put ``<|endoftext|>`` around GPT-2's sentences: its later
numbers are comparable in neither mode.) The README's table says why the default does otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import Item, joined_condition
from coherencegym.eval.kinds.predictions import TIE_BITS
from coherencegym.eval.text.choices import BosChoice, SpaceChoice


@dataclass(frozen=True, slots=True)
class Rules:
    """The choices in which scoring programs differ.

    Attributes:
        name: the mode's; empty for the default.
        joins_regions: a condition's text is its regions joined by one space, not its content.
        separator_is_text: ``[SEP]`` is ordinary text.
        tokenizer_adds: start and end tokens are those that the tokenizer adds by itself, in the
            first and in the last region.
        first_token_is_zero: the first token that the model reads counts as 0; else not at all.
        whole_sums_regions: ``*`` is the sum of the regions' values; else of all tokens the metric.
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

#: The options that a mode fixes.
_FIXED = ("bos", "separator", "separator_space", "truncate", "word_correction")


@dataclass(frozen=True, slots=True)
class Options:
    """Choices on which surprisals depend, beside the model and the texts.

    Attributes:
        bos: start of text: ``auto``, ``always`` or ``never``; see :mod:`eval.text.special`.
        separator: ``auto``, ``none`` or the text that stands for ``[SEP]``.
        separator_space: ``keep`` or ``drop`` the white space after a separator.
        truncate: cut a text that is too long on the left, as far as all conditions are identical.
        word_correction: surprisals of words (:mod:`eval.text.words`).
        rules: another mode, which fixes the five options above.
        batch_tokens: most tokens in a forward pass, padding included; None: by device and memory.
        share: run what conditions begin with alike once, if the model can.
        every_token: read also the tokens that nothing asks for, separators included.
    """

    bos: BosChoice = "auto"
    separator: str = "auto"
    separator_space: SpaceChoice = "keep"
    truncate: bool = False
    word_correction: bool = False
    rules: Rules = DEFAULT
    batch_tokens: Annotated[int, Field(ge=1)] | None = None
    share: bool = True
    every_token: bool = False

    def check(self, said: Callable[[str], str] = str) -> None:
        """Refuse options that contradict the mode, which fixes them all.

        ``said`` gives what the user calls an option, from its name here.

        Raises:
            EvaluationError: an option that the mode fixes is not what it is by default.
        """
        for name in _FIXED if self.rules.name else ():
            if getattr(self, name) != getattr(DEFAULT_OPTIONS, name):
                raise EvaluationError(
                    f"{said(name)} and --compat {self.rules.name}: the mode sets this itself; "
                    "expected one of the two"
                )

    def record(self) -> dict[str, Any]:
        """The options that can change a number of the results, as JSON holds them.

        ``every_token`` is none of them: the tokens that it adds are in no score.
        """
        return {
            **{name: getattr(self, name) for name in _FIXED},
            "compat": self.rules.name or None,
            "batch_tokens": self.batch_tokens,
            "share": self.share,
        }

    def identity(self) -> dict[str, Any]:
        """Part of the cache's key: what the surprisal of a token sequence depends on."""
        return {"share": self.share, "head": "float32"}


#: Every option as it is by default.
DEFAULT_OPTIONS = Options()


def with_joined_regions(item: Item) -> Item:
    """The item with its regions joined by one space, as SyntaxGym's sentences are."""
    conditions = (joined_condition(c.condition_name, c.regions) for c in item.conditions)
    return replace(item, conditions=tuple(conditions))
