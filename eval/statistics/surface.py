"""Surface differences: how the coherent side of an item looks different from the incoherent one.

All is counted, nothing is learned, and nobody reads: how many words, stems and pieces of words what
is scored repeats of what stands before it, how long both are, whom they mention, in what tense and
with which marks and typing habits they are written; of a text that is compared as a whole, how its
neighbouring sentences go together and how it begins and ends; and the word itself where one was
exchanged. (Gururangan et al. 2018 and Kaushik and Lipton 2018 on what such cues give away.)
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import SEPARATOR, Condition, Contrast, GeneratedItem
from coherencegym.eval.statistics.overlap import (
    all_words,
    content_words,
    cosine,
    turns_and_sentences,
)
from coherencegym.words import with_spaces

if TYPE_CHECKING:
    import numpy as np

#: Characters before what is scored that are looked at, the last ones.
_MOST_CHARACTERS = 2000
#: Tokens on each side of an exchange at most: connectives and pronouns, no clauses.
_EXCHANGED_TOKENS = 3
#: Words whose exchange is counted, the most frequent ones.
_MOST_EXCHANGED = 16
#: Those of them that are balanced before all else.
_FIRST_EXCHANGED = 4
#: An exchanged word counts from this many items on.
_FEWEST_EXCHANGED = 5
#: A difference smaller than this is rounding.
_SAME = 1e-9

#: What a text has: counted of it by itself.
_HABITS = {
    "I or we": r"(?i)\b(?:I|me|my|mine|we|us|our|ours|I'm)\b",
    "you": r"(?i)\byou(?:rs?)?\b",
    "he": r"(?i)\b(?:he|him|his|himself)\b",
    "she": r"(?i)\b(?:she|hers?|herself)\b",
    "they": r"(?i)\b(?:they|them|theirs?|themselves)\b",
    "it": r"(?i)\b(?:its?|itself)\b",
    "present": r"(?i)\b(?:is|are|am|has|have|do|does)\b|'(?:s|re|ve)\b",
    "past": r"(?i)\b(?:was|were|had|did|\w{2,}ed)\b",
    "future": r"(?i)\b(?:will|won't|would)\b|'ll\b",
    "negation": r"(?i)\b(?:not?|never|nothing|nobody)\b|n't\b",
    "capitals": r"(?<=[\w,;'] )[A-Z]\w",
    "upper case": r"\b[A-Z]{2,}\b",
    "apostrophes": r"\w['’]\w",
    "chat": r"(?i)\b(?:dont|cant|wont|didnt|doesnt|isnt|im|ive|thats|u|ur|pls|plz|thx|lol|haha+)\b"
    r"|[:;=8][-o]?[)(DPp/]",
    "digits": r"\d+",
    "quotes": r"[\"“”]",
    "commas": r",",
    "full stops": r"[.。]",
    "question marks": r"[?？]",
    "exclamation marks": r"[!！]",
    "colons": r"[;:]",
    "dashes": r"\s[-–—]+\s|--",
    "brackets": r"[()\[\]]",
    "small beginning": r"^\W*[a-z]",
    "no end mark": r"\w\s*$",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _HABITS.items()}
#: Mentions of persons: pronouns and names inside sentences.
_PERSONS = ("I or we", "you", "he", "she", "they", "capitals")
_OWN = ("characters", "words", "word length", "rarity", "persons", *_HABITS)
_SHARED = (
    "shared words",
    "shared content words",
    "shared stems",
    "shared rare stems",
    "shared with the last sentence",
    "shared 3-grams",
    "shared 4-grams",
    "shared 5-grams",
    "cosine of words",
    "unlike lengths",
)
#: Habits in which two texts may agree.
_AGREEING = (
    *("I or we", "you", "he", "she", "they", "it", "present", "past", "future", "upper case"),
    *("apostrophes", "chat", "digits", "question marks", "small beginning", "no end mark"),
)
_TOGETHER = (*_SHARED, *(f"agreement in {name}" for name in _AGREEING))
#: What both texts of a context and a target, or the ends of a whole text, are counted of.
_PLACES = ("context", "target", "first", "last")
NAMES = (
    *_TOGETHER,
    *(f"{name} of the {place}" for place in _PLACES for name in _OWN),
    "first in the rest",
    "last in the rest",
)

#: The rules by which a system that does not read could decide: for the side that has more of a
#: feature, or less (-1). The last two are none of the features that are balanced.
SURFACE_RULES: Mapping[str, tuple[str, int]] = {
    "more shared words": ("shared words", 1),
    "more shared content words": ("shared content words", 1),
    "more shared stems, by their rarity": ("shared rare stems", 1),
    "more shared 4-grams of characters": ("shared 4-grams", 1),
    "more shared with the last sentence": ("shared with the last sentence", 1),
    "lengths that are more alike": ("unlike lengths", -1),
    "a shorter text": ("characters of the target", -1),
    "more persons before": ("persons of the context", 1),
    "a higher cosine of content words": ("cosine of content words", 1),
    "a longer first sentence": ("word share of the first", 1),
}
#: Features that only rules follow.
_UNBALANCED = ("cosine of content words", "word share of the first")
_ALL = (*NAMES, *_UNBALANCED)

#: Those that are balanced first, and alone where there are few items: of texts with something
#: before them, and of texts that are compared as wholes.
_FIRST = (
    *("shared content words", "shared rare stems", "shared 4-grams", "shared words"),
    *("characters of the target", "persons of the context", "shared with the last sentence"),
    *("unlike lengths", "characters of the context", "agreement in he", "agreement in she"),
    *("rarity of the target", "persons of the target", "agreement in past", "agreement in they"),
    *("full stops of the target", "question marks of the target", "commas of the target"),
    *("agreement in present", "past of the target", "word length of the target"),
    *("he of the context", "she of the context", "capitals of the target"),
)
_FIRST_OF_WHOLE = (
    *("shared content words", "shared rare stems", "shared 4-grams", "shared words"),
    *("characters of the first", "persons of the first", "first in the rest", "unlike lengths"),
    *("characters of the last", "last in the rest", "capitals of the first", "it of the first"),
    *("he of the first", "rarity of the first", "past of the first", "agreement in past"),
    *("question marks of the last", "characters of the target", "small beginning of the first"),
)


@dataclass(frozen=True)
class SurfaceDifferences:
    """What each contrast of some items has more of on its coherent side.

    Attributes:
        names: the features, the first ones first.
        values: coherent minus incoherent, (contrasts, features).
        item: the number of each contrast's item.
        items: their number.
        ruled: the difference that each of :data:`SURFACE_RULES` follows, (contrasts, rules).
    """

    names: tuple[str, ...]
    values: np.ndarray
    item: np.ndarray
    items: int
    ruled: np.ndarray

    @cached_property
    def means(self) -> Any:
        """The mean difference over the contrasts of each item, (items, features)."""
        return self.by_item(self.values)

    @cached_property
    def signs(self) -> Any:
        """The mean sign over the contrasts of each item, (items, features)."""
        import numpy as np

        return self.by_item(np.sign(self.values))

    @cached_property
    def decided(self) -> Any:
        """The score of each rule on each item, (items, rules): 1 right, 0 wrong, a half a tie."""
        import numpy as np

        return (1 + self.by_item(np.sign(self.ruled))) / 2

    def by_item(self, values: np.ndarray) -> Any:
        """The mean over the contrasts of each item of values (contrasts, …)."""
        import numpy as np

        sums = np.zeros((self.items, *values.shape[1:]))
        np.add.at(sums, self.item, values)
        count = np.bincount(self.item, minlength=self.items)
        return sums / np.maximum(count, 1).reshape(-1, *(1,) * (values.ndim - 1))


def part_of(differences: SurfaceDifferences, places: np.ndarray) -> SurfaceDifferences:
    """The differences of the items at these places."""
    import numpy as np

    rows = np.flatnonzero(np.isin(differences.item, places))
    number = np.zeros(differences.items, dtype=np.int64)
    number[places] = np.arange(len(places))
    own = differences.values[rows], number[differences.item[rows]]
    return SurfaceDifferences(differences.names, *own, len(places), differences.ruled[rows])


def surface_differences(generated: Sequence[GeneratedItem]) -> SurfaceDifferences:
    """Count what the sides of all contrasts of some items look like, and subtract.

    What is on both sides cancels: of a crossed item all that its four texts have by themselves.
    """
    import numpy as np

    rows = [
        (place, contrast) for place, made in enumerate(generated) for contrast in made.contrasts
    ]
    rarity = _rarity(generated)
    values = np.zeros((len(rows), len(_ALL)))
    for row, (place, contrast) in enumerate(rows):
        made = generated[place]
        for sign, stretches in zip((1, -1), sides_of_contrast(made, contrast), strict=True):
            for stretch in stretches:
                counted = _counted(*stretch, made.language, made.words)
                values[row] += sign * counted.vector(rarity)
    words, exchanged = _exchanged(generated, rows)
    values[abs(values) < _SAME] = 0.0
    ruled = np.stack(
        [sign * values[:, _ALL.index(name)] for name, sign in SURFACE_RULES.values()], axis=1
    )
    whole = sum(contrast.region == WHOLE for _, contrast in rows) * 2 > len(rows)
    columns = dict(zip(_ALL, values.T, strict=True)) | dict(zip(words, exchanged.T, strict=True))
    first = _FIRST_OF_WHOLE if whole else _FIRST
    order = dict.fromkeys((*words[:_FIRST_EXCHANGED], *first, *words, *NAMES))
    names = tuple(name for name in order if columns[name].any())
    return SurfaceDifferences(
        names,
        np.stack([columns[name] for name in names], axis=1) if names else values[:, :0],
        np.array([place for place, _ in rows], dtype=np.int64),
        len(generated),
        ruled,
    )


def sides_of_contrast(made: GeneratedItem, contrast: Contrast) -> Iterator[list[tuple[str, str]]]:
    """What stands before and what is compared: of the coherent side, then of the incoherent one."""
    named = {condition.condition_name: condition for condition in made.item.conditions}
    for names in (contrast.better, contrast.worse):
        yield [_stretch(named[name], contrast) for name in names]


def _stretch(condition: Condition, contrast: Contrast) -> tuple[str, str]:
    if contrast.region == WHOLE:
        return "", condition.content
    first, *_, last = (*contrast.regions, *contrast.regions)
    texts = [region.content for region in condition.regions]
    before, target = texts[: int(first) - 1], texts[int(first) - 1 : int(last)]
    return " ".join(before)[-_MOST_CHARACTERS:], " ".join(target)


def _rarity(generated: Sequence[GeneratedItem]) -> Mapping[str, float]:
    # Of each stem, by the texts of the items that have it.
    texts = {
        (region.content, made.language, made.words)
        for made in generated
        for condition in made.item.conditions
        for region in condition.regions
    }
    count = Counter(stem for text in texts for stem in content_words(*text))
    return {stem: math.log((len(texts) + 1) / (times + 0.5)) for stem, times in count.items()}


@dataclass(frozen=True)
class _Counted:
    # What two texts, or the units of one, look like; all but what needs the rarity of stems.
    numbers: tuple[float, ...]
    shared: tuple[tuple[str, float], ...]  # stems in both, and how often
    of_places: tuple[tuple[tuple[str, int], ...], ...]  # stems of each place, for their rarity

    def vector(self, rarity: Mapping[str, float]) -> Any:
        import numpy as np

        vector = np.array(self.numbers)
        vector[_RARE_SHARED] = sum(times * rarity.get(stem, 0.0) for stem, times in self.shared)
        for place, stems in zip(_RARITIES, self.of_places, strict=True):
            total = sum(times for _, times in stems)
            own = sum(times * rarity.get(stem, 0.0) for stem, times in stems)
            vector[place] = own / total if total else 0.0
        return vector


_RARE_SHARED = _ALL.index("shared rare stems")
_RARITIES = tuple(_ALL.index(f"rarity of the {place}") for place in _PLACES)


@lru_cache(maxsize=20_000)
def _counted(context: str, target: str, language: str, words: frozenset[str]) -> _Counted:
    units = [context, target] if context else turns_and_sentences(target)
    pairs = list(pairwise(units))
    of_pairs = [_together(before, after, language, words) for before, after in pairs]
    together = [sum(own) / len(pairs) for own in zip(*of_pairs, strict=True)]
    together = together or [0.0] * len(_TOGETHER)
    # A whole text has ends; a target with something before it has none of its own.
    first, last = ("", "") if context or len(units) < 2 else (units[0], units[-1])
    places = (context, target, first, last)
    own = [number for text in places for number in _own(text, language, words)]
    stems = [content_words(text, language, words) for text in places]
    shared = Counter[str]()
    for before, after in pairs:
        shared += content_words(before, language, words) & content_words(after, language, words)
    ends = [
        _repeated(content_words(end, language, words), stems[1] - stems[place])
        for place, end in ((2, first), (3, last))
    ]
    similar = [cosine(*(content_words(text, language, words) for text in pair)) for pair in pairs]
    share = len(first.split()) / max(1, len(target.split()))
    numbers = (*together, *own, *map(math.log1p, ends), sum(similar) / max(1, len(pairs)), share)
    parts = tuple((stem, times / len(pairs)) for stem, times in sorted(shared.items()))
    return _Counted(numbers, parts, tuple(tuple(sorted(own.items())) for own in stems))


def _together(context: str, target: str, language: str, words: frozenset[str]) -> tuple[float, ...]:
    last = turns_and_sentences(context)[-1:] or ("",)
    content = [content_words(text, language, words) for text in (context, target, last[0])]
    lengths = [math.log1p(len(text.split())) for text in (context, target)]
    habits = [_habits(text) for text in (context, target)]
    return (
        math.log1p(_repeated(all_words(context, words), all_words(target, words))),
        math.log1p(_repeated(content[0], content[1])),
        math.log1p(_repeated(_stems(context), _stems(target))),
        0.0,  # by rarity, which only all texts tell
        math.log1p(_repeated(content[2], content[1])),
        *(math.log1p(_repeated(_pieces(context, n), _pieces(target, n))) for n in (3, 4, 5)),
        cosine(all_words(context, words), all_words(target, words)),
        abs(lengths[0] - lengths[1]),
        *(float((habits[0][name] > 0) == (habits[1][name] > 0)) for name in _AGREEING),
    )


def _repeated(counts: Mapping[str, int], others: Mapping[str, int]) -> int:
    return sum(min(counts[name], others[name]) for name in counts.keys() & others.keys())


@lru_cache(maxsize=50_000)
def _own(text: str, language: str, words: frozenset[str]) -> tuple[float, ...]:
    tokens = with_spaces(text, words).split()
    habits = _habits(text)
    return (
        math.log1p(len(text)),
        math.log1p(len(tokens)),
        sum(map(len, tokens)) / max(1, len(tokens)),
        0.0,  # rarity, which only all texts tell
        math.log1p(sum(habits[name] for name in _PERSONS)),
        *(math.log1p(habits[name]) for name in _HABITS),
    )


@lru_cache(maxsize=50_000)
def _habits(text: str) -> Mapping[str, int]:
    plain = text.replace(SEPARATOR, " ")
    return {name: len(pattern.findall(plain)) for name, pattern in _PATTERNS.items()}


@lru_cache(maxsize=20_000)
def _stems(text: str) -> Mapping[str, int]:
    # The beginnings of words, which their forms share.
    return Counter(word[:5] for word in all_words(text) if len(word) > 3)


@lru_cache(maxsize=60_000)
def _pieces(text: str, size: int) -> Mapping[str, int]:
    text = f" {text[-_MOST_CHARACTERS:].lower()} "
    return Counter(text[i : i + size] for i in range(len(text) - size + 1))


_TOKEN = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")


def _exchanged(
    generated: Sequence[GeneratedItem], rows: Sequence[tuple[int, Contrast]]
) -> tuple[list[str], Any]:
    # The words that stand in one side's place of another, most frequent first; of each 1 where it
    # is on the coherent side, -1 where it is on the other: an array (contrasts, words).
    import numpy as np

    pairs = []
    for place, contrast in rows:
        better, worse = sides_of_contrast(generated[place], contrast)
        texts = [" ".join(side[0]) for side in (better, worse)]
        pairs.append(_exchange(*texts) if len(better) == len(worse) == 1 else ("", ""))
    count: Counter[str] = Counter()
    for pair in pairs:
        count.update({*pair} - {""})
    words = [word for word, n in count.most_common(_MOST_EXCHANGED) if n >= _FEWEST_EXCHANGED]
    return [f"“{word}”" for word in words], np.array(
        [[float(pair[0] == word) - float(pair[1] == word) for word in words] for pair in pairs]
    ).reshape(len(rows), len(words))


def _exchange(better: str, worse: str) -> tuple[str, str]:
    # What the one text has where the other has something else; empty where that is no short word.
    left, right = (_TOKEN.findall(text.lower()) for text in (better, worse))
    if len(left) != len(right) and abs(len(left) - len(right)) > _EXCHANGED_TOKENS:
        return "", ""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    words = [tokens[start : len(tokens) - end] for tokens in (left, right)]
    if max(map(len, words)) > _EXCHANGED_TOKENS:
        return "", ""
    coherent, incoherent = map(" ".join, words)
    return coherent, incoherent
