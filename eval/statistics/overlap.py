"""Lexical overlap: the words of texts, and how far two texts share them.

Of two conditions the one is called coherent whose scored stretch shares more content words with the
text before it. Coherent texts repeat words; a model that has learned nothing but to expect them
again reaches this score. (Lexical cohesion as a baseline of coherence: Foltz, Kintsch and Landauer
1998; Barzilay and Lapata 2008, section 5.)
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from operator import mul
from typing import TypeVar

from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import SEPARATOR, Condition, Contrast, Incoherence
from coherencegym.words import ENGLISH, stem, stop_words, with_spaces

_T = TypeVar("_T")


_OVERLAP_WORD = re.compile(r"[^\W_]+")


#: White space after a sentence, or nothing, where a script has none.
_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|(?<=[。！？])[”’」』）]*\s*")


@lru_cache(maxsize=20_000)
def turns_and_sentences(text: str) -> tuple[str, ...]:
    """The sentences of the turns of a text."""
    # Also where what follows has no capital, as in chat; a piece too many does little harm.
    return tuple(s for turn in text.split(SEPARATOR) for s in _END.split(turn.strip()) if s)


@lru_cache(maxsize=50_000)
def content_words(
    text: str, language: str = ENGLISH, words: frozenset[str] = frozenset()
) -> Counter[str]:
    """The stems of a text's words, without those of closed classes, and how often each is there."""
    closed = stop_words(language)
    found = (word.lower() for word in _OVERLAP_WORD.findall(with_spaces(text, words)))
    return Counter(stem(word, language) for word in found if len(word) > 1 and word not in closed)


@lru_cache(maxsize=50_000)
def all_words(text: str, words: frozenset[str] = frozenset()) -> Mapping[str, int]:
    """The words of a text in small letters, those of closed classes too, and how often each."""
    return Counter(word.lower() for word in _OVERLAP_WORD.findall(with_spaces(text, words)))


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The cosine of two counts; 0 where one of them is empty."""
    # In C, since builds compare hundreds of thousands of pairs; most share no word.
    common = one.keys() & other.keys()
    if not common:
        return 0.0
    product = sum(one[word] * other[word] for word in common)
    squares = (sum(map(mul, counts.values(), counts.values())) for counts in (one, other))
    return product / math.sqrt(math.prod(squares))


def whole_clusters(values: Sequence[_T], cluster: Callable[[_T], str], most: int) -> list[_T]:
    """The values, or of more than ``most`` a sample of no more than that, in their order.

    The sample is of whole clusters: by a hash of their names, all that there is still room for.
    """
    if len(values) <= most:
        return list(values)
    sizes = Counter(map(cluster, values))
    kept, room = set[str](), most
    for name in sorted(sizes, key=lambda name: hashlib.sha256(name.encode()).digest()):
        if sizes[name] <= room:
            kept.add(name)
            room -= sizes[name]
    return [value for value in values if cluster(value) in kept]


def no_overlap_in(
    conditions: Iterable[Condition], language: str = ENGLISH, words: frozenset[str] = frozenset()
) -> Incoherence:
    """The measure of incoherence of some conditions that is less where more words are repeated.

    Args:
        conditions: those of an item.
        language: ISO 639-1, that of their words.
        words: the known words of a script without spaces; none: pairs of characters.
    """
    named = {condition.condition_name: condition for condition in conditions}

    # Once: an original is compared with every one of its replacements.
    @cache
    def of(name: str, region: int | str) -> float:
        return overlap(named[name], region, language, words)

    def no_overlap(name: str, contrast: Contrast) -> float:
        return -sum(of(name, region) for region in contrast.regions)

    return no_overlap


def overlap(
    condition: Condition,
    region: int | str,
    language: str = ENGLISH,
    words: frozenset[str] = frozenset(),
) -> float:
    """The cosine of a region's content words with those of the text before it.

    Where no text is before it (the whole condition, or its beginning) it is the mean over its
    sentences, or turns of a conversation, from the second on, each beside the one before it; 0
    where there is but one.
    """
    texts = [each.content for each in condition.regions]
    number = 0 if region == WHOLE else int(region) - 1
    counts = partial(content_words, language=language, words=words)
    before = Counter[str]()
    for text in texts[:number]:
        before.update(counts(text))
    if before:
        return cosine(before, counts(texts[number]))
    stretch = condition.content if region == WHOLE else texts[number]
    cosines = [cosine(*map(counts, two)) for two in pairwise(turns_and_sentences(stretch))]
    return sum(cosines) / len(cosines) if cosines else 0.0
