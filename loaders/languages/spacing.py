"""Natural text from tokens, for languages that have no reader of their own for it.

Which signs touch the word before them, and which the one after them, is the same in most languages
that are written in Latin letters; :class:`Spacing` has what differs. Scripts without spaces between
words (Chinese, Japanese) get none, but between words of other scripts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.loaders.text.detokenize import BRACKETS
from coherencegym.words.scripts import is_unspaced

#: Signs that touch what is before them.
_CLOSING = re.compile(r"[.,;:!?…%)\]}»”’°]+|\.{2,}|[.?!]+[\"'”’]")
#: Signs that touch what is after them.
_OPENING = re.compile(r"[(\[{«“‘„‚¿¡#]+")
#: Signs of which two make a pair, so that the place says which one it is.
_EITHER = ('"', "'")
#: Between two words it touches both (``t/m``), between numbers neither (``7 / 8``).
_SLASH = "/"


@dataclass(frozen=True)
class Spacing:
    """The spaces of a language, a :data:`~loaders.languages.language.Layout`.

    Attributes:
        closing, opening: marks of quotation that are closing or opening ones here, though others
            use them otherwise (German ``“`` closes).
        spaced: signs with a space before them (French ``;:!?``).
        unspaced: signs without a space on either side, as the letters of Chinese have none.
        elided: words that touch the next one (Italian ``l'``); a regular expression.
        attached: words that touch the one before (French ``-t-il``); a regular expression.
    """

    closing: str = ""
    opening: str = ""
    spaced: str = ""
    unspaced: str = ""
    elided: str = r"(?!)"
    attached: str = r"(?!)"

    def __call__(self, tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
        """The text of some tokens, and the place of each token in it.

        >>> Spacing()(["Ja", ",", "hij", "(", "ook", ")", "zei", '"', "nee", '"', "."])[0]
        'Ja, hij (ook) zei "nee".'
        """
        if not all(map(str.strip, tokens)):
            raise ValueError(f"a token without characters in {tokens!r}")
        tokens = [BRACKETS.get(token, token) for token in tokens]
        text, places = "", list[tuple[int, int]]()
        sides = self._sides(tokens)
        for number, token in enumerate(tokens):
            touches = not text or sides[number - 1] > 0 or sides[number] < 0
            touches = touches or self._touch(tokens[number - 1], token)
            text += "" if touches else " "
            places.append((len(text), len(text) + len(token)))
            text += token
        return text, places

    def _touch(self, before: str, token: str) -> bool:
        if any(is_unspaced(one) or one in self.unspaced for one in (before[-1], token[0])):
            return True
        if re.fullmatch(self.elided, before, re.IGNORECASE):
            return True
        return re.fullmatch(self.attached, token, re.IGNORECASE) is not None

    def _sides(self, tokens: Sequence[str]) -> list[int]:
        # Of each token: -1 where it touches what is before it, 1 where it touches what follows.
        sides = [self._side(token) for token in tokens]
        for sign in _EITHER:
            own = [number for number, token in enumerate(tokens) if token == sign]
            opened = False
            for number in own:
                first, last = number == 0, number == len(tokens) - 1
                opened = first or (not last and not opened)
                sides[number] = 1 if opened else -1
        triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
        for number, (one, sign, other) in enumerate(triples, 1):
            if sign == _SLASH and one[-1].isalpha() and other[0].isalpha():
                sides[number] = -1
                sides[number + 1] = sides[number + 1] or -1
        return sides

    def _side(self, token: str) -> int:
        if token in self.opening:
            return 1
        if token in self.closing:
            return -1
        if _OPENING.fullmatch(token):
            return 1
        return -1 if _CLOSING.fullmatch(token) and token not in self.spaced else 0
