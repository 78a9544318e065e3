"""TeX in tokenised abstracts: ``$ O ( n^2 ) $`` to ``$O(n^2)$``, ``Schr\\ '' odinger`` to letters.

Formulae stay TeX, as abstracts on arXiv show them; only the white space that tokenisation put in is
taken out, which means nothing to TeX there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

#: Accents that TeX writes in front of a letter, and the combining characters that they are.
_ACCENTS = {
    '"': "\u0308", "''": "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303",
}  # fmt: skip
_ACCENTED = re.compile(
    r"\\ ?(''|[\"'`^~]) ?(?:\{ ?\\?([A-Za-z]) ?\}|\\([ij])\b|([A-Za-z])) ?(?=(\w*))"
)
#: The number of an isotope: ``$^{12}$C``.
_MASS = re.compile(r"\^\{?\d{2,3}(?:, ?\d{2,3})*\}?")
#: Stand-ins for formulae while the words around them are put together.
_FIRST_STAND_IN = 0xE000
_STAND_IN = re.compile("[\ue000-\uf8ff]")
_MOST_FORMULAE = 0x1900


def without_tex_spaces(text: str, detokenize: Callable[[str], str]) -> str:
    """Put formulae together, and the text around them with ``detokenize``.

    Where dollar signs do not pair, formulae are left as they are.
    """
    parts = _accents(text).split("$")
    formulae = [_formula(part) for part in parts[1::2]]
    if len(parts) % 2 == 0 or len(formulae) > _MOST_FORMULAE or _STAND_IN.search(text):
        return detokenize(_groups(text))
    words = parts[0]
    for number, (formula, following) in enumerate(zip(formulae, parts[2::2], strict=True)):
        isotope = _MASS.fullmatch(formula) and re.match(r" [A-Z][a-z]?\b", following)
        if (formula[:1] in ("_", "^") and not isotope) or re.search(r"\w- $", words):
            # It is the end of the word before.
            words = words.rstrip()
        words += chr(_FIRST_STAND_IN + number)
        # What follows its formula closely; other signs are the detokeniser's.
        words += following[1:] if isotope or re.match(r" -\w", following) else following
    words = detokenize(_groups(words))
    words = re.sub(r" ([)\]])(?=[\ue000-\uf8ff])", r"\1", words)
    for number, formula in enumerate(formulae):
        words = words.replace(chr(_FIRST_STAND_IN + number), f"${formula}$")
    return words


def _accents(text: str) -> str:
    # ``Poincar\ ' { e }`` to ``Poincaré``; what is no letter with an accent stays.
    def letter(match: re.Match[str]) -> str:
        base = match[2] or match[3] or match[4]
        composed = unicodedata.normalize("NFC", base + _ACCENTS[match[1]])
        if len(composed) != 1:
            return match[0]
        # The rest of the word follows, if it begins in lower case.
        rest = match[5]
        return composed + (" " if match[0].endswith(" ") and not rest[:1].islower() else "")

    return _ACCENTED.sub(letter, text)


def _formula(text: str) -> str:
    text = re.sub(r"(?<=[(\[{^_]) ", "", text.strip())
    text = re.sub(r" (?=[)\]}^_])", "", text)
    text = re.sub(r"\s*\\\s+%", r"\\%", text)
    text = re.sub(r"(?<=[\w}])\s+(?=[({])", "", text)
    return re.sub(r"\s+(?=[,;:])", "", text)


def _groups(text: str) -> str:
    # ``m_ { H }``, ``{ \it so }``, ``99 \ %``.
    if not re.search(r"[{}\\]", text):
        return text
    text = re.sub(r"(?<=[\^_]) ?\{([^{}]*)\}", lambda m: f"{{{_formula(m[1])}}}", text)
    text = re.sub(r"(?<=[\w}]) (?=[\^_]\{)", "", text)
    text = re.sub(r"\{ ?([^{}]*?) ?\}", r"{\1}", text)
    text = re.sub(r" ([)\]])(?=\})", r"\1", text)
    return re.sub(r" ?\\ %", r"\\%", text)
