"""People of a text who can be given other names, and the operator that gives them.

A name is changed in all of a text or not at all, and only where every mention is surely one of the
same person: the rules would rather leave a name than change a word that is none.

A slip of who wrote a story: the ending of one about Terry says what Mary did. Whatever else it
says, it is no ending of that story, and the wrong one of two endings is told by it alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import replace_places
from coherencegym.manipulations.operator import Context, NotApplicableError, Operator
from coherencegym.manipulations.probes.sentence import Replacement
from coherencegym.manipulations.reference.mention_rules import (
    GENDERED_PRONOUN,
    GENDERS,
    gender_of_name,
    new_name,
)
from coherencegym.words import word_list, word_lists, word_set

_WORD = re.compile(r"[^\W\d_]+")
_PERSON = re.compile(
    r"I|me|my|mine|we|us|our|ours|you|yours?|he|him|his|she|hers?|they|them|their|theirs", re.I
)
_PRONOUNS = (r"\b(?:he|him|his|himself)\b", r"\b(?:she|hers?|herself)\b")
#: Words right before a name that go with any other one; others are titles of a family name.
_KIN = word_set("Aunt Auntie Uncle Cousin Grandma Grandpa Granny Brother Sister Little Big")
_TITLES = word_set(
    "Mr Mrs Ms Miss Dr Doctor Sir Lady Lord Saint St President Professor Coach Judge"
)
_ARTICLES = word_set("a an the this that these those every each another no")
#: Words in front of places and months, and behind what is a verb ("Will you", "Mark the place").
_BEFORE_PLACES = word_set("in to at from of near around through on last next until since by during")
_AFTER_VERBS = word_set("i you he she it we they me him her us them my your his its our their be")
#: Capitalised words that name no one thing; months that are names of people, too, are left out.
_CALENDAR = word_set(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March July "
    "September October November December Christmas Easter Halloween Thanksgiving"
)
#: Letters that forms of one name share: ``Tim`` and ``Timmy``, ``Terry`` and ``Terri``.
_STEM, _MORE = 3, 2


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """Somebody whom a text names.

    Attributes:
        name: the given name.
        gender: ``masculine`` or ``feminine``; empty where that, or the name, is in doubt.
        problem: the reason why the name cannot be changed; empty where it can.
    """

    name: str
    gender: str
    problem: str = ""


@cache
def _more_names() -> dict[str, str]:
    lists = word_lists("more_given_names")
    return {name: gender if gender in GENDERS else "" for gender, *names in lists for name in names}


def is_given_name(word: str) -> bool:
    """Tell whether a word is in the lists of given names, whatever gender it tells."""
    return bool(gender_of_name(word)) or word in _more_names()


@lru_cache(maxsize=50_000)
def named_people(texts: tuple[str, ...]) -> tuple[NamedPerson, ...]:
    """Find whom the units of a text name, in the order of their first mentions.

    >>> named_people(("Ann met Will.", "She was glad.", "Will you come?"))[0].gender
    'feminine'
    """
    text = "\n".join(texts)
    # A word that has its capital wherever it stands may be a name that is in no list.
    inside, first = _capitalised(text)
    closed = word_list("closed_classes")
    unlisted = {
        word for word in inside & first if not is_given_name(word) and word.lower() not in closed
    }
    listed = {
        word: gender_of_name(word) or _more_names().get(word, "")
        for word in _WORD.findall(text)
        if is_given_name(word) or word in unlisted
    }
    told = {
        gender
        for gender, pronouns in zip(GENDERS, _PRONOUNS, strict=True)
        if re.search(pronouns, text, re.IGNORECASE)
    }
    people = []
    for name, gender in listed.items():
        if not gender and len(listed) == len(told) == 1:
            (gender,) = told
        # "Alex … she": unless the pronouns are of another one who has a name. Of "Ariel", whose
        # gender readers may not know, the pronouns of a text have to tell it.
        others = {listed[other] for other in listed if other != name}
        known = gender_of_name(name)
        problem = "a name that is in no list" if name in unlisted else _problem(name, text)
        clash = told - {gender} - others and gender not in told if known else told - {gender}
        if not gender or clash:
            problem = problem or "the gender is not clear"
        elif not told and name in word_list("names_and_words"):
            problem = problem or "perhaps no name"
        people.append(NamedPerson(name, "" if problem else gender, problem))
    return tuple(people)


def _problem(name: str, text: str) -> str:
    if any(_is_form(word, name) for word in set(_WORD.findall(text))):
        return "a name in several forms"
    bare = False
    for number, found in enumerate(re.finditer(rf"\b{name}\b", text)):
        before, after = text[: found.start()], text[found.end() :]
        possessive = _possessive(name, after)
        rest = after[len(possessive) :]
        if re.search(r"(?:\w['’]|-)$", before) or re.match(r"-|['’]\w", rest):
            return "a part of another name"
        word, initial = _word_before(before)
        following = re.match(r" ([A-Z][\w]+)", rest)
        if word in _TITLES or word.lower() in _ARTICLES or is_given_name(word):
            return "a part of another name"
        if word[:1].isupper() and word not in _KIN and word != "I" and not initial:
            return "a part of another name"
        if following and (number or possessive):
            return "a part of another name"
        if name in word_list("names_and_words") and _may_be_a_word(word, rest):
            return "perhaps no name"
        bare = bare or not (possessive or following)
    return "" if bare else "perhaps no name"


def _word_before(before: str) -> tuple[str, bool]:
    # The word right before a name, and whether it begins a sentence.
    found = re.search(r"(^|[\n.!?:\"“”] *)?\b(\w+)(\.?) $", before)
    if not found or (found[3] and found[2] not in _TITLES):
        return "", False
    return found[2], found[1] is not None


def _may_be_a_word(before: str, rest: str) -> bool:
    following = re.match(r" (\w+)", rest)
    after = following[1].lower() if following else ""
    return (
        before.lower() in _BEFORE_PLACES
        or after in _AFTER_VERBS | _ARTICLES
        or after.isdigit()
    )  # fmt: skip


def _is_form(word: str, name: str) -> bool:
    if word == name:
        return False
    if word.lower() == name.lower():
        return True
    begins = word.startswith(name) or name.startswith(word)
    close = word[0].isupper() and abs(len(word) - len(name)) <= _MORE
    return (is_given_name(word) and begins) or (
        close and word[:_STEM] == name[:_STEM] and (begins or is_given_name(word))
    )


def _possessive(name: str, after: str) -> str:
    # "Tom's", "James's", and "James' car".
    bare = r"|['’](?= \w)" if name.endswith("s") else ""
    found = re.match(rf"['’]s\b{bare}", after)
    return found[0] if found else ""


@dataclass(frozen=True)
class Renaming(Operator):
    """Replace the names of persons in all units (sentences or turns) of a text.

    Attributes:
        names: pairs of an old name and the new name that replaces the old name.

    A text gives no result if one of the old names is missing from the text, or if the text already
    contains one of the new names. A text also gives no result if it has a second form of an old
    name (``Tim`` and ``Timmy``), or if an old name may be a word (``Will``), a family name or a
    place. The gender of the person must be clear from the old name or from the pronouns of the
    text. If the gender is not clear, the text gives no result.
    """

    names: tuple[tuple[str, str], ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with the new names, if it names all who are to have one."""
        safe = {person.name for person in named_people(discourse.texts) if not person.problem}
        given = dict(self.names)
        if not given.keys() <= safe:
            context.skipped["a name that cannot be changed"] += 1
            return
        if set(given.values()) & set(_WORD.findall(discourse.text)):
            context.skipped["a new name that the text has already"] += 1
            return
        for unit, text in enumerate(discourse.texts):
            places = list(_replacements(text, given))
            discourse = replace_places(discourse, unit, places, operator="Renaming")
        yield discourse


