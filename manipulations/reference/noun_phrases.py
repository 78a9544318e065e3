"""English noun phrases in the place of a pronoun: their first letter, and their possessive.

Rules, not a parser: they see the words next to the pronoun and no more.
"""

from __future__ import annotations

import re

#: Determiners whose capital is only that of a sentence's start; other words may be names.
DETERMINERS = frozenset(
    ("the", "a", "an", "my", "your", "his", "her", "its", "our", "their", "one's")
)

#: Pronouns that stand for a whole noun phrase.
PLAIN = frozenset(
    re.findall(
        r"\w+",
        "i me you he him she it we us they them this that these those one who whom",
    )
)
#: Pronouns in the place of a possessive; ``her`` is that or a plain one: :func:`her_is_possessive`.
POSSESSIVE = frozenset(
    re.findall(r"\w+", "my mine your yours his hers its our ours their theirs whose")
)
PLURAL = frozenset(("our", "ours", "their", "theirs"))
REFLEXIVE = frozenset(
    re.findall(
        r"\w+",
        "myself yourself himself herself itself oneself themself ourselves yourselves themselves",
    )
)

#: Words that no noun phrase goes on with after a possessive, so that ``her`` before them is an
#: object: prepositions, conjunctions, other determiners and pronouns, auxiliaries, some adverbs.
#: Not those that are nouns or stand before adjectives too (``her will``, ``her very own``).
_AFTER_OBJECT = frozenset(
    re.findall(
        r"\w+",
        """a about across after again against all along although am among an and any anyway are
        around as aside at away because been before behind below beneath beside between beyond but
        by could did do does down during each everything for from had has have he her here him his
        how i if in instead into is it its later me my nearby no nor not now of off often on onto or
        our out over perhaps shall she should since so something than that the their them then there
        these they this those though through throughout till to today together tomorrow tonight too
        toward towards under unless until up upon us was we were what when where whether which while
        who whom why with within without would yesterday yet you your""",
    )
)
#: Verbs after which ``her`` and a bare word may be two complements (``made her laugh``, ``gave her
#: money``) or one (``saw her mother``): nothing next to the pronoun tells.
_TWO_COMPLEMENTS = re.compile(
    r"(?:let|lets|letting|mak(?:es?|ing)|made|help\w*|saw|seen|sees?|seeing|watch\w*|hear\w*|fe[el]l"
    r"|felt|feels|bid|g[ai]ves?|given|giving|tells?|told|telling|sen[dt]s?|sending|show\w*|offer\w*"
    r"|asks?|asked|asking|calls?|called|calling|len[dt]s?|lending|teach\w*|taught|bring\w*|brought"
    r"|buys?|bought|buying|paid|pays?|paying|cost|costs|wish\w*)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w'’]+")


def her_is_possessive(before: str, after: str) -> bool | None:
    """Tell whether ``her`` between these texts is a possessive (``her coat``), or an object.

    Returns:
        None where the words beside it do not tell.
    """
    following = after.lstrip(" ")
    if following[:1] in set('"“‘('):  # her "Dibs!"
        following = following[1:]
    word = _WORD.match(following)
    if word is None or word[0].lower() in _AFTER_OBJECT:
        return False
    preceding = _WORD.findall(before)
    if preceding and _TWO_COMPLEMENTS.match(preceding[-1]):
        return None
    return True


def possessive(phrase: str, plural: bool = False) -> str:
    """The possessive of a phrase; ``plural`` says whether it names more than one.

    ``the boys`` → ``the boys'``, ``the children`` → ``the children's``, ``James`` → ``James's``,
    ``Ann and James`` → ``Ann and James's``, ``the Smiths`` → ``the Smiths'``.
    """
    last = phrase.split()[-1]
    name = last[0].isupper() and phrase.split()[0].lower() not in DETERMINERS
    if plural and last.endswith("s") and not last.endswith("ss") and not name:
        return f"{phrase}'"
    return f"{phrase}'s"


def capitalised(phrase: str) -> str:
    """The phrase as it begins a sentence."""
    return phrase[0].upper() + phrase[1:]


def mid_sentence(phrase: str) -> str:
    """The phrase as it stands inside a sentence: a determiner at its start is lowered."""
    first = phrase.split(" ", 1)[0]
    return phrase[0].lower() + phrase[1:] if first.lower() in DETERMINERS else phrase
