"""Contracted verbs after a pronoun, spelt out as they must be after a noun phrase.

``it's`` becomes ``the house is``, as ``the house's`` would be read as a possessive. Rules, not a
parser: where the next word leaves open which verb it is, nothing is decided.
"""

from __future__ import annotations

import re

_CONTRACTED = re.compile(r"['’](s|ll|re|ve|d)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")
_VERBS = {"ll": "will", "re": "are", "ve": "have"}

#: Words between the verb and what shows which one it is.
_BETWEEN = frozenset(
    re.findall(
        r"\w+",
        """not also just never always ever already only still really probably now then often
        usually certainly definitely finally actually basically literally simply clearly recently
        since all both""",
    )
)
#: Words after which the verb is a form of ``have``.
_AFTER_HAVE = frozenset(("been", "got", "gotten", "had", "become"))
#: Participles without ``-ed`` or ``-en``: ``he's gone`` and ``it's made`` do not say which verb.
_PARTICIPLES = frozenset(
    re.findall(
        r"\w+",
        """begun bought brought built burnt caught come cut done drawn drunk dealt felt flown found
        gone grown heard held hit hung hurt kept known laid learnt led left lent let lit lost made
        meant met paid put read run said sat seen sent set shot shown shut sold sought spent stood
        struck stuck sung swum taught thought thrown told torn understood won worn""",
    )
)


class AmbiguousContractionError(ValueError):
    """The contracted verb may be one or the other; the message says which."""


def contracted_verb(after: str) -> tuple[str, int]:
    """The verb whose contraction begins ``after``, the text behind a pronoun, and its characters.

    >>> contracted_verb("'s been sold."), contracted_verb("’ll do."), contracted_verb(" is red.")
    (('has', 2), ('will', 3), ('', 0))

    Raises:
        AmbiguousContractionError: it may be ``is`` or ``has``, or ``had`` or ``would``.
    """
    match = _CONTRACTED.match(after)
    if match is None:
        return "", 0
    short = match[1].lower()
    if short in _VERBS:
        return _VERBS[short], match.end()
    words = (word[0].lower() for word in _WORD.finditer(after, match.end()))
    following = next((word for word in words if word not in _BETWEEN), "")
    if following in _AFTER_HAVE:
        return ("has" if short == "s" else "had"), match.end()
    if short == "d":
        raise AmbiguousContractionError("'d may be had or would")
    if following in _PARTICIPLES or re.fullmatch(r"\w{2,}(?:ed|en)", following):
        raise AmbiguousContractionError("'s may be is or has")
    return "is", match.end()