@dataclass(frozen=True)
class NewNames(Operator):
    """Replace the name of every person in a text by another common name of the same gender.

    The new names are drawn at random. A text gives no result if it names nobody. A text also gives
    no result if one of its names may be a word (``Will``), a family name or a place, or if the
    gender of a named person is not clear.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with new names."""
        with context.counting():
            yield from Renaming(self._names(discourse, context))(discourse, context)

    def _names(self, discourse: Discourse, context: Context) -> tuple[tuple[str, str], ...]:
        people = named_people(discourse.texts)
        if not people:
            raise NotApplicableError("nobody is named")
        if problem := next((person.problem for person in people if person.problem), ""):
            raise NotApplicableError(f"a name that cannot be changed: {problem}")
        random, text = context.random(discourse, "NewNames"), discourse.text
        pairs: list[tuple[str, str]] = []
        for person in people:
            pairs.append((person.name, new_name(person.gender, text, random)))
            text += f" {pairs[-1][1]}"
        return tuple(pairs)


def _replacements(text: str, names: dict[str, str]) -> Iterator[Replacement]:
    for found in re.finditer(rf"\b(?:{'|'.join(names) or '(?!)'})\b", text):
        name = found[0]
        possessive = _possessive(name, text[found.end() :])
        after = names[name] + (possessive and f"{possessive[0]}s")
        yield Replacement(found.start(), found.end() + len(possessive), after)


