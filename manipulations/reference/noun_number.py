"""The number of a noun phrase from its words, where a corpus does not say it.

The determiner decides, else the form of the head noun: the last word before whatever may follow a
noun. Rules, not a parser: where they do not tell, nothing is said.
"""

from __future__ import annotations

import re

SINGULAR, PLURAL = "singular", "plural"

_AFTER_HEAD = re.compile(
    r",|\s(?:of|in|on|at|for|with|from|by|to|that|who|whom|which|whose|where|when|as|about|like|into"
    r"|between|near|under|over|above|behind|after|before|during|than|without|within|against|across"
    r"|through|around|called|named|known)\s"
)
_DETERMINERS = {
    SINGULAR: re.compile(r"(?:an?|this|that|each|every|another|one)\s", re.IGNORECASE),
    PLURAL: re.compile(
        r"(?:these|those|both|many|few|several|two|three|four|five|six|seven|eight|nine|ten)\s",
        re.IGNORECASE,
    ),
}
_JOINED = re.compile(r"\s(?:and|&)\s")
_JOINED_PHRASE = re.compile(r"\s(?:and|&)\s(?:(?:an?|the|his|her|its|their)\s|[A-Z])")
_PLURALS = frozenset(
    re.findall(
        r"\w+",
        """police cattle feet teeth geese mice lice oxen folk criteria
        phenomena bacteria alumni""",
    )
)
#: Words that end as ``firemen`` does, and are no plurals.
_MEN = frozenset(re.findall(r"\w+", "specimen regimen omen abdomen acumen semen stamen"))
_EITHER = frozenset(
    re.findall(
        r"\w+",
        """fish sheep deer series species means aircraft spacecraft offspring data media salmon
        trout headquarters crossroads""",
    )
)
#: Words that end in ``s`` in the singular.
_SINGULAR_ENDING = re.compile(r"(?:ss|us|is|ics|news|lens|chaos|gas|bias|atlas|canvas|christmas)$")


def number_of(text: str, name: bool = False) -> str:
    """``singular`` or ``plural``, or nothing where the words do not tell.

    Args:
        text: a noun phrase.
        name: true where its head is a name: of those that end in ``s`` (``James``, ``the Smiths``)
            nothing is said.

    >>> number_of("the old men at sea"), number_of("a black and white dog"), number_of("Ann and Bo")
    ('plural', 'singular', 'plural')
    """
    front = _AFTER_HEAD.split(text, maxsplit=1)[0].strip()
    if _JOINED_PHRASE.search(text) and not re.search(r"\s(?:who|which|that|whose)\s", text):
        return PLURAL
    for number, pattern in _DETERMINERS.items():
        if pattern.match(front):
            return number
    if _JOINED.search(front):
        return ""  # salt and pepper, his friend and mentor, cats and dogs
    words = re.findall(r"[\w-]+", re.sub(r"['’]s?$", "", front))
    return _number_of_noun(words[-1], name) if words else ""


def _number_of_noun(noun: str, name: bool) -> str:
    word = re.split("-", noun.lower())[-1]
    if word in _PLURALS or (word.endswith(("men", "people", "children")) and word not in _MEN):
        return PLURAL
    if word in _EITHER or not word or not word[-1].isalpha():
        return ""
    if word.endswith("s") and not _SINGULAR_ENDING.search(word):
        return "" if name else PLURAL
    return SINGULAR
