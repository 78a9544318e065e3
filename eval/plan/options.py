"""How texts are read and run: one value for the command line, the library and the cache's key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from coherencegym.eval.kinds.compat import DEFAULT, Rules, refuse_options

if TYPE_CHECKING:
    from coherencegym.eval.text.special import BosChoice, SpaceChoice

#: The options that a mode fixes.
_FIXED = ("bos", "separator", "separator_space", "truncate", "word_correction")


@dataclass(frozen=True, slots=True)
class Options:
    """What surprisals depend on beside the model and the texts.

    Attributes:
        bos: start of text: ``auto``, ``always`` or ``never``; see :mod:`eval.text.special`.
        separator: ``auto``, ``none`` or the text that stands for ``[SEP]``.
        separator_space: ``keep`` or ``drop`` the white space after a separator.
        truncate: cut a text that is too long on the left, as far as all conditions are identical.
        word_correction: surprisals of words, for tokens that begin with a space; see
            :mod:`eval.text.words`.
        rules: another mode (:mod:`eval.kinds.compat`), which fixes the five options above.
        batch_tokens: most tokens in a forward pass, padding included; None: by device, on a GPU by
            its free memory.
        share: run what conditions begin with alike once, if the model can.
        every_token: read also the tokens that nothing asks for, separators included.
    """

    bos: BosChoice = "auto"
    separator: str = "auto"
    separator_space: SpaceChoice = "keep"
    truncate: bool = False
    word_correction: bool = False
    rules: Rules = DEFAULT
    batch_tokens: int | None = None
    share: bool = True
    every_token: bool = False

    def check(self, said: Callable[[str], str] = str) -> None:
        """Refuse options that contradict the mode.

        Args:
            said: what the user calls an option, from its name here.

        Raises:
            EvaluationError: an option that the mode fixes is not what it is by default.
        """
        defaults = {field.name: field.default for field in fields(self)}
        given = {said(name): (getattr(self, name), defaults[name]) for name in _FIXED}
        refuse_options(self.rules, given)

    def record(self) -> dict[str, Any]:
        """What results record: the options that can change a number of theirs, as JSON holds them.

        ``every_token`` is none of them: the tokens that it adds are in no score.
        """
        return {
            **{name: getattr(self, name) for name in _FIXED},
            "compat": self.rules.name or None,
            "batch_tokens": self.batch_tokens,
            "share": self.share,
        }

    def identity(self) -> dict[str, Any]:
        """What the surprisal of a token sequence depends on: the part of the cache's key.

        How texts become token sequences is none of it, and batches do not change what is kept.
        """
        return {"share": self.share, "head": "float32"}


#: Every option as it is by default.
DEFAULT_OPTIONS = Options()
