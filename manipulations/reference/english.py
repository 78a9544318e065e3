"""English: a noun phrase in the place of a pronoun.

Beyer et al. 2021, section 4.4, take what a coreference chain mentions in the sentence before. Not
every such mention can stand in the place of a pronoun: what says something of the entity (``a
doctor``), what is not a noun phrase, what would mean somebody else when it is said again (``two
men``), and what does not read well out of its place. And English lets a pronoun stand where no noun
phrase goes (``there it is``, ``the more they talk``), and has pronouns in idioms (``for its
part``). Rules over the words next to the pronoun, and over the sentence: transcribed speech is not
annotated for its disfluencies in most corpora.

A phrase that is said again has a definite article, and the first letter of its new place; in the
place of a possessive it is one. A contracted verb behind it is spelt out: ``it's`` becomes ``the
house is``, as ``the house's`` would read as a possessive. All raise :class:`NotApplicableError`
where a rule cannot decide.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.manipulations.operator import NotApplicableError, first_reason, refuse
from coherencegym.manipulations.reference.mention_rules import (
    DETERMINERS,
    GENDERS,
    POSSESSIVE,
    capitalised,
    her_is_possessive,
    number_of,
    possessive,
)
from coherencegym.words import word_list, word_set

# The pronouns that are replaced.

#: The forms that are replaced.
_FORMS = word_set("he him his she her hers it its they them their theirs em 'em ’em")
_PLURAL = word_set("they them their theirs em 'em ’em")
_KINDS = {
    "reflexive": "reflexive pronoun",
    "relative": "relative pronoun or question word",
    "interrogative": "relative pronoun or question word",
    "expletive": "expletive it",
    "reciprocal": "reciprocal pronoun",
    "demonstrative": "demonstrative or indefinite pronoun",
    "indefinite": "demonstrative or indefinite pronoun",
}

_PARTICLE = re.compile(
    r" (?:up|down|out|off|on|over|away|back|around|through|in|along|apart|together|aside)\b"
)

# The noun phrases that can stand in their place.

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
_DISFLUENT_PHRASE = re.compile(
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
_CLAUSAL = frozenset(("VERB", "AUX", "ADV", "SCONJ", "PART", "INTJ", "CCONJ", "ADP"))
_PREDICATES = frozenset(("xcomp", "advcl", "ccomp", "csubj", "acl"))

# The places in which they would not read well.

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

# The form that they have there.

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

# Sentences.

_ENDED = re.compile(r"[.!?;:…][\"'”’)\]]*$|:\)$")
_BROKEN_OFF = re.compile(r"(?:[—–-]|\.\.\.|…)[\"'”’]?$")
_SAYING = (
    r"(?:said|says?|saying|asked|asks?|replied|answered|thought|told \w+|wrote|writes|shouted|cried"
    r"|added|went|goes|was like)"
)
_CLOSED_TOO_SOON = re.compile(rf"\b{_SAYING}[,:]\"\s", re.IGNORECASE)


def check_pronoun(discourse: Discourse, mention: Mention) -> None:
    """Raise where a mention is no pronoun that can be replaced, wherever it stands."""
    features = mention.features
    if features.person in ("1", "2"):
        raise NotApplicableError("first or second person")
    if features.pronoun in _KINDS:
        raise NotApplicableError(_KINDS[features.pronoun])
    form = span_text(discourse, mention.span)
    if form.lower() not in _FORMS or len(mention.span) != 1:
        raise NotApplicableError("pronoun with modifiers, or of another form")
    if len(form) > 1 and form.isupper():
        raise NotApplicableError("word in capitals")
    if any(m.span == mention.span and m.chain != mention.chain for m in discourse.mentions):
        raise NotApplicableError("pronoun of two chains")


def objection(
    discourse: Discourse,
    mention: Mention,
    pronoun: Mention,
    earlier: Sequence[Mention],
    max_words: int,
) -> str:
    """Say what keeps a mention from standing in the place of a pronoun; empty if nothing does.

    ``earlier`` are the mentions of the chain before it in its sentence.
    """
    if len(mention.span) != 1:
        return "discontinuous phrase"
    text, features = bare_text(discourse, mention), mention.features
    function, pos = features.function.split(":")[0], features.pos
    entity = features.entity or ("person" if pronoun.features.gender in GENDERS else "")
    person = entity == "person" and features.number != "plural"
    name = mention.kind == "proper"
    event = features.link == "disc" or features.entity == "event" or pos in _CLAUSAL
    apposition = "appos" in (features.link, function) or _follows(discourse, mention, earlier)
    pronouns = _holds_pronoun(
        discourse, mention, pronoun.chain, ("1", "2")
    ) or _PRONOUN_1_OR_2.search(text)
    reason = first_reason(
        (function == "reparandum", "disfluency"),
        (event, "clausal or event mention"),
        (apposition, "apposition"),
        (_is_predicate(discourse, mention, earlier), "predicate nominal"),
        (pronouns, "phrase with a pronoun of its chain, or of the first or second person"),
        (person and name and _OFFICE.match(text), "title of a person"),
        (person and name and _LETTERS.search(text), "letters behind a name"),
        (_is_set_apart(discourse, mention), "phrase in brackets or quotation marks"),
        (len(text.split()) > max_words, f"more than {max_words} words"),
        (_DISFLUENT_PHRASE.search(text), "disfluency"),
    )
    return reason or _objection_to_words(discourse, mention, pronoun, text)


def fault_of_sentence(text: str) -> str:
    """Say what is wrong with a sentence, in a few words; empty where nothing is seen to be."""
    if _BROKEN_OFF.search(text):
        return "sentence that breaks off"
    if not _ENDED.search(text):
        return "sentence without a full stop"
    if any(pattern.search(text) for pattern in _DISFLUENT):
        return "disfluent sentence"
    return "quotation mark that stands the wrong way" * _marks_astray(text)


def check_place(discourse: Discourse, mention: Mention) -> None:
    """Raise where a noun phrase would not read well in the place of a pronoun in one part."""
    ((unit, start, end),) = mention.span
    text = discourse.units[unit].text
    before, after, pronoun = text[:start], text[end:], text[start:end].lower()
    possessive = _is_possessive(discourse, mention)
    idiom = any(
        re.search(first, before, re.IGNORECASE) and re.match(second, after, re.IGNORECASE)
        for first, second in _IDIOMS.get("their" if possessive else pronoun, ())
    )
    fronted = _FRONTED.search(before) or _THE_MORE.search(before)
    refuse(
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


def phrase_in_place(discourse: Discourse, mention: Mention, source: Mention) -> tuple[str, int]:
    """The phrase for the pronoun's place, from its antecedent, and the end of that place."""
    unit, start, end = mention.span[0]
    text = discourse.units[unit].text
    possessive = _is_possessive(discourse, mention)
    if possessive is None:
        raise NotApplicableError("'her' may be object or possessive")
    phrase = definite(_inside_sentence(discourse, source))
    phrase = _after_partitive(phrase, source, text[:start])
    _check_neighbours(phrase, source, text[:start], text[end:], possessive)
    if possessive:
        phrase = _possessive_phrase(
            phrase,
            source,
            bare_text(discourse, source),
            plural=text[start:end].lower() in _PLURAL,
            before=re.match(r" [\w\"“‘]", text[end:]) is not None
            and mention.features.function in ("nmod:poss", "det:poss", ""),
        )
    else:
        verb, length = contracted_verb(text[end:])
        if verb:
            phrase, end = f"{phrase} {verb}", end + length
        elif _PARTICLE.match(text[end:]) and len(phrase.split()) > 4:
            raise NotApplicableError("long phrase before a particle")
    if phrase.endswith(".") and text[end : end + 1] == ".":
        phrase = phrase[:-1]
    capital = text[start].isupper() and not _is_reverential(text, start)
    return (capitalised(phrase) if capital else phrase), end


