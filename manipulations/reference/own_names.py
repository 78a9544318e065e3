"""Own names: leave out a text whose last unit is about somebody whom the text does not know.

A slip of who wrote it: the ending of a story about Terry says what Mary did. Whatever else it says,
it is no ending of that story, and the wrong one of two endings is told by it alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.manipulations.reference.genders import GENDERED_PRONOUN, gender_of_name

_WORD = re.compile(r"[^\W\d_]+")
_PERSON = re.compile(
    r"I|me|my|mine|we|us|our|ours|you|yours?|he|him|his|she|hers?|they|them|their|theirs", re.I
)
#: Letters that forms of one name share: ``Tim`` and ``Timmy``, ``Terry`` and ``Terri``.
_STEM = 3


def is_of_another(ending: str, story: Sequence[str]) -> bool:
    """Tell whether the first person in an ending has a name that a story of somebody has not.

    >>> is_of_another("Mary went home.", ["Terry was late.", "He ran."])
    True
    >>> is_of_another("He married Mary.", ["Terry was late.", "He ran."])
    False
    """
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
class OwnNames(Composable):
    """Leave out a text if one of its endings is about a person whom the story does not name.

    The operator looks at the right ending and at all wrong endings that the corpus lists for the
    text. In a story about Terry, for example, the name alone shows that an ending about Mary is
    wrong. If the story names the persons of all endings, the text stays unchanged.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse where every ending is about its own people."""
        *story, ending = discourse.texts
        others = (option for each in discourse.alternatives for option in each.options)
        if any(is_of_another(text, story) for text in (ending, *others)):
            context.skipped["an ending about a person whom the story does not name"] += 1
            return
        yield discourse
