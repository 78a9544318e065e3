"""A small suite whose rows have the shapes that are hard to export.

``connective``: a condition for each replacement, and predictions that differ from item to item.
``mention``: two metrics. ``turns``: some texts hold ``[SEP]``, some regions touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coherencegym.builders.suite import Config, Contrast, GeneratedItem, Suite
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Region
from coherencegym.loaders.corpus import Corpus
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context
from support.toy import toy_corpus

HEADLINE = "different sense, same syntax"


def condition(name: str, *regions: str, joint: str = " ") -> Condition:
    """A condition with these regions; ``joint`` stands before the last."""
    text = " ".join(filter(None, regions[:-1])) + joint + regions[-1]
    parts = tuple(Region(number, content) for number, content in enumerate(regions, start=1))
    return Condition(name, text, parts)


def connective(discourse: Discourse) -> tuple[tuple[Condition, ...], tuple[Contrast, ...]]:
    """The annotated connective, its sense, the text before and after it."""
    word, sense, before, after = discourse.texts
    others = [each for each in ("as", "since", "while") if each != word]
    conditions = tuple(
        condition(name, before, put, after)
        for name, put in [("original", word), *((each, each) for each in others)]
    )
    aggregate = (HEADLINE,) if sense != "prep" else ()
    contrasts = [
        Contrast(each, "original", 3, groups=(f"{word}_{sense} → {each}", *aggregate))
        for each in others
    ]
    if sense == "causal":
        groups = (f"{word}_{sense}: different > same", "different > same, same syntax")
        same = next(each for each in others if each != "while")
        contrasts.append(Contrast("while", same, 3, groups=groups))
    return conditions, tuple(contrasts)


def mention(discourse: Discourse) -> tuple[tuple[Condition, ...], tuple[Contrast, ...]]:
    """A sentence, and two that may follow it."""
    before, pronoun, repetition, _ = discourse.texts
    return (
        (condition("pronoun", before, pronoun), condition("repetition", before, repetition)),
        tuple(Contrast("repetition", "pronoun", 2, m, groups=(m,)) for m in ("mean", "sum")),
    )


def turns(discourse: Discourse) -> tuple[tuple[Condition, ...], tuple[Contrast, ...]]:
    """Two turns, the second good or bad, and what stands between the first and the second."""
    first, good, bad, joint = discourse.texts
    if joint == "SEP":
        first, joint = f"{first} [SEP]", "."
    joint = "" if joint == "none" else " "
    return (
        (condition("good", first, good, joint=joint), condition("bad", first, bad, joint=joint)),
        (Contrast("bad", "good", "*", "sum"),),
    )


@dataclass(frozen=True)
class Shaped:
    """One item for each discourse, as a function makes it."""

    make: Callable[[Discourse], tuple[tuple[Condition, ...], tuple[Contrast, ...]]]

    @property
    def recipe(self) -> str:
        return "Shaped()"

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        return (Contrast("bad", "good", "*"),)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        conditions, contrasts = self.make(discourse)
        predictions = tuple(contrast.prediction for contrast in contrasts)
        item = Item(f"{discourse.id}/x", 0, conditions, predictions, discourse.id, discourse.corpus)
        ITEMS.check(item)
        yield GeneratedItem(item, contrasts, {each.condition_name: ("",) for each in conditions})


@dataclass(frozen=True)
class Begins:
    """Selects discourses by the beginning of their ids."""

    prefix: str

    def __call__(self, discourse: Discourse) -> bool:
        return discourse.id.startswith(self.prefix)


def config(name: str, make: Callable[..., object], regions: int, headline: str = "") -> Config:
    return Config(
        name=name,
        corpora=("shapes",),
        generator=Shaped(make),  # type: ignore[arg-type]
        select=Begins(name),
        summary=f"toy {name}",
        regions=tuple(f"part {number}" for number in range(1, regions + 1)),
        partial_input="nothing",
        headline=headline,
    )


SHAPES = Suite(
    name="shapes",
    title="Shapes",
    version="1.0.0",
    hypothesis="Bad is worse.",
    description="A toy.",
    conditions={"good": "good", "bad": "bad"},
    limitations=("It is a toy.",),
    citation="@misc{shapes}",
    configs=(
        config("connective", connective, 3, HEADLINE),
        config("mention", mention, 2, "mean"),
        config("turns", turns, 2),
    ),
)

#: Four texts a discourse, read as the function of its config says.
TEXTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "test": {
        "connective1": ("as", "causal", "He slept", "it was late."),
        "connective2": ("as", "temporal", "He sang", "it rained."),
        "connective3": ("since", "causal", "She left", "it was cold."),
        "connective4": ("as", "causal", "They ate", "they were hungry."),
        "connective5": ("as", "prep", "He works", "a cook."),
        "mention1": ("Ann ran.", "She fell.", "Ann fell.", "."),
        "mention2": ("Bob sat.", "He slept.", "Bob slept.", "."),
        "turns1": ("Hi there.", "Good morning.", "It has wheels.", "space"),
        "turns2": ("Hello.", "How are you?", "Seven of them.", "SEP"),
        "turns3": ("Wait", ", it is hot.", ", it is July.", "none"),
        "turns4": ("Look!", "A bird.", "A thought.", "space"),
    }
}


def shapes_corpus(**settings: object) -> Corpus:
    """The corpus of these texts."""
    return toy_corpus("shapes", TEXTS, **settings)
