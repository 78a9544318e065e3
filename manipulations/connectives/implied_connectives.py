"""Implied connectives: two neighbouring sentences, and the adverbial that says how they relate.

Annotators of implicit relations say which connective they would put between the arguments (Prasad
et al. 2008, section 3.2). Not every such word can be put there as it is: ``because`` and ``in
order`` join clauses of one sentence. Here those count that a sentence can begin with, before a
comma; for ``but`` and ``so`` stand the adverbials that say the same.

The former are written, whole, and without a connective of their own. Clauses are told where a
corpus has the grammar of its sentences, that of Universal Dependencies: a subordinator is a
``mark`` of its clause's verb, and that an ``advcl`` of the verb of the other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, ParsedWord, Relation, Unit
from coherencegym.manipulations.operator import Context, NotApplicableError
from coherencegym.words import word_list, word_lists

_SUBJECTS = ("nsubj", "csubj", "expl")
#: Relations by which a word belongs to a noun, and is no predicate of a sentence.
_OF_NOUNS = frozenset(("acl", "amod", "nmod", "obl", "obj", "nsubj", "dislocated"))
_OPENING = re.compile(
    rf"\W*(?:{'|'.join(' '.join(words) for words in word_lists('sentence_openings'))})\b",
    re.IGNORECASE,
)
#: Fillers: what people say while they think of what to say, and words said twice.
_FILLERS = re.compile(
    r"\b(?:um|uh|uhm|oh|wow|hey|hi|hello|alright|yeah|okay|ok|gonna|kinda|gotta|wanna|anyways?"
    r"|you know|i mean|like i|was like|if i may)\b|\b(\w+(?: \w+)?) \1\b"
    r"|\blike,|, like\b|\b(?:doing|been|was|were|is|are) like \w+ing\b|\w- |\b(?:the|a|to|of) –|--",
    re.IGNORECASE,
)
_ADVERBIALS = (
    r"(?:however|therefore|thus|hence|instead|nevertheless|nonetheless|moreover|furthermore"
    r"|consequently|accordingly|for example|for instance|in fact|in particular|after all|indeed"
    r"|on the other hand|in turn|meanwhile|otherwise|likewise|similarly|then|rather|of course)"
)
#: A phrase before a sentence that takes up the one before it: ``For this reason, ...``.
_TAKING_UP = re.compile(
    r"(?:[\w-]+ )?(?:for|in|at|by|on|to|with|from|under|after|before|since|because of|given|despite"
    r"|besides|of) (?:all )?(?:this|that|these|those|such|doing so|so doing)\b[^,]*,"
    r"|(?:that|this) (?:being )?said,|all in all,|in (?:any|either) case,|in the mean ?time,"
    r"|in (?:turn|short|sum|conclusion|the end|return),|(?:at|by) the same time,|as such,",
    re.IGNORECASE,
)
_SET_OFF = re.compile(rf", {_ADVERBIALS},", re.IGNORECASE)
#: Words with which something is denied.
_DENIAL = re.compile(
    r"\b(?:not|no|none|nobody|nothing|never|neither|nor|hardly|without|cannot|rather than"
    r"|more than (?:just|only)|(?:lack|fail|refus)(?:s|e|ed|es)?)\b|n['’]t\b",
    re.IGNORECASE,
)


def says_how_it_goes_on(sentence: str) -> bool:
    """Tell whether a sentence begins with a connective or the like, or with a quotation."""
    return _OPENING.match(sentence) is not None or sentence[:1] in set("\"“‘'([")


def has_own_adverbial(unit: Unit) -> bool:
    """Tell whether a sentence has an adverbial that says how it goes on from the one before it.

    That is a phrase that begins it (``For this reason,``), one between commas, or, where the
    grammar is known, one that belongs to its main verb.
    """
    if _TAKING_UP.match(unit.text) or _SET_OFF.search(unit.text):
        return True
    return any(
        word.relation == "advmod"
        and word.head is not None
        and unit.words[word.head].head is None
        and re.fullmatch(_ADVERBIALS, unit.text[word.start : word.end], re.IGNORECASE)
        for word in unit.words
    )


def has_fillers(text: str) -> bool:
    """Tell whether a text has fillers of speech: it reads badly whatever the connective."""
    return _FILLERS.search(text) is not None


def denies(text: str) -> bool:
    """Tell whether a text says what is not so: ``instead`` may say then what is."""
    return _DENIAL.search(text) is not None


def joins_clauses(unit: Unit, end: int) -> bool:
    """Tell whether the subordinator that ends at a character joins a clause to another clause.

    It does not where it is an adverb (``it is possible though that``), or its clause belongs to a
    phrase (``the time elapsed since he left``). True where the unit has no grammar.
    """
    found = _last_word_and_head(unit, end)
    if found is None:
        return True
    word, verb = found
    if word.relation != "mark" or verb.relation == "acl":
        return False
    joined = None if verb.head is None else unit.words[verb.head]
    return joined is None or joined.relation not in _OF_NOUNS or _has_subject(unit, verb.head)


def finite_clause_after(unit: Unit, end: int) -> bool | None:
    """Tell whether the clause of the connective that ends at a character is a whole one.

    It has a subject and a finite verb then. None where the unit has no grammar.
    """
    found = _last_word_and_head(unit, end)
    if found is None:
        return None
    word, verb = found
    auxiliaries = (each for each in unit.words if each.head == word.head)
    finite = "VerbForm=Fin" in verb.features or any(
        "VerbForm=Fin" in each.features and each.relation.startswith(("aux", "cop"))
        for each in auxiliaries
    )
    return finite and _has_subject(unit, word.head)


def tells_what_happened(unit: Unit) -> bool:
    """Tell whether the main verb of a sentence is a past one; false where it has no grammar."""
    root = next((number for number, word in enumerate(unit.words) if word.head is None), None)
    return any(
        "Tense=Past" in word.features
        and "VerbForm=Fin" in word.features
        and (number == root or (word.head == root and word.relation.startswith(("aux", "cop"))))
        for number, word in enumerate(unit.words)
    )


def _last_word_and_head(unit: Unit, end: int) -> tuple[ParsedWord, ParsedWord] | None:
    word = next((word for word in unit.words if word.end == end), None)
    return None if word is None or word.head is None else (word, unit.words[word.head])


def _has_subject(unit: Unit, verb: int | None) -> bool:
    return any(word.head == verb and word.relation.startswith(_SUBJECTS) for word in unit.words)


@dataclass(frozen=True, slots=True)
class Way:
    """A way in which the second of two sentences may relate to the first.

    Attributes:
        words: adverbials that say it, the commonest first.
        senses: the beginnings of the senses that such a relation has.
        converse: the adverbial that says the same where the sentences change places; empty where
            there is none.
        likewise: other connectives for it, in whose place the first of ``words`` is put.
    """

    name: str
    words: tuple[str, ...]
    senses: tuple[str, ...]
    converse: str = ""
    likewise: tuple[str, ...] = ()


#: The ways that are told apart, by name.
WAYS = {
    way.name: way
    for way in (
        Way(
            "contrast",
            ("however", "nevertheless", "in contrast", "by comparison", "on the other hand"),
            ("Comparison.Contrast", "Comparison.Concession.Arg2", "Comparison.Concession.Contra"),
            "however",
            ("but",),
        ),
        Way(
            "result",
            ("as a result", "therefore", "consequently", "thus", "accordingly"),
            ("Contingency.Cause.Result", "Contingency.Cause+Belief.Result"),
            "after all",
            ("so",),
        ),
        Way(
            "sequence",
            ("then", "later", "next"),
            ("Temporal.Asynchronous.Precedence",),
            "before that",
        ),
        Way(
            "instance",
            ("for example", "for instance"),
            ("Expansion.Instantiation",),
            "more generally",
        ),
        Way(
            "detail",
            ("specifically", "in particular"),
            ("Expansion.Level-of-detail.Arg2", "Expansion.Restatement.Specification"),
        ),
        Way(
            "restatement",
            ("in other words",),
            ("Expansion.Equivalence", "Expansion.Restatement.Equivalence"),
        ),
        Way(
            "addition",
            ("furthermore", "in addition", "also", "further", "additionally", "moreover"),
            ("Expansion.Conjunction",),
        ),
        Way(
            "substitution",
            ("instead", "rather"),
            ("Expansion.Substitution.Arg2", "Expansion.Alternative.Chosen alternative"),
        ),
    )
}
#: Ways of which one often holds where the other does, or is not plainly wrong there.
_BESIDE = frozenset(
    frozenset(pair.split())
    for pair in (
        *("detail instance", "detail restatement", "instance restatement", "result restatement"),
        *("result sequence", "result addition", "addition detail", "addition instance"),
        *("addition sequence", "addition contrast", "contrast detail", "contrast substitution"),
        *("detail result", "result instance"),
    )
)
#: An annotated way, and another that may well hold beside it: a result, an example or the next
#: thing may be in contrast as well, and what is said in other words may be something more.
_MAY_HOLD = frozenset(
    (
        *((way, "contrast") for way in ("result", "instance", "sequence")),
        *((way, "restatement") for way in ("contrast", "addition", "substitution")),
        *(("contrast", "sequence"), ("restatement", "addition")),
        *(("substitution", "detail"), ("substitution", "instance")),
    )
)


def exclude_each_other(one: str, other: str) -> bool:
    """Tell whether where sentences relate in one of :data:`WAYS` the other is plainly wrong."""
    return one != other and frozenset((one, other)) not in _BESIDE


@dataclass(frozen=True, slots=True)
class Implied:
    """Two neighbouring sentences of a document without a connective between them.

    Attributes:
        relation: their relation.
        unit: the second sentence's number.
        first: the first sentence, or the first two.
        second: the second one, as it goes on behind an adverbial.
        way: a name of :data:`WAYS`.
        word: the adverbial, lower-case.
        past: true where the second tells what happened, as far as there is grammar.
    """

    relation: Relation
    unit: int
    first: str
    second: str
    way: str
    word: str
    past: bool = False

    def alternatives(self) -> list[Way]:
        """The ways whose commonest adverbial can be put, and is worse than the annotated way's.

        Where something is denied, what is so may come ``instead``; what happened may have come
        ``then``.
        """
        possible = {"substitution": not denies(self.first), "sequence": not self.past}
        return [
            way
            for way in WAYS.values()
            if exclude_each_other(self.way, way.name)
            and (self.way, way.name) not in _MAY_HOLD
            and possible.get(way.name, True)
            and not self.has(way.words[0])
        ]

    def has(self, adverbial: str) -> bool:
        """Tell whether an adverbial stands in the sentences already."""
        return re.search(rf"\b{adverbial}\b", f"{self.first} {self.second}", re.I) is not None


_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_CLOSED = word_list("closed_classes") | {"there", "here", "one", "two", "three", "many", "most"}
_OF_A_COUNTRY = re.compile(r"(?:[ie]an|ish|ese)$")
#: A sentence that begins with its number in a list.
_NUMBERED = re.compile(r"\W*(?:\d+|[a-z])[.)]\s")
#: Genres whose sentences read oddly with ``as a result`` before them.
_TALK = frozenset(("conversation", "vlog"))
#: Types of sentences that assert or ask for something.
_SENTENCES = frozenset(("decl", "imp"))
_FEWEST_WORDS, _MOST_WORDS = 4, 45
#: Relations that words of the text express.
_SAID = ("Explicit", "AltLex", "AltLexC")


def implied_connectives(discourse: Discourse, context: Context) -> Iterator[Implied]:
    """Give the sentences of a discourse that an adverbial can be put between, in their order."""
    pairs: dict[int, Implied] = {}
    twice = set()
    for relation in discourse.relations:
        if relation.implied:
            with context.counting():
                pair = _implied(discourse, relation)
                twice |= {pair.unit} & set(pairs)
                pairs[pair.unit] = pair
    if twice:
        context.skipped["several relations of one sentence"] += len(twice)
    yield from (pair for unit, pair in sorted(pairs.items()) if unit not in twice)


def _implied(discourse: Discourse, relation: Relation) -> Implied:
    ways = (way for way in WAYS.values() if relation.implied in way.words + way.likewise)
    if (way := next(ways, None)) is None:
        raise NotApplicableError("implied connective that no sentence begins with")
    if not any(sense.startswith(way.senses) for sense in relation.senses):
        raise NotApplicableError("implied connective of another sense")
    if reason := _objection(discourse, relation):
        raise NotApplicableError(reason)
    unit = relation.arg2[0][0]
    first, second = discourse.texts[relation.arg1[0][0] : unit], within_sentence(discourse, unit)
    if not second:
        raise NotApplicableError("first word that may be a name")
    word = way.words[0] if relation.implied in way.likewise else relation.implied
    past = tells_what_happened(discourse.units[unit])
    pair = Implied(relation, unit, " ".join(first), second, way.name, word, past)
    if pair.has(word) or pair.has(way.words[0]):
        raise NotApplicableError("adverbial that stands there already")
    return pair


def _objection(discourse: Discourse, relation: Relation) -> str:
    (unit, start, _), last = relation.arg2[0], relation.arg1[-1][0]
    if len(relation.senses) > 1:
        return "implicit relation of several senses"
    if start or last != unit - 1 or relation.arg2[-1][0] != unit:
        return "arguments that are no neighbouring sentences"
    if relation.arg1[0][0] < unit - 2:
        return "more than two sentences before the connective"
    units = discourse.units[relation.arg1[0][0] : unit + 1]
    if len({each.speaker for each in units}) > 1:
        return "speakers change between the arguments"
    if discourse.meta.get("genre") in _TALK:
        return "talk, which hardly has such adverbials"
    types = discourse.meta.get("sentence_types", "").split()
    sentences = [each.text for each in units]
    if types and not {types[i] for i in (unit - 1, unit)} <= _SENTENCES:
        return "no full sentences"
    if not all(re.search(r"[\w)\]%][.!][\"”’')\]]*$", each) for each in sentences):
        return "no full sentences"
    if not all(_FEWEST_WORDS <= len(each.split()) <= _MOST_WORDS for each in sentences):
        return f"sentences of under {_FEWEST_WORDS} or over {_MOST_WORDS} words"
    if any(each.count('"') % 2 or each.count("“") != each.count("”") for each in sentences):
        return "a quotation cut in two"
    if _NUMBERED.match(sentences[0]):
        return "no full sentences"
    if has_fillers(" ".join(sentences)) or sentences[-1] in sentences[:-1]:
        return "fillers of speech, or a repetition"
    if says_how_it_goes_on(sentences[-1]) or has_own_adverbial(units[-1]):
        return "second sentence that says how it goes on"
    said = (other for other in discourse.relations if other.type in _SAID)
    if any({part[0] for part in o.arg2} == {unit} and o.arg1[-1][0] < unit for o in said):
        return "second sentence that says how it goes on"
    return ""


def within_sentence(discourse: Discourse, unit: int) -> str:
    """A sentence as it goes on behind an adverbial: its first word lowered, if it is no name.

    A word that has its capital within sentences of the discourse, too, and never a small letter, is
    a name or of one, whatever its part of speech (``Jóola languages``). Empty where nothing tells:
    the word is of no closed class, stands nowhere else in the discourse within a sentence, and
    begins no mention whose part of speech is annotated.
    """
    text = discourse.texts[unit]
    if (found := _WORD.match(text)) is None:
        return text if text[:1].isdigit() else ""
    word = found[0]
    bare = re.split("['’]", word)[0]
    if bare == "I" or any(map(str.isupper, bare[1:])) or not word[0].isupper():
        return text
    lowered = text[0].lower() + text[1:]
    if bare.lower() in _CLOSED:
        return lowered
    inside = {each for other in discourse.texts for each in _WORD.findall(other)[1:]}
    if bare in inside and bare.lower() not in inside:
        return text
    first = (m for m in discourse.mentions if m.span[0][:2] == (unit, 0))
    tags = {mention.features.first_pos for mention in first} - {""}
    if "PROPN" in tags:
        return text
    if bare.lower() in inside and bare not in inside:
        return lowered
    # A tag tells no adjective of a country from another one.
    return "" if not tags or ("ADJ" in tags and _OF_A_COUNTRY.search(bare)) else lowered
