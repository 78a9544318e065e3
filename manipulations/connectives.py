"""The words around a connective: whether it can be replaced at all, and how it is used.

Most corpora of discourse relations come without parts of speech, so that where a finite clause
begins is a guess there. It errs on one side: where no sign of a finite verb is found there is no
clause (``different species lead``), and of what looks like one a few are none. Where a corpus has
the grammar of Universal Dependencies, that tells clauses: a subordinator is a ``mark`` of its
clause's verb, and that verb an ``advcl`` of the verb of the other clause.

A segment has the whole sentences that a connective and its arguments stand in.

Beyer et al. 2021, section 4.5, take the segments of Disco-Annotation, which are a sentence or a
few. Of a corpus in the manner of the Penn Discourse Treebank a segment is the run of whole
sentences from the first that holds a part of the relation to the last one.

Where the connective's clause comes first (``Although it rained, we left``), nothing stands before
the connective that it could fail to go with: there it is the main clause that shows whether it
does. What the arguments say is left as it is; whether a new connective can carry their relation is
for the suite to say.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import (
    Discourse,
    ParsedWord,
    Relation,
    Span,
    Unit,
    span_text,
)
from coherencegym.loaders.senses import CONNECTIVES
from coherencegym.manipulations.editing import cut_excerpt, last_edit, replace_text, text_around
from coherencegym.manipulations.operator import Context, Operator
from coherencegym.words import in_case_of, word_list, word_lists, word_set

_WORD = re.compile(r"[\w'’]+(?:-[\w'’]+)*")
_SUBJECTS = word_set("i you he she it we they there everyone everybody everything nobody somebody")
_ARTICLES = word_set("the a an no every my your his its our their")
#: Determiners that may also stand alone, as a whole subject: ``some considered him insane``.
_PRONOUNS = word_set("this that these those some many most all both each several few her")
#: Words that a subject may begin with; ``a native of York`` is rather a noun of no clause.
_DETERMINERS = _ARTICLES - {"a", "an", "no"} | _PRONOUNS
_AUXILIARIES = word_list("auxiliaries")
_IRREGULAR_PASTS = word_list("irregular_pasts")
#: Participles that do not end in -ed: ``as set out in``, ``although known as``.
_IRREGULAR_PARTICIPLES = word_list("irregular_participles")
#: Words in -ing and -ed that are no participles.
_NO_PARTICIPLES = word_list("no_participles")
#: Words before a participle, an adjective or a preposition that leave it one.
_ADVERB = re.compile(r"\w+ly|not|also|still|once|again|only|now|then|even|just|otherwise|perhaps")
#: Words before a connective that make one of more than one word with it, or limit it.
_MODIFIERS = word_list("before_connectives")
#: More such words, of single connectives: ``and yet``, ``as yet``, ``as though``.
_MODIFIERS_OF = {
    "however": word_set("and but or"),
    "yet": word_set("and but as or"),
    "though": word_set("as"),
    "while": word_set("a the once all"),
    "because": word_set("not and but"),
    "so": word_set("and but even or"),
    "then": word_set("and but or by since even"),
}
#: Words after ``as`` with which it is a connective or a preposition of several words.
_AFTER_AS = word_list("after_as")
#: Two words after ``as`` that make an idiom with it: ``as it turns out``.
_IDIOMS = ("it turns", "it turned", "it happens", "it happened", "it were", "luck would")
#: Verbs that have no subject after ``as``, and would need one after another connective: ``as would
#: be``.
_VERBS = word_set(
    "is are was were do does did has have had can could will would should shall may might must"
)
#: Verbs of ``as you can see`` and ``as she said``: such a clause names a source, whatever sense it
#: was given.
_REPORTS = word_list("report_verbs")
#: The number of words after ``as`` within which such a verb is looked for; one that ends the clause
#: may be farther away: ``as the plight of many towns shows``.
_REPORT_WITHIN = 5
#: Words before ``as`` to which it belongs: ``so tired as``, ``the same day as``.
_CORRELATES = word_set("as so such same")
#: Subordinators that no clause without a subject or a finite verb follows.
_REASONS = frozenset(("as", "because", "since"))
#: The most words between the two parts of ``as ... as``.
_NEAR = 5
#: Words for a degree behind ``however``: ``however hard they try``. After a first ``as`` they wait
#: for the second, however far away it is: ``as much of the rent of land as possible``.
_DEGREES = word_list("degrees")
_PREPOSITIONS = word_set("in at on under within with from during by")
#: Marks that end a clause, as far as words of one connective are looked for.
_CLAUSE_END = r"[,;:.!?()\"“”–—]"
#: Marks and words that a clause may begin behind, other than its sentence's start.
_OPENS = re.compile(r"(?:^|[;:(–—-])\W*$")

_SUBJECT_RELATIONS = ("nsubj", "csubj", "expl")
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
#: Words with which something is denied.
_DENIAL = re.compile(
    r"\b(?:not|no|none|nobody|nothing|never|neither|nor|hardly|without|cannot|rather than"
    r"|more than (?:just|only)|(?:lack|fail|refus)(?:s|e|ed|es)?)\b|n['’]t\b",
    re.IGNORECASE,
)


def unsuitable(sentence: str, start: int, end: int) -> str:
    """Say why the connective ``sentence[start:end]`` cannot be replaced; empty where it can.

    One word is assumed. Reasons are short, for counting.
    """
    word = sentence[start:end].lower()
    if sentence[:start][-1:].isalnum() or sentence[end:][:1].isalnum():
        return "connective inside a word"
    # Only as far as the clause reaches: "as he left, as well" is no "as ... as".
    before = _words(re.split(_CLAUSE_END, sentence[:start])[-1])
    after = _words(re.split(_CLAUSE_END, sentence[end:])[0])
    if word == "as" and (reason := _unsuitable_as(sentence, start, end, before, after)):
        return reason
    if word == "however" and _DEGREES & set(after[:1]):
        return "however of degree"
    if word == "however" and _half_set_off(sentence, start, end):
        return "however between a comma and none"
    if re.search(rf"\b{word}\b[^.!?]{{0,40}}[—–-]\s*$", sentence[:start], re.IGNORECASE):
        return "connective said twice"
    if (_MODIFIERS | _MODIFIERS_OF.get(word, frozenset())) & set(before[-1:]):
        return "connective of several words"
    return ""


def _unsuitable_as(sentence: str, start: int, end: int, before: list[str], after: list[str]) -> str:
    degree = any(one == "as" and two in _DEGREES for one, two in itertools.pairwise(before))
    if degree or _CORRELATES & set(before[-_NEAR - 1 :]) or "as" in after[: _NEAR + 1]:
        return "correlative as"
    if begins_clause(sentence, start) and re.search(r",\s*so\b", sentence[end:]):
        return "correlative as"
    if _AFTER_AS & set(after[:1]) or " ".join(after[:2]) in _IDIOMS:
        return "connective of several words"
    bare = _PREPOSITIONS & set(after[:1]) and not has_clause(sentence[end:])
    if bare or _VERBS & set(after[:1]) or begins_with_participle(sentence[end:]):
        return "as without a subject"
    # Over commas, too: "as his daughter, Ann, said".
    if _REPORTS & {*_words(sentence[end:])[:_REPORT_WITHIN], *after[-1:]}:
        return "as that names a source"
    return ""


def _half_set_off(sentence: str, start: int, end: int) -> bool:
    # ``He was however, ill`` is badly written already, and reads as another slip with another word.
    before, after = sentence[:start].rstrip()[-1:], sentence[end:].lstrip()[:1]
    if begins_clause(sentence, start) or not after:
        return False
    return (before == ",") != (after == ",") and (before == "," or before.isalnum())


def begins_clause(sentence: str, start: int) -> bool:
    """Tell whether a place begins its sentence, or a clause after a semicolon or a dash."""
    return _OPENS.search(sentence[:start]) is not None


def words(text: str) -> int:
    """The number of words of a text; punctuation is none."""
    return len(_WORD.findall(text))


def syntax(sentence: str, start: int, end: int) -> str:
    """Classify the use of a connective: ``subordinator``, ``adverbial`` or ``coordinator``.

    ``though`` is an adverbial where a comma, the sentence's end, ``so``, ``and`` or ``but``
    follows, else a subordinator.
    """
    word = sentence[start:end].lower()
    if word == "though":
        following = sentence[end:].lstrip()
        alone = re.match(r"$|[,.;:!?)]|(?:so|and|but)\b", following)
        return "adverbial" if alone else "subordinator"
    known = CONNECTIVES.get(word)
    return "subordinator" if known is None else next(iter(known.syntax))


def fits(
    word: str,
    classes: frozenset[str],
    sentence: str,
    start: int,
    end: int,
    clause: bool | None = None,
) -> bool:
    """Tell whether a connective of these classes can stand where another does, by grammar alone.

    A clause without a subject or a finite verb (``while demanding``, ``although not perfect``)
    follows none of ``since``, ``as``, ``because`` and ``so``, but for the ``since`` that is a
    preposition (``since getting it``), where nothing else fits. No connective stands beside itself.
    Of adverbials see :func:`_fits_adverbial`. ``clause``: whether one with both follows, where the
    grammar is known; else its words tell.
    """
    before, after = sentence[:start], sentence[end:]
    used = syntax(sentence, start, end)
    if word in (_words(before)[-1:] + _words(after)[:1]):
        return False
    if used != "subordinator" and "adverbial" in classes:
        return _fits_adverbial(word, used, sentence, start, end)
    if used == "adverbial" and "coordinator" in classes:
        return begins_clause(sentence, start)
    clause = has_clause(after) if clause is None else clause
    if word == "so" and not clause:
        return False
    original = sentence[start:end].lower()
    if original == "since" and begins_with_participle(after):
        return False
    if word in _REASONS and original not in _REASONS:
        return used in classes and clause
    return used in classes


def _fits_adverbial(word: str, used: str, sentence: str, start: int, end: int) -> bool:
    # ``Though, it rained`` is no English. ``For example``, and ``however`` for ``yet``, have a
    # comma behind them; the ``though`` that ends a clause without one (``it rained though so we``)
    # is like no other.
    begins = begins_clause(sentence, start)
    comma = sentence[end:].lstrip().startswith(",")
    if re.search(rf"\b{word}\b", f"{sentence[:start]}|{sentence[end:]}", re.IGNORECASE):
        return False
    if used == "coordinator" and not begins:
        return False
    if word == "though":
        return not begins
    if not comma and (word == "for example" or sentence[start:end].lower() == "though"):
        return False
    return comma or used == "adverbial" or word != "however"


def _words(text: str) -> list[str]:
    return [found.lower() for found in _WORD.findall(text)]


def has_clause(text: str) -> bool:
    """Tell whether a text begins with a clause that has a subject and a finite verb.

    A participle that begins it (``enjoying the city``), an adjective (``remarkably tolerant of
    foreigners``), a preposition or a noun (``at school``, ``a native of York``) makes none, unless
    a verb follows before a comma. Over commas a verb is looked for only where a determiner has
    begun a subject: ``the head of the school, Ann, has left``.
    """
    stretch = _WORD.findall(re.split(r"[,;:.!?()\[\]…—–]", text)[0])
    while stretch and _ADVERB.fullmatch(stretch[0]):
        del stretch[0]
    if not stretch or begins_with_participle(text):
        return False
    if re.split("['’]", stretch[0].lower())[0] in _SUBJECTS:
        return len(stretch) > 1
    determined = stretch[0].lower() in _DETERMINERS
    if determined:
        stretch = _WORD.findall(re.split(r"[;:.!?()\[\]…—–]", text)[0])
    return any(_is_finite(stretch, place, determined) for place in range(1, len(stretch)))


def begins_with_participle(text: str) -> bool:
    """Tell whether the first word of a text that is no adverb is a participle: ``also taking``.

    A name is none (``pro-Beijing``).
    """
    for found in _WORD.findall(text):
        if not _ADVERB.fullmatch(found):
            regular = found.endswith(("ing", "ed")) and found not in _NO_PARTICIPLES
            return found.islower() and (regular or found in _IRREGULAR_PARTICIPLES)
    return False


def _is_finite(words: list[str], place: int, determined: bool) -> bool:
    # A name is none, nor what stands behind a determiner (``in the United States``, ``the limited
    # role``). A form in -s is a noun as often, so that the word behind it has to begin an object;
    # behind a determined subject it may be any but ``of``.
    before, word, following = words[place - 1].lower(), words[place], words[place + 1 : place + 2]
    if word[0].isupper() or before in _ARTICLES:
        return False
    if re.sub("n['’]t$", "", word) in _AUXILIARIES | {"ca", "wo"} or word in _IRREGULAR_PASTS:
        return True
    if word.endswith("ed") and word not in _NO_PARTICIPLES:
        return True
    if re.search("(?:ss|us|is|['’]s)$", word) or not word.endswith("s") or not following:
        return False
    if determined:
        return following != ["of"]
    return following[0] in _ARTICLES | _PRONOUNS | _SUBJECTS | {"to", "not"}


def says_how_it_goes_on(sentence: str) -> bool:
    """Tell whether a sentence begins with a connective or the like, or with a quotation."""
    return _OPENING.match(sentence) is not None or sentence[:1] in set("\"“‘'([")


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


def _last_word_and_head(unit: Unit, end: int) -> tuple[ParsedWord, ParsedWord] | None:
    word = next((word for word in unit.words if word.end == end), None)
    return None if word is None or word.head is None else (word, unit.words[word.head])


def _has_subject(unit: Unit, verb: int | None) -> bool:
    return any(
        word.head == verb and word.relation.startswith(_SUBJECT_RELATIONS) for word in unit.words
    )


_NAME = "ConnectiveSubstitution"
#: The connectives of the paper (section 4.5), but for ``meanwhile``, which is rare.
AMBIGUOUS = ("although", "as", "however", "since", "though", "while", "yet")


@dataclass(frozen=True)
class ConnectiveSegments(Operator):
    """Copy a segment (one or more whole sentences) around each annotated connective.

    A connective (such as ``however``) relates two parts of a text. A segment runs from the first to
    the last sentence of these parts.

    Attributes:
        connectives: the connectives around which segments are copied. Write them in lower case;
            capitalised connectives (``However``) are found, too.
        most_sentences: the largest number of sentences in a segment. A connective whose segment
            would be longer gives no segment.
        fewest_words_after: the smallest number of words between the connective and the end of the
            segment. A connective with fewer words after it gives no segment. If the connective
            begins its sentence (``Although it rained, we left``), only the words of the main clause
            (``we left``) count.

    The name of a segment says where the connective begins in the text. For example, ``u3c12`` means
    character 12 of sentence 3, both counted from 0.
    """

    connectives: tuple[str, ...] = AMBIGUOUS
    most_sentences: int = 4
    fewest_words_after: int = 3

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the segments in the order of their connectives."""
        for relation in explicit_relations(discourse):
            assert relation.connective is not None
            text = span_text(discourse, relation.connective).lower()
            if text not in self.connectives and not set(text.split()) & set(self.connectives):
                continue
            if len(relation.connective) > 1:
                context.skipped["discontinuous connective"] += 1
            elif text not in self.connectives:
                context.skipped["connective of several words"] += 1
            elif reason := self._objection(discourse, relation, *relation.connective[0]):
                context.skipped[reason] += 1
            else:
                unit, start, _ = relation.connective[0]
                kept = dataclasses.replace(discourse, relations=(relation,))
                yield cut_excerpt(kept, *units_of(relation), variant=f"u{unit}c{start}")

    def _objection(
        self, discourse: Discourse, relation: Relation, unit: int, start: int, end: int
    ) -> str:
        first, last = units_of(relation)
        texts, units = discourse.texts, discourse.units[first : last + 1]
        main = main_clause(discourse, relation)
        next_unit, next_start = main or (unit, end)
        before = [*texts[first:unit], texts[unit][:start]]
        after = [texts[next_unit][next_start:], *texts[next_unit + 1 : last + 1]]
        if reason := unsuitable(texts[unit], start, end):
            return reason
        subordinates = syntax(texts[unit], start, end) == "subordinator"
        if subordinates and not joins_clauses(discourse.units[unit], end):
            return "no conjunction of two clauses"
        if main is None and not any(map(words, before)):
            return "connective begins the segment"
        if sum(map(words, after)) < self.fewest_words_after:
            return f"fewer than {self.fewest_words_after} words after the connective"
        if len(units) > self.most_sentences:
            return f"more than {self.most_sentences} sentences"
        if len({unit.speaker for unit in units}) > 1:
            return "speakers change within the segment"
        return ""