def names_in(ending: str, story: Sequence[str]) -> list[str]:
    """List the words of an ending that are names, of people or of anything else.

    Capitalised words that do not begin a sentence; of those that do, given names, and words that
    the story has with a capital.
    """
    return list(_names_in(ending, tuple(story)))


@lru_cache(maxsize=20_000)
def _names_in(ending: str, story: tuple[str, ...]) -> tuple[str, ...]:
    # Whoever couples stories asks of each as often as there are others.
    told, closed = set(_WORD.findall(" ".join(story))), word_list("closed_classes")
    inside, first = _capitalised(ending)
    return tuple(
        word
        for word in dict.fromkeys(_WORD.findall(ending))
        if word in inside
        or (
            word in first and (is_given_name(word) or (word in told and word.lower() not in closed))
        )
    )


def _capitalised(text: str) -> tuple[set[str], set[str]]:
    # Words with a capital that may be names, inside of sentences and at their beginnings.
    inside: set[str] = set()
    first: set[str] = set()
    for found in _WORD.finditer(text):
        word = found[0]
        if not word[0].isupper() or word == "I" or word in _CALENDAR:
            continue
        if word.lower() not in word_list("gendered_nouns"):  # "Dad"
            begins = re.search(r"(?:^|[\n\"“]|[.!?]['’\"”]? )$", text[: found.start()])
            (first if begins else inside).add(word)
    return inside, first


def _is_of_another(ending: str, story: Sequence[str]) -> bool:
    # Whether the first person in an ending has a name that a story of somebody has not: of "Terry
    # was late. He ran." that of "Mary went home.", and not that of "He married Mary."
    words = [word for text in story for word in _WORD.findall(text)]
    stems = {word[:_STEM] for word in words if word[0].isupper()}
    for word in _WORD.findall(ending):
        if word[:_STEM] in stems or _PERSON.fullmatch(word):
            return False
        if gender_of_name(word):
            # Whoever tells of themself may come to a name at any time.
            return any(map(GENDERED_PRONOUN.fullmatch, words)) or any(map(gender_of_name, words))
    return False


@dataclass(frozen=True)
class OwnNames(Operator):
    """Leave out a story if an ending is about a person whom the earlier sentences do not name.

    A corpus such as the Story Cloze Test lists several endings of a story: the right ending (the
    last sentence of the story) and wrong endings. The operator checks all endings. In a story about
    Terry, for example, the name alone shows that an ending about Mary is wrong. If the earlier
    sentences name the persons of all endings, the result is the unchanged story.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse where every ending is about its own people."""
        *story, ending = discourse.texts
        others = (option for each in discourse.alternatives for option in each.options)
        if any(_is_of_another(text, story) for text in (ending, *others)):
            context.skipped["an ending about a person whom the story does not name"] += 1
            return
        yield discourse
