"""Arguments of a relation as texts that can be read alone, and their places in the context."""

from __future__ import annotations

import re
from itertools import pairwise

from coherencegym.eval.kinds.examples import NO_PLACE
from coherencegym.loaders.discourse import Discourse, Span
from coherencegym.words.scripts import is_unspaced, join_texts, place_texts

#: Signs that belong to what stands before an argument, at its beginning.
_BEFORE = re.compile(
    r"(?:[，。；：、！？）》]+|[,;:!?…)\]”’]+(?=\s|$)|\.+(?=\s|$)|[–—-]+(?=\s|$)|\s)+"
)
#: Signs that belong to what stands after it, at its end.
_AFTER = re.compile(r"(?:\s*[(\[“‘]+|\s[\"'–—-]+|\s)+\Z")
#: Signs that join the word before them, and signs that the word after them joins.
_JOINING = re.compile(r"[,.;:!?…)\]”]")
_OPENING = re.compile(r"(?:^|\s)[\"'“‘(\[]\Z")
_BRACKETS = (("(", ")"), ("[", "]"), ("“", "”"))


def argument_text(discourse: Discourse, span: Span) -> str:
    """The text of an argument, without signs at its ends that belong to the text around it.

    Parts of one that is cut in two are joined by a space; the commas around what stood between
    them go with it. Empty where there is no word.
    """
    text, unit, stop = "", -1, 0
    for number, start, end in span:
        whole = discourse.units[number].text
        part = whole[start:end].strip()
        between = whole[stop:start].strip() if number == unit else ""
        unit, stop = number, end
        if not any(map(str.isalnum, part)) and not _JOINING.match(part):
            continue  # a bracket or a dash that opens something else
        if text.endswith(",") and (between.endswith(",") or part.startswith(",")):
            text, part = text[:-1], part.lstrip(", ")
        joined = not text or _JOINING.match(part) or _OPENING.search(text)
        text = text + part if joined else join_texts([text, part])
    return _alone(text)


def _alone(text: str) -> str:
    if (leading := _BEFORE.match(text)) is not None:
        text = text[leading.end() :]
    text = re.sub(r" ?\(\)|\[\]", "", _AFTER.sub("", text))
    for opening, closing in _BRACKETS:
        if text.startswith(opening) and closing not in text:
            text = text[1:]
        elif opening not in text:
            text = re.sub(rf"{re.escape(closing)}([.,;:!?]*)\Z", r"\1", text)
    if text.count('"') == 1:
        text = text.strip('"')
    return text.strip() if any(map(str.isalnum, text)) else ""


def in_context(discourse: Discourse, *spans: Span) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The sentences of arguments, cut where these begin and end, and which piece each is.

    Cuts are made at spaces, so that the pieces with single spaces between them read as the text
    does. An argument that is cut in two, or shares a piece with another one, has no place.
    """
    touched = [unit for span in spans for unit, _, _ in span]
    first, last = min(touched), max(touched)
    texts = discourse.texts[first : last + 1]
    text = join_texts(texts)
    starts = {unit: place for unit, (place, _) in enumerate(place_texts(texts), start=first)}
    stretches = [_stretch(text, [(starts[u] + a, starts[u] + b) for u, a, b in s]) for s in spans]
    placed = sorted(stretch for stretch in stretches if stretch is not None)
    if any(one[1] > other[0] for one, other in pairwise(placed)):
        return (text,), tuple(NO_PLACE for _ in spans)
    pieces: list[str] = []
    place_of: dict[tuple[int, int], int] = {}
    done = 0
    for start, end in placed:
        pieces += [before] if (before := text[done:start].strip()) else []
        place_of[start, end] = len(pieces)
        pieces.append(text[start:end].strip())
        done = end
    pieces += [after] if (after := text[done:].strip()) else []
    return tuple(pieces), tuple(NO_PLACE if s is None else place_of[s] for s in stretches)


def _stretch(text: str, parts: list[tuple[int, int]]) -> tuple[int, int] | None:
    gaps = (text[one[1] : other[0]] for one, other in pairwise(parts))
    if any(any(map(str.isalnum, gap)) for gap in gaps):
        return None
    start, end = parts[0][0], parts[-1][1]
    while start < end and text[start].isspace():
        start += 1
    # A comma that the annotation gives to the argument is written with the word before it.
    while start < end and start and not text[start - 1].isspace() and not text[start].isalnum():
        start += 1
    if _is_inside_word(text, start):
        start = text.rfind(" ", 0, start) + 1
    while text[start : start + 1].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if _is_inside_word(text, end):
        closing = text.find(" ", end)
        end = len(text) if closing < 0 else closing
    return (start, end) if start < end else None


def _is_inside_word(text: str, place: int) -> bool:
    # Between letters of Chinese one may cut anywhere.
    before, after = text[place - 1 : place], text[place : place + 1]
    return bool(before.strip() and after.strip()) and not (
        is_unspaced(before) or is_unspaced(after)
    )
