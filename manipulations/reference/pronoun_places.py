"""Places of a pronoun in which a noun phrase would not read well, whatever it is.

English lets a pronoun stand where no noun phrase goes (``there it is``, ``the more they talk``),
and has pronouns in idioms (``for its part``). Rules over the words next to the pronoun.
"""

from __future__ import annotations

import re

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.manipulations.reference.noun_phrases import POSSESSIVE, her_is_possessive

_AUXILIARY = (
    "(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|might|may|ca|wo)"
)
_TAG = re.compile(rf",\s*{_AUXILIARY}(?:n['’]t)? $", re.IGNORECASE)
_MODIFIED = re.compile(r" (?:who|whom|all|both|two|three|guys|folks|alone)\b")
_JOINED = re.compile(r",? ?(?:and|or|&|as well as)\b| ?,")
#: A noun phrase that begins after ``and``, and no verb.
_JOINED_PHRASE = re.compile(
    r" (?:and|or|&) (?:(?:others?|his|her|its|their|my|our|your|the|an?|all|every(?:one|body)|some"
    r"|many|this|that|these|those)\b|[A-Z])"
)
_NOMINATIVE = frozenset(("he", "she", "they"))
_FRONTED = re.compile(r"\b(?:there|here)(?:['’]s)? $", re.IGNORECASE)
_THE_MORE = re.compile(
    r"\bthe (?:more|less|fewer|worse|better)(?: [\w-]+){0,2} $|(?:^|[,;:—–] ?)(?:and )?the \w+er $",
    re.IGNORECASE,
)
#: A clause of a participle, whose subject is that of the clause behind it (``Shaking his head``).
_PARTICIPLE = re.compile(
    r"^\W*(?:\w+ly,? |(?:by|in|after|before|while|when|on|upon|without|despite|since) )?"
    r"(?!(?:accord|includ|depend|regard|concern|follow|dur|even|morn|noth|someth|everyth)ing\b)"
    r"\w{2,}ing(?: [\w-]+){0,2} $",
    re.IGNORECASE,
)
#: Idioms as what stands before the pronoun and after it.
_IDIOMS_OF_POSSESSIVE = (
    (r"\b(?:for|on) $", r" part\b"),
    (r"\b(?:on|of|by|in|to) $", r" own(?:$|[.,;:!?]| (?:right|accord|way|terms|devices)\b)"),
    (r"\bin $", r" (?:turn|entirety|stead|wake)\b"),
    (r"\bat $", r" (?:best|worst|core|peak|height|disposal|leisure|fingertips|wits?)\b"),
    (
        r"\b(?:on|off|out of|under|from|over) $",
        r" (?:way|feet|knees|toes|mind|guard|breath|head)\b",
    ),
    (
        r"\b(?:ma[dk]|f[io][nu]?n?[dg]|los|chang|cross|t[oa]+k|h[eo]ld|sh[oa]+k|d[io]|ke?ep|bid|saved?"
        r"|clear|rais|spen[dt])\w* $",
        r" (?:way|mind|best|time|breath|head|temper|word|cool|ground|living|bit|part|voice)\b",
    ),
)
_IDIOMS_OF_IT = (
    (r"\bas $", r" were(?:$|[.,;:!?])"),
    (r"\b(?:when|if|as) $", r" comes? (?:down )?to\b"),
    (r"\bas $", r" (?:turns|turned) out\b"),
    (r"\b(?:so be|call|worth|get|got|over with) $", r"(?:$|[.,;:!?])"),
    (r"\b(?:that(?:['’]s| is| was)|(?:is|was)(?:n['’]t)? that)(?: [\w'’-]+){0,4} $", r"\W*$"),
    (r"\b(?:had|ha[sv]e?) $", r" (?:that|in for|coming|made)\b"),
    (r"\bput(?:ting|s)? $", r" (?:mildly|simply|bluntly|(?:this|another|that) way|in)\b"),
    (r"\bt[oa]+k(?:en|es?|ing)? $", r" (?:that|from|easy|or leave|for granted)\b"),
    (r"\bma(?:d|k)(?:es?|ing) $", r" (?:to|in|out|big|home|through|happen|work|up)\b"),
    (r"\b(?:call|calls|called) $", r" (?:a day|quits|even)\b"),
    (r"\b(?:hate|like|love|prefer|appreciate)s? $", r" (?:when|if|that)\b"),
    (r"\b(?:f[io]u?nd|ma[dk]|thought|think|consider)\w* $", r" (?:\w+ )?\w+ (?:to|that)\b"),
)
_IDIOMS_OF_THEY = ((r"\bas $", r" (?:say|come|go)\b"),)


