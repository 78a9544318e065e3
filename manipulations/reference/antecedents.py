"""The noun phrase that a pronoun can be replaced by: the last fit mention before it.

Beyer et al. 2021, section 4.4, take what a coreference chain mentions in the sentence before. Not
every such mention can stand in the place of a pronoun: what says something of the entity (``a
doctor``), what is not a noun phrase, what would mean somebody else when it is said again (``two
men``), and what does not read well out of its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.manipulations.reference.noun_phrases import (
    DETERMINERS,
    NotApplicableError,
    number_of,
)
from coherencegym.words import word_list, word_set

_QUANTIFIERS = word_list("quantifiers")
#: A head that says nothing by itself: ``those who came``, ``the latter``.
_NO_NOUN = re.compile(
    r"(?:those|these|that|this)(?:$| (?:who|that|which|of|with|in|on|from|at|to|for)\b)"
    r"|the (?:former|latter|others?|same|first|second|last|two|three|rest|following)$",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"(?:\S+ ){0,3}(?:lots?|numbers?|couple|bunch|plenty|majority|minority|handful|pair|dozens?"
    r"|hundreds|thousands|millions|rest|half|part|kind|sort|type|variety|range|host|one|ones|some"
    r"|most|many|all|none|any|each|two|three|few|piece|bit) of\b",
    re.IGNORECASE,
)
_INDEFINITE_AMOUNT = re.compile(
    r"(?:an? (?:(?:very |so )?few|dozen|hundred|thousand|million|(?:great|good) many|little bit"
    r"|certain|different|new kind)\b|(?:quite|rather|such|what|many) an?\b)",
    re.IGNORECASE,
)
_PRONOUN_1_OR_2 = re.compile(
    r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Oo]urs?|[Oo]urselves|[Yy]ou|[Yy]ours?"
    r"|[Yy]ourself|[Yy]ourselves)\b"
)
_DISFLUENT = re.compile(
    r"\b(?:uh|um|uhm|er|erm|you know|I mean|kinda|sorta)\b|\w-(?=\s|$)|\b(\w+),? \1\b"
    r"|^(?:a|an|the|this|that|these|those),",
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"[()\[\]{}<>\"“”„«»‘;:!?/\n…—–]|(?<=\s)-|\.\.|\b(?:in addition to|as well as|including)\b"
)
#: Words after which a name or noun says something of somebody (``served as president``).
_ROLE = re.compile(
    r"(?<!such )(?<!well )\b(?:as|called|named|titled|entitled|nicknamed|dubbed|styled|termed"
    r"|becom(?:es?|ing)|became|means?|meant|represents?|constitutes?|remain(?:s|ed)?)(?: not)?,?$",
    re.IGNORECASE,
)
_BE = r"(?:\b(?:is|are|was|were|be|been|being|am)(?:n['’]t)?|['’](?:s|re|m))"
#: A form of *be* that has its subject before it, up to what is said of the subject; not that of a
#: question, nor after ``there``. Where a corpus has no grammar it shows the predicate.
_PREDICATED = re.compile(
    rf"[\w)\]\"”,](?<!\bthere)(?<!\bhere)(?<!\bwhat)(?<!\bwhere)(?<!\bhow)(?<!\bwho)(?<!\bwhy)"
    rf"(?<!\bwhen)(?<!\bso) ?{_BE}"
    r"(?: (?:not|also|now|still|really|actually|just|always|only|even|\w+ly))*"
    r"(?:(?:(?<=n['’]t)|(?<= not)) [^.;:!?]*\bbut(?: (?:rather|instead|also))?)?$",
    re.IGNORECASE,
)
DETERMINED = re.compile(
    r"(?:the|an?|this|that|these|those|his|her|its|their|one's)\b|.*?\w(?:['’]s|s['’]) ",
    re.IGNORECASE,
)
#: A title or an office without the name before it (``Protector of Mexico``).
_OFFICE = re.compile(r"(?!(?:the|an?) )[^,]+ (?:of|in|for|at) ", re.IGNORECASE)
#: Letters of an honour or a degree (``Daniel Bernoulli FRS``).
_LETTERS = re.compile(r"\w,? (?!(?:I|II|III|IV|V|VI|JR|SR)$)[A-Z]{2,}$")
#: Members of a family whom one calls by what they are.
KIN = word_set("Dad Daddy Mom Mommy Mum Mummy Mama Papa Grandma Grandpa Granny God")
_COUNTED = frozenset(("person", "animal", "object", "place", "organization", "organisation"))
_OF_PERSONS = ("masculine", "feminine")
_CLAUSAL = frozenset(("VERB", "AUX", "ADV", "SCONJ", "PART", "INTJ", "CCONJ", "ADP"))
_PREDICATES = frozenset(("xcomp", "advcl", "ccomp", "csubj", "acl"))


#: Says what keeps a mention from standing in the place of a pronoun: :func:`objection`.
Objection = Callable[[Discourse, Mention, Mention, Sequence[Mention], int], str]


def antecedent(
    discourse: Discourse,
    pronoun: Mention,
    max_words: int,
    sentences: int = 1,
    objects: Objection | None = None,
) -> Mention:
    """The last mention of the pronoun's chain in an earlier sentence that can stand in its place.

    The sentence is the one before, or, where that has only pronouns of the chain, the one before
    it, and so on: one of the ``sentences`` before the pronoun's.

    ``objects`` is what the language says of a mention; English without it.

    Raises:
        NotApplicableError: there is none; says what is wrong with the last one.
    """
    unit = pronoun.span[0][0]
    speakers = {discourse.units[unit].speaker}
    before: list[Mention] = []
    for earlier in range(unit - 1, max(-1, unit - 1 - sentences), -1):
        mentions = [
            mention
            for mention in discourse.mentions
            if mention.chain == pronoun.chain and mention.span[0][0] == earlier
        ]
        speakers.add(discourse.units[earlier].speaker)
        before = [mention for mention in mentions if mention.kind != "pronoun"]
        spoken_to = any(mention.features.person in ("1", "2") for mention in mentions)
        if before or spoken_to or not mentions:
            break
    if not before:
        raise NotApplicableError("no noun phrase or name in the sentence before")
    if len(speakers) > 1:
        raise NotApplicableError("another speaker")
    reasons = []
    while before:
        mention = before.pop()
        reasons.append((objects or objection)(discourse, mention, pronoun, before, max_words))
        if not reasons[-1]:
            return mention
    raise NotApplicableError(f"antecedent: {reasons[0]}")


def bare_text(discourse: Discourse, mention: Mention) -> str:
    """The text of a mention without the possessive ending that corpora take for a part of it."""
    text = span_text(discourse, mention.span)
    if mention.features.function.split(":")[0] in ("nmod", "det", ""):
        text = re.sub(r"(?:(?<=\w)['’]s|(?<=s)['’])$", "", text)
    return text


def objection(
    discourse: Discourse,
    mention: Mention,
    pronoun: Mention,
    earlier: Sequence[Mention],
    max_words: int,
) -> str:
    """Say what keeps a mention from standing in the place of a pronoun; empty where nothing does.

    ``earlier`` are the mentions of the chain before it in its sentence.
    """
    if len(mention.span) != 1:
        return "discontinuous phrase"
    text, features = bare_text(discourse, mention), mention.features
    function, pos = features.function.split(":")[0], features.pos
    entity = features.entity or ("person" if pronoun.features.gender in _OF_PERSONS else "")
    person = entity == "person" and features.number != "plural"
    name = mention.kind == "proper"
    event = features.link == "disc" or features.entity == "event" or pos in _CLAUSAL
    apposition = "appos" in (features.link, function) or _follows(discourse, mention, earlier)
    pronouns = _holds_pronoun(discourse, mention, pronoun.chain) or _PRONOUN_1_OR_2.search(text)
    not_a_phrase = (
        (function == "reparandum", "disfluency"),
        (event, "clausal or event mention"),
        (apposition, "apposition"),
        (_is_predicate(discourse, mention, earlier), "predicate nominal"),
        (pronouns, "phrase with a pronoun of its chain, or of the first or second person"),
        (person and name and _OFFICE.match(text), "title of a person"),
        (person and name and _LETTERS.search(text), "letters behind a name"),
        (_is_set_apart(discourse, mention), "phrase in brackets or quotation marks"),
        (len(text.split()) > max_words, f"more than {max_words} words"),
        (_DISFLUENT.search(text), "disfluency"),
    )
    reason = next((reason for holds, reason in not_a_phrase if holds), "")
    return reason or _objection_to_words(discourse, mention, pronoun, text)


def _objection_to_words(discourse: Discourse, mention: Mention, pronoun: Mention, text: str) -> str:
    dependent = mention.features.function.split(":")[0] in ("compound", "discourse")
    marks = _MARKS.search(text) or not re.search(r"[\w.%]$", text)
    rules = (
        (_is_quantified(mention, text), "quantified phrase"),
        (marks or _stray_comma(mention, pronoun, text), "punctuation in the phrase"),
        (dependent and mention.kind != "proper", "no noun phrase of its own"),
        (_lacks_article(mention, pronoun, text), "noun without an article"),
        (_is_behind_determiner(discourse, mention), "noun without its determiner"),
        (not _agrees(discourse, mention, pronoun), "another number or gender"),
    )
    return next((reason for holds, reason in rules if holds), "")


def _follows(discourse: Discourse, mention: Mention, earlier: Sequence[Mention]) -> bool:
    # A comma, or an age; behind nothing or an article it is a complement: ``makes the square an
    # interesting place``.
    unit, start, _ = mention.span[0]
    text = discourse.units[unit].text
    between = re.compile(r",(?: \d+,)? | (?:(?:an?|the) )?")
    return any(between.fullmatch(text[other.span[-1][2] : start]) for other in earlier)


def _is_predicate(discourse: Discourse, mention: Mention, earlier: Sequence[Mention]) -> bool:
    if _says_what(discourse, mention):
        return True
    before = discourse.units[mention.span[0][0]].text[: mention.span[0][1]]
    function = mention.features.function
    joined = function == "conj" or (not function and re.search(r"(?:,|\b(?:and|or|but)) $", before))
    return bool(joined) and any(
        other.features.function == "appos" or _says_what(discourse, other) for other in earlier
    )


def _says_what(discourse: Discourse, mention: Mention) -> bool:
    unit, start, _ = mention.span[0]
    before = discourse.units[unit].text[:start].rstrip()
    return (
        mention.features.predicate
        or mention.features.function.split(":")[0] in _PREDICATES
        or _ROLE.search(before) is not None
        or _is_fronted(discourse, mention)
        or (not mention.features.function and _PREDICATED.search(before) is not None)
    )


def _is_fronted(discourse: Discourse, mention: Mention) -> bool:
    # ``A poor student, he left``.
    unit, start, end = mention.span[-1]
    text = discourse.units[unit].text
    begins = re.match(r"\W*(?:an? [^,]*\b(?:and|or) )?$", text[:start], re.IGNORECASE) is not None
    goes_on = re.match(r"(?: (?:and|or) [^,]*)?, (?:he|she|it|they)\b", text[end:]) is not None
    return mention.kind != "proper" and begins and goes_on


def _holds_pronoun(discourse: Discourse, mention: Mention, chain: str) -> bool:
    ((unit, start, end),) = mention.span
    return any(
        other.kind == "pronoun"
        and (other.chain == chain or other.features.person in ("1", "2"))
        and all(u == unit and start <= s and e <= end for u, s, e in other.span)
        for other in discourse.mentions
    )


def _is_set_apart(discourse: Discourse, mention: Mention) -> bool:
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    before, after = text[:start], text[end:]
    if any(before.count(a) > before.count(b) for a, b in ("()", "[]")):
        return True
    return before[-1:] in set("\"“‘'«") and after.lstrip(".,")[:1] in set("\"”’'»")


def _is_quantified(mention: Mention, text: str) -> bool:
    words = text.lower().split()
    return (
        mention.features.pos in ("NUM", "DET")
        or mention.features.first_pos == "NUM"
        or words[0] in _QUANTIFIERS
        or words[0][0].isdigit()
        or words[-1] in ("one", "ones")
        or any(form.match(text) for form in (_MEASURE, _INDEFINITE_AMOUNT, _NO_NOUN))
    )


def _stray_comma(mention: Mention, pronoun: Mention, text: str) -> bool:
    # What a comma opens (``the man, pale and tired``) would need another one behind it. In a list
    # all begin alike, with or without a determiner or a name's capital, and a pronoun for it is
    # plural.
    if "," not in text:
        return False
    parts = re.split(r",? (?:and|or|&) |, ", text)
    kinds = [(DETERMINED.match(part) is not None, part[:1].isupper()) for part in parts]
    ends = re.search(r",? (?:and|or|&) [^,]+$", text)
    alike = len(set(kinds[1:])) == 1 and (kinds[1][0] or not kinds[0][0])
    clause = re.search(r", (?:who|which|where|whose|that)\b", text)
    if ends and alike and not clause and pronoun.features.number == "plural":
        return False
    head = -1 if mention.head is None else mention.head[0][1] - mention.span[0][1]
    return head < text.rindex(",") or any(map(any, kinds[1:]))


def _lacks_article(mention: Mention, pronoun: Mention, text: str) -> bool:
    # ``Poor guy``, as only in fragments.
    features = mention.features
    person = pronoun.features.gender in _OF_PERSONS
    return (
        mention.kind == "nominal"
        and features.number != "plural"
        and (person or features.entity in _COUNTED)
        and " and " not in text
        and text not in KIN
        and DETERMINED.match(text) is None
    )


def _is_behind_determiner(discourse: Discourse, mention: Mention) -> bool:
    # A name that grammar shows to be a part of a phrase (``the Ford cars``) may stand alone.
    if mention.kind == "proper" and mention.features.function:
        return False
    unit, start, _ = mention.span[0]
    word = re.search(r"([\w’']+) $", discourse.units[unit].text[:start])
    return word is not None and word[1].lower() in DETERMINERS | {"this", "these", "those"}


def _agrees(discourse: Discourse, mention: Mention, pronoun: Mention) -> bool:
    one, other = mention.features, pronoun.features
    if one.gender and other.gender and one.gender != other.gender:
        return False
    text, name = bare_text(discourse, mention), mention.kind == "proper"
    number = one.number or number_of(text, name)
    # The verb of *they* is plural, also where it is one person.
    they = span_text(discourse, pronoun.span).lower() == "they"
    wanted = "plural" if they else other.number
    if not number or not wanted or number == wanted:
        return True
    # the Netherlands ... it
    return name if wanted != "plural" else re.search(r" (?:and|&) ", text) is not None
