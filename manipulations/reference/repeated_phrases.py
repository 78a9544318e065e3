"""A noun phrase as it reads when it is said again in the place of a pronoun.

Its article becomes definite, its first letter is that of the new place, and in the place of a
possessive it is one. A contracted verb behind it is spelt out: ``it's`` becomes ``the house is``,
as ``the house's`` would read as a possessive. All raise :class:`NotApplicableError` where a rule
cannot decide.
"""

from __future__ import annotations

import re

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.manipulations.reference.antecedents import DETERMINED, KIN, bare_text
from coherencegym.manipulations.reference.noun_phrases import (
    DETERMINERS,
    NotApplicableError,
    possessive,
)
from coherencegym.words import word_list

_OPENING = "\"'“‘([*•-–— "
_INDEFINITE = re.compile(r"an?\b(?!-)", re.IGNORECASE)
_JOINED_INDEFINITE = re.compile(r"\b(and|or) an? ", re.IGNORECASE)
_OTHER_DETERMINERS = frozenset(("this", "that", "these", "those", "both", "all"))
#: Words between the head of a phrase and the ending of its possessive.
_SHORT_TAIL = re.compile(r" of(?: (?:the|this|that))?(?: [\w.-]+){1,2}")
_NAMES = re.compile(r"(?: (?:[A-Z][\w.’'-]*|of|the|de|van|von|der|la|[IVX]+|and|&|\d+))+")
_PARTITIVE = re.compile(
    r"\b(?:most|some|all|many|much|both|one|none|each|any|few|half|several|two|three|part) of $",
    re.IGNORECASE,
)
#: Endings of adjectives that are made from names.
_NATIONAL = re.compile(r"(?:an|ese|ish|ench|utch|elsh|eek|iss|ic|ist)$")

#: A verb behind a phrase that says what it is, or what it is called.
_SAID = re.compile(
    r"(?:['’](?:s|re)|(?: [\w'’]+){0,2}? (?:is|are|was|were|been?|means?|meant|remain(?:s|ed)?"
    r"|bec[ao]mes?|calls?|called)(?:n['’]t)?)(?!\w)",
    re.IGNORECASE,
)
_ASKED = re.compile(r"(?:^|[\"“ ])(?:is|are|was|were)(?:n['’]t)? $", re.IGNORECASE)
_END_OF_SAID = re.compile(
    r"[,.;:!?—–()]|\s(?:that|which|who|when|where|because|as|if|but|and|for|in|on|at|with|from|to|by"
    r"|than)\s",
    re.IGNORECASE,
)
_FOREMOST = re.compile(
    r" (?:also |not |now |still )?(?:one of )?the (?:only|first|second|third|last|next|most|least"
    r"|\w+est)\b"
)
_CONTENT = re.compile(r"[A-Z][\w'’-]+|[\w'’-]{3,}")
_FUNCTION_WORDS = word_list("function_words")
_NAME_BEFORE = re.compile(r"[a-z,] [A-Z][\w.’'-]+ $")


_CONTRACTED = re.compile(r"['’](s|ll|re|ve|d)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")
_VERBS = {"ll": "will", "re": "are", "ve": "have"}

#: Words between the verb and what shows which one it is.
_BETWEEN = word_list("after_contractions")
#: Words after which the verb is a form of ``have``.
_AFTER_HAVE = frozenset(("been", "got", "gotten", "had", "become"))
#: Participles without ``-ed`` or ``-en``: ``he's gone`` and ``it's made`` do not say which verb.
_PARTICIPLES = word_list("ambiguous_participles")


def definite(phrase: str) -> str:
    """The phrase with ``the`` for an initial ``a`` or ``an``: said again, it is known.

    >>> definite("a dog"), definite("An owl and a cat"), definite("Ann")
    ('the dog', 'The owl and the cat', 'Ann')
    """
    match = _INDEFINITE.match(phrase)
    if match is None:
        return phrase
    article = "The" if phrase[0].isupper() else "the"
    rest = phrase[match.end() :]
    if _JOINED_INDEFINITE.search(rest):
        if len(rest.split()) > 5:
            raise NotApplicableError("several articles in the phrase")
        rest = _JOINED_INDEFINITE.sub(r"\1 the ", rest)
    return article + rest


def begins_sentence(text: str, start: int) -> bool:
    """True where a capital at this character may begin a sentence, or a quotation."""
    if re.search(r"[,—–-] ?[\"“‘'«]$", text[:start]):
        return True
    before = text[:start].rstrip(_OPENING)
    return not re.search(r"\w", before) or before.rstrip("\"'”’)]* ")[-1:] in set(".!?:;…")


