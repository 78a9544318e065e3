"""Places of a pronoun in which a noun phrase would not read well, whatever it is.

English lets a pronoun stand where no noun phrase goes (``there it is``, ``the more they talk``),
and has pronouns in idioms (``for its part``). Rules over the words next to the pronoun, and over
the sentence: transcribed speech is not annotated for its disfluencies in most corpora.
"""

from __future__ import annotations

import re

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.loaders.languages.english import ENGLISH
from coherencegym.manipulations.reference.noun_phrases import (
    POSSESSIVE,
    NotApplicableError,
    her_is_possessive,
)

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
_OR_AFTER = re.compile(r" ?/| or (?:she|her|hers|him|he|his|they|them|it)\b")
_OR_BEFORE = re.compile(r"(?:/|\b(?:he|him|his|she|her) or )$")
_NOMINATIVE = ENGLISH.forms("nominative")
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
_OF_POSSESSIVE = (
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
_OF_IT = (
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
_OF_THEY = ((r"\bas $", r" (?:say|come|go)\b"),)
_IDIOMS = {"their": _OF_POSSESSIVE, "it": _OF_IT, "they": _OF_THEY}
#: An amount as a predicate: no noun phrase that does not name one has it (``it's about 20 tons``).
_MEASURED = re.compile(
    r"(?:['’](?:s|re)| (?:is|are|was|were))(?: [\w-]+){0,4}?"
    r" (?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|half an?|hundred|thousand)"
    r"(?: (?:hundred|thousand|million|billion))?"
    r" (?:tons?|tonnes?|kilos?|pounds?|dollars|euros|cents?|percent|miles?|kilomet(?:er|re)s?"
    r"|met(?:er|re)s?|feet|foot|inch(?:es)?|acres?|hectares?|degrees|years?|months?|weeks?|days?"
    r"|hours?|minutes?|seconds?|lit(?:er|re)s?|gallons?|watts?|times)"
    r"(?=$|[.,;:!?]| (?:for|per|a)\b)",
    re.IGNORECASE,
)

_ENDED = re.compile(r"[.!?;:…][\"'”’)\]]*$|:\)$")
_BROKEN_OFF = re.compile(r"(?:[—–-]|\.\.\.|…)[\"'”’]?$")
_DASH = r"(?:\s*(?:--|[—–])\s*|\s-\s)"
_DISFLUENT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # A word cut short (``sa- stage``), but not ``pre- and post-war``.
        r"\b\w-(?=[\s,])(?! (?:and|or)\b)|\w\w-(?=[\s,]|$)(?! (?:and|or|to)\b)",
        # A word said three times, or a small word said twice (``I – I``).
        r"\b(\w+)(?:,? \1\b){2}",
        r"\b(I|an?|the|my|this|we|they|you|he|she|and|but|or|if|to|of|in|on|for|with|can|was|like)"
        r"[,—–-]*\s+(?:[—–-]+\s+)?\1\b(?!-)|\bit it\b",
        # The same after a contraction (``it's – it has``).
        r"\b(\w+)['’](?:s|m|re|ve|ll|d|t)[,—–-]*\s+(?:[—–-]+\s+)?\1\b",
        # A start that is given up, and made again (``I wanted to - I wanted``).
        rf"\b(I|we|you|he|she|it|they)\b(?: [\w'’]+){{0,4}}{_DASH}\1\b",
        rf"\b(\w+ \w+ \w+){_DASH}.*{_DASH}\1\b",
        # A word that wants another one, and a dash after it (``we were able to -- we are``).
        rf"\b(?:an?|the|is|was|are|were|am|be|to|of|my|your|our|its|he|she|we|they|have|has|do|does"
        rf"|did|could|would|should|must){_DASH}\w",
        r"\b(?:uh+|uhm|um|erm?|sorta|kinda)\b",
        # A filler, or a pause after an article (``with a, Mexican artist``).
        r", (?:like|you know),|\bto like,|\b(?-i:an?|the|my),\s",
    )
)
_SAYING = (
    r"(?:said|says?|saying|asked|asks?|replied|answered|thought|told \w+|wrote|writes|shouted|cried"
    r"|added|went|goes|was like)"
)
_CLOSED_TOO_SOON = re.compile(rf"\b{_SAYING}[,:]\"\s", re.IGNORECASE)


