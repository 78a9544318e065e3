"""Texts with a discourse relation, as a test reads best: ``It rained. [However], we left.``"""

from __future__ import annotations

from typing import Any

from coherencegym.loaders.discourse import Discourse, ParsedWord, Relation, Span, Unit


def related(
    text: str,
    sense: str = "Comparison.Concession.Arg1-as-denier",
    source: str = "pdtb3",
    **settings: Any,
) -> Discourse:
    """A discourse whose connective stands in square brackets; `` / `` between its sentences.

    Its arguments are all that is before the connective and all that is after it; sentences that
    begin with ``~`` belong to neither. Where there are curly braces, what stands in them is the
    first, and the second is what follows the connective in its sentence, up to a brace or a bar.
    """
    units, first, second = [], [], []
    connective: Span = ()
    for number, marked in enumerate(text.split(" / ")):
        plain, marks = _marks(marked.lstrip("~"))
        units.append(Unit(plain))
        places = [place for _, place in marks]
        braces = [place for mark, place in marks if mark in "{}"]
        first += [(number, *pair) for pair in zip(braces[::2], braces[1::2], strict=True)]
        if "[" in marked:
            start, end = (place for mark, place in marks if mark in "[]")
            connective = ((number, start, end),)
            after = [place for place in places if place > end] if "{" in text else []
            second.append((number, end, min(after, default=len(plain))))
            if start and "{" not in text:
                first.append((number, 0, start))
        elif not marked.startswith("~") and "{" not in text:
            (second if connective else first).append((number, 0, len(plain)))
    second = [part for part in second if part[1] < part[2]]
    relation = Relation("Explicit", connective, tuple(first), tuple(second), (sense,))
    values = {"id": "d", "corpus": "test", "meta": {"split": "test", "sense_source": source}}
    return Discourse(units=tuple(units), relations=(relation,), **(values | settings))


def parsed(grammar: str) -> Unit:
    """A unit of words with their grammar: ``He:nsubj:1 ran:root:``, heads counted from 0.

    A fourth part are features: ``ran:root::VerbForm=Fin``.
    """
    words: list[ParsedWord] = []
    text = ""
    for written in grammar.split():
        form, relation, head, features = (*written.split(":"), "")[:4]
        start = len(text) + bool(text)
        text = f"{text} {form}".strip()
        number = int(head) if head else None
        words.append(ParsedWord(start, len(text), form.lower(), "X", features, relation, number))
    return Unit(text, words=tuple(words))


def _marks(text: str) -> tuple[str, list[tuple[str, int]]]:
    """A text without its marks, and each of these with its place in what is left."""
    plain, marks = "", []
    for character in text:
        if character in "[]{}|":
            marks.append((character, len(plain)))
        else:
            plain += character
    return plain, marks