def inside_sentence(discourse: Discourse, mention: Mention) -> str:
    """A mention's text as it reads inside a sentence, whatever capital it had at its own place."""
    text = bare_text(discourse, mention)
    unit, start, _ = mention.span[0]
    word = re.split(r"[\s’'-]", text, maxsplit=1)[0]
    lowered = text[0].lower() + text[1:]
    if not text[0].isupper() or not begins_sentence(discourse.units[unit].text, start):
        return text
    if word.lower() in DETERMINERS | _OTHER_DETERMINERS:
        return lowered
    pos = mention.features.first_pos
    if pos in ("PROPN", "X") or text in KIN or word == "I" or not word[1:].islower():
        return text
    if pos in ("NOUN", "VERB", "PRON", "DET"):
        return lowered
    seen = _spellings(discourse, word)
    if word.lower() in seen:
        return lowered
    if word in seen or (not pos and mention.kind == "proper"):
        return text
    if not pos or _NATIONAL.search(word):
        raise NotApplicableError("capital of a name or of a sentence")
    return lowered


def _spellings(discourse: Discourse, word: str) -> set[str]:
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    return {
        match[0]
        for text in discourse.texts
        for match in pattern.finditer(text)
        if not begins_sentence(text, match.start())
    }


def possessive_phrase(phrase: str, mention: Mention, full: str, plural: bool, before: bool) -> str:
    """The possessive of a phrase, which is of a mention with the text ``full``.

    ``plural``: it names more than one; ``before``: it stands before what is possessed
    (``his coat``, not ``of his``).
    """
    tail = ""
    if mention.head is not None:
        tail = full[mention.head[0][2] - mention.span[0][1] :]
    elif len(full.split()) > 3:
        tail = full
    short = before and _SHORT_TAIL.fullmatch(tail)
    if tail and not short and not (mention.kind == "proper" and _NAMES.fullmatch(tail)):
        raise NotApplicableError("possessive of a long phrase")
    many = mention.features.number == "plural" or (
        plural and not mention.features.number and re.search(r" (?:and|&) ", phrase) is None
    )
    if not tail and many and phrase.endswith("s"):
        return f"{phrase}'"
    return possessive(phrase, plural and not tail.startswith(" of"))


def after_partitive(phrase: str, mention: Mention, before: str) -> str:
    """The phrase after words such as ``most of``, where a bare noun needs an article."""
    bare = mention.kind == "nominal" and not DETERMINED.match(phrase)
    return f"the {phrase}" if bare and _PARTITIVE.search(before) else phrase


def check_neighbours(
    phrase: str, mention: Mention, before: str, after: str, possessive: bool
) -> None:
    """Raise where the phrase of a mention does not go with the texts beside its new place.

    The phrase is without contracted verbs. ``possessive``: it stands in the place of one.
    """
    if _NAME_BEFORE.search(before) and phrase[0].isupper():
        raise NotApplicableError("name beside a name")
    if possessive:
        return
    if re.match(r" [A-Z](?!['’ ])", after) and phrase.split()[-1][0].isupper():
        raise NotApplicableError("name beside a name")
    if _predicate_repeats(phrase, before, after):
        raise NotApplicableError("predicate that repeats the phrase")
    bare = mention.kind == "nominal" and not DETERMINED.match(phrase)
    if bare and re.search(r"\w\w(?:ed|ing) $", before):
        raise NotApplicableError("bare noun that reads as one with the word before")


def _predicate_repeats(phrase: str, before: str, after: str) -> bool:
    if _ASKED.search(before):
        said = after
    elif match := _SAID.match(after):
        said = after[match.end() :]
    else:
        return False
    # Of the first or only one of many it may: ``The library is the first library to do so``.
    if _FOREMOST.match(said):
        return False
    words = {word.lower() for word in _CONTENT.findall(phrase)} - _FUNCTION_WORDS
    return not words.isdisjoint(re.findall(r"[\w'’-]+", _END_OF_SAID.split(said)[0].lower()))


def contracted_verb(after: str) -> tuple[str, int]:
    """The verb whose contraction begins ``after``, the text behind a pronoun, and its characters.

    >>> contracted_verb("'s been sold."), contracted_verb("’ll do."), contracted_verb(" is red.")
    (('has', 2), ('will', 3), ('', 0))
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
        raise NotApplicableError("'d may be had or would")
    if following in _PARTICIPLES or re.fullmatch(r"\w{2,}(?:ed|en)", following):
        raise NotApplicableError("'s may be is or has")
    return "is", match.end()
