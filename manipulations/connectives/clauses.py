"""Finite clauses: whether a stretch of text has a subject and a finite verb, by its words alone.

Corpora of discourse relations come without parts of speech, so this is a guess. It errs on one
side: where no sign of a finite verb is found there is no clause (``different species lead``), and
of what looks like one a few are none. Stretches are taken to begin where a clause would.
"""

from __future__ import annotations

import re

WORD = re.compile(r"[\w'’]+(?:-[\w'’]+)*")


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written with spaces."""
    return frozenset(words.split())


_SUBJECTS = word_set("i you he she it we they there everyone everybody everything nobody somebody")
_ARTICLES = word_set("the a an no every my your his its our their")
#: Determiners that may also stand alone, as a whole subject: ``some considered him insane``.
_PRONOUNS = word_set("this that these those some many most all both each several few her")
#: Words that a subject may begin with; ``a native of York`` is rather a noun of no clause.
_DETERMINERS = _ARTICLES - {"a", "an", "no"} | _PRONOUNS
_AUXILIARIES = word_set(
    "am is are was were has have had does do did can cannot could will would shall should may "
    "might must"
)
_IRREGULAR_PASTS = word_set(
    "became began bought broke brought built came chose drew drove fell felt flew found gave got "
    "grew held kept knew led left lost made met paid put ran rose said sang sank sat saw sent set "
    "spoke stood swam thought threw told took went won wore wrote"
)
#: Participles that do not end in -ed: ``as set out in``, ``although known as``.
_IRREGULAR_PARTICIPLES = word_set(
    "agreed born bought brought built caught chosen done drawn driven fallen felt forgotten found "
    "given gone grown held hidden kept known laid left lost made meant met paid put read run said "
    "seen sent set shown sold spoken stated struck taken taught thought told torn understood won "
    "worn written"
)
#: Words in -ing and -ed that are no participles.
_NO_PARTICIPLES = word_set(
    "thing something nothing everything anything king spring evening morning during bed need "
    "indeed hundred speed seed weed red ring string wing sibling ceiling"
)
#: Words before a participle, an adjective or a preposition that leave it one.
_ADVERB = re.compile(r"\w+ly|not|also|still|once|again|only|now|then|even|just|otherwise|perhaps")


def has_clause(text: str) -> bool:
    """Tell whether a text begins with a clause that has a subject and a finite verb.

    A participle that begins it (``enjoying the city``), an adjective (``remarkably tolerant of
    foreigners``), a preposition or a noun (``at school``, ``a native of York``) makes none, unless
    a verb follows before a comma. Over commas a verb is looked for only where a determiner has
    begun a subject: ``the head of the school, Ann, has left``.
    """
    stretch = WORD.findall(re.split(r"[,;:.!?()\[\]…—–]", text)[0])
    while stretch and _ADVERB.fullmatch(stretch[0]):
        del stretch[0]
    if not stretch or begins_with_participle(text):
        return False
    if re.split("['’]", stretch[0].lower())[0] in _SUBJECTS:
        return len(stretch) > 1
    determined = stretch[0].lower() in _DETERMINERS
    if determined:
        stretch = WORD.findall(re.split(r"[;:.!?()\[\]…—–]", text)[0])
    return any(_is_finite(stretch, place, determined) for place in range(1, len(stretch)))


def begins_with_participle(text: str) -> bool:
    """Tell whether the first word of a text that is no adverb is a participle: ``also taking``.

    A name is none (``pro-Beijing``).
    """
    for found in WORD.findall(text):
        if not _ADVERB.fullmatch(found):
            regular = found.endswith(("ing", "ed")) and found not in _NO_PARTICIPLES
            return found.islower() and (regular or found in _IRREGULAR_PARTICIPLES)
    return False


def _is_finite(words: list[str], place: int, determined: bool) -> bool:
    """Tell whether a word may be a finite verb: an auxiliary, a past, or a form in -s.

    A name is none, nor what stands behind a determiner (``in the United States``, ``the limited
    role``). A form in -s is a noun as often, so that the word behind it has to begin an object;
    behind a determined subject it may be any but ``of``.
    """
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
