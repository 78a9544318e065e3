"""Options of reading and running texts, for the command line, the library and the cache's key.

**Modes** (``--compat``). The scores of Gauthier et al. (2020), of Hu et al. (2020) and of Beyer,
Loáiciga and Schlangen (2021) come from ``syntaxgym`` on top of ``lm-zoo``. ``syntaxgym-2021`` does
what those programs did until the summer of 2021, so that a number may be held against a published
one. (In August 2021 ``lm-zoo`` began to put ``<|endoftext|>`` around GPT-2's sentences: its later
numbers are comparable in neither mode.) The README's table says why the default does otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from coherencegym.command_line import flag_of, option, positive
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import TIE_BITS, Item, joined_condition
from coherencegym.eval.models.config import ScorerChoice
from coherencegym.eval.text.masks import MaskingChoice
from coherencegym.eval.text.special import BosChoice


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
_FIXED = ("bos", "separator", "truncate", "word_correction", "special_tokens")
#: Those that go by what precedes a token, which is not all that a masked model sees -> why.
_CAUSAL = {
    "word_correction": "corrects what stands before a token by what precedes it alone",
    "bos": "puts a token before the text for the first one to be read",
}


#: The options of every reading of texts; those of how it is run; the others are of minimal pairs.
INPUT = ("bos", "separator")
RUNNING = ("batch_tokens", "share")


@dataclass(frozen=True, slots=True)
class Options:
    """Choices on which surprisals depend, beside the model and the texts.

    Attributes:
        scorer: the way in which a token's surprisal is read (:mod:`eval.text.masks`).
        masking: what ``pll`` and ``mntp`` mask beside a token.
        bos: start of text; see :mod:`eval.text.special`.
        separator: ``auto``, ``none`` or the text that stands for ``[SEP]``.
        truncate: cut a text that is too long on the left, as far as all conditions are identical.
        word_correction: surprisals of words (:mod:`eval.text.words`).
        special_tokens: see :mod:`eval.text.sequence`.
        rules: another mode, which fixes five of the options above.
        batch_tokens: most tokens in a forward pass, padding included; None: by device and memory.
        share: run what conditions begin with alike once, if the model can.
        every_token: read also the tokens that nothing asks for, separators included.
    """

    bos: BosChoice = option(
        "auto",
        "start-of-text token before every text; auto: exactly one if the model has one",
        choices=get_args(BosChoice),
        rare=True,
    )
    separator: str = option(
        "auto",
        "text for [SEP] in dialogues; auto: the model's separator or end-of-text token",
        metavar="auto|TEXT|none",
        rare=True,
    )
    scorer: ScorerChoice = option(
        "causal",
        "causal, pll (masked language models), mntp (masked next token prediction); default by the "
        "model",
        choices=get_args(ScorerChoice),
        rare=True,
    )
    masking: MaskingChoice = option(
        "within_word_l2r",
        "pll and mntp: mask the rest of a token's word too (Kauf and Ivanova 2023), or not "
        "(Salazar et al. 2020)",
        choices=get_args(MaskingChoice),
        rare=True,
    )
    rules: Annotated[Rules, BeforeValidator(lambda given: MODES.get(given, given))] = option(
        DEFAULT,
        "score as the programs behind the published numbers did (docs/comparing.md has a table)",
        name="compat",
        choices=tuple(MODES),
        rare=True,
    )
    truncate: bool = option(
        False,
        "cut texts that are too long on the left, where all conditions are identical",
        rare=True,
    )
    word_correction: bool = option(
        False,
        "surprisals of words, for tokens that begin with a space (Pimentel and Meister 2024)",
        rare=True,
    )
    special_tokens: bool = option(
        False,
        "read the name of a special token in a text (<unk>, [SEP]) as that token, not as letters, "
        "as lm-evaluation-harness does",
        rare=True,
    )
    batch_tokens: Annotated[int, Field(ge=1)] | None = option(
        None,
        "most tokens in a forward pass, padding included; default by device and memory",
        parse=positive,
        metavar="N",
        rare=True,
    )
    share: bool = option(
        True,
        "read every text from its beginning, also where texts begin alike",
        flags=("--no-sharing",),
        rare=True,
    )
    every_token: bool = False

    @property
    def is_masked(self) -> bool:
        """Tokens are masked in a text that is seen whole."""
        return self.scorer in ("pll", "mntp")

    def check(self) -> None:
        """Refuse options that contradict the mode, which fixes them all, or the scorer."""
        for name in _FIXED if self.rules.name else ():
            if getattr(self, name) != getattr(DEFAULT_OPTIONS, name):
                raise EvaluationError(
                    f"{flag_of(name)} and --compat {self.rules.name}: the mode sets this itself; "
                    "expected one of the two"
                )
        if self.is_masked and self.rules.name:
            raise EvaluationError(
                f"--compat {self.rules.name} and --scorer {self.scorer}: the published numbers are "
                "of causal models; expected one of the two"
            )
        for name, why in _CAUSAL.items() if self.is_masked else ():
            if getattr(self, name) != getattr(DEFAULT_OPTIONS, name):
                raise EvaluationError(
                    f"{flag_of(name)} and --scorer {self.scorer}: it {why}, and a masked model "
                    "sees all of the text; expected one of the two"
                )
        if self.scorer == "causal" and self.masking != DEFAULT_OPTIONS.masking:
            raise EvaluationError(
                f"--masking {self.masking}: a causal model is asked without masks; "
                "expected --scorer pll or mntp with it"
            )

    def settled(self, own: ScorerChoice) -> Options:
        """The options with the scorer that ``auto`` is for a model, which is read by ``own``."""
        if self.scorer == "causal" and own != "causal":
            raise EvaluationError(
                "a masked language model has no surprisal of a token given what precedes it alone; "
                "expected a causal one, or --scorer pll"
            )
        chosen = replace(self, scorer=own if self.scorer == "auto" else self.scorer)
        chosen.check()
        return chosen

    def record(self) -> dict[str, Any]:
        """The options that can change a number of the results, as JSON holds them.

        ``every_token`` is none of them: the tokens that it adds are in no score. What is read from
        left to right, and names as letters, is recorded as before there were other ways.
        """
        fixed = _FIXED if self.special_tokens else _FIXED[:-1]
        return {
            **({"scorer": self.scorer, "masking": self.masking} if self.is_masked else {}),
            **{name: getattr(self, name) for name in fixed},
            "compat": self.rules.name or None,
            "batch_tokens": self.batch_tokens,
            "share": self.share,
        }

    def signed(self) -> dict[str, Any]:
        """What is recorded, is not as by default, and changes more of a number than last digits."""
        usual = DEFAULT_OPTIONS.record()
        return {
            name: value
            for name, value in self.record().items()
            if name not in RUNNING and value != usual.get(name)
        }

    def identity(self) -> dict[str, Any]:
        """Part of the cache's key: what the surprisal of a token sequence depends on.

        What is masked is part of each row's own key, so that two ways of masking share rows.
        """
        if self.is_masked:
            return {"scorer": self.scorer, "head": "float32"}
        return {"share": self.share, "head": "float32"}


#: Every option as it is by default.
DEFAULT_OPTIONS = Options()


def with_joined_regions(item: Item) -> Item:
    """The item with its regions joined by one space, as SyntaxGym's sentences are."""
    conditions = (joined_condition(c.condition_name, c.regions) for c in item.conditions)
    return replace(item, conditions=tuple(conditions))


#: Ways to make one vector of a span's tokens: their mean, the last of them, or the first token of
#: the whole sequence, which an encoder's tokenizer puts there.
Pool = Literal["mean", "last", "cls"]


POOLS: tuple[Pool, ...] = ("mean", "last", "cls")
