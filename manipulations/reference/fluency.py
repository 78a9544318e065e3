"""Faults that keep a sentence from being fluent English: speech that starts anew, lost marks.

Rules over the text alone: transcribed speech is not annotated for its disfluencies in most corpora.
"""

from __future__ import annotations

import re

_ENDED = re.compile(r"[.!?;:…][\"'”’)\]]*(?:\s*\[\d+\])*$|:\)$")
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


def fault_of_sentence(text: str) -> str:
    """Say what is wrong with a sentence, in a few words; empty where nothing is seen to be.

    >>> fault_of_sentence("We are -- we were here."), fault_of_sentence("Ann ran.")
    ('disfluent sentence', '')
    """
    if _BROKEN_OFF.search(text):
        return "sentence that breaks off"
    if not _ENDED.search(text):
        return "sentence without a full stop"
    if any(pattern.search(text) for pattern in _DISFLUENT):
        return "disfluent sentence"
    if _marks_astray(text):
        return "quotation mark that stands the wrong way"
    return ""


def _marks_astray(text: str) -> bool:
    """Tell whether a quotation mark stands apart, opens what is open, or closes what is not.

    The first mark of a sentence may close what an earlier sentence has opened.
    """
    state = ""
    for match in re.finditer('"', text):
        before, after = text[: match.start()], text[match.end() :]
        opens = (
            re.search(r"(?:^|[\s(\[—–/\"'‘“-])$", before) is not None and after[:1].strip() != ""
        )
        closes = before[-1:].strip() != "" and re.match(r"\w", after) is None
        if opens == closes:
            if not opens:
                return True
            opens = state != "open"
        if state == ("open" if opens else "closed"):
            return True
        state = "open" if opens else "closed"
    return _CLOSED_TOO_SOON.search(text) is not None