def units_of(relation: Relation) -> tuple[int, int]:
    """The first and the last unit of a relation."""
    parts = (relation.connective or ()) + relation.arg1 + relation.arg2
    held = [unit for unit, _, _ in parts]
    return min(held), max(held)


def main_clause(discourse: Discourse, relation: Relation) -> tuple[int, int] | None:
    """Find the main clause (unit, character) where it follows the connective's clause.

    None where the first argument ends before the connective, has its verb there (``They do, as we
    do, what they can``), or is not annotated. It begins where the second argument ends, before any
    words that neither holds (``Although it rained, Ann said, they left``).
    """
    if not relation.connective or not relation.arg2:
        return None
    unit, _, end = max(relation.arg2)
    begun = " ".join(
        discourse.units[u].text[s:e]
        for u, s, e in relation.arg1
        if (u, s) < relation.connective[0][:2]
    )
    rest = [part for part in relation.arg1 if part[:2] >= (unit, end)]
    if (unit, end) <= relation.connective[-1][::2] or not rest or has_clause(begun):
        return None
    text = discourse.units[unit].text
    gap = re.compile(r"[\s,;:.!?)\]…—–-]*").match(text, end)
    assert gap is not None
    return (unit, gap.end()) if gap.end() < len(text) else (unit + 1, 0)


