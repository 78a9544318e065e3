"""An operator of one's own: ``before`` becomes ``after``, and ``after`` becomes ``before``.

python own_operator.py
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import coherencegym as cg
from coherencegym.loaders.discourse import Discourse, Unit, undo
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.operator import Context, Operator


@dataclass(frozen=True)
class TimeFlip(Operator):
    """The first ``before`` or ``after`` becomes the other: what happened first happens last."""

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the new discourse; nothing, and a count, where neither word is there."""
        for number, unit in enumerate(discourse.units):
            if found := re.search(r"\b(before|after)\b", unit.text):
                other = "after" if found[0] == "before" else "before"
                # `replace_text` moves annotations along and notes the edit, for `undo`.
                yield replace_text(discourse, number, *found.span(), other, operator="TimeFlip")
                return
        context.skipped["no before and no after"] += 1


STORIES = (
    ("Anna packed her bag.", "She locked the door before she left.", "Then she ran to the bus."),
    ("Tom planted a seed.", "It came up after two weeks of rain.", "He was proud of it."),
    ("The baby was asleep.", "The house was quiet.", "Everybody whispered."),
)


def main() -> list[tuple[str, str]]:
    """Make a pair of each story that has one of the words, print them, and score a model."""
    context, pairs = Context(seed=0), []
    for number, story in enumerate(STORIES):
        discourse = Discourse(f"story/{number}", "mine", tuple(map(Unit, story)))
        for changed in TimeFlip()(discourse, context):
            assert undo(changed) == discourse.texts
            pairs.append((" ".join(discourse.texts), " ".join(changed.texts)))
            print(*pairs[-1], sep="\n", end="\n\n")
    print("left out:", dict(context.skipped))
    print(cg.score("demo", pairs))  # the first of a pair is to be the less surprising
    return pairs


if __name__ == "__main__":
    main()