def check_place(discourse: Discourse, mention: Mention) -> None:
    """Raise where a noun phrase would not read well in the place of a pronoun in one part."""
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    before, after, pronoun = text[:start], text[end:], text[start:end].lower()
    possessive = is_possessive(discourse, mention)
    idiom = any(
        re.search(first, before, re.IGNORECASE) and re.match(second, after, re.IGNORECASE)
        for first, second in _IDIOMS.get("their" if possessive else pronoun, ())
    )
    fronted = _FRONTED.search(before) or _THE_MORE.search(before)
    rules = (
        (
            re.match(rf",? {pronoun}\b|,? ?[—–]|,? --?", after, re.IGNORECASE),
            "disfluency at the pronoun",
        ),
        (_TAG.search(before) and re.match(r"\s*\?", after), "tag question"),
        (_OR_AFTER.match(after) or _OR_BEFORE.search(before), "one of two pronouns"),
        (_begins_coordination(discourse, mention), "pronoun that begins a coordination"),
        (possessive and _PARTICIPLE.search(before), "possessive in a clause of a participle"),
        (not possessive and _MODIFIED.match(after), "pronoun with a modifier after it"),
        (not possessive and fronted, "pronoun after 'there', 'here' or 'the more'"),
        (idiom, "pronoun of an idiom"),
        (not possessive and _MEASURED.match(after), "pronoun for an amount"),
    )
    for holds, reason in rules:
        if holds:
            raise NotApplicableError(reason)


def is_possessive(discourse: Discourse, mention: Mention) -> bool | None:
    """True where a pronoun stands for a possessive; none where ``her`` may be either."""
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    pronoun = text[start:end].lower()
    if pronoun == "her" and not mention.features.pronoun:
        return her_is_possessive(text[:start], text[end:])
    return pronoun in POSSESSIVE or mention.features.pronoun == "possessive"


def _begins_coordination(discourse: Discourse, mention: Mention) -> bool:
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    if any(
        other.span[0][:2] == (unit, start)
        and other.span[0][2] > end
        and _JOINED.match(text[end : other.span[0][2]])
        for other in discourse.mentions
    ):
        return True
    if is_possessive(discourse, mention):
        return False
    # A pronoun that is a subject has its verb beside it.
    joined = text[start:end].lower() in _NOMINATIVE and re.match(r" (?:and|or|&) ", text[end:])
    return bool(joined or _JOINED_PHRASE.match(text[end:]))


def fault_of_sentence(text: str) -> str:
    """Say what is wrong with a sentence, in a few words; empty where nothing is seen to be.

    >>> fault_of_sentence("We are -- we were here."), fault_of_sentence("Ann ran.")
    ('disfluent sentence', '')
    """
    if fault := _fault_of_end(text):
        return fault
    if any(pattern.search(text) for pattern in _DISFLUENT):
        return "disfluent sentence"
    return fault_of_marks(text)


def fault_of_marks(text: str) -> str:
    """Say what is wrong with a sentence's marks, whatever its language; empty where nothing is."""
    if fault := _fault_of_end(text):
        return fault
    return "quotation mark that stands the wrong way" if _marks_astray(text) else ""


def _fault_of_end(text: str) -> str:
    if _BROKEN_OFF.search(text):
        return "sentence that breaks off"
    return "" if _ENDED.search(text) else "sentence without a full stop"


def _marks_astray(text: str) -> bool:
    # The first mark of a sentence may close what an earlier sentence has opened.
    state = ""
    for match in re.finditer('"', text):
        before, after = text[: match.start()], text[match.end() :]
        opens = re.search(r"(?:^|[\s(\[—–/\"'‘“-])$", before) is not None and bool(
            after[:1].strip()
        )
        closes = bool(before[-1:].strip()) and re.match(r"\w", after) is None
        if not opens and not closes:
            return True
        now = "open" if (opens and not closes) or (opens and state != "open") else "closed"
        if now == state:
            return True
        state = now
    return _CLOSED_TOO_SOON.search(text) is not None
