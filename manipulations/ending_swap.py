"""Ending swap: put the other ending of a text in the place of the right one.

Beyer et al. 2021, section 4.2, on the Story Cloze Test (Mostafazadeh et al. 2016).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.operator import Context, Operator


@dataclass(frozen=True)
class EndingSwap(Operator):
    """Replace the last sentence of a text by a wrong ending that the corpus lists for the text.

    Attributes:
        name: the name of the result, by default ``distractor_ending``. If a text has several
            results, the second and later results have this name and a number, such as
            ``distractor_ending-2``.

    Each wrong ending of a text gives one result. A text without a wrong ending gives no result. The
    Story Cloze Test, for example, is a corpus that lists wrong endings.
    """

    name: str = "distractor_ending"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse once for each wrong ending."""
        last = len(discourse.units) - 1
        text = discourse.units[last].text
        whole = (last, 0, len(text))
        ending = next((a for a in discourse.alternatives if a.span == (whole,)), None)
        if ending is None:
            context.skipped["no alternative ending"] += 1
            return
        wrong = dict.fromkeys(t for i, t in enumerate(ending.options) if i != ending.right)
        if text in wrong:
            context.skipped["the two endings are the same"] += 1
            del wrong[text]
        for number, other in enumerate(wrong, start=1):
            swapped = replace_text(discourse, *whole, other, operator="EndingSwap")
            name = self.name if number == 1 else f"{self.name}-{number}"
            yield dataclasses.replace(swapped, variant=name)