def explicit_relations(discourse: Discourse) -> list[Relation]:
    """Explicit relations in the order of their connectives, each connective once.

    Of relations that share a connective the arguments and senses are joined.
    """
    found: dict[Span, Relation] = {}
    for relation in discourse.relations:
        connective = relation.connective
        if relation.type != "Explicit" or not connective:
            continue
        same = found.get(connective)
        if same is not None:
            relation = dataclasses.replace(
                same,
                arg1=same.arg1 + relation.arg1,
                arg2=same.arg2 + relation.arg2,
                senses=tuple(dict.fromkeys(same.senses + relation.senses)),
            )
        found[connective] = relation
    return [found[span] for span in sorted(found)]


@dataclass(frozen=True)
class ConnectiveSubstitution(Operator):
    """Replace an annotated connective by another connective, and keep its capitalisation.

    Attributes:
        replacement: the new connective, in lower case.

    Each annotated connective of the text gives one result. A connective gives no result if it is
    the same as the new connective, or if it has two separate parts (``if ... then``). The result is
    named after the new connective, for instance ``although``. If :class:`ConnectiveSegments` has
    cut out the text around a connective, the name of the segment comes first: ``u3c12/although``.
    """

    replacement: str

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with one connective replaced."""
        for relation in explicit_relations(discourse):
            assert relation.connective is not None
            if len(relation.connective) > 1:
                context.skipped["discontinuous connective"] += 1
                continue
            unit, start, end = relation.connective[0]
            word = discourse.units[unit].text[start:end]
            if word.lower() == self.replacement:
                context.skipped["the replacement is the connective that stands there"] += 1
                continue
            after = in_case_of(word, self.replacement)
            name = f"{discourse.variant}/{self.replacement}".lstrip("/")
            yield replace_text(discourse, unit, start, end, after, operator=_NAME, variant=name)


def around_connective(discourse: Discourse) -> tuple[str, str, str]:
    """The text before a segment's connective, the connective, and the text after it.

    Without outer spaces. The connective is the one that was substituted, or of a segment that was
    not changed the one that it was cut out for.
    """
    if (edit := last_edit(discourse, _NAME)) is not None:
        place = edit.unit, edit.start, edit.start + len(edit.after)
    elif (relations := explicit_relations(discourse)) and relations[0].connective:
        place = relations[0].connective[0]
    else:
        raise ValueError(f"{discourse.corpus}/{discourse.id}: there is no connective")
    before, connective, after = text_around(discourse, *place)
    return before.strip(), connective, after.strip()