def _holds_pronoun(
    discourse: Discourse, mention: Mention, chain: str, persons: Collection[str]
) -> bool:
    # Whether a mention has a pronoun of a chain, or of one of some persons, within it.
    ((unit, start, end),) = mention.span
    return any(
        other.kind == "pronoun"
        and (other.chain == chain or other.features.person in persons)
        and all(u == unit and start <= s and e <= end for u, s, e in other.span)
        for other in discourse.mentions
    )


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


def bare_text(discourse: Discourse, mention: Mention) -> str:
    """The text of a mention without the possessive ending that corpora take for a part of it."""
    text = span_text(discourse, mention.span)
    if mention.features.function.split(":")[0] in ("nmod", "det", ""):
        text = re.sub(r"(?:(?<=\w)['’]s|(?<=s)['’])$", "", text)
    return text


def _objection_to_words(discourse: Discourse, mention: Mention, pronoun: Mention, text: str) -> str:
    dependent = mention.features.function.split(":")[0] in ("compound", "discourse")
    marks = _MARKS.search(text) or not re.search(r"[\w.%]$", text)
    return first_reason(
        (_is_quantified(mention, text), "quantified phrase"),
        (marks or _stray_comma(mention, pronoun, text), "punctuation in the phrase"),
        (dependent and mention.kind != "proper", "no noun phrase of its own"),
        (_lacks_article(mention, pronoun, text), "noun without an article"),
        (_is_behind_determiner(discourse, mention), "noun without its determiner"),
        (not _agrees(discourse, mention, pronoun), "another number or gender"),
    )


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
    person = pronoun.features.gender in GENDERS
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


def _is_possessive(discourse: Discourse, mention: Mention) -> bool | None:
    # None where ``her`` may be either.
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
    if _is_possessive(discourse, mention):
        return False
    # A pronoun that is a subject has its verb beside it.
    joined = text[start:end].lower() in _NOMINATIVE and re.match(r" (?:and|or|&) ", text[end:])
    return bool(joined or _JOINED_PHRASE.match(text[end:]))


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


def _inside_sentence(discourse: Discourse, mention: Mention) -> str:
    # Whatever capital it had at its own place.
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


def _possessive_phrase(phrase: str, mention: Mention, full: str, plural: bool, before: bool) -> str:
    # Of a mention with the text ``full``; ``plural``: it names more than one; ``before``: it stands
    # before what is possessed (``his coat``, not ``of his``).
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


def _after_partitive(phrase: str, mention: Mention, before: str) -> str:
    # After words such as ``most of`` a bare noun needs an article.
    bare = mention.kind == "nominal" and not DETERMINED.match(phrase)
    return f"the {phrase}" if bare and _PARTITIVE.search(before) else phrase


def _check_neighbours(
    phrase: str, mention: Mention, before: str, after: str, possessive: bool
) -> None:
    # The texts beside its new place; the phrase is without contracted verbs.
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


def _is_reverential(text: str, start: int) -> bool:
    # ``He`` and ``His`` for God: every other pronoun with a capital begins a sentence, or a
    # quotation.
    return (
        re.match(r"(?:He|Him|His)\b", text[start:]) is not None
        and re.search(r"\w $", text[:start]) is not None
    )