class UnfitPlaceError(Exception):
    """The reason why no noun phrase goes where a pronoun stands, in a few words."""


def check_place(discourse: Discourse, mention: Mention) -> None:
    """Raise where a noun phrase would not read well in the place of a pronoun.

    Args:
        discourse: the discourse that it is in.
        mention: a pronoun, in one part.

    Raises:
        UnfitPlaceError: it would not.
    """
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    before, after, pronoun = text[:start], text[end:], text[start:end].lower()
    if re.match(rf",? {pronoun}\b|,? ?[—–]|,? --?", after, re.IGNORECASE):
        raise UnfitPlaceError("disfluency at the pronoun")
    if _TAG.search(before) and re.match(r"\s*\?", after):
        raise UnfitPlaceError("tag question")
    if re.match(r" ?/| or (?:she|her|hers|him|he|his|they|them|it)\b", after) or re.search(
        r"(?:/|\b(?:he|him|his|she|her) or )$", before
    ):
        raise UnfitPlaceError("one of two pronouns")
    if begins_coordination(discourse, mention):
        raise UnfitPlaceError("pronoun that begins a coordination")
    possessive = is_possessive(discourse, mention)
    if possessive and _PARTICIPLE.search(before):
        raise UnfitPlaceError("possessive in a clause of a participle")
    if not possessive:
        if _MODIFIED.match(after):
            raise UnfitPlaceError("pronoun with a modifier after it")
        if _FRONTED.search(before) or _THE_MORE.search(before):
            raise UnfitPlaceError("pronoun after 'there', 'here' or 'the more'")
    if _in_idiom("their" if possessive else pronoun, before, after):
        raise UnfitPlaceError("pronoun of an idiom")


def is_possessive(discourse: Discourse, mention: Mention) -> bool | None:
    """True where a pronoun stands for a possessive; none where ``her`` may be either."""
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    pronoun = text[start:end].lower()
    if pronoun == "her" and not mention.features.pronoun:
        return her_is_possessive(text[:start], text[end:])
    return pronoun in POSSESSIVE or mention.features.pronoun == "possessive"


def begins_coordination(discourse: Discourse, mention: Mention) -> bool:
    """Tell whether a pronoun is the first of what is joined (``he and others``).

    Either a mention begins with it and goes on with ``and``, or the words after it say so: a
    pronoun that is a subject has its verb beside it.
    """
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    if any(
        other.span[0][:2] == (unit, start)
        and other.span[0][2] > end
        and _JOINED.match(text[end : other.span[0][2]])
        for other in discourse.mentions
    ):
        return True
    pronoun, after = text[start:end].lower(), text[end:]
    if is_possessive(discourse, mention):
        return False
    return _JOINED_PHRASE.match(after) is not None or (
        pronoun in _NOMINATIVE and re.match(r" (?:and|or|&) ", after) is not None
    )


def _in_idiom(pronoun: str, before: str, after: str) -> bool:
    idioms: tuple[tuple[str, str], ...] = ()
    if pronoun in POSSESSIVE:
        idioms = _IDIOMS_OF_POSSESSIVE
    elif pronoun == "it":
        idioms = _IDIOMS_OF_IT
    elif pronoun == "they":
        idioms = _IDIOMS_OF_THEY
    return any(
        re.search(first, before, re.IGNORECASE) and re.match(second, after, re.IGNORECASE)
        for first, second in idioms
    )
