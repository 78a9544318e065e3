"""Recipe halves: a model distinguishes the rest of a recipe from its steps in reverse order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.builders.suite import Config, Contrast, Suite
from coherencegym.eval.kinds.halves import HALVES, Halves
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context


@dataclass(frozen=True)
class Halve:
    """The first step and the other steps, in their order and in the reverse order."""

    recipe = "the first step; the other steps"
    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Halves]:
        """Yield both rows."""
        first, *others = discourse.texts
        for together in (True, False):
            name = f"{discourse.id}/{'ordered' if together else 'reversed'}"
            second = " ".join(others if together else others[::-1])
            yield Halves(name, first, second, together, discourse.id, discourse.corpus)


SUITE = Suite(
    name="recipe_halves",
    title="Recipe halves",
    version="1.0.0",
    hypothesis="A model that notices incoherence knows how a recipe continues.",
    description="The first step of a recipe, and the other steps, in order or reversed.",
    conditions={"together": "the other steps in order", "apart": "the other steps reversed"},
    limitations=("Some steps can be done in any order.",),
    citation="@misc{recipe-halves}",
    configs=(
        Config(
            name="all",
            corpora=("recipes",),
            kind=HALVES,
            generator=Halve(),
            summary="the first step and the other steps",
            regions=(),
        ),
    ),
)
