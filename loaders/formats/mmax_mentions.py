"""The mentions of an MMAX2 document: chain, head, kind and features of each markable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coherencegym.loaders.discourse import Features, Mention, Span
from coherencegym.loaders.formats.lines import tidy
from coherencegym.loaders.formats.mmax_files import markables, word_ranges
from coherencegym.loaders.formats.xml_elements import Element
from coherencegym.loaders.text.pronouns import by_form

#: Attributes that name the chain, and what they have where there is none.
_CHAIN = ("coref_set", "coref_class")
_NO_CHAIN = ("", "empty", "none")

_PRONOUN_TYPES = (
    "personal",
    "possessive",
    "reflexive",
    "reciprocal",
    "demonstrative",
    "relative",
    "interrogative",
    "indefinite",
)
_NUMBERS = {"sing": "singular", "plur": "plural", "they (sg.)": "singular", "they (pl.)": "plural"}
_GENDERS = {"masc": "masculine", "fem": "feminine", "neut": "neuter"}
_FUNCTIONS = {"subj": "nsubj", "obj": "obj", "adjunct": "obl"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word in its sentence: which unit, and which characters."""

    text: str
    unit: int
    start: int
    end: int


def mentions(path: Path, positions: Mapping[str, int], words: Sequence[Word]) -> Iterator[Mention]:
    """The mentions in the order of the text, longer ones first.

    Raises:
        CorpusError: a span is none.
    """
    found = []
    for element in markables(path):
        ranges = word_ranges(path, element, "span", positions)
        minimal = None
        if element.attributes.get("min_ids"):
            minimal = word_ranges(path, element, "min_ids", positions)
        found.append(((ranges[0][0], -ranges[-1][1]), _mention(element, ranges, minimal, words)))
    found.sort(key=lambda pair: pair[0])
    yield from (mention for _, mention in found)


def _mention(
    element: Element,
    ranges: Sequence[tuple[int, int]],
    minimal: Sequence[tuple[int, int]] | None,
    words: Sequence[Word],
) -> Mention:
    attributes = {name: tidy(value) for name, value in element.attributes.items()}
    chain = next((attributes[name] for name in _CHAIN if name in attributes), "")
    head = _head(ranges, minimal)
    form = words[head].text if head is not None else ""
    kind = _kind(attributes, ranges, form, words)
    return Mention(
        span=_span(ranges, words),
        chain=attributes["id"] if chain in _NO_CHAIN else chain,
        kind=kind,
        head=None if head is None else _span([(head, head + 1)], words),
        features=_features(attributes, form, kind),
    )


def _span(ranges: Sequence[tuple[int, int]], words: Sequence[Word]) -> Span:
    """The characters of some words; one part a unit and range."""
    parts: list[tuple[int, int, int]] = []
    for start, end in ranges:
        for index, word in enumerate(words[start:end]):
            if index and parts[-1][0] == word.unit:
                parts[-1] = (word.unit, parts[-1][1], word.end)
            else:
                parts.append((word.unit, word.start, word.end))
    return tuple(parts)


def _head(
    ranges: Sequence[tuple[int, int]], minimal: Sequence[tuple[int, int]] | None
) -> int | None:
    """The head: the last word of the minimal span, or the only word; none where nobody said."""
    if minimal is not None:
        return minimal[-1][1] - 1
    if len(ranges) == 1 and ranges[0][1] - ranges[0][0] == 1:
        return ranges[0][0]
    return None


def _kind(
    attributes: Mapping[str, str],
    ranges: Sequence[tuple[int, int]],
    form: str,
    words: Sequence[Word],
) -> str:
    """Take the kind from the annotator, else from the form: a one-word pronoun, a name's capital.

    A capital at the beginning of a sentence is no sign of a name.
    """
    one_word = len(ranges) == 1 and ranges[0][1] - ranges[0][0] == 1
    said = attributes.get("mention", "")
    if said == "pronoun" or (not said and one_word and by_form(form) is not None):
        return "pronoun"
    last = words[ranges[-1][1] - 1] if not form else None
    name = last.text if last is not None else form
    first = words[ranges[0][0]]
    inside = first.start > 0 or not one_word
    return "proper" if name[:1].isupper() and inside and said in ("", "np") else "nominal"


def _features(attributes: Mapping[str, str], form: str, kind: str) -> Features:
    known = (by_form(form) if kind == "pronoun" else None) or Features()
    type_of_pronoun = attributes.get("type_of_pronoun", "")
    if attributes.get("type") == "pleonastic" or attributes.get("reference") == "non_referring":
        pronoun = "expletive" if kind == "pronoun" else ""
    else:
        pronoun = type_of_pronoun if type_of_pronoun in _PRONOUN_TYPES else known.pronoun
    said = attributes.get("mention", "")
    function = attributes.get("gram_fnc", "")
    number = attributes.get("number", "") or attributes.get("agreement", "")
    person = re.fullmatch(r"per([123])", attributes.get("person", ""))
    return replace(
        known,
        entity="event"
        if attributes.get("antetype") == "event"
        else attributes.get("category", "").removeprefix("unmarked"),
        status=attributes.get("reference", "").removeprefix("unmarked"),
        link="appos" if "apposition" in attributes.get("nptype", "") else "",
        function=_FUNCTIONS.get(function, ""),
        pos="VERB" if said in ("vp", "clause") else known.pos,
        predicate=function == "predicate",
        pronoun=pronoun,
        person=person[1] if person else known.person,
        number=_NUMBERS.get(number, known.number),
        gender=_GENDERS.get(attributes.get("gender", ""), known.gender),
    )
