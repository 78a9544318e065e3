"""Ending swap: put the other ending of a story in the place of the right one.

Beyer et al. 2021, section 4.2, on the Story Cloze Test (Mostafazadeh et al. 2016).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.manipulations.replacement import replace_text


@dataclass(frozen=True)
class EndingSwap(Composable):
    """Replace the last unit by each other option that the corpus gives for it.

    Applies to a discourse with an alternative that fills its whole last unit. Variants are
    ``distractor_ending``, ``distractor_ending-2``, ...
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse once for each wrong ending."""
        last = len(discourse.units) - 1
        whole = ((last, 0, len(discourse.units[last].text)),)
        endings = [a for a in discourse.alternatives if a.span == whole]
        if not endings:
            context.skipped["no alternative ending"] += 1
            return
        ending = endings[0]
        wrong = [text for i, text in enumerate(ending.options) if i != ending.right]
        number = 0
        for text in dict.fromkeys(wrong):
            if text == discourse.units[last].text:
                context.skipped["the two endings are the same"] += 1
                continue
            number += 1
            swapped = replace_text(discourse, *whole[0], text, operator="EndingSwap")
            name = "distractor_ending" if number == 1 else f"distractor_ending-{number}"
            yield dataclasses.replace(swapped, variant=name)
